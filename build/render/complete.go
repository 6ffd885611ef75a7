package render

import (
	"slices"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// complete fills in a record without details and returns the model.
func (m *model) complete(rec record.Record) *model {
	if !m.isDetails(rec) {
		m.fill(rec)
	}
	return m
}

// fill sets the details that rec lacks to the API's empty values.
func (m *model) fill(rec record.Record) {
	for i := range rec.Schema.Subs {
		f := &rec.Schema.Fields[i]
		switch {
		case given(rec, f):
		case f == m.original: // better than none; the title is what rows of lists have
			*rec.String(f) = record.Text(rec.String(m.texts[0].field).V)
		case m.original != nil && f == m.texts[0].field: // an id export has the original title alone
			*rec.String(f) = record.Text(m.originalOf(rec))
		case f.Name == "name" && m.word != 0:
			*rec.String(f) = record.Text(m.englishName(rec))
		default:
			setEmpty(rec, f)
		}
	}
}

// given reports whether rec has a field with a value that the API may have there. A null
// in place of a list or a number is none: some tools write it for what they do not know.
func given(rec record.Record, f *record.Field) bool {
	return record.Present(rec, f) && (f.Nullable || !record.IsNull(rec, f.Name))
}

// isDetails reports whether a source gave a details answer of the API, which rows of lists
// and of other layouts are not.
func (m *model) isDetails(rec record.Record) bool { return catalog.TypeOf(m.kind).HasDetails(rec) }

// answerMembers are what answers of all years to these sub-requests have: later ones have
// more. An answer that has them is served as it was given, like old details.
var answerMembers = map[*record.Schema][]string{
	record.SchemaOf[catalog.Images]():             {"backdrops", "posters"},
	record.SchemaOf[catalog.MovieExternalIDs]():   {"imdb_id", "facebook_id", "instagram_id", "twitter_id"},
	record.SchemaOf[catalog.TVExternalIDs]():      {"imdb_id", "freebase_mid", "freebase_id", "tvdb_id", "tvrage_id"},
	record.SchemaOf[catalog.SeasonExternalIDs]():  {"freebase_mid", "freebase_id", "tvdb_id", "tvrage_id"},
	record.SchemaOf[catalog.EpisodeExternalIDs](): {"imdb_id", "freebase_mid", "freebase_id", "tvdb_id", "tvrage_id"},
	record.SchemaOf[catalog.PersonExternalIDs]():  {"freebase_mid", "freebase_id", "imdb_id", "tvrage_id"},
}

// completeSub sets what a sub-request lacks to the API's empty values: of a title of
// which only the crew is known, the cast is an empty list. One without any field stays:
// it is no answer.
func completeSub(rec record.Record) {
	p := rec.Schema
	for i := range p.Fields {
		completeCredits(rec, &p.Fields[i])
	}
	has := func(f *record.Field) bool { return given(rec, f) }
	lacks, says := false, rec.Object().Extra != ""
	for i := range p.Fields {
		f := &p.Fields[i]
		lacks, says = lacks || !has(f), says || record.Present(rec, f)
	}
	if !lacks || !says {
		return
	}
	if old := answerMembers[p]; old != nil && !slices.ContainsFunc(old, func(name string) bool { return !has(fieldOf(p, name)) }) {
		return
	}
	for i := range p.Fields {
		if f := &p.Fields[i]; !has(f) {
			setEmpty(rec, f)
		}
	}
}

// creditRows are the rows of people in the credits of titles and seasons.
var creditRows = []*record.Schema{record.SchemaOf[catalog.CastCredit](), record.SchemaOf[catalog.CrewCredit](), record.SchemaOf[catalog.TVCastCredit]()}

// completeCredits gives people in credits the fields that they lack. Rows of the API have
// had a profile_path or a credit_id in all years and stay as they are; tables of names give
// rows with neither.
func completeCredits(rec record.Record, list *record.Field) {
	if list.Shape != record.ShapeObjects || !slices.Contains(creditRows, list.Elem) {
		return
	}
	n, _ := rec.Len(list)
	for i := range n {
		row := rec.At(list, i)
		if given(row, fieldOf(row.Schema, "credit_id")) || given(row, fieldOf(row.Schema, "profile_path")) {
			continue
		}
		for k := range row.Schema.Fields {
			switch f := &row.Schema.Fields[k]; {
			case given(row, f) || f.Name == "id": // an id is never made up
			case f.Name == "original_name":
				*row.String(f) = record.Text(row.String(fieldOf(row.Schema, "name")).V)
			default:
				setEmpty(row, f)
			}
		}
	}
}

// completePages gives the pages of a list the rows and totals that they lack, by what
// the pages of their language have.
func completePages(rec record.Record, f *record.Field) {
	n, _ := rec.Len(f)
	type sum struct{ pages, rows int64 }
	sums := map[string]sum{}
	for i := range n {
		p := pageOf(rec.At(f, i))
		s := sums[p.language]
		sums[p.language] = sum{max(s.pages, p.number.V, 1), s.rows + int64(p.count())}
	}
	for i := range n {
		page := pageOf(rec.At(f, i))
		s := sums[page.language]
		pages, results := page.rec.Int(fieldOf(page.rec.Schema, "total_pages")), page.rec.Int(fieldOf(page.rec.Schema, "total_results"))
		rows := &page.rec.Schema.Fields[page.rows]
		if !given(page.rec, rows) {
			if !pages.Set && !results.Set && page.rec.Object().Extra == "" {
				continue // an empty page
			}
			setEmpty(page.rec, rows)
		}
		if !results.Set {
			*results = record.Number(s.rows)
		}
		if !pages.Set {
			*pages = record.Number(max(s.pages, (results.V+pageSize-1)/pageSize))
		}
	}
}

// setEmpty gives a field that is not given the API's empty value.
func setEmpty(r record.Record, f *record.Field) {
	if f.Nullable {
		record.MarkNull(r, f.Name)
		return
	}
	switch f.Shape {
	case record.ShapeString:
		r.String(f).Set = true
	case record.ShapeInt:
		r.Int(f).Set = true
	case record.ShapeFloat:
		r.Float(f).Set = true
	case record.ShapeBool:
		r.Bool(f).Set = true
	case record.ShapeStrings:
		*r.Strings(f) = []string{}
	case record.ShapeInts:
		*r.Ints(f) = []int64{}
	case record.ShapeObjects, record.ShapeKeyed:
		r.MakeList(f, 0)
	default: // objects and raw values are never made up
	}
}
