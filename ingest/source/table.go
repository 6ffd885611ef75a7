package source

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// tableRows reads CSV and TSV files as JSON objects, each value a string or null.
type tableRows struct {
	textRows
	delim    byte
	unquoted bool         // cells are never quoted
	in       bytes.Reader // input of csv
	csv      *csv.Reader
	cells    []string // cells of the current row
	crlf     bool     // a '\r' before a line's '\n' is part of the line end
	names    []string // names of the columns
	keys     [][]byte // JSON before each cell: `{"id":`, `,"title":`
	blank    int64    // skipped rows: empty or repeating the header
	heads    int64    // skipped rows that repeat the header
	torn     bool     // set after a wrong quote until a row is complete: an incomplete row may be the rest of a quoted one
	json     []byte

	escaped   bool   // a row with backslashes before quotes inside a cell was found
	rewritten []byte // row rewritten to RFC 4180
	unclosed  bool   // a cell of the rewritten row is not closed
}

// An extent is the size of the row at the start of the window.
type extent struct {
	size  int // bytes without the line end
	n     int // bytes with the line end
	lines int // line ends within n
}

// newTableRows reads the header of a file in format. The N-th column without a name is column_N. Duplicate names are an error,
// because a value would be ambiguous.
func newTableRows(t textRows, format Format, ext string) (*tableRows, error) {
	line := firstLine(t.w, maxHeaderBytes)
	if bytes.HasPrefix(line, []byte("Letterboxd list export")) { // skip the list's description up to an empty line
		for blank := false; !blank && len(t.w.data()) > 0; line = firstLine(t.w, maxHeaderBytes) {
			blank = len(bytes.TrimSpace(line)) == 0
			t.w.advance(min(len(line)+1, len(t.w.data())))
		}
	}
	if sep, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r"), []byte("sep=")); ok && len(sep) == 1 { // written by Excel
		t.w.advance(min(len(line)+1, len(t.w.data())))
		line = firstLine(t.w, maxHeaderBytes)
	}
	_, delim := tableFormat(line, ext)
	r := &tableRows{textRows: t, delim: delim, unquoted: format == FormatTSV}
	r.csv = newCSV(&r.in, delim)
	// In a TSV file, '\r' may be data, but not at the end of the header.
	r.crlf = format == FormatCSV || bytes.HasSuffix(line, []byte("\r"))
	rec, f, err := r.extent(maxHeaderBytes)
	switch {
	case err == errLong:
		return nil, fmt.Errorf("header is longer than %d bytes", maxHeaderBytes)
	case err != nil:
		return nil, err
	case f != nil:
		return nil, fmt.Errorf("header: %s", f.ReasonAt())
	}
	if f := record.CheckText(t.w.data()[:rec.size]); f != nil {
		return nil, fmt.Errorf("header: %s", f.ReasonAt())
	}
	if len(r.cells) > limit.MaxColumns {
		return nil, fmt.Errorf("header has %d columns, want at most %d", len(r.cells), limit.MaxColumns)
	}
	seen := make(map[string]int, len(r.cells))
	for i, cell := range r.cells {
		name, before := strings.TrimSpace(cell), byte(',')
		if name == "" {
			name = "column_" + strconv.Itoa(i+1)
		}
		if first, ok := seen[name]; ok {
			return nil, fmt.Errorf("columns %d and %d of the header are both named %q: rename one", first, i+1, name)
		}
		if i == 0 {
			before = '{'
		}
		seen[name] = i + 1
		r.names = append(r.names, name)
		r.keys = append(r.keys, append(record.AppendString([]byte{before}, name), ':'))
	}
	t.w.advanceLines(rec.n, rec.lines)
	return r, nil
}

