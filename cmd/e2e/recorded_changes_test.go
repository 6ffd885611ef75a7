package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// editedBefore and editedAfter are dumps before and after an update with every kind of recorded change. Movie 2 and
// person 2 are new.
var editedBefore = map[string]string{
	"movie.ndjson": `{"id":1,"title":"A","original_title":"A","overview":"","runtime":90,
		"images":{"backdrops":[],"logos":[{"file_path":"/l.png","iso_639_1":null}],
			"posters":[{"file_path":"/a.jpg","iso_639_1":null},{"file_path":"/b.jpg","iso_639_1":"fr"}]},
		"credits":{"cast":[{"id":1,"name":"P","character":"C","cast_id":1,"credit_id":"000000010000000100000001","order":0}],"crew":[]},
		"release_dates":{"results":[{"iso_3166_1":"US","release_dates":[{"certification":"","iso_639_1":null,"note":"","release_date":"2026-01-01T00:00:00.000Z","type":3}]}]},
		"spoken_languages":[],"keywords":{"keywords":[]},"translations":{"translations":[]}}`,
	"tv.ndjson": `{"id":1,"name":"S","overview":"Old.","genres":[],"production_companies":[],"production_countries":[],"external_ids":{"tvdb_id":null},
		"content_ratings":{"results":[]},
		"images":{"backdrops":[{"file_path":"/d.jpg","iso_639_1":"en"}],"posters":[{"file_path":"/a.jpg","iso_639_1":null},{"file_path":"/b.jpg","iso_639_1":"fr"}]},
		"season/1":{"id":11,"season_number":1,"name":"Part","overview":"Old.","air_date":"2020-01-01","images":{"posters":[]},
			"translations":{"translations":[{"iso_3166_1":"FR","iso_639_1":"fr","name":"Français","english_name":"French","data":{"name":"Partie","overview":""}}]},
			"episodes":[{"id":111,"episode_number":1,"season_number":1,"name":"","overview":"","production_code":"","air_date":"2020-01-01","guest_stars":[]},
				{"id":112,"episode_number":2,"season_number":1,"name":"E","overview":"Old.","air_date":"2020-01-01"}]}}`,
	"person.ndjson": `{"id":1,"name":"P","gender":0,"adult":false,"place_of_birth":"X","also_known_as":[],"biography":"",
		"images":{"profiles":[{"file_path":"/a.jpg","iso_639_1":null}]},"translations":{"translations":[]}}`,
}

