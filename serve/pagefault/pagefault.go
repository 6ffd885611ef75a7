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

// Run watches the process until ctx ends. It starts with pages from the disk, for nothing that was
// opened has been read. Where pages are not counted it does nothing.
func (w *Watch) Run(ctx context.Context) {
	last, ok := pagesRead()
	if !ok {
		return
	}
	defer w.fromDisk.Store(false)
	w.fromDisk.Store(true)
	s := state{cold: true}
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			n, _ := pagesRead()
			w.fromDisk.Store(s.next(n - last))
			last = n
		}
	}
}

// A state remembers the intervals so far.
type state struct {
	cold  bool
	quiet int // intervals in a row
}

// next adds an interval with that many pages from the disk, and returns whether they still come.
func (s *state) next(pages int64) bool {
	if pages >= many {
		s.cold, s.quiet = true, 0
	} else if s.quiet++; s.quiet >= calm {
		s.cold = false
	}
	return s.cold
}
