package query

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/tables/posting"
)

// A doc is a movie or a series as a test knows it, a plain list of facts.
type doc struct {
	id                              uint64
	popularity                      float64
	adult, video, screened          bool
	genres, keywords, companies     []uint64
	cast, crew, networks            []uint64
	status, typ                     uint64
	countries                       []string
	language                        string
	voteAverage, voteCount, runtime int32 // average in thousandths
	seasons, episodes               int32
	revenue                         int64
	title, original                 string
	day                             int32
	releases                        []dayIn // of series: without a country
	offers                          []offerOf
	certifications                  []certificationOf
	hotToday, hotThisWeek           int
}

type dayIn struct {
	country string
	typ     int
	day     int32
}

type offerOf struct {
	country, typ string
	provider     int64
}

type certificationOf struct{ country, name string }

// memory is a table in memory.
type memory map[string][]byte

type section struct {
	m    memory
	name string
}

func (s section) Write(b []byte) (int, error) {
	s.m[s.name] = append(s.m[s.name], b...)
	return len(b), nil
}

// sink writes into a memory.
type sink struct{ m memory }

func (s sink) Section(name string) io.Writer {
	s.m[name] = []byte{}
	return section{s.m, name}
}

func (m memory) Section(name string) []byte { return m[name] }

// ok fails the test on an error.
func ok(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// sortDocs brings docs in the order of ranks.
func sortDocs(docs []doc) {
	slices.SortFunc(docs, func(a, b doc) int {
		return cmp.Or(cmp.Compare(b.popularity, a.popularity), cmp.Compare(a.id, b.id))
	})
}

// tableOf writes the table of docs, which are in the order of ranks.
func tableOf(tb testing.TB, kind fragment.Kind, docs []doc) memory {
	tb.Helper()
	m := memory{}
	s := sink{m}
	column := func(of func(d *doc) int32) []int32 {
		c := make([]int32, len(docs))
		for i := range docs {
			c[i] = of(&docs[i])
		}
		return c
	}
	ids, popularity := make([]uint64, len(docs)), make([]float64, len(docs))
	hotToday, hotThisWeek := make([]float64, len(docs)), make([]float64, len(docs))
	for i := range docs {
		ids[i], popularity[i] = docs[i].id, docs[i].popularity
		hotToday[i], hotThisWeek[i] = float64(docs[i].hotToday), float64(docs[i].hotThisWeek)
	}
	ok(tb, posting.WriteUint64s(s, posting.ID, ids))
	ok(tb, posting.WriteFloat64s(s, posting.Popularity, popularity))
	ok(tb, posting.WriteFloat64s(s, posting.TrendDay, hotToday))
	ok(tb, posting.WriteFloat64s(s, posting.TrendWeek, hotThisWeek))
	for name, of := range map[string]func(d *doc) int32{
		posting.Day:         func(d *doc) int32 { return d.day },
		posting.FirstDay:    func(d *doc) int32 { return extreme(d, -1) },
		posting.LastDay:     func(d *doc) int32 { return extreme(d, 1) },
		posting.VoteAverage: func(d *doc) int32 { return d.voteAverage },
		posting.VoteCount:   func(d *doc) int32 { return d.voteCount },
		posting.Runtime:     func(d *doc) int32 { return d.runtime },
		posting.Seasons:     func(d *doc) int32 { return d.seasons },
		posting.Episodes:    func(d *doc) int32 { return d.episodes },
	} {
		ok(tb, posting.WriteRange(s, name, column(of)))
	}
	for name, by := range map[string]func(a, b *doc) int{
		posting.Title:         func(a, b *doc) int { return cmp.Compare(a.title, b.title) },
		posting.OriginalTitle: func(a, b *doc) int { return cmp.Compare(a.original, b.original) },
		posting.Revenue:       func(a, b *doc) int { return cmp.Compare(a.revenue, b.revenue) },
		posting.TrendDay:      func(a, b *doc) int { return cmp.Compare(b.hotToday, a.hotToday) },
		posting.TrendWeek:     func(a, b *doc) int { return cmp.Compare(b.hotThisWeek, a.hotThisWeek) },
	} {
		order := make([]uint32, len(docs))
		for i := range order {
			order[i] = uint32(i)
		}
		if name == posting.Revenue {
			slices.Reverse(order)
		}
		slices.SortStableFunc(order, func(a, b uint32) int { return by(&docs[a], &docs[b]) })
		ok(tb, posting.WriteOrder(s, name, order))
	}
	writeLists(tb, s, docs)
	writeReleases(tb, s, docs)
	if kind == fragment.KindMovie {
		for _, name := range []string{posting.Seasons, posting.Network} {
			maps.DeleteFunc(m, func(k string, _ []byte) bool { return bytes.HasPrefix([]byte(k), []byte(name+".")) })
		}
	}
	return m
}

// extreme returns the first or the last day of releases.
func extreme(d *doc, sign int) int32 {
	day := int32(posting.NoDay)
	for _, r := range d.releases {
		if day == posting.NoDay || sign*cmp.Compare(r.day, day) > 0 {
			day = r.day
		}
	}
	return day
}

func writeLists(tb testing.TB, s sink, docs []doc) {
	tb.Helper()
	for name, of := range map[string]func(d *doc) []uint64{
		posting.Flag: func(d *doc) (keys []uint64) {
			for key, is := range map[uint64]bool{posting.Adult: d.adult, posting.Video: d.video, posting.ScreenedTheatrically: d.screened} {
				if is {
					keys = append(keys, key)
				}
			}
			return keys
		},
		posting.Genre:    func(d *doc) []uint64 { return d.genres },
		posting.Keyword:  func(d *doc) []uint64 { return d.keywords },
		posting.Company:  func(d *doc) []uint64 { return d.companies },
		posting.Cast:     func(d *doc) []uint64 { return d.cast },
		posting.Crew:     func(d *doc) []uint64 { return d.crew },
		posting.Network:  func(d *doc) []uint64 { return d.networks },
		posting.Status:   func(d *doc) []uint64 { return []uint64{d.status} },
		posting.Type:     func(d *doc) []uint64 { return []uint64{d.typ} },
		posting.Language: func(d *doc) []uint64 { return []uint64{posting.CodeKey(d.language)} },
		posting.Country: func(d *doc) (keys []uint64) {
			for _, c := range d.countries {
				keys = append(keys, posting.CodeKey(c))
			}
			return keys
		},
		posting.AnyYear: func(d *doc) (keys []uint64) {
			for _, r := range d.releases {
				keys = append(keys, uint64(posting.YearOf(r.day)))
			}
			return keys
		},
		posting.Offer: func(d *doc) (keys []uint64) {
			for _, o := range d.offers {
				for _, typ := range []int{0, posting.OfferType(o.typ)} {
					keys = append(keys, posting.OfferKey(o.country, typ, o.provider), posting.OfferKey(o.country, typ, 0))
				}
			}
			return keys
		},
		posting.Certification: func(d *doc) (keys []uint64) {
			for _, c := range d.certifications {
				keys = append(keys, posting.CertificationKey(c.country, c.name))
			}
			return keys
		},
	} {
		byKey := map[uint64][]uint32{}
		for i := range docs {
			for _, k := range of(&docs[i]) {
				if l := byKey[k]; len(l) == 0 || l[len(l)-1] != uint32(i) {
					byKey[k] = append(l, uint32(i))
				}
			}
		}
		w := posting.NewListWriter(s, name)
		for _, k := range slices.Sorted(maps.Keys(byKey)) {
			ok(tb, w.Add(k, byKey[k]))
		}
		ok(tb, w.Close())
	}
}

func writeReleases(tb testing.TB, s sink, docs []doc) {
	tb.Helper()
	byKey := map[uint64][]posting.Date{}
	for i := range docs {
		for _, r := range docs[i].releases {
			keys := []uint64{posting.ReleaseKey("", 0)}
			if r.country != "" {
				keys = append(keys, posting.ReleaseKey(r.country, 0))
			}
			if r.country != "" && r.typ != 0 {
				keys = append(keys, posting.ReleaseKey(r.country, r.typ))
			}
			for _, k := range keys {
				byKey[k] = append(byKey[k], posting.Date{Day: r.day, Rank: uint32(i)})
			}
		}
	}
	w := posting.NewDatedWriter(s, posting.Release)
	for _, k := range slices.Sorted(maps.Keys(byKey)) {
		l := byKey[k]
		slices.SortFunc(l, func(a, b posting.Date) int { return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Rank, b.Rank)) })
		ok(tb, w.Add(k, slices.Compact(l)))
	}
	ok(tb, w.Close())
}

