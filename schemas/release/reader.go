package release

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// A Reader reads one release. All methods except Close may be called concurrently. Their results are slices of the
// mapping: read-only, and valid until Close.
//
// Results have been checked, except for the bytes of segments: see Segment.Check. A method that meets damage panics,
// so callers use Guard.
type Reader struct {
	manifest *Manifest
	trust    bool // skips all checks
	files    map[string]*Mapping
	parts    []*part
	indexes  []index // by the first bits of a hash
	shift    int     // number of hash bits that do not select an index
	packs    []*Mapping
	tables   map[string]*Table
	damage   damageLog
	closed   bool
}

// A part is a mapped part.
type part struct {
	*Mapping
	number Ref        // number of the part in a Ref
	blocks []byte     // the file up to the end of its blocks
	packs  []*Mapping // its list of packs
}

// An index is a mapped index file.
type index struct {
	*Mapping
	slots, homes, reach uint64
}

// Open opens the release in the folder dir. It checks the manifest, and the header, footer and length of each file,
// and little else: milliseconds at any size. Errors about the content match ErrCorrupt or ErrVersion.
func Open(dir string) (*Reader, error) { return open(dir, false /* trust */) }

// OpenUnchecked is Open without later checks, for examining damage.
func OpenUnchecked(dir string) (*Reader, error) { return open(dir, true /* trust */) }

func open(dir string, trust bool) (r *Reader, err error) {
	m, err := readManifest(dir)
	if err == nil {
		r, err = openFiles(m, []string{dir}, trust)
	}
	if err != nil {
		return nil, fmt.Errorf("open release %q: %w", dir, err)
	}
	return r, nil
}

