package http

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"
)

// renewal is how often a connection in use has its deadline put off. To do so for each request
// would cost as much as to read it.
const renewal = time.Second

// idleCheck is after how much time at most a connection that waits is read once more. See
// fastConn.serve for what that finds. It is longer than renewal, so that busy connections have none.
const idleCheck = 2 * time.Second

// A fastConn is a connection with a fast path. Its server reads valid heads from it, one at a time.
type fastConn struct {
	net.Conn
	listener  *fastListener
	raw       syscall.RawConn       // nil without a fast path
	responder responder             // nil without a fast path
	step      func(fd uintptr) bool // fastConn.serve, made once
	in        input
	rq        plainRequest
	clock     connClock
	lingers   bool // the client may be sending bytes that nobody reads
	done      bool // no request follows

	mu    sync.Mutex
	waits bool // for a request, which interrupt may end; guarded by mu
}

// An input holds the bytes that a client has sent and that are not answered.
type input struct {
	parser parser
	rest   []byte // behind the head that the server got last
	buf    []byte // of the Read under way
	n      int    // bytes in buf
	parsed int    // of them, known to be no whole head
	unseen bool   // the bytes in buf were not parsed
	err    error  // of the socket
}

// A connClock knows how long a connection may still wait.
type connClock struct {
	responses int // begun so far
	// now is when the bytes in input.buf were read, or when the last response had gone out, if the
	// client let it wait.
	now     time.Time
	renewed time.Time // when the deadline of an idle connection was put off
	// headDeadlineAt is the response count when the deadline of the current, incomplete head was set, or -1.
	// That deadline is not put off before the next response.
	headDeadlineAt int
}

func newFastConn(l *fastListener, under net.Conn) *fastConn {
	c := &fastConn{Conn: under, listener: l, clock: connClock{headDeadlineAt: -1}}
	// A connection of TCP, or one around it that sees to the calls of its RawConn.
	if tcp, ok := under.(syscall.Conn); ok && supported && l.cfg.open != nil {
		if raw, err := tcp.SyscallConn(); err == nil {
			c.raw, c.responder, c.step = raw, l.cfg.open(), c.serve
		}
	}
	l.add(c)
	return c
}

// Read answers plain requests and returns the next head that is not plain, as
// parser.appendHead makes it. An invalid head is refused. The end of the connection, whatever
// it is, is io.EOF, upon which the server closes it silently.
func (c *fastConn) Read(p []byte) (int, error) {
	if c.done || len(p) < slack+len(c.in.rest) {
		return 0, io.EOF
	}
	c.enter(p[:len(p)-slack])
	defer c.leave()
	if c.raw != nil {
		c.readFast()
	}
	n, v := 0, partial
	if !c.done {
		n, v = c.readHead()
	}
	switch v {
	case partial:
		c.giveUp()
	case invalid:
		c.refuse(c.in.parser.status)
	default:
		return c.deliver(p, n), nil
	}
	c.done = true
	return 0, io.EOF
}

// enter prepares a Read into buf.
func (c *fastConn) enter(buf []byte) {
	c.lingers = false
	c.in.buf, c.in.n, c.in.parsed, c.in.err = buf, copy(buf, c.in.rest), 0, nil
	c.in.unseen, c.in.rest = c.in.n > 0, nil
	c.clock.now, c.clock.renewed = time.Now(), time.Time{}
	c.setWaits(true)
}

// leave ends a Read.
func (c *fastConn) leave() {
	c.setWaits(false)
	c.in.buf, c.in.n = nil, 0
	c.rq, c.in.parser.line = plainRequest{}, line{} // which point into buf
}

// deliver gives the server the first n bytes of buf, a valid head, in p.
func (c *fastConn) deliver(p []byte, n int) int {
	c.clock.responses++
	if c.listener.closing.Load() {
		c.in.parser.fields.close = true
	}
	c.done = c.in.parser.last()
	c.lingers = c.done || c.in.n > n
	if !c.done && c.in.n > n {
		c.in.rest = append([]byte(nil), c.in.buf[n:c.in.n]...)
	}
	head := c.listener.heads.Get().(*[]byte)
	defer c.listener.heads.Put(head)
	*head = c.in.parser.appendHead((*head)[:0], c.in.buf[:n])
	return copy(p, *head)
}

// readFast answers plain requests until something else comes.
func (c *fastConn) readFast() {
	err := c.raw.Read(c.step)
	for errors.Is(err, os.ErrDeadlineExceeded) && c.checkIdle(time.Now()) {
		err = c.raw.Read(c.step)
	}
	if c.in.err == nil && !c.listener.stopped.Load() {
		c.in.err = err
	}
}

