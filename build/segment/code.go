package segment

import "math/bits"

// The types of blocks, as a block that is not final begins.
const (
	typeStored  = 0 << 1
	typeFixed   = 1 << 1
	typeDynamic = 2 << 1
)

// A coded is the code of a symbol: its bits in the order in which they are written, and
// below them, in eight bits, how many they are.
type coded uint32

// length returns the number of bits of c.
func (c coded) length() int { return int(c & 255) }

// A table holds the codes of a block.
type table struct {
	literal  [numLiterals]coded
	distance [numDistance]coded
}

// fixedTable is that of fixed blocks. Two symbols that never occur have codes too.
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

// reversed returns a code of n bits, 1 to 15: the highest bit of a code is written first.
func reversed(code uint16, n int) coded {
	return coded(bits.Reverse16(code)>>((16-n)&15))<<8 | coded(n)
}
