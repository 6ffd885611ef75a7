package segment

import (
	"encoding/binary"
	"math/bits"
)

// Limits of RFC 1951.
const (
	minMatch = 3
	maxMatch = 258

	endOfBlock  = 256
	firstLength = 257 // symbol of the shortest length
	numLiterals = 286 // symbols of literals, the end and lengths
	numDistance = 30
	numLengths  = 19 // run symbols, which describe the lengths of codes

	maxCode       = 15 // bits of a code
	maxLengthCode = 7  // bits of a run symbol's code
)

// lengthSymbols holds the symbol of each length, minus firstLength.
var lengthSymbols = func() (t [maxMatch + 1]uint8) {
	for l := minMatch; l < maxMatch; l++ {
		t[l] = uint8(l - minMatch)
		if n := bits.Len(uint(l - minMatch)); n > 3 { // four symbols for each power of two
			t[l] = uint8((n-3)*4 + (l-minMatch)>>(n-3))
		}
	}
	t[maxMatch] = numLiterals - 1 - firstLength // it has no extra bits
	return t
}()

// lengthExtra returns the number of extra bits of a symbol of lengths.
func lengthExtra(symbol uint8) uint {
	if symbol < 8 || symbol == numLiterals-1-firstLength {
		return 0
	}
	return uint(symbol/4) - 1
}

// distanceSymbol returns the symbol of a distance: two for each power of two.
func distanceSymbol(distance uint16) uint8 {
	d := uint(distance) - 1
	if d < 4 {
		return uint8(d)
	}
	n := uint(bits.Len(d))
	return uint8((n-1)*2 + d>>(n-2)&1)
}

// distanceExtra returns the number of extra bits of a symbol of distances.
func distanceExtra(symbol uint8) uint {
	if symbol < 4 {
		return 0
	}
	return uint(symbol/2) - 1
}

// The types of blocks, with the bit of a non-final block.
const (
	typeStored  = 0 << 1
	typeFixed   = 1 << 1
	typeDynamic = 2 << 1
)

// A codeword is the code of a symbol: its bits in output order, above an eight-bit length.
type codeword uint32

// length returns the number of bits of c.
func (c codeword) length() int { return int(c & 255) }

// A table holds the codes of a block.
type table struct {
	literal  [numLiterals]codeword
	distance [numDistance]codeword
}

// fixedTable has the codes of fixed blocks. Two symbols that never occur have codes too.
var fixedTable = func() (t table) {
	for s := range t.literal {
		code, n := 0b11000000+s-280, 8
		switch {
		case s < 144:
			code = 0b00110000 + s
		case s < 256:
			code, n = 0b110010000+s-144, 9
		case s < 280:
			code, n = s-256, 7
		}
		t.literal[s] = reversed(uint16(code), n)
	}
	for s := range t.distance {
		t.distance[s] = reversed(uint16(s), 5)
	}
	return t
}()

// reversed returns a code of n bits, 1 to 15, in output order: the highest bit is written first.
func reversed(code uint16, n int) codeword {
	return codeword(bits.Reverse16(code)>>((16-n)&15))<<8 | codeword(n)
}

// A bitWriter appends bits, the lowest first.
type bitWriter struct {
	out []byte
	acc uint64
	n   uint // bits in acc, fewer than 8 between calls of write
}

// write appends the low n bits of v, at most 32.
func (w *bitWriter) write(v uint32, n uint) {
	w.acc |= uint64(v) << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.out = append(w.out, byte(w.acc))
		w.acc >>= 8
	}
}

// stored writes a stored block.
func (w *bitWriter) stored(raw []byte) {
	w.write(typeStored, 3)
	if w.n > 0 { // up to the next byte boundary
		w.write(0, 8-w.n)
	}
	w.out = binary.LittleEndian.AppendUint16(w.out, uint16(len(raw)))
	w.out = binary.LittleEndian.AppendUint16(w.out, ^uint16(len(raw)))
	w.out = append(w.out, raw...)
}

