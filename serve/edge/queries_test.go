package edge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// pageOf is what tests look at of a page.
type pageOf struct {
	Dates        *struct{ Maximum, Minimum string }
	ID           *int64
	Page         int
	Results      []map[string]json.RawMessage
	TotalPages   int `json:"total_pages"`
	TotalResults int `json:"total_results"`
}

func (p *pageOf) ids() []string {
	var out []string
	for _, r := range p.Results {
		out = append(out, string(r["id"]))
	}
	return out
}

// page asks for a URI, in both encodings, and returns the page.
func (w *world) page(t *testing.T, uri string) pageOf {
	t.Helper()
	rq := w.request(uri)
	packed, status := w.answer(t, rq)
	rq.Gzip = false
	plain, _ := w.answer(t, rq)
	if status != 200 || packed != plain {
		t.Fatalf("%s: status %d, %s and %s", uri, status, packed, plain)
	}
	var p pageOf
	if err := json.Unmarshal([]byte(plain), &p); err != nil {
		t.Fatalf("%s: %v: %s", uri, err, plain)
	}
	return p
}

// answer returns the body, inflated, and the status.
func (w *world) answer(t *testing.T, rq *Request) (body string, status int) {
	t.Helper()
	a := w.do(t, rq)
	return a.plain, a.Status
}

// listWorld serves the sample as of a day.
func listWorld(t *testing.T, change func(*Options)) *world {
	t.Helper()
	return sampleWorld(t, func(c *Options) {
		c.Date = "1999-10-20"
		if change != nil {
			change(c)
		}
	})
}

func TestLists(t *testing.T) {
	w := listWorld(t, nil)
	popular := w.page(t, "/3/movie/popular")
	if popular.Page != 1 || len(popular.Results) != 20 || popular.TotalResults < 100 || popular.TotalPages != (popular.TotalResults+19)/20 {
		t.Errorf("popular: page %d, %d rows, %d of %d pages", popular.Page, len(popular.Results), popular.TotalResults, popular.TotalPages)
	}
	seen := map[string]bool{}
	last := 1e9
	for n := 1; n <= popular.TotalPages; n++ {
		p := w.page(t, fmt.Sprintf("/3/movie/popular?page=%d", n))
		for _, r := range p.Results {
			var pop float64
			if err := json.Unmarshal(r["popularity"], &pop); err != nil || pop > last || seen[string(r["id"])] {
				t.Fatalf("page %d: movie %s with popularity %v after %v, %v", n, r["id"], pop, last, err)
			}
			last, seen[string(r["id"])] = pop, true
		}
	}
	if len(seen) != popular.TotalResults {
		t.Errorf("%d movies on all pages, want %d", len(seen), popular.TotalResults)
	}
	after := w.page(t, fmt.Sprintf("/3/movie/popular?page=%d", popular.TotalPages+1))
	if len(after.Results) != 0 || after.TotalPages != popular.TotalPages || after.Page != popular.TotalPages+1 {
		t.Errorf("the page after the last: %+v", after)
	}
	none := w.page(t, "/3/discover/movie?with_genres=4711")
	if none.TotalPages != 1 || none.TotalResults != 0 || none.Results == nil {
		t.Errorf("no hits: %+v", none)
	}
	for _, c := range []struct{ uri, from, to string }{
		{"/3/movie/now_playing", "1999-09-08", "1999-10-20"}, {"/3/movie/upcoming?region=US", "1999-10-20", "1999-11-10"},
	} {
		p := w.page(t, c.uri)
		if p.Dates == nil || p.Dates.Minimum != c.from || p.Dates.Maximum != c.to {
			t.Errorf("%s: dates %+v, want %s to %s", c.uri, p.Dates, c.from, c.to)
		}
		if len(p.Results) == 0 {
			t.Errorf("%s: no movies", c.uri)
		}
	}
	if p := w.page(t, "/3/genre/18/movies"); p.ID == nil || *p.ID != 18 || len(p.Results) == 0 {
		t.Errorf("genre/18/movies: %+v", p.ids())
	}
	for _, uri := range []string{
		"/3/movie/top_rated", "/3/tv/popular", "/3/tv/top_rated", "/3/person/popular", "/3/trending/all/day", "/3/trending/movie/week",
		"/3/trending/tv/day", "/3/trending/person/week", "/3/discover/tv", "/3/search/multi?query=the",
	} {
		if p := w.page(t, uri); len(p.Results) == 0 {
			t.Errorf("%s: no rows", uri)
		}
	}
}

