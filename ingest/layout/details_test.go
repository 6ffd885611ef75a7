package layout

import (
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/catalog"
)

// wholeMovie has all fields that details of all years have.
const wholeMovie = `"adult":false,"backdrop_path":null,"belongs_to_collection":null,"budget":1,"genres":[{"id":18,"name":"Drama"}],` +
	`"homepage":"","id":550,"imdb_id":"tt0137523","original_title":"Fight Club","overview":"o","popularity":1.5,"poster_path":"/p.jpg",` +
	`"production_companies":[],"production_countries":[],"release_date":"1999-10-15","revenue":1,"runtime":139,"spoken_languages":[],` +
	`"status":"Released","tagline":"t","title":"Fight Club","vote_average":8.4,"vote_count":1`

// TestDetails: whether a record is marked as complete details depends on the layout of its row, not on the row's fields.
func TestDetails(t *testing.T) {
	f := func(layout string, row Row, want bool) {
		t.Helper()
		l := newReader(layout, Options{})
		if row.Type == nil {
			row.Type = kind("movie")
		}
		recs, err := l.Records(row)
		if err != nil || len(recs) == 0 {
			t.Fatalf("Records(%s) = %v, %v", row.JSON, recs, err)
		}
		last := recs[len(recs)-1]
		if got := last.Type.HasDetails(last.Record); got != want {
			t.Errorf("layout %s: %s is a details answer: %v, want %v", layout, row.JSON, got, want)
		}
	}
	whole := "{" + wholeMovie + "}"
	// Responses of any year, alone or appended, in any language.
	f(TMDB, Row{JSON: whole}, true)
	f(TMDB, Row{JSON: "{" + wholeMovie + `,"softcore":false,"credits":{"cast":[]}}`}, true)
	season := `"season/1":{"air_date":null,"episodes":[],"id":7,"name":"N","overview":"","poster_path":null,"season_number":1}`
	f(TMDB, Row{Type: kind("tv"), JSON: `{"id":5,` + season + `}`}, true)
	f(TMDB, Row{Type: kind("tv"), JSON: `{"id":5,` + season + `}`, Table: true}, false)
	// Parts of responses: rows of lists, sub-requests, partial rows.
	f(TMDB, Row{JSON: strings.Replace(whole, `"belongs_to_collection":null,`, "", 1)}, false)
	f(TMDB, Row{JSON: `{"id":550,"title":"A","genre_ids":[18]}`}, false)
	f(TMDB, Row{JSON: `{"id":550,"cast":[]}`, ID: 550, Sub: "credits"}, false)
	// Rows of tables, whatever their fields. Rows of the catalogue have the mark.
	f(TMDB, Row{JSON: whole, Table: true}, false)
	f(TMDB, Row{JSON: whole, Table: true, Texts: true}, false)
	f(TMDB, Row{JSON: `{"id":550,"title":"A","` + catalog.DetailsColumn + `":true}`, Table: true}, true)
	f(kaggle, Row{File: "TMDB_movie_dataset_v11", Table: true, Texts: true, JSON: `{"id":"550","title":"Fight Club","vote_average":"8.4","vote_count":"1",` +
		`"status":"Released","release_date":"1999-10-15","revenue":"1","runtime":"139","adult":"False","backdrop_path":"/b.jpg","budget":"1","homepage":"",` +
		`"imdb_id":"tt0137523","original_language":"en","original_title":"Fight Club","overview":"o","popularity":"1.5","poster_path":"/p.jpg",` +
		`"tagline":"t","genres":"Drama","production_companies":"Fox","production_countries":"United States of America","spoken_languages":"English"}`}, false)
	f(movnix, Row{JSON: `{"movie":{"tmdbId":550,"title":"A"},"watchProviders":{}}`}, false)
	// A table whose cells are responses.
	f(kaggle, Row{File: "movies", Texts: true, JSON: `{"movies":"{'details': ` + strings.NewReplacer(`"`, `'`, "null", "None", "false", "False").Replace(whole) +
		`}","credits":"{'cast': []}","reviews":"[]"}`}, true)
}
