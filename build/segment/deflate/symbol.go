package deflate

import "math/bits"

// Bounds of RFC 1951.
const (
	minMatch    = 3
	maxMatch    = 258
	maxDistance = 1 << 15
	maxStored   = 1<<16 - 1 // bytes of a stored block

	endOfBlock  = 256
	firstLength = 257 // symbol of the shortest length
	numLiterals = 286 // symbols of literals, the end and lengths
	numDistance = 30
	numLengths  = 19 // symbols that tell the lengths of codes

	maxCode       = 15 // bits of a code
	maxLengthCode = 7  // bits of a code that tells lengths
)

// A token is a literal, or a match: so many bytes as stood so far back.
type token struct {
	length   uint16 // 0 for a literal
	distance uint16 // of a match; the byte of a literal
}

// A match has a length and a distance.
type match = token

// lengthSymbols holds, less firstLength, the symbol of each length.
var lengthSymbols = func() (t [maxMatch + 1]uint8) {
	for l := minMatch; l < maxMatch; l++ {
		t[l] = uint8(l - minMatch)
		if n := bits.Len(uint(l - minMatch)); n > 3 { // four symbols for each power of two
			t[l] = uint8((n-3)*4 + (l-minMatch)>>(n-3))
		}
	}
	t[maxMatch] = numLiterals - 1 - firstLength // has no extra bits
	return t
}()

// lengthExtra returns how many bits tell which of its lengths a symbol stands for.
func lengthExtra(symbol uint8) uint {
	if symbol < 8 || symbol == numLiterals-1-firstLength {
		return 0
	}
	return uint(symbol/4) - 1
}

// lengthRest returns what those bits say.
func lengthRest(length uint16, symbol uint8) uint32 {
	return uint32(length-minMatch) & (1<<lengthExtra(symbol) - 1)
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

// distanceExtra returns how many bits tell which of its distances a symbol stands for.
func distanceExtra(symbol uint8) uint {
	if symbol < 4 {
		return 0
	}
	return uint(symbol/2) - 1
}

// distanceRest returns what those bits say.
func distanceRest(distance uint16, symbol uint8) uint32 {
	return uint32(distance-1) & (1<<distanceExtra(symbol) - 1)
}
