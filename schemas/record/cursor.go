package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bytedance/sonic"
)

// A cursor walks over the text of one JSON value. Its methods trust that somebody has judged the text before and
// look at no more of it than they need, but for skip: that is the judge. On text that is no JSON they end with an
// error rather than beyond the end.
type cursor struct {
	s     string
	i     int // offset of the next byte
	depth int // arrays and objects that value has opened
	most  int // of them; 0 is maxDepth
	zero  int // offset behind the first \u0000 that value passed, 0 for none
}

// maxDepth is how deep JSON may be nested where no limit says less, as in encoding/json.
const maxDepth = 10_000

var errSyntax = errors.New("is no JSON")

func (c *cursor) broken() error {
	return fmt.Errorf("parse JSON: byte %d: %w", min(c.i, len(c.s)), errSyntax)
}

// peek passes blanks and returns the byte behind them, 0 at the end.
func (c *cursor) peek() byte {
	for c.i < len(c.s) {
		switch b := c.s[c.i]; b {
		case ' ', '\t', '\n', '\r':
			c.i++
		default:
			return b
		}
	}
	return 0
}

// member moves to the next field of an object, whose opening brace is at hand
// the first time, and returns its name; false behind the closing brace.
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

// element moves to the next element of an array; false behind the closing bracket.
func (c *cursor) element(first bool) (ok bool, err error) { return c.item(first, '[', ']') }

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

// text reads a string, whose opening quote is at hand. It is a part of the JSON text
// where that has no escapes.
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
	if !c.str() {
		return "", c.broken()
	}
	var out string
	if err := sonic.UnmarshalString(c.s[start:c.i], &out); err != nil {
		return "", c.broken()
	}
	return out, nil
}

// scalar passes a number or a literal and returns its text.
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

// skip passes any value and returns its text as it stands.
func (c *cursor) skip() (string, error) {
	c.peek()
	start := c.i
	if !c.value() {
		return "", c.broken()
	}
	return c.s[start:c.i], nil
}

// value passes any value, and reports false at a fault, after which nothing else is read.
func (c *cursor) value() bool {
	switch c.peek() {
	case '{':
		return c.contents('{', '}')
	case '[':
		return c.contents('[', ']')
	case '"':
		return c.str()
	case 't':
		return c.literal("true")
	case 'f':
		return c.literal("false")
	case 'n':
		return c.literal("null")
	}
	// A number.
	c.pass('-')
	if !c.pass('0') && !c.digits() {
		return false
	}
	if c.pass('.') && !c.digits() {
		return false
	}
	if c.pass('e') || c.pass('E') {
		if !c.pass('+') {
			c.pass('-')
		}
		return c.digits()
	}
	return true
}

// contents passes the values of an array or an object, with the brackets around them.
func (c *cursor) contents(opening, closing byte) bool {
	if c.depth++; c.isTooDeep() {
		return false
	}
	for first := true; ; first = false {
		more, err := c.item(first, opening, closing)
		if !more {
			c.depth--
			return err == nil
		}
		if closing == '}' {
			if c.peek() != '"' || !c.str() || c.peek() != ':' {
				return false
			}
			c.i++
		}
		if !c.value() {
			return false
		}
	}
}

func (c *cursor) isTooDeep() bool { return c.depth > cmp.Or(c.most, maxDepth) }

// pass passes b, if it is there.
func (c *cursor) pass(b byte) bool {
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

// str passes a string, whose opening quote is at hand.
func (c *cursor) str() bool {
	for c.i++; ; {
		c.i = PlainEnd(bytesOf(c.s), c.i)
		switch {
		case c.pass('"'):
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

// compact passes any value and returns its text without blanks.
func (c *cursor) compact() (string, error) {
	raw, err := c.skip()
	if err != nil || !strings.ContainsAny(raw, " \n\t\r") {
		return raw, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(raw)); err != nil {
		return "", c.broken()
	}
	return b.String(), nil
}
