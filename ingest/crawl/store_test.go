package crawl

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// filled returns the folder of a store with three movies and a series.
func filled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s, err := openStore(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range []string{"movie/1", "movie/2", "tv/1", "movie/3"} {
		file := "movies.ndjson"
		if strings.HasPrefix(key, "tv") {
			file = "tv.ndjson"
		}
		e := entry{Key: key, Day: day.Day(20000 + i), File: file, Named: map[string][]int64{"person": {int64(i + 1)}}}
		if err := s.add(&e, fmt.Appendf(nil, `{"id":%s}`+"\n", key[len(key)-1:])); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// appendTo appends to a file.
func appendTo(t *testing.T, path, text string) {
	t.Helper()
	servetest.WriteFile(t, path, servetest.ReadFile(t, path)+text)
}

// has opens a store and returns its keys.
func has(t *testing.T, dir string) (out string) {
	t.Helper()
	s, err := openStore(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"movie/1", "movie/2", "movie/3", "tv/1"} {
		if s.has(key) {
			if e, err := s.entry(key); err != nil || e.Key != key {
				t.Errorf("entry(%s) = %+v, %v", key, e, err)
			}
			out += key + " "
		}
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestStoreRecovers: leftovers of a killed process are removed, and rows exist if their entries do.
func TestStoreRecovers(t *testing.T) {
	const all, movies = "movie/1 movie/2 movie/3 tv/1 ", "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n"
	for name, c := range map[string]struct {
		harm func(dir string)
		keys string
		rows string
	}{
		"whole": {func(string) {}, all, movies},
		"row without an entry": {func(dir string) {
			appendTo(t, filepath.Join(dir, "movies.ndjson"), "{\"id\":4}\n")
		}, all, movies},
		"half a row": {func(dir string) { appendTo(t, filepath.Join(dir, "movies.ndjson"), `{"id":4,"ti`) }, all, movies},
		"half an entry": {func(dir string) {
			appendTo(t, filepath.Join(dir, "movies.ndjson"), "{\"id\":4}\n")
			appendTo(t, filepath.Join(dir, workDir, journalFile), `{"k":"movie/4","d":"2026-`)
		}, all, movies},
		"half a head": {func(dir string) {
			servetest.WriteFile(t, filepath.Join(dir, workDir, journalFile), journalHead[:9])
			os.Remove(filepath.Join(dir, "movies.ndjson"))
			os.Remove(filepath.Join(dir, "tv.ndjson"))
		}, "", ""},
		"lost rows": {func(dir string) {
			if err := os.Truncate(filepath.Join(dir, "movies.ndjson"), 20); err != nil {
				t.Fatal(err)
			}
		}, "movie/1 movie/2 tv/1 ", "{\"id\":1}\n{\"id\":2}\n"},
		"first row of a file": {func(dir string) {
			servetest.WriteFile(t, filepath.Join(dir, "people.ndjson"), "{\"id\":4}\n{\"id\"")
		}, all, movies},
		"lost file": {func(dir string) { os.Remove(filepath.Join(dir, "movies.ndjson")) }, "tv/1 ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filled(t)
			c.harm(dir)
			for range 2 { // the second opening has nothing to repair
				if got := has(t, dir); got != c.keys {
					t.Errorf("keys = %q, want %q", got, c.keys)
				}
			}
			got, _ := os.ReadFile(filepath.Join(dir, "movies.ndjson"))
			if string(got) != c.rows {
				t.Errorf("rows = %q, want %q", got, c.rows)
			}
			if rows, _ := os.ReadFile(filepath.Join(dir, "people.ndjson")); len(rows) > 0 {
				t.Errorf("rows without an entry: %q", rows)
			}
		})
	}
}

// TestStoreMovesForeignFile: rows of another origin are moved, and the log has both names.
func TestStoreMovesForeignFile(t *testing.T) {
	dir := filled(t)
	path := filepath.Join(dir, "people.ndjson")
	var seen []string
	for _, rows := range []string{"{\"id\":4}\n", "{\"id\":5}\n"} {
		servetest.WriteFile(t, path, rows)
		var log bytes.Buffer
		s, err := openStore(dir, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
		moved, err := filepath.Glob(filepath.Join(dir, workDir, "*", "people.ndjson"))
		if err != nil || len(moved) != len(seen)+1 {
			t.Fatalf("moved files = %v, %v, want one more than %v", moved, err, seen)
		}
		to := moved[slices.IndexFunc(moved, func(path string) bool { return !slices.Contains(seen, path) })]
		if got := servetest.ReadFile(t, to); got != rows || !strings.Contains(log.String(), path) || !strings.Contains(log.String(), to) {
			t.Errorf("%s holds %q, want %q and both names in %s", to, got, rows, log.String())
		}
		seen = moved
	}
}

// TestStoreRefuses: a folder is rejected if it is in use, has another's files, or a damaged journal.
func TestStoreRefuses(t *testing.T) {
	dir := filled(t)
	s, err := openStore(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openStore(dir, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "another crawl writes to") {
		t.Errorf("openStore = %v, want the other crawl", err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, workDir, journalFile)
	whole := servetest.ReadFile(t, path)
	for name, c := range map[string]struct{ text, want string }{
		"head":   {"{}\n" + whole, "line 1: want {\"journal\""},
		"middle": {strings.Replace(whole, `"k":"movie/2"`, `"k":"movie/2`, 1), "line 3: want an entry"},
		"key":    {whole + `{"k":"","d":"2026-01-01"}` + "\n", "line 6: want an entry with its key"},
		"file":   {whole + `{"k":"a","d":"2026-01-01","f":"../movies.ndjson","r":1,"e":1}` + "\n", `line 6: file "../movies.ndjson": want the name`},
	} {
		servetest.WriteFile(t, path, c.text)
		if _, err := openStore(dir, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: openStore = %v, want %q", name, err, c.want)
		}
	}
	dir = t.TempDir()
	servetest.WriteFile(t, filepath.Join(dir, "movies.ndjson"), "{}\n")
	if _, err := openStore(dir, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "has a movies.ndjson that no crawl has written") {
		t.Errorf("openStore = %v, want the file of others", err)
	}
}

// TestCompact: compacting changes nothing in a store without replaced rows, even if it is interrupted.
func TestCompact(t *testing.T) {
	for _, kill := range []string{"never", "before", "during", "after"} {
		t.Run(kill, func(t *testing.T) {
			dir := filled(t)
			s, err := openStore(dir, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			e := entry{Key: "movie/1", Day: 21000, File: "movies.ndjson"}
			if err := s.add(&e, []byte("{\"id\":1,\"title\":\"new\"}\n")); err != nil {
				t.Fatal(err)
			}
			if h, err := s.holding(); err != nil || h.all <= h.live || h.oldest != 20001 || h.newest != 21000 || h.entries != 4 || h.allEntries != 5 {
				t.Errorf("holding = %+v, %v, want rows that are replaced", h, err)
			}
			switch kill {
			case "never":
				err = s.compact()
			default:
				err = s.writeNext()
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := s.close(); err != nil {
				t.Fatal(err)
			}
			next, complete := s.workPath(nextDir), s.workPath(completeDir)
			if kill == "during" || kill == "after" { // the last file was complete
				err = os.Rename(next, complete)
			}
			if kill == "during" {
				err = errors.Join(err, os.Rename(filepath.Join(complete, "movies.ndjson"), filepath.Join(dir, "movies.ndjson")))
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := has(t, dir); got != "movie/1 movie/2 movie/3 tv/1 " {
				t.Errorf("keys = %q, want all", got)
			}
			want := "{\"id\":2}\n{\"id\":3}\n{\"id\":1,\"title\":\"new\"}\n"
			if kill == "before" {
				want = "{\"id\":1}\n" + want
			}
			if d := cmp.Diff(want, servetest.ReadFile(t, filepath.Join(dir, "movies.ndjson"))); d != "" {
				t.Error(d)
			}
			for _, folder := range []string{next, complete} {
				if _, err := os.Stat(folder); err == nil {
					t.Errorf("new files are left in %s", folder)
				}
			}
		})
	}
}

// TestCompactEmpties: a file whose rows were all replaced is removed.
func TestCompactEmpties(t *testing.T) {
	dir := filled(t)
	s, err := openStore(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	text := entry{Key: "movie/1 de-DE", Day: 20001, File: "movies-de-DE.ndjson"}
	gone := entry{Key: "movie/1", Day: 20002, File: "movies.ndjson", Gone: true}
	err = errors.Join(s.add(&text, []byte("{\"id\":1}\n")), s.add(&gone, []byte("{\"id\":1,\"_deleted\":true}\n")), s.compact(), s.close())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, text.File)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat(%s) = %v, want no file", text.File, err)
	}
	if got := has(t, dir); got != "movie/2 movie/3 tv/1 " {
		t.Errorf("keys = %q, want all but the removed movie", got)
	}
	if moved, err := filepath.Glob(filepath.Join(dir, workDir, "aside-*")); len(moved) > 0 || err != nil {
		t.Errorf("moved files = %v, %v, want none", moved, err)
	}
}

// TestFullDisk: a full disk ends the crawl with the file's name, and earlier rows stay.
func TestFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/full")
	}
	dir := filled(t)
	if err := os.Symlink("/dev/full", filepath.Join(dir, "people.ndjson")); err != nil {
		t.Fatal(err)
	}
	s, err := openStore(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	e := entry{Key: "person/1", Day: 20000, File: "people.ndjson"}
	err = s.add(&e, []byte("{\"id\":1}\n"))
	if err == nil || !strings.Contains(err.Error(), "write rows") || !strings.Contains(err.Error(), "people.ndjson: no space left on device") {
		t.Errorf("add = %v, want the full disk", err)
	}
	if s.has("person/1") {
		t.Error("a row that was not written has an entry")
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if got := has(t, dir); got != "movie/1 movie/2 movie/3 tv/1 " {
		t.Errorf("keys = %q, want all", got)
	}
}

// FuzzJournal: no journal crashes the program, and reading it twice gives the same result.
func FuzzJournal(f *testing.F) {
	f.Add([]byte(journalHead + `{"k":"movie/1","d":"2026-11-25","f":"movies.ndjson","r":9,"e":9,"n":{"person":[1,2]}}` + "\n"))
	f.Add([]byte(journalHead + `{"k":"movie/1","d":"2026-11-25","g":true}` + "\n" + `{"k":"mov`))
	f.Add([]byte(journalHead + `{"k":"changes/tv/1","d":"2026-11-25","p":-1,"m":-5}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var again bytes.Buffer
		again.WriteString(journalHead)
		var entries []entry
		size, err := readJournal(bytes.NewReader(data), func(off int64, e *entry) {
			if off < int64(len(journalHead)) || off >= int64(len(data)) {
				t.Fatalf("an entry is at %d of %d bytes", off, len(data))
			}
			entries = append(entries, *e)
			again.Write(formatEntry(e))
		})
		if err != nil {
			return
		}
		if size > int64(len(data)) {
			t.Fatalf("size = %d of %d bytes", size, len(data))
		}
		var second []entry
		if _, err := readJournal(&again, func(_ int64, e *entry) { second = append(second, *e) }); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(entries, second, cmp.Comparer(func(a, b map[string][]int64) bool { return fmt.Sprint(a) == fmt.Sprint(b) })); d != "" {
			t.Fatal(d)
		}
	})
}

// TestJournalFull: rows without an entry are removed, and the next entry does not cover them.
func TestJournalFull(t *testing.T) {
	dir := filled(t)
	before, err := os.ReadFile(filepath.Join(dir, "movies.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := openStore(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	journal := s.journal
	if s.journal, err = os.Open(s.workPath(journalFile)); err != nil { // read-only
		t.Fatal(err)
	}
	row := `{"id":4}` + "\n"
	add := func() error {
		return s.add(&entry{Key: "movie/4", Day: 20009, File: "movies.ndjson"}, []byte(row))
	}
	if err := add(); err == nil {
		t.Error("add without a journal = nil")
	}
	_ = s.journal.Close()
	s.journal = journal
	if err := errors.Join(add(), s.close()); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "movies.ndjson")); err != nil || string(got) != string(before)+row {
		t.Errorf("rows are %q, %v, want one of the new movie behind %q", got, err, before)
	}
}
