// Package sharedtest finds the recorded answers and real dumps that lie beside a
// checkout, in ../shared. The project ships none of them, so a test that needs
// them skips where the folder is absent; in CI (CI=true) its absence is a failure,
// so that those tests cannot silently stop running. It also has what tests of several stages share: which tests are
// long, waiting, folders in memory, files of another user.
package sharedtest

import (
	"os"
	"path/filepath"
	"testing"
)

// Path returns the absolute path of elem below ../shared, and skips tb (or fails
// it in CI) when that file or folder does not exist.
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

// moduleRoot returns the folder that holds go.mod, searched upward from the
// working directory, which go test sets to the folder of the package under test.
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
