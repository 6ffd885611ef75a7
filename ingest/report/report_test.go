package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// noon is the start of these tests' ingests.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func collector() *Collector { return NewCollector(noon) }

// full is a report with a value in every field.
func full() Report {
	c := collector()
	c.BeginFile(0, File{
		Name: "movies.csv.gz", Kind: "movie", Layout: "kaggle", Format: "csv", Compression: "gzip",
		Bytes: 3 << 20,
	})
	m := Tally{Rows: Outcome{Kept: 4, Blank: 12, Duplicates: 1}}
	m.Records.Add("movie", 5)
	m.Quarantined("movies.csv.gz:9", "id", "want 1 or more, found -5")
	m.Quarantined("movies.csv.gz:7", "id", "want 1 or more, found -7")
	m.Quarantined("movies.csv.gz:8", "", "invalid UTF-8 at byte 12345")
	m.LeaveOut(source.Place{File: "movies.csv.gz", Row: 3, Line: 4}, record.LeftOut{Path: "credits.cast[].order", Count: 5, First: []record.FieldError{
		{Field: "credits.cast[2].order", What: `want an integer, found "<x>"`, Value: `"<x>"`}, {Field: "credits.cast[3].order", What: "want an integer, found 1.5", Value: "1.5"},
	}})
	m.Fields.Unknown.Add("movie.imdb_votes", 3)
	m.Fields.Coerced.Add("movie.budget", 2)
	m.Fields.Dropped.Add("films.score", 4)
	m.Fields.Whole.Add("movies.keywords", 1)
	c.Add(0, &m)

	c.BeginFile(1, File{Name: "people.parquet", Kind: "person", Layout: "tables", Format: "parquet", Bytes: 1000})
	p := Tally{Rows: Outcome{Kept: 1}}
	p.Records.Add("person", 1)
	c.Add(1, &p)
	c.Fail(1, "people.parquet: row group 1: damaged")

	c.Count(Records{Kind: "movie", Before: 2, Now: 5, Added: 3, Changed: 1})
	c.Count(Records{Kind: "person", Now: 1, Added: 1})
	for i := range 5 {
		c.Conflict("movie", "runtime", func() string { return fmt.Sprintf("movie %d: 90 in a.csv, 91 in b.csv", i) })
	}
	c.Conflict("movie", "title", func() string { return `movie 3: "A" in a.csv, "B" in b.csv` })
	return c.Report(End{
		Catalog: "catalog", Parameters: map[string]string{"layout": "auto", "language": "de-DE"}, Elapsed: 2250 * time.Millisecond,
		Skipped: []Skipped{{"notes.txt", "no dump format"}},
		Fits: []FileFit{
			{
				File: "movies.csv.gz", Files: 3, Meaning: "movie records of the API", Rows: 1020, Made: 1004,
				Problems: []string{`1,003 of 1,004 values of column runtime do not fit its field, such as "soon" in line 3`},
				Columns: []Column{
					{Name: "note", Cells: 5, Unused: 5, Ignored: true},
					{Name: "mood", Cells: 2, Extra: 2},
					{Name: "runtime", Cells: 1004, Used: 1, LeftOut: 1003, Example: &Sample{File: "movies.csv.gz", Row: 2, Line: 3, Value: `"soon"`, Reason: `want an integer, found "soon"`}},
				},
			},
			{File: "people.parquet", Meaning: "table people of tables.toml", Rows: 1, Made: 1, Columns: []Column{{Name: "name", Cells: 1, Used: 1}}},
		},
		References: []Relation{
			{Kind: "movie", Path: "belongs_to_collection.id", Target: "collection", TargetRecords: 2, References: 2, Distinct: 2},
			{
				Kind: "movie", Path: "credits.cast.id", Target: "person", TargetRecords: 1, References: 9, Distinct: 4, Missing: 3, Removed: 1,
				Samples: []Dangling{{ID: "person 7", Removed: true}, {ID: "person 8"}},
			},
		},
	})
}

func TestGoldenJSON(t *testing.T) {
	r := full()
	b, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	sharedtest.Golden(t, filepath.Join("testdata", "full.json"), string(b))
	var back Report
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r, back); d != "" {
		t.Errorf("read back (-want +got):\n%s", d)
	}
}

