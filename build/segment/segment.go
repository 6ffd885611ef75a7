// Package segment compresses fragments into segments: raw deflate blocks, none of
// them final, that end on a byte boundary and refer to nothing before themselves,
// so that any segments can follow one another in one gzip member.
package segment

import (
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/flate"

	"reelsplice/build/segment/deflate"
	"reelsplice/schemas/release"
)

// DefaultLevel is the deflate level of a build that names none.
const DefaultLevel = 6

// A Compressor makes segments. It is not safe for concurrent use.
type Compressor struct {
	quick *deflate.Quick
	level int
	long  *flate.Writer    // for texts that it is quicker for; nil before the first
	slow  *deflate.Encoder // nil for the level
	out   buffer
	made  map[release.Hash]release.Segment // since Reset
}

// buffer collects the segments of one record. Slices of it stay valid while it
// grows, because growing copies.
type buffer struct{ b []byte }

func (o *buffer) Write(p []byte) (int, error) {
	o.b = append(o.b, p...)
	return len(p), nil
}

// idle has the Compressors that were closed, by level: each is most of a megabyte.
var idle [10]sync.Pool

// New returns a Compressor of the given deflate level, 1 to 9.
func New(level int) (*Compressor, error) {
	if level > 0 && level < len(idle) {
		if c, ok := idle[level].Get().(*Compressor); ok {
			return c, nil
		}
	}
	q, err := deflate.NewQuick(level)
	if err != nil {
		return nil, err
	}
	return &Compressor{quick: q, level: level, made: map[release.Hash]release.Segment{}}, nil
}

// Close gives the memory of c to others. It ends the life of all segments that c made, and of c.
func (c *Compressor) Close() {
	c.Slow(nil)
	idle[c.level].Put(c)
}

// Reset ends the life of all segments that c made, to reuse their memory.
func (c *Compressor) Reset() {
	c.out.b = c.out.b[:0]
	clear(c.made)
}

// Slow makes c compress with e from now on, which takes twenty times as long and makes less;
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
	start := len(c.out.b)
	switch {
	case c.slow != nil:
		c.out.b = c.slow.Append(c.out.b, raw)
	case len(raw) <= c.quick.Most():
		c.out.b = c.quick.Append(c.out.b, raw)
	default:
		if err := c.writeLong(raw); err != nil {
			return release.Segment{}, fmt.Errorf("compress: %w", err)
		}
	}
	s := release.Segment{
		Stored: c.out.b[start:len(c.out.b):len(c.out.b)],
		RawLen: uint32(len(raw)),
		CRC:    crc32.ChecksumIEEE(raw),
		Op:     release.CRCOp(uint64(len(raw))),
		Hash:   hash,
	}
	c.made[hash] = s
	return s, nil
}

// writeLong writes the blocks of a long text.
func (c *Compressor) writeLong(raw []byte) error {
	if c.long == nil { // it takes a megabyte, and most shards have no such text
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
