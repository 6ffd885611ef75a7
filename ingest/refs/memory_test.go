package refs

import (
	"math/rand/v2"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// TestMemory: what is kept of millions of credits, in a dozen relations on two
// goroutines, follows from how many people there are: 5 million take a bit each.
func TestMemory(t *testing.T) {
	const people, relations = 5_000_000, 12
	n := 2_000_000
	if testing.Short() {
		n /= 20
	}
	targets := newTargets(nil)
	to := targetKey{kind: fragment.KindPerson}
	for id := range uint64(people) {
		targets[to].known.Add(id)
	}
	random := rand.New(rand.NewPCG(1, 2))
	c := &collector{targets: targets}
	a := c.tally("a", to)
	for range n {
		a.add(random.Uint64N(2*people), catalog.NumberKey(1))
	}
	total := targets[to].known.GetSizeInBytes() + 2*relations*a.seen.GetSizeInBytes()
	if total > 48<<20 {
		t.Errorf("the ids take %d MiB, want 48 at most", total>>20)
	}
	if a.dangling < int64(n)/3 || len(a.first) != MaxSamples {
		t.Errorf("%d of %d references dangle, %d samples, want about half and %d", a.dangling, n, len(a.first), MaxSamples)
	}
}
