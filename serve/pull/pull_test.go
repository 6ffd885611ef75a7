package pull

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/observe"
)

// TestPull brings releases into an empty cache, follows the pointer on and back, and reuses what the cache has.
func TestPull(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		first, second := w.ids[0], w.ids[1]
		w.upload(first)
		p, _ := w.run()
		sharedtest.Eventually(t, "the missing pointer is reported", func() bool { return p.Err() != nil && strings.Contains(p.Err().Error(), "current") })
		w.point(Current, first)
		w.current(first)
		for _, dir := range []string{w.local.Dir, w.cfg.Dir} {
			if report, err := os.ReadFile(filepath.Join(dir, first, release.ReportName)); err != nil || !bytes.Contains(report, []byte(`"built_at"`)) {
				t.Errorf("the report of the build: %.80q, %v", report, err)
			}
		}
		sharedtest.Eventually(t, "the error is gone", func() bool { return p.Err() == nil })

		w.upload(second, first)
		moved := p.counts.moved.Load()
		w.point(Current, second, first)
		w.current(second)
		if night, size := p.counts.moved.Load()-moved, w.size(second); night > size/5 {
			t.Errorf("the second release moved %d bytes of %d, want a fifth at most", night, size)
		}
		if !slices.ContainsFunc(w.bucket.reads, func(o object.Info) bool { return strings.HasPrefix(o.Key, "deltas/") }) {
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
		var samples observe.Writer
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
	})
}

// TestResume kills a pull at several moments. The next process goes on: no byte is moved twice beyond a granule a file.
func TestResume(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		id := w.ids[0]
		w.upload(id)
		w.point(Current, id)
		var left atomic.Int64 // requests that get a response
		w.fails(func(ctx context.Context, name string) error {
			if isFile(name) && left.Add(-1) < 0 {
				return hang(ctx)
			}
			return nil
		})
		const kills = 7
		for range kills {
			left.Store(9)
			_, stop := w.run()
			sharedtest.Eventually(t, "a request hangs", func() bool { return left.Load() < 0 })
			stop()
		}
		left.Store(1 << 30)
		w.run()
		w.current(id)
		moved := map[string]int64{} // requested bytes by name
		for _, o := range w.bucket.reads {
			moved[o.Key] += o.Size
		}
		again := 0
		for _, f := range filesOf(w.manifest(id)) {
			n := moved["files/"+f.SHA256]
			if n > f.Size {
				again++
			}
			if most := f.Size + kills*w.cfg.granule; n < f.Size || n > most {
				t.Errorf("%s: %d bytes requested of %d, want a granule more a kill at most", f.Name, n, f.Size)
			}
		}
		t.Logf("%d of %d files were asked for some bytes again", again, len(w.manifest(id).Files()))
		if w.has(pullingPrefix) {
			t.Error("the cache has something of a pull")
		}
	})
}

