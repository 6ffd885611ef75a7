package lane

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// renewal is how often a connection in use has its deadline put off. To do so for each request
// would cost as much as to read it.
const renewal = time.Second

// glance is after how much time at most a connection that waits is read once more. See
// conn.serve for what it finds. It is longer than renewal, so that those in use do not.
const glance = 2 * time.Second

// A conn is a connection in the lane.
type conn struct {
	*net.TCPConn
	lane    *Listener
	raw     syscall.RawConn
	handler Handler
	step    func(fd uintptr) bool // conn.serve, made once
	left    bool                  // the server has the connection
	parser  parser
	rq      Request
	buf     []byte // of the Read under way
	n       int    // bytes in buf
	err     error  // what Read returns if n is 0
	answers int    // begun so far
	// now is when the bytes in buf were read, or when the last answer had gone out, if the
	// client let it wait.
	now     time.Time
	renewed time.Time // when the deadline of an idle connection was put off
	// begun is how many answers there were when the deadline of a head was set of which a
	// part had come, -1 before. It is not put off until there is one more.
	begun int
}

func newConn(l *Listener, tcp *net.TCPConn) (net.Conn, error) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &conn{TCPConn: tcp, lane: l, raw: raw, handler: l.cfg.Open(), begun: -1}
	c.step = c.serve
	l.add(c)
	return c, nil
}

// Read answers plain requests until something else comes, which it returns. Where a client
// has got an answer, the end of the connection, whatever it is, is io.EOF, upon which the
// server closes it and says no more: what it would say would be taken for the rest of an
// answer that broke off, or for the answer to the next request.
func (c *conn) Read(p []byte) (int, error) {
	if c.left {
		return c.TCPConn.Read(p)
	}
	c.buf, c.n, c.err = p, 0, nil
	err := c.raw.Read(c.step)
	for errors.Is(err, os.ErrDeadlineExceeded) && c.glance(time.Now()) {
		err = c.raw.Read(c.step)
	}
	n := c.n
	c.buf, c.n = nil, 0
	c.leave(n > 0)
	switch {
	case n > 0:
		return n, nil
	case c.answers > 0 || c.lane.stopped.Load():
		return 0, io.EOF
	case c.err != nil:
		return 0, c.err
	}
	return 0, err
}

// leave gives the connection to the server. When the server gets the start of a request, it
// shall have the usual time for the rest, but no more because it came bit by bit.
func (c *conn) leave(midst bool) {
	c.left = true
	c.lane.remove(c) // from here on, Stop does not touch its deadline
	c.handler = nil
	c.parser = parser{}
	if midst && (c.begun != c.answers || c.lane.stopped.Load()) {
		c.setDeadline(time.Now(), c.lane.cfg.ReadTimeout)
	}
}

// setDeadline makes the next read end after d; 0 is for none.
func (c *conn) setDeadline(now time.Time, d time.Duration) {
	var deadline time.Time
	if d > 0 {
		deadline = now.Add(d)
	}
	_ = c.SetReadDeadline(deadline) // a closed connection is found when it is read
}

// Close closes the connection.
func (c *conn) Close() error {
	c.lane.remove(c)
	return c.TCPConn.Close()
}

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

// wake ends the wait for a request.
func (c *conn) wake() {
	_ = c.SetReadDeadline(time.Unix(1, 0)) // a closed connection does not wait
}

// serve reads and answers what has come. It returns false to wait for more, and true when
// Read is to return what is in c.buf, or c.err.
func (c *conn) serve(fd uintptr) bool {
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
		if c.lane.stopped.Load() {
			return false // the server says that it closes the connection
		}
		n, v := c.parser.parse(c.buf[from:c.n], &c.rq)
		switch v {
		case partial:
			return true
		case foreign:
			return false
		}
		c.answers++
		if err := c.answer(fd); err != nil {
			from, c.err = c.n, err
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
