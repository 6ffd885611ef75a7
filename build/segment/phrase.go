package segment

import "math/bits"

// How hard matches are looked for. With these, texts of all lengths are as small as by
// klauspost/compress at level 6.
const (
	maxChain  = 8   // places that are compared for one match
	niceMatch = 128 // length of a match that needs no better one
	lazyMatch = 24  // length of a match from which on the next places are not tried
	goodMatch = 8   // length of a match from which on they are tried with a quarter of the chain
)

// A match copies length bytes from so far back.
type match struct {
	length   uint16
	distance uint16
}

// A phrase is a number of literals, and a match behind them; the last one of a block has none.
type phrase struct {
	literals uint16
	match
}

// parse cuts raw into phrases, and counts their symbols.
func (e *shortEncoder) parse(raw []byte) {
	c, count, phrases := &e.chains, &e.count, e.phrases[:0]
	*count = counts{}
	next := 0 // the first place that is in no phrase
	for i := c.next(0); i < c.end; i = c.next(i) {
		at, m := e.match(raw, i)
		if m.length == 0 {
			i++
			continue
		}
		count.literals(raw[next:at])
		count.match(m)
		phrases = append(phrases, phrase{uint16(at - next), m})
		i = at + int(m.length)
		next = i
	}
	count.literals(raw[next:])
	e.phrases = append(phrases, phrase{literals: uint16(len(raw) - next)})
}

// match returns the match of place i, or one that begins a little later and is so much
// longer that it is worth the literals; one of no bytes if there is none.
func (e *shortEncoder) match(raw []byte, i int) (at int, m match) {
	c := &e.chains
	length, distance := c.longest(raw, i, shortest-1, maxChain)
	for later := 1; later <= 2 && length > 0 && length < lazyMatch; later++ {
		if !c.begins(i + later) {
			continue
		}
		n := maxChain
		if length >= goodMatch {
			n /= 4
		}
		l, d := c.longest(raw, i+later, length, n)
		// A byte of a match saves some four bits, one further back costs one for each
		// power of two.
		if l > 0 && 4*(l-length)+bits.Len(uint(distance))-bits.Len(uint(d)) > 4*later-2 {
			i += later
			length, distance = l, d
			later = 0
		}
	}
	return i, match{uint16(length), uint16(distance)}
}

// literals counts literals.
func (c *counts) literals(raw []byte) {
	for _, b := range raw {
		c.literal[b]++
	}
}

// match counts a match.
func (c *counts) match(m match) {
	c.literal[firstLength+int(lengthSymbols[m.length])]++
	c.distance[distanceSymbol(m.distance)]++
}
