// Package pagefault watches whether pages of mapped files come from the disk.
//
// A page that is not in memory stops the thread that touches it, and with it a share of Go's
// scheduler: with as many threads as cores, one page that is waited for stops all requests of a core.
// So the edge waits for pages in system calls, before it touches them, where the scheduler goes on. Each
// call costs a part of a microsecond, which is wasted where all is in memory: the Watch decides.
//
// More threads than cores help too, and were tried: raising GOMAXPROCS stops the world, and the world waits
// for each thread that waits for a page.
package pagefault

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	interval = 100 * time.Millisecond
	// many is how many pages from the disk in an interval make waiting worth while, each counted
	// twice.
	many = 40
	// calm is how many intervals with fewer have to pass before it is over.
	calm = 10
)

// A Watch reports whether pages come from the disk. The zero Watch reports that they do not.
type Watch struct{ fromDisk atomic.Bool }

// FromDisk reports whether pages come from the disk at the moment.
func (w *Watch) FromDisk() bool { return w.fromDisk.Load() }

// PagesRead returns how many pages came from disks for this process so far, those that it had to wait
// for twice. ok is false where pages are not counted.
func PagesRead() (n int64, ok bool) { return pagesRead() }

// Run watches the process until ctx ends. It starts with pages from the disk, for nothing that was
// opened has been read. Where pages are not counted it does nothing.
func (w *Watch) Run(ctx context.Context) {
	last, ok := pagesRead()
	if !ok {
		return
	}
	defer w.fromDisk.Store(false)
	w.fromDisk.Store(true)
	quiet := 0 // intervals in a row
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			n, _ := pagesRead()
			quiet = next(quiet, n-last)
			w.fromDisk.Store(quiet < calm)
			last = n
		}
	}
}

// next returns the number of quiet intervals behind one with that many pages from the disk.
func next(quiet int, pages int64) int {
	if pages >= many {
		return 0
	}
	return quiet + 1
}
