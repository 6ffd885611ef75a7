package release

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"reelsplice/schemas/fragment"
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
	z    inflater
	uses map[uint64]use
}

// A use is a segment and the first that uses it.
type use struct {
	piece Piece
	by    string
}

func (d *dumper) all() error {
	m, err := d.r.manifest.encode()
	if err != nil {
		return err
	}
	fmt.Fprintf(d.w, "== %s (%d bytes)\n%s", manifestFile, len(m), m)
	d.checks()
	d.index()
	if err := d.directory(); err != nil {
		return err
	}
	for n, pack := range d.r.packs {
		if pack != nil {
			d.pack(n, pack.data)
		}
	}
	for _, name := range d.r.Tables() {
		d.table(name)
	}
	return d.w.Flush()
}

// table writes where the sections of a table lie; what they mean is not said here.
func (d *dumper) table(name string) {
	t, _ := d.r.Table(name)
	data := t.m.data
	d.header(tableName(name), data, "sections", "rows", "section list", "reserved")
	list := le.Uint64(data[headerCounts+8*tableList:])
	sections := slices.Clone(t.sections)
	slices.SortFunc(sections, func(a, b section) int { return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(a.size, b.size)) })
	for _, s := range sections {
		d.line(uint64(s.off), data[s.off:s.off+s.size], "section %s", s.name)
	}
	d.line(list, data[list:], "%d entries of the section list", len(sections))
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

func (d *dumper) header(name string, b []byte, counts ...string) {
	fmt.Fprintf(d.w, "\n== %s (%d bytes)\n", name, len(b))
	d.line(headerMagic, b[headerMagic:headerVersion], "magic")
	d.line(headerVersion, b[headerVersion:headerNumber], "format version %d", le.Uint32(b[headerVersion:]))
	d.line(headerNumber, b[headerNumber:headerFileLen], "number %d", le.Uint32(b[headerNumber:]))
	d.line(headerFileLen, b[headerFileLen:headerCounts], "file length %d", le.Uint64(b[headerFileLen:]))
	for i, what := range counts {
		off := uint64(headerCounts + 8*i)
		d.line(off, b[off:][:8], "%s: %d", what, le.Uint64(b[off:]))
	}
	d.line(headerUnused, b[headerUnused:headerCRC], "reserved")
	d.line(headerCRC, b[headerCRC:headerLen], "CRC of the header")
}

func (d *dumper) checks() {
	c := d.r.sums
	d.header(checksFile, c.data, "blocks", "CRC-32C of the second level", "unused", "unused")
	for _, f := range d.r.manifest.Files {
		m := d.r.files[f.Name]
		for b := range blocksOf(uint64(len(m.data))) {
			if m != c.mapping {
				off := checkLen * (m.first + b)
				d.line(headerLen+off, c.sums[off:][:checkLen], "CRC-32C of block %d of %s", b, f.Name)
			}
		}
	}
	d.line(uint64(headerLen+len(c.sums)), c.tops, "second level")
}

func (d *dumper) index() {
	b := d.r.index.data
	d.header(indexFile, b, "slots", "keys", "ideal slots", "reach")
	for i := range d.r.slots {
		off := headerLen + slotLen*i
		s := le.Uint64(b[off:])
		what := "empty"
		if s != 0 {
			what = fmt.Sprintf("tag %04x, block at %08x", s>>slotOffBits, slotRef(s))
			if e, ok := d.r.block(slotRef(s)); ok {
				what += ", " + fragment.DescribeKey(e.Key())
			}
		}
		d.line(off, b[off:][:slotLen], "slot %d: %s", i, what)
	}
}

func (d *dumper) directory() error {
	d.header(directoryFile, d.r.directory.data, "blocks", "resources", "fragments", "pieces")
	return d.r.blocks(context.Background(), func(e Entry) error {
		d.block(e)
		return nil
	})
}

