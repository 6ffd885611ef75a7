package pull

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/metrics"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestPull brings releases into an empty cache, follows the pointer on and back, and reuses what the cache has.
func TestPull(t *testing.T) {
	w := newWorld(t)
	first, second := w.ids[0], w.ids[1]
	w.upload(first)
	p, _ := w.run()
	sharedtest.Eventually(t, "the missing pointer is reported", func() bool { return p.Err() != nil && strings.Contains(p.Err().Error(), "current") })
	w.point(Current, first)
	w.current(first)
	for _, dir := range []string{w.local.Dir, w.cfg.Dir} {
		if report, err := os.ReadFile(filepath.Join(dir, first, release.ReportName)); err != nil || release.BuiltAt(report).IsZero() {
			t.Errorf("the report of the build: %.80q, %v", report, err)
		}
	}
	sharedtest.Eventually(t, "the error is gone", func() bool { return p.Err() == nil })

	w.upload(second, first)
	moved := p.counts.moved.Load()
	w.point(Current, second, first)
	w.current(second)
	size := int64(0)
	for _, f := range filesOf(w.manifest(second)) {
		size += f.Size
	}
	if night := p.counts.moved.Load() - moved; night > size/5 {
		t.Errorf("the second release moved %d bytes of %d, want a fifth at most", night, size)
	}
	if got := requestsOf(w.s3.Requests(), "/deltas/"); len(got) == 0 {
		t.Error("no delta was used")
	}
	if n := p.counts.patchFailures.Load(); n != 0 {
		t.Errorf("%d deltas failed, want none:\n%s", n, w.log)
	}

	// Back, at once and without a download.
	moved = p.counts.moved.Load()
	w.point(Current, first)
	w.current(first)
	if back := p.counts.moved.Load() - moved; back > 200 {
		t.Errorf("going back moved %d bytes, want the pointer alone", back)
	}
	var text bytes.Buffer
	var samples metrics.Writer
	p.WriteMetrics(&samples)
	if _, err := samples.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`reelsplice_pulls_total 2\n`, `reelsplice_pulling 0\n`, `reelsplice_pull_reused_bytes_total [1-9]`, `reelsplice_pull_pointer_age_seconds \d`} {
		if !regexp.MustCompile(want).Match(text.Bytes()) {
			t.Errorf("the metrics lack %s:\n%s", want, text.String())
		}
	}
	if p.Doing() != "" {
		t.Errorf("Doing() = %q after the pull, want none", p.Doing())
	}
}

// requestsOf returns the requests whose path has a text.
func requestsOf(all []string, part string) (some []string) {
	for _, r := range all {
		if strings.HasPrefix(r, "GET ") && strings.Contains(r, part) {
			some = append(some, r)
		}
	}
	return some
}

// TestResume kills a pull at several moments. The next process goes on: no byte is moved twice beyond a granule a file.
func TestResume(t *testing.T) {
	w := newWorld(t)
	id := w.ids[0]
	w.upload(id)
	w.point(Current, id)
	var mu sync.Mutex
	n, most := 0, 0                    // requests, and how many of them get a response
	requested := map[string][]string{} // ranges by path
	allow := func(more int) {
		mu.Lock()
		defer mu.Unlock()
		n, most = 0, more
	}
	w.s3.SetFault(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || !isFile(r) {
			return false
		}
		mu.Lock()
		requested[r.URL.Path] = append(requested[r.URL.Path], r.Header.Get("Range"))
		n++
		hangs := n > most
		mu.Unlock()
		if hangs {
			<-r.Context().Done()
		}
		return hangs
	})
	const kills = 7
	for range kills {
		allow(9)
		_, stop := w.run()
		sharedtest.Eventually(t, "a request hangs", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return n > most
		})
		stop()
	}
	allow(1 << 30)
	w.run()
	w.current(id)
	mu.Lock()
	defer mu.Unlock()
	again := 0
	for _, f := range filesOf(w.manifest(id)) {
		ranges := requested["/"+objecttest.Bucket+"/releases/files/"+f.SHA256]
		if ranges == nil {
			t.Errorf("%s was not requested", f.Name)
			continue
		}
		moved := int64(0)
		for _, r := range ranges {
			from, to, ok := strings.Cut(strings.TrimPrefix(r, "bytes="), "-")
			a, err := strconv.ParseInt(from, 10, 64)
			b, err2 := strconv.ParseInt(to, 10, 64)
			if to == "" {
				b, err2 = f.Size-1, nil
			}
			if r == "" {
				a, b, ok, err, err2 = 0, f.Size-1, true, nil, nil
			}
			if !ok || err != nil || err2 != nil {
				t.Fatalf("range %q", r)
			}
			moved += b - a + 1
		}
		if moved > f.Size {
			again++
		}
		if most := f.Size + kills*w.cfg.granule; moved > most {
			t.Errorf("%s: %d bytes requested of %d, want a granule more a kill at most", f.Name, moved, f.Size)
		}
	}
	t.Logf("%d of %d files were asked for some bytes again", again, len(w.manifest(id).Files()))
	if left := w.names(); slices.ContainsFunc(left, func(n string) bool { return strings.HasPrefix(n, pullingPrefix) }) {
		t.Errorf("the cache has %v, want nothing of a pull", left)
	}
}

