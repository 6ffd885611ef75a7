package edge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// benchReleases names a folder of releases whose current one the queries are asked of, in
// place of the sample: see scripts/query-speed.sh.
const benchReleases = "REELSPLICE_BENCH_RELEASES"

// queryWorld serves the releases that the environment names, else the sample.
func queryWorld(b *testing.B) *world {
	b.Helper()
	dir := os.Getenv(benchReleases)
	if dir == "" {
		return newWorld(b, nil, buildtest.Sample(b, "movies")...)
	}
	w := bareWorld(b, nil)
	w.dir = dir
	w.open(b)
	return w
}

// A questioner makes up requests about what a release has.
type questioner struct {
	w   *world
	rng *rand.Rand
	ids map[string]posting.Uint64s // by kind
}

func newQuestioner(b *testing.B, w *world) *questioner {
	b.Helper()
	q := &questioner{w: w, rng: rand.New(rand.NewPCG(1, 2)), ids: map[string]posting.Uint64s{}}
	held := w.releases.Acquire()
	defer held.Release()
	for _, kind := range []string{"movie", "tv", "person"} {
		if t, ok := held.Reader.Table(kind); ok && t.Rows() > 0 {
			q.ids[kind] = posting.Uint64s(t.Section(tables.ID.String()))
		}
	}
	if q.ids["movie"].Len() == 0 {
		b.Fatal("the release has no table of movies")
	}
	return q
}

// body answers a URI without compression.
func (q *questioner) body(uri string) []byte {
	rq := q.w.request(uri)
	rq.Gzip = false
	rs := q.w.edge.Begin(rq)
	defer rs.End()
	var body bytes.Buffer
	_ = rs.WriteBody(&body) // short if it fails
	return body.Bytes()
}

// name returns the name of some resource of a kind, popular ones more often.
func (q *questioner) name(kind string) string {
	ids := q.ids[kind]
	if ids.Len() == 0 {
		kind, ids = "movie", q.ids["movie"]
	}
	rank := int(math.Pow(float64(ids.Len()), q.rng.Float64())) - 1
	var v struct{ Title, Name string }
	_ = json.Unmarshal(q.body(fmt.Sprintf("/3/%s/%d", kind, ids.At(rank))), &v)
	return v.Title + v.Name
}

// search returns the URI of a search of a sort: that many words, the first letters of the
// last one, or a letter wrong.
func (q *questioner) search(sort string) string {
	kind := []string{"movie", "movie", "tv", "person", "multi"}[q.rng.IntN(5)]
	of := kind
	if kind == "multi" {
		of = "movie"
	}
	words := strings.Fields(q.name(of))
	if len(words) == 0 {
		words = []string{"a"}
	}
	n := min(len(words), 1+q.rng.IntN(3))
	words = words[:n]
	last := []rune(words[n-1])
	switch {
	case sort == "prefix":
		last = last[:1+q.rng.IntN(len(last))]
	case sort == "typo" && len(last) > 3:
		last[1+q.rng.IntN(len(last)-1)] = 'q'
	}
	words[n-1] = string(last)
	return "/3/search/" + kind + "?fuzzy=true&query=" + url.QueryEscape(strings.Join(words, " "))
}

// discover returns the URI of a discover query with three filters and a sort.
func (q *questioner) discover() string {
	pick := func(list ...string) string { return list[q.rng.IntN(len(list))] }
	filters := []string{
		"with_genres=" + pick("18", "35", "28|12", "18,35", "99", "27|53|9648"),
		"with_original_language=" + pick("en", "de", "ko", "ja|zh", "fr"),
		fmt.Sprintf("primary_release_date.gte=%d-01-01", 1960+q.rng.IntN(60)),
		fmt.Sprintf("primary_release_year=%d", 1960+q.rng.IntN(60)),
		fmt.Sprintf("vote_average.gte=%d", 3+q.rng.IntN(6)),
		fmt.Sprintf("vote_count.gte=%d", q.rng.IntN(500)),
		fmt.Sprintf("with_runtime.lte=%d", 60+q.rng.IntN(120)),
		"with_origin_country=" + pick("US", "FR", "GB|IE", "JP"),
		"watch_region=US&with_watch_providers=" + pick("8", "8|9", "337"),
		"without_genres=" + pick("16", "99,10770"),
		fmt.Sprintf("with_keywords=%d", 1+q.rng.IntN(200)),
		"region=US&release_date.gte=" + pick("1999-01-01", "2015-06-01") + "&with_release_type=3",
	}
	q.rng.Shuffle(len(filters), func(i, j int) { filters[i], filters[j] = filters[j], filters[i] })
	sort := pick("popularity.desc", "vote_average.desc", "primary_release_date.desc", "revenue.desc", "title.asc", "vote_count.desc", "popularity.asc")
	return "/3/discover/movie?sort_by=" + sort + "&" + strings.Join(filters[:3], "&")
}

