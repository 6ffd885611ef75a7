package input

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/quarantine"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// put writes files and returns their paths, in the order given.
func put(t *testing.T, dir string, files ...string) (paths []string) {
	t.Helper()
	for n := 0; n < len(files); n += 2 {
		p := filepath.Join(dir, files[n])
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(files[n+1]), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, p)
	}
	return paths
}

func options(sources ...string) *Options {
	return &Options{Sources: sources, Layout: layout.Auto, Log: slog.New(slog.DiscardHandler)}
}

func names(l *List) (out []string) {
	for n := range l.Inputs {
		out = append(out, l.Inputs[n].Name)
	}
	return out
}

const (
	basics = "tconst\ttitleType\tprimaryTitle\toriginalTitle\tisAdult\tstartYear\tendYear\truntimeMinutes\tgenres\ntt1\tmovie\tA\tA\t0\t1990\t\\N\t1\tDrama\n"
	movie  = `{"id":1,"title":"A"}` + "\n"
)

// TestFind: files are read in turns, those that look up ids last, and keep the numbers of the command
// line; a file without records is left out with its reason.
func TestFind(t *testing.T) {
	src := put(t, t.TempDir(), "title.basics.tsv", basics, "unknown.ndjson", `{"a":1}`+"\n", "movies.ndjson", movie, "people.ndjson", `{"id":2,"name":"B"}`+"\n")
	l, err := Find(t.Context(), options(src...))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := names(l), []string{"movies.ndjson", "people.ndjson", "title.basics.tsv"}; !slices.Equal(got, want) {
		t.Errorf("read in the order %q, want %q", got, want)
	}
	if in := l.Inputs[2]; in.Number != 0 || in.Turn() != TurnIMDb || l.Of(2).Name != "movies.ndjson" || l.Name(3) != "people.ndjson" {
		t.Errorf("inputs = %+v, want the numbers of the command line", l.Inputs)
	}
	if len(l.Skipped) != 1 || l.Skipped[0].Name != "unknown.ndjson" || !strings.Contains(l.Skipped[0].Reason, "--explain") {
		t.Errorf("skipped %+v, want unknown.ndjson with advice", l.Skipped)
	}
	if _, err := Find(t.Context(), options(src[1])); err == nil || !strings.HasPrefix(err.Error(), "unknown.ndjson: ") {
		t.Errorf("Find of a file without records: %v, want an error that names it", err)
	}
}

// TestForeignRows: neither the name of a folder above a file nor a word of its own makes records of rows
// that have nothing of that kind.
func TestForeignRows(t *testing.T) {
	const users, genres = `[{"id":1,"name":"Bob","email":"bob@example.org"}]`, `[{"id":28,"name":"Action"}]`
	src := t.TempDir()
	put(t, src, "movie-recommender/data/movies.ndjson", movie, "movie-recommender/data/users.json", users, "movie-recommender/data/genres.json", genres,
		"tv-tracker/users.json", users, "account-service/config.json", `{"id":1,"name":"x"}`,
		"tv/users.json", users, "tv/genres.json", genres, "tv/more.json", `[{"id":4,"name":"A","overview":"B"}]`,
		"movie_genres.json", genres, "keywords/all.json", `[{"id":5,"name":"heist"}]`, "people/7.json", `{"id":7,"name":"C"}`, "movie/gone.ndjson", `{"id":8,"_deleted":true}`)
	for name, s := range map[string]struct{ root, want, reason string }{
		"above":  {src, "keywords/all.json movie/gone.ndjson movie-recommender/data/movies.ndjson people/7.json tv/more.json", "no field of those besides id"},
		"inside": {filepath.Join(src, "movie-recommender"), "data/movies.ndjson", "shows no kind"},
	} {
		l, err := Find(t.Context(), options(s.root))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(names(l), " "); got != s.want {
			t.Errorf("%s: read %s, want %s", name, got, s.want)
		}
		reasons := ""
		for _, skipped := range l.Skipped {
			reasons += skipped.String() + "\n"
		}
		if !strings.Contains(reasons, s.reason) {
			t.Errorf("%s: skipped for\n%swant %q among the reasons", name, reasons, s.reason)
		}
	}
}

