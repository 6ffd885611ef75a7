package http

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// An end is the server's end of a pair of sockets. Its bytes go through the kernel, and it waits for the client and
// for its deadlines by channels: in a bubble of synctest, time passes while it waits.
type end struct {
	net.Conn // gives addresses
	fd       int
	closed   sync.Once

	mu      sync.Mutex
	in, out side
}

// A side is a direction of the server's bytes.
type side struct {
	by      time.Time     // the deadline; zero for none
	events  int           // what the client has done
	changed chan struct{} // closed when the client does something, or the deadline is set
}

// change changes a side.
func (e *end) change(s *side, f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (e *end) event(s *side) { e.change(s, func() { s.events++ }) }

// await calls try, and again at each event, as of the poller's edges, until it is true.
func (e *end) await(s *side, try func() bool) error {
	for seen := -1; ; {
		e.mu.Lock()
		now := *s
		e.mu.Unlock()
		var over <-chan time.Time
		if !now.by.IsZero() {
			left := time.Until(now.by)
			if left <= 0 {
				return os.ErrDeadlineExceeded
			}
			over = time.After(left)
		}
		if now.events != seen {
			if try() {
				return nil
			}
			seen = now.events
			continue
		}
		select {
		case <-now.changed:
		case <-over:
		}
	}
}

// transfer moves bytes with call, some or all.
func (e *end) transfer(s *side, p []byte, all bool, call func(fd int, p []byte) (int, error)) (done int, err error) {
	waitErr := e.await(s, func() bool {
		for len(p) > done {
			var n int
			if n, err = call(e.fd, p[done:]); err == unix.EAGAIN {
				return false
			} else if err != nil || n == 0 {
				return true
			}
			if done += n; !all {
				return true
			}
		}
		return true
	})
	return done, errors.Join(waitErr, err)
}

func (e *end) Read(p []byte) (int, error) {
	n, err := e.transfer(&e.in, p, false, unix.Read)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

func (e *end) Write(p []byte) (int, error) { return e.transfer(&e.out, p, true, unix.Write) }

func (e *end) CloseWrite() error { return unix.Shutdown(e.fd, unix.SHUT_WR) }

func (e *end) Close() error {
	e.closed.Do(func() { _ = unix.Close(e.fd) })
	return nil
}

func (e *end) SetReadDeadline(t time.Time) error {
	e.change(&e.in, func() { e.in.by = t })
	return nil
}

func (e *end) SetWriteDeadline(t time.Time) error {
	e.change(&e.out, func() { e.out.by = t })
	return nil
}

// A peer is the client's end.
type peer struct {
	*bufio.Reader
	fd     int
	server *end
}

func (p *peer) write(t *testing.T, text string) {
	t.Helper()
	if n, err := unix.Write(p.fd, []byte(text)); err != nil || n < len(text) {
		t.Fatalf("write %q: %d bytes, %v", text, n, err)
	}
	p.server.event(&p.server.in)
}

func (p *peer) closeWrite() {
	_ = unix.Shutdown(p.fd, unix.SHUT_WR)
	p.server.event(&p.server.in)
}

// socket reads from the client's socket, which the server fills without a word.
type socket peer

func (s *socket) Read(b []byte) (n int, err error) {
	for ; ; time.Sleep(time.Millisecond) {
		if n, err = unix.Read(s.fd, b); err != unix.EAGAIN {
			break
		}
	}
	s.server.event(&s.server.out)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return max(n, 0), err
}

// timed tests a server in a bubble.
func timed(t *testing.T, change func(*Server), test func(s *server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newEcho(change)
		s.endReads = func(deadline time.Time) {
			for _, e := range s.paired {
				_ = e.SetReadDeadline(deadline)
			}
		}
		s.t = t
		test(s)
	})
}

// pair connects a client.
func (s *server) pair(t *testing.T) *peer {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{fd: fds[0], server: &end{fd: fds[1], in: side{changed: make(chan struct{})}, out: side{changed: make(chan struct{})}}}
	p.Reader = bufio.NewReader((*socket)(p))
	s.paired = append(s.paired, p.server)
	done := make(chan struct{})
	go func() { defer close(done); s.conn(p.server) }()
	t.Cleanup(func() {
		_ = unix.Close(p.fd)
		p.server.event(&p.server.in)
		p.server.event(&p.server.out)
		<-done
	})
	return p
}

// TestTimeGoesOn: the time that a client takes for an answer is not taken for the time of the
// next request, nor counted as time in which the connection is idle.
func TestTimeGoesOn(t *testing.T) {
	const limit, slow = 500 * time.Millisecond, 700 * time.Millisecond
	timed(t, func(s *Server) { s.limits.ReadTimeout, s.limits.IdleTimeout = limit, limit }, func(s *server) {
		t := s.t
		for _, after := range []string{"", "GET /c HT"} {
			c, start := s.pair(t), time.Now()
			c.write(t, get("/a")+get("/big")+get("/time")+after)
			want(t, c.Reader, "/a")
			time.Sleep(slow)
			want(t, c.Reader, string(big))
			rs, err := http.ReadResponse(c.Reader, nil)
			if err != nil {
				t.Fatal(err)
			}
			var now int64
			if _, err := fmt.Fscan(rs.Body, &now); err != nil || now < start.Add(slow).UnixNano() {
				t.Errorf("after an answer that took %v it is %v after its request, %v", slow, time.Duration(now-start.UnixNano()), err)
			}
			time.Sleep(limit - limit/10)
			c.write(t, get("/c")[len(after):])
			want(t, c.Reader, "/c")
		}
	})
}

// TestWriteTimeout: a client that does not read ends the connection in its time.
func TestWriteTimeout(t *testing.T) {
	timed(t, nil, func(s *server) {
		t := s.t
		c, start := s.pair(t), time.Now()
		c.write(t, get("/big"))
		<-s.ends
		if took := time.Since(start); took != s.limits.WriteTimeout {
			t.Errorf("answer given up after %v, want %v", took, s.limits.WriteTimeout)
		}
		_ = rest(t, c) // the connection is closed
	})
}

// TestIdle: a connection that is in use goes on, and ends when it has been idle for as long
// as it may.
func TestIdle(t *testing.T) {
	for _, limit := range []time.Duration{300 * time.Millisecond, 3 * time.Second, 0} {
		timed(t, func(s *Server) { s.limits.IdleTimeout = limit }, func(s *server) {
			t := s.t
			c := s.pair(t)
			for range 10 {
				time.Sleep(limit - limit/10)
				c.write(t, get("/a"))
				want(t, c.Reader, "/a")
			}
			if limit == 0 {
				time.Sleep(24 * time.Hour)
				c.write(t, get("/a"))
				want(t, c.Reader, "/a")
				return
			}
			start := time.Now()
			got := rest(t, c)
			if took := time.Since(start); got != "" || took < limit-limit/10 || took > limit+limit/10 {
				t.Errorf("%v after the last request %q comes, want the end after %v", took, got, limit)
			}
		})
	}
}

// TestEndWithRequest: an end of the stream that comes along with a request is found, even if it is
// not the first one.
func TestEndWithRequest(t *testing.T) {
	timed(t, nil, func(s *server) {
		t := s.t
		c := s.pair(t)
		c.write(t, get("/a"))
		want(t, c.Reader, "/a")
		_, _ = unix.Write(c.fd, []byte(get("/b"))) // and in one step
		start := time.Now()
		c.closeWrite()
		want(t, c.Reader, "/b")
		if got, took := rest(t, c), time.Since(start); got != "" || took > time.Second {
			t.Errorf("%v after the end of the stream %q comes, want the end at once", took, got)
		}
	})
}

// TestSlowSender: a client that starts a request has to end it, also byte by byte, but each request has its own time.
func TestSlowSender(t *testing.T) {
	const limit = 200 * time.Millisecond
	timed(t, func(s *Server) { s.limits.ReadTimeout = limit }, func(s *server) {
		t := s.t
		c := s.pair(t)
		for range 3 { // the end of one and the start of the next, for longer than the limit
			c.write(t, get("/a")+"GET ")
			want(t, c.Reader, "/a")
			time.Sleep(limit - limit/10)
			c.write(t, get("/b")[len("GET "):])
			want(t, c.Reader, "/b")
		}
		c.write(t, get("/a"))
		want(t, c.Reader, "/a")
		start := time.Now()
		for _, b := range []byte(get("/" + strings.Repeat("x", 30)))[:20] { // for longer than the limit
			c.write(t, string(b))
			time.Sleep(limit / 19)
		}
		if got := rest(t, c); !isRefused(got, 408) || time.Since(start) > limit+limit/10 {
			t.Errorf("after %v %q comes, want 408 after %v", time.Since(start), got, limit)
		}
	})
}

// TestEndWithHead: the end of a stream is found at once if it comes in one segment with a request and a part of the next.
func TestEndWithHead(t *testing.T) {
	s := serve(t, nil)
	c := s.dial(t)
	r := bufio.NewReader(c)
	write(t, c, get("/a"))
	want(t, r, "/a")
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	_ = raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_CORK, 1) })
	if err != nil {
		t.Fatal(err)
	}
	write(t, c, get("/b")+"GET /c HTTP/1.1\r\n")
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	want(t, r, "/b")
	if got := rest(t, r); !isRefused(got, 400) {
		t.Errorf("after half a head %q comes, want 400", got)
	}
	s.end(t)
}

