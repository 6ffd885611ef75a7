package extsort

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

type rec struct {
	section      int
	key, payload string
}

func compareRecs(a, b rec) int {
	return cmp.Or(cmp.Compare(a.section, b.section), cmp.Compare(a.key, b.key), cmp.Compare(a.payload, b.payload))
}

func sorted(recs []rec) []rec {
	recs = slices.Clone(recs)
	slices.SortFunc(recs, compareRecs)
	return recs
}

func fill(tb testing.TB, s *Sorter, recs []rec) {
	tb.Helper()
	for _, r := range recs {
		sharedtest.NoError(tb, s.Add(r.section, []byte(r.key), []byte(r.payload)))
	}
}

// drain reads an Iterator to its end.
func drain(section int, it *Iterator, err error) ([]rec, error) {
	if err != nil {
		return nil, err
	}
	var out []rec
	err = it.Each(func(key, payload []byte) error {
		out = append(out, rec{section, string(key), string(payload)})
		return nil
	})
	return out, err
}

// read returns all sections of a Sorter.
func read(s *Sorter) ([]rec, error) {
	var out []rec
	for i := range s.o.sections() {
		it, err := s.Sort(context.Background(), i)
		got, err := drain(i, it, err)
		if out = append(out, got...); err != nil {
			return out, err
		}
	}
	return out, nil
}

