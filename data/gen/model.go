package gen

import (
	"bytes"
	"embed"
	"fmt"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// How many records the real catalogue has of each kind.
const (
	realMovies      = 1_240_000
	realTV          = 229_000
	realPeople      = 4_800_000
	realCompanies   = 249_000
	realCollections = 10_000
	realNetworks    = 5_400
	realKeywords    = 90_000
)

//go:embed words
var wordFiles embed.FS

// readTOML returns what a file of the folder words holds.
func readTOML[T any](name string) *T {
	out := new(T)
	text, err := wordFiles.ReadFile("words/" + name)
	if err == nil {
		err = toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(out)
	}
	if err != nil {
		panic(fmt.Errorf("gen: %s: %w", name, err)) // part of the program
	}
	return out
}

// A model has the figures of figures.toml, which explains its parts.
type model struct {
	Tail  struct{ MovieVotes, TVVotes, MoviePopularity, TVPopularity, PersonPopularity tail }
	Count struct {
		Cast, Crew, Posters, Backdrops, Logos, Videos, AlternativeTitles, Translations, Keywords spread
		Companies, ReleaseCountries, WatchCountries, Reviews                                     spread
	}
	Series struct{ Seasons, Episodes, Guests, EpisodeCrew, Ratings spread }
	Has    struct {
		Poster, Backdrop, Overview, Genre, IMDb, Date, Runtime                     curve
		EpisodeText, Still, EpisodeRuntime, EpisodeVotes, SeasonText, SeasonPoster curve
		Collection, Tagline, Homepage, Budget, Revenue, Wikidata                   curve
		English, TranslatedOverview, Specials, GenericNames, Guests                curve
	}
	Weights struct{ MovieGenres, TVGenres, Decades []choice[int] }
	Typical struct{ Overview, MoreGenres, Budget, Runtime, ShortFilm, Average, AverageSpread curve }
}

var figures = sync.OnceValue(func() *model { return readTOML[model]("figures.toml") })

// A spread is how many there are of something of a title: by votes, the permille of titles
// that have any, the median of those in hundredths, and the spread around it in hundredths
// of the logarithm's standard deviation; and the most that any title has.
type spread struct {
	Any, Median, Sigma curve
	Most               int
}

// of returns a number for a title with so many votes.
func (s *spread) of(r *random, votes int) int {
	if s.Any != nil && !r.chance(s.Any.at(votes)) {
		return 0
	}
	n := (r.logNormal(s.Median.at(votes), s.Sigma.at(votes)) + 50) / 100
	return max(1, min(n, s.Most))
}