func (t *tableRows) next() (Row, error) {
	for {
		for t.w.skipMark() { // also twice
		}
		p := t.place()
		rec, f, err := t.extent(t.max)
		switch {
		case err == io.EOF:
			return Row{}, err
		case err == errLong:
			row, err := t.skipLine(p)
			row.Raw = row.JSON
			return row, err
		case err != nil:
			return Row{}, t.fatal(p, err)
		}
		raw := t.w.data()[:rec.size]
		t.w.advanceLines(rec.n, rec.lines)
		if f == nil && !slices.ContainsFunc(t.cells, isText) {
			if len(raw) > 0 { // an empty line is not a row
				t.blank++
			}
			continue
		}
		if f == nil && t.isHeader() {
			t.blank++
			t.heads++
			continue
		}
		invalidText := false // a cell is not valid text
		if f == nil {
			if f = record.CheckText(raw); f != nil && !t.strict && bytes.IndexByte(raw, 0) < 0 { // zero bytes mean damage, such as by a crash
				f, invalidText = nil, true
			}
		}
		row := t.newRow(p, raw, f)
		row.Raw = raw
		n, columns := len(t.cells), len(t.keys)
		t.torn = f != nil && f.Syntax || t.torn && n != columns
		if f != nil {
			return row, nil
		}
		// Spreadsheets drop or add empty cells at the end of a row.
		if n != columns && (t.strict || t.torn || slices.ContainsFunc(t.cells[min(columns, n):], isText)) {
			row.Err = &RowError{Place: p, Off: -1, Reason: fmt.Sprintf("has %d cells, want %d", n, columns)}
			return row, nil
		}
		var nulled *[]record.FieldError
		if invalidText {
			nulled = &row.Nulled
		}
		row.JSON = t.object(nulled)
		return row, nil
	}
}

func isText(cell string) bool { return strings.Trim(cell, " ") != "" }

// isHeader reports whether the row repeats the header, as in concatenated files.
func (t *tableRows) isHeader() bool {
	if len(t.cells) != len(t.names) || len(t.names) == 1 { // a single column may have its name as a value
		return false
	}
	for i, name := range t.names {
		if cell := strings.TrimSpace(t.cells[i]); cell != name && (cell != "" || name != "column_"+strconv.Itoa(i+1)) {
			return false
		}
	}
	return true
}

// object returns the cells of the row as a JSON object. It adds cells that are not valid text to nulled, unless that is nil.
func (t *tableRows) object(nulled *[]record.FieldError) []byte {
	dst := t.json[:0]
	if cap(dst) > 1<<20 && cap(dst) > 64*len(t.json) {
		dst = nil // do not keep the buffer of one huge row
	}
	for i, key := range t.keys {
		dst = append(dst, key...)
		text := ""
		if i < len(t.cells) {
			text = strings.Trim(t.cells[i], " ") // blanks next to a delimiter
		}
		if nulled != nil {
			if f := record.CheckText([]byte(text)); f != nil {
				shown := record.Shown(strings.ToValidUTF8(text, "\ufffd"))
				*nulled = append(*nulled, record.FieldError{Field: t.names[i], What: f.ReasonAt() + " in " + shown, Value: shown})
				text = ""
			}
		}
		if text == "" || t.unquoted && text == `\N` {
			dst = append(dst, "null"...)
			continue
		}
		dst = record.AppendString(dst, text)
	}
	t.json = append(dst, '}')
	return t.json
}

// extent finds the end of the row at the start of the window, after an even number of quotes, and cuts it into cells.
//
// If a quote is wrong, the end is unknown: the quote may be a mistake, and valid rows may follow. So the extent is only the
// row's first line, with a fault, and reading continues after that line.
func (t *tableRows) extent(maxBytes int) (rec extent, f *record.Fault, err error) {
	t.cells = t.cells[:0]
	var first extent
	quote, quotes := -1, 0 // offset of the first quote, and number of quotes
	openQuote := func(until string) (extent, *record.Fault, error) {
		return first, &record.Fault{Off: quote, Reason: "found a quote that is not closed " + until, Syntax: true}, nil
	}
	for {
		from := rec.n
		size, n, err := t.line(from, maxBytes)
		switch {
		case from > 0 && err == io.EOF:
			return openQuote("before the end of the file")
		case from > 0 && err == errLong:
			return openQuote(fmt.Sprintf("within the %d bytes of a row", maxBytes))
		case err != nil:
			return extent{}, nil, err
		}
		b := t.w.data()[:n]
		rec.size, rec.n = size, n
		if b[n-1] == '\n' {
			rec.lines++
		}
		if t.unquoted {
			for cell := range strings.SplitSeq(string(b[:size]), "\t") {
				t.cells = append(t.cells, cell)
			}
			return rec, nil, nil
		}
		if from == 0 {
			first, quote = rec, bytes.IndexByte(b, '"')
			isBlank := func(r rune) bool { return unicode.IsSpace(r) && r != rune(t.delim) } // as encoding/csv trims them
			if before := bytes.TrimRightFunc(b[:max(quote, 0)], isBlank); len(before) > 0 && before[len(before)-1] != t.delim {
				return first, &record.Fault{Off: quote, Reason: bareQuote, Syntax: true}, nil
			}
		}
		quotes += bytes.Count(b[from:], []byte{'"'})
		escapes := t.keys != nil && bytes.Contains(b, []byte(`\"`))
		if quotes%2 != 0 {
			if escapes && t.cutEscaped(b) && (t.escaped || t.endsAt(rec.n, maxBytes)) && t.cutEscaped(t.w.data()[:rec.n]) {
				t.escaped = true
				return rec, nil, nil
			}
			continue
		}
		f := t.cut(b)
		if escapes && (f != nil || len(t.cells) != len(t.keys)) {
			switch {
			case t.cutEscaped(b):
				t.escaped = true
				return rec, nil, nil
			case t.escaped && t.unclosed:
				continue
			}
			f = t.cut(b)
		}
		if f != nil {
			f.Off = max(f.Off, quote)
			return first, f, nil
		}
		return rec, nil, nil
	}
}

