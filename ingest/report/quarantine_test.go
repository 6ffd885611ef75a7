package report

import (
	"bytes"
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

func readAll(t *testing.T, path string) []BadRow {
	t.Helper()
	var got []BadRow
	if err := ReadQuarantine(path, func(e BadRow) error { got = append(got, e); return nil }); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestQuarantine(t *testing.T) {
	dir := t.TempDir()
	w := NewQuarantine(filepath.Join(dir, "run-1.ndjson"))
	if got := files(t, dir); len(got) != 0 {
		t.Fatalf("NewQuarantine made %v, want nothing", got)
	}
	long := bytes.Repeat([]byte("é"), MaxRaw) // 2 MiB, and MaxRaw cuts an é in two
	entries := []BadRow{
		{File: "movies.ndjson", Row: 2, Line: 3, Field: "id", Reason: "want a number", Kind: "movie", Path: "a/movies.ndjson", Layout: "tmdb", Raw: RawOf([]byte(`{"id":"<x>`+"\u2028"+`"}`), 0)},
		{File: "movies.parquet", Row: 7, Reason: "byte 9: invalid UTF-8", Kind: "", Raw: RawOf([]byte("{\"a\":\"\x94\"}"), 0)},
		{File: "x.json", Row: 1, Line: 1, Reason: "empty", Raw: RawOf([]byte{}, 0)},
		{File: "long.ndjson", Row: 1, Line: 1, Reason: "long", Raw: RawOf(long[1:], 0)},
		{File: "longer.ndjson", Row: 1, Line: 1, Reason: "longer", Raw: RawOf([]byte("{"), 200<<20)},
	}
	for _, e := range entries {
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := files(t, dir), []string{"run-1.ndjson"}; !reflect.DeepEqual(got, want) {
		t.Errorf("after Close there is %v, want %v", got, want)
	}
	if first := w.First(); w.Count() != 5 || len(first) != 5 || first[0] != "movies.ndjson:3: id: want a number" || first[1] != "movies.parquet: row 7: byte 9: invalid UTF-8" {
		t.Errorf("Count() = %d, First() = %q", w.Count(), first)
	}
	got := readAll(t, w.path)
	for i, e := range entries {
		if n := len(got[i].Bytes()); i == 3 && (!got[i].Cut() || got[i].Size != int64(len(long))-1 || n > MaxRaw || n < MaxRaw-4 || !bytes.HasPrefix(long[1:], got[i].Bytes())) {
			t.Errorf("long row was cut to %d bytes of %d, want %d at most", n, got[i].Size, MaxRaw)
		}
		if !reflect.DeepEqual(got[i], e) {
			t.Errorf("entry %d = %.200v, want %.200v", i, got[i], e)
		}
	}
}

func TestQuarantineForm(t *testing.T) {
	w := NewQuarantine(filepath.Join(t.TempDir(), "r.ndjson"))
	w.Add(BadRow{File: "a.ndjson", Row: 1, Line: 1, Field: "id", Reason: "is missing", Kind: "tv", Raw: RawOf([]byte(`{"name":"a<b"}`), 0)})
	w.Add(BadRow{File: "b.parquet", Row: 2, Reason: "bad", Raw: RawOf([]byte("\xff"), 0)})
	w.Add(BadRow{File: "c.csv", Path: "d/c.csv", Row: 1, Line: 2, Reason: "bad", Kind: "tv", Layout: "tables", Table: true, Header: "id,name", Raw: RawOf([]byte("x,y"), 0)})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(w.path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"file":"a.ndjson","row":1,"line":1,"field":"id","reason":"is missing","kind":"tv","raw":"{\"name\":\"a<b\"}"}
{"file":"b.parquet","row":2,"line":0,"field":"","reason":"bad","kind":"","raw_base64":"/w=="}
{"file":"c.csv","path":"d/c.csv","row":1,"line":2,"field":"","reason":"bad","kind":"tv","layout":"tables","table":true,"header":"id,name","raw":"x,y"}
`
	if string(got) != want {
		t.Errorf("file is\n%s\nwant\n%s", got, want)
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

func TestQuarantineRefusals(t *testing.T) {
	f := func(content, want string) {
		t.Helper()
		p := filepath.Join(t.TempDir(), "q.ndjson")
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		err := ReadQuarantine(p, func(e BadRow) error {
			if e.Reason == "stop" {
				return errors.New("stopped")
			}
			return nil
		})
		if got := strings.TrimPrefix(errString(err), filepath.Dir(p)+"/"); got != want {
			t.Errorf("Read(%.40q) = %q, want %q", content, got, want)
		}
	}
	f("", "")
	f("{\"file\":\"m.csv\"}\n\n{\"row\":\n", "q.ndjson:3: want a quarantine entry: Syntax error at index 7: eof")
	f("{\"row\":\"x\"}\n", "q.ndjson:1: want a quarantine entry: Mismatch type int64 with value string at index 7: mismatched type with value")
	f("{\"id\":1,\"title\":\"A\"}\n", "q.ndjson:1: want a quarantine entry: it names no file that its row came from")
	f("{\"file\":\"m.csv\",\"reason\":\"stop\"}\n", "q.ndjson:1: stopped")
	f("{\"file\":\"m.csv\"}\n"+strings.Repeat(" ", maxLine+1), "q.ndjson:2: line is longer than 8388608 bytes")
}

func errString(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
