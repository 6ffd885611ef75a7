// Package serve serves the API from a release. It connects the packages below: http receives requests,
// edge serves them, releases follows the store, auth the token file. It adds the admin listener with
// health and metrics, and monitors the age of the data and pages from the disk.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	nethttp "net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/http"
	"github.com/reelsplice/reelsplice/serve/http/connlimit"
	"github.com/reelsplice/reelsplice/serve/observe"
	"github.com/reelsplice/reelsplice/serve/pull"
	"github.com/reelsplice/reelsplice/serve/releases"
)

// A Server serves an edge, with the watchers that keep its tokens and its release up to date, and
// the admin listener.
type Server struct {
	cfg      Config
	stopping atomic.Bool // /readyz reports that the server stops
	tokens   *auth.Live
	releases *releases.Releases
	puller   *pull.Puller // nil without a bucket
	edge     *edge.Edge
	http     *http.Server
	admin    *connlimit.Listener // nil for none
	faults   faultWatch
	access   *observe.AccessLog // nil for none
	missing  *missingFile       // nil for none
	polls    []*poll            // one goroutine each, so that a stalled file system of releases delays no revocation
	age      *ageWatch
}

// Listen opens the token file, the release and the listeners of a Server. A Server over a bucket with an empty
// cache has no release at first.
func Listen(cfg Config) (s *Server, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Options.Log, cfg.Limits.Log = cfg.Log, cfg.Log
	if err := http.FitLimits(&cfg.Limits); err != nil {
		return nil, err
	}
	s = &Server{cfg: cfg, age: watchAge(cfg.MaxDataAge, cfg.Log)}
	defer func(opened *Server) {
		if err != nil {
			opened.close()
		}
	}(s)
	if s.access, err = observe.OpenAccessLog(cfg.AccessLog); err != nil {
		return nil, err
	}
	cfg.Access = s.access
	if err := s.openReleases(); err != nil {
		return nil, err
	}
	if s.tokens, err = auth.OpenLive(cfg.Tokens, cfg.Log); err != nil {
		return nil, err
	}
	if cfg.FromDisk == nil {
		cfg.FromDisk = s.faults.fromDisk.Load
	}
	if cfg.Missing != "" {
		s.missing = newMissingFile(cfg.Missing, cfg.Log)
		cfg.Options.Missing = s.missing.add
	}
	signer, err := auth.OpenSigner(cfg.SigningKey)
	if err != nil {
		return nil, err
	}
	if s.edge, err = edge.New(cfg.Options, s.tokens.Get, signer, s.releases); err != nil {
		return nil, err
	}
	bound := cfg.Bound
	if bound == nil {
		if bound, err = Bind(&cfg, nil, nil); err != nil {
			return nil, err
		}
	}
	if bound.admin != nil {
		s.admin = http.LimitAdmin(bound.admin, cfg.Log)
	}
	if s.http, err = http.New(cfg.Limits, s.edge, bound.api); err != nil {
		bound.Close()
		return s, err
	}
	s.polls = []*poll{newPoll("tokens", s.tokens.Poll), newPoll("releases", func() { s.releases.Poll(); s.checkAge() })}
	if cfg.TLSCert != "" {
		s.polls = append(s.polls, newPoll("certificate", s.http.PollCertificate))
	}
	return s, nil
}

// openReleases opens the release to serve. A release of a bucket may have to be pulled first.
func (s *Server) openReleases() (err error) {
	c := releases.Config{Store: store.Folder{Dir: s.cfg.Releases}, Results: s.cfg.ResultCache, Warm: int64(s.cfg.Warm), Log: s.cfg.Log}
	selected := s.cfg.Pull
	if selected.Bucket != nil {
		s.cfg.Pull.Log = s.cfg.Log
		if s.puller, err = pull.New(s.cfg.Pull); err != nil {
			return err
		}
		c.Store.Dir, c.Later = s.cfg.Pull.Dir, true
		selected.Follow = pull.Current // the cache's; the puller follows the bucket's pointer
	}
	c.Wanted = func() (string, error) { return selected.Wanted(context.Background(), c.Store) }
	s.releases, err = releases.New(c)
	return err
}

// Bound holds the addresses of a Server that does not serve yet. Connections wait for it.
type Bound struct {
	api   *net.TCPListener
	admin *net.TCPListener // nil for none
}

// Bind binds the addresses of cfg. Listeners that are not nil replace them.
func Bind(cfg *Config, api, admin *net.TCPListener) (b *Bound, err error) {
	b = &Bound{api, admin}
	if api == nil {
		if b.api, err = http.Listen("addr", cfg.Addr); err != nil {
			return nil, err
		}
	}
	if admin == nil && cfg.AdminAddr != "" {
		if b.admin, err = http.Listen("admin-addr", cfg.AdminAddr); err != nil {
			b.Close()
			return nil, err
		}
	}
	return b, nil
}

