package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// crawled is what a crawl of one language keeps of a movie: the details, and responses
// that the language cuts or translates.
func crawled(id int, language string) string {
	lang, region, _ := strings.Cut(language, "-")
	text := func(s string) string { return fmt.Sprintf("%q", s+" "+lang) }
	title, overview, poster := text("Title"), text("Overview"), text("/poster")
	if id == 2 && lang != "en" { // no text in this language
		title, overview, poster = `"Original"`, `""`, `"/poster original"`
	}
	genre := reference.GenreName(reference.Movie, 18, lang, region)
	image := func(kind string) string {
		return fmt.Sprintf(`[{"aspect_ratio":0.667,"height":3,"iso_3166_1":null,"iso_639_1":%q,"file_path":"/%s-%s.jpg","vote_average":%d.5,"vote_count":1,"width":2}]`,
			lang, kind, lang, int(lang[0])%7)
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
		`"images":{"backdrops":%s,"logos":[],"posters":%s},"keywords":{"keywords":[{"id":4,"name":"k"}]},`+
		`"recommendations":{"page":1,"results":[%s],"total_pages":1,"total_results":1},"reviews":%s,`+
		`"similar":{"page":1,"results":[%s],"total_pages":3,"total_results":41},`+
		`"videos":{"results":[{"iso_639_1":%q,"iso_3166_1":%q,"name":"n","key":"key-%s","site":"YouTube","size":1080,"type":"Trailer","official":true,"id":"v-%s","published_at":"2001-02-03T00:00:00.000Z"}]}}`,
		text("Collection"), poster, genre, id, id, overview, poster, 100+int(lang[0])%5, overview, title,
		text("Name"), text("Role"), image("backdrop"), image("poster"), row(`"media_type":"movie",`), reviews, row(""),
		lang, strings.ToUpper(reference.DefaultRegion(lang)), lang, lang)
}

const crawledParts = "credits,images,keywords,recommendations,reviews,similar,videos"

// TestLanguages: crawls of the same movies in several languages become one record of
// each, whatever their order, and each language is served as its crawl was.
func TestLanguages(t *testing.T) {
	all, orders := []string{"en-US", "de-DE", "it", "ar"}, [][]int{{1, 3, 0, 2}, {0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}}
	if testing.Short() { // each order is four ingests and a build
		orders = orders[:1]
	}
	orders = orders[:min(len(orders), sharedtest.Rounds(2, 4))]
	for _, order := range orders {
		var names []string
		dir := t.TempDir()
		for _, i := range order {
			names = append(names, all[i])
			var rows []string
			for id := 1; id <= 3; id++ {
				rows = append(rows, crawled(id, all[i]))
			}
			ingestFile(t, dir, "movies.ndjson", all[i], rows...)
		}
		t.Run(strings.Join(names, " "), func(t *testing.T) {
			rel := buildCatalog(t, dir)
			for _, language := range all {
				for id := 1; id <= 3; id++ {
					want, err := parseJSON([]byte(crawled(id, language)))
					if err != nil {
						t.Fatal(err)
					}
					target := fmt.Sprintf("/3/movie/%d?language=%s&append_to_response=%s", id, language, crawledParts)
					for _, d := range diff("", get(t, rel, target), want, nil) {
						t.Errorf("GET %s: %s", target, d)
					}
				}
			}
			// What the crawls cut by language is whole again without one.
			n := get(t, rel, "/3/movie/1?append_to_response=images")
			if posters := n.members["images"].members["posters"].items; len(posters) != len(all) {
				t.Errorf("posters of all languages = %d, want %d", len(posters), len(all))
			}
			n = get(t, rel, "/3/movie/1/videos?language=en-US&include_video_language=de,it,ar")
			if videos := n.members["results"].items; len(videos) < 3 {
				t.Errorf("videos of three languages = %d, want at least 3", len(videos))
			}
		})
	}
}

// TestOneTag: crawls tagged with a language and with its default region are one, and
// so are the requests; an untranslated title is the original one.
func TestOneTag(t *testing.T) {
	dir := t.TempDir()
	ingestFile(t, dir, "movies.ndjson", "en-US", crawled(1, "en-US"))
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
