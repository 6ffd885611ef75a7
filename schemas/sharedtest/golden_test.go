package sharedtest

import (
	"path/filepath"
	"testing"
)

// TestGolden: another text than the file's is an error, and -update writes it.
func TestGolden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "golden.txt")
	f := func(want int, update bool, text string) {
		t.Helper()
		Set(t, Update, update)
		counts := &failing{TB: t}
		if Golden(counts, path, text); counts.errors != want {
			t.Errorf("Golden of %q with -update=%t: %d errors, want %d", text, update, counts.errors, want)
		}
	}
	f(0, true, "a\nb\n")
	f(0, false, "a\nb\n")
	f(1, false, "a\n")
	f(0, true, "a\n")
	f(0, false, "a\n")
}
