// Package lane answers the plain requests of a connection, the GET and HEAD requests that
// nearly all clients send, beside the HTTP server that has the connection.
//
// The server reads from a connection of a Listener as from any other. Inside of Read, plain
// requests are answered, and Read returns when something else came: the server then reads
// that, and from there on the lane leaves the connection to it. So limits on connections,
// odd requests and errors are the server's, and a plain request costs one read and one write:
// no deadline is set for it, no header is taken apart twice, and no byte of a body is copied
// on its way to the kernel.
package lane

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A Handler answers the requests of one connection, one after another.
type Handler interface {
	// Answer fills w and calls w.Send, once. now is when the request was read, or when the
	// client had taken the answer before it.
	Answer(rq *Request, w *Writer, now time.Time)
}

// Config says how to treat connections.
type Config struct {
	Open         func() Handler // makes the Handler of a new connection
	ReadTimeout  time.Duration  // for the rest of a head of which a part has come; 0 for none
	WriteTimeout time.Duration  // for a whole answer; 0 for none
	IdleTimeout  time.Duration  // between requests; 0 for none
}

// A Listener wraps the TCP connections of another Listener. Others it passes on as they are,
// such as those of TLS, where what a client has sent is not what comes out of the kernel.
type Listener struct {
	net.Listener
	cfg     Config
	writers sync.Pool // of *Writer
	stopped atomic.Bool

	mu   sync.Mutex
	open map[*conn]struct{} // the connections that the server has not got
}

// Listen returns a Listener over ln.
func Listen(ln net.Listener, cfg Config) *Listener {
	return &Listener{
		Listener: ln, cfg: cfg,
		writers: sync.Pool{New: func() any { return new(Writer) }},
		open:    map[*conn]struct{}{},
	}
}

// Accept waits for the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	tcp, ok := c.(*net.TCPConn)
	if !ok || !supported {
		return c, nil
	}
	return newConn(l, tcp)
}

// Stop ends the lane: connections that wait for a request end, answers that are under way
// are sent, and what comes after them is left to the server.
func (l *Listener) Stop() {
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
