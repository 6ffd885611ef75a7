package http

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
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

// A connClock has the times by which a connection may still wait.
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

// An input holds the bytes of a client that have no response yet. buf belongs to the caller of
// Read, until Read returns.
type input struct {
	parser parser
	rest   []byte // after the head that the server got last
	buf    []byte // of the Read under way
	n      int    // bytes in buf
	parsed int    // of them, known to be no whole head
	unseen bool   // the bytes in buf were not parsed
	err    error  // of the socket
}

// parse parses the bytes in buf from an offset on. The offset is 0 where some of them were
// parsed before.
func (in *input) parse(from int, rq *plainRequest) (int, verdict) {
	// Only the end of a line makes a difference. Without this, sending a head byte by byte
	// would cost the square of its length.
	if in.parsed > 0 && bytes.IndexByte(in.buf[in.parsed:in.n], '\n') < 0 && bytes.IndexByte(in.buf[in.parsed:in.n], '\r') < 0 &&
		in.buf[in.parsed-1] != '\r' {
		in.parsed = in.n
		return 0, partial
	}
	n, v := in.parser.parse(in.buf[from:in.n], rq)
	in.parsed = 0
	if v == partial {
		in.parsed = in.n - from
	}
	return n, v
}

// tooLong returns the status for a head that does not fit into buf.
func (in *input) tooLong() int {
	if bytes.IndexByte(in.buf[emptyLines(in.buf):], '\n') < 0 {
		return http.StatusRequestURITooLong
	}
	return http.StatusRequestHeaderFieldsTooLarge
}

