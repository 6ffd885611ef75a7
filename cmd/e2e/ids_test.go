package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/serve/edge"
)

// The bodies of refusals, letter for letter.
const (
	notFound = `{"success":false,"status_code":34,"status_message":"The resource you requested could not be found."}`
	tooMany  = `"status_code":27`
)

// idWorld holds resources with unusual ids: above 2^31 and 2^32, season 0, gaps between
// seasons and between episodes.
func idWorld(t *testing.T) (*testEdge, func(target string) (edge.Inspection, error)) {
	t.Helper()
	dir := t.TempDir()
	src := filepath.Join(dir, "src")
	writeFiles(t, src, map[string][]byte{
		"movie/550.json":        []byte(`{"id":550,"title":"Fight Club","imdb_id":"tt0137523"}`),
		"movie/3000000000.json": []byte(`{"id":3000000000,"title":"Above 2^31"}`),
		"movie/5000000000.json": []byte(`{"id":5000000000,"title":"Above 2^32"}`),
		"tv/7.json":             []byte(`{"id":7,"name":"Gaps"}`),
		"tv/7-season-0.json":    []byte(`{"id":70,"season_number":0,"name":"Specials","episodes":[{"id":700,"episode_number":0,"season_number":0,"show_id":7,"name":"Zero"}]}`),
		"tv/7-season-1.json":    []byte(`{"id":71,"season_number":1,"name":"One","episodes":[{"id":711,"episode_number":1,"season_number":1,"show_id":7,"name":"A"},{"id":715,"episode_number":5,"season_number":1,"show_id":7,"name":"E"}]}`),
		"tv/7-season-2016.json": []byte(`{"id":72016,"season_number":2016,"name":"A year","episodes":[]}`),
		"tv/4294967303.json":    []byte(`{"id":4294967303,"name":"7 above 2^32"}`),
		"person/287.json":       []byte(`{"id":287,"name":"Brad Pitt"}`),
		"keyword/1.json":        []byte(`{"id":1,"name":"one"}`),
		"review/640b2aeecaaca20079decdcc.json": []byte(
			`{"id":"640b2aeecaaca20079decdcc","author":"A","content":"c","media_id":550,"media_title":"Fight Club","media_type":"movie"}`),
	})
	rel, err := buildFrom(t, dir, src, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rel.Close() })
	return newEdge(t, filepath.Join(dir, "releases"), rel.Manifest().ID),
		func(target string) (edge.Inspection, error) { return edge.Inspect(rel, target) }
}

