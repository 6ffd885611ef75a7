package runs

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

type record struct {
	key, seq uint64
	payload  string
}

// keyOf spreads the numbers that tests count with over all parts of a Key.
func keyOf(n uint64) Key { return Key{Group: uint8(n >> 60), Hi: n >> 1 & (1<<59 - 1), Lo: n & 1} }

func numberOf(k Key) uint64 { return uint64(k.Group)<<60 | k.Hi<<1 | k.Lo }

// sortAll adds recs and reads them back.
func sortAll(tb testing.TB, s *Sorter, recs []record) []record {
	tb.Helper()
	for _, r := range recs {
		if err := s.Add(keyOf(r.key), r.seq, []byte(r.payload)); err != nil {
			tb.Fatal(err)
		}
	}
	it, err := s.Sort(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	var got []record
	for {
		key, seq, payload, err := it.Next()
		if err == io.EOF {
			return got
		}
		if err != nil {
			tb.Fatal(err)
		}
		got = append(got, record{numberOf(key), seq, string(payload)})
	}
}

// wantOrder returns recs sorted by key and seq, equal ones in the order given.
func wantOrder(recs []record) []record {
	want := slices.Clone(recs)
	slices.SortStableFunc(want, func(a, b record) int {
		if a.key != b.key {
			return compare(a.key, b.key)
		}
		return compare(a.seq, b.seq)
	})
	return want
}

func compare(a, b uint64) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

// left fails t when dir holds anything.
func left(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("%s was left behind", e.Name())
	}
}

// randomRecords returns n records with few keys and payloads below size bytes.
func randomRecords(n, size int) []record {
	rng := rand.New(rand.NewPCG(1, 2))
	recs := make([]record, n)
	for i := range recs {
		recs[i] = record{rng.Uint64N(uint64(n/4 + 1)), rng.Uint64N(3), strings.Repeat(string(rune('a'+i%26)), rng.IntN(size)) + fmt.Sprint(i)}
	}
	return recs
}

func TestSort(t *testing.T) {
	tests := []struct {
		name   string
		memory int64
		recs   []record
		spills bool
	}{
		{"nothing", 1 << 20, nil, false},
		{"one empty payload", 1 << 20, []record{{1, 1, ""}}, false},
		{"in memory", 8 << 20, randomRecords(5000, 100), false},
		{"a few runs", 1 << 20, randomRecords(20000, 300), true},
		{"more runs than are merged at once", 0, randomRecords(30000, 2500), true},
		{"long among short", 1 << 20, longAmongShort(), true},
		{"payloads above the memory", 0, []record{{2, 0, strings.Repeat("x", 1<<20)}, {1, 0, "a"}, {2, 0, strings.Repeat("y", 2<<20)}, {1, 1, "b"}}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := New(dir, tt.memory)
			got := sortAll(t, s, tt.recs)
			if !slices.Equal(got, wantOrder(tt.recs)) {
				t.Errorf("%d records came back in another order or form than wanted (%d)", len(got), len(tt.recs))
			}
			if s.Len() != int64(len(tt.recs)) {
				t.Errorf("Len() = %d, want %d", s.Len(), len(tt.recs))
			}
			if spilled := s.spill.next > 0; spilled != tt.spills {
				t.Errorf("wrote %d runs, want any: %v", s.spill.next, tt.spills)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			left(t, dir)
		})
	}
}

// longAmongShort returns records of every size up to the memory of 1 MiB.
func longAmongShort() []record {
	recs := randomRecords(3000, 50)
	for i := 0; i < len(recs); i += 60 {
		recs[i].payload = strings.Repeat("long", i*80)
	}
	return recs
}

