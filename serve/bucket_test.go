package serve

import (
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
