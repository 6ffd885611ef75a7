package index

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// SortKey returns what a title is sorted by: its letters in lower case and without
// accents.
func SortKey(title string) string {
	letters := func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}
	return strings.ToLower(strings.Map(letters, norm.NFKD.String(strings.ToLower(title))))
}
