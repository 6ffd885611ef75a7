package http

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/http/connlimit"
)

// big is more than the kernel takes of an answer at once.
var big = bytes.Repeat([]byte("0123456789abcdef"), 1<<20)

// An echo answers with the target, or with what it names.
type echo struct {
	fast    *fastListener // that it stops when it is asked to
	lasting atomic.Int32  // Sends under way
}

func (e *echo) respond(rq *plainRequest, w *reply, now time.Time) {
	e.lasting.Add(1)
	defer e.lasting.Add(-1)
	body := rq.target
	switch string(body) {
	case "/big":
		body = big
	case "/time":
		body = fmt.Append(nil, now.UnixNano())
	case "/stop":
		e.fast.Stop()
	}
	w.own = fmt.Appendf(w.own, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(body))
	if !rq.isHead {
		w.add(body[:len(body)/2], true /* lasts */)
		w.add(nil, false)
		w.add(body[len(body)/2:], true /* lasts */)
	}
	w.send()
}

// A server reads from connections and answers what it gets with "server " and that.
type server struct {
	*fastListener
	cfg    fastConfig
	echo   *echo
	ends   chan error // of Read, of each connection
	paired []net.Conn // of a bubble
	t      *testing.T // of a bubble
}

// newServer returns a server with all the time that clients need. change may alter its config.
func newServer(change func(*fastConfig)) *server {
	s := &server{echo: new(echo), ends: make(chan error, 100)}
	refuse := func(c *fastConn, status int, _ time.Time) []byte {
		return fmt.Appendf(nil, "refused %d %v", status, c.in.isHead())
	}
	s.cfg = fastConfig{open: func() responder { return s.echo }, refuse: refuse, lastWait: 10 * time.Millisecond, endReads: func(time.Time) {}}
	s.cfg.readTimeout, s.cfg.writeTimeout, s.cfg.idleTimeout, s.cfg.lingerTime, s.cfg.lingerIdle = time.Hour, time.Hour, time.Hour, time.Hour, time.Hour
	if change != nil {
		change(&s.cfg)
	}
	return s
}

// serve runs one on TCP.
func serve(t *testing.T, change func(*fastConfig)) *server {
	t.Helper()
	s := newServer(change)
	ln := listenTCP(t)
	s.cfg.endReads = ln.SetReadDeadlines
	s.fastListener = listenFast(ln, s.cfg)
	s.echo.fast = s.fastListener
	t.Cleanup(func() { _ = s.Close() })
	go func() {
		for {
			c, err := s.Accept()
			if err != nil {
				return
			}
			go s.conn(c)
		}
	}()
	return s
}

func (s *server) conn(c net.Conn) {
	defer c.Close()
	buf := make([]byte, 512)
	for {
		n, err := c.Read(buf)
		if err != nil {
			s.ends <- err
			fmt.Fprintf(c, "end %v", errors.Is(err, io.EOF))
			return
		}
		fmt.Fprintf(c, "server %s", buf[:n])
	}
}

func (s *server) dial(t *testing.T) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(sharedtest.Patience))
	t.Cleanup(func() { _ = c.Close() })
	return c.(*net.TCPConn)
}

func (s *server) conns() int { return s.Listener.(*connlimit.Listener).Stats().Open }

// end waits until a Read fails, and returns its error.
func (s *server) end(t *testing.T) (err error) {
	t.Helper()
	sharedtest.Within(t, "Read of a connection", func() { err = <-s.ends })
	return err
}

func get(target string) string { return "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n" }

// last returns the head of a GET as the server gets it once the Listener drains.
func last(target string) string {
	return "GET " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
}

// want reads an answer with that body.
func want(t *testing.T, r *bufio.Reader, body string) {
	t.Helper()
	rs, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatalf("read answer: %v", err)
	}
	got, err := io.ReadAll(rs.Body)
	if err != nil || string(got) != body {
		t.Fatalf("answer = %d bytes %.50q, %v, want %d bytes %.50q", len(got), got, err, len(body), body)
	}
}

// TestTimes: the product's times, which other tests set, are some.
func TestTimes(t *testing.T) {
	c := newFastConfig(new(Limits), nil, nil, nil)
	if c.lastWait <= 0 || c.lingerIdle <= 0 || c.lingerTime <= c.lingerIdle {
		t.Errorf("last wait %v, linger %v and %v, want each above 0, and the last one the longest", c.lastWait, c.lingerIdle, c.lingerTime)
	}
}

// rest reads to the end.
func rest(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read to the end: %v after %.100q", err, b)
	}
	return string(b)
}

