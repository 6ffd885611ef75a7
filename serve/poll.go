package serve

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/reelsplice/reelsplice/serve/observe"
)

const (
	// pollStalls is the time without an end of a look at files from which /readyz reports it.
	pollStalls = 10 * time.Second
	// pollsEnd is how long the end of a Server waits for looks at files.
	pollsEnd = time.Second
)

// A poll looks at files again and again. A file system that does not respond may hold a look up for ever.
type poll struct {
	files string // in messages and metrics
	look  func()
	ended atomic.Int64 // when the last look ended or the poll was made, in nanoseconds of Unix time
}

func newPoll(files string, look func()) *poll {
	p := &poll{files: files, look: look}
	p.ended.Store(time.Now().UnixNano())
	return p
}

// run looks at the files every interval until ctx ends.
func (p *poll) run(ctx context.Context, interval time.Duration) {
	every(ctx, interval, func() {
		p.look()
		p.ended.Store(time.Now().UnixNano())
	})
}

// err reports that no look has ended for a while.
func (p *poll) err() error {
	if d := time.Since(time.Unix(0, p.ended.Load())); d > pollStalls {
		return fmt.Errorf("%s: the last look at the files ended %s ago", p.files, d.Truncate(time.Second))
	}
	return nil
}

func (p *poll) writeMetrics(w *observe.Writer) {
	w.Time(observe.PollEnded, time.Unix(0, p.ended.Load()), p.files)
}