// isHead reports whether the current request, valid or not, is a HEAD.
func (in *input) isHead() bool {
	return hasPrefix(in.buf[emptyLines(in.buf[:in.n]):in.n], http.MethodHead+" ")
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

// Read serves plain requests and returns the next head that is not plain, as
// parser.appendHead makes it. It refuses an invalid head. Any end of the connection is io.EOF, which
// makes the server close it silently: to another error fasthttp would respond.
func (c *fastConn) Read(p []byte) (int, error) {
	if c.done || len(p) < slack+len(c.in.rest) {
		return 0, io.EOF
	}
	c.lingers = false
	c.in.buf = p[:len(p)-slack]
	c.in.n, c.in.parsed, c.in.err = copy(c.in.buf, c.in.rest), 0, nil
	c.in.unseen, c.in.rest = c.in.n > 0, nil
	c.clock.now, c.clock.renewed = time.Now(), time.Time{}
	c.setWaits(true)
	defer func() {
		c.setWaits(false)
		c.in.buf, c.in.n = nil, 0
		c.rq, c.in.parser.line = plainRequest{}, line{} // which point into buf
	}()
	if c.raw != nil { // Fast path: plain requests, until another one comes.
		err := c.raw.Read(c.step)
		for errors.Is(err, os.ErrDeadlineExceeded) && c.checkIdle(time.Now()) {
			err = c.raw.Read(c.step)
		}
		if c.in.err == nil && !c.listener.stopped.Load() {
			c.in.err = err
		}
	}
	n, v := 0, partial
	if !c.done {
		n, v = c.readHead()
	}
	switch v {
	case partial: // the next head did not come, or not to its end
		switch {
		case emptyLines(c.in.buf[:c.in.n]) == c.in.n:
		case errors.Is(c.in.err, os.ErrDeadlineExceeded):
			c.refuse(http.StatusRequestTimeout)
		case c.in.err == io.EOF:
			c.refuse(http.StatusBadRequest)
		}
	case invalid:
		c.refuse(c.in.parser.status)
	default:
		return c.deliver(p, n), nil
	}
	c.done = true
	return 0, io.EOF
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

// readHead returns the length of the head in buf, after it has read the rest of it. It is
// partial when that does not come.
func (c *fastConn) readHead() (n int, v verdict) {
	c.in.parsed = 0
	for begun, waited := false, false; ; {
		if c.in.err != nil || c.in.n == len(c.in.buf) {
			c.in.parsed = 0 // so that the verdict is that upon all bytes
		}
		n, v = c.in.parse(0, &c.rq)
		switch {
		case v != partial || c.in.err != nil:
			return n, v
		case c.in.n == len(c.in.buf):
			return 0, c.in.parser.refuse(c.in.tooLong())
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
		if c.in.n == 0 && !waited && c.listener.stopped.Load() && errors.Is(c.in.err, os.ErrDeadlineExceeded) {
			c.in.err = nil // on a busy machine, a request may have come that was not read in time
		}
	}
}

// refuse writes the response to a head that the server does not get.
func (c *fastConn) refuse(status int) {
	c.startWrite()
	if _, err := c.Write(c.listener.cfg.refuse(c, status, time.Now())); err == nil {
		c.linger()
	}
}

// startWrite gives the client the whole time for a response.
func (c *fastConn) startWrite() {
	if d := c.listener.cfg.writeTimeout; d > 0 {
		_ = c.SetWriteDeadline(time.Now().Add(d)) // a closed connection is found when it is written to
	}
}

// setDeadline makes the next read end after d; 0 is for none.
func (c *fastConn) setDeadline(now time.Time, d time.Duration) {
	var deadline time.Time
	if d > 0 {
		deadline = now.Add(d)
	}
	_ = c.SetReadDeadline(deadline) // a closed connection is found when it is read
}

// Close closes the connection. The server calls it where it calls Read: another goroutine cannot see
// whether a request has come.
func (c *fastConn) Close() error {
	c.listener.remove(c)
	if c.lingers {
		c.linger()
	}
	return c.Conn.Close()
}

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
		c.setDeadline(time.Now(), c.listener.cfg.lastWait)
	}
}

// serve reads requests and responds. It returns false to wait for more, and true when
// Read is to return the bytes in c.in.buf, or c.in.err.
func (c *fastConn) serve(fd uintptr) bool {
	if c.in.unseen {
		c.in.unseen = false
		if !c.respondAll(fd) || !c.renew() {
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
		if !c.respondAll(fd) || !c.renew() {
			return true
		}
		// Fast path: the socket is empty, and new bytes end the wait. Only an end of the
		// stream that came with the request does not. A client that asks once may send
		// it at once; an idle check finds that of others.
		if drained && c.in.n == 0 && !fresh {
			return c.listener.stopped.Load()
		}
	}
}

// respondAll responds to the requests that are complete and leaves the rest in c.in.buf. It is false
// when one is not eligible for the fast path, or when a response could not be sent.
func (c *fastConn) respondAll(fd uintptr) bool {
	from := 0
	defer func() { c.in.n = copy(c.in.buf, c.in.buf[from:c.in.n]) }()
	for from < c.in.n {
		if c.listener.closing.Load() {
			return false // its response announces the end of the connection
		}
		n, v := c.in.parse(from, &c.rq)
		switch v {
		case partial:
			return true
		case notEligible, invalid:
			return false
		}
		c.clock.responses++
		c.rq.head = c.in.buf[from : from+n]
		if c.in.err = c.respond(fd); c.in.err != nil || c.done {
			c.lingers = c.in.err == nil
			from = c.in.n
			return false
		}
		from += n
	}
	return true
}

// respond sends the response to c.rq.
func (c *fastConn) respond(fd uintptr) error {
	w := c.listener.replies.Get().(*reply)
	defer c.listener.replies.Put(w)
	w.conn, w.fd, w.err = c, fd, errNotSent
	c.responder.respond(&c.rq, w, c.clock.now)
	err := w.err
	c.done = w.last
	w.reset()
	return err
}

// renew puts the deadline for the next bytes off. It is false once the listener is stopped.
func (c *fastConn) renew() bool {
	d := idleCheck
	switch {
	case c.in.n > 0 && c.clock.headDeadlineAt == c.clock.responses:
		return true // a head that comes byte by byte gets no more time
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
	// Stop interrupts connections after it has set stopped: one of both sees the other.
	return !c.listener.stopped.Load()
}

// lingerBytes is how many bytes linger reads at most.
const lingerBytes = 16 << 20

// linger ends the connection's output and drops the bytes that the client is still sending. A socket
// closed with bytes unread is reset, and the client may lose the response over that.
func (c *fastConn) linger() {
	under := c.Conn
	if secure, ok := under.(*tlsConn); ok {
		_ = secure.CloseWrite()
		under = secure.NetConn()
	}
	half, ok := under.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	lingerTime, lingerIdle := c.listener.cfg.lingerTime, c.listener.cfg.lingerIdle
	end := time.Now().Add(lingerTime)
	earlier := func(a, b time.Time) time.Time {
		if a.Before(b) {
			return a
		}
		return b
	}
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

// The server reads from a connection of a fastListener as from any other. Inside of Read, each
// head is checked by one strict parser. Read serves a plain request itself, refuses an
// invalid head, and returns any other one to the server: rewritten, so that the server
// expects no body and closes the connection where nothing more is to be read from it. A
// plain request costs one read and one write: no deadline is set for it, its head is parsed
// once, and no long part of a body is copied on its way to the kernel.

// A responder responds to the requests of one connection, one after another.
type responder interface {
	// respond fills w and calls its send or stream, once. now is when the request was read, or when the
	// client had taken the response before it.
	respond(rq *plainRequest, w *reply, now time.Time)
}

// A fastConfig has the limits of connections, and their responders.
type fastConfig struct {
	// open makes the responder of a new connection. Without it all requests go to the server.
	open func() responder
	// refuse returns the response to a head that the server does not get, which ends the connection.
	refuse       func(c *fastConn, status int, now time.Time) []byte
	readTimeout  time.Duration // for the rest of an incomplete head; 0 for none
	writeTimeout time.Duration // for a whole response; 0 for none
	idleTimeout  time.Duration // between requests; 0 for none
	// Limits of linger: in total, and between two reads. The second is the total once the listener is stopped.
	lingerTime, lingerIdle time.Duration
	// lastWait is how long a connection still waits for a request when the listener is stopped. A waiting connection
	// gets it twice: bytes may arrive, and the deadline still end the first read.
	lastWait time.Duration
}

// A fastListener wraps the connections of another listener. Those of TCP have the fast path. Over
// TLS, where the kernel holds other bytes than the client has sent, the server responds.
type fastListener struct {
	net.Listener
	cfg     fastConfig
	replies sync.Pool   // of *reply
	heads   sync.Pool   // of *[]byte
	drains  sync.Pool   // of *[]byte
	closing atomic.Bool // each response ends its connection
	stopped atomic.Bool // and no connection waits for a request

	mu   sync.Mutex
	open map[*fastConn]struct{} // the connections that the server has not closed
}

// listenFast returns a fastListener over ln.
func listenFast(ln net.Listener, cfg fastConfig) *fastListener {
	return &fastListener{
		Listener: ln, cfg: cfg,
		replies: sync.Pool{New: func() any { return new(reply) }},
		heads:   sync.Pool{New: func() any { return new([]byte) }},
		drains:  sync.Pool{New: func() any { b := make([]byte, 16<<10); return &b }},
		open:    map[*fastConn]struct{}{},
	}
}

// Accept waits for the next connection.
func (l *fastListener) Accept() (net.Conn, error) {
	under, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return newFastConn(l, under), nil
}

// Drain makes each response end its connection from here on, so that clients leave without losing
// a request.
func (l *fastListener) Drain() { l.closing.Store(true) }

// Stop drains, and ends the connections that wait for a request. Responses that are under way are sent, and
// requests after them are left to the server.
func (l *fastListener) Stop() {
	l.Drain()
	l.stopped.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		c.interrupt()
	}
}

func (l *fastListener) add(c *fastConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c] = struct{}{}
}

func (l *fastListener) remove(c *fastConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}
