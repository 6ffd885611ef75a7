package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/bytedance/sonic"
)

// A cursor iterates over the text of one JSON value. Only skip validates the text; the other methods expect valid
// JSON and read as little as possible. On invalid text they return an error and never read past its end.
type cursor struct {
	s     string
	i     int // offset of the next byte
	depth int // open arrays and objects in value
	limit int // limit of depth; 0 means maxDepth
	zero  int // offset after the first \u0000 in value, 0 for none
	blank int // offset after the last white space between tokens, 0 for none
}

// maxDepth is the default limit of nesting, as in encoding/json.
const maxDepth = 10_000

var errSyntax = errors.New("is not JSON")

func (c *cursor) broken() error {
	return fmt.Errorf("parse JSON: byte %d: %w", min(c.i, len(c.s)), errSyntax)
}

// peek skips white space and returns the next byte, 0 at the end.
func (c *cursor) peek() byte {
	for c.i < len(c.s) {
		switch b := c.s[c.i]; b {
		case ' ', '\t', '\n', '\r':
			c.i++
			c.blank = c.i
		default:
			return b
		}
	}
	return 0
}

// member moves to the next field of an object and returns its name; false after the closing brace. On the first call
// the cursor is at the opening brace.
func (c *cursor) member(first bool) (name string, ok bool, err error) {
	if ok, err = c.item(first, '{', '}'); !ok {
		return "", false, err
	}
	if c.peek() != '"' {
		return "", false, c.broken()
	}
	if name, err = c.text(); err != nil {
		return "", false, err
	}
	if c.peek() != ':' {
		return "", false, c.broken()
	}
	c.i++
	return name, true, nil
}

// item moves to the next element of an array or field of an object; false after the closing bracket.
func (c *cursor) item(first bool, opening, closing byte) (ok bool, err error) {
	b := c.peek()
	switch {
	case first && b == opening:
		c.i++
		if c.peek() == closing {
			c.i++
			return false, nil
		}
		return true, nil
	case !first && b == closing:
		c.i++
		return false, nil
	case !first && b == ',':
		c.i++
		return true, nil
	}
	return false, c.broken()
}

// text reads a string; the cursor is at its opening quote. The result is a slice of the JSON text if that has no
// escapes.
func (c *cursor) text() (string, error) {
	rest := c.s[c.i+1:]
	end := strings.IndexByte(rest, '"')
	if end < 0 {
		return "", c.broken()
	}
	if strings.IndexByte(rest[:end], '\\') < 0 { // Fast path: nearly all strings.
		c.i += end + 2
		return rest[:end], nil
	}
	start := c.i
	if !c.skipString() {
		return "", c.broken()
	}
	var out string
	if err := sonic.UnmarshalString(c.s[start:c.i], &out); err != nil {
		return "", c.broken()
	}
	return out, nil
}

// scalar consumes a number or a literal and returns its text.
func (c *cursor) scalar() string {
	start := c.i
	for c.i < len(c.s) {
		switch c.s[c.i] {
		case ',', '}', ']', ' ', '\t', '\n', '\r', ':', '"', '{', '[':
			return c.s[start:c.i]
		}
		c.i++
	}
	return c.s[start:]
}

// skip consumes any value and returns its unchanged text.
func (c *cursor) skip() (string, error) {
	c.peek()
	start := c.i
	if !c.value() {
		return "", c.broken()
	}
	return c.s[start:c.i], nil
}

// value consumes any value. It stops at the first fault and returns false.
func (c *cursor) value() bool {
	switch c.peek() {
	case '{':
		return c.contents('{', '}')
	case '[':
		return c.contents('[', ']')
	case '"':
		return c.skipString()
	case 't':
		return c.literal("true")
	case 'f':
		return c.literal("false")
	case 'n':
		return c.literal("null")
	}
	// A number.
	c.consume('-')
	if !c.consume('0') && !c.digits() {
		return false
	}
	if c.consume('.') && !c.digits() {
		return false
	}
	if c.consume('e') || c.consume('E') {
		if !c.consume('+') {
			c.consume('-')
		}
		return c.digits()
	}
	return true
}

// contents consumes an array or an object, including its brackets.
func (c *cursor) contents(opening, closing byte) bool {
	if c.depth++; c.depth > cmp.Or(c.limit, maxDepth) {
		return false
	}
	for first := true; ; first = false {
		more, err := c.item(first, opening, closing)
		if !more {
			c.depth--
			return err == nil
		}
		if closing == '}' {
			if c.peek() != '"' || !c.skipString() || c.peek() != ':' {
				return false
			}
			c.i++
		}
		if !c.value() {
			return false
		}
	}
}

// consume consumes b if it is next.
func (c *cursor) consume(b byte) bool {
	if c.i >= len(c.s) || c.s[c.i] != b {
		return false
	}
	c.i++
	return true
}

func (c *cursor) literal(word string) bool {
	ok := strings.HasPrefix(c.s[c.i:], word)
	c.i += len(word)
	return ok
}

