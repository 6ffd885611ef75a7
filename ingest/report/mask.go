package report

import (
	"strings"
	"unicode/utf8"
)

// maxText is how many bytes of a reason, a path or an example are kept.
const maxText = 300

// shorten cuts text that is too long for a report, between two characters where it is UTF-8.
func shorten(s string) string {
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for n > maxText-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// mask returns a reason without the parts that differ from row to row: numbers become # and quoted
// values "…". The wanted value stays ("want 1 or more, found #"), and so
// do short numbers that end a name, such as UTF-8.
func mask(reason string) string {
	var b strings.Builder
	for len(reason) > 0 {
		n, as := token(reason, b.Len() > 0 && isWord(b.String()[b.Len()-1]))
		b.WriteString(as)
		reason = reason[n:]
		if b.Len() > maxText {
			break
		}
	}
	return shorten(b.String())
}

// token returns the length of the first token of s and its replacement. inWord: s continues a word.
func token(s string, inWord bool) (n int, as string) {
	switch c := s[0]; {
	case strings.HasPrefix(s, "want ") && !inWord:
		n = expectation(s)
		return n, s[:n]
	case c == '"', c == '`', c == '\'' && !inWord: // behind a word it is an apostrophe
		if n = quoted(s); n == 1 {
			return n, s[:n]
		}
		return n, s[:1] + "…" + s[:1]
	case isDigit(c), (c == '-' || c == '+') && !inWord && len(s) > 1 && isDigit(s[1]):
		return number(s), "#"
	case isWord(c):
		return word(s)
	}
	_, n = utf8.DecodeRuneInString(s)
	return n, s[:n]
}

// expectation returns the length of "want ..." up to the value found.
func expectation(s string) int {
	if n := strings.Index(s, ", found"); n > 0 {
		return n
	}
	return len(s)
}

// quoted returns the length of a quoted value; one quote alone is itself.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] == '"':
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return 1
}

// number returns the length of a number, a date, a time or a hexadecimal id.
func number(s string) int {
	n := 1
	for n < len(s) {
		switch {
		case isWord(s[n]):
			n++
		case strings.IndexByte(".,:/+-", s[n]) >= 0 && n+1 < len(s) && isDigit(s[n+1]):
			n += 2
		default:
			return n
		}
	}
	return n
}

// word returns the length of a word and its replacement: tt0137523 is tt#,
// hexadecimal digits in a row are all #, and the name of a field is itself.
func word(s string) (n int, as string) {
	letters, digits, hex := 0, 0, true
	for n < len(s) && (isWord(s[n]) || s[n] == '-') {
		switch {
		case isDigit(s[n]):
			digits++
		case digits == 0:
			letters++
		}
		hex = hex && strings.IndexByte("0123456789abcdefABCDEF", s[n]) >= 0
		n++
	}
	switch {
	case digits > 0 && hex && n >= 8:
		return n, "#"
	case digits > 2 && strings.IndexByte(s[:n], '_') < 0:
		return n, s[:letters] + "#"
	}
	return n, s[:n]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isWord reports whether c is part of a word; all of a character beyond ASCII is.
func isWord(c byte) bool {
	return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= utf8.RuneSelf
}
