package ingest

import (
	"slices"
	"strings"
	"testing"
)

// TestMovieLens: the published MovieLens tables give titles, years and genres with TMDB's IDs. Tables with some of the columns
// do not match.
func TestMovieLens(t *testing.T) {
	const movies = "movieId,title,genres\n1,Toy Story (1995),Animation|Comedy\n2,\"American President, The (1995)\",Drama|Romance\n3,Unknown,(no genres listed)\n4,Lost (2001),Drama\n"
	const links = "movieId,imdbId,tmdbId\n1,0114709,862\n2,0112346,9087\n3,0000001,\n"
	src := t.TempDir()
	put(t, src, "ml/movies.csv.gz", gz(t, movies))
	put(t, src, "ml/links.csv", links)
	put(t, src, "ml/ratings.csv", "userId,movieId,rating,timestamp\n1,1,4.0,964982703\n")
	put(t, src, "other/links.csv", strings.ReplaceAll(links, "862", "1"))
	dir := t.TempDir()
	r := ingestInto(t, dir, Config{Sources: []string{src}})
	want := []string{
		`{"genres":[{"id":16,"name":"Animation"},{"id":35,"name":"Comedy"}],"id":862,"imdb_id":"tt0114709","release_date":"1995-01-01","title":"Toy Story"}`,
		`{"genres":[{"id":18,"name":"Drama"},{"id":10749,"name":"Romance"}],"id":9087,"imdb_id":"tt0112346","release_date":"1995-01-01","title":"The American President"}`,
	}
	if got := records(t, dir); r.Quarantined != 0 || len(got) != 3 || !slices.Equal(got[1:], want) {
		t.Errorf("%d rows in quarantine, records\n%s\nwant another and\n%s", r.Quarantined, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	e, err := Explain(t.Context(), Config{Sources: []string{src + "/ml"}})
	if err != nil || len(e.Files) < 2 || e.Files[1].Table != "movielens" {
		t.Errorf("Explain = %+v, %v, want the joined table", e, err)
	}
	if _, err := Run(t.Context(), Config{Catalog: t.TempDir(), Sources: []string{put(t, t.TempDir(), "films.csv", movies)}}); err == nil || !strings.Contains(err.Error(), "want links.csv") {
		t.Errorf("Run = %v, want links.csv asked for", err)
	}
	own := put(t, t.TempDir(), "films.csv", "movieId,title,genres,year,imdb_id\n1,Alpha,Drama,1999,tt0000101\n")
	if e, err = Explain(t.Context(), Config{Sources: []string{own}}); err != nil || strings.Contains(e.Files[0].Problem, "the IDs are MovieLens's") || e.Files[0].Suggested == "" {
		t.Errorf("Explain = %+v, %v, want a draft for a table of one's own", e, err)
	}
}
