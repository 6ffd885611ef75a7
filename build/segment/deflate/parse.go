package deflate

import (
	"math"
	"slices"
)

// unit is how many units of cost a bit has.
const unit = 64

// costs are what tokens are thought to take, in units.
type costs struct {
	literal  [256]uint32
	length   [maxMatch + 1]uint32
	distance [numDistance]uint32
}

// ofCode sets the costs of a code.
func (c *costs) ofCode(z *code) {
	for b := range c.literal {
		c.literal[b] = uint32(z.literal[b]) * unit
	}
	for l := minMatch; l <= maxMatch; l++ {
		s := lengthSymbols[l]
		c.length[l] = (uint32(z.literal[firstLength+int(s)]) + uint32(lengthExtra(s))) * unit
	}
	for s := range c.distance {
		c.distance[s] = (uint32(z.distance[s]) + uint32(distanceExtra(uint8(s)))) * unit
	}
}

// learn sets the costs that follow from how often symbols occurred: a fraction of a bit
// tells more of the next way than codes of whole bits do.
func (c *costs) learn(h *histogram) {
	var literal [numLiterals]uint32
	entropies(literal[:], h.literal[:])
	copy(c.literal[:], literal[:])
	for l := minMatch; l <= maxMatch; l++ {
		s := lengthSymbols[l]
		c.length[l] = literal[firstLength+int(s)] + uint32(lengthExtra(s))*unit
	}
	entropies(c.distance[:], h.distance[:])
	for s := range c.distance {
		c.distance[s] += uint32(distanceExtra(uint8(s))) * unit
	}
}

// entropies sets what symbols take that occur so often. One that does not occur takes as
// much as one that occurs once.
func entropies(dst, freq []uint32) {
	var sum uint32
	for _, n := range freq {
		sum += n
	}
	all := log2(max(sum, 1))
	for s, n := range freq {
		dst[s] = uint32((all - log2(max(n, 1))) * unit)
	}
}

// manyLengths is the length up to which a match is thought of as any shorter one too.
const manyLengths = 64

// A parser finds the cheapest way through a text.
type parser struct {
	cost []uint32 // to get to each place
	last []token  // by which that is got to
	way  []token
}

// parse returns the cheapest tokens of places from, included, to another, of those that f
// has searched. They are valid until the next call.
func (p *parser) parse(c *costs, f *finder, raw []byte, from, to int) []token {
	n := to - from
	p.cost = slices.Grow(p.cost[:0], n+1)[:n+1]
	p.last = slices.Grow(p.last[:0], n+1)[:n+1]
	for i := range p.cost {
		p.cost[i] = math.MaxUint32
	}
	p.cost[0] = 0
	for i := range n {
		here := p.cost[i]
		b := raw[from+i]
		if next := here + c.literal[b]; next < p.cost[i+1] {
			p.cost[i+1], p.last[i+1] = next, token{distance: uint16(b)}
		}
		l := minMatch
		for _, m := range f.of(from + i) {
			reach := here + c.distance[distanceSymbol(m.distance)]
			most := min(int(m.length), n-i)
			for ; l <= most; l++ {
				if next := reach + c.length[l]; next < p.cost[i+l] {
					p.cost[i+l], p.last[i+l] = next, token{uint16(l), m.distance}
				}
				if l == manyLengths {
					l = max(l, most-1) // and the whole of it
				}
			}
		}
	}
	return p.back(n)
}

// back returns the tokens by which place n was got to.
func (p *parser) back(n int) []token {
	p.way = p.way[:0]
	for n > 0 {
		t := p.last[n]
		p.way = append(p.way, t)
		n -= max(int(t.length), 1)
	}
	slices.Reverse(p.way)
	return p.way
}
