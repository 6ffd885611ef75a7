package observe

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Limits of a Queue while its destination stalls.
const (
	maxQueued = 8192    // writes
	maxBytes  = 8 << 20 // bytes of the writes, about
)

// A Queue is an io.Writer that never waits. A goroutine writes the lines; a line that does not fit, or cannot be
// written, is counted as lost. It is safe for concurrent use. Each Write must hold whole lines.
type Queue struct {
	dst     io.Writer
	notice  func(lost int64) []byte // the line about lost lines
	pending chan []byte
	held    atomic.Int64  // bytes of pending
	stop    chan struct{} // closed by Close
	ended   chan struct{}
	lost    atomic.Int64 // lines, in all
	noticed int64        // lost lines in written notices; owned by the goroutine
}

// NewQueue returns a Queue in front of dst. Once dst accepts lines again, notice makes a line about the lines lost
// since the last notice.
func NewQueue(dst io.Writer, notice func(lost int64) []byte) *Queue {
	q := &Queue{
		dst: dst, notice: notice,
		pending: make(chan []byte, maxQueued), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	go q.run()
	return q
}

// Write queues a copy of p, or drops it. The error is always nil.
func (q *Queue) Write(p []byte) (int, error) {
	select {
	case <-q.stop:
		q.lost.Add(lines(p))
		return len(p), nil
	default:
	}
	if q.held.Add(int64(len(p))) <= maxBytes {
		select {
		case q.pending <- bytes.Clone(p):
			return len(p), nil
		default:
		}
	}
	q.held.Add(-int64(len(p)))
	q.lost.Add(lines(p))
	return len(p), nil
}

// Lost returns how many lines were lost so far.
func (q *Queue) Lost() int64 { return q.lost.Load() }

// Close waits until everything is written, but no longer than patience, and ends the Queue. It is
// called once.
func (q *Queue) Close(patience time.Duration) {
	close(q.stop)
	select {
	case <-q.ended:
	case <-time.After(patience): // the goroutine ends when its Write does
	}
}

// run writes pending lines until the Queue is closed and empty.
func (q *Queue) run() {
	defer close(q.ended)
	for {
		select {
		case p := <-q.pending:
			q.pass(p)
		case <-q.stop:
			for len(q.pending) > 0 { // lines may have been ready too, and select takes either
				q.pass(<-q.pending)
			}
			return
		}
	}
}

// pass writes p and, after the last line that is pending, the notice about lost ones.
func (q *Queue) pass(p []byte) {
	defer q.held.Add(-int64(len(p)))
	if n, _ := q.dst.Write(p); n < len(p) {
		q.lost.Add(lines(p[n:]))
		return
	}
	lost := q.lost.Load() - q.noticed
	if lost == 0 || len(q.pending) > 0 {
		return
	}
	line := q.notice(lost)
	if n, _ := q.dst.Write(line); n == len(line) { // or the next notice is about these too
		q.noticed += lost
	}
}

// lines returns how many lines b has; the last one needs no newline.
func lines(b []byte) int64 {
	n := int64(bytes.Count(b, []byte("\n")))
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}

// Limit returns a logger that passes on n records at once, and n more in each span of time. The first record after
// dropped ones has their number, as "suppressed".
func Limit(log *slog.Logger, n int, span time.Duration) *slog.Logger {
	return slog.New(&limited{log.Handler(), &limit{passes: rate.NewLimiter(rate.Every(span/time.Duration(n)), n)}})
}

// A limit is shared by a limited handler and the handlers derived from it.
type limit struct {
	passes     *rate.Limiter
	suppressed atomic.Int64 // since the last record that passed
}

// limited is a Handler with a limit.
type limited struct {
	slog.Handler
	limit *limit
}

// Handle passes on r if the limit allows it.
func (h *limited) Handle(ctx context.Context, r slog.Record) error {
	if !h.limit.passes.Allow() {
		h.limit.suppressed.Add(1)
		return nil
	}
	if n := h.limit.suppressed.Swap(0); n > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int64("suppressed", n))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs returns a Handler with the same limit.
func (h *limited) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &limited{h.Handler.WithAttrs(attrs), h.limit}
}

// WithGroup returns a Handler with the same limit.
func (h *limited) WithGroup(name string) slog.Handler {
	return &limited{h.Handler.WithGroup(name), h.limit}
}
