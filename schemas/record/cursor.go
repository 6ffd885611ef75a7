package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bytedance/sonic"
)

// A cursor walks over the text of one JSON value. It trusts that somebody has judged
// the text before (see Parse) and looks at no more of it than it needs; on text that
// is no JSON it ends with an error rather than beyond the end.
type cursor struct {
	s string
	i int // offset of the next byte
}

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
	if err := c.passText(); err != nil {
		return "", err
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
	first := c.peek()
	start, depth := c.i, 0
	switch first {
	case '{', '[', '"':
	default:
		if c.scalar() == "" {
			return "", c.broken()
		}
		return c.s[start:c.i], nil
	}
	for c.i < len(c.s) {
		switch c.s[c.i] {
		case '"':
			if err := c.passText(); err != nil {
				return "", err
			}
		case '{', '[':
			depth++
			c.i++
		case '}', ']':
			depth--
			c.i++
		default:
			c.i++
			continue
		}
		if depth == 0 {
			return c.s[start:c.i], nil
		}
	}
	return "", c.broken()
}

// passText passes a string, whose opening quote is at hand.
func (c *cursor) passText() error {
	for i := c.i + 1; ; {
		end := strings.IndexByte(c.s[i:], '"')
		if end < 0 {
			return c.broken()
		}
		i += end + 1
		slashes := 0
		for c.s[i-2-slashes] == '\\' { // the opening quote is none
			slashes++
		}
		if slashes%2 == 0 {
			c.i = i
			return nil
		}
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
