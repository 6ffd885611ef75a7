package serve

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reelsplice/schemas/release"
	"reelsplice/serve/auth"
)

// status returns the status of a GET, 0 without an answer.
func statusOf(url, token string) (code int, body string) {
	rq, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return 0, err.Error()
	}
	rq.Header.Set("Authorization", "Bearer "+token)
	rs, err := http.DefaultTransport.RoundTrip(rq)
	if err != nil {
		return 0, err.Error()
	}
	defer rs.Body.Close()
	b, _ := io.ReadAll(rs.Body) // cut short, it is not what the test wants
	return rs.StatusCode, string(b)
}

// TestShutdownDelay: once it stops, /readyz says so at once, while requests on old and new connections are
// served, and tokens followed, until the delay is over.
func TestShutdownDelay(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.AdminAddr = "127.0.0.1:0"
		c.ShutdownDelay = time.Second
	}, version(1))
	s, err := Listen(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	stop := run(s, ended)
	if code, body := statusOf(s.AdminURL()+"/readyz", ""); code != 200 {
		t.Fatalf("readyz = %d %s, want 200", code, body)
	}
	start := time.Now()
	stop()
	eventually(t, "readyz says that the server stops", func() bool {
		code, body := statusOf(s.AdminURL()+"/readyz", "")
		return code == 503 && strings.Contains(body, "stopping")
	})
	if took := time.Since(start); took > 500*time.Millisecond {
		t.Errorf("readyz took %v, want it at once", took)
	}
	for range 3 {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		if code, body := statusOf(s.URL()+"/3/movie/1", w.token); code != 200 {
			t.Errorf("within the delay: %d %s, want 200", code, body)
		}
	}
	if _, err := auth.Revoke(w.cfg.Tokens, "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the token is revoked within the delay", func() bool { code, _ := statusOf(s.URL()+"/3/movie/1", w.token); return code == 401 })
	select {
	case err := <-ended:
		if took := time.Since(start); err != nil || took < w.cfg.ShutdownDelay {
			t.Errorf("Run = %v after %v, want nil after %v", err, took, w.cfg.ShutdownDelay)
		}
	case <-time.After(5 * time.Second):
		t.Error("Run does not end")
	}
	if code, _ := statusOf(s.URL()+"/3/movie/1", w.token); code != 0 {
		t.Errorf("after the end: %d, want no answer", code)
	}
}

// TestReload: tokens and the current release are taken up at once, however seldom they are looked at.
func TestReload(t *testing.T) {
	w := newWorld(t, nil, version(1))
	w.cfg.Poll = time.Second // the most that may be configured
	s := running(t, w.cfg)
	id := buildRelease(t, w.cfg.Releases, 6, version(2))
	if err := auth.Add(w.cfg.Tokens, auth.Record{Name: "later", Hash: auth.HashToken([]byte("later-token-later")), Scopes: auth.ScopeRead}); err != nil {
		t.Fatal(err)
	}
	s.Reload()
	if got := s.Release(); got != id {
		t.Errorf("release = %s, want %s", got, id)
	}
	if n := s.tokens.Table().Len(); n != 2 {
		t.Errorf("tokens = %d, want 2", n)
	}
	// A release that could not be opened is tried again.
	s.releases.failed.Store(&failure{id: "x", err: release.ErrCorrupt, when: time.Now()})
	s.Reload()
	if err := s.releases.Err(); err != nil {
		t.Errorf("Err = %v, want none", err)
	}
}

// An acceptLog remembers the addresses of the connections that a listener accepted.
type acceptLog struct {
	net.Listener
	seen sync.Map // of string
}

func (l *acceptLog) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.seen.Store(c.RemoteAddr().String(), true)
	}
	return c, err
}

// TestStopLosesNothing: clients that ask on kept connections while the server stops get a response to each
// request on a connection that the server accepted. The last one on a connection says that it ends.
func TestStopLosesNothing(t *testing.T) {
	f := func(name string, delay time.Duration, secure bool) {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil, version(1))
			w.cfg.ShutdownDelay = delay
			if secure {
				w.cfg.TLSCert, w.cfg.TLSKey, _ = newCertificate(t)
			}
			s, err := Listen(w.cfg)
			if err != nil {
				t.Fatal(err)
			}
			accepted := &acceptLog{Listener: s.lane.Listener}
			s.lane.Listener = accepted
			dial := func() (net.Conn, error) {
				c, err := net.Dial("tcp", s.api.Addr().String())
				if err == nil && secure {
					c = tls.Client(c, &tls.Config{InsecureSkipVerify: true})
				}
				return c, err
			}
			ended := make(chan error, 1)
			stop := run(s, ended)
			var served atomic.Int64
			var clients sync.WaitGroup
			for range 8 {
				clients.Go(func() {
					for {
						start := time.Now()
						c, err := dial()
						if err != nil {
							return // the server is gone
						}
						n, err := askUntilClosed(c, w.token, start)
						served.Add(n)
						if _, ok := accepted.seen.Load(c.LocalAddr().String()); ok && err != nil {
							t.Errorf("request %d on an accepted connection: %v", n+1, err)
						}
					}
				})
			}
			eventually(t, "requests are served", func() bool { return served.Load() > 0 })
			time.Sleep(50 * time.Millisecond)
			stop()
			if err := <-ended; err != nil {
				t.Errorf("Run = %v, want nil", err)
			}
			clients.Wait()
			t.Logf("%d responses while the server ran and stopped", served.Load())
		})
	}
	f("at once", 0, false)
	f("with a delay", 200*time.Millisecond, false)
	f("over TLS", 50*time.Millisecond, true)
}

// TestDrainEnds: connections that come faster than they are accepted do not keep the server from its end.
func TestDrainEnds(t *testing.T) {
	w := newWorld(t, nil, version(1))
	w.cfg.DrainTimeout = 50 * time.Millisecond
	s, err := Listen(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	ended := make(chan error, 1)
	go func() { ended <- s.drain(t.Context(), make(chan struct{}), s.adminServer()) }()
	select {
	case err := <-ended:
		if _, refused := net.Dial("tcp", s.api.Addr().String()); err != nil || refused == nil {
			t.Errorf("drain = %v, want nil and a closed listener", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("drain does not end")
	}
}

// askUntilClosed asks on a connection until a response says that it ends, 100 times at most, and closes it. It
// returns the number of whole responses. last is when c was dialed. A client that pauses may be left like one
// that is idle, which is no error.
func askUntilClosed(c net.Conn, token string, last time.Time) (n int64, err error) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	for r := bufio.NewReader(c); n < 100; n++ {
		_, err := fmt.Fprintf(c, "GET /3/movie/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n", token)
		paused := time.Since(last) > 20*time.Millisecond
		var rs *http.Response
		if err == nil {
			rs, err = http.ReadResponse(r, nil)
		}
		switch {
		case err != nil && paused:
			return n, nil
		case err != nil:
			return n, err
		}
		last = time.Now()
		if _, err := io.Copy(io.Discard, rs.Body); err != nil || rs.StatusCode != 200 {
			return n, fmt.Errorf("status %d: %w", rs.StatusCode, err)
		}
		if rs.Close {
			return n + 1, nil
		}
	}
	return n, nil
}
