package release

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"reelsplice/schemas/fragment"
)

// A PieceSpec is one step of a program to write. Which fields count depends on Op.
type PieceSpec struct {
	Op      Op
	Segment Segment      // of OpSegment
	Literal []byte       // of OpLiteral: 1 to MaxLiteral bytes
	Ref     Ref          // of OpReference: a resource of shard 0
	Sub     fragment.Sub // of OpReference: a sub-request which that resource has
	Include Include      // of OpInclude: a fragment anywhere in the release, which Verify looks for
	Word    Word         // of OpName
	Number  uint32       // of OpName: of the season or the episode
}

// A FragmentSpec is a fragment to write: 1 to MaxPieces pieces.
type FragmentSpec struct {
	Address fragment.Address
	Pieces  []PieceSpec
}

// A ResourceSpec is a resource to write: at most MaxFragments fragments with different
// addresses, in any order. Key and Aliases have 1 to fragment.MaxKeyLen bytes each, and
// no key may occur twice in a release.
type ResourceSpec struct {
	Key []byte
	// ID is the number that standalone answers have where their program has an id
	// mark. It need not be part of the key.
	ID        uint64
	Aliases   [][]byte
	Fragments []FragmentSpec
}

// A ShardWriter takes the resources of one shard, in the order in which their blocks
// and segments will lie. It is for one goroutine at a time.
type ShardWriter struct {
	w      *Writer
	number int
	path   string // of the piece of the directory: see joiner
	f      *os.File
	out    *bufio.Writer
	off    uint64 // bytes that the piece will have in the directory
	block  block  // in the making
	order  []int  // of the fragments in the making

	pack   *packWriter  // nil before the first segment, and after Close
	packs  []summedFile // completed
	seen   map[segmentID]uint64
	counts counts
	closed bool
	err    error // what broke the shard for good
}

// segmentID tells segments apart that are stored once: in all of shard 0, and within
// one resource of the others.
type segmentID struct {
	hash     Hash
	raw, crc uint32
}

func newShardWriter(w *Writer, number int) (*ShardWriter, error) {
	s := &ShardWriter{w: w, number: number, path: filepath.Join(w.tmp, fmt.Sprintf(".directory-%05d", number))}
	f, err := os.Create(s.path)
	if err != nil {
		return nil, err
	}
	s.f, s.out = f, bufio.NewWriterSize(f, 64<<10)
	s.seen = map[segmentID]uint64{}
	return s, nil
}

// Add writes a resource and returns its place, which means something for shard 0 only.
// It copies what it keeps. A resource that breaks a rule is refused as a whole, and the
// shard can go on; after an error of the disk it cannot.
func (s *ShardWriter) Add(r ResourceSpec) (Ref, error) {
	if s.err != nil {
		return 0, fmt.Errorf("add to shard %d: it has failed before: %w", s.number, s.err)
	}
	if s.closed {
		return 0, fmt.Errorf("add to shard %d: %w", s.number, os.ErrClosed)
	}
	if err := s.check(r); err != nil {
		return 0, fmt.Errorf("add to shard %d: %s: %w", s.number, fragment.DescribeKey(r.Key), err)
	}
	if s.number != 0 {
		clear(s.seen) // identical segments are found within a resource only
	}
	ref := Ref(headerLen + s.off)
	if err := s.write(r); err != nil {
		s.err = err
		return 0, fmt.Errorf("add to shard %d: %w", s.number, err)
	}
	if s.number == 0 {
		for i := range r.Fragments {
			s.w.common.add(ref, r.Fragments[i].Address.Sub)
		}
	}
	return ref, nil
}

// check tells what r breaks, and leaves the order of its fragments in s.order.
func (s *ShardWriter) check(r ResourceSpec) error {
	if err := checkKey(r.Key); err != nil {
		return err
	}
	for _, key := range r.Aliases {
		if err := checkKey(key); err != nil {
			return fmt.Errorf("alias: %w", err)
		}
	}
	if len(r.Fragments) > MaxFragments {
		return fmt.Errorf("%d fragments, at most %d are possible", len(r.Fragments), MaxFragments)
	}
	s.order = s.order[:0]
	for i, f := range r.Fragments {
		s.order = append(s.order, i)
		if err := s.checkFragment(f); err != nil {
			return fmt.Errorf("%s: %w", f.Address, err)
		}
	}
	slices.SortFunc(s.order, func(a, b int) int {
		return cmp.Compare(r.Fragments[a].Address.Uint64(), r.Fragments[b].Address.Uint64())
	})
	for i := 1; i < len(s.order); i++ {
		if a := r.Fragments[s.order[i]].Address; a == r.Fragments[s.order[i-1]].Address {
			return fmt.Errorf("%s is there twice", a)
		}
	}
	return nil
}

