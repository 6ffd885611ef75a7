package complete

import (
	"slices"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// oldFields are the fields that responses of all years to these sub-requests have; later ones have more. A response
// with them is served unchanged, like old details.
var oldFields = map[*record.Schema][]string{
	record.SchemaOf[catalog.Images]():             {"backdrops", "posters"},
	record.SchemaOf[catalog.MovieExternalIDs]():   {"imdb_id", "facebook_id", "instagram_id", "twitter_id"},
	record.SchemaOf[catalog.TVExternalIDs]():      {"imdb_id", "freebase_mid", "freebase_id", "tvdb_id", "tvrage_id"},
	record.SchemaOf[catalog.SeasonExternalIDs]():  {"freebase_mid", "freebase_id", "tvdb_id", "tvrage_id"},
	record.SchemaOf[catalog.EpisodeExternalIDs](): {"imdb_id", "freebase_mid", "freebase_id", "tvdb_id", "tvrage_id"},
	record.SchemaOf[catalog.PersonExternalIDs]():  {"freebase_mid", "freebase_id", "imdb_id", "tvrage_id"},
}

// Sub returns a sub-request with the API's empty values for missing fields: a title with only a crew gets an empty
// cast. A sub-request without fields stays unchanged. The result is given itself if nothing is
// missing.
func Sub(given record.Record) record.Record {
	rec, p := given, given.Schema
	clone := func() record.Record {
		if rec == given {
			rec = given.Clone()
		}
		return rec
	}
	for i := range p.Fields {
		completeRows(rec, &p.Fields[i], clone)
	}
	missing, empty := false, given.Object().Extra == ""
	for i := range p.Fields {
		f := &p.Fields[i]
		missing, empty = missing || !isGiven(given, f), empty && !record.Present(given, f)
	}
	if !missing || empty {
		return rec
	}
	isMissing := func(name string) bool { f, _ := p.Field(name); return !isGiven(given, f) }
	if old := oldFields[p]; old != nil && !slices.ContainsFunc(old, isMissing) {
		return rec
	}
	for i := range p.Fields {
		if f := &p.Fields[i]; !isGiven(given, f) {
			SetEmpty(clone(), f)
		}
	}
	return rec
}

// apiFields are fields of list rows. Every row of the API, of any year, has one of them; a row without any comes from a
// table.
var apiFields = map[*record.Schema][]*record.Field{
	record.SchemaOf[catalog.CastCredit]():   fieldsOf[catalog.CastCredit]("credit_id", "profile_path"),
	record.SchemaOf[catalog.CrewCredit]():   fieldsOf[catalog.CrewCredit]("credit_id", "profile_path"),
	record.SchemaOf[catalog.TVCastCredit](): fieldsOf[catalog.TVCastCredit]("credit_id", "profile_path"),
	record.SchemaOf[catalog.Image]():        fieldsOf[catalog.Image]("iso_639_1"),
}

func fieldsOf[T any](names ...string) (list []*record.Field) {
	for _, name := range names {
		f, _ := record.SchemaOf[T]().Field(name)
		list = append(list, f)
	}
	return list
}

// isTableRow reports whether a list row has none of the fields that rows of the API have.
func isTableRow(row record.Record, api []*record.Field) bool {
	return !slices.ContainsFunc(api, func(f *record.Field) bool { return isGiven(row, f) })
}

// completeRows fills the missing fields of table rows in a list of credits or images. It changes a copy of rec, from clone.
// Rows of the API stay unchanged.
func completeRows(rec record.Record, list *record.Field, clone func() record.Record) {
	api := apiFields[list.Elem]
	if list.Shape != record.ShapeObjects || api == nil {
		return
	}
	n, _ := rec.Len(list)
	copied := false
	for i := range n {
		if !isTableRow(rec.At(list, i), api) {
			continue
		}
		if !copied {
			copied = true
			clone().CloneList(list)
		}
		row := clone().At(list, i)
		for k := range row.Schema.Fields {
			switch f := &row.Schema.Fields[k]; {
			case isGiven(row, f) || f.Name == "id" || f.Name == "file_path": // never made up
			case f.Name == "original_name":
				*row.String(f) = record.Text(row.StringNamed("name").V)
			case f.Name == "aspect_ratio":
				*row.Float(f) = record.Float{V: artwork[list.Name].ratio, Set: true}
			default:
				SetEmpty(row, f)
			}
		}
	}
}

// artwork has, for each list of images, the details field with the path of one, and the most common aspect ratio. Logos
// have neither.
var artwork = map[string]struct {
	field string
	ratio float64
}{
	"posters": {"poster_path", 0.667}, "backdrops": {"backdrop_path", 1.778}, "stills": {"still_path", 1.778}, "profiles": {"profile_path", 0.667},
}

// Images returns the images of a record from its sub-request f, and false if it has none. The image in the details is
// the only one of a missing list, and the first in a list of table rows without it. A list of the API stays
// unchanged, even if empty. Sub completes the rows.
func Images(rec record.Record, f *record.Field) (record.Record, bool) {
	given, ok := rec.Sub(f)
	images := given
	for i := range f.Elem.Fields {
		list := &f.Elem.Fields[i]
		path := rec.StringNamed(artwork[list.Name].field).V
		if path == "" || ok && hasArtwork(given, list, path) {
			continue
		}
		switch {
		case images != given:
		case ok:
			images = given.Clone()
		default:
			images = rec.Clone().MakeSub(f)
		}
		n, _ := images.Len(list)
		images.MakeList(list, n+1)
		first := images.Grow(list)
		*first.StringNamed("file_path") = record.Text(path)
		for _, f := range apiFields[list.Elem] {
			record.MarkAbsent(first, f.Name)
		}
		for k := range n {
			*record.As[catalog.Image](images.Grow(list)) = *record.As[catalog.Image](given.At(list, k))
		}
	}
	if images == given {
		return given, ok
	}
	for i := range f.Elem.Fields {
		if list := &f.Elem.Fields[i]; !isGiven(images, list) {
			SetEmpty(images, list)
		}
	}
	return images, true
}

// hasArtwork reports whether a list of images contains the path or came from the API.
func hasArtwork(images record.Record, list *record.Field, path string) bool {
	n, ok := images.Len(list)
	api := apiFields[list.Elem]
	for i := range n {
		if row := images.At(list, i); row.StringNamed("file_path").V == path || !isTableRow(row, api) {
			return true
		}
	}
	return ok && n == 0
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

// Pages returns the pages of a list. Missing rows and totals come from the other pages of the same language.
func Pages(rec record.Record, f *record.Field) []Page {
	n, _ := rec.Len(f)
	list := make([]Page, n)
	field := func(name string) *record.Field { f, _ := f.Elem.Field(name); return f }
	number, language, pages, results := field("page"), field("language"), field("total_pages"), field("total_results")
	first := slices.IndexFunc(f.Elem.Fields, func(f record.Field) bool { return f.Name == number.Name }) + 1
	rows := &f.Elem.Fields[first]
	type sum struct{ pages, rows int64 }
	sums := map[string]sum{}
	for i := range list {
		r := rec.At(f, i)
		list[i] = Page{Rec: r, Rows: first, Language: r.String(language).V, Number: *r.Int(number)}
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