// TestFaults: a bucket that fails, stalls or lies delays a pull and does not disturb the current release.
func TestFaults(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		first, second := w.ids[0], w.ids[1]
		w.upload(first)
		w.point(Current, first)
		p, _ := w.run()
		w.current(first)
		w.upload(second, first)
		good := map[string][]byte{}
		for _, name := range w.bucket.names("") {
			good[name] = w.bucket.get(name)
		}
		manifest, old := second+"/"+manifestFile, map[string]bool{}
		for _, f := range w.manifest(first).Files() {
			old[f.SHA256] = true
		}
		var pack string
		for _, f := range w.manifest(second).Packs {
			if !old[f.SHA256] {
				pack = "files/" + f.SHA256
			}
		}
		broken := slices.Clone(good[pack])
		broken[len(broken)/2] ^= 1
		for _, c := range []struct {
			name, says string
			harm       func()
		}{
			{"no response", "no response in time", func() {
				w.fails(func(ctx context.Context, _ string) error { return hang(ctx) })
			}},
			{"403", "permission", func() {
				w.fails(func(context.Context, string) error { return fs.ErrPermission })
			}},
			{"stall", "no response in time", func() {
				w.fails(func(ctx context.Context, name string) error {
					if name == pack {
						return hang(ctx)
					}
					return nil
				})
			}},
			{"cut manifest", "manifest.json", func() { w.bucket.files.Store(manifest, good[manifest][:500]) }},
			{"foreign manifest", "it is the manifest of release " + first, func() { w.bucket.files.Store(manifest, good[first+"/"+manifestFile]) }},
			{"no manifest", "manifest.json", func() { w.bucket.files.Delete(manifest) }},
			{"wrong bytes", "SHA-256 is ", func() { w.bucket.files.Store(pack, broken) }},
			{"wrong size", "it has 100 bytes, want ", func() { w.bucket.files.Store(pack, good[pack][:100]) }},
			{"no file", "no such object", func() { w.bucket.files.Delete(pack) }},
			{"panic at the pointer", "panic: a lie", func() {
				w.fails(func(context.Context, string) error { panic("a lie") })
			}},
			{"panic at a file", "panic: a lie", func() {
				w.fails(func(_ context.Context, name string) error {
					if name == pack {
						panic("a lie")
					}
					return nil
				})
			}},
			{"panic beside a pull", "no response in time", func() {
				var pulling atomic.Bool
				w.fails(func(ctx context.Context, name string) error {
					if name == pack {
						pulling.Store(true)
						return hang(ctx)
					}
					if name == Current && pulling.Load() && ctx.Err() == nil {
						panic("a lie beside a pull")
					}
					return nil
				})
			}},
			{"broken pointer", "is not a release id", func() { w.point(Current, "../../etc") }},
			{"huge pointer", "at most", func() { w.bucket.files.Store(Current, make([]byte, 1<<20)) }},
		} {
			before := p.counts.failures.Load()
			c.harm()
			if !strings.HasSuffix(c.name, "pointer") {
				w.point(Current, second, first)
			}
			sharedtest.Eventually(t, c.name+" is reported", func() bool {
				return p.counts.failures.Load() > before && p.Err() != nil && strings.Contains(p.Err().Error(), c.says)
			})
			if got, err := store.Current(t.Context(), w.cache()); got != first {
				t.Errorf("%s: the current release is %s, %v, want %s", c.name, got, err, first)
			}
			w.bucket.fault.Store(nil)
			for name, data := range good {
				w.bucket.files.Store(name, data)
			}
			p.CheckNow() // the wait after a failure may be long
			sharedtest.Eventually(t, "recovery from "+c.name, func() bool { return p.Err() == nil })
		}
		w.point(Current, second, first)
		w.current(second)
		if !strings.Contains(w.log.String(), "panic: a lie beside a pull") {
			t.Error("nothing panicked beside a pull")
		}
	})
}

// TestDeltaFails: the whole file takes the place of a delta that lies.
func TestDeltaFails(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		first, second := w.ids[0], w.ids[1]
		w.upload(first)
		w.point(Current, first)
		p, _ := w.run()
		w.current(first)
		w.upload(second, first)
		deltas := w.bucket.names("deltas/")
		for i, name := range deltas {
			data := slices.Clone(w.bucket.get(name))
			switch i % 3 {
			case 0:
				data = data[:len(data)/2]
			case 1:
				data[len(data)-5] ^= 1
			case 2:
				data = w.bucket.get(deltas[0])
			}
			w.bucket.files.Store(name, data)
		}
		w.point(Current, second)
		w.current(second)
		if n := p.counts.patchFailures.Load(); n == 0 || n > int64(len(deltas)) {
			t.Errorf("%d of %d deltas failed, want some", n, len(deltas))
		}
	})
}

