package movnix

import (
	"slices"

	"reelsplice/data/reference"
	"reelsplice/ingest/layout/tmdb"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

type theirShow struct {
	record.Object
	ID            record.Int    `record:"tmdbId"`
	IMDbID        record.String `record:"imdbId"`
	Name          record.String `record:"name"`
	OriginalName  record.String `record:"originalName"`
	Overview      record.String `record:"overview"`
	FirstAirDate  record.String `record:"firstAirDate"`
	LastAirDate   record.String `record:"lastAirDate"`
	Status        record.String `record:"status"`
	Popularity    record.Float  `record:"popularity"`
	VoteAverage   record.Float  `record:"voteAverage"`
	VoteCount     record.Int    `record:"voteCount"`
	Type          record.String `record:"type"`
	PosterPath    record.String `record:"posterPath"`
	BackdropPath  record.String `record:"backdropPath"`
	Certification record.String `record:"certification"`
}

// series maps a row about a series:
//
//	tvShow.*           the details; imdbId to external_ids
//	seasons[]          a season each, as it is; their outlines, number and networks to the
//	                   details, which the crawler left out
//	genres, companies, images, videos, watchProviders, reviews, externalIds
//	                   as of a movie
//	credits[]          credits: cast where department and job say Acting and Actor, else crew
//	keywords[]         keywords, unless there are none: the crawler never had any
//	alternativeTitles  alternative_titles
//
// Left out and counted as for movies: ratings, genres that are not TMDB's, images that
// come twice, and the certification, whose country is not known. A show without a name
// is what the crawler kept of a request that failed: only its id is known.
func (l *Reader) series(row *Row) ([]tmdb.Record, error) {
	d := row.TVShow
	if !d.ID.Set {
		return nil, &record.FieldError{Field: "tvShow.tmdbId", What: "want an integer, found nothing"}
	}
	if d.Name.V == "" && d.OriginalName.V == "" && len(row.Seasons) == 0 {
		rec, err := tmdb.Checked(catalog.TypeOf(fragment.KindTV), record.Of(nothingBut(d.ID)))
		return []tmdb.Record{rec}, err
	}
	s := row.series()
	rec, err := tmdb.Checked(catalog.TypeOf(fragment.KindTV), record.Of(s))
	if err != nil {
		return nil, err
	}
	out := []tmdb.Record{rec}
	for i := range row.Seasons {
		season := &row.Seasons[i]
		season.SeriesID = d.ID
		rec, err := tmdb.Checked(catalog.TypeOf(fragment.KindSeason), record.Of(season))
		if err != nil {
			return nil, tmdb.InRow(err, "seasons", i)
		}
		out = append(out, rec)
	}
	l.count(row, d.Certification, s.Genres, s.Images)
	return out, nil
}

// nothingBut returns a series of which only the id is known.
func nothingBut(id record.Int) *catalog.TV {
	s := &catalog.TV{ID: id}
	r := record.Of(s)
	for i := range r.Schema.Fields {
		record.MarkAbsent(r, r.Schema.Fields[i].Name)
	}
	return s
}

// series makes a record of the row. What the row does not have stays absent.
func (r *Row) series() *catalog.TV {
	d := r.TVShow
	s := &catalog.TV{
		ID: d.ID, Name: d.Name, OriginalName: d.OriginalName, Overview: textOf(d, "overview"),
		FirstAirDate: textOf(d, "firstAirDate"), LastAirDate: d.LastAirDate, Status: d.Status, Popularity: d.Popularity,
		VoteAverage: d.VoteAverage, VoteCount: d.VoteCount, Type: d.Type, PosterPath: d.PosterPath, BackdropPath: d.BackdropPath,
		Genres: r.genres(reference.TV), ProductionCompanies: r.companies(),
		Images: r.images(), Credits: r.seriesCredits(), Keywords: r.seriesKeywords(),
		ExternalIDs: r.seriesExternalIDs(), WatchProviders: r.providers(), Reviews: r.reviews(),
	}
	if r.Videos != nil {
		s.Videos = &catalog.Videos{Results: r.Videos}
	}
	if r.AlternativeTitles != nil {
		s.AlternativeTitles = &catalog.TVAlternativeTitles{Results: r.AlternativeTitles}
	}
	r.outline(s)
	absent(s, d, "poster_path", "posterPath", "backdrop_path", "backdropPath", "last_air_date", "lastAirDate")
	absent(s, r, "last_episode_to_air", "lastEpisodeToAir", "next_episode_to_air", "nextEpisodeToAir") // never crawled
	return s
}

// outline sets what details say of seasons.
func (r *Row) outline(s *catalog.TV) {
	if r.Seasons == nil {
		return
	}
	s.Seasons, s.Networks = []catalog.SeasonSummary{}, []catalog.NetworkRef{}
	seasons, episodes := 0, 0
	for i := range r.Seasons {
		season := &r.Seasons[i]
		s.Seasons = append(s.Seasons, catalog.SeasonSummary{
			AirDate: season.AirDate, EpisodeCount: record.Number(int64(len(season.Episodes))), ID: season.ID, Name: season.Name,
			Overview: season.Overview, PosterPath: season.PosterPath, SeasonNumber: season.SeasonNumber, VoteAverage: season.VoteAverage,
		})
		absent(&s.Seasons[len(s.Seasons)-1], season, "air_date", "air_date", "poster_path", "poster_path")
		if season.SeasonNumber.V > 0 { // the API does not count specials
			seasons, episodes = seasons+1, episodes+len(season.Episodes)
		}
		for _, n := range season.Networks {
			if !slices.ContainsFunc(s.Networks, func(have catalog.NetworkRef) bool { return have.ID == n.ID }) {
				s.Networks = append(s.Networks, n)
			}
		}
	}
	s.NumberOfSeasons, s.NumberOfEpisodes = record.Number(int64(seasons)), record.Number(int64(episodes))
}

func (r *Row) seriesCredits() *catalog.TVCredits {
	c := r.credits()
	if c == nil {
		return nil
	}
	out := &catalog.TVCredits{Cast: []catalog.TVCastCredit{}, Crew: c.Crew}
	for i := range c.Cast {
		m := &c.Cast[i]
		out.Cast = append(out.Cast, catalog.TVCastCredit{
			Object: m.Object, ID: m.ID, Name: m.Name, ProfilePath: m.ProfilePath, Character: m.Character, Order: m.Order,
		})
	}
	return out
}

// seriesKeywords returns nil for an empty list too, so that it takes none away.
func (r *Row) seriesKeywords() *catalog.TVKeywords {
	if len(r.Keywords) == 0 {
		return nil
	}
	out := &catalog.TVKeywords{}
	for _, k := range r.Keywords {
		out.Results = append(out.Results, catalog.TVKeyword{ID: k.ID, Name: k.Name})
	}
	return out
}

// seriesExternalIDs returns the ids of other sites; the details have the one of IMDb
// too.
func (r *Row) seriesExternalIDs() *catalog.TVExternalIDs {
	x, d := r.ExternalIDs, r.TVShow
	if x == nil && d.IMDbID.V == "" {
		return nil
	}
	if x == nil {
		x = &theirExternalIDs{}
	}
	ids := &catalog.TVExternalIDs{
		IMDbID: x.IMDbID, WikidataID: x.WikidataID, FacebookID: x.FacebookID,
		InstagramID: x.InstagramID, TwitterID: x.TwitterID,
	}
	if x.IMDbID.V == "" && d.IMDbID.V != "" {
		ids.IMDbID = d.IMDbID
	}
	absent(ids, x, "imdb_id", "imdbId", "wikidata_id", "wikidataId", "facebook_id", "facebookId",
		"instagram_id", "instagramId", "twitter_id", "twitterId")
	absent(ids, x, "freebase_mid", "freebaseMid", "freebase_id", "freebaseId", "tvdb_id", "tvdbId", "tvrage_id", "tvrageId") // never crawled
	return ids
}
