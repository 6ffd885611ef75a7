package serve

import (
	"flag"
	"testing"
)

// TestMain lowers the number of checks of a property, each of which builds three
// releases. -rapid.checks on the command line still counts.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", checks); err != nil {
		panic(err)
	}
	m.Run()
}
