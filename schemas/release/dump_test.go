package release

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// Dump writes what every byte of the release in dir means, as text: offset, bytes,
// meaning. It is meant for small releases: the text is many times as long.
func Dump(w io.Writer, dir string) error {
	r, err := open(dir, true /* trust: damage is what people look for */)
	if err != nil {
		return fmt.Errorf("dump release: %w", err)
	}
	defer func() { _ = r.Close() }() // read only
	d := &dumper{w: bufio.NewWriter(w), r: r, uses: map[uint64]use{}}
	if err := Guard(d.all); err != nil {
		return fmt.Errorf("dump release %q: %w", dir, err)
	}
	return nil
}

// A dumper writes the dump of one release. Errors of w stay there until Flush.
type dumper struct {
	w    *bufio.Writer
	r    *Reader
	z    Inflater
	uses map[uint64]use
}

// A use is a segment and the first that uses it.
type use struct {
	piece Piece
	by    string
}

func (d *dumper) all() error {
	m, err := d.r.manifest.Encode()
	if err != nil {
		return err
	}
	fmt.Fprintf(d.w, "== %s (%d bytes)\n%s", ManifestName, len(m), m)
	for _, p := range d.r.parts {
		if err := d.part(p); err != nil {
			return err
		}
	}
	for i := range d.r.indexes {
		d.index(&d.r.indexes[i])
	}
	for _, pack := range d.r.packs {
		d.pack(pack)
	}
	for _, name := range slices.Sorted(maps.Keys(d.r.tables)) {
		d.table(name)
	}
	return d.w.Flush()
}

// table writes where the sections of a table lie; what they mean is not said here.
func (d *dumper) table(name string) {
	t, _ := d.r.Table(name)
	d.header(t.m)
	data, list := t.m.data, t.m.counts[tableList]
	sections := slices.Clone(t.sections)
	slices.SortFunc(sections, func(a, b section) int { return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(a.size, b.size)) })
	for _, s := range sections {
		d.line(uint64(s.off), data[s.off:s.off+s.size], "section %s", s.name)
	}
	d.line(list, data[list:], "%d entries of the section list", len(sections))
	d.footer(t.m, "sections", "rows", "section list")
}

// line writes data, sixteen bytes a row, and what it means.
func (d *dumper) line(off uint64, data []byte, format string, args ...any) {
	n := min(16, len(data))
	fmt.Fprintf(d.w, "%08x  %-47s  %s\n", off, fmt.Sprintf("% x", data[:n]), fmt.Sprintf(format, args...))
	for off, data = off+uint64(n), data[n:]; len(data) > 0; off, data = off+uint64(n), data[n:] {
		n = min(16, len(data))
		fmt.Fprintf(d.w, "%08x  % x\n", off, data[:n])
	}
}

func (d *dumper) header(m *mapping) {
	fmt.Fprintf(d.w, "\n== %s (%d bytes)\n", m.name, len(m.all))
	d.line(headerMagic, m.all[headerMagic:headerVersion], "magic")
	d.line(headerVersion, m.all[headerVersion:headerLen], "format version %d", le.Uint64(m.all[headerVersion:]))
}

// footer writes checks and footer of a file. counts names the counts that are in use.
func (d *dumper) footer(m *mapping, counts ...string) {
	at := uint64(len(m.data))
	for b := range blocksOf(at) {
		d.line(at+checkLen*b, m.sums[checkLen*b:][:checkLen], "CRC-32C of block %d", b)
	}
	at += uint64(len(m.sums))
	b := m.all[at:]
	d.line(at+footerContent, b[footerContent:footerCounts], "content: %d bytes", len(m.data))
	for i, n := range m.counts {
		what := "reserved"
		if i < len(counts) {
			what = fmt.Sprintf("%s: %d", counts[i], n)
		}
		d.line(at+footerCounts+8*uint64(i), b[footerCounts+8*i:][:8], "%s", what)
	}
	d.line(at+footerCRC, b[footerCRC:], "CRC of the footer")
}

func (d *dumper) index(x *index) {
	d.header(x.mapping)
	for i := range x.slots {
		off := headerLen + slotLen*i
		s := le.Uint64(x.data[off:])
		what := "empty"
		if s != 0 {
			what = fmt.Sprintf("tag %04x, block at %08x of part %d", s>>slotRefBits, slotRef(s).off(), slotRef(s)>>refOffBits)
			if e, ok := d.r.block(slotRef(s)); ok {
				what += ", " + fragment.DescribeKey(e.Key())
			}
		}
		d.line(off, x.data[off:][:slotLen], "slot %d: %s", i, what)
	}
	d.footer(x.mapping, "slots", "keys", "ideal slots", "reach")
}

func (d *dumper) part(p *part) error {
	d.header(p.mapping)
	err := p.eachBlock(func(e Entry) error {
		d.block(e)
		return nil
	})
	for i, pack := range p.packs {
		off := uint64(len(p.blocks) + packNameLen*i)
		d.line(off, p.data[off:][:packNameLen], "pack %d: %s", i, pack.name)
	}
	d.footer(p.mapping, "blocks", "resources", "fragments", "pieces", "packs", "list of packs")
	return err
}

