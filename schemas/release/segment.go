package release

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/zeebo/xxh3"
)

// A Hash is the 64-bit xxh3 of raw bytes, big-endian.
type Hash [8]byte

// HashOf returns the xxh3 of raw.
func HashOf(raw []byte) (h Hash) {
	binary.BigEndian.PutUint64(h[:], xxh3.Hash(raw))
	return h
}

// A Segment is a run of compressed bytes with the values needed to splice it.
type Segment struct {
	// Stored holds raw deflate blocks, none of them final, that end on a byte boundary and refer to nothing before
	// their start. If it comes from a Reader, it is a slice of the mapping: read-only, valid until the Reader closes,
	// and to be checked with Check before use.
	Stored []byte
	RawLen uint32 // length in bytes once inflated
	CRC    uint32 // CRC-32 (IEEE) of the raw bytes
	Op     uint32 // CRCOp(RawLen)
	Hash   Hash   // HashOf the raw bytes

	pack *Mapping // holds Stored; nil outside a release
	off  uint64   // offset of Stored in pack
}

// Place returns the name of the file with the stored bytes, and their offset there; "" if the segment is not from a
// Reader.
func (g *Segment) Place() (file string, off int64) {
	if g.pack == nil {
		return "", 0
	}
	return g.pack.name, int64(g.off)
}

// Check verifies the stored bytes if they are in a pack and unchecked. It is separate so that a disk can fetch many
// segments before the first is read. It panics on damage, like the methods of Reader.
func (g *Segment) Check() {
	if g.pack != nil && len(g.Stored) > 0 {
		g.pack.check(g.off, uint64(len(g.Stored)))
	}
}

// A segmentID identifies raw bytes, wherever they are stored.
type segmentID struct {
	hash     Hash
	raw, crc uint32
}

// Polynomials over GF(2) are reflected, as in CRC-32 (IEEE): bit 31 is the coefficient of x^0, bit 0 of x^31.
const (
	crcOne = 1 << 31 // x^0
	crcX8  = 1 << 23 // x^8
)

// CRCOp returns the operator x^(8n) mod P, which moves a CRC-32 past n bytes. Its time grows with the number of bits
// in n; a release stores the operator of each segment.
func CRCOp(n uint64) uint32 {
	op := uint32(crcOne)
	for i := 0; n != 0; i, n = i+1, n>>1 {
		if n&1 != 0 {
			op = crcMul(op, crcPowers[i])
		}
	}
	return op
}

// CombineCRC returns the CRC-32 of A followed by B, from their CRC-32s a and b and the operator opB = CRCOp(len(B)).
// It takes one multiplication in GF(2).
func CombineCRC(a, b, opB uint32) uint32 { return crcMul(a, opB) ^ b }

// crcPowers holds x^(8*2^i) mod P at i.
var crcPowers = func() (t [64]uint32) {
	t[0] = crcX8
	for i := 1; i < len(t); i++ {
		t[i] = crcMul(t[i-1], t[i-1])
	}
	return t
}()

// crcShift holds at [i][b] the byte b moved past i+1 bytes. Four independent lookups move a word past four bytes.
var crcShift = func() (t [4][256]uint32) {
	t[0] = *crc32.IEEETable
	for i := 1; i < len(t); i++ {
		for b, v := range t[i-1] {
			t[i][b] = t[0][byte(v)] ^ v>>8
		}
	}
	return t
}()

// crcMul returns a*b mod P.
func crcMul(a, b uint32) uint32 {
	// Reflected factors give a product that lacks one bit at the low end.
	p := clmul(a, b) << 1
	// The high half is below x^32 already. The low half counts as its value times x^32.
	lo := uint32(p)
	return uint32(p>>32) ^ crcShift[3][byte(lo)] ^ crcShift[2][byte(lo>>8)] ^
		crcShift[1][byte(lo>>16)] ^ crcShift[0][lo>>24]
}

