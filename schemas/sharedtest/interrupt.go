package sharedtest

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Interrupt calls run until enough reports true. run starts work, interrupts it after the given time, and reports
// whether it did: the work may end first. The times are random and follow how long the work takes.
func Interrupt(tb testing.TB, enough func() bool, run func(after time.Duration) (interrupted bool)) {
	tb.Helper()
	const rounds = 500
	span := 100 * time.Millisecond
	for range rounds {
		if enough() {
			return
		}
		start := time.Now()
		if run(rand.N(span)) {
			span += span / 4
		} else {
			span = time.Since(start)
		}
	}
	tb.Fatalf("not enough was interrupted in %d rounds", rounds)
}
