package crawl

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/serve"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestMain also turns the test binary into a crawling process, which a test kills.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"crawls": func() {
		cfg := testConfig(os.Getenv("CRAWL_FROM"), os.Getenv("CRAWL_KEY"), os.Getenv("CRAWL_OUT"))
		cfg.IDs = []string{os.Getenv("CRAWL_IDS")}
		if _, err := Run(context.Background(), cfg); err != nil {
			panic(err) // the test sees the exit code and stderr
		}
	}})
}

// testConfig fetches everything, on one day, without waiting. Slow requests do not fail.
func testConfig(from, key, out string) Config {
	cfg := DefaultConfig()
	cfg.From, cfg.Key, cfg.Out = from, Key{key}, out
	cfg.People, cfg.Companies = true, true
	cfg.Rate, cfg.wait, cfg.Timeout, cfg.Grace = maxRate, time.Millisecond, time.Hour, time.Hour
	cfg.Now = func() time.Time { return time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC) }
	return cfg
}

// sampleTitles are the sample's movies and series on the test edge. Of other kinds it has the first rows.
var sampleTitles = map[string][]int64{"movies": {550, 11, 120}, "tv": {194764, 1396}}

// sampleRows returns rows of a file of the sample.
func sampleRows(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := fs.ReadFile(sample.FS(), name+".ndjson")
	if err != nil {
		tb.Fatal(err)
	}
	var out []byte
	for i, row := range bytes.SplitAfter(data, []byte("\n")) {
		v, _ := decoded(row) // the last line is empty
		if ids := sampleTitles[name]; ids == nil && i < 40 || slices.ContainsFunc(numbers(v, "id"), func(id int64) bool { return slices.Contains(ids, id) }) {
			out = append(out, row...)
		}
	}
	return out
}

// An edgeUp is an edge with a part of the sample.
type edgeUp struct{ url, token string }

// newEdge starts an edge for the duration of the test.
func newEdge(tb testing.TB) edgeUp {
	tb.Helper()
	dir := tb.TempDir()
	in := ingest.Config{Catalog: filepath.Join(dir, "catalog"), Layout: "auto", Memory: ingest.DefaultMemory}
	for _, name := range []string{"movies", "tv", "people", "collections", "companies", "networks", "seasons", "episodes"} {
		path := filepath.Join(dir, name+".ndjson")
		if err := os.WriteFile(path, sampleRows(tb, name), 0o600); err != nil {
			tb.Fatal(err)
		}
		in.Sources = append(in.Sources, path)
	}
	if _, err := ingest.Run(tb.Context(), in); err != nil {
		tb.Fatal(err)
	}
	b := build.DefaultConfig()
	b.Catalog, b.Releases, b.Level = in.Catalog, filepath.Join(dir, "releases"), 1
	r, err := build.Run(tb.Context(), b)
	if err != nil {
		tb.Fatal(err)
	}
	servetest.Publish(tb, b.Releases, r.Release)
	cfg := serve.DefaultConfig()
	cfg.Releases, cfg.Tokens, cfg.Addr = b.Releases, filepath.Join(dir, "tokens"), "127.0.0.1:0"
	cfg.ReadTimeout, cfg.WriteTimeout, cfg.IdleTimeout = 0, 0, 0 // for a slow machine
	e := edgeUp{token: servetest.Issue(tb, cfg.Tokens, "crawl", time.Time{})}
	s, err := serve.Listen(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	tb.Cleanup(func() {
		cancel()
		<-ended
	})
	e.url = s.URL()
	return e
}

// idsFile writes a file of IDs: the edge's movies and series, and further lines.
func idsFile(tb testing.TB, more ...string) string {
	tb.Helper()
	var lines []string
	for name, ids := range sampleTitles {
		for _, id := range ids {
			lines = append(lines, fmt.Sprintf("%s %d", strings.TrimSuffix(name, "s"), id))
		}
	}
	slices.Sort(lines)
	path := filepath.Join(tb.TempDir(), "ids")
	if err := os.WriteFile(path, []byte(strings.Join(append(lines, more...), "\n")+"\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// A proxy between a crawl and its server counts good responses by target, and spoils others.
type proxy struct {
	*httptest.Server
	to string

	mu   sync.Mutex
	asks map[string]int // by target
	good map[string]int // complete responses
	all  int
	// before is called before each response, with the request count.
	before func(all int)

	// spoil may write another response and return true. ask counts from 1.
	spoil func(w http.ResponseWriter, target string, ask int, body []byte) bool
}

func newProxy(tb testing.TB, to string) *proxy {
	tb.Helper()
	p := &proxy{to: to, asks: map[string]int{}, good: map[string]int{}}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	tb.Cleanup(p.Close)
	return p
}

func (p *proxy) serve(w http.ResponseWriter, r *http.Request) {
	target := r.URL.RequestURI()
	rq, err := http.NewRequestWithContext(r.Context(), http.MethodGet, p.to+target, http.NoBody)
	if err != nil {
		panic(err) // a target that a client sent
	}
	rq.Header.Set("Authorization", r.Header.Get("Authorization"))
	rs, err := http.DefaultClient.Do(rq)
	if err != nil {
		return // the client went away
	}
	defer rs.Body.Close()
	body, err := io.ReadAll(rs.Body)
	if err != nil {
		return
	}
	p.mu.Lock()
	p.asks[target]++
	p.all++
	ask, all, before := p.asks[target], p.all, p.before
	p.mu.Unlock()
	if before != nil {
		before(all)
	}
	if p.spoil != nil && p.spoil(w, target, ask, body) {
		return
	}
	p.mu.Lock()
	p.good[target]++
	p.mu.Unlock()
	w.WriteHeader(rs.StatusCode)
	_, _ = w.Write(body)
}

// twice returns targets with several good responses, except the probe.
func (p *proxy) twice() (out []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for target, n := range p.good {
		if n > 1 && target != "/3"+probePath {
			out = append(out, target)
		}
	}
	return out
}

// dump returns the sorted rows of each file.
func dump(tb testing.TB, dir string) map[string][]string {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.ndjson"))
	if err != nil {
		tb.Fatal(err)
	}
	out := map[string][]string{}
	for _, path := range paths {
		text := servetest.ReadFile(tb, path)
		if text != "" && !strings.HasSuffix(text, "\n") {
			tb.Errorf("%s does not end with a whole row", path)
		}
		rows := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		slices.Sort(rows)
		out[filepath.Base(path)] = rows
	}
	return out
}
