package release

import (
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