var editedAfter = map[string]string{
	"movie.ndjson": `{"id":1,"title":"A","original_title":"A","overview":"New.","runtime":91,
		"images":{"backdrops":[],"logos":[{"file_path":"/l.png","iso_639_1":"he"},{"file_path":"/m.png","iso_639_1":null}],
			"posters":[{"file_path":"/a.jpg","iso_639_1":"fr"},{"file_path":"/b.jpg","iso_639_1":"de"},{"file_path":"/c.jpg","iso_639_1":null}]},
		"credits":{"cast":[{"id":1,"name":"P","character":"CC","cast_id":1,"credit_id":"000000010000000100000001","order":0},
				{"id":2,"name":"Q","character":"D","cast_id":2,"credit_id":"000000010000000100000002","order":1}],
			"crew":[{"id":1,"name":"P","department":"Writing","job":"Story","credit_id":"000000010000000100000003"}]},
		"release_dates":{"results":[
			{"iso_3166_1":"FR","release_dates":[{"certification":"","iso_639_1":"","note":"","release_date":"2026-03-01T00:00:00.000Z","type":3}]},
			{"iso_3166_1":"US","release_dates":[{"certification":"","iso_639_1":null,"note":"","release_date":"2026-02-01T00:00:00.000Z","type":3}]}]},
		"spoken_languages":[{"english_name":"English","iso_639_1":"en","name":"English"}],"keywords":{"keywords":[{"id":1,"name":"k"}]},
		"translations":{"translations":[{"iso_3166_1":"FR","iso_639_1":"fr","name":"Français","english_name":"French","data":{"title":"T","overview":""}}]}}
	{"id":2,"title":"B","original_title":"O","overview":"Text.","runtime":90,"budget":5,"revenue":6,"imdb_id":"tt0000002","status":"Released",
		"genres":[{"id":18,"name":"Drama"}],"production_companies":[{"id":1,"logo_path":null,"name":"C","origin_country":""}],
		"production_countries":[{"iso_3166_1":"US","name":"United States of America"}]}`,
	"tv.ndjson": `{"id":1,"name":"S","overview":"New.","genres":[{"id":99,"name":"Documentary"}],
		"production_companies":[{"id":1,"logo_path":null,"name":"C","origin_country":""}],"production_countries":[{"iso_3166_1":"GB","name":"United Kingdom"}],
		"external_ids":{"tvdb_id":375980},"content_ratings":{"results":[{"descriptors":[],"iso_3166_1":"BR","rating":"12"}]},
		"images":{"backdrops":[{"file_path":"/d.jpg","iso_639_1":"xx"},{"file_path":"/e.jpg","iso_639_1":null}],
			"posters":[{"file_path":"/a.jpg","iso_639_1":"fr"},{"file_path":"/b.jpg","iso_639_1":"de"},{"file_path":"/c.jpg","iso_639_1":null}]},
		"season/1":{"id":11,"season_number":1,"name":"Book","overview":"New.","air_date":"2020-02-01","images":{"posters":[{"file_path":"/a.jpg","iso_639_1":null}]},
			"translations":{"translations":[{"iso_3166_1":"DE","iso_639_1":"de","name":"Deutsch","english_name":"German","data":{"name":"Teil","overview":"Text."}}]},
			"episodes":[{"id":111,"episode_number":1,"season_number":1,"name":"E","overview":"Text.","production_code":"1x01","air_date":"2020-01-01",
					"guest_stars":[{"id":1,"name":"P","character":"G","credit_id":"000000010000000100000004","order":0}]},
				{"id":112,"episode_number":2,"season_number":1,"name":"E","overview":"New.","air_date":"2020-01-01"}]},
		"season/1/episode/1/external_ids":{"tvrage_id":5}}`,
	"person.ndjson": `{"id":1,"name":"P","gender":2,"adult":true,"place_of_birth":"Y","also_known_as":["Z"],"biography":"",
		"images":{"profiles":[{"file_path":"/b.jpg","iso_639_1":null}]},
		"translations":{"translations":[{"iso_3166_1":"ES","iso_639_1":"ca","name":"Català","english_name":"Catalan","data":{"biography":"B.","name":""}}]}}
	{"id":2,"name":"Q","gender":1,"biography":""}`,
}

// editedEdge builds the catalogue before and after the update, which was a minute ago.
func editedEdge(t *testing.T) *testEdge {
	t.Helper()
	c, date := build.DefaultConfig(), time.Now().Add(-time.Minute)
	c.Catalog, c.Releases = filepath.Join(t.TempDir(), "catalog"), t.TempDir()
	for _, files := range []map[string]string{editedBefore, editedAfter} {
		dir, rows := t.TempDir(), map[string][]byte{}
		for name, text := range files {
			rows[name] = []byte(strings.ReplaceAll(strings.ReplaceAll(text, "\n\t\t", ""), "\t", ""))
		}
		writeFiles(t, filepath.Join(dir, "src"), rows)
		report, err := ingest.Run(t.Context(), ingest.Config{Catalog: c.Catalog, Sources: []string{filepath.Join(dir, "src")}, Date: date})
		if err != nil || report.Quarantined > 0 {
			t.Fatalf("ingest: %v, in quarantine %q", err, report.Bad)
		}
		built, err := build.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		c.Previous = built.Release
	}
	return newEdge(t, c.Releases, c.Previous)
}

