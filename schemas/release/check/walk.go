package check

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"

	"github.com/klauspost/compress/flate"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
)

// A walker checks the blocks of parts, their index slots, and their references. It is for one goroutine.
type walker struct {
	*verifier
	follower  follower
	form      release.BlockChecker
	seen      map[place]segmentFacts  // recent segments of the current part
	segments  []liveSegment           // segments of the current resource
	live      map[string]int64        // bytes of the current part's segments, by pack
	order     []int                   // fragments of the current resource
	counts    release.FileCounts      // counts of the current part, as walked
	responses release.ResponseCounter // responses of the current part's resources
	z         inflater
	inflater  release.Inflater // for the text of filmographies
}

// maxCache bounds each cache of a walker.
var maxCache = 1 << 16 // tests lower it

// A place is the location of a segment: a pack in the list of a part, and the offset there.
type place struct {
	pack int
	off  int64
}

// segmentFacts are the values of a segment in a piece.
type segmentFacts struct {
	hash                 release.Hash
	raw, crc, stored, op uint32
}

// A liveSegment is a segment of the current resource.
type liveSegment struct {
	place
	file string // its pack
	n    int64  // stored bytes
}

// part checks the blocks of part i, and their segments.
func (w *walker) part(ctx context.Context, i int) error {
	w.counts, w.seen, w.live, w.responses = release.FileCounts{}, map[place]segmentFacts{}, map[string]int64{}, release.ResponseCounter{}
	whole := false
	err := w.guard(func() error {
		err := w.r.EachBlock(i, func(e release.Entry) error {
			w.block(e)
			return ctx.Err()
		})
		whole = err == nil
		return err
	})
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.broken = w.broken || !whole
	for pack, n := range w.live {
		w.verifier.live[pack] += n
	}
	w.verifier.responses.Add(w.responses.Counts())
	w.mu.Unlock()
	if !whole {
		return nil // blocks after a broken one cannot be found
	}
	name := w.r.Manifest().Parts[i].Name
	for k, got := range w.counts[:release.PartPieces+1] { // Open checks the rest
		if want := w.r.File(name).Counts()[k]; got != want {
			w.problem(name, -1, "footer counts %d, the blocks have %d", want, got)
		}
	}
	return nil
}

// block checks a block.
func (w *walker) block(e release.Entry) {
	w.counts[release.PartBlocks]++
	file, off := e.Place()
	key := e.Key()
	if found, ok := w.r.Block(key); !ok || found != e {
		w.problem(file, off, "%s: the index does not lead here", fragment.DescribeKey(key))
	}
	if off, fault := w.form.Check(e); fault != "" {
		w.problem(file, off, "%s", fault)
	}
	if e.IsAlias() {
		// Bytes inside another block can look like a resource, but the index does not lead to them.
		target, ok := e.Target()
		if found, indexed := w.r.Block(target.Key()); !ok || !indexed || found != target {
			w.problem(file, off, "alias %s leads to %d, where no resource starts", fragment.DescribeKey(key), e.ID())
		}
		return
	}
	w.counts[release.PartResources]++
	w.counts[release.PartFragments] += uint64(e.Len())
	w.responses.Add(e)
	w.segments = w.segments[:0]
	var p release.Piece
	w.order = distinct(w.order[:0], e, 0, e.Len())
	for _, i := range w.order {
		number := 0
		for c := e.Fragment(i).Pieces(); c.Next(&p); number++ {
			w.counts[release.PartPieces]++
			switch p.Op {
			case release.OpSegment:
				w.segment(&p, e, i)
			case release.OpReference, release.OpInclude:
				if fault := w.follower.fault(recipe{e, e.Address(i).Sub}, &p); fault != "" {
					w.problem(file, off, "%s: piece %d, %s, %s", release.Describe(key, e.Address(i)), number, p.Op, fault)
				}
			}
		}
	}
	slices.SortFunc(w.segments, func(a, b liveSegment) int { return cmp.Or(cmp.Compare(a.pack, b.pack), cmp.Compare(a.off, b.off)) })
	last := place{-1, 0}
	for _, s := range w.segments {
		if s.place != last { // one that occurs twice is live once
			w.live[s.file] += s.n
		}
		last = s.place
	}
	switch fragment.Kind(key[0]) {
	case fragment.KindRemoved:
		w.removed(e)
	case fragment.KindPerson:
		w.filmography(e)
	}
}

// segment counts a segment of fragment i of e as live, and inflates it unless a recent piece had it.
func (w *walker) segment(p *release.Piece, e release.Entry, i int) {
	g, where := &p.Segment, place{p.Pack, p.Offset}
	file, off := g.Place()
	w.segments = append(w.segments, liveSegment{where, file, int64(len(g.Stored))})
	facts := segmentFacts{g.Hash, g.RawLen, g.CRC, uint32(len(g.Stored)), g.Op}
	if w.seen[where] == facts && len(g.Stored) > 0 {
		return
	}
	if len(w.seen) >= maxCache {
		clear(w.seen)
	}
	w.seen[where] = facts
	err := w.guard(func() error {
		if fault := w.z.check(g); fault != "" {
			w.problem(file, off, "%s: %s", release.Describe(e.Key(), e.Address(i)), fault)
		}
		return nil
	})
	if err != nil { // impossible: only damage is an error
		w.problem(file, off, "%v", err)
	}
	w.advance(int64(len(g.Stored)))
}