func (d *dumper) block(e Entry) {
	b, off := e.block(), e.off
	name := fragment.DescribeKey(e.Key())
	if e.isAlias() {
		d.line(off, b[:blockNumber], "alias")
		d.line(off+blockNumber, b[blockNumber:blockKey], "stands for the resource at %08x", e.number())
		d.line(off+blockKey, b[blockKey:e.tables()], "key: %s", name)
		return
	}
	d.line(off, b[:blockNumber], "resource: %d fragments, %d bytes of recipes", e.Len(), e.recipes())
	d.line(off+blockNumber, b[blockNumber:blockKey], "id %d", e.number())
	d.line(off+blockKey, b[blockKey:e.fingerprintAt()], "key: %s", name)
	d.line(off+e.fingerprintAt(), b[e.fingerprintAt():e.baseAt()], "fingerprint")
	if e.typ() == typeStored {
		base := le.Uint64(b[e.baseAt():])
		d.line(off+e.baseAt(), b[e.baseAt():e.tables()], "near segments count from %08x of pack %d", base&(MaxPackBytes-1), base>>wherePackShift)
	}
	for i := range e.Len() {
		row := e.row(i)
		d.line(off+e.tables()+fragmentLen*uint64(i), row, "%s: recipe at %d", e.Address(i), e.start(i))
	}
	end := e.area()
	for i := range e.Len() {
		if e.area()+e.start(i) == end {
			end = d.recipe(e, i, end)
		}
	}
	switch recipes := e.area() + e.recipes(); {
	case end < recipes:
		d.line(off+end, b[end:], "no fragment uses this")
	case end < e.size():
		d.line(off+end, b[end:], "padding")
	}
}

// recipe writes the recipe of fragment i, which starts at start in the block of e, and
// returns where it ends.
func (d *dumper) recipe(e Entry, i int, start uint64) uint64 {
	f := e.Fragment(i)
	if f.recipe == nil {
		return start
	}
	b, off := e.block(), e.off
	at := start + uint64(len(binary.AppendUvarint(nil, uint64(len(f.recipe)))))
	d.line(off+start, b[start:at], "recipe of %d bytes", len(f.recipe))
	var p Piece
	c := f.Pieces()
	for before := len(c.rest); c.Next(&p); before = len(c.rest) {
		n := uint64(before - len(c.rest))
		d.piece(off+at, b[at:at+n], &p, describe(e.Key(), e.Address(i)))
		at += n
	}
	if c.Broken() {
		d.line(off+at, c.rest, "  breaks the format")
	}
	return at + uint64(len(c.rest))
}

// piece writes a piece of the recipe by, and notes which segments are used.
func (d *dumper) piece(off uint64, row []byte, p *Piece, by string) {
	what := p.Op.String()
	switch p.Op {
	case OpSegment:
		g := &p.Segment
		what = fmt.Sprintf("segment in pack %d at %08x, %d bytes, raw %d, CRC %08x, operator %08x, hash %x",
			p.Pack, p.Offset, len(g.Stored), g.RawLen, g.CRC, g.Op, g.Hash)
		where := uint64(g.pack.number)<<wherePackShift | uint64(p.Offset)
		if _, ok := d.uses[where]; !ok {
			d.uses[where] = use{*p, by}
		}
	case OpReference:
		what = "reference to " + describe(p.Shared, fragment.Address{Sub: p.Sub})
	case OpInclude:
		what = fmt.Sprintf("include of %s", p.Include)
	case OpName:
		what = fmt.Sprintf("name of %s %d", p.Word, p.Number)
	case OpLiteral:
		what = fmt.Sprintf("literal %q", p.Text())
	}
	d.line(off, row, "  %s", what)
}

func (d *dumper) pack(m *mapping) {
	d.header(m)
	b := m.data
	var uses []use
	for _, u := range d.uses {
		if u.piece.Segment.pack == m {
			uses = append(uses, u)
		}
	}
	slices.SortFunc(uses, func(a, b use) int { return cmp.Compare(a.piece.Offset, b.piece.Offset) })
	end := uint64(headerLen)
	for _, u := range uses {
		off := uint64(u.piece.Offset)
		if off > end {
			d.line(end, b[end:off], "no piece uses this")
		}
		d.line(off, u.piece.Segment.Stored, "%s: %s", u.by, d.raw(&u.piece.Segment))
		end = max(end, off+uint64(len(u.piece.Segment.Stored)))
	}
	if end < uint64(len(b)) {
		d.line(end, b[end:], "no piece uses this")
	}
	d.footer(m, "segments", "raw bytes")
}

// raw returns the start of what a segment inflates to, in quotes.
func (d *dumper) raw(g *Segment) string {
	const most = 60
	text, err := d.z.Append(nil, g)
	switch {
	case err != nil:
		return err.Error()
	case len(text) > most:
		return fmt.Sprintf("%q...", text[:most])
	}
	return fmt.Sprintf("%q", text)
}
