package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/record"
)

// A suggestedColumn is a column of a table for which a mapping is written.
type suggestedColumn struct {
	name   string
	values []string // JSON texts of its cells that say something
}

// Suggest returns the text of a mapping file to start from for a table that is unknown.
// file is its name for comments, base the same without folder and extensions, and kind
// what its rows are; "" guesses that. What it says of a column reads all cells of the
// rows that are given.
func Suggest(file, base, kind string, rows []string) string {
	s := newSuggester(rows, map[string]bool{})
	s.foreign = skipReason(ready(Kaggle), base, s.names()) != ""
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
	foreign bool            // the numbers of the rows are those of others
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
		if raw, err := inside(row, []string{c.name}); err == nil && scalarText(raw) == text {
			rows = append(rows, row)
		}
	}
	out := newSuggester(rows, s.used)
	out.foreign, out.unknown = s.foreign, s.unknown
	return out
}

// unknownGenres writes, as a comment, aliases for the genres that are not known.
func (s *suggester) unknownGenres() string {
	if len(s.unknown) == 0 {
		return ""
	}
	const most = 20
	var b strings.Builder
	b.WriteString("\n# Genres that the API does not have: lists with one of these are kept whole. Say what they stand for, [] for nothing.\n# [aliases.genre]\n")
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
			if plain(c.name) == name && len(c.values) > 0 {
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

// pattern returns the pattern of a file name.
func pattern(base string) string {
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
				out += s.where(of, values[kind]).record(kind, fmt.Sprintf("where = { column = %s, is = %s }\n", quoted(of.name), quoted(values[kind])))
			}
		}
		return out
	}
	switch name := plain(base); {
	case s.find("birthday birthyear deathday knownfordepartment placeofbirth") != nil:
		kind = "person"
	case s.find("numberofseasons numberofepisodes firstairdate seasons") != nil,
		strings.Contains(name, "tv"), strings.Contains(name, "series"), strings.Contains(name, "shows"):
		kind = "tv"
	default:
		kind = "movie"
	}
	return s.record(kind, "")
}

// kinds returns a column that says which rows are movies and which series, and the text
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

// A guess is what columns of some names are, by kind, in plain names.
type guess struct {
	names string
	movie []string // entries without their column, the first that reads all cells is taken
	tv    []string // nil for those of movies
}

const genreNames = "genres genre listedin genreslist categories"

// guesses are tried in their order; of two columns for one field the first wins.
var guesses = []guess{
	{"imdbid imdb imdbtitleid tconst const imdbnumber", []string{`field = "imdb_id", as = "imdb"`}, []string{`field = "external_ids.imdb_id", as = "imdb"`}},
	{"originaltitle originalname", []string{`field = "original_title"`}, []string{`field = "original_name"`}},
	{"overview description plot synopsis summary storyline", []string{`field = "overview"`}, nil},
	{genreNames, []string{`field = "genres"`, `field = "genres", as = "python"`, `field = "genre_ids"`, `field = "genres", as = "names", of = "genre"`}, nil},
	{"keywords tags plotkeywords", []string{
		`field = "keywords.keywords"`, `field = "keywords.keywords", as = "python"`, `field = "keywords.keywords", as = "names", of = "keyword"`,
	}, []string{
		`field = "keywords.results"`, `field = "keywords.results", as = "python"`, `field = "keywords.results", as = "names", of = "keyword"`,
	}},
	{"productioncompanies companies company studio studios productioncompany", []string{
		`field = "production_companies"`, `field = "production_companies", as = "python"`, `field = "production_companies", as = "names", of = "company"`,
	}, nil},
	{"networks network", nil, []string{`field = "networks"`, `field = "networks", as = "python"`, `field = "networks", as = "names", of = "network"`}},
	{"productioncountries countries country productioncountry origin", []string{
		`field = "production_countries"`, `field = "production_countries", as = "python"`, `field = "production_countries", as = "names", of = "country"`,
	}, nil},
	{"origincountry", []string{`field = "origin_country", as = "names", of = "country"`}, nil},
	{"spokenlanguages languages langs", []string{
		`field = "spoken_languages"`, `field = "spoken_languages", as = "python"`, `field = "spoken_languages", as = "names", of = "language"`,
	}, nil},
	{"originallanguage language lang", []string{`field = "original_language", as = "name", of = "language"`}, nil},
	{"voteaverage averagerating", []string{`field = "vote_average"`}, nil},
	{"votecount numvotes votes", []string{`field = "vote_count"`}, nil},
	{"numberofseasons seasons", []string{}, []string{`field = "number_of_seasons"`}},
	{"numberofepisodes episodes", []string{}, []string{`field = "number_of_episodes"`}},
	{"popularity", []string{`field = "popularity"`}, nil},
	{"homepage website", []string{`field = "homepage"`}, nil},
	{"revenue gross boxoffice", []string{`field = "revenue"`}, []string{}},
}

