// Package splice joins stored segments and literal bytes into one body, without
// inflating or compressing the segments.
//
// The gzip form is one member: a header, the segments' deflate blocks as they lie in
// the release, stored blocks for the literals between them, an empty final block,
// and the CRC-32 and length of the whole, combined from the parts'.
package splice

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"io"
	"slices"
	"time"
	"unsafe"

	"github.com/klauspost/compress/gzip"
	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/release"
)

// ETagLen is the length of an entity tag in bytes: W/"<32 hex digits>".
const ETagLen = 36

// maxStored bounds the bytes of one stored block.
const maxStored = 0xffff

const (
	headerLen  = 10
	trailerLen = 2 + 8 // the empty final block, CRC-32 and length
	storedHead = 5
)

// An Answer is a body under construction. The zero value is an empty one. It refers to its
// segments, so it must not outlive the Reader of their release. It is reused by Reset and
// must not be copied.
type Answer struct {
	chunks    []chunk
	literals  []byte
	tag       []byte // input of the entity tag
	rawLen    uint64
	storedLen int
	inflater  release.Inflater
	frame     [headerLen]byte // gzip framing around a piece
}

// chunk is a segment of a release, a segment whose bytes are literals[from:to], or those literals.
type chunk struct {
	seg      release.Segment // its RawLen is 0 for literals
	from, to int             // both 0 for a segment of a release
}

// segment returns the segment of a chunk that is not a literal.
func (a *Answer) segment(c *chunk) release.Segment {
	s := c.seg
	if c.to > 0 {
		s.Stored = a.literals[c.from:c.to]
	}
	return s
}

// Reset empties a for the next answer.
func (a *Answer) Reset() {
	clear(a.chunks) // drops references to the mapping
	a.chunks = a.chunks[:0]
	a.literals, a.tag = a.literals[:0], a.tag[:0]
	a.rawLen, a.storedLen = 0, 0
}

// Segment appends a stored segment. A segment without raw bytes adds nothing to the body.
func (a *Answer) Segment(s *release.Segment) {
	a.tag = append(append(a.tag, 1), s.Hash[:]...)
	if s.RawLen == 0 {
		return
	}
	a.chunks = append(a.chunks, chunk{seg: *s})
	a.rawLen += uint64(s.RawLen)
	a.storedLen += len(s.Stored)
}

// SegmentCopy appends a segment outside any release, and copies its stored bytes.
func (a *Answer) SegmentCopy(s *release.Segment) {
	if a.Segment(s); s.RawLen == 0 {
		return
	}
	c := &a.chunks[len(a.chunks)-1]
	c.from = len(a.literals)
	a.literals = append(a.literals, s.Stored...)
	c.seg.Stored, c.to = nil, len(a.literals)
}

// Literal appends bytes, which are copied. Adjacent literals share
// blocks.
func Literal[T string | []byte](a *Answer, b T) {
	a.tag = append(binary.AppendUvarint(append(a.tag, 0), uint64(len(b))), b...)
	a.rawLen += uint64(len(b))
	for len(b) > 0 {
		n, from := min(len(b), maxStored), len(a.literals)
		a.literals = append(a.literals, b[:n]...)
		b = b[n:]
		if last := len(a.chunks) - 1; last >= 0 && a.chunks[last].seg.RawLen == 0 && len(a.literals)-a.chunks[last].from <= maxStored {
			a.chunks[last].to = len(a.literals)
			a.storedLen += n
			continue
		}
		a.chunks = append(a.chunks, chunk{from: from, to: len(a.literals)})
		a.storedLen += storedHead + n
	}
}

// RawLen is the length of the identity body in bytes.
func (a *Answer) RawLen() int { return int(a.rawLen) }

// GzipLen is the length of the gzip body in bytes.
func (a *Answer) GzipLen() int { return headerLen + a.storedLen + trailerLen }

// SegmentsOver returns the number of segments of the release with at least size bytes in a, and the number
// of all other bytes in its gzip body.
func (a *Answer) SegmentsOver(size int) (segments, others int) {
	others = a.GzipLen()
	for i := range a.chunks {
		if stored := a.chunks[i].seg.Stored; len(stored) >= max(1, size) {
			segments++
			others -= len(stored)
		}
	}
	return segments, others
}

// Await waits until the segments of a are in memory. The system reads them concurrently.
func (a *Answer) Await() {
	release.AwaitAll(len(a.chunks), func(i int) []byte { return a.chunks[i].seg.Stored })
}

// Check checks the segments of a, each once while their release is open. It panics on
// damage: see release.Guard. Call it before the tag and the body are made.
func (a *Answer) Check() {
	for i := range a.chunks {
		a.chunks[i].seg.Check() // does nothing for a literal
	}
}

// AppendETag appends the weak entity tag. It depends on the content of the parts alone:
// it is the same for every encoding, and for every release with the same
// content.
func (a *Answer) AppendETag(dst []byte) []byte {
	sum := xxh3.Hash128(a.tag).Bytes()
	return append(hex.AppendEncode(append(dst, `W/"`...), sum[:]), '"')
}

