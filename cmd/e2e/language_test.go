package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// A crawledKind is a kind with the content of a crawl in one language: the details, and responses that the language
// filters or translates.
type crawledKind struct {
	file string                           // rows of the kind
	body func(id int, lang string) string // body of a resource
	path func(id int) string              // path of a resource
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

// movieIn is a movie; number 8 has only English text.
func movieIn(id int, lang string) string {
	title, overview, poster := say(lang, "Title"), say(lang, "Overview"), say(lang, "/poster")
	if id == 8 && lang != "en" {
		title, overview, poster = `"Original"`, `""`, `"/poster original"`
	}
	row := func(extra string) string {
		return fmt.Sprintf(`{"adult":false,"backdrop_path":null,"id":77,%s"title":%s,"original_title":"O","overview":%s,"poster_path":%s,`+
			`"original_language":"en","genre_ids":[18],"popularity":1.5,"release_date":"","video":false,"vote_average":1.5,"vote_count":2}`,
			extra, title, overview, poster)
	}
	reviews := `{"page":1,"results":[],"total_pages":1,"total_results":0}`
	if lang == "en" || lang == "de" {
		reviews = fmt.Sprintf(`{"page":1,"results":[{"author":"A","content":"In %s","id":"r-%s"}],"total_pages":1,"total_results":1}`, lang, lang)
	}
	return fmt.Sprintf(`{"adult":false,"backdrop_path":"/b.jpg","belongs_to_collection":{"id":9,"name":%s,"poster_path":%s,"backdrop_path":null},`+
		`"budget":5,"genres":[{"id":18,"name":%q}],"homepage":"","id":%d,"imdb_id":"tt%07d","origin_country":["US"],"original_language":"xx",`+
		`"original_title":"Original","overview":%s,"popularity":2.5,"poster_path":%s,"production_companies":[],"production_countries":[],`+
		`"release_date":"2001-02-03","revenue":6,"runtime":%d,"spoken_languages":[],"status":"Released","tagline":%s,"title":%s,"video":false,`+
		`"vote_average":7.5,"vote_count":8,`+
		`"credits":{"cast":[{"id":1,"name":%s,"profile_path":null,"character":%s,"credit_id":"c","order":0}],"crew":[]},`+
		`"images":{"backdrops":[%s],"logos":[],"posters":[%s]},"keywords":{"keywords":[{"id":4,"name":"k"}]},`+
		`"recommendations":{"page":1,"results":[%s],"total_pages":1,"total_results":1},"reviews":%s,`+
		`"similar":{"page":1,"results":[%s],"total_pages":3,"total_results":41},`+
		`"videos":{"results":[{"iso_639_1":%q,"iso_3166_1":%q,"name":"n","key":"key-%s","site":"YouTube","size":1080,"type":"Trailer","official":true,"id":"v-%s","published_at":"2001-02-03T00:00:00.000Z"}]}}`,
		say(lang, "Collection"), poster, reference.GenreName(reference.Movie, 18, lang, ""), id, id, overview, poster, 100+int(lang[0])%5, overview, title,
		say(lang, "Name"), say(lang, "Role"), imageIn(lang, "backdrop"), imageIn(lang, "poster"), row(`"media_type":"movie",`), reviews, row(""),
		lang, strings.ToUpper(reference.DefaultRegion(lang)), lang, lang)
}

var crawledKinds = map[string]crawledKind{
	"movie": {
		"movies.ndjson", movieIn, func(id int) string { return fmt.Sprintf("/3/movie/%d", id) },
		"credits,images,keywords,recommendations,reviews,similar,videos",
	},
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

// TestLanguages: crawls in several languages become one record for each resource, in any order, and each language is
// served like its crawl. Lists that crawls filter by language are complete without one.
func TestLanguages(t *testing.T) {
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
				if kind != "movie" {
					return
				}
				if n := len(get(t, rel, "/3/movie/7/images").list("posters")); n != len(all) {
					t.Errorf("posters of all languages = %d, want %d", n, len(all))
				}
				if n := len(get(t, rel, "/3/movie/7/videos?language=en-US&include_video_language=de,it,ar").list("results")); n < 3 {
					t.Errorf("videos of three languages = %d, want at least 3", n)
				}
			})
		}
	}
}

// TestOneTag: crawls tagged with a language and with its default region are one, and so are the requests; an
// untranslated title is the original one.
func TestOneTag(t *testing.T) {
	dir := t.TempDir()
	ingestFile(t, dir, "movies.ndjson", "en-US", movieIn(1, "en"))
	ingestFile(t, dir, "movies.ndjson", "fr", `{"id":1,"title":"Titre","overview":"ancien","runtime":null}`)
	ingestFile(t, dir, "movies.ndjson", "fr-FR", `{"id":1,"title":"","overview":"nouveau","genres":null}`)
	ingestFile(t, dir, "movies.ndjson", "es-ES", `{"id":1,"title":"","overview":"nuevo"}`)
	rel := buildCatalog(t, dir)
	f := func(language, title, overview string) {
		t.Helper()
		n := get(t, rel, "/3/movie/1?language="+language)
		if a, b := n.members["title"].scalar, n.members["overview"].scalar; a != title || b != overview {
			t.Errorf("language %s: title %v, overview %v, want %s, %s", language, a, b, title, overview)
		}
		if got := n.members["runtime"].scalar; got != json.Number("101") {
			t.Errorf("language %s: runtime %v, want that of the en-US crawl", language, got)
		}
	}
	f("fr", "Titre", "nouveau")
	f("fr-FR", "Titre", "nouveau")
	f("es", "Original", "nuevo")
	f("en-US", "Title en", "Overview en")
}
