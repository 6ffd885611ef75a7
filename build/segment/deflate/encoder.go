package deflate

// How much work is done for a text.
const (
	maxChunk  = maxStored // bytes that are looked at as one
	maxRounds = 2         // ways that are tried for a block; more gain a ten-thousandth
	maxLevel  = 4         // how much worse codes may be that are told in fewer bits
)

// An Encoder writes blocks. It takes some megabytes, whatever it writes, and is not safe
// for concurrent use.
type Encoder struct {
	find  finder
	parse parser
	split splitter
	coder coder
	costs costs
	hist  histogram
	code  code
	head  header
	spare header
	best  block
	whole block
	parts []int
	w     bitWriter
}

// A block is how a part of a text is written.
type block struct {
	from, to int
	tokens   []token // by the code
	code     code
	head     header
	bits     int     // as a dynamic block
	plain    []token // by the fixed code
	fixed    int     // bits as a fixed block
}

// Append appends blocks that say raw. What they say does not depend on what was written
// before, nor do they.
func (e *Encoder) Append(dst, raw []byte) []byte {
	e.w = bitWriter{out: dst}
	if len(raw) == 0 {
		e.w.stored(nil)
	}
	e.find.reset(len(raw))
	for from := 0; from < len(raw); from += maxChunk {
		to := min(from+maxChunk, len(raw))
		e.find.find(raw, from, to)
		e.chunk(raw, from, to)
	}
	out := e.w.out
	e.w.out = nil
	return out
}

// chunk writes a part of raw, as one block or as several.
func (e *Encoder) chunk(raw []byte, from, to int) {
	e.optimise(raw, from, to)
	e.best, e.whole = e.whole, e.best
	e.parts = append(e.parts[:0], from)
	at := from
	tokens := e.whole.tokens
	next := 0
	for _, i := range e.split.split(tokens) {
		for ; next < i; next++ {
			at += max(int(tokens[next].length), 1)
		}
		e.parts = append(e.parts, at)
	}
	e.parts = append(e.parts, to)
	if len(e.parts) == 2 {
		e.write(raw, &e.whole, to == len(raw))
		return
	}
	for i := range len(e.parts) - 1 {
		e.optimise(raw, e.parts[i], e.parts[i+1])
		e.write(raw, &e.best, e.parts[i+1] == len(raw))
	}
}

// optimise finds the best block for a part of raw: ways are tried, each by what the one
// before teaches.
func (e *Encoder) optimise(raw []byte, from, to int) {
	b := &e.best
	b.from, b.to, b.bits = from, to, 0
	e.costs.ofCode(fixed)
	tokens := e.parse.parse(&e.costs, &e.find, raw, from, to)
	b.plain = append(b.plain[:0], tokens...)
	e.hist.count(tokens)
	b.fixed = 3 + fixed.bits(&e.hist)
	for range maxRounds {
		e.costs.learn(&e.hist)
		tokens = e.parse.parse(&e.costs, &e.find, raw, from, to)
		e.hist.count(tokens)
		e.code.fit(&e.hist, &e.coder)
		if e.better(b) {
			b.tokens = append(b.tokens[:0], tokens...)
		}
	}
	e.shorten(b)
}

// better takes e.code into b if it is the better one for the tokens that e.hist counts.
func (e *Encoder) better(b *block) bool {
	e.head.tell(&e.code, &e.coder, everyRun)
	n := e.head.bits + e.code.bits(&e.hist)
	if b.bits > 0 && n >= b.bits {
		return false
	}
	b.bits, b.code = n, e.code
	return true
}

// shorten tries codes for b that are a little worse and told in fewer bits.
func (e *Encoder) shorten(b *block) {
	e.hist.count(b.tokens)
	for by := range uint32(maxLevel) {
		h := e.hist
		level(h.literal[:], by+1)
		level(h.distance[:], by+1)
		e.code.fit(&h, &e.coder)
		e.better(b)
	}
	b.head.fit(&b.code, &e.coder, &e.spare)
	b.bits = b.head.bits + b.code.bits(&e.hist)
}

// write writes a block, and behind the last one of a text what brings it to a byte
// boundary.
func (e *Encoder) write(raw []byte, b *block, last bool) {
	w := &e.w
	dynamic, plain, stored := b.bits, b.fixed, storedBits(w.n, b.to-b.from)
	grown := false
	if last {
		dynamic, grown = withTail(w.n, dynamic, b.head.canGrow())
		plain += tailBits(w.n + uint(plain))
	}
	switch min(dynamic, plain, stored) {
	case stored:
		w.stored(raw[b.from:b.to])
		return // at a byte boundary
	case plain:
		w.write(typeFixed, 3)
		fixed.write(w, b.plain)
	default:
		if grown {
			b.head.grow()
		}
		b.code.assign()
		b.head.write(w)
		b.code.write(w, b.tokens)
	}
	if last {
		w.tail()
	}
}
