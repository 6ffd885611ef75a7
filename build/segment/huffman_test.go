package segment

import (
	"bytes"
	"slices"
	"testing"
)

// lengths returns the code lengths of an alphabet.
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

// canonical returns the codes for lengths by section 3.2.2 of RFC 1951.
func canonical(lengths []uint8) []codeword {
	var next [maxCode + 2]uint16
	var count [maxCode + 1]uint16
	for _, l := range lengths {
		count[l]++
	}
	count[0] = 0
	for l := 1; l <= maxCode; l++ {
		next[l+1] = (next[l] + count[l]) << 1
	}
	codes := make([]codeword, len(lengths))
	for s, l := range lengths {
		if l > 0 {
			codes[s] = reversed(next[l], int(l))
			next[l]++
		}
	}
	return codes
}

// TestFixedTable compares the codes of fixed blocks with the canonical ones.
func TestFixedTable(t *testing.T) {
	of := slices.Concat(bytes.Repeat([]byte{8}, 144), bytes.Repeat([]byte{9}, 112), bytes.Repeat([]byte{7}, 24), bytes.Repeat([]byte{8}, 8))
	if want := canonical(of)[:numLiterals]; !slices.Equal(fixedTable.literal[:], want) {
		t.Errorf("codes of literals = %v, want %v", fixedTable.literal, want)
	}
	if want := canonical(bytes.Repeat([]byte{5}, 32))[:numDistance]; !slices.Equal(fixedTable.distance[:], want) {
		t.Errorf("codes of distances = %v, want %v", fixedTable.distance, want)
	}
}

// TestLengthsLimited checks frequencies whose best codes are as long as possible. Too long codes are shortened, which
// is not always optimal.
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

// brute returns the size of the best codes in bits, by trying all: rarer symbols have no shorter codes.
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
