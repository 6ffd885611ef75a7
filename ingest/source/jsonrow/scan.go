package jsonrow

import "reelsplice/ingest/source/limit"

// A Scanner finds the end of one JSON object, array or string in a stream that
// arrives in pieces. It looks at brackets and strings only; Check judges the rest
// once the value is whole.
type Scanner struct {
	open  nesting
	str   bool // inside a string
	slash bool // behind a backslash inside a string
}

// InString reports whether the value goes on inside a string.
func (s *Scanner) InString() bool { return s.str }

// InObject reports whether the innermost level that is open is an object.
func (s *Scanner) InObject() bool { return s.open.object() }

// The scanner keeps no bytes: a value may arrive in pieces of any size, also one that is
// longer than the limit and is passed without being held.

// Scan goes over b[i:], which continues where the last call ended. It returns the
// offset behind the value once that is complete. A Fault means that brackets do not
// match or that a string holds a line break, so that the end cannot be known.
func (s *Scanner) Scan(b []byte, i int) (end int, done bool, f *Fault) {
	for i < len(b) {
		if s.str {
			if i, f = s.scanString(b, i); f != nil {
				return i, false, f
			}
		} else if i, f = s.scanOutside(b, i); f != nil {
			return i, false, f
		}
		if !s.str && s.open.depth == 0 {
			return i, true, nil
		}
	}
	return i, false, nil
}

// scanString passes plain text up to the end of the string or of b.
func (s *Scanner) scanString(b []byte, i int) (int, *Fault) {
	if s.slash {
		s.slash = false
		i++
	}
	for {
		i = stringSpan(b, i)
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
			return i, &Fault{Off: i, Reason: "found a line break in a string", Syntax: true}
		default:
			i++ // for Check to refuse with the whole row at hand
		}
	}
}

// scanOutside passes everything up to the start of a string, the end of the value or
// the end of b.
func (s *Scanner) scanOutside(b []byte, i int) (int, *Fault) {
	for ; i < len(b); i++ {
		switch c := b[i]; c {
		case '"':
			s.str = true
			return i + 1, nil
		case '{', '[':
			s.open.push(c == '{')
		case '}', ']':
			if s.open.depth == 0 || s.open.depth <= limit.DefaultMaxDepth && s.open.object() != (c == '}') {
				return i, &Fault{Off: i, Reason: "found '" + string(c) + "', which closes nothing that is open", Syntax: true}
			}
			if s.open.depth--; s.open.depth == 0 {
				return i + 1, nil
			}
		}
	}
	return i, nil
}

// ScalarEnd returns the offset of the first byte in b that ends a number or literal;
// len(b) when there is none.
func ScalarEnd(b []byte, i int) int {
	for ; i < len(b); i++ {
		switch b[i] {
		case ',', ']', '}', '{', '[', '"', ' ', '\t', '\r', '\n':
			return i
		}
	}
	return len(b)
}

// A nesting remembers which brackets are open, one bit a level: 1 for an object.
type nesting struct {
	depth int
	kinds [limit.DefaultMaxDepth / 64]uint64
}

// push opens a level. Levels beyond limit.DefaultMaxDepth are counted but not remembered.
func (n *nesting) push(object bool) {
	if n.depth < limit.DefaultMaxDepth {
		word, bit := n.depth/64, uint64(1)<<(n.depth%64)
		n.kinds[word] &^= bit
		if object {
			n.kinds[word] |= bit
		}
	}
	n.depth++
}

// object reports whether the innermost open level is an object.
func (n *nesting) object() bool {
	d := n.depth - 1
	return d >= 0 && d < limit.DefaultMaxDepth && n.kinds[d/64]>>(d%64)&1 == 1
}