// left fails t when dir holds anything but the names.
func left(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	sharedtest.NoError(t, err)
	for _, e := range entries {
		if !slices.Contains(names, e.Name()) {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

// randomRecs returns n records of sections with few keys and payloads below size bytes.
func randomRecs(n, size, sections int) []rec {
	rng := rand.New(rand.NewPCG(1, 2))
	recs := make([]rec, n)
	for i := range recs {
		var key [9]byte
		binary.BigEndian.PutUint64(key[:], rng.Uint64N(uint64(n/4+1)))
		recs[i] = rec{rng.IntN(sections), string(key[:rng.IntN(10)]), strings.Repeat(string(rune('a'+i%26)), rng.IntN(size)) + fmt.Sprint(i)}
	}
	return recs
}

func longAmongShort() []rec {
	recs := randomRecs(5000, 50, 3)
	for i := 100; i < len(recs); i += 500 {
		recs[i].payload += strings.Repeat("long", 80_000)
	}
	return recs
}

func TestSort(t *testing.T) {
	x, y := strings.Repeat("x", 1<<20), strings.Repeat("y", 2<<20)
	tests := []struct {
		name   string
		o      Options
		recs   []rec
		spills bool
	}{
		{"nothing", Options{}, nil, false},
		{"one empty record", Options{}, []rec{{}}, false},
		{"in memory", Options{Memory: 8 << 20}, randomRecs(5000, 100, 1), false},
		{"sections in memory", Options{Memory: 8 << 20, Sections: 700}, randomRecs(5000, 100, 700), false},
		{"a few runs", Options{Memory: 1 << 20}, randomRecs(20000, 300, 1), true},
		{"a few runs of sections", Options{Memory: 1 << 20, Sections: 10}, randomRecs(20000, 300, 9), true},
		{"more runs than are merged at once", Options{Sections: 3}, randomRecs(12000, 2500, 3), true},
		{"long among short", Options{Memory: 1 << 20, Sections: 3}, longAmongShort(), true},
		{"above the memory", Options{}, []rec{{0, "2", x}, {0, "1", "a"}, {0, "2", y}, {0, "1", "b"}}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, want := t.TempDir(), sorted(tt.recs)
			tt.o.Dir = dir
			s := New(tt.o)
			fill(t, s, tt.recs)
			if (spilledBytes(s) > 0) != tt.spills || s.Len() != int64(len(want)) {
				t.Errorf("%d records, %d bytes spilled", s.Len(), spilledBytes(s))
			}
			if got, err := read(s); err != nil || !slices.Equal(got, want) {
				t.Errorf("%d records in a wrong order, want %d (%v)", len(got), len(want), err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			left(t, dir)
			testFile(t, tt.o, tt.recs)
		})
	}
}

// testFile writes recs as several files, reads each section of all, and compares.
func testFile(t *testing.T, o Options, recs []rec) {
	t.Helper()
	var files []*File
	for i := range 5 {
		s := New(o)
		for j := i; j < len(recs); j += 5 {
			fill(t, s, recs[j:j+1])
		}
		f, err := s.WriteFile(t.Context(), filepath.Join(o.Dir, fmt.Sprint("file", i)))
		sharedtest.NoError(t, err)
		defer f.Close()
		if len(f.sections) != o.sections() || f.Len() != s.Len() {
			t.Errorf("file of %d records in %d sections, want %d in %d", f.Len(), len(f.sections), s.Len(), o.sections())
		}
		files = append(files, f)
		s.Close()
	}
	var got []rec
	o.Memory = 0
	for i := range o.sections() {
		it, err := Merge(t.Context(), files, i, o)
		part, err := drain(i, it, err)
		sharedtest.NoError(t, err)
		if err := it.Close(); err != nil {
			t.Error(err)
		}
		got = append(got, part...)
	}
	if !slices.Equal(got, sorted(recs)) {
		t.Error("merged files are in a wrong order")
	}
	left(t, o.Dir, "file0", "file1", "file2", "file3", "file4")
}

// TestAny sorts any records by few kinds of keys, which share long prefixes.
func TestAny(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.Custom(func(t *rapid.T) string {
			return rapid.StringMatching(`(|aaaaaaaaaaaa)[ab\x00]{0,10}`).Draw(t, "key")
		})
		one := rapid.Custom(func(t *rapid.T) rec {
			payload := rapid.String().Draw(t, "payload")
			return rec{rapid.IntRange(0, 300).Draw(t, "section"), key.Draw(t, "key"), strings.Repeat(payload, rapid.IntRange(1, 3000).Draw(t, "times"))}
		})
		recs := rapid.SliceOfN(one, 0, 400).Draw(t, "records")
		s := New(Options{Dir: dir, Sections: 301})
		defer s.Close()
		for _, r := range recs {
			sharedtest.NoError(t, s.Add(r.section, []byte(r.key), []byte(r.payload)))
		}
		if got, err := read(s); err != nil || !slices.Equal(got, sorted(recs)) {
			t.Errorf("%v in a wrong order (%v)", got, err)
		}
	})
}

// TestDeterministic demands equal bytes for any order of adding and any memory.
func TestDeterministic(t *testing.T) {
	recs := randomRecs(20_000, 200, 5)
	var want []byte
	for i, memory := range []int64{0, 1 << 20, 64 << 20} {
		s := New(Options{Dir: t.TempDir(), Memory: memory, Sections: 5})
		rand.Shuffle(len(recs), func(i, j int) { recs[i], recs[j] = recs[j], recs[i] })
		fill(t, s, recs)
		path := filepath.Join(t.TempDir(), "file")
		f, err := s.WriteFile(t.Context(), path)
		sharedtest.NoError(t, err)
		f.Close()
		s.Close()
		got, err := os.ReadFile(path)
		sharedtest.NoError(t, err)
		if i == 0 {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("memory %d gives other bytes", memory)
		}
	}
}

// TestManyFiles merges more files than the memory has room for.
func TestManyFiles(t *testing.T) {
	dir := t.TempDir()
	var files []*File
	var want []rec
	for i := range 50 {
		s := New(Options{Dir: dir, Sections: 4})
		recs := []rec{{1, fmt.Sprint(i % 7), "x"}, {2, fmt.Sprint(i), fmt.Sprint(i)}, {2, "same", "same"}}
		fill(t, s, recs)
		f, err := s.WriteFile(t.Context(), filepath.Join(dir, fmt.Sprint(i)))
		sharedtest.NoError(t, err)
		defer f.Close()
		files, want = append(files, f), append(want, recs[1:]...)
	}
	temporary := t.TempDir()
	for range 2 {
		it, err := Merge(t.Context(), files, 2, Options{Dir: temporary})
		sharedtest.NoError(t, err)
		if _, _, err := it.Next(); err != nil {
			t.Error(err)
		}
		it.Close()
		if _, _, err := it.Next(); err == nil || err == io.EOF {
			t.Errorf("Next of a closed iterator: %v", err)
		}
	}
	it, err := Merge(t.Context(), files, 2, Options{Dir: temporary})
	got, err := drain(2, it, err)
	if err != nil || !slices.Equal(got, sorted(want)) {
		t.Errorf("got %v, want %v (%v)", got, sorted(want), err)
	}
	if err := it.Close(); err != nil {
		t.Error(err)
	}
	it.Close()
	left(t, temporary)
}

func TestMemory(t *testing.T) {
	const bound = 4 << 20
	for _, size := range []int{0, 20, 1000, 100_000, 3 << 20} {
		s := New(Options{Dir: t.TempDir(), Memory: bound})
		payload := make([]byte, size)
		most := int64(0)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := 0; spilledBytes(s) < 3*bound; i++ {
			sharedtest.NoError(t, s.Add(0, binary.AppendUvarint(nil, uint64(i)), payload))
			held := heldBy(s.memory)
			most = max(most, held)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if live := int64(after.HeapAlloc) - int64(before.HeapAlloc); most > bound || live > bound*5/4 {
			t.Errorf("payloads of %d bytes: holds %d and %d bytes, want at most %d", size, most, live, bound)
		}
		if n, held := len(s.memory.entries), heldBy(s.memory); size < bound/4 && (n == 0 || held == 0) {
			t.Errorf("payloads of %d bytes: nothing is held", size)
		}
		s.Close()
	}
}

// spilledBytes returns the bytes of the run files.
func spilledBytes(s *Sorter) (n int64) {
	for _, f := range s.runs {
		n += f.size
	}
	return n
}

// spilled returns a Sorter with runs on disk.
func spilled(t *testing.T, dir string) *Sorter {
	t.Helper()
	s := New(Options{Dir: dir})
	fill(t, s, randomRecs(20_000, 300, 1))
	if err := s.flush(); err != nil || len(s.runs) < 2 {
		t.Fatalf("%d runs, want several (%v)", len(s.runs), err)
	}
	return s
}

// TestDamage changes each byte of a file in turn: reading must fail, whatever it is.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	s := New(Options{Dir: dir, Sections: 3})
	recs := append(randomRecs(60, 20, 3), rec{2, "k", strings.Repeat("z", 2*blockBytes)})
	fill(t, s, recs)
	f, err := s.WriteFile(t.Context(), path)
	sharedtest.NoError(t, err)
	f.Close()
	b, err := os.ReadFile(path)
	sharedtest.NoError(t, err)
	try := func(name string, b []byte) {
		t.Helper()
		sharedtest.NoError(t, os.WriteFile(path, b, 0o600))
		f, err := Open(path)
		if err == nil {
			defer f.Close()
			for i := range len(f.sections) {
				if err == nil {
					it, e := Merge(t.Context(), []*File{f}, i, Options{})
					_, err = drain(i, it, e)
				}
			}
		}
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error is %v, want damage", name, err)
		}
	}
	for i := range b {
		if i > 2048 && i < len(b)-256 {
			continue // inside the long payload
		}
		c := slices.Clone(b)
		c[i] ^= 1 << (i % 8)
		try(fmt.Sprintf("bit of byte %d of %d", i, len(b)), c)
		if i%97 == 0 {
			try(fmt.Sprintf("cut to %d bytes", i), b[:i])
		}
	}
}

// A fullDisk is a file on a disk with room for some bytes only.
type fullDisk struct {
	*os.File
	room *int
}

func (d fullDisk) Write(p []byte) (int, error) {
	if *d.room -= len(p); *d.room < 0 {
		return 0, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	return d.File.Write(p)
}

func onDisk(room *int) func(path string) (io.WriteCloser, error) {
	return func(path string) (io.WriteCloser, error) {
		f, err := os.Create(path)
		return fullDisk{f, room}, err
	}
}

func TestFullDisk(t *testing.T) {
	for _, room := range []int{0, 100_000, 1 << 20, 3 << 20} {
		dir := t.TempDir()
		s := New(Options{Dir: dir})
		sharedtest.Set(t, &createFile, onDisk(&room))
		var err error
		for i := 0; err == nil && i < 100_000; i++ {
			err = s.Add(0, []byte{byte(i)}, make([]byte, 100))
		}
		if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "write sorted file ") {
			t.Fatalf("error is %v, want no space left", err)
		}
		left(t, dir)
		if again := s.Add(0, nil, nil); again != err {
			t.Errorf("the next Add returns %v, want %v", again, err)
		}
		if _, again := s.Sort(t.Context(), 0); again != err {
			t.Errorf("Sort returns %v, want %v", again, err)
		}
		s.Close()
	}
}

func TestFullDiskInMerge(t *testing.T) {
	for _, file := range []bool{true, false} {
		t.Run(fmt.Sprint(file), func(t *testing.T) {
			dir := t.TempDir()
			s := spilled(t, dir)
			defer s.Close()
			room := 30_000
			sharedtest.Set(t, &createFile, onDisk(&room))
			var err error
			if file {
				_, err = s.WriteFile(t.Context(), filepath.Join(dir, "file"))
			} else {
				_, err = s.Sort(t.Context(), 0)
			}
			if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("error is %v, want no space left", err)
			}
			left(t, dir)
		})
	}
}

