package layout

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// dayLayout is how the API writes days.
const dayLayout = time.DateOnly

// dateUnits are the units that formats of days are made of, with their spelling in package time.
var dateUnits = map[string]string{
	"YYYY": "2006", "YY": "06", "MMMM": "January", "MMM": "Jan", "MM": "01", "M": "1", "DD": "02", "D": "2",
}

var dateUnit = regexp.MustCompile(`YYYY|YY|M{1,4}|DD?`)

// dateMarks may stand between units.
const dateMarks = " -/.,"

// excelDays is the format of days that a spreadsheet left as its own number of days
// since 1900: five to seven digits.
const excelDays = "excel"

// unixDays is the format of days that a program left as seconds or milliseconds since 1970.
const unixDays = "unix"

// A dateFormat is a format of days that mappings can name.
type dateFormat struct {
	name   string
	layout string // of package time; "" for excelDays and unixDays
	short  bool   // the year has two digits
	shape  string // what its texts look like, whatever stands for what: 2222/22/22
	order  string // of the units: YMD
}

// parseDateFormat reads the name of a format, such as D.M.YYYY. A format has a year and
// may lack the day, or the day and the month.
func parseDateFormat(name string) (dateFormat, error) {
	f := dateFormat{name: name}
	if name == excelDays || name == unixDays {
		f.shape, f.order = "222222", name
		return f, nil
	}
	seen := map[byte]int{}
	f.layout = dateUnit.ReplaceAllStringFunc(name, func(unit string) string {
		seen[unit[0]]++
		f.short = f.short || unit == "YY"
		f.order += unit[:1]
		return dateUnits[unit]
	})
	f.shape = dateUnit.ReplaceAllStringFunc(name, func(unit string) string {
		switch {
		case unit == "YYYY":
			return "2222"
		case strings.HasPrefix(unit, "MMM"):
			return unit
		}
		return "22"
	})
	marks := dateUnit.ReplaceAllString(name, "")
	if strings.Trim(marks, dateMarks) != "" || seen['Y'] != 1 || seen['M'] > 1 || seen['D'] > seen['M'] {
		return f, fmt.Errorf("%q is no format of days: want excel, unix, or YYYY or YY once, with M, MM, MMM or MMMM and D or DD once each, "+
			"and blanks, points, commas, - or / between, for instance YYYY-MM-DD", name)
	}
	return f, nil
}

// A dayReader reads the days of a column.
type dayReader struct {
	formats []dateFormat
	last    int // the last year that two digits can stand for
}

// lastShortYear is the last year that two digits stand for unless a mapping names
// another: the rule of POSIX.
const lastShortYear = 2068

func newDayReader(formats []string, last int64) (*dayReader, error) {
	r := &dayReader{last: lastShortYear}
	short := false
	for _, name := range formats {
		f, err := parseDateFormat(name)
		if err != nil {
			return nil, fmt.Errorf("formats: %w", err)
		}
		for _, g := range r.formats {
			if f.name == g.name || f.shape == g.shape && f.order != g.order {
				return nil, fmt.Errorf("formats: %s and %s read the same texts", g.name, f.name)
			}
		}
		r.formats = append(r.formats, f)
		short = short || f.short
	}
	if last != 0 {
		if !short {
			return nil, fmt.Errorf("last_year: want a format with YY")
		}
		if last < 1900 || last > 9999 {
			return nil, fmt.Errorf("last_year %d: want a year from 1900 to 9999", last)
		}
		r.last = int(last)
	}
	return r, nil
}

// behindDay is a country behind a day: June 13, 1980 (United States).
var behindDay = regexp.MustCompile(`(\d)\s*\([^()]*\)$`)

// dayText returns a text without the time or the country behind a day.
func dayText(text string) string {
	text = record.WithoutTime(strings.TrimSpace(text))
	if strings.HasSuffix(text, ")") {
		return behindDay.ReplaceAllString(text, "$1")
	}
	return text
}