// readHead returns the length of the head in buf, after it has read the rest of it. It is
// partial when that does not come.
func (c *fastConn) readHead() (n int, v verdict) {
	c.in.parsed = 0
	for begun, waited := false, false; ; {
		if c.in.err != nil || c.in.n == len(c.in.buf) {
			c.in.parsed = 0 // so that the verdict is that upon all bytes
		}
		n, v = c.parse(0)
		switch {
		case v != partial || c.in.err != nil:
			return n, v
		case c.in.n == len(c.in.buf):
			return 0, c.in.parser.refuse(c.tooLong())
		case c.in.n > 0 && !begun:
			begun = true
			c.setWaits(false) // from here on, Stop does not touch its deadline
			c.setDeadline(time.Now(), c.listener.cfg.readTimeout)
		case c.in.n == 0 && c.listener.stopped.Load() && waited:
			return 0, partial
		case c.in.n == 0 && c.listener.stopped.Load():
			waited = true
			c.interrupt()
		}
		var m int
		m, c.in.err = c.Conn.Read(c.in.buf[c.in.n:])
		c.in.n += m
	}
}

// tooLong returns the status for a head that does not fit into buf.
func (c *fastConn) tooLong() int {
	if bytes.IndexByte(c.in.buf[emptyLines(c.in.buf):], '\n') < 0 {
		return http.StatusRequestURITooLong
	}
	return http.StatusRequestHeaderFieldsTooLarge
}

// parse parses the bytes in buf from an offset on. The offset is 0 where some of them were
// parsed before.
func (c *fastConn) parse(from int) (int, verdict) {
	// Only the end of a line makes a difference. Without this, sending a head byte by byte
	// would cost the square of its length.
	if c.in.parsed > 0 && bytes.IndexByte(c.in.buf[c.in.parsed:c.in.n], '\n') < 0 && bytes.IndexByte(c.in.buf[c.in.parsed:c.in.n], '\r') < 0 &&
		c.in.buf[c.in.parsed-1] != '\r' {
		c.in.parsed = c.in.n
		return 0, partial
	}
	n, v := c.in.parser.parse(c.in.buf[from:c.in.n], &c.rq)
	c.in.parsed = 0
	if v == partial {
		c.in.parsed = c.in.n - from
	}
	return n, v
}

// giveUp ends a connection whose next head did not come, or not to its end.
func (c *fastConn) giveUp() {
	switch {
	case emptyLines(c.in.buf[:c.in.n]) == c.in.n:
	case errors.Is(c.in.err, os.ErrDeadlineExceeded):
		c.refuse(http.StatusRequestTimeout)
	case c.in.err == io.EOF:
		c.refuse(http.StatusBadRequest)
	}
}

// refuse writes the response to a head that the server does not get.
func (c *fastConn) refuse(status int) {
	now := time.Now()
	isHead := hasPrefix(c.in.buf[emptyLines(c.in.buf[:c.in.n]):c.in.n], http.MethodHead+" ")
	if d := c.listener.cfg.writeTimeout; d > 0 {
		_ = c.SetWriteDeadline(now.Add(d)) // a closed connection is found when it is written to
	}
	if _, err := c.Write(c.listener.cfg.refuse(nil, status, isHead, now)); err == nil {
		c.linger()
	}
}

// Limits of linger.
const (
	lingerTime  = 10 * time.Second // in all
	lingerIdle  = time.Second      // between two reads, and in all once the Listener is stopped
	lingerBytes = 16 << 20
)

