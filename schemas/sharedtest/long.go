package sharedtest

import (
	"os"
	"testing"
)

// longVariable enables long tests, as in scripts/check.sh --full.
const longVariable = "REELSPLICE_LONG_TESTS"

// IsLong reports whether to test exhaustively: large real dumps, many seeds, every order. Otherwise tests use a part
// of each, to keep "go test ./..." short.
func IsLong() bool { return os.Getenv(longVariable) != "" && !testing.Short() }

// Long skips a test unless long tests are enabled.
func Long(tb testing.TB) {
	tb.Helper()
	if !IsLong() {
		tb.Skip("a long test: set " + longVariable + "=1, as scripts/check.sh --full does")
	}
}

// Rounds returns long if long tests are enabled, else short.
func Rounds(short, long int) int {
	if IsLong() {
		return long
	}
	return short
}
