package layout

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A suggestedColumn is a column of a table for which a mapping is written.
type suggestedColumn struct {
	name   string
	values []string // JSON texts of its cells that are not empty
}

// Suggest returns the text of a mapping file to start from for a table that is unknown.
// file is its name for comments, base the same without folder and extensions, and kind
// what its rows are; "" guesses that. The entry of a column reads all cells of the
// rows that are given.
func Suggest(file, base, kind string, rows []string) string {
	s := newSuggester(rows, map[string]bool{})
	s.foreign = skipReason(ready(Kaggle), base, s.names()) != ""
	s.numbers = s.numbersOf()
	var b strings.Builder
	fmt.Fprintf(&b, "# A mapping to start from, made of the first rows of %s. Check each line, and what is ignored.\n", oneLineOf(file))
	fmt.Fprintf(&b, "\n[[table]]\nfiles = [%s]\n", quoted(pattern(base)))
	records := s.records(base, kind)
	var requires, ignored []string
	for _, c := range s.columns {
		switch {
		case s.used[c.name] && len(requires) < 3 && (len(requires) == 0 || len(c.values) == len(rows)):
			requires = append(requires, quoted(c.name))
		case !s.used[c.name]:
			ignored = append(ignored, fmt.Sprintf("  { column = %s, note = \"no field found\" },%s\n", quoted(c.name), c.example()))
		}
	}
	if len(requires) > 0 {
		fmt.Fprintf(&b, "requires = [%s]\n", strings.Join(requires, ", "))
	}
	b.WriteString(s.numbers.keys())
	if len(ignored) > 0 {
		fmt.Fprintf(&b, "ignore = [\n%s]\n", strings.Join(ignored, ""))
	}
	b.WriteString(records)
	b.WriteString(s.unknownGenres())
	return b.String()
}

// A suggester writes a mapping.
type suggester struct {
	rows    []string
	columns []*suggestedColumn
	used    map[string]bool
	foreign bool // the numbers of the rows are those of others
	numbers numberReader
	unknown map[string]bool // names of genres
}

func newSuggester(rows []string, used map[string]bool) *suggester {
	s := &suggester{rows: rows, used: used, unknown: map[string]bool{}}
	for _, row := range rows {
		s.row(row)
	}
	return s
}

// where returns a suggester of the rows in which a column has a text.
func (s *suggester) where(c *suggestedColumn, text string) *suggester {
	var rows []string
	for _, row := range s.rows {
		if fields, err := record.Fields(row); err == nil && scalarText(fields.Value(c.name)) == text {
			rows = append(rows, row)
		}
	}
	out := newSuggester(rows, s.used)
	out.foreign, out.unknown, out.numbers = s.foreign, s.unknown, s.numbers
	return out
}

// unknownGenres writes, as a comment, aliases for the genres that are not known.
func (s *suggester) unknownGenres() string {
	if len(s.unknown) == 0 {
		return ""
	}
	const most = 20
	var b strings.Builder
	b.WriteString("\n# Genres that the API does not have: lists with one of these are kept whole. Name what they stand for, [] for nothing.\n# [aliases.genre]\n")
	for i, name := range slices.Sorted(maps.Keys(s.unknown)) {
		if i == most {
			break
		}
		fmt.Fprintf(&b, "# %s = []\n", quoted(oneLineOf(name)))
	}
	return b.String()
}

// row notes the cells of a row.
func (s *suggester) row(row string) {
	_ = record.EachField(row, func(name, raw string) error { // a good row
		i := slices.IndexFunc(s.columns, func(c *suggestedColumn) bool { return c.name == name })
		if i < 0 {
			const most = 500
			if i = len(s.columns); i == most {
				return nil
			}
			s.columns = append(s.columns, &suggestedColumn{name: name})
		}
		if raw != "null" && (raw[0] != '"' || strings.TrimSpace(record.Unquote(raw)) != "") {
			s.columns[i].values = append(s.columns[i].values, raw)
		}
		return nil
	})
}

func (s *suggester) names() []string {
	var out []string
	for _, c := range s.columns {
		out = append(out, c.name)
	}
	return out
}

// find returns the first column that goes by one of some plain names; nil for none.
func (s *suggester) find(names string) *suggestedColumn {
	for _, name := range strings.Fields(names) {
		for _, c := range s.columns {
			if fits, err := path.Match(name, plain(c.name)); fits && err == nil && len(c.values) > 0 {
				return c
			}
		}
	}
	return nil
}

// plain returns a name in lower case without what is no letter or digit.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// example returns a comment with a value of a column.
func (c *suggestedColumn) example() string {
	if len(c.values) == 0 {
		return "  # always empty"
	}
	return "  # such as " + oneLineOf(shortened(c.values[0], 60))
}

// shortened returns the first characters of a text.
func shortened(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// oneLineOf returns a text without characters that a comment cannot have.
func oneLineOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// quoted returns a text as TOML writes it: as JSON does, but for one character.
func quoted(s string) string {
	return strings.ReplaceAll(string(record.AppendString(nil, s)), "\x7f", `\u007f`)
}

// pattern returns the pattern of a file name. One that is a number is one of many.
func pattern(base string) string {
	if strings.Trim(base, "0123456789.") == "" {
		return "[0-9]*"
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(strings.ToLower(base))
}

// records writes the records of the table.
func (s *suggester) records(base, kind string) string {
	if _, ok := catalog.TypeNamed(kind); ok {
		return s.record(kind, "")
	}
	if of, values := s.kinds(); of != nil {
		s.used[of.name] = true
		out := ""
		for _, kind := range []string{"movie", "tv"} {
			if values[kind] != "" {
				out += s.where(of, values[kind]).record(kind, fmt.Sprintf("where = %s\n", literal(fmt.Sprintf("%s == %q", columnSource(of.name), values[kind]))))
			}
		}
		return out
	}
	switch name := plain(base); {
	case s.find("birthday birthyear deathday knownfordepartment placeofbirth") != nil:
		kind = "person"
	case s.find("numberofseasons numberofepisodes firstairdate seasons") != nil,
		strings.Contains(name, "tv"), strings.Contains(name, "serie"), strings.Contains(name, "shows"):
		kind = "tv"
	default:
		kind = "movie"
	}
	return s.record(kind, "")
}

// kinds returns a column by which movies and series differ, and the text
// that each kind has there.
func (s *suggester) kinds() (of *suggestedColumn, values map[string]string) {
	if of = s.find("type titletype contenttype mediatype"); of == nil {
		return nil, nil
	}
	values = map[string]string{}
	for _, raw := range of.values {
		text := scalarText(raw)
		kind := ""
		switch plain(text) {
		case "movie", "film", "feature", "movies":
			kind = "movie"
		case "tvshow", "tvseries", "series", "show", "tv":
			kind = "tv"
		}
		if kind != "" && values[kind] == "" {
			values[kind] = text
		}
	}
	if len(values) == 0 {
		return nil, nil
	}
	return of, values
}
