package imdb

import (
	"encoding/binary"
	"errors"

	"reelsplice/schemas/record"
)

// A place is where a row stood.
type place struct {
	file      int
	row, line int64
}

// Limits of places: a place is one number in the sorters' order.
const (
	maxFile = 1<<20 - 1
	maxRow  = 1<<43 - 1
)

// seq orders rows of the same key: the first file and row come first.
func (p place) seq() uint64 { return uint64(p.file)<<43 | uint64(p.row) }

// A row in a sorter is its place and its cells: each the length plus one, 0 for null, and
// the text.
func appendRow(dst []byte, at place, cells []cell) []byte {
	dst = appendPlace(dst, at)
	for _, c := range cells {
		dst = appendCell(dst, c)
	}
	return dst
}

func appendCell(dst []byte, c cell) []byte {
	if c == nil {
		return append(dst, 0)
	}
	dst = binary.AppendUvarint(dst, uint64(len(c))+1)
	return append(dst, c...)
}

func appendPlace(dst []byte, at place) []byte {
	dst = binary.AppendUvarint(dst, uint64(at.file))
	dst = binary.AppendUvarint(dst, uint64(at.row))
	return binary.AppendVarint(dst, at.line)
}

// A row is one row of a table, read back. What it holds are parts of the payload's text.
type row struct {
	place
	table *table
	text  string // of all cells as packed: equal rows have equal texts
	cells [maxColumns]record.String
}

var errPacked = errors.New("imdb: a sorted row is damaged")

// An unpacker reads a payload. Runs have checksums, so that damage here is a mistake of
// this program; it is an error and no panic all the same.
type unpacker struct {
	rest string
	err  error
}

func (u *unpacker) uvarint() uint64 {
	var n uint64
	for i := 0; i < len(u.rest) && i < binary.MaxVarintLen64; i++ {
		b := u.rest[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			u.rest = u.rest[i+1:]
			return n
		}
	}
	u.err = errPacked
	return 0
}

func (u *unpacker) varint() int64 {
	n := u.uvarint()
	return int64(n>>1) ^ -int64(n&1)
}

// text returns a cell.
func (u *unpacker) text() record.String {
	n := u.uvarint()
	switch {
	case n == 0 || u.err != nil:
		return record.String{}
	case n-1 > uint64(len(u.rest)):
		u.err = errPacked
		return record.String{}
	}
	s := u.rest[:n-1]
	u.rest = u.rest[n-1:]
	return record.Text(s)
}

func (u *unpacker) place() place {
	return place{file: int(u.uvarint()), row: int64(u.uvarint()), line: u.varint()}
}

// row reads a row of a table up to the payload's end.
func (u *unpacker) row(t *table) (r row) {
	r.place = u.place()
	r.table, r.text = t, u.rest
	for i := range t.columns {
		r.cells[i] = u.text()
	}
	return r
}
