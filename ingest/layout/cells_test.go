package layout

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// A cellTest reads cells of a column x as an entry of a mapping says.
type cellTest struct {
	*testing.T
	kind  string // movie by default
	extra string // more of the mapping
	names NameIDs
}

// read returns the members of the record but for its id.
func (c *cellTest) read(spec, cell string) (string, error) {
	c.Helper()
	kind := c.kind
	if kind == "" {
		kind = "movie"
	}
	file := strings.Replace(movieTable("{column='x',"+spec+"}"), "kind='movie'", "kind='"+kind+"'", 1)
	l, err := New(Tables, Options{Mappings: []*Mapping{mapping(c.T, file+c.extra)}, Names: c.names})
	if err != nil {
		c.Fatal(err)
	}
	recs, err := l.Records(Row{File: "t", JSON: `{"id":"7","x":` + cell + `}`, Table: true})
	if err != nil {
		return "", err
	}
	got := strings.TrimSuffix(strings.TrimPrefix(text(recs[0].Record), "{"), "}")
	return strings.Trim(strings.Replace(got, `"id":7`, "", 1), ","), nil
}

// want checks what a cell is read as: what it is behind the member's name, "" for nothing.
func (c *cellTest) want(spec, cell, want string) {
	c.Helper()
	if got, err := c.read(spec, cell); err != nil || got != want {
		c.Errorf("%s of %s = %s, %v, want %s", spec, cell, got, err, want)
	}
}

// refuse checks why a cell is refused.
func (c *cellTest) refuse(spec, cell, want string) {
	c.Helper()
	if got, err := c.read(spec, cell); err == nil || err.Error() != "x: "+want {
		c.Errorf("%s of %s = %s, %v, want x: %s", spec, cell, got, err, want)
	}
}

// TestDates: days as tables write them.
func TestDates(t *testing.T) {
	c := cellTest{T: t}
	f := func(formats, cell, want string) {
		t.Helper()
		c.want("member='release_date',as='date',formats=["+formats+"]", cell, `"release_date":"`+want+`"`)
	}
	// Parts that the format lacks are the first.
	f("'YYYY'", `"1995"`, "1995-01-01")
	f("'YYYY'", `1995`, "1995-01-01")
	f("'YYYY'", `1995.0`, "1995-01-01")
	f("'YYYY-MM-DD','YYYY'", `"1995"`, "1995-01-01")
	f("'YYYY-MM-DD','YYYY'", `"1995-06-12"`, "1995-06-12")
	f("'YYYY-MM'", `"1995-06"`, "1995-06-01")
	f("'MMMM YYYY'", `"June 1995"`, "1995-06-01")
	// Names of months, in any case.
	f("'MMM D YYYY'", `"Jun 12 1998"`, "1998-06-12")
	f("'MMM D YYYY'", `"JUN 2 1998"`, "1998-06-02")
	f("'MMM D, YYYY'", `"Jun 12, 1998"`, "1998-06-12")
	f("'D MMMM YYYY'", `"2 september 1998"`, "1998-09-02")
	f("'DD/MM/YYYY'", `"02/06/1998"`, "1998-06-02")
	f("'D MMM YYYY','MMMM D, YYYY','YYYYMMDD'", `"June 2, 1998"`, "1998-06-02")
	// Two digits are 1969 to 2068, or the hundred years up to last_year.
	f("'D-MMM-YY'", `"30-Mar-21"`, "2021-03-30")
	f("'D-MMM-YY'", `"30-Mar-68"`, "2068-03-30")
	f("'D-MMM-YY'", `"30-Mar-69"`, "1969-03-30")
}

// TestDatesLastYear: a mapping can say which hundred years two digits stand for.
func TestDatesLastYear(t *testing.T) {
	c := cellTest{T: t}
	spec := "member='release_date',as='date',formats=['D-MMM-YY'],last_year="
	for _, one := range []struct{ last, cell, want string }{
		{"2026", `"30-Mar-26"`, "2026-03-30"},
		{"2026", `"30-Mar-27"`, "1927-03-30"},
		{"2026", `"29-Feb-00"`, "2000-02-29"},
		{"1999", `"30-Mar-21"`, "1921-03-30"},
		{"2100", `"1-Jan-00"`, "2100-01-01"},
	} {
		c.want(spec+one.last, one.cell, `"release_date":"`+one.want+`"`)
	}
	c.refuse(spec+"1999", `"29-Feb-00"`, `want a day as D-MMM-YY, found "29-Feb-00"`) // 1900 was no leap year
	c.refuse(spec+"2026", `"30-Mar-1921"`, `want a day as D-MMM-YY, found "30-Mar-1921"`)
	c.refuse("member='release_date',as='date',formats=['YYYY']", `"95"`, `want a day as YYYY, found "95"`)
	c.refuse("member='release_date',as='date',formats=['YYYY']", `"0"`, `want a day as YYYY, found "0"`)
}

