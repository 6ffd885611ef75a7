package layout

import (
	"encoding/json"
	"errors"
	"strings"
)

// eachMember calls fn for the members of a JSON object in their order, with the JSON
// texts of their values. The text must be valid JSON.
func eachMember(text string, fn func(name, raw string) error) error {
	i := skipBlanks(text, 0)
	if i >= len(text) || text[i] != '{' {
		return errors.New("want an object, found " + found(json.RawMessage(text)))
	}
	for i = skipBlanks(text, i+1); i < len(text) && text[i] != '}'; i = skipBlanks(text, i) {
		if text[i] == ',' {
			i = skipBlanks(text, i+1)
		}
		end := skipValue(text, i)
		name := unquote(text[i:end])
		i = skipBlanks(text, min(skipBlanks(text, end)+1, len(text))) // the colon
		end = skipValue(text, i)
		if err := fn(name, text[i:end]); err != nil {
			return err
		}
		i = end
	}
	return nil
}

// eachElement calls fn for the elements of a JSON array.
func eachElement(text string, fn func(i int, raw string) error) error {
	i := skipBlanks(text, 0)
	if i >= len(text) || text[i] != '[' {
		return errors.New("want a list, found " + found(json.RawMessage(text)))
	}
	for n := 0; ; n++ {
		if i = skipBlanks(text, i+1); i >= len(text) || text[i] == ']' {
			return nil
		}
		end := skipValue(text, i)
		if err := fn(n, text[i:end]); err != nil {
			return err
		}
		if i = skipBlanks(text, end); i >= len(text) || text[i] == ']' {
			return nil
		}
	}
}

func skipBlanks(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns where the value that starts at i ends, the end of s at most.
func skipValue(s string, i int) int { return min(valueEnd(s, i), len(s)) }

func valueEnd(s string, i int) int {
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '"':
			i = skipString(s, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			for i < len(s) && strings.IndexByte(",:]} \n\t\r", s[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// skipString returns where the string that starts at i ends.
func skipString(s string, i int) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

// unquote returns the text of a JSON string.
func unquote(raw string) string {
	if len(raw) >= 2 && strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	var s string
	_ = json.Unmarshal([]byte(raw), &s) // a valid one
	return s
}
