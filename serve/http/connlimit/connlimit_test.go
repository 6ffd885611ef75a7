package connlimit

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// A server echoes what it reads, with a Listener of its own. Bytes "hold" keep it busy.
type server struct {
	*Listener
	release chan struct{} // ends what holds
	opened  chan net.Conn
}

// listen returns a listener of TCP.
func listen(tb testing.TB) *net.TCPListener {
	tb.Helper()
	ln, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		tb.Fatal(err)
	}
	return ln
}

// serve runs a server. Its first accepts fail with errs.
func serve(t *testing.T, cfg Config, errs ...error) *server {
	t.Helper()
	cfg.Log = slog.New(slog.DiscardHandler)
	s := &server{Listen(listen(t), cfg), make(chan struct{}), make(chan net.Conn, 1000)}
	s.accept = func() (*net.TCPConn, error) {
		if len(errs) > 0 {
			err := errs[0]
			errs = errs[1:]
			return nil, &net.OpError{Op: "accept", Err: err}
		}
		return s.AcceptTCP()
	}
	s.requestTime, s.refusalTime = time.Hour, time.Hour
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(s.opened)
		for {
			c, err := s.Accept()
			if err != nil {
				return
			}
			s.opened <- c
			wg.Go(func() { s.echo(c) })
		}
	})
	t.Cleanup(func() {
		_ = s.Close()
		for c := range s.opened {
			_ = c.Close()
		}
		wg.Wait()
		if got := s.Stats().Open; got != 0 {
			t.Errorf("%d connections are counted when all are closed, want 0", got)
		}
		if n := s.leaving.Load(); n != 0 {
			t.Errorf("%d connections are leaving when all are closed, want 0", n)
		}
	})
	return s
}

func (s *server) echo(c net.Conn) {
	defer c.Close()
	buf := make([]byte, 100)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		if string(buf[:n]) == "hold" {
			<-s.release
		}
		if _, err := c.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (s *server) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(sharedtest.Patience))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// hold returns a connection whose server is busy.
func (s *server) hold(t *testing.T) net.Conn {
	t.Helper()
	client := s.dial(t)
	if _, err := io.WriteString(client, "hold"); err != nil {
		t.Fatal(err)
	}
	c := (<-s.opened).(*Conn)
	sharedtest.Eventually(t, "the server is busy", func() bool { return c.used.Load() && c.state.Load() == busy })
	return client
}

// ask sends a text and returns what comes back.
func ask(c net.Conn, text string) (string, error) {
	if _, err := io.WriteString(c, text); err != nil {
		return "", err
	}
	buf := make([]byte, len(text))
	_, err := io.ReadFull(c, buf)
	return string(buf), err
}

func check(t *testing.T, what string, c net.Conn) {
	t.Helper()
	if got, err := ask(c, "ping"); err != nil || got != "ping" {
		t.Fatalf("%s: answer = %q, %v, want ping", what, got, err)
	}
}

// TestAcceptAgain: an accept that fails is tried again.
func TestAcceptAgain(t *testing.T) {
	s := serve(t, Config{Max: 10}, syscall.ECONNABORTED, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, errors.New("any other"))
	check(t, "after failing accepts", s.dial(t))
	if n := s.Stats().AcceptErrors; n != 5 {
		t.Errorf("%d failing accepts are counted, want 5", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept after Close = %v, want net.ErrClosed", err)
	}
}

// TestNoFilesLeft: when files have run out, an idle connection gives up its own.
func TestNoFilesLeft(t *testing.T) {
	s := serve(t, Config{Max: 10})
	idle := s.dial(t)
	c := <-s.opened
	sharedtest.Eventually(t, "its server waits", func() bool { return c.(*Conn).state.Load() == waiting })
	s.failedAccept(errTooManyFiles, 1)
	if _, err := idle.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("idle connection reads %v, want the end", err)
	}
	sharedtest.Eventually(t, "it is closed", func() bool { return s.Stats().Open == 0 && s.leaving.Load() == 0 })
	_ = c.Close() // as a server may do twice
}

// TestMakeRoom: a full listener closes what has been idle for the longest time, and neither
// what is in use nor what has just come.
func TestMakeRoom(t *testing.T) {
	const most, rounds = 8, 40
	s := serve(t, Config{Max: most})
	release := sync.OnceFunc(func() { close(s.release) })
	defer release()
	kept := s.dial(t)
	<-s.opened
	check(t, "kept", kept)
	busy := s.hold(t)
	var idle []net.Conn
	for i := range rounds {
		idle = append(idle, s.dial(t))
		c := (<-s.opened).(*Conn)
		sharedtest.Eventually(t, "its server waits", func() bool { return c.state.Load() == waiting })
		last := s.dial(t)
		check(t, "new connection", last)
		_ = last.Close()
		c = (<-s.opened).(*Conn)
		sharedtest.Eventually(t, "its server has closed it", func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return c.slot < 0
		})
		check(t, "connection in use", kept)
		if i >= most {
			if _, err := idle[i-most].Read(make([]byte, 1)); err != io.EOF {
				t.Fatalf("idle connection %d reads %v, want the end", i-most, err)
			}
		}
	}
	release()
	buf := make([]byte, 4)
	if _, err := io.ReadFull(busy, buf); err != nil || string(buf) != "hold" {
		t.Errorf("busy connection reads %q, %v, want hold", buf, err)
	}
	if st := s.Stats(); st.Evicted < rounds-most || st.Refused != 0 || st.Open > most {
		t.Errorf("Stats = %+v, want %d evicted at least, 0 refused, %d open at most", st, rounds-most, most)
	}
}

