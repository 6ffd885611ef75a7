package deflate

import (
	"encoding/binary"
	"math/bits"
)

// Bounds of chains.
const (
	minQuick  = 4       // bytes of the shortest match: three cost more than they save, mostly
	headWidth = 16      // bits of the number of a head, at most
	spread    = 2       // how many of them a head has beyond those of the number of a place
	ahead     = 1 << 14 // places that are linked at once; with the window, fewer than 1<<16
)

// chains lead from each place of a text to those before that begin with the same bytes.
// Places are told by their low 16 bits, so that little memory is touched. A place that was
// never told is 0, which is as good as others: what is found is compared anyway.
type chains struct {
	head  [1 << headWidth]uint32 // by the hash of four bytes, more of the hash, and the last place that has it
	back  [1 << 16]uint16        // by place, how far back the one before with that hash is
	same  [1 << 16 / 64]uint64   // by place, a bit: that one begins with the same four bytes, almost surely
	shift uint                   // of a hash, that gives the number of its head
	done  int                    // places that are linked so far
}

// reset forgets the text before. The next one has n bytes. The fewer, the fewer heads there
// are to clear and to keep in the processor's cache.
func (c *chains) reset(n int) {
	width := min(max(bits.Len(uint(n))+spread, 8), headWidth)
	clear(c.head[:1<<width])
	c.shift = uint(32 - width)
	c.done = 0
}

// link links some more places of raw.
func (c *chains) link(raw []byte) {
	last := min(c.done+ahead, len(raw)-minQuick+1)
	for ; c.done < last; c.done += 64 {
		begin := uint32(raw[c.done])<<8 | uint32(raw[c.done+1])<<16 | uint32(raw[c.done+2])<<24
		part := raw[c.done+3 : min(c.done+64, last)+3]
		c.same[uint16(c.done)/64] = c.linkPart(part, begin, uint16(c.done)) >> (64 - len(part))
	}
	c.done = last
}

// linkPart links up to 64 places, from a multiple of 64 on. The first one begins with the
// upper three bytes of begin, and then part. It returns which are the same, the last one in
// the highest bit. No branch depends on the text: where matches begin is hard to predict,
// and a wrong guess takes as long as ten places.
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

// next returns the first place from i on where a match begins, or one behind those that are
// linked.
func (c *chains) next(i int) int {
	for i < c.done {
		if same := c.same[uint16(i)/64] >> (i & 63); same != 0 {
			return min(i+bits.TrailingZeros64(same), c.done)
		}
		i = (i/64 + 1) * 64
	}
	return c.done
}

// begins tells whether a match begins at place i.
func (c *chains) begins(i int) bool {
	return i < c.done && c.same[uint16(i)/64]>>(i&63)&1 != 0
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
