package query

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
	"github.com/reelsplice/reelsplice/serve/lru"
	"github.com/reelsplice/reelsplice/serve/route"
)

// benchRows is how many movies the benchmarks look at. REELSPLICE_BENCH_ROWS sets another
// number: 1200000 is full scale, and takes a minute and 2 GB to make.
func benchRows(b *testing.B) int {
	b.Helper()
	if s := os.Getenv("REELSPLICE_BENCH_ROWS"); s != "" {
		n, err := strconv.Atoi(s)
		ok(b, err)
		return n
	}
	return 20_000
}

// zipf returns a number from 1 to n-1, small ones more often.
func zipf(rng *rand.Rand, n int) uint64 {
	return uint64(math.Exp(rng.Float64() * math.Log(float64(n))))
}

func zipfIDs(rng *rand.Rand, most, n int) (ids []uint64) {
	for range rng.IntN(most + 1) {
		ids = append(ids, zipf(rng, n))
	}
	return ids
}

var benchLanguages = strings.Fields("en fr es de ja zh pt it ru ko hi ar tr pl sv nl da cs fi no hu el he th fa ro uk")

// benchDocs returns movies whose values are spread as TMDB's are, roughly: the less popular
// a movie, the less is known of it.
func benchDocs(n int) []doc {
	rng := rand.New(rand.NewPCG(11, 11))
	codes := strings.Fields("US GB FR DE JP IN CN KR IT ES CA BR MX AU SE DK NL RU TR PL AR BE CH AT NO FI IE PT GR IL")
	docs := make([]doc, n)
	for i := range docs {
		known := 1 - float64(i)/float64(n) // 1 for the most popular
		d := &docs[i]
		*d = doc{
			id: rng.Uint64N(1<<21) + uint64(i)<<21, popularity: 500 / float64(i+1), adult: rng.IntN(12) == 0, video: rng.IntN(40) == 0,
			genres: zipfIDs(rng, 3, 19), keywords: zipfIDs(rng, int(8*known), 60_000), companies: zipfIDs(rng, 3, 150_000),
			cast: zipfIDs(rng, int(15*known)+1, 1_000_000), crew: zipfIDs(rng, int(6*known)+1, 600_000),
			language:  benchLanguages[min(len(benchLanguages)-1, int(zipf(rng, len(benchLanguages)+1))-1)],
			countries: []string{codes[min(len(codes)-1, int(zipf(rng, len(codes)+1))-1)]},
			title:     strconv.Itoa(rng.Int()), original: strconv.Itoa(rng.Int()), day: posting.NoDay,
		}
		d.numbers[tables.Runtime] = rng.Int64N(180)
		if rng.Float64() < known {
			d.numbers[tables.VoteCount] = int64(zipf(rng, 1+int(20_000*known*known)))
			d.numbers[tables.VoteAverage] = int64(rng.IntN(10_001))
		}
		if rng.Float64() < known/10 {
			d.numbers[tables.Revenue] = rng.Int64N(1 << 30)
		}
		if rng.IntN(10) > 0 {
			d.day = int32(20_600 - int(45_000*math.Pow(rng.Float64(), 2)))
			d.releases = append(d.releases, dayIn{d.countries[0], 3, d.day})
			for range rng.IntN(int(8*known*known) + 1) {
				r := dayIn{codes[min(len(codes)-1, int(zipf(rng, len(codes)+1))-1)], 1 + rng.IntN(6), d.day + int32(zipf(rng, 8000))}
				d.releases = append(d.releases, r)
			}
		}
		if rng.Float64() < known/4 {
			c := pick(rng, codes[:15])
			for range 1 + rng.IntN(8) {
				d.offers = append(d.offers, offerOf{c, pick(rng, someOffers), int64(zipf(rng, 900))})
			}
		}
		if rng.Float64() < known/3 {
			d.certifications = append(d.certifications, certificationOf{"US", pick(rng, someRatings)})
		}
	}
	return docs
}

// Common queries: three filters and a sort.
func commonQuery(rng *rand.Rand) string {
	year := 1950 + rng.IntN(76)
	filters := []string{
		fmt.Sprintf("with_genres=%d", 1+rng.IntN(19)), fmt.Sprintf("with_genres=%d|%d", 1+rng.IntN(19), 1+rng.IntN(19)),
		fmt.Sprintf("without_genres=%d", 1+rng.IntN(19)), "with_original_language=" + pick(rng, benchLanguages),
		fmt.Sprintf("primary_release_date.gte=%d-01-01&primary_release_date.lte=%d-12-31", year, min(2026, year+rng.IntN(20))),
		fmt.Sprintf("primary_release_year=%d", year), fmt.Sprintf("vote_count.gte=%d", rng.IntN(500)),
		fmt.Sprintf("release_date.gte=%d-03-01&release_date.lte=%d-09-30", year, min(2026, year+rng.IntN(5))),
		fmt.Sprintf("vote_average.gte=%d&vote_average.lte=%d", rng.IntN(6), 6+rng.IntN(4)), "with_origin_country=" + pick(rng, someCountries),
		fmt.Sprintf("with_runtime.gte=%d&with_runtime.lte=%d", rng.IntN(90), 90+rng.IntN(90)),
		fmt.Sprintf("with_keywords=%d|%d", 1+rng.IntN(500), 1+rng.IntN(500)), fmt.Sprintf("with_companies=%d", 1+rng.IntN(500)),
		fmt.Sprintf("watch_region=US&with_watch_providers=%d|%d", 1+rng.IntN(20), 1+rng.IntN(20)), fmt.Sprintf("with_cast=%d", 1+rng.IntN(3000)),
		"certification_country=US&certification.lte=PG-13",
	}
	rng.Shuffle(len(filters), func(i, j int) { filters[i], filters[j] = filters[j], filters[i] })
	by := []string{"popularity", "vote_average", "vote_count", "primary_release_date", "title", "revenue"}
	return strings.Join(filters[:3], "&") + "&sort_by=" + pick(rng, by) + pick(rng, []string{".desc", ".desc", ".asc"})
}

