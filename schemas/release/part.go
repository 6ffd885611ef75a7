package release

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// A PieceSpec is one step of a recipe to write. Op decides which fields are used.
type PieceSpec struct {
	Op Op
	// Segment is the bytes of OpSegment. A segment from the previous release stays in its pack, unless that pack is
	// rewritten.
	Segment Segment
	Literal []byte       // OpLiteral: 1 to maxLiteral bytes
	Shared  []byte       // OpReference: the key of another resource of the release; package check verifies it
	Sub     fragment.Sub // OpReference: a sub-request of that resource
	Include Include      // OpInclude: a fragment anywhere in the release; package check verifies it
	Word    Word         // OpName
	Number  uint32       // OpName: number of the season or episode
}

// A FragmentSpec is a fragment to write: 1 to MaxPieces pieces.
type FragmentSpec struct {
	Address fragment.Address
	Pieces  []PieceSpec
}

// A ResourceSpec is a resource to write: at most maxFragments fragments with different addresses, in any order. Key
// and each alias have 1 to fragment.MaxKeyLen bytes. A key occurs at most once in a release.
type ResourceSpec struct {
	Key []byte
	// ID replaces the id mark in standalone responses. It need not be part of the key.
	ID uint64
	// Fingerprint is a hash of all inputs of the fragments, or 0.
	Fingerprint uint64
	Aliases     [][]byte
	Fragments   []FragmentSpec
}

// PartOptions are the place of a part and its resources.
type PartOptions struct {
	Dir    string // folder of the unfinished release
	Number int    // names the files of the part until it is closed
	// Previous is a release whose segments may be reused; nil for none. It stays open until the part is closed.
	Previous *Reader
	// MaxPackBytes is the length in bytes at which the part starts another pack. A longer segment gets its own pack.
	// 0 means 1 GiB.
	MaxPackBytes int64
}

// A Part describes a written part. It can be stored as JSON: WriteManifest needs nothing else of the part, and
// WriteIndex also needs its key file.
type Part struct {
	File
	Keys      string           `json:"keys"`      // name of the file with the hashes of its keys
	KeyCount  int64            `json:"key_count"` // in that file
	Resources map[string]int64 `json:"resources"` // by the name of the fragment.Kind
	ResponseCounts
	Aliases   int64  `json:"aliases"`
	Fragments int64  `json:"fragments"`
	Packs     []Pack `json:"packs"` // packs that hold the part's segments
}

// A Pack is a pack of a part. Its file's Live counts only the part's segments; the other counts include all segments
// of the pack.
type Pack struct {
	File
	Segments    int64 `json:"segments"`
	RawBytes    int64 `json:"raw_bytes"`
	StoredBytes int64 `json:"stored_bytes"`
}

// newPack describes a pack by the content and the counts in its footer.
func newPack(f File, content uint64, counts FileCounts) Pack {
	return Pack{File: f, Segments: int64(counts[PackSegments]), RawBytes: int64(counts[PackRawBytes]), StoredBytes: int64(content - HeaderLen)}
}

// A PartWriter writes the resources of one part, in the order of their blocks and segments. It is for one goroutine
// at a time. Writers of different parts are independent, and their order does not change the bytes of the release.
type PartWriter struct {
	o     PartOptions
	out   *fileWriter // nil after Close
	keys  []pair
	block block // unfinished
	order []int // fragments of the current resource, by address

	packs    []Pack               // by their number in the list of the part
	reused   map[*Mapping]int     // packs of the previous release, with their number
	placed   map[segmentID]placed // segments of the current resource, or of its series: each is stored once
	series   []byte               // ID of that series; empty for none
	resource int                  // number of the current resource, from 1
	pack     *fileWriter          // nil before the first segment, and after Close
	// The following fields belong to pack.
	packNumber int
	packCounts FileCounts

	counts    FileCounts
	part      Part
	kinds     [256]int64 // number of resources by kind
	responses ResponseCounter
	err       error // what broke the part for good
}

// A placed is a segment with a place in a pack.
type placed struct {
	where    uint64
	resource int // number of the last one that counted it as live
}

// CreatePart starts a part.
func CreatePart(o PartOptions) (*PartWriter, error) {
	if o.MaxPackBytes == 0 {
		o.MaxPackBytes = defaultMaxPackBytes
	}
	out, err := createFile(filepath.Join(o.Dir, fmt.Sprintf(".part-%05d", o.Number)), partMagic, 0o666)
	if err != nil {
		return nil, fmt.Errorf("start part %d: %w", o.Number, err)
	}
	return &PartWriter{o: o, out: out, part: Part{Resources: map[string]int64{}}, placed: map[segmentID]placed{}, reused: map[*Mapping]int{}, responses: ResponseCounter{}}, nil
}

