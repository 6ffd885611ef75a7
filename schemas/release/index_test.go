package release

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSortPairs: pairs whose hashes have the same first bits come in the order of hash and place,
// also when hashes share all of the bits that they are divided by.
func TestSortPairs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		first := rapid.IntRange(0, 8).Draw(rt, "first")
		pairs := rapid.SliceOf(rapid.Custom(func(rt *rapid.T) pair {
			hash := rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64(), rapid.Just[uint64](1<<64-1)).Draw(rt, "hash")
			return pair{0xa5<<56&^(1<<(64-first)-1) | hash>>first, Ref(rapid.Uint64Range(0, 9).Draw(rt, "place"))}
		})).Draw(rt, "pairs")
		want := slices.Clone(pairs)
		slices.SortFunc(want, comparePairs)
		if got := sortPairs(pairs, first); !slices.Equal(got, want) {
			t.Errorf("sortPairs = %x, want %x", got, want)
		}
	})
}

// TestReadKeys: the ranges of a file of keys are all of it, each pair in the one of its first bits.
func TestReadKeys(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "keys")
	rapid.Check(t, func(rt *rapid.T) {
		var pairs []pair
		for i, hash := range rapid.SliceOf(rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(1<<63-2, 1<<63+2))).Draw(rt, "hashes") {
			pairs = append(pairs, pair{hash, Ref(i)})
		}
		if err := writeKeys(path, pairs); err != nil {
			rt.Fatal(err)
		}
		first := rapid.IntRange(0, 5).Draw(rt, "bits")
		var all []pair
		for i := range uint64(1) << first {
			got, err := readKeys(InDir(dir), &Part{Keys: "keys", KeyCount: int64(len(pairs))}, i, first, 3)
			if err != nil {
				rt.Fatal(err)
			}
			for _, p := range got {
				if p.hash>>(64-first) != i {
					rt.Errorf("hash %x is in range %d of %d", p.hash, i, 1<<first)
				}
				all = append(all, pair{p.hash, p.ref &^ (3 << refOffBits)})
			}
		}
		if want := sortPairs(pairs, 0); !slices.Equal(all, want) {
			rt.Errorf("%d pairs in ranges, want the %d of the file", len(all), len(want))
		}
	})
}

// A spanReader notes the bytes that are read.
type spanReader struct {
	*os.File
	from, to int64
}

func (r *spanReader) ReadAt(b []byte, off int64) (int, error) {
	r.from, r.to = min(r.from, off), max(r.to, off+int64(len(b)))
	return r.File.ReadAt(b, off)
}

// TestReadKeysNear: a range of a long file is found without reading far from it.
func TestReadKeysNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	pairs := make([]pair, 300_000)
	for i := range pairs {
		pairs[i] = pair{rng.Uint64(), Ref(i)}
	}
	dir := t.TempDir()
	if err := writeKeys(filepath.Join(dir, "keys"), pairs); err != nil {
		t.Fatal(err)
	}
	var all int
	for i := range uint64(16) {
		var r *spanReader
		open := func(name string) (OpenedFile, error) {
			f, err := os.Open(filepath.Join(dir, name))
			r = &spanReader{File: f, from: math.MaxInt64}
			return r, err
		}
		got, err := readKeys(open, &Part{Keys: "keys", KeyCount: int64(len(pairs))}, i, 4, 0)
		if err != nil {
			t.Fatal(err)
		}
		all += len(got)
		if read, want := r.to-r.from, int64(len(got)*pairLen); read > want+256<<10 {
			t.Errorf("range %d of %d bytes: reads span %d bytes", i, want, read)
		}
	}
	if all != len(pairs) {
		t.Errorf("%d pairs in all ranges, want %d", all, len(pairs))
	}
}

// TestManyIndexes looks up all keys in a release whose index has several files.
func TestManyIndexes(t *testing.T) {
	dir := t.TempDir()
	w, err := create(dir, testOptions{Parts: 3})
	if err != nil {
		t.Fatal(err)
	}
	const n = 3000
	for i := range 3 {
		var rs []ResourceSpec
		for k := i; k < n; k += 3 {
			rs = append(rs, ResourceSpec{Key: fmt.Appendf(nil, "key %d", k), ID: uint64(k)})
		}
		if err := add(w, i, rs...); err != nil {
			t.Fatal(err)
		}
	}
	w.indexes = 8
	m := seal(t, w)
	noProblems(t, filepath.Join(dir, m.ID))
	r := mustOpen(t, filepath.Join(dir, m.ID))
	for k := range n {
		if e, ok := r.Lookup(fmt.Appendf(nil, "key %d", k)); !ok || e.ID() != uint64(k) {
			t.Fatalf("key %d is not found", k)
		}
		if _, ok := r.Lookup(fmt.Appendf(nil, "no key %d", k)); ok {
			t.Fatalf("a key is found that is not there")
		}
	}
}
