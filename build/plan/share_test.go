package plan

import (
	"slices"
	"testing"
)

// TestShare: each task is in exactly one share.
func TestShare(t *testing.T) {
	for _, count := range []int{1, 3, 7, 64, 500} {
		var all []int
		for index := range count {
			all = append(all, Share(200, index, count)...)
		}
		slices.Sort(all)
		if len(all) != 200 || len(slices.Compact(all)) != 200 {
			t.Errorf("%d tasks in %d shares, want each of 200 once", len(all), count)
		}
	}
}
