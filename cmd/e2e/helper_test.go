// Package e2e holds the tests that cross all stages: they ingest, build and serve a dump, and compare the response
// with the dump.
package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/query"
	"github.com/reelsplice/reelsplice/serve/releases"
)

// buildCatalog builds the catalogue below dir and opens the release.
func buildCatalog(tb testing.TB, dir string) *release.Reader {
	tb.Helper()
	rel, err := buildRelease(tb, dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = rel.Close() })
	return rel
}

// buildRelease builds the catalogue below dir into the releases below dir.
func buildRelease(tb testing.TB, dir string) (*release.Reader, error) {
	tb.Helper()
	c := build.DefaultConfig()
	c.Catalog, c.Releases = filepath.Join(dir, "catalog"), filepath.Join(dir, "releases")
	b, err := build.Run(tb.Context(), c)
	if err != nil {
		return nil, err
	}
	return release.Open(filepath.Join(c.Releases, b.Release))
}

// skipLarge skips tests with many records or requests if they would take minutes. Beside that code are smaller tests
// of the same.
func skipLarge(t *testing.T) {
	t.Helper()
	if testing.Short() || raceDetector {
		t.Skip("too many records: run without -short and the race detector")
	}
}

// writeFiles writes files, by their names below dir.
func writeFiles(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, b := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// ingestFile ingests one file, made of rows, into the catalogue below dir.
func ingestFile(t *testing.T, dir, name, language string, rows ...string) ingest.Report {
	t.Helper()
	src := t.TempDir()
	writeFiles(t, src, map[string][]byte{name: []byte(strings.Join(rows, "\n"))})
	r, err := ingest.Run(t.Context(), ingest.Config{
		Catalog: filepath.Join(dir, "catalog"), Sources: []string{filepath.Join(src, name)}, Language: language,
	})
	if err != nil {
		t.Fatalf("ingest %s: %v", name, err)
	}
	if r.Quarantined > 0 {
		t.Fatalf("ingest %s: in quarantine: %q", name, r.Bad)
	}
	return r
}

// get returns the response to a GET of target.
func get(t *testing.T, rel *release.Reader, target string) *value {
	t.Helper()
	a, err := edge.Inspect(rel, target)
	if err != nil || a.Status != 200 {
		t.Fatalf("GET %s: status %d, %v: %s", target, a.Status, err, a.Body)
	}
	v, err := parseJSON(a.Body)
	if err != nil {
		t.Fatalf("GET %s: %v", target, err)
	}
	return v
}

// at returns the member of v at a path of names, or nil.
func (v *value) at(path ...string) *value {
	for _, name := range path {
		if v == nil {
			return nil
		}
		v = v.members[name]
	}
	return v
}

// list returns the items of the array at a path of names.
func (v *value) list(path ...string) []*value {
	if v = v.at(path...); v == nil {
		return nil
	}
	return v.items
}

// text returns the string at a path of names; "" for anything else.
func (v *value) text(path ...string) string {
	if v = v.at(path...); v == nil {
		return ""
	}
	s, _ := v.scalar.(string)
	return s
}

// int returns the integer at a path of names; 0 for anything else.
func (v *value) int(path ...string) int64 {
	if v = v.at(path...); v == nil {
		return 0
	}
	n, ok := v.scalar.(json.Number)
	if !ok {
		return 0
	}
	i, _ := n.Int64()
	return i
}

// A testEdge is an edge over the current release of a folder, and a token for it.
type testEdge struct {
	*edge.Edge
	token string
	live  *auth.Live
	path  string // token file
}

// newEdge returns an edge over dir, a folder of releases; rel becomes the current one.
func newEdge(t *testing.T, dir, rel string) *testEdge {
	t.Helper()
	return newEdgeOn(t, dir, rel, "")
}

// newEdgeOn returns an edge whose lists count from a day; "" is today.
func newEdgeOn(t *testing.T, dir, rel, day string) *testEdge {
	t.Helper()
	folder := store.Folder{Dir: dir}
	if _, err := store.Publish(t.Context(), folder, rel); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	cfg := edge.DefaultOptions()
	tokens := filepath.Join(t.TempDir(), "tokens")
	cfg.Date, cfg.Log = day, log
	token, err := auth.Issue(tokens, auth.Record{Name: "test", Created: time.Now(), Scopes: auth.AllScopes})
	if err != nil {
		t.Fatal(err)
	}
	live, err := auth.OpenLive(tokens, log)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := auth.NewSigner([]byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	open, err := releases.New(releases.Config{Store: folder, Results: query.DefaultCacheBytes, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(open.Close)
	served, err := edge.New(cfg, live.Get, signer, open)
	if err != nil {
		t.Fatal(err)
	}
	return &testEdge{served, token, live, tokens}
}

// issue makes a credential of an account.
func (e *testEdge) issue(t *testing.T, kind auth.Kind, account string) string {
	t.Helper()
	r := auth.Record{Name: kind.String() + " " + account, Kind: kind, Account: account}
	if kind == auth.KindToken {
		r.Scopes = auth.AllScopes
	}
	return e.issueRecord(t, r)
}

func (e *testEdge) issueRecord(t *testing.T, r auth.Record) string {
	t.Helper()
	r.Created = time.Now()
	id, err := auth.Issue(e.path, r)
	if err == nil {
		e.live.Poll()
		err = e.live.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// as requests target with another token.
func (e *testEdge) as(token, target string) reply {
	return e.do(target, func(rq *edge.Request) { rq.Authorization = []byte("Bearer " + token) })
}

// A reply is a copy of a response, with its body inflated.
type reply struct {
	status                  int
	body, etag, cache, keys string
}

// get requests target, a path with its query, without compression.
func (e *testEdge) get(target string) reply { return e.do(target, nil) }

// getGzip requests target with gzip, and checks that the body is one member.
func (e *testEdge) getGzip(t *testing.T, target string) reply {
	t.Helper()
	return e.getGzipAs(t, target, func(rq *edge.Request) { rq.Gzip = true })
}

// getGzipAs is getGzip of a request that change makes accept gzip.
func (e *testEdge) getGzipAs(t *testing.T, target string, change func(*edge.Request)) reply {
	t.Helper()
	r := e.do(target, change)
	r.body = inflated(t, target, r.body)
	return r
}

// inflated returns the content of a body, which must be one member of gzip.
func inflated(t *testing.T, target, body string) string {
	t.Helper()
	from := bytes.NewReader([]byte(body))
	z, err := gzip.NewReader(from)
	if err != nil {
		t.Fatalf("GET %s with gzip: %v", target, err)
	}
	z.Multistream(false)
	plain, err := io.ReadAll(z)
	if err != nil || from.Len() > 0 {
		t.Fatalf("GET %s with gzip: %v, %d bytes behind the first member", target, err, from.Len())
	}
	return string(plain)
}

func (e *testEdge) do(target string, change func(*edge.Request)) reply {
	path, query, _ := strings.Cut(target, "?")
	rq := &edge.Request{
		Method: []byte("GET"), Path: []byte(path), Query: []byte(query),
		Authorization: []byte("Bearer " + e.token),
	}
	if change != nil {
		change(rq)
	}
	rs := e.Begin(rq)
	defer rs.End()
	var body strings.Builder
	if err := rs.WriteBody(&body); err != nil {
		panic(err)
	}
	return reply{rs.Status, body.String(), string(rs.ETag), rs.Cache, string(rs.Keys)}
}

// golden sends the requests of a file of testdata with their credentials, and compares statuses and bodies. A response
// with gzip has the same body, and a client that has a response with a tag gets 304.
func (e *testEdge) golden(t *testing.T, name string, credentials map[string]string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(want)) {
		if cells := strings.Split(strings.TrimSpace(line), "\t"); !strings.HasPrefix(line, "#") {
			target := os.Expand(cells[1], func(name string) string { return credentials[name] })
			ask := func(gzip bool, etag string) reply {
				return e.do(target, func(rq *edge.Request) {
					rq.Authorization, rq.Gzip, rq.IfNoneMatch = []byte("Bearer "+credentials[cells[0]]), gzip, []byte(etag)
				})
			}
			r := ask(false, "")
			line = fmt.Sprintf("%s\t%s\t%d\t%s\n", cells[0], cells[1], r.status, r.body)
			if z := ask(true, ""); z.body != r.body && inflated(t, target, z.body) != r.body {
				t.Errorf("GET %s with gzip differs from %s", target, r.body)
			}
			if r.etag != "" && ask(true, r.etag).status != 304 {
				t.Errorf("GET %s with its tag: no 304", target)
			}
		}
		got.WriteString(line)
	}
	sharedtest.Golden(t, path, got.String())
}
