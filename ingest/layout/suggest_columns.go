package layout

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// suggestedFormats are the formats of days that are tried.
var suggestedFormats = []string{
	"YYYY-MM-DD", "YYYY/MM/DD", "YYYYMMDD", "D.M.YYYY", "M/D/YYYY", "D/M/YYYY", "D-M-YYYY", "MMM D YYYY", "MMM D, YYYY", "MMMM D, YYYY", "D MMM YYYY",
	"D MMMM YYYY", "D-MMM-YYYY", "D-MMM-YY", "M/D/YY", "D/M/YY", "YYYY-MM", "MMMM YYYY", "MMM YYYY", "YYYY", "excel",
}

// fillers return the texts that stand for the marks of entries, and a comment, by the cells of a column; false
// where the column cannot be the field.
var fillers = map[string]func(values []string) (text, comment string, ok bool){
	"{formats}":   dayFormats,
	"{ends}":      unitsOf,
	"{strip}":     imagePrefixes,
	"{separator}": func(values []string) (string, string, bool) { return separatorOf(values), "", true },
}

// dayFormats returns the formats of cells, quoted; false where too many are no days.
func dayFormats(values []string) (list, comment string, ok bool) {
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
func imagePrefixes(values []string) (spec, comment string, ok bool) {
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
func unitsOf(values []string) (list, comment string, ok bool) {
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

// crew writes the records of the crew by name: each name makes one.
func (r *suggestedRecord) crew(where string) string {
	out := ""
	if r.kind != "movie" && r.kind != "tv" {
		return out
	}
	for _, p := range people {
		c := r.find(p.names)
		if c == nil || r.wasHere(c.name) {
			continue
		}
		r.used[c.name] = true
		out += fmt.Sprintf("\n[[table.record]]\nkind = %q\n%slist = \"credits.crew\"\neach = { column = %s%s }\nmap = [\n"+
			"  { column = %[3]s, field = \".id\", as = \"name\", of = \"person\" },\n  { column = %[3]s, field = \".name\" },\n"+
			"  { value = %[5]q, field = \".department\" },\n  { value = %[6]q, field = \".job\" },\n]\n",
			r.kind, where, quoted(c.name), separatorOf(c.values), p.department, p.job)
	}
	return out
}

// mint writes how a record without a column of ids gets one.
func (r *suggestedRecord) mint(title, day string) string {
	switch {
	case r.fields["imdb_id"] || r.fields["external_ids.imdb_id"]:
		return "id = { mint = [\"imdb_id\"] }  # where no other record has the same imdb_id\n"
	case r.fields[title] && day != "" && r.fields[day]:
		return fmt.Sprintf("id = { mint = [%q, \"year\"] }  # an id made of title and year: no row has TMDB's\n", title)
	case r.fields[title]:
		return fmt.Sprintf("id = { mint = [%q] }  # an id made of the title: no row has TMDB's\n", title)
	}
	return "# No column was taken for an id or a title: a column must be the field id, or id = { mint = [...] } name what an id is made of.\n"
}

// genres adds genres by name, also where none of the names is known, and notes those.
func (r *suggestedRecord) genres() {
	for _, name := range strings.Fields("genres genre listedin genreslist categories") {
		c := r.find(name)
		if c == nil || r.fields["genre_ids"] || r.fields["genres"] && !r.wasHere(c.name) {
			continue
		}
		const spec = `field = "genres", as = "names", of = "genre"`
		e := r.entry(c, spec)
		if e == nil || !r.fields["genres"] && !r.add(c, spec, "") {
			continue
		}
		for _, raw := range c.values {
			list, ok := listedNames(scalarText(raw))
			if raw[0] == '[' {
				list, ok = listedNames(raw)
			}
			if !ok {
				list = strings.FieldsFunc(scalarText(raw), func(r rune) bool { return strings.ContainsRune(",|;/", r) })
			}
			for _, name := range withoutBlanks(list) {
				if _, known := e.ofNames.meaning(name, nil); !known && len(r.unknown) < 1000 {
					r.unknown[name] = true
				}
			}
		}
		return
	}
}