func (c *cursor) digits() bool {
	start := c.i
	for c.i < len(c.s) && c.s[c.i]-'0' <= 9 {
		c.i++
	}
	return c.i > start
}

// skipString consumes a string; the cursor is at its opening quote.
func (c *cursor) skipString() bool {
	for c.i++; ; {
		c.i = PlainEnd(bytesOf(c.s), c.i)
		switch {
		case c.consume('"'):
			return true
		case c.i >= len(c.s) || c.s[c.i] != '\\': // the end, or a control character
			return false
		}
		n := escapeLen(bytesOf(c.s[c.i:]))
		if n == 0 {
			return false
		}
		if c.zero == 0 && n == 6 && c.s[c.i+2:c.i+6] == "0000" {
			c.zero = c.i + 1
		}
		c.i += n
	}
}

// compact consumes any value and returns its text without white space.
func (c *cursor) compact() (string, error) {
	raw, err := c.skip()
	if err != nil || c.blank <= c.i-len(raw) {
		return raw, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(raw)); err != nil {
		return "", c.broken()
	}
	return b.String(), nil
}

// A RawField is a field of a JSON object. Its value is an unmodified slice of the text.
type RawField struct{ Name, Raw string }

// RawFields are the fields of an object, in their order.
type RawFields []RawField

// Fields returns the fields of a JSON object, whose text must be valid.
func Fields(text string) (RawFields, error) {
	var all RawFields
	err := EachField(text, func(name, raw string) error {
		all = append(all, RawField{name, raw})
		return nil
	})
	return all, err
}

// Take removes a field and returns its value, which may be null. Of several with that name it returns the last, as
// parsers do.
func (f *RawFields) Take(name string) (raw string, ok bool) {
	rest := (*f)[:0]
	for _, field := range *f {
		if field.Name == name {
			raw, ok = field.Raw, true
			continue
		}
		rest = append(rest, field)
	}
	*f = rest
	return raw, ok
}

// TakeValue is Take with "" for null.
func (f *RawFields) TakeValue(name string) string {
	raw, _ := f.Take(name)
	if raw == "null" {
		return ""
	}
	return raw
}

// Value returns the value of the first field of that name, or "".
func (f RawFields) Value(name string) string {
	for _, field := range f {
		if field.Name == name {
			return field.Raw
		}
	}
	return ""
}

// Has reports whether a field of that name exists.
func (f RawFields) Has(name string) bool {
	return slices.ContainsFunc(f, func(field RawField) bool { return field.Name == name })
}

// Object returns the fields as an object.
func (f RawFields) Object() string {
	out := []byte{'{'}
	for _, field := range f {
		out = AppendField(out, field.Name, field.Raw)
	}
	return string(append(out, '}'))
}

// List returns elements, JSON texts, as an array.
func List(elements []string) string { return "[" + strings.Join(elements, ",") + "]" }

// Extra returns the fields in the form of Object.Extra, without braces.
func (f RawFields) Extra() string {
	text := f.Object()
	return text[1 : len(text)-1]
}

// AppendField appends a field to an unfinished object, or nothing if raw is empty.
func AppendField(dst []byte, name, raw string) []byte {
	if raw == "" {
		return dst
	}
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(AppendString(dst, name), ':'), raw...)
}

// EachField calls fn with the fields of a JSON object in order, until fn returns an error. raw is the value's
// unmodified text. The text must be valid.
func EachField(text string, fn func(name, raw string) error) error {
	c := cursor{s: text}
	if c.peek() != '{' {
		return errors.New("want an object, found " + Shown(text))
	}
	for first := true; ; first = false {
		name, ok, err := c.member(first)
		if !ok {
			return err
		}
		c.peek()
		raw, err := c.skip()
		if err != nil {
			return err
		}
		if err := fn(name, raw); err != nil {
			return err
		}
	}
}

// EachElement calls fn with the elements of a JSON array, like EachField.
func EachElement(text string, fn func(i int, raw string) error) error {
	c := cursor{s: text}
	if c.peek() != '[' {
		return errors.New("want a list, found " + Shown(text))
	}
	for i := 0; ; i++ {
		if ok, err := c.item(i == 0, '[', ']'); !ok {
			return err
		}
		c.peek()
		raw, err := c.skip()
		if err != nil {
			return err
		}
		if err := fn(i, raw); err != nil {
			return err
		}
	}
}

// Unquote returns the text of a JSON string, or "" for other values.
func Unquote(raw string) string {
	if !strings.HasPrefix(raw, `"`) {
		return ""
	}
	c := cursor{s: raw}
	text, _ := c.text() // "" for an unfinished string
	return text
}

// Shown returns the start of a value for a message, on field line. Control characters become spaces.
func Shown(raw string) string {
	const maxShown = 60
	text, end := strings.TrimSpace(raw), ""
	if len(text) > maxShown {
		text, end = strings.ToValidUTF8(text[:maxShown], ""), "..."
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text) + end
}
