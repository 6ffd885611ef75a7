package deflate

import (
	"encoding/binary"
	"math/bits"
)

// Of the chains of a Quick.
const (
	minQuick  = 4  // bytes of the shortest match: three cost more than they save, mostly
	headWidth = 15 // bits
	spread    = 3  // how many more bits than a place a head has
)

// chains hold, for each place of a text, the place before that begins with the same bytes.
// Places are told by their low 16 bits, plus one, so that little memory is touched. In a
// text that is longer they may lie: what is found is compared anyway.
type chains struct {
	head  [1 << headWidth]uint16 // by the hash of four bytes, the last place that has them
	prev  [maxDistance]uint16    // by place, modulo the window: the one before with that hash
	shift uint
}

// reset forgets the text before. The next one has n bytes. The fewer, the fewer heads there
// are to clear and to keep in the processor's cache.
func (c *chains) reset(n int) {
	width := min(max(bits.Len(uint(n))+spread, 8), headWidth)
	c.shift = uint(32 - width)
	clear(c.head[:1<<width])
}

// insert adds place i, which begins with so many bytes, and returns how far back the one
// before in its chain is.
func (c *chains) insert(i int, begin uint32) int {
	h := begin * 0x9e3779b1 >> (c.shift & 31) % (1 << headWidth)
	last := c.head[h]
	c.head[h] = uint16(i + 1)
	c.prev[i%maxDistance] = last
	return int(uint16(i+1) - last)
}

// longest returns length and distance of the longest match of place i that is longer than so
// many bytes, three at least, among the first n of the chain that begins so far back; else
// a length of 0.
func (c *chains) longest(raw []byte, i, back, than, n, nice int) (length, distance int) {
	here := raw[i:min(i+maxMatch, len(raw))]
	if than >= len(here) {
		return 0, 0
	}
	nice = min(nice, len(here))
	end := binary.LittleEndian.Uint32(here[than-3:])
	for most := uint(min(i, maxDistance)); uint(back-1) < most; n-- {
		at := i - back
		// A longer match has the byte behind the longest one too, and the three before.
		if binary.LittleEndian.Uint32(raw[at+than-3:]) == end {
			if l := common(raw[at:], here); l > than {
				length, distance = l, back
				if l >= nice {
					break
				}
				than = l
				end = binary.LittleEndian.Uint32(here[than-3:])
			}
		}
		if n <= 1 {
			break
		}
		back = int(uint16(i+1) - c.prev[at%maxDistance])
	}
	return length, distance
}

// A phrase is literals, and a match behind them.
type phrase struct {
	literals uint16
	match
}

// parse says raw in phrases, and counts their symbols, from a place up to the one that it
// returns.
func (q *Quick) parse(raw []byte, from int) int {
	e, c := &q.effort, &q.chains
	q.phrases = q.phrases[:0]
	q.count = counts{}
	end := len(raw) - minQuick // the last place where a match can begin
	stop := min(end, from+maxBlock)
	next := from // the first place that no phrase has said
	i := from
	for i <= stop {
		begin := binary.LittleEndian.Uint32(raw[i:])
		back := c.insert(i, begin)
		if uint(back-1) >= uint(i) {
			i++
			continue
		}
		length, distance := c.longest(raw, i, back, minQuick-1, e.chain, e.nice)
		if length == 0 {
			i++
			continue
		}
		ins := i + 1 // to be inserted
		for length < e.lazy && i < end {
			back := c.insert(i+1, binary.LittleEndian.Uint32(raw[i+1:]))
			ins = i + 2
			n := e.chain
			if length >= e.good {
				n /= 4
			}
			l, d := c.longest(raw, i+1, back, length, n, e.nice)
			if l == 0 {
				break
			}
			i++
			length, distance = l, d
		}
		q.phrase(raw[next:i], match{uint16(length), uint16(distance)})
		i += length
		next = i
		for last := min(i-1, end); ins <= last; ins++ {
			c.insert(ins, binary.LittleEndian.Uint32(raw[ins:]))
		}
	}
	if i > end {
		i = len(raw)
	}
	q.phrase(raw[next:i], match{})
	return i
}

// phrase adds a phrase.
func (q *Quick) phrase(literals []byte, m match) {
	q.phrases = append(q.phrases, phrase{uint16(len(literals)), m})
	for _, b := range literals {
		q.count.literal[b]++
	}
	if m.length > 0 {
		q.count.literal[firstLength+int(lengthSymbols[m.length])]++
		q.count.distance[distanceSymbol(m.distance)]++
	}
}
