package serve

import (
	"fmt"
	nethttp "net/http"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/pull"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestBucket: an edge waits for the first release of a bucket, follows the canary and the current release under load
// without a failed request, and goes on without the bucket.
func TestBucket(t *testing.T) {
	local, bucket := store.Folder{Dir: t.TempDir()}, servetest.NewBucket(t)
	var ids []string
	for i := range 3 {
		ids = append(ids, servetest.Build(t, local.Dir, 6, servetest.Version(i)))
		bucket.Upload(t, local, ids[i], ids[:i]...)
	}
	cfg := configured(t)
	cfg.AdminAddr, cfg.Poll = "127.0.0.1:0", 10*time.Millisecond
	token := servetest.Issue(t, cfg.Tokens, "test", time.Time{})
	cfg.Pull.Bucket, cfg.Pull.Dir, cfg.Pull.Follow = bucket.Folder, t.TempDir(), pull.Canary
	cfg.Pull.Interval, cfg.Pull.Stall = 100*time.Millisecond, sharedtest.Patience
	s := running(t, cfg)
	ready := func(status int, text string) {
		t.Helper()
		sharedtest.Eventually(t, fmt.Sprintf("/readyz is %d with %q", status, text), func() bool {
			code, body := statusOf(s.AdminURL()+"/readyz", "")
			return code == status && strings.Contains(body, text)
		})
	}
	ready(nethttp.StatusServiceUnavailable, "no release: read the pointer")
	if code, body := statusOf(s.URL()+"/3/movie/1", token); code != nethttp.StatusServiceUnavailable {
		t.Errorf("without a release: %d %s, want 503", code, body)
	}
	bucket.Point(t, pull.Current, ids[0])
	s.Reload() // the wait has become longer with each look that found nothing
	ready(nethttp.StatusOK, "ok "+ids[0])

	stop, ended := make(chan struct{}), make(chan int)
	go func() {
		requests := 0
		for ; ; requests++ {
			select {
			case <-stop:
				ended <- requests
				return
			default:
			}
			if code, body := statusOf(s.URL()+"/3/movie/1", token); code != nethttp.StatusOK || !strings.Contains(body, `"title":"v`) {
				t.Errorf("under load: %d %s, want 200", code, body)
			}
		}
	}()
	bucket.Point(t, pull.Canary, ids[1])
	ready(nethttp.StatusOK, "ok "+ids[1])
	bucket.Point(t, pull.Current, ids[2], ids[0])
	bucket.Delete(t, "releases/canary")
	ready(nethttp.StatusOK, "ok "+ids[2])
	bucket.SetFault(func(w nethttp.ResponseWriter, _ *nethttp.Request) bool { return objecttest.Unavailable(w) })
	ready(nethttp.StatusOK, "ok "+ids[2]+", but: read the pointer")
	close(stop)
	if <-ended == 0 {
		t.Error("no request under load")
	}
	if _, text := statusOf(s.AdminURL()+"/metrics", ""); metric(t, text, "pulls_total") != 3 {
		t.Errorf("the metrics have no three pulls:\n%s", text)
	}
}

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
