package http

import (
	"os"
	"testing"
)

// sharedDir is a folder of TestMain's: what several tests read lies below it.
var sharedDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "http")
	if err != nil {
		panic(err)
	}
	sharedDir = dir
	m.Run()               // its result is the exit code
	_ = os.RemoveAll(dir) // among temporary files; a leftover harms nothing
}
