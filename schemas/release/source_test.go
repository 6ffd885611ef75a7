package release

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

var errNoBytes = errors.New("no connection")

// A bucket is a release whose files come as they are read, a granule at a time.
type bucket struct {
	tb  testing.TB
	dir string
	tmp string
	// bad may change a granule that comes, or fail; nil for a bucket that does neither.
	bad func(name string, off int64, data []byte) error

	mu     sync.Mutex
	moved  map[string]int64 // bytes by file
	opened map[string]int
	open   atomic.Int64 // files
}

const bucketGranule = 8 << 10

func newBucket(tb testing.TB, dir string) *bucket {
	tb.Helper()
	return &bucket{tb: tb, dir: dir, tmp: tb.TempDir(), moved: map[string]int64{}, opened: map[string]int{}}
}

// source is the Source of the bucket.
func (b *bucket) source(f File) (Blob, error) {
	whole, err := os.ReadFile(filepath.Join(b.dir, f.Name))
	if err != nil {
		return Blob{}, err
	}
	h, err := os.CreateTemp(b.tmp, f.Name)
	if err != nil {
		return Blob{}, err
	}
	if err := h.Truncate(f.Size); err != nil {
		return Blob{}, err
	}
	b.mu.Lock()
	b.opened[f.Name]++
	b.mu.Unlock()
	b.open.Add(1)
	var mu sync.Mutex
	have := map[int64]bool{}
	bring := func(from, to int64) error {
		data := append([]byte(nil), whole[from:to]...)
		if b.bad != nil {
			if err := b.bad(f.Name, from, data); err != nil {
				return err
			}
		}
		b.mu.Lock()
		b.moved[f.Name] += to - from
		b.mu.Unlock()
		_, err := h.WriteAt(data, from)
		return err
	}
	return Blob{
		Handle: h,
		Fill: func(off, n int64) error {
			mu.Lock()
			defer mu.Unlock()
			if off < 0 || n <= 0 || off+n > f.Size {
				b.tb.Errorf("%s: Fill(%d, %d) of %d bytes", f.Name, off, n, f.Size)
			}
			for g := off / bucketGranule; g*bucketGranule < off+n; g++ {
				if have[g] {
					continue
				}
				if err := bring(g*bucketGranule, min((g+1)*bucketGranule, f.Size)); err != nil {
					return err
				}
				have[g] = true
			}
			return nil
		},
		Refill: func(off, n int64) error {
			mu.Lock()
			defer mu.Unlock()
			return bring(off, off+n)
		},
		Close: func() error {
			b.open.Add(-1)
			return h.Close()
		},
	}, nil
}

// total returns the bytes of files whose names start so.
func (b *bucket) total(prefix string) (n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, moved := range b.moved {
		if strings.HasPrefix(name, prefix) {
			n += moved
		}
	}
	return n
}

// from opens the release of a bucket.
func (b *bucket) from(tb testing.TB) *Reader {
	tb.Helper()
	m, err := ReadManifest(b.dir)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := OpenFrom(&m, b.source)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil || b.open.Load() != 0 {
			tb.Errorf("Close = %v, %d files are open", err, b.open.Load())
		}
	})
	return r
}

