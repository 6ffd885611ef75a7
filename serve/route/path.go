package route

import "bytes"

// dirtyText reports whether a text may be something else once it is cleaned.
func dirtyText(text []byte) bool {
	return len(text) > 0 && (text[0] == '.' || bytes.ContainsAny(text, "/%\x00"))
}

// dirty reports whether cleaning could change, or refuse, a path.
func dirty(path []byte) bool {
	for i, ch := range path {
		switch ch {
		case '%', 0:
			return true
		case '/':
			if i+1 < len(path) && (path[i+1] == '/' || path[i+1] == '.') {
				return true
			}
		}
	}
	return false
}

// cleanPath appends to dst the path decoded and without dot segments, repeated
// slashes and the slashes at both ends. It refuses NUL and broken escapes.
func cleanPath(dst, path []byte) ([]byte, bool) {
	from := len(dst)
	for i := 0; i < len(path); i++ {
		ch := path[i]
		if ch == '%' {
			var ok bool
			if ch, ok = unhex(path[i+1:]); !ok {
				return nil, false
			}
			i += 2
		}
		if ch == 0 {
			return nil, false
		}
		dst = append(dst, ch)
	}
	return dst[:from+resolveDots(dst[from:])], true
}

// resolveDots rewrites p in place and returns its new length. Each segment is
// written at or before the place it is read from.
func resolveDots(p []byte) int {
	n := 0
	for seg := range bytes.SplitSeq(p, []byte{'/'}) {
		switch {
		case len(seg) == 0 || string(seg) == ".":
		case string(seg) == "..":
			n = max(bytes.LastIndexByte(p[:n], '/'), 0)
		default:
			if n > 0 {
				p[n] = '/'
				n++
			}
			n += copy(p[n:], seg)
		}
	}
	return n
}

// unhex returns the byte that two hex digits at the start of b stand for.
func unhex(b []byte) (byte, bool) {
	if len(b) < 2 {
		return 0, false
	}
	hi, lo := hexDigit(b[0]), hexDigit(b[1])
	return hi<<4 | lo, hi < 16 && lo < 16
}

// hexDigit returns the value of a hex digit, 255 for other bytes.
func hexDigit(ch byte) byte {
	switch {
	case '0' <= ch && ch <= '9':
		return ch - '0'
	case 'a' <= ch && ch <= 'f':
		return ch - 'a' + 10
	case 'A' <= ch && ch <= 'F':
		return ch - 'A' + 10
	}
	return 255
}
