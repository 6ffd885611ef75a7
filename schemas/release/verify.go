package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// VerifyOptions select what Verify checks.
type VerifyOptions struct {
	// Subset, from 1 to Of, checks that part of Of parts, which together check
	// everything. Both 0 mean all of it.
	Subset, Of int
}

// maxProblems is how many problems Verify lists; a broken disk has millions.
const maxProblems = 1000

// Verify reads the release in dir and returns what is wrong with it, in order of file
// and offset; beyond 1000 problems only their number. It checks the SHA-256 of each
// file, every slot, block and piece, inflates every segment and compares its length,
// CRC-32, operator and hash, follows every Reference, Include and alias, and looks up the
// resources that tables speak of. The error is about
// what kept it from checking, such as ctx; a release that Open refuses as corrupt is a
// problem. Unless nil, progress is called now and then, by one goroutine at a time.
func Verify(ctx context.Context, dir string, o VerifyOptions, progress func(done, total int64)) ([]CorruptError, error) {
	if o == (VerifyOptions{}) {
		o = VerifyOptions{Subset: 1, Of: 1}
	}
	if o.Subset < 1 || o.Subset > o.Of {
		return nil, fmt.Errorf("verify release: part %d of %d parts does not exist", o.Subset, o.Of)
	}
	r, err := open(dir, true /* trust: all of it is looked at */)
	var bad *CorruptError
	if errors.As(err, &bad) {
		return []CorruptError{*bad}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("verify release: %w", err)
	}
	v := &verifier{r: r, o: o, progress: progress}
	for i, f := range r.manifest.Files() {
		if v.mine(uint64(i)) {
			v.total += f.Size
		}
	}
	v.total += r.manifest.Counts.StoredBytes / int64(o.Of)
	err = v.files(ctx, dir)
	if err == nil {
		err = v.content(ctx)
	}
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("verify release %q: %w", dir, err)
	}
	v.advance(v.total)
	return v.sorted(), nil
}

// A verifier checks the files of one release, and has a walker check what is in them.
type verifier struct {
	r *Reader
	o VerifyOptions

	mu          sync.Mutex // guards the rest
	problems    []CorruptError
	more        int // problems beyond maxProblems
	done, total int64
	reported    int64 // to progress
	progress    func(done, total int64)
}

// mine reports whether item i of some list belongs to the part to check.
func (v *verifier) mine(i uint64) bool { return i%uint64(v.o.Of) == uint64(v.o.Subset-1) }

func (v *verifier) problem(file string, off int64, format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.problems) >= maxProblems {
		v.more++
		return
	}
	v.problems = append(v.problems, CorruptError{File: file, Off: off, What: fmt.Sprintf(format, args...)})
}

// progressStep is how many bytes pass between two calls of progress.
const progressStep = 1 << 20

// advance adds n bytes to those that are done.
func (v *verifier) advance(n int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.done = min(v.done+n, v.total)
	if v.progress != nil && (v.done-v.reported >= progressStep || v.done == v.total && v.reported < v.total) {
		v.reported = v.done
		v.progress(v.done, v.total)
	}
}

// sorted returns the problems in order.
func (v *verifier) sorted() []CorruptError {
	slices.SortFunc(v.problems, func(a, b CorruptError) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Off, b.Off), cmp.Compare(a.What, b.What))
	})
	if v.more > 0 {
		v.problems = append(v.problems, CorruptError{File: ManifestName, Off: -1, What: fmt.Sprintf("%d more problems in the files it lists", v.more)})
	}
	return v.problems
}

// files compares the SHA-256 of each file with the manifest, and its blocks with its checks.
func (v *verifier) files(ctx context.Context, dir string) error {
	for i, want := range v.r.manifest.Files() {
		if !v.mine(uint64(i)) {
			continue
		}
		m := v.r.files[want.Name]
		var sums blockSums
		left := len(m.data)
		got, err := hashFile(ctx, filepath.Join(dir, want.Name), func(b []byte) {
			k := min(left, len(b))
			sums.write(b[:k])
			left -= k
			v.advance(int64(len(b)))
		})
		if err != nil {
			return err
		}
		v.names(want, got.SHA256)
		err = v.guard(func() error {
			v.checks(m, sums.close(), got.SHA256 == want.SHA256)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// names compares a file's SHA-256 with the manifest and with its name.
func (v *verifier) names(f File, sha string) {
	if sha != f.SHA256 {
		v.problem(f.Name, -1, "SHA-256 is %s, the manifest has %s", sha, f.SHA256)
		return
	}
	for _, prefix := range []string{partPrefix, packPrefix} {
		if strings.HasPrefix(f.Name, prefix) && f.Name != hashName(prefix, sha) {
			v.problem(f.Name, -1, "SHA-256 is %s, the name has to start with that", sha)
		}
	}
}

// checks compares the CRCs of the blocks of a file, as they were read, with its checks. Where
// they differ the file is damaged, or its checks if it is sound. Its SHA-256 shows what a file
// has lost meanwhile.
func (v *verifier) checks(m *mapping, sums []byte, sound bool) {
	for i := 0; i < min(len(sums), len(m.sums)); i += checkLen {
		b, got, want := i/checkLen, le.Uint32(sums[i:]), le.Uint32(m.sums[i:])
		if got == want {
			continue
		}
		off := b * checkBlock
		if sound {
			off = len(m.data) + i
		}
		v.problem(m.name, int64(off), "CRC-32C of block %d is %08x, the checks have %08x", b, got, want)
	}
}

// guard calls fn, and makes a problem of damage that ends it: of a file that cannot be read.
func (v *verifier) guard(fn func() error) error {
	err := Guard(fn)
	var bad *CorruptError
	if errors.As(err, &bad) {
		v.problem(bad.File, bad.Off, "%s", bad.What)
		return nil
	}
	return err
}

// content checks what is in the files. Several goroutines inflate segments.
func (v *verifier) content(ctx context.Context) error {
	w := &walker{
		v: v, r: v.r, follower: follower{r: v.r, shallow: map[depth]struct{}{}}, seen: map[uint64]segmentFacts{},
		places: map[uint64]struct{}{}, live: make([]int64, len(v.r.packs)), jobs: make(chan segmentJob, 256),
	}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(w.inflateAll)
	}
	err := w.walk(ctx)
	close(w.jobs)
	workers.Wait()
	return err
}

// Check compares the file path with its description. An error about its content matches ErrCorrupt.
func (f File) Check(ctx context.Context, path string) error {
	got, err := hashFile(ctx, path, nil)
	if err == nil && got.SHA256 != f.SHA256 {
		err = corrupt(f.Name, -1, "SHA-256 is %s, the manifest has %s", got.SHA256, f.SHA256)
	}
	return err
}

// CheckAll checks each file of a release in the folder releasesDir.
func CheckAll(ctx context.Context, releasesDir string, r *Reader) error {
	for _, f := range r.manifest.Files() {
		if err := f.Check(ctx, filepath.Join(releasesDir, r.manifest.ID, f.Name)); err != nil {
			return err
		}
	}
	return nil
}
