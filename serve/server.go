package serve

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"

	"reelsplice/schemas/release"
	"reelsplice/serve/auth"
	"reelsplice/serve/lane"
)

// A Server is an Edge behind fasthttp, with the watchers that keep its tokens and
// its release up to date, and the admin listener.
type Server struct {
	cfg      Config
	edge     *Edge
	tokens   *auth.Live
	releases *Releases
	metrics  *meters
	http     *fasthttp.Server
	lane     *lane.Listener // what http serves, over api
	api      net.Listener
	admin    net.Listener // nil for none
}

// Listen opens everything that a Server needs: the token file, the current release,
// the listeners. What is wrong with one of them is the error.
func Listen(cfg Config) (s *Server, err error) {
	if err := cfg.Validate(); err != nil {
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
	if s.api, err = listen(cfg.Addr, cfg.TLSCert, cfg.TLSKey); err != nil {
		return nil, err
	}
	s.lane = lane.Listen(s.api, newLane(cfg, s.edge, s.metrics, newPlans()))
	if cfg.AdminAddr != "" {
		if s.admin, err = listen(cfg.AdminAddr, "", ""); err != nil {
			return nil, err
		}
	}
	return s, nil
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

func listen(addr, cert, key string) (net.Listener, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if cert == "" {
		return ln, nil
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("load certificate %s, key %s: %w", cert, key, err), ln.Close())
	}
	return tls.NewListener(ln, &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"http/1.1"},
	}), nil
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

// Run serves until ctx ends, then lets running requests finish.
func (s *Server) Run(ctx context.Context) error {
	defer s.close()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { s.tokens.Run(ctx, s.cfg.Poll); return nil })
	g.Go(func() error { s.releases.Run(ctx, s.cfg.Poll); return nil })
	g.Go(func() error { return s.http.Serve(s.lane) })
	admin := s.adminServer()
	if s.admin != nil {
		g.Go(func() error { return ignoreClosed(admin.Serve(s.admin)) })
	}
	g.Go(func() error {
		<-ctx.Done()
		// The parent context is over; what remains has its own deadline.
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.DrainTimeout)
		defer cancel()
		// Closed here, because fasthttp does not know a listener that it does not
		// serve yet, and would serve it after the shutdown.
		_ = s.api.Close()
		s.lane.Stop()
		err := s.http.ShutdownWithContext(drain)
		if errors.Is(err, net.ErrClosed) {
			err = nil
		}
		return errors.Join(err, admin.Shutdown(drain))
	})
	return g.Wait()
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
