package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/serve/edge"
)

// notFound is the exact body of a 404 response.
const notFound = `{"success":false,"status_code":34,"status_message":"The resource you requested could not be found."}`

// TestIDs: ids above 2^31 and 2^32, season 0, and seasons and episodes with gaps pass all stages unchanged, and
// Inspect shows the edge's response.
func TestIDs(t *testing.T) {
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
	})
	rel, err := buildFrom(t, dir, src, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rel.Close() })
	e := newEdge(t, filepath.Join(dir, "releases"), rel.Manifest().ID)
	for _, tt := range []struct {
		target string
		status int
		body   string // a part of it
	}{
		{"/3/movie/3000000000/credits", 200, `"id":3000000000,`},
		{"/3/movie/5000000000", 200, `"id":5000000000,`},
		{"/3/movie/5000000000/keywords", 200, `{"id":5000000000,`},
		{"/3/movie/4294967846", 404, notFound}, // 550 above 2^32
		{"/3/movie/tt0137523", 200, `"id":550,`},
		{"/3/tv/4294967303", 200, `"name":"7 above 2^32"`},
		{"/3/tv/4294967303/season/1", 404, notFound}, // not the season of series 7
		{"/3/tv/7/season/0/images", 200, `"id":70`},
		{"/3/tv/7/season/0/episode/0", 200, `"name":"Zero"`},
		{"/3/tv/7/season/1/episode/5/images", 200, `"id":715`},
		{"/3/tv/7/season/1/episode/2", 404, notFound},
		{"/3/tv/7/season/2", 404, notFound},
		{"/3/tv/7/season/2016", 200, `"season_number":2016`},
		{"/3/tv/season/71/changes", 200, `{"changes":`},
		{"/3/tv/season/73/changes", 404, notFound},
		{"/3/tv/episode/712/changes", 404, notFound},
		{"/3/tv/7?append_to_response=season/1,season/2,season/2016", 200, `"season/2016":{`},
	} {
		a := e.get(tt.target)
		if a.status != tt.status || !strings.Contains(a.body, tt.body) {
			t.Errorf("GET %s: status %d: %.300s, want %d with %s", tt.target, a.status, a.body, tt.status, tt.body)
		}
		if i, err := edge.Inspect(rel, tt.target); err != nil || i.Status != a.status || string(i.Body) != a.body || i.ETag != a.etag {
			t.Errorf("Inspect(%s) = %d, %q, %.200s, %v, want what the edge serves: %d, %q, %.200s",
				tt.target, i.Status, i.ETag, i.Body, err, a.status, a.etag, a.body)
		}
	}
}