// Add writes a resource and keeps no reference to r. It rejects an invalid resource as a whole, and the part remains
// usable. After a disk error it does not.
func (s *PartWriter) Add(r ResourceSpec) error {
	err := s.begin(r.Key, r.Aliases)
	if err == nil {
		err = s.check(r)
	}
	if err != nil {
		return fmt.Errorf("add to part %d: %s: %w", s.o.Number, fragment.DescribeKey(r.Key), err)
	}
	b := &s.block
	// Segments of fragments in many responses come first, so they are stored together. A disk then reads a third fewer
	// pages for details with appended parts than with translations in between.
	for _, frequent := range []bool{true, false} {
		for _, i := range s.order {
			f := &r.Fragments[i]
			if a := f.Address; frequent && (a.Variant != fragment.Base || a.Page != 0 || a.Sub == fragment.SubTranslations) {
				continue
			}
			b.begin()
			for k := range f.Pieces {
				p, where := &f.Pieces[k], uint64(0)
				if p.Op == OpSegment {
					if where, s.err = s.place(&p.Segment); s.err != nil {
						return fmt.Errorf("add to part %d: %w", s.o.Number, s.err)
					}
				}
				if !frequent {
					b.piece(p, where)
				}
			}
			if !frequent {
				b.end(f.Address)
			}
		}
	}
	if s.err = s.writeBlocks(r, len(r.Fragments)); s.err != nil {
		return fmt.Errorf("add to part %d: %w", s.o.Number, s.err)
	}
	return nil
}

// begin starts a resource. It fails if the part accepts no more resources, or if an alias is not a valid key.
func (s *PartWriter) begin(key []byte, aliases [][]byte) error {
	switch {
	case s.err != nil:
		return fmt.Errorf("it has failed before: %w", s.err)
	case s.out == nil:
		return os.ErrClosed
	}
	for _, alias := range aliases {
		if err := checkKey(alias); err != nil {
			return fmt.Errorf("alias: %w", err)
		}
	}
	s.resource++
	if series := fragment.SeriesOf(key); series == nil || !bytes.Equal(series, s.series) {
		clear(s.placed)
		s.series = append(s.series[:0], series...)
	}
	s.block.reset()
	return nil
}

