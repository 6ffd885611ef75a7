package sharedtest

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
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

// Interrupt calls run until enough returns true. run starts work, interrupts it after the given time, and reports
// whether it did: the work may finish first. The times are random and adapt to the duration of the work.
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

// Kill runs the test program again, with a variable NAME=value that makes its TestMain work, and kills it after the
// given time. It reports whether it did: the work may finish first. If the work fails, so does tb.
func Kill(tb testing.TB, variable string, after time.Duration) (killed bool) {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), variable)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	defer time.AfterFunc(after, func() { _ = cmd.Process.Kill() }).Stop()
	err := cmd.Wait()
	killed = cmd.ProcessState.ExitCode() == -1 // by a signal
	if err != nil && !killed {
		tb.Fatalf("the process to be killed: %v: %s", err, stderr.String())
	}
	return killed
}
