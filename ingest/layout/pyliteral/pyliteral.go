// Package pyliteral turns the text that Python's repr gives of plain values into JSON.
// Dumps that were written with str(value) hold such texts: dicts and lists with single
// quotes, None, True and False.
//
// What repr writes is accepted and nothing else: no comments, no calls, no arithmetic,
// no bytes, no sets. The prefix u of texts and the suffix L of integers are those of
// Python 2.
package pyliteral

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"reelsplice/schemas/record"
)

// MaxDepth is how many dicts, lists and tuples may be open at once.
const MaxDepth = 512

// A SyntaxError is the place where a text stops being a Python literal.
type SyntaxError struct {
	Off  int    // offset in bytes
	What string // what was wanted and what was found
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("offset %d: %s", e.Off, e.What) }

// AppendJSON appends the JSON text of the value that src is the repr of, without blanks.
// Dicts become objects (an integer key its digits), lists and tuples arrays, None, nan
// and inf null. Where src is no such text the error is a *SyntaxError, and what is
// returned is dst.
func AppendJSON(dst []byte, src string) ([]byte, error) {
	if !utf8.ValidString(src) {
		return dst, &SyntaxError{invalidAt(src), "invalid UTF-8"}
	}
	p := parser{src: src, out: dst}
	p.blanks()
	if err := p.value(); err != nil {
		return dst, err
	}
	if p.blanks(); p.at < len(src) {
		return dst, p.unexpected("the end")
	}
	return p.out, nil
}

// invalidAt returns the offset of the first byte that is not UTF-8.
func invalidAt(s string) int {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return i
		}
	}
	return len(s)
}

type parser struct {
	src   string
	at    int // offset of what is read next
	out   []byte
	depth int
	text  []byte // of the string at hand
}

func (p *parser) blanks() {
	for p.at < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.at]) >= 0 {
		p.at++
	}
}

// peek returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

// take passes the next byte if it is c, and blanks behind it.
func (p *parser) take(c byte) bool {
	if p.at >= len(p.src) || p.src[p.at] != c {
		return false
	}
	p.at++
	p.blanks()
	return true
}

func (p *parser) unexpected(want string) error {
	found := "the end"
	if p.at < len(p.src) {
		r, _ := utf8.DecodeRuneInString(p.src[p.at:])
		found = strconv.QuoteRune(r)
	}
	return &SyntaxError{p.at, "want " + want + ", found " + found}
}

func (p *parser) value() error {
	switch c := p.peek(); {
	case c == '{':
		return p.nested('{', '}', p.pair)
	case c == '[':
		return p.nested('[', ']', p.element)
	case c == '(':
		return p.nested('[', ')', p.element)
	case c == '\'' || c == '"' || c == 'u' && p.quoteAt(p.at+1):
		if err := p.str(); err != nil {
			return err
		}
		p.out = record.AppendString(p.out, string(p.text))
		return nil
	case (c == 'b' || c == 'B') && p.quoteAt(p.at+1):
		return &SyntaxError{p.at, "bytes have no JSON form"}
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
		return p.word()
	}
	return p.unexpected("a value")
}

func (p *parser) quoteAt(i int) bool {
	return i < len(p.src) && (p.src[i] == '\'' || p.src[i] == '"')
}

// nested reads a container, whose opening byte is next, up to the closing one: each of its
// items is read by item. JSON has it between open and the like. A tuple of one value has a
// comma behind it: without, it would be that value and no tuple.
func (p *parser) nested(open, closing byte, item func() error) error {
	if p.depth++; p.depth > MaxDepth {
		return &SyntaxError{p.at, fmt.Sprintf("more than %d levels deep", MaxDepth)}
	}
	p.at++
	p.blanks()
	p.out = append(p.out, open)
	for n := 0; p.peek() != closing; n++ {
		if n > 0 {
			p.out = append(p.out, ',')
		}
		if err := item(); err != nil {
			return err
		}
		if p.take(',') {
			continue
		}
		if n == 0 && closing == ')' {
			return p.unexpected("','")
		}
		if p.peek() != closing {
			return p.unexpected(fmt.Sprintf("',' or %q", closing))
		}
	}
	p.at++
	p.depth--
	p.out = append(p.out, open+2) // '[' and ']', '{' and '}'
	return nil
}

func (p *parser) pair() error {
	start := len(p.out)
	switch c := p.peek(); {
	case c == '\'' || c == '"' || c == 'u' && p.quoteAt(p.at+1):
		if err := p.str(); err != nil {
			return err
		}
		p.out = record.AppendString(p.out, string(p.text))
	case c == '-' || c >= '0' && c <= '9':
		at := p.at
		p.out = append(p.out, '"')
		if err := p.number(); err != nil {
			return err
		}
		if strings.ContainsAny(string(p.out[start:]), ".eEn") {
			return &SyntaxError{at, "want a text or an integer as key, found another number"}
		}
		p.out = append(p.out, '"')
	default:
		return p.unexpected("a text or an integer as key")
	}
	p.blanks()
	if !p.take(':') {
		return p.unexpected("':'")
	}
	p.out = append(p.out, ':')
	return p.element()
}

