package source

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
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
	delim     byte
	unquoted  bool         // TABs separate cells, and quotes are text, unless they enclose doubled quotes, a TAB or a line end
	mayEscape bool         // TABs separate cells, and a database may have written them, without quotes
	in        bytes.Reader // input of csv
	csv       *csv.Reader
	cells     []string // cells of the current row
	crlf      bool     // a '\r' before a line's '\n' is part of the line end
	names     []string // names of the columns
	keys      [][]byte // JSON before each cell: `{"id":`, `,"title":`
	blank     int64    // skipped rows: empty or repeating the header
	heads     int64    // skipped rows that repeat the header
	torn      bool     // set after a wrong quote or an empty line until a row is complete: an incomplete row may be a rest, or another table's
	before    int      // cells of the previous row
	json      []byte

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
	if excelSeparator.Match(line) {
		t.w.advance(min(len(line)+1, len(t.w.data())))
		line = firstLine(t.w, maxHeaderBytes)
	}
	_, delim := tableFormat(line, ext)
	r := &tableRows{textRows: t, delim: delim, unquoted: format == FormatTSV, mayEscape: delim == '\t' && !bytes.HasPrefix(line, []byte{'"'})}
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
	first := r.firstRows()
	if r.unquoted && quotesCommas(first) {
		r.unquoted = false
	}
	for i, name := range r.names {
		isEnclosed := func(cells []string) bool { return i < len(cells) && singleQuoted.MatchString(cells[i]) }
		if len(first) > 1 && !slices.ContainsFunc(first, func(cells []string) bool { return !isEnclosed(cells) }) {
			return nil, fmt.Errorf("column %q has its texts in single quotes, want double quotes", name)
		}
	}
	return r, nil
}

// excelSeparator matches the line before the header that names the delimiter for Excel.
var excelSeparator = regexp.MustCompile(`(?i)^"?sep=."?\r?$`)

// singleQuoted matches a text in single quotes.
var singleQuoted = regexp.MustCompile(`^'.*'$`)

// firstRows returns the cells of the first lines after the header.
func (t *tableRows) firstRows() (rows [][]string) {
	const lines, size = 5, 16 << 10
	b := t.w.fill(size)
	for line := range bytes.Lines(b[:bytes.LastIndexByte(b, '\n')+1]) {
		if cells := t.cellsOf(line); len(cells) > 0 && len(rows) < lines {
			rows = append(rows, cells)
		}
	}
	return rows
}

// quotesCommas reports whether all cells with a comma, of several, are quoted, as Excel does.
func quotesCommas(rows [][]string) bool {
	quoted, others := 0, 0
	for _, cell := range slices.Concat(rows...) {
		if enclosed := strings.HasPrefix(cell, `"`) && strings.HasSuffix(cell, `"`); enclosed && strings.Contains(cell, ",") {
			quoted++
		} else if strings.Contains(cell, ",") {
			others++
		}
	}
	return quoted > 1 && others == 0
}

// cellsOf returns the cells of a line of their own.
func (t *tableRows) cellsOf(line []byte) []string {
	if t.unquoted {
		return strings.Split(strings.TrimRight(string(line), "\r\n"), "\t")
	}
	return headerNames(line, FormatCSV, t.delim)
}

// hasWideNeighbour reports whether the row before or after the current one has as many cells, or it is the only row. The current
// row takes the first n held bytes.
func (t *tableRows) hasWideNeighbour(n int) bool {
	if len(t.cells) == t.before {
		return true
	}
	next := t.nextCells(n, t.max)
	return next == len(t.cells) || next < 0 && t.row == 0
}

// nextCells returns the number of cells of the line at the n-th held byte, or -1 without one.
func (t *tableRows) nextCells(n, maxBytes int) int {
	size, _, err := t.line(n, maxBytes)
	if err != nil {
		return -1
	}
	return len(t.cellsOf(t.w.data()[n:size]))
}

