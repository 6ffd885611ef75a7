// Package jsonrow judges and writes the JSON of rows. The judgement has an offset, so
// that messages can point at the fault; what it accepts needs no further check.
package jsonrow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Fault is what is wrong with the bytes of one row.
type Fault struct {
	Off    int    // offset in the bytes that were checked
	Reason string // without the offset
	// Syntax is set when the text is not JSON. Other faults leave no doubt about
	// where the row ends, so an array can go on behind them.
	Syntax bool
}

// ReasonAt returns the reason with the offset of the fault.
func (f *Fault) ReasonAt() string { return fmt.Sprintf("byte %d: %s", f.Off, f.Reason) }

// Check returns the first reason why b is not one JSON object with white space at
// most around it, in valid UTF-8, at most maxDepth deep; nil when it is. It is the
// only judge of rows. A walk of our own decides, about three times as fast as
// encoding/json, which then finds where and why a text is no JSON. sonic is no judge: it
// accepts control characters and unknown escapes in strings.
func Check(b []byte, maxDepth int) *Fault {
	if !utf8.Valid(b) {
		return TextFault(b)
	}
	w := walker{b: b, levels: maxDepth, zero: -1}
	w.blanks()
	start := w.i
	ok := w.value()
	w.blanks()
	switch {
	case w.levels < 0:
		return &Fault{Off: w.i, Reason: fmt.Sprintf("nested deeper than %d levels", maxDepth)}
	case !ok || w.i < len(b):
		return syntaxFault(b)
	case b[start] != '{':
		return &Fault{Off: start, Reason: "want an object, found " + typeName(b[start])}
	case w.zero >= 0:
		return &Fault{Off: w.zero, Reason: NoZero}
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

// AppendString appends b as a JSON string. Bytes that are not valid UTF-8 are kept,
// so that a bad row shows what was found.
func AppendString(dst, b []byte) (out []byte, bad string) {
	if f := TextFault(b); f != nil {
		bad = f.ReasonAt()
	}
	return record.AppendText(dst, b), bad
}

// NoZero is the reason why text with U+0000 is refused: a crash or a broken copy leaves
// blocks of zero bytes in files, and no text of the API has one.
const NoZero = "found U+0000, which no text has"

// TextFault returns the first byte of b that is not valid UTF-8, or else the first zero byte, as a
// Fault; nil when there is neither.
func TextFault(b []byte) *Fault {
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
