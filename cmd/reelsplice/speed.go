package main

import "time"

const (
	// speedWindow is the time over which the rate is taken: long enough for a large row not
	// to matter, short enough to notice a disk that slows down.
	speedWindow = 10 * time.Second

	// speedStep is the distance between the marks in that window.
	speedStep = 250 * time.Millisecond

	// speedLeast is the time that a rate needs at least.
	speedLeast = 500 * time.Millisecond
)

// work is a piece of work under way.
type work struct {
	what        string
	bytes       bool
	begun       bool
	done, total int64
	start       time.Time
	marks       []mark // ascending, speedWindow back and one more
}

// A mark is how much was done at some moment.
type mark struct {
	at   time.Time
	done int64
}

func newWork(what string, bytes bool, now time.Time) work {
	return work{what: what, bytes: bytes, start: now, marks: []mark{{at: now}}}
}

// update sets the progress to done of total. A smaller done than before is ignored.
func (w *work) update(done, total int64, now time.Time) {
	if w.begun && done < w.done {
		return
	}
	w.begun, w.done, w.total = true, done, max(0, total)
	if now.Sub(w.marks[len(w.marks)-1].at) >= speedStep {
		w.forget(now)
		w.marks = append(w.marks, mark{now, done})
	}
}

// forget drops the marks before the window but for the last one, where the window begins.
func (w *work) forget(now time.Time) {
	n := 0
	for n+1 < len(w.marks) && now.Sub(w.marks[n+1].at) >= speedWindow {
		n++
	}
	w.marks = append(w.marks[:0], w.marks[n:]...)
}

// state returns the progress now.
func (w *work) state(now time.Time) progressState {
	w.forget(now)
	s := progressState{
		what: w.what, bytes: w.bytes, begun: w.begun, done: w.done, total: w.total,
		elapsed: now.Sub(w.start), rate: -1,
	}
	if d := now.Sub(w.marks[0].at); d >= speedLeast {
		s.rate = float64(w.done-w.marks[0].done) / d.Seconds()
	}
	return s
}
