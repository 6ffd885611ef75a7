package deflate

import (
	"encoding/binary"
	"math/bits"
)

// Of the chains of a Quick.
const (
	minQuick  = 4       // bytes of the shortest match: three cost more than they save, mostly
	headWidth = 15      // bits
	spread    = 2       // how many bits more than the number of a place a head has
	ahead     = 1 << 14 // places that are linked at once
)

// chains lead from each place of a text to those before that begin with the same bytes.
// Places are told by their low 16 bits, so that little memory is touched. A place that was
// never told is 0, one as good as others: what is found is compared anyway.
type chains struct {
	head  [1 << headWidth]uint32 // by the hash of four bytes, more of the hash, and the last place that has it
	back  [1 << 16]uint16        // by place, how far back the one before with that hash is
	same  [1 << 16 / 64]uint64   // by place, a bit: that one begins with the same four bytes, almost surely
	width uint                   // bits of a hash
	done  int                    // places that are linked so far
}

// reset forgets the text before. The next one has n bytes. The fewer, the fewer heads there
// are to clear and to keep in the processor's cache.
func (c *chains) reset(n int) {
	c.width = uint(min(max(bits.Len(uint(n))+spread, 8), headWidth))
	clear(c.head[:1<<c.width])
	c.done = 0
}

// link links some more places of raw. No branch depends on the text: where matches begin
// is hard to predict, and a wrong guess takes as long as ten places.
func (c *chains) link(raw []byte) {
	last := min(c.done+ahead, len(raw)-minQuick+1)
	shift, width := (32-c.width)&31, c.width&31
	for c.done < last {
		n := min(64, last-c.done)
		var same uint64
		begin := uint32(raw[c.done])<<8 | uint32(raw[c.done+1])<<16 | uint32(raw[c.done+2])<<24
		place := uint16(c.done)
		back := c.back[place : int(place)+n]
		for k, b := range raw[c.done+3 : c.done+3+n] {
			begin = begin>>8 | uint32(b)<<24
			hash := begin * 0x9e3779b1
			head := &c.head[hash>>shift%(1<<headWidth)]
			this := hash<<width&^0xffff | uint32(place)
			back[k] = place - uint16(*head)
			// The sign is set if the rest of both hashes is the same.
			same = same>>1 | (uint64((this^*head)>>16)-1)&(1<<63)
			*head = this
			place++
		}
		c.same[uint16(c.done)/64] = same >> (64 - n)
		c.done += n
	}
}

// next returns the first place from i on where a match begins, or done.
func (c *chains) next(i int) int {
	for i < c.done {
		if same := c.same[uint16(i)/64] >> (i & 63); same != 0 {
			return min(i+bits.TrailingZeros64(same), c.done)
		}
		i = (i/64 + 1) * 64
	}
	return c.done
}

// longest returns length and distance of the longest match of place i that is longer than so
// many bytes, three at least, among the first n of its chain; else a length of 0.
func (c *chains) longest(raw []byte, i, than, n, nice int) (length, distance int) {
	here := raw[i:min(i+maxMatch, len(raw))]
	if than >= len(here) {
		return 0, 0
	}
	nice = min(nice, len(here))
	end := binary.LittleEndian.Uint32(here[than-3:])
	first := max(i-maxDistance, 0)
	at := i
	for range n {
		back := int(c.back[uint16(at)])
		at -= back
		if back == 0 || at < first {
			break
		}
		// A longer match has the byte behind the longest one too, and the three before.
		if binary.LittleEndian.Uint32(raw[at+than-3:]) != end {
			continue
		}
		if l := common(raw[at:], here); l > than {
			length, distance = l, i-at
			if l >= nice {
				break
			}
			than = l
			end = binary.LittleEndian.Uint32(here[than-3:])
		}
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
	end := len(raw) - minQuick + 1 // behind the last place where a match can begin
	stop := min(end, from+maxBlock)
	next := from // the first place that no phrase has said
	i := from
	for i < stop {
		if i+1 >= c.done && c.done < end {
			c.link(raw)
		}
		if i = min(c.next(i), stop); i == min(c.done, stop) {
			continue
		}
		length, distance := c.longest(raw, i, minQuick-1, e.chain, e.nice)
		if length == 0 {
			i++
			continue
		}
		for length < e.lazy && i+1 < c.done && c.same[uint16(i+1)/64]>>((i+1)&63)&1 != 0 {
			n := e.chain
			if length >= e.good {
				n /= 4
			}
			l, d := c.longest(raw, i+1, length, n, e.nice)
			if l == 0 {
				break
			}
			i++
			length, distance = l, d
		}
		q.phrase(raw[next:i], match{uint16(length), uint16(distance)})
		i += length
		next = i
	}
	if i >= end {
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
