package segment

// A header describes the codes of a dynamic block: the lengths of the codes, written in runs, and
// the codes of the symbols of runs.
type header struct {
	literals, distances int // lengths written of each alphabet
	runs                []run
	count               [numLengths + 1]uint16 // how often each symbol of runs occurs
	code                alphabet               // of the symbols of runs
	codes               [numLengths]coded
	ordered             int // lengths of symbols of runs that are written, in the order of lengthOrder
	bits                int // of all of it, with the type of the block
}

// A run is one length of a code, or a repetition of the last one or of zero.
type run struct {
	symbol uint8
	rest   uint8 // extra bits: how many times, less the smallest
}

// Symbols of runs beside the lengths, and their extra bits.
const (
	again     = 16 // the last length, 3 to 6 times
	someZeros = 17 // 3 to 10
	manyZeros = 18 // 11 to 138
)

var runExtra = [numLengths]uint{again: 2, someZeros: 3, manyZeros: 7}

// lengthOrder is the order in which the lengths of the symbols of runs are written.
var lengthOrder = [numLengths]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// describe makes h the header of the codes of a block, in one pass over the symbols that occur.
func (h *header) describe(literal, distance *alphabet) {
	h.runs = h.runs[:0]
	clear(h.count[:])
	h.literals = max(firstLength, int(literal.symbols[len(literal.symbols)-1].symbol())+1)
	h.distances = int(distance.symbols[len(distance.symbols)-1].symbol()) + 1
	done := h.lengths(literal, 0, 0)
	h.lengths(distance, h.literals, done)
	clear(h.code.lengths[:numLengths])
	h.code.fit(h.count[:], maxLengthCode)
	h.ordered = numLengths
	for h.ordered > 4 && h.count[lengthOrder[h.ordered-1]] == 0 {
		h.ordered--
	}
	h.bits = 3 + 5 + 5 + 4 + 3*h.ordered
	for _, u := range h.code.symbols {
		s := u.symbol()
		h.bits += int(u.weight()) * int(uint(h.code.lengths[s])+runExtra[s])
	}
}

// lengths adds the runs of an alphabet, whose symbols begin at place first, behind the runs of
// the places below done. It returns the place behind its last run.
func (h *header) lengths(a *alphabet, first, done int) int {
	symbols := a.symbols
	for i := 0; i < len(symbols); {
		s := symbols[i].symbol()
		if gap := first + int(s) - done; gap > 0 {
			h.zeros(gap)
		}
		length := a.lengths[s]
		n := 1
		for i+n < len(symbols) && symbols[i+n].symbol() == s+uint16(n) && a.lengths[s+uint16(n)] == length {
			n++
		}
		done = first + int(s) + n
		i += n
		if n >= 4 {
			h.add(length, 0)
			for n--; n >= 3; n -= min(n, 6) {
				h.add(again, uint8(min(n, 6)-3))
			}
		}
		for range n {
			h.add(length, 0)
		}
	}
	return done
}

// add adds a run.
func (h *header) add(symbol, rest uint8) {
	h.runs = append(h.runs, run{symbol, rest})
	h.count[symbol]++
}

// zeros adds the runs of n symbols that do not occur.
func (h *header) zeros(n int) {
	for ; n >= 11; n -= min(n, 138) {
		h.add(manyZeros, uint8(min(n, 138)-11))
	}
	if n >= 3 {
		h.add(someZeros, uint8(n-3))
		return
	}
	for range n {
		h.add(0, 0)
	}
}

// write writes the type of the block and h.
func (h *header) write(w *bitWriter) {
	h.code.assign(h.codes[:])
	out, at, p := w.begin()
	p = p.add(typeDynamic|uint64(h.literals-firstLength)<<3|uint64(h.distances-1)<<8|uint64(h.ordered-4)<<13, 17)
	for _, s := range lengthOrder[:h.ordered] {
		p = p.add(uint64(h.code.lengths[s]), 3)
		p, at = p.flush(out, at)
	}
	for _, r := range h.runs {
		c := h.codes[r.symbol]
		p = p.add(uint64(c>>8)|uint64(r.rest)<<(c&15), uint(c&15)+runExtra[r.symbol])
		p, at = p.flush(out, at)
	}
	w.end(at, p)
}
