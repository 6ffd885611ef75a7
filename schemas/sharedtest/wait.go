package sharedtest

import (
	"testing"
	"time"
)

// Patience bounds a wait for what shall happen: only a test that fails waits so long, on a busy machine too.
const Patience = time.Minute

// Eventually waits until ok says so, for Patience at most. For an effect that follows a response, such as the
// release of its memory, a test waits too: the client may see the response first.
func Eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for end := time.Now().Add(Patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("after %v still not: %s", Patience, what)
		}
	}
}

// Retry calls try until it succeeds, for Patience at most, and reports the last error.
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

// Within calls f, which shall return within Patience.
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
