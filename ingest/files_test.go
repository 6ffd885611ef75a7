package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/merge"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// putAll writes files, by name and text in turn, and returns their paths.
func putAll(t *testing.T, dir string, files ...string) (paths []string) {
	t.Helper()
	for n := 0; n < len(files); n += 2 {
		paths = append(paths, put(t, dir, files[n], files[n+1]))
	}
	return paths
}

// found returns a run of sources that has found its files, or why it finds none.
func found(t *testing.T, c Config) (*run, error) {
	t.Helper()
	c.Catalog = t.TempDir()
	r, err := newRun(c)
	if err != nil {
		t.Fatal(err)
	}
	if r.work, err = openWork(c.Catalog, "x"); err != nil {
		t.Fatal(err)
	}
	return r, r.find(t.Context())
}

// find is found, where there are files.
func find(t *testing.T, c Config) *run {
	t.Helper()
	r, err := found(t, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// namesOf returns the names of the files in the order of the reading.
func namesOf(r *run) (out []string) {
	for n := range r.list.inputs {
		out = append(out, r.list.inputs[n].Name)
	}
	return out
}

const oneMovie = `{"id":1,"title":"A"}` + "\n"

// TestFind: files are read in turns, those that look up ids last, and keep the numbers of the command
// line; a file without records is left out with its reason.
func TestFind(t *testing.T) {
	src := putAll(t, t.TempDir(), "title.basics.tsv", basics+"tt1\tmovie\tA\tA\t0\t1990\t\\N\t1\tDrama\n", "unknown.ndjson", `{"a":1}`+"\n", "movies.ndjson", oneMovie, "people.ndjson", `{"id":2,"name":"B"}`+"\n")
	r := find(t, Config{Sources: src})
	l := r.list
	if got, want := namesOf(r), []string{"movies.ndjson", "people.ndjson", "title.basics.tsv"}; !slices.Equal(got, want) {
		t.Errorf("read in the order %q, want %q", got, want)
	}
	if in := l.inputs[2]; in.number != 0 || in.turn() != turnIMDb || l.sources[2].Name != "movies.ndjson" || l.sources[3].Path != src[3] {
		t.Errorf("inputs = %+v, want the numbers of the command line", l.inputs)
	}
	if len(l.skipped) != 1 || l.skipped[0].Name != "unknown.ndjson" || !strings.Contains(l.skipped[0].Reason, "--explain") {
		t.Errorf("skipped %+v, want unknown.ndjson with advice", l.skipped)
	}
	if _, err := found(t, Config{Sources: src[1:2]}); err == nil || !strings.HasPrefix(err.Error(), "unknown.ndjson: ") {
		t.Errorf("find of a file without records: %v, want an error that names it", err)
	}
}

// TestForeignRows: neither the name of a folder above a file nor a word of its own makes records of rows
// that have nothing of that kind.
func TestForeignRows(t *testing.T) {
	const users, genres = `[{"id":1,"name":"Bob","email":"bob@example.org"}]`, `[{"id":28,"name":"Action"}]`
	src := t.TempDir()
	putAll(t, src, "movie-recommender/data/movies.ndjson", oneMovie, "movie-recommender/data/users.json", users, "movie-recommender/data/genres.json", genres,
		"tv-tracker/users.json", users, "account-service/config.json", `{"id":1,"name":"x"}`,
		"tv/users.json", users, "tv/genres.json", genres, "tv/more.json", `[{"id":4,"name":"A","overview":"B"}]`,
		"movie_genres.json", genres, "keywords/all.json", `[{"id":5,"name":"heist"}]`, "people/7.json", `{"id":7,"name":"C"}`, "movie/gone.ndjson", `{"id":8,"_deleted":true}`)
	for name, s := range map[string]struct{ root, want, reason string }{
		"above":  {src, "keywords/all.json movie/gone.ndjson movie-recommender/data/movies.ndjson people/7.json tv/more.json", "no field of those besides id"},
		"inside": {filepath.Join(src, "movie-recommender"), "data/movies.ndjson", "shows no kind"},
	} {
		r := find(t, Config{Sources: []string{s.root}})
		if got := strings.Join(namesOf(r), " "); got != s.want {
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

// TestPrecedenceFile: the sources that the file of an order names win, the last one over all others, and a
// field may have an order of its own.
func TestPrecedenceFile(t *testing.T) {
	dir := t.TempDir()
	src := putAll(t, dir, "a_movies.ndjson", oneMovie, "b_movies.ndjson", oneMovie, "c_movies.ndjson", oneMovie)
	file := put(t, dir, "order.toml", "order = [\"c_*\", \"a_*\"]\n[fields]\n\"movie.title\" = [\"a_*\", \"b_*\"]\n")
	p, err := ReadPrecedence(file)
	if err != nil {
		t.Fatal(err)
	}
	l := find(t, Config{Sources: src, Precedence: p}).list
	if got, want := l.sources, []merge.Source{{Name: "b_movies.ndjson", Path: src[1]}, {Name: "c_movies.ndjson", Path: src[2]}, {Name: "a_movies.ndjson", Path: src[0]}}; !slices.Equal(got, want) {
		t.Errorf("from weak to strong: %q, want %q", got, want)
	}
	if got, want := l.ranks(fragment.KindMovie)["title"], []int{2, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("ranks for the title = %v, want %v", got, want)
	}
	if len(l.ranks(fragment.KindTV)) > 0 {
		t.Error("an order for fields of series, want none")
	}
	for text, want := range map[string]string{
		`order = ["[a"]`:                     `order: "[a" is no name or pattern of a source`,
		"[fields]\n\"movie.name\" = [\"a\"]": "movie.name: movie records have no field name",
		"[fields]\n\"films.title\" = []":     "films.title: want kind.field, for instance movie.title or *.popularity",
	} {
		p := put(t, dir, "bad.toml", text)
		if _, err := ReadPrecedence(p); err == nil || err.Error() != "precedence "+p+": "+want {
			t.Errorf("ReadPrecedence(%q): %v, want %s", text, err, want)
		}
	}
}

// TestReplayedFiles: the rows of a quarantine are files again, one for each file that they came from, with
// its name and layout; a row of which only a part was kept is left out.
func TestReplayedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.ndjson")
	w := report.NewQuarantine(path)
	for n, e := range []report.BadRow{
		{File: "movies.ndjson", Kind: "movie", Layout: layout.TMDB, Raw: report.RawOf([]byte("{\n\"id\":1}"), 0)},
		{File: "films.csv", Layout: layout.TMDB, Kind: "movie", Table: true, Header: "id,title", Raw: report.RawOf([]byte("2,B"), 0)},
		{File: "movies.ndjson", Kind: "movie", Layout: layout.TMDB, Raw: report.RawOf([]byte(`{"id":3}`), 0)},
		{File: "movies.ndjson", Kind: "movie", Layout: layout.TMDB, Raw: report.RawOf([]byte(`{"id":4`), 1<<30)},
	} {
		e.Row = int64(n + 1)
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := find(t, Config{Sources: []string{path}, Replay: true})
	l := r.list
	if got, want := namesOf(r), []string{"movies.ndjson", "films.csv"}; !slices.Equal(got, want) {
		t.Fatalf("files %q, want %q", got, want)
	}
	for n, want := range []string{"{\"id\":1}\n{\"id\":3}\n", "id,title\n2,B\n"} {
		in := &l.inputs[n]
		if b, err := os.ReadFile(in.Path); err != nil || string(b) != want || in.Kind != "movie" || in.layout != layout.TMDB {
			t.Errorf("%s holds %q, %v, kind %q, layout %q, want %q", in.Name, b, err, in.Kind, in.layout, want)
		}
	}
	if len(l.skipped) != 1 || l.skipped[0].Name != "movies.ndjson: row 4" {
		t.Errorf("skipped %+v, want the row that was cut", l.skipped)
	}
}
