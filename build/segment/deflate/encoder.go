package deflate

import "slices"

// MaxText is the length in bytes of the longest text that an Encoder takes. Longer ones are
// written more quickly by encoders made for them. The window reaches over all of a text.
const MaxText = 30_000

// An Encoder writes blocks about as small as those of other encoders at level 6. It takes less
// than half a megabyte, whatever it writes, and is not safe for concurrent use.
type Encoder struct {
	chains  chains
	phrases []phrase
	count   counts
	code    code
	w       bitWriter
}

// Append appends a block that holds raw, which has MaxText bytes at most, and what brings it to
// a byte boundary. The bytes follow from raw alone.
func (e *Encoder) Append(dst, raw []byte) []byte {
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
func (e *Encoder) write(raw []byte) {
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
