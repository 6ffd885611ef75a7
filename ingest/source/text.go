package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"reelsplice/ingest/source/jsonrow"
)

// textRows is what the readers of text formats share.
type textRows struct {
	w    *window
	name string
	max  int   // longest row in bytes
	deep int   // deepest row in levels
	row  int64 // rows returned so far
}

// place returns the place of the row that starts at the held bytes.
func (t *textRows) place() Place {
	return Place{File: t.name, Row: t.row + 1, Line: t.w.line, Off: t.w.off}
}

// fatal returns the error that ends the file in the row at p.
func (t *textRows) fatal(p Place, err error) error {
	return &FileError{File: t.name, Row: p.Row, Line: p.Line, Err: err}
}

// finish makes the row at p out of raw.
func (t *textRows) finish(p Place, raw []byte, size int64, f *jsonrow.Fault, base int) Row {
	t.row++
	row := Row{Place: p, JSON: raw, Size: size}
	if f != nil {
		row.Err = &RowError{Place: p, Off: int64(f.Off + base), Reason: f.ReasonAt(base)}
	}
	return row
}

// tooLong makes the row at p out of the first bytes of a row above the limit.
func (t *textRows) tooLong(p Place, head []byte, size int64) Row {
	row := t.finish(p, head[:min(int64(len(head)), size)], size, nil, 0)
	row.Err = &RowError{Place: p, Off: -1, Reason: fmt.Sprintf("row is longer than %d bytes", t.max)}
	return row
}

// longHead copies what is kept of a row above the limit, for tooLong to cut where
// the row ends.
func longHead(held []byte) []byte { return bytes.Clone(held[:min(len(held), longRowHead)]) }

// lineRows reads NDJSON: one object a line. Lines end at '\n' only, because U+2028
// and its like are legal inside strings; a '\r' before it is white space.
type lineRows struct{ textRows }

func (l *lineRows) next() (Row, error) {
	for {
		p := l.place()
		line, n, err := l.line()
		passed := 0
		if err == errLong {
			// White space is no part of the row, however much there is of it.
			passed = l.skipLead()
			line, n, err = l.line()
		}
		if err == errLong {
			return l.skipLine(p)
		}
		if err == io.EOF {
			return Row{}, err
		}
		if err != nil {
			return Row{}, l.fatal(p, err)
		}
		l.w.advanceLines(n, n-len(line))
		text := bytes.TrimLeft(line, " \t\r")
		lead := passed + len(line) - len(text)
		if text = bytes.TrimRight(text, " \t\r"); len(text) > 0 {
			return l.finish(p, text, int64(len(text)), jsonrow.Check(text, l.deep), lead), nil
		}
	}
}

var errLong = errors.New("row is too long")

// line returns the next line, and its length with its line end.
func (l *lineRows) line() (line []byte, n int, err error) {
	for seen := 0; ; {
		b := l.w.held()
		if j := bytes.IndexByte(b[seen:], '\n'); j >= 0 {
			if seen+j > l.max {
				return nil, 0, errLong
			}
			return b[:seen+j], seen + j + 1, nil
		}
		if seen = len(b); seen > l.max {
			return nil, 0, errLong
		}
		if !l.w.more() {
			if l.w.err != io.EOF || len(b) == 0 {
				return nil, 0, l.w.err
			}
			return b, len(b), nil
		}
	}
}

// skipLead passes the white space that the line starts with, and returns its length.
func (l *lineRows) skipLead() (n int) {
	for {
		b := l.w.held()
		text := bytes.TrimLeft(b, " \t\r")
		lead := len(b) - len(text)
		l.w.advanceLines(lead, 0)
		if n += lead; len(text) > 0 || !l.w.more() {
			return n
		}
	}
}

// skipLine passes the rest of a line above the limit without holding it.
func (t *textRows) skipLine(p Place) (Row, error) {
	head := longHead(t.w.held())
	for size := int64(0); ; {
		b := t.w.held()
		if j := bytes.IndexByte(b, '\n'); j >= 0 {
			t.w.advanceLines(j+1, 1)
			return t.tooLong(p, head, size+int64(j)), nil
		}
		size += int64(len(b))
		t.w.advanceLines(len(b), 0)
		if !t.w.more() {
			if t.w.err != io.EOF {
				return Row{}, t.fatal(p, t.w.err)
			}
			return t.tooLong(p, head, size), nil
		}
	}
}