// check returns an error if r is invalid. It leaves the order of its fragments in s.order.
func (s *PartWriter) check(r ResourceSpec) error {
	if err := checkKey(r.Key); err != nil {
		return err
	}
	if len(r.Fragments) > maxFragments {
		return fmt.Errorf("%d fragments, at most %d are possible", len(r.Fragments), maxFragments)
	}
	s.order = s.order[:0]
	for i, f := range r.Fragments {
		s.order = append(s.order, i)
		if len(f.Pieces) == 0 || len(f.Pieces) > MaxPieces {
			return fmt.Errorf("%s: %d pieces, 1 to %d are possible", f.Address, len(f.Pieces), MaxPieces)
		}
		if !f.Address.Variant.Valid() {
			return fmt.Errorf("%s: variant %q is no language", f.Address.Sub, f.Address.Variant)
		}
		for k := range f.Pieces {
			if err := f.Pieces[k].check(); err != nil {
				return fmt.Errorf("%s: piece %d: %w", f.Address, k, err)
			}
		}
	}
	slices.SortFunc(s.order, func(a, b int) int {
		return cmp.Compare(r.Fragments[a].Address.Uint64(), r.Fragments[b].Address.Uint64())
	})
	for i := 1; i < len(s.order); i++ {
		if a := r.Fragments[s.order[i]].Address; a == r.Fragments[s.order[i-1]].Address {
			return fmt.Errorf("duplicate fragment %s", a)
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

// check returns the fault of p, as far as possible without inflating its segment.
func (p *PieceSpec) check() error {
	g := &p.Segment
	switch {
	case p.Op == OpSegment && uint64(len(g.Stored)) > math.MaxUint32:
		return fmt.Errorf("segment of %d bytes, at most %d are possible", len(g.Stored), uint32(math.MaxUint32))
	case p.Op == OpSegment && len(g.Stored) == 0 && g.RawLen != 0:
		return fmt.Errorf("segment of 0 bytes for %d raw ones", g.RawLen)
	case p.Op == OpSegment && g.Op != CRCOp(uint64(g.RawLen)):
		return fmt.Errorf("CRC operator is %08x, %d raw bytes need %08x", g.Op, g.RawLen, CRCOp(uint64(g.RawLen)))
	case p.Op == OpReference:
		return checkKey(p.Shared)
	case p.Op == OpInclude && p.Include.fault() != "":
		return fmt.Errorf("include of %s %d: %s", p.Include.Kind, p.Include.ID, p.Include.fault())
	case p.Op == OpName && !p.Word.valid():
		return fmt.Errorf("name of unknown word %d", p.Word)
	case p.Op == OpLiteral && (len(p.Literal) == 0 || len(p.Literal) > maxLiteral):
		return fmt.Errorf("literal of %d bytes, 1 to %d are possible", len(p.Literal), maxLiteral)
	case p.Op == 0 || p.Op > OpLiteral:
		return fmt.Errorf("unknown operation %d", p.Op)
	}
	return nil
}

// writeBlocks appends the finished block of a resource with that number of fragments, and the blocks of its aliases.
func (s *PartWriter) writeBlocks(r ResourceSpec, fragments int) error {
	if uint64(len(s.block.recipes)) > maxRecipes {
		return fmt.Errorf("recipes of %d bytes, at most %d are possible", len(s.block.recipes), uint32(maxRecipes))
	}
	off := s.out.off
	s.keys = append(s.keys, pair{xxh3.Hash(r.Key), Ref(off / blockAlign)})
	blocks := s.block.bytes(r.Key, r.ID, r.Fingerprint)
	for _, key := range r.Aliases {
		s.keys = append(s.keys, pair{xxh3.Hash(key), Ref((off + uint64(len(blocks))) / blockAlign)})
		blocks = appendBlockHead(blocks, key, typeAlias, 0, 0, off)
	}
	if off+uint64(len(blocks)) > maxPartBytes {
		return fmt.Errorf("part of more than %d bytes: divide the release into more parts", int64(maxPartBytes))
	}
	s.kinds[r.Key[0]]++
	s.responses.addRows(fragment.Kind(r.Key[0]), s.block.rows)
	s.part.Aliases += int64(len(r.Aliases))
	s.counts[PartBlocks] += uint64(1 + len(r.Aliases))
	s.counts[PartResources]++
	s.counts[PartFragments] += uint64(fragments)
	s.counts[PartPieces] += uint64(s.block.pieces)
	_, err := s.out.Write(blocks)
	return err
}

// place returns the place of a segment. A segment of the previous release stays in its pack, which Install links,
// unless most of the pack is dead.
func (s *PartWriter) place(g *Segment) (where uint64, err error) {
	id := segmentID{g.Hash, g.RawLen, g.CRC}
	known, ok := s.placed[id]
	if ok && known.resource == s.resource {
		return known.where, nil
	}
	switch m := g.pack; {
	case ok: // stored already, for another resource of the series
		where = known.where
	case m != nil && m.r == s.o.Previous && !m.sparse:
		n, ok := s.reused[m]
		if !ok {
			if n, err = s.listPack(newPack(s.o.Previous.manifest.Packs[m.number], uint64(len(m.data)), m.counts)); err != nil {
				return 0, err
			}
			s.reused[m] = n
		}
		where = uint64(n)<<wherePackShift | g.off
	default:
		g.Check() // its pack is rewritten: damaged bytes must not get valid checksums
		if s.pack == nil || s.pack.off+uint64(len(g.Stored)) > uint64(s.o.MaxPackBytes) && s.packCounts[PackSegments] > 0 {
			if err := s.endPack(); err != nil {
				return 0, err
			}
			if s.packNumber, err = s.listPack(Pack{}); err != nil {
				return 0, err
			}
			s.packCounts = FileCounts{}
			path := filepath.Join(s.o.Dir, fmt.Sprintf(".pack-%05d-%05d", s.o.Number, s.packNumber))
			if s.pack, err = createFile(path, packMagic, 0o666); err != nil {
				return 0, err
			}
		}
		where = uint64(s.packNumber)<<wherePackShift | s.pack.off
		s.packCounts[PackSegments]++
		s.packCounts[PackRawBytes] += uint64(g.RawLen)
		if _, err := s.pack.Write(g.Stored); err != nil {
			return 0, err
		}
	}
	s.packs[where>>wherePackShift].Live += int64(len(g.Stored))
	s.placed[id] = placed{where, s.resource}
	return where, nil
}

// listPack adds a pack without live bytes to the list of the part.
func (s *PartWriter) listPack(p Pack) (int, error) {
	if len(s.packs) == maxPacks {
		return 0, fmt.Errorf("more than %d packs: allow longer packs", maxPacks)
	}
	p.Live = 0
	s.packs = append(s.packs, p)
	return len(s.packs) - 1, nil
}

func (s *PartWriter) endPack() error {
	if s.pack == nil {
		return nil
	}
	content := s.pack.off
	f, err := s.pack.finishHashed(s.packCounts, packPrefix)
	f.Live = s.packs[s.packNumber].Live
	s.packs[s.packNumber] = newPack(f, content, s.packCounts)
	s.pack = nil
	return err
}

// Close completes the part and its packs, and syncs them to disk. A second call returns the same part.
func (s *PartWriter) Close() (Part, error) {
	if s.out == nil {
		return s.part, s.err
	}
	defer func() { s.out = nil }()
	err := s.err
	if err == nil {
		err = s.endPack()
	}
	if err == nil {
		err = s.finish()
	}
	if err != nil {
		s.out.discard()
		if s.pack != nil {
			s.pack.discard()
		}
		s.err = err
		return Part{}, fmt.Errorf("close part %d: %w", s.o.Number, err)
	}
	s.keys, s.placed, s.block, s.order, s.reused = nil, nil, block{}, nil, nil
	return s.part, nil
}

// finish writes the list of packs and the key file.
func (s *PartWriter) finish() (err error) {
	s.counts[partPacks], s.counts[partList] = uint64(len(s.packs)), s.out.off
	var name []byte
	for _, p := range s.packs {
		if name, err = hex.AppendDecode(name[:0], []byte(p.Name[len(packPrefix):])); err != nil {
			return err
		}
		if _, err := s.out.Write(name); err != nil {
			return err
		}
	}
	s.part.Fragments = int64(s.counts[PartFragments])
	s.part.Keys, s.part.KeyCount = fmt.Sprintf("keys-%05d", s.o.Number), int64(len(s.keys))
	if err := writeKeys(filepath.Join(s.o.Dir, s.part.Keys), s.keys); err != nil {
		return err
	}
	for k, n := range s.kinds {
		if n != 0 {
			s.part.Resources[fragment.Kind(k).String()] = n
		}
	}
	s.part.ResponseCounts = s.responses.Counts()
	s.part.Packs = append(s.part.Packs, s.packs...)
	s.part.File, err = s.out.finishHashed(s.counts, partPrefix)
	return err
}

// Copy writes a resource of the previous release unchanged, but with other aliases. Its segments stay where they are,
// as in Add.
func (s *PartWriter) Copy(e Entry, aliases [][]byte) error {
	if err := s.begin(e.Key(), aliases); err != nil {
		return fmt.Errorf("copy to part %d: %s: %w", s.o.Number, fragment.DescribeKey(e.Key()), err)
	}
	copied := map[uint64]uint32{} // start of each recipe: old to new
	for i := range e.Len() {
		start, ok := copied[e.Recipe(i)]
		if !ok {
			if err := s.copyRecipe(e.Fragment(i)); err != nil {
				s.err = err
				return fmt.Errorf("copy to part %d: %s: %w", s.o.Number, Describe(e.Key(), e.Address(i)), err)
			}
			start = s.block.append()
			copied[e.Recipe(i)] = start
		}
		s.block.row(e.Address(i), start)
	}
	r := ResourceSpec{Key: e.Key(), ID: e.ID(), Fingerprint: e.Fingerprint(), Aliases: aliases}
	if s.err = s.writeBlocks(r, e.Len()); s.err != nil {
		return fmt.Errorf("copy to part %d: %w", s.o.Number, s.err)
	}
	return nil
}

// copyRecipe copies a recipe of the previous release to the open one. Segments get new places; all other pieces keep
// their bytes.
func (s *PartWriter) copyRecipe(f Fragment) error {
	b := &s.block
	b.begin()
	var p Piece
	c := f.Pieces()
	for before := c.rest; c.Next(&p); before = c.rest {
		if p.Op != OpSegment {
			b.recipe = append(b.recipe, before[:len(before)-len(c.rest)]...)
			b.count++
			continue
		}
		where, err := s.place(&p.Segment)
		if err != nil {
			return err
		}
		b.piece(&PieceSpec{Op: OpSegment, Segment: p.Segment}, where)
	}
	if c.Broken {
		return Corrupt(f.p.name, int64(f.off), "a piece breaks the format")
	}
	return nil
}
