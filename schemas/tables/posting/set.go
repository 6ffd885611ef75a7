package posting

import (
	"math/bits"
	"sync"
)

const wordBits = 64

// A Set is a set of ranks below a bound that NewSet was given: one bit a rank. It is what
// a query works with; at a million rows it has 125 KB.
type Set []uint64

// words returns how many words a Set of n ranks has.
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

// And removes what is not in o, a set for as many ranks.
func (s Set) And(o Set) {
	o = o[:len(s)]
	for i := range s {
		s[i] &= o[i]
	}
}

// AndNot removes what is in o, a set for as many ranks.
func (s Set) AndNot(o Set) {
	o = o[:len(s)]
	for i := range s {
		s[i] &^= o[i]
	}
}

// Or adds what is in o, a set for as many ranks.
func (s Set) Or(o Set) {
	o = o[:len(s)]
	for i := range s {
		s[i] |= o[i]
	}
}

// Count returns how many ranks are in the set.
func (s Set) Count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Next returns the first rank of the set from from on, -1 if there is none.
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

// Prev returns the last rank of the set up to from, from included; -1 if there is none.
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

// A Pool lends sets for one number of ranks. It is safe for concurrent use.
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

// Get returns a set with any content.
func (p *Pool) Get() *Set { return p.pool.Get().(*Set) }

// Put takes a set back.
func (p *Pool) Put(s *Set) { p.pool.Put(s) }
