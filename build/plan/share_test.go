package plan

import (
	"slices"
	"testing"
)

// TestShare: all tasks are dealt, each once, in shares of about the same weight.
func TestShare(t *testing.T) {
	weights := make([]int64, 200)
	var total int64
	for i := range weights {
		weights[i] = int64(1 + i*i%97*i)
		total += weights[i]
	}
	p := &Plan{Weights: map[string][]int64{"titles": weights}}
	for _, count := range []int{1, 3, 7, 64, 500} {
		var all []int
		for index := range count {
			mine := p.Share("titles", len(weights), index, count)
			if again := p.Share("titles", len(weights), index, count); !slices.Equal(mine, again) {
				t.Fatalf("share %d of %d is %d, then %d", index, count, mine, again)
			}
			var load int64
			for _, i := range mine {
				load += weights[i]
			}
			if most := total/int64(count) + slices.Max(weights); load > most {
				t.Errorf("share %d of %d weighs %d, want %d at most", index, count, load, most)
			}
			all = append(all, mine...)
		}
		slices.Sort(all)
		if len(all) != len(weights) || len(slices.Compact(all)) != len(weights) {
			t.Errorf("%d tasks in %d shares, want each of %d once", len(all), count, len(weights))
		}
	}
	if got := p.Share("index", 8, 1, 4); !slices.Equal(got, []int{1, 5}) {
		t.Errorf("share 1 of 4 of tasks of equal weight is %d, want 1 and 5", got)
	}
}
