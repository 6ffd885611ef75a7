package release_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	. "github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// manyMovies is how many movies largeRelease has: enough for two packs and for indexes of two blocks.
const manyMovies = 600

var defaultKey = fragment.AppendShared(nil, fragment.KindDefault, fragment.KindMovie, "")

// largeRelease makes a release whose files have many blocks, and returns its folder.
func largeRelease(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	w, err := Create(dir)
	sharedtest.NoError(tb, err)
	w.MaxPackBytes = 512 << 10
	rng := rand.New(rand.NewPCG(1, 2))
	raw := make([]byte, 1500)
	sharedtest.NoError(tb, w.Add(ResourceSpec{Key: defaultKey, Fragments: []FragmentSpec{Frag(Row, Lit(strings.Repeat("default", 8000)))}}))
	var specs []ResourceSpec
	for i := range manyMovies {
		for k := range raw {
			raw[k] = byte(rng.Uint32())
		}
		specs = append(specs, ResourceSpec{Key: Movie(fragment.ID(i)), ID: uint64(i), Fragments: []FragmentSpec{
			Frag(Details, Seg(Plain(string(raw)))), Frag(Row, Lit(fmt.Sprintf(`"id":%d`, i))),
		}})
	}
	sharedtest.NoError(tb, w.Add(specs...))
	t, err := w.Table("large", manyMovies)
	sharedtest.NoError(tb, err)
	for _, name := range []string{"one", "two"} {
		if _, err := t.Section(name).Write(bytes.Repeat([]byte(name), 20_000)); err != nil {
			tb.Fatal(err)
		}
	}
	sharedtest.NoError(tb, t.Close())
	return filepath.Join(dir, Seal(tb, w).ID)
}

// digest reads all of a release as an edge does, and returns a checksum of it.
func digest(r *Reader) (sum uint64, err error) {
	h := xxh3.New()
	err = Guard(func() error {
		for _, f := range r.Manifest().Tables {
			name, _ := TableName(f.Name)
			t, _ := r.Table(name)
			for _, s := range t.Sections() {
				_, _ = h.Write(t.Section(s))
			}
		}
		var p Piece
		for i := range manyMovies + 1 {
			key := Movie(fragment.ID(i))
			if i == manyMovies {
				key = defaultKey
			}
			e, ok := r.Lookup(key)
			_, _ = fmt.Fprint(h, ok, e.ID(), e.Len(), string(e.Key()))
			for k := range e.Len() {
				f, _ := e.Find(e.Address(k))
				c := f.Pieces()
				for c.Next(&p) {
					p.Segment.Check()
					_, _ = h.Write(p.Segment.Stored)
					_, _ = h.Write(p.Text())
					_, _ = h.Write(p.Segment.Hash[:])
				}
				if c.Broken {
					return fmt.Errorf("%w: a recipe is broken", ErrCorrupt) // zeros behind the end of a file that shrank
				}
			}
		}
		return nil
	})
	return h.Sum64(), err
}

// filesOf returns the names of the files of a release that are mapped.
func filesOf(tb testing.TB, dir string) (names []string) {
	tb.Helper()
	for _, f := range MustOpen(tb, dir).Manifest().Files() {
		names = append(names, f.Name)
	}
	return names
}