// TestFuzzySearch: typing errors find something if the request has fuzzy, and nothing else, as in the API.
func TestFuzzySearch(t *testing.T) {
	w := listWorld(t, nil)
	f := func(uri string, want bool) {
		t.Helper()
		if p := w.page(t, uri); (p.TotalResults > 0) != want || (len(p.Results) > 0) != want {
			t.Errorf("%s %d results, want some %v", uri, p.TotalResults, want)
		}
	}
	for _, kind := range []string{"movie", "multi"} {
		uri := "/3/search/" + kind + "?query=fihgt+clbu"
		f(uri, false)
		f(uri+"&fuzzy=true", true)
		f(uri+"&fuzzy=True", true)
		f(uri+"&fuzzy=false", false)
		f(uri+"&fuzzy=", false)
		f(uri, false)
	}
	f("/3/search/tv?query=gaem+of+thrones", false)
	f("/3/search/person?query=brda+pitt", false)
	f("/3/search/person?query=brda+pitt&fuzzy=true", true)
	f("/3/search/movie?query=fight+club", true)
	exact, fuzzy := w.get(t, "/3/search/movie?query=fihgt+clbu"), w.get(t, "/3/search/movie?query=fihgt+clbu&fuzzy=true")
	if bytes.Equal(exact.ETag, fuzzy.ETag) {
		t.Errorf("entity tag %s of two answers", exact.ETag)
	}
}

// TestListRegion: with a region, rows have its date; it may be another one than the movie's.
func TestListRegion(t *testing.T) {
	w := newWorld(t, nil, `{"adult":false,"genres":[],"id":1,"overview":"\"release_date\":\"x\"","popularity":2.0,"release_date":"1999-09-10","title":"One",`+
		`"release_dates":{"results":[{"iso_3166_1":"DE","release_dates":[{"certification":"","iso_639_1":"","note":"","release_date":"1999-11-11T00:00:00.000Z","type":3}]}]}}`, servetest.Movie551)
	for uri, want := range map[string]string{
		"/3/discover/movie": `"1999-09-10"`, "/3/discover/movie?region=DE": `"1999-11-11"`, "/3/discover/movie?region=FR": `"1999-09-10"`,
		"/3/search/movie?query=one&region=de": `"1999-11-11"`, "/3/movie/popular?region=DE": `"1999-11-11"`,
	} {
		p := w.page(t, uri)
		if len(p.Results) == 0 || string(p.Results[0]["release_date"]) != want || string(p.Results[0]["overview"]) != `"\"release_date\":\"x\""` {
			t.Errorf("%s: %s, want %s", uri, p.Results, want)
		}
	}
}

