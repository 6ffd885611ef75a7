package tmdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestRows: rows of every kind, as crawlers and tables have them, and their records or the error.
func TestRows(t *testing.T) {
	path := filepath.Join("testdata", "rows.txt")
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var now strings.Builder
	for line := range strings.Lines(string(old)) {
		switch {
		case strings.HasPrefix(line, "  "): // the old result
		case line == "\n" || line[0] == '#':
			now.WriteString(line)
		default:
			now.WriteString(line + read(t, line))
		}
	}
	sharedtest.Golden(t, path, now.String())
}

// read reads a line such as `movie language=de-DE id=5 sub=credits {"cast":[]}`, and returns a line for each result.
func read(t *testing.T, line string) string {
	t.Helper()
	at := strings.IndexByte(line, '{')
	words := strings.Fields(line[:at])
	r := Row{JSON: strings.TrimSpace(line[at:])}
	r.Type, _ = catalog.TypeNamed(words[0])
	language := ""
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		n, _ := strconv.ParseInt(value, 10, 64) // 0 for a text
		switch name {
		case "language":
			language = value
		case "sub":
			r.Sub = value
		case "text":
			r.Text = value
		case "table":
			r.Table = true
		case "id":
			r.ID = n
		case "series":
			r.Series = n
		case "season":
			r.Season = n
		case "episode":
			r.Episode = n
		default:
			t.Fatalf("%s: unknown word %s", line, word)
		}
	}
	l := New(language)
	l.Responses = true
	recs, err := l.Records(r)
	var out strings.Builder
	if err != nil {
		fmt.Fprintf(&out, "  refused: %v\n", err)
	}
	for _, one := range recs {
		part := ""
		if one.Part {
			part = "part of "
		}
		fmt.Fprintf(&out, "  %s%s %s\n", part, one.Key.Describe(one.Type.Kind), record.Append(nil, one.Record))
	}
	c := l.Counts()
	for _, count := range []struct {
		what string
		of   map[string]int64
	}{{"unknown", c.Unknown}, {"coerced", c.Coerced}, {"dropped", c.Dropped}} {
		if len(count.of) > 0 {
			fmt.Fprintf(&out, "  %s: %v\n", count.what, count.of)
		}
	}
	return out.String()
}

// TestLongList: the time for a list of 300,000 items, and for as many unknown fields, is linear.
func TestLongList(t *testing.T) {
	const n = 300_000
	var items, fields strings.Builder
	for i := range n {
		fmt.Fprintf(&items, `{"media_type":"movie","id":%d,"title":"T","comment":"c"},`, i+1)
		fmt.Fprintf(&fields, `"m%d":1,`, i)
	}
	records := func(json string) (recs []Record, err error) {
		sharedtest.Within(t, "a long row", func() { recs, err = New("").Records(Row{Type: catalog.TypeOf(fragment.KindList), JSON: json}) })
		return recs, err
	}
	recs, err := records(`{"id":1,"items":[` + strings.TrimSuffix(items.String(), ",") + `]}`)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := recs[0].Schema.Field("items")
	page := recs[0].At(f, 0)
	results, _ := page.Schema.Field("results")
	if got, _ := page.Len(results); got != n {
		t.Errorf("%d items, want %d", got, n)
	}
	if _, err := records(`{` + fields.String() + `"id":1}`); err != nil {
		t.Error(err)
	}
}
