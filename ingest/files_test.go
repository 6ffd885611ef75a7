package ingest

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestForeignRows: neither a folder's name nor a word of the file's name makes records of rows without a field of that kind.
func TestForeignRows(t *testing.T) {
	const users, genres = `[{"id":1,"name":"Bob","email":"bob@example.org"}]`, `[{"id":28,"name":"Action"}]`
	src := t.TempDir()
	for name, rows := range map[string]string{
		"movie-recommender/data/movies.ndjson": `{"id":1,"title":"A"}`,
		"movie-recommender/data/users.json":    users,
		"movie-recommender/data/genres.json":   genres,
		"tv-tracker/users.json":                users,
		"account-service/config.json":          `{"id":1,"name":"x"}`,
		"tv/users.json":                        users,
		"tv/genres.json":                       genres,
		"tv/more.json":                         `[{"id":4,"name":"A","overview":"B"}]`,
		"movie_genres.json":                    genres,
		"keywords/all.json":                    `[{"id":5,"name":"heist"}]`,
		"people/7.json":                        `{"id":7,"name":"C"}`,
		"movie/gone.ndjson":                    `{"id":8,"_deleted":true}`,
	} {
		put(t, src, name, rows)
	}
	for name, s := range map[string]struct{ root, want, reason string }{
		"above":  {src, "keywords/all.json movie/gone.ndjson movie-recommender/data/movies.ndjson people/7.json tv/more.json", "no field of that kind besides id"},
		"inside": {filepath.Join(src, "movie-recommender"), "data/movies.ndjson", "shows no kind"},
	} {
		r, err := newRun(Config{Catalog: t.TempDir(), Sources: []string{s.root}})
		if err == nil {
			err = r.find(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		var names []string // in reading order
		for n := range r.list.inputs {
			names = append(names, r.list.inputs[n].Name)
		}
		if got := strings.Join(names, " "); got != s.want {
			t.Errorf("%s: read %s, want %s", name, got, s.want)
		}
		reasons := ""
		for _, skipped := range r.list.skipped {
			reasons += skipped.String() + "\n"
		}
		if !strings.Contains(reasons, s.reason) {
			t.Errorf("%s: skipped for\n%swant %q among the reasons", name, reasons, s.reason)
		}
	}
}
