package release

import "github.com/zeebo/xxh3"

// A Hash is the xxh3-128 of raw bytes, big-endian, high half first.
type Hash [16]byte

// HashOf returns the xxh3-128 of raw.
func HashOf(raw []byte) Hash { return xxh3.Hash128(raw).Bytes() }

// A Segment is a run of bytes at rest and what is needed to splice it.
type Segment struct {
	// Stored holds raw deflate blocks, none of them final, that end on a byte
	// boundary and refer to nothing before their start. From a Reader it is part of
	// the mapping: read-only, and valid until the Reader closes.
	Stored []byte
	RawLen uint32 // length in bytes once inflated
	CRC    uint32 // CRC-32 (IEEE) of the raw bytes
	Op     uint32 // CRCOp(RawLen)
	Hash   Hash   // HashOf the raw bytes
}
