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
	"time"
)

const (
	interval = 100 * time.Millisecond
	// many is how many pages from the disk in an interval make it worth while.
	many = 20
	// calm is how many intervals with fewer have to pass before it is over.
	calm = 10
)

// Run watches the process until ctx ends. Where GOMAXPROCS is set in the environment, the
// user has decided, and it does nothing.
func Run(ctx context.Context) {
	if _, ok := faults(); !ok || os.Getenv("GOMAXPROCS") != "" {
		return
	}
	var w watch
	defer w.set(false)
	w.set(true) // what is opened has not been read yet
	last, _ := faults()
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			n, _ := faults()
			w.set(w.next(n - last))
			last = n
		}
	}
}

// A watch knows how many threads there are.
type watch struct {
	wide  bool
	quiet int // intervals in a row
}

// next returns whether there should be more threads than cores, after an interval with
// that many pages from the disk.
func (w *watch) next(pages int64) bool {
	if pages >= many {
		w.quiet = 0
		return true
	}
	w.quiet++
	return w.wide && w.quiet < calm
}

// set sets the number of threads, which stops all of them for a moment.
func (w *watch) set(wide bool) {
	if wide == w.wide {
		return
	}
	w.wide = wide
	if wide {
		runtime.GOMAXPROCS(2*runtime.GOMAXPROCS(0) + 6)
	} else {
		runtime.SetDefaultGOMAXPROCS()
	}
}
