// Package threads lets more threads run Go while pages come from the disk.
//
// A page of a mapped file that is not in memory stops the thread that touches it, and Go's
// scheduler does not know: with as many threads as cores, one page that is waited for stops
// all requests of a core. More threads cost a request some 15 % of its time, so they run only
// while they have something to wait for.
package threads

import (
	"context"
	"os"
	"runtime"
	"sync/atomic"
	"time"
)

const (
	interval = 100 * time.Millisecond
	// many is how many pages from the disk in an interval make it worth while, each counted
	// twice.
	many = 40
	// calm is how many intervals with fewer have to pass before it is over.
	calm = 10
)

// A Watch knows whether pages come from the disk. The zero Watch says no.
type Watch struct{ fromDisk atomic.Bool }

// FromDisk reports whether pages come from the disk at the moment.
func (w *Watch) FromDisk() bool { return w.fromDisk.Load() }

// Run watches the process until ctx ends. Where GOMAXPROCS is set in the environment, the
// user has decided how many threads there are.
func (w *Watch) Run(ctx context.Context) {
	last, ok := pagesRead()
	if !ok {
		return
	}
	s := state{fixed: os.Getenv("GOMAXPROCS") != ""}
	set := func(wide bool) {
		w.fromDisk.Store(wide)
		s.set(wide)
	}
	defer set(false)
	set(true) // what is opened has not been read yet
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			n, _ := pagesRead()
			set(s.next(n - last))
			last = n
		}
	}
}

// A state is how many threads there are.
type state struct {
	wide  bool
	quiet int  // intervals in a row
	fixed bool // the number of threads stays
}

// next returns whether there should be more threads than cores, after an interval with
// that many pages from the disk.
func (s *state) next(pages int64) bool {
	if pages >= many {
		s.quiet = 0
		return true
	}
	s.quiet++
	return s.wide && s.quiet < calm
}

// set sets the number of threads, which stops all of them for a moment.
func (s *state) set(wide bool) {
	if wide == s.wide {
		return
	}
	s.wide = wide
	switch {
	case s.fixed:
	case wide:
		runtime.GOMAXPROCS(2*runtime.GOMAXPROCS(0) + 6)
	default:
		runtime.SetDefaultGOMAXPROCS()
	}
}
