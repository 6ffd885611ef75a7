package render

import (
	"cmp"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/build/derive"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// Version changes whenever equal inputs render as other fragments: with this package, complete, derive or the
// reference data. TestVersion of package build pins it.
const Version = 2

// A Renderer turns completed records into fragments. It is not safe for concurrent use. The results of its methods
// are valid until the next call.
type Renderer struct {
	models map[fragment.Kind]*model
	out    fragments
	detail detailer
}

// New returns a Renderer. Texts that a language lacks come from the first language of fallback that has them.
func New(fallback ...fragment.Variant) *Renderer {
	r := &Renderer{models: models()}
	r.detail.fallback = fallback
	r.detail.out = &r.out
	return r
}

// TitleDerived is derived from the whole catalogue: ids of the same kind, best first, used if the record has none.
type TitleDerived struct{ Recommendations, Similar []int64 }

// SeriesDerived is derived from the other records of a series and the whole catalogue.
type SeriesDerived struct {
	TitleDerived
	complete.SeriesDerived
	Credits   *catalog.TVCredits        // credits of the latest season, used if the record has none
	Aggregate *catalog.AggregateCredits // used if the record has none
}

// SeasonDerived is derived from the other records of the same series.
type SeasonDerived struct {
	complete.SeasonDerived
	Credits   *catalog.TVCredits        // used if the record has none
	Aggregate *catalog.AggregateCredits // used if the record has none
}

// EpisodeDerived is derived from the series and the season of an episode.
type EpisodeDerived struct {
	SeriesID int64
	Cast     []catalog.TVCastCredit // the regulars, used if the record has no credits
}

// PersonDerived is derived from the titles of a person.
type PersonDerived struct {
	Credits  []derive.Credit // in response order, movies first
	KnownFor []derive.Title
}

// Movie returns the fragments of a movie.
func (r *Renderer) Movie(c complete.Record[catalog.Movie], d TitleDerived) []release.FragmentSpec {
	m := r.start(fragment.KindMovie)
	v := *c.V()
	if v.ExternalIDs == nil && v.IMDbID.V != "" {
		v.ExternalIDs = &catalog.MovieExternalIDs{IMDbID: v.IMDbID}
	}
	if v.Releases == nil && v.ReleaseDates != nil {
		v.Releases = releasesOf(v.ReleaseDates)
	}
	if v.Trailers == nil && v.Videos != nil {
		v.Trailers = trailersOf(v.Videos)
	}
	return r.title(m, record.Of(&v), d)
}

// title adds the record of a movie or a series, and the lists of titles that it lacks.
func (r *Renderer) title(m *model, rec record.Record, d TitleDerived) []release.FragmentSpec {
	r.record(m, rec)
	r.out.derivedPages(m, rec, fragment.SubRecommendations, fragment.Base, release.Include{Kind: m.Kind, Sub: fragment.SubMediaRow}, d.Recommendations)
	r.out.derivedPages(m, rec, fragment.SubSimilar, fragment.Base, release.Include{Kind: m.Kind, Sub: fragment.SubRow}, d.Similar)
	return r.out.list
}

// Series returns the fragments of a series.
func (r *Renderer) Series(c complete.Record[catalog.TV], d SeriesDerived) []release.FragmentSpec {
	m := r.start(fragment.KindTV)
	v := *c.V()
	children := &r.detail.nested.children
	for i := range d.Seasons {
		s := &d.Seasons[i]
		*children = append(*children, child{place{release.WordSeason, s.Summary.SeasonNumber.V, 0}, s.Translations, s.Localized})
	}
	for _, c := range []complete.Record[catalog.Episode]{d.Last, d.Next} {
		if e := c.V(); e != nil {
			*children = append(*children, childOf(place{release.WordEpisode, e.SeasonNumber.V, e.EpisodeNumber.V}, e))
		}
	}
	v.Credits, v.AggregateCredits = cmp.Or(v.Credits, d.Credits), cmp.Or(v.AggregateCredits, d.Aggregate)
	return r.title(m, record.Of(&v), d.TitleDerived)
}

// Season returns the fragments of a season.
func (r *Renderer) Season(c complete.Record[catalog.Season], d SeasonDerived) []release.FragmentSpec {
	m := r.start(fragment.KindSeason)
	v := *c.V()
	for i := range d.Episodes {
		e := d.Episodes[i].V()
		r.detail.nested.children = append(r.detail.nested.children, childOf(place{release.WordEpisode, 0, e.EpisodeNumber.V}, e))
	}
	r.detail.showID, r.detail.episodeCount = v.SeriesID.V, max(int64(len(v.Episodes)), v.EpisodeCount.V)
	if d.Series != nil {
		r.detail.seriesLanguage = d.Series.OriginalLanguage.V
		for i := range d.Series.Seasons { // more reliable than a record without a list of episodes
			if s := &d.Series.Seasons[i]; s.SeasonNumber.V == v.SeasonNumber.V {
				r.detail.episodeCount = max(r.detail.episodeCount, s.EpisodeCount.V)
				break
			}
		}
	}
	v.Credits, v.AggregateCredits = cmp.Or(v.Credits, d.Credits), cmp.Or(v.AggregateCredits, d.Aggregate)
	return r.record(m, record.Of(&v))
}

// Episode returns the fragments of an episode.
func (r *Renderer) Episode(c complete.Record[catalog.Episode], d EpisodeDerived) []release.FragmentSpec {
	m := r.start(fragment.KindEpisode)
	v := *c.V()
	r.detail.showID = d.SeriesID
	if v.Credits == nil && len(d.Cast)+len(v.Crew)+len(v.GuestStars) > 0 {
		v.Credits = &catalog.EpisodeCredits{
			Cast: emptyForNil(d.Cast), Crew: emptyForNil(v.Crew), GuestStars: emptyForNil(v.GuestStars),
		}
	}
	return r.record(m, record.Of(&v))
}

// emptyForNil returns list, or an empty one for nil, which would be left out.
func emptyForNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// CollectionDerived is derived from the movies of a collection.
type CollectionDerived struct {
	Parts []int64 // ids of its movies in order, used if the record has none
	Adult bool    // for rows; details do not have it
}

// Collection returns the fragments of a collection.
func (r *Renderer) Collection(c complete.Record[catalog.Collection], d CollectionDerived) []release.FragmentSpec {
	m := r.start(fragment.KindCollection)
	v := c.V()
	if v.Parts == nil {
		r.detail.parts = emptyForNil(d.Parts)
	}
	r.detail.baseName, r.detail.adult = v.Name.V, d.Adult
	return r.record(m, record.Of(v))
}

// Company returns the fragments of a company. movies are the ids of its movies in order, used if the record has none.
func (r *Renderer) Company(c complete.Record[catalog.Company], movies []int64) []release.FragmentSpec {
	Plain(r, fragment.KindCompany, c)
	r.out.derivedPages(r.models[fragment.KindCompany], record.Of(c.V()), fragment.SubMovies, fragment.Base, movieRow, movies)
	return r.out.list
}

// Keyword returns the fragments of a keyword. movies are the ids of its movies in order, used if the record has none.
// withAdult includes adult movies, for requests that include them.
func (r *Renderer) Keyword(c complete.Record[catalog.KeywordRecord], movies, withAdult []int64) []release.FragmentSpec {
	Plain(r, fragment.KindKeyword, c)
	m, rec := r.models[fragment.KindKeyword], record.Of(c.V())
	r.out.derivedPages(m, rec, fragment.SubMovies, fragment.Base, movieRow, movies)
	if len(withAdult) > len(movies) {
		r.out.derivedPages(m, rec, fragment.SubMovies, fragment.All, movieRow, withAdult)
	}
	return r.out.list
}

// movieRow is the row of a movie in the lists of companies and keywords.
var movieRow = release.Include{Kind: fragment.KindMovie, Sub: fragment.SubRow}

// Plain returns the fragments of a network, a review, a credit or an order of episodes: kinds without derived data.
func Plain[T any](r *Renderer, k fragment.Kind, c complete.Record[T]) []release.FragmentSpec {
	return r.record(r.start(k), record.Of(c.V()))
}

// start resets the state of the previous resource.
func (r *Renderer) start(k fragment.Kind) *model {
	r.out.reset()
	r.detail.subject = subject{}
	return r.models[k]
}

// record adds the details and every sub-request of rec, and returns the fragments, except copies of Defaults.
func (r *Renderer) record(m *model, rec record.Record) []release.FragmentSpec {
	langs := r.detail.languagesOf(m, rec)
	r.detail.details(m, rec, langs)
	for i := range m.subs {
		r.sub(m, &m.subs[i], rec, langs)
	}
	return r.out.list
}

// opID abbreviates the most frequent mark.
const opID = release.OpIDMark
