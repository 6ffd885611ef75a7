package render

import (
	"slices"
	"sync"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// Row fields that are not copied from details fields of the same name, besides those with names in package fragment.
const (
	originalName = "original_name" // for a person
	adult        = "adult"         // for a collection

	// originCountry is null in the details of a company and an empty text in rows.
	originCountry = "origin_country"
)

// A model has the data for rendering one kind. It is read-only.
type model struct {
	*complete.Model
	cuts []cut // ascending
	subs []sub
	rows []listRow

	genres           *record.Field
	originalLanguage *record.Field
	images           *record.Field // the sub-request
	poster           *record.Field
}

// A cut is a details field that some variants write piece by piece.
type cut struct {
	index int // index of the field
	text  int // index of the text
}

// A sub is a sub-request.
type sub struct {
	*complete.SubRequest
	empty string // content of the default
}

// listRow is the kind as a row of lists.
type listRow struct {
	sub   fragment.Sub
	cells []cell
	texts []int // texts of the model that the row has
}

// A cell is a field of a row.
type cell struct {
	name  string
	index int    // index of the details field, or -1
	null  bool   // rows have null where the details do
	text  int    // index of the model's text, or -1
	empty string // the field with its empty value
}

var models = sync.OnceValue(func() map[fragment.Kind]*model {
	all := map[fragment.Kind]*model{}
	for _, base := range complete.Models() {
		m := &model{Model: base}
		m.genres, m.poster, m.originalLanguage, m.images = m.field("genres"), m.field("poster_path"), m.field("original_language"), m.field("images")
		for i := range m.Texts {
			t := &m.Texts[i]
			if t.Rule == complete.ToGeneric || t.Rule == complete.ToGenres || t.Rule == complete.ToNames || t.Field.Name == "parts" {
				m.cuts = append(m.cuts, cut{indexOf(m.Schema, t.Field), i})
			}
		}
		slices.SortFunc(m.cuts, func(a, b cut) int { return a.index - b.index })
		for i := range m.Subs {
			m.subs = append(m.subs, sub{SubRequest: &m.Subs[i]})
		}
		for _, d := range defaults(m, catalog.TypeOf(m.Kind).New()) {
			m.sub(d.Address.Sub).empty = content(d.Pieces)
		}
		for _, s := range []fragment.Sub{fragment.SubRow, fragment.SubMediaRow} {
			if _, derived := fragment.RowSource(m.Kind, s); derived {
				continue
			}
			row := listRow{sub: s}
			for _, name := range fragment.RowFields(m.Kind, s) {
				row.cells = append(row.cells, m.cell(name, &row))
			}
			if row.cells != nil {
				m.rows = append(m.rows, row)
			}
		}
		all[m.Kind] = m
	}
	return all
})

// field returns the record's field with that name, or nil.
func (m *model) field(name string) *record.Field { return fieldOf(m.Schema, name) }

func fieldOf(p *record.Schema, name string) *record.Field {
	f, _ := p.Field(name)
	return f
}

// indexOf returns the index of a field in its schema.
func indexOf(p *record.Schema, f *record.Field) int {
	return slices.IndexFunc(p.Fields, func(o record.Field) bool { return o.Name == f.Name })
}

// sub returns the sub-request, or nil if the kind lacks it.
func (m *model) sub(s fragment.Sub) *sub {
	for i := range m.subs {
		if m.subs[i].Sub == s {
			return &m.subs[i]
		}
	}
	return nil
}

// cell returns the field of a row with that name, and adds its text to the texts of row.
func (m *model) cell(name string, row *listRow) cell {
	c := cell{name: name, index: -1, text: -1, empty: `"` + name + `":` + `""`}
	f := m.field(name)
	if f == nil || name == fragment.FieldEpisodeCount { // its value does not come from the record alone
		return c
	}
	c.index = indexOf(m.Schema, f)
	if c.null = f.Nullable && (m.Kind != fragment.KindCompany || name != originCountry); c.null || !f.Nullable {
		c.empty = `"` + name + `":` + emptyValue(f)
	}
	c.text = slices.IndexFunc(m.Texts, func(t complete.Text) bool { return t.Field == f })
	if c.text >= 0 {
		row.texts = append(row.texts, c.text)
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

// Defaults returns the fragments for missing sub-requests: empty lists and nulls. Kinds without sub-requests have
// none.
func Defaults(k fragment.Kind) []release.FragmentSpec {
	t := catalog.TypeOf(k)
	if t == nil {
		return nil
	}
	return defaults(models()[k], t.New())
}

// defaults returns the defaults of a model; rec is an empty record.
func defaults(m *model, rec record.Record) []release.FragmentSpec {
	var f fragments
	for i := range m.subs {
		s := &m.subs[i]
		if s.Field.Shape == record.ShapePages {
			p := f.pager(s)
			p.tail(fragment.Base, 1, 0) // an empty list has one page, as in TMDB's API since 2025
			continue
		}
		body := rec.MakeSub(s.Field)
		for j := range body.Schema.Fields {
			complete.SetEmpty(body, &body.Schema.Fields[j])
		}
		f.body(body)
		f.add(fragment.Address{Sub: s.Sub}, f.end())
	}
	return f.list
}
