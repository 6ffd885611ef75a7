package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Fault describes why a text is not the JSON of one row.
type Fault struct {
	Off    int    // offset in the checked bytes
	Reason string // without the offset
	// Syntax is set if the text is not JSON. After other faults the end of the row is known, so an array can
	// continue.
	Syntax bool
	// Mendable is set if MendJSON can repair the fault.
	Mendable bool
}

// ReasonAt returns the reason with the offset of the fault.
func (f *Fault) ReasonAt() string { return fmt.Sprintf("byte %d: %s", f.Off, f.Reason) }

// CheckJSON returns the first reason why b is not one JSON object, optionally with white space around it, in valid
// UTF-8 and nested at most maxDepth deep; nil if it is valid. Valid text needs no further check. The cursor decides,
// several times as fast as encoding/json, which then locates the fault. sonic is unsuitable: it accepts control
// characters and unknown escapes in strings.
func CheckJSON(b []byte, maxDepth int) *Fault {
	if !utf8.Valid(b) {
		return CheckText(b)
	}
	c := cursor{s: stringOf(b), limit: max(maxDepth, 1)}
	c.peek()
	start := c.i
	ok := c.value()
	c.peek()
	switch {
	case c.depth > cmp.Or(c.limit, maxDepth):
		return &Fault{Off: c.i, Reason: fmt.Sprintf("nested deeper than %d levels", maxDepth)}
	case !ok || c.i < len(b):
		return syntaxFault(b)
	case b[start] != '{':
		return &Fault{Off: start, Reason: "want an object, found " + typeName(b[start])}
	case c.zero > 0:
		return &Fault{Off: c.zero - 1, Reason: NoZero, Mendable: true}
	}
	return nil
}

// syntaxFault returns why b is not JSON.
func syntaxFault(b []byte) *Fault {
	f := &Fault{Off: len(b), Reason: "is not JSON", Syntax: true}
	var raw json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(b, &raw); errors.As(err, &syntax) {
		f.Off, f.Reason = int(syntax.Offset), syntax.Error()
		if f.Reason != "unexpected end of JSON input" {
			f.Off-- // the library includes the invalid character
		}
		if _, rest, ok := strings.Cut(f.Reason, "' "); ok && f.Off < len(b) && b[f.Off] >= utf8.RuneSelf {
			f.Reason = "invalid character " + ShowByte(b[f.Off:]) + " " + rest // the library shows only its first byte
		}
	}
	return f
}

// NoZero is the reason for rejecting text with U+0000: a crash or a broken copy leaves blocks of zero bytes in files,
// and the API never has them in a text.
const NoZero = "found U+0000, which no text has"

// CheckText returns the first invalid UTF-8 byte of b, or else the first zero byte, as a Fault; nil if there is
// neither.
func CheckText(b []byte) *Fault {
	if !utf8.Valid(b) {
		off := 0
		for r, n := utf8.DecodeRune(b); r != utf8.RuneError || n != 1; r, n = utf8.DecodeRune(b[off:]) {
			off += n
		}
		return &Fault{Off: off, Reason: "invalid UTF-8"}
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return &Fault{Off: i, Reason: NoZero}
	}
	return nil
}

// typeName returns the JSON type of a value by its first byte.
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

// ShowByte quotes the first character of b for a message.
func ShowByte(b []byte) string {
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n <= 1 {
		return fmt.Sprintf("byte 0x%02x", b[0])
	}
	return fmt.Sprintf("%q", r)
}

// A Mended counts the changes made by MendJSON.
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

// nonNumbers are Python's notations for numbers that JSON lacks.
var nonNumbers = [][]byte{[]byte("NaN"), []byte("Infinity"), []byte("-Infinity")}

// MendJSON appends text that is nearly JSON as JSON. In strings it drops control characters except zero bytes, and
// the escape \u0000. A backslash that starts no escape becomes text; NaN, Infinity and -Infinity become null. It
// checks nothing else.
func MendJSON(dst, text []byte) ([]byte, Mended) {
	var m Mended
	inString := false
	for i := 0; i < len(text); {
		c := text[i]
		n := 1 // bytes to copy
		switch {
		case c == '"':
			inString = !inString
		case inString && c == '\\':
			if n = escapeLen(text[i:]); n == 0 {
				m.Escapes++
				dst, n = append(dst, '\\'), 1
			} else if string(text[i:i+n]) == `\u0000` {
				m.Controls++
				i += n
				continue
			}
		case inString && c > 0 && c < ' ':
			m.Controls++
			i++
			continue
		case !inString && (c == 'N' || c == 'I' || c == '-'):
			for _, word := range nonNumbers {
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

// escapeLen returns the length of the escape at the start of text, 0 for none.
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
