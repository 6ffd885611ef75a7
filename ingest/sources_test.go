package ingest

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const (
	basics     = "tconst\ttitleType\tprimaryTitle\toriginalTitle\tisAdult\tstartYear\tendYear\truntimeMinutes\tgenres\n"
	ratings    = "tconst\taverageRating\tnumVotes\n"
	principals = "tconst\tordering\tnconst\tcategory\tjob\tcharacters\n"
	names      = "nconst\tprimaryName\tbirthYear\tdeathYear\tprimaryProfession\tknownForTitles\n"
)

// imdbTablesIn writes tables of IMDb.
func imdbTablesIn(t *testing.T, dir string) {
	t.Helper()
	put(t, dir, "title.basics.tsv", basics+
		"tt0137523\tmovie\tFight Club\tFight Club\t0\t1999\t\\N\t139\tDrama\n"+
		"tt0000009\tmovie\tOnly Here\tNur hier\t0\t\\N\t\\N\t\\N\t\\N\n"+
		"bad\tmovie\tX\tX\t0\t\\N\t\\N\t\\N\t\\N\n")
	put(t, dir, "title.ratings.tsv.gz", gz(t, ratings+"tt0137523\t8.8\t2000000\n"))
	put(t, dir, "title.principals.tsv", principals+"tt0137523\t1\tnm0000093\tactor\t\\N\t[\"Tyler\"]\n")
	put(t, dir, "name.basics.tsv", names+"nm0000093\tBrad Pitt\t1963\t\\N\tactor\ttt0137523\n")
}

// TestIMDb: IMDb's tables add to records with the same IMDb IDs, in any order of sources and from the catalogue. Other records
// get the same IDs in every ingest.
func TestIMDb(t *testing.T) {
	src := t.TempDir()
	imdbTablesIn(t, filepath.Join(src, "imdb"))
	movies := put(t, src, "tmdb/movies.ndjson", `{"id":550,"imdb_id":"tt0137523","title":"Fight Club (TMDB)"}`+"\n")
	people := put(t, src, "tmdb/people.ndjson", `{"id":287,"external_ids":{"imdb_id":"nm0000093"},"name":"Brad"}`+"\n")
	check := func(what, dir string, r Report) {
		t.Helper()
		if r.Records["movie"] != 2 || r.Records["person"] != 1 || r.Quarantined != 1 || r.Rows != 8 && r.Rows != 6 {
			t.Errorf("%s: Run = %+v", what, r)
		}
		rows := records(t, dir)
		if got := member(t, rows[0], "credits.cast"); !strings.Contains(got, `"id":287`) || !strings.Contains(got, `"character":"Tyler"`) {
			t.Errorf("%s: cast of movie 550 = %s, want person 287 as Tyler", what, got)
		}
		if got := member(t, rows[0], "vote_count"); got != "2000000" {
			t.Errorf("%s: vote_count = %s, want 2000000", what, got)
		}
		if got := member(t, rows[1], "id"); got != "1000000009" {
			t.Errorf("%s: id = %s, want 1000000009", what, got)
		}
	}
	want := t.TempDir()
	check("last", want, ingestInto(t, want, Config{Sources: []string{movies, people, filepath.Join(src, "imdb")}}))

	dir := t.TempDir()
	check("first", dir, ingestInto(t, dir, Config{Sources: []string{filepath.Join(src, "imdb"), movies, people}}))
	if got := member(t, records(t, dir)[0], "title"); got != `"Fight Club (TMDB)"` {
		t.Errorf("title = %s, want that of the later source", got)
	}

	dir = t.TempDir()
	ingestInto(t, dir, Config{Sources: []string{movies, people}})
	check("another night", dir, ingestInto(t, dir, Config{Sources: []string{filepath.Join(src, "imdb")}}))
	again := catalogBytes(t, dir)
	ingestInto(t, dir, Config{Sources: []string{filepath.Join(src, "imdb")}, Layout: "imdb"})
	if string(catalogBytes(t, dir)) != string(again) {
		t.Error("the tables once more changed the catalogue")
	}

	small := t.TempDir()
	check("in little memory", small, ingestInto(t, small, Config{Memory: 1, Sources: []string{movies, people, filepath.Join(src, "imdb")}}))
	if string(catalogBytes(t, small)) != string(catalogBytes(t, want)) {
		t.Error("little memory gives other bytes")
	}
	if _, err := Run(t.Context(), Config{Catalog: t.TempDir(), Sources: []string{movies}, Layout: "imdb"}); err == nil || !strings.Contains(err.Error(), "not a table of IMDb") {
		t.Errorf("Run of no table with layout imdb = %v", err)
	}
}

