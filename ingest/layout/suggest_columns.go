package layout

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// suggestedFormats are the formats of days that are tried.
var suggestedFormats = []string{
	"YYYY-MM-DD", "YYYY/MM/DD", "YYYYMMDD", "D.M.YYYY", "M/D/YYYY", "D/M/YYYY", "D-M-YYYY", "MMM D YYYY", "MMM D, YYYY", "MMMM D, YYYY", "D MMM YYYY",
	"D MMMM YYYY", "D-MMM-YYYY", "D-MMM-YY", "M/D/YY", "D/M/YY", "YYYY-MM", "MMMM YYYY", "MMM YYYY", "YYYY", "excel",
}

// fillers return the texts of marks, and a comment, by the cells of a column; false where the column
// cannot be the field.
var fillers = map[string]func(r *suggestedRecord, c *suggestedColumn) (text, comment string, ok bool){
	"{c}": func(_ *suggestedRecord, c *suggestedColumn) (string, string, bool) {
		return columnSource(c.name), "", true
	},
	"{title}": func(r *suggestedRecord, _ *suggestedColumn) (string, string, bool) { return r.title, "", true },
	"{day}":   func(r *suggestedRecord, _ *suggestedColumn) (string, string, bool) { return r.day, "", r.day != "" },
	"{some}":  func(*suggestedRecord, *suggestedColumn) (string, string, bool) { return "", "", true },
	"{own}": func(r *suggestedRecord, _ *suggestedColumn) (string, string, bool) {
		return "", "  # if these are TMDB's numbers; if not, ignore the column and mint ids: see the document", !r.foreign
	},
	"{articles}": articlesOf,
	"{years}": func(r *suggestedRecord, c *suggestedColumn) (string, string, bool) {
		_, _, ok := articlesOf(r, c)
		return "", "", ok
	},
	"{formats}": dayFormats,
	"{ends}":    unitsOf,
	"{strip}":   imagePrefixes,
	"{joint}": func(_ *suggestedRecord, c *suggestedColumn) (string, string, bool) {
		return strconv.Quote(separatorOf(c.values)), "", true
	},
	"{separator}": func(_ *suggestedRecord, c *suggestedColumn) (string, string, bool) {
		return fmt.Sprintf(", {separator: %q}", separatorOf(c.values)), "", true
	},
}

// columnSource returns a column in an expression.
func columnSource(name string) string {
	if e, err := newExpression(name, &site{}); err == nil && e.isColumn() && e.columns[0] == name && name != rowName {
		return name
	}
	return rowName + "[" + string(record.AppendString(nil, name)) + "]"
}

