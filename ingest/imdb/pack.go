package imdb

import (
	"encoding/binary"

	"reelsplice/schemas/encoding"
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

// readRow reads a row of a table up to the payload's end. Its cells are parts of one copy of it.
func readRow(r *encoding.Reader, t *table) (out row, err error) {
	out.place = readPlace(r)
	out.table, out.text = t, string(r.Rest())
	for i := range t.columns {
		if n := r.Uvarint(); n > 0 {
			b := r.Take(n - 1)
			end := len(out.text) - r.Len()
			out.cells[i] = record.Text(out.text[end-len(b) : end])
		}
	}
	return out, r.Err()
}

func readPlace(r *encoding.Reader) place {
	return place{file: int(r.Uvarint()), row: int64(r.Uvarint()), line: r.Varint()}
}

// readCell reads a cell that appendCell wrote.
func readCell(r *encoding.Reader) record.String {
	if n := r.Uvarint(); n > 0 {
		return record.Text(string(r.Take(n - 1)))
	}
	return record.String{}
}
