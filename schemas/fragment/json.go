package fragment

import "bytes"

// Field returns the value of an object's field, or nil if it is absent. fields starts after the opening brace, and
// may lack the closing one. ok is false for damaged text.
func Field(fields []byte, name string) (value []byte, ok bool) {
	for i := 0; i < len(fields) && fields[i] != '}'; i++ {
		colon, end := FieldEnd(fields, i)
		if end < 0 {
			return nil, false
		}
		if string(fields[i+1:colon-1]) == name {
			return fields[colon+1 : end], true
		}
		i = end // at the comma
	}
	return nil, true
}

// FieldEnd returns the index of the colon of the field that starts at i, and the index after its value. Either is -1
// if missing.
func FieldEnd(b []byte, i int) (colon, end int) {
	if b[i] != '"' {
		return -1, -1
	}
	if colon = stringEnd(b, i); colon < 0 || colon >= len(b) || b[colon] != ':' {
		return -1, -1
	}
	return colon, ValueEnd(b, colon+1)
}

// ValueEnd returns the index after the value that starts at i, or -1 if there is no complete value. It expects no white
// space before the value.
func ValueEnd(b []byte, i int) int {
	if i >= len(b) || b[i] <= ' ' {
		return -1
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		return nestedEnd(b, i)
	}
	n := bytes.IndexAny(b[i:], ",}]")
	switch {
	case n < 0:
		return len(b)
	case n == 0:
		return -1
	}
	return i + n
}

// stringEnd returns the index after the string that starts at i, or -1 if it does not end.
func stringEnd(b []byte, i int) int {
	for i++; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		start := i
		i += n
		// The quote ends the string unless an odd number of backslashes escapes it.
		slashes := 0
		for k := i - 1; k >= start && b[k] == '\\'; k-- {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
}

// nestedEnd returns the index after the object or array that starts at i, or -1 if it does not end.
func nestedEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = stringEnd(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}