// TestJoinedNames: joined lists of companies and keywords are split by names of the catalogue and of ID exports in the same
// run, in any order of sources.
func TestJoinedNames(t *testing.T) {
	src := t.TempDir()
	table := put(t, src, "TMDB_movie_dataset_v11.csv",
		"id,title,vote_average,vote_count,status,release_date,revenue,runtime,adult,backdrop_path,budget,homepage,imdb_id,original_language,original_title,overview,popularity,poster_path,tagline,genres,production_companies,production_countries,spoken_languages,keywords\n"+
			`550,Fight Club,8.4,26280,Released,1999-10-15,100853753,139,False,,63000000,,tt0137523,en,Fight Club,,61.4,,,"Drama, Thriller","Fox 2000, Linson, Ltd.","United States of America",English,"one, two"`+"\n")
	companies := put(t, src, "production_company_ids_11_22_2026.json", `{"id":1,"name":"Fox 2000"}`+"\n"+`{"id":2,"name":"Linson, Ltd."}`+"\n")
	keywords := put(t, src, "keyword_ids_11_22_2026.json", `{"id":7,"name":"one"}`+"\n"+`{"id":8,"name":"two"}`+"\n")
	f := func(what string, want string, nights ...[]string) (r Report) {
		t.Helper()
		dir := t.TempDir()
		for _, sources := range nights {
			r = ingestInto(t, dir, Config{Sources: sources})
		}
		row := records(t, dir)[0]
		got := member(t, row, "production_companies") + " " + member(t, row, "keywords.keywords")
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
		return r
	}
	whole := `[{"id":1,"name":"Fox 2000"},{"id":2,"name":"Linson, Ltd."}] [{"id":7,"name":"one"},{"id":8,"name":"two"}]`
	f("names before", whole, []string{companies, keywords, table})
	f("names behind", whole, []string{table, companies, keywords})
	f("names of another night", whole, []string{companies, keywords}, []string{table})
	r := f("no names", " ", []string{table})
	if want := map[string]int64{"tmdb_movie_dataset.production_companies": 1, "tmdb_movie_dataset.keywords": 1}; !reflect.DeepEqual(r.Whole, want) {
		t.Errorf("Whole = %v, want %v", r.Whole, want)
	}
}

// TestMintedNames: companies known only by name get minted IDs, and TMDB's once these are known.
func TestMintedNames(t *testing.T) {
	src := t.TempDir()
	films := put(t, src, "films.csv", `nr,firms`+"\n"+`1,"[""New One""]"`+"\n")
	export := put(t, src, "production_company_ids_11_22_2026.json", `{"id":9,"name":"New One"}`+"\n")
	mapping := put(t, src, "films.toml", "[[table]]\nfiles=['films']\n[[table.record]]\nkind='movie'\nfields.id='nr'\n"+
		"fields.production_companies='names(firms, \"company\", {mint: true})'\n")
	dir := t.TempDir()
	var id string
	for _, sources := range [][]string{{films}, {films}} { // the next run finds the company of the first
		r := ingestInto(t, dir, Config{Sources: sources, Mappings: []string{mapping}})
		company := recordsOf(t, dir, "company")
		if len(company) != 1 || r.Records["company"] != 1 {
			t.Fatalf("companies %q, want one", company)
		}
		if id != "" && member(t, company[0], "id") != id {
			t.Errorf("id of the company = %s, want %s as before", member(t, company[0], "id"), id)
		}
		id = member(t, company[0], "id")
		if got := member(t, records(t, dir)[0], "production_companies"); got != `[{"id":`+id+`,"name":"New One"}]` {
			t.Errorf("production_companies = %s, want the company %s", got, id)
		}
	}
	ingestInto(t, dir, Config{Sources: []string{films, export}, Mappings: []string{mapping}})
	if got := member(t, records(t, dir)[0], "production_companies"); got != `[{"id":9,"name":"New One"}]` {
		t.Errorf("production_companies = %s, want company 9", got)
	}
}

