package check

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// A walker checks the blocks in order, that the indexes find them, and what they lead to.
type walker struct {
	*verifier
	follower follower
	form     release.BlockChecker
	seen     map[place]segmentFacts // segments that the part at hand has met lately
	places   map[place]struct{}     // of the segments of the resource at hand
	live     map[string]int64       // bytes of segments, by pack
	order    []int                  // fragments of the resource at hand
	counts   release.FileCounts     // of the part at hand, as walked
	all      release.FileCounts     // of all parts
	segments uint64                 // met by the walk
	jobs     chan segmentJob
	inflater release.Inflater
}

// maxCache bounds each cache of a walker.
const maxCache = 1 << 16

// A place is where a segment lies: a pack of the list of a part, and the offset there.
type place struct {
	pack int
	off  int64
}

// segmentFacts are the facts of a segment that a piece has.
type segmentFacts struct {
	hash                 release.Hash
	raw, crc, stored, op uint32
}

// A segmentJob is a segment to inflate, of a fragment.
type segmentJob struct {
	segment release.Segment
	key     []byte
	at      fragment.Address
}

func (w *walker) walk(ctx context.Context) error {
	n, whole := uint64(0), true
	for i, f := range w.r.Manifest().Parts {
		w.counts, w.seen = release.FileCounts{}, map[place]segmentFacts{}
		ended := false
		err := w.guard(func() error {
			err := w.r.EachBlock(i, func(e release.Entry) error {
				w.block(e, w.mine(n))
				n++
				return ctx.Err()
			})
			ended = err == nil
			return err
		})
		if err != nil {
			return err
		}
		if whole = whole && ended; !ended {
			continue // nothing after a broken block can be found
		}
		for k, got := range w.counts[:release.PartPieces+1] { // the rest is what Open checks
			if want := w.r.File(f.Name).Counts()[k]; got != want {
				w.problem(f.Name, -1, "footer counts %d, the blocks have %d", want, got)
			}
			w.all[k] += got
		}
	}
	if !whole {
		return nil
	}
	return w.guard(func() error {
		w.totals()
		return w.tables(ctx)
	})
}

// block checks a block; the details only when it belongs to the part to check.
func (w *walker) block(e release.Entry, mine bool) {
	w.counts[release.PartBlocks]++
	file, at := e.Place()
	key := e.Key()
	if mine {
		if found, ok := w.r.Block(key); !ok || found != e {
			w.problem(file, at, "%s: the index does not lead here", fragment.DescribeKey(key))
		}
		if off, what := w.form.Check(e); what != "" {
			w.problem(file, off, "%s", what)
		}
	}
	if e.IsAlias() {
		if to, ok := e.Target(); mine && (!ok || !w.isResource(to)) {
			w.problem(file, at, "alias %s leads to %d, where no resource starts", fragment.DescribeKey(key), e.ID())
		}
		return
	}
	w.counts[release.PartResources]++
	w.counts[release.PartFragments] += uint64(e.Len())
	clear(w.places)
	var p release.Piece
	w.order = distinct(w.order[:0], e, 0, e.Len())
	for _, i := range w.order {
		number := 0
		for c := e.Fragment(i).Pieces(); c.Next(&p); number++ {
			w.counts[release.PartPieces]++
			if p.Op == release.OpSegment {
				w.segment(&p, key, e.Address(i))
			}
			if mine && (p.Op == release.OpReference || p.Op == release.OpInclude) {
				if what := w.follower.leads(recipe{e, e.Address(i).Sub}, &p); what != "" {
					w.problem(file, at, "%s: piece %d, %s, %s", release.Describe(key, e.Address(i)), number, p.Op, what)
				}
			}
		}
	}
	switch kind := fragment.Kind(key[0]); {
	case !mine:
	case kind == fragment.KindRemoved:
		w.removed(e)
	case kind == fragment.KindPerson:
		w.filmography(e)
	}
}