func TestBatch(t *testing.T) {
	w := listWorld(t, nil)
	one := func(uri string) string {
		rq := w.request(uri)
		rq.Gzip = false
		body, _ := w.answer(t, rq)
		return body
	}
	const more = "append_to_response=videos,external_ids&language=de-DE"
	want := `{"results":[` + one("/3/movie/550?"+more) + `,` + one("/3/movie/13?"+more) + `],"not_found":[999999999,"tt9999999"]}`
	for _, ids := range []string{"550,999999999,13,550,tt9999999", url.QueryEscape("tt0137523, 999999999,13,,tt9999999")} {
		if got := one("/3/movie?ids=" + ids + "&" + more); got != want {
			t.Errorf("ids=%s:\n%s\nwant\n%s", ids, got, want)
		}
	}
	if got, want := one("/3/tv?ids=1399&append_to_response=season/1/credits"), `{"results":[`+one("/3/tv/1399?append_to_response=season/1/credits")+`],"not_found":[]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	many := strings.Join(slices.Repeat([]string{"550"}, 500), ",")
	if _, status := w.answer(t, w.request("/3/movie?ids="+many)); status != 200 {
		t.Errorf("one id many times: status %d", status)
	}
	var hundred []string
	for i := range 101 {
		hundred = append(hundred, fmt.Sprint(i+1))
	}
	if _, status := w.answer(t, w.request("/3/movie?ids="+strings.Join(hundred, ","))); status != 422 {
		t.Errorf("101 ids: status %d, want 422", status)
	}
}

// TestHostileQueries: whatever is asked is answered in a bounded time with an answer of the
// API's form. The bound is loose, for machines under load: the benchmarks measure.
func TestHostileQueries(t *testing.T) {
	w := listWorld(t, nil)
	long := strings.Repeat("a b", 1300)
	for _, q := range []string{
		"search/movie?fuzzy=true&query=" + url.QueryEscape(long[:3900]), "search/multi?fuzzy=true&query=" + strings.Repeat("%00", 1000),
		"search/movie?query=" + url.QueryEscape("\u202e\u200f*?%_[]^$(){}\\\x00\x1f"), "search/person?query=" + strings.Repeat("%ff", 1000),
		"search/movie?fuzzy=true&query=" + strings.Repeat("a%20", 900), "search/tv?query=*", "search/keyword?query=" + strings.Repeat("%F0%9F%8E%AC", 300),
		"discover/movie?with_genres=" + strings.Repeat("18|", 1300), "discover/movie?" + strings.Repeat("with_genres=18&", 250),
		"discover/tv?with_keywords=" + strings.Repeat("1,2|", 900), "discover/movie?vote_average.gte=NaN&vote_count.lte=1e999&with_runtime.gte=-99999999999999999999",
		"discover/movie?primary_release_date.gte=9999-99-99&release_date.lte=%00&certification.lte=%ff&certification_country=US&sort_by=" + strings.Repeat("x", 3000),
	} {
		// It takes milliseconds. A busy machine may add to some tries, and an unbounded query takes long each time.
		sharedtest.Eventually(t, fmt.Sprintf("%.60s within two seconds", q), func() bool {
			start := time.Now()
			body, status := w.answer(t, w.request("/3/"+q))
			if !json.Valid([]byte(body)) || status >= 500 {
				t.Errorf("%.60s: status %d, %.200s", q, status, body)
			}
			return time.Since(start) < 2*time.Second
		})
	}
}

// TestNotKeptAcrossMidnight: a cache keeps a list of a day no longer than the day lasts, where it is that day.
func TestNotKeptAcrossMidnight(t *testing.T) {
	w := sampleWorld(t, nil)
	newYork, err := time.LoadLocation(defaultTimezone)
	if err != nil {
		t.Fatal(err)
	}
	evening := time.Date(2026, 3, 1, 23, 50, 0, 0, newYork)
	w.edge.opts.Now = func() time.Time { return evening }
	f := func(uri, want string) {
		t.Helper()
		if a := w.get(t, uri); a.Status != 200 || a.Cache != want {
			t.Errorf("%s = %d, %s, want 200, %s", uri, a.Status, a.Cache, want)
		}
	}
	f("/3/movie/now_playing", "public, max-age=600")
	f("/3/movie/upcoming", "public, max-age=600")
	f("/3/tv/airing_today", "public, max-age=600")
	f("/3/tv/on_the_air", "public, max-age=600")
	f("/3/tv/airing_today?timezone=Europe/Paris", "public, max-age=3600") // it is 5:50 in the morning there
	f("/3/movie/popular", "public, max-age=3600")
	evening = evening.Add(-time.Hour)
	f("/3/movie/now_playing", "public, max-age=3600")
}

// TestBatchesAreBounded: a batch is refused when its resources have too many bytes.
func TestBatchesAreBounded(t *testing.T) {
	w := sampleWorld(t, nil)
	const batch = "/3/movie?ids=11,12,13&append_to_response=credits"
	whole := len(w.get(t, batch).plain)
	for bound, want := range map[int]int{whole: 200, whole / 2: 422} {
		sharedtest.Set(t, &maxBatch, bound)
		if a := w.get(t, batch); a.Status != want {
			t.Errorf("batch of %d bytes, bound %d = %d, want %d", whole, bound, a.Status, want)
		}
	}
}

// TestLanguageLists: a list of languages gets the response to its first valid language.
func TestLanguageLists(t *testing.T) {
	w := sampleWorld(t, nil)
	for _, uri := range []string{"/3/movie/11?append_to_response=videos,images,credits", "/3/discover/movie?page=1", "/3/genre/movie/list?"} {
		for list, first := range map[string]string{"fr-FR,de-DE": "fr-FR", "x,de,fr": "de", "zu,fr-FR": "zu", ",,": ""} {
			a, b := w.get(t, uri+"&language="+list), w.get(t, uri+"&language="+first)
			if a.Status != 200 || a.plain != b.plain || string(a.ETag) != string(b.ETag) {
				t.Errorf("%s&language=%s = %d %s, want the response to language=%s, %s", uri, list, a.Status, a.ETag, first, b.ETag)
			}
		}
	}
}