// TestFlips flips bits of every file: the release is refused, or reading it is an error
// that names the file, or what is read is as it was.
func TestFlips(t *testing.T) {
	dir := Copy(t, largeRelease(t))
	want, err := digest(MustOpen(t, dir))
	sharedtest.NoError(t, err)
	for _, name := range filesOf(t, dir) {
		path := filepath.Join(dir, name)
		st, err := os.Stat(path)
		sharedtest.NoError(t, err)
		found, flips := 0, int64(12)
		for i := range flips {
			off, bit := st.Size()*i/flips+i%7, int(i%8)
			Flip(t, path, off, bit)
			r, err := Open(dir)
			if err == nil {
				var got uint64
				if got, err = digest(r); err == nil && got != want {
					t.Errorf("bit %d of byte %d of %s: what is read is wrong", bit, off, name)
				}
				_ = r.Close()
			}
			if err != nil {
				found++
				if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), name) {
					t.Errorf("bit %d of byte %d of %s: %v, want an error that names the file", bit, off, name, err)
				}
			}
			Flip(t, path, off, bit)
		}
		if found < int(flips)-1 { // all but those in reserved bytes
			t.Errorf("%s: %d of %d flips are found", name, found, flips)
		}
	}
	if got, err := digest(MustOpen(t, dir)); err != nil || got != want {
		t.Errorf("mended: %x, %v", got, err)
	}
}

// TestCheckedOnce: a block is checked when it is used first and not again, and others not
// at all, until a scrub finds the damage.
func TestCheckedOnce(t *testing.T) {
	dir := Copy(t, largeRelease(t))
	pack := PackOf(t, dir, Movie(1))
	r := MustOpen(t, dir)
	read := func(id fragment.ID) error {
		return Guard(func() error {
			e, _ := r.Lookup(Movie(id))
			var p Piece
			c := e.Fragment(0).Pieces()
			c.Next(&p)
			p.Segment.Check()
			return nil
		})
	}
	sharedtest.NoError(t, read(1))
	var told []string
	r.NotifyDamage(func(err *CorruptError) { told = append(told, err.Error()) })
	Flip(t, filepath.Join(dir, pack), HeaderLen+1600, 3) // movie 1
	if err := read(1); err != nil {
		t.Errorf("a block is checked again: %v", err)
	}
	sharedtest.NoError(t, check.Scrub(t.Context(), r, 1<<40, func(int64) {}))
	first, blocks := r.Damage()
	if blocks != 1 || first == nil || first.File != pack || first.Off != 0 || len(told) != 1 {
		t.Errorf("Damage() = %v in %d blocks, told %q, want the first block of %s", first, blocks, told, pack)
	}
	for range 2 {
		var bad *CorruptError
		if err := read(1); !errors.As(err, &bad) || bad.File != pack || bad.Off != 0 {
			t.Errorf("after the scrub: %v, want damage of %s", err, pack)
		}
	}
	if err := read(500); err != nil {
		t.Errorf("another block: %v", err)
	}
	if len(told) != 1 {
		t.Errorf("damage is told %d times, want once", len(told))
	}
	Flip(t, filepath.Join(dir, pack), HeaderLen+1600, 3)
	if err := read(1); err != nil {
		t.Errorf("mended: %v", err)
	}
}

//go:linkname scrubChunk github.com/reelsplice/reelsplice/schemas/release/check.scrubChunk
var scrubChunk int64

// TestScrub: a scrub finds damage in every file, also of many chunks, stops with its context and keeps its rate.
func TestScrub(t *testing.T) {
	whole := largeRelease(t)
	for i, name := range slices.Repeat(filesOf(t, whole), 2) {
		if i == len(filesOf(t, whole)) {
			if scrubChunk <= CheckBlock {
				t.Fatalf("chunks have %d bytes: has the variable another name?", scrubChunk)
			}
			sharedtest.Set(t, &scrubChunk, CheckBlock)
		}
		dir := Copy(t, whole)
		r := MustOpen(t, dir)
		Flip(t, filepath.Join(dir, name), int64(len(r.File(name).Bytes()))/2, 1)
		sharedtest.NoError(t, check.Scrub(t.Context(), r, 1<<40, func(int64) {}))
		if first, _ := r.Damage(); first == nil || first.File != name {
			t.Errorf("damage of %s: a scrub finds %v", name, first)
		}
	}
	r := MustOpen(t, whole)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	sharedtest.Within(t, "a scrub, which takes an hour without its context", func() {
		if err := check.Scrub(ctx, r, 1<<10, func(int64) {}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Scrub = %v, want an end with its context", err)
		}
	})
	if _, blocks := r.Damage(); blocks > 0 {
		t.Errorf("a sound release has %d damaged blocks", blocks)
	}
}

