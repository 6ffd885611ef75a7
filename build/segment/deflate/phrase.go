package deflate

import "math/bits"

// A phrase is so many literals, and a match behind them; the last one of a block has none.
type phrase struct {
	literals uint16
	match
}

// parse says raw in phrases, and counts their symbols, from a place up to the one that it
// returns.
func (q *Quick) parse(raw []byte, from int) int {
	c, count, phrases := &q.chains, &q.count, q.phrases[:0]
	*count = counts{}
	end := len(raw) - minQuick + 1 // behind the last place where a match can begin
	stop := min(end, from+maxBlock)
	next := from // the first place that no phrase has said
	for i := from; i < stop; {
		if i+2 >= c.done && c.done < end {
			c.link(raw)
		}
		if i = c.next(i); i >= min(c.done, stop) {
			continue
		}
		at, m := q.match(raw, i)
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
	last := max(next, stop)
	if last >= end {
		last = len(raw)
	}
	count.literals(raw[next:last])
	q.phrases = append(phrases, phrase{literals: uint16(last - next)})
	return last
}

// match returns the match of place i, or one that begins a little later and is so much
// longer that it is worth the literals; one of no bytes if there is none.
func (q *Quick) match(raw []byte, i int) (at int, m match) {
	e, c := &q.effort, &q.chains
	length, distance := c.longest(raw, i, minQuick-1, e.chain, e.nice)
	for later := 1; later <= 2 && length > 0 && length < e.lazy; later++ {
		if !c.begins(i + later) {
			continue
		}
		n := e.chain
		if length >= e.good {
			n /= 4
		}
		l, d := c.longest(raw, i+later, length, n, e.nice)
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
