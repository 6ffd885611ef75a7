package deflate

// An outline is the heading that is made in one pass over the symbols that occur.
type outline struct {
	heading
	count [numLengths + 1]uint16
	code  alphabet // of the symbols of runs
	codes [numLengths]coded
}

// tell makes h tell the codes of a block.
func (h *outline) tell(literal, distance *alphabet) {
	h.runs = h.runs[:0]
	clear(h.count[:])
	h.literals = max(firstLength, int(literal.symbols[len(literal.symbols)-1].symbol())+1)
	h.distances = int(distance.symbols[len(distance.symbols)-1].symbol()) + 1
	told := h.lengths(literal, 0, 0)
	h.lengths(distance, h.literals, told)
	clear(h.code.lengths[:numLengths])
	h.code.fit(h.count[:], maxLengthCode)
	h.tellRuns(func(symbol uint8) bool { return h.count[symbol] > 0 })
	for _, u := range h.code.symbols {
		s := u.symbol()
		h.bits += int(u.weight()) * int(uint(h.code.lengths[s])+runExtra[s])
	}
}

// lengths adds the runs of an alphabet, whose symbols are told from a first place on, to those
// of the places before, and returns how many places are told now.
func (h *outline) lengths(a *alphabet, first, told int) int {
	symbols := a.symbols
	for i := 0; i < len(symbols); {
		s := symbols[i].symbol()
		if gap := first + int(s) - told; gap > 0 {
			h.zeros(gap)
		}
		length := a.lengths[s]
		n := 1
		for i+n < len(symbols) && symbols[i+n].symbol() == s+uint16(n) && a.lengths[s+uint16(n)] == length {
			n++
		}
		told = first + int(s) + n
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
	return told
}

// add adds a run.
func (h *outline) add(symbol, rest uint8) {
	h.runs = append(h.runs, run{symbol, rest})
	h.count[symbol]++
}

// zeros adds the runs of so many symbols that do not occur.
func (h *outline) zeros(n int) {
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
func (h *outline) write(w *bitWriter) {
	h.code.assign(h.codes[:])
	out, at, p := w.begin()
	p = p.add(typeDynamic|uint64(h.literals-firstLength)<<3|uint64(h.distances-1)<<8|uint64(h.told-4)<<13, 17)
	for _, s := range lengthOrder[:h.told] {
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
