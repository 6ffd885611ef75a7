package sharedtest

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"
)

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
