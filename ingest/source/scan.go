package source

import (
	"bytes"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// A scanner finds the end of one JSON value in a stream that arrives in pieces. It looks at brackets
// and strings only; record.CheckJSON judges the rest once the value is whole. It keeps no bytes: pieces
// may have any size, also those of a value that is longer than the limit and is passed without being held.
type scanner struct {
	depth   int    // levels that are open
	objects uint64 // a bit for each of the innermost levels, the lowest the last: 1 for an object
	str     bool   // inside a string
	slash   bool   // behind a backslash inside a string
	scalar  bool   // inside a number or literal, which the end of the stream ends too
}

// scan goes over b[i:], which has a byte or more and continues where the last call ended. It returns the
// offset behind the value once that is complete. A Fault means that a bracket closes nothing
// or that a string holds a line break, so that the end cannot be known.
func (s *scanner) scan(b []byte, i int) (end int, done bool, f *record.Fault) {
	if s.scalar || s.depth == 0 && !s.str && bytes.IndexByte([]byte(`{["`), b[i]) < 0 {
		if end = scalarEnd(b, i); end == i && !s.scalar {
			return i + 1, true, nil // a stray bracket or comma, for Check to refuse
		}
		s.scalar = true
		return end, end < len(b), nil
	}
	for i < len(b) {
		if s.str {
			if i, f = s.scanString(b, i); f != nil {
				return i, false, f
			}
		} else if i, f = s.scanOutside(b, i); f != nil {
			return i, false, f
		}
		if !s.str && s.depth == 0 {
			return i, true, nil
		}
	}
	return i, false, nil
}

// scanString passes plain text up to the end of the string or of b.
func (s *scanner) scanString(b []byte, i int) (int, *record.Fault) {
	if s.slash {
		s.slash = false
		i++
	}
	for {
		i = record.PlainEnd(b, i)
		if i >= len(b) {
			return len(b), nil
		}
		switch b[i] {
		case '"':
			s.str = false
			return i + 1, nil
		case '\\':
			if i+1 >= len(b) {
				s.slash = true
				return len(b), nil
			}
			i += 2
		case '\n':
			return i, &record.Fault{Off: i, Reason: "found a line break in a string", Syntax: true}
		default:
			i++ // for Check to refuse with the whole row at hand
		}
	}
}

// scanOutside passes everything up to the start of a string, the end of the value or
// the end of b.
func (s *scanner) scanOutside(b []byte, i int) (int, *record.Fault) {
	for ; i < len(b); i++ {
		switch c := b[i]; c {
		case '"':
			s.str = true
			return i + 1, nil
		case '{', '[':
			s.depth++
			s.objects <<= 1
			if c == '{' {
				s.objects |= 1
			}
		case '}', ']':
			if s.depth == 0 {
				return i, &record.Fault{Off: i, Reason: "found '" + string(c) + "', which closes nothing that is open", Syntax: true}
			}
			s.objects >>= 1
			if s.depth--; s.depth == 0 {
				return i + 1, nil
			}
		}
	}
	return i, nil
}

// scalarEnd returns the offset of the first byte in b that ends a number or literal;
// len(b) when there is none.
func scalarEnd(b []byte, i int) int {
	for ; i < len(b); i++ {
		switch b[i] {
		case ',', ']', '}', '{', '[', '"', ' ', '\t', '\r', '\n':
			return i
		}
	}
	return len(b)
}
