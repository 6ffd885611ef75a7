package serve

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"reelsplice/schemas/release"
	"reelsplice/serve/auth"
)

// version is a movie all of whose parts say n.
func version(n int) string {
	return fmt.Sprintf(`{"adult":false,"genres":[],"id":1,"production_countries":[],"spoken_languages":[],"status":"","tagline":"","title":"v%d","keywords":{"keywords":[{"id":1,"name":"v%d"}]},"credits":{"cast":[{"name":"v%d","credit_id":"c"}],"crew":[]},"_details":true}`, n, n, n)
}

// TestSwitchUnderLoad publishes releases while requests run: each answer is whole and
// from one release, and replaced releases are closed.
func TestSwitchUnderLoad(t *testing.T) {
	w := newWorld(t, nil, version(0))
	const versions = 5
	ids := []string{w.releases.ID()}
	for n := 1; n < versions; n++ {
		ids = append(ids, buildRelease(t, w.cfg.Releases, 6, version(n)))
	}
	var held []*Held // every release that was served
	stop := make(chan struct{})
	var running sync.WaitGroup
	var served atomic.Int64
	for i := range 4 {
		running.Go(func() {
			rq := w.request("/3/movie/1?append_to_response=keywords,credits")
			if i%2 == 0 {
				rq.AcceptEncoding = nil
			}
			for {
				select {
				case <-stop:
					return
				default:
				}
				a := w.do(t, rq)
				v := cut(a.plain, `"title":"`, `"`)
				want := fmt.Sprintf(`{"adult":false,"genres":[],"id":1,"production_countries":[],"spoken_languages":[],"status":"","tagline":"","title":"%s","keywords":{"keywords":[{"id":1,"name":"%s"}]},"credits":{"cast":[{"name":"%s","credit_id":"c"}],"crew":[]}}`, v, v, v)
				if a.Status != 200 || a.plain != want || v != "v"+fmt.Sprint(indexOf(ids, a.Release)) {
					t.Errorf("answer of release %s = %d %s, want all of one release", a.Release, a.Status, a.plain)
					return
				}
				served.Add(1)
			}
		})
	}
	for n := range 200 {
		publish(t, w.cfg.Releases, ids[n%versions])
		w.releases.follow()
		if got := w.releases.ID(); got != ids[n%versions] {
			t.Fatalf("release served = %s, want %s: %v", got, ids[n%versions], w.releases.Err())
		}
		held = append(held, w.releases.current.Load())
		time.Sleep(time.Millisecond)
	}
	close(stop)
	running.Wait()
	if served.Load() < 100 {
		t.Errorf("%d answers while releases were switched, want more", served.Load())
	}
	last := w.releases.current.Load()
	for i, h := range held {
		if n := h.users.Load(); (h == last) != (n == 1) || h != last && n != 0 {
			t.Errorf("release %d has %d users left, want 0, or 1 for the current one", i, n)
		}
		if _, ok := h.reader.Lookup([]byte("x")); ok {
			t.Errorf("release %d holds a key that nobody wrote", i)
		}
	}
}

func indexOf(list []string, s string) int {
	for i := range list {
		if list[i] == s {
			return i
		}
	}
	return -1
}

// TestOldReleaseOutlivesItsUsers holds a release while another one takes over.
func TestOldReleaseOutlivesItsUsers(t *testing.T) {
	w := newWorld(t, nil, version(1))
	held := w.releases.Acquire()
	buildRelease(t, w.cfg.Releases, 6, version(2))
	w.releases.follow()
	if held.Reader() == w.releases.current.Load().Reader() {
		t.Fatal("the release was not switched")
	}
	var c composer
	q := routed(t, "/3/movie/1?append_to_response=keywords")
	if err := c.compose(held.Reader(), q); err != nil {
		t.Fatal(err)
	}
	if got := oneMember(t, c.answer.AppendGzip(nil)); !strings.Contains(got, `"title":"v1"`) || !strings.Contains(got, `"name":"v1"`) {
		t.Errorf("held release answers %s, want v1", got)
	}
	c.reset()
	held.Release()
	if n := held.users.Load(); n != 0 {
		t.Errorf("users of the old release = %d, want 0", n)
	}
}

