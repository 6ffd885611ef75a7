package gen

import (
	"bytes"
	"cmp"
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

//go:embed figures.toml
var figuresFile embed.FS

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
		Collection, Tagline, Homepage, Budget, Revenue                             curve
		TranslatedOverview, Specials, GenericNames, Guests                         curve
	}
	Typical struct{ Overview, Budget, Runtime, ShortFilm, Average, AverageSpread curve }
}

var figures = sync.OnceValue(func() *model {
	m := new(model)
	text, err := figuresFile.ReadFile("figures.toml")
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
func (s *spread) of(r *random, votes int) int {
	if s.Any != nil && !r.chance(s.Any.at(votes)) {
		return 0
	}
	n := (r.logNormal(s.Median.at(votes), s.Sigma.at(votes)) + 50) / 100
	return max(1, min(n, s.Most))
}

// A world is everything that records are made from. It does not change: any number of
// goroutines make records of it.
type world struct {
	*model
	*stock

	populations []*population // of each of the kinds

	movies, tv                                         *titles
	people, collections, companies, networks, keywords *population
}

// titles are those of a kind.
type titles struct {
	*population
	media                string
	name, original, date string // fields
	votes, popularity    tail
}

func newWorld(c *Config) *world {
	all := c.Movies + c.TV
	w := &world{model: figures(), stock: newStock()}
	for k, n := range [len(kinds)]int64{
		c.Movies, c.TV, c.people(), portion(c.Movies, realCollections, realMovies),
		cmp.Or(c.Companies, portion(all, realCompanies, realMovies+realTV)), portion(c.TV, realNetworks, realTV),
		cmp.Or(c.Keywords, portion(all, realKeywords, realMovies+realTV)),
	} {
		w.populations = append(w.populations, newPopulation(c.Seed, k, n))
	}
	p := w.populations
	w.people, w.collections, w.companies, w.networks, w.keywords = p[2], p[3], p[4], p[5], p[6]
	w.movies = &titles{p[0], "movie", "title", "original_title", "release_date", w.Tail.MovieVotes, w.Tail.MoviePopularity}
	w.tv = &titles{p[1], "tv", "name", "original_name", "first_air_date", w.Tail.TVVotes, w.Tail.TVPopularity}
	return w
}

// portion returns as many of real as n is of whole, rounded up: 0 for n 0.
func portion(n, real, whole int64) int64 { return (n*real + whole - 1) / whole }
