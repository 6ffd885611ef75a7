// Package pyliteral turns the text that Python's repr gives of plain values into JSON.
// Dumps that were written with str(value) hold such texts: dicts and lists with single
// quotes, None, True and False.
//
// What repr writes is accepted and nothing else: no comments, no calls, no arithmetic,
// no bytes, no sets. The prefix u of texts and the suffix L of integers are those of
// Python 2.
package pyliteral

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/reelsplice/reelsplice/schemas/record"
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
	switch p.peek() {
	case '{':
		return p.nested('{', '}', p.pair)
	case '[':
		return p.nested('[', ']', p.element)
	case '(':
		return p.nested('[', ')', p.element)
	}
	if p.atText() {
		return p.str()
	}
	return p.scalar()
}

// atText reports whether a text is next.
func (p *parser) atText() bool {
	rest := strings.TrimPrefix(p.src[p.at:], "u")
	return rest != "" && (rest[0] == '\'' || rest[0] == '"')
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
	at, start := p.at, len(p.out)
	if p.atText() {
		if err := p.str(); err != nil {
			return err
		}
	} else {
		p.out = append(p.out, '"')
		if err := p.scalar(); err != nil || strings.Trim(string(p.out[start+1:]), "-0123456789") != "" {
			return &SyntaxError{at, "want a text or an integer as key"}
		}
		p.out = append(p.out, '"')
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

// scalar reads a number or a word. A float that is too large for one is infinite.
func (p *parser) scalar() error {
	end := p.at
	for end < len(p.src) && isScalar(p.src[end]) {
		end++
	}
	text := p.src[p.at:end]
	number, float := text, strings.ContainsAny(text, ".eE")
	if !float {
		number = strings.TrimSuffix(text, "L")
	}
	switch text {
	case "":
		return p.unexpected("a value")
	case "None", "nan", "inf", "-nan", "-inf":
		number = "null"
	case "True":
		number = "true"
	case "False":
		number = "false"
	default:
		if strings.Trim(number, "+-.0123456789eE") != "" || !json.Valid([]byte(number)) {
			return &SyntaxError{p.at, fmt.Sprintf("want a value, found %.40s", text)}
		}
		if f, _ := strconv.ParseFloat(number, 64); float && math.IsInf(f, 0) {
			number = "null"
		}
	}
	p.at = end
	p.out = append(p.out, number...)
	return nil
}

// isScalar reports whether a byte may be part of a number or a word.
func isScalar(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("_+-.", c) >= 0
}

// str reads a text.
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
			p.out = record.AppendString(p.out, string(p.text))
			if !utf8.Valid(p.text) {
				return &SyntaxError{start, "text that is not UTF-8"}
			}
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

// escape reads an escape. Those of Python's repr are those of Go, but that both quotes may
// be escaped in any text, and that a character beyond the first 65,536 may be a pair of
// surrogates. Half a pair is no character.
func (p *parser) escape() error {
	rest := p.src[p.at:]
	if strings.HasPrefix(rest, `\ud`) {
		const pair = len(`\ud83d\ude00`)
		var high, low rune
		_, _ = fmt.Sscanf(rest[:min(len(rest), pair)], `\u%4x\u%4x`, &high, &low) // 0 and 0 are no pair
		if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
			p.text = utf8.AppendRune(p.text, r)
			p.at += pair
			return nil
		}
	}
	quote := byte('\'')
	if strings.HasPrefix(rest, `\"`) {
		quote = '"'
	}
	r, _, tail, err := strconv.UnquoteChar(rest, quote)
	if err != nil {
		return &SyntaxError{p.at, "unknown escape"}
	}
	p.text = utf8.AppendRune(p.text, r)
	p.at = len(p.src) - len(tail)
	return nil
}
