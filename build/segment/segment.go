// Package segment compresses fragments into segments: raw deflate blocks, all non-final, that end on a byte boundary
// and refer to no earlier data. So segments can follow one another in one gzip member in any order.
package segment

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/flate"

	"github.com/reelsplice/reelsplice/schemas/release"
)

// Version changes with the bytes that a Compressor produces for a text: builds reuse segments of earlier releases as
// long as it is the same. TestVersion pins it.
const Version = 2

// DefaultLevel is the default deflate level. Only at this level, short texts have their own encoder; klauspost/compress
// does the rest.
const DefaultLevel = 6

// A Compressor makes segments. It is not safe for concurrent use.
type Compressor struct {
	level int
	short *shortEncoder                    // at DefaultLevel, for texts up to maxShort; else nil
	long  *flate.Writer                    // for all other texts; nil until needed
	out   bytes.Buffer                     // slices of it stay valid while it grows, because growing copies
	cache map[release.Hash]release.Segment // since Reset
}

// New returns a Compressor of the given deflate level, 1 to 9.
func New(level int) (*Compressor, error) {
	if level < 1 || level > 9 {
		return nil, fmt.Errorf("compression level %d: want 1 to 9", level)
	}
	c := &Compressor{level: level, cache: map[release.Hash]release.Segment{}}
	if level == DefaultLevel {
		c.short = &shortEncoder{}
	}
	return c, nil
}

// Reset invalidates all segments of c and reuses their memory.
func (c *Compressor) Reset() {
	c.out.Reset()
	clear(c.cache)
}

// Len returns the stored length of all segments since Reset, in bytes.
func (c *Compressor) Len() int { return c.out.Len() }

// Segment compresses raw, or returns the earlier segment of an equal text since Reset: variants of a record are often
// equal. The result is valid until Reset.
func (c *Compressor) Segment(raw []byte) (release.Segment, error) {
	hash := release.HashOf(raw)
	if s, ok := c.cache[hash]; ok {
		return s, nil
	}
	start := c.out.Len()
	if c.short != nil && len(raw) <= maxShort {
		c.out.Write(c.short.append(c.out.AvailableBuffer(), raw))
	} else if err := c.writeLong(raw); err != nil {
		return release.Segment{}, fmt.Errorf("compress: %w", err)
	}
	s := release.Segment{
		Stored: slices.Clip(c.out.Bytes()[start:]),
		RawLen: uint32(len(raw)),
		CRC:    crc32.ChecksumIEEE(raw),
		Op:     release.CRCOp(uint64(len(raw))),
		Hash:   hash,
	}
	c.cache[hash] = s
	return s, nil
}

// writeLong writes the blocks of a text with klauspost/compress.
func (c *Compressor) writeLong(raw []byte) error {
	if c.long == nil { // it takes a megabyte, and at DefaultLevel most shards have no such text
		var err error
		if c.long, err = flate.NewWriter(&c.out, c.level); err != nil {
			return err
		}
	}
	c.long.Reset(&c.out)
	if _, err := c.long.Write(raw); err != nil {
		return err
	}
	// Flush ends with an empty stored block, which pads the output to a byte boundary. Close is never called, because
	// it would mark a final block.
	return c.long.Flush()
}

// maxShort is the length limit of a shortEncoder, in bytes. Encoders for long texts are faster above it. The window
// covers the whole text.
const maxShort = 30_000

// A shortEncoder writes the blocks of a segment in the format of RFC 1951: none is final, the last ends on a byte
// boundary, and no match refers to data before the first.
//
// A build compresses more than a hundred million texts of about 550 bytes. On such texts, general encoders mostly clear
// and scan large tables. Here, the tables grow with the text, and the work with the number of used symbols.
//
// Its blocks are about as small as other encoders' at level 6. It takes less than half a megabyte for any
// text, and is not safe for concurrent use.
type shortEncoder struct {
	chains  chains
	phrases []phrase
	count   counts
	code    code
}

// append appends a block with raw, which has at most maxShort bytes, and the padding to a byte boundary. The bytes
// depend on raw alone.
func (e *shortEncoder) append(dst, raw []byte) []byte {
	w, c := bitWriter{out: dst}, &e.code
	if len(raw) == 0 {
		w.stored(nil)
		return w.out
	}
	e.chains.link(raw)
	e.parse(raw)
	c.fit(&e.count)
	dynamic := c.dynamicBits + tailBits(uint(c.dynamicBits))
	fixed := c.fixedBits + tailBits(uint(c.fixedBits))
	stored := storedBits(0, len(raw))
	best := min(dynamic, fixed, stored)
	w.out = slices.Grow(w.out, best/8+slack)
	switch best {
	case stored:
		w.stored(raw)
		return w.out // already at a byte boundary
	case fixed:
		w.write(typeFixed, 3)
		w.phrases(raw, e.phrases, &fixedTable)
	default:
		c.literal.assign(c.table.literal[:])
		c.distance.assign(c.table.distance[:])
		c.head.write(&w)
		w.phrases(raw, e.phrases, &c.table)
	}
	w.tail()
	return w.out
}

// Bounds of chains.
const (
	shortest  = 4       // minimum match length: three bytes mostly cost more than they save
	headWidth = 16      // maximum bits of a head's number
	spread    = 2       // extra bits of a head's number, beyond the number of places
	maxPlaces = 1 << 15 // maxShort or more
)

