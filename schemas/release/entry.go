package release

import (
	"encoding/binary"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// An Entry is a resource of a release: a small value that points into the mapping and
// thus ends with its Reader. The zero Entry has no fragments.
type Entry struct {
	p    *part
	off  uint64 // of its block in the part
	head uint64 // the first eight bytes of the block
}

func (e Entry) keyLen() uint64 { return e.head >> (8 * blockKeyLen) & 0xff }

func (e Entry) typ() uint8 { return uint8(e.head >> (8 * blockType)) }

// recipes returns the length of all recipes in bytes.
func (e Entry) recipes() uint64 { return e.head >> (8 * blockRecipes) }

// IsAlias reports whether a block is an alias, whose key leads to another block.
func (e Entry) IsAlias() bool { return e.typ() == typeAlias }

// fingerprintAt returns where, from the start of the block, its key ends: at the fingerprint of
// a resource, at the end of an alias.
func (e Entry) fingerprintAt() uint64 { return blockKey + align(e.keyLen()) }

// baseAt returns where, from the start of the block, the base of a resource with segments lies.
func (e Entry) baseAt() uint64 { return e.fingerprintAt() + fingerprintLen }

// tables returns where, from the start of the block, its fragment table lies.
func (e Entry) tables() uint64 {
	// Types are bits, so that no branch keeps this from being inlined.
	return e.fingerprintAt() + fingerprintLen*uint64(e.typ()&1) + baseLen*uint64(e.typ()>>2)
}

// area returns where, from the start of the block, the recipes lie.
func (e Entry) area() uint64 { return e.tables() + fragmentLen*uint64(e.Len()) }

// size returns the length of the block in bytes. Aliases have no fragments.
func (e Entry) size() uint64 { return align(e.area() + e.recipes()) }

// block returns the bytes of the block, which Reader.block has found to be all there.
func (e Entry) block() []byte {
	e.p.check(e.off, e.size())
	return e.stored()
}

// stored is block without a check.
func (e Entry) stored() []byte { return e.p.data[e.off:][:e.size()] }

// Next returns the resource after that of e in its part, past the aliases between them; false for
// the last one, and for the zero Entry.
func (e Entry) Next() (Entry, bool) {
	for ok := e.p != nil; ok; {
		if e, ok = e.p.block(e.off + e.size()); ok && !e.IsAlias() {
			return e, true
		}
	}
	return Entry{}, false
}

// target returns the block that an alias stands for, in the same part; a Ref of no block for a
// number that cannot be one.
func (e Entry) target() Ref {
	off := e.number()
	if off%blockAlign != 0 || off >= uint64(len(e.p.blocks)) {
		return 0
	}
	return e.p.ref(off)
}

// Target returns the resource that an alias stands for; false if none starts there.
func (e Entry) Target() (Entry, bool) { return e.p.r.At(e.target()) }

// number returns the number of the block: an id, or the offset of an alias's resource.
func (e Entry) number() uint64 { return le.Uint64(e.p.data[e.off+blockNumber:]) }

// Key returns the key of the resource, also when an alias led to it.
func (e Entry) Key() []byte {
	if e.p == nil {
		return nil
	}
	return e.p.data[e.off+blockKey:][:e.keyLen():e.keyLen()]
}

// ID returns the number that responses have as the id of the resource; 0 for the zero
// Entry.
func (e Entry) ID() uint64 {
	if e.p == nil {
		return 0
	}
	return e.number()
}

// Fingerprint returns the fingerprint of its inputs that the builder gave; 0 for the zero Entry.
func (e Entry) Fingerprint() uint64 {
	if e.p == nil {
		return 0
	}
	return le.Uint64(e.p.data[e.off+e.fingerprintAt():])
}

// Place returns the name of the file that the block lies in, and its offset there.
func (e Entry) Place() (file string, off int64) { return e.p.name, int64(e.off) }

// Ref returns the place of the resource, which holds in its Reader alone.
func (e Entry) Ref() Ref { return e.p.ref(e.off) }

// Len returns the number of fragments.
func (e Entry) Len() int { return int(uint16(e.head >> (8 * blockFragments))) }

// row returns entry i of the fragment table.
func (e Entry) row(i int) []byte {
	if uint(i) >= uint(e.Len()) {
		panic("release: fragment number out of range")
	}
	e.p.check(uint64(e.rowAt(i)), fragmentLen)
	return e.checkedRow(i)
}

// checkedRow is row of an entry that has been checked.
func (e Entry) checkedRow(i int) []byte { return e.p.data[e.rowAt(i):][:fragmentLen] }

// rowAt returns where in the part entry i of the fragment table starts.
func (e Entry) rowAt(i int) int64 {
	return int64(e.off + e.tables() + fragmentLen*uint64(i))
}

// address returns the address of fragment i in its packed form.
func (e Entry) address(i int) uint64 { return le.Uint64(e.row(i)) }

// Address returns the address of fragment i, 0 <= i < Len(). Addresses ascend.
func (e Entry) Address(i int) fragment.Address { return fragment.AddressOf(e.address(i)) }

// Recipe returns where, among the recipes of the resource, that of fragment i starts: a number that only fragments of
// equal pieces share.
func (e Entry) Recipe(i int) uint64 { return startIn(e.row(i)) }

func startIn(row []byte) uint64 { return uint64(le.Uint32(row[fragmentRecipe:])) }

// Fragment returns fragment i, 0 <= i < Len().
func (e Entry) Fragment(i int) Fragment { return e.fragment(e.Recipe(i)) }

// fragment returns the fragment whose recipe starts there in the area of recipes.
func (e Entry) fragment(start uint64) Fragment {
	off := e.off + e.area()
	area := e.p.data[off:][:e.recipes()]
	f := Fragment{p: e.p, off: e.off}
	if start >= uint64(len(area)) {
		return f
	}
	area = area[start:]
	// Short recipes are checked at once, of others no more than is read.
	short := len(area) <= CheckBlock
	if short {
		e.p.check(off+start, uint64(len(area)))
	} else {
		e.p.check(off+start, binary.MaxVarintLen64)
	}
	n, k := uvarint(area)
	if k == 0 || n == 0 || n > uint64(len(area)-k) {
		return f
	}
	if !short {
		e.p.check(off+start, uint64(k)+n)
	}
	f.recipe = area[k:][:n:n]
	if e.typ() == typeStored {
		f.base = le.Uint64(e.p.data[e.off+e.baseAt():])
	}
	return f
}

// search returns the number of the first fragment whose packed address is not below a.
func (e Entry) search(a uint64) int {
	lo, hi := 0, e.Len()
	if hi == 0 {
		return 0
	}
	m, off := e.p, e.off+e.tables()
	table := m.data[off:][:fragmentLen*hi]
	// A long table is checked where it is read, so that no more comes from the disk.
	short := len(table) <= CheckBlock
	if short {
		m.check(off, uint64(len(table)))
	}
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if !short {
			m.check(off+fragmentLen*uint64(mid), fragmentLen)
		}
		if le.Uint64(table[fragmentLen*mid:]) < a {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// Find returns the fragment with exactly the address a. It allocates nothing.
func (e Entry) Find(a fragment.Address) (Fragment, bool) {
	want := a.Uint64()
	i := e.search(want)
	if i == e.Len() {
		return Fragment{}, false
	}
	row := e.checkedRow(i) // by search, which has compared it
	if le.Uint64(row) != want {
		return Fragment{}, false
	}
	return e.fragment(startIn(row)), true
}

// Has reports whether the resource has a fragment of the sub-request s.
func (e Entry) Has(s fragment.Sub) bool {
	from, to := e.Subs(s)
	return from < to
}

// Subs returns the numbers of the fragments of the sub-request s: from, and up to but not to.
func (e Entry) Subs(s fragment.Sub) (from, to int) {
	from = e.search(fragment.Address{Sub: s}.Uint64())
	for to = from; to < e.Len() && e.Address(to).Sub == s; {
		to++
	}
	return from, to
}

// A Fragment is the recipe of a fragment: a small value that points into the mapping.
type Fragment struct {
	p      *part
	off    uint64 // of the resource that has it
	base   uint64 // where near segments count from
	recipe []byte // nil when the fragment breaks the format
}

// Owner returns the resource that has f, and the first of its addresses there: equal fragments of a
// resource are stored once. It looks at all of them, and is for people who ask. It is false for a
// fragment that breaks the format.
func (f Fragment) Owner() (Entry, fragment.Address, bool) {
	if len(f.recipe) == 0 {
		return Entry{}, fragment.Address{}, false
	}
	e := Entry{p: f.p, off: f.off, head: le.Uint64(f.p.data[f.off:])}
	for i := range e.Len() {
		if g := e.Fragment(i); len(g.recipe) > 0 && &g.recipe[0] == &f.recipe[0] {
			return e, e.Address(i), true
		}
	}
	return Entry{}, fragment.Address{}, false
}

// Len returns the length of the recipe in bytes.
func (f Fragment) Len() int { return len(f.recipe) }

// Same reports whether f and g are stored as one, as equal fragments of a resource are.
func (f Fragment) Same(g Fragment) bool {
	return len(f.recipe) > 0 && len(g.recipe) > 0 && &f.recipe[0] == &g.recipe[0]
}

// Pieces returns a Cursor that stands before the first piece.
func (f Fragment) Pieces() Cursor {
	return Cursor{p: f.p, base: f.base, left: MaxPieces, decoder: decoder{rest: f.recipe, bad: f.recipe == nil}}
}
