package gen

import (
	"math/bits"
	"slices"

	"reelsplice/data/reference"
)

// A world is everything that records are made from. It does not change: any number of
// goroutines make records of it.
type world struct {
	movies, tv, people, collections, companies, networks, keywords *population

	words       *lexicon
	departments []department
	crewOf      chooser // department of a crew credit, by its place in departments
	locales     []locale
	providers   []provider
	ofMovies    titleFacts
	ofTV        titleFacts
}

// titleFacts are what titles of a kind are made from.
type titleFacts struct {
	votes, popularity tail
	genres            genreTable
	ratings           map[string][]string // certifications by country
}

// A department is one of a crew, or Acting.
type department struct {
	name     string
	frequent []string // jobs
	jobs     []string // all jobs
	slots    []uint8  // of the people who are known for it
}

// A country is one of productions.
type country struct{ code, name string }

// A provider is a service that offers titles.
type provider struct {
	id, priority int64
	logo, name   string
}

// A genreTable picks genres.
type genreTable struct {
	ids   []int64
	names []string
	of    chooser
}

// A locale is a language and region of translations.
type locale struct {
	region, code      string
	name, englishName string
	language          *language // whose words it has
}

func newWorld(c *Config) *world {
	p := func(k kind, n int64) *population { return newPopulation(c.Seed, k, n) }
	titles := c.Movies + c.TV
	w := &world{
		movies: p(kindMovie, c.Movies), tv: p(kindTV, c.TV), people: p(kindPerson, c.people()),
		collections: p(kindCollection, portion(c.Movies, realCollections, realMovies)),
		companies:   p(kindCompany, portion(titles, realCompanies, realMovies+realTV)),
		networks:    p(kindNetwork, portion(c.TV, realNetworks, realTV)),
		keywords:    p(kindKeyword, portion(titles, realKeywords, realMovies+realTV)),
		words:       words(),
		ofMovies:    titleFacts{figures().Tail.MovieVotes, figures().Tail.MoviePopularity, newGenreTable(reference.Movie, figures().Genre.Movie), certifications(reference.Movie)},
		ofTV:        titleFacts{figures().Tail.TVVotes, figures().Tail.TVPopularity, newGenreTable(reference.TV, figures().Genre.TV), certifications(reference.TV)},
		providers:   newProviders(),
	}
	w.departments, w.crewOf = newDepartments()
	w.locales = newLocales(w.words.languages)
	return w
}

// portion returns as many of real as n is of whole, rounded up: 0 for n 0.
func portion(n, real, whole int64) int64 { return (n*real + whole - 1) / whole }

func newGenreTable(m reference.Media, genres []int64) genreTable {
	var t genreTable
	var weights []uint32
	for pair := range slices.Chunk(genres, 2) {
		t.ids = append(t.ids, pair[0])
		t.names = append(t.names, escaped(reference.GenreName(m, pair[0], "en", "")))
		weights = append(weights, uint32(pair[1]))
	}
	t.of = newChooser(weights...)
	return t
}

func certifications(m reference.Media) map[string][]string {
	out := map[string][]string{}
	for country, list := range reference.Certifications(m) {
		for _, c := range list {
			out[country] = append(out[country], escaped(c.Certification))
		}
	}
	return out
}

// peopleSlots is how many people in a row, by rank, have one of each slot: slots are
// what they are known for.
const peopleSlots = 32

// acting is the place of Acting among the departments.
const acting = 0

// newDepartments returns the departments, Acting first, and the weights of the others
// among crew credits of large crews.
func newDepartments() ([]department, chooser) {
	list := []struct {
		name   string
		slots  int
		weight uint32
		jobs   []string
	}{
		{"Acting", 16, 0, nil},
		{"Directing", 2, 40, []string{"Director", "Assistant Director", "Script Supervisor", "First Assistant Director"}},
		{"Writing", 2, 30, []string{"Screenplay", "Writer", "Story", "Novel"}},
		{"Production", 2, 140, []string{"Producer", "Executive Producer", "Casting", "Co-Producer", "Associate Producer"}},
		{"Crew", 2, 190, []string{"Stunts", "Thanks", "Special Effects", "Stunt Coordinator"}},
		{"Sound", 2, 140, []string{"Original Music Composer", "Sound Re-Recording Mixer", "Sound Effects Editor", "Foley Artist", "Music"}},
		{"Visual Effects", 1, 110, []string{"Animation", "Visual Effects", "Visual Effects Supervisor", "Compositing Artist"}},
		{"Art", 1, 110, []string{"Production Design", "Art Direction", "Set Decoration", "Property Master", "Storyboard Artist"}},
		{"Costume & Make-Up", 1, 90, []string{"Makeup Artist", "Costume Design", "Hairstylist", "Costume Supervisor"}},
		{"Camera", 1, 70, []string{"Director of Photography", "Camera Operator", "Still Photographer", "First Assistant Camera"}},
		{"Lighting", 1, 30, []string{"Gaffer", "Electrician", "Rigging Gaffer", "Best Boy Electric"}},
		{"Editing", 1, 30, []string{"Editor", "Assistant Editor", "Dialogue Editor", "Color Timer"}},
	}
	all := map[string][]string{}
	for _, d := range reference.Departments() {
		for _, j := range d.Jobs {
			all[d.Name] = append(all[d.Name], escaped(j))
		}
	}
	var out []department
	var weights []uint32
	slot := uint8(0)
	for _, d := range list {
		one := department{name: d.name, frequent: d.jobs, jobs: all[d.name]}
		for range d.slots {
			one.slots = append(one.slots, slot)
			slot++
		}
		out = append(out, one)
		weights = append(weights, d.weight)
	}
	return out, newChooser(weights...)
}

