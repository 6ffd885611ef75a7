package report

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestQuarantine(t *testing.T) {
	dir := t.TempDir()
	w := NewQuarantine(filepath.Join(dir, "run-1.ndjson"))
	if got := files(t, dir); len(got) != 0 {
		t.Fatalf("NewQuarantine made %v, want nothing", got)
	}
	add := func(e BadRow, set func(*BadRow)) {
		t.Helper()
		set(&e)
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	row := func(text string) func(*BadRow) { return func(e *BadRow) { e.SetRow([]byte(text)) } }
	text := func(text string, size int64) func(*BadRow) { return func(e *BadRow) { e.SetText([]byte(text), size) } }
	add(BadRow{File: "movies.json", Path: "a/movies.json", Number: 2, Line: 3, Field: "id", Reason: "want a number", Kind: "movie", Layout: "tmdb"}, row("{\"id\":\"<x>\u2028\",\n \"a\": 1}"))
	add(BadRow{File: "c.csv", Number: 1, Line: 2, Reason: "bad", Layout: "tables", Mapping: "c.toml"}, row(`{"id":"x","name":null}`))
	add(BadRow{File: "movies.ndjson", Number: 7, Line: 7, Reason: "byte 9: invalid UTF-8"}, text("{\"a\":\"\x94\"}", 9))
	add(BadRow{File: "x.json", Number: 1, Line: 1, Reason: "empty"}, text("", 0))
	add(BadRow{File: "long.ndjson", Number: 1, Line: 1, Reason: "long"}, text("{", 200<<20))
	add(BadRow{File: "again.ndjson", Number: 1, Line: 1, Reason: "want an object"}, text(`"{\"a\":\"\uFFFD\"}"`, 12))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := files(t, dir), []string{"run-1.ndjson"}; !reflect.DeepEqual(got, want) {
		t.Errorf("after Close there is %v, want %v", got, want)
	}
	if first := w.First(); w.Count() != 6 || len(first) != 6 || first[0] != "movies.json:3: id: want a number" || first[1] != "c.csv:2: bad" {
		t.Errorf("Count() = %d, First() = %q", w.Count(), first)
	}
	got, err := os.ReadFile(w.path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"file":"movies.json","path":"a/movies.json","number":2,"line":3,"field":"id","reason":"want a number","kind":"movie","layout":"tmdb","row":{"id":"<x>` + "\u2028" + `","a":1}}
{"file":"c.csv","number":1,"line":2,"field":"","reason":"bad","layout":"tables","mapping":"c.toml","row":{"id":"x","name":null}}
{"file":"movies.ndjson","number":7,"line":7,"field":"","reason":"byte 9: invalid UTF-8","row":"{\"a\":\"\uFFFD\"}"}
{"file":"x.json","number":1,"line":1,"field":"","reason":"empty","row":""}
{"file":"long.ndjson","number":1,"line":1,"field":"","reason":"long","size":209715200,"row":"{"}
{"file":"again.ndjson","number":1,"line":1,"field":"","reason":"want an object","row":"{\"a\":\"\uFFFD\"}"}
`
	want = strings.ReplaceAll(want, `\uFFFD`, "\uFFFD")
	if strings.ReplaceAll(string(got), `\uFFFD`, "\uFFFD") != want {
		t.Errorf("file is\n%s\nwant\n%s", got, want)
	}
}

// TestLongRow: the start of a long row is kept.
func TestLongRow(t *testing.T) {
	long := []byte(`{"a":"` + strings.Repeat("é", maxRaw) + `"}`) // 2 MiB, and maxRaw cuts an é in two
	var e BadRow
	e.SetRow(long)
	var kept string
	if err := json.Unmarshal(e.Row, &kept); err != nil {
		t.Fatal(err)
	}
	if n := len(kept); e.Size != int64(len(long)) || n > maxRaw || n < maxRaw-4 || !strings.HasPrefix(string(long), kept) {
		t.Errorf("a long row was cut to %d bytes of %d, want %d at most", n, e.Size, maxRaw)
	}
}

func TestNoBadRows(t *testing.T) {
	dir := t.TempDir()
	w := NewQuarantine(filepath.Join(dir, "r.ndjson"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("a run without bad rows made %v", got)
	}
}