func checkKey(key []byte) error {
	if len(key) == 0 || len(key) > fragment.MaxKeyLen {
		return fmt.Errorf("key %q has %d bytes, 1 to %d are possible", key, len(key), fragment.MaxKeyLen)
	}
	return nil
}

func (s *ShardWriter) checkFragment(f FragmentSpec) error {
	if len(f.Pieces) == 0 || len(f.Pieces) > MaxPieces {
		return fmt.Errorf("%d pieces, 1 to %d are possible", len(f.Pieces), MaxPieces)
	}
	for i := range f.Pieces {
		if err := s.checkPiece(&f.Pieces[i]); err != nil {
			return fmt.Errorf("piece %d: %w", i, err)
		}
	}
	return nil
}

func (s *ShardWriter) checkPiece(p *PieceSpec) error {
	switch p.Op {
	case OpSegment:
		return p.Segment.check()
	case OpReference:
		if !s.w.common.has(p.Ref, p.Sub) {
			return fmt.Errorf("shard 0 has no resource with %s at %d", p.Sub, p.Ref)
		}
	case OpInclude:
		if what := p.Include.fault(); what != "" {
			return fmt.Errorf("include of %s %d: %s", p.Include.Kind, p.Include.ID, what)
		}
	case OpName:
		if !p.Word.valid() {
			return fmt.Errorf("name of unknown word %d", p.Word)
		}
	case OpLiteral:
		if len(p.Literal) == 0 || len(p.Literal) > MaxLiteral {
			return fmt.Errorf("literal of %d bytes, 1 to %d are possible", len(p.Literal), MaxLiteral)
		}
	case OpIDMark, OpPageMark, OpIDEnd:
	default:
		return fmt.Errorf("unknown operation %d", p.Op)
	}
	return nil
}

// check tells what of g cannot be right, as far as that shows without inflating it.
func (g *Segment) check() error {
	if uint64(len(g.Stored)) > math.MaxUint32 {
		return fmt.Errorf("segment of %d bytes, at most %d are possible", len(g.Stored), uint32(math.MaxUint32))
	}
	if len(g.Stored) == 0 && g.RawLen != 0 {
		return fmt.Errorf("segment of 0 bytes for %d raw ones", g.RawLen)
	}
	if op := CRCOp(uint64(g.RawLen)); g.Op != op {
		return fmt.Errorf("CRC operator is %08x, %d raw bytes need %08x", g.Op, g.RawLen, op)
	}
	return nil
}

// write appends the blocks of r, which has been checked.
func (s *ShardWriter) write(r ResourceSpec) error {
	target := s.off
	s.block.reset()
	for _, i := range s.order {
		if err := s.program(&r.Fragments[i]); err != nil {
			return err
		}
	}
	if uint64(len(s.block.programs)) > maxPrograms {
		return fmt.Errorf("programs of %d bytes, at most %d are possible", len(s.block.programs), uint32(maxPrograms))
	}
	blocks := s.block.bytes(r.Key, r.ID)
	for _, key := range r.Aliases {
		blocks = appendBlockHead(blocks, key, typeAlias, 0, 0, target)
	}
	s.count(r.Key, len(r.Aliases), len(r.Fragments), s.block.pieces, len(blocks))
	return s.writeBlocks(blocks)
}

// writeBlocks writes whole blocks.
func (s *ShardWriter) writeBlocks(blocks []byte) error {
	_, err := s.out.Write(blocks)
	return err
}

// count counts a resource whose blocks, with those of its aliases, have n bytes.
func (s *ShardWriter) count(key []byte, aliases, fragments int, pieces int64, n int) {
	s.off += uint64(n)
	s.counts.kinds[key[0]]++
	s.counts.resources++
	s.counts.aliases += int64(aliases)
	s.counts.fragments += int64(fragments)
	s.counts.pieces += pieces
}

// program adds a fragment to the block in the making, and its new segments to the pack.
func (s *ShardWriter) program(f *FragmentSpec) error {
	b := &s.block
	b.begin()
	for i := range f.Pieces {
		p := &f.Pieces[i]
		var where uint64
		if p.Op == OpSegment {
			var err error
			if where, err = s.store(&p.Segment); err != nil {
				return err
			}
		}
		b.piece(p, where)
	}
	b.end(f.Address)
	return nil
}

