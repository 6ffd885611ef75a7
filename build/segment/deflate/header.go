package deflate

// A heading is what headers have in common, whoever makes them: they tell the lengths of the
// codes of a dynamic block in runs, and those of the symbols of runs.
type heading struct {
	literals, distances int // how many lengths there are
	runs                []run
	told                int // how many lengths of symbols of runs are told, in the order of lengthOrder
	bits                int // of all of it, with the type of the block
}

// A header is the heading that is found with care.
type header struct {
	heading
	code  [numLengths]uint8 // bits of the symbols of runs
	codes [numLengths]uint16
}

// A run is a symbol that tells lengths of codes: one length, or so many times the last one
// or zero.
type run struct {
	symbol uint8
	rest   uint8
}

// Symbols of runs beside the lengths, and how many bits tell how often.
const (
	again     = 16 // the last length, 3 to 6 times
	someZeros = 17 // 3 to 10
	manyZeros = 18 // 11 to 138
)

var runExtra = [numLengths]uint{again: 2, someZeros: 3, manyZeros: 7}

// lengthOrder is the order in which the bits of the symbols of runs are told.
var lengthOrder = [numLengths]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// fit makes h the smallest header that tells c. Repeating may cost more than it saves,
// because another symbol makes the others longer.
func (h *header) fit(c *code, z *coder, spare *header) {
	h.bits = 0
	for use := range uint8(everyRun + 1) {
		spare.tell(c, z, use)
		if h.bits == 0 || spare.bits < h.bits {
			*h, *spare = *spare, *h
		}
	}
	assign(h.codes[:], h.code[:])
}

// everyRun stands for all symbols that repeat.
const everyRun = 7

// tell makes h a header that tells c, with those symbols for repeated lengths that have a
// bit in use.
func (h *header) tell(c *code, z *coder, use uint8) {
	var all [numLiterals + numDistance]uint8
	h.literals, h.distances = trim(c.literal[:], firstLength), trim(c.distance[:], 1)
	n := copy(all[:], c.literal[:h.literals])
	n += copy(all[n:], c.distance[:h.distances])
	h.runs = appendRuns(h.runs[:0], all[:n], use)
	var freq [numLengths]uint32
	for _, r := range h.runs {
		freq[r.symbol]++
	}
	z.lengths(h.code[:], freq[:], maxLengthCode)
	h.tellRuns(func(symbol uint8) bool { return h.code[symbol] > 0 })
	for s, count := range freq {
		h.bits += int(count) * int(uint(h.code[s])+runExtra[s])
	}
}

// trim returns how many lengths are to be told, least at least.
func trim(lengths []uint8, least int) int {
	n := len(lengths)
	for n > least && lengths[n-1] == 0 {
		n--
	}
	return n
}

// appendRuns appends the runs that tell lengths.
func appendRuns(runs []run, lengths []uint8, use uint8) []run {
	for i := 0; i < len(lengths); {
		l := lengths[i]
		n := 1
		for i+n < len(lengths) && lengths[i+n] == l {
			n++
		}
		i += n
		if l == 0 {
			for ; use&4 != 0 && n >= 11; n -= min(n, 138) {
				runs = append(runs, run{manyZeros, uint8(min(n, 138) - 11)})
			}
			for ; use&2 != 0 && n >= 3; n -= min(n, 10) {
				runs = append(runs, run{someZeros, uint8(min(n, 10) - 3)})
			}
		} else if use&1 != 0 && n >= 4 {
			runs = append(runs, run{symbol: l})
			n--
			for ; n >= 3; n -= min(n, 6) {
				runs = append(runs, run{again, uint8(min(n, 6) - 3)})
			}
		}
		for range n {
			runs = append(runs, run{symbol: l})
		}
	}
	return runs
}

// tellRuns finds how many lengths of symbols of runs are told, of which those are used, and
// counts the bits of all but the runs.
func (h *heading) tellRuns(used func(symbol uint8) bool) {
	h.told = numLengths
	for h.told > 4 && !used(lengthOrder[h.told-1]) {
		h.told--
	}
	h.bits = 3 + 5 + 5 + 4 + 3*h.told
}

// canGrow tells whether h can be three bits longer and say the same.
func (h *heading) canGrow() bool { return h.told < numLengths }

// grow makes h three bits longer: it tells one bit length more, which is zero.
func (h *heading) grow() {
	h.told++
	h.bits += 3
}

// write writes the type of the block and h.
func (h *header) write(w *bitWriter) {
	w.write(typeDynamic, 3)
	w.write(uint32(h.literals-firstLength), 5)
	w.write(uint32(h.distances-1), 5)
	w.write(uint32(h.told-4), 4)
	for _, s := range lengthOrder[:h.told] {
		w.write(uint32(h.code[s]), 3)
	}
	for _, r := range h.runs {
		w.write(uint32(h.codes[r.symbol]), uint(h.code[r.symbol]))
		w.write(uint32(r.rest), runExtra[r.symbol])
	}
}
