package catalog

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// writeRecent writes movies as records that changed, upon the file that the folder has, after
// movies that are no more, and returns whether there is a new file.
func writeRecent(tb testing.TB, dir string, gone []int64, rows ...string) bool {
	tb.Helper()
	typ, p := TypeOf(fragment.KindMovie), record.NewParser()
	old, err := OpenRecent(dir, typ, math.MaxInt64)
	if err != nil {
		tb.Fatal(err)
	}
	w := CreateRecent(filepath.Join(dir, typ.RecentFile()), typ, 0, old)
	for _, id := range gone {
		w.Remove(NumberKey(id))
	}
	for _, row := range rows {
		var m Movie
		if err := p.Parse(row, record.Of(&m)); err != nil {
			tb.Fatalf("Parse(%.80s): %v", row, err)
		}
		w.Add(NumberKey(m.ID.V), record.AppendBinary(nil, record.Of(&m)))
	}
	written, err := w.Commit()
	if err != nil {
		tb.Fatal(err)
	}
	return written
}

// recentMovies returns which of the records of a file of movies are read from the file of those
// that changed, as JSON, by id. Each has to be what the Parquet file has.
func recentMovies(tb testing.TB, dir string) map[uint64]string {
	tb.Helper()
	typ := TypeOf(fragment.KindMovie)
	f, err := typ.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	r, err := OpenRecent(dir, typ, math.MaxInt64)
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	heads, rows := f.Heads(0, f.RowGroups()), f.All()
	defer heads.Close()
	defer rows.Close()
	got := map[uint64]string{}
	for {
		h, err := heads.Next()
		if errors.Is(err, io.EOF) {
			return got
		}
		var want Movie
		if err := errors.Join(err, rows.Next(record.Of(&want))); err != nil {
			tb.Fatal(err)
		}
		have, ok := r.Read(h)
		if !ok {
			continue
		}
		got[h.Key.ID()] = string(record.Append(nil, have))
		if !bytes.Equal(record.AppendBinary(nil, have), record.AppendBinary(nil, record.Of(&want))) {
			tb.Errorf("movie %d:\n got %.200s\nwant %.200s", h.Key.ID(), got[h.Key.ID()], record.Append(nil, record.Of(&want)))
		}
	}
}

// TestRecent: records that changed are read as the Parquet file has them, and no others.
func TestRecent(t *testing.T) {
	rows := someMovies(rand.New(rand.NewPCG(11, 11)), 300)
	rows = append(rows, `{"id":301,"title":null,"overview":"","genres":[],"later":{"a":1}}`, `{"id":302}`)
	dir := filepath.Dir(writeMovies(t, rows))
	if got := recentMovies(t, dir); len(got) > 0 {
		t.Errorf("without a file, %d records are read", len(got))
	}
	stale := strings.Replace(rows[7], `"title":"T7"`, `"title":"before"`, 1)
	if !writeRecent(t, dir, nil, rows[3], stale, rows[200], rows[300], rows[301], `{"id":900,"title":"gone"}`) {
		t.Fatal("no file")
	}
	got := recentMovies(t, dir)
	for _, id := range []uint64{4, 201, 301, 302} {
		if got[id] == "" {
			t.Errorf("movie %d is not read", id)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d records are read, want 4", len(got))
	}
}

// TestRecentTakeOver: a file has what earlier ones had, the latest version of each, for some
// time; without a record there is no new file.
func TestRecentTakeOver(t *testing.T) {
	rows := make([]string, 20)
	for i := range rows {
		rows[i] = `{"id":` + string(rune('1'+i/10)) + string(rune('0'+i%10)) + `,"title":"T"}`
	}
	dir := filepath.Dir(writeMovies(t, rows))
	if writeRecent(t, dir, nil) {
		t.Error("a file of no records")
	}
	writeRecent(t, dir, nil, strings.Replace(rows[0], "T", "before", 1), rows[1])
	for i := range recentAge + 1 {
		writeRecent(t, dir, nil, rows[0], rows[2+i])
		if writeRecent(t, dir, nil) {
			t.Error("a file of no records")
		}
		want := 2 + 1 + i
		if i == recentAge { // the first was written once, and taken over as often as may be
			want--
		}
		if got := recentMovies(t, dir); len(got) != want {
			t.Errorf("%d ingests later %d records are read, want %d", i+1, len(got), want)
		}
	}
}

// TestRecentRemove: nothing of a record that is removed stays, also where nothing else changes.
func TestRecentRemove(t *testing.T) {
	rows := []string{`{"id":1,"title":"Private"}`, `{"id":2,"title":"B"}`, `{"id":3,"title":"C"}`}
	dir := filepath.Dir(writeMovies(t, rows))
	path := filepath.Join(dir, TypeOf(fragment.KindMovie).RecentFile())
	writeRecent(t, dir, nil, rows...)
	for i, want := range []string{"Private", "", ""} {
		data, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(data), "Private") != (want != "") {
			t.Errorf("step %d: the file has %q, %v, want %q in it", i, data, err, want)
		}
		if written := writeRecent(t, dir, []int64{1, 7}); written != (i == 0) {
			t.Errorf("step %d: a new file: %v", i, written)
		}
	}
	if got := recentMovies(t, dir); len(got) != 2 {
		t.Errorf("%d records are read, want 2", len(got))
	}
	writeRecent(t, dir, []int64{2}, rows[2])
	if got := recentMovies(t, dir); len(got) != 1 || got[3] == "" {
		t.Errorf("%d records are read, want movie 3", len(got))
	}
}

