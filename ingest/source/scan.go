package source

import (
	"bytes"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// A scanner finds the end of one JSON value in a stream that arrives in pieces. It looks at brackets
// and strings only; record.CheckJSON checks the rest once the value is complete. It keeps no bytes: pieces
// may have any size, so a value above the limit is skipped without being held.
type scanner struct {
	depth   int    // levels that are open
	objects uint64 // a bit for each of the innermost levels, the lowest the last: 1 for an object
	str     bool   // inside a string
	slash   bool   // after a backslash inside a string
	scalar  bool   // inside a number or literal, which the end of the stream ends too
}

// scan goes over b[i:], which has a byte or more and continues where the last call ended. It returns the
// offset after the value once that is complete. A Fault means that a bracket closes nothing
// or that a string holds a line break, so that the end cannot be known.
func (s *scanner) scan(b []byte, i int) (end int, done bool, f *record.Fault) {
	if s.scalar || s.depth == 0 && !s.str && bytes.IndexByte([]byte(`{["`), b[i]) < 0 {
		n := bytes.IndexAny(b[i:], ",]}{[\" \t\r\n")
		switch {
		case n == 0 && !s.scalar:
			return i + 1, true, nil // a stray bracket or comma, for CheckJSON to refuse
		case n >= 0:
			return i + n, true, nil
		}
		s.scalar = true
		return len(b), false, nil
	}
	for i < len(b) {
		c := b[i]
		switch {
		case s.slash:
			s.slash = false
		case s.str:
			if i = record.PlainEnd(b, i); i == len(b) {
				return i, false, nil
			}
			switch b[i] {
			case '"':
				s.str = false
			case '\\':
				s.slash = true
			case '\n':
				return i, false, &record.Fault{Off: i, Reason: "found a line break in a string", Syntax: true}
			} // CheckJSON refuses other control characters once the row is complete
		case c == '"':
			s.str = true
		case c == '{', c == '[':
			s.depth++
			s.objects <<= 1
			if c == '{' {
				s.objects |= 1
			}
		case c == '}', c == ']':
			if s.depth == 0 {
				return i, false, &record.Fault{Off: i, Reason: "found '" + string(c) + "', which closes nothing that is open", Syntax: true}
			}
			s.objects >>= 1
			s.depth--
		}
		if i++; s.depth == 0 && !s.str {
			return i, true, nil
		}
	}
	return i, false, nil
}
