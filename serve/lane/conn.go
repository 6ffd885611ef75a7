package lane

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

// glance is after how much time at most a connection that waits is read once more. See
// conn.serve for what it finds. It is longer than renewal, so that those in use do not.
const glance = 2 * time.Second

// A conn is a connection. Its server reads valid heads from it, one at a time.
type conn struct {
	net.Conn
	lane    *Listener
	raw     syscall.RawConn       // nil without a fast path
	handler Handler               // nil without a fast path
	step    func(fd uintptr) bool // conn.serve, made once
	lingers bool                  // the client may be sending what nobody reads
	done    bool                  // no request follows
	mu      sync.Mutex
	waits   bool   // for a request; guarded by mu
	rest    []byte // what came behind the head that the server got last

	parser parser
	rq     Request

	buf    []byte // of the Read under way
	n      int    // bytes in buf
	parsed int    // of them, known to be no whole head
	unseen bool   // the bytes in buf were not parsed
	err    error  // of the socket

	answers int // begun so far
	// now is when the bytes in buf were read, or when the last answer had gone out, if the
	// client let it wait.
	now     time.Time
	renewed time.Time // when the deadline of an idle connection was put off
	// begun is how many answers there were when the deadline of a head was set of which a
	// part had come, -1 before. It is not put off until there is one more.
	begun int
}

func newConn(l *Listener, under net.Conn) *conn {
	c := &conn{Conn: under, lane: l, begun: -1}
	// A connection of TCP, or one around it that sees to the calls of its RawConn.
	if tcp, ok := under.(syscall.Conn); ok && supported && l.cfg.Open != nil {
		if raw, err := tcp.SyscallConn(); err == nil {
			c.raw, c.handler, c.step = raw, l.cfg.Open(), c.serve
		}
	}
	l.add(c)
	return c
}

// Read answers plain requests and returns the next head that is not plain, as
// parser.appendHead makes it. An invalid head is refused. The end of the connection, whatever
// it is, is io.EOF, upon which the server closes it silently.
func (c *conn) Read(p []byte) (int, error) {
	if c.done || len(p) < slack+len(c.rest) {
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
		c.refuse(c.parser.status)
	default:
		return c.deliver(p, n), nil
	}
	c.done = true
	return 0, io.EOF
}

// enter prepares a Read into buf.
func (c *conn) enter(buf []byte) {
	c.lingers = false
	c.buf, c.n, c.parsed, c.err = buf, copy(buf, c.rest), 0, nil
	c.unseen, c.rest = c.n > 0, nil
	c.now, c.renewed = time.Now(), time.Time{}
	c.setWaits(true)
}

// leave ends a Read.
func (c *conn) leave() {
	c.setWaits(false)
	c.buf, c.n = nil, 0
	c.rq, c.parser.line = Request{}, line{} // which point into buf
}

// deliver gives the server the first n bytes of buf, a valid head, in p.
func (c *conn) deliver(p []byte, n int) int {
	c.answers++
	if c.lane.closing.Load() {
		c.parser.fields.close = true
	}
	c.done = c.parser.last()
	c.lingers = c.done || c.n > n
	if !c.done && c.n > n {
		c.rest = append([]byte(nil), c.buf[n:c.n]...)
	}
	head := c.lane.heads.Get().(*[]byte)
	defer c.lane.heads.Put(head)
	*head = c.parser.appendHead((*head)[:0], c.buf[:n])
	return copy(p, *head)
}

// readFast answers plain requests until something else comes.
func (c *conn) readFast() {
	err := c.raw.Read(c.step)
	for errors.Is(err, os.ErrDeadlineExceeded) && c.glance(time.Now()) {
		err = c.raw.Read(c.step)
	}
	if c.err == nil && !c.lane.stopped.Load() {
		c.err = err
	}
}