// linger ends the connection's output and drops what the client is still sending. A socket
// closed with bytes unread is reset, and the client may lose the response over that.
func (c *fastConn) linger() {
	under := c.Conn
	if secure, ok := under.(secureConn); ok {
		_ = secure.CloseWrite()
		under = secure.NetConn()
	}
	half, ok := under.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	end := time.Now().Add(lingerTime)
	buf := c.listener.drains.Get().(*[]byte)
	defer c.listener.drains.Put(buf)
	for left := lingerBytes; left > 0; {
		now := time.Now()
		if c.listener.stopped.Load() {
			end = earlier(end, now.Add(lingerIdle))
		}
		if !now.Before(end) || under.SetReadDeadline(earlier(end, now.Add(lingerIdle))) != nil {
			return
		}
		n, err := under.Read(*buf)
		if err != nil {
			return
		}
		left -= n
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// setDeadline makes the next read end after d; 0 is for none.
func (c *fastConn) setDeadline(now time.Time, d time.Duration) {
	var deadline time.Time
	if d > 0 {
		deadline = now.Add(d)
	}
	_ = c.SetReadDeadline(deadline) // a closed connection is found when it is read
}

// Close closes the connection. The server calls it where it calls Read: another goroutine cannot know
// whether a request has come.
func (c *fastConn) Close() error {
	c.listener.remove(c)
	if c.lingers {
		c.linger()
	}
	return c.Conn.Close()
}

// A secureConn is a connection over TLS.
type secureConn interface {
	Handshake() error
	ConnectionState() tls.ConnectionState
	CloseWrite() error
	NetConn() net.Conn
}

// A shakenConn lets the server make the handshake of a fastConn, with its own time and errors.
type shakenConn struct {
	*fastConn
	secure secureConn
}

// Handshake makes the handshake.
func (c shakenConn) Handshake() error { return c.secure.Handshake() }

// ConnectionState tells about the handshake.
func (c shakenConn) ConnectionState() tls.ConnectionState { return c.secure.ConnectionState() }

// checkIdle is called when the deadline is over. It reports whether that was to look once more
// before the connection has been idle for too long.
func (c *fastConn) checkIdle(now time.Time) bool {
	if c.in.n > 0 || c.clock.responses == 0 {
		return false
	}
	var over time.Time // never
	if limit := c.listener.cfg.idleTimeout; limit > 0 {
		if over = c.clock.now.Add(limit); !now.Before(over) {
			return false
		}
	}
	_ = c.SetReadDeadline(over)       // a closed connection is found when it is read
	return !c.listener.stopped.Load() // as in renew
}

// lastWait is how long a connection still waits for a request when the Listener is stopped. A request
// that has come by then is not lost to a deadline that ends before it is read.
const lastWait = 100 * time.Millisecond

// setWaits sets whether interrupt may end a wait for a request.
func (c *fastConn) setWaits(waits bool) {
	c.mu.Lock()
	c.waits = waits
	c.mu.Unlock()
}

// interrupt ends the wait for a request.
func (c *fastConn) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits {
		c.setDeadline(time.Now(), lastWait)
	}
}

// serve reads and answers what has come. It returns false to wait for more, and true when
// Read is to return what is in c.in.buf, or c.in.err.
func (c *fastConn) serve(fd uintptr) bool {
	if c.in.unseen {
		c.in.unseen = false
		if !c.answerAll(fd) || !c.renew() {
			return true
		}
	}
	for {
		if c.in.n == len(c.in.buf) {
			return true // too long a head
		}
		n, err := receive(fd, c.in.buf[c.in.n:])
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			return c.listener.stopped.Load()
		case err != 0:
			c.in.err = os.NewSyscallError("read", err)
			return true
		case n == 0:
			c.in.err = io.EOF
			return true
		}
		drained, fresh := c.in.n+n < len(c.in.buf), c.clock.responses == 0
		c.in.n += n
		c.clock.now = time.Now()
		if !c.answerAll(fd) || !c.renew() {
			return true
		}
		// Fast path: nothing was left, and what comes now ends the wait. Only an end of the
		// stream that has come with the request does not. A client that asks once may send
		// it at once; of others, an idle check finds it.
		if drained && c.in.n == 0 && !fresh {
			return c.listener.stopped.Load()
		}
	}
}

// answerAll answers the requests that are complete and leaves the rest in c.in.buf. It is false
// when that is not eligible for the fast path, or when a response could not be sent.
func (c *fastConn) answerAll(fd uintptr) bool {
	from := 0
	defer func() { c.in.n = copy(c.in.buf, c.in.buf[from:c.in.n]) }()
	for from < c.in.n {
		if c.listener.closing.Load() {
			return false // the server says that it closes the connection
		}
		n, v := c.parse(from)
		switch v {
		case partial:
			return true
		case notEligible, invalid:
			return false
		}
		c.clock.responses++
		if c.in.err = c.answer(fd); c.in.err != nil || c.done {
			c.lingers = c.in.err == nil
			from = c.in.n
			return false
		}
		from += n
	}
	return true
}

// answer sends the answer to c.rq.
func (c *fastConn) answer(fd uintptr) error {
	w := c.listener.replies.Get().(*reply)
	defer c.listener.replies.Put(w)
	w.conn, w.fd, w.err = c, fd, errNotSent
	c.responder.respond(&c.rq, w, c.clock.now)
	err := w.err
	c.done = w.last
	w.reset()
	return err
}

// renew puts the deadline for the next bytes off. It is false when the lane was stopped.
func (c *fastConn) renew() bool {
	d := idleCheck
	switch {
	case c.in.n > 0 && c.clock.headDeadlineAt == c.clock.responses:
		return true // Who sends a head byte by byte gets no more time for it.
	case c.in.n > 0:
		d = c.listener.cfg.readTimeout
		c.clock.headDeadlineAt, c.clock.renewed = c.clock.responses, time.Time{}
	case c.clock.now.Sub(c.clock.renewed) < renewal:
		return true
	default:
		c.clock.renewed = c.clock.now
		if limit := c.listener.cfg.idleTimeout; limit > 0 {
			d = min(limit, idleCheck)
		}
	}
	c.setDeadline(c.clock.now, d)
	// Stop wakes connections after it says so: one of both sees the other.
	return !c.listener.stopped.Load()
}
