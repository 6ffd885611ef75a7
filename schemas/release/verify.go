package release

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/zeebo/xxh3"

	"reelsplice/schemas/fragment"
)

// VerifyOptions select what Verify checks.
type VerifyOptions struct {
	// Subset, from 1 to Of, checks that part of Of parts, which together check
	// everything. Both 0 mean all of it.
	Subset, Of int
}

// A Problem is something in a release that breaks the format.
type Problem struct {
	File string // name inside the release folder
	Off  int64  // byte offset; negative when it is the whole file
	What string // what is wrong with which resource, if known
}

// String returns file, offset and what is wrong.
func (p Problem) String() string { return place(p.File, p.Off, p.What) }

// maxProblems is how many problems Verify tells apart; a broken disk has millions.
const maxProblems = 1000

// Verify reads the release in dir and returns what is wrong with it, in order of file
// and offset; beyond 1000 problems only their number. It checks the SHA-256 of each
// file, every slot, block and piece, inflates every segment and compares its length,
// CRC-32, operator and hash, follows every Reference, Include and alias, and looks up the
// resources that tables speak of. The error is about
// what kept it from checking, such as ctx; a release that Open refuses as corrupt is a
// problem. Unless nil, progress is called now and then, by one goroutine at a time.
func Verify(ctx context.Context, dir string, o VerifyOptions, progress func(done, total int64)) ([]Problem, error) {
	if o == (VerifyOptions{}) {
		o = VerifyOptions{Subset: 1, Of: 1}
	}
	if o.Subset < 1 || o.Subset > o.Of {
		return nil, fmt.Errorf("verify release: part %d of %d parts does not exist", o.Subset, o.Of)
	}
	r, err := open(dir, true /* trust: all of it is looked at */)
	var bad *CorruptError
	if errors.As(err, &bad) {
		return []Problem{Problem(*bad)}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("verify release: %w", err)
	}
	v := newVerifier(r, o, progress)
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

// A verifier checks one release.
type verifier struct {
	r        *Reader
	o        VerifyOptions
	seen     map[uint64]segmentFacts // segments of the walk, by place, as a cache
	shallow  map[depth]struct{}      // what the walk has found to end in time, as a cache
	counts   fileCounts              // of the part at hand, as walked
	all      fileCounts              // of all parts
	segments uint64                  // met by the walk
	starts   []uint64                // of the programs of the resource at hand, ascending
	first    uint64                  // the place of its first segment; 0 for none
	places   map[uint64]struct{}     // of its segments, or of those of the common part
	live     []int64                 // bytes of segments, by pack
	z        inflater                // of the walk
	jobs     chan segmentJob

	mu          sync.Mutex // guards what follows
	problems    []Problem
	more        int // problems beyond maxProblems
	done, total int64
	told        int64 // what progress was told
	progress    func(done, total int64)
}

// segmentFacts are what a piece says of its segment.
type segmentFacts struct {
	stored, raw, crc, op uint32
	hash                 Hash
}

// A segmentJob is a segment to inflate.
type segmentJob struct {
	piece Piece
	key   []byte
	at    fragment.Address
}

func newVerifier(r *Reader, o VerifyOptions, progress func(done, total int64)) *verifier {
	v := &verifier{
		r: r, o: o, progress: progress, seen: map[uint64]segmentFacts{}, shallow: map[depth]struct{}{},
		places: map[uint64]struct{}{}, live: make([]int64, len(r.packs)),
	}
	for i, f := range r.manifest.Files() {
		if v.mine(uint64(i)) {
			v.total += f.Size
		}
	}
	v.total += r.manifest.Counts.StoredBytes / int64(o.Of)
	return v
}

// mine tells whether item i of some list belongs to the part to check.
func (v *verifier) mine(i uint64) bool { return i%uint64(v.o.Of) == uint64(v.o.Subset-1) }

func (v *verifier) problem(file string, off int64, format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.problems) >= maxProblems {
		v.more++
		return
	}
	v.problems = append(v.problems, Problem{File: file, Off: off, What: fmt.Sprintf(format, args...)})
}

// cacheLen bounds each cache of a verifier.
const cacheLen = 1 << 16

// progressStep is how many bytes pass between two calls of progress.
const progressStep = 1 << 20

