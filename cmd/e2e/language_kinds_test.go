package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// A crawledKind is a kind with what a crawl of one language keeps of it: the details, and
// responses that the language cuts or translates.
type crawledKind struct {
	file string                           // rows of the kind
	body func(id int, lang string) string // of a resource
	path func(id int) string              // of the request
	appd string                           // appended names
}

// say returns a text in a language, as JSON.
func say(lang, s string) string { return fmt.Sprintf("%q", s+" "+lang) }

// imageIn is an image in a language, as JSON.
func imageIn(lang, kind string) string {
	return fmt.Sprintf(`{"aspect_ratio":0.667,"height":1500,"iso_3166_1":%q,"iso_639_1":%q,"file_path":"/%s-%s.jpg","vote_average":5.0,"vote_count":1,"width":1000}`,
		strings.ToUpper(reference.DefaultRegion(lang)), lang, kind, lang)
}

func castIn(lang string) string {
	return fmt.Sprintf(`{"adult":false,"gender":1,"id":1,"known_for_department":"Acting","name":%s,"original_name":"Name","popularity":1.5,"profile_path":null,`+
		`"character":%s,"credit_id":"640b2aeecaaca20079decdcc","order":0}`, say(lang, "Name"), say(lang, "Role"))
}

func episodeIn(lang string, n int) string {
	return fmt.Sprintf(`{"air_date":"2001-02-0%d","episode_number":%d,"episode_type":"standard","id":%d,"name":%s,"overview":%s,"production_code":"","runtime":30,`+
		`"season_number":1,"show_id":7,"still_path":null,"vote_average":1.5,"vote_count":2,"crew":[],"guest_stars":[]}`, n, n, 710+n, say(lang, "Episode"), say(lang, "Overview"))
}

var crawledKinds = map[string]crawledKind{
	"tv": {
		"tv.ndjson", func(id int, l string) string {
			return fmt.Sprintf(`{"adult":false,"backdrop_path":"/b.jpg","created_by":[],"episode_run_time":[],"first_air_date":"2001-02-03","genres":[{"id":18,"name":"Drama"}],`+
				`"homepage":"https://example.org/%s","id":%d,"in_production":false,"languages":["en"],"last_air_date":null,"last_episode_to_air":null,"name":%s,`+
				`"next_episode_to_air":null,"networks":[],"number_of_episodes":2,"number_of_seasons":1,"origin_country":["US"],"original_language":"xx","original_name":"Original",`+
				`"overview":%s,"popularity":2.5,"poster_path":"/poster-%s.jpg","production_companies":[],"production_countries":[],"seasons":[{"air_date":"2001-02-03","episode_count":2,`+
				`"id":71,"name":%s,"overview":%s,"poster_path":"/s-%s.jpg","season_number":1,"vote_average":1.5}],"softcore":false,"spoken_languages":[],"status":"Ended","tagline":%s,`+
				`"type":"Scripted","vote_average":7.5,"vote_count":8,"aggregate_credits":{"cast":[],"crew":[]},"credits":{"cast":[%s],"crew":[]},`+
				`"images":{"backdrops":[%s],"logos":[],"posters":[%s]},"season/1":{"_id":"640b2aeecaaca20079decd%02x","air_date":"2001-02-01","episodes":[%s,%s],"name":%s,"networks":[],`+
				`"overview":%s,"id":71,"poster_path":"/s-%s.jpg","season_number":1,"vote_average":1.5}}`,
				l, id, say(l, "Name"), say(l, "Overview"), l, say(l, "Season"), say(l, "Season overview"), l, say(l, "Tagline"), castIn(l), imageIn(l, "backdrop"), imageIn(l, "poster"),
				id, episodeIn(l, 1), episodeIn(l, 2), say(l, "Season"), say(l, "Season overview"), l)
		}, func(id int) string { return fmt.Sprintf("/3/tv/%d", id) }, "aggregate_credits,credits,images,season/1",
	},
	"person": {
		"people.ndjson", func(id int, l string) string {
			return fmt.Sprintf(`{"adult":false,"also_known_as":["A"],"biography":%s,"birthday":null,"deathday":null,"gender":1,"homepage":null,"id":%d,"imdb_id":null,`+
				`"known_for_department":"Acting","name":%s,"place_of_birth":null,"popularity":1.5,"profile_path":null,"movie_credits":{"cast":[{"adult":false,"backdrop_path":null,`+
				`"genre_ids":[18],"id":5,"title":%s,"original_language":"en","original_title":"T","overview":%s,"popularity":1.5,"poster_path":null,"release_date":"","softcore":false,`+
				`"video":false,"vote_average":1.5,"vote_count":2,"character":%s,"credit_id":"640b2aeecaaca20079decdcc","order":0}],"crew":[]}}`,
				say(l, "Biography"), id, say(l, "Name"), say(l, "Title"), say(l, "Overview"), say(l, "Role"))
		}, func(id int) string { return fmt.Sprintf("/3/person/%d", id) }, "movie_credits",
	},
	"collection": {
		"collections.ndjson", func(id int, l string) string {
			return fmt.Sprintf(`{"id":%d,"name":%s,"original_language":"en","original_name":"C","overview":%s,"poster_path":"/poster-%s.jpg","backdrop_path":null,"parts":[`+
				`{"adult":false,"backdrop_path":null,"id":5,"title":%s,"original_title":"T","overview":%s,"poster_path":null,"media_type":"movie","original_language":"en","genre_ids":[18],`+
				`"popularity":1.5,"release_date":"","softcore":false,"video":false,"vote_average":1.5,"vote_count":2}],"images":{"backdrops":[],"posters":[%s]}}`,
				id, say(l, "Name"), say(l, "Overview"), l, say(l, "Title"), say(l, "Overview"), imageIn(l, "poster"))
		}, func(id int) string { return fmt.Sprintf("/3/collection/%d", id) }, "images",
	},
}

// TestLanguagesOfKinds: crawls of series with their seasons, of people and of collections
// in several languages become one record of each, whatever their order, and each language
// is served as its crawl was.
func TestLanguagesOfKinds(t *testing.T) {
	all, orders := []string{"en-US", "de-DE", "it", "ar"}, [][]int{{1, 3, 0, 2}, {0, 1, 2, 3}, {3, 2, 1, 0}}
	if testing.Short() { // each order is four ingests and a build
		orders = orders[:1]
	}
	orders = orders[:min(len(orders), sharedtest.Rounds(2, 3))]
	for kind, k := range crawledKinds {
		for _, order := range orders {
			dir := t.TempDir()
			var names []string
			for _, i := range order {
				names = append(names, all[i])
				lang, _, _ := strings.Cut(all[i], "-")
				ingestFile(t, dir, k.file, all[i], k.body(7, lang), k.body(8, lang))
			}
			t.Run(kind+" "+strings.Join(names, " "), func(t *testing.T) {
				rel := buildCatalog(t, dir)
				for _, language := range all {
					lang, _, _ := strings.Cut(language, "-")
					for id := 7; id <= 8; id++ {
						want, err := parseJSON([]byte(k.body(id, lang)))
						if err != nil {
							t.Fatal(err)
						}
						target := k.path(id) + "?language=" + language + "&append_to_response=" + k.appd
						d := diff("", get(t, rel, target), want, nil)
						for _, line := range d[:min(len(d), 4)] {
							t.Errorf("GET %s: %s", target, line)
						}
					}
				}
			})
		}
	}
}