func TestGoldenHTML(t *testing.T) {
	r := full()
	b, err := r.render()
	if err != nil {
		t.Fatal(err)
	}
	sharedtest.Golden(t, filepath.Join("testdata", "full.html"), string(b))
}

// TestEmpty: an empty report has lists, not nulls, and a page.
func TestEmpty(t *testing.T) {
	r := collector().Report(End{Catalog: "c"})
	b, err := r.encode()
	if err != nil || bytes.Contains(b, []byte("null")) {
		t.Errorf("encode() = %s, %v, want no null", b, err)
	}
	if page, err := r.render(); err != nil || !bytes.HasSuffix(page, []byte("</html>\n")) {
		t.Errorf("render() = ...%.60q, %v, want a whole page", page[max(0, len(page)-60):], err)
	}
}

// TestHostileNames: text from dumps never becomes markup or a link.
func TestHostileNames(t *testing.T) {
	const evil = `<script>alert(1)</script>"'><img src=http://example.com/x onerror=alert(1)>{{.}}`
	c := collector()
	c.BeginFile(0, File{Name: evil, Kind: evil, Layout: evil, Format: evil, Compression: evil})
	c.Fail(0, evil)
	s := Tally{}
	s.Quarantined(evil, evil, evil)
	s.Fields.Unknown.Add(evil, 1)
	s.Fields.Coerced.Add(evil, 1)
	s.Fields.Dropped.Add(evil, 1)
	s.Fields.Whole.Add(evil, 1)
	c.Add(0, &s)
	c.Conflict(evil, evil, func() string { return evil })
	c.Count(Records{Kind: evil})
	r := c.Report(End{
		Catalog: evil, Parameters: map[string]string{evil: evil}, Err: errors.New(evil), Skipped: []Skipped{{evil, evil}},
		Fits:       []FileFit{{File: evil, Meaning: evil, Problems: []string{evil}, Columns: []Column{{Name: evil, Example: &Sample{File: evil, Reason: evil}}}}},
		References: []Relation{{Kind: evil, Path: evil, Target: evil, Samples: []Dangling{{ID: evil}}}},
	})
	b, err := r.render()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "alert(1)"); n < 24 {
		t.Errorf("the text occurs %d times, want it everywhere", n)
	}
	for _, tag := range regexp.MustCompile(`<[^/!][^>]*>`).FindAll(b, -1) {
		checkTag(t, string(tag))
	}
}

