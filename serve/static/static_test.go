package static

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/servetest"
	"github.com/reelsplice/reelsplice/serve/status"
)

// paths are the paths that Answer answers, with what their answers begin with.
var paths = map[string]string{
	"/3/configuration":                      `{"change_keys":["adult","air_date",`,
	"/3/configuration/countries":            `[{"iso_3166_1":"AD","english_name":"Andorra","native_name":"Andorra"},`,
	"/3/configuration/jobs":                 `[{"department":"Actors","jobs":["`,
	"/3/configuration/languages":            `[{"iso_639_1":"aa","english_name":"Afar","name":"Qafar af"},`,
	"/3/configuration/primary_translations": `["af-ZA","ar-AE",`,
	"/3/configuration/timezones":            `[{"iso_3166_1":"AD","zones":["Europe/Andorra"]},`,
	"/3/genre/movie/list":                   `{"genres":[{"id":28,"name":"Action"},{"id":12,"name":"Adventure"},`,
	"/3/genre/tv/list":                      `{"genres":[{"id":10759,"name":"Action & Adventure"},`,
	"/3/certification/movie/list":           `{"certifications":{"AR":[{"certification":"ATP","meaning":"For all public.","order":1},`,
	"/3/certification/tv/list":              `{"certifications":{"AR":[{"certification":"ATP","meaning":"`,
	"/3/watch/providers/regions":            `{"results":[{"iso_3166_1":"AD","english_name":"Andorra","native_name":"Andorra"},`,
	"/3/watch/providers/movie":              `{"results":[{"display_priorities":{"AE":3,"AR":5,`,
	"/3/watch/providers/tv":                 `{"results":[{"display_priorities":{"AE":3,"AR":5,`,
	"/3/job/list":                           `{"jobs":[{"department":"Actors","jobs":["`,
	"/3/timezones/list":                     `[{"AD":["Europe/Andorra"]},{"AE":["Asia/Dubai"]},`,
}

func newSet(tb testing.TB, base string) *Set {
	tb.Helper()
	s, err := New(base)
	if err != nil {
		tb.Fatalf("New(%+v) = %v, want no error", base, err)
	}
	return s
}

// request parses a path with its query.
func request(tb testing.TB, uri string) *route.Request {
	tb.Helper()
	path, query, _ := strings.Cut(uri, "?")
	q := &route.Request{}
	if c := route.Parse([]byte(path), []byte(query), q); c != status.OK {
		tb.Fatalf("Parse(%q) = %d, want no refusal", uri, c)
	}
	return q
}

func answer(tb testing.TB, s *Set, uri string) *Body {
	tb.Helper()
	q := request(tb, uri)
	b, ok := s.Response(q.Op, q)
	if !ok {
		tb.Fatalf("Answer(%q) = false, want an answer", uri)
	}
	return b
}

func TestAnswer(t *testing.T) {
	s := newSet(t, "")
	for uri, want := range paths {
		checkBody(t, uri, answer(t, s, uri), want)
	}
	for _, uri := range []string{"/3/movie/550", "/3/genre/28/movies", "/3/discover/movie"} {
		q := request(t, uri)
		if b, ok := s.Response(q.Op, q); ok || b != nil {
			t.Errorf("Answer(%q) = %v, %v, want nil, false", uri, b, ok)
		}
	}
	if _, ok := s.Response(api.NoOp, &route.Request{}); ok {
		t.Errorf("Answer of no operation = true, want false")
	}
}

// checkBody checks what holds for every body.
func checkBody(t *testing.T, what string, b *Body, prefix string) {
	t.Helper()
	if !bytes.HasPrefix(b.Identity, []byte(prefix)) {
		t.Errorf("%s = %.120s, want %s...", what, b.Identity, prefix)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, b.Identity); err != nil || !bytes.Equal(compact.Bytes(), b.Identity) {
		t.Errorf("%s is not compact JSON (%v): %.120s", what, err, b.Identity)
	}
	// The public API escapes neither these nor other letters.
	if i := bytes.Index(b.Identity, []byte(`\u`)); i >= 0 {
		t.Errorf("%s has an escape: %s", what, b.Identity[i:min(i+20, len(b.Identity))])
	}
	if !regexp.MustCompile(`^W/"[0-9a-f]{32}"$`).Match(b.ETag) {
		t.Errorf("entity tag of %s = %s, want W/ and 32 hex digits", what, b.ETag)
	}
	if servetest.OneMember(t, b.Gzip) != string(b.Identity) {
		t.Errorf("gzip of %s is not the %d bytes of identity", what, len(b.Identity))
	}
}

func TestImageBaseURL(t *testing.T) {
	sharedtest.Cases(t, "testdata/images.txt", func(base string) string {
		s, err := New(base)
		if err != nil {
			return err.Error()
		}
		var got struct {
			Images struct {
				BaseURL       string `json:"base_url"`
				SecureBaseURL string `json:"secure_base_url"`
			}
		}
		mustUnmarshal(t, answer(t, s, "/3/configuration").Identity, &got)
		return got.Images.BaseURL + " " + got.Images.SecureBaseURL
	})
}

