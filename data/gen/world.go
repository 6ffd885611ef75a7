package gen

import (
	"cmp"
	"math/big"
	"math/bits"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Numbers of records in the real catalogue.
const (
	realMovies      = 1_240_000
	realTV          = 229_000
	realPeople      = 4_800_000
	realCompanies   = 249_000
	realCollections = 10_000
	realNetworks    = 5_400
	realKeywords    = 90_000
)

// Distributions of the real catalogue: popularity in 1/10000, and the size of a record's lists in percent of the mean.
var (
	movieVotes       = tail{0, 0, 2, 6, 17, 60, 170, 500, 1300, 2900, 5400, 9500, 13500, 18000, 21500, 25000, 28000, 31000, 34000, 36500, 41000}
	tvVotes          = tail{0, 0, 3, 8, 22, 70, 200, 520, 1200, 2500, 4300, 6600, 9000, 11500, 14000, 17000, 20500, 24000, 30000}
	moviePopularity  = tail{0, 1500, 3500, 6400, 10400, 15800, 22800, 31800, 43000, 57500, 82000, 112000, 158000, 240000, 420000, 700000, 1030000, 1400000, 2800000, 4000000}
	tvPopularity     = tail{0, 9000, 19000, 32000, 52000, 78000, 108000, 146000, 240000, 360000, 530000, 780000, 1050000, 1350000, 1950000, 2450000, 3000000}
	personPopularity = tail{0, 1200, 2000, 2800, 3400, 4200, 5200, 6500, 8200, 10200, 12500, 16000, 22000, 31000, 43000, 65000, 100000, 240000, 480000, 750000}
	sizes            = tail{30, 50, 85, 130, 210, 340, 540, 840, 1250, 1700, 2200, 2700, 3200, 3700}
)

// A kind describes the records of one kind and their file. block is the number of records that take a few megabytes.
type kind struct {
	name  string
	block uint64
	make  func(m *maker) record.Record
}

// kinds are in the order of files.
var kinds = [...]kind{
	{"movies", 256, makeMovie},
	{"tv", 64, makeTV},
	{"people", 4096, makePerson},
	{"collections", 256, makeCollection},
	{"companies", 8192, makeCompany},
	{"networks", 8192, makeNetwork},
	{"keywords", 16384, func(m *maker) record.Record { return record.Of(&catalog.KeywordRecord{ID: m.id, Name: m.name}) }},
}

// A world is the input of all records. It does not change, so goroutines share it.
type world struct {
	*stock

	populations []*population // in the order of kinds

	movies, tv, people, collections, companies, networks, keywords *population
}

func newWorld(c *Config) *world {
	all := c.Movies + c.TV
	w := &world{stock: newStock()}
	for k, n := range [len(kinds)]int64{
		c.Movies, c.TV, cmp.Or(c.People, max(portion(c.Movies, realPeople, realMovies), 4*c.TV)), portion(c.Movies, realCollections, realMovies),
		cmp.Or(c.Companies, portion(all, realCompanies, realMovies+realTV)), portion(c.TV, realNetworks, realTV),
		cmp.Or(c.Keywords, portion(all, realKeywords, realMovies+realTV)),
	} {
		w.populations = append(w.populations, newPopulation(c.Seed, k, n))
	}
	for k, n := range [len(kinds)]int{len(w.stock.movies), len(w.stock.tv), len(w.stock.people), len(w.stock.collections), len(w.stock.companies), len(w.stock.networks), len(w.stock.keywords)} {
		w.populations[k].rows = n
	}
	p := w.populations
	w.movies, w.tv, w.people, w.collections, w.companies, w.networks, w.keywords = p[0], p[1], p[2], p[3], p[4], p[5], p[6]
	w.movies.votes, w.movies.popularity = movieVotes, moviePopularity
	w.tv.votes, w.tv.popularity = tvVotes, tvPopularity
	w.people.popularity = personPopularity
	return w
}

// portion returns n*real/whole, rounded up.
func portion(n, real, whole int64) int64 { return (n*real + whole - 1) / whole }

// A population is all records of a kind, numbered from 0 in the order of their ids.
type population struct {
	kind
	rows              int // number of rows of the sample
	n, seed           uint64
	step, back, add   uint64 // record i has the rank i*step+add modulo n; back is the inverse of step
	votes, popularity tail   // nil for kinds without these fields
}

// newPopulation returns n records of kinds[k].
func newPopulation(seed uint64, k int, n int64) *population {
	p := &population{kind: kinds[k], n: uint64(n), seed: mix(seed ^ uint64(k+1)*golden)}
	if n == 0 {
		return p
	}
	p.add = mix(p.seed) % p.n
	p.step, _ = bits.Mul64(p.n, golden) // adjacent records have very different ranks
	for ; ; p.step++ {
		back := new(big.Int).ModInverse(new(big.Int).SetUint64(p.step), big.NewInt(n))
		if back != nil {
			p.back = back.Uint64()
			return p
		}
	}
}

// rank returns the rank of record i, 0 for the most popular.
func (p *population) rank(i uint64) uint64 { return (i*p.step + p.add) % p.n }

// ranked returns the record of a rank below n.
func (p *population) ranked(rank uint64) uint64 { return (rank + p.n - p.add) % p.n * p.back % p.n }

// A stream separates the random numbers of a record's parts.
type stream uint64

const (
	streamHead stream = iota // values that other records repeat
	streamDetails
)

// random returns the random numbers of one part of a record.
func (p *population) random(i uint64, s stream) random {
	return random{mix(p.seed+i*golden) ^ mix(uint64(s))}
}

// id returns the id of record i. Ids ascend with i and have gaps: one number in four is missing.
func (p *population) id(i uint64) int64 { return int64(i+i/3) + 2 }

// A head holds the values of a record that other records repeat.
type head struct {
	population *population
	i          uint64
	row        int // number of its row of the sample

	id                      record.Int
	name, original          record.String
	popularity, voteAverage record.Float
	voteCount               record.Int

	size  int     // length of lists, in percent of the mean
	shift day.Day // added to the sample's dates
}

// headOf makes the head of record i.
func (w *world) headOf(p *population, i uint64) head {
	r := p.random(i, streamHead)
	share, _ := bits.Div64(p.rank(i), 1<<63, p.n) // share of records with better ranks, as a fraction of 2^64
	votes, popularity := p.votes.at(share), p.popularity.at(share)*r.between(60, 140)/100
	h := head{
		population: p, i: i, row: r.below(p.rows), id: record.Number(p.id(i)), voteCount: record.Number(int64(votes)), voteAverage: record.Float{Set: true},
		popularity: record.Float{V: float64(popularity) / 10_000, Set: true}, size: sizes.at(share), shift: day.Day(-r.below(3000)),
	}
	if votes > 0 {
		h.voteAverage.V = float64(r.between(4500, 8000)) / 1000
	}
	name := w.title(&r, w.words)
	switch p {
	case w.people:
		name = pick(&r, w.givenNames) + " " + pick(&r, w.lastNames)
	case w.collections:
		name += " Collection"
	case w.companies, w.networks:
		name += pick(&r, []string{" Films", " Pictures", " Entertainment", " Media", " Television"})
	}
	h.name, h.original = record.Text(name), record.Text(name)
	if r.chance(200) {
		h.original = record.Text(w.title(&r, w.foreign))
	}
	return h
}
