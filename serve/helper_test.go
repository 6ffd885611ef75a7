package serve

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reelsplice/schemas/release"
	"reelsplice/serve/auth"
	"reelsplice/serve/route"
)

// Bodies of refusals, with the key order of each.
const (
	body401 = `{"status_code":7,"status_message":"Invalid API key: You must be granted a valid key.","success":false}`
	body404 = `{"success":false,"status_code":34,"status_message":"The resource you requested could not be found."}`
	body405 = `{"success":false,"status_code":42,"status_message":"This request method is not supported for this resource."}`
	body27  = `{"success":false,"status_code":27,"status_message":"Too many append to response objects: The maximum number of remote calls is 20."}`
	body22  = `{"status_code":22,"status_message":"Invalid page: Pages start at 1 and max at 500. They are expected to be an integer.","success":false}`
	body3   = `{"success":false,"status_code":3,"status_message":"Authentication failed: You do not have permissions to access the service."}`
)

// Cache-Control of answers.
const (
	kept    = "public, max-age=3600"
	notKept = "no-store"
)

func publish(tb testing.TB, dir, id string) {
	tb.Helper()
	if _, err := (release.Store{Dir: dir}).Publish(id); err != nil {
		tb.Fatal(err)
	}
}

// A world is an Edge with all that it needs.
type world struct {
	cfg      Config
	edge     *Edge
	tokens   *auth.Live
	releases *Releases
	token    string // one that is good
}

// bareWorld returns what an Edge needs but for releases. change may alter its Config.
func bareWorld(tb testing.TB, change func(*Config)) *world {
	tb.Helper()
	cfg := DefaultConfig()
	cfg.Releases = tb.TempDir()
	cfg.Tokens = filepath.Join(tb.TempDir(), "tokens")
	cfg.Addr = "127.0.0.1:0"
	if change != nil {
		change(&cfg)
	}
	return &world{cfg: cfg, token: issue(tb, cfg.Tokens, "test", time.Time{})}
}

// open makes the Edge over what lies in the folders.
func (w *world) open(tb testing.TB) {
	tb.Helper()
	w.openTokens(tb)
	var err error
	w.releases, err = OpenReleases(release.Store{Dir: w.cfg.Releases}, w.cfg.ResultCache, w.cfg.Log)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(w.releases.Close)
	w.edge = newEdge(tb, w)
}

func newEdge(tb tester, w *world) *Edge {
	tb.Helper()
	signer, err := auth.NewSigner([]byte("0123456789abcdef"))
	if err != nil {
		tb.Fatalf("NewSigner: %v", err)
	}
	e, err := NewEdge(w.cfg, w.tokens, signer, w.releases)
	if err != nil {
		tb.Fatalf("NewEdge: %v", err)
	}
	return e
}

func (w *world) openTokens(tb testing.TB) {
	tb.Helper()
	var err error
	if w.tokens, err = auth.OpenLive(w.cfg.Tokens, w.cfg.Log); err != nil {
		tb.Fatal(err)
	}
}

// issue adds a token to a token file.
func issue(tb testing.TB, path, name string, expires time.Time) string {
	tb.Helper()
	now := time.Now()
	if !expires.IsZero() && expires.Before(now) {
		now = expires.Add(-time.Hour) // issued when it was good
	}
	token, err := auth.Issue(path, name, expires, auth.ScopeRead, now, rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return token
}

// request returns an authenticated GET of a URI.
func (w *world) request(uri string) *Request {
	path, query := splitURI([]byte(uri))
	return &Request{
		Method: []byte("GET"), Path: path, Query: query,
		Authorization:  []byte("Bearer " + w.token),
		AcceptEncoding: []byte("gzip"),
	}
}

// A reply is a copy of a Response, with its body inflated.
type reply struct {
	Response
	plain string
}

// tester is what helpers need of a test, also of one of package rapid.
type tester interface {
	Context() context.Context
	Helper()
	Fatalf(format string, args ...any)
}

// do asks and copies the answer. A gzip body is checked to be one whole member.
func (w *world) do(tb tester, rq *Request) reply {
	tb.Helper()
	var a reply
	w.edge.Serve(rq, func(rs *Response) {
		a.Response = *rs
		a.Body, a.ETag, a.SurrogateKey = bytes.Clone(rs.Body), bytes.Clone(rs.ETag), bytes.Clone(rs.SurrogateKey)
	})
	a.plain = string(a.Body)
	if a.Gzip && a.Status == 200 {
		a.plain = oneMember(tb, a.Body)
	}
	return a
}

// get asks for a URI as most clients do.
func (w *world) get(tb tester, uri string) reply {
	tb.Helper()
	return w.do(tb, w.request(uri))
}

// oneMember reads a body as a decoder does that stops after the first gzip member,
// and fails when anything is left. The reader checks the CRC and the length.
func oneMember(tb tester, body []byte) string {
	tb.Helper()
	src := bytes.NewReader(body)
	z, err := gzip.NewReader(src)
	if err != nil {
		tb.Fatalf("gzip.NewReader of %d bytes: %v", len(body), err)
	}
	z.Multistream(false)
	out, err := io.ReadAll(z)
	if err != nil {
		tb.Fatalf("read gzip member of %d bytes: %v", len(body), err)
	}
	if src.Len() != 0 {
		tb.Fatalf("%d of %d bytes are left behind the first gzip member, want 0", src.Len(), len(body))
	}
	return string(out)
}

// eventually waits until ok, for at most a second and a half.
func eventually(tb testing.TB, what string, ok func() bool) time.Duration {
	tb.Helper()
	start := time.Now()
	for !ok() {
		if time.Since(start) > 1500*time.Millisecond {
			tb.Fatalf("after %v still not: %s", time.Since(start), what)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(start)
}

// run runs a Server and returns what ends it; ended gets what Run returns.
func run(s *Server, ended chan<- error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() { ended <- s.Run(ctx) }()
	return cancel
}

// routed parses a request.
func routed(tb testing.TB, uri string) *route.Request {
	tb.Helper()
	q := new(route.Request)
	path, query := splitURI([]byte(uri))
	if c := route.Parse(path, query, q); c != route.CodeOK {
		tb.Fatalf("route.Parse(%s) = %d, want 0", uri, c)
	}
	return q
}

// cut returns what stands between two marks.
func cut(s, before, after string) string {
	_, s, _ = strings.Cut(s, before)
	s, _, _ = strings.Cut(s, after)
	return s
}

func writeFile(tb testing.TB, path, content string) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func readFile(tb testing.TB, path string) string {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}