// isResource reports whether a resource starts at e: its bytes could look like one
// inside another block, but then the index leads elsewhere.
func (w *walker) isResource(e release.Entry) bool {
	found, ok := w.r.Block(e.Key())
	return ok && found == e
}

// segment counts a segment as live, and hands it to be inflated unless the walk has met it lately.
func (w *walker) segment(p *release.Piece, key []byte, at fragment.Address) {
	g, where := &p.Segment, place{p.Pack, p.Offset}
	if _, ok := w.places[where]; !ok {
		w.places[where] = struct{}{}
		pack, _ := g.Place()
		w.live[pack] += int64(len(g.Stored))
	}
	facts := segmentFacts{g.Hash, g.RawLen, g.CRC, uint32(len(g.Stored)), g.Op}
	if w.seen[where] == facts && len(g.Stored) > 0 {
		return
	}
	if len(w.seen) >= maxCache {
		clear(w.seen)
	}
	w.seen[where] = facts
	if w.mine(w.segments) {
		w.jobs <- segmentJob{*g, key, at}
	}
	w.segments++
}

// totals compares the counts of the indexes and of the manifest with the walk. Each block is found by its key, so each
// slot leads to a block if there are as many.
func (w *walker) totals() {
	m, keys := w.r.Manifest(), uint64(0)
	for _, f := range m.Index {
		x, used := w.r.File(f.Name), uint64(0)
		for slots := x.Content()[release.HeaderLen:]; len(slots) > 0; slots = slots[release.SlotLen:] {
			if binary.LittleEndian.Uint64(slots) != 0 {
				used++
			}
		}
		if want := x.Counts()[release.IndexKeys]; used != want {
			w.problem(f.Name, -1, "footer counts %d slots in use, %d are", want, used)
		}
		keys += used
	}
	if keys != w.all[release.PartBlocks] {
		w.problem(release.ManifestName, -1, "the indexes have %d keys, the parts have %d", keys, w.all[release.PartBlocks])
	}
	got := [4]int64{int64(w.all[release.PartFragments])}
	for _, f := range m.Packs {
		pack := w.r.File(f.Name)
		got[1] += int64(pack.Counts()[release.PackSegments])
		got[2] += int64(pack.Counts()[release.PackRawBytes])
		got[3] += int64(len(pack.Content()) - release.HeaderLen)
		if f.Live != w.live[f.Name] {
			w.problem(release.ManifestName, -1, "%d bytes of %s are live, segments lie in %d", f.Live, f.Name, w.live[f.Name])
		}
	}
	if want := [4]int64{m.Counts.Fragments, m.Counts.Segments, m.Counts.RawBytes, m.Counts.StoredBytes}; got != want {
		w.problem(release.ManifestName, -1, "counts of fragments, segments, raw and stored bytes are %d, the files have %d", want, got)
	}
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
		file, ids := "table-"+kind.String(), t.Section(sectionIDs)
		if len(ids) != 8*t.Rows() {
			w.problem(file, -1, "section %q has %d bytes, want 8 for each of %d rows", sectionIDs, len(ids), t.Rows())
			continue
		}
		var key []byte
		rows, _ := fragment.RowSource(kind, fragment.SubRow)
		for i := range t.Rows() {
			if i%65536 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if !w.mine(uint64(i)) {
				continue
			}
			key = fragment.AppendID(key[:0], kind, fragment.ID(binary.LittleEndian.Uint64(ids[8*i:])))
			if e, ok := w.r.Resource(key); !ok || !e.Has(rows) {
				w.problem(file, -1, "row %d is %s, which the release does not have, or has no row for lists of", i, fragment.DescribeKey(key))
			}
		}
	}
	return nil
}