// readHead returns the length of the head in buf, after it has read the rest of it. It is
// partial when that does not come.
func (c *conn) readHead() (n int, v verdict) {
	c.parsed = 0
	for begun, waited := false, false; ; {
		if c.err != nil || c.n == len(c.buf) {
			c.parsed = 0 // so that the verdict is that upon all bytes
		}
		n, v = c.parse(0)
		switch {
		case v != partial || c.err != nil:
			return n, v
		case c.n == len(c.buf):
			return 0, c.parser.refuse(c.tooLong())
		case c.n > 0 && !begun:
			begun = true
			c.setWaits(false) // from here on, Stop does not touch its deadline
			c.setDeadline(time.Now(), c.lane.cfg.ReadTimeout)
		case c.n == 0 && c.lane.stopped.Load() && waited:
			return 0, partial
		case c.n == 0 && c.lane.stopped.Load():
			waited = true
			c.wake()
		}
		var m int
		m, c.err = c.Conn.Read(c.buf[c.n:])
		c.n += m
	}
}

// tooLong returns the status for a head that does not fit into buf.
func (c *conn) tooLong() int {
	if bytes.IndexByte(c.buf[emptyLines(c.buf):], '\n') < 0 {
		return http.StatusRequestURITooLong
	}
	return http.StatusRequestHeaderFieldsTooLarge
}

// parse parses the bytes in buf from an offset on. The offset is 0 where some of them were
// parsed before.
func (c *conn) parse(from int) (int, verdict) {
	// Only the end of a line makes a difference. Without this, sending a head byte by byte
	// would cost the square of its length.
	if c.parsed > 0 && bytes.IndexByte(c.buf[c.parsed:c.n], '\n') < 0 && bytes.IndexByte(c.buf[c.parsed:c.n], '\r') < 0 &&
		c.buf[c.parsed-1] != '\r' {
		c.parsed = c.n
		return 0, partial
	}
	n, v := c.parser.parse(c.buf[from:c.n], &c.rq)
	c.parsed = 0
	if v == partial {
		c.parsed = c.n - from
	}
	return n, v
}

// giveUp ends a connection whose next head did not come, or not to its end.
func (c *conn) giveUp() {
	switch {
	case emptyLines(c.buf[:c.n]) == c.n:
	case errors.Is(c.err, os.ErrDeadlineExceeded):
		c.refuse(http.StatusRequestTimeout)
	case c.err == io.EOF:
		c.refuse(http.StatusBadRequest)
	}
}

