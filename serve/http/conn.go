package http

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/reelsplice/reelsplice/serve/http/connlimit"
)

// renewal is how often a connection in use has its deadline put off. To do so for each request
// would cost as much as to read it.
const renewal = time.Second

// idleCheck is after how much time at most a connection that waits is read once more, to find an end that its last read
// did not. It is longer than renewal, so that busy connections have none.
const idleCheck = 2 * time.Second

// A fastConn is a connection with a fast path. Its server reads valid heads from it, one at a time.
type fastConn struct {
	net.Conn
	listener  *fastListener
	socket    tcpSocket      // nil where Conn is none
	responder responder      // nil without a fast path
	next      connlimit.Next // fastConn.more, made once
	in        input
	rq        plainRequest
	clock     connClock
	lingers   bool // the client may be sending bytes that nobody reads
	done      bool // no request follows
}

// A tcpSocket reads and writes with fewer system calls than a net.Conn, and the kernel reads the bytes where they
// lie: a connection of connlimit, on Linux.
type tcpSocket interface {
	ReadLoop(next connlimit.Next)
	WriteVector(pieces [][]byte) (n int, err error)
}

// A connClock has the times by which a connection may still wait.
type connClock struct {
	responses int // begun so far
	// now is when the bytes in input.buf were read, or when the last response had gone out, if the
	// client let it wait.
	now     time.Time
	renewed time.Time // when the deadline of an idle connection was put off
	// deadline is that of the current read; zero for none. Stop ends reads before it.
	deadline time.Time
	// headDeadlineAt is the response count when the deadline of the current, incomplete head was set, or -1.
	// That deadline is not put off before the next response.
	headDeadlineAt int
	lastWait       bool // for a request, since the listener was stopped
}

// An input holds the bytes of a client that have no response yet. buf belongs to the caller of
// Read, until Read returns.
type input struct {
	parser parser
	rest   []byte // after the head that the server got last
	buf    []byte // of the Read under way
	from   int    // of the bytes in buf that have no response yet
	n      int    // bytes in buf
	parsed int    // of those after from, known to be no whole head
	err    error  // of the socket
	// What the bytes after from are, and the length of a valid head.
	verdict verdict
	head    int
}

