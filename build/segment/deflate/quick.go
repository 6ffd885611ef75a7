package deflate

import (
	"fmt"
	"slices"
)

// maxBlock is how many bytes a block of a Quick says at most, beside those of a match and the
// literals before it. Several blocks take more: fragments are of one kind from end to end.
const maxBlock = maxStored - 2*maxMatch

// A Quick writes blocks of a level, 1 to 9, as other encoders do, but made for short texts. It
// takes half a megabyte, whatever it writes, and is not safe for concurrent use.
type Quick struct {
	effort  effort
	chains  chains
	phrases []phrase
	count   counts
	codes   quickCode
	w       bitWriter
}

// NewQuick returns a Quick of the given level.
func NewQuick(level int) (*Quick, error) {
	if level < 1 || level >= len(efforts) {
		return nil, fmt.Errorf("compression level %d: want 1 to %d", level, len(efforts)-1)
	}
	return &Quick{effort: efforts[level]}, nil
}

// Append appends blocks that say raw. What they say does not depend on what was written
// before, nor do they.
func (q *Quick) Append(dst, raw []byte) []byte {
	q.w = bitWriter{out: dst}
	if len(raw) == 0 {
		q.w.stored(nil)
	}
	q.chains.reset(len(raw))
	for from := 0; from < len(raw); {
		to := q.parse(raw, from)
		q.write(raw[from:to], to == len(raw))
		from = to
	}
	out := q.w.out
	q.w.out = nil
	return out
}

// write writes the phrases, which say raw, as a block, and behind the last one of a text what
// brings it to a byte boundary.
func (q *Quick) write(raw []byte, last bool) {
	w, c := &q.w, &q.codes
	c.fit(&q.count)
	dynamic, plain, stored := c.bits, c.plain, storedBits(w.n, len(raw))
	grown := false
	if last {
		dynamic, grown = withTail(w.n, dynamic, c.head.canGrow())
		plain += tailBits(w.n + uint(plain))
	}
	best := min(dynamic, plain, stored)
	w.out = slices.Grow(w.out, best/8+slack)
	switch best {
	case stored:
		w.stored(raw)
		return // at a byte boundary
	case plain:
		w.write(typeFixed, 3)
		w.phrases(raw, q.phrases, &fixedTable)
	default:
		if grown {
			c.head.grow()
		}
		c.assign()
		c.head.write(w)
		w.phrases(raw, q.phrases, &c.table)
	}
	if last {
		w.tail()
	}
}
