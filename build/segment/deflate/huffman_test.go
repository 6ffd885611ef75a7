package deflate

import (
	"container/heap"
	"testing"

	"pgregory.net/rapid"
)

// weights is a heap.
type weights []uint32

func (w weights) Len() int           { return len(w) }
func (w weights) Less(i, j int) bool { return w[i] < w[j] }
func (w weights) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *weights) Push(v any)        { *w = append(*w, v.(uint32)) }
func (w *weights) Pop() any {
	old := *w
	v := old[len(old)-1]
	*w = old[:len(old)-1]
	return v
}

// unlimited returns how many bits the best codes of any length take.
func unlimited(freq []uint32) (bits uint32) {
	var w weights
	for _, n := range freq {
		if n > 0 {
			w = append(w, n)
		}
	}
	if len(w) == 1 {
		return w[0]
	}
	heap.Init(&w)
	for len(w) > 1 {
		sum := heap.Pop(&w).(uint32) + heap.Pop(&w).(uint32)
		bits += sum
		heap.Push(&w, sum)
	}
	return bits
}

// lengths find the lengths of codes, by both ways that there are.
var lengths = map[string]func(dst []uint8, freq []uint32, limit int){
	"coder": func(dst []uint8, freq []uint32, limit int) {
		var z coder
		z.lengths(dst, freq, limit)
	},
	"alphabet": func(dst []uint8, freq []uint32, limit int) {
		count := make([]uint16, (len(freq)+3)/4*4)
		for s, n := range freq {
			count[s] = uint16(n)
		}
		var a alphabet
		a.fit(count, limit)
		for _, u := range a.symbols {
			dst[u.symbol()] = a.lengths[u.symbol()]
		}
	},
}

// TestLengths: codes fill their space, keep to the limit, and are as short as codes
// without a limit where those keep to it too.
func TestLengths(t *testing.T) {
	for by, find := range lengths {
		t.Run(by, rapid.MakeCheck(func(t *rapid.T) {
			n := rapid.IntRange(1, numLiterals).Draw(t, "symbols")
			limit := rapid.SampledFrom([]int{9, 10, maxCode}).Draw(t, "limit")
			most := rapid.SampledFrom([]uint32{1, 10, 1000, 1<<16 - 1}).Draw(t, "most")
			freq := rapid.SliceOfN(rapid.Uint32Range(0, most), n, n).Draw(t, "frequencies")
			lengths := make([]uint8, n)
			find(lengths, freq, limit)
			var space, used, bits, longest int
			for s, l := range lengths {
				if (l > 0) != (freq[s] > 0) || int(l) > limit {
					t.Fatalf("symbol %d occurs %d times and has %d bits, want at most %d", s, freq[s], l, limit)
				}
				if l > 0 {
					used++
					space += 1 << (limit - int(l))
					bits += int(l) * int(freq[s])
					longest = max(longest, int(l))
				}
			}
			if used > 1 && space != 1<<limit {
				t.Fatalf("codes take %d of %d", space, 1<<limit)
			}
			best := int(unlimited(freq))
			if used > 0 && (bits < best || longest < limit && bits > best) {
				t.Fatalf("codes take %d bits with %d at most, want %d", bits, longest, best)
			}
		}))
	}
}

// TestAssign: both ways give symbols the same codes.
func TestAssign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := make([]uint16, numLiterals+2)
		for s := range numLiterals {
			count[s] = rapid.SampledFrom([]uint16{0, 0, 1, 2, 50, 3000}).Draw(t, "count")
		}
		var a alphabet
		a.fit(count, maxCode)
		var got table
		a.assign(got.literal[:])
		var lengths [numLiterals]uint8
		for _, u := range a.symbols {
			lengths[u.symbol()] = a.lengths[u.symbol()]
		}
		var want [numLiterals]uint16
		assign(want[:], lengths[:])
		for s, c := range got.literal {
			if uint16(c>>8) != want[s] || uint8(c) != lengths[s] {
				t.Fatalf("symbol %d has code %b of %d bits, want %b of %d", s, c>>8, uint8(c), want[s], lengths[s])
			}
		}
	})
}

// TestLengthsLimited checks frequencies whose best codes are as long as can be.
func TestLengthsLimited(t *testing.T) {
	freq := []uint32{1, 1, 2, 3, 5, 8, 13, 21, 34, 55}
	for by, find := range lengths {
		for _, limit := range []int{4, 5, 6, 9} {
			lengths := make([]uint8, len(freq))
			find(lengths, freq, limit)
			space, bits := 0, 0
			for s, l := range lengths {
				space += 1 << (limit - int(l))
				bits += int(l) * int(freq[s])
			}
			want := brute(freq, limit)
			if by == "alphabet" { // mends codes that are too long, which is not always the best
				want += want / 12
			}
			if space != 1<<limit || bits > want {
				t.Errorf("%s: limit %d: %v takes %d bits, want at most %d", by, limit, lengths, bits, want)
			}
		}
	}
}

// brute returns how many bits the best codes take, by trying all: rarer symbols have no
// shorter codes.
func brute(freq []uint32, limit int) int {
	best := 1 << 30
	var try func(s, space, least, bits int)
	try = func(s, space, least, bits int) {
		if s < 0 {
			if space == 0 {
				best = min(best, bits)
			}
			return
		}
		for l := least; l <= limit; l++ {
			if left := space - 1<<(limit-l); left >= 0 {
				try(s-1, left, l, bits+l*int(freq[s]))
			}
		}
	}
	try(len(freq)-1, 1<<limit, 1, 0)
	return best
}
