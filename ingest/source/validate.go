package source

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// A fault is what is wrong with the bytes of one row.
type fault struct {
	off    int    // offset in the bytes that were checked
	reason string // without the offset
	// syntax is set when the text is not JSON. Other faults leave no doubt about
	// where the row ends, so an array can go on behind them.
	syntax bool
}

func (f *fault) reasonAt(base int) string {
	return fmt.Sprintf("byte %d: %s", f.off+base, f.reason)
}

// checkRow returns the first reason why b is not one JSON object with white space at
// most around it, in valid UTF-8, at most maxDepth deep; nil when it is. It is the
// only judge of rows. Against encoding/json.Valid it adds the offset, the depth and
// the encoding, and is about three times as fast.
func checkRow(b []byte, maxDepth int) *fault {
	if !utf8.Valid(b) {
		return &fault{off: invalidUTF8(b), reason: "invalid UTF-8"}
	}
	v := validator{b: b, maxDepth: maxDepth, zero: -1}
	v.blanks()
	start := v.i
	if f := v.document(); f != nil {
		return f
	}
	if b[start] != '{' {
		return &fault{off: start, reason: "want an object, found " + typeName(b[start])}
	}
	if v.zero >= 0 {
		return &fault{off: v.zero, reason: noZero}
	}
	return nil
}

// invalidUTF8 returns the offset of the first byte that is not valid UTF-8.
func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// noZero is the reason why text with U+0000 is refused: a crash or a broken copy leaves
// blocks of zero bytes in files, and no text of the API has one.
const noZero = "found U+0000, which no text has"

// zeroByte returns the fault of the first zero byte in b, nil when there is none.
func zeroByte(b []byte) *fault {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return &fault{off: i, reason: noZero}
	}
	return nil
}