// TestFaults: a bucket that fails, cuts, stalls or lies delays a pull and does not disturb the current release.
func TestFaults(t *testing.T) {
	w := newWorld(t)
	first, second := w.ids[0], w.ids[1]
	w.upload(first)
	w.point(Current, first)
	w.cfg.Stall = time.Second
	p, _ := w.run()
	w.current(first)
	w.upload(second, first)
	good := map[string][]byte{}
	for _, key := range w.s3.Keys(t, "releases/") {
		good[key] = w.s3.Get(t, key)
	}
	manifest := "releases/" + second + "/manifest.json"
	packs := w.manifest(second).Packs
	old := map[string]bool{}
	for _, f := range w.manifest(first).Files() {
		old[f.SHA256] = true
	}
	var pack string
	for _, f := range packs {
		if !old[f.SHA256] {
			pack = "releases/files/" + f.SHA256
		}
	}
	restore := func() {
		w.s3.SetFault(nil)
		for key, data := range good {
			w.s3.Put(t, key, data)
		}
	}
	broken := func(data []byte) []byte {
		data = slices.Clone(data)
		data[len(data)/2] ^= 1
		return data
	}
	for _, c := range []struct {
		name, says string
		harm       func()
	}{
		{"503", "no response in time", func() {
			w.s3.SetFault(func(rw http.ResponseWriter, _ *http.Request) bool { return objecttest.Unavailable(rw) })
		}},
		{"403", "Denied", func() {
			w.s3.SetFault(func(rw http.ResponseWriter, _ *http.Request) bool { rw.WriteHeader(http.StatusForbidden); return true })
		}},
		{"stall", "no response in time", func() {
			w.s3.SetFault(func(_ http.ResponseWriter, r *http.Request) bool {
				if strings.Contains(r.URL.Path, pack) {
					<-r.Context().Done()
				}
				return false
			})
		}},
		{"cut manifest", "manifest.json", func() { w.s3.Put(t, manifest, good[manifest][:500]) }},
		{"foreign manifest", "it is the manifest of release " + first, func() { w.s3.Put(t, manifest, good["releases/"+first+"/manifest.json"]) }},
		{"no manifest", "manifest.json", func() { w.s3.Delete(t, manifest) }},
		{"wrong bytes", "the bytes are wrong", func() { w.s3.Put(t, pack, broken(good[pack])) }},
		{"wrong size", "the bytes are wrong", func() { w.s3.Put(t, pack, good[pack][:100]) }},
		{"no file", "no such object", func() { w.s3.Delete(t, pack) }},
		{"broken pointer", "no release id", func() { w.point(Current, "../../etc") }},
		{"huge pointer", "at most", func() { w.s3.Put(t, "releases/current", make([]byte, 1<<20)) }},
	} {
		before := p.counts.failures.Load()
		c.harm()
		if !strings.HasSuffix(c.name, "pointer") {
			w.point(Current, second, first)
		}
		sharedtest.Eventually(t, c.name+" is reported", func() bool {
			return p.counts.failures.Load() > before && p.Err() != nil && strings.Contains(p.Err().Error(), c.says)
		})
		if got, err := w.cache().Current(); got != first {
			t.Errorf("%s: the current release is %s, %v, want %s", c.name, got, err, first)
		}
		restore()
		w.point(Current, first)
		p.Look() // the wait behind a failure may be long
		sharedtest.Eventually(t, "recovery from "+c.name, func() bool { return p.Err() == nil })
	}
	// Cut responses are read on.
	w.s3.SetFault(func(rw http.ResponseWriter, r *http.Request) bool {
		return isFile(r) && r.Method == http.MethodGet && w.s3.CutAfter(3000, rw, r)
	})
	w.point(Current, second, first)
	w.current(second)
}