func TestLanguages(t *testing.T) {
	s := newSet(t, "")
	sharedtest.Cases(t, "testdata/languages.txt", func(uri string) string {
		b := answer(t, s, uri)
		if old := strings.Replace(uri, "genre/movie/", "genre/", 1); answer(t, s, old) != b {
			t.Errorf("%s is not what %s answers", old, uri)
		}
		if _, rest, found := strings.Cut(string(b.Identity), `{"id":12,"name":`); found {
			return servetest.Cut(rest, "", "}")
		}
		return servetest.Cut(string(b.Identity), `{"iso_3166_1":"DE","english_name":"Germany","native_name":`, "}")
	})
}

// row is a row of a provider list.
type row struct {
	Priorities map[string]int `json:"display_priorities"`
	Priority   int            `json:"display_priority"`
	Name       string         `json:"provider_name"`
	ID         int64          `json:"provider_id"`
}

func rowsOf(t *testing.T, b *Body) []row {
	t.Helper()
	var list struct{ Results []row }
	mustUnmarshal(t, b.Identity, &list)
	return list.Results
}

func TestWatchRegion(t *testing.T) {
	s := newSet(t, "")
	for _, path := range []string{"/3/watch/providers/movie", "/3/watch/providers/tv"} {
		all := rowsOf(t, answer(t, s, path))
		for _, c := range []string{"AD", "DE", "GG", "US", "ZW"} {
			uri := path + "?watch_region=" + c
			checkRegion(t, uri, c, rowsOf(t, answer(t, s, uri)), all)
		}
		// A country without offers has no providers; no country is no watch region.
		if b := answer(t, s, path+"?watch_region=KP"); string(b.Identity) != `{"results":[]}` {
			t.Errorf("%s in KP = %.80s, want no rows", path, b.Identity)
		}
		for _, query := range []string{"watch_region=ZZ", "watch_region=Germany", "language=de-DE"} {
			if answer(t, s, path+"?"+query) != answer(t, s, path) {
				t.Errorf("%s?%s is not the answer without it", path, query)
			}
		}
		if answer(t, s, path+"?watch_region=de") != answer(t, s, path+"?language=fr&watch_region=DE") {
			t.Errorf("%s in de and DE differ, want the same", path)
		}
	}
}

// checkRegion checks that got are the rows of all with offers in c, as in c.
func checkRegion(t *testing.T, uri, c string, got, all []row) {
	t.Helper()
	i := 0
	for _, want := range all {
		rank, ok := want.Priorities[c]
		if !ok {
			continue
		}
		if i == len(got) {
			t.Fatalf("%s = %d rows, want %d %s after them", uri, i, want.ID, want.Name)
		}
		if g := got[i]; g.ID != want.ID || g.Name != want.Name || g.Priority != rank || len(g.Priorities) != len(want.Priorities) {
			t.Errorf("%s, row %d = %+v, want %d %s, priority %d", uri, i, g, want.ID, want.Name, rank)
		}
		i++
	}
	if i == 0 || i != len(got) {
		t.Errorf("%s = %d rows, want %d and at least one", uri, len(got), i)
	}
}

// TestAnswersAreBounded asks for every language and country that two letters can
// spell: the number of bodies must not follow.
func TestAnswersAreBounded(t *testing.T) {
	s := newSet(t, "")
	seen := make(map[*Body]bool)
	q := &route.Request{}
	for _, q.Op = range []api.Op{api.OpConfigurationCountries, api.OpGenreMovieList, api.OpWatchProvidersAvailableRegions} {
		q.HasLanguage = true
		for a := byte('a'); a <= 'z'; a++ {
			for b := byte('a'); b <= 'z'; b++ {
				for _, region := range []string{"", "DE", "ZZ"} {
					q.Language = fragment.Language(string([]byte{a, b}), region)
					body, _ := s.Response(q.Op, q)
					seen[body] = true
				}
			}
		}
	}
	// Regions know no language; one list of genres and one of countries have no names.
	named := len(s.ops[api.OpConfigurationCountries].byLanguage)
	if want := 2 + len(reference.GenreLanguages()) + 1 + named; len(seen) != want || named > 200 {
		t.Errorf("all languages have %d bodies, want %d", len(seen), want)
	}
	clear(seen)
	q.Op, q.HasLanguage = api.OpWatchProviderTvList, false
	for a := byte('A'); a <= 'Z'; a++ {
		for b := byte('A'); b <= 'Z'; b++ {
			q.WatchRegion = route.Country{a, b}
			body, _ := s.Response(q.Op, q)
			seen[body] = true
		}
	}
	if want := len(reference.ProviderCountries()) + 2; len(seen) != want {
		t.Errorf("all watch regions have %d bodies, want %d", len(seen), want)
	}
}

// TestConcurrency asks for everything from several goroutines at once, the first
// time too: each answer must be prepared once.
func TestConcurrency(t *testing.T) {
	s := newSet(t, "")
	var requests []*route.Request
	for path := range paths {
		for _, query := range []string{"", "?language=de", "?watch_region=US", "?language=fr-CA&watch_region=FR"} {
			requests = append(requests, request(t, path+query))
		}
	}
	got := make([][]*Body, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			for _, q := range requests {
				b, _ := s.Response(q.Op, q)
				got[i] = append(got[i], b)
			}
		})
	}
	wg.Wait()
	for i := range got {
		if slices.Contains(got[i], nil) || !slices.Equal(got[i], got[0]) {
			t.Errorf("goroutine %d has other bodies than goroutine 0, or none", i)
		}
	}
}
