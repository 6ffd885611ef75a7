package observe

import (
	"sync/atomic"
	"time"
)

// bounds are the upper bounds of the buckets of a Durations. A detail takes about 10 us, a search some
// milliseconds, and a slow client seconds.
var bounds = [...]time.Duration{
	10 * time.Microsecond, 25 * time.Microsecond, 50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, time.Second, 5 * time.Second,
}

// Durations is a histogram of durations with the classic buckets of Prometheus. It is safe for concurrent use, and
// an observation is two atomic additions. The count is the sum of the buckets.
type Durations struct {
	buckets [len(bounds) + 1]atomic.Uint64 // not cumulative; the last is for +Inf
	nanos   atomic.Uint64
}

// Observe adds a duration. One below 0, by a clock that was set back, counts as 0.
func (h *Durations) Observe(d time.Duration) {
	d = max(d, 0)
	i := 0
	for i < len(bounds) && d > bounds[i] {
		i++
	}
	h.buckets[i].Add(1)
	h.nanos.Add(uint64(d))
}

// A Snapshot is the content of one or more histograms at a time.
type Snapshot struct {
	buckets [len(bounds) + 1]uint64
	nanos   uint64
}

// Add adds the content of h.
func (s *Snapshot) Add(h *Durations) {
	for i := range h.buckets {
		s.buckets[i] += h.buckets[i].Load()
	}
	s.nanos += h.nanos.Load()
}
