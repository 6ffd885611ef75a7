package jsonrow

import "github.com/reelsplice/reelsplice/schemas/record"

// A walker walks over one JSON document in memory. Its methods pass what they are named
// after, and report false at a fault, behind which nothing else is read.
type walker struct {
	b      []byte
	i      int
	levels int // that may still be opened; -1 where there was one too many
	zero   int // offset of the first \u0000, -1 for none
}

func (w *walker) blanks() {
	for w.i < len(w.b) && IsBlank(w.b[w.i]) {
		w.i++
	}
}

// IsBlank reports whether c is white space between the values of JSON.
func IsBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// next returns the byte behind blanks, 0 at the end.
func (w *walker) next() byte {
	w.blanks()
	return w.at()
}

func (w *walker) at() byte {
	if w.i < len(w.b) {
		return w.b[w.i]
	}
	return 0
}

// pass passes c, if it is there.
func (w *walker) pass(c byte) bool {
	if w.at() != c || w.i >= len(w.b) {
		return false
	}
	w.i++
	return true
}

func (w *walker) value() bool {
	switch w.next() {
	case '{':
		return w.contents('}', true)
	case '[':
		return w.contents(']', false)
	case '"':
		return w.str()
	case 't':
		return w.literal("true")
	case 'f':
		return w.literal("false")
	case 'n':
		return w.literal("null")
	}
	return w.number()
}

// contents passes the values of an array or, with keys, of an object, up to its end.
func (w *walker) contents(end byte, keys bool) bool {
	if w.levels--; w.levels < 0 {
		return false
	}
	w.i++
	if w.next() == end {
		w.i++
		w.levels++
		return true
	}
	for {
		if keys && (w.next() != '"' || !w.str() || w.next() != ':' || !w.pass(':')) {
			return false
		}
		if !w.value() {
			return false
		}
		switch w.next() {
		case ',':
			w.i++
		case end:
			w.i++
			w.levels++
			return true
		default:
			return false
		}
	}
}

func (w *walker) literal(word string) bool {
	for k := range len(word) {
		if !w.pass(word[k]) {
			return false
		}
	}
	return true
}

func (w *walker) digits() bool {
	start := w.i
	for w.i < len(w.b) && w.b[w.i]-'0' <= 9 {
		w.i++
	}
	return w.i > start
}

func (w *walker) number() bool {
	w.pass('-')
	if !w.pass('0') && !w.digits() {
		return false
	}
	if w.pass('.') && !w.digits() {
		return false
	}
	if w.at()|0x20 == 'e' {
		w.i++
		if !w.pass('+') {
			w.pass('-')
		}
		return w.digits()
	}
	return true
}

// str passes a string whose opening quote is at hand.
func (w *walker) str() bool {
	for w.i++; ; {
		w.i = record.PlainEnd(w.b, w.i)
		switch w.at() {
		case '"':
			w.i++
			return true
		case '\\':
			if !w.escape() {
				return false
			}
		default: // a control character, or the end
			return false
		}
	}
}

func (w *walker) escape() bool {
	start := w.i
	w.i++
	switch w.at() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		w.i++
		return true
	case 'u':
		w.i++
	default:
		return false
	}
	for range 4 {
		if c := w.at(); c-'0' > 9 && c|0x20-'a' > 5 {
			return false
		}
		w.i++
	}
	if w.zero < 0 && string(w.b[w.i-4:w.i]) == "0000" {
		w.zero = start
	}
	return true
}
