package http

import (
	"os"
	"sync"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// shared is the folder of what several tests read.
var shared struct {
	once sync.Once
	dir  string
}

func sharedDir(tb testing.TB) string {
	tb.Helper()
	shared.once.Do(func() {
		var err error
		if shared.dir, err = os.MkdirTemp("", "http"); err != nil { //nolint:usetesting // tests share it
			tb.Fatal(err)
		}
	})
	return shared.dir
}

func TestMain(m *testing.M) {
	sharedtest.InMemory(m).Run()
	if shared.dir != "" {
		_ = os.RemoveAll(shared.dir) // among temporary files; a leftover harms nothing
	}
}
