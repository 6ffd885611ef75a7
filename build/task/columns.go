package task

import (
	"cmp"

	"reelsplice/build/derive"
	"reelsplice/build/neighbours"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/record"
)

// surveyMovie and surveyTV have the columns of titles that decide what tasks share: genres, ids,
// and the features by which titles are alike.
type surveyMovie struct {
	record.Object
	Adult               record.Bool            `record:"adult"`
	BelongsToCollection *idColumn              `record:"belongs_to_collection,null"`
	Genres              []catalog.Genre        `record:"genres"`
	ID                  record.Int             `record:"id"`
	IMDbID              record.String          `record:"imdb_id,null"`
	Popularity          record.Float           `record:"popularity"`
	VoteCount           record.Int             `record:"vote_count"`
	Credits             *surveyCredits         `record:"credits"`
	ExternalIDs         *surveyExternalIDs     `record:"external_ids"`
	Keywords            *surveyKeywords        `record:"keywords"`
	Localized           []surveyMovieLocalized `record:"localized,own"`
}

type surveyTV struct {
	record.Object
	Adult            record.Bool         `record:"adult"`
	CreatedBy        []idColumn          `record:"created_by"`
	Genres           []catalog.Genre     `record:"genres"`
	ID               record.Int          `record:"id"`
	Popularity       record.Float        `record:"popularity"`
	VoteCount        record.Int          `record:"vote_count"`
	AggregateCredits *surveyAggregate    `record:"aggregate_credits"`
	Credits          *surveyCredits      `record:"credits"`
	Keywords         *surveyResults      `record:"keywords"`
	Localized        []surveyTVLocalized `record:"localized,own"`
}

type surveyExternalIDs struct {
	record.Object
	IMDbID record.String `record:"imdb_id,null"`
}

// surveyMovieLocalized and surveyTVLocalized are the fields that crawls in other languages may
// have given alone: see render.Base.
type surveyMovieLocalized struct {
	record.Object
	BelongsToCollection *idColumn       `record:"belongs_to_collection"`
	Genres              []catalog.Genre `record:"genres"`
	Credits             *surveyCredits  `record:"credits"`
}

type surveyTVLocalized struct {
	record.Object
	Genres           []catalog.Genre  `record:"genres"`
	AggregateCredits *surveyAggregate `record:"aggregate_credits"`
	Credits          *surveyCredits   `record:"credits"`
}

// idColumn has the id alone.
type idColumn struct {
	record.Object
	ID record.Int `record:"id"`
}

type surveyCredits struct {
	record.Object
	Cast []idColumn   `record:"cast"`
	Crew []surveyCrew `record:"crew"`
}

type surveyAggregate struct {
	record.Object
	Cast []idColumn            `record:"cast"`
	Crew []surveyAggregateCrew `record:"crew"`
}

type surveyAggregateCrew struct {
	record.Object
	ID   record.Int  `record:"id"`
	Jobs []surveyJob `record:"jobs"`
}

type surveyJob struct {
	record.Object
	Job record.String `record:"job,dict"`
}

type surveyCrew struct {
	record.Object
	ID  record.Int    `record:"id"`
	Job record.String `record:"job,dict"`
}

type surveyKeywords struct {
	record.Object
	Keywords []idColumn `record:"keywords"`
}

type surveyResults struct {
	record.Object
	Results []idColumn `record:"results"`
}

// title sets t to what neighbours of the movie are found by.
func (f *surveyMovie) title(t *neighbours.Title) {
	for i := range f.Localized {
		l := &f.Localized[i]
		f.BelongsToCollection = cmp.Or(f.BelongsToCollection, l.BelongsToCollection)
		f.Credits = cmp.Or(f.Credits, l.Credits)
		if f.Genres == nil {
			f.Genres = l.Genres
		}
	}
	m := catalog.Movie{Adult: f.Adult, ID: f.ID, Popularity: f.Popularity, VoteCount: f.VoteCount, Genres: f.Genres}
	if f.BelongsToCollection != nil {
		m.BelongsToCollection = &catalog.CollectionRef{ID: f.BelongsToCollection.ID}
	}
	if f.Credits != nil {
		m.Credits = &catalog.Credits{Cast: named[catalog.CastCredit](f.Credits.Cast), Crew: f.Credits.crew()}
	}
	if f.Keywords != nil {
		m.Keywords = &catalog.Keywords{Keywords: named[catalog.Keyword](f.Keywords.Keywords)}
	}
	t.OfMovie(&m)
}