// parse returns a day as the API writes it. Where the format has no day or no month, it is the first.
func (r *dayReader) parse(text string) (string, error) {
	text = dayText(text)
	for i := range r.formats {
		if d, ok := r.read(&r.formats[i], text); ok {
			return d, nil
		}
	}
	var names []string
	for _, f := range r.formats {
		names = append(names, f.name)
	}
	return "", fmt.Errorf("want a day as %s", strings.Join(names, " or "))
}

// read returns the day that a text is in one format.
func (r *dayReader) read(f *dateFormat, text string) (string, bool) {
	switch f.layout {
	case "":
		if f.name == unixDays {
			return unixDay(text)
		}
		return excelDay(text)
	case "2006":
		if m := years.FindStringSubmatch(text); m != nil {
			text = m[1]
		}
	}
	t, err := time.Parse(f.layout, text)
	if err != nil || t.Year() < 1 {
		return "", false
	}
	if f.short {
		return shortYear(t, r.last)
	}
	return t.Format(dayLayout), true
}

// shortYear moves a day whose year had two digits to the hundred years that end with
// last. ok is false for a 29 February that the year there does not have.
func shortYear(t time.Time, last int) (string, bool) {
	year := last - ((last-t.Year())%100+100)%100
	moved := time.Date(year, t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	return moved.Format(dayLayout), moved.Day() == t.Day()
}

// excelDay returns the day of a spreadsheet's number. Numbers of less than five digits,
// before 1927-05-18, are refused: they may be years.
func excelDay(text string) (string, bool) {
	const first, last = 10000, 2958465 // 9999-12-31
	n, err := strconv.Atoi(strings.TrimSuffix(text, ".0"))
	if err != nil || n < first || n > last || text[0] == '+' {
		return "", false
	}
	return time.Date(1899, 12, 30+n, 0, 0, 0, 0, time.UTC).Format(dayLayout), true
}

// years matches the first year of a column of numbers with gaps, and of a series: 1995.0, (1995), 2008–2013, 2019-.
var years = regexp.MustCompile(`^\(?(\d{4})(?:\.0|\s*[-–—]\s*(?:\d{4})?)?\)?$`)

// unixDay returns the day of seconds or milliseconds since 1970. Numbers of less than five digits are refused: they may be
// years.
func unixDay(text string) (string, bool) {
	const least, milliseconds, first, last = 10000, 100_000_000_000, -10_000_000_000, 253402300799 // 1653 and 9999-12-31
	n, err := (numberReader{}).integer(text)
	if n >= milliseconds || n <= -milliseconds {
		n /= 1000
	}
	if err != nil || n > -least && n < least || n < first || n > last {
		return "", false
	}
	return time.Unix(n, 0).UTC().Format(dayLayout), true
}

// titleYear is a title with its year, or its first and last year, in parentheses at the
// end: "Heat (1995)", "Lost (2004–2010)", "Show (2019- )".
var titleYear = regexp.MustCompile(`^(.*\S)\s*\(((?:18[7-9]|19\d|20\d)\d)(?:\s*[-–—]\s*(?:\d{4})?)?\s*\)$`)

// splitTitle returns a title without the year at its end, and that year; "" for a title
// that has none.
func splitTitle(s string) (title, year string) {
	s = strings.TrimSpace(s)
	m := titleYear.FindStringSubmatch(s)
	if m == nil {
		return s, ""
	}
	return m[1], m[2]
}

// articleFirst moves an article behind a comma at the end of a title to its front:
// "Matrix, The" becomes "The Matrix".
func articleFirst(title string, articles []string) string {
	i := strings.LastIndex(title, ", ")
	if i <= 0 || !slices.Contains(articles, title[i+2:]) {
		return title
	}
	article := title[i+2:]
	if !strings.HasSuffix(article, "'") && !strings.HasSuffix(article, "’") { // L'
		article += " "
	}
	return article + title[:i]
}
