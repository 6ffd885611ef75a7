package shuffle

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
	"sync"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

type rec struct {
	hash         uint64
	key, payload string
}

// fill adds recs through n Writers at once and closes them.
func fill(tb testing.TB, s *Shuffle, recs []rec, n int) {
	tb.Helper()
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() {
			w := s.Writer()
			for k := i; k < len(recs); k += n {
				if err := w.Add(recs[k].hash, []byte(recs[k].key), []byte(recs[k].payload)); err != nil {
					errs[i] = err
				}
			}
			errs[i] = errors.Join(errs[i], w.Close())
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		tb.Fatal(err)
	}
}

func drain(it *Iterator) ([]rec, error) {
	var got []rec
	for {
		key, payload, err := it.Next()
		if err == io.EOF {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		got = append(got, rec{key: string(key), payload: string(payload)})
	}
}

// want returns what partition i of n has of recs.
func want(recs []rec, i, n int) []rec {
	var part []rec
	for _, r := range recs {
		if r.hash%uint64(n) == uint64(i) {
			part = append(part, rec{0, r.key, r.payload})
		}
	}
	slices.SortFunc(part, func(a, b rec) int {
		return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.payload, b.payload))
	})
	return part
}

func open(tb testing.TB, partitions int, memory int64) *Shuffle {
	tb.Helper()
	s, err := New(tb.TempDir(), partitions, memory)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func check(t *testing.T, s *Shuffle, recs []rec, memory int64) {
	t.Helper()
	for i := range s.Partitions() {
		it, err := s.Partition(t.Context(), i, memory)
		if err != nil {
			t.Fatal(err)
		}
		got, err := drain(it)
		if err != nil {
			t.Fatal(err)
		}
		if w := want(recs, i, s.Partitions()); !slices.Equal(got, w) {
			t.Fatalf("partition %d has %d records, in another order or form than wanted (%d)", i, len(got), len(w))
		}
	}
}

// random returns n records with few keys and payloads below size bytes.
func random(n, size int) []rec {
	rng := rand.New(rand.NewPCG(1, 2))
	recs := make([]rec, n)
	for i := range recs {
		key := strings.Repeat("k", rng.IntN(12)) + fmt.Sprint(rng.IntN(n/4+1))
		recs[i] = rec{rng.Uint64(), key, strings.Repeat(string(rune('a'+i%26)), rng.IntN(size))}
	}
	return recs
}

func TestShuffle(t *testing.T) {
	tests := []struct {
		name       string
		partitions int
		write      int64
		recs       []rec
		runs       int64 // at least, when read with the least memory
	}{
		{"nothing", 3, 0, nil, 0},
		{"one empty record", 2, 1 << 20, []rec{{1, "", ""}}, 0},
		{"duplicates stay", 1, 0, []rec{{0, "a", "x"}, {0, "a", "x"}, {0, "a", ""}, {0, "a\x00", ""}, {0, "", "a"}}, 0},
		{"in memory", 7, 1 << 20, random(20_000, 100), 0},
		{"a few runs", 2, 16 << 20, random(20_000, 300), 4},
		{"two passes", 1, 0, random(14_000, 2500), 20},
		{"tiny records", 1, 16 << 20, random(100_000, 2), 3},
		{"long among short", 2, 0, longAmongShort(), 4},
	}
	for _, tt := range tests {
		for _, writers := range []int{1, 4} {
			t.Run(fmt.Sprint(tt.name, writers), func(t *testing.T) {
				s := open(t, tt.partitions, tt.write)
				fill(t, s, tt.recs, writers)
				check(t, s, tt.recs, 1<<30)
				if n := s.runs.Load(); n != 0 {
					t.Errorf("wrote %d runs of what fits into memory", n)
				}
				check(t, s, tt.recs, 0)
				if n := s.runs.Load(); n < tt.runs || tt.runs == 0 && n > 0 {
					t.Errorf("wrote %d runs, want at least %d", n, tt.runs)
				}
				onlyParts(t, s.dir)
			})
		}
	}
}

// longAmongShort returns records of every size, up to more than the least memory.
func longAmongShort() []rec {
	recs := random(3000, 50)
	for i := 0; i < len(recs); i += 60 {
		recs[i].payload = strings.Repeat("long", i*80)
	}
	return recs
}

// onlyParts fails t when dir holds runs.
func onlyParts(t *testing.T, dir string) {
	t.Helper()
	runs, err := filepath.Glob(filepath.Join(dir, "*.run"))
	if err != nil || len(runs) > 0 {
		t.Errorf("left behind %v, %v", runs, err)
	}
}

func TestShuffleAny(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 7, 300, 5000, 70_000, 200_000}), 0, 40).Draw(rt, "sizes")
		var recs []rec
		for i, n := range sizes {
			key := rapid.StringN(0, 3, 12).Draw(rt, "key")
			recs = append(recs, rec{rapid.Uint64().Draw(rt, "hash"), key, strings.Repeat(string(rune('a'+i%3)), n)})
		}
		s, err := New(dir, rapid.IntRange(1, 4).Draw(rt, "partitions"), rapid.Int64Range(-1, 1<<20).Draw(rt, "write memory"))
		if err != nil {
			rt.Fatal(err)
		}
		fill(t, s, recs, rapid.IntRange(1, 5).Draw(rt, "writers"))
		for i := range s.Partitions() {
			it, err := s.Partition(t.Context(), i, rapid.Int64Range(-1, 4<<20).Draw(rt, "memory"))
			if err != nil {
				rt.Fatal(err)
			}
			if got, err := drain(it); err != nil || !slices.Equal(got, want(recs, i, s.Partitions())) {
				rt.Fatal("partition", i, "is wrong:", err)
			}
		}
		if err := s.Close(); err != nil {
			rt.Fatal(err)
		}
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind %v, %v", left, err)
	}
}

