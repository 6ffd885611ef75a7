package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
)

// A page is a data page whose values are being read. If it is longer than its column's share, only a window of each part is in
// memory, and the page is uncompressed again for the next window.
type page struct {
	c          *column
	header     *format.PageHeader
	off        int64 // offset of the compressed page in the column
	size       int   // uncompressed
	valuesLeft int   // unread values
	pinned     int64 // bytes that count against limits.MaxPageBytes

	parts    [3]part // repetition levels, definition levels, values
	rep, def runs
	value    func() (parquet.Value, error) // next value that is not NULL
	bit      uint                          // PLAIN booleans read so far
	booleans byte
}

// A part is one of the three parts of a page.
type part struct {
	buf  []byte // unread bytes in memory
	rest int    // bytes of the part after buf
	end  int    // end of the part in the uncompressed page
}

// open opens the next page of the column. Its header must have been checked.
func (p *page) open(c *column, h *format.PageHeader, values int) error {
	c.file.pinned -= p.pinned
	*p = page{c: c, header: h, off: c.section.Size() - c.bytesLeft, valuesLeft: values}
	c.bytesLeft -= int64(h.CompressedPageSize)
	body, err := c.readBody(h, c.in)
	if err != nil || values == 0 {
		return err
	}
	p.size = len(body)
	e, err := p.split(body)
	if err == nil {
		err = p.setEncoding(e, body)
	}
	if err != nil {
		return err
	}
	p.fill(body, nil, 0)
	return nil
}

// split sets the bounds of the page's parts, and returns the encoding of its values.
func (p *page) split(body []byte) (e format.Encoding, err error) {
	c, from := p.c, 0
	part := func(i, n int) {
		p.parts[i].rest, p.parts[i].end = n, from+n
		from += n
	}
	switch h := p.header; h.Type {
	case format.DataPageV2:
		v := &h.DataPageHeaderV2.V
		rep, def := int(v.RepetitionLevelsByteLength), int(v.DefinitionLevelsByteLength)
		if c.rep > 0 && rep == 0 || c.def > 0 && def == 0 || rep+def > len(body) {
			return 0, fmt.Errorf("%d and %d bytes of levels, where a value has up to %d and %d", rep, def, c.rep, c.def)
		}
		e = v.Encoding
		part(0, rep)
		part(1, def)
	default:
		v := &h.DataPageHeader.V
		e = v.Encoding
		for i, levels := range []struct {
			highest int
			e       format.Encoding
		}{{c.rep, v.RepetitionLevelEncoding}, {c.def, v.DefinitionLevelEncoding}} {
			switch {
			case levels.highest == 0:
				continue // the page has no such levels
			case levels.e != format.RLE:
				return 0, fmt.Errorf("levels are encoded with %s, want RLE", levels.e)
			case len(body)-from < 4:
				return 0, errLevelsEnd
			}
			n := int(binary.LittleEndian.Uint32(body[from:]))
			if from += 4; n > len(body)-from {
				return 0, errLevelsEnd
			}
			part(i, n)
		}
	}
	part(2, len(body)-from)
	p.rep = runs{from: &p.parts[0], width: bits.Len(uint(c.rep)), values: p.valuesLeft}
	p.def = runs{from: &p.parts[1], width: bits.Len(uint(c.def)), values: p.valuesLeft}
	return e, nil
}

var errLevelsEnd = errors.New("it ends inside its levels")

// fill copies a window of each part into memory, or the whole part of a short page. The window of from has n bytes or more, if
// as many remain.
func (p *page) fill(body []byte, from *part, n int) {
	for i := range p.parts {
		part := &p.parts[i]
		if part.rest == 0 {
			continue
		}
		start := part.end - part.rest - len(part.buf)
		size := part.end - start
		if int64(p.size) > p.c.share {
			window := int(p.c.share*int64(size)/int64(p.size) + p.c.share/16)
			if part == from {
				window = max(window, n)
			}
			size = min(size, window)
		}
		part.buf = bytes.Clone(body[start : start+size])
		part.rest = part.end - start - size
	}
}

