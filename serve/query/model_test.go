package query

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/blevesearch/vellum"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
	"github.com/reelsplice/reelsplice/serve/lru"
)

// A doc is a movie or a series as a test knows it, a plain list of facts.
type doc struct {
	id                          uint64
	popularity                  float64
	adult, video, screened      bool
	genres, keywords, companies []uint64
	cast, crew, networks        []uint64
	status, typ                 uint64
	countries                   []string
	language                    string
	numbers                     [tables.ColumnCount]int64 // columns with a field of their own
	title, original             string
	day                         int32
	releases                    []dayIn // releases of series have no country
	offers                      []offerOf
	certifications              []certificationOf
	hotToday, hotThisWeek       int
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

// A column of the model is one of these, by the type of the registry's column.
type (
	numberOf func(d *doc) int64
	textOf   func(d *doc) string
	keysOf   func(d *doc) []uint64
)

// model has what a doc has in each column, but for releases, which docs have as they are.
var model = map[tables.ColumnID]any{
	tables.ID:         numberOf(func(d *doc) int64 { return int64(d.id) }),
	tables.Popularity: nil, tables.Heat: nil, tables.Release: nil, tables.Text: nil, // written apart
	tables.TrendDay:      numberOf(func(d *doc) int64 { return int64(d.hotToday) }),
	tables.TrendWeek:     numberOf(func(d *doc) int64 { return int64(d.hotThisWeek) }),
	tables.Day:           numberOf(func(d *doc) int64 { return int64(d.day) }),
	tables.FirstDay:      numberOf(func(d *doc) int64 { return int64(extreme(d, -1)) }),
	tables.LastDay:       numberOf(func(d *doc) int64 { return int64(extreme(d, 1)) }),
	tables.Title:         textOf(func(d *doc) string { return d.title }),
	tables.OriginalTitle: textOf(func(d *doc) string { return d.original }),
	tables.Flag: keysOf(func(d *doc) (keys []uint64) {
		for key, is := range map[uint64]bool{tables.Adult: d.adult, tables.Video: d.video, tables.ScreenedTheatrically: d.screened} {
			if is {
				keys = append(keys, key)
			}
		}
		return keys
	}),
	tables.Genre:      keysOf(func(d *doc) []uint64 { return d.genres }),
	tables.Keyword:    keysOf(func(d *doc) []uint64 { return d.keywords }),
	tables.Company:    keysOf(func(d *doc) []uint64 { return d.companies }),
	tables.Cast:       keysOf(func(d *doc) []uint64 { return d.cast }),
	tables.Crew:       keysOf(func(d *doc) []uint64 { return d.crew }),
	tables.Network:    keysOf(func(d *doc) []uint64 { return d.networks }),
	tables.Status:     keysOf(func(d *doc) []uint64 { return []uint64{d.status} }),
	tables.SeriesType: keysOf(func(d *doc) []uint64 { return []uint64{d.typ} }),
	tables.Language:   keysOf(func(d *doc) []uint64 { return []uint64{tables.CodeKey(d.language)} }),
	tables.Country: keysOf(func(d *doc) (keys []uint64) {
		for _, c := range d.countries {
			keys = append(keys, tables.CodeKey(c))
		}
		return keys
	}),
	tables.AnyYear: keysOf(func(d *doc) (keys []uint64) {
		for _, r := range d.releases {
			keys = append(keys, uint64(day.Day(r.day).Year()))
		}
		return keys
	}),
	tables.Offer: keysOf(func(d *doc) (keys []uint64) {
		for _, o := range d.offers {
			for _, typ := range []int{0, tables.OfferType(o.typ)} {
				keys = append(keys, tables.OfferKey(o.country, typ, o.provider), tables.OfferKey(o.country, typ, 0))
			}
		}
		return keys
	}),
	tables.Certification: keysOf(func(d *doc) (keys []uint64) {
		for _, c := range d.certifications {
			keys = append(keys, tables.CertificationKey(c.country, c.name))
		}
		return keys
	}),
}

// tableOf writes the table of docs, which are in the order of ranks.
func tableOf(tb testing.TB, kind fragment.Kind, docs []doc) memory {
	tb.Helper()
	m := memory{}
	for _, c := range tables.Columns(kind) {
		of, known := model[c.ID]
		if c.Field != "" {
			of, known = numberOf(func(d *doc) int64 { return d.numbers[c.ID] }), true
		}
		if !known {
			tb.Fatalf("column %s: add it to model in model_test.go", c.Name)
		}
		writeColumn(tb, sink{m}, c, of, docs)
	}
	return m
}

func writeColumn(tb testing.TB, s sink, c *tables.Column, of any, docs []doc) {
	tb.Helper()
	var numbers []int64
	if of, ok := of.(numberOf); ok {
		for i := range docs {
			numbers = append(numbers, of(&docs[i]))
		}
	}
	order := make([]uint32, len(docs))
	for i := range order {
		order[i] = uint32(i)
	}
	each := func(order []uint32) func(fn func(rank uint32) error) error {
		return func(fn func(rank uint32) error) (err error) {
			for _, r := range order {
				err = cmp.Or(err, fn(r))
			}
			return err
		}
	}
	writeOrder := func(order []uint32) { ok(tb, posting.WriteOrder(s, c.Name, len(order), 1<<20, each(order))) }
	switch c.Type {
	case tables.Uint64s:
		ok(tb, posting.Write(s, c.Name, cast[uint64](numbers)))
	case tables.Float64s:
		popularity := make([]float64, len(docs))
		for i := range docs {
			popularity[i] = docs[i].popularity
		}
		ok(tb, posting.Write(s, c.Name, popularity))
	case tables.Range:
		ok(tb, posting.Write(s, c.Name, cast[int32](numbers)))
		slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(numbers[a], numbers[b]) })
		writeOrder(order)
		ok(tb, posting.WriteSums(s, c.Name, len(docs), each(order)))
	case tables.Trend:
		ok(tb, posting.Write(s, c.Name, cast[float64](numbers)))
		slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(numbers[b], numbers[a]) })
		writeOrder(order)
	case tables.NumberOrder:
		slices.Reverse(order)
		slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(numbers[a], numbers[b]) })
		writeOrder(order)
	case tables.TextOrder:
		text := of.(textOf)
		slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(text(&docs[a]), text(&docs[b])) })
		writeOrder(order)
	case tables.Lists:
		writeLists(tb, s, c.Name, of.(keysOf), docs)
	case tables.Dated:
		writeReleases(tb, s, docs)
	case tables.Names:
		writeNoNames(tb, s, len(docs))
	}
}

