package release

import (
	"encoding/binary"
	"math"

	"reelsplice/schemas/fragment"
)

// maxSub bounds the numbers of sub-requests.
const maxSub = math.MaxUint16

// uvarint returns the number that b starts with, and its length in bytes: 0 when it is
// cut off, longer than it need be, or above 64 bits.
func uvarint(b []byte) (uint64, int) {
	// Fast path: most numbers have one byte or two.
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	if len(b) > 1 && b[1] < 0x80 && b[1] != 0 {
		return uint64(b[0]&0x7f) | uint64(b[1])<<7, 2
	}
	n, k := binary.Uvarint(b)
	if k <= 0 || b[k-1] == 0 {
		return 0, 0
	}
	return n, k
}

// A decoder reads what follows the operation of a piece.
type decoder struct {
	rest []byte // of the program
	bad  bool   // the bytes break the format
}

func (d *decoder) uvarint() uint64 {
	n, k := uvarint(d.rest)
	if k == 0 {
		d.bad = true
		return 0
	}
	d.rest = d.rest[k:]
	return n
}

// atMost reads a number that is bounded.
func (d *decoder) atMost(limit uint64) uint64 {
	n := d.uvarint()
	if n > limit {
		d.bad = true
		return 0
	}
	return n
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.bad = true
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

// literal reads a length, which is not 0, and as many bytes.
func (d *decoder) literal() []byte {
	b := d.take(d.atMost(MaxLiteral))
	d.bad = d.bad || len(b) == 0
	return b
}

// text reads a literal that is stored with codes.
func (d *decoder) text(p *Piece) {
	p.Op, p.literal = OpLiteral, nil
	p.textLen = expand(&p.text, d.take(d.atMost(MaxText)))
	d.bad = d.bad || p.textLen < 1
}

// near reads the place of a segment that counts from a base.
func (d *decoder) near(p *Piece, base uint64) {
	if base == 0 {
		d.bad = true
	}
	p.Pack, p.Offset = int(base>>wherePackShift), int64(base&(MaxPackBytes-1)+d.atMost(MaxPackBytes-1))
}

// far reads the place of a segment that has one of its own.
func (d *decoder) far(p *Piece) {
	p.Op, p.Pack, p.Offset = OpSegment, int(d.atMost(MaxPacks-1)), int64(d.atMost(MaxPackBytes-1))
}

// facts reads what is said of a segment, and returns its length in the pack.
func (d *decoder) facts(g *Segment) (stored uint64) {
	stored, g.RawLen = d.atMost(math.MaxUint32), uint32(d.atMost(math.MaxUint32))
	if b := d.take(factsLen); b != nil {
		g.CRC, g.Op, g.Hash = le.Uint32(b[factsCRC:]), le.Uint32(b[factsOp:]), Hash(b[factsHash:])
	}
	return stored
}

func (d *decoder) include(i *Include) {
	*i = Include{Kind: fragment.Kind(d.byte()), Sub: fragment.Sub(d.atMost(maxSub)), ID: d.uvarint()}
	if i.Kind == fragment.KindSeason || i.Kind == fragment.KindEpisode {
		i.Season = uint32(d.atMost(math.MaxUint32))
	}
	if i.Kind == fragment.KindEpisode {
		i.Episode = uint32(d.atMost(math.MaxUint32))
	}
	d.bad = d.bad || i.fault() != ""
}

// appendPiece appends a piece as programs have it. where is the place of its segment, or the Ref
// of the resource that a reference leads to; base is what near segments count from.
func appendPiece(dst []byte, p *PieceSpec, where, base uint64) []byte {
	switch p.Op {
	case OpSegment:
		dst = appendPlace(dst, where, base)
		g := &p.Segment
		dst = binary.AppendUvarint(dst, uint64(len(g.Stored)))
		dst = binary.AppendUvarint(dst, uint64(g.RawLen))
		dst = le.AppendUint32(le.AppendUint32(dst, g.CRC), g.Op)
		return append(dst, g.Hash[:]...)
	case OpReference:
		dst = binary.AppendUvarint(append(dst, byte(p.Op)), uint64(p.Sub))
		return binary.AppendUvarint(dst, where)
	case OpInclude:
		return appendInclude(append(dst, byte(p.Op)), &p.Include)
	case OpName:
		return binary.AppendUvarint(append(dst, byte(p.Op), byte(p.Word)), uint64(p.Number))
	case OpLiteral:
		return appendLiteral(dst, p.Literal)
	}
	return append(dst, byte(p.Op))
}

// appendLiteral appends a literal: a short one with codes, if that takes fewer bytes.
func appendLiteral(dst, raw []byte) []byte {
	op, text := OpLiteral, raw
	if len(raw) <= MaxText {
		var b [MaxText]byte
		if coded := AppendText(b[:0], raw); len(coded) < len(raw) {
			op, text = opText, coded
		}
	}
	dst = binary.AppendUvarint(append(dst, byte(op)), uint64(len(text)))
	return append(dst, text...)
}

// appendPlace appends the operation and the place of a segment: near when it lies in
// the pack of the base, and not before it.
func appendPlace(dst []byte, where, base uint64) []byte {
	if where>>wherePackShift == base>>wherePackShift && where >= base && base != 0 {
		return binary.AppendUvarint(append(dst, byte(OpSegment)), where-base)
	}
	dst = binary.AppendUvarint(append(dst, byte(opFar)), where>>wherePackShift)
	return binary.AppendUvarint(dst, where&(MaxPackBytes-1))
}

func appendInclude(dst []byte, i *Include) []byte {
	dst = binary.AppendUvarint(append(dst, byte(i.Kind)), uint64(i.Sub))
	dst = binary.AppendUvarint(dst, i.ID)
	if i.Kind == fragment.KindSeason || i.Kind == fragment.KindEpisode {
		dst = binary.AppendUvarint(dst, uint64(i.Season))
	}
	if i.Kind == fragment.KindEpisode {
		dst = binary.AppendUvarint(dst, uint64(i.Episode))
	}
	return dst
}