func TestMisuse(t *testing.T) {
	f := func(err error, want string) {
		t.Helper()
		if err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	s := New(Options{Dir: t.TempDir()})
	s.Add(0, nil, nil)
	it, err := s.Sort(t.Context(), 0)
	sharedtest.NoError(t, err)
	f(s.Add(0, nil, nil), "extsort: add after sort")
	s.Close()
	s.Close()
	f(s.Add(0, nil, nil), "extsort: sorter is closed")
	_, _, err = it.Next()
	f(err, "extsort: sorter is closed")
}

func TestCancel(t *testing.T) {
	dir := t.TempDir()
	s := spilled(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	it, err := s.Sort(ctx, 0)
	sharedtest.NoError(t, err)
	cancel()
	if _, err := drain(0, it, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Next returns %v, want %v", err, context.Canceled)
	}
	s.Close()
	s = spilled(t, dir)
	if _, err := s.Sort(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("Sort returns %v, want %v", err, context.Canceled)
	}
	left(t, dir)
}

func TestMissingFolder(t *testing.T) {
	s := New(Options{Dir: filepath.Join(t.TempDir(), "none")})
	defer s.Close()
	s.Add(0, nil, nil)
	if err := s.flush(); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "create folder for sort runs: ") {
		t.Errorf("flush without a folder: %v", err)
	}
}

func heldBy(m *memory) int64 { return m.used + int64(cap(m.entries))*entryBytes }
