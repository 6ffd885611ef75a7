package pagefault

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
)

func TestNext(t *testing.T) {
	f := func(pages []int64, want ...bool) {
		t.Helper()
		quiet := calm
		var got []bool
		for _, n := range pages {
			quiet = next(quiet, n)
			got = append(got, quiet < calm)
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages %v: from the disk %v, want %v", pages, got, want)
		}
	}
	f([]int64{0, many - 1, many}, false, false, true)
	f([]int64{many, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, true, true, true, true, true, true, true, true, true, true, false, false)
	f([]int64{many, 0, 0, 0, 0, 0, many, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false)
}

// TestRun: pages come from the disk at the start, and nobody is told so in the end.
func TestRun(t *testing.T) {
	if _, ok := pagesRead(); !ok {
		t.Skip("this system does not count page faults of a process")
	}
	synctest.Test(t, func(t *testing.T) { // else the start may be over before a look at it
		ctx, stop := context.WithCancel(t.Context())
		var w Watch
		if w.FromDisk() {
			t.Error("pages come from the disk before anybody looks")
		}
		go w.Run(ctx)
		synctest.Wait()
		if !w.FromDisk() {
			t.Error("no pages come from the disk at the start")
		}
		stop()
		synctest.Wait()
		if w.FromDisk() {
			t.Error("pages come from the disk in the end")
		}
	})
}