func numbers(sep string, from, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.Itoa(from + i)
	}
	return strings.Join(list, sep)
}

// hostileQueries are as much work as a query can ask for.
func hostileQueries() map[string]string {
	all := "with_people=" + numbers("|", 1, 500) + "&with_genres=" + numbers("|", 1, 19) + "&without_keywords=" + numbers("|", 500, 500) +
		"&with_companies=" + numbers("|", 1, 500) + "&vote_count.gte=1&vote_average.gte=1&vote_average.lte=9.9&with_runtime.gte=1&with_runtime.lte=170"
	dates := "release_date.gte=1931-02-02&release_date.lte=2020-03-03"
	return map[string]string{
		"keywords":   "with_keywords=" + numbers("|", 1, 500) + "&without_keywords=" + numbers("|", 500, 500) + "&sort_by=vote_count.asc",
		"without":    "without_keywords=" + numbers("|", 1, 500) + "&without_companies=" + numbers("|", 1, 500) + "&sort_by=title.desc",
		"people":     "with_people=" + numbers("|", 1, 1000) + "&with_cast=" + numbers("|", 1, 500) + "&sort_by=revenue.desc",
		"and":        "with_people=" + numbers(",", 1, 1000),
		"offers":     "watch_region=US&with_watch_providers=" + numbers("|", 1, 500) + "&with_watch_monetization_types=flatrate|free|ads|rent|buy",
		"everything": all + "&" + dates + "&sort_by=primary_release_date.asc",
		"dates":      dates + "&sort_by=vote_average.desc",
		"region":     dates + "&region=US&with_release_type=1|2|3|4|5|6,1|2|3|4|5,1|2|3|4,1|2|3,1|2,2|3,3|4,4|5,5|6,1,2,3&sort_by=title.asc",
		"broad":      "include_adult=true&include_video=true&sort_by=vote_count.asc",
		"video":      "include_video=true&vote_count.lte=3&sort_by=vote_count.desc",
		"bytes":      "with_genres=" + strings.Repeat("9|", 5000) + "&with_cast=" + strings.Repeat("x,", 5000),
	}
}

// measure runs queries one by one and reports how long the slowest take. Each is run three
// times, of which the fastest counts, so that what else the machine does matters less.
func measure(b *testing.B, e *Engine, queries []string, page int) {
	b.Helper()
	filters := make([]Filter, len(queries))
	var took []time.Duration
	var out Result
	for i := 0; b.Loop(); i++ {
		k := i % len(queries)
		best := time.Duration(math.MaxInt64)
		for range 3 {
			start := time.Now()
			filters[k] = queryOf(b, fragment.KindMovie, queries[k])
			ok(b, e.Discover(fragment.KindMovie, &filters[k], page, 20, &out))
			best = min(best, time.Since(start))
		}
		took = append(took, best)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(took[len(took)-1].Microseconds()), "max-µs")
}

func BenchmarkDiscover(b *testing.B) {
	n := benchRows(b)
	t := openDocs(b, fragment.KindMovie, benchDocs(n))
	of := map[fragment.Kind]*table{fragment.KindMovie: t}
	fresh, kept := &Engine{tables: of}, &Engine{tables: of, cache: lru.New[*hits](DefaultCacheBytes)}
	small := &Engine{tables: of, cache: lru.New[*hits](1)} // finds what is kept, and keeps nothing
	rng := rand.New(rand.NewPCG(12, 12))
	queries := make([]string, 2000)
	for i := range queries {
		queries[i] = commonQuery(rng)
	}
	b.Run("common", func(b *testing.B) { measure(b, small, queries, 1) })
	b.Run("region-first", func(b *testing.B) { measure(b, small, []string{"region=US"}, 1) })
	b.Run("list-first", func(b *testing.B) { measure(b, small, []string{""}, 1) })
	b.Run("list-kept", func(b *testing.B) { measure(b, kept, []string{""}, 300) })
	b.Run("list-deep", func(b *testing.B) { measure(b, fresh, []string{"sort_by=vote_average.desc"}, max(1, n/25)) })
	for name, q := range hostileQueries() {
		b.Run("hostile-"+name, func(b *testing.B) { measure(b, small, []string{q}, 1) })
	}
}

func BenchmarkParseFilter(b *testing.B) {
	for _, query := range []string{
		"", "sort_by=vote_average.desc&vote_count.gte=500&with_genres=18,80&page=2",
		"include_adult=false&region=DE&with_release_type=2|3&release_date.gte=2026-07-03&release_date.lte=2026-08-14&with_keywords=1|2|3&without_genres=99",
	} {
		b.Run(query, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseFilter(fragment.KindMovie, route.Each([]byte(query))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
