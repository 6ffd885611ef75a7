package posting

import (
	"math/bits"
	"sync"
)

const wordBits = 64

// A Set is a bit set of ranks below the bound passed to NewSet. Queries operate on sets; for a million rows one has
// 125 KB.
type Set []uint64

// words returns the number of words in a Set of n ranks.
func words(n int) int { return (n + wordBits - 1) / wordBits }

// NewSet returns an empty set for n ranks.
func NewSet(n int) Set { return make(Set, words(n)) }

// Add adds a rank.
func (s Set) Add(rank uint32) { s[rank/wordBits] |= 1 << (rank % wordBits) }

// Remove removes a rank.
func (s Set) Remove(rank uint32) { s[rank/wordBits] &^= 1 << (rank % wordBits) }

// Has reports whether a rank is in the set.
func (s Set) Has(rank uint32) bool { return s[rank/wordBits]>>(rank%wordBits)&1 != 0 }

// Clear removes all ranks.
func (s Set) Clear() { clear(s) }

// Fill adds the ranks below n and removes all others.
func (s Set) Fill(n int) {
	full := n / wordBits
	for i := range s {
		switch {
		case i < full:
			s[i] = ^uint64(0)
		case i == full && n%wordBits > 0:
			s[i] = 1<<(n%wordBits) - 1
		default:
			s[i] = 0
		}
	}
}

// And keeps only the ranks in o, a set of the same size.
func (s Set) And(o Set) {
	o = o[:len(s)]
	for i := range s {
		s[i] &= o[i]
	}
}

// AndNot removes the ranks in o, a set of the same size.
func (s Set) AndNot(o Set) {
	o = o[:len(s)]
	for i := range s {
		s[i] &^= o[i]
	}
}

// Or adds the ranks in o, a set of the same size.
func (s Set) Or(o Set) {
	o = o[:len(s)]
	for i := range s {
		s[i] |= o[i]
	}
}

// Count returns the number of ranks in the set.
func (s Set) Count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Next returns the first rank in the set from from on, or -1.
func (s Set) Next(from int) int {
	if from < 0 {
		from = 0
	}
	i := from / wordBits
	if i >= len(s) {
		return -1
	}
	w := s[i] >> (from % wordBits) << (from % wordBits)
	for w == 0 {
		if i++; i == len(s) {
			return -1
		}
		w = s[i]
	}
	return i*wordBits + bits.TrailingZeros64(w)
}

// Prev returns the last rank in the set up to and including from, or -1.
func (s Set) Prev(from int) int {
	if from >= len(s)*wordBits {
		from = len(s)*wordBits - 1
	}
	if from < 0 {
		return -1
	}
	i := from / wordBits
	shift := wordBits - 1 - from%wordBits
	w := s[i] << shift >> shift
	for w == 0 {
		if i--; i < 0 {
			return -1
		}
		w = s[i]
	}
	return i*wordBits + bits.Len64(w) - 1
}

// A Pool lends sets of one size. It is safe for concurrent use.
type Pool struct {
	n    int
	pool sync.Pool
}

// NewPool returns a Pool of sets for n ranks.
func NewPool(n int) *Pool {
	p := &Pool{n: n}
	p.pool.New = func() any {
		s := NewSet(n)
		return &s
	}
	return p
}

// Get returns a set with arbitrary content.
func (p *Pool) Get() *Set { return p.pool.Get().(*Set) }

// Put returns a set to the pool.
func (p *Pool) Put(s *Set) { p.pool.Put(s) }
