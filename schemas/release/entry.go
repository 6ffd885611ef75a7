package release

import (
	"encoding/binary"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// An Entry is a resource or an alias of a release: a small value that points into the mapping, valid until its Reader
// closes. The zero Entry has no fragments.
type Entry struct {
	p     *part
	off   uint64 // offset of its block in the part
	head  uint64 // the first eight bytes of the block
	table uint64 // offset of the fragment table in the part; for an alias, the end of its block
}

// IsAlias reports whether the block is an alias, whose key leads to another block.
func (e Entry) IsAlias() bool { return uint8(e.head>>(8*blockType)) == typeAlias }

// size returns the length of the block in bytes.
func (e Entry) size() uint64 { return align(e.rowAt(e.Len()) - e.off + e.head>>(8*blockRecipes)) }

// Target returns the resource of an alias, in the same part; false if no resource starts there.
func (e Entry) Target() (Entry, bool) {
	to, ok := e.p.block(e.ID())
	return to, ok && !to.IsAlias()
}

// Key returns the key of the resource, even if an alias led to it.
func (e Entry) Key() []byte {
	if e.p == nil {
		return nil
	}
	n := e.head >> (8 * blockKeyLen) & 0xff
	return e.p.data[e.off+blockKey:][:n:n]
}

// ID returns the resource's id in responses; 0 for the zero Entry. For an alias it is the offset of the resource's
// block.
func (e Entry) ID() uint64 {
	if e.p == nil {
		return 0
	}
	return le.Uint64(e.p.data[e.off+blockNumber:])
}

// Fingerprint returns the fingerprint of its inputs, set by the builder; 0 for the zero Entry.
func (e Entry) Fingerprint() uint64 {
	if e.p == nil {
		return 0
	}
	return le.Uint64(e.p.data[e.off+blockKey+align(uint64(len(e.Key()))):])
}

// Place returns the name of the file with the block, and its offset there.
func (e Entry) Place() (file string, off int64) { return e.p.name, int64(e.off) }

// Ref returns the place of the resource. It is valid only in its Reader.
func (e Entry) Ref() Ref { return e.p.number | Ref(e.off/blockAlign) }

// Len returns the number of fragments.
func (e Entry) Len() int { return int(uint16(e.head >> (8 * blockFragments))) }

// rowAt returns the offset of entry i of the fragment table in the part.
func (e Entry) rowAt(i int) uint64 { return e.table + fragmentLen*uint64(i) }

// row returns entry i of the fragment table, checked.
func (e Entry) row(i int) []byte {
	if uint(i) >= uint(e.Len()) {
		panic("release: fragment number out of range")
	}
	e.p.check(e.rowAt(i), fragmentLen)
	return e.p.data[e.rowAt(i):][:fragmentLen]
}

// Address returns the address of fragment i, 0 <= i < Len(). Addresses are ascending.
func (e Entry) Address(i int) fragment.Address { return fragment.AddressOf(le.Uint64(e.row(i))) }

// Recipe returns the offset of fragment i's recipe among the recipes of the resource. Only fragments with equal
// pieces have the same.
func (e Entry) Recipe(i int) uint64 { return uint64(le.Uint32(e.row(i)[fragmentRecipe:])) }

// Fragment returns fragment i, 0 <= i < Len().
func (e Entry) Fragment(i int) (f Fragment) {
	f.open(e, e.Recipe(i))
	return f
}

// open makes f, an empty fragment, the one of e whose recipe starts at offset start of the recipe area. It fills f in
// place, because each copy of its six words takes as long as the search.
func (f *Fragment) open(e Entry, start uint64) {
	off := e.rowAt(e.Len()) // end of the table
	area := e.p.data[off:][:e.head>>(8*blockRecipes)]
	f.p, f.off = e.p, e.off
	if start >= uint64(len(area)) {
		return
	}
	area = area[start:]
	// Short recipe areas are checked whole, long ones only where they are read.
	short := len(area) <= CheckBlock
	if short {
		e.p.check(off+start, uint64(len(area)))
	} else {
		e.p.check(off+start, binary.MaxVarintLen64)
	}
	n, k := uvarint(area)
	if k == 0 || n == 0 || n > uint64(len(area)-k) {
		return
	}
	if !short {
		e.p.check(off+start, uint64(k)+n)
	}
	f.recipe = area[k:][:n:n]
	if uint8(e.head>>(8*blockType)) == typeStored {
		f.base = le.Uint64(e.p.data[e.table-baseLen:])
	}
}

// search returns the number of the first fragment whose packed address is a or above. That address is checked.
func (e Entry) search(a uint64) int {
	lo, hi := 0, e.Len()
	if hi == 0 {
		return 0
	}
	table := e.p.data[e.table:][:fragmentLen*hi]
	// A long table is checked only where it is read, to save disk reads.
	short := len(table) <= CheckBlock
	if short {
		e.p.check(e.table, uint64(len(table)))
	}
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if !short {
			e.p.check(e.table+fragmentLen*uint64(mid), fragmentLen)
		}
		if le.Uint64(table[fragmentLen*mid:]) < a {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// Find returns the fragment with exactly the address a. It does not allocate.
func (e Entry) Find(a fragment.Address) (f Fragment, ok bool) {
	want := a.Uint64()
	i := e.search(want)
	if i == e.Len() {
		return f, false
	}
	row := e.p.data[e.rowAt(i):][:fragmentLen]
	if le.Uint64(row) != want {
		return f, false
	}
	f.open(e, uint64(le.Uint32(row[fragmentRecipe:])))
	return f, true
}

// Has reports whether the resource has a fragment of the sub-request s.
func (e Entry) Has(s fragment.Sub) bool {
	from, to := e.Subs(s)
	return from < to
}

// Subs returns the range of fragments of sub-request s, including from and excluding to.
func (e Entry) Subs(s fragment.Sub) (from, to int) {
	from = e.search(fragment.Address{Sub: s}.Uint64())
	for to = from; to < e.Len() && e.Address(to).Sub == s; {
		to++
	}
	return from, to
}

// A Fragment is a recipe: a small value that points into the mapping.
type Fragment struct {
	p      *part
	off    uint64 // offset of its resource
	base   uint64 // near segments are relative to it
	recipe []byte // nil if the fragment breaks the format
}

// Owner returns the resource of f and the first of its addresses there: equal fragments of a resource are stored
// once. It searches all of them, so it is only for messages. It returns false if the fragment breaks the format.
func (f Fragment) Owner() (Entry, fragment.Address, bool) {
	if len(f.recipe) == 0 {
		return Entry{}, fragment.Address{}, false
	}
	e, _ := f.p.block(f.off)
	for i := range e.Len() {
		if g := e.Fragment(i); len(g.recipe) > 0 && &g.recipe[0] == &f.recipe[0] {
			return e, e.Address(i), true
		}
	}
	return Entry{}, fragment.Address{}, false
}

// Len returns the length of the recipe in bytes.
func (f Fragment) Len() int { return len(f.recipe) }

// Pieces returns a Cursor before the first piece.
func (f Fragment) Pieces() Cursor {
	return Cursor{rest: f.recipe, Broken: f.recipe == nil, p: f.p, base: f.base, left: MaxPieces}
}
