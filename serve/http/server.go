// Package http serves an edge over HTTP: limits of connections, TLS, a fast path for plain
// requests, fasthttp for all others, and an end that loses no request.
//
// Connections pass through layers of listeners: connlimit, TLS, fast path. The fast path
// serves plain requests inside of Read, and gives fasthttp the heads of all others. One header
// encoder serves both ways and prepared responses.
package http

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/http/connlimit"
)

// A Server serves an edge on one address.
type Server struct {
	limits   Limits
	meters   *meters
	server   *fasthttp.Server
	fast     *fastListener // that server serves, over ln
	ln       net.Listener  // over conns
	conns    *connlimit.Listener
	cert     *certificate  // nil without TLS
	accepted chan struct{} // closed when no connection is accepted any more
}

// Listen takes an address, where connections wait to be served. Its error names the flag of the address.
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

// New returns a Server of e on ln, which it closes.
func New(limits Limits, e *edge.Edge, ln *net.TCPListener) (*Server, error) {
	s := &Server{limits: limits, meters: newMeters(), accepted: make(chan struct{})}
	s.meters.access = limits.Access
	if limits.TLSCert != "" {
		var err error
		if s.cert, err = openCertificate(limits.TLSCert, limits.TLSKey, limits.Log); err != nil {
			return nil, err
		}
	}
	s.server = newFastHTTP(&s.limits, e, s.meters)
	s.conns = limitConns(ln, &s.limits, s.meters)
	s.ln = s.conns
	if s.cert != nil {
		s.ln = listenTLS(s.conns, s.cert, limits.Log, s.meters)
	}
	cfg := newFastConfig(&s.limits, e, s.meters, newPreparedSet())
	cfg.endReads = s.conns.SetReadDeadlines
	s.fast = listenFast(s.ln, cfg)
	return s, nil
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
	return s.server.Serve(s.fast)
}

// PollCertificate loads the certificate if its files have changed. It does nothing without TLS.
func (s *Server) PollCertificate() {
	if s.cert != nil {
		s.cert.Poll()
	}
}

// CertificateErr returns why the files of the certificate are not those that are presented, or nil.
func (s *Server) CertificateErr() error {
	if s.cert == nil {
		return nil
	}
	return s.cert.Err()
}

// Drain makes each response end its connection from here on.
func (s *Server) Drain() { s.fast.Drain() }

// Stop refuses new connections and waits until the responses under way are sent and ctx ends at the
// latest. The Shutdown of fasthttp is not for that: it closes connections whose request has come but was not
// read yet.
func (s *Server) Stop(ctx context.Context) error {
	s.conns.Drain()
	select {
	case <-s.accepted:
	case <-ctx.Done(): // clients may connect faster than connections are accepted
		_ = s.conns.Close()
	}
	s.fast.Stop()
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