// minutes adds the runtime of movies, without its unit.
func (r *suggestedRecord) minutes() {
	c := r.find("runtime runtimeminutes minutes duration length")
	if c == nil || r.kind != "movie" {
		return
	}
	var ends []string
	for _, raw := range c.values {
		text := scalarText(raw)
		if end := strings.TrimLeft(text, "0123456789"); strings.Contains(end, "min") && !slices.Contains(ends, quoted(end)) && len(ends) < 4 {
			ends = append(ends, quoted(end))
		}
	}
	r.first(c, `field = "runtime"`, `field = "runtime", strip_end = [`+strings.Join(ends, ", ")+`]`)
}

// genres adds genres by name, also where none of the names is known, and notes those.
func (r *suggestedRecord) genres() {
	for _, name := range strings.Fields(genreNames) {
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

// people are the columns of people by name, who are in the credits.
var people = []struct{ names, department, job string }{
	{"director directors directedby", "Directing", "Director"},
	{"writer writers screenplay", "Writing", "Writer"},
	{"creator creators producer producers", "Production", "Producer"},
}

// A suggestedRecord is a record that is being written.
type suggestedRecord struct {
	*suggester
	kind   string
	typ    *catalog.Type
	lines  []string
	fields map[string]bool
}

// record writes what the rows say of a resource of a kind, and of its crew.
func (s *suggester) record(kind, where string) string {
	typ, _ := catalog.TypeNamed(kind)
	r := &suggestedRecord{suggester: s, kind: kind, typ: typ, fields: map[string]bool{}}
	title, day := "title", "release_date"
	switch kind {
	case "tv":
		title, day = "name", "first_air_date"
	case "movie":
	default:
		title, day = "name", ""
	}
	id := r.id()
	r.title(title, day)
	if day != "" {
		r.day(day, "releasedate firstairdate released premiere premiered premieredate")
		r.day(day, "year releaseyear startyear yearofrelease date airdate")
	}
	for _, g := range guesses {
		specs := g.movie
		if kind != "movie" && g.tv != nil {
			specs = g.tv
		}
		for _, name := range strings.Fields(g.names) {
			r.first(s.find(name), specs...)
		}
	}
	r.minutes()
	r.genres()
	r.image("poster_path", "posterpath poster posterurl image")
	r.image("backdrop_path", "backdroppath backdrop backdropurl")
	r.cast()
	for _, c := range s.columns { // what is called like a field
		if f, ok := typ.Plan.Field(c.name); ok && !f.Own && !s.used[c.name] {
			r.first(c, `field = `+quoted(c.name), `field = `+quoted(c.name)+`, as = "python"`)
		}
	}
	head := fmt.Sprintf("\n[[table.record]]\nkind = %q\n%s", kind, where)
	if !id {
		head += r.mint(title, day)
	}
	return head + "map = [\n" + strings.Join(r.lines, "") + "]\n" + r.crew(where)
}

// add adds an entry unless the field has another column; it reports whether it did.
func (r *suggestedRecord) add(c *suggestedColumn, spec, comment string) bool {
	e := r.entry(c, spec)
	if e == nil || r.fields[e.path] {
		return false
	}
	r.fields[e.path], r.used[c.name] = true, true
	r.lines = append(r.lines, fmt.Sprintf("  { column = %s, %s },%s\n", quoted(c.name), spec, comment))
	return true
}

// first adds the first of some entries that reads all cells of a column.
func (r *suggestedRecord) first(c *suggestedColumn, specs ...string) {
	if c == nil || r.used[c.name] && r.wasHere(c.name) {
		return
	}
	for _, spec := range specs {
		comment := ""
		if strings.Contains(spec, `"company"`) || strings.Contains(spec, `"keyword"`) || strings.Contains(spec, `"network"`) {
			comment = "  # mint = true gives unknown names ids of their own"
		}
		if e := r.entry(c, spec); e != nil && e.reads(r.typ, c.values) && r.add(c, spec, comment) {
			return
		}
	}
}

// wasHere reports whether an entry of this record has a column.
func (r *suggestedRecord) wasHere(column string) bool {
	return slices.ContainsFunc(r.lines, func(line string) bool { return strings.HasPrefix(line, "  { column = "+quoted(column)+",") })
}

// entry compiles an entry; nil for one that the kind cannot have.
func (r *suggestedRecord) entry(c *suggestedColumn, spec string) *entry {
	var parsed struct {
		Map []entrySpec `toml:"map"`
	}
	if DecodeTOML([]byte("map = [{ column = "+quoted(c.name)+", "+spec+" }]"), &parsed) != nil {
		return nil
	}
	e, err := (&compiler{mapping: &Mapping{}}).entry(place{typ: r.typ, plan: r.typ.Plan}, &parsed.Map[0])
	if err != nil {
		return nil
	}
	return e
}

// reads reports whether an entry reads all cells of a column, and as more than texts that
// nothing is known by.
func (e *entry) reads(typ *catalog.Type, values []string) bool {
	known := 0
	for _, raw := range values {
		out, err := e.convert(nil, raw, nil)
		var left *leftError
		switch {
		case errors.As(err, &left):
			if len(out) > 0 || left.nothing != nil || e.ofNames.vocabulary == nil {
				known++
			}
			continue
		case err != nil:
			return false
		}
		if e.name == asText && raw[0] != '"' || len(out) > 0 && !e.fits(typ, string(out)) {
			return false
		}
		known++
	}
	return known > 0
}

// fits reports whether a value is one that the field can have.
func (e *entry) fits(typ *catalog.Type, value string) bool {
	if e.field.Shape == record.ShapeInts {
		var list []int64
		return json.Unmarshal([]byte(value), &list) == nil
	}
	for _, name := range slices.Backward(strings.Split(e.path, ".")) {
		value = "{" + quoted(name) + ":" + value + "}"
	}
	p := record.NewParser()
	return p.Parse(value, typ.New()) == nil && len(p.Counts.Unknown) == 0
}

// id adds the column of TMDB's ids; false where there is none.
func (r *suggestedRecord) id() bool {
	if r.foreign {
		return false
	}
	for _, name := range strings.Fields("tmdbid id tmdb " + r.kind + "id movieid filmid showid seriesid titleid") {
		c := r.find(name)
		if c == nil {
			continue
		}
		if e := r.entry(c, `field = "id"`); e == nil || !e.reads(r.typ, c.values) {
			continue
		}
		comment := ""
		if !strings.HasPrefix(name, "tmdb") {
			comment = "  # if these are TMDB's numbers; if not, ignore the column and mint ids: see the document"
		}
		return r.add(c, `field = "id"`, comment)
	}
	return false
}

var englishArticles = []string{"The", "A", "An"}

// title adds the title, and its year where the cells have one.
func (r *suggestedRecord) title(field, day string) {
	c := r.find("title name film movie show movietitle filmtitle seriestitle showtitle primarytitle seriesname")
	if c == nil {
		return
	}
	years := 0
	for _, raw := range c.values {
		if _, year := splitTitle(scalarText(raw)); year != "" {
			years++
		}
	}
	if day == "" || years*2 < len(c.values) {
		r.add(c, "field = "+quoted(field), "")
		return
	}
	articles := ""
	for _, raw := range c.values {
		if title, _ := splitTitle(scalarText(raw)); articleFirst(title, englishArticles) != title {
			articles = `, articles = ["` + strings.Join(englishArticles, `", "`) + `"]`
		}
	}
	r.add(c, "field = "+quoted(field)+`, as = "title"`+articles, "")
	if r.find("releasedate firstairdate released premiere premiered year releaseyear startyear") == nil {
		r.add(c, "field = "+quoted(day)+`, as = "title_year"`, "")
	}
}

// suggestedFormats are the formats of days that are tried.
var suggestedFormats = []string{
	"YYYY-MM-DD", "YYYY/MM/DD", "YYYYMMDD", "D.M.YYYY", "M/D/YYYY", "D/M/YYYY", "D-M-YYYY", "MMM D YYYY", "MMM D, YYYY", "MMMM D, YYYY", "D MMM YYYY",
	"D MMMM YYYY", "D-MMM-YYYY", "D-MMM-YY", "M/D/YY", "D/M/YY", "YYYY-MM", "MMMM YYYY", "MMM YYYY", "YYYY", "excel",
}

// day adds a column of days with the formats that read most of its cells.
func (r *suggestedRecord) day(field, names string) {
	for _, name := range strings.Fields(names) {
		c := r.find(name)
		if c == nil || r.fields[field] {
			continue
		}
		formats, comment := dayFormats(c.values)
		if len(formats) > 0 {
			r.add(c, "field = "+quoted(field)+`, as = "date", formats = [`+strings.Join(formats, ", ")+"]", comment)
		}
	}
}

// dayFormats returns the formats of the cells of a column, quoted; none where too many
// cells are no days.
func dayFormats(values []string) (formats []string, comment string) {
	var names []string
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
	if len(rest)*5 > len(values) {
		return nil, ""
	}
	for i, name := range names {
		formats = append(formats, quoted(name))
		other := strings.NewReplacer("M/D", "D/M", "D/M", "M/D").Replace(name)
		switch {
		case i == 0 && other != name && len(unread(other, values)) == 0:
			comment = "  # or " + other + ": the rows do not tell"
		case strings.HasSuffix(name, "YY") && !strings.HasSuffix(name, "YYYY"):
			comment = "  # two digits are 1969 to 2068: last_year = 2026 makes that 1927 to 2026"
		}
	}
	if len(rest) > 0 {
		comment = "  # does not read " + oneLineOf(shortened(rest[0], 40))
	}
	return formats, comment
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

// image adds a column of images, without the front of their URLs.
func (r *suggestedRecord) image(field, names string) {
	c := r.find(names)
	if c == nil {
		return
	}
	var prefixes []string
	for _, raw := range c.values {
		text := scalarText(raw)
		prefix := imagePrefix.FindString(text)
		if !strings.HasPrefix(text[len(prefix):], "/") {
			return // of another site
		}
		if prefix != "" && !slices.Contains(prefixes, quoted(prefix)) {
			prefixes = append(prefixes, quoted(prefix))
		}
	}
	spec := "field = " + quoted(field)
	if len(prefixes) > 0 {
		spec += ", strip = [" + strings.Join(prefixes, ", ") + "]"
	}
	r.first(c, spec)
}

// separatorOf returns the key that says what stands between the names of a column; "" for
// lists whose names are told apart.
func separatorOf(c *suggestedColumn) string {
	for _, separator := range []string{"|", ";", ", ", ","} {
		for _, raw := range c.values {
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

// cast adds the cast by name.
func (r *suggestedRecord) cast() {
	for _, name := range strings.Fields("cast actors stars starring actor") {
		c := r.find(name)
		if c == nil {
			continue
		}
		r.first(c, `field = "credits.cast"`, `field = "credits.cast", as = "python"`,
			`field = "credits.cast", as = "names", of = "person"`+separatorOf(c))
	}
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
			r.kind, where, quoted(c.name), separatorOf(c), p.department, p.job)
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
