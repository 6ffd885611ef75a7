// Package logs keeps the log from holding up the server: a Queue stands between the log and
// a pipe that may stall, and Limit bounds how often a client can have something logged.
package logs

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// maxQueued is how many bytes of log a Queue holds while its destination stalls.
const maxQueued = 1 << 20

// A Queue is an io.Writer that never waits. A goroutine passes lines on; a line that
// does not fit meanwhile, or cannot be written, is counted as lost.
// It is safe for concurrent use. Each Write must hold whole lines.
type Queue struct {
	dst    io.Writer
	notice func(lost int64) []byte // the line about lost lines
	work   chan struct{}           // holds one: the goroutine has something to do
	idle   chan struct{}           // holds one: everything was written
	ended  chan struct{}

	mu      sync.Mutex
	pending []byte
	busy    bool  // the goroutine writes
	closed  bool  // nothing more is taken
	lost    int64 // lines, in all
	told    int64 // of these, in notices that were written
}

// NewQueue returns a Queue in front of dst. Once dst takes lines again, it gets the line
// that notice returns about those that were lost since the last one.
func NewQueue(dst io.Writer, notice func(lost int64) []byte) *Queue {
	q := &Queue{
		dst: dst, notice: notice,
		work: make(chan struct{}, 1), idle: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	go q.run()
	return q
}

// Write queues a copy of p, or drops it. The error is always nil.
func (q *Queue) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.pending)+len(p) > maxQueued {
		q.lost += lines(p)
		return len(p), nil
	}
	q.pending = append(q.pending, p...)
	signal(q.work)
	return len(p), nil
}

// Lost returns how many lines were lost so far.
func (q *Queue) Lost() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lost
}

// Close waits until everything is written, but no longer than patience, and ends the Queue.
func (q *Queue) Close(patience time.Duration) {
	over := time.NewTimer(patience)
	defer over.Stop()
	for !q.written() {
		select {
		case <-q.idle:
		case <-over.C:
			q.end()
			return // the goroutine ends when its Write does
		}
	}
	q.end()
	<-q.ended
}

func (q *Queue) written() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.pending) == 0 && !q.busy
}

func (q *Queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	signal(q.work)
}

// run writes what is pending until the Queue is closed.
func (q *Queue) run() {
	defer close(q.ended)
	var batch []byte
	for range q.work {
		var lost int64
		var closed bool
		batch, lost, closed = q.take(batch[:0])
		if n, _ := q.dst.Write(batch); n < len(batch) {
			q.lose(batch[n:])
		} else if lost > 0 {
			q.tell(lost)
		}
		q.rest()
		if closed {
			return
		}
	}
}

// take returns what is pending in exchange for an empty buffer, and how many lines were
// lost behind it and not told of.
func (q *Queue) take(empty []byte) (batch []byte, lost int64, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch, q.pending = q.pending, empty
	q.busy = true
	return batch, q.lost - q.told, q.closed
}

// tell writes the notice about lost lines.
func (q *Queue) tell(lost int64) {
	line := q.notice(lost)
	if n, _ := q.dst.Write(line); n < len(line) {
		return // the next notice tells of these too
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.told += lost
}

// lose counts lines that could not be written.
func (q *Queue) lose(b []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lost += lines(b)
}

// rest ends a turn.
func (q *Queue) rest() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = false
	if len(q.pending) == 0 {
		signal(q.idle)
	}
}

// signal fills a channel that holds one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
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
