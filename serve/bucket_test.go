package serve

import (
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/pull"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestWanted serves what a pin names, of a folder and of a bucket, whatever the pointers say, and the canary of a folder.
func TestWanted(t *testing.T) {
	local, bucket := store.Folder{Dir: t.TempDir()}, servetest.NewBucket(t)
	a := servetest.Build(t, local.Dir, 6, servetest.Version(1))
	b := servetest.Build(t, local.Dir, 6, servetest.Version(2))
	servetest.WriteFile(t, local.Dir+"/canary", a+"\n")
	bucket.Upload(t, local, a)
	bucket.Point(t, pull.Current, b)
	for name, change := range map[string]func(*Config){
		"pin of a folder":    func(c *Config) { c.Releases, c.Pull.Pin = local.Dir, a },
		"pin of a bucket":    func(c *Config) { c.Pull.Bucket, c.Pull.Dir, c.Pull.Pin = bucket.Folder, t.TempDir(), a },
		"canary of a folder": func(c *Config) { c.Releases, c.Pull.Follow = local.Dir, pull.Canary },
	} {
		cfg := configured(t)
		servetest.Issue(t, cfg.Tokens, "test", time.Time{})
		change(&cfg)
		s := running(t, cfg)
		sharedtest.Eventually(t, name+": the edge serves "+a, func() bool { return s.Release() == a })
		s.Reload()
		if got := s.Release(); got != a {
			t.Errorf("%s: the edge serves %s, want %s", name, got, a)
		}
	}
}

// TestNoLength: a bucket whose responses lack Content-Length does not end an edge, with a release and without one. The
// edge reports why it cannot follow the bucket, and follows it once the bucket gives sizes.
func TestNoLength(t *testing.T) {
	local, bucket := store.Folder{Dir: t.TempDir()}, servetest.NewBucket(t)
	a := servetest.Build(t, local.Dir, 6, servetest.Version(1))
	b := servetest.Build(t, local.Dir, 6, servetest.Version(2))
	bucket.Upload(t, local, a)
	bucket.Upload(t, local, b)
	bucket.Point(t, pull.Current, a)
	cfg := configured(t)
	token := servetest.Issue(t, cfg.Tokens, "test", time.Time{})
	cfg.AdminAddr = "127.0.0.1:0"
	cfg.Pull.Bucket, cfg.Pull.Dir, cfg.Pull.Interval = bucket.Folder, t.TempDir(), 100*time.Millisecond
	s := running(t, cfg)
	ready := func(code int, want string) {
		t.Helper()
		sharedtest.Eventually(t, "/readyz has "+want, func() bool {
			s.Reload() // the wait after failures may be long
			got, text := statusOf(s.AdminURL()+"/readyz", "")
			return got == code && strings.Contains(text, want)
		})
	}
	const problem = "read the pointer: s3://bucket/releases/current: the store gives no size of the object"
	bucket.SetFault(bucket.NoLength)
	ready(503, "no release: "+problem)
	bucket.SetFault(nil)
	ready(200, "ok "+a+"\n")
	bucket.SetFault(bucket.NoLength)
	bucket.Point(t, pull.Current, b)
	ready(200, "ok "+a+", but: "+problem)
	if code, body := statusOf(s.URL()+"/3/movie/1", token); code != 200 {
		t.Errorf("status = %d %s, want 200", code, body)
	}
	bucket.SetFault(nil)
	ready(200, "ok "+b+"\n")
}
