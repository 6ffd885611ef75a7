package layout

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// dateUnits maps the units of date formats to the layouts of package time.
var dateUnits = map[string]string{
	"YYYY": "2006", "YY": "06", "MMMM": "January", "MMM": "Jan", "MM": "01", "M": "1", "DD": "02", "D": "2",
}

var dateUnit = regexp.MustCompile(`YYYY|YY|M{1,4}|DD?`)

// dateMarks are allowed between units.
const dateMarks = " -/.,年月日"

// excelDays is a spreadsheet's day number since 1900, with five to seven digits.
const excelDays = "excel"

// unixDays are seconds or milliseconds since 1970.
const unixDays = "unix"

// A dateFormat is a date format for use in mappings.
type dateFormat struct {
	name   string
	layout string // for package time; "" for excelDays and unixDays
	short  bool   // the year has two digits
	shape  string // digits and words of a matching text, without their meaning: 2222/22/22
	order  string // order of units, such as YMD
}

// parseDateFormat reads the name of a format, such as D.M.YYYY. The day, or the day and the month, may be absent.
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
		return f, fmt.Errorf("%q is not a date format: want excel, unix, or YYYY or YY once, with M, MM, MMM or MMMM and D or DD once each, "+
			"and blanks, points, commas, - or / between, for instance YYYY-MM-DD", name)
	}
	return f, nil
}

// date makes a function that reads dates in formats. A constant after them is the latest year that two digits can mean.
func date(_ *patcher, constants []any) (reader, error) {
	last := 0
	if n := len(constants); n > 0 {
		if year, ok := constants[n-1].(int); ok {
			last, constants = year, constants[:n-1]
		}
	}
	formats, err := texts(constants)
	if err != nil {
		return nil, err
	}
	if len(formats) == 0 {
		return nil, errors.New("want at least one format, for instance YYYY-MM-DD")
	}
	r, err := newDayReader(formats, int64(last))
	return func(value any, _ *evaluator) (any, error) {
		d, err := r.parse(textOf(value))
		return day(d), err
	}, err
}

// A dayReader reads the dates of a column.
type dayReader struct {
	formats []dateFormat
	last    int // latest year that two digits can mean
}

// lastShortYear is the default of dayReader.last: the rule of POSIX.
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

// dayWithCountry matches the end of a date with a country: June 13, 1980 (United States).
var dayWithCountry = regexp.MustCompile(`(\d)\s*\([^()]*\)$`)

// parse returns a date in the API's format, without the time or the country after it. A missing day or month becomes the first.
func (r *dayReader) parse(text string) (string, error) {
	text = record.WithoutTime(strings.TrimSpace(text))
	if strings.HasSuffix(text, ")") {
		text = dayWithCountry.ReplaceAllString(text, "$1")
	}
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

// read parses a text in one format.
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
	day := t.Day()
	if f.short { // into the hundred years that end with r.last
		year := r.last - ((r.last-t.Year())%100+100)%100
		t = time.Date(year, t.Month(), day, 0, 0, 0, 0, time.UTC)
	}
	return t.Format(time.DateOnly), t.Day() == day // some years have no 29 February
}

// excelDay reads a spreadsheet's day number. Fewer than five digits, before 1927-05-18, may be a year and are rejected.
func excelDay(text string) (string, bool) {
	const first, last = 10000, 2958465 // 9999-12-31
	n, err := strconv.Atoi(strings.TrimSuffix(text, ".0"))
	if err != nil || n < first || n > last || text[0] == '+' {
		return "", false
	}
	return time.Date(1899, 12, 30+n, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), true
}

// years matches the first year of a number with a fraction, or of a series: 1995.0, (1995), 2008–2013, 2019-.
var years = regexp.MustCompile(`^\(?(\d{4})(?:\.0|\s*[-–—]\s*(?:\d{4})?)?\)?$`)

// unixDay reads seconds or milliseconds since 1970. Fewer than five digits may be a year and are rejected.
func unixDay(text string) (string, bool) {
	const least, milliseconds, first, last = 10000, 100_000_000_000, -10_000_000_000, 253402300799 // 1653 and 9999-12-31
	n, err := (numberReader{}).integer(text)
	if n >= milliseconds || n <= -milliseconds {
		n /= 1000
	}
	if err != nil || n > -least && n < least || n < first || n > last {
		return "", false
	}
	return time.Unix(n, 0).UTC().Format(time.DateOnly), true
}

// titleYear matches a title that ends with its year or years in parentheses: "Heat (1995)", "Lost (2004–2010)", "Show (2019-
// )".
var titleYear = regexp.MustCompile(`^(.*\S)\s*\(((?:18[7-9]|19\d|20\d)\d)(?:\s*[-–—]\s*(?:\d{4})?)?\s*\)$`)

// splitTitle splits a year off the end of a title. year may be "".
func splitTitle(s string) (title, year string) {
	s = strings.TrimSpace(s)
	m := titleYear.FindStringSubmatch(s)
	if m == nil {
		return s, ""
	}
	return m[1], m[2]
}

// articleFirst moves an article from the end of a title to its front: "Matrix, The" becomes "The Matrix".
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
