package serve

import (
	"flag"
	"os"
	"testing"
)

// TestMain lowers the number of checks of a property, each of which builds three
// releases. -rapid.checks on the command line still counts.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "30"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
