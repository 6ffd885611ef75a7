package segment

import (
	"slices"
)

// counts has the frequencies of the symbols of a block, which has fewer bytes than a count can hold. The array
// lengths are multiples of four, because four are read at once.
type counts struct {
	literal  [numLiterals + 2]uint16 // literals, lengths and the end
	distance [numDistance + 2]uint16
}

// A code is the Huffman code of a block.
type code struct {
	literal  alphabet
	distance alphabet
	head     header
	table    table

	dynamicBits, fixedBits int // size as a dynamic block, and as a fixed one
}

// fit computes the code of a block and its size. The end of the block is not counted yet.
func (c *code) fit(n *counts) {
	n.literal[endOfBlock]++
	c.literal.fit(n.literal[:], maxCode)
	c.distance.fit(n.distance[:], maxCode)
	if len(c.distance.symbols) == 0 { // RFC 1951 allows an empty alphabet, but not all readers do
		c.distance.symbols = append(c.distance.symbols, weighted(0))
		c.distance.single()
	}
	c.head.describe(&c.literal, &c.distance)
	c.dynamicBits, c.fixedBits = c.head.bits, 3
	for _, u := range c.literal.symbols {
		s, n := u.symbol(), int(u.weight())
		extra := 0
		if s >= firstLength {
			extra = int(lengthExtra(uint8(s - firstLength)))
		}
		c.dynamicBits += n * (int(c.literal.lengths[s]) + extra)
		c.fixedBits += n * (fixedTable.literal[s].length() + extra)
	}
	for _, u := range c.distance.symbols {
		s, n := u.symbol(), int(u.weight())
		extra := int(distanceExtra(uint8(s)))
		c.dynamicBits += n * (int(c.distance.lengths[s]) + extra)
		c.fixedBits += n * (fixedTable.distance[s].length() + extra)
	}
}

// A weighted is a symbol that occurs and its frequency, which is the sort key.
type weighted uint64

func (u weighted) weight() uint32 { return uint32(u >> 16) }
func (u weighted) symbol() uint16 { return uint16(u) }

// An alphabet computes the Huffman code of some symbols. Its work grows with the number of used symbols, which is
// small for a short text.
type alphabet struct {
	symbols []weighted             // used symbols, ascending
	sorted  []weighted             // by weight
	tree    []uint32               // inner nodes: first the weight, then the parent, then the depth
	lengths [numLiterals + 2]uint8 // lengths of used symbols
	count   [maxCode + 2]uint16    // number of codes by length
}

// fit computes code lengths from frequencies, up to limit.
func (a *alphabet) fit(freq []uint16, limit int) {
	symbols := a.symbols[:0]
	for s := 0; s < len(freq); s += 4 {
		f := freq[s : s+4 : s+4]
		if f[0]|f[1]|f[2]|f[3] == 0 {
			continue
		}
		for i, n := range f {
			if n > 0 {
				symbols = append(symbols, weighted(n)<<16|weighted(s+i))
			}
		}
	}
	a.symbols = symbols
	clear(a.count[:])
	switch len(symbols) {
	case 0:
	case 1:
		a.single()
	default:
		a.sort()
		a.join()
		a.measure(limit)
	}
}

// single sets the length of the only symbol.
func (a *alphabet) single() {
	a.count[1] = 1
	a.lengths[a.symbols[0].symbol()] = 1
}

// minCompared is the frequency from which sorting compares.
const minCompared = 32

// sort sorts the symbols by frequency, which is mostly low.
func (a *alphabet) sort() {
	var starts [minCompared]uint16
	for _, u := range a.symbols {
		starts[min(u.weight(), minCompared)-1]++
	}
	var start uint16
	for i, n := range starts {
		starts[i] = start
		start += n
	}
	frequent := int(starts[minCompared-1])
	a.sorted = slices.Grow(a.sorted[:0], len(a.symbols))[:len(a.symbols)]
	for _, u := range a.symbols {
		n := &starts[min(u.weight(), minCompared)-1]
		a.sorted[*n] = u
		*n++
	}
	slices.Sort(a.sorted[frequent:])
}

// join builds the Huffman tree of the sorted symbols. Inner nodes are created in order of weight, so the lightest
// node is the first of two queues.
func (a *alphabet) join() {
	leaves := a.sorted
	tree := slices.Grow(a.tree[:0], len(leaves)-1)[:len(leaves)-1] // weights of inner nodes, later their parents
	leaf, joint := 0, 0
	for next := range tree {
		var sum uint32
		for range 2 {
			if leaf < len(leaves) && (joint >= next || leaves[leaf].weight() <= tree[joint]) {
				sum += leaves[leaf].weight()
				leaf++
				continue
			}
			sum += tree[joint]
			tree[joint] = uint32(next)
			joint++
		}
		tree[next] = sum
	}
	a.tree = tree
}