// checkTag rejects tags that the page does not use. Text has no < of its own.
func checkTag(t *testing.T, tag string) {
	t.Helper()
	name, rest, _ := strings.Cut(strings.Trim(tag, "<>"), " ")
	allowed := "html head meta title style body h1 h2 h3 p b i ul li code a br span div table tr th td details summary"
	if !slices.Contains(strings.Fields(allowed), name) {
		t.Errorf("the page has a tag %s", tag)
	}
	for _, attr := range regexp.MustCompile(`([a-z]+)=`).FindAllStringSubmatch(rest, -1) {
		if !slices.Contains(strings.Fields("lang charset name content class style colspan href width scale"), attr[1]) {
			t.Errorf("the page has an attribute %s in %s", attr[1], tag)
		}
	}
	if strings.Contains(rest, "//") {
		t.Errorf("the page reaches out by %s", tag)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	r := full()
	for range 2 { // the second time over the first, and over an interrupted write
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := file.Create(filepath.Join(dir, JSONFile), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*")) // hidden files included
	if want := []string{filepath.Join(dir, HTMLFile), filepath.Join(dir, JSONFile)}; err != nil || !cmp.Equal(names, want) {
		t.Errorf("files %v, %v, want %v", names, err, want)
	}
	want, _ := r.encode()
	if got, err := os.ReadFile(filepath.Join(dir, JSONFile)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s holds %.80q, %v, want the report", JSONFile, got, err)
	}
	missing := filepath.Join(dir, "missing")
	if err := r.Write(missing); err == nil || strings.Count(err.Error(), missing) < 2 {
		t.Errorf("into a folder that is not there: %v, want errors that name %s", err, missing)
	}
}

func TestStates(t *testing.T) {
	f := func(err error, state, text string) {
		t.Helper()
		r := collector().Report(End{Err: err})
		if r.State != state || r.Error != text {
			t.Errorf("after %v: state %q, error %q, want %q, %q", err, r.State, r.Error, state, text)
		}
	}
	f(nil, stateComplete, "")
	f(errors.New("too\nmany"), stateFailed, "too many")
}

func TestMask(t *testing.T) {
	f := func(reason, want string) {
		t.Helper()
		if got := mask(reason); got != want {
			t.Errorf("mask(%q) = %q, want %q", reason, got, want)
		}
	}
	f("want 1 or more, found -5", "want 1 or more, found #")
	f("want 1 or more, found -7", "want 1 or more, found #")
	f("want 24 hex digits, found \"5b\\\"2d\"", "want 24 hex digits, found \"…\"")
	f("want an integer, found 1.5e-07", "want an integer, found #")
	f("want an integer, found nothing", "want an integer, found nothing")
	f("invalid UTF-8 at byte 12,345", "invalid UTF-8 at byte #")
	f("already occurs at movies.ndjson:12, with different content", "already occurs at movies.ndjson:#, with different content")
	f("movie 550 and tt0137523 and 5b2d1ba70e0a26431d004b10", "movie # and # and #")
	f("day 2024-05-01T10:00:00Z", "day #")
	f("unexpected 'x' at 3: the row's 2nd value isn't one", "unexpected '…' at #: the row's # value isn't one")
	f("column `a1` and \"half", "column `…` and \"half")
	f("Größe 5 für iso_639_1", "Größe # für iso_639_1")
	f("", "")
	if got := mask(strings.Repeat("é(", 1000)); len(got) > maxText+8 {
		t.Errorf("mask(long) has %d bytes, want %d or so", len(got), maxText)
	}
}

func FuzzMask(f *testing.F) {
	for _, s := range []string{
		"want 1, found \"a\\\"", "'", "-", "tt0137523 é9\xff", "want ", "\"\\",
		strings.Repeat("\xb6", 2*maxText), strings.Repeat("é", maxText),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := mask(s); len(got) > maxText+8 {
			t.Errorf("mask(%q) has %d bytes", s, len(got))
		}
	})
}

func TestReasonsAreGrouped(t *testing.T) {
	s := Tally{}
	for i := range 5000 {
		s.Quarantined(fmt.Sprintf("a.ndjson:%d", i+1), "id", fmt.Sprintf("want 1 or more, found %d", -i))
		s.Quarantined("a.ndjson:1", "", strings.Repeat("x", i%1500+1))
	}
	c := NewCollector(time.Time{})
	c.Add(0, &s)
	got := c.Report(End{}).Totals.Reasons
	if first := got.Top[0]; first.Count != 5000 || first.Example != "a.ndjson:1: id: want 1 or more, found 0" {
		t.Errorf("first group %+v, want 5000 rows with the first as example", first)
	}
	sum := got.MoreCount
	for _, r := range got.Top {
		sum += r.Count
	}
	if len(got.Top) != MaxListed || sum != 10000 || len(s.reasons) > maxReasons {
		t.Errorf("%d groups listed, %d kept, of %d rows in sum, want %d, %d at most and 10000", len(got.Top), len(s.reasons), sum, MaxListed, maxReasons)
	}
}

// TestSources: the worst files are listed, also by rows rejected later, and the sums include all files.
func TestSources(t *testing.T) {
	const files = 3 * MaxListed
	c := collector()
	for _, n := range rand.New(rand.NewPCG(1, 0)).Perm(files) {
		numbered(c, n)
	}
	for n := range files + 1 { // a merge reports a duplicate in each file, and one in no file
		c.Add(n, &Tally{Rows: Outcome{Kept: -1, Duplicates: 1}})
	}
	r := c.Report(End{Elapsed: time.Second})
	if r.Files != files || len(r.Sources) != MaxListed || r.OtherFiles != files-MaxListed || r.FailedFiles != 15 {
		t.Fatalf("%d files, %d listed, %d others, %d failed, want %d, %d, %d, 15", r.Files, len(r.Sources), r.OtherFiles, r.FailedFiles,
			files, MaxListed, files-MaxListed)
	}
	for i, want := range map[int]Source{
		0:  {File: File{Name: "file 140", Bytes: 100}, Failure: "damaged", Rows: 143, Outcome: Outcome{Kept: 2, Duplicates: 1, Quarantined: 140}},
		15: {File: File{Name: "file 149", Bytes: 100}, Rows: 152, Outcome: Outcome{Kept: 2, Duplicates: 1, Quarantined: 149}},
	} {
		if r.Sources[i] != want {
			t.Errorf("source %d = %+v, want %+v", i, r.Sources[i], want)
		}
	}
	want := Outcome{Kept: 2*files - 1, Duplicates: files + 1, Quarantined: files * (files - 1) / 2}
	if r.Totals.Outcome != want || r.Totals.Bytes != files*100 || r.Totals.Rows != want.Sum() {
		t.Errorf("totals = %+v, want %+v", r.Totals, want)
	}
}

// numbered adds a file with three good rows and n quarantined ones.
func numbered(c *Collector, n int) {
	c.BeginFile(n, File{Name: fmt.Sprintf("file %d", n), Bytes: 100})
	s := Tally{Rows: Outcome{Kept: 3}}
	for row := range n {
		s.Quarantined(fmt.Sprintf("file %d:%d", n, row+1), "id", "want more, found "+strings.Repeat("a", row%7+1))
	}
	if n%10 == 0 {
		c.Fail(n, "damaged")
	}
	c.Add(n, &s)
}

func TestConflictSamples(t *testing.T) {
	c, calls := collector(), 0
	for range 40 {
		c.Conflict("movie", "title", func() string { calls++; return "s" })
	}
	c.Conflict("tv", "name", func() string { return "t" })
	want := Conflicts{Count: 41, Fields: Top[Conflict]{Top: []Conflict{
		{Field: "movie.title", Count: 40, Samples: []string{"s", "s", "s"}}, {Field: "tv.name", Count: 1, Samples: []string{"t"}},
	}}}
	if d := cmp.Diff(want, c.Report(End{}).Conflicts); d != "" {
		t.Errorf("conflicts (-want +got):\n%s", d)
	}
	if calls != maxConflictSamples {
		t.Errorf("%d samples were made, want %d", calls, maxConflictSamples)
	}
}

// TestBounded: lists stay short for any input, and sums stay complete.
func TestBounded(t *testing.T) {
	c := collector()
	s := Tally{}
	for i := range 5000 {
		s.Fields.Unknown.Add(fmt.Sprintf("m%d", i), 1)
		c.Conflict("movie", fmt.Sprint(i), func() string { return strings.Repeat("é", 10_000) })
	}
	c.Add(0, &s)
	r := c.Report(End{Skipped: slices.Repeat([]Skipped{{"f", "r"}}, 5000)})
	u := r.Totals.Unknown
	sum := u.MoreCount
	for _, m := range u.Top {
		sum += m.Count
	}
	if len(u.Top) != MaxListed || sum != 5000 {
		t.Errorf("%d fields of %d values, want %d of 5000", len(u.Top), sum, MaxListed)
	}
	if n := len(r.Skipped.Top); n != MaxListed || r.Skipped.More != 5000-MaxListed {
		t.Errorf("%d skipped and %d more, want %d and %d", n, r.Skipped.More, MaxListed, 5000-MaxListed)
	}
	m := r.Conflicts.Fields
	if sum = m.MoreCount; len(m.Top) == MaxListed {
		for _, c := range m.Top {
			sum += c.Count
		}
	}
	if sum != 5000 || r.Conflicts.Count != 5000 || m.Top[0].Field != record.OtherPaths {
		t.Errorf("%d fields, the first %s, have %d of %d conflicts, want %d, %s, 5000 of 5000", len(m.Top), m.Top[0].Field, sum, r.Conflicts.Count, MaxListed, record.OtherPaths)
	}
	b, err := r.encode()
	if err != nil || len(b) > 100<<10 {
		t.Errorf("the JSON has %d bytes, %v, want 100 KiB at most", len(b), err)
	}
}

func TestFormat(t *testing.T) {
	f := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(formatSeconds(0.0421), "42ms")
	f(formatSeconds(59.94), "59.94s")
	f(formatSeconds(245), "4m5s")
	f(formatSeconds(7380.4), "2h3m0s")
	f(percent(0, 10), "0 %")
	f(percent(1, 3), "33.3 %")
	f(percent(3, 3), "100 %")
	f(percent(3, 0), "")
}