// skipUnlessShrinks skips tests of mapped files that become shorter.
func skipUnlessShrinks(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("this system refuses to make mapped files shorter")
	}
}

// TestShrunk cuts each file under its mapping while others read it: they get errors, and the
// process goes on. What is left of the last page is found too.
func TestShrunk(t *testing.T) {
	skipUnlessShrinks(t)
	whole := largeRelease(t)
	for _, name := range filesOf(t, whole) {
		for _, part := range []int64{0, 2} {
			dir := Copy(t, whole)
			r := MustOpen(t, dir)
			if _, err := digest(r); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			reading := make(chan struct{}, 2)
			for range 2 {
				wg.Go(func() {
					for range 3 {
						if _, err := digest(r); err != nil && !errors.Is(err, ErrCorrupt) {
							t.Errorf("%s: %v", name, err)
						}
						select {
						case reading <- struct{}{}:
						default:
						}
					}
				})
			}
			<-reading
			size := int64(0)
			if part > 0 {
				size = int64(len(r.File(name).Bytes()))/part + 100
			}
			sharedtest.NoError(t, os.Truncate(filepath.Join(dir, name), size))
			wg.Wait()
			check.Sizes(r)
			var bad *CorruptError
			if first, _ := r.Damage(); first == nil || first.File != name {
				t.Errorf("%s of %d bytes: damage %v, want that file", name, size, first)
			}
			if _, err := digest(r); !errors.As(err, &bad) || bad.File != name {
				t.Errorf("%s of %d bytes: %v, want damage of that file", name, size, err)
			}
		}
	}
}