// openFiles maps the files that m lists. It maps all of them and fetches their ends before it reads the first, so the
// disk reads them concurrently.
func openFiles(m *Manifest, dirs []string, trust bool) (*Reader, error) {
	r, err := mapFiles(m, dirs, trust)
	if err == nil {
		err = Guard(r.parse)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// parse reads headers, footers and lists of all files.
func (r *Reader) parse() error {
	for i, f := range r.manifest.Packs {
		m := r.files[f.Name]
		m.number, m.sparse = i, 2*f.Live < f.Size-HeaderLen-FooterLen
		r.packs = append(r.packs, m)
		if err := m.parse(packMagic); err != nil {
			return err
		}
	}
	if len(r.packs) > fullPacks { // the smallest ones are rewritten
		packs := slices.Clone(r.packs)
		slices.SortFunc(packs, func(a, b *Mapping) int {
			size := func(m *Mapping) int64 { return r.manifest.Packs[m.number].Size }
			return cmp.Or(cmp.Compare(size(a), size(b)), cmp.Compare(a.number, b.number))
		})
		for _, m := range packs[:len(packs)-fullPacks/2] {
			m.sparse = true
		}
	}
	for _, list := range []struct {
		files []File
		add   func(*Mapping) error
	}{{r.manifest.Parts, r.addPart}, {r.manifest.Index, r.addIndex}, {r.manifest.Tables, r.addTable}} {
		for _, f := range list.files {
			if err := list.add(r.files[f.Name]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Reader) addIndex(m *Mapping) error {
	if err := m.parse(indexMagic); err != nil {
		return err
	}
	x := index{Mapping: m, slots: m.counts[indexSlots], homes: m.counts[indexHomes], reach: m.counts[indexReach]}
	if slots := uint64(len(m.data)-HeaderLen) / SlotLen; len(m.data)%SlotLen != 0 || x.slots != slots {
		return Corrupt(m.name, -1, "%d slots, the length of the file gives %d", x.slots, slots)
	}
	if x.homes == 0 || x.homes > x.slots {
		return Corrupt(m.name, -1, "%d ideal slots, 1 to %d are possible", x.homes, x.slots)
	}
	if x.reach >= x.slots {
		return Corrupt(m.name, -1, "reach of %d slots, the file has %d", x.reach, x.slots)
	}
	r.indexes = append(r.indexes, x)
	r.shift = 64 - (bits.Len(uint(len(r.manifest.Index))) - 1)
	return nil
}

// addPart reads the list of packs of a part.
func (r *Reader) addPart(m *Mapping) error {
	if err := m.parse(partMagic); err != nil {
		return err
	}
	list, n := m.counts[partList], m.counts[partPacks]
	if list < HeaderLen || list%blockAlign != 0 || n > maxPacks || list+n*packNameLen != uint64(len(m.data)) {
		return Corrupt(m.name, -1, "%d packs listed at %d do not fit into %d bytes", n, list, len(m.data))
	}
	p := &part{Mapping: m, number: Ref(len(r.parts)) << refOffBits, blocks: m.data[:list]}
	if n > 0 {
		m.checkAll(list, n*packNameLen)
	}
	for off := list; off < uint64(len(m.data)); off += packNameLen {
		name := packPrefix + hex.EncodeToString(m.data[off:][:packNameLen])
		pack := r.files[name]
		if pack == nil {
			return Corrupt(m.name, int64(off), "%s is not in the manifest", name)
		}
		p.packs = append(p.packs, pack)
	}
	r.parts = append(r.parts, p)
	return nil
}

// fullPacks is the number of packs above which small ones are rewritten. An edge maps each pack separately, which
// takes about 20 µs, and has two releases open during a switch. Linux allows 65,530 mappings per process.
var fullPacks = 5000 // tests lower it

// Manifest returns the description of the release. It must not be changed.
func (r *Reader) Manifest() *Manifest { return r.manifest }

// Close unmaps the files. Results of r are invalid afterwards. A second call does nothing.
func (r *Reader) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	r.parts, r.packs, r.tables = nil, nil, nil
	r.indexes, r.shift = []index{{Mapping: &Mapping{r: r}}}, 64
	var errs []error
	for _, m := range r.files {
		mappings.Delete(m)
		if len(m.all) > 0 {
			errs = append(errs, file.Unmap(m.all))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close release: %w", err)
	}
	return nil
}

// File returns the mapping of a file that the manifest lists.
func (r *Reader) File(name string) *Mapping { return r.files[name] }

// Forget drops the pages read so far from memory. They can be read again.
func (r *Reader) Forget() {
	for _, m := range r.files {
		file.Drop(m.all)
	}
}

// ForgetLookups is Forget for the pages read by lookups. Its time does not depend on the number of packs.
func (r *Reader) ForgetLookups() {
	for i := range r.indexes {
		file.Drop(r.indexes[i].all)
	}
	for _, p := range r.parts {
		file.Drop(p.all)
	}
}

// Lookup returns the resource with that key or alias. It takes constant time and does not allocate.
func (r *Reader) Lookup(key []byte) (Entry, bool) {
	e, ok := r.Block(key)
	if ok && e.IsAlias() {
		return e.Target()
	}
	return e, ok
}

// Resource is Lookup without aliases.
func (r *Reader) Resource(key []byte) (Entry, bool) {
	e, ok := r.Block(key)
	return e, ok && !e.IsAlias()
}

// Include returns the resource of i. If it lacks the sub-request, the kind's fragment.KindDefault resource has it. It
// takes constant time and does not allocate.
func (r *Reader) Include(i Include) (Entry, bool) {
	var key [fragment.MaxKeyLen]byte
	return r.Lookup(i.AppendKey(key[:0]))
}

// home returns the ideal slot of a hash among n: its high bits, scaled.
func home(hash, n uint64) uint64 {
	hi, _ := bits.Mul64(hash, n)
	return hi
}

// Block returns the block, resource or alias, with that key.
func (r *Reader) Block(key []byte) (Entry, bool) {
	hash := xxh3.Hash(key)
	x, slot := r.ideal(hash)
	for end := min(slot+x.reach+1, x.slots); slot < end; slot++ {
		off := HeaderLen + SlotLen*slot
		x.check(off, SlotLen)
		s := le.Uint64(x.data[off:])
		if s == 0 {
			break
		}
		if s>>slotRefBits != hash&(1<<slotTagBits-1) {
			continue
		}
		ref := Ref(s & (1<<slotRefBits - 1))
		if number := ref >> refOffBits; number < Ref(len(r.parts)) {
			if e, ok := r.parts[number].block(ref.off()); ok && bytes.Equal(e.Key(), key) {
				return e, true
			}
		}
	}
	return Entry{}, false
}

// At returns the resource at ref; false when no resource can start there.
func (r *Reader) At(ref Ref) (Entry, bool) {
	number := ref >> refOffBits
	if number >= Ref(len(r.parts)) {
		return Entry{}, false
	}
	e, ok := r.parts[number].block(ref.off())
	return e, ok && !e.IsAlias()
}

// block returns the block at an offset of the part if it is complete. The bytes before its fragment table are
// checked.
func (p *part) block(off uint64) (Entry, bool) {
	n := uint64(len(p.blocks))
	if off < HeaderLen || off%blockAlign != 0 || off >= n {
		return Entry{}, false
	}
	p.check(off, blockAlign)
	head := le.Uint64(p.blocks[off:])
	keyLen, typ, rest := head>>(8*blockKeyLen)&0xff, head>>(8*blockType)&0xff, head>>(8*blockFragments)
	e := Entry{p, off, head, off + blockKey + align(keyLen) + fingerprintLen*(typ&1) + baseLen*(typ>>2)} // types are bits
	if keyLen == 0 || keyLen > fragment.MaxKeyLen || e.size() > n-off || typ != typeResource && typ != typeStored && (typ != typeAlias || rest != 0) {
		return Entry{}, false
	}
	p.check(off, e.table-off)
	return e, true
}

// Resources calls fn for each resource in the order of parts and blocks. It stops at and returns the first error of
// fn. An invalid block ends it too.
func (r *Reader) Resources(ctx context.Context, fn func(key []byte, e Entry, ref Ref) error) error {
	for i := range r.parts {
		err := r.EachBlock(i, func(e Entry) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if e.IsAlias() {
				return nil
			}
			return fn(e.Key(), e, e.Ref())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Nearest returns, for each part, the number of the most similar part of an earlier release: the one starting with
// the same resource, or with the nearest one of that kind before it; -1 without one.
func (r *Reader) Nearest(earlier *Reader) []int {
	nearest := make([]int, len(r.parts))
	for i, p := range r.parts {
		nearest[i] = -1
		key, best := p.firstKey(), []byte(nil)
		for k, old := range earlier.parts {
			if first := old.firstKey(); len(key) > 0 && len(first) > 0 && first[0] == key[0] && bytes.Compare(first, key) <= 0 && bytes.Compare(first, best) > 0 {
				nearest[i], best = k, first
			}
		}
	}
	return nearest
}

// firstKey returns the key of the first block; nil for an empty part.
func (p *part) firstKey() []byte {
	e, ok := p.block(HeaderLen)
	if !ok {
		return nil
	}
	return e.Key()
}

// EachBlock calls fn for each block of part i, resource or alias. It stops at and returns the first error of fn. An
// invalid block ends it too.
func (r *Reader) EachBlock(i int, fn func(Entry) error) error {
	p := r.parts[i]
	for off := uint64(HeaderLen); off < uint64(len(p.blocks)); {
		e, ok := p.block(off)
		if !ok {
			return Corrupt(p.name, int64(off), "no block can start with % x", p.blocks[off:min(off+blockKey, uint64(len(p.blocks)))])
		}
		if err := fn(e); err != nil {
			return err
		}
		off += e.size()
	}
	return nil
}

// AwaitAll waits until n runs of stored bytes, such as segments, are in memory, while other goroutines run. The
// system reads them concurrently. If all are in memory already, it wastes a microsecond for each.
func AwaitAll(n int, stored func(i int) []byte) { file.Await(n, stored) }

// AwaitKeys waits until the resources of n keys or aliases, and their index slots, are in memory. The system reads
// them in three rounds, not three times per key.
func (r *Reader) AwaitKeys(n int, key func(i int) []byte) {
	file.Await(n, func(i int) []byte {
		x, slot := r.ideal(xxh3.Hash(key(i)))
		return x.data[HeaderLen+SlotLen*slot:][:SlotLen]
	})
	// The start of the first block that may match, with its key, unchecked. There is rarely a second one.
	file.Await(n, func(i int) []byte {
		hash := xxh3.Hash(key(i))
		x, slot := r.ideal(hash)
		for end := min(slot+x.reach+1, x.slots); slot < end; slot++ {
			s := le.Uint64(x.data[HeaderLen+SlotLen*slot:])
			if s == 0 {
				break
			}
			ref := Ref(s & (1<<slotRefBits - 1))
			if s>>slotRefBits == hash&(1<<slotTagBits-1) && ref>>refOffBits < Ref(len(r.parts)) {
				b := r.parts[ref>>refOffBits].blocks
				off := min(ref.off(), uint64(len(b)))
				return b[off:min(off+blockKey+fragment.MaxKeyLen, uint64(len(b)))]
			}
		}
		return nil
	})
	file.Await(n, func(i int) []byte {
		if e, ok := r.Lookup(key(i)); ok {
			return e.p.data[e.off:][:e.size()]
		}
		return nil
	})
}

// ideal returns the start of the search for a hash: an index, and a slot in it.
func (r *Reader) ideal(hash uint64) (*index, uint64) {
	x := &r.indexes[hash>>r.shift]
	return x, home(hash<<(64-r.shift), x.homes)
}

// Warm reads data that many responses share: the indexes and the checks of all files. It stops after limit bytes, and
// returns what it left of them.
func (r *Reader) Warm(ctx context.Context, limit int64) int64 {
	warm := func(b []byte) {
		for len(b) > 0 && limit > 0 && ctx.Err() == nil {
			chunk := b[:min(int64(len(b)), limit, warmPiece)]
			file.Await(1, func(int) []byte { return chunk })
			b, limit = b[len(chunk):], limit-int64(len(chunk))
		}
	}
	for i := range r.indexes {
		warm(r.indexes[i].all)
	}
	for _, f := range r.manifest.Files() {
		warm(r.files[f.Name].sums)
	}
	return limit
}

// warmPiece is the number of bytes that Warm reads between checks of its context.
const warmPiece = 1 << 20

// Removed reports whether the resource with that key was deleted or merged. into is the key it was merged into, or
// nil. The error matches ErrCorrupt.
func (r *Reader) Removed(key []byte) (into []byte, removed bool, err error) {
	var buf [1 + fragment.MaxKeyLen]byte
	e, ok := r.Block(fragment.AppendRemoved(buf[:0], key))
	if !ok {
		return nil, false, nil
	}
	into, fault := mergedInto(e)
	if fault != "" {
		return nil, false, Corrupt(e.p.name, int64(e.off), "%s: %s", fragment.DescribeKey(e.Key()), fault)
	}
	return into, true, nil
}

// mergedInto returns the key that a removed resource was merged into, or nil if it was deleted. fault describes a
// violation of the format.
func mergedInto(e Entry) (into []byte, fault string) {
	key := e.Key()[1:]
	if e.IsAlias() || len(key) == 0 || fragment.Kind(key[0]) >= fragment.KindAlias {
		return nil, "it does not name a resource that can be removed"
	}
	if e.Len() == 0 {
		return nil, ""
	}
	f, ok := e.Find(fragment.Address{Sub: fragment.SubMergedInto})
	if !ok || e.Len() != 1 {
		return nil, "it has to have one fragment at most, merged_into"
	}
	if into, fault = textOf(f, fragment.MaxKeyLen); fault != "" {
		return nil, "merged_into: " + fault
	}
	if len(into) != len(key) || into[0] != key[0] || bytes.Equal(into, key) {
		return nil, fmt.Sprintf("merged into %s, want another resource of the same kind", fragment.DescribeKey(into))
	}
	return into, ""
}

// textOf returns a copy of the text of a fragment that is one segment or literal. fault describes a violation.
func textOf(f Fragment, limit uint32) (text []byte, fault string) {
	var p, second Piece
	c := f.Pieces()
	switch {
	case !c.Next(&p) || c.Next(&second) || c.Broken:
	case p.Op == OpLiteral:
		return bytes.Clone(p.Text()), ""
	case p.Op == OpSegment && p.Segment.RawLen > limit:
		return nil, fmt.Sprintf("%d raw bytes, at most %d are possible", p.Segment.RawLen, limit)
	case p.Op == OpSegment:
		text, err := new(Inflater).Append(nil, &p.Segment)
		if err != nil {
			return nil, err.Error()
		}
		return text, ""
	}
	return nil, "it is not one segment or literal"
}
