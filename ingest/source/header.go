package source

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxHeaderBytes = 256 << 10 // longest header of a CSV or TSV file
	maxNameBytes   = 128       // longest column name in the check for a header line
)

// delimiters may separate cells.
const delimiters = ",;\t|"

// tableFormat returns the format and delimiter of a table by its header line and extension. The delimiter is the most
// frequent one outside quotes, the first on a tie. Only .tsv files with an unquoted header, such as IMDb's, have quotes
// as text: other files with TABs come from spreadsheets, which quote.
func tableFormat(line []byte, ext string) (f Format, delim byte) {
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
	delim, count := delimiters[0], 0
	for i, n := range counts {
		if n > count {
			delim, count = delimiters[i], n
		}
	}
	if ext == ".tsv" && !bytes.HasPrefix(line, []byte{'"'}) && (count == 0 || bytes.IndexByte(line, '\t') >= 0) {
		return FormatTSV, '\t'
	}
	return FormatCSV, delim
}

// tableByName returns the format of a text with a table's extension if its first
// non-empty line may be a header. Otherwise it returns formatUnknown, and the content decides.
func tableByName(w *window, ext string) Format {
	if ext != ".csv" && ext != ".tsv" {
		return formatUnknown
	}
	head := bytes.TrimLeft(w.fill(512), " \t\r\n")
	if len(head) == 0 || head[0] == '{' || head[0] == '[' || bytes.HasPrefix(head, []byte("PAR1")) || refuse(head) != nil {
		return formatUnknown
	}
	line := firstLine(w, maxHeaderBytes)
	format, delim := tableFormat(line, ext)
	names, cells := 0, 0
	for _, name := range headerNames(line, format, delim) {
		if cells++; isName(name) {
			names++
		}
	}
	if names == 0 || 2*names < cells {
		return formatUnknown
	}
	return format
}

// tableByContent reports whether a text that is not JSON and lacks a table's extension is a table: its first line has two or
// more names, accept allows each of them, and its second line has as many cells.
func tableByContent(w *window, accept func(string) bool) bool {
	line := firstLine(w, maxHeaderBytes)
	format, delim := tableFormat(line, "")
	names := headerNames(line, format, delim)
	for _, n := range names {
		if !accept(n) {
			return false
		}
	}
	next := lineAfter(w, len(line))
	next, _, _ = bytes.Cut(next, []byte{'\n'})
	return len(names) > 1 && len(headerNames(next, format, delim)) == len(names)
}

// headerNames returns the readable cells of a header line, trimmed.
func headerNames(line []byte, format Format, delim byte) []string {
	names := strings.Split(strings.TrimRight(string(line), "\r"), string(delim))
	if format == FormatCSV {
		r := newCSV(bytes.NewReader(line), delim)
		r.LazyQuotes = true
		names, _ = r.Read() // none of an empty line
	}
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// isName reports whether a cell may be the name of a column: words rather than a value.
func isName(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	if s == "" || len(s) > maxNameBytes || r == utf8.RuneError && n == 1 || !unicode.IsLetter(r) && r != '_' {
		return false
	}
	return strings.IndexFunc(s, unicode.IsControl) < 0
}

// identifier matches a name of ASCII letters, digits and underscores that does not start with a digit.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func isIdentifier(s string) bool { return len(s) <= maxNameBytes && identifier.MatchString(s) }
