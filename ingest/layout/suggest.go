package layout

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

//go:embed suggest.txt
var suggestText string

// A guess is what columns of some names are: the entries that are tried for each.
type guess struct{ names, entries []string }

var guesses = sync.OnceValue(func() (out []guess) {
	for line := range strings.Lines(suggestText) {
		names, list, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || names[0] == '#' {
			continue
		}
		g := guess{names: strings.Fields(names)}
		for _, e := range strings.Split(list, " | ") {
			if f := strings.Fields(e); f[0] == "list" {
				g.entries = append(g.entries, f[1]+" = {c}", f[1]+" = python({c})", fmt.Sprintf("%s = names({c}, %q)", f[1], f[2]))
				continue
			}
			g.entries = append(g.entries, e)
		}
		out = append(out, g)
	}
	return out
})

// people are the columns of people by name, who are in the credits.
var people = []struct{ names, department, job string }{
	{"director directors directedby regie regisseur réalisateur réalisation dirección direção diretor regia regista", "Directing", "Director"},
	{"writer writers screenplay drehbuch scénario guion roteiro sceneggiatura", "Writing", "Writer"},
	{"creator creators producer producers", "Production", "Producer"},
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

// scales are the words and signs behind numbers that are known, and scaled matches a number with one.
var (
	scales = map[string]float64{
		"k": 1e3, "K": 1e3, "Tsd.": 1e3, "M": 1e6, "Mio": 1e6, "Mio.": 1e6, "mln": 1e6, "million": 1e6, "Millionen": 1e6, "B": 1e9, "Mrd": 1e9, "Mrd.": 1e9, "billion": 1e9,
	}
	scaled = regexp.MustCompile(`^\$?[\d., ]*\d\s*([\pL.]+)$`)
)

// Suggest returns the text of a mapping file to start from for a table that is unknown.
// file is its name for comments, base the same without folder and extensions, and kind
// what its rows are; "" guesses that. Of the ways of writing numbers, the text has the one by which
// most columns are fields.
func Suggest(file, base, kind string, rows []string) string {
	columns, scale := columnsIn(rows)
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	foreign := skipReason(ready(Kaggle), base, names) != ""
	var best draft
	for i, numbers := range conventions {
		numbers.scale = scale
		d := draft{columns: columns, rows: rows, numbers: numbers, foreign: foreign, used: map[string]bool{}}
		if d.records(base, kind); i == 0 || len(d.used) > len(best.used) {
			best = d
		}
	}
	return fmt.Sprintf("# A mapping to start from, made of the first rows of %s. Check each line, and what is ignored.\n\n[[table]]\nfiles = [%s]\n",
		oneLineOf(file), quoted(pattern(base))) + best.table() + best.text
}

// A Draft is a mapping proposed for a table that no mapping describes.
type Draft struct {
	Text    string        // the mapping file, TOML, with comments
	Certain bool          // it may be used without a person's check
	Columns []DraftColumn // in the order of the table
}

// A DraftColumn is what a draft makes of one column.
type DraftColumn struct {
	Name  string
	Field string // path of the field, with the kind where the table makes several; "" if no field takes the column
	Note  string // a near second candidate, a scale, a century, cells that do not fit; "" for nothing to say
}

// NewDraft proposes a mapping.
func NewDraft(file, base, kind string, rows []string) Draft {
	return Draft{Text: Suggest(file, base, kind, rows)}
}

// A draftColumn is a column of a table for which a mapping is written.
type draftColumn struct {
	name   string
	values []string // JSON texts of its cells that are not empty
}

// columnsIn returns the columns of rows, and the scales that cells have.
func columnsIn(rows []string) (out []*draftColumn, scale map[string]float64) {
	const most = 500
	scale = map[string]float64{}
	for _, row := range rows {
		_ = record.EachField(row, func(name, raw string) error { // a good row
			i := slices.IndexFunc(out, func(c *draftColumn) bool { return c.name == name })
			if i < 0 && len(out) < most {
				i, out = len(out), append(out, &draftColumn{name: name})
			}
			if text := scalarText(raw); i >= 0 && raw != "null" && (raw[0] != '"' || strings.TrimSpace(text) != "") {
				out[i].values = append(out[i].values, raw)
				if m := scaled.FindStringSubmatch(text); m != nil && scales[m[1]] != 0 {
					scale[m[1]] = scales[m[1]]
				}
			}
			return nil
		})
	}
	return out, scale
}

// A draft is a mapping that is being written.
type draft struct {
	columns []*draftColumn
	rows    []string
	numbers numberReader
	foreign bool            // the ids of the rows are those of others
	used    map[string]bool // names of columns
	text    string          // the records
}

// table writes what is known of the whole table.
func (d *draft) table() (out string) {
	var requires, ignored []string
	for _, c := range d.columns {
		switch {
		case d.used[c.name] && len(requires) < 3 && (len(requires) == 0 || len(c.values) == len(d.rows)):
			requires = append(requires, quoted(c.name))
		case !d.used[c.name]:
			example := "always empty"
			if len(c.values) > 0 {
				example = "such as " + oneLineOf(fmt.Sprintf("%.60s", c.values[0]))
			}
			ignored = append(ignored, fmt.Sprintf("  { column = %s, note = \"no field found\" },  # %s\n", quoted(c.name), example))
		}
	}
	if requires != nil {
		out += "requires = [" + strings.Join(requires, ", ") + "]\n"
	}
	if d.numbers.decimal != "" {
		out += "decimal = " + quoted(d.numbers.decimal) + "\n"
	}
	if d.numbers.thousands != "" {
		out += "thousands = " + quoted(d.numbers.thousands) + "\n"
	}
	var words []string
	for _, word := range slices.Sorted(maps.Keys(d.numbers.scale)) {
		words = append(words, fmt.Sprintf("%s = %.0f", quoted(word), d.numbers.scale[word]))
	}
	if words != nil {
		out += "scale = { " + strings.Join(words, ", ") + " }\n"
	}
	if ignored != nil {
		out += "ignore = [\n" + strings.Join(ignored, "") + "]\n"
	}
	return out
}

// records writes the records of the table: those of movies and of series where a column tells them apart.
func (d *draft) records(base, kind string) {
	if _, ok := catalog.TypeNamed(kind); ok {
		d.record(kind, "", d.columns)
		return
	}
	if of := find(d.columns, "type titletype contenttype mediatype"); of != nil {
		values := map[string]string{}
		for _, raw := range of.values {
			text := scalarText(raw)
			switch plain(text) {
			case "movie", "film", "feature", "movies":
				values["movie"] = text
			case "tvshow", "tvseries", "series", "show", "tv":
				values["tv"] = text
			}
		}
		for _, kind := range slices.Sorted(maps.Keys(values)) {
			is := values[kind]
			rows := slices.DeleteFunc(slices.Clone(d.rows), func(row string) bool {
				fields, err := record.Fields(row)
				return err != nil || scalarText(fields.Value(of.name)) != is
			})
			columns, _ := columnsIn(rows)
			d.used[of.name] = true
			d.record(kind, fmt.Sprintf("where = %s\n", literal(fmt.Sprintf("%s == %q", columnSource(of.name), is))), columns)
		}
		if len(values) > 0 {
			return
		}
	}
	name := plain(base)
	switch {
	case find(d.columns, "birthday birthyear deathday knownfordepartment placeofbirth") != nil:
		kind = "person"
	case find(d.columns, "numberofseasons numberofepisodes firstairdate seasons") != nil,
		strings.Contains(name, "tv"), strings.Contains(name, "serie"), strings.Contains(name, "shows"):
		kind = "tv"
	default:
		kind = "movie"
	}
	d.record(kind, "", d.columns)
}

// A draftRecord is a record that is being written.
type draftRecord struct {
	*draft
	typ    *catalog.Type
	lines  []string
	fields map[string]bool
	here   map[string]bool // columns of lines
}

// record writes a record of a kind with the columns of its rows, and those of its crew.
func (d *draft) record(kind, where string, columns []*draftColumn) {
	typ, _ := catalog.TypeNamed(kind)
	r := &draftRecord{draft: d, typ: typ, fields: map[string]bool{}, here: map[string]bool{}}
	for _, g := range guesses() {
		for _, name := range g.names {
			r.first(find(columns, strings.Replace(name, "{kind}", kind, 1)), g.entries...)
		}
	}
	for _, c := range columns {
		if f, ok := typ.Plan.Field(c.name); ok && !f.Own && !d.used[c.name] { // it is called like a field
			r.first(c, c.name+" = {c}", c.name+" = python({c})")
		}
	}
	r.imdbIDs(columns)
	d.text += fmt.Sprintf("\n[[table.record]]\nkind = %q\n%s", kind, where)
	title := "name"
	if kind == "movie" {
		title = "title"
	}
	if !r.fields["id"] {
		switch {
		case r.fields["imdb_id"] || r.fields["external_ids.imdb_id"]:
			d.text += "mint = [\"imdb_id\"]  # where no other record has the same imdb_id\n"
		case r.fields[title] && (r.fields["release_date"] || r.fields["first_air_date"]):
			d.text += fmt.Sprintf("mint = [%q, \"year\"]  # an id made of title and year: no row has TMDB's\n", title)
		case r.fields[title]:
			d.text += fmt.Sprintf("mint = [%q]  # an id made of the %[1]s: no row has TMDB's\n", title)
		default:
			d.text += "# No column was taken for an id or a title: a column must be the field id, or mint = [...] name what an id is made of.\n"
		}
	}
	if !r.fields[title] && len(r.lines) > 0 && slices.Contains(mintable, typ.Kind) {
		r.lines = append(r.lines, fmt.Sprintf("%s = ''  # name its column, or take this line out if other dumps give it\n", title))
	}
	d.text += "[table.record.fields]\n" + strings.Join(r.lines, "")
	if typ.Kind != fragment.KindMovie && typ.Kind != fragment.KindTV {
		return
	}
	for _, p := range people { // each name makes a record
		c := find(columns, p.names)
		if c == nil || r.here[c.name] {
			continue
		}
		d.used[c.name] = true
		each := columnSource(c.name)
		if slices.ContainsFunc(c.values, func(raw string) bool { return raw[0] == '"' }) {
			each = fmt.Sprintf("split(%s, %q)", each, separatorOf(c.values))
		}
		d.text += fmt.Sprintf("\n[[table.record]]\nkind = %q\n%slist = \"credits.crew\"\neach = %s\n[table.record.element]\n"+
			"id = 'id(element, \"person\")'\nname = 'element'\ndepartment = '%q'\njob = '%q'\n", kind, where, literal(each), p.department, p.job)
	}
}

// imdbIDs takes the first column of IMDb's ids, whatever its name is, for the field of those.
func (r *draftRecord) imdbIDs(columns []*draftColumn) {
	prefix, source := "tt", "imdb({c})"
	if r.typ.Kind == fragment.KindPerson {
		prefix, source = "nm", "{c}"
	}
	for _, c := range columns {
		ids := 0
		for _, raw := range c.values {
			number, ok := strings.CutPrefix(scalarText(raw), prefix)
			if ok = ok && len(number) >= imdbDigits && strings.Trim(number, "0123456789") == ""; ok {
				ids++
			} else if !isPlaceholder(scalarText(raw)) {
				ids = -len(c.values)
			}
		}
		if ids > 0 {
			r.first(c, "imdb_id = "+source, "external_ids.imdb_id = "+source)
		}
	}
}

// first adds the first of some entries that reads all cells of a column, or ends in {some}, and whose field has no other
// column. A title may have a second entry, of its year.
func (r *draftRecord) first(c *draftColumn, entries ...string) {
	if c == nil || r.here[c.name] && !strings.Contains(entries[0], "{title}") {
		return
	}
	for _, spec := range entries {
		spec, some := strings.CutSuffix(spec, "{some}")
		comment := ""
		if strings.Contains(spec, "{formats}") {
			formats, note := dayFormats(c.values)
			spec, comment, some = strings.Replace(spec, "{formats}", formats, 1), note, true
		}
		title := columnSource(c.name)
		if r.here[c.name] { // it has the year, which is no part of the title
			title = `title({c}, "The", "A", "An")`
		}
		spec = strings.NewReplacer("{title}", title, "{separator}", strconv.Quote(separatorOf(c.values)), "{image}", imageSource(c.values)).Replace(spec)
		field, source, _ := strings.Cut(strings.ReplaceAll(spec, "{c}", columnSource(c.name)), " = ")
		e := r.entry(field, source)
		if e == nil || r.fields[field] || !some && !e.reads(r.typ, c) {
			continue
		}
		switch {
		case field == "id" && !strings.Contains(plain(c.name), "tmdb"):
			if r.foreign {
				continue
			}
			comment = "  # if these are TMDB's numbers; if not, ignore the column and mint ids: see the document"
		case len(e.names) > 0 && nameKinds[e.names[0]] != 0 && e.names[0] != ofPerson:
			comment = "  # {mint: true} behind it gives unknown names ids of their own"
		}
		r.fields[field], r.used[c.name], r.here[c.name] = true, true, true
		r.lines = append(r.lines, fmt.Sprintf("%s = %s%s\n", field, literal(source), comment))
		return
	}
}

// entry compiles an entry; nil for one that the kind cannot have.
func (r *draftRecord) entry(field, source string) *entry {
	c := compiler{mapping: &Mapping{}, numbers: r.numbers, at: place{typ: r.typ, plan: r.typ.Plan}}
	f, err := c.at.field(field)
	s := &shape{root: &output{entry: -1}}
	if err != nil || c.entry(s, field, f, source) != nil {
		return nil
	}
	return s.entries[0]
}

// reads reports whether an entry reads all cells of a column, and half of them as more than texts that nothing is known by.
func (e *entry) reads(typ *catalog.Type, c *draftColumn) bool {
	known := 0
	v, b := newEvaluator(nil), (&form{}).bind([]string{c.name})
	for _, raw := range c.values {
		value, err := v.value(e.expression, &boundRow{binding: b, cells: []string{raw}})
		var out []byte
		if err == nil {
			out, err = e.append(nil, value)
		}
		if err != nil || e.isColumn() && e.field.Shape == record.ShapeString && raw[0] != '"' || len(out) > 0 && !e.fits(typ, string(out)) {
			return false
		}
		if len(out) > 0 || isPlaceholder(scalarText(raw)) || len(v.left) > 0 && (v.left[0].nothing != nil || nameKinds[e.names[0]] != 0) {
			known++
		}
	}
	return 2*known >= len(c.values)
}

// fits reports whether a value is one that the field can have. Elements of a list whose elements have ids
// must have them: cast without ids would take the place of cast with them.
func (e *entry) fits(typ *catalog.Type, value string) bool {
	if e.field.Shape == record.ShapeInts {
		var list []int64
		return json.Unmarshal([]byte(value), &list) == nil
	}
	if e.field.Shape == record.ShapeObjects && value[0] == '[' {
		_, keyed := e.field.Elem.Field("id")
		known := true
		_ = record.EachElement(value, func(_ int, raw string) error { // the parser judges it
			fields, err := record.Fields(raw)
			known = known && err == nil && scalarText(fields.Value("id")) != ""
			return nil
		})
		if keyed && !known {
			return false
		}
	}
	for _, name := range slices.Backward(strings.Split(e.path, ".")) {
		value = "{" + quoted(name) + ":" + value + "}"
	}
	p := record.NewParser()
	return p.Parse(value, typ.New()) == nil && len(p.Counts.Unknown) == 0
}

// suggestedFormats are the formats of days that are tried.
var suggestedFormats = []string{
	"YYYY-MM-DD", "YYYY/MM/DD", "YYYYMMDD", "D.M.YYYY", "M/D/YYYY", "D/M/YYYY", "D-M-YYYY", "MMM D YYYY", "MMM D, YYYY", "MMMM D, YYYY", "D MMM YYYY",
	"D MMMM YYYY", "D-MMM-YYYY", "D-MMM-YY", "M/D/YY", "D/M/YY", "YYYY-MM", "MMMM YYYY", "MMM YYYY", "YYYY", "excel",
}

// dayFormats returns the formats that read most cells, quoted, and a comment. Where too many are no days, it is a format
// that there is not.
func dayFormats(values []string) (list, comment string) {
	unread := func(names []string) (out []string) {
		r, err := newDayReader(names, 0)
		for _, raw := range values {
			text := scalarText(raw)
			if err != nil {
				out = append(out, text)
			} else if _, err := r.parse(text); err != nil && !isPlaceholder(text) {
				out = append(out, text)
			}
		}
		return out
	}
	names, rest := []string(nil), values
	for len(rest) > 0 && len(names) < 4 {
		before := len(rest)
		var best []string
		for _, name := range suggestedFormats {
			if tried := append(slices.Clone(names), name); len(unread(tried)) < len(rest) {
				best, rest = tried, unread(tried)
			}
		}
		if len(rest) == before {
			break
		}
		names = best
	}
	if names == nil || len(rest)*5 > len(values) {
		return `"none"`, ""
	}
	if len(rest) > 0 {
		comment = "  # does not read " + oneLineOf(fmt.Sprintf("%.40s", rest[0]))
	} else if other := strings.NewReplacer("M/D", "D/M", "D/M", "M/D").Replace(names[0]); other != names[0] && len(unread([]string{other})) == 0 {
		comment = "  # or " + other + ": the rows fit both"
	}
	for i := range names {
		names[i] = quoted(names[i])
	}
	return strings.Join(names, ", "), comment
}

// imageURL is the URL of an image of TMDB's, or its path.
var imageURL = regexp.MustCompile(`^(https?://[^/]+/t/p/[^/]+)?/[^/]+$`)

// imageSource returns what makes paths of the URLs of images; nothing for those of another site.
func imageSource(values []string) string {
	var prefixes []string
	for _, raw := range values {
		m := imageURL.FindStringSubmatch(scalarText(raw))
		if m == nil {
			return ""
		}
		if m[1] != "" && !slices.Contains(prefixes, strconv.Quote(m[1])) {
			prefixes = append(prefixes, strconv.Quote(m[1]))
		}
	}
	if prefixes == nil {
		return "{c}"
	}
	return "trimPrefix({c}, " + strings.Join(prefixes, ", ") + ")"
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

// find returns the first column that goes by one of some plain names; nil for none.
func find(columns []*draftColumn, names string) *draftColumn {
	for _, name := range strings.Fields(names) {
		for _, c := range columns {
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

// columnSource returns a column in an expression.
func columnSource(name string) string {
	if e, err := newExpression(name, &site{}); err == nil && e.isColumn() && e.columns[0] == name && name != rowName {
		return name
	}
	return rowName + "[" + string(record.AppendString(nil, name)) + "]"
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

// literal returns an expression as TOML writes it.
func literal(source string) string {
	if strings.ContainsAny(source, "'\n\x7f") {
		return quoted(source)
	}
	return "'" + source + "'"
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