// cutEscaped cuts a row with its line end into cells in which quotes are escaped with backslashes, as MySQL and Spark write them.
// It reports whether the row has all cells, and sets unclosed if a cell is not closed.
func (t *tableRows) cutEscaped(b []byte) bool {
	quoted := false
	t.rewritten = t.rewritten[:0]
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\\' && quoted && i+1 < len(b) && b[i+1] == '"':
			t.rewritten = append(t.rewritten, `""`...)
			i++
			continue
		case c == '\\' && quoted && i+1 < len(b) && b[i+1] == '\\':
			i++
		case c == '"':
			quoted = !quoted
		}
		t.rewritten = append(t.rewritten, b[i])
	}
	t.unclosed = quoted
	t.csv = newCSV(&t.in, t.delim)
	if !quoted && t.cut(t.rewritten) == nil && len(t.cells) == len(t.keys) && t.csv.InputOffset() == int64(len(t.rewritten)) {
		return true
	}
	t.csv = newCSV(&t.in, t.delim) // the old reader may have buffered several lines
	return false
}

// endsAt reports whether a row may end after n held bytes: the file ends there, or a line with all cells follows.
func (t *tableRows) endsAt(n, maxBytes int) bool {
	size, _, err := t.line(n, maxBytes)
	if err != nil {
		return err == io.EOF
	}
	b := t.w.data()[n:size]
	return t.cut(b) == nil && len(t.cells) == len(t.keys) || t.cutEscaped(b)
}

// cut cuts a row with its line end into cells by the rules of RFC 4180.
func (t *tableRows) cut(b []byte) *record.Fault {
	t.in.Reset(b)
	var parseErr *csv.ParseError
	before := t.csv.InputOffset()
	cells, err := t.csv.Read()
	if t.cells = cells; !errors.As(err, &parseErr) {
		if t.csv.InputOffset()-before != int64(len(b)) {
			t.csv = newCSV(&t.in, t.delim) // the old reader has buffered further lines of b
		}
		return nil // at the end, the line is empty
	}
	t.csv = newCSV(&t.in, t.delim) // the old reader has buffered the rest of the row
	f := &record.Fault{Off: -1, Reason: bareQuote, Syntax: true}
	if !errors.Is(parseErr.Err, csv.ErrBareQuote) {
		f.Reason = fmt.Sprintf("want %q or the end of the line after a closing quote", t.delim)
	}
	if parseErr.Line == parseErr.StartLine {
		f.Off = parseErr.Column - 1
	}
	return f
}

const bareQuote = "found '\"' inside a cell that does not start with one"

func newCSV(in io.Reader, delim byte) *csv.Reader {
	r := csv.NewReader(in)
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = rune(delim), -1, true
	r.TrimLeadingSpace = delim != '\t' // blanks before a quote; it would also trim TABs
	return r
}

// line is window.lineEnd, but a '\r' that is part of the line end counts neither as text nor against the limit.
func (t *tableRows) line(from, maxBytes int) (size, n int, err error) {
	size, n, err = t.w.lineEnd(from, maxBytes+1)
	if err == nil && t.crlf && size > from && t.w.data()[size-1] == '\r' {
		size--
	}
	if err == nil && size > maxBytes {
		err = errLong
	}
	return size, n, err
}
