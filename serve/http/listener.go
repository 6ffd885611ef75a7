package http

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

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
	// endReads sets the read deadline of all connections.
	endReads func(deadline time.Time)
}

// A fastListener wraps the connections of another listener. The server reads from them as from any other. Inside of
// Read, each head is checked by one strict parser. Read serves a plain request itself, refuses an invalid head, and returns
// any other one to the server: rewritten, so that the server expects no body and closes the connection where nothing
// more is to be read from it.
type fastListener struct {
	net.Listener
	cfg     fastConfig
	replies sync.Pool   // of *reply
	heads   sync.Pool   // of *[]byte
	drains  sync.Pool   // of *[]byte
	closing atomic.Bool // each response ends its connection
	stopped atomic.Bool // and no connection waits for a request
}

// listenFast returns a fastListener over ln.
func listenFast(ln net.Listener, cfg fastConfig) *fastListener {
	return &fastListener{
		Listener: ln, cfg: cfg,
		replies: sync.Pool{New: func() any { return new(reply) }},
		heads:   sync.Pool{New: func() any { return new([]byte) }},
		drains:  sync.Pool{New: func() any { b := make([]byte, 16<<10); return &b }},
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
	l.cfg.endReads(time.Now().Add(l.cfg.lastWait))
}