// TestDeltaFails: the whole file takes the place of a delta that lies.
func TestDeltaFails(t *testing.T) {
	w := newWorld(t)
	first, second := w.ids[0], w.ids[1]
	w.upload(first)
	w.point(Current, first)
	p, _ := w.run()
	w.current(first)
	w.upload(second, first)
	deltas := w.s3.Keys(t, "releases/deltas/")
	for i, key := range deltas {
		data := w.s3.Get(t, key)
		switch i % 3 {
		case 0:
			data = data[:len(data)/2]
		case 1:
			data[len(data)-5] ^= 1
		case 2:
			data = w.s3.Get(t, deltas[0])
		}
		w.s3.Put(t, key, data)
	}
	w.point(Current, second)
	w.current(second)
	if n := p.counts.patchFailures.Load(); n == 0 || n > int64(len(deltas)) {
		t.Errorf("%d of %d deltas failed, want some", n, len(deltas))
	}
}

// TestCacheSize: what is served and the one before stay while they fit; the served one stays in any case.
func TestCacheSize(t *testing.T) {
	w := newWorld(t)
	ids := w.ids[:]
	for _, id := range ids {
		w.upload(id)
	}
	size := func(ids ...string) (n int64) {
		counted := map[string]bool{}
		for _, id := range ids {
			for _, f := range w.manifest(id).Files() {
				if !counted[f.SHA256] {
					counted[f.SHA256], n = true, n+f.Size
				}
			}
		}
		return n
	}
	has := func(want ...string) {
		t.Helper()
		sharedtest.Eventually(t, fmt.Sprint("the cache has ", want), func() bool {
			var got []string
			for _, id := range ids {
				if _, err := os.Stat(w.cache().Path(id)); err == nil {
					got = append(got, id)
				}
			}
			return slices.Equal(got, want)
		})
	}
	w.cfg.Size = max(size(ids[0], ids[1]), size(ids[1], ids[2]))
	p, stop := w.run()
	for i, id := range ids[:3] {
		w.point(Current, id)
		w.current(id)
		has(ids[max(0, i-1) : i+1]...)
	}
	sharedtest.Eventually(t, "the cache has its size", func() bool { return p.counts.cache.Load() <= w.cfg.Size })
	// An edge that has not switched yet keeps its release, beyond the size.
	stop()
	w.use.Store(&ids[2])
	w.cfg.Size = 1
	w.run()
	w.point(Current, ids[3])
	w.current(ids[3])
	has(ids[2], ids[3])
	w.use.Store(&ids[3])
	has(ids[3])
}

// TestPointers follows the canary, and falls back to the current release; a pin holds whatever the pointers say.
func TestPointers(t *testing.T) {
	w := newWorld(t)
	a, b := w.ids[0], w.ids[1]
	w.upload(a)
	w.upload(b)
	w.point(Current, a)
	w.cfg.Follow = Canary
	p, stop := w.run()
	w.current(a)
	w.point(Canary, b)
	w.current(b)
	w.s3.Delete(t, "releases/canary")
	w.current(a)
	w.point(Canary, b)
	w.current(b)
	sharedtest.Eventually(t, "there is no error", func() bool { return p.Err() == nil })
	stop()
	w.cfg.Pin = a
	_, stop = w.run()
	w.current(a)
	w.point(Current, b)
	time.Sleep(3 * w.cfg.Interval)
	w.current(a)
	stop()
}

