package serve

import (
	"errors"
	"io"
	"net"
	nethttp "net/http"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// status returns the status of a GET, 0 without an answer.
func statusOf(url, token string) (code int, body string) {
	rq, err := nethttp.NewRequest(nethttp.MethodGet, url, nil)
	if err != nil {
		return 0, err.Error()
	}
	rq.Header.Set("Authorization", "Bearer "+token)
	rs, err := nethttp.DefaultTransport.RoundTrip(rq)
	if err != nil {
		return 0, err.Error()
	}
	defer rs.Body.Close()
	b, _ := io.ReadAll(rs.Body) // cut short, it is not what the test wants
	return rs.StatusCode, string(b)
}

// TestShutdownDelay: once it stops, /readyz says so at once, while requests on old and new connections are
// served, and tokens followed. A fault ends the delay.
func TestShutdownDelay(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.AdminAddr = "127.0.0.1:0"
		c.ShutdownDelay = time.Hour
	}, servetest.Version(1))
	s, err := Listen(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.admin.Close() }) // ends Run where the test has failed
	ended := make(chan error, 1)
	stop := run(s, ended)
	if code, body := statusOf(s.AdminURL()+"/readyz", ""); code != 200 {
		t.Fatalf("readyz = %d %s, want 200", code, body)
	}
	stop()
	sharedtest.Eventually(t, "readyz says that the server stops", func() bool {
		code, body := statusOf(s.AdminURL()+"/readyz", "")
		return code == 503 && strings.Contains(body, "stopping")
	})
	for range 3 {
		nethttp.DefaultTransport.(*nethttp.Transport).CloseIdleConnections()
		if code, body := statusOf(s.URL()+"/3/movie/1", w.token); code != 200 {
			t.Errorf("within the delay: %d %s, want 200", code, body)
		}
	}
	if _, err := auth.Revoke(w.cfg.Tokens, "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	sharedtest.Eventually(t, "the token is revoked within the delay", func() bool { code, _ := statusOf(s.URL()+"/3/movie/1", w.token); return code == 401 })
	_ = s.admin.Close() // which Serve reports
	sharedtest.Within(t, "Run", func() {
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("Run = %v, want the fault of the admin listener", err)
		}
	})
}

// TestShutdownDelayEnds: Run ends after the delay.
func TestShutdownDelayEnds(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.ShutdownDelay = 100 * time.Millisecond }, servetest.Version(1))
	s, err := Listen(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	start := time.Now()
	run(s, ended)()
	wantEnd(t, ended)
	if took := time.Since(start); took < w.cfg.ShutdownDelay {
		t.Errorf("Run ends after %v, want %v", took, w.cfg.ShutdownDelay)
	}
	if code, _ := statusOf(s.URL()+"/3/movie/1", w.token); code != 0 {
		t.Errorf("after the end: %d, want no answer", code)
	}
}

// TestReload: tokens and the current release are taken up at once, however seldom they are looked at.
func TestReload(t *testing.T) {
	w := newWorld(t, nil, servetest.Version(1))
	w.cfg.Poll = time.Second // the most that may be configured
	s := running(t, w.cfg)
	id := servetest.Build(t, w.cfg.Releases, 6, servetest.Version(2))
	if err := auth.Add(w.cfg.Tokens, auth.Record{Name: "later", Scopes: auth.AllScopes, Hash: auth.HashToken([]byte("later-token-later"))}); err != nil {
		t.Fatal(err)
	}
	s.Reload()
	if got := s.Release(); got != id {
		t.Errorf("release = %s, want %s", got, id)
	}
	if n := s.tokens.Get().Len(); n != 2 {
		t.Errorf("tokens = %d, want 2", n)
	}
}
