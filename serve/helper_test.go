package serve

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// A world is what a Server needs.
type world struct {
	cfg   Config
	token string // one that is good
}

// configured returns the Config of a Server without releases. It waits for clients as tests do.
func configured(tb testing.TB) Config {
	tb.Helper()
	cfg := DefaultConfig()
	cfg.Tokens, cfg.Addr = filepath.Join(tb.TempDir(), "tokens"), "127.0.0.1:0"
	cfg.ReadTimeout, cfg.DrainTimeout = sharedtest.Patience, sharedtest.Patience
	return cfg
}

// newWorld returns the Config of a Server over rows. change may alter it.
func newWorld(tb testing.TB, change func(*Config), rows ...string) *world {
	tb.Helper()
	cfg := configured(tb)
	cfg.Releases = tb.TempDir()
	if change != nil {
		change(&cfg)
	}
	servetest.Build(tb, cfg.Releases, 6, rows...)
	return &world{cfg, servetest.Issue(tb, cfg.Tokens, "test", time.Time{})}
}

// run runs a Server and returns what ends it; ended gets what Run returns.
func run(s *Server, ended chan<- error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() { ended <- s.Run(ctx) }()
	return cancel
}

// wantEnd waits for the end of Run.
func wantEnd(t *testing.T, ended <-chan error) {
	t.Helper()
	sharedtest.Within(t, "Run", func() {
		if err := <-ended; err != nil {
			t.Errorf("Run = %v, want nil", err)
		}
	})
}

// running runs a Server until the test ends.
func running(t *testing.T, cfg Config) *Server {
	t.Helper()
	s, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	stop := run(s, ended)
	t.Cleanup(func() {
		stop()
		wantEnd(t, ended)
	})
	return s
}
