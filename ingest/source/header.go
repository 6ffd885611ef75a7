package source

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
)

const (
	maxHeaderBytes = 256 << 10 // of a CSV or TSV file's header
	maxNameBytes   = 128       // of one that counts as a name when it is asked whether a line is a header
)

// delimiters are what may stand between cells; of two that a header has as often, the
// first is taken.
const delimiters = ",;\t|"

// delimiterOf returns the delimiter that stands most often outside quotes in a header
// line, and how often.
func delimiterOf(line []byte) (delim byte, count int) {
	var counts [len(delimiters)]int
	quoted := false
	for _, c := range line {
		if c == '"' {
			quoted = !quoted
		}
		if i := bytes.IndexByte([]byte(delimiters), c); i >= 0 && !quoted {
			counts[i]++
		}
	}
	delim = delimiters[0]
	for i, n := range counts {
		if n > count {
			delim, count = delimiters[i], n
		}
	}
	return delim, count
}

// tableFormat returns how the cells of a table with the given header line and extension
// lie in it. Only .tsv goes without quoting, as IMDb has it: other files with TABs come
// from spreadsheets, which quote.
func tableFormat(line []byte, ext string) (f Format, delim byte) {
	delim, count := delimiterOf(line)
	if ext == ".tsv" && (count == 0 || bytes.IndexByte(line, '\t') >= 0) {
		return FormatTSV, '\t'
	}
	return FormatCSV, delim
}

// tableByName returns the format of a text whose extension is that of a table,
// when its first line that is not empty may be a header; FormatUnknown otherwise, for
// what a text is by itself.
func tableByName(w *window, ext string) Format {
	if ext != ".csv" && ext != ".tsv" {
		return FormatUnknown
	}
	head := bytes.TrimLeft(w.fill(512), " \t\r\n")
	if len(head) == 0 || head[0] == '{' || head[0] == '[' || bytes.HasPrefix(head, []byte("PAR1")) || refuse(head) != nil {
		return FormatUnknown
	}
	line := firstLine(w, maxHeaderBytes)
	format, delim := tableFormat(line, ext)
	named, all := 0, 0
	for _, name := range headerNames(line, format, delim) {
		if all++; isName(name) {
			named++
		}
	}
	if named == 0 || 2*named < all {
		return FormatUnknown
	}
	return format
}

// tableByContent reports whether a text without the extension of a table, and which is not
// JSON, is a table: two names or more, and a second line with as many cells. Prose and lists
// of words pass only where a name may be anything.
func tableByContent(w *window, name func([]byte) bool) bool {
	line := firstLine(w, maxHeaderBytes)
	format, delim := tableFormat(line, "")
	names := headerNames(line, format, delim)
	for _, n := range names {
		if !name(n) {
			return false
		}
	}
	next := lineAfter(w, len(line))
	next = next[:indexOr(next, '\n', len(next))]
	return len(names) > 1 && len(headerNames(next, format, delim)) == len(names)
}

// headerNames returns the cells of a header line as far as they are clear, without
// the blanks around them.
func headerNames(line []byte, format Format, delim byte) [][]byte {
	s := splitter{delim: delim, plain: format == FormatTSV}
	s.line(line, 0, len(bytes.TrimRight(line, "\r")))
	names := make([][]byte, 0, len(s.cells)+1)
	for _, c := range s.cells {
		names = append(names, bytes.TrimSpace(line[c.start:c.end]))
	}
	return names
}

// isName reports whether a cell may be the name of a column: words rather than a value.
func isName(b []byte) bool {
	r, n := utf8.DecodeRune(b)
	if len(b) == 0 || len(b) > maxNameBytes || r == utf8.RuneError && n == 1 || !unicode.IsLetter(r) && r != '_' {
		return false
	}
	return bytes.IndexFunc(b, unicode.IsControl) < 0
}

// isIdentifier reports whether b is made of ASCII letters, digits and underscores and
// does not start with a digit.
func isIdentifier(b []byte) bool {
	for i, c := range b {
		letter := c|0x20-'a' < 26 || c == '_'
		if !letter && (i == 0 || c-'0' > 9) {
			return false
		}
	}
	return len(b) > 0 && len(b) <= maxNameBytes
}

// columnNames returns the names of the columns that the cells of a header give: without
// blanks around them, column_N for the N-th where it has none. Two columns of one name
// are an error, because a value of a row could be of either.
func columnNames(cells []string) ([]string, error) {
	if len(cells) > limit.MaxColumns {
		return nil, fmt.Errorf("header has %d columns, want at most %d", len(cells), limit.MaxColumns)
	}
	seen := make(map[string]int, len(cells))
	names := make([]string, len(cells))
	for i, name := range cells {
		if name == "" {
			name = "column_" + strconv.Itoa(i+1)
		}
		if first, ok := seen[name]; ok {
			return nil, fmt.Errorf("columns %d and %d of the header are both named %q", first, i+1, name)
		}
		seen[name], names[i] = i+1, name
	}
	return names, nil
}
