package deflate

// The types of blocks, as a block that is not final begins.
const (
	typeStored  = 0 << 1
	typeFixed   = 1 << 1
	typeDynamic = 2 << 1
)

// A histogram counts the symbols of a block.
type histogram struct {
	literal  [numLiterals]uint32 // and lengths, and the end
	distance [numDistance]uint32
}

// count makes h the histogram of tokens.
func (h *histogram) count(tokens []token) {
	*h = histogram{}
	for _, t := range tokens {
		if t.length == 0 {
			h.literal[t.distance]++
			continue
		}
		h.literal[firstLength+int(lengthSymbols[t.length])]++
		h.distance[distanceSymbol(t.distance)]++
	}
	h.literal[endOfBlock]++
}

// extra returns how many bits follow symbols.
func (h *histogram) extra() (n int) {
	for s, count := range h.literal[firstLength:] {
		n += int(count) * int(lengthExtra(uint8(s)))
	}
	for s, count := range h.distance {
		n += int(count) * int(distanceExtra(uint8(s)))
	}
	return n
}

// A code is the Huffman codes of a block.
type code struct {
	literal       [numLiterals]uint8 // bits
	distance      [numDistance]uint8
	literalCodes  [numLiterals]uint16
	distanceCodes [numDistance]uint16
}

// fit makes c the best code for a block.
func (c *code) fit(h *histogram, z *coder) {
	z.lengths(c.literal[:], h.literal[:], maxCode)
	z.lengths(c.distance[:], h.distance[:], maxCode)
	if len(z.used) == 0 {
		c.distance[0] = 1 // RFC 1951 allows for none, not all readers do
	}
}

// assign sets the codes.
func (c *code) assign() {
	assign(c.literalCodes[:], c.literal[:])
	assign(c.distanceCodes[:], c.distance[:])
}

// bits returns how many bits the tokens of a block take, with its end.
func (c *code) bits(h *histogram) int {
	n := h.extra()
	for s, count := range h.literal {
		n += int(count) * int(c.literal[s])
	}
	for s, count := range h.distance {
		n += int(count) * int(c.distance[s])
	}
	return n
}

// fixed is the code of fixed blocks. Two symbols that never occur have codes too.
var fixed = func() *code {
	var lengths [numLiterals + 2]uint8
	for s := range lengths {
		switch {
		case s < 144:
			lengths[s] = 8
		case s < 256:
			lengths[s] = 9
		case s < 280:
			lengths[s] = 7
		default:
			lengths[s] = 8
		}
	}
	var codes [numLiterals + 2]uint16
	assign(codes[:], lengths[:])
	c := &code{literal: [numLiterals]uint8(lengths[:]), literalCodes: [numLiterals]uint16(codes[:])}
	for s := range c.distance {
		c.distance[s] = 5
	}
	assign(c.distanceCodes[:], c.distance[:])
	return c
}()

// write writes the tokens of a block, and its end.
func (c *code) write(w *bitWriter, tokens []token) {
	for _, t := range tokens {
		if t.length == 0 {
			w.write(uint32(c.literalCodes[t.distance]), uint(c.literal[t.distance]))
			continue
		}
		s := lengthSymbols[t.length]
		l := firstLength + int(s)
		w.write(uint32(c.literalCodes[l]), uint(c.literal[l]))
		w.write(lengthRest(t.length, s), lengthExtra(s))
		d := distanceSymbol(t.distance)
		w.write(uint32(c.distanceCodes[d]), uint(c.distance[d]))
		w.write(distanceRest(t.distance, d), distanceExtra(d))
	}
	w.write(uint32(c.literalCodes[endOfBlock]), uint(c.literal[endOfBlock]))
}
