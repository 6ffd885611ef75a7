package pull

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// A memory is a folder of a bucket without a network, so that tests need no clock. Pullers and publishers use the
// methods that it has.
type memory struct {
	object.Folder
	files sync.Map // []byte by name
	fault atomic.Pointer[fault]

	mu    sync.Mutex
	reads []object.Info // ranges: name and length
}

// A fault comes before each read.
type fault func(ctx context.Context, name string) error

func (m *memory) URL(name string) string { return "s3://bucket/" + name }

func (m *memory) get(name string) []byte {
	data, _ := m.files.Load(name)
	return data.([]byte)
}

// read returns the content of an object, or the fault.
func (m *memory) read(ctx context.Context, name string) ([]byte, error) {
	if f := m.fault.Load(); f != nil {
		if err := (*f)(ctx, name); err != nil {
			return nil, err
		}
	}
	data, ok := m.files.Load(name)
	if !ok {
		return nil, fmt.Errorf("%s: no such object: %w", m.URL(name), fs.ErrNotExist)
	}
	return data.([]byte), nil
}

// names returns the sorted names with a prefix.
func (m *memory) names(prefix string) (names []string) {
	for name := range m.files.Range {
		if name := name.(string); strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (m *memory) Stat(ctx context.Context, name string) (object.Info, error) {
	data, err := m.read(ctx, name)
	return object.Info{Key: name, Size: int64(len(data)), ETag: fmt.Sprintf("%x", sha256.Sum256(data))}, err
}

func (m *memory) List(ctx context.Context, prefix string, most int) (all []object.Info, err error) {
	for i, name := range m.names(prefix) {
		if i == most {
			return all, object.ErrTooMany
		}
		o, err := m.Stat(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

func (m *memory) ReadRange(ctx context.Context, o object.Info, off, n int64) ([]byte, error) {
	m.mu.Lock()
	m.reads = append(m.reads, object.Info{Key: o.Key, Size: n})
	m.mu.Unlock()
	data, err := m.read(ctx, o.Key)
	if err != nil {
		return nil, err
	}
	return data[off : off+n], nil
}

func (m *memory) Put(_ context.Context, name string, data []byte) error {
	m.files.Store(name, data)
	return nil
}

func (m *memory) Upload(_ context.Context, name string, r io.ReaderAt, size int64) error {
	data := make([]byte, size)
	_, err := r.ReadAt(data, 0)
	m.files.Store(name, data)
	return err
}

// A world is a bucket, a folder of releases that are brought there, and a cache.
type world struct {
	t      *testing.T
	bucket *memory
	local  store.Folder
	ids    [versions]string
	cfg    Config
	log    *servetest.LockedBuffer
	use    atomic.Pointer[string] // the id of the release that an edge serves; nil for the cache's current one
}

// inWorld runs a test in a world of its own, where time passes while everybody waits.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	dir, ids := built(t)
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, bucket: new(memory), local: store.Folder{Dir: dir}, ids: ids, log: new(servetest.LockedBuffer)}
		w.cfg = DefaultConfig()
		w.cfg.Bucket, w.cfg.Dir, w.cfg.Interval, w.cfg.granule = w.bucket, t.TempDir(), 100*time.Millisecond, 4096
		w.cfg.Log = slog.New(slog.NewTextHandler(w.log, nil))
		test(w)
		if t.Failed() {
			t.Logf("the log:\n%s", w.log)
		}
	})
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
	sharedtest.InMemory(m).Run()
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
	s := store.Bucket{Folder: w.bucket}
	if _, err := s.Push(w.t.Context(), w.local.Path(id), nil); err != nil {
		w.t.Fatal(err)
	}
	for _, e := range earlier {
		if _, err := s.PushDeltas(w.t.Context(), w.local, id, e); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) manifest(id string) *release.Manifest {
	w.t.Helper()
	m, err := release.ReadManifest(w.local.Path(id))
	if err != nil {
		w.t.Fatal(err)
	}
	return &m
}

// size returns the bytes of a release.
func (w *world) size(id string) (n int64) {
	w.t.Helper()
	for _, f := range filesOf(w.manifest(id)) {
		n += f.Size
	}
	return n
}

// point sets a pointer of the bucket.
func (w *world) point(name string, ids ...string) {
	w.bucket.files.Store(name, []byte(strings.Join(ids, "\n")+"\n"))
}

// fails puts a fault before each read of the bucket.
func (w *world) fails(f fault) { w.bucket.fault.Store(&f) }

// cache returns the store of the cache.
func (w *world) cache() store.Folder { return store.Folder{Dir: w.cfg.Dir} }

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
	id, _ := store.Current(w.t.Context(), w.cache()) // "" for none
	return id
}

// current waits until a release is current in the cache, and checks it.
func (w *world) current(id string) {
	w.t.Helper()
	sharedtest.Eventually(w.t, id+" is current", func() bool { got, _ := store.Current(w.t.Context(), w.cache()); return got == id })
	if damage, err := check.Verify(w.t.Context(), w.cache().Path(id), check.Options{}, nil); err != nil || len(damage) > 0 {
		w.t.Errorf("release in the cache: %v, %v, want no damage", damage, err)
	}
	for _, f := range filesOf(w.manifest(id)) {
		if st, err := os.Stat(filepath.Join(w.cache().Path(id), f.Name)); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
			w.t.Errorf("%s: %v, want mode 0600", f.Name, err)
		}
	}
}

// isFile reports whether an object has content of a release.
func isFile(name string) bool { return strings.HasPrefix(name, "files/") }

// has reports whether the cache's folder has a name that starts so.
func (w *world) has(prefix string) bool {
	entries, err := os.ReadDir(w.cfg.Dir)
	if err != nil {
		w.t.Fatal(err)
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), prefix) })
}

// hang waits until its request ends.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}
