// Package sharedtest finds the recorded responses and real dumps next to a checkout, in ../shared. The project does
// not ship them, so tests that need them are skipped if the folder is absent. In CI (CI=true) they fail instead, so
// they cannot silently stop running. The package also has helpers for tests of several stages: golden files, long tests,
// waiting, folders in memory, files of another user.
package sharedtest

import (
	"os"
	"path/filepath"
	"testing"
)

// Path returns the absolute path of elem below ../shared. If it does not exist, tb is skipped, or fails in CI.
func Path(tb testing.TB, elem ...string) string {
	tb.Helper()
	root, err := moduleRoot()
	if err != nil {
		tb.Fatalf("sharedtest: %v", err)
	}
	p := filepath.Join(append([]string{filepath.Dir(root), "shared"}, elem...)...)
	if _, err := os.Stat(p); err != nil {
		if os.Getenv("CI") != "" {
			tb.Fatalf("sharedtest: CI needs the shared data beside the checkout: %v", err)
		}
		tb.Skipf("no shared data beside the checkout: %v", err)
	}
	return p
}

// moduleRoot returns the folder with go.mod, searching upward from the working directory, which go test sets to the
// package's folder.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", os.ErrNotExist
		}
		dir = parent
	}
}

// A fataler is a testing.TB or a *rapid.T.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// NoError ends a test if err is not nil.
func NoError(tb fataler, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Set sets a variable until the end of a test.
func Set[T any](tb testing.TB, variable *T, v T) {
	tb.Helper()
	old := *variable
	*variable = v
	tb.Cleanup(func() { *variable = old })
}

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
