package deflate

import (
	"cmp"
	"math/bits"
	"slices"
)

// A coder finds Huffman codes. Its memory is bounded by the symbols of an alphabet.
type coder struct {
	used    []uint16            // symbols that occur, by frequency
	weights [2][]uint32         // of the items of this level and the one below
	leaves  [maxCode + 1][]bool // which items of a level are symbols
}

// lengths sets the lengths of the codes that take the least bits for so frequent symbols,
// none longer than limit; 0 for symbols that do not occur. This is package-merge: an item
// of a level is a symbol, or two items of the level below.
func (c *coder) lengths(dst []uint8, freq []uint32, limit int) {
	clear(dst)
	c.used = c.used[:0]
	for s, n := range freq {
		if n > 0 {
			c.used = append(c.used, uint16(s))
		}
	}
	if len(c.used) < 2 {
		for _, s := range c.used {
			dst[s] = 1
		}
		return
	}
	slices.SortFunc(c.used, func(a, b uint16) int { return cmp.Or(cmp.Compare(freq[a], freq[b]), cmp.Compare(a, b)) })
	below := c.weights[0][:0]
	for level := range limit {
		is := c.weights[1][:0]
		leaves := c.leaves[level][:0]
		leaf, pair := 0, 0
		for leaf < len(c.used) || pair+1 < len(below) {
			if pair+1 >= len(below) || leaf < len(c.used) && freq[c.used[leaf]] <= below[pair]+below[pair+1] {
				is, leaves = append(is, freq[c.used[leaf]]), append(leaves, true)
				leaf++
				continue
			}
			is, leaves = append(is, below[pair]+below[pair+1]), append(leaves, false)
			pair += 2
		}
		c.leaves[level] = leaves
		c.weights[0], c.weights[1] = is, below
		below = is
	}
	take := 2*len(c.used) - 2
	for level := limit - 1; level >= 0 && take > 0; level-- {
		symbols := 0
		for _, leaf := range c.leaves[level][:take] {
			if leaf {
				dst[c.used[symbols]]++
				symbols++
			}
		}
		take = 2 * (take - symbols)
	}
}

// assign sets the codes that follow from their lengths, their bits in the order in which
// they are written.
func assign(codes []uint16, lengths []uint8) {
	var count, next [maxCode + 2]uint16
	for _, l := range lengths {
		count[l]++
	}
	count[0] = 0
	for l := 1; l <= maxCode; l++ {
		next[l+1] = (next[l] + count[l]) << 1
	}
	for s, l := range lengths {
		if l == 0 {
			continue
		}
		codes[s] = bits.Reverse16(next[l]) >> (16 - l)
		next[l]++
	}
}

// Of frequencies that are made equal.
const (
	minLevel = 4 // so many at least: fewer are not told in fewer bits
	maxGap   = 4 // zeros in a row; more of them are told well as they are
)

// level makes frequencies in a row equal that are near their mean, the further away the
// greater by is: codes of one length are told as a run.
func level(freq []uint32, by uint32) {
	for i := 0; i < len(freq); {
		if gap := zeros(freq[i:]); gap > maxGap {
			i += gap
			continue
		}
		n, sum := uint32(1), freq[i]
		for _, f := range freq[i+1:] {
			off := max(f*n, sum) - min(f*n, sum)
			if off > max(by*n, sum*by/4) || f == 0 && zeros(freq[i+int(n):]) > maxGap {
				break
			}
			n, sum = n+1, sum+f
		}
		if n >= minLevel && sum > 0 {
			for j := range n {
				freq[i+int(j)] = max(1, (sum+n/2)/n)
			}
		}
		i += int(n)
	}
}

// zeros returns how many zeros freq begins with; all that is left counts as many.
func zeros(freq []uint32) int {
	for i, f := range freq {
		if f > 0 {
			return i
		}
	}
	return max(len(freq), maxGap+1)
}
