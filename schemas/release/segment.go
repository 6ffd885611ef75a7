package release

import (
	"fmt"

	"github.com/zeebo/xxh3"

	"reelsplice/schemas/fragment"
)

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

// An Op tells what a piece of a program is. Values reach files.
type Op uint8

// The operations.
const (
	OpSegment   Op = 1 // bytes of a pack
	OpIDMark    Op = 2 // the place where a standalone answer has "id":N,
	OpPageMark  Op = 3 // the place where an answer has "page":N,
	OpReference Op = 4 // a fragment of another resource, in the requested variant
)

var opNames = [...]string{OpSegment: "segment", OpIDMark: "id mark", OpPageMark: "page mark", OpReference: "reference"}

// String returns the name of o for people.
func (o Op) String() string {
	if int(o) < len(opNames) && o != 0 {
		return opNames[o]
	}
	return fmt.Sprintf("op-%d", uint8(o))
}

// A Ref is the place of a resource: the offset of its block in the directory, in
// bytes. It holds within one release only.
type Ref uint64

// A Piece is one step of a fragment's program.
type Piece struct {
	Op      Op
	Segment Segment      // of OpSegment
	Ref     Ref          // of OpReference: the other resource
	Sub     fragment.Sub // of OpReference: which of its fragments
	Pack    int          // of OpSegment: the number of its pack
	Offset  int64        // of OpSegment: where it starts in that pack
}
