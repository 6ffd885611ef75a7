package deflate

import (
	"encoding/binary"
	"math/bits"
)

// How thoroughly matches are looked for.
const (
	maxChain   = 96 // places that are compared for one match
	maxMatches = 24 // that are kept of one place
)

// A finder finds, for each place of a text, the nearest match of each length.
type finder struct {
	head  []int32            // by the hash of three bytes, the last place that has them, plus one
	prev  [maxDistance]int32 // by place, modulo the window: the one before with that hash, plus one
	shift uint
	list  []match
	from  int     // the first place that was searched
	first []int32 // in list, of each such place and the one behind the last
}

// reset forgets the text before. The next one has n bytes.
func (f *finder) reset(n int) {
	width := min(max(bits.Len(uint(n)), 8), 15)
	f.shift = uint(32 - width)
	if cap(f.head) < 1<<width {
		f.head = make([]int32, 1<<width)
	}
	f.head = f.head[:1<<width]
	clear(f.head)
}

// find finds the matches of the places from one, included, to another. No match goes
// beyond that.
func (f *finder) find(raw []byte, from, to int) {
	f.list, f.first, f.from = f.list[:0], f.first[:0], from
	for i := from; i < to; i++ {
		f.first = append(f.first, int32(len(f.list)))
		if i+minMatch > len(raw) {
			continue
		}
		h := f.hash(raw[i:])
		if i+minMatch <= to {
			f.matches(raw[:to], i, int(f.head[h])-1)
		}
		f.prev[i%maxDistance] = f.head[h]
		f.head[h] = int32(i + 1)
	}
	f.first = append(f.first, int32(len(f.list)))
}

func (f *finder) hash(b []byte) uint32 {
	return (uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16) * 0x9e3779b1 >> f.shift
}

// matches adds the matches of place i, each longer than the one before. Chains begin at
// place at.
func (f *finder) matches(raw []byte, i, at int) {
	most := min(maxMatch, len(raw)-i)
	longest, n := minMatch-1, 0
	for range maxChain {
		if at < 0 || i-at > maxDistance {
			return
		}
		// A longer match has the byte behind the longest one.
		if raw[at+longest] == raw[i+longest] {
			if l := common(raw[at:], raw[i:i+most]); l > longest {
				longest = l
				if n == maxMatches {
					f.list = f.list[:len(f.list)-1]
					n--
				}
				f.list = append(f.list, match{length: uint16(l), distance: uint16(i - at)})
				if n++; l == most {
					return
				}
			}
		}
		at = int(f.prev[at%maxDistance]) - 1
	}
}

// common returns how many bytes a and b begin with alike. a is as long as b at least.
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

// of returns the matches of a place that was searched.
func (f *finder) of(i int) []match { return f.list[f.first[i-f.from]:f.first[i-f.from+1]] }
