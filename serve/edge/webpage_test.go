package edge

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/serve/releases"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestWebpage: documents need neither token nor release.
func TestWebpage(t *testing.T) {
	w := bareWorld(t, nil)
	w.openTokens(t)
	var err error
	if w.releases, err = releases.New(releases.Config{Store: store.Folder{Dir: w.dir}, Later: true, Log: w.opts.Log}); err != nil {
		t.Fatal(err)
	}
	w.edge = newEdge(t, w)
	ask := func(method, uri string) reply {
		rq := w.request(uri)
		rq.Method, rq.Authorization = []byte(method), nil
		return w.do(t, rq)
	}
	first := ask("GET", "/")
	if first.Status != 200 || !first.Gzip || first.Type != "text/html; charset=utf-8" || first.Cache != "no-cache" || !strings.HasPrefix(first.plain, "<!doctype html>") {
		t.Fatalf("GET / = %d, gzip %v, type %q, Cache-Control %q, %.80q", first.Status, first.Gzip, first.Type, first.Cache, first.plain)
	}
	if !strings.Contains(first.Policy, "default-src 'none'; script-src 'self'") || !strings.Contains(first.Policy, " https://image.tmdb.org;") {
		t.Errorf("policy = %q, want scripts of its own and images of image.tmdb.org", first.Policy)
	}
	rq := w.request("/")
	rq.IfNoneMatch, rq.Gzip = first.ETag, false
	if a := w.do(t, rq); a.Status != 304 || a.plain != "" || string(a.ETag) != string(first.ETag) {
		t.Errorf("GET / with its tag = %d %q", a.Status, a.plain)
	}
	rq.IfNoneMatch = nil
	if a := w.do(t, rq); a.Status != 200 || a.Gzip || a.plain != first.plain {
		t.Errorf("GET / without gzip = %d, gzip %v, other body %v", a.Status, a.Gzip, a.plain != first.plain)
	}
	if a := ask("GET", "/favicon.ico"); a.Status != 200 || a.Type != "image/x-icon" {
		t.Errorf("GET /favicon.ico = %d, type %q", a.Status, a.Type)
	}
	if a := ask("HEAD", "/"); a.Status != 200 || a.Len() != first.Len() {
		t.Errorf("HEAD / = %d, %d bytes, want 200 and %d", a.Status, a.Len(), first.Len())
	}
	for _, c := range []struct {
		method, uri string
		status      int
		body, allow string
	}{
		{"GET", "/page/nothing", 404, servetest.Body404, ""},
		{"GET", "/page/reference", 404, servetest.Body404, ""}, // a view of the page
		{"GET", "/page/index.html", 404, servetest.Body404, ""},
		{"GET", "/page/../page/index.html", 404, servetest.Body404, ""},
		{"POST", "/page/nothing", 404, servetest.Body404, ""},
		{"POST", "/", 405, servetest.Body405, allMethods},
		{"OPTIONS", "/", 204, "", allMethods},
		{"GET", "/page", 401, servetest.Body401, ""},
		{"GET", "/3/movie/550", 401, servetest.Body401, ""},
	} {
		if a := ask(c.method, c.uri); a.Status != c.status || a.plain != c.body || a.Allow != c.allow {
			t.Errorf("%s %s = %d %s, Allow %q, want %d %s, %q", c.method, c.uri, a.Status, a.plain, a.Allow, c.status, c.body, c.allow)
		}
	}

	w.opts.Page = false
	w.edge = newEdge(t, w)
	if a := ask("GET", "/openapi.json"); a.Status != 200 || a.Type != "application/json; charset=utf-8" || a.Policy != "" || !strings.Contains(a.plain, `"/3/movie/{movie_id}"`) {
		t.Errorf("GET /openapi.json without the page = %d, type %q, policy %q, %.80q", a.Status, a.Type, a.Policy, a.plain)
	}
	for _, uri := range []string{"/", "/page/index.html", "/page/explain?path=/3/movie/550"} {
		if a := ask("GET", uri); a.Status != 401 || a.Policy != "" {
			t.Errorf("GET %s without the page = %d, policy %q, want 401 and none", uri, a.Status, a.Policy)
		}
	}
}

func TestReleaseSummary(t *testing.T) {
	w := sampleWorld(t, nil)
	a := w.get(t, "/page/release")
	var s struct {
		Release   string         `json:"release"`
		Resources map[string]int `json:"resources"`
	}
	if err := json.Unmarshal([]byte(a.plain), &s); err != nil || a.Status != 200 || a.Cache != privateStore || s.Release != w.releases.ID() || s.Resources["movie"] == 0 {
		t.Errorf("GET /page/release = %d, Cache-Control %q, %+v, %v", a.Status, a.Cache, s, err)
	}
	rq := w.request("/page/release")
	rq.Authorization = nil
	if a := w.do(t, rq); a.Status != 401 || a.plain != servetest.Body401 {
		t.Errorf("without a token: %d %s", a.Status, a.plain)
	}
	w.releases.Close()
	if a := w.get(t, "/page/release"); a.Status != 503 {
		t.Errorf("without a release: %d %s", a.Status, a.plain)
	}
}