// advance adds n bytes to those that are done.
func (v *verifier) advance(n int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.done = min(v.done+n, v.total)
	if v.progress != nil && (v.done-v.told >= progressStep || v.done == v.total && v.told < v.total) {
		v.told = v.done
		v.progress(v.done, v.total)
	}
}

// sorted returns the problems in order.
func (v *verifier) sorted() []Problem {
	slices.SortFunc(v.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Off, b.Off), cmp.Compare(a.What, b.What))
	})
	if v.more > 0 {
		v.problems = append(v.problems, Problem{File: manifestFile, Off: -1, What: fmt.Sprintf("%d more problems in the files it lists", v.more)})
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
			if t, ok := v.r.Table(strings.TrimPrefix(want.Name, tablePrefix)); ok && got.SHA256 != want.SHA256 {
				v.table(want.Name, t) // tells where
			}
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
		v.problem(f.Name, -1, "SHA-256 is %s, the manifest says %s", sha, f.SHA256)
		return
	}
	for _, prefix := range []string{partPrefix, packPrefix} {
		if strings.HasPrefix(f.Name, prefix) && f.Name != hashName(prefix, sha) {
			v.problem(f.Name, -1, "SHA-256 is %s, the name has to start with that", sha)
		}
	}
}

// checks compares the CRCs of the blocks of a file, as they were read, with its checks, and those
// with their second level. Where they differ the file is damaged, or its checks if it is sound.
func (v *verifier) checks(m *mapping, sums []byte, sound bool) {
	content, tops := int64(len(m.data)), sumsOf(m.sums)
	compareSums(tops, m.tops, func(b int64, got, want uint32) {
		v.problem(m.name, content+b*checkBlock, "CRC-32C of this block is %08x, the second level has %08x", got, want)
	})
	if f, err := parseFooter(m.name, m.all, uint64(len(m.all))); err == nil && crc32.Checksum(m.tops, castagnoli) != f.top {
		v.problem(m.name, content+int64(len(m.sums)), "CRC-32C of the second level is %08x, the footer has %08x", crc32.Checksum(m.tops, castagnoli), f.top)
	}
	compareSums(sums, m.sums, func(b int64, got, want uint32) {
		off := b * checkBlock
		if sound {
			off = content + checkLen*b
		}
		v.problem(m.name, off, "CRC-32C of block %d is %08x, the checks have %08x", b, got, want)
	})
}

// compareSums calls fn for each block of which two lists of CRCs differ. What a file has lost
// meanwhile is told by its SHA-256.
func compareSums(got, want []byte, fn func(b int64, got, want uint32)) {
	for i := 0; i < min(len(got), len(want)); i += checkLen {
		if g, w := le.Uint32(got[i:]), le.Uint32(want[i:]); g != w {
			fn(int64(i/checkLen), g, w)
		}
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
	v.jobs = make(chan segmentJob, 256)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(v.inflateAll)
	}
	err := v.walk(ctx)
	close(v.jobs)
	workers.Wait()
	return err
}

