package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/observe"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestTrouble: damage of the served release, data that is too old, and a store whose current release cannot be used are
// told on the admin listener, and the server stays ready.
func TestTrouble(t *testing.T) {
	dated := func(n int, day string) string {
		return strings.TrimSuffix(servetest.Version(n), "}") + `,"_fetched":"` + day + `"}`
	}
	w := newWorld(t, func(c *Config) {
		c.AdminAddr, c.Poll, c.MaxDataAge, c.ScrubRate, c.scrubWait = "127.0.0.1:0", 20*time.Millisecond, 180*oneDay, 1<<40, 0
	}, dated(1, "2020-05-01"))
	folder := store.Folder{Dir: w.cfg.Releases}
	id, err := store.Current(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	packs, err := filepath.Glob(folder.Path(id) + "/pack-*")
	if err != nil || len(packs) == 0 {
		t.Fatalf("packs = %v, %v", packs, err)
	}
	releasetest.Flip(t, packs[0], 70, 0)
	s := running(t, w.cfg)
	ready := func(what, text string) {
		t.Helper()
		sharedtest.Eventually(t, what+" is told", func() bool {
			code, body := statusOf(s.AdminURL()+"/readyz", "")
			return code == 200 && strings.HasPrefix(body, "ok "+id) && strings.Contains(body, text)
		})
	}
	ready("the damage", ", but: damaged blocks: 1")
	ready("the age", ", but: data of 2020-05-01 is older than 180 days")
	families := scrape(t, s)
	if n, oldest := value(families, observe.ReleaseDamagedBlocks), value(families, observe.DataOldest); n != 1 || oldest != float64(time.Date(2020, 5, 1, 0, 0, 0, 0, time.UTC).Unix()) {
		t.Errorf("%v damaged blocks and records since %v in the metrics, want 1 and 2020-05-01", n, oldest)
	}
	if err := os.Remove(w.cfg.Releases + "/current"); err != nil {
		t.Fatal(err)
	}
	ready("the fault of the store", "current")
	id = servetest.Build(t, w.cfg.Releases, 6, dated(2, time.Now().UTC().Format(time.DateOnly)))
	sharedtest.Eventually(t, "another release has no trouble", func() bool {
		_, body := statusOf(s.AdminURL()+"/readyz", "")
		return body == "ok "+id+"\n"
	})
}

// TestServer runs a whole Server: it answers, follows releases and tokens, reports
// itself, and ends when its context does.
func TestServer(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.AdminAddr, c.Poll = "127.0.0.1:0", 50*time.Millisecond }, servetest.Version(1))
	s, err := Listen(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(addr(w.cfg, strings.TrimPrefix(s.URL(), "http://"))); err == nil || !strings.Contains(err.Error(), "listen") {
		t.Errorf("Listen on a port in use = %v, want an error", err)
	}
	ended := make(chan error, 1)
	stop := run(s, ended)
	get := func(url string) (int, string) { return statusOf(url, w.token) }
	movie := func() string { _, body := get(s.URL() + "/3/movie/1"); return servetest.Cut(body, `"title":"`, `"`) }
	if got := movie(); got != "v1" {
		t.Errorf("title = %s, want v1", got)
	}
	id := servetest.Build(t, w.cfg.Releases, 6, servetest.Version(2))
	sharedtest.Eventually(t, "the new release is served", func() bool { return movie() == "v2" })
	for path, want := range map[string]string{"/livez": "ok", "/readyz": "ok " + id + "\n", "/metrics": `reelsplice_requests_total{class="detail",status="200"}`, "/debug/pprof/": "goroutine"} {
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
	tokens, err := os.ReadFile(w.cfg.Tokens)
	if err != nil {
		t.Fatal(err)
	}
	servetest.WriteFile(t, w.cfg.Tokens, string(tokens)+strings.Repeat("0", 64)+"\tname=later\tquota=5\n")
	sharedtest.Eventually(t, "a void token is named", func() bool {
		code, body := get(s.AdminURL() + "/readyz")
		return code == 200 && strings.HasPrefix(body, "ok "+id+`, but: token "later" is void: field "quota": unknown`)
	})
	active(1)
	if _, err := auth.Revoke(w.cfg.Tokens, "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	sharedtest.Eventually(t, "the token is revoked", func() bool { code, _ := get(s.URL() + "/3/movie/1"); return code == 401 })
	active(0)
	stop()
	wantEnd(t, ended)
}

// TestServerEndsAtOnce starts a Server whose context is over already.
func TestServerEndsAtOnce(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.AdminAddr = "127.0.0.1:0" }, servetest.Version(1))
	for range 20 {
		s, err := Listen(w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		run(s, ended)()
		wantEnd(t, ended)
	}
}

func addr(c Config, a string) Config {
	c.Addr = a
	return c
}

func TestListenErrors(t *testing.T) {
	w := newWorld(t, nil, servetest.Version(1))
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
}

func TestConfigValidate(t *testing.T) {
	f := func(want string, change func(c *Config)) {
		t.Helper()
		c := DefaultConfig()
		c.Releases, c.Tokens, c.Addr = "r", "t", "a:1"
		if err := c.Validate(); err != nil || c.scrubWait <= 0 {
			t.Fatalf("Validate of the defaults = %v, want none, and a wait before a release is checked", err)
		}
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate = %v, want an error with %q", err, want)
		}
		if _, err := Listen(c); err == nil {
			t.Error("Listen accepts it, want an error")
		}
	}
	f("releases", func(c *Config) { c.Releases = "" })
	f("tokens", func(c *Config) { c.Tokens = "" })
	f("addr", func(c *Config) { c.Addr = "" })
	f("tls", func(c *Config) { c.TLSCert = "x" })
	f("callback-url", func(c *Config) { c.CallbackURL = "/relative" })
	f("max-age", func(c *Config) { c.MaxAge = -1 })
	f("cache", func(c *Config) { c.Cache = "none" })
	f("addr", func(c *Config) { c.Addr = "18480" })
	f("admin-addr", func(c *Config) { c.AdminAddr = "::1:80" })
	f("max-header", func(c *Config) { c.MaxHeader = 10 })
	f("max-conns", func(c *Config) { c.MaxConns = 0 })
	f("max-inflight-bytes", func(c *Config) { c.MaxInflight = 1<<20 - 1 })
	f("max-header", func(c *Config) { c.MaxHeader = 2 << 20 })
	f("max-age", func(c *Config) { c.MaxAge = 10 * 365 * 24 * time.Hour })
	f("read-timeout", func(c *Config) { c.ReadTimeout = -time.Second })
	f("write-timeout", func(c *Config) { c.WriteTimeout = 1000 * time.Hour })
	f("idle-timeout", func(c *Config) { c.IdleTimeout = -1 })
	f("drain-timeout", func(c *Config) { c.DrainTimeout = -1 })
	f("shutdown-delay", func(c *Config) { c.ShutdownDelay = -1 })
	f("read-timeout", func(c *Config) { c.ReadTimeout = 30 }) // nanoseconds: no request is ever read
	f("shutdown-delay", func(c *Config) { c.ShutdownDelay = time.Microsecond })
}
