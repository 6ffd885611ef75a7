// Package segment compresses fragments into segments: raw deflate blocks, none of
// them final, that end on a byte boundary and refer to nothing before themselves,
// so that any segments can follow one another in one gzip member.
package segment

import (
	"hash/crc32"

	"reelsplice/build/segment/deflate"
	"reelsplice/schemas/release"
)

// DefaultLevel is the deflate level of a build that names none.
const DefaultLevel = 6

// A Compressor makes segments. It is not safe for concurrent use.
type Compressor struct {
	quick *deflate.Quick
	slow  *deflate.Encoder // nil for the level
	// out collects the segments of one record. Slices of it stay valid while it grows,
	// because growing copies.
	out  []byte
	made map[release.Hash]release.Segment // since Reset
}

// New returns a Compressor of the given deflate level, 1 to 9.
func New(level int) (*Compressor, error) {
	q, err := deflate.NewQuick(level)
	if err != nil {
		return nil, err
	}
	return &Compressor{quick: q, made: map[release.Hash]release.Segment{}}, nil
}

// Reset ends the life of all segments that c made, to reuse their memory.
func (c *Compressor) Reset() {
	c.out = c.out[:0]
	clear(c.made)
}

// Slow makes c compress with e from now on, which takes ten times as long and makes less;
// nil goes back to the level. It ends the life of all segments that c made.
func (c *Compressor) Slow(e *deflate.Encoder) {
	c.Reset()
	c.slow = e
}

// Segment compresses raw, unless it has done so since Reset: variants of a record
// are often equal. The result is valid until Reset.
func (c *Compressor) Segment(raw []byte) (release.Segment, error) {
	hash := release.HashOf(raw)
	if s, ok := c.made[hash]; ok {
		return s, nil
	}
	start := len(c.out)
	if c.slow != nil {
		c.out = c.slow.Append(c.out, raw)
	} else {
		c.out = c.quick.Append(c.out, raw)
	}
	s := release.Segment{
		Stored: c.out[start:len(c.out):len(c.out)],
		RawLen: uint32(len(raw)),
		CRC:    crc32.ChecksumIEEE(raw),
		Op:     release.CRCOp(uint64(len(raw))),
		Hash:   hash,
	}
	c.made[hash] = s
	return s, nil
}