// TestOpenFrom: a release whose files come as they are read is the release. Opening it reads little, and a
// lookup little more.
func TestOpenFrom(t *testing.T) {
	dir := largeRelease(t)
	want, err := digest(mustOpen(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	b := newBucket(t, dir)
	r := b.from(t)
	files := int64(len(b.opened))
	if moved := b.total(""); b.total(packPrefix) > 0 || moved > 3*bucketGranule*files {
		t.Errorf("opening %d files moves %d bytes, %d of them of packs", files, moved, b.total(packPrefix))
	}
	var p Piece
	err = Guard(func() error {
		e, _ := r.Lookup(movie(7))
		f, _ := e.Find(details)
		if c := f.Pieces(); !c.Next(&p) {
			t.Error("movie 7 has no details")
		}
		p.Segment.Check()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if moved := b.total(packPrefix); moved == 0 || moved > 4*bucketGranule || b.opened[p.Segment.pack.name] != 1 {
		t.Errorf("one segment moves %d bytes of packs", moved)
	}
	r.Forget()
	r.ForgetLookups()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got, err := digest(r); err != nil || got != want {
				t.Errorf("digest = %x, %v, want %x", got, err, want)
			}
		})
	}
	wg.Wait()
	for name, n := range b.opened {
		if n != 1 {
			t.Errorf("%s was opened %d times", name, n)
		}
	}
	if err := r.Scrub(t.Context(), 1<<40); err != nil {
		t.Error(err)
	}
	r.CheckSizes()
	if bad, n := r.Damage(); n > 0 {
		t.Errorf("damage: %v", bad)
	}
}

// TestFetchFails: bytes that do not come are the error of that, and no damage; the next use tries again.
func TestFetchFails(t *testing.T) {
	dir := largeRelease(t)
	want, err := digest(mustOpen(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	b := newBucket(t, dir)
	var every, calls atomic.Int64
	b.bad = func(string, int64, []byte) error {
		if n := every.Load(); n > 0 && calls.Add(1)%n == 0 {
			return errNoBytes
		}
		return nil
	}
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	every.Store(5)
	if _, err := OpenFrom(&m, b.source); !errors.Is(err, errNoBytes) || errors.Is(err, ErrCorrupt) {
		t.Errorf("OpenFrom a bucket that is gone = %v", err)
	}
	if n := b.open.Load(); n != 0 {
		t.Errorf("%d files are open after a failed OpenFrom", n)
	}
	every.Store(0)
	r := b.from(t)
	every.Store(7)
	failed := 0
	for {
		got, err := digest(r)
		if err == nil {
			if got != want {
				t.Errorf("digest = %x, want %x", got, want)
			}
			break
		}
		if !errors.Is(err, errNoBytes) || errors.Is(err, ErrCorrupt) {
			t.Fatalf("digest of a bucket that fails = %v, want its error", err)
		}
		failed++
	}
	if failed < 5 {
		t.Errorf("%d uses failed, want many", failed)
	}
	if bad, n := r.Damage(); n > 0 {
		t.Errorf("damage: %v", bad)
	}
}

// TestWrongBytes: bytes that come wrong are fetched again; if they stay wrong, they are damage.
func TestWrongBytes(t *testing.T) {
	dir := largeRelease(t)
	want, err := digest(mustOpen(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(9, 9))
	b := newBucket(t, dir)
	lies := 0
	b.bad = func(_ string, _ int64, data []byte) error {
		mu.Lock()
		defer mu.Unlock()
		if rng.IntN(20) == 0 {
			data[rng.IntN(len(data))] ^= 1
			lies++
		}
		return nil
	}
	r := b.from(t)
	if got, err := digest(r); err != nil || got != want || lies < 5 {
		t.Errorf("digest = %x, %v, want %x after %d lies", got, err, want, lies)
	}
	if bad, n := r.Damage(); n > 0 {
		t.Errorf("damage: %v", bad)
	}

	b = newBucket(t, dir)
	tries := 0
	name := packOf(t, dir, movie(1))
	b.bad = func(file string, off int64, data []byte) error {
		if file == name && off <= 3*checkBlock && off+int64(len(data)) > 3*checkBlock {
			data[3*checkBlock-off] ^= 1
			tries++
		}
		return nil
	}
	r = b.from(t)
	var bad *CorruptError
	if _, err := digest(r); !errors.As(err, &bad) || bad.File != name || bad.Off != 3*checkBlock {
		t.Errorf("digest of a damaged pack = %v, want damage at %d", err, 3*checkBlock)
	}
	if _, n := r.Damage(); n != 1 || tries != 1+maxRefills {
		t.Errorf("%d damaged blocks after %d tries, want 1 after %d", n, tries, 1+maxRefills)
	}
}

// TestPreviewFills: a preview trusts whole files, and fills others.
func TestPreviewFills(t *testing.T) {
	dir := largeRelease(t)
	want, err := digest(mustOpen(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	m, err := readManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := newBucket(t, dir)
	r, err := openFiles(m, b.source, true)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := digest(r); err != nil || got != want {
		t.Errorf("digest = %x, %v, want %x", got, err, want)
	}
}

// TestCopyFromBucket: parts upon a previous release that comes as it is read are those upon a folder, and of its
// packs come the footers alone.
func TestCopyFromBucket(t *testing.T) {
	dir := largeRelease(t)
	b := newBucket(t, dir)
	var parts []string
	for _, r := range []*Reader{mustOpen(t, dir), b.from(t)} {
		p, err := CreatePart(PartOptions{Dir: t.TempDir(), Previous: r})
		if err != nil {
			t.Fatal(err)
		}
		err = Guard(func() error {
			for i := range manyMovies {
				if e, ok := r.Resource(movie(fragment.ID(i))); ok {
					if err := p.Copy(e, nil); err != nil {
						return err
					}
				}
			}
			return nil
		})
		part, closing := p.Close()
		if err := errors.Join(err, closing); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, string(data))
	}
	if parts[0] != parts[1] || !strings.Contains(parts[0], packPrefix) {
		t.Errorf("parts differ:\n%s\n%s", parts[0], parts[1])
	}
	packs := 0
	for name := range b.opened {
		if strings.HasPrefix(name, packPrefix) {
			packs++
		}
	}
	if moved := b.total(packPrefix); moved > int64(packs)*2*bucketGranule {
		t.Errorf("%d bytes of %d packs are moved, want their footers", moved, packs)
	}
}

// TestDirs: a file comes from the first folder that has it.
func TestDirs(t *testing.T) {
	whole := largeRelease(t)
	first, second := copyOf(t, whole), copyOf(t, whole)
	for i, name := range filesOf(t, whole) {
		if err := os.Remove(filepath.Join([]string{first, second}[i%2], name)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := readManifest(whole)
	if err != nil {
		t.Fatal(err)
	}
	r, err := OpenFrom(m, Dirs(first, second))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := digest(mustOpen(t, whole))
	if got, err := digest(r); err != nil || got != want {
		t.Errorf("digest = %x, %v, want %x", got, err, want)
	}
	if err := errors.Join(r.Scrub(t.Context(), 1<<40), r.Close()); err != nil {
		t.Error(err)
	}
	if _, err := OpenFrom(m, Dirs(first)); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "file is missing") {
		t.Errorf("OpenFrom a folder without some files = %v", err)
	}
}