// TestTimeoutIsOurs: without a time to read, a request may take as long as it wants.
func TestTimeoutIsOurs(t *testing.T) {
	timed(t, func(s *Server) { s.limits.ReadTimeout, s.limits.IdleTimeout, s.limits.WriteTimeout = 0, 0, 0 }, func(s *server) {
		t := s.t
		c := s.pair(t)
		c.write(t, get("/a")+"P")
		want(t, c.Reader, "/a")
		time.Sleep(24 * time.Hour)
		c.write(t, "UT /b HTTP/1.1\r\nHost: x\r\n\r\n")
		want(t, c.Reader, "/b")
	})
}

// TestStopBetween: a server that stops during an answer ends the connection after it, unless
// a part of the next request is there: that has its time.
func TestStopBetween(t *testing.T) {
	timed(t, nil, func(s *server) {
		t := s.t
		c, cut := s.pair(t), s.pair(t)
		c.write(t, get("/a"))
		want(t, c.Reader, "/a")
		cut.write(t, get("/a")+"GET /b HT")
		want(t, cut.Reader, "/a")
		synctest.Wait()
		c.write(t, get("/stop"))
		want(t, c.Reader, "/stop")
		if got := rest(t, c); got != "" {
			t.Errorf("after the answer during which the server stops %q comes, want nothing", got)
		}
		time.Sleep(s.limits.ReadTimeout - time.Second)
		cut.write(t, "TP/1.1\r\nHost: x\r\n\r\n")
		cut.closeWrite()
		wantLast(t, cut.Reader, "/b")
	})
}

// TestLingerTimes: what a refused client still sends is read for so long, and no longer.
func TestLingerTimes(t *testing.T) {
	for _, change := range []func(*Server){
		func(s *Server) { s.lingerIdle = time.Minute },
		func(s *Server) { s.lingerTime, s.lingerIdle = time.Minute, time.Minute-time.Second },
	} {
		timed(t, change, func(s *server) {
			t := s.t
			c, start := s.pair(t), time.Now()
			c.write(t, "GET / HTTP/1.1\r\n\r\n")
			_ = rest(t, c)
			if s.lingerTime == time.Minute {
				time.Sleep(30 * time.Second)
				c.write(t, "x")
			}
			<-s.ends
			if took := time.Since(start); took != time.Minute {
				t.Errorf("the connection is closed after %v, want a minute", took)
			}
		})
	}
}
