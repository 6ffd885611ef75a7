package segment

import (
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