// Close releases the addresses. Addresses closed by a Server stay closed.
func (b *Bound) Close() {
	_ = b.api.Close()
	if b.admin != nil {
		_ = b.admin.Close()
	}
}

// URL returns the base address of the API.
func (s *Server) URL() string { return s.http.URL() }

// Release returns the ID of the served release.
func (s *Server) Release() string { return s.releases.ID() }

// Status describes in a line what the Server serves or waits for. ready is set while it has a release.
func (s *Server) Status() (text string, ready bool) {
	if id := s.Release(); id != "" {
		return "serving " + id, true
	}
	return strings.ReplaceAll("no release"+s.waitReason(), "\n", "; "), false
}

// Run serves until ctx ends. Then /readyz responds with 503. Requests are served during the shutdown delay, so that
// load balancers notice; then requests in progress end. The admin listener closes last.
func (s *Server) Run(ctx context.Context) error {
	defer s.close()
	// Serving outlives ctx by the delay and the drain.
	g, serving := errgroup.WithContext(context.WithoutCancel(ctx))
	following, unfollow := context.WithCancel(serving)
	s.checkAge()
	var polling sync.WaitGroup
	for _, p := range s.polls {
		polling.Go(func() {
			every(following, s.cfg.Poll, func() {
				p.check()
				p.ended.Store(time.Now().UnixNano())
			})
		})
	}
	if s.missing != nil {
		go every(following, s.cfg.Poll, s.missing.write) // Run does not wait for it
	}
	if s.puller != nil {
		g.Go(func() error { s.puller.Run(following, s.releases); return nil })
	}
	g.Go(func() error { s.releases.Scrub(following, s.cfg.scrubWait, int64(s.cfg.ScrubRate)); return nil })
	g.Go(func() error { s.faults.run(following); return nil })
	g.Go(s.http.Serve)
	admin := s.adminServer()
	if s.admin != nil {
		g.Go(func() error {
			if err := admin.Serve(s.admin); !errors.Is(err, nethttp.ErrServerClosed) {
				return err
			}
			return nil
		})
	}
	g.Go(func() error {
		defer unfollow()
		select {
		case <-ctx.Done():
			s.stopping.Store(true)
			s.http.Drain()
			if s.cfg.ShutdownDelay > 0 { // load balancers notice
				s.cfg.Log.Info("stopping", "requests accepted for", s.cfg.ShutdownDelay.String())
				select {
				case <-serving.Done():
				case <-time.After(s.cfg.ShutdownDelay):
				}
			}
		case <-serving.Done():
		}
		draining, cancel := context.WithoutCancel(ctx), context.CancelFunc(func() {})
		if s.cfg.DrainTimeout > 0 {
			draining, cancel = context.WithTimeout(draining, s.cfg.DrainTimeout)
		}
		defer cancel()
		return errors.Join(s.http.Stop(draining), admin.Shutdown(draining))
	})
	err := g.Wait()
	polled := make(chan struct{})
	go func() { polling.Wait(); close(polled) }()
	select {
	case <-polled:
	case <-time.After(pollsEnd): // they end with the process
	}
	return err
}

func (s *Server) checkAge() {
	h := s.releases.Acquire()
	defer h.Release()
	if h != nil {
		s.age.check(h.Reader.Manifest())
	}
}

// every calls fn every interval until ctx ends.
func every(ctx context.Context, interval time.Duration, fn func()) {
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			fn()
		}
	}
}

// Reload checks at once for changed tokens, certificates and releases, and for another file with the name of the access
// log. It logs unusable ones, and keeps the last valid one.
func (s *Server) Reload() {
	s.access.Reopen()
	s.tokens.Poll()
	s.http.PollCertificate()
	s.releases.Reload()
	if s.puller != nil {
		s.puller.CheckNow()
	}
	s.cfg.Log.Info("reloaded")
}

// close closes everything that Listen opened, except listeners that Run has already closed.
func (s *Server) close() {
	if s.http != nil {
		s.http.Close()
	}
	if s.admin != nil {
		_ = s.admin.Close()
	}
	if s.releases != nil {
		s.releases.Close()
	}
	s.access.Close()
}

const (
	// pollStalls is the time without a completed poll after which /readyz reports it.
	pollStalls = 10 * time.Second
	// pollsEnd bounds the wait for running polls when a Server ends.
	pollsEnd = time.Second
)

// A poll checks files periodically. A file system that does not respond may block it forever.
type poll struct {
	files string // in messages and metrics
	check func()
	ended atomic.Int64 // Unix time of the last completed check, or of the poll's start, in nanoseconds
}

func newPoll(files string, check func()) *poll {
	p := &poll{files: files, check: check}
	p.ended.Store(time.Now().UnixNano())
	return p
}

// err returns an error if no check has completed for a while.
func (p *poll) err() error {
	if d := time.Since(time.Unix(0, p.ended.Load())); d > pollStalls {
		return fmt.Errorf("%s: the last check of the files ended %s ago", p.files, d.Truncate(time.Second))
	}
	return nil
}
