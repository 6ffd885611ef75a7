package release

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSortPairs: pairs of one top byte come in the order of hash and offset, also when hashes
// share all of the bits that they are divided by.
func TestSortPairs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pairs := rapid.SliceOf(rapid.Custom(func(rt *rapid.T) pair {
			hash := rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64Range(0, 1<<56-1), rapid.Just[uint64](1<<56-1)).Draw(rt, "hash")
			return pair{0xa5<<56 | hash, rapid.Uint64Range(0, 9).Draw(rt, "offset")}
		})).Draw(rt, "pairs")
		want := slices.Clone(pairs)
		slices.SortFunc(want, comparePairs)
		if got := sortPairs(pairs); !slices.Equal(got, want) {
			t.Errorf("sortPairs = %x, want %x", got, want)
		}
	})
}
