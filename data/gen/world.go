package gen

import "github.com/reelsplice/reelsplice/data/reference"

// A world is everything that records are made from. It does not change: any number of
// goroutines make records of it.
type world struct {
	*model
	*lexicon

	populations []*population // of each of the kinds

	movies, tv                                         *titles
	people, collections, companies, networks, keywords *population

	decades   weighted[int]        // in which titles came out, by their first year
	providers []reference.Provider // of offers
}

// titles are those of a kind.
type titles struct {
	*population
	media, name       string // fields of rows
	votes, popularity tail
	genres            weighted[*genre]
	ratings           map[string][]string // certifications by country
}

type genre struct {
	id   int
	name string
}

func newWorld(c *Config) *world {
	all := c.Movies + c.TV
	w := &world{model: figures(), lexicon: words()}
	for k, n := range [len(kinds)]int64{
		c.Movies, c.TV, c.people(), portion(c.Movies, realCollections, realMovies),
		portion(all, realCompanies, realMovies+realTV), portion(c.TV, realNetworks, realTV),
		portion(all, realKeywords, realMovies+realTV),
	} {
		w.populations = append(w.populations, newPopulation(c.Seed, k, n))
	}
	p := w.populations
	w.people, w.collections, w.companies, w.networks, w.keywords = p[2], p[3], p[4], p[5], p[6]
	w.movies = newTitles(p[0], reference.Movie, "title", w.Tail.MovieVotes, w.Tail.MoviePopularity, w.Weights.MovieGenres)
	w.tv = newTitles(p[1], reference.TV, "name", w.Tail.TVVotes, w.Tail.TVPopularity, w.Weights.TVGenres)
	w.decades = weigh(w.Weights.Decades, same)
	for _, p := range reference.Providers(reference.Movie) {
		p.Name = escaped(p.Name)
		w.providers = append(w.providers, p)
	}
	return w
}

// portion returns as many of real as n is of whole, rounded up: 0 for n 0.
func portion(n, real, whole int64) int64 { return (n*real + whole - 1) / whole }

func newTitles(p *population, m reference.Media, name string, votes, popularity tail, genres []choice[int]) *titles {
	t := &titles{population: p, media: string(m), name: name, votes: votes, popularity: popularity}
	t.ratings = map[string][]string{}
	t.genres = weigh(genres, func(id int) *genre {
		return &genre{id, escaped(reference.GenreName(m, int64(id), "en", ""))}
	})
	for country, list := range reference.Certifications(m) {
		for _, c := range list {
			t.ratings[country] = append(t.ratings[country], escaped(c.Certification))
		}
	}
	return t
}
