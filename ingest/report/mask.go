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

// mask returns a reason without the parts that differ from row to row: numbers, and words with three digits or
// more, become # and quoted values "…". The wanted value stays ("want 1 or more, found #"), and so do the names of
// fields.
func mask(reason string) string { return shorten(tokens.ReplaceAllStringFunc(reason, maskToken)) }

func maskToken(s string) string {
	digits := 0
	for _, c := range []byte(s) {
		if '0' <= c && c <= '9' {
			digits++
		}
	}
	switch c := s[0]; {
	case strings.HasPrefix(s, "want "):
		return s
	case c == '"', c == '`', c == '\'':
		return s[:1] + "…" + s[:1]
	case strings.IndexByte("+-0123456789", c) >= 0, digits > 2 && !strings.Contains(s, "_"):
		return "#"
	}
	return s
}