// TestCacheSize: what is served and the one before stay while they fit; the served one stays in any case.
func TestCacheSize(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		ids := w.ids[:]
		for _, id := range ids {
			w.upload(id)
		}
		size := func(a, b string) int64 {
			return (&cache{releases: map[string]*release.Manifest{a: w.manifest(a)}}).size(w.manifest(b))
		}
		has := func(want ...string) {
			t.Helper()
			sharedtest.Eventually(t, fmt.Sprint("the cache has ", want), func() bool {
				var got []string
				for _, id := range ids {
					if w.has(id) {
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
		sharedtest.Eventually(t, "the cache has its size", func() bool { return p.cache.bytes.Load() <= w.cfg.Size })
		// An edge that has not switched yet keeps its release, and the one before goes for the next one.
		stop()
		w.use.Store(&ids[2])
		w.cfg.Size = size(ids[2], ids[3])
		_, stop = w.run()
		w.point(Current, ids[3])
		w.current(ids[3])
		has(ids[2], ids[3])
		// A cache that is too large for its size by now keeps what is in use.
		stop()
		w.cfg.Size = 1
		w.run()
		w.use.Store(&ids[3])
		has(ids[3])
	})
}

// huge brings the manifest of a release into the bucket that has a pack of so many bytes too, and returns its id.
func (w *world) huge(id string, bytes int64) string {
	w.t.Helper()
	m := w.manifest(id)
	m.ID = ""
	m.Packs = append(m.Packs, release.File{Name: "pack-" + strings.Repeat("f", 32), Size: bytes, SHA256: strings.Repeat("f", 64)})
	encode := func() []byte {
		data, err := json.MarshalIndent(m, "", "  ")
		if err != nil {
			w.t.Fatal(err)
		}
		return append(data, '\n')
	}
	m.ID = release.IDOf(encode())
	w.bucket.files.Store(m.ID+"/"+manifestFile, encode())
	return m.ID
}

// TestDoesNotFit: a release that the cache or its disk cannot hold is refused before any of it is downloaded, and the one
// that is served stays. Nothing is left of it when the pointer is back.
func TestDoesNotFit(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		first, second := w.ids[0], w.ids[1]
		both := (&cache{releases: map[string]*release.Manifest{first: w.manifest(first)}}).size(w.manifest(second))
		for _, id := range w.ids[:2] {
			w.upload(id)
		}
		large := w.huge(first, 2<<30)
		vast := w.huge(first, 1<<52)
		for _, c := range []struct {
			name, id, want string
			size           int64
		}{
			{"a pack of 2 GiB", large, fmt.Sprintf("release %s does not fit: it has %d bytes (2.0 GiB) with the releases in use, --cache-size allows 52428800", large, w.size(first)+2<<30), 50 << 20},
			{"a byte too much", second, fmt.Sprintf("release %s does not fit: it has %d bytes", second, both), both - 1},
			{"more than the disk has", vast, fmt.Sprintf("release %s does not fit: it needs %d bytes (4.0 PiB) more, the disk of the cache has ", vast, int64(1<<52)), 1 << 55},
		} {
			w.cfg.Dir, w.cfg.Size = t.TempDir(), c.size
			w.point(Current, first)
			p, stop := w.run()
			w.current(first)
			w.bucket.reads = nil
			w.point(Current, c.id, first)
			sharedtest.Eventually(t, c.name+" is refused", func() bool { return p.Err() != nil && strings.HasPrefix(p.Err().Error(), c.want) })
			p.CheckNow()
			sharedtest.Eventually(t, "it is tried again", func() bool { return p.counts.failures.Load() > 1 })
			w.current(first)
			w.point(Current, first)
			p.CheckNow() // the wait after a failure may be long
			sharedtest.Eventually(t, "there is no error", func() bool { return p.Err() == nil })
			stop()
			for _, o := range w.bucket.reads {
				if isFile(o.Key) {
					t.Errorf("%s: %d bytes of %s were downloaded", c.name, o.Size, o.Key)
				}
			}
			if w.has(pullingPrefix) {
				t.Errorf("%s: the cache has something of the release", c.name)
			}
		}
		// The first release of an empty cache.
		w.cfg.Dir, w.cfg.Size = t.TempDir(), 1
		w.point(Current, first)
		p, _ := w.run()
		want := fmt.Sprintf("release %s does not fit: it has %d bytes (", first, w.size(first))
		sharedtest.Eventually(t, "the first release is refused", func() bool { return p.Err() != nil && strings.HasPrefix(p.Err().Error(), want) })
	})
}

// TestBackToServed: what a pull has left goes when the pointer is back at the release that is served.
func TestBackToServed(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		first, second := w.ids[0], w.ids[1]
		w.upload(first)
		w.upload(second)
		w.point(Current, first)
		p, _ := w.run()
		w.current(first)
		var hangs atomic.Bool
		w.fails(func(ctx context.Context, name string) error {
			if isFile(name) {
				hangs.Store(true)
				return hang(ctx)
			}
			return nil
		})
		w.point(Current, second, first)
		sharedtest.Eventually(t, "the pull hangs", hangs.Load)
		if !w.has(pullingPrefix + second) {
			t.Error("the pull has no folder")
		}
		w.point(Current, first)
		sharedtest.Eventually(t, "nothing is left of the pull", func() bool { return !w.has(pullingPrefix) })
		if p.Err() != nil {
			t.Errorf("Err() = %v, want none", p.Err())
		}
	})
}