func cast[T uint64 | int32 | float64](numbers []int64) []T {
	out := make([]T, len(numbers))
	for i, v := range numbers {
		out[i] = T(v)
	}
	return out
}

// writeNoNames writes an index of names in which nothing is found.
func writeNoNames(tb testing.TB, s sink, rows int) {
	tb.Helper()
	fst, err := vellum.New(s.Section(tables.NameTerms), nil)
	ok(tb, err)
	ok(tb, fst.Close())
	for _, lists := range []string{tables.TermLists, tables.PrefixLists} {
		ok(tb, posting.NewListWriter(s, lists).Close())
	}
	for _, empty := range []string{tables.NameKeys, tables.NameRanks, tables.NameTexts} {
		s.Section(empty)
	}
	ok(tb, posting.Write(s, tables.NamePlaces, make([]uint32, rows+1)))
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

func writeLists(tb testing.TB, s sink, name string, of keysOf, docs []doc) {
	tb.Helper()
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

func writeReleases(tb testing.TB, s sink, docs []doc) {
	tb.Helper()
	byKey := map[uint64][]posting.Date{}
	for i := range docs {
		for _, r := range docs[i].releases {
			keys := []uint64{tables.ReleaseKey("", 0)}
			if r.country != "" {
				keys = append(keys, tables.ReleaseKey(r.country, 0))
			}
			if r.country != "" && r.typ != 0 {
				keys = append(keys, tables.ReleaseKey(r.country, r.typ))
			}
			for _, k := range keys {
				byKey[k] = append(byKey[k], posting.Date{Day: r.day, Rank: uint32(i)})
			}
		}
	}
	w := posting.NewDatedWriter(s, tables.Release.String())
	for _, k := range slices.Sorted(maps.Keys(byKey)) {
		l := byKey[k]
		slices.SortFunc(l, func(a, b posting.Date) int { return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Rank, b.Rank)) })
		ok(tb, w.Add(k, slices.Compact(l)))
	}
	ok(tb, w.Close())
}

// engineOf returns an Engine over tables in memory.
func engineOf(tb testing.TB, cacheBytes int, of map[fragment.Kind][]doc) *Engine {
	tb.Helper()
	e := &Engine{tables: map[fragment.Kind]*table{}}
	if cacheBytes > 0 {
		e.cache = lru.New[*hits](cacheBytes)
	}
	for kind, docs := range of {
		e.tables[kind] = openDocs(tb, kind, docs)
	}
	return e
}

// openDocs returns the table of docs.
func openDocs(tb testing.TB, kind fragment.Kind, docs []doc) *table {
	tb.Helper()
	t, err := tables.OpenSections(kind, tableOf(tb, kind, docs), len(docs))
	ok(tb, err)
	return &table{Table: t}
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
			title: fmt.Sprint("t", rng.IntN(n)), original: fmt.Sprint("o", rng.IntN(n)), day: posting.NoDay,
			hotToday: rng.IntN(n), hotThisWeek: rng.IntN(n),
		}
		for id := range tables.ColumnCount {
			if c := id.Column(); c.Field != "" {
				d.numbers[id] = int64(rng.IntN(20)) * int64(math.Pow10(c.Digits)) / 4
			}
		}
		d.numbers[tables.Revenue] = int64(max(0, rng.IntN(100)-60)) << 28 // most have none
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
