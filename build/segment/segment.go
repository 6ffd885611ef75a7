// Package segment compresses fragments into segments: raw deflate blocks, all non-final, that end on a byte boundary
// and refer to no earlier data. So segments can follow one another in one gzip member in any order.
package segment

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/flate"

	"github.com/reelsplice/reelsplice/schemas/release"
)

// Version changes with the bytes that a Compressor produces for a text: builds reuse segments of earlier releases as
// long as it is the same. TestVersion pins it.
const Version = 2

// DefaultLevel is the default deflate level. It has our own encoder for short texts; everything else is
// klauspost/compress.
const DefaultLevel = 6

// A Compressor makes segments. It is not safe for concurrent use.
type Compressor struct {
	level int
	short *shortEncoder                    // at DefaultLevel, for texts up to maxShort; else nil
	long  *flate.Writer                    // for all other texts; nil until needed
	out   bytes.Buffer                     // slices of it stay valid while it grows, because growing copies
	cache map[release.Hash]release.Segment // since Reset
}

// New returns a Compressor of the given deflate level, 1 to 9.
func New(level int) (*Compressor, error) {
	if level < 1 || level > 9 {
		return nil, fmt.Errorf("compression level %d: want 1 to 9", level)
	}
	c := &Compressor{level: level, cache: map[release.Hash]release.Segment{}}
	if level == DefaultLevel {
		c.short = &shortEncoder{}
	}
	return c, nil
}

// Reset invalidates all segments of c and reuses their memory.
func (c *Compressor) Reset() {
	c.out.Reset()
	clear(c.cache)
}

// Len returns the stored length of all segments since Reset, in bytes.
func (c *Compressor) Len() int { return c.out.Len() }

// Segment compresses raw, or returns the earlier segment of an equal text since Reset: variants of a record are often
// equal. The result is valid until Reset.
func (c *Compressor) Segment(raw []byte) (release.Segment, error) {
	hash := release.HashOf(raw)
	if s, ok := c.cache[hash]; ok {
		return s, nil
	}
	start := c.out.Len()
	if c.short != nil && len(raw) <= maxShort {
		c.out.Write(c.short.append(c.out.AvailableBuffer(), raw))
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
	c.cache[hash] = s
	return s, nil
}

// writeLong writes the blocks of a text with klauspost/compress.
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
	// Flush ends with an empty stored block, which pads the output to a byte boundary. Close is never called, because
	// it would mark a final block.
	return c.long.Flush()
}

// maxShort is the length limit of a shortEncoder, in bytes. Encoders for long texts are faster above it. The window
// covers the whole text.
const maxShort = 30_000

// A shortEncoder writes the blocks of a segment in the format of RFC 1951: none is final, the last ends on a byte
// boundary, and no match reaches before the first.
//
// It is made for short texts: a build compresses more than a hundred million of some 550 bytes. Encoders for long
// texts spend their time there on clearing and walking large tables. The tables of this one grow with the text, and
// its work with the number of used symbols.
//
// Its blocks are about as small as other encoders' at level 6. It takes less than half a megabyte for any
// text, and is not safe for concurrent use.
type shortEncoder struct {
	chains  chains
	phrases []phrase
	count   counts
	code    code
}

// append appends a block with raw, which has at most maxShort bytes, and the padding to a byte boundary. The bytes
// depend on raw alone.
func (e *shortEncoder) append(dst, raw []byte) []byte {
	w, c := bitWriter{out: dst}, &e.code
	if len(raw) == 0 {
		w.stored(nil)
		return w.out
	}
	e.chains.link(raw)
	e.parse(raw)
	c.fit(&e.count)
	dynamic := c.dynamicBits + tailBits(uint(c.dynamicBits))
	fixed := c.fixedBits + tailBits(uint(c.fixedBits))
	stored := storedBits(0, len(raw))
	best := min(dynamic, fixed, stored)
	w.out = slices.Grow(w.out, best/8+slack)
	switch best {
	case stored:
		w.stored(raw)
		return w.out // already at a byte boundary
	case fixed:
		w.write(typeFixed, 3)
		w.phrases(raw, e.phrases, &fixedTable)
	default:
		c.literal.assign(c.table.literal[:])
		c.distance.assign(c.table.distance[:])
		c.head.write(&w)
		w.phrases(raw, e.phrases, &c.table)
	}
	w.tail()
	return w.out
}
