package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Fault is what is wrong with a text that should be the JSON of one row.
type Fault struct {
	Off    int    // offset in the bytes that were checked
	Reason string // without the offset
	// Syntax is set when the text is not JSON. Other faults leave no doubt about
	// where the row ends, so an array can go on after them.
	Syntax bool
}

// ReasonAt returns the reason with the offset of the fault.
func (f *Fault) ReasonAt() string { return fmt.Sprintf("byte %d: %s", f.Off, f.Reason) }

// CheckJSON returns the first reason why b is not one JSON object with white space at
// most around it, in valid UTF-8, at most maxDepth deep; nil when it is. What it accepts needs no further
// check. The cursor decides, several times as fast as
// encoding/json, which then finds where and why a text is no JSON. sonic is no judge: it
// accepts control characters and unknown escapes in strings.
func CheckJSON(b []byte, maxDepth int) *Fault {
	if !utf8.Valid(b) {
		return CheckText(b)
	}
	c := cursor{s: stringOf(b), most: max(maxDepth, 1)}
	c.peek()
	start := c.i
	ok := c.value()
	c.peek()
	switch {
	case c.isTooDeep():
		return &Fault{Off: c.i, Reason: fmt.Sprintf("nested deeper than %d levels", maxDepth)}
	case !ok || c.i < len(b):
		return syntaxFault(b)
	case b[start] != '{':
		return &Fault{Off: start, Reason: "want an object, found " + typeName(b[start])}
	case c.zero > 0:
		return &Fault{Off: c.zero - 1, Reason: NoZero}
	}
	return nil
}

// syntaxFault returns why b is no JSON.
func syntaxFault(b []byte) *Fault {
	f := &Fault{Off: len(b), Reason: "is not JSON", Syntax: true}
	var raw json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(b, &raw); errors.As(err, &syntax) {
		f.Off, f.Reason = int(syntax.Offset), syntax.Error()
		if f.Reason != "unexpected end of JSON input" {
			f.Off-- // the library counts the character at fault
		}
		if _, rest, ok := strings.Cut(f.Reason, "' "); ok && f.Off < len(b) && b[f.Off] >= utf8.RuneSelf {
			f.Reason = "invalid character " + ShowByte(b[f.Off:]) + " " + rest // and shows its first byte
		}
	}
	return f
}

// NoZero is the reason why text with U+0000 is refused: a crash or a broken copy leaves
// blocks of zero bytes in files, and no text of the API has one.
const NoZero = "found U+0000, which no text has"

// CheckText returns the first byte of b that is not valid UTF-8, or else the first zero byte, as a
// Fault; nil when there is neither.
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

// ShowByte quotes the first character of b for a message.
func ShowByte(b []byte) string {
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n <= 1 {
		return fmt.Sprintf("byte 0x%02x", b[0])
	}
	return fmt.Sprintf("%q", r)
}
