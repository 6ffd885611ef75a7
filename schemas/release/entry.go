package release

import "reelsplice/schemas/fragment"

// An Entry is a resource of a release: a small value that points into the mapping and
// thus ends with its Reader. The zero Entry has no fragments.
type Entry struct {
	r         *Reader
	ref       Ref
	pieces    uint32
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
		pieces:    uint32(head >> (8 * blockPieces)),
	}
}

// tables returns where, from the start of the block, its tables or its target lie.
func (e Entry) tables() uint64 { return blockKey + align(uint64(e.keyLen)) }

// pieceTable returns where, from the start of the block, the piece table lies.
func (e Entry) pieceTable() uint64 { return e.tables() + fragmentLen*uint64(e.fragments) }

// size returns the length of the block in bytes.
func (e Entry) size() uint64 {
	if e.typ == typeAlias {
		return e.tables()
	}
	return e.pieceTable() + pieceLen*uint64(e.pieces)
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

// address returns the address of fragment i in its packed form.
func (e Entry) address(i int) uint64 { return le.Uint64(e.row(i)) }

// Address returns the address of fragment i, 0 <= i < Len(). Addresses ascend.
func (e Entry) Address(i int) fragment.Address { return fragment.AddressOf(e.address(i)) }

// Fragment returns fragment i, 0 <= i < Len().
func (e Entry) Fragment(i int) Fragment {
	row := e.row(i)
	first, pieces := uint64(le.Uint32(row[fragmentFirst:])), le.Uint16(row[fragmentPieces:])
	f, n := Fragment{r: e.r, ref: e.ref, n: pieces}, uint64(pieces)
	if n == 0 || first+n > uint64(e.pieces) {
		f.n = max(f.n, 1) // so that whoever walks it meets a piece that is broken
		return f
	}
	start := uint64(e.ref) + e.pieceTable() + pieceLen*first
	f.table = e.r.directory[start:][:pieceLen*n]
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
	r     *Reader
	ref   Ref    // of the resource that has it
	table []byte // of pieces; nil when the fragment breaks the format
	n     uint16
}

// Len returns the number of pieces. It is above zero for every fragment of a Reader,
// even one that is broken.
func (f Fragment) Len() int { return int(f.n) }

// Piece returns piece i, 0 <= i < Len(). It is false when the bytes of the piece or of
// its fragment break the format; nothing of the fragment may be served then. It
// allocates nothing.
func (f Fragment) Piece(i int) (Piece, bool) {
	if uint(i) >= uint(len(f.table)/pieceLen) {
		return Piece{}, false
	}
	b := f.table[pieceLen*i:][:pieceLen]
	switch op := Op(b[pieceOp]); op {
	case OpSegment:
		return f.r.segment(b)
	case OpReference:
		// Only backward, so that following them comes to an end.
		p := Piece{Op: op, Ref: Ref(le.Uint64(b[pieceWhere:])), Sub: fragment.Sub(le.Uint16(b[pieceSub:]))}
		return p, p.Ref < f.ref
	case OpInclude:
		i, ok := includeOf(b)
		return Piece{Op: op, Include: i}, ok
	case OpName:
		word, number, ok := nameOf(b)
		return Piece{Op: op, Word: word, Number: number}, ok
	case OpIDMark, OpPageMark, OpIDEnd:
		return Piece{Op: op}, true
	}
	return Piece{}, false
}

// segment returns the segment that row b of a piece table describes.
func (r *Reader) segment(b []byte) (Piece, bool) {
	where := le.Uint64(b[pieceWhere:])
	number, off := int(where>>wherePackShift), where&(1<<wherePackShift-1)
	if number >= len(r.packs) {
		return Piece{}, false
	}
	pack, stored := r.packs[number], uint64(le.Uint32(b[pieceStored:]))
	end := off + stored
	if off < headerLen || end > uint64(len(pack)) {
		return Piece{}, false
	}
	return Piece{
		Op: OpSegment, Pack: number, Offset: int64(off),
		Segment: Segment{
			Stored: pack[off:end:end],
			RawLen: le.Uint32(b[pieceRaw:]),
			CRC:    le.Uint32(b[pieceCRC:]),
			Op:     le.Uint32(b[pieceCRCOp:]),
			Hash:   Hash(b[pieceHash:pieceOp]),
		},
	}, true
}
