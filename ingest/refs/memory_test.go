package refs

import (
	"math/rand/v2"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// TestMemory: what is kept of millions of credits, in a dozen relations on two goroutines, follows
// from how many people there are: 5 million take a bit each.
func TestMemory(t *testing.T) {
	const people, relations = 5_000_000, 12
	n := 2_000_000
	if testing.Short() {
		n /= 20
	}
	known, random, all := roaring64.New(), rand.New(rand.NewPCG(1, 2)), tallies{}
	known.AddRange(0, people)
	for range n {
		all.of(relationKey{path: "a"}).ids.Add(random.Uint64N(2 * people))
	}
	total := known.GetSizeInBytes() + 2*relations*all.of(relationKey{path: "a"}).ids.GetSizeInBytes()
	if total > 48<<20 {
		t.Errorf("the ids take %d MiB, want 48 at most", total>>20)
	}
}
