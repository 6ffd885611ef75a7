// Package segment compresses fragments into segments: raw deflate blocks, none of
// them final, that end on a byte boundary and refer to nothing before themselves,
// so that any segments can follow one another in one gzip member.
package segment

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"

	"github.com/klauspost/compress/flate"

	"github.com/reelsplice/reelsplice/schemas/release"
)

// Version changes with the bytes that a Compressor makes of a text: builds take segments of earlier
// releases over as long as it is the same. TestVersion pins it.
const Version = 2

// DefaultLevel is the deflate level of a build that names none. It has an encoder of our own for
// short texts; all else is klauspost/compress.
const DefaultLevel = 6

// A Compressor makes segments. It is not safe for concurrent use.
type Compressor struct {
	level int
	short *shortEncoder                    // of DefaultLevel, for texts up to maxShort; else nil
	long  *flate.Writer                    // of all other texts; nil before the first
	out   bytes.Buffer                     // slices of it stay valid while it grows, because growing copies
	made  map[release.Hash]release.Segment // since Reset
}

// idle holds the Compressors that were closed, by level: each is most of a megabyte.
var idle [10]sync.Pool

// New returns a Compressor of the given deflate level, 1 to 9.
func New(level int) (*Compressor, error) {
	if level < 1 || level >= len(idle) {
		return nil, fmt.Errorf("compression level %d: want 1 to %d", level, len(idle)-1)
	}
	if c, ok := idle[level].Get().(*Compressor); ok {
		return c, nil
	}
	c := &Compressor{level: level, made: map[release.Hash]release.Segment{}}
	if level == DefaultLevel {
		c.short = &shortEncoder{}
	}
	return c, nil
}

// Close gives the memory of c to others. It ends the life of all segments that c made, and of c.
func (c *Compressor) Close() {
	c.Reset()
	idle[c.level].Put(c)
}

// Reset ends the life of all segments that c made, to reuse their memory.
func (c *Compressor) Reset() {
	c.out.Reset()
	clear(c.made)
}

// Len returns the length of all segments that c made since Reset, in bytes at rest.
func (c *Compressor) Len() int { return c.out.Len() }

// Segment compresses raw, unless it has done so since Reset: variants of a record
// are often equal. The result is valid until Reset.
func (c *Compressor) Segment(raw []byte) (release.Segment, error) {
	hash := release.HashOf(raw)
	if s, ok := c.made[hash]; ok {
		return s, nil
	}
	start := c.out.Len()
	if c.short != nil && len(raw) <= maxShort {
		c.out.Write(c.short.Append(c.out.AvailableBuffer(), raw))
	} else if err := c.writeLong(raw); err != nil {
		return release.Segment{}, fmt.Errorf("compress: %w", err)
	}
	s := release.Segment{
		Stored: slices.Clip(c.out.Bytes()[start:]),
		RawLen: uint32(len(raw)),
		CRC:    crc32.ChecksumIEEE(raw),
		Op:     release.CRCOp(uint64(len(raw))),
		Hash:   hash,
	}
	c.made[hash] = s
	return s, nil
}

// writeLong writes the blocks of a text by klauspost/compress.
func (c *Compressor) writeLong(raw []byte) error {
	if c.long == nil { // it takes a megabyte, and at DefaultLevel most shards have no such text
		var err error
		if c.long, err = flate.NewWriter(&c.out, c.level); err != nil {
			return err
		}
	}
	c.long.Reset(&c.out)
	if _, err := c.long.Write(raw); err != nil {
		return err
	}
	// Flush ends with an empty stored block, which brings the output to a byte
	// boundary; Close, which would mark a final block, is never called.
	return c.long.Flush()
}

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
