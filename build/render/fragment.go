// Package render turns records into fragments: the JSON of one resource's one
// sub-request in one variant, in TMDB's key order, cut where the edge joins it.
//
// What a fragment is cut into follows from how it is served. The details of a
// resource end before their closing brace, so that appended objects can follow. A
// sub-request begins after its opening brace and carries no id; an IDMark stands
// where the standalone answer has one, a PageMark where it has the page number.
package render

import (
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/wire"
)

// A Piece is one part of a fragment before it is compressed.
type Piece struct {
	Op  release.Op
	Raw []byte // of OpSegment; valid until the Renderer's next record
	// Genres are the ids that name the shared resource of an OpReference.
	Genres []int64
}

// A Fragment is a sub-request of a record in one variant.
type Fragment struct {
	Address fragment.Address
	Pieces  []Piece
}

// fragments collects the fragments of one record.
type fragments struct {
	list   []Fragment
	pieces []Piece
	buf    []byte
}

func (f *fragments) reset() {
	f.list, f.pieces, f.buf = f.list[:0], f.pieces[:0], f.buf[:0]
}

// add appends a fragment made of pieces.
func (f *fragments) add(a fragment.Address, pieces ...Piece) {
	n := len(f.pieces)
	f.pieces = append(f.pieces, pieces...)
	f.list = append(f.list, Fragment{Address: a, Pieces: f.pieces[n:len(f.pieces):len(f.pieces)]})
}

// segment makes a piece of what write appends.
func (f *fragments) segment(write func(dst []byte) []byte) Piece {
	n := len(f.buf)
	f.buf = write(f.buf)
	return Piece{Op: release.OpSegment, Raw: f.buf[n:len(f.buf):len(f.buf)]}
}

// members makes a piece of fields from..to-1 of r and, behind the last field, of
// the members that the struct does not know, followed by suffix. The piece's Raw is
// empty when r has none of them.
func (f *fragments) members(r wire.Record, from, to int, suffix string) Piece {
	// The brace tells AppendMembers that no comma is due; it is no part of the piece.
	f.buf = append(f.buf, '{')
	n := len(f.buf)
	f.buf = wire.AppendMembers(f.buf, r, from, to)
	if x := r.Object().Extra; x != "" && to == len(r.Plan.Fields) {
		if len(f.buf) > n {
			f.buf = append(f.buf, ',')
		}
		f.buf = append(f.buf, x...)
	}
	if len(f.buf) > n {
		f.buf = append(f.buf, suffix...)
	}
	return Piece{Op: release.OpSegment, Raw: f.buf[n:len(f.buf):len(f.buf)]}
}

var (
	idMark   = Piece{Op: release.OpIDMark}
	pageMark = Piece{Op: release.OpPageMark}
)

// body makes the piece of a sub-request's whole object without its opening brace:
// `"results":[]}`. ok is false for an object without members, which is no answer.
func (f *fragments) body(r wire.Record) (p Piece, ok bool) {
	p = f.segment(func(dst []byte) []byte {
		n := len(dst)
		dst = wire.Append(dst, r)
		return append(dst[:n], dst[n+1:]...)
	})
	return p, len(p.Raw) > 1
}