// TestVerifyShrinking: Verify says of files that shrink meanwhile what is wrong.
func TestVerifyShrinking(t *testing.T) {
	skipUnlessShrinks(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // files one after the other: the one that shrinks is not read before
	whole := largeRelease(t)
	for _, name := range filesOf(t, whole) {
		dir := Copy(t, whole)
		var once sync.Once
		total := int64(0)
		for _, f := range MustOpen(t, dir).Manifest().Files() {
			total += f.Size
		}
		problems, err := check.Verify(t.Context(), dir, check.Options{}, func(done, _ int64) {
			if done >= total/2 || name >= "pack-" {
				once.Do(func() { _ = os.Truncate(filepath.Join(dir, name), 100) })
			}
		})
		if err != nil || !slices.ContainsFunc(problems, func(p CorruptError) bool { return p.File == name }) {
			t.Errorf("Verify while %s shrinks = %v, %v, want a problem there", name, problems, err)
		}
	}
}

// TestVerifyNamesBlock: Verify names the damaged block, of content or of checks.
func TestVerifyNamesBlock(t *testing.T) {
	dir := Copy(t, largeRelease(t))
	pack := PackOf(t, dir, Movie(1))
	f := func(file string, off int64, want string) {
		t.Helper()
		Flip(t, filepath.Join(dir, file), off, 0)
		problems, err := check.Verify(t.Context(), dir, check.Options{}, nil)
		if err != nil || !slices.ContainsFunc(problems, func(p CorruptError) bool { return strings.HasPrefix(p.Error(), want) }) {
			t.Errorf("Verify = %v, %v, want %q", problems, err, want)
		}
		Flip(t, filepath.Join(dir, file), off, 0)
	}
	f(pack, 3*CheckBlock+5, pack+": offset 12288: CRC-32C of block 3 is ")
	f("table-large", CheckBlock+5, "table-large: offset 4096: CRC-32C of block 1 is ")
	m := MustOpen(t, dir).File(pack)
	f(pack, int64(len(m.Content()))+4, pack+": offset 4096: CRC-32C of block 1 is ")
	noProblems(t, dir)
}

// TestChecksRefused: what Open checks of a footer.
func TestChecksRefused(t *testing.T) {
	dir := Copy(t, largeRelease(t))
	path := filepath.Join(dir, "table-large")
	whole := ReadFile(t, path)
	f := func(what, want string, change func(footer []byte)) {
		t.Helper()
		b := slices.Clone(whole)
		footer := b[len(b)-FooterLen:]
		change(footer)
		binary.LittleEndian.PutUint32(footer[FooterLen-4:], crc32.ChecksumIEEE(footer[:FooterLen-4]))
		WriteFile(t, b, path)
		if r, err := Open(dir); err == nil || !strings.Contains(err.Error(), want) {
			if err == nil {
				_ = r.Close()
			}
			t.Errorf("%s: Open = %v, want %q", what, err, want)
		}
	}
	f("more content", " bytes of content do not make a file of ", func(b []byte) { b[0]++ })
	f("no content", "0 bytes of content do not make a file of ", func(b []byte) { binary.LittleEndian.PutUint64(b, 0) })
	f("content that overflows", " bytes of content do not make a file of ", func(b []byte) { binary.LittleEndian.PutUint64(b, 1<<64-1) })
}

// TestGuard: errors and other panics pass.
func TestGuard(t *testing.T) {
	if err := Guard(func() error { return os.ErrInvalid }); !errors.Is(err, os.ErrInvalid) {
		t.Errorf("Guard = %v, want the error", err)
	}
	var passed any
	func() {
		defer func() { passed = recover() }()
		_ = Guard(func() error { panic("a bug") })
	}()
	if passed != "a bug" {
		t.Errorf("a panic is recovered as %v, want it to pass", passed)
	}
	if Damage("a bug") != nil {
		t.Error("another panic is damage")
	}
}

// TestSectionCheck checks sections that are held, again once there is damage.
func TestSectionCheck(t *testing.T) {
	dir := Copy(t, largeRelease(t))
	r := MustOpen(t, dir)
	table, _ := r.Table("large")
	var one, two, none SectionCheck
	one.Add(table, "one")
	two.Add(table, "two")
	none.Add(nil, "three")
	checked := func(c *SectionCheck) error { return Guard(func() error { c.Check(); return nil }) }
	sharedtest.NoError(t, errors.Join(checked(&one), checked(&two), checked(&none)))
	view, ok := table.View("one")
	if _, no := table.View("three"); !ok || no || view.Len() != 60_000 {
		t.Errorf("View has %d bytes, %v; one that nobody wrote is there: %v", view.Len(), ok, no)
	}
	part := func(from, to uint64) error { return Guard(func() error { view.Bytes(from, to); return nil }) }
	Flip(t, filepath.Join(dir, "table-large"), 30_000, 0) // one value
	sharedtest.NoError(t, errors.Join(checked(&one), check.Scrub(t.Context(), r, 1<<40, func(int64) {}), checked(&two), part(0, 10), part(50_000, 60_000)))
	if err := checked(&one); !errors.Is(err, ErrCorrupt) {
		t.Errorf("the damaged section: %v", err)
	}
	if err := part(29_000, 31_000); !errors.Is(err, ErrCorrupt) {
		t.Errorf("the damaged part: %v", err)
	}
}

// TestOpenShrinking: a file that is cut while a release is opened is an error.
func TestOpenShrinking(t *testing.T) {
	skipUnlessShrinks(t)
	whole := largeRelease(t)
	for _, name := range filesOf(t, whole) {
		dir := Copy(t, whole)
		err := OpenCut(dir, func() error { return os.Truncate(filepath.Join(dir, name), 0) })
		var bad *CorruptError
		if !errors.As(err, &bad) || bad.File != name {
			t.Errorf("%s is cut while it is opened: %v, want that file", name, err)
		}
	}
}