// TestPrecedence: the sources that the file of an order names win, the last one over all others, and a
// field may have an order of its own.
func TestPrecedence(t *testing.T) {
	dir := t.TempDir()
	src := put(t, dir, "a_movies.ndjson", movie, "b_movies.ndjson", movie, "c_movies.ndjson", movie)
	file := put(t, dir, "order.toml", "order = [\"c_*\", \"a_*\"]\n[fields]\n\"movie.title\" = [\"a_*\", \"b_*\"]\n")[0]
	o := options(src...)
	var err error
	if o.Precedence, err = ReadPrecedence(file); err != nil {
		t.Fatal(err)
	}
	l, err := Find(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"b_movies.ndjson", "c_movies.ndjson", "a_movies.ndjson"}; !slices.Equal(l.Names, want) {
		t.Errorf("from weak to strong: %q, want %q", l.Names, want)
	}
	if got, want := o.Precedence.Ranks(fragment.KindMovie, l)["title"], []int{2, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("ranks for the title = %v, want %v", got, want)
	}
	if o.Precedence.Ranks(fragment.KindTV, l) != nil {
		t.Error("an order for fields of series, want none")
	}
	for text, want := range map[string]string{
		`order = ["[a"]`:                     `order: "[a" is no name or pattern of a source`,
		"[fields]\n\"movie.name\" = [\"a\"]": "movie.name: movie records have no field name",
		"[fields]\n\"films.title\" = []":     "films.title: want kind.field, for instance movie.title or *.popularity",
	} {
		p := put(t, dir, "bad.toml", text)[0]
		if _, err := ReadPrecedence(p); err == nil || err.Error() != "precedence "+p+": "+want {
			t.Errorf("ReadPrecedence(%q): %v, want %s", text, err, want)
		}
	}
}

// TestReplay: the rows of a quarantine are files again, one for each file that they came from, with
// its name and layout; a row of which only a part was kept is left out.
func TestReplay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.ndjson")
	w := quarantine.New(path)
	for n, e := range []quarantine.Entry{
		{File: "movies.ndjson", Kind: "movie", Layout: layout.TMDB, Raw: quarantine.RawOf([]byte("{\n\"id\":1}"), 0)},
		{File: "films.csv", Layout: layout.TMDB, Kind: "movie", Table: true, Header: "id,title", Raw: quarantine.RawOf([]byte("2,B"), 0)},
		{File: "movies.ndjson", Kind: "movie", Layout: layout.TMDB, Raw: quarantine.RawOf([]byte(`{"id":3}`), 0)},
		{File: "movies.ndjson", Kind: "movie", Layout: layout.TMDB, Raw: quarantine.RawOf([]byte(`{"id":4`), 1<<30)},
	} {
		e.Row = int64(n + 1)
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	o := options(path)
	o.ReplayDir = filepath.Join(t.TempDir(), "replay")
	l, err := Find(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := names(l), []string{"movies.ndjson", "films.csv"}; !slices.Equal(got, want) {
		t.Fatalf("files %q, want %q", got, want)
	}
	for n, want := range []string{"{\"id\":1}\n{\"id\":3}\n", "id,title\n2,B\n"} {
		in := &l.Inputs[n]
		if b, err := os.ReadFile(in.Path); err != nil || string(b) != want || in.Kind != "movie" || in.Layout != layout.TMDB {
			t.Errorf("%s holds %q, %v, kind %q, layout %q, want %q", in.Name, b, err, in.Kind, in.Layout, want)
		}
	}
	if len(l.Skipped) != 1 || l.Skipped[0].Name != "movies.ndjson: row 4" {
		t.Errorf("skipped %+v, want the row that was cut", l.Skipped)
	}
}
