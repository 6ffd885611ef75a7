package layout

import (
	"regexp"
	"slices"
	"strings"
)

// titleYear is a title with its year, or its first and last year, in parentheses at the
// end: "Heat (1995)", "Lost (2004–2010)", "Show (2019- )".
var titleYear = regexp.MustCompile(`^(.*\S)\s*\(((?:18[7-9]|19\d|20\d)\d)(?:\s*[-–—]\s*(?:\d{4})?)?\s*\)$`)

// splitTitle returns a title without the year at its end, and that year; "" for a title
// that has none.
func splitTitle(s string) (title, year string) {
	s = strings.TrimSpace(s)
	m := titleYear.FindStringSubmatch(s)
	if m == nil {
		return s, ""
	}
	return m[1], m[2]
}

// articleFirst moves an article behind a comma at the end of a title to its front:
// "Matrix, The" becomes "The Matrix".
func articleFirst(title string, articles []string) string {
	i := strings.LastIndex(title, ", ")
	if i <= 0 || !slices.Contains(articles, title[i+2:]) {
		return title
	}
	article := title[i+2:]
	if !strings.HasSuffix(article, "'") && !strings.HasSuffix(article, "’") { // L'
		article += " "
	}
	return article + title[:i]
}
