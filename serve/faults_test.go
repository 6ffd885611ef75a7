package serve

import (
	"slices"
	"testing"
)

func TestNextQuiet(t *testing.T) {
	f := func(pages []int64, want ...bool) {
		t.Helper()
		quiet := calmIntervals
		var got []bool
		for _, n := range pages {
			quiet = nextQuiet(quiet, n)
			got = append(got, quiet < calmIntervals)
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages %v: from the disk %v, want %v", pages, got, want)
		}
	}
	f([]int64{0, manyFaults - 1, manyFaults}, false, false, true)
	f([]int64{manyFaults, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, true, true, true, true, true, true, true, true, true, true, false, false)
	f([]int64{manyFaults, 0, 0, 0, 0, 0, manyFaults, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false)
}