// refuse writes the response to a head that the server does not get.
func (c *conn) refuse(status int) {
	now := time.Now()
	isHead := hasPrefix(c.buf[emptyLines(c.buf[:c.n]):c.n], http.MethodHead+" ")
	if d := c.lane.cfg.WriteTimeout; d > 0 {
		_ = c.SetWriteDeadline(now.Add(d)) // a closed connection is found when it is written to
	}
	if _, err := c.Write(c.lane.cfg.Refuse(nil, status, isHead, now)); err == nil {
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
func (c *conn) linger() {
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
	buf := c.lane.drains.Get().(*[]byte)
	defer c.lane.drains.Put(buf)
	for left := lingerBytes; left > 0; {
		now := time.Now()
		if c.lane.stopped.Load() {
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
func (c *conn) setDeadline(now time.Time, d time.Duration) {
	var deadline time.Time
	if d > 0 {
		deadline = now.Add(d)
	}
	_ = c.SetReadDeadline(deadline) // a closed connection is found when it is read
}

// Close closes the connection. The server calls it where it calls Read: another goroutine cannot know
// whether a request has come.
func (c *conn) Close() error {
	c.lane.remove(c)
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

// A tlsConn lets the server make the handshake of a conn, with its own time and errors.
type tlsConn struct {
	*conn
	secure secureConn
}

// Handshake makes the handshake.
func (c tlsConn) Handshake() error { return c.secure.Handshake() }

// ConnectionState tells about the handshake.
func (c tlsConn) ConnectionState() tls.ConnectionState { return c.secure.ConnectionState() }

// glance is called when the deadline is over. It reports whether that was to look once more
// before the connection has been idle for too long.
func (c *conn) glance(now time.Time) bool {
	if c.n > 0 || c.answers == 0 {
		return false
	}
	var over time.Time // never
	if limit := c.lane.cfg.IdleTimeout; limit > 0 {
		if over = c.now.Add(limit); !now.Before(over) {
			return false
		}
	}
	_ = c.SetReadDeadline(over)   // a closed connection is found when it is read
	return !c.lane.stopped.Load() // as in renew
}

// lastWait is how long a connection still waits for a request when the Listener is stopped. A request
// that has come by then is not lost to a deadline that ends before it is read.
const lastWait = 100 * time.Millisecond

// setWaits sets whether wake may end a wait for a request.
func (c *conn) setWaits(waits bool) {
	c.mu.Lock()
	c.waits = waits
	c.mu.Unlock()
}

// wake ends the wait for a request.
func (c *conn) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits {
		c.setDeadline(time.Now(), lastWait)
	}
}

// serve reads and answers what has come. It returns false to wait for more, and true when
// Read is to return what is in c.buf, or c.err.
func (c *conn) serve(fd uintptr) bool {
	if c.unseen {
		c.unseen = false
		if !c.answerAll(fd) || !c.renew() {
			return true
		}
	}
	for {
		if c.n == len(c.buf) {
			return true // too long a head
		}
		n, err := receive(fd, c.buf[c.n:])
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			return c.lane.stopped.Load()
		case err != 0:
			c.err = os.NewSyscallError("read", err)
			return true
		case n == 0:
			c.err = io.EOF
			return true
		}
		drained, fresh := c.n+n < len(c.buf), c.answers == 0
		c.n += n
		c.now = time.Now()
		if !c.answerAll(fd) || !c.renew() {
			return true
		}
		// Fast path: nothing was left, and what comes now ends the wait. Only an end of the
		// stream that has come with the request does not. A client that asks once may send
		// it at once; of others, a glance finds it.
		if drained && c.n == 0 && !fresh {
			return c.lane.stopped.Load()
		}
	}
}

// answerAll answers the requests that are complete and leaves the rest in c.buf. It is false
// when that is not for the lane, or when an answer could not be sent.
func (c *conn) answerAll(fd uintptr) bool {
	from := 0
	defer func() { c.n = copy(c.buf, c.buf[from:c.n]) }()
	for from < c.n {
		if c.lane.closing.Load() {
			return false // the server says that it closes the connection
		}
		n, v := c.parse(from)
		switch v {
		case partial:
			return true
		case foreign, invalid:
			return false
		}
		c.answers++
		if c.err = c.answer(fd); c.err != nil || c.done {
			c.lingers = c.err == nil
			from = c.n
			return false
		}
		from += n
	}
	return true
}

// answer sends the answer to c.rq.
func (c *conn) answer(fd uintptr) error {
	w := c.lane.writers.Get().(*Writer)
	defer c.lane.writers.Put(w)
	w.conn, w.fd, w.err = c, fd, errNoAnswer
	c.handler.Answer(&c.rq, w, c.now)
	err := w.err
	c.done = w.last
	w.reset()
	return err
}

// renew puts the deadline for the next bytes off. It is false when the lane was stopped.
func (c *conn) renew() bool {
	d := glance
	switch {
	case c.n > 0 && c.begun == c.answers:
		return true // Who sends a head byte by byte gets no more time for it.
	case c.n > 0:
		d = c.lane.cfg.ReadTimeout
		c.begun, c.renewed = c.answers, time.Time{}
	case c.now.Sub(c.renewed) < renewal:
		return true
	default:
		c.renewed = c.now
		if limit := c.lane.cfg.IdleTimeout; limit > 0 {
			d = min(limit, glance)
		}
	}
	c.setDeadline(c.now, d)
	// Stop wakes connections after it says so: one of both sees the other.
	return !c.lane.stopped.Load()
}