func (t *tableRows) next() (Row, error) {
	for {
		t.w.skipMark()
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
		// Spreadsheets drop empty cells at the end of a row, or add them to many rows. A single row with more cells has a delimiter
		// inside a text. A last row with fewer cells, without a line end, was cut.
		n, columns := len(t.cells), len(t.keys)
		isBroken := n > columns && !t.hasWideNeighbour(rec.n) || n < columns && rec.size == rec.n
		t.before = n
		raw := t.w.data()[:rec.size]
		t.w.advanceLines(rec.n, rec.lines)
		if f == nil && !slices.ContainsFunc(t.cells, isText) {
			if len(raw) > 0 {
				t.blank++
			} else {
				t.torn = true // an empty line is not a row
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
		t.torn = f != nil && f.Syntax || t.torn && n < columns
		if f != nil {
			return row, nil
		}
		if n != columns && (t.strict || t.torn || isBroken || slices.ContainsFunc(t.cells[min(columns, n):], isText)) {
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
		if text == "" || t.mayEscape && text == `\N` {
			dst = append(dst, "null"...)
			continue
		}
		if t.mayEscape {
			text = plainText(text)
		}
		dst = record.AppendString(dst, text)
	}
	t.json = append(dst, '}')
	return t.json
}

// unescape replaces the escapes of databases that write TSV.
var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t")

// plainText returns the text of a cell of TSV, which databases escape, and pandas quotes if it has a quote. JSON has escapes of
// its own.
func plainText(cell string) string {
	if len(cell) > 2 && cell[0] == '"' && strings.HasSuffix(cell, `"`) {
		inner := cell[1 : len(cell)-1]
		if pairs := strings.Count(inner, `""`); pairs > 0 && 2*pairs == strings.Count(inner, `"`) {
			return strings.ReplaceAll(inner, `""`, `"`)
		}
	}
	if cell[0] == '[' || cell[0] == '{' {
		return cell
	}
	return unescape.Replace(cell)
}

// extent finds the end of the row at the start of the window, and cuts it into cells. A line of TSV is a row, unless quotes in it
// enclose TABs or line ends: then it lacks cells, has too many, or the next line does, and quoting gives a row with all cells. In
// other files with TABs, a line with wrong quotes is a row if it has all cells.
func (t *tableRows) extent(maxBytes int) (extent, *record.Fault, error) {
	if !t.unquoted {
		rec, f, err := t.quotedExtent(maxBytes)
		if t.mayEscape && f != nil && !t.strict && t.keys != nil {
			line := string(t.w.data()[:rec.size])
			t.cells = slices.AppendSeq(t.cells[:0], strings.SplitSeq(line, "\t"))
			if len(t.cells) == len(t.keys) && strings.Count(line, `"`)%2 == 0 {
				f = nil
			}
		}
		return rec, f, err
	}
	size, n, err := t.line(0, maxBytes)
	if err != nil {
		return extent{}, nil, err
	}
	b := t.w.data()[:n]
	rec := extent{size: size, n: n, lines: bytes.Count(b, []byte{'\n'})}
	line := string(b[:size])
	t.cells = slices.AppendSeq(t.cells[:0], strings.SplitSeq(line, "\t"))
	columns, last := len(t.keys), t.cells[len(t.cells)-1]
	mayBeQuoted := columns > 0 && strings.Contains(line, `"`)
	if mayBeQuoted && len(t.cells) == columns { // then only a line end may be quoted
		next := -1
		if last != "" && last[0] == '"' && strings.Count(last, `"`)%2 != 0 {
			next = t.nextCells(n, maxBytes)
		}
		mayBeQuoted = next >= 0 && next != columns
	}
	if mayBeQuoted {
		if quoted, f, err := t.quotedExtent(maxBytes); err == nil && f == nil && len(t.cells) == columns {
			return quoted, nil, nil
		}
		t.cells = slices.AppendSeq(t.cells[:0], strings.SplitSeq(line, "\t"))
	}
	return rec, nil, nil
}

// quotedExtent finds the end of the row at the start of the window, after an even number of quotes, and cuts it into cells.
//
// If a quote is wrong, the end is unknown: the quote may be a mistake, and valid rows may follow. So the extent is only the
// row's first line, with a fault, and reading continues after that line.
func (t *tableRows) quotedExtent(maxBytes int) (rec extent, f *record.Fault, err error) {
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