// TestTitles: a title with its year is both.
func TestTitles(t *testing.T) {
	c := cellTest{T: t}
	f := func(cell, title, year string) {
		t.Helper()
		c.want("member='title',as='title',articles=['The','A','L’']", cell, `"title":"`+title+`"`)
		want := ""
		if year != "" {
			want = `"release_date":"` + year + `-01-01"`
		}
		c.want("member='release_date',as='title_year'", cell, want)
	}
	f(`"Heat (1995)"`, "Heat", "1995")
	f(`" Heat  (1995) "`, "Heat", "1995")
	f(`"Matrix, The (1999)"`, "The Matrix", "1999")
	f(`"Atalante, L’ (1934)"`, "L’Atalante", "1934")
	f(`"Lost (2004–2010)"`, "Lost", "2004")
	f(`"On Air (2019- )"`, "On Air", "2019")
	f(`"1917 (2019)"`, "1917", "2019")
	f(`"Seven (a.k.a. Se7en) (1995)"`, "Seven (a.k.a. Se7en)", "1995")
	f(`"Heat"`, "Heat", "")
	f(`"Good, Bad"`, "Good, Bad", "")
	f(`"(1995)"`, "(1995)", "")
	f(`"Flight (3000)"`, "Flight (3000)", "")
	f(`"Heat (95)"`, "Heat (95)", "")
	f(`"2001"`, "2001", "")
	c.want("member='title',as='title'", `"Matrix, The (1999)"`, `"title":"Matrix, The"`)
	c.want("member='title',as='title'", `""`, "")
}

// FuzzDay: a text is refused, or is a day that the API could have, and that it is again
// when it is written in the same format.
func FuzzDay(f *testing.F) {
	for _, seed := range [][2]string{
		{"YYYY-MM-DD", "1995-10-30"},
		{"D-MMM-YY", "30-Mar-21"},
		{"MMM D YYYY", "Jun 12 1998"},
		{"YYYY", "1995.0"},
		{"excel", "35002"},
		{"YYMMDD", "950612"},
		{"D.M.YYYY", "1.2.1999 00:00:00"},
	} {
		f.Add(seed[0], seed[1], int64(0))
		f.Add(seed[0], seed[1], int64(2026))
	}
	f.Fuzz(func(t *testing.T, format, text string, last int64) {
		r, err := newDayReader([]string{format}, last)
		if err != nil {
			return
		}
		got, err := r.parse(text)
		if err != nil {
			return
		}
		d, err := time.Parse(day, got)
		if err != nil || !isDay(got) {
			t.Fatalf("parse(%q) in %q = %q, which is no day", text, format, got)
		}
		if r.formats[0].layout == "" {
			return
		}
		again := d.Format(r.formats[0].layout)
		if back, err := r.parse(again); err != nil || back != got {
			t.Errorf("parse(%q) in %q = %q, but that is written %q, which is %q, %v", text, format, got, again, back, err)
		}
	})
}

// FuzzTitle: a title loses its year alone, and none is found twice.
func FuzzTitle(f *testing.F) {
	for _, seed := range []string{"Heat (1995)", "Lost (2004–2010)", "Matrix, The (1999)", "(1995)", "A (1995) (1996)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		title, year := splitTitle(s)
		if !strings.HasPrefix(strings.TrimSpace(s), title) || year != "" && (title == "" || !isDay(year+"-01-01") || !strings.Contains(s, year)) {
			t.Errorf("splitTitle(%q) = %q, %q", s, title, year)
		}
		if moved := articleFirst(title, []string{"The", "L'"}); len(moved) > len(title) {
			t.Errorf("articleFirst(%q) = %q", title, moved)
		}
	})
}
