package layout

import (
	"slices"
	"testing"
)

// TestNear: a file that misses a table by little is told by what; other files are not.
func TestNear(t *testing.T) {
	shop, err := ParseMapping("shop.toml", []byte(`[[table]]
files = ["films*"]
requires = ["nr", "name", "year"]

[[table.record]]
kind = "movie"
[table.record.fields]
id = 'nr'
title = 'name'

[[table]]
name = "cast"
requires = ["film", "who"]
exact = true

[[table.record]]
kind = "movie"
part = true
[table.record.fields]
id = 'film'
title = 'who'
`))
	if err != nil {
		t.Fatal(err)
	}
	f := func(file, row, want string) {
		t.Helper()
		if got := Near(file, []byte(row), Options{Mappings: []*Mapping{shop}}); got != want {
			t.Errorf("Near(%s, %.60s) = %q, want %q", file, row, got, want)
		}
	}
	f("films_2", `{"nr":1,"name":"A"}`, `nearest is table films* of shop.toml: want column "year"`)
	f("films_2", `{"no":1}`, `nearest is table films* of shop.toml: want columns "nr", "name", "year"`)
	f("Filme", `{"nr":1,"name":"A","year":2}`, `nearest is table films* of shop.toml: want a file named "films*"`)
	f("Filme", `{"nr":1,"name":"A"}`, `nearest is table films* of shop.toml: want a file named "films*" and column "year"`)
	f("x", `{"film":1}`, `nearest is table cast of shop.toml: want column "who"`)
	f("x", `{"film":1,"who":"A","age":3}`, `nearest is table cast of shop.toml: want no column "age"`)
	f("x", `{"nr":1}`, "")
	f("x", `{"film":1,"a":1,"b":2,"c":3}`, "")

	// Tables that come with the program must be nearer, and are no answers of the API.
	const v11 = `{"id":"1","title":"A","vote_average":"1","status":"x","adult":"x","backdrop_path":"x","poster_path":"x","genres":"A, B",` +
		`"production_companies":"x","production_countries":"x","spoken_languages":"x"}`
	f("x", v11, `nearest is table tmdb_movie_dataset of tmdb-v11.toml: want column "imdb_id"`)
	f("credits", `{"movie_id":"1","title":"A","cast":"[]"}`, `nearest is table tmdb_5000_credits of tmdb-5000.toml: want column "crew"`)
	f("x", `{"id":"1","title":"A"}`, "")
	f("x", `{"id":1,"title":"A","vote_average":1,"status":"x","adult":true,"backdrop_path":"x","poster_path":"x","genres":[{"id":1}],`+
		`"production_companies":[],"production_countries":[],"spoken_languages":[]}`, "")

	no := Skip(Kaggle, "x", []byte(v11), Options{})
	if want := `layout kaggle: no mapping is of a table "x" with these columns; nearest is table tmdb_movie_dataset of tmdb-v11.toml: want column "imdb_id"`; no != want {
		t.Errorf("Skip as kaggle = %q, want %q", no, want)
	}
}

// TestKindsOf: the kinds of a row are those that know most of it.
func TestKindsOf(t *testing.T) {
	f := func(row, why string, want ...string) {
		t.Helper()
		got, err := KindsOf(Row{JSON: row}, Options{})
		if !slices.Equal(got, want) || (err == nil) != (why == "") || err != nil && err.Error() != why {
			t.Errorf("KindsOf(%s) = %q, %v, want %q, %s", row, got, err, want, why)
		}
	}
	f(`{"id":1,"title":"A","runtime":5}`, "", "movie")
	f(`{"id":1,"name":"A","birthday":"1990-01-01"}`, "", "person")
	f(`{"id":1,"title":"A","a":1,"b":2,"c":3}`, "most of its columns are unknown")
	f(`{"title":"A"}`, "id: want an integer, found nothing")
	f(`{"id":"x","title":"A"}`, `id: want an integer, found "x"`)
}