func (v *verifier) walk(ctx context.Context) error {
	for i := range v.r.indexes {
		if err := v.guard(func() error { return v.slots(ctx, i) }); err != nil {
			return err
		}
	}
	n, whole := uint64(0), true
	for _, p := range v.r.parts {
		err := v.guard(func() error {
			v.counts = fileCounts{}
			err := p.eachBlock(func(e Entry) error {
				if p.number != 0 {
					clear(v.places)
				}
				v.block(e, v.mine(n))
				n++
				return ctx.Err()
			})
			if err != nil {
				whole = false // Nothing behind a broken block can be found.
				return err
			}
			v.totals(p)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if !whole {
		return nil
	}
	v.manifest()
	return v.guard(func() error { return v.tables(ctx) })
}

// slots checks that each slot of index i leads to a block, and that looking up its key finds it.
func (v *verifier) slots(ctx context.Context, i int) error {
	x := &v.r.indexes[i]
	used, run := uint64(0), uint64(0) // run starts the slots in a row before n
	for n := range x.slots {
		if n%65536 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		off := headerLen + slotLen*n
		s := le.Uint64(x.data[off:])
		if s == 0 {
			run = n + 1
			continue
		}
		used++
		if v.mine(n) {
			v.slot(i, s, n, run, int64(off))
		}
	}
	if want := x.counts[indexKeys]; used != want {
		v.problem(x.name, -1, "footer counts %d slots in use, %d are", want, used)
	}
	return nil
}

func (v *verifier) slot(i int, s, n, run uint64, off int64) {
	x := &v.r.indexes[i]
	e, ok := v.r.block(slotRef(s))
	if !ok {
		v.problem(x.name, off, "slot leads to %s, where no block can start", v.placeOf(slotRef(s)))
		return
	}
	hash := xxh3.Hash(e.Key())
	ideal := home(hash<<(64-v.r.shift), x.homes)
	if want := slotOf(hash, e.Ref()); s != want || hash>>v.r.shift != uint64(i) {
		v.problem(x.name, off, "%s: slot is %016x, want %016x in index %d", fragment.DescribeKey(e.Key()), s, want, hash>>v.r.shift)
	} else if ideal < run || ideal > n || n-ideal > x.reach {
		v.problem(x.name, off, "%s: slot %d cannot be found from its ideal slot %d", fragment.DescribeKey(e.Key()), n, ideal)
	}
}

// placeOf names a place for people.
func (v *verifier) placeOf(ref Ref) string {
	return fmt.Sprintf("%d in part %d", ref.off(), ref>>refOffBits)
}

// block checks a block; the details only when it belongs to the part to check.
func (v *verifier) block(e Entry, mine bool) {
	v.counts[partBlocks]++
	if mine {
		v.key(e)
	}
	if e.isAlias() {
		if mine && !v.isResource(e.target()) {
			v.problem(e.p.name, int64(e.off), "alias %s leads to %d, where no resource starts", fragment.DescribeKey(e.Key()), e.number())
		}
		return
	}
	if mine && fragment.Kind(e.Key()[0]) == fragment.KindRemoved {
		v.removed(e)
	}
	v.counts[partResources]++
	v.counts[partFragments] += uint64(e.Len())
	v.fragments(e, mine)
}

// key checks that the index finds the block, and that its padding is zero.
func (v *verifier) key(e Entry) {
	if found, ok := v.r.find(e.Key()); !ok || found != e {
		v.problem(e.p.name, int64(e.off), "%s: the index does not lead here", fragment.DescribeKey(e.Key()))
	}
	if pad := e.block()[blockKey+e.keyLen() : e.fingerprintAt()]; !zero(pad) {
		v.problem(e.p.name, int64(e.off)+blockKey+int64(e.keyLen()), "%s: padding is % x, want zeros", fragment.DescribeKey(e.Key()), pad)
	}
}

// isResource tells whether a resource starts at ref: its bytes could look like one
// inside another block, but then the index leads elsewhere.
func (v *verifier) isResource(ref Ref) bool {
	e, ok := v.r.EntryAt(ref)
	if !ok {
		return false
	}
	found, ok := v.r.find(e.Key())
	return ok && found == e
}

// fragments checks the fragments of a resource. Their programs lie in the order of their
// first use, without gaps, so that each byte of the block means something.
func (v *verifier) fragments(e Entry, mine bool) {
	end := uint64(0) // of the programs walked
	v.starts, v.first = v.starts[:0], 0
	for i := range e.Len() {
		if mine && i > 0 && e.address(i-1) >= e.address(i) {
			v.problem(e.p.name, e.rowAt(i), "%s: address is not above the one before", describe(e.Key(), e.Address(i)))
		}
		start := e.start(i)
		if _, ok := slices.BinarySearch(v.starts, start); ok {
			continue // it is shared
		}
		f := e.Fragment(i)
		if start != end || f.program == nil {
			if mine {
				v.problem(e.p.name, e.rowAt(i)+fragmentProgram, "%s: program at %d of %d bytes, want one that is known or a whole one at %d",
					describe(e.Key(), e.Address(i)), start, e.programs(), end)
			}
			continue
		}
		v.starts = append(v.starts, start)
		head := uint64(len(binary.AppendUvarint(nil, uint64(len(f.program)))))
		v.program(e, i, f, int64(e.off+e.area()+start+head), mine)
		end = start + head + uint64(len(f.program))
	}
	if mine {
		v.base(e)
		v.rest(e, end)
	}
}

// base checks that a resource has a base if it has a segment, and that it is the place
// of the first one.
func (v *verifier) base(e Entry) {
	base, stored := uint64(0), e.typ() == typeStored
	if stored {
		base = le.Uint64(e.block()[e.baseAt():])
	}
	if base != v.first || stored != (v.first != 0) {
		v.problem(e.p.name, int64(e.off+e.baseAt()), "%s: type %d with base %016x, the first segment lies at %016x", fragment.DescribeKey(e.Key()), e.typ(), base, v.first)
	}
}

// rest checks that programs end where the block says, and that what follows is zero.
func (v *verifier) rest(e Entry, end uint64) {
	off := int64(e.off + e.area() + end)
	if end != e.programs() {
		v.problem(e.p.name, off, "%s: programs end at %d, the block has %d bytes of them", fragment.DescribeKey(e.Key()), end, e.programs())
		return
	}
	if pad := e.block()[e.area()+end:]; !zero(pad) {
		v.problem(e.p.name, off, "%s: padding is % x, want zeros", fragment.DescribeKey(e.Key()), pad)
	}
}

// program checks the pieces of f, fragment i of e, whose program starts at off in the
// part. Segments are dealt to the parts one by one, everything else with its block.
func (v *verifier) program(e Entry, i int, f Fragment, off int64, mine bool) {
	var p Piece
	k := 0
	for c := f.Pieces(); ; k++ {
		before := c.rest
		if !c.Next(&p) {
			if c.Broken() && mine {
				v.problem(e.p.name, off, "%s: piece %d, %s, breaks the format or leads outside the files: % x",
					describe(e.Key(), e.Address(i)), k, Op(before[0]), before[:min(len(before), 24)])
			}
			break
		}
		v.counts[partPieces]++
		row := before[:len(before)-len(c.rest)]
		v.piece(&piece{Piece: &p, key: e.Key(), at: e.Address(i), number: k, off: off, row: row, base: f.base}, e, mine)
		off += int64(len(row))
	}
}

// A piece is a Piece and where it stands.
type piece struct {
	*Piece
	key    []byte
	at     fragment.Address
	number int
	off    int64  // in the part
	row    []byte // its bytes there
	base   uint64
}

func (v *verifier) piece(p *piece, e Entry, mine bool) {
	where := uint64(p.Ref)
	if p.Op == OpSegment {
		where = uint64(p.Pack)<<wherePackShift | uint64(p.Offset)
		v.segment(p)
		if v.first == 0 {
			v.first = where
		}
	}
	if !mine {
		return
	}
	what := ""
	spec := PieceSpec{Op: p.Op, Segment: p.Segment, Literal: p.Text(), Sub: p.Sub, Include: p.Include, Word: p.Word, Number: p.Number}
	if want := appendPiece(nil, &spec, where, p.base); !bytes.Equal(want, p.row) {
		what = fmt.Sprintf("is % x, want % x", p.row, want)
	} else if p.Op == OpReference || p.Op == OpInclude {
		what = v.leads(program{e, p.at.Sub}, p.Piece)
	}
	if what != "" {
		v.problem(e.p.name, p.off, "%s: piece %d, %s, %s", describe(p.key, p.at), p.number, p.Op, what)
	}
}

// segment counts a segment as live, and hands it to be inflated unless the walk has met it lately.
func (v *verifier) segment(p *piece) {
	g := &p.Segment
	where := uint64(g.pack.number)<<wherePackShift | g.off
	if _, ok := v.places[where]; !ok {
		v.places[where] = struct{}{}
		v.live[g.pack.number] += int64(len(g.Stored))
	}
	facts := segmentFacts{uint32(len(g.Stored)), g.RawLen, g.CRC, g.Op, g.Hash}
	if v.seen[where] == facts && len(g.Stored) > 0 {
		return
	}
	if len(v.seen) >= cacheLen {
		clear(v.seen)
	}
	v.seen[where] = facts
	if v.mine(v.segments) {
		v.jobs <- segmentJob{*p.Piece, p.key, p.at}
	}
	v.segments++
}

// totals compares the counts of the footer of a part with the walk.
func (v *verifier) totals(p *part) {
	for i := range partPacks { // the rest is what Open checks
		if got, want := v.counts[i], p.counts[i]; got != want {
			v.problem(p.name, -1, "footer counts %d, the blocks have %d", want, got)
		}
		v.all[i] += v.counts[i]
	}
}

// manifest compares the counts of the manifest with the walk.
func (v *verifier) manifest() {
	keys := uint64(0)
	for i := range v.r.indexes {
		keys += v.r.indexes[i].counts[indexKeys]
	}
	if keys != v.all[partBlocks] {
		v.problem(manifestFile, -1, "the indexes have %d keys, the parts have %d", keys, v.all[partBlocks])
	}
	c := v.r.manifest.Counts
	want := [...]int64{c.Fragments, c.Segments, c.RawBytes, c.StoredBytes}
	got := [4]int64{int64(v.all[partFragments])}
	for i, m := range v.r.packs {
		got[1] += int64(m.counts[packSegments])
		got[2] += int64(m.counts[packRawBytes])
		got[3] += int64(len(m.data) - headerLen)
		if live := v.r.manifest.Packs[i].Live; live != v.live[i] {
			v.problem(manifestFile, -1, "%d bytes of %s are live, segments lie in %d", live, m.name, v.live[i])
		}
	}
	if got != want {
		v.problem(manifestFile, -1, "counts of fragments, segments, raw and stored bytes are %d, the files have %d", want, got)
	}
}

// inflateAll works off the jobs.
func (v *verifier) inflateAll() {
	var z inflater
	for j := range v.jobs {
		err := v.guard(func() error {
			if what := z.check(&j.piece.Segment); what != "" {
				v.problem(j.piece.Segment.pack.name, j.piece.Offset, "%s: %s", describe(j.key, j.at), what)
			}
			return nil
		})
		if err != nil { // cannot be: only damage ends it
			v.problem(j.piece.Segment.pack.name, j.piece.Offset, "%v", err)
		}
		v.advance(int64(len(j.piece.Segment.Stored)))
	}
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// An inflater inflates segments one after another. The zero value is ready.
type inflater struct {
	in   []byte
	src  bytes.Reader
	z    io.ReadCloser
	hash xxh3.Hasher
	out  [32 << 10]byte
}

// endOfStream is a final empty block, which an answer puts behind its last segment.
const endOfStream = "\x03\x00"

// reset starts on a segment as it would stand in an answer with nothing before it.
func (z *inflater) reset(stored []byte) error {
	z.in = append(append(z.in[:0], stored...), endOfStream...)
	z.src.Reset(z.in)
	if z.z == nil {
		z.z = flate.NewReader(&z.src)
		return nil
	}
	return z.z.(flate.Resetter).Reset(&z.src, nil)
}

// check returns what is wrong with g, or nothing.
func (z *inflater) check(g *Segment) string {
	if err := z.reset(g.Stored); err != nil {
		return err.Error()
	}
	var crc uint32
	var n uint64
	z.hash.Reset()
	for {
		k, err := z.z.Read(z.out[:])
		n += uint64(k)
		crc = crc32.Update(crc, crc32.IEEETable, z.out[:k])
		_, _ = z.hash.Write(z.out[:k]) // never fails
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Sprintf("inflating stops after %d raw bytes: %v", n, err)
		}
		if n > uint64(g.RawLen) {
			return fmt.Sprintf("it inflates to at least %d bytes, want %d", n, g.RawLen)
		}
	}
	switch {
	case z.src.Len() > 0:
		return "it holds a final block"
	case n != uint64(g.RawLen):
		return fmt.Sprintf("it inflates to %d bytes, want %d", n, g.RawLen)
	case crc != g.CRC:
		return fmt.Sprintf("CRC is %08x, want %08x", crc, g.CRC)
	case g.Op != CRCOp(n):
		return fmt.Sprintf("CRC operator is %08x, want %08x", g.Op, CRCOp(n))
	}
	if got := hashFrom(z.hash.Sum64()); got != g.Hash {
		return fmt.Sprintf("hash is %x, want %x", got, g.Hash)
	}
	return ""
}

// CheckAll compares the SHA-256 of each file of a release in the folder releasesDir with its
// manifest. Errors about the content match ErrCorrupt.
func CheckAll(ctx context.Context, releasesDir string, r *Reader) error {
	dir := filepath.Join(releasesDir, r.manifest.ID)
	for _, want := range r.manifest.Files() {
		got, err := hashFile(ctx, filepath.Join(dir, want.Name), nil)
		if err != nil {
			return err
		}
		if got.SHA256 != want.SHA256 {
			return corrupt(want.Name, -1, "SHA-256 is %s, the manifest says %s", got.SHA256, want.SHA256)
		}
	}
	return nil
}

// A program is what references and includes lead to: the fragments of one sub-request
// of a resource, of which the edge takes the one in the requested variant.
type program struct {
	e   Entry
	sub fragment.Sub
}

// String names p for people: "movie 550 row".
func (p program) String() string { return describe(p.e.Key(), fragment.Address{Sub: p.sub}) }

// fragments returns the fragments of p, but only one of those that share their bytes: a
// resource may have 65535 fragments of one long program. Such as overlap without being
// the same break the format, and are reported where they stand.
func (p program) fragments() []Fragment {
	first := p.e.search(fragment.Address{Sub: p.sub}.Uint64())
	order := make([]int, 0, 8)
	for i := first; i < p.e.Len() && p.e.Address(i).Sub == p.sub; i++ {
		order = append(order, i)
	}
	slices.SortFunc(order, func(i, k int) int { return cmp.Compare(p.e.start(i), p.e.start(k)) })
	var all []Fragment
	end := uint64(0) // of those that are in all
	for _, i := range order {
		if p.e.start(i) < end {
			continue
		}
		f := p.e.Fragment(i)
		end = p.e.start(i) + uint64(len(f.program)) + 1
		all = append(all, f)
	}
	return all
}

// A depth is a program and how many more references and includes it may nest.
type depth struct {
	program
	left int
}

// target returns where a reference or an include leads, and false for one that leads
// nowhere.
func (v *verifier) target(p *Piece) (program, bool) {
	if p.Op == OpReference {
		e, ok := v.r.EntryAt(p.Ref)
		return program{e, p.Sub}, ok && v.isResource(p.Ref) && e.hasSub(p.Sub)
	}
	e, ok := v.r.Include(p.Include)
	sub := p.Include.stored()
	if ok && !e.hasSub(sub) {
		var key [fragment.MaxKeyLen]byte
		e, ok = v.r.Lookup(fragment.AppendShared(key[:0], fragment.KindDefault, p.Include.Kind, ""))
	}
	if ok { // what answers every variant
		_, ok = e.Find(fragment.Address{Sub: sub})
	}
	return program{e, sub}, ok
}

// leads returns what is wrong with where p, a reference or an include in the program
// from, leads; nothing when all is well.
func (v *verifier) leads(from program, p *Piece) string {
	to, ok := v.target(p)
	if !ok {
		return "leads to " + v.absent(p)
	}
	path := v.tooDeep(to, MaxDepth-1)
	if path == nil {
		return ""
	}
	path = append(path, from)
	slices.Reverse(path)
	names := make([]string, len(path))
	for i := range path {
		if slices.Contains(path[:i], path[i]) {
			return fmt.Sprintf("leads in a circle: %s, %s", strings.Join(names[:i], ", "), path[i])
		}
		names[i] = path[i].String()
	}
	return fmt.Sprintf("leads through more than %d references and includes: %s", MaxDepth, strings.Join(names, ", "))
}

// absent says which target of p is not there.
func (v *verifier) absent(p *Piece) string {
	if p.Op == OpReference {
		return fmt.Sprintf("%s of a resource at %d, which is not there", p.Sub, p.Ref.off())
	}
	if _, ok := v.r.Include(p.Include); !ok {
		return fmt.Sprintf("%s, a resource which is not there", p.Include)
	}
	return fmt.Sprintf("%s, of which neither the resource nor the default of its kind has the base", p.Include)
}

// tooDeep follows what leads on from p. It returns the way, end first, to the first
// place where more than left references and includes lie inside one another; nil when
// there is none. What leads nowhere is reported where it stands, not here.
func (v *verifier) tooDeep(p program, left int) []program {
	if left < 0 {
		return []program{p}
	}
	if _, ok := v.shallow[depth{p, left}]; ok {
		return nil
	}
	var piece Piece
	for _, f := range p.fragments() {
		for c := f.Pieces(); c.Next(&piece); {
			if path := v.tooDeepIn(&piece, left); path != nil {
				return append(path, p)
			}
		}
	}
	if len(v.shallow) >= cacheLen {
		clear(v.shallow)
	}
	v.shallow[depth{p, left}] = struct{}{}
	return nil
}

// tooDeepIn is tooDeep of one piece.
func (v *verifier) tooDeepIn(piece *Piece, left int) []program {
	if piece.Op != OpReference && piece.Op != OpInclude {
		return nil
	}
	to, ok := v.target(piece)
	if !ok {
		return nil
	}
	return v.tooDeep(to, left-1)
}
