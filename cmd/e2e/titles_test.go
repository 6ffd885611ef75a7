package e2e

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/release"
)

// TestParts: a collection has its movies, by date.
func TestParts(t *testing.T) {
	rel := sampleWorld.open(t)
	movies := sampleRows(t, "movies.ndjson")
	dates := map[int64]string{}
	for _, m := range movies {
		dates[m.int("id")] = m.text("release_date")
	}
	for _, c := range sampleRows(t, "collections.ndjson") {
		var want []int64
		for _, m := range movies {
			if m.int("belongs_to_collection", "id") == c.int("id") {
				want = append(want, m.int("id"))
			}
		}
		slices.SortFunc(want, func(a, b int64) int { return cmp.Compare(dates[a], dates[b]) })
		var got []int64
		for _, p := range get(t, rel, fmt.Sprintf("/3/collection/%d", c.int("id"))).list("parts") {
			got = append(got, p.int("id"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("collection %d: parts %v, want %v", c.int("id"), got, want)
		}
	}
	v := get(t, rel, "/3/collection/10")
	if got := ids(v.list("parts")); !slices.Equal(got, []int64{11, 1891, 1892}) {
		t.Errorf("collection 10: parts %v, want the first three films", got)
	}
}

// TestMoviesOf: companies and keywords have their movies.
func TestMoviesOf(t *testing.T) {
	rel := sampleWorld.open(t)
	movies := sampleRows(t, "movies.ndjson")
	for _, tt := range []struct {
		kind string
		id   int64
		path []string
	}{
		{"company", 1, []string{"production_companies"}},
		{"company", 25, []string{"production_companies"}},
		{"keyword", 825, []string{"keywords", "keywords"}},
		{"keyword", 30, []string{"keywords", "keywords"}},
	} {
		v := get(t, rel, fmt.Sprintf("/3/%s/%d/movies", tt.kind, tt.id))
		want := having(movies, tt.id, tt.path...)
		if got := ids(v.list("results")); !slices.Equal(got, want) || v.int("total_results") != int64(len(want)) || v.int("id") != tt.id {
			t.Errorf("%s %d: movies %v, %d in all, id %d, want %v", tt.kind, tt.id, got, v.int("total_results"), v.int("id"), want)
		}
	}
	if got := having(movies, 1, "production_companies"); !slices.Equal(got, []int64{11, 85, 1891, 1892}) {
		t.Errorf("the sample has the movies %v of company 1, want Star Wars and Indiana Jones", got)
	}
}

// TestManyPages: a keyword with more movies than a page has pages of twenty, each movie
// on one of them.
func TestManyPages(t *testing.T) {
	rel := sampleWorld.open(t)
	movies := sampleRows(t, "movies.ndjson")
	most, want := int64(0), []int64(nil)
	for _, k := range sampleRows(t, "keywords.ndjson") {
		if got := having(movies, k.int("id"), "keywords", "keywords"); len(got) > len(want) {
			most, want = k.int("id"), got
		}
	}
	var got []int64
	pages := (len(want) + 19) / 20
	for page := range pages + 1 {
		v := get(t, rel, fmt.Sprintf("/3/keyword/%d/movies?page=%d", most, page+1))
		if v.int("page") != int64(page+1) || v.int("total_pages") != int64(pages) || v.int("total_results") != int64(len(want)) {
			t.Errorf("keyword %d, page %d: page %d, %d pages, %d results, want %d pages, %d results",
				most, page+1, v.int("page"), v.int("total_pages"), v.int("total_results"), pages, len(want))
		}
		got = append(got, ids(v.list("results"))...)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("keyword %d: movies %v, want %v", most, got, want)
	}
	t.Logf("keyword %d: %d movies", most, len(want))
}

// TestFind: what external ids find, by the service.
func TestFind(t *testing.T) {
	rel := sampleWorld.open(t)
	person := rowOf(t, sampleRows(t, "people.ndjson"), 287)
	for _, tt := range []struct {
		target, array string
		id            int64
	}{
		{"tt0137523?external_source=imdb_id", "movie_results", 550},
		{"tt0944947?external_source=imdb_id", "tv_results", 1399},
		{person.text("imdb_id") + "?external_source=imdb_id", "person_results", 287},
		{"121361?external_source=tvdb_id", "tv_results", 1399},
		{"Q23572?external_source=wikidata_id", "tv_results", 1399},
		{rowOf(t, sampleRows(t, "movies.ndjson"), 550).text("external_ids", "wikidata_id") + "?external_source=wikidata_id", "movie_results", 550},
		// No service has these, or not under that name.
		{"tt0137523?external_source=tvdb_id", "", 0},
		{"tt9999999?external_source=imdb_id", "", 0},
		{"137523?external_source=imdb_id", "", 0},
		{"0?external_source=tvdb_id", "", 0},
	} {
		v := get(t, rel, "/3/find/"+tt.target)
		for _, array := range []string{"movie_results", "person_results", "tv_results", "tv_episode_results", "tv_season_results"} {
			var want []int64
			if array == tt.array {
				want = []int64{tt.id}
			}
			if got := ids(v.list(array)); v.at(array) == nil || !slices.Equal(got, want) {
				t.Errorf("find %s: %s %v, want %v", tt.target, array, got, want)
			}
		}
	}
	v := get(t, rel, "/3/find/"+person.text("imdb_id")+"?external_source=imdb_id").list("person_results")[0]
	if got := ids(v.list("known_for")); !slices.Contains(got, 550) || len(got) > 3 {
		t.Errorf("person 287 is known for %v, want 550 among at most three", got)
	}
	for _, e := range sampleRows(t, "episodes.ndjson")[:3] {
		id := e.text("external_ids", "imdb_id")
		if id == "" {
			continue
		}
		rows := get(t, rel, "/3/find/"+id+"?external_source=imdb_id").list("tv_episode_results")
		if len(rows) != 1 || rows[0].int("show_id") != e.int("series_id") || rows[0].int("episode_number") != e.int("episode_number") {
			t.Errorf("find %s: %d episodes, want that of series %d", id, len(rows), e.int("series_id"))
		}
	}
}

// TestSampleReferences: every person, season, network and company that a response of the
// sample names is there, so that clients can follow it.
func TestSampleReferences(t *testing.T) {
	skipLarge(t)
	rel := sampleWorld.open(t)
	p := samplePlaces(t, rel)
	for _, kind := range []struct{ parameter, path string }{
		{"person_id", "/3/person/{person_id}"},
		{"credit_id", "/3/credit/{credit_id}"},
		{"season_number", "/3/tv/{series_id}/season/{season_number}"},
		{"episode_number", "/3/tv/{series_id}/season/{season_number}/episode/{episode_number}"},
	} {
		for _, path := range p.paths(kind.path) {
			get(t, rel, path)
		}
	}
	for _, path := range p.paths("/3/tv/{series_id}") {
		v := get(t, rel, path)
		for _, n := range v.list("networks") {
			get(t, rel, fmt.Sprintf("/3/network/%d", n.int("id")))
		}
		for _, c := range v.list("production_companies") {
			get(t, rel, fmt.Sprintf("/3/company/%d", c.int("id")))
		}
	}
	problems, err := release.Verify(t.Context(), filepath.Join(sampleWorld.releases(), sampleWorld.id), release.VerifyOptions{}, nil)
	if err != nil || len(problems) > 0 {
		t.Errorf("verify: %d problems, %v, want none: %v", len(problems), err, problems[:min(len(problems), 5)])
	}
}
