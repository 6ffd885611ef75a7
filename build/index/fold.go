package index

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// SortKey returns what a title is sorted by: its letters in lower case and without
// accents.
func SortKey(title string) string {
	title = strings.ToLower(title)
	if isASCII(title) {
		return title
	}
	folded, _, err := transform.String(transform.Chain(norm.NFKD, runes.Remove(runes.In(unicode.Mn))), title)
	if err != nil {
		return title // none of the steps has errors
	}
	return strings.ToLower(folded)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
