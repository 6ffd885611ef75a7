package source

import (
	"bytes"
	"fmt"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// A cell is where the text of one cell lies in its row.
type cell struct {
	start, end int
	packed     bool // holds doubled quotes or CRLF, which stand for one character
}

// A splitter cuts one row of a CSV or TSV file into cells, a line at a time.
type splitter struct {
	delim byte
	plain bool // no quoting at all

	cells []cell
	open  int  // offset of the quote that was opened last
	in    bool // behind that quote: the row goes on in the next line
	start int  // offset of the text of the cell that is open
	pack  bool // that cell is packed
}

func (s *splitter) reset() {
	s.cells, s.in = s.cells[:0], false
}

// line cuts b[i:end], the next line of the row b without its line end, into cells.
// Afterwards s.in is whether the row goes on. The rules are those of RFC 4180, as
// encoding/csv has them.
func (s *splitter) line(b []byte, i, end int) *record.Fault {
	quote := end
	if !s.plain {
		quote = i + indexOr(b[i:end], '"', end-i)
	}
	for {
		if !s.in && (s.plain || i == end || b[i] != '"') {
			stop := i + indexOr(b[i:end], s.delim, end-i)
			if quote < i {
				quote = i + indexOr(b[i:end], '"', end-i)
			}
			if quote < stop {
				return &record.Fault{Off: quote, Reason: "found '\"' inside a cell that does not start with one", Syntax: true}
			}
			s.cells = append(s.cells, cell{start: i, end: stop})
			if i = stop + 1; i > end {
				return nil
			}
			continue
		}
		if !s.in {
			s.in, s.open, s.pack = true, i, false
			i++
			s.start = i
		}
		var f *record.Fault
		if i, f = s.quoted(b, i, end); f != nil || i > end {
			return f
		}
	}
}

// quoted passes the text of a quoted cell and the delimiter behind it. The offset
// that it returns is above end where no cell follows in this line.
func (s *splitter) quoted(b []byte, i, end int) (int, *record.Fault) {
	for {
		j := bytes.IndexByte(b[i:end], '"')
		if j < 0 {
			s.pack = s.pack || end < len(b) && b[end] == '\r'
			return end + 1, nil
		}
		i += j + 1
		switch {
		case i < end && b[i] == '"':
			s.pack = true
			i++
			continue
		case i < end && b[i] != s.delim:
			return i, &record.Fault{Off: i, Reason: fmt.Sprintf("found %s behind a closing quote, want %q or the end of the line", record.ShowByte(b[i:]), s.delim), Syntax: true}
		}
		s.cells = append(s.cells, cell{start: s.start, end: i - 1, packed: s.pack})
		s.in = false
		return i + 1, nil
	}
}

// firstOpen returns the offset of the quote, opened in the first size bytes of the row,
// that was not closed there.
func (s *splitter) firstOpen(size int) int {
	for _, c := range s.cells {
		if c.start <= size && c.end > size {
			return c.start - 1
		}
	}
	return s.open
}

// indexOr returns the first offset of c in b, or else.
func indexOr(b []byte, c byte, none int) int {
	if i := bytes.IndexByte(b, c); i >= 0 {
		return i
	}
	return none
}

// blank reports whether every cell is empty.
func (s *splitter) blank() bool {
	for _, c := range s.cells {
		if c.end > c.start {
			return false
		}
	}
	return true
}

// appendPacked appends text with each doubled quote and each CRLF as one character.
func appendPacked(dst, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\r' && i+1 < len(text) && text[i+1] == '\n':
		case c == '"':
			dst = append(dst, c)
			i++
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