// TestMovedOn: a pull ends when the pointer names another release, whose pull takes over what is there.
func TestMovedOn(t *testing.T) {
	w := newWorld(t)
	a, b := w.ids[0], w.ids[1]
	w.upload(a)
	w.upload(b)
	freed := make(chan struct{})
	var n atomic.Int64
	w.s3.SetFault(func(_ http.ResponseWriter, r *http.Request) bool {
		if isFile(r) && n.Add(1) > 20 {
			select {
			case <-r.Context().Done():
			case <-freed:
			}
		}
		return false
	})
	w.point(Current, a)
	p, stop := w.run()
	sharedtest.Eventually(t, "the pull hangs", func() bool { return n.Load() > 20 })
	if !strings.Contains(p.Doing(), "pulling release "+a) {
		t.Errorf("Doing() = %q, want the pull of %s", p.Doing(), a)
	}
	w.point(Current, b)
	sharedtest.Eventually(t, "the pull ends", func() bool { return strings.Contains(w.log.String(), "the pointer moved on") })
	close(freed)
	w.current(b)
	if left := w.names(); slices.Contains(left, pullingPrefix+a) || slices.Contains(left, a) {
		t.Errorf("the cache has %v, want nothing of %s", left, a)
	}
	// Back to a release of the cache: a pull that was interrupted is not wanted any more.
	stop()
	if err := os.Mkdir(filepath.Join(w.cfg.Dir, pullingPrefix+a), 0o700); err != nil {
		t.Fatal(err)
	}
	w.run()
	sharedtest.Eventually(t, "nothing is left of the pull", func() bool { return !slices.Contains(w.names(), pullingPrefix+a) })
}

// TestDamagedCache: a release of the cache that cannot be opened, or whose folder is gone, is made whole.
func TestDamagedCache(t *testing.T) {
	w := newWorld(t)
	a := w.ids[0]
	w.upload(a)
	w.point(Current, a)
	_, stop := w.run()
	w.current(a)
	for _, harm := range []func(index string) error{
		func(index string) error { return os.Truncate(index, 100) },
		func(index string) error {
			return os.WriteFile(index, make([]byte, len(w.read(a, "index-0000"))), 0o600)
		},
		os.Remove,
		func(index string) error {
			return os.WriteFile(filepath.Join(filepath.Dir(index), manifestFile), []byte("{"), 0o600)
		},
	} {
		stop()
		if err := harm(filepath.Join(w.cache().Path(a), "index-0000")); err != nil {
			t.Fatal(err)
		}
		pulled := strings.Count(w.log.String(), "release pulled")
		_, stop = w.run()
		sharedtest.Eventually(t, "the release is pulled again", func() bool { return strings.Count(w.log.String(), "release pulled") > pulled })
		w.current(a)
	}
	if err := os.RemoveAll(w.cache().Path(a)); err != nil { // while the Puller runs
		t.Fatal(err)
	}
	sharedtest.Eventually(t, "the folder is back", func() bool { _, err := os.Stat(w.cache().Path(a)); return err == nil })
	w.current(a)
}

// TestRate bounds the bytes a second.
func TestRate(t *testing.T) {
	w := newWorld(t)
	a := w.ids[0]
	w.upload(a)
	w.point(Current, a)
	size := int64(0)
	for _, f := range filesOf(w.manifest(a)) {
		size += f.Size
	}
	w.cfg.Rate = 2 * size // half a second
	start := time.Now()
	w.run()
	w.current(a)
	if took := time.Since(start); took < 400*time.Millisecond {
		t.Errorf("the pull took %v, want half a second", took)
	}
}

// TestTwoProcesses: the second one waits for the cache.
func TestTwoProcesses(t *testing.T) {
	w := newWorld(t)
	a := w.ids[0]
	w.upload(a)
	w.point(Current, a)
	_, stop := w.run()
	w.current(a)
	second, _ := w.run()
	sharedtest.Eventually(t, "the second one waits", func() bool { return second.Err() != nil && strings.Contains(second.Err().Error(), "another process") })
	stop()
	sharedtest.Eventually(t, "the second one takes over", func() bool { return second.Err() == nil })
}

func TestValidate(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"follow":        func(c *Config) { c.Follow, c.Bucket = "main", nil },
		"pin":           func(c *Config) { c.Pin, c.Bucket = "../x", nil },
		"cache-dir":     func(c *Config) { c.Dir = "" },
		"cache-size":    func(c *Config) { c.Size = -1 },
		"pull-interval": func(c *Config) { c.Interval = time.Millisecond },
		"pull-rate":     func(c *Config) { c.Rate = -1 },
		"stall":         func(c *Config) { c.Stall = 0 },
	} {
		c := DefaultConfig()
		c.Dir, c.Bucket = "cache", servetest.NewBucket(t).Folder
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate = %v, want an error about %s", err, want)
		}
	}
}
