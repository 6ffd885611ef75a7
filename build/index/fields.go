package index

import (
	"math"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/tables"
)

// listPaths are the fields of records, by kind, whose ids and codes are keys of lists. A path leads
// through objects and the elements of lists.
var listPaths = map[fragment.Kind]map[tables.ColumnID]string{
	fragment.KindMovie: {
		tables.Genre: "genres.id", tables.Company: "production_companies.id", tables.Keyword: "keywords.keywords.id",
		tables.Cast: "credits.cast.id", tables.Crew: "credits.crew.id",
		tables.Country: "origin_country", tables.Language: "original_language",
	},
	fragment.KindTV: { // Series has cast and crew
		tables.Genre: "genres.id", tables.Company: "production_companies.id", tables.Keyword: "keywords.results.id",
		tables.Network: "networks.id", tables.Crew: "created_by.id",
		tables.Country: "origin_country", tables.Language: "original_language",
	},
}

// A namePath is a field of records that has names.
type namePath struct {
	kind NameKind
	path string
}

// namePaths are the names of each kind.
var namePaths = map[fragment.Kind][]namePath{
	fragment.KindMovie: {
		{Main, "title"},
		{Original, "original_title"},
		{Translated, "translations.translations.data.title"},
		{Translated, "localized.title"},
		{Alternative, "alternative_titles.titles.title"},
	},
	fragment.KindTV: {
		{Main, "name"},
		{Original, "original_name"},
		{Translated, "translations.translations.data.name"},
		{Translated, "localized.name"},
		{Alternative, "alternative_titles.results.title"},
	},
	fragment.KindPerson: {
		{Main, "name"},
		{Original, "original_name"},
		{Translated, "translations.translations.data.name"},
		{Translated, "localized.name"},
		{Alternative, "also_known_as"},
	},
	fragment.KindCollection: {
		{Main, "name"}, {Original, "original_name"}, {Translated, "translations.translations.data.title"}, {Translated, "localized.name"},
	},
	fragment.KindCompany: {{Main, "name"}, {Alternative, "alternative_names.results.name"}},
	fragment.KindKeyword: {{Main, "name"}},
}

// fields adds the fields of a record: the numbers that the registry names, lists and names.
func (r *row) fields(kind fragment.Kind, rec record.Record) {
	for _, c := range tables.Columns(kind) {
		if f, ok := rec.Schema.Field(c.Field); ok {
			r.number(c, rec, f)
		}
	}
	for list, path := range listPaths[kind] {
		each(rec, path, func(id int64, code string) {
			if key := tables.CodeKey(code); key != 0 {
				r.in(list, key)
			}
			r.inID(list, id)
		})
	}
	for _, n := range namePaths[kind] {
		each(rec, n.path, func(_ int64, text string) { r.names = append(r.names, Name{text, n.kind}) })
	}
}

func (r *row) number(c *tables.Column, rec record.Record, f *record.Field) {
	v := rec.Int(f).V
	if c.Digits > 0 {
		v = int64(math.Round(rec.Float(f).V * math.Pow10(c.Digits)))
	}
	if c.Type == tables.Range {
		r.set(c.ID, v)
	} else {
		r.numbers[c.ID] = v
	}
}

// each calls fn with the values at a path of a record: numbers or texts.
func each(rec record.Record, path string, fn func(id int64, text string)) {
	name, rest, _ := strings.Cut(path, ".")
	f, ok := rec.Schema.Field(name)
	if !ok {
		panic("index: records have no field " + path) // paths are constants, and tests use them all
	}
	switch f.Shape {
	case record.ShapeInt:
		fn(rec.Int(f).V, "")
	case record.ShapeString:
		fn(0, rec.String(f).V)
	case record.ShapeStrings:
		for _, text := range *rec.Strings(f) {
			fn(0, text)
		}
	case record.ShapeObject:
		if sub, ok := rec.Sub(f); ok {
			each(sub, rest, fn)
		}
	default:
		n, _ := rec.Len(f)
		for i := range n {
			each(rec.At(f, i), rest, fn)
		}
	}
}
