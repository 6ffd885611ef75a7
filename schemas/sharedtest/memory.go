package sharedtest

import (
	"fmt"
	"os"
	"runtime/debug"
)

// A Runner runs the tests of a package, like *testing.M.
type Runner interface{ Run() int }

// InMemory returns a runner of the same tests with temporary files in memory, on Linux with 4 GiB of it for files, and
// with fewer garbage collections. Tests that build many small releases otherwise spend half of their time waiting for
// the disk, and a third of their CPU time on garbage. TMPDIR and GOGC take precedence.
//
//	func TestMain(m *testing.M) { sharedtest.InMemory(m).Run() }
func InMemory(m Runner) Runner { return inMemory{m} }

type inMemory struct{ tests Runner }

// Run returns the exit code of the tests.
func (m inMemory) Run() int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(GCPercent)
	}
	if os.Getenv(temporary) != "" {
		return m.tests.Run()
	}
	dir, remove, err := memoryFolder(memoryRoot)
	if err != nil {
		fmt.Fprintf(os.Stderr, "files of tests stay on the disk: %v\n", err)
		return m.tests.Run()
	}
	defer remove()
	if err := os.Setenv(temporary, dir); err != nil {
		fmt.Fprintf(os.Stderr, "files of tests stay on the disk: %v\n", err)
	}
	return m.tests.Run()
}

// GCPercent is the GOGC of such tests: they have little live memory, so the default collects every few megabytes.
const GCPercent = 400

// temporary is the environment variable for the folder of temporary files.
const temporary = "TMPDIR"
