package index

import (
	"math"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
	"reelsplice/schemas/tables/posting"
)

// Movie adds a movie, as its rendering has left it: the title is what answers in en-US
// have.
func (w *Writer) Movie(m *catalog.Movie) error {
	r := w.start(uint64(m.ID.V), m.Popularity.V)
	r.titleFacts(record.Of(m))
	r.is(posting.Video, m.Video.V)
	r.set(runtime, m.Runtime.V)
	r.revenue = m.Revenue.V
	r.texts = [2]string{SortKey(m.Title.V), SortKey(m.OriginalTitle.V)}
	inIDs(r, genre, m.Genres)
	inIDs(r, company, m.ProductionCompanies)
	if m.Keywords != nil {
		inIDs(r, keyword, m.Keywords.Keywords)
	}
	if m.Credits != nil {
		inIDs(r, cast, m.Credits.Cast)
		inIDs(r, crew, m.Credits.Crew)
	}
	r.countries(m.OriginCountry)
	r.offers(m.WatchProviders)
	r.movieReleases(m)
	r.movieNames(m)
	return w.add(fragment.KindMovie)
}

// titleFacts takes in the members that movies and series have under one name.
func (r *row) titleFacts(rec record.Record) {
	field := func(name string) *record.Field {
		f, _ := rec.Schema.Field(name)
		return f
	}
	r.is(posting.Adult, rec.Bool(field("adult")).V)
	r.is(posting.Softcore, rec.Bool(field("softcore")).V)
	r.inCode(language, rec.String(field("original_language")).V)
	r.set(voteCount, rec.Int(field("vote_count")).V)
	r.set(voteAverage, int64(math.Round(1000*rec.Float(field("vote_average")).V)))
}

func (r *row) countries(codes []string) {
	for _, c := range codes {
		r.inCode(country, c)
	}
}

// movieReleases takes in when and where a movie was released. The primary date is one of
// the dates, whether or not a country has it.
func (r *row) movieReleases(m *catalog.Movie) {
	if d, ok := posting.DayOf(m.ReleaseDate.V); ok {
		r.columns[day] = d
		r.released("", 0, d)
	}
	switch {
	case m.ReleaseDates != nil:
		for i := range m.ReleaseDates.Results {
			c := &m.ReleaseDates.Results[i]
			for j := range c.ReleaseDates {
				d := &c.ReleaseDates[j]
				r.certified(c.ISO3166.V, d.Certification.V)
				if at, ok := posting.DayOf(d.ReleaseDate.V); ok {
					r.released(c.ISO3166.V, d.Type.V, at)
				}
			}
		}
	case m.Releases != nil: // of no type
		for i := range m.Releases.Countries {
			c := &m.Releases.Countries[i]
			r.certified(c.ISO3166.V, c.Certification.V)
			if at, ok := posting.DayOf(c.ReleaseDate.V); ok {
				r.released(c.ISO3166.V, 0, at)
			}
		}
	}
}

// maxReleaseType is the highest type of releases: TV.
const maxReleaseType = 6

// released takes in a release in a country, "" for none, of a type, 0 for an unknown one.
func (r *row) released(country string, typ int64, at int32) {
	r.shown(at)
	if posting.CodeKey(country) == 0 {
		return
	}
	r.releases = append(r.releases, dated{posting.ReleaseKey(country, 0), at})
	if typ >= 1 && typ <= maxReleaseType {
		r.releases = append(r.releases, dated{posting.ReleaseKey(country, int(typ)), at})
	}
}

// shown takes in a day on which a movie was released or an episode was on the air.
func (r *row) shown(at int32) {
	r.releases = append(r.releases, dated{posting.ReleaseKey("", 0), at})
	r.year(at)
	if r.columns[firstDay] == posting.NoDay || at < r.columns[firstDay] {
		r.columns[firstDay] = at
	}
	r.columns[lastDay] = max(r.columns[lastDay], at)
}

func (r *row) year(at int32) {
	if y := posting.YearOf(at); y >= 0 {
		r.in(anyYear, uint64(y))
	}
}

func (r *row) certified(country, name string) {
	if country != "" && name != "" {
		r.in(certification, posting.CertificationKey(country, name))
	}
}

// countryCode is the length of the code of a country.
const countryCode = 2

// offers takes in who offers a title: by type and of any type, each provider and any.
func (r *row) offers(p *catalog.WatchProviders) {
	if p == nil {
		return
	}
	for i := range p.Results {
		c := &p.Results[i]
		if len(c.ISO3166.V) != countryCode {
			continue // it would be the key of something else
		}
		for j := range c.Offers {
			typ := posting.OfferType(c.Offers[j].Type.V)
			for k := range c.Offers[j].Providers {
				r.offered(c.ISO3166.V, typ, c.Offers[j].Providers[k].ProviderID.V)
			}
		}
	}
}

func (r *row) offered(country string, typ int, provider int64) {
	if provider < 1 || provider > posting.MaxProvider {
		return
	}
	for _, p := range [...]int64{0, provider} {
		r.in(offer, posting.OfferKey(country, 0, p))
		if typ > 0 {
			r.in(offer, posting.OfferKey(country, typ, p))
		}
	}
}

func (r *row) movieNames(m *catalog.Movie) {
	r.name(Main, m.Title.V)
	r.name(Original, m.OriginalTitle.V)
	if m.Translations != nil {
		for i := range m.Translations.Translations {
			if d := m.Translations.Translations[i].Data; d != nil {
				r.name(Translated, d.Title.V)
			}
		}
	}
	for i := range m.Localized {
		r.name(Translated, m.Localized[i].Title.V)
	}
	if m.AlternativeTitles != nil {
		r.alternatives(m.AlternativeTitles.Titles)
	}
}

func (r *row) alternatives(list []catalog.AlternativeTitle) {
	for i := range list {
		r.name(Alternative, list[i].Title.V)
	}
}

// inIDs adds the row to the lists of the ids of rows T, which have a member id.
func inIDs[T any](r *row, list int, rows []T) {
	if len(rows) == 0 {
		return
	}
	id, _ := record.SchemaOf[T]().Field("id")
	for i := range rows {
		r.inID(list, record.Of(&rows[i]).Int(id).V)
	}
}
