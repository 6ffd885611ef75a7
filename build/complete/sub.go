package complete

import (
	"slices"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// oldFields are what responses of all years to these sub-requests have: later ones have
// more. A response that has them is served as it was given, like old details.
var oldFields = map[*record.Schema][]string{
	record.SchemaOf[catalog.Images]():             {"backdrops", "posters"},
	record.SchemaOf[catalog.MovieExternalIDs]():   {"imdb_id", "facebook_id", "instagram_id", "twitter_id"},
	record.SchemaOf[catalog.TVExternalIDs]():      {"imdb_id", "freebase_mid", "freebase_id", "tvdb_id", "tvrage_id"},
	record.SchemaOf[catalog.SeasonExternalIDs]():  {"freebase_mid", "freebase_id", "tvdb_id", "tvrage_id"},
	record.SchemaOf[catalog.EpisodeExternalIDs](): {"imdb_id", "freebase_mid", "freebase_id", "tvdb_id", "tvrage_id"},
	record.SchemaOf[catalog.PersonExternalIDs]():  {"freebase_mid", "freebase_id", "imdb_id", "tvrage_id"},
}

// Sub returns a sub-request with the API's empty values for what it lacks: of a title of
// which only the crew is known, the cast is an empty list. One without any field stays:
// it is no response. The result is given itself where it lacks nothing.
func Sub(given record.Record) record.Record {
	rec, p := given, given.Schema
	own := func() record.Record {
		if rec == given {
			rec = given.Clone()
		}
		return rec
	}
	for i := range p.Fields {
		completeCredits(rec, &p.Fields[i], own)
	}
	has := func(f *record.Field) bool { return isGiven(given, f) }
	lacks, says := false, given.Object().Extra != ""
	for i := range p.Fields {
		f := &p.Fields[i]
		lacks, says = lacks || !has(f), says || record.Present(given, f)
	}
	if !lacks || !says {
		return rec
	}
	old := func(name string) bool { f, _ := p.Field(name); return has(f) }
	if names := oldFields[p]; names != nil && !slices.ContainsFunc(names, func(name string) bool { return !old(name) }) {
		return rec
	}
	for i := range p.Fields {
		if f := &p.Fields[i]; !has(f) {
			SetEmpty(own(), f)
		}
	}
	return rec
}

// creditRows are the rows of people in the credits of titles and seasons.
var creditRows = []*record.Schema{record.SchemaOf[catalog.CastCredit](), record.SchemaOf[catalog.CrewCredit](), record.SchemaOf[catalog.TVCastCredit]()}

// completeCredits gives people in credits the fields that they lack, in a list of own, which is a copy of rec. Rows
// of the API have had a profile_path or a credit_id in all years and stay as they are; tables of names give
// rows with neither.
func completeCredits(rec record.Record, list *record.Field, own func() record.Record) {
	if list.Shape != record.ShapeObjects || !slices.Contains(creditRows, list.Elem) {
		return
	}
	field := func(name string) *record.Field { f, _ := list.Elem.Field(name); return f }
	id, profile, name := field("credit_id"), field("profile_path"), field("name")
	n, _ := rec.Len(list)
	copied := false
	for i := range n {
		if row := rec.At(list, i); isGiven(row, id) || isGiven(row, profile) {
			continue
		}
		if !copied {
			copied = true
			own().OwnList(list)
		}
		row := own().At(list, i)
		for k := range row.Schema.Fields {
			switch f := &row.Schema.Fields[k]; {
			case isGiven(row, f) || f.Name == "id": // an id is never made up
			case f.Name == "original_name":
				*row.String(f) = record.Text(row.String(name).V)
			default:
				SetEmpty(row, f)
			}
		}
	}
}

// A Page is a page of a list.
type Page struct {
	Rec            record.Record
	Rows           int // index of the field after the page number
	Language       string
	Number         record.Int
	Pages, Results int64 // totals
}

// pageSize is the number of rows of a page of the API.
const pageSize = 20

// Pages returns the pages of a list with the rows and totals that they lack, by what the pages of their
// language have.
func Pages(rec record.Record, f *record.Field) []Page {
	n, _ := rec.Len(f)
	list := make([]Page, n)
	field := func(name string) *record.Field { f, _ := f.Elem.Field(name); return f }
	number, language, pages, results := field("page"), field("language"), field("total_pages"), field("total_results")
	at := slices.IndexFunc(f.Elem.Fields, func(f record.Field) bool { return f.Name == number.Name }) + 1
	rows := &f.Elem.Fields[at]
	type sum struct{ pages, rows int64 }
	sums := map[string]sum{}
	for i := range list {
		r := rec.At(f, i)
		list[i] = Page{Rec: r, Rows: at, Language: r.String(language).V, Number: *r.Int(number)}
		count, _ := r.Len(rows)
		s := sums[list[i].Language]
		sums[list[i].Language] = sum{max(s.pages, list[i].Number.V, 1), s.rows + int64(count)}
	}
	for i := range list {
		p := &list[i]
		hasRows, hasPages, hasResults := isGiven(p.Rec, rows), p.Rec.Int(pages).Set, p.Rec.Int(results).Set
		isEmpty := !hasRows && !hasPages && !hasResults && p.Rec.Object().Extra == ""
		if isWhole := hasRows && hasPages && hasResults; !isEmpty && !isWhole {
			p.Rec = p.Rec.Clone()
			s := sums[p.Language]
			if !hasRows {
				SetEmpty(p.Rec, rows)
			}
			if total := p.Rec.Int(results); !total.Set {
				*total = record.Number(s.rows)
			}
			if total := p.Rec.Int(pages); !total.Set {
				*total = record.Number(max(s.pages, (p.Rec.Int(results).V+pageSize-1)/pageSize))
			}
		}
		p.Pages, p.Results = p.Rec.Int(pages).V, p.Rec.Int(results).V
	}
	return list
}