// TestTimes: the product's times of a refused client, which other tests set, are some.
func TestTimes(t *testing.T) {
	if l := Listen(nil, Config{}); l.requestTime <= 0 || l.refusalTime <= l.requestTime {
		t.Errorf("%v for the request, %v in all, want both above 0, and more in all", l.requestTime, l.refusalTime)
	}
}

// TestRefuse: where no connection is idle, a new one gets a response and its end at once.
func TestRefuse(t *testing.T) {
	s := serve(t, Config{Max: 2, Refuse: func(status int) []byte {
		if status != 503 {
			t.Errorf("Refuse gets %d, want 503", status)
		}
		return []byte("refused")
	}})
	defer close(s.release)
	for range 2 {
		s.hold(t)
	}
	for range 3 {
		c := s.dial(t)
		_, _ = io.WriteString(c, strings.Repeat("request", 10))
		if got, err := io.ReadAll(c); err != nil || string(got) != "refused" {
			t.Errorf("refused connection reads %q, %v, want refused", got, err)
		}
		_ = c.Close()
	}
	// The response does not come before the request.
	c := s.dial(t)
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("before its request, a refused connection reads %d bytes, %v, want none", n, err)
	}
	sharedtest.Eventually(t, "four are refused", func() bool { return s.Stats().Refused == 4 })
	if n := s.Stats().Evicted; n != 0 {
		t.Errorf("%d connections are evicted, want 0", n)
	}
}

func TestPerAddress(t *testing.T) {
	s := serve(t, Config{Max: 10, PerAddress: 2, Refuse: func(status int) []byte {
		if status != 429 {
			t.Errorf("Refuse gets %d, want 429", status)
		}
		return []byte("too many")
	}})
	first := s.dial(t)
	check(t, "first", first)
	check(t, "second", s.dial(t))
	third := s.dial(t)
	_, _ = io.WriteString(third, "request")
	if got, err := io.ReadAll(third); err != nil || string(got) != "too many" {
		t.Errorf("third connection reads %q, %v, want too many", got, err)
	}
	_ = first.Close()
	sharedtest.Eventually(t, "there is one less", func() bool { return s.Stats().Open == 1 })
	check(t, "one more when one has gone", s.dial(t))
}

func TestOriginOf(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.1:1": "192.0.2.1", "[::ffff:192.0.2.1]:1": "192.0.2.1", "[2001:db8:1:2:3::4]:1": "2001:db8:1:2::", "[fe80::1%eth0]:1": "fe80::",
	} {
		ap := netip.MustParseAddrPort(addr)
		if got := originOf(net.TCPAddrFromAddrPort(ap)); got.String() != want {
			t.Errorf("originOf(%s) = %s, want %s", addr, got, want)
		}
	}
}

// TestFlood: whatever clients do at the same time, the counts come out even; see serve.
func TestFlood(t *testing.T) {
	s := serve(t, Config{Max: 8, PerAddress: 1000})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				c, err := net.Dial("tcp", s.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				if i%2 == 0 {
					_, _ = ask(c, "ping")
				}
				_ = c.Close()
			}
		})
	}
	wg.Wait()
	if n := s.Stats().Open; n > 8 {
		t.Errorf("%d connections are open, want 8 at most", n)
	}
}

// TestDrain: connections in the kernel's queue are accepted however long that takes, and the
// listener closes after them.
func TestDrain(t *testing.T) {
	l := Listen(listen(t), Config{Max: 100})
	defer l.Close()
	const queued = 20
	for range queued {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "request"); err != nil { // the handshake has ended then
			t.Fatal(err)
		}
	}
	l.Drain()
	accepted := 0
	for {
		c, err := l.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("Accept = %v, want net.ErrClosed", err)
			}
			break
		}
		_ = c.Close()
		accepted++
		time.Sleep(time.Millisecond) // a busy machine
	}
	if accepted != queued {
		t.Errorf("%d connections accepted, want %d", accepted, queued)
	}
	if err := l.SetDeadline(time.Time{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after its queue, SetDeadline = %v, want net.ErrClosed", err)
	}
}
