// Package check verifies releases: Verify reads a whole release offline, Scrub the blocks of a release in service.
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
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/schemas/bug"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
)

// Options select what Verify checks.
type Options struct {
	// Subset, from 1 to Of, selects every Of-th file, every Of-th row of tables, and the content of every Of-th part:
	// its blocks and their segments. Both 0 select everything. All subsets together cover everything except the live bytes of packs and
	// the counts of sub-requests and languages.
	Subset, Of int
}

// Mine reports whether item i of a list, counted from 0, belongs to the subset.
func (o Options) Mine(i int) bool { return o.Of == 0 || i%o.Of == o.Subset-1 }

// maxProblems is the largest number of problems listed; a broken disk has millions.
const maxProblems = 1000

// Verify reads the release in dir and returns its problems, sorted by file and offset. Above 1000, it returns only
// their number. It checks the SHA-256 of each file, and every slot, block and piece. It inflates every segment and
// compares its length, CRC-32, operator and hash. It follows references, includes and aliases, and looks up the
// resources listed by tables. The error reports why checking failed, such as ctx. A release that release.Open rejects
// as corrupt is a problem, not an error. progress, if not nil, is called from time to time by one goroutine at a
// time.
func Verify(ctx context.Context, dir string, o Options, progress func(done, total int64)) ([]release.CorruptError, error) {
	if o != (Options{}) && (o.Subset < 1 || o.Subset > o.Of) {
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
	v := &verifier{r: r, o: o, progress: progress, live: map[string]int64{}, responses: release.ResponseCounts{SubRequests: map[string]int64{}, Languages: map[string]int64{}}}
	if err = errors.Join(v.run(ctx), r.Close()); err != nil {
		return nil, fmt.Errorf("verify release %q: %w", dir, err)
	}
	v.advance(v.total)
	return v.sorted(), nil
}

// A verifier checks the files of one release, and runs walkers on their content.
type verifier struct {
	r *release.Reader
	o Options

	mu          sync.Mutex             // guards the rest
	live        map[string]int64       // bytes of segments, by pack
	responses   release.ResponseCounts // all resources
	broken      bool                   // a part was not walked to its end
	problems    []release.CorruptError
	unlisted    int // problems beyond maxProblems
	done, total int64
	reported    int64 // bytes last passed to progress
	progress    func(done, total int64)
}

func (v *verifier) problem(file string, off int64, format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.problems) >= maxProblems {
		v.unlisted++
		return
	}
	v.problems = append(v.problems, release.CorruptError{File: file, Off: off, What: fmt.Sprintf(format, args...)})
}

// progressStep is the number of bytes between calls of progress.
const progressStep = 1 << 20

// advance adds n bytes to done.
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
	if v.unlisted > 0 {
		v.problems = append(v.problems, release.CorruptError{
			File: release.ManifestName, Off: -1, What: fmt.Sprintf("%d more problems in the files it lists", v.unlisted),
		})
	}
	return v.problems
}

// guard calls fn, and records an unreadable or damaged file as a problem.
func (v *verifier) guard(fn func() error) error {
	err := release.Guard(fn)
	var bad *release.CorruptError
	if errors.As(err, &bad) {
		v.problem(bad.File, bad.Off, "%s", bad.What)
		return nil
	}
	return err
}

// file compares a file's SHA-256 with the manifest and with its name, and its blocks with their CRCs. A CRC differs
// if the block or the CRC itself is damaged. For an index it counts the slots in use.
func (v *verifier) file(ctx context.Context, f release.File) error {
	m := v.r.File(f.Name)
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
		v.problem(f.Name, -1, "SHA-256 is %s, the name must start with it", sum)
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
	if prefix != "index" {
		return nil
	}
	used := uint64(0)
	for slots := m.Content()[release.HeaderLen:]; len(slots) > 0; slots = slots[release.SlotLen:] {
		if binary.LittleEndian.Uint64(slots) != 0 {
			used++
		}
	}
	if want := m.Counts()[release.IndexKeys]; used != want {
		v.problem(f.Name, -1, "footer counts %d slots in use, %d are", want, used)
	}
	return nil
}

// run runs the checks of the subset, one per processor at a time, each with the walker of its goroutine. Then it
// compares totals.
func (v *verifier) run(ctx context.Context) error {
	var tasks []func(*walker) error
	m := v.r.Manifest()
	for i, f := range m.Files() {
		file.ReadAhead(v.r.File(f.Name).Bytes())
		if v.o.Mine(i) {
			v.total += f.Size
			tasks = append(tasks, func(*walker) error { return v.file(ctx, f) })
		}
	}
	v.total += m.Counts.StoredBytes / int64(max(1, v.o.Of))
	for i := range m.Parts {
		if v.o.Mine(i) {
			tasks = append(tasks, func(w *walker) error { return w.part(ctx, i) })
		}
	}
	for _, kind := range tables.Kinds {
		tasks = append(tasks, func(*walker) error { return v.table(ctx, kind) })
	}
	var next atomic.Int64
	var g errgroup.Group
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() (err error) {
			defer bug.Catch(&err)
			w := &walker{verifier: v, follower: follower{v.r, map[depth]struct{}{}, map[release.Include]struct{}{}}}
			for i := next.Add(1); i <= int64(len(tasks)); i = next.Add(1) {
				if err := v.guard(func() error { return tasks[i-1](w) }); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return v.guard(func() error { v.totals(); return nil })
}
