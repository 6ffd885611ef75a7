package report

import (
	"regexp"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/text"
)

// maxText is how many bytes of a reason, a path or an example are kept.
const maxText = 300

// shorten cuts text that is too long for a report.
func shorten(s string) string {
	if len(s) > maxText {
		return text.Cut(s, maxText) + "…"
	}
	return s
}

// tokens matches the parts of a reason that mask looks at: the wanted value, quoted values, numbers
// with dates and times, and words. Words are matched so that no other part begins inside one, as
// the apostrophe of "row's" would.
var tokens = regexp.MustCompile(`(?s)want .*?, found|want .*` +
	"|\"(?:\\\\.|[^\"\\\\])*\"|`[^`]*`|'[^']*'" +
	`|[+-]?[0-9](?:[\w[:^ascii:]]|[.,:/+-][0-9])*` +
	`|[\w[:^ascii:]][\w[:^ascii:]'-]*`)

// mask returns a reason without the parts that differ from row to row: numbers become # and quoted
// values "…". The wanted value stays ("want 1 or more, found #"), and so
// do short numbers that end a name, such as UTF-8.
func mask(reason string) string { return shorten(tokens.ReplaceAllStringFunc(reason, maskToken)) }

func maskToken(s string) string {
	switch c := s[0]; {
	case strings.HasPrefix(s, "want "):
		return s
	case c == '"', c == '`', c == '\'':
		return s[:1] + "…" + s[:1]
	case strings.IndexByte("+-0123456789", c) >= 0:
		return "#"
	}
	return maskWord(s)
}

// maskWord masks the digits of a word: tt0137523 is tt#, and a hexadecimal id is all #. The name of
// a field is itself.
func maskWord(s string) string {
	const digits, hex = "0123456789", "0123456789abcdefABCDEF"
	first := strings.IndexAny(s, digits)
	n := 0
	for _, d := range digits {
		n += strings.Count(s, string(d))
	}
	switch {
	case n > 0 && len(s) >= 8 && strings.Trim(s, hex) == "":
		return "#"
	case n > 2 && !strings.Contains(s, "_"):
		return s[:first] + "#"
	}
	return s
}
