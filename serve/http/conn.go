package http

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/http/connlimit"
	"github.com/reelsplice/reelsplice/serve/observe"
)

// renewal is how often a busy connection's deadline is extended. An extension for each request
// would cost as much as reading it.
const renewal = time.Second

// idleCheck is the interval in which an idle connection checks for the end of its stream: see connlimit.Socket. It is
// longer than renewal, so that busy connections have no check.
const idleCheck = 2 * time.Second

// A responder responds to the requests of one connection, one after another.
type responder interface {
	// respond fills w and calls its send or stream, once. now is when the request was read, or when the
	// client had read the previous response.
	respond(rq *request, w *reply, now time.Time)
}

// A conn is a connection from its first request to its close.
type conn struct {
	net.Conn
	server    *Server
	socket    *connlimit.Socket // Conn; nil over TLS
	responder responder
	parser    parser
	buf       []byte    // for one head
	from, to  int       // bounds of the bytes in buf that have no response yet
	now       time.Time // when these were read, or when the last response was sent if the client delayed it
	// headEnd is the deadline of the first head, or of a partial head; zero for none.
	headEnd   time.Time
	renewedAt time.Time // when the deadline of an idle connection was last extended
}

// newConn returns a conn over transport.
func newConn(s *Server, transport net.Conn) *conn {
	c := &conn{Conn: transport, server: s, responder: s.newResponder(), now: time.Now()}
	c.socket, _ = transport.(*connlimit.Socket)
	return c
}

// serve responds to all requests of the connection, and closes it.
func (c *conn) serve() {
	defer func() { _ = c.Close() }() // all responses were sent
	c.startHead()
	buf := c.server.buffers.Get().(*[]byte)
	defer c.server.buffers.Put(buf)
	c.buf = *buf
	for {
		n, status := 0, 0
		if c.from < c.to {
			n, status = c.parser.parse(c.buf[c.from:c.to])
		}
		switch {
		case status != 0:
			c.refuse(status)
			return
		case n == 0:
			if !c.read() {
				return
			}
			continue
		case !c.parser.rq.plain: // the last request of the connection; its body is not read
			if c.server.handOver(&handedConn{Conn: c.Conn, head: c.parser.appendNormalized(nil)}) == nil {
				c.linger()
			}
			return
		}
		c.from, c.headEnd = c.from+n, time.Time{}
		w := c.server.replies.Get().(*reply)
		w.conn, w.copyAll, w.last = c, c.socket == nil, c.parser.rq.last || c.server.closing.Load()
		c.responder.respond(&c.parser.rq, w, c.now)
		last, err := w.last, w.err
		w.discard()
		w.conn = nil
		c.server.replies.Put(w)
		switch {
		case err != nil:
			return
		case last:
			c.linger()
			return
		}
	}
}

// refuse responds to bytes that are not a request.
func (c *conn) refuse(status int) {
	b, now := c.buf[c.from:c.to], time.Now()
	isHead := bytes.HasPrefix(b[emptyLines(b):], []byte(http.MethodHead+" "))
	response, sent := refusedResponse(status, isHead, now, c.server.meters)
	if log := c.server.meters.access; log != nil {
		log.Write(&observe.Entry{Time: now, Client: c.RemoteAddr(), Status: status, Bytes: sent, Class: edge.RouteError.String()})
	}
	c.startWrite()
	if _, err := c.Write(response); err == nil {
		c.linger()
	}
}