func write(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

func TestRequests(t *testing.T) {
	s := serve(t, nil)
	c := s.dial(t)
	r := bufio.NewReader(c)
	for i := range 20 { // one after another
		target := fmt.Sprintf("/%d", i)
		write(t, c, get(target))
		want(t, r, target)
	}
	for _, b := range []byte(get("/bytes")) { // byte by byte
		write(t, c, string(b))
	}
	want(t, r, "/bytes")
	write(t, c, strings.Repeat(get("/a")+get("/bc"), 100)) // without waiting, and more than one buffer
	for range 100 {
		want(t, r, "/a")
		want(t, r, "/bc")
	}
	write(t, c, "HEAD /big HTTP/1.1\r\nHost: x\r\n\r\n"+get("/a"))
	rs, err := http.ReadResponse(r, &http.Request{Method: http.MethodHead})
	if err != nil || rs.ContentLength != int64(len(big)) {
		t.Fatalf("HEAD = %v, %v, want %d bytes", rs, err, len(big))
	}
	want(t, r, "/a")
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got := rest(t, r); got != "end true" {
		t.Errorf("at the end the server says %q, want that it read io.EOF", got)
	}
	sharedtest.Eventually(t, "the fast path lets go of the connection", func() bool { return s.conns() == 0 })
}

// TestWithoutFastPath: the server gets all requests, and a Listener that stops ends idle connections.
func TestWithoutFastPath(t *testing.T) {
	s := serve(t, func(c *fastConfig) { c.open = nil })
	idle, partly := s.dial(t), s.dial(t)
	for c, more := range map[net.Conn]string{idle: "", partly: get("/a")[:9]} {
		write(t, c, get("/a")+more)
		got := make([]byte, len("server "+get("/a")))
		if _, err := io.ReadFull(c, got); err != nil || string(got) != "server "+get("/a") {
			t.Fatalf("the server gets %q, %v, want the request", got, err)
		}
	}
	s.Stop()
	write(t, partly, get("/a")[9:])
	for c, want := range map[net.Conn]string{idle: "end true", partly: "server " + last("/a") + "end true"} {
		if got := rest(t, c); got != want {
			t.Errorf("when the Listener stops, the server says %q, want %q", got, want)
		}
	}
}

// TestCutHead: a head that does not come to its end is refused.
func TestCutHead(t *testing.T) {
	s := serve(t, nil)
	for head, want := range map[string]string{"HEAD /cut HTTP/1.1\r\nHo": "refused 400 true", "\r\n": "end true"} {
		c := s.dial(t)
		write(t, c, head)
		_ = c.CloseWrite()
		if got := rest(t, c); got != want {
			t.Errorf("after %q and the end the server says %q, want %q", head, got, want)
		}
	}
}

// TestLinger: a client that sends a long body before it reads gets the response whole.
func TestLinger(t *testing.T) {
	s := serve(t, nil)
	body := make([]byte, 8<<20)
	for head, want := range map[string]string{
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 8388608\r\n\r\n": "server POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nend true",
		"POST /a HTTP/1.1\r\nContent-Length: 8388608\r\n\r\n":            "refused 400 false",
	} {
		c := s.dial(t)
		write(t, c, head)
		if _, err := c.Write(body); err != nil {
			t.Errorf("after %q the body cannot be sent: %v", head, err)
		}
		if got := rest(t, c); got != want {
			t.Errorf("after %q and its body the server says %q, want %q", head, got, want)
		}
	}
}

// TestLingerEnds: a body without end is read for so long, and no longer.
func TestLingerEnds(t *testing.T) {
	s := serve(t, nil)
	c := s.dial(t)
	write(t, c, "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
	sent, part := 0, make([]byte, 1<<20)
	for sent < 4*lingerBytes {
		n, err := c.Write(part)
		sent += n
		if err != nil {
			break
		}
	}
	if sent < lingerBytes || sent == 4*lingerBytes {
		t.Errorf("%d bytes of a body were taken, want about %d", sent, lingerBytes)
	}
}

// TestGone: a client that closes its connection in the middle of an answer ends it.
func TestGone(t *testing.T) {
	s := serve(t, nil)
	c := s.dial(t)
	write(t, c, get("/big"))
	sharedtest.Eventually(t, "the answer is under way", func() bool { return s.echo.lasting.Load() == 1 })
	_ = c.Close()
	sharedtest.Eventually(t, "the answer is given up", func() bool { return s.echo.lasting.Load() == 0 })
	sharedtest.Eventually(t, "the connection is let go", func() bool { return s.conns() == 0 })
	if err := s.end(t); err != io.EOF {
		t.Errorf("after a part of an answer Read = %v, want io.EOF", err)
	}
}

// TestReset: a client that resets its connection between requests is as good as one that
// closes it.
func TestReset(t *testing.T) {
	s := serve(t, nil)
	c := s.dial(t)
	write(t, c, get("/a"))
	want(t, bufio.NewReader(c), "/a")
	_ = c.SetLinger(0)
	_ = c.Close()
	if err := s.end(t); err != io.EOF {
		t.Errorf("after an answer Read = %v, want io.EOF", err)
	}
}

// TestStop: connections that wait end at once; an answer under way is sent to its end, and
// the request after it goes to the server.
func TestStop(t *testing.T) {
	s := serve(t, nil)
	idle, fresh, busy := s.dial(t), s.dial(t), s.dial(t)
	r := bufio.NewReader(idle)
	write(t, idle, get("/a"))
	want(t, r, "/a")
	sharedtest.Eventually(t, "that answer has ended", func() bool { return s.echo.lasting.Load() == 0 })
	write(t, busy, get("/big")+get("/next"))
	sharedtest.Eventually(t, "the answer is under way", func() bool { return s.echo.lasting.Load() == 1 })
	sharedtest.Eventually(t, "all connections are there", func() bool { return s.conns() == 3 })
	s.Stop()
	if got := rest(t, r); got != "end true" {
		t.Errorf("when the fast path stops, an idle connection's server says %q, want that it read io.EOF", got)
	}
	if got := rest(t, fresh); !strings.HasPrefix(got, "end ") {
		t.Errorf("when the fast path stops, a fresh connection's server says %q, want that Read returned", got)
	}
	r = bufio.NewReader(busy)
	want(t, r, string(big))
	if got, want := rest(t, r), "server "+last("/next")+"end true"; got != want {
		t.Errorf("after an answer under way the server gets %q, want %q", got, want)
	}
}

// A lateConn ends its first wait for bytes by the deadline of Stop, although a request has come, as on a busy machine.
type lateConn struct {
	net.Conn
	stop func()
	late sync.Once
}

func (c *lateConn) Read(p []byte) (n int, err error) {
	c.late.Do(func() {
		c.stop()
		err = os.ErrDeadlineExceeded
	})
	if err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// TestStopLate: a request that has come when the listener stops is not lost where it was not read in time.
func TestStopLate(t *testing.T) {
	l := listenFast(nil, fastConfig{lastWait: time.Hour, endReads: func(time.Time) {}})
	client, under := net.Pipe()
	defer client.Close()
	go func() { _, _ = io.WriteString(client, get("/a")) }()
	c := newFastConn(l, &lateConn{Conn: under, stop: l.Stop})
	defer c.Close()
	buf := make([]byte, 512)
	sharedtest.Within(t, "Read", func() {
		if n, err := c.Read(buf); err != nil || string(buf[:n]) != last("/a") {
			t.Errorf("the server gets %q, %v, want the request", buf[:n], err)
		}
	})
}

// TestNoAnswer: a responder that sends nothing is a bug that ends the connection.
func TestNoAnswer(t *testing.T) {
	s := serve(t, func(c *fastConfig) { c.open = func() responder { return mute{} } })
	c := s.dial(t)
	write(t, c, get("/a"))
	if got := rest(t, c); got != "end true" {
		t.Errorf("without an answer the server says %q, want that it read io.EOF", got)
	}
}

type mute struct{}

func (mute) respond(*plainRequest, *reply, time.Time) {}

// TestPieces sends answers of many lengths of pieces, in full and from each byte on.
func TestPieces(t *testing.T) {
	var w message
	var whole []byte
	add := func(n int, refer bool) {
		b := bytes.Repeat([]byte{byte('a' + len(whole)%26)}, n)
		whole = append(whole, b...)
		w.add(b, refer)
	}
	for i, n := range []int{3, copyBelow, copyBelow - 1, 2, 2 * copyBelow, copyBelow, 5} {
		add(n, i%2 == 1)
	}
	if w.len() != len(whole) {
		t.Fatalf("len() = %d, want %d", w.len(), len(whole))
	}
	for skip := 0; skip <= len(whole); skip += 7 {
		pieces := w.appendPieces(nil, skip)
		if got := bytes.Join(pieces, nil); !bytes.Equal(got, whole[skip:]) {
			t.Fatalf("pieces after %d bytes = %d bytes, want %d", skip, len(got), len(whole)-skip)
		}
		for i, p := range pieces {
			if len(p) == 0 {
				t.Errorf("piece %d after %d bytes is empty", i, skip)
			}
		}
	}
	w.discard()
	if w.len() != 0 || w.refs[:1][0].b != nil {
		t.Error("reset keeps what w refers to")
	}
}
