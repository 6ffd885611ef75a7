package layout

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bytedance/sonic"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// Some dumps contain the result of Python's str(value): dicts, lists, tuples, texts in single quotes, None, True and False.
// Each token has an equivalent in JSON, so tokens are translated one by one, and the result is checked as JSON.

// appendPython appends a Python literal as JSON without blanks. Dicts become objects with text keys, lists and tuples arrays,
// None, nan and inf null. It accepts Python 2's prefix u and suffix L.
func appendPython(dst []byte, src string) ([]byte, error) {
	start, number := len(dst), -1 // number is the start in dst of the last word, or -1 after other tokens
	for pos := 0; pos < len(src); {
		c := src[pos]
		word := pos
		switch {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			pos++
			continue
		case c == '\'' || c == '"' || strings.HasPrefix(src[pos:], "u'") || strings.HasPrefix(src[pos:], `u"`):
			text, n, err := pythonLiteral(src[pos:])
			if err != nil {
				return dst[:start], fmt.Errorf("offset %d: %w", pos, err)
			}
			dst, pos = record.AppendString(dst, text), pos+n
			number = -1
			continue
		case c == ':' && number >= 0: // JSON's keys are texts
			dst = append(slices.Insert(dst, number, '"'), '"', ':')
		case c == '(':
			dst = append(dst, '[')
		case strings.IndexByte(")]}", c) >= 0:
			if n := len(dst); n > 1 && dst[n-1] == ',' && strings.IndexByte("[{", dst[n-2]) < 0 {
				dst = dst[:n-1] // (1,) is a tuple of one
			}
			dst = append(dst, strings.Replace(string(c), ")", "]", 1)...)
		case isWord(c):
			for pos < len(src) && isWord(src[pos]) {
				pos++
			}
			number = len(dst)
			switch text := src[word:pos]; text {
			case "None", "nan", "inf", "-nan", "-inf":
				dst = append(dst, "null"...)
			case "True", "False":
				dst = append(dst, strings.ToLower(text)...)
			default:
				dst = append(dst, strings.TrimSuffix(text, "L")...)
			}
			continue
		default:
			dst = append(dst, c)
		}
		pos++
		number = -1
	}
	if !sonic.Valid(dst[start:]) {
		return dst[:start], errors.New("its parts do not fit together")
	}
	return dst, nil
}

// isWord reports whether a byte may be part of a number or a word.
func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("_+-.", c) >= 0
}

// pythonLiteral returns the text of the string literal at the start of src, and the literal's length.
func pythonLiteral(src string) (text string, n int, err error) {
	literal := strings.TrimPrefix(src, "u")
	quote, end := literal[0], 1
	for end < len(literal) && literal[end] != quote {
		if literal[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(literal) {
		return "", 0, errors.New("unterminated text")
	}
	inner, n := literal[1:end], len(src)-len(literal)+end+1
	if strings.IndexByte(inner, '\\') < 0 {
		return inner, n, nil
	}
	var out []byte
	for inner != "" {
		escaped := quote
		if strings.HasPrefix(inner, `\'`) || strings.HasPrefix(inner, `\"`) { // valid in both kinds of quotes
			escaped = inner[1]
		}
		// repr and Go have the same escapes.
		r, _, rest, err := strconv.UnquoteChar(inner, escaped)
		if err != nil {
			return "", 0, errors.New("text with an unknown escape")
		}
		out, inner = utf8.AppendRune(out, r), rest
	}
	return string(out), n, nil
}