// filmography checks the form of combined credits that readers take credits in titles of one kind
// from: see "Filmographies" in FORMAT.md.
func (w *walker) filmography(e release.Entry) {
	f, ok := e.Find(fragment.Address{Sub: fragment.SubCombinedCredits})
	_, movies := e.Find(fragment.Address{Sub: fragment.SubMovieCredits})
	_, series := e.Find(fragment.Address{Sub: fragment.SubTVCredits})
	if !ok || movies && series {
		return
	}
	credit, lists, ends := false, 1, false // the piece before is a credit; lists begun; the end is there
	var p release.Piece
	for c := f.Pieces(); c.Next(&p); {
		var text []byte
		switch p.Op {
		case release.OpInclude:
			ok = ok && !credit
			credit = true
			continue
		case release.OpIDEnd:
			ends = true
		case release.OpLiteral:
			text = p.Text()
		case release.OpSegment:
			text, _ = w.inflater.Append(nil, &p.Segment) // damage shows where segments are inflated
		}
		ok = ok && (!credit || bytes.Contains(text, []byte(`,"media_type":"`)))
		if credit = false; bytes.Contains(text, []byte(`],"crew":[`)) {
			lists++
		}
	}
	if !ok || credit || lists != 2 || !ends {
		file, off := e.Place()
		w.problem(file, off, "%s combined_credits: want casts and crews whose titles each have text with a media_type after them",
			fragment.DescribeKey(e.Key()))
	}
}

// removed checks the entry of a removed resource.
func (w *walker) removed(e release.Entry) {
	_, _, err := w.r.Removed(e.Key()[1:])
	var bad *release.CorruptError
	if errors.As(err, &bad) {
		w.problem(bad.File, bad.Off, "%s", bad.What)
		return
	}
	if _, ok := w.r.Block(e.Key()[1:]); ok {
		file, off := e.Place()
		w.problem(file, off, "%s: the resource is there", fragment.DescribeKey(e.Key()))
	}
}

// inflateAll works off the jobs.
func (w *walker) inflateAll() {
	var z inflater
	for j := range w.jobs {
		file, off := j.segment.Place()
		err := w.guard(func() error {
			if what := z.check(&j.segment); what != "" {
				w.problem(file, off, "%s: %s", release.Describe(j.key, j.at), what)
			}
			return nil
		})
		if err != nil { // cannot be: only damage ends it
			w.problem(file, off, "%v", err)
		}
		w.advance(int64(len(j.segment.Stored)))
	}
}

// An inflater inflates segments one after another. The zero value is ready.
type inflater struct {
	in  bytes.Reader
	z   io.ReadCloser
	raw bytes.Buffer
}

// endOfStream is a final empty block, which a response puts after its last segment.
const endOfStream = "\x03\x00"

// check returns what is wrong with g, or nothing.
func (c *inflater) check(g *release.Segment) string {
	c.in.Reset(append(bytes.Clone(g.Stored), endOfStream...))
	if c.z == nil {
		c.z = flate.NewReader(&c.in)
	}
	if err := c.z.(flate.Resetter).Reset(&c.in, nil); err != nil {
		return err.Error()
	}
	c.raw.Reset()
	n, err := c.raw.ReadFrom(io.LimitReader(c.z, int64(g.RawLen)+1))
	raw := c.raw.Bytes()
	switch {
	case err != nil:
		return fmt.Sprintf("inflating stops after %d raw bytes: %v", n, err)
	case n > int64(g.RawLen):
		return fmt.Sprintf("it inflates to at least %d bytes, want %d", n, g.RawLen)
	case c.in.Len() > 0:
		return "it holds a final block"
	case n != int64(g.RawLen):
		return fmt.Sprintf("it inflates to %d bytes, want %d", n, g.RawLen)
	case crc32.ChecksumIEEE(raw) != g.CRC:
		return fmt.Sprintf("CRC is %08x, want %08x", crc32.ChecksumIEEE(raw), g.CRC)
	case g.Op != release.CRCOp(uint64(n)):
		return fmt.Sprintf("CRC operator is %08x, want %08x", g.Op, release.CRCOp(uint64(n)))
	case release.HashOf(raw) != g.Hash:
		return fmt.Sprintf("hash is %x, want %x", release.HashOf(raw), g.Hash)
	}
	return ""
}
