package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"

	"reelsplice/schemas/release"
	"reelsplice/serve/auth"
	"reelsplice/serve/connlimit"
	"reelsplice/serve/lane"
)

// A Server is an Edge behind fasthttp, with the watchers that keep its tokens and
// its release up to date, and the admin listener.
type Server struct {
	cfg      Config
	stopping atomic.Bool // no new requests are wanted
	edge     *Edge
	tokens   *auth.Live
	releases *Releases
	metrics  *meters
	http     *fasthttp.Server
	lane     *lane.Listener // what http serves, over api
	bound    *drainListener
	api      net.Listener // over bound
	admin    net.Listener // nil for none
	// conns and adminConns limit the connections of api and admin; adminConns may be nil.
	conns, adminConns *connlimit.Listener
	cert              *certificate // nil without TLS
}

// Listen opens everything that a Server needs: the token file, the current release,
// the listeners. What is wrong with one of them is the error.
func Listen(cfg Config) (s *Server, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := fitConns(&cfg, fileLimit()); err != nil {
		return nil, err
	}
	s = &Server{cfg: cfg, metrics: newMeters()}
	defer func(opened *Server) {
		if err != nil {
			opened.close()
		}
	}(s)
	if s.tokens, err = auth.OpenLive(cfg.Tokens, cfg.Log); err != nil {
		return nil, err
	}
	if s.releases, err = OpenReleases(release.Store{Dir: cfg.Releases}, cfg.ResultCache, cfg.Log); err != nil {
		return nil, err
	}
	signer, err := newSigner(cfg.SigningKey)
	if err != nil {
		return nil, err
	}
	if s.edge, err = NewEdge(cfg, s.tokens, signer, s.releases); err != nil {
		return nil, err
	}
	s.http = newFastHTTP(cfg, s.edge, s.metrics)
	if cfg.TLSCert != "" {
		if s.cert, err = openCertificate(cfg.TLSCert, cfg.TLSKey, cfg.Log); err != nil {
			return nil, err
		}
	}
	bound := cfg.Bound
	if bound == nil {
		if bound, err = Bind(&cfg); err != nil {
			return nil, err
		}
	}
	s.bound, s.conns = bound.api, limitConns(bound.api, cfg, s.metrics)
	s.api = s.conns
	if bound.admin != nil {
		s.adminConns = connlimit.Listen(bound.admin, connlimit.Config{Max: adminConns, Log: limitLog(cfg.Log).With("listener", "admin")})
		s.admin = s.adminConns
	}
	if s.cert != nil {
		s.api = listenTLS(s.api, s.cert, s.metrics)
	}
	s.lane = lane.Listen(s.api, newLane(cfg, s.edge, s.metrics, newPlans()))
	return s, nil
}

// Bound holds the addresses of a Server that does not serve yet. Connections wait for it.
type Bound struct {
	api   *drainListener
	admin net.Listener // nil for none
}

