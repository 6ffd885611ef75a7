package edge

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/releases"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestSwitchUnderLoad publishes releases while requests run: each answer is whole and
// from one release, and replaced releases are closed.
func TestSwitchUnderLoad(t *testing.T) {
	w := newWorld(t, nil, servetest.Version(0))
	const versions = 5
	ids := []string{w.releases.ID()}
	for n := 1; n < versions; n++ {
		ids = append(ids, servetest.Build(t, w.dir, 6, servetest.Version(n)))
	}
	var all []*releases.Held // every release that was served
	stop := make(chan struct{})
	var running sync.WaitGroup
	var served atomic.Int64
	for i := range 4 {
		running.Go(func() {
			rq := w.request("/3/movie/1?append_to_response=keywords,credits")
			if i%2 == 0 {
				rq.Gzip = false
			}
			for {
				select {
				case <-stop:
					return
				default:
				}
				a := w.do(t, rq)
				v := servetest.Cut(a.plain, `"title":"`, `"`)
				want := fmt.Sprintf(`{"adult":false,"genres":[],"id":1,"production_countries":[],"spoken_languages":[],"status":"","tagline":"","title":"%s","keywords":{"keywords":[{"id":1,"name":"%s"}]},"credits":{"cast":[{"name":"%s","credit_id":"c"}],"crew":[]}}`, v, v, v)
				if a.Status != 200 || a.plain != want || v != "v"+fmt.Sprint(indexOf(ids, a.Release)) {
					t.Errorf("answer of release %s = %d %s, want all of one release", a.Release, a.Status, a.plain)
					return
				}
				served.Add(1)
			}
		})
	}
	end := sync.OnceFunc(func() {
		close(stop)
		running.Wait()
	})
	defer end() // where the test has failed
	for n := range 60 {
		servetest.Publish(t, w.dir, ids[n%versions])
		w.releases.Poll()
		if got := w.releases.ID(); got != ids[n%versions] {
			t.Fatalf("release served = %s, want %s: %v", got, ids[n%versions], w.releases.Err())
		}
		all = append(all, current(w))
		before := served.Load()
		sharedtest.Eventually(t, "one more answer", func() bool { return served.Load() > before })
	}
	end()
	last := current(w)
	for i, h := range all {
		if n := h.Users(); (h == last) != (n == 1) || h != last && n != 0 {
			t.Errorf("release %d has %d users left, want 0, or 1 for the current one", i, n)
		}
		if _, ok := h.Reader.Lookup([]byte("x")); ok {
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

// current returns the release that w serves.
func current(w *world) *releases.Held {
	h := w.releases.Acquire()
	h.Release()
	return h
}
