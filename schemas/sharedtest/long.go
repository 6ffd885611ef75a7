package sharedtest

import (
	"os"
	"testing"
)

// longVariable is set where long tests run: in scripts/check.sh --full.
const longVariable = "REELSPLICE_LONG_TESTS"

// IsLong reports whether tests walk all the way: large real dumps, many seeds, every
// order. Without it they take a part of each, so that "go test ./..." stays short.
func IsLong() bool { return os.Getenv(longVariable) != "" && !testing.Short() }

// Long skips a test unless long tests run.
func Long(tb testing.TB) {
	tb.Helper()
	if !IsLong() {
		tb.Skip("a long test: set " + longVariable + "=1, as scripts/check.sh --full does")
	}
}

// Rounds returns long where long tests run and short elsewhere.
func Rounds(short, long int) int {
	if IsLong() {
		return long
	}
	return short
}
