package edge

import (
	"flag"
	"os"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// sharedDir is a folder of TestMain's: what several tests read lies below it.
var sharedDir string

// TestMain lowers the number of checks of a property, each of which builds three
// releases. -rapid.checks on the command line still counts.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", checks); err != nil {
		panic(err)
	}
	sharedtest.InMemory(withFolder{m}).Run() // its result is the exit code
}

// withFolder runs the tests with sharedDir.
type withFolder struct{ tests *testing.M }

// Run returns the exit code of the tests.
func (w withFolder) Run() int {
	dir, err := os.MkdirTemp("", "edge")
	if err != nil {
		panic(err)
	}
	sharedDir = dir
	defer func() { _ = os.RemoveAll(dir) }() // among temporary files; a leftover harms nothing
	return w.tests.Run()
}
