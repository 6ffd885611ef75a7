package segment

// emptyFixed is the number of bits of an empty fixed block: its type, and the end.
const emptyFixed = 3 + 7

// tailBits returns the bits that tail takes behind n bits.
func tailBits(n uint) int {
	if n%2 == 0 {
		return emptyFixed * emptyBlocks(n)
	}
	return storedBits(n%8, 0)
}

// emptyBlocks returns the number of empty fixed blocks that lead from n bits, which are even, to a
// byte boundary: each adds ten, two more than a byte. It is one at least.
func emptyBlocks(n uint) int { return 4 - int(n%8)/2 }

// storedBits returns the bits that so many bytes take as a stored block behind n bits.
func storedBits(n uint, bytes int) int { return int(3+n+7)/8*8 - int(n) + 32 + bytes*8 }

// tail brings w to a byte boundary. The usual way is an empty stored block, of 35 to 42
// bits; one to four empty fixed blocks take 10 to 40, behind an even number of bits. There
// is an empty block in any case: readers may look ten bits beyond a block that is not
// final, the least that another one has, and a segment may have to be read by itself.
func (w *bitWriter) tail() {
	if w.n%2 == 1 {
		w.stored(nil)
		return
	}
	for range emptyBlocks(w.n) {
		w.write(typeFixed, emptyFixed)
	}
}
