package source

// A scanner finds the end of one JSON object, array or string in a stream that
// arrives in pieces. It looks at brackets and strings only; checkRow judges the rest
// once the value is whole.
type scanner struct {
	open  nesting
	str   bool // inside a string
	slash bool // behind a backslash inside a string
}

// scan goes over b[i:], which continues where the last call ended. It returns the
// offset behind the value once that is complete. A fault means that brackets do not
// match or that a string holds a line break, so that the end cannot be known.
func (s *scanner) scan(b []byte, i int) (end int, done bool, f *fault) {
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
func (s *scanner) scanString(b []byte, i int) (int, *fault) {
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
			return i, &fault{off: i, reason: "found a line break in a string", syntax: true}
		default:
			i++ // for checkRow to refuse with the whole row at hand
		}
	}
}

// scanOutside passes everything up to the start of a string, the end of the value or
// the end of b.
func (s *scanner) scanOutside(b []byte, i int) (int, *fault) {
	for ; i < len(b); i++ {
		switch c := b[i]; c {
		case '"':
			s.str = true
			return i + 1, nil
		case '{', '[':
			s.open.push(c == '{')
		case '}', ']':
			if s.open.depth == 0 || s.open.depth <= DefaultMaxDepth && s.open.object() != (c == '}') {
				return i, &fault{off: i, reason: "found '" + string(c) + "', which closes nothing that is open", syntax: true}
			}
			if s.open.depth--; s.open.depth == 0 {
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