func (f *surveyTV) title(t *neighbours.Title) {
	for i := range f.Localized {
		l := &f.Localized[i]
		f.AggregateCredits = cmp.Or(f.AggregateCredits, l.AggregateCredits)
		f.Credits = cmp.Or(f.Credits, l.Credits)
		if f.Genres == nil {
			f.Genres = l.Genres
		}
	}
	s := catalog.TV{
		Adult: f.Adult, ID: f.ID, Popularity: f.Popularity, VoteCount: f.VoteCount,
		Genres: f.Genres, CreatedBy: named[catalog.Creator](f.CreatedBy),
	}
	if f.Credits != nil {
		s.Credits = &catalog.TVCredits{Cast: named[catalog.TVCastCredit](f.Credits.Cast), Crew: f.Credits.crew()}
	}
	if a := f.AggregateCredits; a != nil {
		s.AggregateCredits = &catalog.AggregateCredits{Cast: named[catalog.AggregateCast](a.Cast), Crew: a.crew()}
	}
	if f.Keywords != nil {
		s.Keywords = &catalog.TVKeywords{Results: named[catalog.TVKeyword](f.Keywords.Results)}
	}
	t.OfSeries(&s)
}

// named makes rows T with nothing but their ids.
func named[T any](list []idColumn) []T {
	id, _ := record.SchemaOf[T]().Field("id")
	out := make([]T, len(list))
	for i := range list {
		*record.Of(&out[i]).Int(id) = list[i].ID
	}
	return out
}

func (c *surveyCredits) crew() []catalog.CrewCredit {
	out := make([]catalog.CrewCredit, len(c.Crew))
	for i := range c.Crew {
		out[i].ID, out[i].Job = c.Crew[i].ID, c.Crew[i].Job
	}
	return out
}

func (a *surveyAggregate) crew() []catalog.AggregateCrew {
	out := make([]catalog.AggregateCrew, len(a.Crew))
	for i := range a.Crew {
		out[i].ID = a.Crew[i].ID
		for _, j := range a.Crew[i].Jobs {
			out[i].Jobs = append(out[i].Jobs, catalog.AggregateJob{Job: j.Job})
		}
	}
	return out
}

// surveySeason and surveyEpisode have the ids of seasons and episodes.
type surveySeason struct {
	record.Object
	Episodes     []surveySeasonEpisode `record:"episodes"`
	ID           record.Int            `record:"id"`
	SeasonNumber record.Int            `record:"season_number"`
	SeriesID     record.Int            `record:"series_id,own"`
	Localized    []surveyEpisodes      `record:"localized,own"`
}

// surveyEpisodes are the episodes that a crawl in another language gave.
type surveyEpisodes struct {
	record.Object
	Episodes []surveySeasonEpisode `record:"episodes"`
}

type surveySeasonEpisode struct {
	record.Object
	EpisodeNumber record.Int `record:"episode_number"`
	ID            record.Int `record:"id"`
}

type surveyEpisode struct {
	record.Object
	EpisodeNumber record.Int `record:"episode_number"`
	ID            record.Int `record:"id"`
	SeasonNumber  record.Int `record:"season_number"`
	SeriesID      record.Int `record:"series_id,own"`
}

// numbered returns the episodes of a season that are built from its list, besides those
// that have a record of their own: see render.Base and seriesBuilder.allEpisodes.
func (s *surveySeason) numbered() []surveySeasonEpisode {
	list := s.Episodes
	for i := range s.Localized {
		if list == nil {
			list = s.Localized[i].Episodes
		}
	}
	have := map[int64]bool{}
	out := list[:0:0]
	for _, e := range list {
		if n := e.EpisodeNumber; derive.IsNumber(n) && !have[n.V] {
			have[n.V] = true
			out = append(out, e)
		}
	}
	return out
}
