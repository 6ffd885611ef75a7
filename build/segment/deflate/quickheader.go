package deflate

// A quickHeader tells the codes of a dynamic block.
type quickHeader struct {
	literals, distances int // how many lengths there are
	runs                []run
	count               [numLengths + 1]uint16
	code                alphabet
	codes               [numLengths]coded
	told                int
	bits                int
}

func (h *quickHeader) tell(literal, distance *alphabet) {
	h.runs = h.runs[:0]
	clear(h.count[:])
	h.literals = max(firstLength, int(literal.symbols[len(literal.symbols)-1].symbol())+1)
	h.distances = int(distance.symbols[len(distance.symbols)-1].symbol()) + 1
	r := runner{h: h}
	for _, u := range literal.symbols {
		r.add(int(u.symbol()), literal.lengths[u.symbol()])
	}
	for _, u := range distance.symbols {
		r.add(h.literals+int(u.symbol()), distance.lengths[u.symbol()])
	}
	r.flush()
	h.code.lengths = [numLiterals + 2]uint8{}
	h.code.fit(h.count[:], maxLengthCode)
	h.told = numLengths
	for h.told > 4 && h.count[lengthOrder[h.told-1]] == 0 {
		h.told--
	}
	h.bits = 3 + 5 + 5 + 4 + 3*h.told
	for _, u := range h.code.symbols {
		s := u.symbol()
		h.bits += int(u.weight()) * int(uint(h.code.lengths[s])+runExtra[s])
	}
}

// A runner collects runs of equal lengths
type runner struct {
	h      *quickHeader
	at     int   // the next place
	length uint8 // of the last one
	times  int   // how often that came so far that is not told yet
}

func (r *runner) add(place int, length uint8) {
	if place != r.at {
		r.flush()
		r.zeros(place - r.at)
		r.length = length
	} else if length != r.length {
		r.flush()
		r.length = length
	}
	r.times++
	r.at = place + 1
}

func (r *runner) tell(symbol, rest uint8) {
	r.h.runs = append(r.h.runs, run{symbol, rest})
	r.h.count[symbol]++
}

func (r *runner) flush() {
	n := r.times
	if n >= 4 {
		r.tell(r.length, 0)
		n--
		for ; n >= 3; n -= min(n, 6) {
			r.tell(again, uint8(min(n, 6)-3))
		}
	}
	for range n {
		r.tell(r.length, 0)
	}
	r.times = 0
}

func (r *runner) zeros(n int) {
	for ; n >= 11; n -= min(n, 138) {
		r.tell(manyZeros, uint8(min(n, 138)-11))
	}
	for ; n >= 3; n -= min(n, 10) {
		r.tell(someZeros, uint8(min(n, 10)-3))
	}
	for range n {
		r.tell(0, 0)
	}
}

func (h *quickHeader) canGrow() bool { return h.told < numLengths }

func (h *quickHeader) grow() { h.told++; h.bits += 3 }

func (h *quickHeader) write(w *bitWriter) {
	h.code.assign(h.codes[:])
	w.put(uint64(typeDynamic)|uint64(h.literals-firstLength)<<3|uint64(h.distances-1)<<8|uint64(h.told-4)<<13, 17)
	for _, s := range lengthOrder[:h.told] {
		w.put(uint64(h.code.lengths[s]), 3)
	}
	for _, r := range h.runs {
		c := h.codes[r.symbol]
		w.put(uint64(c>>8)|uint64(r.rest)<<(c&15), uint(c&15)+runExtra[r.symbol])
	}
}