// totals compares the manifest's counts with the footers of all files. If all parts were walked, it also compares the
// live bytes of packs, sub-requests and languages. Each block was found by its key, so equal counts mean that every
// slot leads to a block.
func (v *verifier) totals() {
	m := v.r.Manifest()
	var keys, blocks uint64
	var got [4]int64
	for _, f := range m.Index {
		keys += v.r.File(f.Name).Counts()[release.IndexKeys]
	}
	for _, f := range m.Parts {
		blocks += v.r.File(f.Name).Counts()[release.PartBlocks]
		got[0] += int64(v.r.File(f.Name).Counts()[release.PartFragments])
	}
	if keys != blocks {
		v.problem(release.ManifestName, -1, "the indexes have %d keys, the parts have %d", keys, blocks)
	}
	for _, f := range m.Packs {
		pack := v.r.File(f.Name)
		got[1] += int64(pack.Counts()[release.PackSegments])
		got[2] += int64(pack.Counts()[release.PackRawBytes])
		got[3] += int64(len(pack.Content()) - release.HeaderLen)
		if f.Live != v.live[f.Name] && v.o.Of <= 1 && !v.broken {
			v.problem(release.ManifestName, -1, "%d bytes of %s are live, segments lie in %d", f.Live, f.Name, v.live[f.Name])
		}
	}
	// Earlier programs did not count these, and a broken block makes the counts differ.
	if a := m.Counts.ResponseCounts; (a.SubRequests != nil || a.Languages != nil) && v.o.Of <= 1 && !v.broken && len(v.problems) == 0 {
		v.counted("sub_requests", a.SubRequests, v.responses.SubRequests)
		v.counted("languages", a.Languages, v.responses.Languages)
	}
	if want := [4]int64{m.Counts.Fragments, m.Counts.Segments, m.Counts.RawBytes, m.Counts.StoredBytes}; got != want {
		v.problem(release.ManifestName, -1, "counts of fragments, segments, raw and stored bytes are %d, the files have %d", want, got)
	}
}

// counted compares the manifest's counts, by name, with the parts' counts.
func (v *verifier) counted(field string, counts, parts map[string]int64) {
	names := maps.Clone(parts)
	maps.Copy(names, counts)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if counts[name] != parts[name] {
			v.problem(release.ManifestName, -1, "%s: %s is %d, the parts have %d", field, name, counts[name], parts[name])
		}
	}
}

// table checks that the rows of a table that belong to the subset are resources with a row for lists.
func (v *verifier) table(ctx context.Context, kind fragment.Kind) error {
	t, ok := v.r.Table(kind.String())
	section := tables.ID.String()
	if !ok || t.Section(section) == nil {
		return nil
	}
	file, ids := "table-"+kind.String(), t.Section(section)
	if len(ids) != 8*t.Rows() {
		v.problem(file, -1, "section %q has %d bytes, want 8 for each of %d rows", section, len(ids), t.Rows())
		return nil
	}
	var key []byte
	rows, _ := fragment.RowSource(kind, fragment.SubRow)
	for i := range t.Rows() {
		if i%65536 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !v.o.Mine(i) {
			continue
		}
		key = fragment.AppendID(key[:0], kind, fragment.ID(binary.LittleEndian.Uint64(ids[8*i:])))
		if e, ok := v.r.Resource(key); !ok || !e.Has(rows) {
			v.problem(file, -1, "row %d is %s, which the release does not have, or has no row for lists of", i, fragment.DescribeKey(key))
		}
	}
	return nil
}

// filmography checks the form of combined credits, from which readers extract credits of one media type: see
// "Filmographies" in FORMAT.md.
func (w *walker) filmography(e release.Entry) {
	f, ok := e.Find(fragment.Address{Sub: fragment.SubCombinedCredits})
	_, movies := e.Find(fragment.Address{Sub: fragment.SubMovieCredits})
	_, series := e.Find(fragment.Address{Sub: fragment.SubTVCredits})
	if !ok || movies && series {
		return
	}
	credit, lists, ends := false, 1, false // credit: the last piece was one; lists: lists begun; ends: the end was found
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
			text, _ = w.inflater.Append(nil, &p.Segment) // the check of segments reports damage
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

// An inflater inflates segments one after another. The zero value is ready.
type inflater struct {
	stored []byte // including the end of a stream
	in     bytes.Reader
	z      io.ReadCloser
	raw    bytes.Buffer
}

// endOfStream is a final empty block, which a response has after its last segment.
const endOfStream = "\x03\x00"

// check returns the fault of g, or "".
func (c *inflater) check(g *release.Segment) string {
	c.stored = append(append(c.stored[:0], g.Stored...), endOfStream...)
	c.in.Reset(c.stored)
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
