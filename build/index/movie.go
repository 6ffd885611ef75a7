package index

import (
	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// Movie adds a movie. The title is that of en-US.
func (w *Writer) Movie(c complete.Record[catalog.Movie]) error {
	m := c.V()
	r := w.start(uint64(m.ID.V), m.Popularity.V)
	r.fields(fragment.KindMovie, record.Of(m))
	r.is(tables.Adult, m.Adult.V)
	r.is(tables.Softcore, m.Softcore.V)
	r.is(tables.Video, m.Video.V)
	r.texts[tables.Title], r.texts[tables.OriginalTitle] = SortKey(m.Title.V), SortKey(m.OriginalTitle.V)
	r.offers(m.WatchProviders)
	r.movieReleases(m)
	return w.add(fragment.KindMovie)
}

// movieReleases adds the releases of a movie. The primary date is one of the dates, whether
// or not a country has it.
func (r *row) movieReleases(m *catalog.Movie) {
	if d, ok := posting.DayOf(m.ReleaseDate.V); ok {
		r.numbers[tables.Day] = int64(d)
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

// released adds a release in a country, "" for none, of a type, 0 for an unknown one.
func (r *row) released(country string, typ int64, at int32) {
	r.shown(at)
	if tables.CodeKey(country) == 0 {
		return
	}
	r.releases = append(r.releases, dated{tables.ReleaseKey(country, 0), at})
	if typ >= 1 && typ <= maxReleaseType {
		r.releases = append(r.releases, dated{tables.ReleaseKey(country, int(typ)), at})
	}
}

// shown adds a day on which a movie was released or an episode was on the air.
func (r *row) shown(at int32) {
	r.releases = append(r.releases, dated{tables.ReleaseKey("", 0), at})
	r.year(at)
	first, last := &r.numbers[tables.FirstDay], &r.numbers[tables.LastDay]
	if *first == posting.NoDay || int64(at) < *first {
		*first = int64(at)
	}
	*last = max(*last, int64(at))
}

func (r *row) year(at int32) {
	if y := posting.YearOf(at); y >= 0 {
		r.in(tables.AnyYear, uint64(y))
	}
}

func (r *row) certified(country, name string) {
	if country != "" && name != "" {
		r.in(tables.Certification, tables.CertificationKey(country, name))
	}
}

// countryCode is the length of the code of a country.
const countryCode = 2

// offers adds the providers of a title: by type and of any type, each provider and any.
func (r *row) offers(p *catalog.WatchProviders) {
	if p == nil {
		return
	}
	for i := range p.Results {
		c := &p.Results[i]
		if len(c.ISO3166.V) != countryCode {
			continue // OfferKey has two bytes for it
		}
		for j := range c.Offers {
			typ := tables.OfferType(c.Offers[j].Type.V)
			for k := range c.Offers[j].Providers {
				r.offered(c.ISO3166.V, typ, c.Offers[j].Providers[k].ProviderID.V)
			}
		}
	}
}

func (r *row) offered(country string, typ int, provider int64) {
	if provider < 1 || provider > tables.MaxProvider {
		return
	}
	for _, p := range [...]int64{0, provider} {
		r.in(tables.Offer, tables.OfferKey(country, 0, p))
		if typ > 0 {
			r.in(tables.Offer, tables.OfferKey(country, typ, p))
		}
	}
}
