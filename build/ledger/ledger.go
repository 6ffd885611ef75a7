// Package ledger keeps what a build made each resource of, so that the next build makes
// anew only what is made of something else.
//
// There is a ledger for each shard, and some for what the whole catalogue is summed up by. It
// has an entry for each unit of work, in ascending order of key: a sum of all that the unit
// was made of; notes, which the next build needs to do without the unit; and what the unit
// said of resources of later stages, which the next build needs only as far as something
// else is said of those.
//
//	w, err := ledger.Create(path, mark)
//	w.Begin(key, sum)
//	w.Note(kind, key, payload)       // any number of times
//	w.Say(kind, key, payload)        // any number of times
//	err = w.End()
//	err = w.Close()
//
//	r, err := ledger.Open(path, mark) // of the build before
//	defer r.Close()
//	e, ok := r.Find(key, sum)        // with ascending keys
//	notes, err := e.Notes()
//	for notes.Next(&n) { ... }
//	err = w.Take(r)                  // it holds for the new release too
//
// A file is the mark of the build, 16 bytes that no other build has, and a row of blocks.
// A block is a head of 24 bytes and three parts, which hold the same entries: plain, the
// key, the sum and the lengths of each; notes, packed by S2; what was said, likewise, with no
// bytes where nothing was. The head has the lengths of the parts, those of the texts that
// are packed, 4 bytes each, and a CRC-32C of those and of the parts. Parts are
// read when they are asked for, and blocks of which everything is taken are copied as they
// are. A block without entries ends a file. A file that is cut or damaged gives no entry
// from there on, which costs time and nothing else, and one of another build gives none;
// Err tells.
package ledger

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/s2"
)

const (
	// blockBytes is the size from which a block of entries is written. Blocks in which one
	// entry changes are packed anew, so they hold a handful of titles.
	blockBytes = 16 << 10
	// maxPart bounds what the head of a block can claim. A unit is the largest thing in a
	// block: a series with all it says.
	maxPart = 1 << 30
)

// A Mark tells the ledgers of one build from those of all others.
type Mark [16]byte

// String returns the mark as 32 hex digits.
func (m Mark) String() string { return hex.EncodeToString(m[:]) }

// ParseMark is the inverse of Mark.String; false for other text.
func ParseMark(text string) (m Mark, ok bool) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(m) {
		return m, false
	}
	return Mark(b), true
}

// ErrDamaged is what Err tells of a file that is cut or damaged.
var ErrDamaged = errors.New("ledger is cut or damaged")

var errOther = errors.New("ledger is of another build")

// The parts of a block.
const (
	partIndex = iota
	partNotes
	partSaid
	numParts
)

// A head describes a block: how many bytes its parts have, and the texts that are packed.
type head struct {
	stored [numParts]uint32
	notes  uint32
	said   uint32
	crc    uint32
}

const (
	headLen  = 4 * (numParts + 3)
	summedTo = headLen - 4 // what the CRC is of, of a head
)

func (h *head) append(dst []byte) []byte {
	for _, n := range h.stored {
		dst = binary.LittleEndian.AppendUint32(dst, n)
	}
	dst = binary.LittleEndian.AppendUint32(dst, h.notes)
	dst = binary.LittleEndian.AppendUint32(dst, h.said)
	return binary.LittleEndian.AppendUint32(dst, h.crc)
}

func parseHead(b []byte) (h head) {
	for i := range h.stored {
		h.stored[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	h.notes, h.said = binary.LittleEndian.Uint32(b[4*numParts:]), binary.LittleEndian.Uint32(b[4*numParts+4:])
	h.crc = binary.LittleEndian.Uint32(b[summedTo:])
	return h
}

// bytes returns how long the parts are together; false when one claims too much.
func (h *head) bytes() (n int, ok bool) {
	for _, part := range h.stored {
		if part > maxPart {
			return 0, false
		}
		n += int(part)
	}
	return n, h.notes <= maxPart && h.said <= maxPart
}

// checksum returns the CRC of a head, as bytes, and the parts of its block.
func checksum(head, parts []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli) // made once inside crc32
	return crc32.Update(crc32.Checksum(head[:summedTo], table), table, parts)
}

// appendPacked appends text, packed.
func appendPacked(dst, text []byte) []byte {
	dst = slices.Grow(dst, s2.MaxEncodedLen(len(text)))
	return dst[:len(dst)+len(s2.Encode(dst[len(dst):cap(dst)], text))]
}

// unpack unpacks a text of that length, in the memory of dst; false when packed is not one.
func unpack(dst, packed []byte, length uint32) ([]byte, bool) {
	if n, err := s2.DecodedLen(packed); err != nil || n != int(length) {
		return nil, false
	}
	text, err := s2.Decode(dst[:cap(dst)], packed)
	return text, err == nil
}
