package source

import (
	"bytes"
	"fmt"
	"io"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// textRows is the common part of the readers of text formats.
type textRows struct {
	w    *window
	name string
	max  int   // longest row in bytes
	row  int64 // rows returned so far

	strict bool // do not repair rows
	mended []byte
}

// place returns the place of the row at the start of the window.
func (t *textRows) place() Place {
	return Place{File: t.name, Row: t.row + 1, Line: t.w.line, Off: t.w.off}
}

// fatal returns the error that ends the file in the row at p.
func (t *textRows) fatal(p Place, err error) error {
	return &FileError{File: t.name, Row: p.Row, Line: p.Line, Err: err}
}

// newRow makes the row at p from raw. f may be nil.
func (t *textRows) newRow(p Place, raw []byte, f *record.Fault) Row {
	t.row++
	row := Row{Place: p, JSON: raw, Size: int64(len(raw))}
	if f != nil {
		row.Err = &RowError{Place: p, Off: int64(f.Off), Reason: f.ReasonAt()}
	}
	return row
}

// tooLong makes the row at p from the first bytes of a row that exceeds the limit.
func (t *textRows) tooLong(p Place, head []byte, size int64) Row {
	row := t.newRow(p, head[:min(int64(len(head)), size)], nil)
	row.Size, row.Err = size, &RowError{Place: p, Off: -1, Reason: fmt.Sprintf("row is longer than %d bytes", t.max)}
	return row
}

// longHead copies the start of a too long row. tooLong cuts it at the end of the row.
func longHead(b []byte) []byte { return bytes.Clone(b[:min(len(b), longRowHead)]) }

// lineRows reads NDJSON: one object per line. Only '\n' ends a line, because U+2028 and
// other separators are legal inside strings; a '\r' before it is white space. White space before a
// row is skipped.
type lineRows struct{ textRows }

func (l *lineRows) next() (Row, error) {
	lead, ok := l.w.skipBlanks()
	if !ok && l.w.err == io.EOF {
		return Row{}, io.EOF
	}
	p := l.place()
	p.Off -= int64(lead) // places count from the start of the line
	size, n, err := l.w.lineEnd(0, l.max)
	switch {
	case err == errLong:
		return l.skipLine(p)
	case err != nil:
		return Row{}, l.fatal(p, err)
	}
	text := bytes.TrimRight(l.w.data()[:size], " \t\r")
	l.w.advanceLines(n, n-size)
	json, m, f := l.checkRow(text)
	if f != nil {
		f.Off += lead
	}
	return l.withMended(l.newRow(p, text, f), json, m), nil
}

// checkRow returns the JSON of a row and the number of repairs, or a fault.
func (t *textRows) checkRow(raw []byte) (json []byte, m record.Mended, f *record.Fault) {
	if f = record.CheckJSON(raw, limit.MaxDepth); f == nil || !f.Syntax && !f.Mendable || t.strict {
		return raw, m, f
	}
	t.mended, m = record.MendJSON(t.mended[:0], raw)
	if remaining := record.CheckJSON(t.mended, limit.MaxDepth); remaining != nil {
		if remaining.Syntax {
			remaining = f
		}
		return raw, record.Mended{}, remaining
	}
	return t.mended, m, nil
}

// withMended replaces the JSON of a row if it was repaired.
func (t *textRows) withMended(row Row, json []byte, m record.Mended) Row {
	if m != (record.Mended{}) {
		row.JSON, row.Raw, row.Mended = json, row.JSON, m
	}
	return row
}

// skipLine skips the rest of a too long line without buffering it.
func (t *textRows) skipLine(p Place) (Row, error) {
	head := longHead(t.w.data())
	for size := int64(0); ; {
		b := t.w.data()
		if j := bytes.IndexByte(b, '\n'); j >= 0 {
			t.w.advanceLines(j+1, 1)
			return t.tooLong(p, head, size+int64(j)), nil
		}
		size += int64(len(b))
		t.w.advanceLines(len(b), 0)
		if !t.w.readMore() {
			if t.w.err != io.EOF {
				return Row{}, t.fatal(p, t.w.err)
			}
			return t.tooLong(p, head, size), nil
		}
	}
}
