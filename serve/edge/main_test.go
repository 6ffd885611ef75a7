package edge

import (
	"flag"
	"os"
	"testing"
)

// sharedDir is a folder of TestMain's: what several tests read lies below it.
var sharedDir string

// TestMain lowers the number of checks of a property, each of which builds three
// releases. -rapid.checks on the command line still counts.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", checks); err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "edge")
	if err != nil {
		panic(err)
	}
	sharedDir = dir
	m.Run()               // its result is the exit code
	_ = os.RemoveAll(dir) // among temporary files; a leftover harms nothing
}
