package release

import "hash/crc32"

// Polynomials over GF(2) are held reflected, as CRC-32 (IEEE) does: bit 31 is the
// coefficient of x^0, bit 0 that of x^31.
const (
	crcOne = 1 << 31 // x^0
	crcX8  = 1 << 23 // x^8
)

// CRCOp returns the operator x^(8n) mod P, which moves a CRC-32 past n bytes. It
// costs about as much as n has bits; a release stores the operator of each segment.
func CRCOp(n uint64) uint32 {
	op := uint32(crcOne)
	for i := 0; n != 0; i, n = i+1, n>>1 {
		if n&1 != 0 {
			op = crcMul(op, crcPowers[i])
		}
	}
	return op
}

// CombineCRC returns the CRC-32 of A followed by B from the CRC-32 a of A, the CRC-32
// b of B, and the operator opB = CRCOp(len(B)). It takes one multiplication in GF(2).
func CombineCRC(a, b, opB uint32) uint32 { return crcMul(a, opB) ^ b }

// crcPowers holds x^(8*2^i) mod P at i.
var crcPowers = func() (t [64]uint32) {
	t[0] = crcX8
	for i := 1; i < len(t); i++ {
		t[i] = crcMul(t[i-1], t[i-1])
	}
	return t
}()

// crcShift holds at [i][b] the byte b moved past i+1 bytes, so that four lookups
// that do not wait for one another move a word past four bytes.
var crcShift = func() (t [4][256]uint32) {
	t[0] = *crc32.IEEETable
	for i := 1; i < len(t); i++ {
		for b, v := range t[i-1] {
			t[i][b] = t[0][byte(v)] ^ v>>8
		}
	}
	return t
}()

// crcMul returns a*b mod P.
func crcMul(a, b uint32) uint32 {
	// Reflected factors give a product that lacks one bit at the low end.
	p := clmul(a, b) << 1
	// The high half is below x^32 already, the low half is its own value times x^32.
	lo := uint32(p)
	return uint32(p>>32) ^ crcShift[3][byte(lo)] ^ crcShift[2][byte(lo>>8)] ^
		crcShift[1][byte(lo>>16)] ^ crcShift[0][lo>>24]
}

// clmul returns the carry-less product of a and b. Each factor is cut into four
// parts with one bit in four, so that an ordinary product adds at most eight ones at
// a place and its carries end in bits that the masks drop.
func clmul(a, b uint32) uint64 {
	const m = 0x1111111111111111
	a0, a1, a2, a3 := uint64(a&0x11111111), uint64(a&0x22222222), uint64(a&0x44444444), uint64(a&0x88888888)
	b0, b1, b2, b3 := uint64(b&0x11111111), uint64(b&0x22222222), uint64(b&0x44444444), uint64(b&0x88888888)
	p0 := a0*b0 ^ a1*b3 ^ a2*b2 ^ a3*b1
	p1 := a0*b1 ^ a1*b0 ^ a2*b3 ^ a3*b2
	p2 := a0*b2 ^ a1*b1 ^ a2*b0 ^ a3*b3
	p3 := a0*b3 ^ a1*b2 ^ a2*b1 ^ a3*b0
	return p0&m | p1&(m<<1) | p2&(m<<2) | p3&(m<<3)
}