// TestConcurrent reads all partitions at once, each twice.
func TestConcurrent(t *testing.T) {
	recs := random(30_000, 200)
	s := open(t, 4, 1<<20)
	fill(t, s, recs, 8)
	var wg sync.WaitGroup
	for k := range 2 * s.Partitions() {
		wg.Go(func() {
			i := k % s.Partitions()
			it, err := s.Partition(t.Context(), i, int64(k)<<17)
			if err != nil {
				t.Error(err)
				return
			}
			defer it.Close()
			if got, err := drain(it); err != nil || !slices.Equal(got, want(recs, i, s.Partitions())) {
				t.Errorf("partition %d is wrong: %v", i, err)
			}
		})
	}
	wg.Wait()
}

func TestMemory(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const slack = 256 << 10
	start := heap()
	s := open(t, 16, 1<<20)
	key, payload := make([]byte, 8), make([]byte, 50)
	var writers []*Writer
	for range 10 {
		writers = append(writers, s.Writer())
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 500_000 {
		binary.BigEndian.PutUint64(key, rng.Uint64())
		if err := writers[i%10].Add(rng.Uint64(), key, payload[:i%50]); err != nil {
			t.Fatal(err)
		}
	}
	if n := heap() - start; n > 1<<20+slack {
		t.Errorf("writers hold %d bytes, want at most %d", n, 1<<20)
	}
	for _, w := range writers {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, memory := range []int64{minMemory, 2 << 20, 3 << 20} {
		it, err := s.Partition(t.Context(), 1, memory)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := it.Next(); err != nil {
			t.Fatal(err)
		}
		if n := heap() - start; n > memory+slack {
			t.Errorf("an iterator holds %d bytes, want at most %d", n, memory)
		}
		it.Close()
	}
}

func TestDamage(t *testing.T) {
	recs := random(9000, 400)
	damages := map[string]func([]byte) []byte{
		"bit in the first block": func(b []byte) []byte { b[100] ^= 4; return b },
		"bit in the last block":  func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"length":                 func(b []byte) []byte { b[7] = 0xff; return b },
		"length, a little":       func(b []byte) []byte { b[4] ^= 1; return b },
		"number of records":      func(b []byte) []byte { b[8]++; return b },
		"cut in a block":         func(b []byte) []byte { return b[:len(b)-5] },
		"empty":                  func([]byte) []byte { return nil },
		"a block twice": func(b []byte) []byte {
			n := int(binary.LittleEndian.Uint32(b[4:])) + headBytes
			return append(slices.Clone(b[:n]), b[:len(b)-n]...)
		},
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			s := open(t, 1, 0)
			fill(t, s, recs, 1)
			if err := s.seal(); err != nil {
				t.Fatal(err)
			}
			path := s.parts[0].w.path
			rewrite(t, path, damage)
			for _, memory := range []int64{0, 1 << 30} {
				if _, err := s.Partition(t.Context(), 0, memory); err == nil || !strings.Contains(err.Error(), path) {
					t.Errorf("with %d bytes of memory: error %v, want one that names %s", memory, err, path)
				}
			}
			onlyParts(t, s.dir)
		})
	}
}

