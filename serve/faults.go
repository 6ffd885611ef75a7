package serve

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	faultInterval = 100 * time.Millisecond
	// The edge starts to wait after an interval with manyFaults pages from the disk, each counted twice.
	manyFaults = 40
	// It stops after calmIntervals intervals with fewer pages.
	calmIntervals = 10
)

// A faultWatch reports whether pages of mapped files come from the disk. The zero faultWatch reports that they do not.
//
// A page fault blocks its thread, and with it a share of Go's scheduler: with as many threads as
// cores, one fault stops all requests of a core. So the edge waits for pages in system calls before it
// touches them, because the scheduler continues during these. Each call costs a part of a microsecond,
// which is wasted if all pages are in memory.
//
// More threads than cores do not help: raising GOMAXPROCS stops the world, which waits for each thread in a page fault.
type faultWatch struct{ fromDisk atomic.Bool }

// run watches the process until ctx ends. Where pages are not counted it does nothing.
func (w *faultWatch) run(ctx context.Context) {
	last, ok := pagesRead()
	if !ok {
		return
	}
	defer w.fromDisk.Store(false)
	quiet := calmIntervals // in a row
	t := time.NewTicker(faultInterval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			n, _ := pagesRead()
			quiet = nextQuiet(quiet, n-last)
			w.fromDisk.Store(quiet < calmIntervals)
			last = n
		}
	}
}

// nextQuiet returns the number of quiet intervals after one with that many pages from the disk.
func nextQuiet(quiet int, pages int64) int {
	if pages >= manyFaults {
		return 0
	}
	return quiet + 1
}
