package record

import "bytes"

// A Mended counts what MendJSON changed.
type Mended struct{ Controls, Escapes, Numbers int64 }

// Count adds the changes to counts of coerced values.
func (m Mended) Count(add func(path string, n int64)) {
	for _, c := range []struct {
		path string
		n    int64
	}{{"(control characters dropped)", m.Controls}, {"(unknown escapes kept as text)", m.Escapes}, {"(NaN and Infinity read as null)", m.Numbers}} {
		if c.n > 0 {
			add(c.path, c.n)
		}
	}
}

// noNumbers are what Python writes for numbers that JSON does not have.
var noNumbers = [][]byte{[]byte("NaN"), []byte("Infinity"), []byte("-Infinity")}

// MendJSON appends text that is nearly JSON as JSON: control characters in strings are dropped, but for U+0000, a backslash
// that begins no escape is one of the text, and NaN, Infinity and -Infinity are null. It judges nothing else.
func MendJSON(dst, text []byte) ([]byte, Mended) {
	var m Mended
	in := false // a string
	for i := 0; i < len(text); {
		c := text[i]
		n := 1 // bytes that are passed, and kept
		switch {
		case c == '"':
			in = !in
		case in && c == '\\':
			if n = escapeLen(text[i:]); n == 0 {
				m.Escapes++
				dst, n = append(dst, '\\'), 1
			}
		case in && c > 0 && c < ' ':
			m.Controls++
			i++
			continue
		case !in && (c == 'N' || c == 'I' || c == '-'):
			for _, word := range noNumbers {
				if bytes.HasPrefix(text[i:], word) {
					m.Numbers++
					dst = append(dst, "null"...)
					i += len(word)
					n = 0
					break
				}
			}
		}
		dst = append(dst, text[i:i+n]...)
		i += n
	}
	return dst, m
}

// escapeLen returns the length of the escape that text begins with, 0 for none.
func escapeLen(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(text) >= 6 && isHex(text[2:6]) {
			return 6
		}
	}
	return 0
}

func isHex(digits []byte) bool {
	for _, c := range digits {
		if c-'0' > 9 && c|0x20-'a' > 5 {
			return false
		}
	}
	return true
}
