// Package posting implements the elements of query tables in files: columns, orders, ranges and lists of ranks. The
// builder writes them into sections of a release's tables; the edge reads them in the mapping. Opening one takes the
// same time at any size.
//
// A rank is the number of a resource in its kind, most popular first, from 0. TABLES.md has the layout of the
// sections. Inconsistent sections and damaged lists cause errors that match release.ErrCorrupt.
package posting

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"sort"
	"sync"

	"github.com/reelsplice/reelsplice/schemas/release"
)

// A Source has named sections, like a release.Table.
type Source interface {
	// Section returns the bytes of a section; nil if it is absent.
	Section(name string) []byte
}

// Has reports whether s has all of the sections. It does not read sections of a release.
func Has(s Source, names ...string) bool {
	if t, ok := s.(*release.Table); ok {
		return t.Has(names...)
	}
	return !slices.ContainsFunc(names, func(name string) bool { return s.Section(name) == nil })
}

// A Sink accepts sections, like a release.TableWriter.
type Sink interface {
	// Section starts the next section.
	Section(name string) io.Writer
}

// Suffixes of the names of sections.
const (
	orderEnd = ".order"
	placeEnd = ".place"
	sumsEnd  = ".sums"
	keysEnd  = ".keys"
	dataEnd  = ".data"
)

var le = binary.LittleEndian

// Corrupt returns an error about a section, which matches release.ErrCorrupt.
func Corrupt(section, format string, args ...any) error {
	return fmt.Errorf("%w: section %s: %s", release.ErrCorrupt, section, fmt.Sprintf(format, args...))
}

// sectionOf returns a section that must have rows times width bytes.
func sectionOf(s Source, name string, rows, width int) ([]byte, error) {
	b := s.Section(name)
	if b == nil {
		return nil, Corrupt(name, "it is missing")
	}
	if len(b) != rows*width {
		return nil, Corrupt(name, "%d bytes, want %d for %d rows", len(b), rows*width, rows)
	}
	return b, nil
}

// Columns, by the type of their numbers: views of sections, or of any bytes.
type (
	// Uint32s are numbers of 4 bytes.
	Uint32s []byte
	// Uint64s are numbers of 8 bytes.
	Uint64s []byte
	// Float64s are IEEE 754 numbers of 8 bytes.
	Float64s []byte
)

// Len returns the number of elements.
func (c Uint32s) Len() int { return len(c) / 4 }

// At returns number i; it panics if i is out of range.
func (c Uint32s) At(i int) uint32 { return le.Uint32(c[4*i:]) }

// Len returns the number of elements.
func (c Uint64s) Len() int { return len(c) / 8 }

// At returns number i; it panics if i is out of range.
func (c Uint64s) At(i int) uint64 { return le.Uint64(c[8*i:]) }

// Find returns the index of v in ascending numbers; false if it is absent.
func (c Uint64s) Find(v uint64) (int, bool) {
	return sort.Find(c.Len(), func(i int) int { return cmp.Compare(v, c.At(i)) })
}

// At returns number i; it panics if i is out of range.
func (c Float64s) At(i int) float64 { return math.Float64frombits(le.Uint64(c[8*i:])) }

// OpenUint64s returns a column of a table with that many rows.
func OpenUint64s(s Source, name string, rows int) (Uint64s, error) {
	b, err := sectionOf(s, name, rows, 8)
	return Uint64s(b), err
}

// OpenFloat64s returns a column of a table with that many rows.
func OpenFloat64s(s Source, name string, rows int) (Float64s, error) {
	b, err := sectionOf(s, name, rows, 8)
	return Float64s(b), err
}

// Write writes a column.
func Write[T int32 | uint32 | uint64 | float64](s Sink, name string, column []T) error {
	return binary.Write(s.Section(name), le, column)
}

// NoDay is the value for an unknown date. It is below all days.
const NoDay = math.MinInt32

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
