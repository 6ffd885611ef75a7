package release

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"
)

// A Hash is the 64-bit xxh3 of raw bytes, big-endian.
type Hash [8]byte

// HashOf returns the xxh3 of raw.
func HashOf(raw []byte) Hash { return hashFrom(xxh3.Hash(raw)) }

func hashFrom(sum uint64) (h Hash) {
	binary.BigEndian.PutUint64(h[:], sum)
	return h
}

// A Segment is a run of bytes at rest and what is needed to splice it.
type Segment struct {
	// Stored holds raw deflate blocks, none of them final, that end on a byte
	// boundary and refer to nothing before their start. From a Reader it is part of
	// the mapping: read-only, and valid until the Reader closes. Check comes before its
	// first reading.
	Stored []byte
	RawLen uint32 // length in bytes once inflated
	CRC    uint32 // CRC-32 (IEEE) of the raw bytes
	Op     uint32 // CRCOp(RawLen)
	Hash   Hash   // HashOf the raw bytes

	pack *mapping // that Stored is part of; nil for none
	off  uint64   // of Stored in pack
}

// Place returns the name of the file that the stored bytes lie in, and their offset there. It
// is for segments of a Reader.
func (g *Segment) Place() (file string, off int64) { return g.pack.name, int64(g.off) }

// Check checks the stored bytes, as far as they lie in a pack and have not been checked. It
// is a step of its own so that a disk can fetch many segments before the first is read. It
// panics on damage, as the methods of Reader do.
func (g *Segment) Check() {
	if g.pack != nil && len(g.Stored) > 0 {
		g.pack.check(g.off, uint64(len(g.Stored)))
	}
}

// sameContent tells whether two segments have the same raw bytes, wherever they lie.
func (g *Segment) sameContent(h *Segment) bool {
	return g.Hash == h.Hash && g.RawLen == h.RawLen && g.CRC == h.CRC
}
