package resolve

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

type entry struct {
	key key
	id  int64
}

func newTestTable(tb testing.TB, memory int64, entries []entry) *table {
	tb.Helper()
	dir := tb.TempDir()
	s := extsort.New(extsort.Options{Dir: dir, Memory: memory})
	for _, e := range entries {
		if err := addEntry(s, e.key, e.id); err != nil {
			tb.Fatal(err)
		}
	}
	f, err := s.WriteFile(tb.Context(), filepath.Join(dir, "entries"))
	if err != nil {
		tb.Fatal(err)
	}
	t, err := newTable(tb.Context(), dir, memory, []*extsort.File{f})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = t.close() })
	return t
}

// TestLookup: every key leads to its ID, with any memory limit and in any order of entries. Other keys lead nowhere.
func TestLookup(t *testing.T) {
	for _, n := range []int{0, 1, blockEntries, blockEntries + 1, 50_000} {
		entries := make([]entry, n)
		for i := range entries {
			entries[i] = entry{externalKey(fragment.KindMovie, "imdb_id", "tt"+strconv.Itoa(i)), int64(i + 1)}
		}
		var files [2][]byte
		for k := range files {
			rand.Shuffle(n, func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
			table := newTestTable(t, int64(k)<<24, entries)
			for _, e := range entries {
				if id, ok := table.lookup(e.key); !ok || id != e.id {
					t.Fatalf("n=%d: Lookup(%v) = %d, %v, want %d", n, e.key, id, ok, e.id)
				}
			}
			for i := range 1000 {
				if id, ok := table.External(fragment.KindTV, "imdb_id", "tt"+strconv.Itoa(i)); ok {
					t.Fatalf("n=%d: Lookup of a series = %d", n, id)
				}
			}
			b, err := os.ReadFile(table.file.Name())
			if err != nil || len(b) != n*entryBytes || table.err() != nil {
				t.Fatalf("n=%d: %d bytes of entries, Err = %v, %v", n, len(b), table.err(), err)
			}
			files[k] = b
		}
		if !bytes.Equal(files[0], files[1]) {
			t.Errorf("n=%d: another order and more memory give another table", n)
		}
	}
}

// TestWhichCounts: of several resources with one external ID the lowest counts. People who share a name have none, unless
// exactly one has a TMDB ID.
func TestWhichCounts(t *testing.T) {
	const minted, other = 123_456_789, 234_567_890
	f := func(key key, want int64, ids ...int64) {
		t.Helper()
		var entries []entry
		for _, id := range ids {
			entries = append(entries, entry{key, id})
		}
		if got, ok := newTestTable(t, 0, entries).lookup(key); got != want || ok != (want != 0) {
			t.Errorf("Lookup of %v = %d, %v, want %d", ids, got, ok, want)
		}
	}
	imdb, name := externalKey(fragment.KindMovie, "imdb_id", "tt1"), personKey(fragment.KindMovie, 5, "ann")
	f(imdb, 7, 9, 7, 8)
	f(imdb, 7, minted, 7)
	f(imdb, 1_000_000_007, minted, 1_000_000_007)
	f(imdb, minted, other, minted)
	f(name, 7, 7, 7)
	f(name, 0, 7, 8)
	f(name, 7, 7, minted)
	f(name, 7, minted, 7, other)
	f(name, minted, minted, minted)
	f(name, 0, minted, other)
}

// TestFaults: errors of the file are reported.
func TestFaults(t *testing.T) {
	k := personKey(fragment.KindTV, 1, "a")
	table := newTestTable(t, 0, []entry{{k, 1}, {externalKey(fragment.KindTV, "tvdb_id", "5"), 2}})
	if id, ok := table.lookup(k); !ok || id != 1 {
		t.Errorf("Lookup = %d, %v, want 1", id, ok)
	}
	if err := table.close(); err != nil {
		t.Fatal(err)
	}
	if id, ok := table.lookup(k); ok || table.err() == nil {
		t.Errorf("Lookup in a closed file = %d, %v, Err = %v", id, ok, table.err())
	}
}
