package layout

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/record"
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
	kind   string
	typ    *catalog.Type
	lines  []string
	fields map[string]bool
}

// record writes a record of a kind with the columns of the rows, and one of its crew.
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
	for _, g := range guesses() {
		for _, name := range g.names {
			r.first(s.find(name), day, g.entries...)
		}
	}
	r.genres()
	for _, c := range s.columns { // what is called like a field
		if f, ok := typ.Plan.Field(c.name); ok && !f.Own && !s.used[c.name] {
			r.first(c, day, `field = `+quoted(c.name), `field = `+quoted(c.name)+`, as = "python"`)
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

// first adds the first of some entries that reads all cells of a column. day is the field of {day}.
func (r *suggestedRecord) first(c *suggestedColumn, day string, specs ...string) {
	if c == nil || r.used[c.name] && r.wasHere(c.name) {
		return
	}
	for _, spec := range specs {
		comment := ""
		if strings.Contains(spec, `"company"`) || strings.Contains(spec, `"keyword"`) || strings.Contains(spec, `"network"`) {
			comment = "  # mint = true gives unknown names ids of their own"
		}
		some := strings.Contains(spec, "{formats}") // reads most cells
		spec = strings.Replace(spec, "{day}", day, 1)
		for mark, fill := range fillers {
			if strings.Contains(spec, mark) {
				text, note, ok := fill(c.values)
				if !ok {
					return
				}
				spec, comment = strings.Replace(spec, mark, text, 1), comment+note
			}
		}
		if e := r.entry(c, spec); e != nil && (some || e.reads(r.typ, c.values)) && r.add(c, spec, comment) {
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
