package http

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/releases"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// A config is all that tests of this package set.
type config struct {
	edge.Options
	Limits
	Log *slog.Logger // log of both servers
}

// A world is an edge with all that it needs.
type world struct {
	cfg      config
	dir      string // folder of releases
	file     string // token file
	edge     *edge.Edge
	tokens   *auth.Live
	releases *releases.Releases
	token    string // one that is good
}

// bareWorld returns what an edge needs but for releases. Its clients have all the time they need. change may
// alter its config.
func bareWorld(tb testing.TB, change func(*config)) *world {
	tb.Helper()
	w := &world{cfg: config{Options: edge.DefaultOptions(), Limits: DefaultLimits()}, dir: tb.TempDir(), file: filepath.Join(tb.TempDir(), "tokens")}
	w.cfg.ReadTimeout, w.cfg.WriteTimeout, w.cfg.IdleTimeout = time.Hour, time.Hour, time.Hour
	if change != nil {
		change(&w.cfg)
	}
	if log := w.cfg.Log; log != nil {
		w.cfg.Options.Log, w.cfg.Limits.Log = log, log
	}
	w.token = servetest.Issue(tb, w.file, "test", time.Time{})
	return w
}

// open makes the edge over what lies in the folders.
func (w *world) open(tb testing.TB) *world {
	tb.Helper()
	var err error
	if w.tokens, err = auth.OpenLive(w.file, w.cfg.Options.Log); err != nil {
		tb.Fatal(err)
	}
	if w.releases, err = releases.New(releases.Config{Store: store.Folder{Dir: w.dir}, Log: w.cfg.Options.Log}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(w.releases.Close)
	signer, err := auth.NewSigner([]byte("0123456789abcdef"))
	if err != nil {
		tb.Fatal(err)
	}
	if w.edge, err = edge.New(w.cfg.Options, w.tokens.Get, signer, w.releases); err != nil {
		tb.Fatal(err)
	}
	return w
}

// newWorld returns an edge over rows. change may alter its config.
func newWorld(tb testing.TB, change func(*config), rows ...string) *world {
	tb.Helper()
	w := bareWorld(tb, change)
	servetest.Build(tb, w.dir, 6, rows...)
	return w.open(tb)
}

var buildSample sync.Once

// sampleWorld returns an edge over the sample, of which there is one release that tests share:
// they must not write below its dir.
func sampleWorld(tb testing.TB, change func(*config)) *world {
	tb.Helper()
	w := bareWorld(tb, change)
	w.dir = filepath.Join(sharedDir(tb), "sample")
	buildSample.Do(func() { servetest.BuildSample(tb, w.dir) })
	return w.open(tb)
}

// writtenWorld returns an edge over resources.
func writtenWorld(tb testing.TB, change func(*config), resources ...servetest.Resource) *world {
	tb.Helper()
	w := bareWorld(tb, change)
	servetest.Write(tb, w.dir, resources...)
	return w.open(tb)
}

// request returns an authenticated GET of a URI.
func (w *world) request(uri string) *edge.Request {
	path, query := edge.SplitTarget([]byte(uri))
	return &edge.Request{
		Method: []byte("GET"), Path: path, Query: query,
		Authorization: []byte("Bearer " + w.token),
		Gzip:          true,
	}
}

// A sent response is a copy of one, with its body as it goes out and inflated.
type sent struct {
	edge.Response
	body  []byte
	plain string
}

// heldBy returns the bytes that the responses of w hold.
func heldBy(w *world) int64 {
	held, _ := w.edge.Inflight()
	return held
}

// held returns the release that w serves, until it ends.
func held(w *world) *releases.Held {
	h := w.releases.Acquire()
	h.Release()
	return h
}

// checkSizes looks for files that have become shorter.
func (w *world) checkSizes() { check.Sizes(held(w).Reader) }

// do asks the edge and copies the response.
func (w *world) do(tb testing.TB, rq *edge.Request) sent {
	tb.Helper()
	rs := w.edge.Begin(rq)
	defer rs.End()
	var body bytes.Buffer
	if err := rs.WriteBody(&body); err != nil {
		tb.Fatal(err)
	}
	a := sent{*rs, body.Bytes(), body.String()}
	a.ETag = bytes.Clone(rs.ETag)
	if a.Gzip && a.Status == 200 {
		a.plain = servetest.OneMember(tb, a.body)
	}
	return a
}

// get asks for a URI as most clients do.
func (w *world) get(tb testing.TB, uri string) sent {
	tb.Helper()
	return w.do(tb, w.request(uri))
}

// bind returns a Server of w that nobody serves yet, and whose clients have all the time they need.
func (w *world) bind(tb testing.TB) *Server {
	tb.Helper()
	b, err := Listen("addr", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s, err := New(w.cfg.Limits, w.edge, b)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	s.lingerTime, s.lingerIdle = time.Hour, time.Hour
	return s
}

// start runs a Server of w until the test ends.
func (w *world) start(tb testing.TB) *Server {
	tb.Helper()
	s := w.bind(tb)
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	tb.Cleanup(func() {
		s.Close()
		if err := <-done; err != nil {
			tb.Errorf("Serve = %v", err)
		}
	})
	return s
}

// startTLS runs one that speaks TLS, with a certificate of its own.
func (w *world) startTLS(tb testing.TB) *Server {
	tb.Helper()
	other := *w
	other.cfg.TLSCert, other.cfg.TLSKey, _ = newCertificate(tb)
	return other.start(tb)
}

// dial connects to s, by TLS if it speaks that.
func (s *Server) dial(tb testing.TB) net.Conn {
	tb.Helper()
	c, err := net.Dial("tcp", s.addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	if s.tls != nil {
		c = tls.Client(c, &tls.Config{InsecureSkipVerify: true})
	}
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

// addr returns the address of s.
func (s *Server) addr() net.Addr { return s.ln.Addr() }

// roundTrip asks over a connection with some header lines, and returns the response and its body as it came.
func roundTrip(c net.Conn, r *bufio.Reader, token, method, uri string, header ...string) (*http.Response, []byte, error) {
	lines := append([]string{method + " " + uri + " HTTP/1.1", "Host: x", "Authorization: Bearer " + token}, header...)
	_ = c.SetDeadline(time.Now().Add(sharedtest.Patience))
	if _, err := io.WriteString(c, strings.Join(lines, "\r\n")+"\r\n\r\n"); err != nil {
		return nil, nil, err
	}
	rs, err := http.ReadResponse(r, &http.Request{Method: method})
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(rs.Body)
	return rs, body, err
}
