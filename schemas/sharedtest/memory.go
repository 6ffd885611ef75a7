package sharedtest

import (
	"fmt"
	"os"
)

// A Runner runs the tests of a package, as *testing.M does.
type Runner interface{ Run() int }

// InMemory returns a runner of the same tests whose temporary files lie in memory, where Linux has 4 GiB
// of it for files. Tests that build many small releases wait for the disk half of their time. Those of a
// machine with TMPDIR stay in that folder.
//
//	func TestMain(m *testing.M) { sharedtest.InMemory(m).Run() }
func InMemory(m Runner) Runner { return inMemory{m} }

type inMemory struct{ tests Runner }

// Run returns the exit code of the tests.
func (m inMemory) Run() int {
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

// temporary is the variable with the folder of temporary files.
const temporary = "TMPDIR"