// parse parses the bytes in buf that have no response yet.
func (in *input) parse(rq *plainRequest) (int, verdict) {
	b := in.buf[in.from:in.n]
	// Only the end of a line makes a difference. Without this, sending a head byte by byte
	// would cost the square of its length.
	if in.parsed > 0 && in.err == nil && in.n < len(in.buf) && b[in.parsed-1] != '\r' && !bytes.ContainsAny(b[in.parsed:], "\r\n") {
		in.parsed = len(b)
		return 0, partial
	}
	n, v := in.parser.parse(b, rq)
	in.parsed = 0
	if v == partial {
		in.parsed = len(b)
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
	b := in.buf[in.from:in.n]
	return bytes.HasPrefix(b[emptyLines(b):], []byte(http.MethodHead+" "))
}

func newFastConn(l *fastListener, under net.Conn) *fastConn {
	c := &fastConn{Conn: under, listener: l, clock: connClock{headDeadlineAt: -1}}
	c.socket, _ = under.(tcpSocket)
	c.next = c.more
	if l.cfg.open != nil {
		c.responder = l.cfg.open()
	}
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
	c.in.from, c.in.n, c.in.parsed, c.in.err = 0, copy(c.in.buf, c.in.rest), 0, nil
	c.in.rest = nil
	c.clock.now, c.clock.renewed = time.Now(), time.Time{}
	defer func() {
		c.in.buf, c.in.from, c.in.n = nil, 0, 0
		c.rq, c.in.parser.line = plainRequest{}, line{} // which point into buf
	}()
	if c.socket != nil {
		c.socket.ReadLoop(c.next)
	} else {
		for buf, _ := c.more(0, nil); buf != nil; {
			n, err := c.Conn.Read(buf)
			buf, _ = c.more(n, err)
		}
	}
	switch {
	case c.done: // after a response that ended the connection
	case c.in.verdict == invalid:
		c.refuse(c.in.parser.status)
	case c.in.verdict != partial:
		return c.deliver(p), nil
	case emptyLines(c.in.buf[c.in.from:c.in.n]) == c.in.n-c.in.from: // the next head did not come
	case errors.Is(c.in.err, os.ErrDeadlineExceeded):
		c.refuse(http.StatusRequestTimeout)
	case c.in.err == io.EOF:
		c.refuse(http.StatusBadRequest)
	}
	c.done = true
	return 0, io.EOF
}

// deliver gives the server the next head, a valid one, in p.
func (c *fastConn) deliver(p []byte) int {
	c.clock.responses++
	if c.listener.closing.Load() {
		c.in.parser.fields.close = true
	}
	c.done = c.in.parser.last()
	end := c.in.from + c.in.head
	c.lingers = c.done || c.in.n > end
	if !c.done && c.in.n > end {
		c.in.rest = append([]byte(nil), c.in.buf[end:c.in.n]...)
	}
	head := c.listener.heads.Get().(*[]byte)
	defer c.listener.heads.Put(head)
	*head = c.in.parser.appendHead((*head)[:0], c.in.buf[c.in.from:end])
	return copy(p, *head)
}

// more takes the result of a read and responds to the plain requests that are complete. It returns where to read on; nil
// when another head has come, or none comes anymore. partly is set where a part of a head has come.
func (c *fastConn) more(n int, err error) (buf []byte, partly bool) {
	in := &c.in
	in.n += n
	in.err = err
	if n > 0 {
		c.clock.now = time.Now()
	}
	for {
		in.head, in.verdict = in.parse(&c.rq)
		if in.verdict != plain || c.responder == nil || c.listener.closing.Load() { // the server announces the end
			break
		}
		c.clock.responses++
		in.from += in.head
		if in.err = c.respond(); in.err != nil || c.done {
			c.lingers = in.err == nil
			in.from, in.verdict = in.n, partial
			return nil, false
		}
	}
	switch {
	case in.verdict != partial, in.err != nil && !c.waitOn():
		return nil, false
	case in.n-in.from == len(in.buf):
		in.verdict = in.parser.refuse(in.tooLong())
		return nil, false
	case in.from > 0:
		in.from, in.n = 0, copy(in.buf, in.buf[in.from:in.n])
	}
	c.renew()
	return in.buf[in.n:], in.n > 0
}

// waitOn is called when a read has failed. It reports whether that was only the end of a deadline by which to look
// once more, and sets the next one.
func (c *fastConn) waitOn() bool {
	if !errors.Is(c.in.err, os.ErrDeadlineExceeded) {
		return false
	}
	now := time.Now()
	if by := c.clock.deadline; c.in.n > c.in.from { // a part of a head, which has its time after Stop too
		return (by.IsZero() || now.Before(by)) && c.SetReadDeadline(by) == nil
	}
	if c.listener.stopped.Load() {
		return !c.clock.lastWait // on a busy machine, a request may have come that was not read in time
	}
	limit := c.listener.cfg.idleTimeout
	left := limit - now.Sub(c.clock.now)
	if c.clock.responses == 0 || limit > 0 && left <= 0 {
		return false
	}
	c.setDeadline(now, max(left, 0))
	return true
}

// respond sends the response to c.rq.
func (c *fastConn) respond() error {
	w := c.listener.replies.Get().(*reply)
	defer c.listener.replies.Put(w)
	w.conn, w.copies, w.err = c, c.socket == nil, errNotSent
	c.responder.respond(&c.rq, w, c.clock.now)
	err := w.err
	c.done = w.last
	w.reset()
	return err
}

// renew puts the deadline for the next bytes off.
func (c *fastConn) renew() {
	if c.in.n > 0 { // a part of a head
		// One that comes byte by byte gets no more time.
		if c.clock.headDeadlineAt != c.clock.responses {
			c.clock.headDeadlineAt, c.clock.renewed = c.clock.responses, time.Time{}
			c.setDeadline(time.Now(), c.listener.cfg.readTimeout)
		}
		return
	}
	if c.clock.responses > 0 && c.clock.now.Sub(c.clock.renewed) >= renewal {
		c.clock.renewed = c.clock.now
		c.setDeadline(c.clock.now, min(cmp.Or(c.listener.cfg.idleTimeout, idleCheck), idleCheck))
	}
	// Stop ends reads after it has set stopped: one of both sees the other.
	if c.clock.lastWait = c.listener.stopped.Load(); c.clock.lastWait {
		c.setDeadline(time.Now(), c.listener.cfg.lastWait)
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
	c.clock.deadline = time.Time{}
	if d > 0 {
		c.clock.deadline = now.Add(d)
	}
	_ = c.SetReadDeadline(c.clock.deadline) // a closed connection is found when it is read
}

// Close closes the connection. The server calls it where it calls Read: another goroutine cannot see
// whether a request has come.
func (c *fastConn) Close() error {
	if c.lingers {
		c.linger()
	}
	return c.Conn.Close()
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
		by := earlier(end, now.Add(lingerIdle))
		if !now.Before(end) || under.SetReadDeadline(by) != nil {
			return
		}
		n, err := under.Read(*buf)
		if err != nil && (!errors.Is(err, os.ErrDeadlineExceeded) || !time.Now().Before(by)) { // Stop ends reads too
			return
		}
		left -= n
	}
}