// clmul returns the carry-less product of a and b. Each factor is cut into four parts with every fourth bit. An
// ordinary product then adds at most eight ones per position, and its carries end in bits that the masks drop.
func clmul(a, b uint32) uint64 {
	const m = 0x1111111111111111
	a0, a1, a2, a3 := uint64(a&0x11111111), uint64(a&0x22222222), uint64(a&0x44444444), uint64(a&0x88888888)
	b0, b1, b2, b3 := uint64(b&0x11111111), uint64(b&0x22222222), uint64(b&0x44444444), uint64(b&0x88888888)
	p0 := a0*b0 ^ a1*b3 ^ a2*b2 ^ a3*b1
	p1 := a0*b1 ^ a1*b0 ^ a2*b3 ^ a3*b2
	p2 := a0*b2 ^ a1*b1 ^ a2*b0 ^ a3*b3
	p3 := a0*b3 ^ a1*b2 ^ a2*b1 ^ a3*b0
	return p0&m | p1&(m<<1) | p2&(m<<2) | p3&(m<<3)
}

// MaxInflation is the largest number of raw bytes per byte of deflate: 258 for each two bits. A segment above it is
// damaged, and gets no memory.
const MaxInflation = 4 * 258

// An Inflater inflates single segments. The zero value is ready; it is for one goroutine.
type Inflater struct {
	in  bytes.Reader
	z   io.ReadCloser
	buf []byte // for WriteTo
}

// Bytes is about the memory of a used Inflater: window, tables, buffer.
func (i *Inflater) Bytes() int {
	if i.z == nil {
		return 0
	}
	return 48<<10 + cap(i.buf)
}

// start makes i ready to read a segment.
func (i *Inflater) start(s *Segment) error {
	s.Check()
	if uint64(s.RawLen) > MaxInflation*uint64(len(s.Stored)) {
		return fmt.Errorf("%w: segment of %d bytes has %d raw bytes", ErrCorrupt, len(s.Stored), s.RawLen)
	}
	i.in.Reset(s.Stored)
	if i.z == nil {
		i.z = flate.NewReader(&i.in)
		return nil
	}
	return i.z.(flate.Resetter).Reset(&i.in, nil)
}

// pieceLen is the number of raw bytes that WriteTo buffers.
var pieceLen = 16 << 10 // tests lower it

// WriteTo writes the raw bytes of one segment to w in pieces. It returns an error like Append, or the error of w.
// Some bytes may have been written before an error.
func (i *Inflater) WriteTo(w io.Writer, s *Segment) error {
	if err := i.start(s); err != nil {
		return err
	}
	if i.buf == nil {
		i.buf = make([]byte, pieceLen)
	}
	var crc uint32
	for left := int(s.RawLen); left > 0; {
		piece := i.buf[:min(left, pieceLen)]
		if _, err := io.ReadFull(i.z, piece); err != nil {
			return fmt.Errorf("%w: inflate segment: %w", ErrCorrupt, noEOF(err))
		}
		crc = crc32.Update(crc, crc32.IEEETable, piece)
		left -= len(piece)
		if left == 0 && crc != s.CRC { // before the last piece, so the client sees an incomplete body
			return errSegmentCRC
		}
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// Append appends the raw bytes of one segment. If they do not match its length or CRC, the error matches ErrCorrupt,
// and dst is returned unchanged.
func (i *Inflater) Append(dst []byte, s *Segment) ([]byte, error) {
	if err := i.start(s); err != nil {
		return dst, err
	}
	n := len(dst)
	dst = append(dst, make([]byte, s.RawLen)...)
	// A segment has no final block, so we read exactly its length.
	if _, err := io.ReadFull(i.z, dst[n:]); err != nil {
		return dst[:n], fmt.Errorf("%w: inflate segment: %w", ErrCorrupt, noEOF(err))
	}
	if crc32.ChecksumIEEE(dst[n:]) != s.CRC {
		return dst[:n], errSegmentCRC
	}
	return dst, nil
}

var errSegmentCRC = fmt.Errorf("%w: segment does not match its CRC", ErrCorrupt)

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