// store appends g to the pack and returns its place.
func (s *ShardWriter) store(g *Segment) (uint64, error) {
	id := segmentID{g.Hash, g.RawLen, g.CRC}
	if where, ok := s.seen[id]; ok {
		return where, nil
	}
	if err := s.room(len(g.Stored)); err != nil {
		return 0, err
	}
	where := uint64(s.pack.number)<<wherePackShift | s.pack.length
	if err := s.pack.add(g); err != nil {
		return 0, err
	}
	s.seen[id] = where
	s.counts.segments++
	s.counts.rawBytes += int64(g.RawLen)
	s.counts.storedBytes += int64(len(g.Stored))
	return where, nil
}

// room makes sure that s.pack has room for n bytes. Pack numbers of a shard go up by
// the number of shards, so they depend on no other shard.
func (s *ShardWriter) room(n int) error {
	if s.pack != nil && (s.pack.length+uint64(n) <= uint64(s.w.o.MaxPackBytes) || s.pack.segments == 0) {
		return nil
	}
	if err := s.endPack(); err != nil {
		return err
	}
	number := s.number + int(s.counts.packs)*s.w.o.Shards
	if number >= MaxPacks {
		return fmt.Errorf("pack %d: a release has at most %d packs: allow longer packs", number, MaxPacks)
	}
	p, err := newPackWriter(filepath.Join(s.w.tmp, packName(number)), number)
	if err != nil {
		return err
	}
	s.pack = p
	s.counts.packs++
	return nil
}

func (s *ShardWriter) endPack() error {
	if s.pack == nil {
		return nil
	}
	f, err := s.pack.finish(s.w.disk)
	s.pack = nil
	s.packs = append(s.packs, f)
	return err
}

// Close completes the shard and makes its packs durable. A second call does nothing.
func (s *ShardWriter) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	err := errors.Join(s.err, s.out.Flush(), s.f.Close())
	if err == nil {
		err = s.endPack()
	}
	if err != nil {
		s.discard()
		s.err = err
		return fmt.Errorf("close shard %d: %w", s.number, err)
	}
	s.seen, s.block, s.order, s.out = nil, block{}, nil, nil
	return nil
}

// discard lets go of the files of a shard that is given up.
func (s *ShardWriter) discard() {
	s.closed = true
	_ = s.f.Close()
	if s.pack != nil {
		_ = s.pack.f.Close()
	}
}

// describe adds the shard to the manifest.
func (s *ShardWriter) describe(m *Manifest) {
	c := &m.Counts
	for k, n := range s.counts.kinds {
		if n != 0 {
			c.Resources[fragment.Kind(k).String()] += n
		}
	}
	c.Aliases += s.counts.aliases
	c.Fragments += s.counts.fragments
	c.Segments += s.counts.segments
	c.RawBytes += s.counts.rawBytes
	c.StoredBytes += s.counts.storedBytes
	for i := range s.packs {
		m.Files = append(m.Files, s.packs[i].File)
	}
}

func sortFiles(files []File) {
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
}

// A packWriter writes one pack.
type packWriter struct {
	f        *os.File
	out      *bufio.Writer
	number   int
	length   uint64 // bytes of the file so far
	segments uint64
	rawBytes uint64
}

func newPackWriter(path string, number int) (*packWriter, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	p := &packWriter{f: f, out: bufio.NewWriterSize(f, 256<<10), number: number, length: headerLen}
	_, err = p.out.Write(make([]byte, headerLen)) // finish fills it in
	return p, err
}

func (p *packWriter) add(g *Segment) error {
	p.length += uint64(len(g.Stored))
	p.segments++
	p.rawBytes += uint64(g.RawLen)
	_, err := p.out.Write(g.Stored)
	return err
}

// finish completes the pack, makes it durable and returns what the manifest says of it.
func (p *packWriter) finish(d disk) (_ summedFile, err error) {
	defer closeInto(p.f, &err)
	if err := p.out.Flush(); err != nil {
		return summedFile{}, err
	}
	h := header{magic: packMagic, number: uint32(p.number), length: p.length}
	h.counts[packSegments], h.counts[packRawBytes] = p.segments, p.rawBytes
	if _, err := p.f.WriteAt(h.appendTo(nil), 0); err != nil {
		return summedFile{}, err
	}
	if err := d.sync(p.f); err != nil {
		return summedFile{}, err
	}
	// The header comes first and is known last, so the sum takes a second reading,
	// from the page cache.
	return hashFile(context.Background(), p.f.Name(), nil)
}
