package release

import (
	"fmt"
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
	for _, missing := range [][]byte{nil, {1}, make([]byte, 65), make([]byte, 1000)} {
		if _, ok := r.Lookup(missing); ok {
			t.Errorf("the key %x is found", missing)
		}
	}
}
