package sharedtest

import (
	"testing"
	"time"
)

// Patience bounds waits for expected events: only failing tests reach it, even on a busy machine.
const Patience = time.Minute

// Eventually waits until ok returns true, for at most Patience. Use it also for effects after a response, such as
// released memory: the client may see the response first.
func Eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for end := time.Now().Add(Patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("after %v still not: %s", Patience, what)
		}
	}
}

// Retry calls try until it succeeds, for at most Patience, and reports the last error.
func Retry(tb testing.TB, what string, try func() error) {
	tb.Helper()
	for end := time.Now().Add(Patience); ; time.Sleep(10 * time.Millisecond) {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			tb.Fatalf("after %v still not: %s: %v", Patience, what, err)
		}
	}
}

// Within fails the test if f does not return within Patience.
func Within(tb testing.TB, what string, f func()) {
	tb.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(Patience):
		tb.Fatalf("after %v still not: the end of %s", Patience, what)
	}
}