// known returns what the person of a rank is known for.
func (w *world) known(rank uint64) *department {
	slot := uint8(rank % peopleSlots)
	if slot < 16 { // Fast path: actors
		return &w.departments[acting]
	}
	for i := range w.departments {
		if s := w.departments[i].slots; slot <= s[len(s)-1] {
			return &w.departments[i]
		}
	}
	return &w.departments[acting]
}

func newProviders() []provider {
	var out []provider
	for _, p := range reference.Providers(reference.Movie) {
		out = append(out, provider{p.ID, int64(p.Priority), p.LogoPath, escaped(p.Name)})
	}
	return out
}

// newLocales returns the locales of translations, those that titles have most often first.
func newLocales(languages []*language) []locale {
	byCode := map[string]*language{}
	var order []string
	for _, l := range languages {
		byCode[l.code] = l
		if l.code != "xx" && l.code != "cn" {
			order = append(order, l.locale)
		}
	}
	more := []string{"es-MX", "pt-PT", "fr-CA", "zh-TW", "zh-HK", "en-GB", "de-AT", "ar-SA", "nl-BE", "en-CA", "zh-SG", "en-AU", "es-AR"}
	order = append(order[:22:22], append(more, order[22:]...)...)
	out := make([]locale, len(order))
	for i, code := range order {
		l := byCode[code[:2]]
		if code == "zh-HK" {
			l = byCode["cn"]
		}
		of := byCode[code[:2]]
		out[i] = locale{region: code[3:], code: code[:2], name: of.name, englishName: of.englishName, language: l}
	}
	return out
}

// newCountries returns the countries of productions and their weights, from countries.txt.
func newCountries() ([]country, chooser) {
	var out []country
	var weights []uint32
	for _, line := range wordLines("countries.txt") {
		for pair := range slices.Chunk(line, 2) {
			ref, ok := reference.CountryByCode(pair[0])
			if !ok {
				panic("gen: countries.txt: no country " + pair[0])
			}
			out = append(out, country{ref.Code, escaped(ref.EnglishName)})
			weights = append(weights, uint32(number(pair[1])))
		}
	}
	return out, newChooser(weights...)
}

// zipfHead is where the law of credits begins: the sixth root of 0.0006, of 2^64. Without
// it, the first few would have most of the credits.
const zipfHead = 0x4a58e857e9e6b400

// zipf returns a rank below n by the law that people get credits by: the first hundredth
// gets a quarter of them, the first tenth half, the worse half a seventh.
func zipf(r *random, n uint64) uint64 { return lawRank(r, n, 6, zipfHead) }

// crowdHead is the eighth root of 0.00002, of 2^64.
const crowdHead = 0x4233_9e58_2d3f_2000

// crowd returns a rank below n by a law of a longer tail still, that of companies and keywords.
func crowd(r *random, n uint64) uint64 { return lawRank(r, n, 8, crowdHead) }

// lawRank returns a rank below n by a power of a random fraction from head on.
func lawRank(r *random, n uint64, power int, head uint64) uint64 {
	x, _ := bits.Mul64(r.next(), ^head)
	x = evenPower(x+head, power) - evenPower(head, power)
	hi, _ := bits.Mul64(x, n)
	return hi
}

// evenPower returns the sixth or eighth power of x as a fraction of 2^64.
func evenPower(x uint64, power int) uint64 {
	x, _ = bits.Mul64(x, x)
	if power == 6 {
		return cube(x)
	}
	x, _ = bits.Mul64(x, x)
	x, _ = bits.Mul64(x, x)
	return x
}
