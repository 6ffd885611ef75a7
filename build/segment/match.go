package segment

import (
	"encoding/binary"
	"math/bits"
)

// Bounds of chains.
const (
	shortest  = 4       // bytes of the shortest match: three cost more than they save, mostly
	headWidth = 16      // bits of the number of a head, at most
	spread    = 2       // bits that the number of a head has beyond those of the number of a place
	maxPlaces = 1 << 15 // at least maxShort
)

// chains lead from each place of a text to those before it that begin with the same bytes.
// Heads are cleared for each text, back is not: a place of an older text is as good as any,
// because every match is compared.
type chains struct {
	head  [1 << headWidth]uint32 // by the hash of four bytes: more of the hash, and the last place that has it
	back  [maxPlaces]uint16      // by place: the distance to the one before with that hash
	same  [maxPlaces / 64]uint64 // by place, a bit: that one begins with the same four bytes, almost surely
	shift uint                   // of a hash, that gives the number of its head
	end   int                    // behind the last place where a match can begin
}

// link makes the chains of a text. The shorter it is, the fewer heads there are to clear and
// to keep in the processor's cache.
func (c *chains) link(raw []byte) {
	width := min(max(bits.Len(uint(len(raw)))+spread, 8), headWidth)
	clear(c.head[:1<<width])
	c.shift = uint(32 - width)
	c.end = max(len(raw)-shortest+1, 0)
	for at := 0; at < c.end; at += 64 {
		begin := uint32(raw[at])<<8 | uint32(raw[at+1])<<16 | uint32(raw[at+2])<<24
		part := raw[at+3 : min(at+64, c.end)+3]
		c.same[at/64] = c.linkPart(part, begin, uint16(at)) >> (64 - len(part))
	}
}

// linkPart links up to 64 places, from a multiple of 64 on. The first one begins with the
// upper three bytes of begin, and then part. It returns the bits of same, the last one in
// the highest bit. No branch depends on the text: the places where matches begin are hard to
// predict, and a wrong guess takes as long as ten places.
func (c *chains) linkPart(part []byte, begin uint32, place uint16) (same uint64) {
	back := c.back[place:][:len(part)]
	shift := c.shift & 31
	for i, b := range part {
		begin = begin>>8 | uint32(b)<<24
		hash := begin * 0x9e3779b1
		head := &c.head[hash>>shift%(1<<headWidth)]
		this := hash<<12&^0xffff | uint32(place)
		before := *head
		*head = this
		back[i] = place - uint16(before)
		place++
		// The highest bit is set if the rest of both hashes is the same.
		same = same>>1 | (uint64((this^before)>>16)-1)&(1<<63)
	}
	return same
}

// next returns the first place from i on where a match begins, or c.end.
func (c *chains) next(i int) int {
	for i < c.end {
		if same := c.same[i/64] >> (i & 63); same != 0 {
			return min(i+bits.TrailingZeros64(same), c.end)
		}
		i = (i/64 + 1) * 64
	}
	return c.end
}

// begins reports whether a match begins at place i.
func (c *chains) begins(i int) bool {
	return i < c.end && c.same[i/64]>>(i&63)&1 != 0
}

// longest returns length and distance of the longest match of place i that is longer than
// so many bytes, three at least, among the first n of its chain; else a length of 0.
func (c *chains) longest(raw []byte, i, than, n int) (length, distance int) {
	here := raw[i:min(i+maxMatch, len(raw))]
	if than >= len(here) {
		return 0, 0
	}
	enough := min(niceMatch, len(here))
	end := binary.LittleEndian.Uint32(here[than-3:])
	at := i
	for range n {
		back := int(c.back[at])
		at -= back
		if back == 0 || at < 0 {
			break
		}
		// A longer match has the byte behind the longest one too, and the three before.
		if binary.LittleEndian.Uint32(raw[at+than-3:]) != end {
			continue
		}
		if l := common(raw[at:], here); l > than {
			length, distance = l, i-at
			if l >= enough {
				break
			}
			than = l
			end = binary.LittleEndian.Uint32(here[than-3:])
		}
	}
	return length, distance
}

// common returns the length of what a and b both begin with. a is as long as b at least.
func common(a, b []byte) int {
	n := 0
	for ; n+8 <= len(b); n += 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

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
