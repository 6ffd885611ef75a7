package http

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// An acceptLog remembers the addresses of the connections that a listener accepted.
type acceptLog struct {
	net.Listener
	seen sync.Map // keys are strings
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
	f := func(name string, meanwhile int64, secure bool) {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil, servetest.Version(1))
			if secure {
				w.cfg.TLSCert, w.cfg.TLSKey, _ = newCertificate(t)
			}
			s := w.bind(t)
			s.lastWait = time.Hour // clients may be slow
			accepted := &acceptLog{Listener: s.ln}
			s.ln = accepted
			dial := func() (net.Conn, error) {
				c, err := net.Dial("tcp", s.addr().String())
				if err == nil && secure {
					c = tls.Client(c, &tls.Config{InsecureSkipVerify: true})
				}
				return c, err
			}
			ended := make(chan error, 1)
			go func() { ended <- s.Serve() }()
			var served atomic.Int64
			var clients sync.WaitGroup
			for range 8 {
				clients.Go(func() {
					for {
						c, err := dial()
						if err != nil {
							return // the server is gone
						}
						n, err := askUntilClosed(c, w.token)
						served.Add(n)
						if _, ok := accepted.seen.LoadAndDelete(c.LocalAddr().String()); ok && err != nil {
							t.Errorf("request %d on an accepted connection: %v", n+1, err)
						}
					}
				})
			}
			sharedtest.Eventually(t, "requests are served", func() bool { return served.Load() > 0 })
			s.Drain()
			enough := served.Load() + meanwhile
			sharedtest.Eventually(t, "requests are served while it drains", func() bool { return served.Load() >= enough })
			if err := s.Stop(t.Context()); err != nil {
				t.Errorf("Stop = %v, want nil", err)
			}
			if err := <-ended; err != nil {
				t.Errorf("Serve = %v, want nil", err)
			}
			clients.Wait()
			t.Logf("%d responses while the server ran and stopped", served.Load())
		})
	}
	f("at once", 0, false)
	f("with a delay", 500, false)
	f("over TLS", 50, true)
}

// TestDrainEnds: connections that come faster than they are accepted do not keep the server from its end.
func TestDrainEnds(t *testing.T) {
	w := newWorld(t, nil, servetest.Version(1))
	s := w.bind(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	sharedtest.Within(t, "drain", func() { // nobody accepts
		if err := s.Stop(ctx); err != nil {
			t.Errorf("drain = %v, want nil", err)
		}
	})
	if err := s.conns.SetDeadline(time.Time{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("SetDeadline after drain = %v, want net.ErrClosed", err)
	}
}

// askUntilClosed asks on a connection until a response says that it ends, 100 times at most, and closes it. It
// returns the number of whole responses.
func askUntilClosed(c net.Conn, token string) (n int64, err error) {
	defer c.Close()
	for r := bufio.NewReader(c); n < 100; n++ {
		rs, _, err := roundTrip(c, r, token, "GET", "/3/movie/1")
		if err != nil {
			return n, err
		}
		if rs.StatusCode != 200 {
			return n, fmt.Errorf("status %d", rs.StatusCode)
		}
		if rs.Close {
			return n + 1, nil
		}
	}
	return n, nil
}
