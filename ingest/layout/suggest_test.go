package layout

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// TestSuggest: the mapping that is suggested for an unknown table is one, reads the rows
// that it was made of, and has the lines that a person would write.
func TestSuggest(t *testing.T) {
	f := func(base, kind string, rows []string, want ...string) *Mapping {
		t.Helper()
		text := Suggest("dir/"+base+".csv", base, kind, rows)
		m, err := ParseMapping("m.toml", []byte(text))
		if err != nil {
			t.Fatalf("ParseMapping(%s) = %v", text, err)
		}
		l := newReader(Tables, Options{Mappings: []*Mapping{m}})
		for _, row := range rows {
			recs, err := l.Records(Row{File: base, JSON: row, Table: true})
			if err != nil || len(recs) == 0 {
				t.Errorf("Records(%s) = %v, %v in\n%s", row, described(recs), err, text)
			}
		}
		for _, line := range want {
			if !strings.Contains(text, line+"\n") {
				t.Errorf("Suggest(%s) =\n%s\nwant the line %s", base, text, line)
			}
		}
		return m
	}
	f("titles", "", []string{
		`{"show_id":"s1","type":"Movie","title":"Quiet Harbor","director":"Ann Bell","cast":"Tom Reed, Lia Park","country":"United States","release_year":"2020","duration":"90 min","listed_in":"Dramas, Quiet Movies"}`,
		`{"show_id":"s2","type":"TV Show","title":"Sand","director":"","cast":"","country":"Japan","release_year":"2021","duration":"2 Seasons","listed_in":"Kids"}`,
	},
		`where = 'type == "Movie"'`, `where = 'type == "TV Show"'`, `mint = ["title", "year"]  # an id made of title and year: no row has TMDB's`,
		`runtime = 'trimSuffix(duration, " min", " mins", " minutes", " min.", "min")'`, `first_air_date = 'date(release_year, "YYYY")'`,
		`credits.cast = 'names(cast, "person", {separator: ", "})'`, `each = 'split(director, ", ")'`,
		`genres = 'names(listed_in, "genre")'`, `  { column = "show_id", note = "no field found" },  # such as "s1"`)
	f("movies", "movie", []string{`{"movieId":"1","title":"Glass, The (1995)","genres":"Drama|Children"}`},
		`title = 'title(title, "The", "A", "An")'`, `release_date = 'year(title)'`,
		`  { column = "movieId", note = "no field found" },  # such as "1"`)
	f("films*", "", []string{
		`{"tmdb_id":7,"Name":"A","Released":"30-Mar-21","genres":["Drama"],"langs":"en|fr","poster":"https://image.tmdb.org/t/p/w500/a.jpg","vote_average":7.5,"budget":"12","imdb":"tt0000001"}`,
		`{"tmdb_id":8,"Name":"B","Released":"Jun 2 1998","genres":null,"langs":"en","poster":"/b.jpg","vote_average":null,"budget":"x","imdb":"2"}`,
	},
		`files = ["films\\*"]`, `id = 'tmdb_id'`, `imdb_id = 'imdb(imdb)'`,
		`release_date = 'date(Released, "MMM D YYYY", "D-MMM-YY")'`,
		`spoken_languages = 'names(langs, "language")'`, `poster_path = 'trimPrefix(poster, "https://image.tmdb.org/t/p/w500")'`,
		`vote_average = 'vote_average'`, `  { column = "budget", note = "no field found" },  # such as "12"`)
	f("actors", "person", []string{`{"id":"5","name":"A","birthday":"1970-01-01","x\"y":"1"}`}, `id = 'id'  # if these are TMDB's numbers; if not, ignore the column and mint ids: see the document`,
		`birthday = 'birthday'`, `  { column = "x\"y", note = "no field found" },  # such as "1"`)
	f("shows", "tv", []string{`{"Title":"A","Year":"2001","Producers":"['Lia Park', 'Ed Moss']"}`}, `each = 'split(Producers, ", ")'`)
	f("top", "", []string{`{"imdb_id":"tt0000001","title":"A","date":"1/2/1999"}`}, `mint = ["imdb_id"]  # where no other record has the same imdb_id`,
		`release_date = 'date(date, "M/D/YYYY")'  # or D/M/YYYY: the rows fit both`)
}

