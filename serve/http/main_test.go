package http

import (
	"os"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// sharedDir is a folder of TestMain's: what several tests read lies below it.
var sharedDir string

func TestMain(m *testing.M) {
	sharedtest.InMemory(withFolder{m}).Run() // its result is the exit code
}

// withFolder runs the tests with sharedDir.
type withFolder struct{ tests *testing.M }

// Run returns the exit code of the tests.
func (w withFolder) Run() int {
	dir, err := os.MkdirTemp("", "http")
	if err != nil {
		panic(err)
	}
	sharedDir = dir
	defer func() { _ = os.RemoveAll(dir) }() // among temporary files; a leftover harms nothing
	return w.tests.Run()
}
