package imdb

import (
	"encoding/binary"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// scan sets j.cells to the columns of a row, a valid JSON object of texts, numbers, booleans and nulls. Unknown columns are
// counted.
func (j *Joiner) scan(t *table, row string) error {
	j.cells = [maxColumns]string{}
	next := 0
	return tmdb.InField(record.EachField(row, func(name, raw string) error {
		text, ok := cellText(raw)
		if !ok {
			text = ""
			err := j.config.Values.Reject(&record.FieldError{Field: name, What: "want a text, a number or null, found " + record.Shown(raw), Value: record.Shown(raw)})
			if err != nil {
				return err
			}
		}
		switch i := t.column(name, next); {
		case i >= 0:
			j.cells[i] = text
		case text != "":
			j.dropName(t.name+".", name)
		}
		next++
		return nil
	}), "")
}

// cellText returns the text of a value: numbers and booleans in IMDb's form, "" for null and \N. It returns false for objects
// and lists.
func cellText(raw string) (text string, ok bool) {
	switch {
	case raw[0] == '"':
		text = record.Unquote(raw)
	case raw == "true":
		text = "1"
	case raw == "false":
		text = "0"
	case raw != "null":
		text = raw
	}
	if text == `\N` {
		text = ""
	}
	return text, raw[0] != '{' && raw[0] != '['
}

// A place is the position of a row in the input.
type place struct {
	file      int
	row, line int64
}

// seq orders rows of the same key by file and row. It has 20 bits for the file and 43 for the row.
func (p place) seq() uint64 { return uint64(p.file)<<43 | uint64(p.row) }

// appendRow appends a row's place and cells, the format of rows in a sorter.
func (j *Joiner) appendRow(dst []byte, t *table, at place) []byte {
	dst = appendPlace(dst, at)
	for i := range t.columns {
		dst = encoding.AppendText(dst, j.cells[i])
	}
	return dst
}

func appendPlace(dst []byte, at place) []byte {
	dst = binary.AppendUvarint(dst, uint64(at.file))
	dst = binary.AppendUvarint(dst, uint64(at.row))
	return binary.AppendVarint(dst, at.line)
}

// A row is one row of a table, read from a sorter. table is nil in the zero row.
type row struct {
	place
	table *table
	text  string // all packed cells: equal rows have equal texts
	cells [maxColumns]string
}

// readRow reads a row of a table up to the payload's end. All cells share one copy of the payload.
func readRow(r *encoding.Reader, t *table) (out row, err error) {
	out.place = readPlace(r)
	out.table, out.text = t, string(r.Rest())
	for i := range t.columns {
		size := len(r.Bytes())
		end := len(out.text) - r.Len()
		out.cells[i] = out.text[end-size : end]
	}
	return out, r.Err()
}

func readPlace(r *encoding.Reader) place {
	return place{file: int(r.Uvarint()), row: int64(r.Uvarint()), line: r.Varint()}
}