// TestRecentMemory: a file of which more is to be held than there is memory for is not read.
func TestRecentMemory(t *testing.T) {
	typ, dir := TypeOf(fragment.KindMovie), t.TempDir()
	writeRecent(t, dir, nil, `{"id":1}`, `{"id":2}`)
	for memory, want := range map[int64]int64{2*recentEntry - 1: 0, 2 * recentEntry: 2 * recentEntry} {
		r, err := OpenRecent(dir, typ, memory)
		if err != nil || r.Memory() != want {
			t.Errorf("OpenRecent with %d bytes takes %d, %v, want %d", memory, r.Memory(), err, want)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRecentBound: a file stays within its bytes; what does not fit is left out.
func TestRecentBound(t *testing.T) {
	long := func(id string, n int) string {
		return `{"id":` + id + `,"overview":"` + strings.Repeat("x", n) + `"}`
	}
	rows := []string{long("1", 9<<20), long("2", 9<<20), long("3", 10)}
	dir := filepath.Dir(writeMovies(t, rows))
	writeRecent(t, dir, nil, rows...)
	if got := recentMovies(t, dir); len(got) != 2 || got[1] == "" || got[3] == "" {
		t.Errorf("%d records are read, want movies 1 and 3", len(got))
	}
}

// memory is a file in memory.
type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

// FuzzRecent: whatever a file has, it is read without a panic, and what it gives is what was
// written of that head.
func FuzzRecent(f *testing.F) {
	typ, dir, p := TypeOf(fragment.KindMovie), f.TempDir(), record.NewParser()
	rows := []string{`{"id":1,"title":"A","genres":[{"id":1,"name":"G"}]}`, `{"id":2,"title":"B"}`}
	writeRecent(f, dir, nil, rows...)
	sound, err := os.ReadFile(filepath.Join(dir, typ.RecentFile()))
	if err != nil {
		f.Fatal(err)
	}
	var bodies [2][]byte
	for i, row := range rows {
		var m Movie
		if err := p.Parse(row, record.Of(&m)); err != nil {
			f.Fatal(err)
		}
		bodies[i] = record.AppendBinary(nil, record.Of(&m))
	}
	for at := range sound {
		f.Add(sound, at, byte(1<<(at%8)))
	}
	f.Add(sound, 0, byte(0))
	f.Add(sound[:len(sound)-1], 0, byte(0))
	f.Fuzz(func(t *testing.T, data []byte, at int, flip byte) {
		file := bytes.Clone(data)
		if at >= 0 && at < len(file) {
			file[at] ^= flip
		}
		records, err := readRecent(bytes.NewReader(file), int64(len(file)), typ, math.MaxInt64)
		if err != nil {
			t.Fatal(err)
		}
		r := &Recent{typ: typ, file: memory{bytes.NewReader(file)}, records: records}
		for i, body := range bodies {
			m, found := r.Read(Head{Key: NumberKey(int64(i + 1)), Sum: xxh3.Hash(body)})
			if found && !bytes.Equal(record.AppendBinary(nil, m), body) {
				t.Errorf("movie %d is another one", i+1)
			}
			if !found && bytes.Equal(file, sound) {
				t.Errorf("movie %d of a sound file is not read", i+1)
			}
		}
	})
}
