package sharedtest

import (
	"os"
	"path/filepath"
	"strings"
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

// A failing test counts its errors.
type failing struct {
	testing.TB
	errors int
}

func (f *failing) Helper() {}

func (f *failing) Errorf(string, ...any) { f.errors++ }

// TestCases: each case with another result is an error, and so is a file without one.
func TestCases(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cases.txt")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := func(want int, update bool) {
		t.Helper()
		Set(t, Update, update)
		counts := &failing{TB: t}
		if Cases(counts, path, strings.ToUpper); counts.errors != want {
			t.Errorf("%d errors, want %d", counts.errors, want)
		}
	}
	write("# Comment a => b\n\na => A\n\"\\x61{2*b}\" => b\nc =>\n")
	f(2, false)
	f(0, true)
	f(0, false)
	const want = "# Comment a => b\n\na => A\n\"\\x61{2*b}\" => ABB\nc => C\n"
	if data, err := os.ReadFile(path); err != nil || string(data) != want {
		t.Errorf("written: %q, %v, want %q", data, err, want)
	}
	write("a = A\n")
	f(1, false)
}