// read reads more of a head. If the head stays incomplete, it refuses the bytes read and returns false.
func (c *conn) read() bool {
	if c.from > 0 {
		c.from, c.to = 0, copy(c.buf, c.buf[c.from:c.to])
	}
	parsed := c.to
	if parsed == len(c.buf) {
		status := http.StatusRequestHeaderFieldsTooLarge
		if bytes.IndexByte(c.buf[emptyLines(c.buf):], '\n') < 0 {
			status = http.StatusRequestURITooLong
		}
		c.refuse(status)
		return false
	}
	for {
		n, err := c.await()
		if n > 0 {
			c.now = time.Now()
			c.to += n
			// Parse again only after the end of a line: otherwise a head that arrives byte by byte would cost the
			// square of its length.
			if parsed == 0 || c.to == len(c.buf) || bytes.ContainsAny(c.buf[parsed-1:c.to], "\r\n") {
				return true
			}
			continue
		}
		switch {
		case emptyLines(c.buf[:c.to]) == c.to: // the connection ends between two requests
		case errors.Is(err, os.ErrDeadlineExceeded):
			c.refuse(http.StatusRequestTimeout)
		case err == io.EOF:
			c.refuse(http.StatusBadRequest)
		}
		return false
	}
}

// await waits for bytes until the connection's deadline, and reads them.
func (c *conn) await() (n int, err error) {
	switch {
	case c.headEnd.IsZero() && c.to > 0: // a slow head gets no more time after this
		c.startHead()
		if c.socket != nil {
			c.socket.ReadAgain()
		}
	case c.headEnd.IsZero() && c.now.Sub(c.renewedAt) >= renewal:
		c.renewedAt = c.now
		_ = c.SetReadDeadline(deadline(c.now, min(cmp.Or(c.server.limits.IdleTimeout, idleCheck), idleCheck)))
	}
	// Stop sets stopped before it ends reads, so either this check or the read sees it.
	if c.to == 0 && c.server.stopped.Load() {
		_ = c.SetReadDeadline(time.Now().Add(c.server.lastWait))
	}
	for {
		n, err = c.Read(c.buf[c.to:])
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if c.to == 0 && c.server.stopped.Load() { // a request may have arrived when the deadline ended the read
			_ = c.SetReadDeadline(time.Now().Add(c.server.lastWait))
			return c.Read(c.buf)
		}
		end := c.headEnd
		if end.IsZero() && c.to == 0 {
			end = deadline(c.now, c.server.limits.IdleTimeout)
		}
		if !end.IsZero() && !time.Now().Before(end) {
			return n, err
		}
		_ = c.SetReadDeadline(end) // Stop or idleCheck ended the read, or the deadline was not extended
	}
}

// startHead sets the deadline of a head.
func (c *conn) startHead() {
	c.headEnd, c.renewedAt = deadline(time.Now(), c.server.limits.ReadTimeout), time.Time{}
	_ = c.SetReadDeadline(c.headEnd) // a closed connection is found when it is read
}

// startWrite starts the time limit of a response.
func (c *conn) startWrite() {
	_ = c.SetWriteDeadline(deadline(time.Now(), c.server.limits.WriteTimeout)) // a closed connection is found when it is written to
}

// deadline returns the end of a time limit; zero for none.
func deadline(from time.Time, limit time.Duration) time.Time {
	if limit == 0 {
		return time.Time{}
	}
	return from.Add(limit)
}

// lingerBytes bounds the bytes that linger reads.
const lingerBytes = 16 << 20

// linger ends the connection's output and drops the bytes that the client is still sending. Closing a
// socket with unread bytes resets it, and the client may lose the response.
func (c *conn) linger() {
	transport := c.Conn
	if secure, ok := transport.(*tls.Conn); ok {
		_ = secure.CloseWrite() // the end of the socket's output follows
		transport = secure.NetConn()
	}
	half, ok := transport.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	end := time.Now().Add(c.server.lingerTime)
	for budget := lingerBytes; budget > 0; {
		idleEnd := time.Now().Add(c.server.lingerIdle)
		if c.server.stopped.Load() && idleEnd.Before(end) {
			end = idleEnd
		}
		if end.Before(idleEnd) {
			idleEnd = end
		}
		if !time.Now().Before(idleEnd) || transport.SetReadDeadline(idleEnd) != nil {
			return
		}
		n, err := transport.Read(c.buf)
		if err != nil && (!errors.Is(err, os.ErrDeadlineExceeded) || !time.Now().Before(idleEnd)) { // Stop ends reads too
			return
		}
		budget -= n
	}
}
