package release

import "reelsplice/schemas/fragment"

// An Entry is a resource of a release: a small value that points into the mapping and
// thus ends with its Reader. The zero Entry has no fragments.
type Entry struct {
	r         *Reader
	ref       Ref
	programs  uint32 // bytes
	fragments uint16
	keyLen    uint8
	typ       uint8
}

// blockOf unpacks the first eight bytes of a block.
func blockOf(head uint64) Entry {
	return Entry{
		keyLen:    uint8(head >> (8 * blockKeyLen)),
		typ:       uint8(head >> (8 * blockType)),
		fragments: uint16(head >> (8 * blockFragments)),
		programs:  uint32(head >> (8 * blockPrograms)),
	}
}

func (e Entry) isAlias() bool { return e.typ == typeAlias }

// base returns where, from the start of the block, its base lies, if it has one.
func (e Entry) base() uint64 { return blockKey + align(uint64(e.keyLen)) }

// tables returns where, from the start of the block, its fragment table lies.
func (e Entry) tables() uint64 {
	if e.typ == typeStored {
		return e.base() + blockBaseLen
	}
	return e.base()
}

// area returns where, from the start of the block, the programs lie.
func (e Entry) area() uint64 { return e.tables() + fragmentLen*uint64(e.fragments) }

// size returns the length of the block in bytes.
func (e Entry) size() uint64 {
	if e.isAlias() {
		return e.tables()
	}
	return align(e.area() + uint64(e.programs))
}

// block returns the bytes of the block, which Reader.block has found to be all there.
func (e Entry) block() []byte { return e.r.directory[e.ref:][:e.size()] }

// target returns what an alias block stands for.
func (e Entry) target() Ref { return Ref(e.number()) }

// number returns the number of the block: an id, or what an alias stands for.
func (e Entry) number() uint64 { return le.Uint64(e.r.directory[e.ref+blockNumber:]) }

// Key returns the key of the resource, also when an alias led to it.
func (e Entry) Key() []byte {
	if e.r == nil {
		return nil
	}
	return e.r.directory[e.ref+blockKey:][:e.keyLen:e.keyLen]
}

// ID returns the number that answers have as the id of the resource; 0 for the zero
// Entry.
func (e Entry) ID() uint64 {
	if e.r == nil {
		return 0
	}
	return e.number()
}

// Ref returns the place of the resource, which EntryAt turns back into e.
func (e Entry) Ref() Ref { return e.ref }

// Len returns the number of fragments.
func (e Entry) Len() int { return int(e.fragments) }

// row returns entry i of the fragment table.
func (e Entry) row(i int) []byte {
	if uint(i) >= uint(e.fragments) {
		panic("release: fragment number out of range")
	}
	return e.r.directory[uint64(e.ref)+e.tables()+fragmentLen*uint64(i):][:fragmentLen]
}

// rowAt returns where in the directory entry i of the fragment table starts.
func (e Entry) rowAt(i int) int64 {
	return int64(uint64(e.ref) + e.tables() + fragmentLen*uint64(i))
}

// address returns the address of fragment i in its packed form.
func (e Entry) address(i int) uint64 { return le.Uint64(e.row(i)) }

// Address returns the address of fragment i, 0 <= i < Len(). Addresses ascend.
func (e Entry) Address(i int) fragment.Address { return fragment.AddressOf(e.address(i)) }

// start returns where, in the area of programs, that of fragment i starts.
func (e Entry) start(i int) uint64 { return uint64(le.Uint32(e.row(i)[fragmentProgram:])) }

// Fragment returns fragment i, 0 <= i < Len().
func (e Entry) Fragment(i int) Fragment {
	f := Fragment{r: e.r, ref: e.ref}
	start, end := e.start(i), uint64(e.programs)
	if start >= end {
		return f
	}
	area := e.r.directory[uint64(e.ref)+e.area():][:end]
	n, k := uvarint(area[start:])
	if k == 0 || n == 0 || n > end-start-uint64(k) {
		return f
	}
	from := start + uint64(k)
	f.program = area[from : from+n : from+n]
	if e.typ == typeStored {
		f.base = le.Uint64(e.r.directory[uint64(e.ref)+e.base():])
	}
	return f
}

// search returns the number of the first fragment whose packed address is not below a.
func (e Entry) search(a uint64) int {
	lo, hi := 0, e.Len()
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if e.address(mid) < a {
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
	if i := e.search(want); i < e.Len() && e.address(i) == want {
		return e.Fragment(i), true
	}
	return Fragment{}, false
}

// hasSub tells whether the resource has a fragment of the sub-request s.
func (e Entry) hasSub(s fragment.Sub) bool {
	i := e.search(fragment.Address{Sub: s}.Uint64())
	return i < e.Len() && e.Address(i).Sub == s
}

// A Fragment is the program of a fragment: a small value that points into the mapping.
type Fragment struct {
	r       *Reader
	ref     Ref    // of the resource that has it
	base    uint64 // where near segments count from
	program []byte // nil when the fragment breaks the format
}

// Pieces returns a Cursor that stands before the first piece.
func (f Fragment) Pieces() Cursor {
	return Cursor{f: f, rest: f.program, left: MaxPieces, broken: f.program == nil}
}

// A Cursor walks through the pieces of a fragment. There is at least one, or the
// fragment is broken.
type Cursor struct {
	f      Fragment
	rest   []byte // from the next piece on; from the broken one on
	left   int    // pieces that may still come
	broken bool
}

// Broken tells whether the bytes of the fragment break the format, as far as the cursor
// has come. Nothing of such a fragment may be served.
func (c *Cursor) Broken() bool { return c.broken }

// Next sets p to the next piece: its Op, and the fields that count for that. It is false
// behind the last piece and in a broken fragment. It allocates nothing.
func (c *Cursor) Next(p *Piece) bool {
	if len(c.rest) == 0 || c.broken {
		return false
	}
	d := decoder{rest: c.rest[1:]}
	p.Op = Op(c.rest[0])
	switch p.Op {
	case OpSegment, opFar: // d tells them apart
		d.segment(p, c.f.base)
		d.bad = d.bad || !c.f.r.locateSegment(p, d.stored)
	case OpReference:
		// Only backward, so that following them comes to an end.
		p.Sub, p.Ref = fragment.Sub(d.atMost(maxSub)), Ref(d.atMost(MaxPackBytes))*blockAlign
		d.bad = d.bad || p.Ref >= c.f.ref
	case OpInclude:
		d.include(&p.Include)
	case OpName:
		p.Word, p.Number = Word(d.byte()), uint32(d.atMost(1<<32-1))
		d.bad = d.bad || !p.Word.valid()
	case OpLiteral:
		p.Literal = d.literal()
	case OpIDMark, OpPageMark, OpIDEnd:
	default:
		d.bad = true
	}
	if d.bad || c.left == 0 {
		c.broken = true
		return false
	}
	c.rest, c.left = d.rest, c.left-1
	return true
}

// locateSegment finds the stored bytes of the segment p, and tells whether they can be
// there.
func (r *Reader) locateSegment(p *Piece, stored uint64) bool {
	if p.Pack >= len(r.packs) {
		return false
	}
	pack, off := r.packs[p.Pack], uint64(p.Offset)
	end := off + stored
	if off < headerLen || end > uint64(len(pack)) {
		return false
	}
	p.Segment.Stored = pack[off:end:end]
	return true
}
