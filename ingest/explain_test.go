package ingest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExplain: files of every sort are explained, and nothing is written.
func TestExplain(t *testing.T) {
	src := t.TempDir()
	imdbTablesIn(t, filepath.Join(src, "imdb"))
	put(t, src, "movies.ndjson", strings.Repeat(`{"id":1,"title":"A","mood":"calm"}`+"\n", 9))
	put(t, src, "broken.movies.ndjson.gz", gz(t, `{"id":2}`+"\n")[:20])
	put(t, src, "links.csv", "movieId,imdbId,tmdbId\n1,0114709,862\n")
	put(t, src, "ratings.csv", "userId,movieId,rating,timestamp\n1,2,3.5,4\n")
	put(t, src, "tv.csv", "id,name,mood\n5,B,calm\n")
	put(t, src, "zeros.movies.csv", "id,title\n1,\x00\n")
	put(t, src, "wares.csv", "name,price\nA,5\n")
	put(t, src, "shows.tv.json", `{"data":[{"id":7,"name":"A","overview":"o","status":{"id":1}},{"id":8,"name":"B","overview":"p","status":{"id":2}}]}`)
	before := entries(t, src)
	e, err := Explain(context.Background(), Config{Sources: []string{src}})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]ExplainedFile{}
	for _, f := range e.Files {
		files[filepath.Base(f.File)] = f
	}
	f := func(name, layout, problem string, rows int, suggested bool) {
		t.Helper()
		got := files[name]
		if got.Layout != layout || !strings.Contains(got.Problem, problem) || (problem == "") != (got.Problem == "") ||
			len(got.Rows) != rows || (got.Suggested != "") != suggested {
			t.Errorf("%s: %+v, want layout %s, problem %q, %d rows, suggested %v", name, got, layout, problem, rows, suggested)
		}
	}
	f("movies.ndjson", "tmdb", "", explainedRows, false)
	f("links.csv", "kaggle", "", 1, false)
	f("title.basics.tsv", "imdb", "", 0, false)
	f("broken.movies.ndjson.gz", "", "unexpected end of gzip stream", 0, false)
	f("ratings.csv", "", "ratings by single users", 0, true)
	f("tv.csv", "tmdb", "", 1, true)
	f("wares.csv", "", "its columns are unknown", 0, true)
	f("shows.tv.json", "tmdb", "", 2, true)
	if got := files["shows.tv.json"].Suggested; !strings.Contains(got, `rows = "data"`) {
		t.Errorf("shows.tv.json: the draft lacks the path to its rows:\n%s", got)
	}
	if got := files["links.csv"].Rows[0].Records[0]; got.Record != "movie 862" || len(got.Fields) != 2 || got.Fields[1].From[0] != "imdb(imdbId)" {
		t.Errorf("links.csv: %+v, want movie 862 with imdb_id from imdbId", got)
	}
	if got := files["movies.ndjson"].Rows[0].Unknown; len(got) != 1 || got[0] != "mood" {
		t.Errorf("movies.ndjson: unknown %q, want mood", got)
	}
	if got := files["zeros.movies.csv"].Rows[0].Refused; got != "byte 2: found U+0000, which no text has" {
		t.Errorf("zeros.movies.csv: refused: %s, want the reason alone: the place stands above", got)
	}
	if after := entries(t, src); after != before {
		t.Errorf("the folder has %s, and had %s", after, before)
	}
	if _, err := Explain(context.Background(), Config{Sources: []string{filepath.Join(src, "none")}}); err == nil {
		t.Error("Explain(none) = nil, want an error")
	}
	if _, err := Explain(context.Background(), Config{Sources: []string{src}, Kind: "film"}); err == nil || !strings.Contains(err.Error(), `kind "film"`) {
		t.Errorf("Explain of kind film = %v", err)
	}
}

// entries lists all files below a folder.
func entries(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	err := filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		out = append(out, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}
