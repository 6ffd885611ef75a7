package threads

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
)

func TestWatch(t *testing.T) {
	f := func(pages []int64, want ...bool) {
		t.Helper()
		var w state
		var got []bool
		for _, n := range pages {
			w.wide = w.next(n)
			got = append(got, w.wide)
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages %v: more threads %v, want %v", pages, got, want)
		}
	}
	f([]int64{0, many - 1, many}, false, false, true)
	f([]int64{many, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, true, true, true, true, true, true, true, true, true, true, false, false)
	f([]int64{many, 0, 0, 0, 0, 0, many, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false)
}

// TestRun: there are more threads at the start, and as many as before in the end.
func TestRun(t *testing.T) {
	if _, ok := pagesRead(); !ok {
		t.Skip("not here")
	}
	t.Setenv("GOMAXPROCS", "")
	runtime.SetDefaultGOMAXPROCS() // the tests may have been started with another number
	before := runtime.GOMAXPROCS(0)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	var w Watch
	if w.FromDisk() {
		t.Error("pages come from the disk before anybody looks")
	}
	go func() { w.Run(ctx); close(done) }()
	wait(t, func() bool { return runtime.GOMAXPROCS(0) > before })
	if !w.FromDisk() {
		t.Error("there are more threads, and no pages from the disk")
	}
	stop()
	<-done
	if w.FromDisk() {
		t.Error("pages come from the disk in the end")
	}
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("%d threads in the end, want %d", n, before)
	}
}

// TestRunFixed: whoever sets the number of threads has that, and is told of the disk.
func TestRunFixed(t *testing.T) {
	if _, ok := pagesRead(); !ok {
		t.Skip("not here")
	}
	before := runtime.GOMAXPROCS(0)
	t.Setenv("GOMAXPROCS", strconv.Itoa(before))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	var w Watch
	go func() { w.Run(ctx); close(done) }()
	wait(t, w.FromDisk)
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("%d threads, want the %d that were asked for", n, before)
	}
	stop()
	<-done
}

func wait(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("after 5 s it is as before")
		}
	}
}
