package segment

import (
	"bytes"
	"container/heap"
	"slices"
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

// lengths returns the lengths of the codes of an alphabet.
func lengths(freq []uint32, limit int) []uint8 {
	count := make([]uint16, (len(freq)+3)/4*4)
	for s, n := range freq {
		count[s] = uint16(n)
	}
	var a alphabet
	a.fit(count, limit)
	of := make([]uint8, len(freq))
	for _, u := range a.symbols {
		of[u.symbol()] = a.lengths[u.symbol()]
	}
	return of
}

// TestLengths: codes fill their space, keep to the limit, and are as short as codes
// without a limit where those keep to it too.
func TestLengths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, numLiterals).Draw(t, "symbols")
		limit := rapid.SampledFrom([]int{9, 10, maxCode}).Draw(t, "limit")
		most := rapid.SampledFrom([]uint32{1, 10, 1000, 1<<16 - 1}).Draw(t, "most")
		freq := rapid.SliceOfN(rapid.Uint32Range(0, most), n, n).Draw(t, "frequencies")
		var space, used, bits, longest int
		for s, l := range lengths(freq, limit) {
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
	})
}

// TestAssign compares the codes with those that RFC 1951 derives from all lengths of an
// alphabet.
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
		var of [numLiterals]uint8
		for _, u := range a.symbols {
			of[u.symbol()] = a.lengths[u.symbol()]
		}
		for s, want := range canonical(of[:]) {
			if got.literal[s] != want {
				t.Fatalf("symbol %d has code %b, want %b", s, got.literal[s], want)
			}
		}
	})
}

// canonical returns the codes of lengths by section 3.2.2 of RFC 1951.
func canonical(lengths []uint8) []coded {
	var next [maxCode + 2]uint16
	var count [maxCode + 1]uint16
	for _, l := range lengths {
		count[l]++
	}
	count[0] = 0
	for l := 1; l <= maxCode; l++ {
		next[l+1] = (next[l] + count[l]) << 1
	}
	codes := make([]coded, len(lengths))
	for s, l := range lengths {
		if l > 0 {
			codes[s] = reversed(next[l], int(l))
			next[l]++
		}
	}
	return codes
}

// TestFixedTable compares the codes of fixed blocks with those of their lengths.
func TestFixedTable(t *testing.T) {
	of := slices.Concat(bytes.Repeat([]byte{8}, 144), bytes.Repeat([]byte{9}, 112), bytes.Repeat([]byte{7}, 24), bytes.Repeat([]byte{8}, 8))
	if want := canonical(of)[:numLiterals]; !slices.Equal(fixedTable.literal[:], want) {
		t.Errorf("codes of literals = %v, want %v", fixedTable.literal, want)
	}
	if want := canonical(bytes.Repeat([]byte{5}, 32))[:numDistance]; !slices.Equal(fixedTable.distance[:], want) {
		t.Errorf("codes of distances = %v, want %v", fixedTable.distance, want)
	}
}

// TestLengthsLimited checks frequencies whose best codes are as long as can be. Codes that are
// too long are mended, which is not always the best.
func TestLengthsLimited(t *testing.T) {
	freq := []uint32{1, 1, 2, 3, 5, 8, 13, 21, 34, 55}
	for _, limit := range []int{4, 5, 6, 9} {
		space, bits := 0, 0
		of := lengths(freq, limit)
		for s, l := range of {
			space += 1 << (limit - int(l))
			bits += int(l) * int(freq[s])
		}
		if most := brute(freq, limit) * 13 / 12; space != 1<<limit || bits > most {
			t.Errorf("limit %d: %v takes %d bits, want at most %d", limit, of, bits, most)
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