// header is a gzip header without a name, a time or a system.
const header = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// GzipPieces calls yield with the pieces of the body as one gzip member. A stable piece is
// valid until Reset; any other until yield returns.
func (a *Answer) GzipPieces(yield func(b []byte, stable bool)) {
	frame := &a.frame
	yield(append(frame[:0], header...), false)
	var crc uint32
	for i := range a.chunks {
		c := &a.chunks[i]
		if c.seg.RawLen > 0 {
			if c.to == 0 {
				yield(c.seg.Stored, true)
			} else {
				yield(a.literals[c.from:c.to], false)
			}
			crc = release.CombineCRC(crc, c.seg.CRC, c.seg.Op)
			continue
		}
		lit := a.literals[c.from:c.to]
		n := uint16(len(lit))
		yield(append(frame[:0], 0, byte(n), byte(n>>8), ^byte(n), ^byte(n>>8)), false)
		yield(lit, false)
		crc = crc32.Update(crc, crc32.IEEETable, lit)
	}
	end := append(frame[:0], 0x03, 0x00)
	end = binary.LittleEndian.AppendUint32(end, crc)
	yield(binary.LittleEndian.AppendUint32(end, uint32(a.rawLen)), false)
}

// AppendIdentity appends the body uncompressed. The error matches
// release.ErrCorrupt if a segment differs from its recorded length or checksum.
func (a *Answer) AppendIdentity(dst []byte) ([]byte, error) {
	if a.rawLen <= release.MaxInflation*uint64(a.storedLen) {
		dst = slices.Grow(dst, int(a.rawLen))
	}
	for i := range a.chunks {
		c := &a.chunks[i]
		if c.seg.RawLen == 0 {
			dst = append(dst, a.literals[c.from:c.to]...)
			continue
		}
		var err error
		s := a.segment(c)
		if dst, err = a.AppendInflated(dst, &s); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// WriteIdentity writes the body uncompressed to w, in pieces of some kilobytes. It returns errors of AppendIdentity
// and w.
func (a *Answer) WriteIdentity(w io.Writer) error {
	for i := range a.chunks {
		c := &a.chunks[i]
		var err error
		if c.seg.RawLen == 0 {
			_, err = w.Write(a.literals[c.from:c.to])
		} else {
			s := a.segment(c)
			err = a.inflater.WriteTo(w, &s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// WriteGzip writes the body as one gzip member to w, in pieces as long as segments. The error
// is w's.
func (a *Answer) WriteGzip(w io.Writer) (err error) {
	a.GzipPieces(func(b []byte, _ bool) {
		if err == nil {
			_, err = w.Write(b)
		}
	})
	return err
}

// Bytes returns the approximate memory of a, without the segments, which lie in their release.
func (a *Answer) Bytes() int {
	return cap(a.chunks)*int(unsafe.Sizeof(chunk{})) + cap(a.literals) + cap(a.tag) + a.inflater.Bytes()
}

// AppendInflated appends the raw bytes of one segment, which need not belong to a. Its
// errors are AppendIdentity's.
func (a *Answer) AppendInflated(dst []byte, s *release.Segment) ([]byte, error) {
	return a.inflater.Append(dst, s)
}

// Parts calls fn for each piece of a in order, for inspection: a literal or a segment.
func (a *Answer) Parts(fn func(literal []byte, s *release.Segment)) {
	for i := range a.chunks {
		c := &a.chunks[i]
		if c.seg.RawLen == 0 {
			fn(a.literals[c.from:c.to], nil)
			continue
		}
		s := a.segment(c)
		fn(nil, &s)
	}
}

// A Packer compresses bodies as a whole. Small segments cannot refer to one another, so a body of many takes less than
// two thirds this way. It is reused and not safe for concurrent use.
type Packer struct {
	z   *gzip.Writer // nil before the first use
	raw []byte
}

// packLevel is the level at which pages are compressed: for 20 rows higher levels make no fewer bytes,
// and the fastest level saves a tenth of the time for 6 % more bytes.
const packLevel = 6

// Bytes returns the capacity for bodies in bytes.
func (p *Packer) Bytes() int { return cap(p.raw) }

// AppendGzip appends the body of a as one gzip member, compressed as a whole. Its errors are
// Answer.AppendIdentity's.
func (p *Packer) AppendGzip(dst []byte, a *Answer) (_ []byte, err error) {
	if p.raw, err = a.AppendIdentity(p.raw[:0]); err != nil {
		return dst, err
	}
	if p.z == nil {
		if p.z, err = gzip.NewWriterLevel(nil, packLevel); err != nil {
			return dst, err
		}
	}
	out := bytes.NewBuffer(slices.Grow(dst, len(p.raw)/2))
	p.z.Reset(out)
	p.z.ModTime = time.Unix(0, 0) // no time
	if _, err = p.z.Write(p.raw); err == nil {
		err = p.z.Close()
	}
	return out.Bytes(), err
}
