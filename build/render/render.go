package render

import (
	"slices"

	"github.com/reelsplice/reelsplice/build/derive"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// A Renderer turns records into fragments. It is not safe for concurrent use. Its
// methods may change the record that they are given, and what they return is valid
// until the next call.
//
// The details of records of which no source gave a details answer - rows of lists,
// single sub-requests, other layouts - are filled in with what is derived and with the
// API's empty values, as clients rely on them. A details answer is left as it was
// given, old shapes too. The catalogue keeps what was given; only the answer is filled
// in.
type Renderer struct {
	models map[fragment.Kind]*model
	out    fragments
	detail detailer
	groups grouper
}

// New returns a Renderer.
func New() *Renderer {
	r := &Renderer{models: models()}
	r.detail.out, r.groups.out = &r.out, &r.out
	return r
}

// TitleDerived is derived from the whole catalogue: ids of the same
// kind, best first, used where the record gives none.
type TitleDerived struct{ Recommendations, Similar []int64 }

// TVDerived is derived from the other records of a series and the whole catalogue.
type TVDerived struct {
	TitleDerived
	Seasons   []SeasonInfo              // every season that there is a record of, ascending
	Credits   *catalog.TVCredits        // of the latest season, used where the record gives none
	Aggregate *catalog.AggregateCredits // used where the record gives none
	// Last and Next are used where the record gives none; nil is null.
	Last, Next *catalog.Episode
}

// SeasonInfo is what the details of a series say of a season, and its text by language.
type SeasonInfo struct {
	Summary      catalog.SeasonSummary
	Translations []catalog.NameTranslation
	Localized    []LocalizedName
}

// SeasonDerived is derived from the other records of the series of a season.
type SeasonDerived struct {
	Series    *catalog.TV               // its details; may be nil
	Credits   *catalog.TVCredits        // used where the record gives none
	Aggregate *catalog.AggregateCredits // used where the record gives none
	// Episodes are the records of episodes by themselves, by number: for their text by
	// language, and for the list of episodes where the season gives none.
	Episodes []*catalog.Episode
}

// EpisodeDerived is derived from the series and the season of an episode.
type EpisodeDerived struct {
	SeriesID int64
	Cast     []catalog.TVCastCredit // the regulars, for credits that are not given
}

// PersonDerived is derived from the titles of a person.
type PersonDerived struct {
	Credits  []derive.Credit // in the order to serve, movies first
	KnownFor []derive.Title
}

// Movie returns the fragments of a movie.
func (r *Renderer) Movie(v *catalog.Movie, d TitleDerived) []Fragment {
	rec := record.Of(v)
	m := r.start(fragment.KindMovie, rec).complete(rec)
	if v.ExternalIDs == nil && v.IMDbID.V != "" {
		v.ExternalIDs = &catalog.MovieExternalIDs{IMDbID: v.IMDbID}
	}
	if v.Releases == nil && v.ReleaseDates != nil {
		v.Releases = releasesOf(v.ReleaseDates)
	}
	if v.Trailers == nil && v.Videos != nil {
		v.Trailers = trailersOf(v.Videos)
	}
	return r.title(m, rec, d)
}

// title adds what a movie or a series has, and the lists of titles that it gives none of.
func (r *Renderer) title(m *model, rec record.Record, d TitleDerived) []Fragment {
	r.record(m, rec)
	r.out.derivedPages(m, rec, fragment.SubRecommendations, fragment.Base, release.Include{Kind: m.kind, Sub: fragment.SubMediaRow}, d.Recommendations)
	r.out.derivedPages(m, rec, fragment.SubSimilar, fragment.Base, release.Include{Kind: m.kind, Sub: fragment.SubRow}, d.Similar)
	return r.out.list
}

// TV returns the fragments of a series.
func (r *Renderer) TV(t *catalog.TV, d TVDerived) []Fragment {
	rec := record.Of(t)
	CompleteTV(t, d)
	m := r.start(fragment.KindTV, rec)
	parts := &r.detail.nested.parts
	for i := range d.Seasons {
		s := &d.Seasons[i]
		*parts = append(*parts, part{place{release.WordSeason, s.Summary.SeasonNumber.V, 0}, s.Translations, s.Localized})
	}
	for _, e := range []*catalog.Episode{d.Last, d.Next} {
		if e != nil {
			*parts = append(*parts, partOf(place{release.WordEpisode, e.SeasonNumber.V, e.EpisodeNumber.V}, e))
		}
	}
	if t.Credits == nil {
		t.Credits = d.Credits
	}
	if t.AggregateCredits == nil {
		t.AggregateCredits = d.Aggregate
	}
	return r.title(m, rec, d.TitleDerived)
}

// deriveSeasons gives a series without details what is known of its seasons and
// episodes. Specials count for none of the numbers.
func deriveSeasons(t *catalog.TV, d TVDerived) {
	if t.LastEpisodeToAir == nil {
		t.LastEpisodeToAir = summaryOf(d.Last)
	}
	if t.NextEpisodeToAir == nil {
		t.NextEpisodeToAir = summaryOf(d.Next)
	}
	if t.Seasons == nil {
		t.Seasons = make([]catalog.SeasonSummary, 0, len(d.Seasons))
		for i := range d.Seasons {
			t.Seasons = append(t.Seasons, d.Seasons[i].Summary)
		}
	}
	var seasons, episodes int64
	for i := range t.Seasons {
		if s := &t.Seasons[i]; s.SeasonNumber.V > 0 {
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
}

// summaryOf returns an episode as the details of its series have it; nil for nil.
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

// Season returns the fragments of a season.
func (r *Renderer) Season(s *catalog.Season, d SeasonDerived) []Fragment {
	rec := record.Of(s)
	CompleteSeason(s, d)
	m := r.start(fragment.KindSeason, rec)
	for _, e := range d.Episodes {
		r.detail.nested.parts = append(r.detail.nested.parts, partOf(place{release.WordEpisode, 0, e.EpisodeNumber.V}, e))
	}
	r.detail.showID, r.detail.episodeCount = s.SeriesID.V, max(int64(len(s.Episodes)), s.EpisodeCount.V)
	if d.Series != nil {
		r.detail.seriesLanguage = d.Series.OriginalLanguage.V
		r.detail.episodeCount = max(r.detail.episodeCount, episodesOf(d.Series, s.SeasonNumber.V))
	}
	if s.Credits == nil {
		s.Credits = d.Credits
	}
	if s.AggregateCredits == nil {
		s.AggregateCredits = d.Aggregate
	}
	return r.record(m, rec)
}

// episodesOf returns how many episodes a season has by the details of its series, which
// know of more than a record without a list of them.
func episodesOf(t *catalog.TV, season int64) int64 {
	for i := range t.Seasons {
		if s := &t.Seasons[i]; s.SeasonNumber.V == season {
			return s.EpisodeCount.V
		}
	}
	return 0
}

// deriveSeason gives a season without details the episodes and networks that others
// know of.
func deriveSeason(s *catalog.Season, d SeasonDerived) {
	if s.Networks == nil && d.Series != nil {
		s.Networks = d.Series.Networks
	}
	if s.Episodes != nil {
		return
	}
	s.Episodes = make([]catalog.SeasonEpisode, 0, len(d.Episodes))
	for _, e := range d.Episodes {
		s.Episodes = append(s.Episodes, catalog.SeasonEpisode{
			ListedEpisode: catalog.ListedEpisode{
				AirDate: e.AirDate, EpisodeNumber: e.EpisodeNumber, EpisodeType: e.EpisodeType, ID: e.ID, Name: e.Name,
				Overview: e.Overview, ProductionCode: e.ProductionCode, Runtime: e.Runtime, SeasonNumber: e.SeasonNumber,
				ShowID: s.SeriesID, StillPath: e.StillPath, VoteAverage: e.VoteAverage, VoteCount: e.VoteCount,
			},
			Crew: e.Crew, GuestStars: e.GuestStars,
		})
	}
}

// EpisodeOf returns episode i of a season's list as a record of its own, with the text
// that crawls of the season in other languages gave it. The details of an episode do
// not say the series.
func EpisodeOf(s *catalog.Season, i int) *catalog.Episode {
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
		at := slices.IndexFunc(c.Episodes, func(o catalog.SeasonEpisode) bool {
			return o.EpisodeNumber.Set && o.EpisodeNumber == e.EpisodeNumber
		})
		if at < 0 {
			continue
		}
		o := &c.Episodes[at]
		out.Localized = append(out.Localized, catalog.LocalizedEpisode{
			Language: c.Language, Crew: o.Crew, GuestStars: o.GuestStars, Name: o.Name, Overview: o.Overview,
		})
	}
	return out
}

// Episode returns the fragments of an episode, which may be one that EpisodeOf made.
func (r *Renderer) Episode(e *catalog.Episode, d EpisodeDerived) []Fragment {
	rec := record.Of(e)
	m := r.start(fragment.KindEpisode, rec).complete(rec)
	r.detail.showID = d.SeriesID
	if e.Credits == nil && len(d.Cast)+len(e.Crew)+len(e.GuestStars) > 0 {
		e.Credits = &catalog.EpisodeCredits{
			Cast: emptyForNil(d.Cast), Crew: emptyForNil(e.Crew), GuestStars: emptyForNil(e.GuestStars),
		}
	}
	return r.record(m, rec)
}

// emptyForNil returns list, an empty one for nil, which would be left out.
func emptyForNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// CollectionDerived is derived from the movies of a collection.
type CollectionDerived struct {
	Parts []int64 // ids of its movies in order, used where the record gives none
	Adult bool    // whether rows say that it is for adults; no details do
}

// Collection returns the fragments of a collection.
func (r *Renderer) Collection(c *catalog.Collection, d CollectionDerived) []Fragment {
	rec := record.Of(c)
	m := r.start(fragment.KindCollection, rec)
	if c.Parts == nil {
		r.detail.parts = emptyForNil(d.Parts)
	}
	r.detail.baseName, r.detail.adult = c.Name.V, d.Adult
	return r.record(m.complete(rec), rec)
}

// Company returns the fragments of a company. movies are the ids of its movies in
// order, used where the record gives none.
func (r *Renderer) Company(c *catalog.Company, movies []int64) []Fragment {
	return r.withMovies(fragment.KindCompany, record.Of(c), movies)
}

// Keyword returns the fragments of a keyword. movies are the ids of its movies in
// order, used where the record gives none; all are those and the ones for adults,
// which are served to who asks for them.
func (r *Renderer) Keyword(k *catalog.KeywordRecord, movies, all []int64) []Fragment {
	rec := record.Of(k)
	r.withMovies(fragment.KindKeyword, rec, movies)
	if len(all) > len(movies) {
		r.out.derivedPages(r.models[fragment.KindKeyword], rec, fragment.SubMovies, fragment.All, movieRow, all)
	}
	return r.out.list
}

// movieRow is the row of a movie in the lists of companies and keywords.
var movieRow = release.Include{Kind: fragment.KindMovie, Sub: fragment.SubRow}

func (r *Renderer) withMovies(k fragment.Kind, rec record.Record, movies []int64) []Fragment {
	r.Plain(k, rec)
	r.out.derivedPages(r.models[k], rec, fragment.SubMovies, fragment.Base, movieRow, movies)
	return r.out.list
}

// Plain returns the fragments of a network, a review, a credit or an order of episodes: of kinds
// without derived data.
func (r *Renderer) Plain(k fragment.Kind, rec record.Record) []Fragment {
	return r.record(r.start(k, rec).complete(rec), rec)
}

// start forgets the record before and prepares the next one.
func (r *Renderer) start(k fragment.Kind, rec record.Record) *model {
	m := r.reset(k)
	m.fillBase(rec)
	return m
}

// reset forgets the resource before.
func (r *Renderer) reset(k fragment.Kind) *model {
	r.out.reset()
	r.detail.subject = subject{}
	return r.models[k]
}

// record adds the details and every sub-request that rec has, and returns the fragments. Those
// that equal those of Defaults are left to it.
func (r *Renderer) record(m *model, rec record.Record) []Fragment {
	langs := r.detail.languagesOf(m, rec)
	r.detail.details(m, rec, langs)
	for i := range m.subs {
		r.sub(m, &m.subs[i], rec, langs)
	}
	return r.out.list
}

// opID is short for the most frequent mark.
const opID = release.OpIDMark
