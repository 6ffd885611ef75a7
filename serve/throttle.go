package serve

import (
	"sync/atomic"

	"golang.org/x/time/rate"
)

// logRate is how many lines a second a throttle allows.
const logRate = 3

// A throttle bounds the log lines that clients can cause. It is safe for concurrent use.
type throttle struct {
	limit   *rate.Limiter
	omitted atomic.Int64 // lines, since the last one that was allowed
}

func newThrottle() *throttle { return &throttle{limit: rate.NewLimiter(logRate, logRate)} }

// allow reports whether a line may be logged now, and the number of lines omitted before it.
func (t *throttle) allow() (omitted int64, ok bool) {
	if !t.limit.Allow() {
		t.omitted.Add(1)
		return 0, false
	}
	return t.omitted.Swap(0), true
}
