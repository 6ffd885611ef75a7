package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/release"
)

// languages are those that the rows of lists are compared in: none, translated ones, a
// bare one, one that few titles have and one that nothing has.
var languages = []string{"", "de-DE", "fr-FR", "pt", "ko-KR", "xx-YY"}

// details caches the details of titles in a language.
type details struct {
	rel  *release.Reader
	done map[string]*value
}

func (d *details) get(t *testing.T, path, language string) *value {
	t.Helper()
	target := path + "?language=" + language
	if d.done[target] == nil {
		d.done[target] = get(t, d.rel, target)
	}
	return d.done[target]
}

// checkRow compares a row with the details of its title in the same language.
func (d *details) checkRow(t *testing.T, where, kind, language string, row *value) {
	t.Helper()
	if m := row.text("media_type"); m != "" {
		kind = m
	}
	whole := d.get(t, fmt.Sprintf("/3/%s/%d", kind, row.int("id")), language)
	for _, k := range row.keys {
		var want *value
		switch k {
		case "media_type", "character", "credit_id", "order", "department", "job", "episode_count", "first_credit_air_date":
			continue // of the list
		case "genre_ids":
			want = &value{kind: '['}
			for _, g := range whole.list("genres") {
				want.items = append(want.items, g.at("id"))
			}
		default:
			if want = whole.at(k); want == nil {
				t.Errorf("%s: row %s %d has %s, which its details lack", where, kind, row.int("id"), k)
				continue
			}
		}
		if diffs := diff(k, row.at(k), want, nil); len(diffs) > 0 {
			t.Errorf("%s: row %s %d is not as its details: %s", where, kind, row.int("id"), diffs[0])
		}
	}
}

// TestRowsAgree: the rows of lists that the build derives equal in each language the
// details of their titles.
func TestRowsAgree(t *testing.T) {
	rel := sampleWorld.open(t)
	p := samplePlaces(t, rel)
	var people []string
	for i, path := range p.paths("/3/person/{person_id}") {
		if i%20 == 0 {
			people = append(people, path)
		}
	}
	rows := 0
	for _, language := range languages {
		d := &details{rel, map[string]*value{}}
		check := func(target, kind string, lists ...string) {
			t.Helper()
			target += "?language=" + language
			v := get(t, rel, target)
			for _, list := range lists {
				for _, row := range v.list(list) {
					d.checkRow(t, target, kind, language, row)
					rows++
				}
			}
		}
		for _, path := range people {
			check(path+"/movie_credits", "movie", "cast", "crew")
			check(path+"/tv_credits", "tv", "cast", "crew")
			check(path+"/combined_credits", "", "cast", "crew")
		}
		for _, path := range p.paths("/3/movie/{movie_id}")[:20] {
			check(path+"/recommendations", "movie", "results")
			check(path+"/similar", "movie", "results")
		}
		for _, path := range p.paths("/3/tv/{series_id}")[:20] {
			check(path+"/recommendations", "tv", "results")
			check(path+"/similar", "tv", "results")
		}
		for _, path := range p.paths("/3/collection/{collection_id}") {
			check(path, "movie", "parts")
		}
		check("/3/company/1/movies", "movie", "results")
		check("/3/keyword/825/movies", "movie", "results")
	}
	t.Logf("%d rows", rows)
}

// TestGenericNames: seasons and episodes without a text in a language have their generic
// names in it, wherever they are listed.
func TestGenericNames(t *testing.T) {
	dir := t.TempDir()
	src := dir + "/src"
	writeFiles(t, src, map[string][]byte{
		"tv/7.json": []byte(`{"id":7,"name":"Seven","original_name":"Sieben","original_language":"de","number_of_seasons":1,` +
			`"seasons":[{"id":70,"season_number":0,"name":"Extras","overview":"o","episode_count":0,"air_date":null,"poster_path":null,"vote_average":0.0},` +
			`{"id":71,"season_number":1,"name":"The First","overview":"o","episode_count":2,"air_date":null,"poster_path":null,"vote_average":0.0}],` +
			`"last_episode_to_air":{"id":712,"name":"Last","overview":"o","episode_number":5,"season_number":1,"show_id":7}}`),
		"tv/7-season-0.json": []byte(`{"_id":"640b2aeecaaca20079decdc0","id":70,"season_number":0,"name":"Extras","overview":"o","episodes":[]}`),
		"tv/7-season-1.json": []byte(`{"_id":"640b2aeecaaca20079decdcc","id":71,"season_number":1,"name":"The First","overview":"o","episodes":[` +
			`{"id":711,"episode_number":1,"season_number":1,"show_id":7,"name":"One","overview":"o"},` +
			`{"id":712,"episode_number":5,"season_number":1,"show_id":7,"name":"Last","overview":"o"}]}`),
		"tv/7-season-1-translations.json": []byte(`{"id":71,"translations":[{"iso_3166_1":"FR","iso_639_1":"fr","name":"Français","english_name":"French",` +
			`"data":{"name":"La première","overview":"vue"}}]}`),
	})
	rel, err := buildFrom(t, dir, src, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rel.Close() })
	for _, tt := range []struct {
		language                        string
		season, specials, episode, text string
	}{
		{"", "The First", "Extras", "Last", "o"},
		{"de-DE", "Staffel 1", "Extras", "Folge 5", ""},
		{"zh-CN", "第 1 季", "特别篇", "第 5 集", ""},
		{"fr-FR", "La première", "Épisodes spéciaux", "Épisode 5", "vue"},
	} {
		query := "?language=" + tt.language
		whole := get(t, rel, "/3/tv/7"+query+"&append_to_response=season/1,season/1/episode/5")
		season := get(t, rel, "/3/tv/7/season/1"+query)
		episode := get(t, rel, "/3/tv/7/season/1/episode/5"+query)
		none := tt.text
		if tt.language == "fr-FR" {
			none = "" // only the season is translated
		}
		for what, got := range map[string][2]string{
			"season alone": {season.text("name"), tt.season}, "its overview": {season.text("overview"), tt.text},
			"season of the series": {whole.list("seasons")[1].text("name"), tt.season}, "its overview there": {whole.list("seasons")[1].text("overview"), tt.text},
			"season appended": {whole.text("season/1", "name"), tt.season},
			"specials alone":  {get(t, rel, "/3/tv/7/season/0"+query).text("name"), tt.specials}, "specials of the series": {whole.list("seasons")[0].text("name"), tt.specials},
			"episode alone": {episode.text("name"), tt.episode}, "its overview alone": {episode.text("overview"), none},
			"episode of the season": {season.list("episodes")[1].text("name"), tt.episode}, "episode appended": {whole.text("season/1/episode/5", "name"), tt.episode},
			"last episode": {whole.text("last_episode_to_air", "name"), tt.episode}, "its overview as the last": {whole.text("last_episode_to_air", "overview"), none},
		} {
			if got[0] != got[1] {
				t.Errorf("language %q: %s = %q, want %q", tt.language, what, got[0], got[1])
			}
		}
	}
}

