package neighbours

import (
	"encoding/binary"
	"math"
)

// Append appends t in binary.
func (t *Title) Append(dst []byte) []byte {
	dst = binary.AppendVarint(dst, t.ID)
	dst = binary.AppendVarint(dst, t.Collection)
	dst = binary.AppendVarint(dst, t.Votes)
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(t.Popularity))
	adult := byte(0)
	if t.Adult {
		adult = 1
	}
	dst = append(dst, adult)
	for _, ids := range [...][]int64{t.Genres, t.Keywords, t.People} {
		dst = binary.AppendUvarint(dst, uint64(len(ids)))
		for _, id := range ids {
			dst = binary.AppendVarint(dst, id)
		}
	}
	return dst
}

// Parse sets t, in t's memory, to the title that Append has written as b; false for other
// bytes.
func (t *Title) Parse(b []byte) bool {
	t.reset()
	p := parser{b: b}
	t.ID, t.Collection, t.Votes = p.varint(), p.varint(), p.varint()
	if len(p.b) < 9 {
		return false
	}
	t.Popularity = math.Float64frombits(binary.LittleEndian.Uint64(p.b))
	t.Adult = p.b[8] == 1
	p.b = p.b[9:]
	for _, ids := range [...]*[]int64{&t.Genres, &t.Keywords, &t.People} {
		for n := p.uvarint(); n > 0 && !p.bad; n-- {
			*ids = append(*ids, p.varint())
		}
	}
	return !p.bad && len(p.b) == 0
}

// A parser reads numbers from b; bad is set when there is none.
type parser struct {
	b   []byte
	bad bool
}

func (p *parser) varint() int64 {
	v, n := binary.Varint(p.b)
	p.pass(n)
	return v
}

func (p *parser) uvarint() uint64 {
	v, n := binary.Uvarint(p.b)
	p.pass(n)
	return v
}

func (p *parser) pass(n int) {
	if n <= 0 {
		p.b, p.bad = nil, true
		return
	}
	p.b = p.b[n:]
}