func rewrite(t *testing.T, path string, damage func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, damage(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedRun(t *testing.T) {
	s := open(t, 1, 0)
	fill(t, s, random(9000, 400), 1)
	it, err := s.Partition(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	path := it.runs[len(it.runs)-1].path
	rewrite(t, path, func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
	if _, err := drain(it); !errors.Is(err, errDamaged) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want one that names %s", err, path)
	}
	if _, _, err := it.Next(); !errors.Is(err, errDamaged) {
		t.Errorf("Next again: %v, want the same error", err)
	}
	onlyParts(t, s.dir)
}

// A fullDisk takes left bytes.
type fullDisk struct {
	io.WriteCloser
	left *int
}

func (d fullDisk) Write(b []byte) (int, error) {
	if *d.left -= len(b); *d.left < 0 {
		n, _ := d.WriteCloser.Write(b[:len(b)/2])
		return n, syscall.ENOSPC
	}
	return d.WriteCloser.Write(b)
}

func TestFullDisk(t *testing.T) {
	recs := random(9000, 400)
	for _, left := range []int{0, 30_000, 1_500_000, 2_000_000} {
		t.Run(fmt.Sprint(left), func(t *testing.T) {
			s, room := open(t, 2, 0), left
			s.create = func(path string) (io.WriteCloser, error) {
				f, err := createFile(path)
				return fullDisk{f, &room}, err
			}
			w, bystander := s.Writer(), s.Writer()
			var err error
			for _, r := range recs {
				if err = w.Add(r.hash, []byte(r.key), []byte(r.payload)); err != nil {
					break
				}
			}
			if closed := w.Close(); err != nil && closed != err {
				t.Errorf("Close of the writer: %v, want %v", closed, err)
			}
			if other := bystander.Close(); err != nil && other != err {
				t.Errorf("Close of another writer: %v, want %v", other, err)
			}
			_, readErr := s.Partition(t.Context(), 1, 0)
			if !errors.Is(readErr, syscall.ENOSPC) || !strings.Contains(readErr.Error(), s.dir) {
				t.Errorf("Partition: %v, want that the disk is full and where", readErr)
			}
			onlyParts(t, s.dir)
		})
	}
}

func TestNoFile(t *testing.T) {
	if _, err := New(filepath.Join(t.TempDir(), "none"), 1, 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("New below no folder: %v", err)
	}
	s := open(t, 1, 0)
	s.create = func(string) (io.WriteCloser, error) { return nil, syscall.EMFILE }
	w := s.Writer()
	if err := w.Add(0, nil, make([]byte, maxBlock)); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("Add: %v", err)
	}
	if err := w.Add(0, nil, nil); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("Add again: %v", err)
	}
	if err := w.Close(); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("Close: %v", err)
	}
}

func TestCancel(t *testing.T) {
	s := open(t, 1, 0)
	fill(t, s, random(30_000, 100), 1)
	ctx, cancel := context.WithCancel(t.Context())
	var its []*Iterator
	for _, memory := range []int64{0, 1 << 30} {
		it, err := s.Partition(ctx, 0, memory)
		if err != nil {
			t.Fatal(err)
		}
		its = append(its, it)
	}
	cancel()
	for _, it := range its {
		if _, err := drain(it); !errors.Is(err, context.Canceled) {
			t.Errorf("Next: %v", err)
		}
	}
	onlyParts(t, s.dir)
	if _, err := s.Partition(ctx, 0, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("Partition: %v", err)
	}
}