// TestDeltasBounded: deltas are used that fit beside the release, of the first of a listing that goes on for ever.
func TestDeltasBounded(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		first, second := w.ids[0], w.ids[1]
		w.upload(first)
		w.upload(second, first)
		both := (&cache{releases: map[string]*release.Manifest{first: w.manifest(first)}}).size(w.manifest(second))
		used := func(spare int64) (deltas int) {
			w.cfg.Dir, w.cfg.Size = t.TempDir(), both+spare
			w.point(Current, first)
			_, stop := w.run()
			defer stop()
			w.current(first)
			w.bucket.reads = nil
			w.point(Current, second)
			w.current(second)
			for _, o := range w.bucket.reads {
				if strings.HasPrefix(o.Key, "deltas/") {
					deltas++
				}
			}
			return deltas
		}
		if n := used(0); n != 0 || !strings.Contains(w.log.String(), "no room for deltas") {
			t.Errorf("%d deltas are used in a full cache, want none:\n%s", n, w.log)
		}
		all := used(1 << 30)
		if all == 0 {
			t.Error("no delta is used in a cache with room")
		}
		defer func(most int) { maxDeltas = most }(maxDeltas)
		maxDeltas = len(w.bucket.names("deltas/"))
		w.bucket.files.Store("deltas/"+strings.Repeat("g", 64)+"-"+strings.Repeat("0", 64), []byte("x")) // after the others
		if n := used(1 << 30); n == 0 || !strings.Contains(w.log.String(), "not all deltas are listed") {
			t.Errorf("%d deltas of an endless listing are used, want some", n)
		}
	})
}

// TestPointers follows the canary, and falls back to the current release; a pin holds whatever the pointers say.
func TestPointers(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a, b := w.ids[0], w.ids[1]
		w.upload(a)
		w.upload(b)
		w.point(Current, a)
		w.cfg.Follow = Canary
		p, stop := w.run()
		w.current(a)
		w.point(Canary, b)
		w.current(b)
		w.bucket.files.Delete(Canary)
		w.current(a)
		sharedtest.Eventually(t, "there is no error", func() bool { return p.Err() == nil })
		stop()
		w.point(Current, b)
		w.cfg.Pin = a
		w.run()
		w.current(a)
		time.Sleep(3 * w.cfg.Interval)
		w.current(a)
	})
}

