package gen

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// How many records the real catalogue has of each kind, in thousands, except for those
// named otherwise.
const (
	realMovies      = 1240_000
	realTV          = 229_000
	realPeople      = 4_800_000
	realCompanies   = 249_000
	realCollections = 10_000
	realNetworks    = 5_400
	realKeywords    = 90_000
)

// A model has the figures of figures.toml, which explains its parts.
type model struct {
	Tail  struct{ MovieVotes, TVVotes, MoviePopularity, TVPopularity, PersonPopularity tail }
	Count struct {
		Cast, Crew, Posters, Backdrops, Logos, Videos, AlternativeTitles, Translations, Keywords spread
		Companies, ReleaseCountries, WatchCountries                                              spread
	}
	Series struct{ Seasons, Episodes, Guests, EpisodeCrew, Ratings spread }
	Lack   struct {
		Poster, Backdrop, Overview, Genre, IMDb, Date, Runtime                     curve
		EpisodeText, Still, EpisodeRuntime, EpisodeVotes, SeasonText, SeasonPoster curve
	}
	Has struct {
		Collection, Tagline, Homepage, Budget, Revenue, Review, Wikidata curve
		English, TranslatedOverview, Specials, GenericNames, Guests      curve
	}
	Genre struct{ Movie, TV []int64 }
}

var figures = sync.OnceValue(func() *model {
	m := &model{}
	text, err := wordFiles.ReadFile("words/figures.toml")
	if err == nil {
		err = toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(m)
	}
	if err != nil {
		panic(fmt.Errorf("gen: figures.toml: %w", err)) // part of the program
	}
	return m
})

// A spread is how many there are of something of a title: by votes, the permille of titles
// that have any, the median of those in hundredths, and the spread around it in hundredths
// of the logarithm's standard deviation; and the most that any title has.
type spread struct {
	Any, Median, Sigma curve
	Most               int
}

// of returns a number for a title with so many votes.
func (s *spread) of(r *random, votes int64) int {
	if s.Any != nil && !r.chance(int(s.Any.at(votes))) {
		return 0
	}
	n := int(r.logNormal(s.Median.at(votes), s.Sigma.at(votes))+50) / 100
	return max(1, min(n, s.Most))
}

// overviewSize is the median length of overviews in characters, by votes.
var overviewSize = curve{190, 200, 210, 225, 240, 250, 262, 272, 280}

// decades are the weights of the years from 1890 on in which movies came out.
var decades = newChooser(5, 8, 13, 17, 23, 22, 32, 45, 55, 60, 75, 140, 290, 215)