func TestBrokenReleaseIsNotServed(t *testing.T) {
	w := newWorld(t, nil, version(1))
	good := w.releases.ID()
	bad := buildRelease(t, w.cfg.Releases, 6, version(2))
	store := release.Store{Dir: w.cfg.Releases}
	index := store.Path(bad) + "/index"
	whole, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, index, string(whole[:len(whole)/2]))
	server := &Server{releases: w.releases, tokens: w.tokens, metrics: newMeters()}
	ready := func(code int, text string) {
		t.Helper()
		rec := &recorder{header: http.Header{}}
		server.ready(rec, nil)
		if rec.code != code || !strings.Contains(rec.body.String(), text) {
			t.Errorf("readyz = %d %s, want %d with %q", rec.code, rec.body.String(), code, text)
		}
	}
	ready(200, good)
	w.releases.follow()
	if w.releases.ID() != good || w.releases.Err() == nil {
		t.Fatalf("release served = %s, %v, want %s and an error", w.releases.ID(), w.releases.Err(), good)
	}
	ready(200, "but: ")
	ready(200, "index")
	if a := w.get(t, "/3/movie/1"); !strings.Contains(a.plain, `"title":"v1"`) {
		t.Errorf("answer = %d %s, want v1", a.Status, a.plain)
	}
	// It is left alone for a while, and taken once it is whole.
	failure := w.releases.failed.Load()
	w.releases.follow()
	if w.releases.failed.Load() != failure {
		t.Error("the broken release is opened again at once")
	}
	writeFile(t, index, string(whole))
	failure.when = failure.when.Add(-2 * retryAfter)
	w.releases.follow()
	if w.releases.ID() != bad || w.releases.Err() != nil {
		t.Errorf("release served = %s, %v, want %s", w.releases.ID(), w.releases.Err(), bad)
	}
	ready(200, bad)

	// The folder of the served release is gone for a while.
	if err := os.Rename(store.Path(bad), store.Path(bad)+"-away"); err != nil {
		t.Fatal(err)
	}
	w.releases.follow()
	ready(200, "but: look at the folder of the served release")
	if err := os.Rename(store.Path(bad)+"-away", store.Path(bad)); err != nil {
		t.Fatal(err)
	}
	w.releases.follow()
	if w.releases.Err() != nil {
		t.Errorf("after the folder came back: %v, want no error", w.releases.Err())
	}

	// A folder under another release's name.
	third := buildRelease(t, w.cfg.Releases, 6, version(3))
	if err := os.RemoveAll(store.Path(third)); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(store.Path(third), os.DirFS(store.Path(good))); err != nil {
		t.Fatal(err)
	}
	w.releases.follow()
	if w.releases.ID() != bad {
		t.Errorf("release served = %s, want %s", w.releases.ID(), bad)
	}
	ready(200, good)
	// The file that names the current release is gone.
	if err := os.Remove(w.cfg.Releases + "/current"); err != nil {
		t.Fatal(err)
	}
	w.releases.follow()
	ready(200, "current")
	publish(t, w.cfg.Releases, bad)
	w.releases.follow()
	ready(200, bad)
}

// A recorder keeps an answer of the admin listener.
type recorder struct {
	header http.Header
	code   int
	body   strings.Builder
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(code int)        { r.code = code }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }

// TestServer runs a whole Server: it answers, follows releases and tokens, reports
// itself, and ends when its context does.
func TestServer(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.AdminAddr, c.Poll = "127.0.0.1:0", 50*time.Millisecond }, version(1))
	s, err := Listen(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(addr(w.cfg, strings.TrimPrefix(s.URL(), "http://"))); err == nil || !strings.Contains(err.Error(), "listen") {
		t.Errorf("Listen on a port in use = %v, want an error", err)
	}
	ended := make(chan error, 1)
	stop := run(s, ended)
	get := func(url string) (int, string) {
		t.Helper()
		rq, rs := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
		rq.SetRequestURI(url)
		rq.Header.Set("Authorization", "Bearer "+w.token)
		if err := fasthttp.DoTimeout(rq, rs, 2*time.Second); err != nil {
			t.Fatalf("%s: %v", url, err)
		}
		return rs.StatusCode(), string(rs.Body())
	}
	movie := func() string { _, body := get(s.URL() + "/3/movie/1"); return cut(body, `"title":"`, `"`) }
	if got := movie(); got != "v1" {
		t.Errorf("title = %s, want v1", got)
	}
	id := buildRelease(t, w.cfg.Releases, 6, version(2))
	eventually(t, "the new release is served", func() bool { return movie() == "v2" })
	for path, want := range map[string]string{"/livez": "ok", "/readyz": "ok " + id, "/metrics": `reelsplice_requests_total{status="200"}`, "/debug/pprof/": "goroutine"} {
		if code, body := get(s.AdminURL() + path); code != 200 || !strings.Contains(body, want) {
			t.Errorf("%s = %d %.200s, want %q", path, code, body, want)
		}
	}
	active := func(want int) {
		t.Helper()
		if _, body := get(s.AdminURL() + "/metrics"); !strings.Contains(body, fmt.Sprintf("\nreelsplice_tokens_active %d\n", want)) {
			t.Errorf("/metrics = %.500s, want %d active tokens", body, want)
		}
	}
	active(1)
	if _, err := auth.Revoke(w.cfg.Tokens, "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	took := eventually(t, "the token is revoked", func() bool { code, _ := get(s.URL() + "/3/movie/1"); return code == 401 })
	if took > time.Second {
		t.Errorf("the revocation took %v, want at most a second", took)
	}
	active(0)
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("Run = %v, want nil", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("Run does not end")
	}
}

// TestServerEndsAtOnce starts a Server whose context is over already.
func TestServerEndsAtOnce(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.AdminAddr = "127.0.0.1:0" }, version(1))
	for range 20 {
		s, err := Listen(w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		run(s, ended)()
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("Run = %v, want nil", err)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("Run does not end")
		}
	}
}

func addr(c Config, a string) Config {
	c.Addr = a
	return c
}

func TestListenErrors(t *testing.T) {
	w := newWorld(t, nil, version(1))
	f := func(want string, change func(c *Config)) {
		t.Helper()
		c := w.cfg
		change(&c)
		if _, err := Listen(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Listen = %v, want an error with %q", err, want)
		}
	}
	f("tokens", func(c *Config) { c.Tokens = t.TempDir() + "/tokens" })
	f("current", func(c *Config) { c.Releases = t.TempDir() })
	f("key", func(c *Config) { c.SigningKey = t.TempDir() + "/key" })
	f("certificate", func(c *Config) { c.TLSCert, c.TLSKey = "a.pem", "b.pem" })
	f("listen", func(c *Config) { c.AdminAddr = "999.0.0.1:0" })
	if n := w.releases.current.Load().users.Load(); n != 1 {
		t.Errorf("users of the release = %d, want 1", n)
	}
}