// TestIDs: unusual ids are served, and ids that nothing has are refused as the API does.
func TestIDs(t *testing.T) {
	e, inspect := idWorld(t)
	for _, tt := range []struct {
		target string
		status int
		body   string // a part of it
	}{
		// Numbers of all sizes.
		{"/3/movie/550", 200, `"id":550,`},
		{"/3/movie/3000000000", 200, `"id":3000000000,`},
		{"/3/movie/3000000000/credits", 200, `"id":3000000000,`},
		{"/3/movie/5000000000", 200, `"id":5000000000,`},
		{"/3/movie/5000000000/keywords", 200, `{"id":5000000000,`},
		{"/3/tv/4294967303", 200, `"name":"7 above 2^32"`},
		{"/3/tv/4294967303/season/1", 404, notFound}, // not the season of series 7
		{"/3/movie/4294967846", 404, notFound},       // 550 above 2^32
		{"/3/movie/18446744073709551615", 404, notFound},
		{"/3/movie/18446744073709552166", 404, notFound}, // 550 above 2^64
		{"/3/movie/99999999999999999999999999999999", 404, notFound},
		// Numbers that nothing has.
		{"/3/movie/551", 404, notFound},
		{"/3/movie/551/keywords", 404, notFound},
		{"/3/person/551", 404, notFound},
		{"/3/person/551/movie_credits", 404, notFound},
		{"/3/collection/551", 404, notFound},
		{"/3/company/551", 404, notFound},
		{"/3/network/551", 404, notFound},
		{"/3/keyword/551", 404, notFound},
		{"/3/movie/0", 404, notFound},
		{"/3/tv/0/season/1", 404, notFound},
		// What is no number.
		{"/3/movie/-1", 404, ""},
		{"/3/movie/+550", 404, ""},
		{"/3/movie/5.5", 404, ""},
		{"/3/movie/undefined", 404, ""},
		{"/3/movie/550abc", 404, ""},
		{"/3/person/nm0000093x", 404, ""},
		{"/3/tv/7/season/-1", 404, ""},
		{"/3/tv/7/season/one", 404, ""},
		{"/3/tv/7/season/1/episode/-1", 404, ""},
		{"/3/tv/7/season/1/episode/x", 404, ""},
		// Seasons and episodes, with gaps.
		{"/3/tv/7/season/0", 200, `"id":70,`},
		{"/3/tv/7/season/0/images", 200, `"id":70`},
		{"/3/tv/7/season/0/episode/0", 200, `"name":"Zero"`},
		{"/3/tv/7/season/1", 200, `"name":"One"`},
		{"/3/tv/7/season/1/episode/1", 200, `"id":711,`},
		{"/3/tv/7/season/1/episode/5", 200, `"id":715,`},
		{"/3/tv/7/season/1/episode/5/images", 200, `"id":715`},
		{"/3/tv/7/season/1/episode/2", 404, notFound},
		{"/3/tv/7/season/1/episode/6", 404, notFound},
		{"/3/tv/7/season/1/episode/0", 404, notFound},
		{"/3/tv/7/season/1/episode/2/images", 404, notFound},
		{"/3/tv/7/season/2", 404, notFound},
		{"/3/tv/7/season/2/credits", 404, notFound},
		{"/3/tv/7/season/2016", 200, `"season_number":2016`},
		{"/3/tv/7/season/4294967296", 404, notFound},           // 0 above 2^32
		{"/3/tv/7/season/1/episode/4294967297", 404, notFound}, // 1 above 2^32
		{"/3/tv/8/season/1", 404, notFound},
		{"/3/tv/season/71/changes", 200, `{"changes":`},
		{"/3/tv/season/73/changes", 404, notFound},
		{"/3/tv/episode/711/changes", 200, `{"changes":`},
		{"/3/tv/episode/712/changes", 404, notFound},
		// Ids of text.
		{"/3/review/640b2aeecaaca20079decdcc", 200, `"id":"640b2aeecaaca20079decdcc"`},
		{"/3/review/640b2aeecaaca20079decdcd", 404, notFound},
		{"/3/review/1", 404, ""},
		{"/3/credit/640b2aeecaaca20079decdcc", 404, notFound},
		{"/3/tv/episode_group/640b2aeecaaca20079decdcc", 404, notFound},
		{"/3/movie/tt0137523", 200, `"id":550,`},
		{"/3/movie/tt0137524", 404, notFound},
		// Percent-encoding is undone once, and then dot segments are resolved.
		{"/3/movie/%35%35%30", 200, `"id":550,`},
		{"/3/tv/7%2Fseason%2F1", 200, `"name":"One"`},
		{"/3/movie/x%2F..%2F..%2Fmovie%2F550", 200, `"id":550,`},
		{"/3/movie/x%252F..%252F..%252Fmovie%252F550", 404, ""},
		{"/3/movie/%2535%2535%2530", 404, ""},
		{"/3/movie/550%00", 400, ""},
		// What does not exist is left out of appended objects.
		{"/3/tv/7?append_to_response=season/1,season/2,season/0", 200, `"season/0":{`},
		{"/3/tv/7?append_to_response=season/1/episode/5,season/1/episode/4", 200, `"season/1/episode/5":{`},
		{"/3/tv/8?append_to_response=season/1", 404, notFound},
		{"/3/tv/7?append_to_response=season/1" + strings.Repeat(",season/2", 20), 400, tooMany},
	} {
		t.Run(tt.target, func(t *testing.T) {
			a := e.get(tt.target)
			if a.status != tt.status || !strings.Contains(a.body, tt.body) {
				t.Errorf("GET %s: status %d: %.300s, want %d with %s", tt.target, a.status, a.body, tt.status, tt.body)
			}
			if (a.etag != "") != (a.status == 200) {
				t.Errorf("GET %s: status %d has the entity tag %q", tt.target, a.status, a.etag)
			}
			if i, err := inspect(tt.target); err != nil || i.Status != a.status || string(i.Body) != a.body || i.ETag != a.etag {
				t.Errorf("Inspect(%s) = %d, %q, %.200s, %v, want what the edge serves: %d, %q, %.200s",
					tt.target, i.Status, i.ETag, i.Body, err, a.status, a.etag, a.body)
			}
		})
	}
}

// TestSpellings: spellings of one address are one response, with one entity tag.
func TestSpellings(t *testing.T) {
	e, _ := idWorld(t)
	for _, same := range [][]string{
		{"/3/movie/550", "/3/movie/%35%35%30", "/3/movie/tt0137523", "/3/movie/550?language=en-US", "/3/movie/550?nothing=1"},
		{"/3/tv/7?append_to_response=season/1", "/3/tv/7?append_to_response=season%2F1", "/3/tv/7?append_to_response=season/1,season/2"},
		{"/3/tv/7/season/1/episode/5", "/3/tv/7/season/1/episode/5?page=2"},
	} {
		want := e.get(same[0])
		for _, target := range same {
			if got := e.get(target); got.status != 200 || got.etag != want.etag || got.body != want.body {
				t.Errorf("GET %s: status %d, %s, want what %s has: %s", target, got.status, got.etag, same[0], want.etag)
			}
		}
	}
}

// TestNotLeftOut: the seasons that exist are appended in the order of the request.
func TestNotLeftOut(t *testing.T) {
	e, _ := idWorld(t)
	v, err := parseJSON([]byte(e.get("/3/tv/7?append_to_response=season/2016,season/9,season/0,season/1").body))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(v.keys[len(v.keys)-3:], " "); got != "season/2016 season/0 season/1" {
		t.Errorf("the last members are %s, want the seasons 2016, 0 and 1", got)
	}
}
