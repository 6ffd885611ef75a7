package layout

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
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
				field := "field = " + quoted(f[1])
				g.entries = append(g.entries, field, field+`, as = "python"`, field+`, as = "names", of = `+quoted(f[2]))
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
	{"director directors directedby", "Directing", "Director"},
	{"writer writers screenplay", "Writing", "Writer"},
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
			r.first(c, `field = `+quoted(c.name), `field = `+quoted(c.name)+`, as = "python"`)
		}
	}
	r.imdbIDs()
	head := fmt.Sprintf("\n[[table.record]]\nkind = %q\n%s", kind, where)
	if !r.fields["id"] {
		head += r.mint()
	}
	if !r.fields[r.title] && len(r.lines) > 0 && slices.Contains(mintable, r.typ.Kind) {
		r.lines = append(r.lines, fmt.Sprintf("  { column = \"\", field = %q },  # name its column, or take this line out if other dumps give it\n", r.title))
	}
	return head + "map = [\n" + strings.Join(r.lines, "") + "]\n" + r.crew(where)
}

// imdbIDs takes the first column of IMDb's ids, whatever its name is, for the field of those.
func (r *suggestedRecord) imdbIDs() {
	prefix := "tt"
	if r.typ.Kind == fragment.KindPerson {
		prefix = "nm"
	}
	for _, c := range r.columns {
		isID := func(raw string) bool {
			number, ok := strings.CutPrefix(scalarText(raw), prefix)
			return ok && len(number) >= 7 && strings.Trim(number, "0123456789") == ""
		}
		if len(c.values) > 0 && !slices.ContainsFunc(c.values, func(raw string) bool { return !isID(raw) }) {
			r.first(c, `field = "imdb_id", as = "imdb"`, `field = "external_ids.imdb_id", as = "imdb"`)
		}
	}
}

// first adds the first of some entries that reads all cells of a column and whose field has
// no other column. A title may have a second entry, of its year.
func (r *suggestedRecord) first(c *suggestedColumn, specs ...string) {
	if c == nil || r.here[c.name] && !strings.Contains(specs[0], "title_year") {
		return
	}
	for _, spec := range specs {
		some := strings.Contains(spec, "{formats}") || strings.Contains(spec, "{some}")
		spec, comment, ok := r.filled(spec, c.values)
		if !ok {
			continue
		}
		e := r.entry(c, spec)
		if e == nil || r.fields[e.path] || !some && !e.reads(r.typ, c.values) {
			continue
		}
		if e.ofNames != nil && nameKinds[e.Of] != 0 && e.Of != ofPerson {
			comment = "  # mint = true gives unknown names ids of their own"
		}
		if e.ofNames != nil && e.Of == ofGenre {
			r.noteUnknown(e, c.values)
		}
		r.fields[e.path], r.used[c.name], r.here[c.name] = true, true, true
		r.lines = append(r.lines, fmt.Sprintf("  { column = %s, %s },%s\n", quoted(c.name), spec, comment))
		return
	}
}

// noteUnknown notes the genres of cells that are not known.
func (s *suggester) noteUnknown(e *entry, values []string) {
	for _, raw := range values {
		list, ok := listedNames(raw)
		if raw[0] == '"' {
			list, ok = listedNames(record.Unquote(raw))
		}
		if !ok {
			list = strings.FieldsFunc(scalarText(raw), func(r rune) bool { return strings.ContainsRune(",|;/", r) })
		}
		for _, name := range withoutBlanks(list) {
			if _, known := e.ofNames.meaning(name, nil, false); !known && len(s.unknown) < 1000 {
				s.unknown[name] = true
			}
		}
	}
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

// fits reports whether a value is one that the field can have. Elements of a list whose elements have ids
// must have them: cast without ids would take the place of cast with them.
func (e *entry) fits(typ *catalog.Type, value string) bool {
	if e.field.Shape == record.ShapeObjects && value[0] == '[' {
		if _, has := e.field.Elem.Field("id"); has && record.EachElement(value, func(_ int, raw string) error {
			if id, err := inside(raw, []string{"id"}); err != nil || scalarText(id) == "" {
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
		each := separatorOf(c.values)
		if each == "" && slices.ContainsFunc(c.values, func(raw string) bool { return raw[0] == '"' && !json.Valid([]byte(record.Unquote(raw))) }) {
			each = `, as = "python"`
		}
		out += fmt.Sprintf("\n[[table.record]]\nkind = %q\n%slist = \"credits.crew\"\neach = { column = %s%s }\nmap = [\n"+
			"  { column = %[3]s, field = \".id\", as = \"name\", of = \"person\" },\n  { column = %[3]s, field = \".name\" },\n"+
			"  { value = %[5]q, field = \".department\" },\n  { value = %[6]q, field = \".job\" },\n]\n",
			r.typ.Name(), where, quoted(c.name), each, p.department, p.job)
	}
	return out
}

// mint writes how a record without a column of ids gets one.
func (r *suggestedRecord) mint() string {
	switch {
	case r.fields["imdb_id"] || r.fields["external_ids.imdb_id"]:
		return "id = { mint = [\"imdb_id\"] }  # where no other record has the same imdb_id\n"
	case r.fields[r.title] && r.fields[r.day]:
		return fmt.Sprintf("id = { mint = [%q, \"year\"] }  # an id made of title and year: no row has TMDB's\n", r.title)
	case r.fields[r.title]:
		return fmt.Sprintf("id = { mint = [%q] }  # an id made of the title: no row has TMDB's\n", r.title)
	}
	return "# No column was taken for an id or a title: a column must be the field id, or id = { mint = [...] } name what an id is made of.\n"
}
