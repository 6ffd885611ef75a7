package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// crawledKinds are the resources of testdata/languages, with names that a request appends: the details, and responses that the
// language of a crawl filters or translates.
var crawledKinds = map[string]struct{ file, appended string }{
	"movie":      {"movies.ndjson", "credits,images,keywords,recommendations,reviews,similar,videos"},
	"tv":         {"tv.ndjson", "aggregate_credits,credits,images,season/1"},
	"person":     {"people.ndjson", "movie_credits"},
	"collection": {"collections.ndjson", "images"},
}

// crawled returns a resource of a file in a language. Movie 8 has only English text.
func crawled(t *testing.T, file string, id int, lang string) string {
	t.Helper()
	say := func(s string) string { return fmt.Sprintf("%q", s+" "+lang) }
	title, overview, poster := say("Title"), say("Overview"), say("/poster")
	if id == 8 && lang != "en" {
		title, overview, poster = `"Original"`, `""`, `"/poster original"`
	}
	row := template.Must(template.New(file).Funcs(template.FuncMap{
		"say": say, "lang": func() string { return lang }, "region": func() string { return strings.ToUpper(reference.DefaultRegion(lang)) },
	}).ParseFiles(filepath.Join("testdata", "languages", file)))
	var text, compact bytes.Buffer
	err := row.Execute(&text, map[string]any{
		"ID": id, "Title": title, "Overview": overview, "Poster": poster, "Runtime": 100 + int(lang[0])%5,
		"Genre": reference.GenreName(reference.Movie, 18, lang, ""), "Reviewed": lang == "en" || lang == "de",
	})
	if err == nil {
		err = json.Compact(&compact, text.Bytes())
	}
	if err != nil {
		t.Fatal(err)
	}
	return compact.String()
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
				ingestFile(t, dir, k.file, all[i], crawled(t, k.file, 7, lang), crawled(t, k.file, 8, lang))
			}
			t.Run(kind+" "+strings.Join(names, " "), func(t *testing.T) {
				rel := buildCatalog(t, dir)
				for _, language := range all {
					lang, _, _ := strings.Cut(language, "-")
					for id := 7; id <= 8; id++ {
						want := jsonOf(t, crawled(t, k.file, id, lang))
						target := fmt.Sprintf("/3/%s/%d?language=%s&append_to_response=%s", kind, id, language, k.appended)
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
	ingestFile(t, dir, "movies.ndjson", "en-US", crawled(t, "movies.ndjson", 1, "en"))
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
