// Package complete turns given records into completed ones, in two steps with a type each.
//
// A given record, a plain pointer, has the content of the dumps. The catalogue stores it, and fingerprints cover it.
// Base makes it a Based one: text from crawls in other languages replaces missing English text. Neighbours and credits
// are computed from it. Of, Series, Season, Episode and Person make that a Record, which has all fields of an API
// details response: other records and the catalogue as a whole fill gaps, and the API's empty values fill the rest,
// because clients rely on them. Rendering, tables and contributions use it. This second step leaves details responses
// unchanged, even of old shapes; it is for rows of lists, single sub-requests and other layouts.
//
// Sub-requests stay unchanged until they are rendered: see Sub and Pages.
//
// No function here changes its arguments.
package complete

import (
	"cmp"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Based record has text in the base language if any crawl has text. It shares memory with the given record, so
// neither may be changed.
type Based[T any] struct{ given, v *T }

// V returns the record, which is read only; nil for the zero Based.
func (b Based[T]) V() *T { return b.v }

// A Record is a completed record. It shares memory with the given one, so neither may be changed.
type Record[T any] struct{ v *T }

// V returns the record, which is read only; nil for the zero Record.
func (r Record[T]) V() *T { return r.v }

// Of completes a record without derived data.
func Of[T any](b Based[T]) Record[T] { return details(b.v, nil) }

// details completes the details of a based record. derive sets fields first; it may be nil.
func details[T any](based *T, derive func(*T)) Record[T] {
	rec := record.Of(based)
	m := modelOf(rec)
	if catalog.TypeOf(m.Kind).HasDetails(rec) {
		return Record[T]{based}
	}
	v := *based
	if derive != nil {
		derive(&v)
	}
	rec = record.Of(&v)
	for i := range rec.Schema.Subs {
		f := &rec.Schema.Fields[i]
		switch {
		case isGiven(rec, f), f.Name == "parts": // derived parts replace missing ones
		case f == m.Original: // list rows have only the title
			*rec.String(f) = record.Text(rec.String(m.Texts[0].Field).V)
		case m.Original != nil && f == m.Texts[0].Field: // an id export has only the original title
			*rec.String(f) = record.Text(m.OriginalOf(rec))
		case f.Name == "name" && m.Word != 0:
			*rec.String(f) = record.Text(m.NameOf(rec))
		default:
			SetEmpty(rec, f)
		}
	}
	return Record[T]{&v}
}

// isGiven reports whether rec has a field with a value that the API allows. A null list or number is missing: some
// tools write it for unknown values.
func isGiven(rec record.Record, f *record.Field) bool {
	return record.Present(rec, f) && (f.Nullable || !record.IsNull(rec, f.Name))
}

// SetEmpty sets a missing field to the API's empty value. The caller owns the record.
func SetEmpty(r record.Record, f *record.Field) {
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

// PersonDerived has the data that the credits of titles give a person.
type PersonDerived struct {
	Credited     bool   // the person has credits
	OriginalName string // replaces a missing original name; "" for none
}

// Person completes a person.
func Person(b Based[catalog.Person], d PersonDerived) Record[catalog.Person] {
	p, given := *b.v, b.given
	if d.Credited { // unlike a crawl's credits, derived ones have all languages
		p.CombinedCredits, p.MovieCredits, p.TVCredits = given.CombinedCredits, given.MovieCredits, given.TVCredits
	}
	if !p.OriginalName.Set && d.OriginalName != "" {
		p.OriginalName = record.Text(d.OriginalName)
	}
	return details(&p, nil)
}

// SeriesDerived has the data of a series that comes from its seasons and episodes.
type SeriesDerived struct {
	Seasons []SeasonInfo // ascending; each has its own record or an episode's
	// Last and Next replace missing ones of the record.
	Last, Next Record[catalog.Episode]
}

// A SeasonInfo is a season in the details of its series, with its texts by language.
type SeasonInfo struct {
	Summary      catalog.SeasonSummary
	Translations []catalog.NameTranslation
	Localized    []LocalizedName
}

// A LocalizedName is the text of a season or an episode from a crawl in one language.
type LocalizedName struct {
	Language       string // xx-YY, or xx if the region is unknown
	Name, Overview string
}

// Series completes a series.
func Series(b Based[catalog.TV], d SeriesDerived) Record[catalog.TV] {
	return details(b.v, func(t *catalog.TV) {
		if t.LastEpisodeToAir == nil {
			t.LastEpisodeToAir = summaryOf(d.Last.v)
		}
		if t.NextEpisodeToAir == nil {
			t.NextEpisodeToAir = summaryOf(d.Next.v)
		}
		if t.Seasons == nil {
			t.Seasons = make([]catalog.SeasonSummary, 0, len(d.Seasons))
			for i := range d.Seasons {
				t.Seasons = append(t.Seasons, d.Seasons[i].Summary)
			}
		}
		var seasons, episodes int64
		for i := range t.Seasons {
			if s := &t.Seasons[i]; s.SeasonNumber.V > 0 { // specials do not count
				seasons++
				episodes += s.EpisodeCount.V
			}
		}
		if !t.NumberOfSeasons.Set {
			t.NumberOfSeasons = record.Number(seasons)
		}
		if !t.NumberOfEpisodes.Set {
			t.NumberOfEpisodes = record.Number(episodes)
		}
	})
}

// summaryOf returns an episode in the form of its series' details; nil for nil.
func summaryOf(e *catalog.Episode) *catalog.EpisodeSummary {
	if e == nil {
		return nil
	}
	return &catalog.EpisodeSummary{
		ID: e.ID, Name: e.Name, Overview: e.Overview, VoteAverage: e.VoteAverage, VoteCount: e.VoteCount, AirDate: e.AirDate,
		EpisodeNumber: e.EpisodeNumber, EpisodeType: e.EpisodeType, ProductionCode: e.ProductionCode, Runtime: e.Runtime,
		SeasonNumber: e.SeasonNumber, ShowID: e.SeriesID, StillPath: e.StillPath,
	}
}

// SeasonDerived has the data from other records of the same series.
type SeasonDerived struct {
	Series   *catalog.TV               // its details; may be nil
	Episodes []Record[catalog.Episode] // episodes with their own records, by number
}

// Season completes a season.
func Season(b Based[catalog.Season], d SeasonDerived) Record[catalog.Season] {
	return details(b.v, func(s *catalog.Season) {
		if s.Networks == nil && d.Series != nil {
			s.Networks = d.Series.Networks
		}
		if s.Episodes != nil {
			return
		}
		s.Episodes = make([]catalog.SeasonEpisode, 0, len(d.Episodes))
		for i := range d.Episodes {
			e := d.Episodes[i].v
			s.Episodes = append(s.Episodes, catalog.SeasonEpisode{
				ListedEpisode: catalog.ListedEpisode{
					AirDate: e.AirDate, EpisodeNumber: e.EpisodeNumber, EpisodeType: e.EpisodeType, ID: e.ID, Name: e.Name,
					Overview: e.Overview, ProductionCode: e.ProductionCode, Runtime: e.Runtime, SeasonNumber: e.SeasonNumber,
					ShowID: s.SeriesID, StillPath: e.StillPath, VoteAverage: e.VoteAverage, VoteCount: e.VoteCount,
				},
				Crew: e.Crew, GuestStars: e.GuestStars,
			})
		}
	})
}

// Episode completes an episode with the details in its season's list; nil for none. Crawls of single sub-requests
// have no details of their own.
func Episode(b Based[catalog.Episode], listed *catalog.Episode) Record[catalog.Episode] {
	e := b.v
	if listed != nil {
		merged := *e
		dst, src := record.Of(&merged), record.Of(listed)
		for i := range dst.Schema.Subs {
			if f := &dst.Schema.Fields[i]; !record.Present(dst, f) && record.Present(src, f) {
				record.Copy(dst, src, f)
			}
		}
		if listed.Details.Set {
			merged.Details = listed.Details
		}
		e = &merged
	}
	return details(e, nil)
}

// Listed returns episode i of a season's list as a given record of its own, with its texts from crawls of the season in
// other languages.
func Listed(s *catalog.Season, i int) *catalog.Episode {
	e := &s.Episodes[i]
	out := &catalog.Episode{
		Object:  record.Object{Unusual: e.Unusual, Extra: e.Extra},
		AirDate: e.AirDate, Crew: e.Crew, EpisodeNumber: e.EpisodeNumber, EpisodeType: e.EpisodeType,
		GuestStars: e.GuestStars, Name: e.Name, Overview: e.Overview, ID: e.ID, ProductionCode: e.ProductionCode,
		Runtime: e.Runtime, SeasonNumber: e.SeasonNumber, StillPath: e.StillPath, VoteAverage: e.VoteAverage,
		VoteCount: e.VoteCount, SeriesID: s.SeriesID,
	}
	if s.Details.V {
		catalog.TypeOf(fragment.KindEpisode).MarkDetails(record.Of(out))
	}
	for j := range s.Localized {
		c := &s.Localized[j]
		i := slices.IndexFunc(c.Episodes, func(o catalog.SeasonEpisode) bool {
			return o.EpisodeNumber.Set && o.EpisodeNumber == e.EpisodeNumber
		})
		if i >= 0 {
			o := &c.Episodes[i]
			out.Localized = append(out.Localized, catalog.LocalizedEpisode{
				Language: c.Language, Crew: o.Crew, GuestStars: o.GuestStars, Name: o.Name, Overview: o.Overview,
			})
		}
	}
	return out
}

// Base fills missing language-dependent fields from crawls in other languages, as if en-US had no text. It makes no copy
// if there were no such crawls. Columns may be missing from the record.
func Base[T any](given *T) Based[T] {
	rec := record.Of(given)
	m := modelOf(rec)
	if m.Localized == nil {
		return Based[T]{given, given}
	}
	n, _ := rec.Len(m.Localized)
	if n == 0 {
		return Based[T]{given, given}
	}
	v := *given
	en := m.englishRow(rec)
	rec = record.Of(&v)
	for i := range n {
		crawl := rec.At(m.Localized, i)
		for j := range m.Texts {
			if t := &m.Texts[j]; t.Crawl != nil {
				m.fillText(rec, crawl, t)
			}
		}
		for j := range m.Subs {
			// Trailers stay with the language of their crawl.
			if s := &m.Subs[j]; s.Crawl != nil && s.Sub != fragment.SubTrailers && !record.Present(rec, s.Field) && record.Present(crawl, s.Crawl) {
				record.Copy(rec, crawl, s.Crawl)
			}
		}
	}
	for i := range m.Texts {
		t := &m.Texts[i]
		if !en.IsNil() && t.Data != nil && t.Field.Shape == record.ShapeString && en.String(t.Data).V != "" {
			*rec.String(t.Field) = *en.String(t.Data)
		}
		record.MarkNull(rec, t.Field.Name) // no crawl has it
	}
	return Based[T]{given, &v}
}

// fillText copies a text from the crawl if the base has none, not even null.
func (m *Model) fillText(rec, crawl record.Record, t *Text) {
	if record.Present(rec, t.Field) || !record.Present(crawl, t.Crawl) || record.IsNull(crawl, t.Crawl.Name) {
		return
	}
	if t.Field.Shape != record.ShapeString {
		record.Copy(rec, crawl, t.Crawl)
		if t.Rule == ToGenres {
			genres := m.GenresOf(rec)
			*genres = Genres(m.Kind, *genres, "en", "")
		}
		return
	}
	s := crawl.String(t.Crawl).V
	switch t.Rule {
	case ToNothing:
		s = ""
	case ToOriginal:
		s = cmp.Or(m.OriginalOf(rec), s)
	case ToGeneric:
		s = m.NameOf(rec)
	}
	*rec.String(t.Field) = record.Text(s)
}

// englishRow returns the data of the en-US translation, or nil if the record was crawled in en-US: a crawl's own text
// wins over its translations.
func (m *Model) englishRow(rec record.Record) record.Record {
	t := m.Translations
	if t == nil || rec.String(m.Texts[0].Field).Set {
		return record.Record{}
	}
	sub, ok := rec.Sub(t.Field)
	if !ok {
		return record.Record{}
	}
	n, _ := sub.Len(t.Rows)
	for i := range n {
		row := sub.At(t.Rows, i)
		if fragment.Language(row.String(t.Language).V, row.String(t.Country).V) == fragment.Language("en", "US") {
			if data, ok := row.Sub(t.Data); ok {
				return data
			}
		}
	}
	return record.Record{}
}
