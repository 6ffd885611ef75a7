package serve

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
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

// TestFaults: pages come from the disk at the start, and nobody is told so in the end.
func TestFaults(t *testing.T) {
	if _, ok := pagesRead(); !ok {
		t.Skip("this system does not count page faults of a process")
	}
	synctest.Test(t, func(t *testing.T) { // else the start may be over before a look at it
		ctx, stop := context.WithCancel(t.Context())
		var w faultWatch
		if w.active() {
			t.Error("pages come from the disk before anybody looks")
		}
		go w.run(ctx)
		synctest.Wait()
		if !w.active() {
			t.Error("no pages come from the disk at the start")
		}
		stop()
		synctest.Wait()
		if w.active() {
			t.Error("pages come from the disk in the end")
		}
	})
}