// chains link each place of a text to earlier ones that begin with the same bytes. Heads are cleared for each text,
// back is not: a stale place does no harm, because every match is verified.
type chains struct {
	head    [1 << headWidth]uint32 // by hash of four bytes: further bits of the hash, and its last place
	back    [maxPlaces]uint16      // by place: distance to the previous one with that hash
	matches [maxPlaces / 64]uint64 // one bit a place: the previous one almost surely begins with the same four bytes
	shift   uint                   // right shift from a hash to its head's number
	end     int                    // end of the places where a match can begin
}

// link builds the chains of a text. Shorter texts use fewer heads, which are quicker to clear and stay in the
// processor's cache.
func (c *chains) link(raw []byte) {
	width := min(max(bits.Len(uint(len(raw)))+spread, 8), headWidth)
	clear(c.head[:1<<width])
	c.shift = uint(32 - width)
	c.end = max(len(raw)-shortest+1, 0)
	for start := 0; start < c.end; start += 64 {
		first := uint32(raw[start])<<8 | uint32(raw[start+1])<<16 | uint32(raw[start+2])<<24
		part := raw[start+3 : min(start+64, c.end)+3]
		c.matches[start/64] = c.linkPart(part, first, uint16(start)) >> (64 - len(part))
	}
}

// linkPart links up to 64 places, starting at a multiple of 64. The text is the upper three bytes of window, followed by
// part. It returns the bits of matches, the last one in the highest bit. No branch depends on the text: match positions
// are hard to predict, and a misprediction costs as much as ten places.
func (c *chains) linkPart(part []byte, window uint32, place uint16) (same uint64) {
	back := c.back[place:][:len(part)]
	shift := c.shift & 31
	for i, b := range part {
		window = window>>8 | uint32(b)<<24
		hash := window * 0x9e3779b1
		head := &c.head[hash>>shift%(1<<headWidth)]
		entry := hash<<12&^0xffff | uint32(place)
		previous := *head
		*head = entry
		back[i] = place - uint16(previous)
		place++
		// The highest bit is set if the rest of both hashes is the same.
		same = same>>1 | (uint64((entry^previous)>>16)-1)&(1<<63)
	}
	return same
}

// next returns the first place from i on where a match begins, or c.end.
func (c *chains) next(i int) int {
	for i < c.end {
		if same := c.matches[i/64] >> (i & 63); same != 0 {
			return min(i+bits.TrailingZeros64(same), c.end)
		}
		i = (i/64 + 1) * 64
	}
	return c.end
}

// longest returns length and distance of the longest match at place i that is longer than best bytes (at least
// three), among the first n of its chain. Without one, the length is 0.
func (c *chains) longest(raw []byte, i, best, n int) (length, distance int) {
	text := raw[i:min(i+maxMatch, len(raw))]
	if best >= len(text) {
		return 0, 0
	}
	enough := min(niceMatch, len(text))
	end := binary.LittleEndian.Uint32(text[best-3:])
	place := i
	for range n {
		back := int(c.back[place])
		place -= back
		if back == 0 || place < 0 {
			break
		}
		// A longer match must also match in the byte after the best one and the three before it.
		if binary.LittleEndian.Uint32(raw[place+best-3:]) != end {
			continue
		}
		if l := commonPrefix(raw[place:], text); l > best {
			length, distance = l, i-place
			if l >= enough {
				break
			}
			best = l
			end = binary.LittleEndian.Uint32(text[best-3:])
		}
	}
	return length, distance
}

// commonPrefix returns the length of the common prefix of a and b. a is at least as long as b.
func commonPrefix(a, b []byte) int {
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

// How hard to search for matches. With these, texts of all lengths are as small as with klauspost/compress at level
// 6.
const (
	maxChain  = 8   // places compared for one match
	niceMatch = 128 // match length that ends the search
	longMatch = 24  // match length from which the next places are not tried
	goodMatch = 8   // match length from which the next places are tried with a quarter of the chain
)

// A match copies length bytes from distance bytes back.
type match struct {
	length   uint16
	distance uint16
}

// A phrase is a number of literals, then a match; the last one of a block has none.
type phrase struct {
	literals uint16
	match
}

// parse cuts raw into phrases, and counts their symbols.
func (e *shortEncoder) parse(raw []byte) {
	c, count, phrases := &e.chains, &e.count, e.phrases[:0]
	*count = counts{}
	next := 0 // the first place after the last phrase
	for i := c.next(0); i < c.end; i = c.next(i) {
		start, m := e.lazyMatch(raw, i)
		if m.length == 0 {
			i++
			continue
		}
		count.literals(raw[next:start])
		count.literal[firstLength+int(lengthSymbols[m.length])]++
		count.distance[distanceSymbol(m.distance)]++
		phrases = append(phrases, phrase{uint16(start - next), m})
		i = start + int(m.length)
		next = i
	}
	count.literals(raw[next:])
	e.phrases = append(phrases, phrase{literals: uint16(len(raw) - next)})
}

// lazyMatch returns the match at place i, or one that begins a little later and is long enough to be worth the
// literals. Its length is 0 without a match.
func (e *shortEncoder) lazyMatch(raw []byte, i int) (start int, m match) {
	c := &e.chains
	length, distance := c.longest(raw, i, shortest-1, maxChain)
	for later := 1; later <= 2 && length > 0 && length < longMatch; later++ {
		if k := i + later; k >= c.end || c.matches[k/64]>>(k&63)&1 == 0 { // no match starts there
			continue
		}
		n := maxChain
		if length >= goodMatch {
			n /= 4
		}
		l, d := c.longest(raw, i+later, length, n)
		// Each byte of a match saves some four bits; each doubling of the distance costs one.
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
