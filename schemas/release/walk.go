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
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// A walker checks the indexes, the blocks in order, and what they lead to.
type walker struct {
	v        *verifier
	r        *Reader
	follower follower
	seen     map[uint64]segmentFacts // segments of the walk, by place, as a cache
	counts   fileCounts              // of the part at hand, as walked
	all      fileCounts              // of all parts
	segments uint64                  // met by the walk
	starts   []uint64                // of the recipes of the resource at hand, ascending
	first    uint64                  // the place of its first segment; 0 for none
	places   map[uint64]struct{}     // of its segments
	live     []int64                 // bytes of segments, by pack
	jobs     chan segmentJob
	inflater Inflater
}

// cacheLen bounds each cache of a walker.
const cacheLen = 1 << 16

// segmentFacts are the facts of a segment that a piece has.
type segmentFacts struct {
	segmentID
	stored, op uint32
}

// A segmentJob is a segment to inflate.
type segmentJob struct {
	piece Piece
	key   []byte
	at    fragment.Address
}

func (w *walker) walk(ctx context.Context) error {
	for i := range w.r.indexes {
		if err := w.v.guard(func() error { return w.slots(ctx, i) }); err != nil {
			return err
		}
	}
	n, whole := uint64(0), true
	for _, p := range w.r.parts {
		err := w.v.guard(func() error {
			w.counts = fileCounts{}
			err := p.eachBlock(func(e Entry) error {
				clear(w.places)
				w.block(e, w.v.mine(n))
				n++
				return ctx.Err()
			})
			if err != nil {
				whole = false // Nothing behind a broken block can be found.
				return err
			}
			w.totals(p)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if !whole {
		return nil
	}
	w.manifest()
	return w.v.guard(func() error { return w.tables(ctx) })
}

// slots checks that each slot of index i leads to a block, and that looking up its key finds it.
func (w *walker) slots(ctx context.Context, i int) error {
	x := &w.r.indexes[i]
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
		if w.v.mine(n) {
			w.slot(i, s, n, run, int64(off))
		}
	}
	if want := x.counts[indexKeys]; used != want {
		w.v.problem(x.name, -1, "footer counts %d slots in use, %d are", want, used)
	}
	return nil
}

func (w *walker) slot(i int, s, n, run uint64, off int64) {
	x := &w.r.indexes[i]
	e, ok := w.r.block(slotRef(s))
	if !ok {
		w.v.problem(x.name, off, "slot leads to %s, where no block can start", w.placeOf(slotRef(s)))
		return
	}
	hash := xxh3.Hash(e.Key())
	ideal := home(hash<<(64-w.r.shift), x.homes)
	if want := slotOf(hash, e.Ref()); s != want || hash>>w.r.shift != uint64(i) {
		w.v.problem(x.name, off, "%s: slot is %016x, want %016x in index %d", fragment.DescribeKey(e.Key()), s, want, hash>>w.r.shift)
	} else if ideal < run || ideal > n || n-ideal > x.reach {
		w.v.problem(x.name, off, "%s: slot %d cannot be found from its ideal slot %d", fragment.DescribeKey(e.Key()), n, ideal)
	}
}

// placeOf names a place for people.
func (w *walker) placeOf(ref Ref) string {
	return fmt.Sprintf("%d in part %d", ref.off(), ref>>refOffBits)
}

// block checks a block; the details only when it belongs to the part to check.
func (w *walker) block(e Entry, mine bool) {
	w.counts[partBlocks]++
	if mine {
		w.key(e)
	}
	if e.isAlias() {
		if mine && !w.follower.isResource(e.target()) {
			w.v.problem(e.p.name, int64(e.off), "alias %s leads to %d, where no resource starts", fragment.DescribeKey(e.Key()), e.number())
		}
		return
	}
	if mine {
		switch fragment.Kind(e.Key()[0]) {
		case fragment.KindRemoved:
			w.removed(e)
		case fragment.KindPerson:
			w.filmography(e)
		}
	}
	w.counts[partResources]++
	w.counts[partFragments] += uint64(e.Len())
	w.fragments(e, mine)
}

// key checks that the index finds the block, and that its padding is zero.
func (w *walker) key(e Entry) {
	if found, ok := w.r.find(e.Key()); !ok || found != e {
		w.v.problem(e.p.name, int64(e.off), "%s: the index does not lead here", fragment.DescribeKey(e.Key()))
	}
	if pad := e.block()[blockKey+e.keyLen() : e.fingerprintAt()]; !zero(pad) {
		w.v.problem(e.p.name, int64(e.off)+blockKey+int64(e.keyLen()), "%s: padding is % x, want zeros", fragment.DescribeKey(e.Key()), pad)
	}
}

// fragments checks the fragments of a resource. Their recipes lie in the order of their
// first use, without gaps, so that each byte of the block means something.
func (w *walker) fragments(e Entry, mine bool) {
	end := uint64(0) // of the recipes walked
	w.starts, w.first = w.starts[:0], 0
	for i := range e.Len() {
		if mine && i > 0 && e.address(i-1) >= e.address(i) {
			w.v.problem(e.p.name, e.rowAt(i), "%s: address is not above the one before", describe(e.Key(), e.Address(i)))
		}
		start := e.start(i)
		if _, ok := slices.BinarySearch(w.starts, start); ok {
			continue // it is shared
		}
		f := e.Fragment(i)
		if start != end || f.recipe == nil {
			if mine {
				w.v.problem(e.p.name, e.rowAt(i)+fragmentRecipe, "%s: recipe at %d of %d bytes, want one that is known or a whole one at %d",
					describe(e.Key(), e.Address(i)), start, e.recipes(), end)
			}
			continue
		}
		w.starts = append(w.starts, start)
		head := uint64(len(binary.AppendUvarint(nil, uint64(len(f.recipe)))))
		w.recipe(e, i, f, int64(e.off+e.area()+start+head), mine)
		end = start + head + uint64(len(f.recipe))
	}
	if mine {
		w.base(e)
		w.rest(e, end)
	}
}

// base checks that a resource has a base if it has a segment, and that it is the place
// of the first one.
func (w *walker) base(e Entry) {
	base, stored := uint64(0), e.typ() == typeStored
	if stored {
		base = le.Uint64(e.block()[e.baseAt():])
	}
	if base != w.first || stored != (w.first != 0) {
		w.v.problem(e.p.name, int64(e.off+e.baseAt()), "%s: type %d with base %016x, the first segment lies at %016x", fragment.DescribeKey(e.Key()), e.typ(), base, w.first)
	}
}

// rest checks that recipes end where the block says, and that what follows is zero.
func (w *walker) rest(e Entry, end uint64) {
	off := int64(e.off + e.area() + end)
	if end != e.recipes() {
		w.v.problem(e.p.name, off, "%s: recipes end at %d, the block has %d bytes of them", fragment.DescribeKey(e.Key()), end, e.recipes())
		return
	}
	if pad := e.block()[e.area()+end:]; !zero(pad) {
		w.v.problem(e.p.name, off, "%s: padding is % x, want zeros", fragment.DescribeKey(e.Key()), pad)
	}
}

// recipe checks the pieces of f, fragment i of e, whose recipe starts at off in the
// part. Segments are dealt to the parts one by one, everything else with its block.
func (w *walker) recipe(e Entry, i int, f Fragment, off int64, mine bool) {
	var p Piece
	k := 0
	for c := f.Pieces(); ; k++ {
		before := c.rest
		if !c.Next(&p) {
			if c.Broken() && mine {
				w.v.problem(e.p.name, off, "%s: piece %d, %s, breaks the format or leads outside the files: % x",
					describe(e.Key(), e.Address(i)), k, Op(before[0]), before[:min(len(before), 24)])
			}
			break
		}
		w.counts[partPieces]++
		row := before[:len(before)-len(c.rest)]
		w.piece(&piece{Piece: &p, key: e.Key(), at: e.Address(i), number: k, off: off, row: row, base: f.base}, e, mine)
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

func (w *walker) piece(p *piece, e Entry, mine bool) {
	where := uint64(0)
	if p.Op == OpSegment {
		where = uint64(p.Pack)<<wherePackShift | uint64(p.Offset)
		w.segment(p)
		if w.first == 0 {
			w.first = where
		}
	}
	if !mine {
		return
	}
	what := ""
	spec := PieceSpec{Op: p.Op, Segment: p.Segment, Literal: p.Text(), Shared: p.Shared, Sub: p.Sub, Include: p.Include, Word: p.Word, Number: p.Number}
	if want := appendPiece(nil, &spec, where, p.base); !bytes.Equal(want, p.row) {
		what = fmt.Sprintf("is % x, want % x", p.row, want)
	} else if p.Op == OpReference || p.Op == OpInclude {
		what = w.follower.leads(recipe{e, p.at.Sub}, p.Piece)
	}
	if what != "" {
		w.v.problem(e.p.name, p.off, "%s: piece %d, %s, %s", describe(p.key, p.at), p.number, p.Op, what)
	}
}

// segment counts a segment as live, and hands it to be inflated unless the walk has met it lately.
func (w *walker) segment(p *piece) {
	g := &p.Segment
	where := uint64(g.pack.number)<<wherePackShift | g.off
	if _, ok := w.places[where]; !ok {
		w.places[where] = struct{}{}
		w.live[g.pack.number] += int64(len(g.Stored))
	}
	facts := segmentFacts{g.id(), uint32(len(g.Stored)), g.Op}
	if w.seen[where] == facts && len(g.Stored) > 0 {
		return
	}
	if len(w.seen) >= cacheLen {
		clear(w.seen)
	}
	w.seen[where] = facts
	if w.v.mine(w.segments) {
		w.jobs <- segmentJob{*p.Piece, p.key, p.at}
	}
	w.segments++
}

// totals compares the counts of the footer of a part with the walk.
func (w *walker) totals(p *part) {
	for i := range partPacks { // the rest is what Open checks
		if got, want := w.counts[i], p.counts[i]; got != want {
			w.v.problem(p.name, -1, "footer counts %d, the blocks have %d", want, got)
		}
		w.all[i] += w.counts[i]
	}
}

// manifest compares the counts of the manifest with the walk.
func (w *walker) manifest() {
	keys := uint64(0)
	for i := range w.r.indexes {
		keys += w.r.indexes[i].counts[indexKeys]
	}
	if keys != w.all[partBlocks] {
		w.v.problem(ManifestName, -1, "the indexes have %d keys, the parts have %d", keys, w.all[partBlocks])
	}
	c := w.r.manifest.Counts
	want := [...]int64{c.Fragments, c.Segments, c.RawBytes, c.StoredBytes}
	got := [4]int64{int64(w.all[partFragments])}
	for i, m := range w.r.packs {
		got[1] += int64(m.counts[packSegments])
		got[2] += int64(m.counts[packRawBytes])
		got[3] += int64(len(m.data) - headerLen)
		if live := w.r.manifest.Packs[i].Live; live != w.live[i] {
			w.v.problem(ManifestName, -1, "%d bytes of %s are live, segments lie in %d", live, m.name, w.live[i])
		}
	}
	if got != want {
		w.v.problem(ManifestName, -1, "counts of fragments, segments, raw and stored bytes are %d, the files have %d", want, got)
	}
}

// inflateAll works off the jobs.
func (w *walker) inflateAll() {
	var z segmentChecker
	for j := range w.jobs {
		err := w.v.guard(func() error {
			if what := z.check(&j.piece.Segment); what != "" {
				w.v.problem(j.piece.Segment.pack.name, j.piece.Offset, "%s: %s", describe(j.key, j.at), what)
			}
			return nil
		})
		if err != nil { // cannot be: only damage ends it
			w.v.problem(j.piece.Segment.pack.name, j.piece.Offset, "%v", err)
		}
		w.v.advance(int64(len(j.piece.Segment.Stored)))
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

// sectionIDs is the section of a table that is called like a kind of resources: their ids.
const sectionIDs = "id"

// tables checks that the rows of tables of resources are resources with a row for lists.
func (w *walker) tables(ctx context.Context) error {
	for _, kind := range []fragment.Kind{
		fragment.KindMovie, fragment.KindTV, fragment.KindPerson, fragment.KindCollection, fragment.KindCompany, fragment.KindKeyword,
	} {
		t, ok := w.r.Table(kind.String())
		if !ok || t.Section(sectionIDs) == nil {
			continue
		}
		if err := w.tableRows(ctx, kind, t); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) tableRows(ctx context.Context, kind fragment.Kind, t *Table) error {
	file, ids := tableName(kind.String()), t.Section(sectionIDs)
	if len(ids) != 8*t.rows {
		w.v.problem(file, -1, "section %q has %d bytes, want 8 for each of %d rows", sectionIDs, len(ids), t.rows)
		return nil
	}
	var key []byte
	rows, _ := fragment.RowSource(kind, fragment.SubRow)
	for i := range t.rows {
		if i%65536 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !w.v.mine(uint64(i)) {
			continue
		}
		key = fragment.AppendID(key[:0], kind, fragment.ID(le.Uint64(ids[8*i:])))
		if e, ok := w.r.find(key); !ok || e.isAlias() || !e.hasSub(rows) {
			w.v.problem(file, -1, "row %d is %s, which the release does not have, or has no row for lists of", i, fragment.DescribeKey(key))
		}
	}
	return nil
}

// filmography checks the form of combined credits that readers take credits in titles of one kind
// from: see "Filmographies" in FORMAT.md.
func (w *walker) filmography(e Entry) {
	f, ok := e.Find(fragment.Address{Sub: fragment.SubCombinedCredits})
	_, movies := e.Find(fragment.Address{Sub: fragment.SubMovieCredits})
	_, series := e.Find(fragment.Address{Sub: fragment.SubTVCredits})
	if !ok || movies && series {
		return
	}
	credit, lists, ends := false, 1, false // the piece before is a credit; lists begun; the end is there
	var p Piece
	for c := f.Pieces(); c.Next(&p); {
		var text []byte
		switch p.Op {
		case OpInclude:
			ok = ok && !credit
			credit = true
			continue
		case OpIDEnd:
			ends = true
		case OpLiteral:
			text = p.Text()
		case OpSegment:
			text, _ = w.inflater.Append(nil, &p.Segment) // damage shows where segments are inflated
		}
		ok = ok && (!credit || bytes.Contains(text, []byte(`,"media_type":"`)))
		if credit = false; bytes.Contains(text, []byte(`],"crew":[`)) {
			lists++
		}
	}
	if !ok || credit || lists != 2 || !ends {
		w.v.problem(e.p.name, int64(e.off), "%s combined_credits: want casts and crews whose titles each have text with a media_type behind them",
			fragment.DescribeKey(e.Key()))
	}
}

// removed checks the entry of a removed resource.
func (w *walker) removed(e Entry) {
	_, what := mergedInto(e)
	if what == "" {
		if _, ok := w.r.find(e.Key()[1:]); ok {
			what = "the resource is there"
		}
	}
	if what != "" {
		w.v.problem(e.p.name, int64(e.off), "%s: %s", fragment.DescribeKey(e.Key()), what)
	}
}

// A segmentChecker inflates segments one after another. The zero value is ready.
type segmentChecker struct {
	z    Inflater
	in   []byte
	hash xxh3.Hasher
	out  [32 << 10]byte
}

// endOfStream is a final empty block, which a response puts behind its last segment.
const endOfStream = "\x03\x00"

// check returns what is wrong with g, or nothing.
func (c *segmentChecker) check(g *Segment) string {
	c.in = append(append(c.in[:0], g.Stored...), endOfStream...)
	if err := c.z.reset(c.in); err != nil {
		return err.Error()
	}
	var crc uint32
	var n uint64
	c.hash.Reset()
	for {
		k, err := c.z.z.Read(c.out[:])
		n += uint64(k)
		crc = crc32.Update(crc, crc32.IEEETable, c.out[:k])
		_, _ = c.hash.Write(c.out[:k]) // never fails
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
	case c.z.in.Len() > 0:
		return "it holds a final block"
	case n != uint64(g.RawLen):
		return fmt.Sprintf("it inflates to %d bytes, want %d", n, g.RawLen)
	case crc != g.CRC:
		return fmt.Sprintf("CRC is %08x, want %08x", crc, g.CRC)
	case g.Op != CRCOp(n):
		return fmt.Sprintf("CRC operator is %08x, want %08x", g.Op, CRCOp(n))
	}
	if got := hashFrom(c.hash.Sum64()); got != g.Hash {
		return fmt.Sprintf("hash is %x, want %x", got, g.Hash)
	}
	return ""
}

// A follower follows references and includes.
type follower struct {
	r       *Reader
	shallow map[depth]struct{} // recipes that end in time, as a cache
}

// isResource reports whether a resource starts at ref: its bytes could look like one
// inside another block, but then the index leads elsewhere.
func (f *follower) isResource(ref Ref) bool {
	e, ok := f.r.entryAt(ref)
	if !ok {
		return false
	}
	found, ok := f.r.find(e.Key())
	return ok && found == e
}

// A recipe is what references and includes lead to: the fragments of one sub-request
// of a resource, of which the edge takes the one in the requested variant.
type recipe struct {
	e   Entry
	sub fragment.Sub
}

// String names p for people: "movie 550 row".
func (p recipe) String() string { return describe(p.e.Key(), fragment.Address{Sub: p.sub}) }

// fragments returns the fragments of p, but only one of those that share their bytes: a
// resource may have 65535 fragments of one long recipe. Such as overlap without being
// the same break the format, and are reported where they stand.
func (p recipe) fragments() []Fragment {
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
		end = p.e.start(i) + uint64(len(f.recipe)) + 1
		all = append(all, f)
	}
	return all
}

// A depth is a recipe and how many more references and includes it may nest.
type depth struct {
	recipe
	left int
}

// target returns where a reference or an include leads, and false for one that leads
// nowhere.
func (f *follower) target(p *Piece) (recipe, bool) {
	if p.Op == OpReference {
		e, ok := f.r.Lookup(p.Shared)
		return recipe{e, p.Sub}, ok && e.hasSub(p.Sub)
	}
	e, ok := f.r.Include(p.Include)
	sub := p.Include.stored()
	if ok && !e.hasSub(sub) {
		var key [fragment.MaxKeyLen]byte
		e, ok = f.r.Lookup(fragment.AppendShared(key[:0], fragment.KindDefault, p.Include.Kind, ""))
	}
	if ok { // what answers every variant
		_, ok = e.Find(fragment.Address{Sub: sub})
	}
	return recipe{e, sub}, ok
}

// leads returns what is wrong with where p, a reference or an include in the recipe
// from, leads; nothing when all is well.
func (f *follower) leads(from recipe, p *Piece) string {
	to, ok := f.target(p)
	if !ok {
		return "leads to " + f.absent(p)
	}
	path := f.tooDeep(to, MaxDepth-1)
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

// absent names the target of p that is not there.
func (f *follower) absent(p *Piece) string {
	if p.Op == OpReference {
		return fmt.Sprintf("%s, which is not there", describe(p.Shared, fragment.Address{Sub: p.Sub}))
	}
	if _, ok := f.r.Include(p.Include); !ok {
		return fmt.Sprintf("%s, a resource which is not there", p.Include)
	}
	return fmt.Sprintf("%s, of which neither the resource nor the default of its kind has the base", p.Include)
}

// tooDeep follows what leads on from p. It returns the way, end first, to the first
// place where more than left references and includes lie inside one another; nil when
// there is none. What leads nowhere is reported where it stands, not here.
func (f *follower) tooDeep(p recipe, left int) []recipe {
	if left < 0 {
		return []recipe{p}
	}
	if _, ok := f.shallow[depth{p, left}]; ok {
		return nil
	}
	var piece Piece
	for _, of := range p.fragments() {
		for c := of.Pieces(); c.Next(&piece); {
			if path := f.tooDeepIn(&piece, left); path != nil {
				return append(path, p)
			}
		}
	}
	if len(f.shallow) >= cacheLen {
		clear(f.shallow)
	}
	f.shallow[depth{p, left}] = struct{}{}
	return nil
}

// tooDeepIn is tooDeep of one piece.
func (f *follower) tooDeepIn(piece *Piece, left int) []recipe {
	if piece.Op != OpReference && piece.Op != OpInclude {
		return nil
	}
	to, ok := f.target(piece)
	if !ok {
		return nil
	}
	return f.tooDeep(to, left-1)
}