// lists are the lists that are measured.
var benchLists = []string{
	"/3/movie/popular", "/3/movie/top_rated", "/3/movie/now_playing?region=US", "/3/movie/upcoming",
	"/3/tv/popular", "/3/tv/top_rated", "/3/tv/airing_today", "/3/tv/on_the_air", "/3/person/popular",
	"/3/trending/all/day", "/3/trending/movie/week", "/3/trending/tv/day", "/3/trending/person/week",
}

// list returns the URI of one of the first pages of a list.
func (q *questioner) list() string {
	uri := benchLists[q.rng.IntN(len(benchLists))]
	join := "?"
	if strings.Contains(uri, "?") {
		join = "&"
	}
	return fmt.Sprintf("%s%spage=%d", uri, join, 1+q.rng.IntN(20))
}

// BenchmarkQueries answers queries one by one and reports how long half, 99 of 100 and all
// of them took at most, in microseconds of the clock and of the CPU. Each search and each
// query of discover is another one, of which the edge keeps nothing; another edge has
// answered it before, so that what it needs of the release is in memory. Lists are asked for
// again and again; for list-packed their results are kept, but no page.
func BenchmarkQueries(b *testing.B) {
	w := queryWorld(b)
	q := newQuestioner(b, w)
	open := func(b *testing.B, pages int) *world {
		b.Helper()
		o := bareWorld(b, func(c *Options) { c.PageCache = pages })
		o.dir = w.dir
		o.open(b)
		return o
	}
	for _, c := range []struct {
		name string
		next func() string
	}{
		{"search-mixed", func() string { return q.search([]string{"words", "prefix", "typo"}[q.rng.IntN(3)]) }},
		{"search-words", func() string { return q.search("words") }},
		{"search-prefix", func() string { return q.search("prefix") }},
		{"search-typo", func() string { return q.search("typo") }},
		{"discover", q.discover},
	} {
		b.Run(c.name, func(b *testing.B) { q.measure(b, open(b, 0), open(b, 0), c.next) })
	}
	b.Run("list", func(b *testing.B) { q.measure(b, w, w, q.list) })
	b.Run("list-packed", func(b *testing.B) {
		o := open(b, 0)
		q.measure(b, o, o, q.list)
	})
	report := memoryOf(b)
	b.Logf("after all: %s", report)
}

// sampling is which share of the answers is weighed.
const sampling = 10

// measure answers b.N requests by w, once before has answered them.
func (q *questioner) measure(b *testing.B, before, w *world, next func() string) {
	b.Helper()
	rqs := make([]*Request, 0, b.N)
	for range b.N {
		rqs = append(rqs, w.request(next()))
	}
	for _, rq := range rqs { // so that what they need of the release is in memory
		before.edge.Begin(rq).End()
	}
	times, cpu := make([]time.Duration, 0, b.N), make([]time.Duration, 0, b.N)
	hits, packed, raw := 0, 0, 0
	b.ResetTimer()
	for i, rq := range rqs {
		start, used := time.Now(), cpuTime()
		rs := w.edge.Begin(rq)
		if rs.Status != 200 {
			b.Fatalf("%s?%s: status %d", rq.Path, rq.Query, rs.Status)
		}
		if i%sampling == 0 {
			packed += rs.Len()
		}
		rs.End()
		times, cpu = append(times, time.Since(start)), append(cpu, cpuTime()-used)
	}
	b.StopTimer()
	for i, rq := range rqs {
		if i%sampling == 0 {
			body := q.body(string(rq.Path) + "?" + string(rq.Query))
			raw += onePass(b, body)
			if !bytes.Contains(body, []byte(`"results":[]`)) {
				hits++
			}
		}
	}
	for unit, list := range map[string][]time.Duration{"us": times, "cpu-us": cpu} {
		slices.Sort(list)
		at := func(share float64) float64 {
			return float64(list[min(len(list)-1, int(share*float64(len(list))))].Nanoseconds()) / 1e3
		}
		b.ReportMetric(at(0.5), "p50-"+unit)
		b.ReportMetric(at(0.99), "p99-"+unit)
		b.ReportMetric(at(1), "max-"+unit)
	}
	b.ReportMetric(float64(hits)/float64((len(rqs)+sampling-1)/sampling), "with-hits")
	b.ReportMetric(float64(packed)/float64(raw), "bytes/gzip6")
}

// onePass returns the length of body in one pass of gzip at level 6.
func onePass(b *testing.B, body []byte) int {
	b.Helper()
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, 6)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := z.Write(body); err != nil {
		b.Fatal(err)
	}
	if err := z.Close(); err != nil {
		b.Fatal(err)
	}
	return out.Len()
}

// memoryOf returns what the kernel says of this process's memory; nothing elsewhere.
func memoryOf(b *testing.B) string {
	b.Helper()
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "memory unknown"
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		for _, name := range []string{"VmRSS:", "RssAnon:", "RssFile:"} {
			if strings.HasPrefix(line, name) {
				out = append(out, strings.Join(strings.Fields(line), " "))
			}
		}
	}
	return strings.Join(out, ", ")
}