// TestSuggestUnchanged: tables as programs and people of several countries write them go in by the mapping that is suggested.
func TestSuggestUnchanged(t *testing.T) {
	f := func(base string, rows []string, want ...string) {
		t.Helper()
		text := Suggest(base+".csv", base, "", rows)
		m, err := ParseMapping("m.toml", []byte(text))
		if err != nil {
			t.Fatalf("ParseMapping(%s) = %v", text, err)
		}
		l := newReader(Tables, Options{Mappings: []*Mapping{m}})
		var got []string
		for _, row := range rows {
			recs, err := l.Records(Row{File: base, JSON: row, Table: true, Texts: true})
			if err != nil || len(recs) == 0 {
				t.Errorf("Records(%s) = %v, %v in\n%s", row, described(recs), err, text)
				continue
			}
			_, record, _ := strings.Cut(described(recs)[0], "{")
			got = append(got, "{"+record)
		}
		if !slices.Equal(got, want) {
			t.Errorf("by\n%s\n%s\nwant\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	f("filme", []string{
		`{"id":"1","Titel":"Amélie","Kinostart":"25.04.2001","Bewertung":"7,9","Einspielergebnis":"10.000.000","Laufzeit":"122 min","Genres":"Comedy;Romance"}`,
		`{"id":"2","Titel":"Köln","Kinostart":"01.02.1999","Bewertung":"6,5","Einspielergebnis":"1,5 Mio","Laufzeit":"90 min","Genres":"-"}`,
	}, `{"genres":[{"id":35,"name":"Comedy"},{"id":10749,"name":"Romance"}],"id":1,"release_date":"2001-04-25","revenue":10000000,"runtime":122,"title":"Amélie","vote_average":7.9}`,
		`{"id":2,"release_date":"1999-02-01","revenue":1500000,"runtime":90,"title":"Köln","vote_average":6.5}`)
	f("films", []string{`{"id":"1","Titre":"A","Date de sortie":"25/04/2001","Note":"3,412","Recettes":"10 000 000"}`},
		`{"id":1,"release_date":"2001-04-25","revenue":10000000,"title":"A","vote_average":3.412}`)
	f("movies", []string{`{"tmdb":"1","Series_Title":"A","Released_Year":"1999","IMDB_Rating":"9.3","No_of_Votes":"2343110","Gross":"28,341,469","Runtime (mins)":"142"}`},
		`{"id":1,"release_date":"1999-01-01","revenue":28341469,"runtime":142,"title":"A","vote_average":9.3,"vote_count":2343110}`)
	f("862", []string{
		`{"tconst":"tt0000101","primaryTitle":"Alpha","startYear":"1999","genres":"Drama,Crime","runtimeMinutes":"100"}`,
		`{"tconst":"tt0000102","primaryTitle":"Beta","startYear":"\\N","genres":"\\N","runtimeMinutes":"\\N"}`,
	},
		`{"genres":[{"id":18,"name":"Drama"},{"id":80,"name":"Crime"}],"id":`+mintedOf("tt0000101")+`,"imdb_id":"tt0000101","release_date":"1999-01-01","runtime":100,"title":"Alpha"}`,
		`{"id":`+mintedOf("tt0000102")+`,"imdb_id":"tt0000102","title":"Beta"}`)
	f("g_movies", []string{`{"id":"900021","title":"A","genre_ids":"[18, 35]","rating":"7.1"}`},
		`{"genres":[{"id":18,"name":"Drama"},{"id":35,"name":"Comedy"}],"id":900021,"title":"A","vote_average":7.1}`)
	f("people_movies", []string{`{"Title":"A","Year":"2001","Actors":"['Ann Bell', 'Tom Reed']","Directors":"['Lia Park']"}`},
		`{"id":`+mintedOf("A", "2001")+`,"release_date":"2001-01-01","title":"A","credits":{"cast":[{"id":`+mintedPerson("Ann Bell")+`,"name":"Ann Bell","order":0},{"id":`+mintedPerson("Tom Reed")+`,"name":"Tom Reed","order":1}]}}`)
}

func mintedOf(parts ...string) string {
	for i := range parts {
		parts[i] = Folded(parts[i])
	}
	id, _ := mintID(fragment.KindMovie, parts)
	return fmt.Sprint(id)
}

func mintedPerson(name string) string {
	id, _ := mintID(fragment.KindPerson, []string{Folded(name)})
	return fmt.Sprint(id)
}

// TestSuggestIDs: IMDb's ids count under any name, so that films of one title stay apart.
func TestSuggestIDs(t *testing.T) {
	rows := []string{`{"film":"Alpha","film_id":"tt0000101"}`, `{"film":"Beta","film_id":"tt0000102"}`, `{"film":"Alpha","film_id":"tt0000103"}`}
	text := Suggest("movies.csv", "movies", "", rows)
	for _, want := range []string{`imdb_id = 'imdb(film_id)'`, `mint = ["imdb_id"]`} {
		if !strings.Contains(text, want) {
			t.Errorf("Suggest() = %s, want %s", text, want)
		}
	}
	people := Suggest("people.csv", "people", "person", []string{`{"nconst":"nm0000093","primaryName":"Brad Pitt"}`})
	for _, want := range []string{"imdb_id = 'nconst'", `mint = ["imdb_id"]`, "name = 'primaryName'"} {
		if !strings.Contains(people, want) {
			t.Errorf("Suggest() = %s, want %s", people, want)
		}
	}
	if text := Suggest("movies.csv", "movies", "", append(rows, `{"film":"C","film_id":"7"}`)); strings.Contains(text, "imdb") {
		t.Errorf("Suggest() of a column that has other ids too = %s", text)
	}
}

// TestSuggestCast: people without ids are not taken for the cast.
func TestSuggestCast(t *testing.T) {
	for cast, want := range map[string]bool{`[{"name":"A","character":"B"}]`: false, `[{"id":5,"name":"A","character":"B"}]`: true} {
		text := Suggest("films.ndjson", "films", "movie", []string{`{"tmdb":7,"title":"T","cast":` + cast + `}`})
		if strings.Contains(text, `credits.cast = `) != want {
			t.Errorf("Suggest() of the cast %s = %s, want it taken: %v", cast, text, want)
		}
	}
}

// TestSuggestTitleYear: only titles that mostly have a year are read as days.
func TestSuggestTitleYear(t *testing.T) {
	for row, want := range map[string]bool{`{"id":"1","title":"A (1995)"}`: true, `{"id":"1","title":"A"}`: false} {
		if text := Suggest("t.csv", "t", "movie", []string{row}); strings.Contains(text, `year(title)`) != want {
			t.Errorf("Suggest(%s) = %s, want the year of the title: %v", row, text, want)
		}
	}
}

// TestSuggestOddTitle: a number for a title is its text.
func TestSuggestOddTitle(t *testing.T) {
	text := Suggest("t.csv", "t", "movie", []string{`{"id":1,"film":"A"}`, `{"id":2,"film":7}`})
	if want := `title = 'film'`; !strings.Contains(text, want) {
		t.Errorf("Suggest() = %s, want %s", text, want)
	}
}

// TestSuggestMissing: where no column tells what rows are about, the mapping says so, and
// is refused with what is missing.
func TestSuggestMissing(t *testing.T) {
	for row, want := range map[string]string{
		`{"dear":"reader"}`:      "table t: record 1: fields: want a field, found none",
		`{"overview":"A story"}`: "table t: record 1: field title: want an expression, such as the name of a column, found nothing",
	} {
		text := Suggest("t.csv", "t", "", []string{row})
		if !strings.Contains(text, "# No column was taken for an id or a title: ") {
			t.Errorf("Suggest(%s) = %s, want what is missing", row, text)
		}
		if _, err := ParseMapping("m.toml", []byte(text)); err == nil || err.Error() != "mapping m.toml: "+want {
			t.Errorf("ParseMapping(%s) = %v, want %s", text, err, want)
		}
	}
}

// missing is what a suggested mapping may lack.
var missing = regexp.MustCompile(`^mapping m.toml: table .*: record \d+: (fields: want a field, found none|no column is the field .*|field (title|name): want an expression, such as the name of a column, found nothing)$`)

// FuzzSuggest: for any table there is a mapping that can be read, or that is refused for
// the lack of a column alone.
func FuzzSuggest(f *testing.F) {
	for _, row := range []string{
		`{"movieId":"1","title":"A (1995)","genres":"Drama|Heimat"}`, `{"type":"Movie","title":"A","cast":"B, C","director":"D"}`,
		`{"id":[1],"name":{"a":1},"poster":"/a","date":"1/2/99","a\nb":"\u0000"}`, `{"imdb":"tt1","duration":"9 min","year":"1999.0"}`,
	} {
		f.Add("t", row)
	}
	f.Add("\x7f*", `{"\x7f":"\u007f","title":"A"}`)
	f.Add("t", "{\"type\":\"Movie\",\"title\":\"A\",\"\x7f#cast\":\"B, C\",\"director\":\"D\"}")
	f.Fuzz(func(t *testing.T, base, row string) {
		if len(row) > 1<<12 || strings.TrimSpace(base) == "" || !utf8.ValidString(base) || !utf8.ValidString(row) || !json.Valid([]byte(row)) {
			return
		}
		text := Suggest(base+".csv", base, "", []string{row})
		m, err := ParseMapping("m.toml", []byte(text))
		if err != nil {
			if !missing.MatchString(err.Error()) {
				t.Fatalf("ParseMapping(%s) = %v", text, err)
			}
			return
		}
		l := newReader(Tables, Options{Mappings: []*Mapping{m}})
		_, _ = l.Records(Row{File: base, JSON: row, Table: true}) // panics at nothing
	})
}