// take returns the next n bytes of a part. They stay valid.
func (p *page) take(from *part, n int) ([]byte, error) {
	if n > len(from.buf) {
		if n > len(from.buf)+from.rest {
			return nil, errShort
		}
		c := p.c
		f := c.file
		if f.reread += int64(p.size); f.reread > limit.Expandable(f.size, f.limits.MaxRatio) {
			return nil, limit.Errorf("pages are too large for %d bytes of memory: %d bytes were uncompressed more than once, want smaller pages or row groups", heldBytes, f.reread)
		}
		body, err := c.readBody(p.header, io.NewSectionReader(&c.section, p.off, int64(p.header.CompressedPageSize)))
		if err != nil {
			return nil, err
		}
		p.fill(body, from, n)
	}
	b := from.buf[:n:n]
	from.buf = from.buf[n:]
	return b, nil
}

// pin counts memory of the page besides its column's share.
func (p *page) pin(n int64) error {
	p.pinned += n
	return p.c.file.pin(n)
}

// pin counts memory of columns besides their shares.
func (p *Reader) pin(n int64) error {
	if p.pinned += n; p.pinned > p.limits.MaxPageBytes {
		return limit.Errorf("dictionaries and pages of all columns take %d bytes at once, want at most %d", p.pinned, p.limits.MaxPageBytes)
	}
	return nil
}

// next returns the next value of the page.
func (p *page) next() (v parquet.Value, err error) {
	c := p.c
	var rep, def uint32
	if c.rep > 0 {
		if rep, err = p.rep.next(p); err != nil {
			return v, err
		}
	}
	if c.def > 0 {
		if def, err = p.def.next(p); err != nil {
			return v, err
		}
	}
	switch {
	case int(rep) > c.rep || int(def) > c.def:
		return v, fmt.Errorf("a value has the levels %d and %d, want at most %d and %d", rep, def, c.rep, c.def)
	case int(def) == c.def:
		if v, err = p.value(); err != nil {
			return v, err
		}
	}
	return v.Level(int(rep), int(def), c.column), nil
}

// runs reads the hybrid of run-length and bit-packed encoding. A run starts with a varint, whose lowest bit distinguishes
// bit-packed groups of eight numbers from a repeated number; the groups or the number follow. A repeated run of a few bytes may
// claim 2^31 numbers.
type runs struct {
	from    *part
	width   int
	values  int    // number of values of the page
	runLeft uint64 // numbers left in the current run
	packed  bool
	number  uint32 // number of a repeated run
	group   [8]uint32
	pos     int // index in group of the next number
}

// next returns the next number.
func (r *runs) next(p *page) (uint32, error) {
	for r.runLeft == 0 {
		if err := r.readHead(p); err != nil {
			return 0, err
		}
	}
	r.runLeft--
	if !r.packed {
		return r.number, nil
	}
	if r.pos == len(r.group) {
		// Some writers leave out the end of the last group.
		b, err := p.take(r.from, min(r.width, len(r.from.buf)+r.from.rest))
		if err != nil {
			return 0, err
		}
		r.unpackGroup(b)
	}
	r.pos++
	return r.group[r.pos-1], nil
}

// readHead reads the head of a run.
func (r *runs) readHead(p *page) error {
	var head uint64
	for shift := 0; ; shift += 7 {
		b, err := p.take(r.from, 1)
		switch {
		case err != nil:
			return err
		case shift > 56:
			return errors.New("a run of values is too long")
		}
		if head |= uint64(b[0]&0x7f) << shift; b[0] < 0x80 {
			break
		}
	}
	r.runLeft, r.packed, r.pos = head>>1, head&1 == 1, len(r.group)
	if r.packed {
		r.runLeft *= 8
	}
	if r.runLeft > uint64(r.values)+spareValues {
		return limit.Errorf("page of %d values holds a run of %d", r.values, r.runLeft)
	}
	if r.packed || r.runLeft == 0 {
		return nil
	}
	b, err := p.take(r.from, (r.width+7)/8)
	r.number = 0
	for i := range b {
		r.number |= uint32(b[i]) << (8 * i)
	}
	r.number &= 1<<r.width - 1 // the library sets all bits of a boolean's byte
	return err
}

// unpackGroup unpacks a group of eight numbers.
func (r *runs) unpackGroup(b []byte) {
	var bits uint64
	have := 0
	for i := range r.group {
		for have < r.width {
			if len(b) > 0 {
				bits |= uint64(b[0]) << have
				b = b[1:]
			}
			have += 8
		}
		r.group[i] = uint32(bits & (1<<r.width - 1))
		bits >>= r.width
		have -= r.width
	}
	r.pos = 0
}