// TestKeyOrder: a Key orders by its group, then by its number, the high half first.
func TestKeyOrder(t *testing.T) {
	keys := []Key{{}, {Lo: 1}, {Hi: 1}, {Hi: 1, Lo: 1 << 63}, {Hi: 1 << 63}, {Group: 1}, {Group: 1, Lo: 5}, {Group: 255}}
	for i, a := range keys {
		for j, b := range keys {
			if got, want := a.Compare(b), compare(uint64(i), uint64(j)); got != want {
				t.Errorf("%+v.Compare(%+v) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestSortAny(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 30, 3000, 20_000, 90_000, 300_000}), 0, 25).Draw(rt, "sizes")
		keys := rapid.SliceOfN(rapid.Uint64Range(0, 5), len(sizes), len(sizes)).Draw(rt, "keys")
		var recs []record
		for i, n := range sizes {
			recs = append(recs, record{keys[i], keys[len(keys)-1-i] % 2, strings.Repeat("p", n) + fmt.Sprint(i)})
		}
		s := New(dir, 0)
		defer s.Close()
		if got := sortAll(t, s, recs); !slices.Equal(got, wantOrder(recs)) {
			rt.Fatal("wrong order")
		}
	})
	left(t, dir)
}

func TestMemory(t *testing.T) {
	const memory = 4 << 20
	s := New(t.TempDir(), memory)
	defer s.Close()
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	start, most := heap(), int64(0)
	payload := make([]byte, 3<<20)
	for i, n := range []int{10, 300, 40_000, 600_000, 3 << 20, 100, 200_000, 2 << 20} {
		for k := range (6 << 20) / (n + 32) {
			if err := s.Add(keyOf(uint64(i^k)), 0, payload[:n]); err != nil {
				t.Fatal(err)
			}
		}
		most = max(most, heap()-start)
	}
	if most -= int64(len(payload)); most > memory+maxBlock {
		t.Errorf("held %d bytes, want %d at most", most, memory)
	}
	if _, err := s.Sort(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// spilled returns a Sorter of which runs are on disk.
func spilled(t *testing.T, dir string) *Sorter {
	t.Helper()
	s := New(dir, 0)
	for _, r := range randomRecords(20000, 100) {
		if err := s.Add(keyOf(r.key), r.seq, []byte(r.payload)); err != nil {
			t.Fatal(err)
		}
	}
	if s.Runs() < 2 || s.Spilled() == 0 {
		t.Fatalf("there are %d runs of %d bytes, want several", s.Runs(), s.Spilled())
	}
	return s
}

// drain reads until the first error.
func drain(s *Sorter) (n int64, err error) {
	it, err := s.Sort(context.Background())
	for err == nil {
		if _, _, _, err = it.Next(); err == nil {
			n++
		}
	}
	return n, err
}

func TestDamagedRun(t *testing.T) {
	tests := []struct {
		name   string
		damage func(b []byte) []byte
		want   string
	}{
		{"payload byte", func(b []byte) []byte { b[len(b)-1] ^= 1; return b }, `read sort run "2.run": record N of N: a record is damaged`},
		{"key byte", func(b []byte) []byte { b[8] ^= 1; return b }, `read sort run "2.run": record 1 of N: a record is damaged`},
		{"length", func(b []byte) []byte { binary.LittleEndian.PutUint32(b[4:], 1<<31); return b }, `read sort run "2.run": record 1 of N: a record is damaged`},
		{"cut", func(b []byte) []byte { return b[:len(b)-5] }, `read sort run "2.run": record N of N: file is shorter than written`},
		{"empty", func([]byte) []byte { return nil }, `read sort run "2.run": record 1 of N: file is shorter than written`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := spilled(t, dir)
			p := filepath.Join(s.spill.path, "2.run")
			b, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, tt.damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = drain(s)
			got := strings.ReplaceAll(err.Error(), filepath.Dir(p)+"/", "")
			if got = regexp.MustCompile(`\d{2,}`).ReplaceAllString(got, "N"); got != tt.want {
				t.Errorf("error is %q, want %q", got, tt.want)
			}
			s.Close()
			left(t, dir)
		})
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

func TestDiskFull(t *testing.T) {
	for _, room := range []int{0, 100_000, 1 << 20, 3 << 20} {
		dir := t.TempDir()
		s := New(dir, 0)
		s.spill.create = func(name string) (io.WriteCloser, error) {
			f, err := os.Create(name)
			return fullDisk{f, &room}, err
		}
		var err error
		for i := 0; err == nil && i < 100_000; i++ {
			err = s.Add(keyOf(uint64(i)), 0, make([]byte, 100))
		}
		if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "write sort run ") {
			t.Fatalf("error is %v, want no space left", err)
		}
		left(t, dir)
		if again := s.Add(keyOf(1), 1, nil); again != err {
			t.Errorf("the next Add returns %v, want %v", again, err)
		}
		if _, again := s.Sort(t.Context()); again != err {
			t.Errorf("Sort returns %v, want %v", again, err)
		}
		s.Close()
	}
}

func TestDiskFullInMerge(t *testing.T) {
	dir := t.TempDir()
	s := New(dir, 0)
	room := 1 << 40
	s.spill.create = func(name string) (io.WriteCloser, error) {
		f, err := os.Create(name)
		return fullDisk{f, &room}, err
	}
	for i := 0; s.Runs() < maxFanIn+2; i++ {
		if err := s.Add(keyOf(uint64(i)), 0, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	room = 300_000
	if _, err := s.Sort(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Sort returns %v, want no space left", err)
	}
	left(t, dir)
	s.Close()
}

func TestMisuse(t *testing.T) {
	f := func(err error, want string) {
		t.Helper()
		if err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	s := New(t.TempDir(), 0)
	s.Add(keyOf(1), 1, nil)
	it, err := s.Sort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f(s.Add(keyOf(1), 1, nil), "runs: add after sort")
	_, err = s.Sort(t.Context())
	f(err, "runs: sort called twice")
	s.Close()
	s.Close()
	f(s.Add(keyOf(1), 1, nil), "runs: sorter is closed")
	_, _, _, err = it.Next()
	f(err, "runs: sorter is closed")
}

func TestSortStops(t *testing.T) {
	dir := t.TempDir()
	s := spilled(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Sort(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Sort returns %v, want %v", err, context.Canceled)
	}
	left(t, dir)
	s.Close()
}

func TestMissingFolder(t *testing.T) {
	s := New(filepath.Join(t.TempDir(), "none"), 0)
	defer s.Close()
	if err := s.Add(keyOf(1), 1, make([]byte, 1<<20)); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "create folder for sort runs: ") {
		t.Errorf("Add without a folder: %v", err)
	}
}

func BenchmarkSort(b *testing.B) {
	const n = 200_000
	payload := bytes.Repeat([]byte("p"), 100)
	for _, c := range []struct {
		name   string
		memory int64
	}{{"memory", 1 << 30}, {"runs=4", 8 << 20}, {"runs=100", 256 << 10}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(n * int64(len(payload)))
			for b.Loop() {
				rng := rand.New(rand.NewPCG(1, 2))
				s := New(b.TempDir(), c.memory)
				for i := range uint64(n) {
					if err := s.Add(keyOf(rng.Uint64()), i, payload); err != nil {
						b.Fatal(err)
					}
				}
				got, err := drain(s)
				if got != n || err != io.EOF {
					b.Fatal(got, err)
				}
				s.Close()
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
