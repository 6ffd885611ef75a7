package serve

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/reelsplice/reelsplice/serve/observe"
)

const (
	// pollStalls is the time without a completed poll after which /readyz reports it.
	pollStalls = 10 * time.Second
	// pollsEnd bounds the wait for running polls when a Server ends.
	pollsEnd = time.Second
)

// A poll checks files periodically. A file system that does not respond may block it for ever.
type poll struct {
	files string // in messages and metrics
	look  func()
	ended atomic.Int64 // Unix time of the last completed check, or of the poll's start, in nanoseconds
}

func newPoll(files string, look func()) *poll {
	p := &poll{files: files, look: look}
	p.ended.Store(time.Now().UnixNano())
	return p
}

// run checks the files every interval until ctx ends.
func (p *poll) run(ctx context.Context, interval time.Duration) {
	every(ctx, interval, func() {
		p.look()
		p.ended.Store(time.Now().UnixNano())
	})
}

// err returns an error if no check has completed for a while.
func (p *poll) err() error {
	if d := time.Since(time.Unix(0, p.ended.Load())); d > pollStalls {
		return fmt.Errorf("%s: the last look at the files ended %s ago", p.files, d.Truncate(time.Second))
	}
	return nil
}

func (p *poll) writeMetrics(w *observe.Writer) {
	w.Time(observe.PollEnded, time.Unix(0, p.ended.Load()), p.files)
}