// changesOf are the requests for the changes in the edited catalogue.
var changesOf = map[string][]string{
	"movie": {"/3/movie/1/changes", "/3/movie/2/changes"}, "person": {"/3/person/1/changes", "/3/person/2/changes"},
	"tv": {"/3/tv/1/changes"}, "tv-season": {"/3/tv/season/11/changes"}, "tv-episode": {"/3/tv/episode/111/changes", "/3/tv/episode/112/changes"},
}

// TestRecordedChanges: lists of changes, and the changes of one resource, have the members of recorded ones, in their
// order and of their types. Each recorded change of a key needs a similar one in the edited catalogue.
// testdata/exceptions_changes.tsv lists differences.
func TestRecordedChanges(t *testing.T) {
	skipLarge(t)
	compared := recordings(t, "changes/", "movie/changes--", "tv/changes--", "person/changes--", "tv-season/changes--", "tv-episode/changes--")
	exceptions := loadExceptions(t, "exceptions_changes.tsv", compared)
	e := editedEdge(t)
	responses := map[string][]*value{}
	ours := func(operation string) []*value {
		group, list, _ := strings.Cut(operation, "/")
		paths := changesOf[group]
		if group == "changes" {
			paths = []string{"/3/" + list + "/changes"}
		}
		for _, path := range paths[len(responses[operation]):] {
			v, err := ask(e, path)
			if err != nil {
				t.Fatal(err)
			}
			responses[operation] = append(responses[operation], v)
		}
		return responses[operation]
	}
	for _, r := range compared {
		text, err := os.ReadFile(sharedtest.Path(t, "recorded", filepath.FromSlash(r.file)))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(r.file, func(t *testing.T) {
			got, want := ours(r.operation()), jsonOf(t, string(text))
			var differences []string
			if r.group() == "changes" {
				differences = r.compareChangeLists(got[0], want)
			} else {
				differences = r.compareChanges(got, want)
			}
			exceptions.judge(t, r, differences)
		})
	}
}

// compareChangeLists compares the envelope, and the rows with the first one whose resource exists.
func (r recording) compareChangeLists(got, want *value) []string {
	if !r.isNew() {
		got, want = shared(got, want), shared(want, got)
	}
	out := (&recordedPage{recording: r, body: want, path: "/3/"}).envelope(got)
	for _, row := range want.list("results") {
		if r.isNew() {
			row = lacking(row, func(name string) bool { return since[name] > r.date })
		}
		like := func(g *value) bool { return r.likeIn(g, row) }
		if row.at("adult") != nil && row.at("adult").scalar != nil && !slices.ContainsFunc(got.list("results"), like) {
			out = append(out, fmt.Sprintf("no row is like %s", shapeOf(row)))
		}
	}
	return slices.Compact(out)
}

// compareChanges looks for a similar item under the same key for each recorded item.
func (r recording) compareChanges(responses []*value, want *value) (out []string) {
	for _, change := range want.list("changes") {
		key := change.text("key")
		for _, item := range change.list("items") {
			found := []string{}
			like := false
			for _, a := range responses {
				for _, c := range a.list("changes") {
					if c.text("key") != key || !slices.Equal(c.keys, change.keys) {
						continue
					}
					for _, it := range c.list("items") {
						if it.text("action") == item.text("action") {
							like = like || r.likeIn(it, item)
							found = append(found, shapeOf(it))
						}
					}
				}
			}
			if !like {
				out = append(out, fmt.Sprintf("%s %s: no item is like %s but %q", key, item.text("action"), shapeOf(item), found))
			}
		}
	}
	return slices.Compact(out)
}

// likeIn reports whether an object has the members of a recorded one in their order, and their types. It may have
// more than an old one.
func (r recording) likeIn(got, want *value) bool {
	if shapeOf(shared(got, want)) != shapeOf(want) {
		return false
	}
	return !r.isNew() || shapeOf(got) == shapeOf(want)
}
