package edge

import (
	"bytes"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/query"
	"github.com/reelsplice/reelsplice/serve/releases"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// A world is an Edge with all that it needs.
type world struct {
	opts     Options
	dir      string // folder of releases
	edge     *Edge
	tokens   *auth.Live
	file     string // token file
	releases *releases.Releases
	token    string // one that is good
}

// bareWorld returns what an Edge needs but for releases. change may alter its Options.
func bareWorld(tb testing.TB, change func(*Options)) *world {
	tb.Helper()
	w := &world{opts: DefaultOptions(), dir: tb.TempDir(), file: filepath.Join(tb.TempDir(), "tokens")}
	if change != nil {
		change(&w.opts)
	}
	w.token = servetest.Issue(tb, w.file, "test", time.Time{})
	return w
}

// open makes the Edge over what lies in the folders.
func (w *world) open(tb testing.TB) {
	tb.Helper()
	w.openTokens(tb)
	var err error
	w.releases, err = releases.New(releases.Config{Store: store.Folder{Dir: w.dir}, Results: query.DefaultCacheBytes, Log: w.opts.Log})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(w.releases.Close)
	w.edge = newEdge(tb, w)
}

func newEdge(tb servetest.Tester, w *world) *Edge {
	tb.Helper()
	signer, err := auth.NewSigner([]byte("0123456789abcdef"))
	if err != nil {
		tb.Fatalf("NewSigner: %v", err)
	}
	e, err := New(w.opts, w.tokens.Get, signer, w.releases)
	if err != nil {
		tb.Fatalf("New: %v", err)
	}
	return e
}

func (w *world) openTokens(tb testing.TB) {
	tb.Helper()
	var err error
	if w.tokens, err = auth.OpenLive(w.file, w.opts.Log); err != nil {
		tb.Fatal(err)
	}
}

// newWorld returns an Edge over rows, none without rows. change may alter its Options.
func newWorld(tb testing.TB, change func(*Options), rows ...string) *world {
	tb.Helper()
	w := bareWorld(tb, change)
	if len(rows) == 0 {
		w.openTokens(tb)
		return w
	}
	servetest.Build(tb, w.dir, 6, rows...)
	w.open(tb)
	return w
}

var buildSample sync.Once

// sampleWorld returns an Edge over the sample, of which there is one release that tests share:
// they must not write below its dir.
func sampleWorld(tb testing.TB, change func(*Options)) *world {
	tb.Helper()
	w := bareWorld(tb, change)
	w.dir = filepath.Join(sharedDir, "sample")
	buildSample.Do(func() { servetest.BuildSample(tb, w.dir) })
	w.open(tb)
	return w
}

// writtenWorld returns an Edge over resources.
func writtenWorld(tb testing.TB, change func(*Options), resources ...servetest.Resource) *world {
	tb.Helper()
	w := bareWorld(tb, change)
	servetest.Write(tb, w.dir, resources...)
	w.open(tb)
	return w
}

// verify checks the current release of w.
func (w *world) verify(tb servetest.Tester) {
	tb.Helper()
	problems, err := check.Verify(tb.Context(), store.Folder{Dir: w.dir}.Path(w.releases.ID()), check.Options{}, nil)
	if err != nil || len(problems) != 0 {
		tb.Fatalf("Verify = %v, %v, want no problem", problems, err)
	}
}

// request returns an authenticated GET of a URI.
func (w *world) request(uri string) *Request {
	path, query := SplitTarget([]byte(uri))
	return &Request{
		Method: []byte("GET"), Path: path, Query: query,
		Authorization: []byte("Bearer " + w.token),
		Gzip:          true,
	}
}

// A reply is a copy of a Response, with its body as it goes out and inflated.
type reply struct {
	Response
	sent  []byte
	plain string
}

// do asks and copies the response. A gzip body is checked to be one whole member.
func (w *world) do(tb servetest.Tester, rq *Request) reply {
	tb.Helper()
	rs := w.edge.Begin(rq)
	defer rs.End()
	a := reply{Response: *rs}
	var body bytes.Buffer
	if err := rs.WriteBody(&body); err != nil {
		tb.Fatalf("write body: %v", err)
	}
	if n := rs.Len(); n != body.Len() {
		tb.Fatalf("Len = %d, want %d", n, body.Len())
	}
	a.ETag, a.Keys = bytes.Clone(rs.ETag), bytes.Clone(rs.Keys)
	a.sent, a.plain = body.Bytes(), body.String()
	if a.Gzip && a.Status == 200 {
		a.plain = servetest.OneMember(tb, a.sent)
	}
	return a
}

// get asks for a URI as most clients do.
func (w *world) get(tb servetest.Tester, uri string) reply {
	tb.Helper()
	return w.do(tb, w.request(uri))
}

// checkEncodings compares identity, HEAD and 304 with a gzip response.
func checkEncodings(t servetest.Tester, w *world, uri string, a *reply) {
	t.Helper()
	rq := w.request(uri)
	rq.Gzip = false
	if b := w.do(t, rq); b.plain != a.plain || string(b.ETag) != string(a.ETag) || b.Gzip {
		t.Fatalf("%s: identity = %s %s, want %s %s", uri, b.ETag, b.plain, a.ETag, a.plain)
	}
	rq.IfNoneMatch = a.ETag
	if b := w.do(t, rq); b.Status != 304 || len(b.sent) != 0 || string(b.ETag) != string(a.ETag) {
		t.Fatalf("%s: with the tag: %d, %s, %d bytes, want 304, %s and none", uri, b.Status, b.ETag, len(b.sent), a.ETag)
	}
	rq.IfNoneMatch, rq.Method = nil, []byte("HEAD")
	if b := w.do(t, rq); b.Status != a.Status || string(b.ETag) != string(a.ETag) || len(b.sent) != len(a.plain) {
		t.Fatalf("%s: HEAD = %d %s for %d bytes, want %d %s for %d", uri, b.Status, b.ETag, len(b.sent), a.Status, a.ETag, len(a.plain))
	}
}