func (d *dumper) block(e Entry) {
	b, off := e.block(), uint64(e.ref)
	name := fragment.DescribeKey(e.Key())
	if e.isAlias() {
		d.line(off, b[:blockNumber], "alias")
		d.line(off+blockNumber, b[blockNumber:blockKey], "stands for the resource at %08x", e.target())
		d.line(off+blockKey, b[blockKey:e.tables()], "key: %s", name)
		return
	}
	d.line(off, b[:blockNumber], "resource: %d fragments, %d bytes of programs", e.Len(), e.programs())
	d.line(off+blockNumber, b[blockNumber:blockKey], "id %d", e.number())
	d.line(off+blockKey, b[blockKey:e.base()], "key: %s", name)
	if e.typ() == typeStored {
		base := le.Uint64(b[e.base():])
		d.line(off+e.base(), b[e.base():e.tables()], "near segments count from %08x of %s", base&(MaxPackBytes-1), packName(int(base>>wherePackShift)))
	}
	for i := range e.Len() {
		row := e.row(i)
		d.line(off+e.tables()+fragmentLen*uint64(i), row, "%s: program at %d", e.Address(i), e.start(i))
	}
	end := e.area()
	for i := range e.Len() {
		if e.area()+e.start(i) == end {
			end = d.program(e, i, end)
		}
	}
	switch programs := e.area() + e.programs(); {
	case end < programs:
		d.line(off+end, b[end:], "no fragment uses this")
	case end < e.size():
		d.line(off+end, b[end:], "padding")
	}
}

// program writes the program of fragment i, which starts at start in the block of e, and
// returns where it ends.
func (d *dumper) program(e Entry, i int, start uint64) uint64 {
	f := e.Fragment(i)
	if f.program == nil {
		return start
	}
	b, off := e.block(), uint64(e.ref)
	at := start + uint64(len(binary.AppendUvarint(nil, uint64(len(f.program)))))
	d.line(off+start, b[start:at], "program of %d bytes", len(f.program))
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

// piece writes a piece of the program by, and notes which segments are used.
func (d *dumper) piece(off uint64, row []byte, p *Piece, by string) {
	what := p.Op.String()
	switch p.Op {
	case OpSegment:
		g := &p.Segment
		what = fmt.Sprintf("segment in %s at %08x, %d bytes, raw %d, CRC %08x, operator %08x, hash %x",
			packName(p.Pack), p.Offset, len(g.Stored), g.RawLen, g.CRC, g.Op, g.Hash)
		where := uint64(p.Pack)<<wherePackShift | uint64(p.Offset)
		if _, ok := d.uses[where]; !ok {
			d.uses[where] = use{*p, by}
		}
	case OpReference:
		what = fmt.Sprintf("reference to %s of the resource at %08x", p.Sub, p.Ref)
	case OpInclude:
		what = fmt.Sprintf("include of %s", p.Include)
	case OpName:
		what = fmt.Sprintf("name of %s %d", p.Word, p.Number)
	case OpLiteral:
		what = fmt.Sprintf("literal %q", p.Text())
	}
	d.line(off, row, "  %s", what)
}

func (d *dumper) pack(n int, b []byte) {
	d.header(packName(n), b, "segments", "raw bytes", "unused", "unused")
	var uses []use
	for _, u := range d.uses {
		if u.piece.Pack == n {
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
}

// raw returns the start of what a segment inflates to, in quotes.
func (d *dumper) raw(g *Segment) string {
	if err := d.z.reset(g.Stored); err != nil {
		return err.Error()
	}
	const most = 60
	var out bytes.Buffer
	if _, err := io.CopyN(&out, d.z.z, most+1); err != nil && err != io.EOF {
		return fmt.Sprintf("%q, then %v", out.Bytes(), err)
	}
	if out.Len() > most {
		return fmt.Sprintf("%q...", out.Bytes()[:most])
	}
	return fmt.Sprintf("%q", out.Bytes())
}
