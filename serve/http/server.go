// Package http serves an edge over HTTP: limits of connections, TLS, one loop for each connection, and a shutdown that
// loses no request.
//
// A conn reads, parses and responds from the first request to the last. One strict parser reads each head. A client
// responds from the edge. A request with a body or over HTTP/1.0 goes to fasthttp, as the last one of its connection.
// One header encoder serves both, and prepared responses.
package http

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/http/connlimit"
)

// A Server serves an edge on one address.
type Server struct {
	limits       Limits
	meters       *meters
	prepared     *preparedSet
	conns        *connlimit.Listener
	ln           net.Listener             // conns; tests wrap it
	cert         *certificate             // nil without TLS
	tls          *handshaker              // nil without TLS
	newResponder func() responder         // returns the responder for a new connection
	handOver     func(c net.Conn) error   // serves a request that is not plain
	accepted     chan struct{}            // closed when the last connection is accepted
	closing      atomic.Bool              // each response ends its connection
	stopped      atomic.Bool              // connections no longer wait for requests
	buffers      sync.Pool                // holds *[]byte
	replies      sync.Pool                // holds *reply
	endReads     func(deadline time.Time) // sets the read deadline of all connections

	// lastWait is how long a connection waits for a last request when the server stops. A waiting connection
	// gets it twice, because the deadline may end the first read just when bytes arrive.
	lastWait time.Duration
	// Limits of linger: in total, and between two reads. The second is the total once the server stops.
	lingerTime, lingerIdle time.Duration
}

// Listen binds an address, where connections wait to be served. Its error names the flag of the address.
func Listen(flag, addr string) (*net.TCPListener, error) {
	ln, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%w: stop that program or give another --%s", err, flag)
	case err != nil:
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return ln.(*net.TCPListener), nil
}

// FitLimits lowers limits.MaxConns to fit the number of files that the process may have open.
func FitLimits(limits *Limits) error { return fitConns(limits, connlimit.OpenFiles()) }

// New returns a Server of e on ln, and owns ln.
func New(limits Limits, e *edge.Edge, ln *net.TCPListener) (*Server, error) {
	s := newServer(limits)
	if limits.TLSCert != "" {
		var err error
		if s.cert, err = openCertificate(limits.TLSCert, limits.TLSKey, limits.Log); err != nil {
			return nil, err
		}
		s.tls = newHandshaker(s.cert, limits.Log, s.meters)
	}
	config := connlimit.Config{Max: limits.MaxConns, PerAddress: limits.MaxConnsPerIP, Log: limitLog(limits.Log)}
	if s.tls == nil { // with TLS a refusal would cost a handshake
		config.Refuse = func(status int) []byte {
			response, _ := refusedResponse(status, false /* isHead */, time.Now(), s.meters)
			return response
		}
	}
	s.conns = connlimit.Listen(ln, config)
	s.ln, s.endReads = s.conns, s.conns.SetReadDeadlines
	s.newResponder = func() responder {
		return &client{edge: e, meters: s.meters, meter: s.meters.share(uint64(s.meters.opened.Add(1))), prepared: s.prepared}
	}
	s.handOver = newFastHTTP(&s.limits, e, s.meters).ServeConn
	return s, nil
}

// newServer returns a Server without a listener and an edge.
func newServer(limits Limits) *Server {
	s := &Server{
		limits: limits, meters: newMeters(), prepared: newPreparedSet(), accepted: make(chan struct{}),
		buffers:  sync.Pool{New: func() any { b := make([]byte, limits.MaxHeader); return &b }},
		replies:  sync.Pool{New: func() any { return new(reply) }},
		lastWait: 100 * time.Millisecond, lingerTime: 10 * time.Second, lingerIdle: time.Second,
	}
	s.meters.access = limits.Access
	return s
}

// URL returns the base address.
func (s *Server) URL() string {
	scheme := "http"
	if s.cert != nil {
		scheme = "https"
	}
	return scheme + "://" + s.ln.Addr().String()
}

// Serve accepts connections until Stop or Close.
func (s *Server) Serve() error {
	defer close(s.accepted)
	for {
		c, err := s.ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		accepted := c.(*connlimit.Conn)
		go func() {
			if s.tls == nil {
				newConn(s, accepted.Socket()).serve()
				return
			}
			_ = accepted.SetReadDeadline(deadline(time.Now(), s.limits.ReadTimeout)) // a closed connection is found when it is read
			if secure := s.tls.handshake(accepted); secure != nil {
				newConn(s, secure).serve()
				return
			}
			_ = accepted.Close() // only alerts were sent
		}()
	}
}

// PollCertificate loads the certificate if its files have changed. It does nothing without TLS.
func (s *Server) PollCertificate() {
	if s.cert != nil {
		s.cert.Poll()
	}
}

// CertificateErr returns why the certificate in its files is not in use, or nil.
func (s *Server) CertificateErr() error {
	if s.cert == nil {
		return nil
	}
	return s.cert.Err()
}

// Drain makes each later response end its connection, so that clients leave without losing a request.
func (s *Server) Drain() { s.closing.Store(true) }

// endWaits drains, and ends the connections that wait for a request. Responses in progress are sent.
func (s *Server) endWaits() {
	s.Drain()
	s.stopped.Store(true)
	s.endReads(time.Now().Add(s.lastWait))
}

// Stop refuses new connections and waits until the responses in progress are sent, or ctx ends.
func (s *Server) Stop(ctx context.Context) error {
	s.conns.Drain()
	select {
	case <-s.accepted:
	case <-ctx.Done(): // clients may connect faster than connections are accepted
		_ = s.conns.Close()
	}
	s.endWaits()
	t := time.NewTicker(drainPoll)
	defer t.Stop()
	for {
		n := s.conns.Stats().Open
		if n == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("stop: %d connections are still open after the drain timeout of %v", n, s.limits.DrainTimeout)
		case <-t.C:
		}
	}
}

// drainPoll is how often open connections are counted while the server stops.
const drainPoll = 10 * time.Millisecond

// Close closes the listener. It does nothing once Stop has.
func (s *Server) Close() { _ = s.ln.Close() }