// TestEncodings: over everything in the sample, a gzip response is one member that
// inflates to the identity response, both have one entity tag, and who has it gets 304.
func TestEncodings(t *testing.T) {
	e, rel := sampleEdge(t)
	p := samplePlaces(t, rel)
	responses := 0
	for _, path := range []string{
		"/3/movie/{movie_id}?append_to_response=credits,images,videos,recommendations,translations",
		"/3/movie/{movie_id}/similar?language=de-DE&page=2", "/3/movie/{movie_id}/images?include_image_language=de,null",
		"/3/tv/{series_id}?language=de-DE&append_to_response=season/1,season/2,season/1/episode/1,aggregate_credits,images",
		"/3/tv/{series_id}/season/{season_number}?language=ja&append_to_response=credits,images,aggregate_credits",
		"/3/tv/{series_id}/season/{season_number}/episode/{episode_number}?append_to_response=credits",
		"/3/person/{person_id}?append_to_response=combined_credits,movie_credits&language=de-DE", "/3/collection/{collection_id}?language=de-DE",
		"/3/company/{company_id}/movies", "/3/keyword/{keyword_id}/movies", "/3/network/{network_id}", "/3/credit/{credit_id}", "/3/find/{external_id}",
	} {
		path, query, _ := strings.Cut(path, "?")
		targets := p.paths(path)
		step := max(1, len(targets)/100)
		for i := 0; i < len(targets); i += step {
			target := targets[i]
			if query != "" {
				target += "?" + query
			}
			plain, zipped := e.get(target), e.getGzip(t, target)
			if plain.status != 200 || zipped != plain {
				t.Errorf("GET %s with gzip: status %d, tag %s, %d bytes, want %d, %s, %d", target, zipped.status, zipped.etag, len(zipped.body),
					plain.status, plain.etag, len(plain.body))
			}
			if again := e.getIfNot(target, plain.etag); again.status != 304 || again.body != "" || again.etag != plain.etag {
				t.Errorf("GET %s with its tag: status %d, %d bytes, want 304 and none", target, again.status, len(again.body))
			}
			responses++
		}
	}
	t.Logf("%d responses", responses)
}

// TestHeaders: what caches are told.
func TestHeaders(t *testing.T) {
	e, _ := sampleEdge(t)
	for _, tt := range []struct {
		target string
		status int
		cached bool
		keys   []string // among those that a cache may purge the response by
	}{
		{"/3/movie/550", 200, true, []string{"movie-550"}},
		{"/3/movie/tt0137523", 200, true, []string{"movie-550"}},
		{"/3/tv/1399/season/1", 200, true, []string{"tv-1399"}},
		{"/3/tv/1399/season/1/episode/2/credits", 200, true, []string{"tv-1399"}},
		{"/3/person/287/movie_credits", 200, true, []string{"person-287"}},
		{"/3/collection/10", 200, true, []string{"collection-10"}},
		{"/3/find/tt0137523?external_source=imdb_id", 200, true, nil},
		{"/3/configuration", 200, true, nil},
		{"/3/movie/latest", 200, false, nil},
		{"/3/tv/latest", 200, false, nil},
		{"/3/person/latest", 200, false, nil},
		{"/3/movie/1", 404, true, []string{"movie-1"}},
		{"/3/tv/1399/season/99", 404, true, []string{"tv-1399"}},
		{"/3/movie/550/account_states", 401, false, nil},
		{"/3/authentication/guest_session/new", 200, false, nil},
		{"/3/find/tt0137523?external_source=nothing", 422, false, nil},
		{"/3/find/tt0137523", 422, false, nil},
	} {
		a := e.get(tt.target)
		cached := strings.HasPrefix(a.cache, "public, max-age=") && a.cache != "public, max-age=0"
		if a.status != tt.status || cached != tt.cached {
			t.Errorf("GET %s: status %d, Cache-Control %q, want %d, kept by caches: %v", tt.target, a.status, a.cache, tt.status, tt.cached)
		}
		for _, key := range tt.keys {
			if !slices.Contains(strings.Fields(a.keys), key) {
				t.Errorf("GET %s: Surrogate-Key %q, want %s among them", tt.target, a.keys, key)
			}
		}
	}
}
