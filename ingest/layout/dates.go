package layout

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// day is how the API writes days.
const day = time.DateOnly

// dateFormats are the formats of days that mappings can name. The name of a unit once,
// as in M/D/YYYY, stands for one or two digits; a year has four always, because two do
// not say the century.
var dateFormats = map[string]string{
	"YYYY-MM-DD": day,
	"YYYY/MM/DD": "2006/01/02",
	"YYYYMMDD":   "20060102",
	"M/D/YYYY":   "1/2/2006",
	"D/M/YYYY":   "2/1/2006",
	"D.M.YYYY":   "2.1.2006",
	"D-M-YYYY":   "2-1-2006",
	excelDays:    "",
}

// excelDays is the format of days that a spreadsheet left as its own number of days
// since 1900.
const excelDays = "excel"

// parseDay returns a day as the API writes it. The time of midnight behind a day is
// taken off.
func parseDay(text string, formats []string) (string, error) {
	text = strings.TrimSpace(text)
	for _, suffix := range []string{" 00:00:00", "T00:00:00", "T00:00:00Z", "T00:00:00.000Z", " 00:00:00+00:00"} {
		if date, ok := strings.CutSuffix(text, suffix); ok {
			text = date
			break
		}
	}
	for _, f := range formats {
		if f == excelDays {
			if d, ok := excelDay(text); ok {
				return d, nil
			}
			continue
		}
		if t, err := time.Parse(dateFormats[f], text); err == nil && t.Year() > 0 {
			return t.Format(day), nil
		}
	}
	return "", fmt.Errorf("want a day as %s", strings.Join(formats, " or "))
}

// excelDay returns the day of a spreadsheet's number. Numbers of less than five digits,
// before 1927-05-18, are refused: they may be years.
func excelDay(text string) (string, bool) {
	const first, last = 10000, 2958465 // 9999-12-31
	n, err := strconv.Atoi(strings.TrimSuffix(text, ".0"))
	if err != nil || n < first || n > last || text[0] == '+' {
		return "", false
	}
	return time.Date(1899, 12, 30+n, 0, 0, 0, 0, time.UTC).Format(day), true
}

// sameDates reports which two formats would both read some texts, with another meaning.
func sameDates(formats []string) (a, b string, found bool) {
	for i, f := range formats {
		for _, g := range formats[:i] {
			if f == g || f == "M/D/YYYY" && g == "D/M/YYYY" || g == "M/D/YYYY" && f == "D/M/YYYY" ||
				f == excelDays && g == "YYYYMMDD" || g == excelDays && f == "YYYYMMDD" {
				return g, f, true
			}
		}
	}
	return "", "", false
}
