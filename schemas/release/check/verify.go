package check

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// Options select what Verify checks.
type Options struct {
	// Subset, from 1 to Of, checks that part of Of parts, which together check
	// everything. Both 0 mean all of it.
	Subset, Of int
}

// maxProblems is how many problems Verify lists; a broken disk has millions.
const maxProblems = 1000

// Verify reads the release in dir and returns what is wrong with it, in order of file
// and offset; beyond 1000 problems only their number. It checks the SHA-256 of each
// file, every slot, block and piece, inflates every segment and compares its length,
// CRC-32, operator and hash, follows every reference, include and alias, and looks up the
// resources that tables list. The error is about
// what kept it from checking, such as ctx; a release that release.Open refuses as corrupt is a
// problem. Unless nil, progress is called now and then, by one goroutine at a time.
func Verify(ctx context.Context, dir string, o Options, progress func(done, total int64)) ([]release.CorruptError, error) {
	if o == (Options{}) {
		o = Options{Subset: 1, Of: 1}
	}
	if o.Subset < 1 || o.Subset > o.Of {
		return nil, fmt.Errorf("verify release: part %d of %d parts does not exist", o.Subset, o.Of)
	}
	r, err := release.OpenUnchecked(dir)
	var bad *release.CorruptError
	if errors.As(err, &bad) {
		return []release.CorruptError{*bad}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("verify release: %w", err)
	}
	v := &verifier{r: r, o: o, progress: progress}
	for i, f := range r.Manifest().Files() {
		if v.mine(uint64(i)) {
			v.total += f.Size
		}
	}
	v.total += r.Manifest().Counts.StoredBytes / int64(o.Of)
	for i, f := range r.Manifest().Files() {
		if err == nil && v.mine(uint64(i)) {
			err = v.guard(func() error { return v.file(ctx, f) })
		}
	}
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
	r *release.Reader
	o Options

	mu          sync.Mutex // guards the rest
	problems    []release.CorruptError
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
	v.problems = append(v.problems, release.CorruptError{File: file, Off: off, What: fmt.Sprintf(format, args...)})
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
func (v *verifier) sorted() []release.CorruptError {
	slices.SortFunc(v.problems, func(a, b release.CorruptError) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Off, b.Off), cmp.Compare(a.What, b.What))
	})
	if v.more > 0 {
		v.problems = append(v.problems, release.CorruptError{
			File: release.ManifestName, Off: -1, What: fmt.Sprintf("%d more problems in the files it lists", v.more),
		})
	}
	return v.problems
}

// guard calls fn, and makes a problem of damage that ends it: of a file that cannot be read.
func (v *verifier) guard(fn func() error) error {
	err := release.Guard(fn)
	var bad *release.CorruptError
	if errors.As(err, &bad) {
		v.problem(bad.File, bad.Off, "%s", bad.What)
		return nil
	}
	return err
}

// file compares the SHA-256 of a file with the manifest and with its name, and its blocks with their CRCs. Where a CRC
// differs the file is damaged, or its checks if the file is sound.
func (v *verifier) file(ctx context.Context, f release.File) error {
	m := v.r.File(f.Name)
	file.ReadAhead(m.Bytes())
	sha := sha256.New()
	for chunk := range slices.Chunk(m.Bytes(), progressStep) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		sha.Write(chunk)
		v.advance(int64(len(chunk)))
	}
	sum := hex.EncodeToString(sha.Sum(nil))
	prefix, digits, hashed := strings.Cut(f.Name, "-")
	switch {
	case sum != f.SHA256:
		v.problem(f.Name, -1, "SHA-256 is %s, the manifest has %s", sum, f.SHA256)
	case hashed && (prefix == "part" || prefix == "pack") && !strings.HasPrefix(sum, digits):
		v.problem(f.Name, -1, "SHA-256 is %s, the name has to start with that", sum)
	}
	checks, b := m.Checks(), 0
	for block := range slices.Chunk(m.Content(), release.CheckBlock) {
		if got, want := crc32.Checksum(block, release.Castagnoli), binary.LittleEndian.Uint32(checks[release.CheckLen*b:]); got != want {
			off := b * release.CheckBlock
			if sum == f.SHA256 {
				off = len(m.Content()) + release.CheckLen*b
			}
			v.problem(f.Name, int64(off), "CRC-32C of block %d is %08x, the checks have %08x", b, got, want)
		}
		b++
	}
	return nil
}

// content checks what is in the files. Several goroutines inflate segments.
func (v *verifier) content(ctx context.Context) error {
	w := &walker{
		verifier: v, follower: follower{r: v.r, shallow: map[depth]struct{}{}}, places: map[place]struct{}{},
		live: map[string]int64{}, jobs: make(chan segmentJob, 256),
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