// Bind takes the addresses of cfg.
func Bind(cfg *Config) (*Bound, error) {
	api, err := listen(cfg.Addr)
	if err != nil {
		return nil, err
	}
	b := &Bound{api: &drainListener{TCPListener: api}}
	if cfg.AdminAddr == "" {
		return b, nil
	}
	if b.admin, err = listen(cfg.AdminAddr); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Close gives the addresses back. It does nothing to those that a Server has closed.
func (b *Bound) Close() {
	_ = b.api.Close()
	if b.admin != nil {
		_ = b.admin.Close()
	}
}

func newSigner(path string) (*auth.Signer, error) {
	var key []byte
	var err error
	if path == "" {
		key, err = auth.RandomKey(rand.Reader)
	} else {
		key, err = auth.LoadKey(path)
	}
	if err != nil {
		return nil, err
	}
	return auth.NewSigner(key)
}

func listen(addr string) (*net.TCPListener, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return ln.(*net.TCPListener), nil
}

// URL returns the base address of the API.
func (s *Server) URL() string {
	scheme := "http"
	if s.cfg.TLSCert != "" {
		scheme = "https"
	}
	return scheme + "://" + s.api.Addr().String()
}

// AdminURL returns the address of the admin listener, "" without one.
func (s *Server) AdminURL() string {
	if s.admin == nil {
		return ""
	}
	return "http://" + s.admin.Addr().String()
}

// Release returns the id of the release that is served.
func (s *Server) Release() string { return s.releases.ID() }

// Run serves until ctx ends. Then /readyz answers 503; requests are served for the shutdown delay more, so
// that load balancers find out; then requests under way end. The admin listener closes last.
func (s *Server) Run(ctx context.Context) error {
	defer s.close()
	// Serving outlives ctx by the delay and the drain.
	g, serving := errgroup.WithContext(context.WithoutCancel(ctx))
	following, unfollow := context.WithCancel(serving)
	g.Go(func() error { s.tokens.Run(following, s.cfg.Poll); return nil })
	g.Go(func() error { s.releases.Run(following, s.cfg.Poll); return nil })
	g.Go(func() error { s.releases.Scrub(following, int64(s.cfg.ScrubRate)); return nil })
	if s.cert != nil {
		g.Go(func() error { s.cert.Run(following, s.cfg.Poll); return nil })
	}
	accepted := make(chan struct{}) // closed when no connection is accepted any more
	g.Go(func() error {
		defer close(accepted)
		return s.http.Serve(s.lane)
	})
	admin := s.adminServer()
	if s.admin != nil {
		g.Go(func() error { return ignoreClosed(admin.Serve(s.admin)) })
	}
	g.Go(func() error {
		defer unfollow()
		select {
		case <-ctx.Done():
			s.awaitBalancers(serving)
		case <-serving.Done():
		}
		return s.drain(ctx, accepted, admin)
	})
	return g.Wait()
}

// awaitBalancers says on /readyz that the server stops, and waits for the shutdown delay.
func (s *Server) awaitBalancers(ctx context.Context) {
	s.stopping.Store(true)
	s.lane.Drain()
	if s.cfg.ShutdownDelay <= 0 {
		return
	}
	s.cfg.Log.Info("stopping", "requests accepted for", s.cfg.ShutdownDelay.String())
	select {
	case <-ctx.Done():
	case <-time.After(s.cfg.ShutdownDelay):
	}
}

// drain refuses new connections and waits for the requests under way, for the drain timeout at most. The
// Shutdown of fasthttp is not for that: it closes connections whose request has come but was not read yet.
func (s *Server) drain(ctx context.Context, accepted <-chan struct{}, admin *http.Server) error {
	ctx, cancel := context.WithoutCancel(ctx), context.CancelFunc(func() {})
	if s.cfg.DrainTimeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, s.cfg.DrainTimeout)
	}
	defer cancel()
	s.bound.Drain()
	select {
	case <-accepted:
	case <-ctx.Done(): // clients may connect faster than connections are accepted
		_ = s.bound.Close()
	}
	s.lane.Stop()
	return errors.Join(s.awaitConns(ctx), admin.Shutdown(ctx))
}

// awaitConns waits until all connections are closed or ctx ends.
func (s *Server) awaitConns(ctx context.Context) error {
	t := time.NewTicker(drainPoll)
	defer t.Stop()
	for {
		n := s.conns.Stats().Open
		if n == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("stop: %d connections are still open after the drain timeout of %v", n, s.cfg.DrainTimeout)
		case <-t.C:
		}
	}
}

// drainPoll is how often open connections are counted while the server drains.
const drainPoll = 10 * time.Millisecond

// Reload looks at once for changed tokens, another certificate and another current release. What cannot be
// used is logged, and the last good one stays.
func (s *Server) Reload() {
	_ = s.tokens.Reload() // logged there, as the others are
	if s.cert != nil {
		s.cert.Reload()
	}
	s.releases.Reload()
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// close gives back what Listen opened. Listeners that Run has closed already say so,
// which means nothing.
func (s *Server) close() {
	for _, ln := range []net.Listener{s.api, s.admin} {
		if ln != nil {
			_ = ln.Close()
		}
	}
	if s.releases != nil {
		s.releases.Close()
	}
}

// readHeaderTimeout bounds the admin listener's requests.
const readHeaderTimeout = 5 * time.Second

// adminIdleTimeout bounds the time between the admin listener's requests.
const adminIdleTimeout = time.Minute
