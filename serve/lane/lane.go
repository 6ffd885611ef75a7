// Package lane checks what the connections of an HTTP server bring, and answers the plain
// requests among it, the GET and HEAD requests that nearly all clients send.
//
// The server reads from a connection of a Listener as from any other. Inside of Read, each
// head is checked by one strict parser. Read answers a plain request itself, refuses an
// invalid head, and returns any other one to the server: rewritten, so that the server
// expects no body and closes the connection where nothing more is to be read from it. A
// plain request costs one read and one write: no deadline is set for it, its head is parsed
// once, and no byte of a body is copied on its way to the kernel.
package lane

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A Handler answers the requests of one connection, one after another.
type Handler interface {
	// Answer fills w and calls w.Send or w.Stream, once. now is when the request was read, or when the
	// client had taken the answer before it.
	Answer(rq *Request, w *Writer, now time.Time)
}

// Slack is how many bytes of a buffer that is read into stay free of a head from the client.
// A server whose heads have n bytes at most reads into n + Slack.
const Slack = slack

// Config says how to treat connections.
type Config struct {
	// Open makes the Handler of a new connection. Without it all requests go to the server.
	Open func() Handler
	// Refuse appends the response to a head that the server does not get, which ends the
	// connection. isHead tells that it answers a HEAD request.
	Refuse       func(dst []byte, status int, isHead bool, now time.Time) []byte
	ReadTimeout  time.Duration // for the rest of a head of which a part has come; 0 for none
	WriteTimeout time.Duration // for a whole answer; 0 for none
	IdleTimeout  time.Duration // between requests; 0 for none
}

// A Listener wraps the connections of another Listener. Those of TCP have the fast path. Over
// TLS, where what a client has sent is not what comes out of the kernel, the server answers.
type Listener struct {
	net.Listener
	cfg     Config
	writers sync.Pool   // of *Writer
	heads   sync.Pool   // of *[]byte
	drains  sync.Pool   // of *[]byte
	closing atomic.Bool // each response ends its connection
	stopped atomic.Bool // and no connection waits for a request

	mu   sync.Mutex
	open map[*conn]struct{} // the connections that the server has not closed
}

// Listen returns a Listener over ln.
func Listen(ln net.Listener, cfg Config) *Listener {
	return &Listener{
		Listener: ln, cfg: cfg,
		writers: sync.Pool{New: func() any { return new(Writer) }},
		heads:   sync.Pool{New: func() any { return new([]byte) }},
		drains:  sync.Pool{New: func() any { b := make([]byte, 16<<10); return &b }},
		open:    map[*conn]struct{}{},
	}
}

// Accept waits for the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	under, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := newConn(l, under)
	if secure, ok := under.(secureConn); ok {
		return tlsConn{c, secure}, nil
	}
	return c, nil
}

// Drain makes each response end its connection from here on, so that clients leave without losing
// a request.
func (l *Listener) Drain() { l.closing.Store(true) }

// Stop drains, and ends the connections that wait for a request. Answers that are under way are sent, and
// what comes after them is left to the server.
func (l *Listener) Stop() {
	l.Drain()
	l.stopped.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		c.wake()
	}
}

func (l *Listener) add(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c] = struct{}{}
}

func (l *Listener) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}
