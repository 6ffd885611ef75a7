package http

import (
	"bufio"
	"bytes"
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
	server  *Server      // that it stops when it is asked to
	lasting atomic.Int32 // Sends under way
}

func (e *echo) respond(rq *request, w *reply, now time.Time) {
	e.lasting.Add(1)
	defer e.lasting.Add(-1)
	body := rq.target
	switch string(body) {
	case "/big":
		body = big
	case "/time":
		body = fmt.Append(nil, now.UnixNano())
	case "/stop":
		e.server.endWaits()
	}
	connection := ""
	if w.last {
		connection = "Connection: close\r\n"
	}
	w.buf = fmt.Appendf(w.buf, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s\r\n", len(body), connection)
	if !rq.isHead {
		w.add(body[:len(body)/2], true /* stable */)
		w.add(nil, false)
		w.add(body[len(body)/2:], true /* stable */)
	}
	w.send()
}

// A server responds with an echo, and to what is handed over with "server " and the head.
type server struct {
	*Server
	echo   *echo
	ends   chan struct{} // one for each connection that has ended
	paired []net.Conn    // connections in a bubble
	t      *testing.T    // test in a bubble
}

// newEcho returns a server with all the time that clients need. change may alter it.
func newEcho(change func(*Server)) *server {
	limits := DefaultLimits()
	limits.MaxHeader, limits.ReadTimeout, limits.WriteTimeout, limits.IdleTimeout = 512, time.Hour, time.Hour, time.Hour
	s := &server{Server: newServer(limits), echo: new(echo), ends: make(chan struct{}, 100)}
	s.lastWait, s.lingerTime, s.lingerIdle = 10*time.Millisecond, time.Hour, time.Hour
	s.endReads = func(time.Time) {}
	s.newResponder = func() responder { return s.echo }
	s.handOver = func(c net.Conn) error {
		head, err := io.ReadAll(c)
		if err == nil {
			_, err = fmt.Fprintf(c, "server %s", head)
		}
		return err
	}
	s.echo.server = s.Server
	if change != nil {
		change(s.Server)
	}
	return s
}

// serve runs one on TCP.
func serve(t *testing.T, change func(*Server)) *server {
	t.Helper()
	s := newEcho(change)
	s.conns = listenTCP(t)
	s.endReads = s.conns.SetReadDeadlines
	t.Cleanup(func() { _ = s.conns.Close() })
	go func() {
		for {
			c, err := s.conns.Accept()
			if err != nil {
				return
			}
			go s.conn(c.(*connlimit.Conn).Socket())
		}
	}()
	return s
}

func (s *server) conn(c net.Conn) {
	newConn(s.Server, c).serve()
	s.ends <- struct{}{}
}

func (s *server) dial(t *testing.T) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", s.conns.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(sharedtest.Patience))
	t.Cleanup(func() { _ = c.Close() })
	return c.(*net.TCPConn)
}

// end waits until a connection has ended.
func (s *server) end(t *testing.T) {
	t.Helper()
	sharedtest.Within(t, "the end of a connection", func() { <-s.ends })
}

func get(target string) string { return "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n" }

// handed returns what comes back for a request that is handed over.
func handed(line string) string {
	return "server " + line + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
}

// isRefused reports whether a response has that status and is the last one.
func isRefused(response string, status int) bool {
	return strings.HasPrefix(response, fmt.Sprintf("HTTP/1.1 %d ", status)) && strings.Contains(response, "\r\nConnection: close\r\n")
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

// wantLast reads an answer with that body, which says that it is the last one, and the end.
func wantLast(t *testing.T, r *bufio.Reader, body string) {
	t.Helper()
	rs, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatalf("read answer: %v", err)
	}
	got, err := io.ReadAll(rs.Body)
	if after := rest(t, r); err != nil || string(got) != body || !rs.Close || after != "" {
		t.Errorf("answer = %.50q, %v, the last one: %v, %q after it, want %q, true, nothing", got, err, rs.Close, after, body)
	}
}

// TestTimes: the product's times, which other tests set, are some.
func TestTimes(t *testing.T) {
	c := newServer(Limits{})
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
	if got := rest(t, r); got != "" {
		t.Errorf("after the client's end %q comes, want nothing", got)
	}
	sharedtest.Eventually(t, "the connection is closed", func() bool { return s.conns.Stats().Open == 0 })
}

// TestCutHead: a head that does not come to its end is refused.
func TestCutHead(t *testing.T) {
	s := serve(t, nil)
	for head, status := range map[string]int{"HEAD /cut HTTP/1.1\r\nHo": 400, "\r\n": 0} {
		c := s.dial(t)
		write(t, c, head)
		_ = c.CloseWrite()
		if got := rest(t, c); status == 0 && got != "" || status != 0 && (!isRefused(got, status) || !strings.HasSuffix(got, "\r\n\r\n")) {
			t.Errorf("after %q and the end %q comes, want %d without a body", head, got, status)
		}
	}
}

// TestLinger: a client that sends a long body before it reads gets the response whole.
func TestLinger(t *testing.T) {
	s := serve(t, nil)
	body := make([]byte, 8<<20)
	for head, isGood := range map[string]func(response string) bool{
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 8388608\r\n\r\n": func(response string) bool { return response == handed("POST /a") },
		"POST /a HTTP/1.1\r\nContent-Length: 8388608\r\n\r\n":            func(response string) bool { return isRefused(response, 400) },
	} {
		c := s.dial(t)
		write(t, c, head)
		if _, err := c.Write(body); err != nil {
			t.Errorf("after %q the body cannot be sent: %v", head, err)
		}
		if got := rest(t, c); !isGood(got) {
			t.Errorf("after %q and its body %q comes", head, got)
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
	s.end(t)
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
	s.end(t)
}

// TestStop: connections that wait end at once; an answer under way is sent to its end, and the one after it is the last.
func TestStop(t *testing.T) {
	s := serve(t, nil)
	idle, fresh, busy := s.dial(t), s.dial(t), s.dial(t)
	r := bufio.NewReader(idle)
	write(t, idle, get("/a"))
	want(t, r, "/a")
	sharedtest.Eventually(t, "that answer has ended", func() bool { return s.echo.lasting.Load() == 0 })
	write(t, busy, get("/big")+get("/next")+get("/lost"))
	sharedtest.Eventually(t, "the answer is under way", func() bool { return s.echo.lasting.Load() == 1 })
	sharedtest.Eventually(t, "all connections are there", func() bool { return s.conns.Stats().Open == 3 })
	s.endWaits()
	if got := rest(t, r); got != "" {
		t.Errorf("when the server stops, %q comes on an idle connection, want nothing", got)
	}
	if got := rest(t, fresh); got != "" {
		t.Errorf("when the server stops, %q comes on a fresh connection, want nothing", got)
	}
	r = bufio.NewReader(busy)
	want(t, r, string(big))
	wantLast(t, r, "/next")
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

// TestStopLate: a request that has come when the server stops is not lost where it was not read in time.
func TestStopLate(t *testing.T) {
	s := newEcho(func(s *Server) { s.lastWait = time.Hour })
	client, under := net.Pipe()
	defer client.Close()
	go func() { _, _ = io.WriteString(client, get("/a")) }()
	go s.conn(&lateConn{Conn: under, stop: s.endWaits})
	_ = client.SetDeadline(time.Now().Add(sharedtest.Patience))
	wantLast(t, bufio.NewReader(client), "/a")
	s.end(t)
}

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
