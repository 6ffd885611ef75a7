package quarantine

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
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

func readAll(t *testing.T, path string) []Entry {
	t.Helper()
	var got []Entry
	if err := Read(path, func(e Entry) error { got = append(got, e); return nil }); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "quarantine")
	w := New(dir, "run-1")
	if got := files(t, dir); len(got) != 0 {
		t.Fatalf("New made %v, want nothing", got)
	}
	long := bytes.Repeat([]byte("é"), MaxRaw) // 2 MiB, and MaxRaw cuts an é in two
	entries := []Entry{
		{File: "movies.ndjson", Row: 2, Line: 3, Field: "id", Reason: "want a number", Kind: "movie", Raw: []byte(`{"id":"<x>` + "\u2028" + `"}`)},
		{File: "movies.parquet", Row: 7, Reason: "byte 9: invalid UTF-8", Kind: "", Raw: []byte("{\"a\":\"\x94\"}")},
		{File: "x.json", Row: 1, Line: 1, Reason: "empty", Raw: []byte{}},
		{File: "long.ndjson", Row: 1, Line: 1, Reason: "long", Raw: long[1:]},
		{File: "longer.ndjson", Row: 1, Line: 1, Reason: "longer", Raw: []byte("{"), RawBytes: 200 << 20},
	}
	for _, e := range entries {
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if got := files(t, dir); len(got) != 1 || got[0] == "run-1.ndjson" {
		t.Errorf("before Close there is %v, want one temporary file", got)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := files(t, dir), []string{"run-1.ndjson"}; !reflect.DeepEqual(got, want) {
		t.Errorf("after Close there is %v, want %v", got, want)
	}
	if w.Count() != 5 || len(w.First(2)) != 2 || len(w.First(9)) != 5 || len(w.First(9)[3].Raw) > sampleRaw {
		t.Errorf("Count() = %d, First(9) has %d", w.Count(), len(w.First(9)))
	}
	got := readAll(t, w.Path())
	for i, e := range entries {
		e.RawBytes = max(e.RawBytes, int64(len(e.Raw)))
		e.Raw = e.Raw[:min(len(e.Raw), MaxRaw)]
		if i == 3 {
			e.Raw = got[i].Raw
			if n := len(e.Raw); n > MaxRaw || n < MaxRaw-4 || !bytes.HasPrefix(long[1:], e.Raw) {
				t.Errorf("long row was cut to %d bytes, want %d at most", n, MaxRaw)
			}
		}
		if !reflect.DeepEqual(got[i], e) {
			t.Errorf("entry %d = %.200v, want %.200v", i, got[i], e)
		}
	}
}

func TestFileForm(t *testing.T) {
	w := New(t.TempDir(), "r")
	w.Add(Entry{File: "a.ndjson", Row: 1, Line: 1, Field: "id", Reason: "is missing", Kind: "tv", Raw: []byte(`{"name":"a<b"}`)})
	w.Add(Entry{File: "b.parquet", Row: 2, Reason: "bad", Raw: []byte("\xff")})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"file":"a.ndjson","row":1,"line":1,"field":"id","reason":"is missing","kind":"tv","raw":"{\"name\":\"a<b\"}"}
{"file":"b.parquet","row":2,"line":0,"field":"","reason":"bad","kind":"","raw_base64":"/w=="}
`
	if string(got) != want {
		t.Errorf("file is\n%s\nwant\n%s", got, want)
	}
}

func TestNoEntriesNoFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "q")
	w := New(dir, "r")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run without bad rows made %s", dir)
	}
	if err := w.Add(Entry{}); err == nil || err.Error() != "quarantine: writer is closed" {
		t.Errorf("Add after Close: %v", err)
	}
}

func TestAbort(t *testing.T) {
	dir := t.TempDir()
	w := New(dir, "r")
	w.Add(Entry{Reason: "x"})
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("Close after Abort: %v", err)
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("Abort left %v", got)
	}
}

func TestExistingRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "r.ndjson"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := New(dir, "r")
	if err := w.Add(Entry{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Add over an existing run: %v, want %v", err, fs.ErrExist)
	}
	if err := w.Close(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Close over an existing run: %v, want %v", err, fs.ErrExist)
	}
}

func TestReadRefusals(t *testing.T) {
	f := func(content, want string) {
		t.Helper()
		p := filepath.Join(t.TempDir(), "q.ndjson")
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		err := Read(p, func(e Entry) error {
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
	f("{\"row\":1}\n\n{\"row\":\n", "q.ndjson:3: want a quarantine entry: unexpected end of JSON input")
	f("{\"reason\":\"stop\"}\n", "q.ndjson:1: stopped")
	f("{}\n"+strings.Repeat(" ", maxLine+1), "q.ndjson:2: line is longer than 8388608 bytes")
}

func errString(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestConcurrentAdd(t *testing.T) {
	w := New(t.TempDir(), "r")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 200 {
				w.Add(Entry{Row: int64(i), Raw: []byte("{}")})
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(readAll(t, w.Path())); n != 800 || w.Count() != 800 {
		t.Errorf("%d entries in the file, Count() = %d, want 800", n, w.Count())
	}
}
