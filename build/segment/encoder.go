package segment

import "slices"

// maxShort is the length in bytes of the longest text that a shortEncoder takes. Longer ones are
// written more quickly by encoders made for them. The window reaches over all of a text.
const maxShort = 30_000

// A shortEncoder writes the blocks of a segment, as RFC 1951 has them: none is final, the last
// ends on a byte boundary, and no match reaches before the first.
//
// It is made for short texts: a build compresses more than a hundred million of some 550 bytes.
// Encoders made for long texts spend their time there on clearing and walking large tables. This
// one has tables that grow with the text, and works by the symbols that occur.
//
// Its blocks are about as small as those of other encoders at level 6. It takes less than half a
// megabyte, whatever it writes, and is not safe for concurrent use.
type shortEncoder struct {
	chains  chains
	phrases []phrase
	count   counts
	code    code
	w       bitWriter
}

// Append appends a block that holds raw, which has maxShort bytes at most, and what brings it to
// a byte boundary. The bytes follow from raw alone.
func (e *shortEncoder) Append(dst, raw []byte) []byte {
	e.w = bitWriter{out: dst}
	if len(raw) == 0 {
		e.w.stored(nil)
	} else {
		e.chains.link(raw)
		e.parse(raw)
		e.write(raw)
	}
	out := e.w.out
	e.w.out = nil
	return out
}

// write writes the phrases, which stand for raw, as the shortest of the three types of blocks.
func (e *shortEncoder) write(raw []byte) {
	w, c := &e.w, &e.code
	c.fit(&e.count)
	dynamic := c.bits + tailBits(uint(c.bits))
	plain := c.plain + tailBits(uint(c.plain))
	stored := storedBits(0, len(raw))
	best := min(dynamic, plain, stored)
	w.out = slices.Grow(w.out, best/8+slack)
	switch best {
	case stored:
		w.stored(raw)
		return // at a byte boundary
	case plain:
		w.write(typeFixed, 3)
		w.phrases(raw, e.phrases, &fixedTable)
	default:
		c.assign()
		c.head.write(w)
		w.phrases(raw, e.phrases, &c.table)
	}
	w.tail()
}