// element reads a value and the blanks behind it.
func (p *parser) element() error {
	err := p.value()
	p.blanks()
	return err
}

// word reads None, True, False, nan or inf.
func (p *parser) word() error {
	end := p.at
	for end < len(p.src) && isWord(p.src[end]) {
		end++
	}
	switch w := p.src[p.at:end]; w {
	case "None", "nan", "inf":
		p.out = append(p.out, "null"...)
	case "True":
		p.out = append(p.out, "true"...)
	case "False":
		p.out = append(p.out, "false"...)
	default:
		return &SyntaxError{p.at, fmt.Sprintf("want a value, found %.40s", w)}
	}
	p.at = end
	return nil
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// number reads an integer or a float. A float that is too large for one is infinite.
func (p *parser) number() error {
	start := p.at
	if p.peek() == '-' {
		p.at++
	}
	if strings.HasPrefix(p.src[p.at:], "inf") || strings.HasPrefix(p.src[p.at:], "nan") {
		return p.word()
	}
	whole := p.digits()
	if whole == 0 {
		return p.unexpected("a digit")
	}
	if whole > 1 && p.src[p.at-whole] == '0' {
		return &SyntaxError{p.at - whole, "want a number without leading zeros"}
	}
	integer := true
	if p.peek() == '.' {
		integer = false
		p.at++
		if p.digits() == 0 {
			return p.unexpected("a digit")
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		integer = false
		p.at++
		if c := p.peek(); c == '+' || c == '-' {
			p.at++
		}
		if p.digits() == 0 {
			return p.unexpected("a digit")
		}
	}
	text := p.src[start:p.at]
	if integer && p.peek() == 'L' {
		p.at++
	}
	if p.at < len(p.src) && isWord(p.src[p.at]) {
		return p.unexpected("the end of the number")
	}
	if f, _ := strconv.ParseFloat(text, 64); !integer && math.IsInf(f, 0) { // infinite where it is out of range
		text = "null"
	}
	p.out = append(p.out, text...)
	return nil
}

// digits passes digits and returns how many.
func (p *parser) digits() int {
	start := p.at
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.at++
	}
	return p.at - start
}

// str reads a text into p.text.
func (p *parser) str() error {
	if p.peek() == 'u' {
		p.at++
	}
	quote, start := p.src[p.at], p.at
	p.at++
	p.text = p.text[:0]
	for p.at < len(p.src) {
		switch c := p.src[p.at]; c {
		case quote:
			p.at++
			return nil
		case '\n', '\r':
			return &SyntaxError{p.at, "line break inside a text"}
		case '\\':
			if err := p.escape(); err != nil {
				return err
			}
		default:
			p.text = append(p.text, c)
			p.at++
		}
	}
	return &SyntaxError{start, "text without an end"}
}

// simple holds what a backslash and a letter stand for.
var simple = map[byte]byte{
	'\\': '\\', '\'': '\'', '"': '"', 'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v',
}

func (p *parser) escape() error {
	at := p.at
	p.at++
	c := p.peek()
	if s, ok := simple[c]; ok {
		p.text = append(p.text, s)
		p.at++
		return nil
	}
	var r rune
	var err error
	switch {
	case c == 'x':
		r, err = p.hex(at, 2)
	case c == 'u':
		r, err = p.hex(at, 4)
	case c == 'U':
		r, err = p.hex(at, 8)
	case c >= '0' && c <= '7':
		r = p.octal()
	default:
		return &SyntaxError{at, "unknown escape"}
	}
	if err == nil && utf16.IsSurrogate(r) {
		r, err = p.surrogate(at, r)
	}
	if err != nil {
		return err
	}
	if !utf8.ValidRune(r) {
		return &SyntaxError{at, "escape beyond the last character"}
	}
	p.text = utf8.AppendRune(p.text, r)
	return nil
}

// hex reads the letter of an escape and n hex digits. The escape began at at.
func (p *parser) hex(at, n int) (rune, error) {
	p.at++
	if p.at+n > len(p.src) {
		return 0, &SyntaxError{at, fmt.Sprintf("want %d hex digits in an escape", n)}
	}
	v, err := strconv.ParseUint(p.src[p.at:p.at+n], 16, 32)
	if err != nil {
		return 0, &SyntaxError{at, fmt.Sprintf("want %d hex digits in an escape", n)}
	}
	p.at += n
	if v > utf8.MaxRune {
		return 0, &SyntaxError{at, "escape beyond the last character"}
	}
	return rune(v), nil
}

// octal reads one to three octal digits.
func (p *parser) octal() (r rune) {
	for n := 0; n < 3 && p.peek() >= '0' && p.peek() <= '7'; n++ {
		r = r<<3 | rune(p.peek()-'0')
		p.at++
	}
	return r
}

// surrogate reads the second half of a pair: Python 2 writes characters beyond the
// first 65,536 as two escapes. Half a pair is no character.
func (p *parser) surrogate(at int, first rune) (rune, error) {
	if strings.HasPrefix(p.src[p.at:], `\u`) {
		p.at++
		second, err := p.hex(p.at-1, 4)
		if err != nil {
			return 0, err
		}
		if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
			return r, nil
		}
	}
	return 0, &SyntaxError{at, "half a surrogate pair"}
}