// TestMovedOn: a pull ends when the pointer names another release, whose pull takes over what is there.
func TestMovedOn(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a, b := w.ids[0], w.ids[1]
		w.upload(a)
		w.upload(b)
		// One file of a hangs that b does not have. All others come, and those that b has are used.
		later := map[string]bool{}
		for _, f := range w.manifest(b).Files() {
			later["files/"+f.SHA256] = true
		}
		freed := make(chan struct{})
		var hangs atomic.Pointer[string]
		w.fails(func(ctx context.Context, name string) error {
			if isFile(name) && !later[name] && hangs.CompareAndSwap(nil, &name) || hangs.Load() != nil && *hangs.Load() == name {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-freed:
				}
			}
			return nil
		})
		w.point(Current, a)
		p, stop := w.run()
		sharedtest.Eventually(t, "the pull hangs", func() bool { return hangs.Load() != nil })
		synctest.Wait() // the other files are whole
		if !strings.Contains(p.Doing(), "pulling release "+a) {
			t.Errorf("Doing() = %q, want the pull of %s", p.Doing(), a)
		}
		w.point(Current, b)
		sharedtest.Eventually(t, "the pull ends", func() bool { return strings.Contains(w.log.String(), "the pointer names another release") })
		close(freed)
		w.current(b)
		if w.has(pullingPrefix) || w.has(a) {
			t.Errorf("the cache has something of %s", a)
		}
		if p.counts.reused.Load() == 0 { // the cache was empty
			t.Error("no file of the pull that ended is used")
		}
		// Back to a release of the cache: a pull that was interrupted is not wanted any more.
		stop()
		if err := os.Mkdir(filepath.Join(w.cfg.Dir, pullingPrefix+a), 0o700); err != nil {
			t.Fatal(err)
		}
		w.run()
		sharedtest.Eventually(t, "nothing is left of the pull", func() bool { return !w.has(pullingPrefix) })
	})
}

// TestDamagedCache: a release of the cache that cannot be opened, or whose folder is gone, is made whole.
func TestDamagedCache(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a := w.ids[0]
		w.upload(a)
		w.point(Current, a)
		_, stop := w.run()
		w.current(a)
		for _, harm := range []func(index string) error{
			func(index string) error { return os.Truncate(index, 100) },
			func(index string) error {
				st, err := os.Stat(index)
				if err != nil {
					return err
				}
				return os.WriteFile(index, make([]byte, st.Size()), 0o600)
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
		sharedtest.Eventually(t, "the folder is back", func() bool { return w.has(a) })
		w.current(a)
	})
}

// TestRate bounds the bytes a second.
func TestRate(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a := w.ids[0]
		w.upload(a)
		w.point(Current, a)
		w.cfg.Rate = w.size(a) / 30
		start := time.Now()
		w.run()
		sharedtest.Eventually(t, a+" is pulled", func() bool { return strings.Contains(w.log.String(), "release pulled") })
		if took := time.Since(start); took < 25*time.Second || took > 35*time.Second {
			t.Errorf("the pull took %v, want about 30 s", took)
		}
	})
}

// TestTwoProcesses: the second one waits for the cache.
func TestTwoProcesses(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		a := w.ids[0]
		w.upload(a)
		w.point(Current, a)
		_, stop := w.run()
		w.current(a)
		second, _ := w.run()
		sharedtest.Eventually(t, "the second one waits", func() bool { return second.Err() != nil && strings.Contains(second.Err().Error(), "another process") })
		stop()
		sharedtest.Eventually(t, "the second one takes over", func() bool { return second.Err() == nil })
	})
}

func TestValidate(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"follow":     func(c *Config) { c.Follow, c.Bucket = "main", nil },
		"pin":        func(c *Config) { c.Pin, c.Bucket = "../x", nil },
		"cache-dir":  func(c *Config) { c.Dir = "" },
		"cache-size": func(c *Config) { c.Size = -1 },
		"pull-rate":  func(c *Config) { c.Rate = -1 },
		"stall":      func(c *Config) { c.Stall = 0 },
	} {
		c := DefaultConfig()
		c.Dir, c.Bucket = "cache", new(memory)
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate = %v, want an error about %s", err, want)
		}
	}
}
