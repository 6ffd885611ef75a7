package deflate

import "math"

// Bounds of how a text is divided into blocks.
const (
	minBlock    = 250 // tokens
	maxSplits   = 4   // how often a block is halved, and its halves
	splitPoints = 6   // that are compared at once
)

// A splitter finds out where other codes would do better.
type splitter struct {
	hist histogram
	at   []int // tokens that begin a block, but the first
}

// split returns the tokens that begin another block. They are valid until the next call.
func (s *splitter) split(tokens []token) []int {
	s.at = s.at[:0]
	s.halve(tokens, 0, maxSplits)
	return s.at
}

// halve divides tokens, of which the first is number first, where that saves most.
func (s *splitter) halve(tokens []token, first, depth int) {
	if depth == 0 || len(tokens) < 2*minBlock {
		return
	}
	at, bits := s.best(tokens)
	if bits >= s.estimate(tokens) {
		return
	}
	s.halve(tokens[:at], first, depth-1)
	s.at = append(s.at, first+at)
	s.halve(tokens[at:], first+at, depth-1)
}

// best returns the cheapest place to divide tokens at, as far as some places and those
// around the best of them tell.
func (s *splitter) best(tokens []token) (at int, bits float64) {
	from, to := minBlock, len(tokens)-minBlock
	at, bits = from, math.Inf(1)
	for {
		step := max(1, (to-from)/splitPoints)
		for i := from; i <= to; i += step {
			if n := s.estimate(tokens[:i]) + s.estimate(tokens[i:]); n < bits {
				at, bits = i, n
			}
		}
		if step < minBlock/20 {
			return at, bits
		}
		from, to = max(minBlock, at-step), min(len(tokens)-minBlock, at+step)
	}
}

// estimate returns how many bits a block of tokens takes, about.
func (s *splitter) estimate(tokens []token) float64 {
	s.hist.count(tokens)
	const perSymbol, perBlock = 4, 60 // of a header
	return entropy(s.hist.literal[:], perSymbol) + entropy(s.hist.distance[:], perSymbol) +
		float64(s.hist.extra()) + perBlock
}

// entropy returns how many bits so frequent symbols take, and so many for each that occurs.
func entropy(freq []uint32, each float64) (bits float64) {
	var sum uint32
	for _, n := range freq {
		if n > 0 {
			bits += each - float64(n)*log2(n)
			sum += n
		}
	}
	if sum > 0 {
		bits += float64(sum) * log2(sum)
	}
	return bits
}

// log2 returns the binary logarithm of n, which is above 0.
func log2(n uint32) float64 {
	if n < uint32(len(logarithms)) {
		return logarithms[n]
	}
	return math.Log2(float64(n))
}

// logarithms holds those of small numbers: most frequencies are.
var logarithms = func() (t [1024]float64) {
	for i := range t {
		t[i] = math.Log2(float64(i))
	}
	return t
}()
