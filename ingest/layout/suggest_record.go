package layout

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

//go:embed suggest.txt
var suggestText string

// A guess is what columns of some names are: the entries that are tried for each.
type guess struct{ names, entries []string }

// guesses are tried in their order; of two columns for one field the first wins.
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

// A suggestedRecord is a record that is being written.
type suggestedRecord struct {
	*suggester
	typ    *catalog.Type
	title  string // the fields of title and day
	day    string
	lines  []string
	fields map[string]bool
	here   map[string]bool // columns of lines
}

// record writes a record of a kind with the columns of the rows, and one of its crew.
func (s *suggester) record(kind, where string) string {
	typ, _ := catalog.TypeNamed(kind)
	r := &suggestedRecord{suggester: s, typ: typ, title: "name", fields: map[string]bool{}, here: map[string]bool{}}
	switch kind {
	case "movie":
		r.title, r.day = "title", "release_date"
	case "tv":
		r.day = "first_air_date"
	}
	for _, g := range guesses() {
		for _, name := range g.names {
			r.first(s.find(strings.Replace(name, "{kind}", kind, 1)), g.entries...)
		}
	}
	for _, c := range s.columns { // those that are called like a field
		if f, ok := typ.Plan.Field(c.name); ok && !f.Own && !s.used[c.name] {
			r.first(c, c.name+" = {c}", c.name+" = python({c})")
		}
	}
	r.imdbIDs()
	r.byValues()
	head := fmt.Sprintf("\n[[table.record]]\nkind = %q\n%s", kind, where)
	if !r.fields["id"] {
		head += r.mint()
	}
	if !r.fields[r.title] && len(r.lines) > 0 && slices.Contains(mintable, r.typ.Kind) {
		r.lines = append(r.lines, fmt.Sprintf("%s = ''  # name its column, or take this line out if other dumps give it\n", r.title))
	}
	return head + "[table.record.fields]\n" + strings.Join(r.lines, "") + r.crew(where)
}

// imdbIDs takes the first column of IMDb's ids, whatever its name is, for the field of those.
func (r *suggestedRecord) imdbIDs() {
	prefix, source := "tt", "imdb({c})"
	if r.typ.Kind == fragment.KindPerson {
		prefix, source = "nm", "{c}"
	}
	for _, c := range r.columns {
		isID := func(raw string) bool {
			number, ok := strings.CutPrefix(scalarText(raw), prefix)
			return ok && len(number) >= 7 && strings.Trim(number, "0123456789") == ""
		}
		if slices.ContainsFunc(c.values, isID) && !slices.ContainsFunc(c.values, func(raw string) bool { return !isID(raw) && !isPlaceholder(scalarText(raw)) }) {
			r.first(c, "imdb_id = "+source, "external_ids.imdb_id = "+source)
		}
	}
}

// notReleases are in the names of columns whose days are not those of releases.
var notReleases = regexp.MustCompile(`(?i)add|watch|rated|seen|updat|creat|modif|birth|death|crawl|extract`)

// byValues takes columns whose names say nothing for what only their cells can be: genres, and days.
func (r *suggestedRecord) byValues() {
	for _, c := range r.columns {
		if r.used[c.name] || r.here[c.name] || len(c.values) == 0 || r.day == "" {
			continue
		}
		if e := r.entry("genres", "names("+columnSource(c.name)+`, "genre")`); e != nil && !r.fields["genres"] && !r.fields["genre_ids"] && e.reads(r.typ, c) {
			r.first(c, `genres = names({c}, "genre")`)
			continue
		}
		formats, _, ok := dayFormats(r, c)
		if ok && strings.ContainsAny(formats, "-/. ") && !notReleases.MatchString(c.name) {
			r.first(c, "{day} = date({c}, {formats})")
		}
	}
}

// first adds the first of some entries that reads all cells of a column and whose field has
// no other column. A title may have a second entry, of its year.
func (r *suggestedRecord) first(c *suggestedColumn, specs ...string) {
	if c == nil || r.here[c.name] && !strings.Contains(specs[0], "year({c})") {
		return
	}
	for _, spec := range specs {
		some := strings.Contains(spec, "{formats}") || strings.Contains(spec, "{some}")
		spec, comment, ok := r.filled(c, spec)
		if !ok {
			continue
		}
		path, source, _ := strings.Cut(spec, " = ")
		e := r.entry(path, source)
		if e == nil || r.fields[path] || !some && !e.reads(r.typ, c) {
			continue
		}
		if len(e.names) > 0 && nameKinds[e.names[0]] != 0 && e.names[0] != ofPerson {
			comment = "  # {mint: true} behind it gives unknown names ids of their own"
		}
		if slices.Contains(e.names, ofGenre) {
			r.noteUnknown(c)
		}
		r.fields[path], r.used[c.name], r.here[c.name] = true, true, true
		r.lines = append(r.lines, fmt.Sprintf("%s = %s%s\n", path, literal(source), comment))
		return
	}
}