// typeName names the JSON type of a value by its first byte.
func typeName(c byte) string {
	switch c {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// A nesting remembers which brackets are open, one bit a level: 1 for an object.
type nesting struct {
	depth int
	kinds [DefaultMaxDepth / 64]uint64
}

// push opens a level. Levels beyond DefaultMaxDepth are counted but not remembered.
func (n *nesting) push(object bool) {
	if n.depth < DefaultMaxDepth {
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
	return d >= 0 && d < DefaultMaxDepth && n.kinds[d/64]>>(d%64)&1 == 1
}

// A validator walks over one JSON document in memory.
type validator struct {
	b        []byte
	i        int
	open     nesting
	maxDepth int
	zero     int // offset of the first \u0000, -1 for none
}

func (v *validator) blanks() {
	for v.i < len(v.b) && isBlank(v.b[v.i]) {
		v.i++
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// want returns the fault of not finding what at the current offset.
func (v *validator) want(what string) *fault {
	if v.i >= len(v.b) {
		return &fault{off: v.i, reason: "unexpected end, want " + what, syntax: true}
	}
	return &fault{off: v.i, reason: "found " + showByte(v.b[v.i:]) + ", want " + what, syntax: true}
}

// showByte quotes the first character of b for a message.
func showByte(b []byte) string {
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n <= 1 {
		return fmt.Sprintf("byte 0x%02x", b[0])
	}
	return fmt.Sprintf("%q", r)
}

// document checks one value and that only white space follows it.
func (v *validator) document() *fault {
	for {
		f := v.value()
		if f != nil {
			return f
		}
		more, f := v.after()
		if f != nil {
			return f
		}
		if !more {
			break
		}
	}
	if v.i < len(v.b) {
		return v.want("the end of the row")
	}
	return nil
}

// value checks a scalar, or opens objects and arrays until it has passed the first
// scalar or empty object or array inside.
func (v *validator) value() *fault {
	for {
		v.blanks()
		if v.i >= len(v.b) {
			return v.want("a value")
		}
		switch v.b[v.i] {
		case '{', '[':
			closed, f := v.opened()
			if f != nil || closed {
				return f
			}
		case '"':
			return v.str()
		case 't':
			return v.literal("true")
		case 'f':
			return v.literal("false")
		case 'n':
			return v.literal("null")
		default:
			return v.number()
		}
	}
}

// opened passes an opening bracket, and the first key of an object. It reports
// whether the bracket was closed at once.
func (v *validator) opened() (closed bool, f *fault) {
	object := v.b[v.i] == '{'
	if v.open.depth == v.maxDepth {
		return false, &fault{off: v.i, reason: fmt.Sprintf("nested deeper than %d levels", v.maxDepth)}
	}
	v.open.push(object)
	v.i++
	v.blanks()
	end := byte(']')
	if object {
		end = '}'
	}
	if v.i < len(v.b) && v.b[v.i] == end {
		v.i++
		v.open.depth--
		return true, nil
	}
	if object {
		return false, v.key("a key or '}'")
	}
	return false, nil
}

// after passes what may follow a value: closing brackets, then a comma. It reports
// whether another value must follow.
func (v *validator) after() (more bool, f *fault) {
	for {
		v.blanks()
		if v.open.depth == 0 {
			return false, nil
		}
		object := v.open.object()
		end, what := byte(']'), "',' or ']'"
		if object {
			end, what = '}', "',' or '}'"
		}
		switch {
		case v.i < len(v.b) && v.b[v.i] == end:
			v.i++
			v.open.depth--
		case v.i < len(v.b) && v.b[v.i] == ',':
			v.i++
			if !object {
				return true, nil
			}
			v.blanks()
			return true, v.key("a key")
		default:
			return false, v.want(what)
		}
	}
}

// key passes a key and its colon.
func (v *validator) key(what string) *fault {
	if v.i >= len(v.b) || v.b[v.i] != '"' {
		return v.want(what)
	}
	if f := v.str(); f != nil {
		return f
	}
	v.blanks()
	if v.i >= len(v.b) || v.b[v.i] != ':' {
		return v.want("':'")
	}
	v.i++
	return nil
}

func (v *validator) literal(word string) *fault {
	for k := range len(word) {
		if v.i >= len(v.b) || v.b[v.i] != word[k] {
			return v.want("the literal " + word)
		}
		v.i++
	}
	return nil
}

func (v *validator) digits() bool {
	start := v.i
	for v.i < len(v.b) && v.b[v.i]-'0' <= 9 {
		v.i++
	}
	return v.i > start
}

func (v *validator) number() *fault {
	start := v.i
	if v.b[v.i] == '-' {
		v.i++
	}
	switch {
	case v.i < len(v.b) && v.b[v.i] == '0':
		v.i++
	case !v.digits():
		if v.i == start {
			return v.want("a value")
		}
		return v.want("a digit")
	}
	if v.i < len(v.b) && v.b[v.i] == '.' {
		v.i++
		if !v.digits() {
			return v.want("a digit")
		}
	}
	if v.i < len(v.b) && v.b[v.i]|0x20 == 'e' {
		v.i++
		if v.i < len(v.b) && (v.b[v.i] == '+' || v.b[v.i] == '-') {
			v.i++
		}
		if !v.digits() {
			return v.want("a digit")
		}
	}
	return nil
}

// str passes a string whose opening quote is at the current offset.
func (v *validator) str() *fault {
	v.i++
	for {
		v.i = stringSpan(v.b, v.i)
		if v.i >= len(v.b) {
			return v.want("the end of the string")
		}
		switch v.b[v.i] {
		case '"':
			v.i++
			return nil
		case '\\':
			v.i++
			if f := v.escape(); f != nil {
				return f
			}
		default:
			return &fault{off: v.i, reason: fmt.Sprintf("found control character 0x%02x in a string, want it escaped", v.b[v.i]), syntax: true}
		}
	}
}

func (v *validator) escape() *fault {
	if v.i >= len(v.b) {
		return v.want("an escaped character")
	}
	switch v.b[v.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		v.i++
		return nil
	case 'u':
		v.i++
	default:
		return v.want("one of \"\\/bfnrtu after a backslash")
	}
	for range 4 {
		if v.i >= len(v.b) || !isHex(v.b[v.i]) {
			return v.want("four hex digits after \\u")
		}
		v.i++
	}
	if v.zero < 0 && string(v.b[v.i-4:v.i]) == "0000" {
		v.zero = v.i - len(`\u0000`)
	}
	return nil
}

func isHex(c byte) bool { return c-'0' <= 9 || c|0x20-'a' <= 5 }

// stringSpan returns the offset, from i on, of the first byte that is not plain text
// of a string: a quote, a backslash or a control character; len(b) when there is none.
func stringSpan(b []byte, i int) int {
	const lo, hi = 0x0101010101010101, 0x8080808080808080
	// Fast path: eight bytes at a time. Each term has the high bit of a byte set
	// where the byte is the one looked for; only bits above the first hit may be
	// wrong (borrows move upward), and only the first hit is used.
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^(lo*'"'), x^(lo*'\\')
		hit := ((x-lo*0x20)&^x | (quote-lo)&^quote | (slash-lo)&^slash) & hi
		if hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < 0x20 || c == '"' || c == '\\' {
			return i
		}
	}
	return len(b)
}
