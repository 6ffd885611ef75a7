package release

import (
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

// A PieceSpec is one step of a recipe to write. Which fields count depends on Op.
type PieceSpec struct {
	Op Op
	// Segment is the bytes of OpSegment. One from an Entry of the previous release stays in
	// its pack, unless that pack is written anew.
	Segment Segment
	Literal []byte       // of OpLiteral: 1 to MaxLiteral bytes
	Shared  []byte       // of OpReference: the key of another resource of the release, as package check verifies
	Sub     fragment.Sub // of OpReference: a sub-request which that resource has
	Include Include      // of OpInclude: a fragment anywhere in the release, which package check looks for
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
	// ID is the number that standalone responses have where their recipe has an id
	// mark. It need not be part of the key.
	ID uint64
	// Fingerprint is a hash of everything that the fragments follow from, or 0.
	Fingerprint uint64
	Aliases     [][]byte
	Fragments   []FragmentSpec
}

// PartOptions are the place of a part and what it may use.
type PartOptions struct {
	Dir    string // of the release in the making
	Number int    // names the files of the part until it is closed
	// Previous is a release of which segments may be taken over; nil for none. It stays open
	// until the part is closed.
	Previous *Reader
	// MaxPackBytes is the length in bytes at which the part starts another pack; a longer
	// segment gets a pack of its own. 0 means DefaultMaxPackBytes.
	MaxPackBytes int64
}

// A Part describes a part that is written. It can be kept as JSON: WriteManifest needs nothing else of the
// part, and WriteIndex the file of its keys.
type Part struct {
	File
	Keys      string           `json:"keys"`      // name of the file of the hashes of its keys
	KeyCount  int64            `json:"key_count"` // in that file
	Resources map[string]int64 `json:"resources"` // by the name of their fragment.Kind
	Aliases   int64            `json:"aliases"`
	Fragments int64            `json:"fragments"`
	Packs     []Pack           `json:"packs"` // that segments of the part lie in
}

// A Pack is a pack of a part: its file, of which Live counts the segments of the part alone, and the
// counts of all segments in it.
type Pack struct {
	File
	Segments    int64 `json:"segments"`
	RawBytes    int64 `json:"raw_bytes"`
	StoredBytes int64 `json:"stored_bytes"`
}

// newPack describes a pack by what its footer counts.
func newPack(f File, foot *footer) Pack {
	return Pack{
		File: f, Segments: int64(foot.counts[PackSegments]), RawBytes: int64(foot.counts[PackRawBytes]), StoredBytes: int64(foot.content - HeaderLen),
	}
}

// A PartWriter takes the resources of one part, in the order in which their blocks
// and segments will lie. It is for one goroutine at a time; those of different parts do not
// wait for one another, and the bytes of the release do not depend on their order.
type PartWriter struct {
	o     PartOptions
	out   *fileWriter
	keys  []pair
	block block // in the making
	order []int // of the fragments in the making

	packs []packInUse // by their number in the list of the part
	taken map[*Mapping]int
	pack  *packWriter          // nil before the first segment, and after Close
	seen  map[segmentID]uint64 // places of the segments of the resource at hand: each is stored once

	counts   FileCounts
	part     Part
	resource [256]int64 // by kind
	closed   bool
	err      error // what broke the part for good
}

// A packInUse is a pack of the list of a part.
type packInUse struct {
	Pack        // known when it is complete
	live uint64 // bytes of segments of the part
}

// CreatePart starts a part.
func CreatePart(o PartOptions) (*PartWriter, error) {
	if o.MaxPackBytes == 0 {
		o.MaxPackBytes = DefaultMaxPackBytes
	}
	out, err := createFile(filepath.Join(o.Dir, fmt.Sprintf(".part-%05d", o.Number)), partMagic, 0o666)
	if err != nil {
		return nil, fmt.Errorf("start part %d: %w", o.Number, err)
	}
	return &PartWriter{o: o, out: out, seen: map[segmentID]uint64{}, taken: map[*Mapping]int{}}, nil
}

// Add writes a resource. It copies what it keeps. A resource that breaks a rule is refused as a
// whole, and the part can go on; after an error of the disk it cannot.
func (s *PartWriter) Add(r ResourceSpec) error {
	err := s.ready()
	if err == nil {
		err = s.check(r)
	}
	if err != nil {
		return fmt.Errorf("add to part %d: %s: %w", s.o.Number, fragment.DescribeKey(r.Key), err)
	}
	s.begin()
	if err := s.write(r); err != nil {
		s.err = err
		return fmt.Errorf("add to part %d: %w", s.o.Number, err)
	}
	return nil
}

// ready returns the error of a part that takes no more resources.
func (s *PartWriter) ready() error {
	switch {
	case s.err != nil:
		return fmt.Errorf("it has failed before: %w", s.err)
	case s.closed:
		return os.ErrClosed
	}
	return nil
}

// begin starts a resource.
func (s *PartWriter) begin() {
	clear(s.seen)
	s.block.reset()
}

// check returns which rule r breaks, and leaves the order of its fragments in s.order.
func (s *PartWriter) check(r ResourceSpec) error {
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

func (s *PartWriter) checkFragment(f FragmentSpec) error {
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

func (s *PartWriter) checkPiece(p *PieceSpec) error {
	switch p.Op {
	case OpSegment:
		return p.Segment.check()
	case OpReference:
		return checkKey(p.Shared)
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

// check returns what of g cannot be right, as far as that shows without inflating it.
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
func (s *PartWriter) write(r ResourceSpec) error {
	for _, i := range s.order {
		if f := &r.Fragments[i]; often(f.Address) {
			if err := s.placeAll(f.Pieces); err != nil {
				return err
			}
		}
	}
	for _, i := range s.order {
		if err := s.recipe(&r.Fragments[i]); err != nil {
			return err
		}
	}
	return s.writeBlocks(r, len(r.Fragments))
}

// writeBlocks appends the block that is made, of a resource with so many fragments, and those
// of its aliases.
func (s *PartWriter) writeBlocks(r ResourceSpec, fragments int) error {
	if uint64(len(s.block.recipes)) > maxRecipes {
		return fmt.Errorf("recipes of %d bytes, at most %d are possible", len(s.block.recipes), uint32(maxRecipes))
	}
	resource := s.out.off
	s.addKey(r.Key, resource)
	blocks := s.block.bytes(r.Key, r.ID, r.Fingerprint)
	for _, key := range r.Aliases {
		s.addKey(key, resource+uint64(len(blocks)))
		blocks = appendBlockHead(blocks, key, typeAlias, 0, 0, resource)
	}
	if resource+uint64(len(blocks)) > MaxPartBytes {
		return fmt.Errorf("part of more than %d bytes: divide the release into more parts", int64(MaxPartBytes))
	}
	s.resource[r.Key[0]]++
	s.part.Aliases += int64(len(r.Aliases))
	s.part.Fragments += int64(fragments)
	s.counts[PartBlocks] += uint64(1 + len(r.Aliases))
	s.counts[PartResources]++
	s.counts[PartFragments] += uint64(fragments)
	s.counts[PartPieces] += uint64(s.block.pieces)
	_, err := s.out.Write(blocks)
	return err
}

// addKey notes the key of the block at off for the index.
func (s *PartWriter) addKey(key []byte, off uint64) {
	s.keys = append(s.keys, pair{xxh3.Hash(key), Ref(off / blockAlign)})
}

// often reports whether many responses have a fragment. Segments of such fragments lie side by side: a disk
// reads a third fewer pages for details with appended parts than if translations lay between them.
func often(a fragment.Address) bool {
	return a.Variant == fragment.Base && a.Page == 0 && a.Sub != fragment.SubTranslations
}

// placeAll gives the segments of pieces their places.
func (s *PartWriter) placeAll(pieces []PieceSpec) error {
	for i := range pieces {
		if p := &pieces[i]; p.Op == OpSegment {
			if _, err := s.place(&p.Segment); err != nil {
				return err
			}
		}
	}
	return nil
}

// recipe adds a fragment to the block in the making, and its new segments to the pack.
func (s *PartWriter) recipe(f *FragmentSpec) error {
	b := &s.block
	b.begin()
	for i := range f.Pieces {
		p := &f.Pieces[i]
		var where uint64
		if p.Op == OpSegment {
			var err error
			if where, err = s.place(&p.Segment); err != nil {
				return err
			}
		}
		b.piece(p, where)
	}
	b.end(f.Address)
	return nil
}

// place returns the place of a segment. One of the previous release stays in its pack, unless
// most of the pack is dead.
func (s *PartWriter) place(g *Segment) (uint64, error) {
	id := g.id()
	if where, ok := s.seen[id]; ok {
		return where, nil
	}
	var where uint64
	if m := g.pack; m != nil && m.r == s.o.Previous && !m.sparse {
		n, err := s.take(m)
		if err != nil {
			return 0, err
		}
		where = uint64(n)<<wherePackShift | g.off
	} else {
		g.Check() // of a pack that is written anew: damage must not get good checks
		var err error
		if where, err = s.store(g); err != nil {
			return 0, err
		}
	}
	s.packs[where>>wherePackShift].live += uint64(len(g.Stored))
	s.seen[id] = where
	return where, nil
}

// take returns the number, in the list of the part, of a pack of the previous release. Install links it.
func (s *PartWriter) take(m *Mapping) (int, error) {
	if n, ok := s.taken[m]; ok {
		return n, nil
	}
	n, err := s.listPack(newPack(s.o.Previous.manifest.Packs[m.number], &footer{uint64(len(m.data)), m.counts}))
	s.taken[m] = n
	return n, err
}

// listPack adds a pack to the list of the part.
func (s *PartWriter) listPack(p Pack) (int, error) {
	if len(s.packs) == MaxPacks {
		return 0, fmt.Errorf("more than %d packs: allow longer packs", MaxPacks)
	}
	s.packs = append(s.packs, packInUse{Pack: p})
	return len(s.packs) - 1, nil
}

// store appends g to the pack and returns its place.
func (s *PartWriter) store(g *Segment) (uint64, error) {
	if err := s.room(len(g.Stored)); err != nil {
		return 0, err
	}
	where := uint64(s.pack.number)<<wherePackShift | s.pack.out.off
	return where, s.pack.add(g)
}

// room makes sure that s.pack has room for n bytes.
func (s *PartWriter) room(n int) error {
	if s.pack != nil && (s.pack.out.off+uint64(n) <= uint64(s.o.MaxPackBytes) || s.pack.counts[PackSegments] == 0) {
		return nil
	}
	if err := s.endPack(); err != nil {
		return err
	}
	number, err := s.listPack(Pack{})
	if err != nil {
		return err
	}
	path := filepath.Join(s.o.Dir, fmt.Sprintf(".pack-%05d-%05d", s.o.Number, number))
	out, err := createFile(path, packMagic, 0o666)
	if err != nil {
		return err
	}
	s.pack = &packWriter{out: out, number: number}
	return nil
}

func (s *PartWriter) endPack() error {
	if s.pack == nil {
		return nil
	}
	foot := footer{s.pack.out.off, s.pack.counts}
	f, err := s.pack.out.finishHashed(s.pack.counts, packPrefix)
	s.packs[s.pack.number].Pack = newPack(f, &foot)
	s.pack = nil
	return err
}

// Close completes the part and its packs, and makes them durable. A second call returns the
// same part.
func (s *PartWriter) Close() (Part, error) {
	if s.closed {
		return s.part, s.err
	}
	s.closed = true
	err := s.err
	if err == nil {
		err = s.endPack()
	}
	if err == nil {
		err = s.finish()
	}
	if err != nil {
		s.discard()
		s.err = err
		return Part{}, fmt.Errorf("close part %d: %w", s.o.Number, err)
	}
	s.keys, s.seen, s.block, s.order, s.taken = nil, nil, block{}, nil, nil
	return s.part, nil
}

// finish writes the list of packs and the keys.
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
	s.part.Keys, s.part.KeyCount = fmt.Sprintf("keys-%05d", s.o.Number), int64(len(s.keys))
	if err := writeKeys(filepath.Join(s.o.Dir, s.part.Keys), s.keys); err != nil {
		return err
	}
	s.part.Resources = map[string]int64{}
	for k, n := range s.resource {
		if n != 0 {
			s.part.Resources[fragment.Kind(k).String()] = n
		}
	}
	for _, p := range s.packs {
		p.Live = int64(p.live)
		s.part.Packs = append(s.part.Packs, p.Pack)
	}
	s.part.File, err = s.out.finishHashed(s.counts, partPrefix)
	return err
}

// discard lets go of the files of a part that is given up.
func (s *PartWriter) discard() {
	s.closed = true
	s.out.discard()
	if s.pack != nil {
		s.pack.out.discard()
	}
}

// A packWriter writes one pack.
type packWriter struct {
	out    *fileWriter
	number int // in the list of its part
	counts FileCounts
}

func (p *packWriter) add(g *Segment) error {
	p.counts[PackSegments]++
	p.counts[PackRawBytes] += uint64(g.RawLen)
	_, err := p.out.Write(g.Stored)
	return err
}

// Copy writes a resource of the previous release as it is there, with other aliases. Its
// segments stay where they are, as those of Add do.
func (s *PartWriter) Copy(e Entry, aliases [][]byte) error {
	err := s.ready()
	for _, key := range aliases {
		if err == nil {
			err = checkKey(key)
		}
	}
	if err != nil {
		return fmt.Errorf("copy to part %d: %s: %w", s.o.Number, fragment.DescribeKey(e.Key()), err)
	}
	s.begin()
	copied := map[uint64]uint32{} // where each recipe starts, there and here
	for i := range e.Len() {
		at, ok := copied[e.Recipe(i)]
		if !ok {
			if err := s.copyRecipe(e.Fragment(i)); err != nil {
				s.err = err
				return fmt.Errorf("copy to part %d: %s: %w", s.o.Number, Describe(e.Key(), e.Address(i)), err)
			}
			at = s.block.append()
			copied[e.Recipe(i)] = at
		}
		s.block.row(e.Address(i), at)
	}
	r := ResourceSpec{Key: e.Key(), ID: e.ID(), Fingerprint: e.Fingerprint(), Aliases: aliases}
	if s.err = s.writeBlocks(r, e.Len()); s.err != nil {
		return fmt.Errorf("copy to part %d: %w", s.o.Number, s.err)
	}
	return nil
}

// copyRecipe makes a recipe of the previous release the open one. Segments get new places; all
// other pieces are the same bytes.
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
	if c.Broken() {
		return Corrupt(f.p.name, int64(f.off), "a piece breaks the format")
	}
	return nil
}
