package pull

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// A world is a bucket, a folder of releases that are brought there, and a cache.
type world struct {
	t     *testing.T
	s3    *servetest.Bucket
	local release.Store
	ids   [versions]string
	cfg   Config
	log   *servetest.LockedBuffer
	use   atomic.Pointer[string] // the id of the release that an edge serves; nil for the cache's current one
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, s3: servetest.NewBucket(t), log: new(servetest.LockedBuffer)}
	w.local.Dir, w.ids = built(t)
	w.cfg = DefaultConfig()
	w.cfg.Bucket, w.cfg.Dir = w.s3.Folder, t.TempDir()
	w.cfg.Interval, w.cfg.Stall, w.cfg.granule = 100*time.Millisecond, time.Hour, 4096
	w.cfg.Log = slog.New(slog.NewTextHandler(w.log, nil))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log:\n%s", w.log)
		}
	})
	return w
}

// versions is the number of releases that tests share.
const versions = 4

// releases are built once, each upon the one before: some of the sample's movies, and one that differs.
var releases struct {
	once sync.Once
	dir  string
	ids  [versions]string
}

func TestMain(m *testing.M) {
	m.Run()
	if releases.dir != "" {
		_ = os.RemoveAll(releases.dir)
	}
}

// built returns the folder of the releases, and their ids.
func built(t *testing.T) (dir string, ids [versions]string) {
	t.Helper()
	releases.once.Do(func() {
		var err error
		if releases.dir, err = os.MkdirTemp("", "pull-test-"); err != nil { //nolint:usetesting // tests share it
			t.Fatal(err)
		}
		rows := buildtest.Sample(t, "movies")
		for i := range releases.ids {
			c := build.DefaultConfig()
			c.Catalog, c.Releases, c.Jobs = t.TempDir(), releases.dir, 1
			if i > 0 {
				c.Previous = releases.ids[i-1]
			}
			buildtest.WriteCatalog(t, c.Catalog, append(slices.Clone(rows[:len(rows)/4]), servetest.Version(i))...)
			r, err := build.Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			releases.ids[i] = r.Release
		}
	})
	if releases.ids[versions-1] == "" {
		t.Fatal("the releases could not be built")
	}
	return releases.dir, releases.ids
}

// upload brings a release into the bucket, with deltas to others.
func (w *world) upload(id string, earlier ...string) {
	w.t.Helper()
	w.s3.Upload(w.t, w.local, id, earlier...)
	w.s3.Requests()
}

func (w *world) manifest(id string) *release.Manifest {
	w.t.Helper()
	m, err := release.ReadManifest(w.local.Path(id))
	if err != nil {
		w.t.Fatal(err)
	}
	return &m
}

func (w *world) read(id, name string) []byte {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.local.Path(id), name))
	if err != nil {
		w.t.Fatal(err)
	}
	return data
}

// point sets a pointer of the bucket.
func (w *world) point(name string, ids ...string) { w.s3.Point(w.t, name, ids...) }

// cache returns the store of the cache.
func (w *world) cache() release.Store { return release.Store{Dir: w.cfg.Dir} }

// run runs a new Puller until the test ends, or stop is called.
func (w *world) run() (p *Puller, stop func()) {
	w.t.Helper()
	p, err := New(w.cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); p.Run(ctx, w) }()
	stop = func() { cancel(); <-ended }
	w.t.Cleanup(stop)
	return p, stop
}

// Reload implements Edge.
func (w *world) Reload() {}

// ID implements Edge.
func (w *world) ID() string {
	if id := w.use.Load(); id != nil {
		return *id
	}
	id, _ := w.cache().Current() // "" for none
	return id
}

// current waits until a release is current in the cache, and checks it.
func (w *world) current(id string) {
	w.t.Helper()
	sharedtest.Eventually(w.t, id+" is current", func() bool { got, _ := w.cache().Current(); return got == id })
	if damage, err := release.Verify(w.t.Context(), w.cache().Path(id), release.VerifyOptions{}, nil); err != nil || len(damage) > 0 {
		w.t.Errorf("release in the cache: %v, %v, want no damage", damage, err)
	}
	for _, f := range filesOf(w.manifest(id)) {
		if st, err := os.Stat(filepath.Join(w.cache().Path(id), f.Name)); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
			w.t.Errorf("%s: %v, want mode 0600", f.Name, err)
		}
	}
}

// isFile reports whether a request is for content of a release.
func isFile(r *http.Request) bool { return strings.Contains(r.URL.Path, "/files/") }

// names returns what the cache's folder has.
func (w *world) names() (names []string) {
	entries, err := os.ReadDir(w.cfg.Dir)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
