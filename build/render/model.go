package render

import (
	"slices"
	"sync"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// A rule gives the value of a field of the details in a language without text of its own.
type rule uint8

const (
	toBase     rule = iota + 1 // what it is in the base
	toBaseName                 // the same, for a name: an empty one counts as none
	toOriginal                 // the original title or name
	toNothing                  // empty
	toGeneric                  // the generic name of a season or an episode
	toPoster                   // the poster in the language, in the original one, the first
	toGenres                   // genres, named by the reference
	toNames                    // seasons or episodes, each by toGeneric and toNothing
)

// textRules are the fields of the details that depend on the language, by kind; the
// name comes first. data is the field's name in the data of translations, "" where
// those do not have it.
var textRules = map[fragment.Kind][]struct {
	field string
	rule  rule
	data  string
}{
	fragment.KindMovie: {
		{"title", toOriginal, "title"},
		{"overview", toNothing, "overview"},
		{"tagline", toNothing, "tagline"},
		{"homepage", toNothing, "homepage"},
		{"runtime", toBase, "runtime"},
		{"poster_path", toPoster, ""},
		{"backdrop_path", toBase, ""},
		{"belongs_to_collection", toBase, ""},
		{"genres", toGenres, ""},
	},
	fragment.KindTV: {
		{"name", toOriginal, "name"},
		{"overview", toNothing, "overview"},
		{"tagline", toNothing, "tagline"},
		{"homepage", toNothing, "homepage"},
		{"poster_path", toPoster, ""},
		{"backdrop_path", toBase, ""},
		{"created_by", toBase, ""},
		{"genres", toGenres, ""},
		{"seasons", toNames, ""},
		{"last_episode_to_air", toNames, ""},
		{"next_episode_to_air", toNames, ""},
	},
	fragment.KindSeason: {
		{"name", toGeneric, "name"},
		{"overview", toNothing, "overview"},
		{"poster_path", toPoster, ""},
		{"episodes", toNames, ""},
	},
	fragment.KindEpisode: {
		{"name", toGeneric, "name"}, {"overview", toNothing, "overview"}, {"crew", toBase, ""}, {"guest_stars", toBase, ""},
	},
	fragment.KindPerson: {{"name", toBaseName, "name"}, {"biography", toNothing, "biography"}},
	fragment.KindCollection: {
		{"name", toOriginal, "title"},
		{"overview", toNothing, "overview"},
		{"poster_path", toPoster, ""},
		{"backdrop_path", toBase, ""},
		{"parts", toBase, ""},
	},
	fragment.KindCredit: {{"media", toBase, ""}, {"person", toBase, ""}},
}

// Fields of rows that are not copied from the details of the same name, beside those of
// package listrow.
const (
	originalName = "original_name" // of a person
	adult        = "adult"         // of a collection

	// originCountry of a company is null in its details where rows have an empty text.
	originCountry = "origin_country"
)

// A model is what rendering needs to know of one kind. It is read only.
type model struct {
	kind   fragment.Kind
	schema *record.Schema
	texts  []text
	cuts   []cut // ascending
	subs   []sub
	rows   []listRow

	genericName
	genres           *record.Field
	original         *record.Field // original_title or original_name
	originalLanguage *record.Field
	images           *record.Field // the sub-request
	poster           *record.Field
	translations     *rowsSchema
	localized        *record.Field
	crawlLanguage    *record.Field // of an element of localized
}

// A genericName is what a resource without a name goes by: a word and the number in a field.
type genericName struct {
	word   release.Word
	number *record.Field
}

// text is a field of the details that depends on the language.
type text struct {
	field *record.Field
	rule  rule
	data  *record.Field // of the data of a translation; nil
	crawl *record.Field // of an element of localized; nil
}

// cut is a field of the details that a variant may need to write piece by piece.
type cut struct {
	index int // of the field
	text  int // of the text
}

// sub is a sub-request.
type sub struct {
	sub   fragment.Sub
	field *record.Field
	crawl *record.Field // of an element of localized; nil
	empty string        // content of the default
}

// listRow is the kind as a row of lists.
type listRow struct {
	sub   fragment.Sub
	cells []cell
	texts []int // those of the model that are in the row
}

// cell is a field of a row.
type cell struct {
	name  string
	index int    // of the field of the details, -1 for one that those do not have
	null  bool   // rows have null where the details do
	text  int    // of the model's texts, -1
	empty string // the field with the value that stands for none
}

// rowsSchema is the layout of the rows of a translations sub-request.
type rowsSchema struct {
	field, rows             *record.Field
	language, country, data *record.Field
}

var models = sync.OnceValue(func() map[fragment.Kind]*model {
	all := map[fragment.Kind]*model{}
	for _, t := range catalog.Types() {
		all[t.Kind] = newModel(t)
	}
	return all
})

func newModel(t *catalog.Type) *model {
	m := &model{kind: t.Kind, schema: t.Plan}
	m.genres, m.poster = m.field("genres"), m.field("poster_path")
	m.originalLanguage, m.original = m.field("original_language"), m.field("original_title")
	if m.original == nil && m.kind != fragment.KindPerson {
		m.original = m.field("original_name")
	}
	m.images, m.localized = m.field("images"), m.field("localized")
	if m.localized != nil {
		m.crawlLanguage = fieldOf(m.localized.Elem, "language")
	}
	switch m.kind {
	case fragment.KindSeason:
		m.word, m.number = release.WordSeason, m.field("season_number")
	case fragment.KindEpisode:
		m.word, m.number = release.WordEpisode, m.field("episode_number")
	}
	m.addTranslations()
	m.addTexts()
	m.addSubs(t)
	m.addRows()
	return m
}

// field returns the field of the record with that name, nil if there is none.
func (m *model) field(name string) *record.Field { return fieldOf(m.schema, name) }

func fieldOf(p *record.Schema, name string) *record.Field {
	f, _ := p.Field(name)
	return f
}

// indexOf returns the place of a field in its plan.
func indexOf(p *record.Schema, f *record.Field) int {
	return slices.IndexFunc(p.Fields, func(o record.Field) bool { return o.Name == f.Name })
}

func (m *model) addTranslations() {
	f := m.field("translations")
	if f == nil {
		return
	}
	rows := fieldOf(f.Elem, "translations")
	p := rows.Elem
	m.translations = &rowsSchema{
		field: f, rows: rows, language: fieldOf(p, "iso_639_1"), country: fieldOf(p, "iso_3166_1"), data: fieldOf(p, "data"),
	}
}

func (m *model) addTexts() {
	for i, t := range textRules[m.kind] {
		out := text{field: m.field(t.field), rule: t.rule}
		if m.translations != nil && t.data != "" {
			out.data = fieldOf(m.translations.data.Elem, t.data)
		}
		if m.localized != nil {
			out.crawl = fieldOf(m.localized.Elem, t.field)
		}
		m.texts = append(m.texts, out)
		at := indexOf(m.schema, out.field)
		if t.rule == toGeneric || t.rule == toGenres || t.rule == toNames || t.field == "parts" {
			m.cuts = append(m.cuts, cut{at, i})
		}
	}
	slices.SortFunc(m.cuts, func(a, b cut) int { return a.index - b.index })
}

func (m *model) addSubs(t *catalog.Type) {
	for i := m.schema.Subs; i < len(m.schema.Fields); i++ {
		f := &m.schema.Fields[i]
		s, ok := fragment.ParseSub(f.Name)
		if !ok || !f.IsSub() {
			continue
		}
		out := sub{sub: s, field: f}
		if m.localized != nil {
			out.crawl = fieldOf(m.localized.Elem, f.Name)
		}
		m.subs = append(m.subs, out)
	}
	for _, d := range defaults(m, t.New()) {
		i := slices.IndexFunc(m.subs, func(s sub) bool { return s.sub == d.Address.Sub })
		m.subs[i].empty = content(d.Pieces)
	}
}

// sub returns the sub-request, nil if the kind has none of that name.
func (m *model) sub(s fragment.Sub) *sub {
	for i := range m.subs {
		if m.subs[i].sub == s {
			return &m.subs[i]
		}
	}
	return nil
}

func (m *model) addRows() {
	for _, s := range []fragment.Sub{fragment.SubRow, fragment.SubMediaRow} {
		names := fragment.RowFields(m.kind, s)
		if _, derived := fragment.RowSource(m.kind, s); derived || names == nil {
			continue
		}
		out := listRow{sub: s}
		for _, name := range names {
			out.cells = append(out.cells, m.cell(name, &out))
		}
		m.rows = append(m.rows, out)
	}
}

func (m *model) cell(name string, out *listRow) cell {
	c := cell{name: name, index: -1, text: -1, empty: `"` + name + `":` + `""`}
	f := m.field(name)
	if f == nil || name == fragment.FieldEpisodeCount { // what a record has of it is one source of several
		return c
	}
	c.index = indexOf(m.schema, f)
	if c.null = f.Nullable && (m.kind != fragment.KindCompany || name != originCountry); c.null || !f.Nullable {
		c.empty = `"` + name + `":` + emptyValue(f)
	}
	c.text = slices.IndexFunc(m.texts, func(t text) bool { return t.field == f })
	if c.text >= 0 {
		out.texts = append(out.texts, c.text)
	}
	return c
}

// emptyValue is the API's value of an empty field.
func emptyValue(f *record.Field) string {
	switch {
	case f.Nullable:
		return "null"
	case f.Shape == record.ShapeInt:
		return "0"
	case f.Shape == record.ShapeFloat:
		return "0.0"
	case f.Shape == record.ShapeBool:
		return "false"
	case f.Shape == record.ShapeStrings, f.Shape == record.ShapeInts, f.Shape == record.ShapeObjects:
		return "[]"
	}
	return `""`
}