// literal returns an expression as TOML writes it.
func literal(source string) string {
	if strings.ContainsAny(source, "'\n") {
		return quoted(source)
	}
	return "'" + source + "'"
}

// noteUnknown notes the genres of cells that are not known.
func (r *suggestedRecord) noteUnknown(c *suggestedColumn) {
	known := (&nameReader{of: ofGenre}).vocabularyOf(mediaOf(r.typ.Kind))
	for _, raw := range c.values {
		list, ok := listedNames(textOf(decode(raw)))
		if !ok {
			list = strings.FieldsFunc(scalarText(raw), func(r rune) bool { return strings.ContainsRune(",|;/", r) })
		}
		for _, name := range withoutBlanks(list) {
			if _, ok := known.find(name); !ok && !isPlaceholder(name) && len(r.unknown) < 1000 {
				r.unknown[name] = true
			}
		}
	}
}

// entry compiles an entry; nil for one that the kind cannot have.
func (r *suggestedRecord) entry(path, source string) *entry {
	at := place{typ: r.typ, plan: r.typ.Plan}
	c := compiler{mapping: &Mapping{}, numbers: r.numbers, at: at}
	f, err := at.field(path)
	if err != nil {
		return nil
	}
	s := &shape{root: &output{entry: -1}}
	if c.entry(s, path, f, source) != nil {
		return nil
	}
	return s.entries[0]
}

// reads reports whether an entry reads all cells of a column, and as more than texts that
// nothing is known by.
func (e *entry) reads(typ *catalog.Type, c *suggestedColumn) bool {
	known := 0
	v := newEvaluator(nil)
	b := (&form{}).bind([]string{c.name})
	for _, raw := range c.values {
		value, err := v.value(e.expression, &boundRow{binding: b, cells: []string{raw}})
		if err != nil {
			return false
		}
		out, err := e.append(nil, value)
		switch {
		case err != nil || e.isColumn() && e.field.Shape == record.ShapeString && raw[0] != '"' || len(out) > 0 && !e.fits(typ, string(out)):
			return false
		case len(v.left) > 0 && len(out) == 0 && v.left[0].nothing == nil && nameKinds[e.names[0]] == 0:
		default:
			known++
		}
	}
	return known > 0
}

// fits reports whether a value is one that the field can have. Elements of a list whose elements have ids
// must have them: cast without ids would take the place of cast with them.
func (e *entry) fits(typ *catalog.Type, value string) bool {
	if e.field.Shape == record.ShapeObjects && value[0] == '[' {
		if _, has := e.field.Elem.Field("id"); has && record.EachElement(value, func(_ int, raw string) error {
			if fields, err := record.Fields(raw); err != nil || scalarText(fields.Value("id")) == "" {
				return errors.New("has no id")
			}
			return nil
		}) != nil {
			return false
		}
	}
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

// crew writes the records of the crew by name: each name makes one.
func (r *suggestedRecord) crew(where string) string {
	out := ""
	if r.day == "" { // no title
		return out
	}
	for _, p := range people {
		c := r.find(p.names)
		if c == nil || r.here[c.name] {
			continue
		}
		r.used[c.name] = true
		each := columnSource(c.name)
		if slices.ContainsFunc(c.values, func(raw string) bool { return raw[0] == '"' }) {
			each = fmt.Sprintf("split(%s, %q)", each, separatorOf(c.values))
		}
		out += fmt.Sprintf("\n[[table.record]]\nkind = %q\n%slist = \"credits.crew\"\neach = %s\n[table.record.element]\n"+
			"id = 'id(element, \"person\")'\nname = 'element'\ndepartment = '%q'\njob = '%q'\n",
			r.typ.Name(), where, literal(each), p.department, p.job)
	}
	return out
}

// mint writes how a record without a column of ids gets one.
func (r *suggestedRecord) mint() string {
	switch {
	case r.fields["imdb_id"] || r.fields["external_ids.imdb_id"]:
		return "mint = [\"imdb_id\"]  # where no other record has the same imdb_id\n"
	case r.fields[r.title] && r.fields[r.day]:
		return fmt.Sprintf("mint = [%q, \"year\"]  # an id made of title and year: no row has TMDB's\n", r.title)
	case r.fields[r.title]:
		return fmt.Sprintf("mint = [%q]  # an id made of the %[1]s: no row has TMDB's\n", r.title)
	}
	return "# No column was taken for an id or a title: a column must be the field id, or mint = [...] name what an id is made of.\n"
}