// TestOrderOfSources: sources win in the order of the command line, field by field, whether they are files of one resource,
// tables or responses.
func TestOrderOfSources(t *testing.T) {
	src := t.TempDir()
	strong := put(t, src, "strong/movies/550.json", `{"id":550,"title":"Strong","overview":"O","popularity":1.5}`)
	weak := put(t, src, "weak/movies.csv", "id,title,vote_count\n550,Weak,7\n")
	popularity := put(t, src, "movie_ids_11_22_2026.json", `{"id":550,"popularity":9.5}`)
	f := func(want string, sources ...string) {
		t.Helper()
		dir := t.TempDir()
		ingestInto(t, dir, Config{Sources: sources})
		wantFields(t, fields(t, dir, "movie", "title", "overview", "vote_count", "popularity"), want)
	}
	f(`"Strong" "O" 7 9.5`, weak, strong, popularity)
	f(`"Weak" "O" 7 1.5`, popularity, strong, weak)
	f(`"Strong" "O" 7 1.5`, popularity, weak, strong)
}

// TestTexts: a CSV with TMDB's column names needs no mapping.
func TestTexts(t *testing.T) {
	dir := t.TempDir()
	src := put(t, t.TempDir(), "movies.csv", "id,title,release_date,adult,vote_average,genres,runtime\n"+
		`550,Fight Club,1999-10-15,False,8.4,"[{""id"":18,""name"":""Drama""}]",139`+"\n"+
		"551,X,,TRUE,,,\n552,Y,,maybe,,,\n553,Z,10/15/1999,,,,\n")
	r := ingestInto(t, dir, Config{Sources: []string{src}})
	want := []string{
		`{"adult":false,"genres":[{"id":18,"name":"Drama"}],"id":550,"release_date":"1999-10-15","runtime":139,"title":"Fight Club","vote_average":8.4}`,
		`{"adult":true,"id":551,"title":"X"}`, `{"id":552,"title":"Y"}`, `{"id":553,"title":"Z"}`,
	}
	if got := records(t, dir); !slices.Equal(got, want) {
		t.Errorf("records = %q, want %q", got, want)
	}
	if left := `[{adult 1 [movies.csv:4: want true or false, found "maybe"]} ` +
		`{release_date 1 [movies.csv:5: want YYYY-MM-DD or nothing, found "10/15/1999"]}]`; fmt.Sprint(r.LeftOut) != left || len(r.Coerced)+len(r.Bad) > 0 {
		t.Errorf("left out %v, coerced %v, bad %q, want %s", r.LeftOut, r.Coerced, r.Bad, left)
	}
	strict := ingestInto(t, t.TempDir(), Config{Sources: []string{src}, Strict: true})
	if bad := []string{
		`movies.csv:4: adult: want true or false, found "maybe"`, `movies.csv:5: release_date: want YYYY-MM-DD or nothing, found "10/15/1999"`,
	}; !slices.Equal(strict.Bad, bad) || len(strict.LeftOut) > 0 {
		t.Errorf("with strict, Bad = %q, left out %v, want %q", strict.Bad, strict.LeftOut, bad)
	}
}

// manyFiles writes n movies to one file each, and returns their folder.
func manyFiles(tb testing.TB, n int) string {
	tb.Helper()
	dir := tb.TempDir()
	for id := range n {
		put(tb, dir, fmt.Sprintf("movie/%d.json", id+1), fmt.Sprintf(`{"id":%d,"title":"T"}`, id+1))
	}
	return dir
}

// TestManyFilesBeforeIMDb: IMDb's tables are counted after any number of files.
func TestManyFilesBeforeIMDb(t *testing.T) {
	t.Parallel()
	src := manyFiles(t, 2100)
	imdbTablesIn(t, src)
	ingestInto(t, t.TempDir(), Config{Sources: []string{src}})
}