// engineOf returns an Engine over tables in memory.
func engineOf(tb testing.TB, cacheBytes int, tables map[fragment.Kind][]doc) *Engine {
	tb.Helper()
	e := &Engine{tables: map[fragment.Kind]*table{}}
	if cacheBytes > 0 {
		e.cache = newCache(cacheBytes)
	}
	for kind, docs := range tables {
		t, err := openTable(kind, tableOf(tb, kind, docs), len(docs))
		ok(tb, err)
		e.tables[kind] = t
	}
	return e
}

// Values that random docs and filters have.
var (
	someCountries = []string{"US", "DE", "FR", "BR", "JP"}
	someLanguages = []string{"en", "de", "fr", "ja", "cn"}
	someOffers    = []string{"flatrate", "free", "ads", "rent", "buy"}
	someRatings   = []string{"G", "PG", "PG-13", "R", "NC-17", "NR"}
)

const firstTestDay = -3000

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

func randomIDs(rng *rand.Rand, most, from int) (ids []uint64) {
	for range rng.IntN(most + 1) {
		ids = append(ids, 1+uint64(rng.IntN(from)))
	}
	return ids
}

// randomDocs returns docs in the order of ranks, with many equal values.
func randomDocs(rng *rand.Rand, n int, movies bool) []doc {
	docs := make([]doc, n)
	for i := range docs {
		d := &docs[i]
		*d = doc{
			id: uint64(i + 1), popularity: float64(rng.IntN(n)) / 10,
			adult: rng.IntN(12) == 0, video: movies && rng.IntN(12) == 0, screened: rng.IntN(5) == 0,
			genres: randomIDs(rng, 4, 8), keywords: randomIDs(rng, 6, 40), companies: randomIDs(rng, 3, 10),
			cast: randomIDs(rng, 6, 60), crew: randomIDs(rng, 6, 60), networks: randomIDs(rng, 2, 5),
			status: uint64(rng.IntN(6)), typ: uint64(rng.IntN(7)), language: pick(rng, someLanguages),
			voteAverage: int32(rng.IntN(40)) * 250, voteCount: int32(rng.IntN(30)), runtime: int32(rng.IntN(150)),
			seasons: int32(rng.IntN(5)), episodes: int32(rng.IntN(50)), revenue: int64(max(0, rng.IntN(100)-60)) << 28,
			title: fmt.Sprint("t", rng.IntN(n)), original: fmt.Sprint("o", rng.IntN(n)), day: posting.NoDay,
			hotToday: rng.IntN(n), hotThisWeek: rng.IntN(n),
		}
		for range rng.IntN(3) {
			d.countries = append(d.countries, pick(rng, someCountries))
		}
		if rng.IntN(8) > 0 {
			d.day = int32(firstTestDay + rng.IntN(6000))
		}
		for range rng.IntN(5) {
			r := dayIn{day: int32(firstTestDay + rng.IntN(6000))}
			if movies {
				r.country, r.typ = pick(rng, someCountries), rng.IntN(7)
			}
			d.releases = append(d.releases, r)
		}
		for range rng.IntN(4) {
			d.offers = append(d.offers, offerOf{pick(rng, someCountries), pick(rng, someOffers), 1 + rng.Int64N(6)})
		}
		for range rng.IntN(3) {
			d.certifications = append(d.certifications, certificationOf{pick(rng, someCountries), pick(rng, someRatings)})
		}
	}
	sortDocs(docs)
	return docs
}
