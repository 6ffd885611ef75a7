package serve

import (
	"fmt"
	"io"
	nethttp "net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/pull"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// get returns the status, the ETag and the body of a response.
func get(url, token string) (status int, etag, body string, err error) {
	rq, err := nethttp.NewRequest(nethttp.MethodGet, url, nil)
	if err != nil {
		return 0, "", "", err
	}
	rq.Header.Set("Authorization", "Bearer "+token)
	rs, err := nethttp.DefaultClient.Do(rq)
	if err != nil {
		return 0, "", "", err
	}
	defer rs.Body.Close()
	data, err := io.ReadAll(rs.Body)
	return rs.StatusCode, rs.Header.Get("ETag"), string(data), err
}

// TestEdgesOverBucket: two edges wait for the first release, serve it with the same ETags, switch under load without a failed
// request, and go on without the bucket. One follows the canary.
func TestEdgesOverBucket(t *testing.T) {
	local, bucket := release.Store{Dir: t.TempDir()}, servetest.NewBucket(t)
	var ids []string
	for i := range 3 {
		ids = append(ids, servetest.Build(t, local.Dir, 6, servetest.Version(i)))
		bucket.Upload(t, local, ids[i], ids[:i]...)
	}
	cfg := configured(t)
	cfg.AdminAddr, cfg.Poll = "127.0.0.1:0", 10*time.Millisecond
	token := servetest.Issue(t, cfg.Tokens, "test", time.Time{})
	cfg.Pull.Bucket, cfg.Pull.Interval, cfg.Pull.Stall = bucket.Folder, 100*time.Millisecond, sharedtest.Patience
	var edges []*Server
	for _, follow := range []string{pull.Current, pull.Canary} {
		c := cfg
		c.Pull.Dir, c.Pull.Follow = t.TempDir(), follow
		edges = append(edges, running(t, c))
	}
	ready := func(s *Server, status int, text string) {
		t.Helper()
		sharedtest.Eventually(t, fmt.Sprintf("/readyz is %d with %q", status, text), func() bool {
			code, _, body, err := get(s.AdminURL()+"/readyz", "")
			return err == nil && code == status && strings.Contains(body, text)
		})
	}
	for _, s := range edges {
		ready(s, nethttp.StatusServiceUnavailable, "no release: read the pointer")
		if code, _, _, err := get(s.URL()+"/3/movie/1", token); err != nil || code != nethttp.StatusServiceUnavailable {
			t.Errorf("without a release: %d, %v, want 503", code, err)
		}
	}
	bucket.Point(t, pull.Current, ids[0])
	for _, s := range edges {
		s.Reload() // the wait has become longer with each look that found nothing
		ready(s, nethttp.StatusOK, "ok "+ids[0])
	}

	stop, failed := make(chan struct{}), new(atomic.Int64)
	var load sync.WaitGroup
	var requests atomic.Int64
	for _, s := range edges {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				code, etag, body, err := get(s.URL()+"/3/movie/1", token)
				if requests.Add(1); err != nil || code != nethttp.StatusOK || etag == "" || !strings.Contains(body, `"title":"v`) {
					failed.Add(1)
				}
			}
		})
	}
	same := func() {
		t.Helper()
		_, a, bodyA, errA := get(edges[0].URL()+"/3/movie/1", token)
		_, b, bodyB, errB := get(edges[1].URL()+"/3/movie/1", token)
		if a != b || bodyA != bodyB || a == "" || errA != nil || errB != nil {
			t.Errorf("ETags %s, %v and %s, %v, want the same", a, errA, b, errB)
		}
	}
	same()
	bucket.Point(t, pull.Canary, ids[1])
	ready(edges[1], nethttp.StatusOK, "ok "+ids[1])
	if got := edges[0].Release(); got != ids[0] {
		t.Errorf("the edge that follows current serves %s, want %s", got, ids[0])
	}
	bucket.Point(t, pull.Current, ids[1], ids[0])
	bucket.Delete(t, "releases/canary")
	ready(edges[0], nethttp.StatusOK, "ok "+ids[1])
	same()
	bucket.Point(t, pull.Current, ids[2], ids[1], ids[0])
	for _, s := range edges {
		ready(s, nethttp.StatusOK, "ok "+ids[2])
	}
	same()
	bucket.SetFault(func(w nethttp.ResponseWriter, _ *nethttp.Request) bool { return objecttest.Unavailable(w) })
	for _, s := range edges {
		ready(s, nethttp.StatusOK, "ok "+ids[2]+", but: read the pointer")
	}
	close(stop)
	load.Wait()
	if failed.Load() > 0 || requests.Load() == 0 {
		t.Errorf("%d of %d requests failed, want none", failed.Load(), requests.Load())
	}
	_, _, text, err := get(edges[0].AdminURL()+"/metrics", "")
	if err != nil || !strings.Contains(text, "\nreelsplice_pulls_total 3\n") {
		t.Errorf("the metrics have no three pulls, %v:\n%s", err, text)
	}
}

// TestPin serves one release, of a folder and of a bucket, whatever the pointers say.
func TestPin(t *testing.T) {
	local, bucket := release.Store{Dir: t.TempDir()}, servetest.NewBucket(t)
	a := servetest.Build(t, local.Dir, 6, servetest.Version(1))
	b := servetest.Build(t, local.Dir, 6, servetest.Version(2))
	bucket.Upload(t, local, a)
	bucket.Point(t, pull.Current, b)
	for name, change := range map[string]func(*Config){
		"folder": func(c *Config) { c.Releases = local.Dir },
		"bucket": func(c *Config) { c.Pull.Bucket, c.Pull.Dir = bucket.Folder, t.TempDir() },
	} {
		cfg := configured(t)
		servetest.Issue(t, cfg.Tokens, "test", time.Time{})
		cfg.Pull.Pin, cfg.Poll = a, 10*time.Millisecond
		change(&cfg)
		s := running(t, cfg)
		sharedtest.Eventually(t, name+": the edge serves "+a, func() bool { return s.Release() == a })
		time.Sleep(5 * cfg.Poll)
		if got := s.Release(); got != a {
			t.Errorf("%s: the edge serves %s, want %s", name, got, a)
		}
	}
}

// TestCanaryOfFolder follows the canary of a local folder, and the current release without one.
func TestCanaryOfFolder(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Pull.Follow, c.Poll = pull.Canary, 10*time.Millisecond }, servetest.Version(1))
	local := release.Store{Dir: w.cfg.Releases}
	a, err := local.Current()
	if err != nil {
		t.Fatal(err)
	}
	b := servetest.Build(t, local.Dir, 6, servetest.Version(2))
	servetest.WriteFile(t, local.Dir+"/canary", a+"\n")
	s := running(t, w.cfg)
	if got := s.Release(); got != a {
		t.Errorf("the edge serves %s, want the canary %s", got, a)
	}
	servetest.WriteFile(t, local.Dir+"/canary", b+"\n")
	sharedtest.Eventually(t, "the edge serves another canary", func() bool { return s.Release() == b })
}