// slack is the number of bytes that flush may overwrite after its output.
const slack = 8

// pending are bits not yet written. A loop with many writes keeps them and the output position in registers: begin
// takes both from a bitWriter, end returns them.
type pending struct {
	bits uint64
	n    uint
}

// begin returns the output buffer, which is the capacity of w.out, the number of bytes written, and the pending bits.
func (w *bitWriter) begin() (out []byte, pos int, p pending) {
	return w.out[:cap(w.out)], len(w.out), pending{w.acc, w.n}
}

// end sets the number of bytes written, and the pending bits.
func (w *bitWriter) end(pos int, p pending) {
	w.out, w.acc, w.n = w.out[:pos], p.bits, p.n
}

// add adds the low n bits of v, whose other bits are zero. After a flush, there is room for 56 bits.
func (p pending) add(v uint64, n uint) pending {
	return pending{p.bits | v<<(p.n&63), p.n + n}
}

// code adds a codeword.
func (p pending) code(c codeword) pending { return p.add(uint64(c>>8), uint(c&255)) }

// flush writes whole bytes at a position of out and returns the position after them.
func (p pending) flush(out []byte, pos int) (pending, int) {
	binary.LittleEndian.PutUint64(out[pos:], p.bits)
	return pending{p.bits >> (p.n &^ 7 & 63), p.n & 7}, pos + int(p.n>>3)
}

// phrases writes the phrases of raw and the end of their block.
func (w *bitWriter) phrases(raw []byte, phrases []phrase, t *table) {
	out, pos, b := w.begin()
	for _, p := range phrases {
		literals := raw[:p.literals]
		for ; len(literals) >= 3; literals = literals[3:] {
			b = b.code(t.literal[literals[0]]).code(t.literal[literals[1]]).code(t.literal[literals[2]])
			b, pos = b.flush(out, pos)
		}
		for _, l := range literals {
			b = b.code(t.literal[l])
		}
		b, pos = b.flush(out, pos)
		if p.length == 0 {
			break
		}
		raw = raw[int(p.literals)+int(p.length):]
		l, d := lengthSymbols[p.length], distanceSymbol(p.distance)
		n := lengthExtra(l)
		b = b.code(t.literal[firstLength+int(l)]).add(uint64(p.length-minMatch)&(1<<n-1), n)
		n = distanceExtra(d)
		b = b.code(t.distance[d]).add(uint64(p.distance-1)&(1<<n-1), n)
		b, pos = b.flush(out, pos)
	}
	b, pos = b.code(t.literal[endOfBlock]).flush(out, pos)
	w.end(pos, b)
}

// emptyFixed is the number of bits of an empty fixed block: its type, and the end.
const emptyFixed = 3 + 7

// tailBits returns the number of bits that tail writes after n bits.
func tailBits(n uint) int {
	if n%2 == 0 {
		return emptyFixed * emptyBlocks(n)
	}
	return storedBits(n%8, 0)
}

// emptyBlocks returns the number of empty fixed blocks from an even number of bits n to a byte boundary: each adds
// ten, two more than a byte. It is at least 1.
func emptyBlocks(n uint) int { return 4 - int(n%8)/2 }

// storedBits returns the number of bits of a stored block with that many bytes, after n bits.
func storedBits(n uint, bytes int) int { return int(3+n+7)/8*8 - int(n) + 32 + bytes*8 }

// tail pads w to a byte boundary. The usual way is an empty stored block of 35 to 42 bits; after an even number of
// bits, one to four empty fixed blocks take 10 to 40. There is always an empty block: readers may look ahead ten bits
// after a non-final block, the least that another one has, and a segment must be readable alone.
func (w *bitWriter) tail() {
	if w.n%2 == 1 {
		w.stored(nil)
		return
	}
	for range emptyBlocks(w.n) {
		w.write(typeFixed, emptyFixed)
	}
}
