package deflate

import (
	"math/bits"
	"slices"
)

// A coder finds Huffman codes. Its memory is bounded by the symbols of an alphabet.
type coder struct {
	used []used
	tree []node
	// Of package-merge:
	weights [2][]uint32         // of the items of this level and the one below
	leaves  [maxCode + 1][]bool // which items of a level are symbols
}

// A used is a symbol that occurs: how often, and which. They sort by that.
type used uint64

func (u used) weight() uint32 { return uint32(u >> 16) }
func (u used) symbol() uint16 { return uint16(u) }

// A node of a tree is a symbol, or what joins two.
type node struct {
	weight uint32
	parent uint16
	depth  uint8
}

// lengths sets the lengths of the codes that take the least bits for so frequent symbols,
// none longer than limit; 0 for symbols that do not occur.
func (c *coder) lengths(dst []uint8, freq []uint32, limit int) {
	clear(dst)
	c.used = c.used[:0]
	for s, n := range freq {
		if n > 0 {
			c.used = append(c.used, used(n)<<16|used(s))
		}
	}
	if len(c.used) == 1 {
		dst[c.used[0].symbol()] = 1
	}
	if len(c.used) < 2 {
		return
	}
	slices.Sort(c.used)
	if !c.huffman(dst, limit) {
		c.packageMerge(dst, limit)
	}
}

// huffman sets the lengths of the best codes; false if one would be longer than limit.
func (c *coder) huffman(dst []uint8, limit int) bool {
	c.tree = c.tree[:0]
	for _, u := range c.used {
		c.tree = append(c.tree, node{weight: u.weight()})
	}
	leaf, joint := 0, len(c.used)
	least := func() int { // the lightest node without a parent
		if leaf < len(c.used) && (joint >= len(c.tree) || c.tree[leaf].weight <= c.tree[joint].weight) {
			leaf++
			return leaf - 1
		}
		joint++
		return joint - 1
	}
	for len(c.tree) < 2*len(c.used)-1 {
		a, b := least(), least()
		c.tree[a].parent, c.tree[b].parent = uint16(len(c.tree)), uint16(len(c.tree))
		c.tree = append(c.tree, node{weight: c.tree[a].weight + c.tree[b].weight})
	}
	for i := len(c.tree) - 2; i >= 0; i-- {
		c.tree[i].depth = c.tree[c.tree[i].parent].depth + 1
	}
	for i, u := range c.used {
		if int(c.tree[i].depth) > limit {
			return false
		}
		dst[u.symbol()] = c.tree[i].depth
	}
	return true
}

// packageMerge is huffman under a limit, and slower: an item of a level is a symbol, or two
// items of the level below.
func (c *coder) packageMerge(dst []uint8, limit int) {
	clear(dst)
	below := c.weights[0][:0]
	for level := range limit {
		is := c.weights[1][:0]
		leaves := c.leaves[level][:0]
		leaf, pair := 0, 0
		for leaf < len(c.used) || pair+1 < len(below) {
			if pair+1 >= len(below) || leaf < len(c.used) && c.used[leaf].weight() <= below[pair]+below[pair+1] {
				is, leaves = append(is, c.used[leaf].weight()), append(leaves, true)
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
				dst[c.used[symbols].symbol()]++
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
