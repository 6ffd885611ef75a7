package layout

import (
	"regexp"
	"slices"
	"strings"
)

// suggestedFormats are the formats of days that are tried.
var suggestedFormats = []string{
	"YYYY-MM-DD", "YYYY/MM/DD", "YYYYMMDD", "D.M.YYYY", "M/D/YYYY", "D/M/YYYY", "D-M-YYYY", "MMM D YYYY", "MMM D, YYYY", "MMMM D, YYYY", "D MMM YYYY",
	"D MMMM YYYY", "D-MMM-YYYY", "D-MMM-YY", "M/D/YY", "D/M/YY", "YYYY-MM", "MMMM YYYY", "MMM YYYY", "YYYY", "excel",
}

// fillers return the texts of marks, and a comment, by the cells of a column; false where the column
// cannot be the field.
var fillers = map[string]func(r *suggestedRecord, values []string) (text, comment string, ok bool){
	"{title}": func(r *suggestedRecord, _ []string) (string, string, bool) { return r.title, "", true },
	"{day}":   func(r *suggestedRecord, _ []string) (string, string, bool) { return r.day, "", r.day != "" },
	"{some}":  func(*suggestedRecord, []string) (string, string, bool) { return "", "", true },
	"{own}": func(r *suggestedRecord, _ []string) (string, string, bool) {
		return "", "  # if these are TMDB's numbers; if not, ignore the column and mint ids: see the document", !r.foreign
	},
	"{articles}": articlesOf,
	"{years}": func(r *suggestedRecord, values []string) (string, string, bool) {
		_, _, ok := articlesOf(r, values)
		return "", "", ok
	},
	"{formats}":   dayFormats,
	"{ends}":      unitsOf,
	"{strip}":     imagePrefixes,
	"{separator}": func(_ *suggestedRecord, values []string) (string, string, bool) { return separatorOf(values), "", true },
}

// filled returns an entry whose marks are filled in, and its comment.
func (r *suggestedRecord) filled(spec string, values []string) (text, comment string, ok bool) {
	for mark, fill := range fillers {
		if strings.Contains(spec, mark) {
			text, note, ok := fill(r, values)
			if !ok {
				return "", "", false
			}
			spec, comment = strings.Replace(spec, mark, text, 1), comment+note
		}
	}
	return spec, comment, true
}

var englishArticles = []string{"The", "A", "An"}

// articlesOf returns the key for articles at the end of titles; false for titles of which most have
// no year.
func articlesOf(r *suggestedRecord, values []string) (spec, comment string, ok bool) {
	years := 0
	for _, raw := range values {
		title, year := splitTitle(scalarText(raw))
		if year != "" {
			years++
		}
		if articleFirst(title, englishArticles) != title {
			spec = `, articles = ["` + strings.Join(englishArticles, `", "`) + `"]`
		}
	}
	return spec, "", r.day != "" && years*2 >= len(values)
}

// dayFormats returns the formats of cells, quoted; false where too many are no days.
func dayFormats(_ *suggestedRecord, values []string) (list, comment string, ok bool) {
	var names, formats []string
	rest := values
	for len(rest) > 0 && len(names) < 4 {
		best, most := "", 0
		for _, name := range suggestedFormats {
			if _, err := newDayReader(append(slices.Clone(names), name), 0); err != nil {
				continue
			}
			if n := len(rest) - len(unread(name, rest)); n > most {
				best, most = name, n
			}
		}
		if best == "" {
			break
		}
		names, rest = append(names, best), unread(best, rest)
	}
	if len(names) == 0 || len(rest)*5 > len(values) {
		return "", "", false
	}
	for i, name := range names {
		formats = append(formats, quoted(name))
		other := strings.NewReplacer("M/D", "D/M", "D/M", "M/D").Replace(name)
		switch {
		case i == 0 && other != name && len(unread(other, values)) == 0:
			comment = "  # or " + other + ": the rows fit both"
		case strings.HasSuffix(name, "YY") && !strings.HasSuffix(name, "YYYY"):
			comment = "  # two digits are 1969 to 2068: last_year = 2026 makes that 1927 to 2026"
		}
	}
	if len(rest) > 0 {
		comment = "  # does not read " + oneLineOf(shortened(rest[0], 40))
	}
	return strings.Join(formats, ", "), comment, true
}

// unread returns the cells that a format does not read.
func unread(format string, values []string) []string {
	r, err := newDayReader([]string{format}, 0)
	if err != nil {
		return values
	}
	var out []string
	for _, raw := range values {
		if _, err := r.parse(scalarText(raw)); err != nil {
			out = append(out, raw)
		}
	}
	return out
}

// imagePrefix is the front of the URL of an image of TMDB's.
var imagePrefix = regexp.MustCompile(`^https?://[^/]+/t/p/[^/]+`)

// imagePrefixes returns the key for the fronts of URLs of images; false for those of another site.
func imagePrefixes(_ *suggestedRecord, values []string) (spec, comment string, ok bool) {
	var prefixes []string
	for _, raw := range values {
		text := scalarText(raw)
		prefix := imagePrefix.FindString(text)
		if !strings.HasPrefix(text[len(prefix):], "/") {
			return "", "", false
		}
		if prefix != "" && !slices.Contains(prefixes, quoted(prefix)) {
			prefixes = append(prefixes, quoted(prefix))
		}
	}
	if len(prefixes) > 0 {
		spec = ", strip = [" + strings.Join(prefixes, ", ") + "]"
	}
	return spec, "", true
}

// unitsOf returns what stands behind minutes.
func unitsOf(_ *suggestedRecord, values []string) (list, comment string, ok bool) {
	var ends []string
	for _, raw := range values {
		end := strings.TrimLeft(scalarText(raw), "0123456789")
		if strings.Contains(end, "min") && !slices.Contains(ends, quoted(end)) && len(ends) < 4 {
			ends = append(ends, quoted(end))
		}
	}
	return strings.Join(ends, ", "), "", true
}

// separatorOf returns the key for what stands between the names of a column; "" for
// lists whose names are told apart.
func separatorOf(values []string) string {
	for _, separator := range []string{"|", ";", ", ", ","} {
		for _, raw := range values {
			if raw[0] == '[' {
				return ""
			}
			text := scalarText(raw)
			if _, ok := listedNames(text); ok {
				return ""
			}
			if strings.Contains(text, separator) {
				return ", separator = " + quoted(separator)
			}
		}
	}
	return `, separator = ", "`
}