func TestMisuse(t *testing.T) {
	for _, n := range []int{-1, 0, MaxPartitions + 1} {
		if _, err := New(t.TempDir(), n, 0); err == nil {
			t.Errorf("New with %d partitions succeeded", n)
		}
	}
	s := open(t, 2, 0)
	w := s.Writer()
	if _, err := s.Partition(t.Context(), 0, 0); err == nil {
		t.Error("Partition while a writer is open succeeded")
	}
	for range 2 {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := w.Add(0, nil, nil); err != errWriterClosed {
		t.Errorf("Add to a closed writer: %v", err)
	}
	for _, i := range []int{-1, 2} {
		if _, err := s.Partition(t.Context(), i, 0); err == nil {
			t.Errorf("Partition(%d) succeeded", i)
		}
	}
	it, err := s.Partition(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Writer().Add(0, nil, nil); err != errSealed {
		t.Errorf("Add after Partition: %v", err)
	}
	it.Close()
	if _, _, err := it.Next(); err == nil || err == io.EOF {
		t.Errorf("Next on a closed iterator: %v", err)
	}
}

// TestClose closes in the middle of the adding.
func TestClose(t *testing.T) {
	dir := t.TempDir()
	s, err := New(dir, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	w := s.Writer()
	for i := range uint64(10) {
		if err := w.Add(i, nil, make([]byte, 3000)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind %v, %v", left, err)
	}
	if err := w.Add(0, nil, nil); err != errSealed {
		t.Errorf("Add after Close: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Partition(t.Context(), 0, 0); err == nil {
		t.Error("Partition after Close succeeded")
	}
}

// BenchmarkShuffle moves a million records of 16 + 84 bytes; InMemory is the same order
// by slices.SortFunc alone, without files. Runs has a tenth of the memory that fits.
func BenchmarkShuffle(b *testing.B) {
	const n, partitions = 1_000_000, 64
	rng := rand.New(rand.NewPCG(5, 6))
	data := make([]byte, n*100)
	for i := 0; i < len(data); i += 8 {
		binary.LittleEndian.PutUint64(data[i:], rng.Uint64())
	}
	shuffled := func(memory int64, writers int) func(*testing.B) {
		return func(b *testing.B) {
			b.Helper()
			b.SetBytes(int64(len(data)))
			for range b.N {
				s := open(b, partitions, 32<<20)
				var wg sync.WaitGroup
				for k := range writers {
					wg.Go(func() { addAll(b, s.Writer(), data[k*len(data)/writers:(k+1)*len(data)/writers]) })
				}
				wg.Wait()
				for i := range partitions {
					exhaust(b, s, i, memory)
				}
				s.Close()
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
		}
	}
	b.Run("Fits", shuffled(64<<20, 1))
	b.Run("FitsTwoWriters", shuffled(64<<20, 2))
	b.Run("Runs", shuffled(0, 1))
	b.Run("InMemory", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for range b.N {
			recs := make([][]byte, n)
			for i := range recs {
				recs[i] = data[i*100:][:100]
			}
			slices.SortFunc(recs, bytes.Compare)
		}
		b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	})
}

func addAll(b *testing.B, w *Writer, data []byte) {
	b.Helper()
	for ; len(data) >= 100; data = data[100:] {
		if err := w.Add(binary.LittleEndian.Uint64(data), data[:16], data[16:100]); err != nil {
			b.Error(err)
			return
		}
	}
	if err := w.Close(); err != nil {
		b.Error(err)
	}
}

func exhaust(b *testing.B, s *Shuffle, i int, memory int64) {
	b.Helper()
	it, err := s.Partition(b.Context(), i, memory)
	if err != nil {
		b.Fatal(err)
	}
	for {
		if _, _, err := it.Next(); err == io.EOF {
			return
		} else if err != nil {
			b.Fatal(err)
		}
	}
}

// TestDrop: a partition that is dropped takes no room, and the others stay.
func TestDrop(t *testing.T) {
	dir := t.TempDir()
	s, err := New(dir, 2, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	w := s.Writer()
	for i := range 100 {
		if err := w.Add(uint64(i%2), []byte{byte(i)}, []byte("payload")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	it, err := s.Partition(t.Context(), 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	it.Drop()
	if files, err := filepath.Glob(filepath.Join(dir, "*", "0.part")); err != nil || len(files) != 0 {
		t.Errorf("files %q of a dropped partition, %v", files, err)
	}
	it, err = s.Partition(t.Context(), 1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; ; n++ {
		if _, _, err := it.Next(); err != nil {
			break
		}
	}
	if it.Drop(); n != 50 {
		t.Errorf("the other partition has %d records, want 50", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