// measure counts the codes of each length and gives the longest to the rarest symbols. An inner node below the limit is
// moved up: it replaces the deepest leaf above the limit, which costs little.
func (a *alphabet) measure(limit int) {
	tree := a.tree
	root := len(tree) - 1
	tree[root] = 0
	a.count[1] = 2
	for i := root - 1; i >= 0; i-- {
		depth := tree[tree[i]] + 1
		tree[i] = depth
		if depth >= uint32(limit) {
			depth = uint32(limit) - 1
			for a.count[depth] == 0 {
				depth--
			}
		}
		a.count[depth]--
		a.count[depth+1] += 2
	}
	next := 0
	for l := limit; l > 0; l-- {
		for range a.count[l] {
			a.lengths[a.sorted[next].symbol()] = uint8(l)
			next++
		}
	}
}

// assign computes the codes of the used symbols from their lengths.
func (a *alphabet) assign(t []codeword) {
	var next [maxCode + 1]uint16
	var first uint16 // first code of a length
	for l, n := range a.count[:maxCode+1] {
		next[l] = first
		first = (first + n) << 1
	}
	for _, u := range a.symbols {
		s := u.symbol()
		l := a.lengths[s] & 15
		t[s] = reversed(next[l], int(l))
		next[l]++
	}
}

// A header describes the codes of a dynamic block: the code lengths, in runs, and the codes of the run symbols.
type header struct {
	literals, distances int // number of lengths written for each alphabet
	runs                []run
	count               [numLengths + 1]uint16 // frequency of each run symbol
	code                alphabet               // code of the run symbols
	codes               [numLengths]codeword
	ordered             int // number of run symbol lengths written, in lengthOrder
	bits                int // total size, with the block type
}

// A run is one code length, or a repetition of the last one or of zero.
type run struct {
	symbol uint8
	rest   uint8 // extra bits: repetitions minus the minimum
}

// Run symbols besides the lengths, and their extra bits.
const (
	repeatLast = 16 // repeats the last length 3 to 6 times
	someZeros  = 17 // 3 to 10
	manyZeros  = 18 // 11 to 138
)

var runExtra = [numLengths]uint{repeatLast: 2, someZeros: 3, manyZeros: 7}

// lengthOrder is the order in which the lengths of the run symbols are written.
var lengthOrder = [numLengths]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// describe computes the header for the codes of a block, in one pass over the used symbols.
func (h *header) describe(literal, distance *alphabet) {
	h.runs = h.runs[:0]
	clear(h.count[:])
	h.literals = max(firstLength, int(literal.symbols[len(literal.symbols)-1].symbol())+1)
	h.distances = int(distance.symbols[len(distance.symbols)-1].symbol()) + 1
	end := h.lengths(literal, 0, 0)
	h.lengths(distance, h.literals, end)
	clear(h.code.lengths[:numLengths])
	h.code.fit(h.count[:], maxLengthCode)
	h.ordered = numLengths
	for h.ordered > 4 && h.count[lengthOrder[h.ordered-1]] == 0 {
		h.ordered--
	}
	h.bits = 3 + 5 + 5 + 4 + 3*h.ordered
	for _, u := range h.code.symbols {
		s := u.symbol()
		h.bits += int(u.weight()) * int(uint(h.code.lengths[s])+runExtra[s])
	}
}

// lengths adds the runs of an alphabet whose symbols begin at place first; runs exist for the places below end. It
// returns the place after its last run.
func (h *header) lengths(a *alphabet, first, end int) int {
	symbols := a.symbols
	for i := 0; i < len(symbols); {
		s := symbols[i].symbol()
		gap := first + int(s) - end // unused symbols
		for ; gap >= 11; gap -= min(gap, 138) {
			h.add(manyZeros, uint8(min(gap, 138)-11))
		}
		if gap >= 3 {
			h.add(someZeros, uint8(gap-3))
			gap = 0
		}
		for range gap {
			h.add(0, 0)
		}
		length := a.lengths[s]
		n := 1
		for i+n < len(symbols) && symbols[i+n].symbol() == s+uint16(n) && a.lengths[s+uint16(n)] == length {
			n++
		}
		end = first + int(s) + n
		i += n
		if n >= 4 {
			h.add(length, 0)
			for n--; n >= 3; n -= min(n, 6) {
				h.add(repeatLast, uint8(min(n, 6)-3))
			}
		}
		for range n {
			h.add(length, 0)
		}
	}
	return end
}

// add adds a run.
func (h *header) add(symbol, rest uint8) {
	h.runs = append(h.runs, run{symbol, rest})
	h.count[symbol]++
}

// write writes the type of the block and h.
func (h *header) write(w *bitWriter) {
	h.code.assign(h.codes[:])
	out, pos, p := w.begin()
	p = p.add(typeDynamic|uint64(h.literals-firstLength)<<3|uint64(h.distances-1)<<8|uint64(h.ordered-4)<<13, 17)
	for _, s := range lengthOrder[:h.ordered] {
		p = p.add(uint64(h.code.lengths[s]), 3)
		p, pos = p.flush(out, pos)
	}
	for _, r := range h.runs {
		c := h.codes[r.symbol]
		p = p.add(uint64(c>>8)|uint64(r.rest)<<(c&15), uint(c&15)+runExtra[r.symbol])
		p, pos = p.flush(out, pos)
	}
	w.end(pos, p)
}
