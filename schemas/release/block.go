package release

import (
	"encoding/binary"
	"math"

	"reelsplice/schemas/fragment"
)

// maxPrograms bounds the programs of a resource, in bytes.
const maxPrograms = math.MaxUint32

// maxKnown bounds the programs of a resource whose map is used again for the next.
const maxKnown = 1024

// A block is a resource in the making. Fragments that have the same pieces share one
// program.
type block struct {
	base     uint64 // where near segments count from: the place of the first; 0 for none
	rows     []byte // the fragment table
	programs []byte
	program  []byte            // the open one
	count    int64             // of pieces in the open one
	pieces   int64             // in programs
	known    map[string]uint32 // where each program starts; made when a second one comes
	first    int               // length of the first program, which is not in known yet
	buf      []byte
}

func (b *block) reset() {
	b.base, b.pieces, b.first = 0, 0, 0
	b.rows, b.programs = b.rows[:0], b.programs[:0]
	if len(b.known) > maxKnown {
		b.known = nil // clearing a map takes as long as it once was large
	} else if len(b.known) > 0 {
		clear(b.known)
	}
}

func (b *block) begin() { b.program, b.count = b.program[:0], 0 }

// piece adds a piece to the open program: see appendPiece for where.
func (b *block) piece(p *PieceSpec, where uint64) {
	if p.Op == OpSegment && b.base == 0 {
		b.base = where
	}
	b.program = appendPiece(b.program, p, where, b.base)
	b.count++
}

// end makes the open program that of a fragment.
func (b *block) end(a fragment.Address) {
	b.row(a, b.place())
}

// row adds a fragment whose program starts at a place among the programs.
func (b *block) row(a fragment.Address, at uint32) {
	b.rows = le.AppendUint64(b.rows, a.Uint64())
	b.rows = le.AppendUint32(b.rows, at)
}

// place returns where the open program starts among the programs, and adds it to them
// unless one like it is there.
func (b *block) place() uint32 {
	switch {
	case len(b.programs) == 0: // most resources have one fragment
		b.first = len(b.program)
	case b.known == nil:
		b.known = map[string]uint32{}
		fallthrough
	default:
		if len(b.known) == 0 {
			b.known[string(b.programs[len(b.programs)-b.first:])] = 0
		}
		if at, ok := b.known[string(b.program)]; ok {
			return at
		}
		b.known[string(b.program)] = uint32(len(b.programs))
	}
	return b.append()
}

// append adds the open program to the programs, and returns where it starts.
func (b *block) append() uint32 {
	at := uint32(len(b.programs))
	b.programs = append(binary.AppendUvarint(b.programs, uint64(len(b.program))), b.program...)
	b.pieces += b.count
	return at
}

// bytes returns the whole block, which is valid until the next one.
func (b *block) bytes(key []byte, id, fingerprint uint64) []byte {
	typ := byte(typeResource)
	if b.base != 0 {
		typ = typeStored
	}
	b.buf = appendBlockHead(b.buf[:0], key, typ, len(b.rows)/fragmentLen, len(b.programs), id)
	b.buf = le.AppendUint64(b.buf, fingerprint)
	if b.base != 0 {
		b.buf = le.AppendUint64(b.buf, b.base)
	}
	b.buf = append(append(b.buf, b.rows...), b.programs...)
	return pad(b.buf)
}

// pad appends zeros up to the alignment of blocks.
func pad(dst []byte) []byte {
	const zeros = "\x00\x00\x00\x00\x00\x00\x00"
	return append(dst, zeros[:align(len(dst))-len(dst)]...)
}

// appendBlockHead appends what comes before the tables of a block. dst is aligned.
func appendBlockHead(dst, key []byte, typ byte, fragments, programs int, number uint64) []byte {
	dst = append(dst, byte(len(key)), typ)
	dst = le.AppendUint16(dst, uint16(fragments))
	dst = le.AppendUint32(dst, uint32(programs))
	dst = le.AppendUint64(dst, number)
	return pad(append(dst, key...))
}