// filled returns an entry whose marks are filled in, and its comment.
func (r *suggestedRecord) filled(c *suggestedColumn, spec string) (text, comment string, ok bool) {
	for _, mark := range slices.Sorted(maps.Keys(fillers)) {
		if strings.Contains(spec, mark) {
			text, note, ok := fillers[mark](r, c)
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
func articlesOf(r *suggestedRecord, c *suggestedColumn) (spec, comment string, ok bool) {
	years := 0
	for _, raw := range c.values {
		title, year := splitTitle(scalarText(raw))
		if year != "" {
			years++
		}
		if articleFirst(title, englishArticles) != title {
			spec = `, "` + strings.Join(englishArticles, `", "`) + `"`
		}
	}
	return spec, "", r.day != "" && years*2 >= len(c.values)
}

// dayFormats returns the formats of cells, quoted; false where too many are no days.
func dayFormats(_ *suggestedRecord, c *suggestedColumn) (list, comment string, ok bool) {
	values := c.values
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
			comment = "  # two digits are 1969 to 2068: 2026 behind the format makes that 1927 to 2026"
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
		if _, err := r.parse(scalarText(raw)); err != nil && !isPlaceholder(scalarText(raw)) {
			out = append(out, raw)
		}
	}
	return out
}

// imagePrefix is the front of the URL of an image of TMDB's.
var imagePrefix = regexp.MustCompile(`^https?://[^/]+/t/p/[^/]+`)

// imagePrefixes returns what takes the fronts of URLs of images off; false for those of another site.
func imagePrefixes(_ *suggestedRecord, c *suggestedColumn) (source, comment string, ok bool) {
	var prefixes []string
	for _, raw := range c.values {
		text := scalarText(raw)
		prefix := imagePrefix.FindString(text)
		if !strings.HasPrefix(text[len(prefix):], "/") {
			return "", "", false
		}
		if prefix != "" && !slices.Contains(prefixes, prefix) {
			prefixes = append(prefixes, prefix)
		}
	}
	return trimmed("trimPrefix", c, prefixes), "", true
}

// trimmed returns a column without what stands before or behind.
func trimmed(function string, c *suggestedColumn, affixes []string) string {
	source := columnSource(c.name)
	if len(affixes) == 0 {
		return source
	}
	for i := range affixes {
		affixes[i] = strconv.Quote(affixes[i])
	}
	return fmt.Sprintf("%s(%s, %s)", function, source, strings.Join(affixes, ", "))
}

// unitsOf returns what takes off what stands behind minutes.
func unitsOf(_ *suggestedRecord, c *suggestedColumn) (source, comment string, ok bool) {
	var ends []string
	for _, raw := range c.values {
		end := strings.TrimLeft(scalarText(raw), "0123456789")
		if strings.Contains(end, "min") && !slices.Contains(ends, end) && len(ends) < 4 {
			ends = append(ends, end)
		}
	}
	return trimmed("trimSuffix", c, ends), "", ends != nil
}

// separatorOf returns what stands between the names of a column.
func separatorOf(values []string) string {
	for _, separator := range []string{"|", ";", ", ", ","} {
		for _, raw := range values {
			if text := scalarText(raw); !strings.HasPrefix(text, "[") && strings.Contains(text, separator) {
				return separator
			}
		}
	}
	return ", "
}

// conventions are how numbers are written in texts, the usual one first.
var conventions = []numberReader{
	{},
	{decimal: ",", thousands: "."},
	{thousands: ","},
	{decimal: ",", thousands: " "},
	{decimal: ",", thousands: "\u00a0"},
	{decimal: ",", thousands: "\u202f"},
	{thousands: " "},
	{thousands: "'"},
}

// scales are the words and signs behind numbers that are known.
var scales = map[string]float64{
	"k": 1e3, "K": 1e3, "Tsd.": 1e3, "M": 1e6, "Mio": 1e6, "Mio.": 1e6, "mln": 1e6, "million": 1e6, "Millionen": 1e6, "B": 1e9, "Mrd": 1e9, "Mrd.": 1e9, "billion": 1e9,
}

// scaleWord matches what stands behind a number.
var scaleWord = regexp.MustCompile(`\d\s*([\pL.]+)$`)

// numbersOf returns the way of writing numbers that reads most cells of the columns that are likely numbers.
func (s *suggester) numbersOf() (best numberReader) {
	most, scale := 0, map[string]float64{}
	var cells []string
	var whole []bool // the cell is of an integer
	for _, g := range guesses() {
		path, source, _ := strings.Cut(g.entries[0], " = ")
		f, ok := record.SchemaOf[catalog.Movie]().Field(path)
		if !ok || source != "{c}" || f.Shape != record.ShapeInt && f.Shape != record.ShapeFloat || path == "id" {
			continue
		}
		c := s.find(strings.Join(g.names, " "))
		if c == nil {
			continue
		}
		for _, raw := range c.values {
			if text, ok := decode(raw).(string); ok {
				text = strings.TrimPrefix(text, "$")
				cells, whole = append(cells, text), append(whole, f.Shape == record.ShapeInt)
				if m := scaleWord.FindStringSubmatch(text); m != nil && scales[m[1]] != 0 {
					scale[m[1]] = scales[m[1]]
				}
			}
		}
	}
	for _, r := range conventions {
		r.scale = scale
		n := 0
		for i, text := range cells {
			_, err := r.number(text)
			if whole[i] {
				_, err = r.integer(text)
			}
			if err == nil {
				n++
			}
		}
		if n > most {
			best, most = r, n
		}
	}
	return best
}

// keys writes what a table says of its numbers.
func (r numberReader) keys() (out string) {
	if r.decimal != "" {
		out += fmt.Sprintf("decimal = %s\n", quoted(r.decimal))
	}
	if r.thousands != "" {
		out += fmt.Sprintf("thousands = %s\n", quoted(r.thousands))
	}
	var words []string
	for _, word := range slices.Sorted(maps.Keys(r.scale)) {
		words = append(words, fmt.Sprintf("%s = %.0f", quoted(word), r.scale[word]))
	}
	if words != nil {
		out += "scale = { " + strings.Join(words, ", ") + " }\n"
	}
	return out
}
