package sharedtest

import "testing"

// Set sets a variable until the end of a test.
func Set[T any](tb testing.TB, variable *T, v T) {
	tb.Helper()
	old := *variable
	*variable = v
	tb.Cleanup(func() { *variable = old })
}
