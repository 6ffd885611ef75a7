package layout

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A draftCase is a small table as people have them.
type draftCase struct {
	name, base, kind string
	table            string // CSV, or one JSON object per line
	doubt            string // doubt of an uncertain draft; "" for a certain one
	fields           string // field by column
	lines            string // lines of the mapping
	first            string // first record of the first row; "" skips the check
}

// rowsOf returns the rows of a table as readers return them.
func rowsOf(tb testing.TB, table string) (rows []string) {
	tb.Helper()
	table = strings.TrimSpace(table)
	if table[0] == '{' {
		return strings.Split(table, "\n")
	}
	r := csv.NewReader(strings.NewReader(table))
	if strings.Count(table, ";") > strings.Count(table, ",") && !strings.Contains(strings.SplitN(table, "\n", 2)[0], ",") {
		r.Comma = ';'
	}
	all, err := r.ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	for _, cells := range all[1:] {
		row := []byte{'{'}
		for i, name := range all[0] {
			if i > 0 {
				row = append(row, ',')
			}
			row = append(record.AppendString(row, name), ':')
			if row = append(row, "null"...); cells[i] != "" {
				row = record.AppendString(row[:len(row)-len("null")], cells[i])
			}
		}
		rows = append(rows, string(append(row, '}')))
	}
	return rows
}

// applied returns the records of rows read with a draft, and the values left out.
func applied(tb testing.TB, d Draft, base string, rows []string) (recs [][]Record, left []record.LeftOut) {
	tb.Helper()
	m, err := parseMapping("m.toml", []byte(d.Text), true)
	if err != nil {
		tb.Fatalf("parseMapping(%s) = %v", d.Text, err)
	}
	if len(m.tables) == 0 {
		return make([][]Record, len(rows)), nil
	}
	o := Options{Values: &record.Values{}}
	l := (&Meaning{Layout: Tables, table: m.tables[0]}).Reader(o)
	for _, row := range rows {
		r, err := l.Records(Row{File: base, JSON: row, Table: true, Texts: true})
		if err != nil {
			tb.Errorf("Records(%s) = %v in\n%s", row, err, d.Text)
		}
		recs = append(recs, r)
	}
	return recs, o.Values.Take()
}

// TestDraft: tables of programs and people are drafted, and their rows are read with the draft.
func TestDraft(t *testing.T) {
	for _, c := range draftCases {
		t.Run(c.name, func(t *testing.T) {
			rows := rowsOf(t, c.table)
			d := NewDraft("dir/"+c.base+".csv", c.base, c.kind, rows)
			recs, left := applied(t, d, c.base, rows)
			var fields []string
			for _, col := range d.Columns {
				if col.Field != "" {
					fields = append(fields, col.Name+": "+col.Field)
				}
			}
			var want []string
			for line := range strings.Lines(c.fields) {
				want = append(want, strings.TrimSpace(line))
			}
			want = slices.DeleteFunc(want, func(line string) bool { return line == "" })
			if !slices.Equal(fields, want) {
				t.Errorf("fields:\n%s\nwant\n%s\nby\n%s", strings.Join(fields, "\n"), strings.Join(want, "\n"), d.Text)
			}
			if d.Certain != (c.doubt == "") || !strings.Contains(d.Text, c.doubt) {
				t.Errorf("Certain = %v, want the doubt %q in\n%s", d.Certain, c.doubt, d.Text)
			}
			for line := range strings.Lines(c.lines) {
				if line = strings.TrimSpace(line); line != "" && !strings.Contains(d.Text, line) {
					t.Errorf("%s\nlacks %s", d.Text, line)
				}
			}
			if c.first != "" && (len(recs[0]) == 0 || text(recs[0][0].Record) != c.first) {
				t.Errorf("first row: %v, want %s\nby %s", described(recs[0]), c.first, d.Text)
			}
			if d.Certain && len(left) > 0 {
				for _, l := range left {
					if float64(l.Count) > 0.05*float64(len(rows)) {
						t.Errorf("left out: %v by\n%s", l.First, d.Text)
					}
				}
			}
		})
	}
}

var draftCases = []draftCase{
	{
		name: "own ids", base: "films",
		table: `
id,title,year,rating,director,genre
1,Metropolis,1927,8.3,Fritz Lang,Drama
2,M,1931,8.1,Fritz Lang,Crime`,
		fields: `
title: title
year: release_date
rating: vote_average
director: credits.crew (Director)
genre: genres`,
		lines: `requires = ["title"]
mint = ["title", "year"]
{ column = "id", note = "the numbers of the rows, and not TMDB's ids" },  # such as "1"`,
		first: `{"genres":[{"id":18,"name":"Drama"}],"id":` + mintedOf("Metropolis", "1927") + `,"release_date":"1927-01-01","title":"Metropolis","vote_average":8.3}`,
	},
	{
		name: "ids of nobody known", base: "films", doubt: "the ids in film_id may be TMDB's or the table's own",
		table: `
film_id,title,year
550,Fight Club,1999
603,The Matrix,1999`,
		fields: "title: title\nyear: release_date",
		lines:  `{ column = "film_id", note = "ids of the table. If they are TMDB's, write id = 'film_id' in place of mint" },  # such as "550"`,
	},
	{
		name: "TMDB's ids beside own ones", base: "movies",
		table: `
id,tmdb_id,title,overview,created_at
1,550,Fight Club,One.,2024-01-01
2,603,The Matrix,Two.,2024-01-01`,
		fields: "tmdb_id: id\ntitle: title\noverview: overview",
		lines:  `requires = ["tmdb_id", "title"]`,
	},
	{
		name: "TMDB's ids with gaps beside MovieLens's", base: "links", doubt: "no column is the title",
		table: `
movieId,imdbId,tmdbId
1,0114709,862
3,0113228,15602
4,0114885,
6,0113277,949`,
		fields: "imdbId: imdb_id\ntmdbId: id",
		lines:  "mint = [\"imdb_id\"]",
	},
	{
		name: "names in place of objects, seconds, addresses of images", base: "movies",
		table: `
{"id":287947,"title":"Alpha Film","poster":"https://image.tmdb.org/t/p/w500/x.jpg","release_date":1553299200,"genres":["Action","Comedy"]}
{"id":"299537","title":"Beta Film","poster":"https://image.tmdb.org/t/p/w342/y.jpg","release_date":-1353888000,"genres":["Action"]}`,
		fields: "id: id\ntitle: title\nposter: poster_path\nrelease_date: release_date\ngenres: genres",
		first:  `{"genres":[{"id":28,"name":"Action"},{"id":35,"name":"Comedy"}],"id":287947,"poster_path":"/x.jpg","release_date":"2019-03-23","title":"Alpha Film"}`,
	},
	{
		name: "nested ids", base: "library",
		table: `
{"Name":"Alpha","Id":"0123456789abcdef","ProductionYear":1999,"Type":"Movie","ProviderIds":{"Tmdb":"550","Imdb":"tt0137523"}}
{"Name":"Beta","Id":"1123456789abcdef","ProductionYear":2008,"Type":"Series","ProviderIds":{"Tmdb":"1396","Tvdb":"81189"}}`,
		fields: "Name: movie.title, tv.name\nProductionYear: movie.release_date, tv.first_air_date\nType: kind\nProviderIds.Tmdb: movie.id, tv.id\nProviderIds.Imdb: movie.imdb_id\nProviderIds.Tvdb: tv.external_ids.tvdb_id",
		lines:  "id = 'ProviderIds.Tmdb'\nwhere = 'Type in [\"Movie\"]'\nwhere = 'Type in [\"Series\"]'",
	},
	{
		name: "ids below objects of objects", base: "watched",
		table: `
{"status":"completed","movie":{"title":"Alpha Nemo","year":2003,"ids":{"simkl":53080,"tmdb":"12","imdb":"tt0266543"}}}
{"status":"completed","movie":{"title":"Beta","year":2005}}`,
		fields: "movie.title: title\nmovie.year: release_date\nmovie.ids.tmdb: id\nmovie.ids.imdb: imdb_id",
		lines:  "id = 'movie.ids?.tmdb'\nmint = [\"imdb_id?\", \"title\", \"year\"]",
		first:  `{"id":12,"imdb_id":"tt0266543","release_date":"2003-01-01","title":"Alpha Nemo"}`,
	},
	{
		name: "GUIDs", base: "plex", doubt: "nothing shows whether the rows are movies or series",
		table: `
title,year,guid
Alpha,1999,tmdb://550
Beta,2001,com.plexapp.agents.themoviedb://603?lang=en`,
		fields: "title: title\nyear: release_date\nguid: id",
		lines:  "id = 'tmdb(guid)'",
	},
	{
		name: "IMDb's addresses under any name", base: "movies",
		table: `
film,page
Alpha,https://www.imdb.com/title/tt0000101/
Beta,https://www.imdb.com/title/tt0000102/?ref_=x
Alpha,https://www.imdb.com/title/tt0000103/`,
		fields: "film: title\npage: imdb_id",
		lines:  "imdb_id = 'imdb(page)'\nmint = [\"imdb_id\"]\nrequires = [\"page\", \"film\"]",
		first:  `{"id":` + mintedOf("tt0000101") + `,"imdb_id":"tt0000101","title":"Alpha"}`,
	},
	{
		name: "ids of which some are IMDb's", base: "movies", doubt: "2 of 4 cells are in columns that no field takes",
		table: `
film,film_id
Alpha,tt0000101
Beta,7`,
		fields: "film: title",
	},
	{
		name: "people by IMDb's ids", base: "people", kind: "person",
		table:  "nconst,primaryName,birthYear\nnm0000093,Brad Pitt,1963\nnm0000123,George Clooney,1961",
		fields: "nconst: imdb_id\nprimaryName: name",
		lines:  "imdb_id = 'imdb(nconst)'\nmint = [\"imdb_id\"]",
		first:  `{"id":` + mintedKind(fragment.KindPerson, "nm0000093") + `,"imdb_id":"nm0000093","name":"Brad Pitt"}`,
	},
	{
		name: "names alone", base: "actors", doubt: "names alone make no person records",
		table: "name,movies,oscar wins\nAnn Bell,12,3\nTom Reed,7,0",
	},
	{
		name: "awards", base: "oscars", doubt: "the column winner belongs to rows about something else",
		table: "year,category,film,name,winner\n1999,Best Picture,American Beauty,Bruce Cohen,True\n1999,Best Picture,The Insider,Michael Mann,False",
	},
	{
		name: "books", base: "books", doubt: "the column author belongs to rows about something else",
		table: "title,author,year,genre,rating\nEmma,Jane Austen,1815,Drama,4.1\nDracula,Bram Stoker,1897,Horror,4.2",
	},
	{
		name: "genres", base: "genres", doubt: "the names are genres",
		table: "tmdb_id,name,media\n28,Action,movie\n12,Adventure,movie",
	},
	{
		name: "ratings by users", base: "ratings", doubt: "no column is an id or a title",
		table: "userId,movieId,rating,timestamp\n1,1,4.0,964982703\n1,3,4.0,964981247",
	},
	{
		name: "catalogue of a service", base: "titles",
		table: `
show_id,type,title,director,cast,country,date_added,release_year,rating,duration,listed_in,description
s1,Movie,Quiet Harbor,Ann Bell,"Tom Reed, Lia Park",United States,"September 25, 2021",2020,PG-13,90 min,"Dramas, International Movies",A.
s2,TV Show,Sand,,"Ed Moss",Japan,"September 24, 2021",2021,TV-MA,2 Seasons,"Kids' TV, TV Dramas",B.
s3,Movie,Dust,"Ed Moss, Kay Moss",,"France, Germany","August 1, 2021",1993,R,81 Min.,Comedies,C.`,
		fields: `
type: kind
title: movie.title, tv.name
director: movie.credits.crew (Director)
cast: movie.credits.cast, tv.credits.cast
country: movie.production_countries, tv.production_countries
release_year: movie.release_date, tv.first_air_date
duration: movie.runtime, tv.number_of_seasons
listed_in: movie.genres
description: movie.overview, tv.overview`,
		lines: `where = 'type in ["Movie"]'
where = 'type in ["TV Show"]'
runtime = 'minutes(duration)'
credits.cast = 'names(cast, "person", {separator: ", "})'
each = 'split(director, ", ")'
unknown names: "International Movies"
{ column = "show_id", note = "no field found" },  # such as "s1"`,
		first: `{"genres":[{"id":18,"name":"Drama"}],"id":` + mintedOf("Quiet Harbor", "2020") + `,"overview":"A.","production_countries":[{"iso_3166_1":"US","name":"United States of America"}],` +
			`"release_date":"2020-01-01","runtime":90,"title":"Quiet Harbor","credits":{"cast":[{"id":` + mintedPerson("Tom Reed") + `,"name":"Tom Reed","order":0},{"id":` + mintedPerson("Lia Park") +
			`,"name":"Lia Park","order":1}]},"listed_in_text":["International Movies"]}`,
	},
	{
		name: "kinds in many spellings", base: "movies", kind: "movie", doubt: "rows of Title Type make no record",
		table: `
Title,Title Type,Year,Const
A,movie,2001,tt0000001
B,tvSeries,2002,tt0000002
C,TV Mini Series,2003,tt0000003
D,Film,2004,tt0000004
E,Video Game,2005,tt0000005
F,OVA,2006,tt0000006
G,tvMovie,2007,tt0000007`,
		fields: "Title: movie.title, tv.name\nTitle Type: kind\nYear: movie.release_date, tv.first_air_date\nConst: movie.imdb_id, tv.external_ids.imdb_id",
		lines:  "where = 'row[\"Title Type\"] in [\"movie\", \"Film\", \"tvMovie\"]'\nwhere = 'row[\"Title Type\"] in [\"tvSeries\", \"TV Mini Series\", \"OVA\"]'\nmake no record: \"Video Game\"",
	},
	{
		name: "one show", base: "one", kind: "movie",
		table:  "Title,Type,Year,TMDB\nBreaking Bad,TV Show,2008,1396",
		fields: "Title: name\nType: kind\nYear: first_air_date\nTMDB: id",
		first:  `{"first_air_date":"2008-01-01","id":1396,"name":"Breaking Bad"}`,
	},
	{
		name: "a list of IMDb's", base: "watchlist",
		table: `
Position,Const,Created,Modified,Description,Title,Original Title,URL,Title Type,IMDb Rating,Runtime (mins),Year,Genres,Num Votes,Release Date,Directors,Your Rating,Date Rated
1,tt0137523,2024-01-01,2024-01-01,,Fight Club,Fight Club,https://www.imdb.com/title/tt0137523/,Movie,8.8,139,1999,Drama,2400000,1999-10-15,David Fincher,9,2024-01-02
2,tt0903747,2024-01-01,2024-01-01,,Breaking Bad,Breaking Bad,https://www.imdb.com/title/tt0903747/,TV Series,9.5,,2008–2013,"Crime, Drama, Thriller",2300000,2008-01-20,,,
3,tt0000003,2024-01-01,2024-01-01,,Odd row,Odd row,https://www.imdb.com/title/tt0000003/,movie,6.5,4,1892,"Animation, Comedy, Romance",2100,1892-10-28,Emile Reynaud,,`,
		fields: `
Const: movie.imdb_id, tv.external_ids.imdb_id
Title: movie.title, tv.name
Original Title: movie.original_title, tv.original_name
Title Type: kind
IMDb Rating: movie.vote_average, tv.vote_average
Runtime (mins): movie.runtime
Genres: movie.genres, tv.genres
Num Votes: movie.vote_count, tv.vote_count
Release Date: movie.release_date, tv.first_air_date
Directors: movie.credits.crew (Director)`,
		lines: `runtime = 'row["Runtime (mins)"]'`,
	},
	{
		name: "a diary", base: "diary", doubt: "the scores of Rating may be from 0 to 5 or to 10",
		table: `
Date,Name,Year,Letterboxd URI,Rating,Tags
2024-01-03,Alien,1979,https://boxd.it/1,4.5,space
2024-02-03,Heat,1995,https://boxd.it/2,5,`,
		fields: "Name: title\nYear: release_date\nRating: vote_average\nTags: keywords.keywords",
		lines:  "vote_average = 'score(Rating, 5)'  # from 0 to 5 in the table\nor \"Date\", with other years",
		first:  `{"id":` + mintedOf("Alien", "1979") + `,"release_date":"1979-01-01","title":"Alien","vote_average":9.0,"keywords":{"keywords":[{"id":` + mintedKind(fragment.KindKeyword, "space") + `,"name":"space"}]}}`,
	},
	{
		name: "the best thousand", base: "imdb_top_1000",
		table: `
Poster_Link,Series_Title,Released_Year,Certificate,Runtime,Genre,IMDB_Rating,Overview,Meta_score,Director,Star1,Star2,No_of_Votes,Gross
https://m.media-amazon.com/a.jpg,The Shawshank Redemption,1994,A,142 min,Drama,9.3,Two men.,80,Frank Darabont,Tim Robbins,Morgan Freeman,2343110,"28,341,469"
https://m.media-amazon.com/b.jpg,The Godfather,1972,A,175 min,"Crime, Drama",9.2,A clan.,100,Francis Ford Coppola,Marlon Brando,,1620367,"134,966,411"`,
		fields: `
Series_Title: title
Released_Year: release_date
Runtime: runtime
Genre: genres
IMDB_Rating: vote_average
Overview: overview
Director: credits.crew (Director)
Star1: credits.cast
Star2: credits.cast
No_of_Votes: vote_count
Gross: revenue`,
		lines: "thousands = \",\"\ncredits.cast = 'names([Star1, Star2], \"person\", {separator: \", \"})'",
		first: `{"genres":[{"id":18,"name":"Drama"}],"id":` + mintedOf("The Shawshank Redemption", "1994") + `,"overview":"Two men.","release_date":"1994-01-01","revenue":28341469,"runtime":142,"title":"The Shawshank Redemption",` +
			`"vote_average":9.3,"vote_count":2343110,"credits":{"cast":[{"id":` + mintedPerson("Tim Robbins") + `,"name":"Tim Robbins","order":0},{"id":` + mintedPerson("Morgan Freeman") + `,"name":"Morgan Freeman","order":1}]}}`,
	},
	{
		name: "five thousand", base: "movie_metadata",
		table: `
director_name,duration,gross,genres,actor_1_name,movie_title,num_voted_users,actor_2_name,plot_keywords,movie_imdb_link,language,country,content_rating,budget,title_year,imdb_score
James Cameron,178,760505847,Action|Adventure|Sci-Fi,CCH Pounder,Avatar ,886204,Joel David Moore,avatar|future|marine,http://www.imdb.com/title/tt0499549/?ref_=fn_tt_tt_1,English,USA,PG-13,237000000,2009,7.9
Sam Mendes,148,200074175,Action|Thriller,Christoph Waltz,Spectre ,275868,Rory Kinnear,bomb|spy,http://www.imdb.com/title/tt2379713/?ref_=fn_tt_tt_1,English,UK,PG-13,245000000,2015,6.8`,
		fields: `
director_name: credits.crew (Director)
duration: runtime
gross: revenue
genres: genres
actor_1_name: credits.cast
movie_title: title
num_voted_users: vote_count
actor_2_name: credits.cast
plot_keywords: keywords.keywords
movie_imdb_link: imdb_id
language: original_language
country: production_countries
budget: budget
title_year: release_date
imdb_score: vote_average`,
		lines: "keywords.keywords = 'names(plot_keywords, \"keyword\", {separator: \"|\", mint: true})'",
	},
	{
		name: "industry", base: "movies",
		table: `
name,rating,genre,year,released,score,votes,director,writer,star,country,budget,gross,company,runtime
The Shining,R,Drama,1980,"June 13, 1980 (United States)",8.4,927000.0,Stanley Kubrick,Stephen King,Jack Nicholson,United Kingdom,19000000.0,46998772.0,Warner Bros.,146.0
Airplane!,PG,Comedy,1980,"July 2, 1980 (United States)",7.7,221000.0,Jim Abrahams,Jim Abrahams,Robert Hays,United States,3500000.0,83453539.0,Paramount Pictures,88.0`,
		fields: `
name: title
genre: genres
released: release_date
score: vote_average
votes: vote_count
director: credits.crew (Director)
writer: credits.crew (Writer)
star: credits.cast
country: production_countries
budget: budget
gross: revenue
company: production_companies
runtime: runtime`,
		lines: `release_date = 'date(released, "MMMM D, YYYY")'`,
	},
	{
		name: "years in titles beside a column of years", base: "movies", doubt: "the ids in movieId may be TMDB's",
		table: `
movieId,title,genres,year
11,"Glass, The (1995)",Drama|Children,1995
31,Toy Story (1995),Animation|Comedy,1995
70,Heat (1996),(no genres listed),1996`,
		fields: "title: title\ngenres: genres\nyear: release_date",
		lines:  `title = 'title(title, "The")'`,
		first:  `{"genres":[{"id":18,"name":"Drama"},{"id":10751,"name":"Family"}],"id":` + mintedOf("The Glass", "1995") + `,"release_date":"1995-01-01","title":"The Glass"}`,
	},
	{
		name: "years of titles before others", base: "movies",
		table: `
title,year,genres
Glass (1995),2016,Drama
Toy Story (1995),2016,Animation
Heat (1996),2017,Crime`,
		fields: "title: title, release_date\ngenres: genres",
		lines:  "release_date = 'year(title)'  # or \"year\", with other years\nmint = [\"title\", \"release_date\"]",
		first:  `{"genres":[{"id":18,"name":"Drama"}],"id":` + mintedOf("Glass", "1995-01-01") + `,"release_date":"1995-01-01","title":"Glass"}`,
	},
	{
		name: "whole days before years", base: "movies",
		table:  "film,year,release_date,runtime\nA,1999,1999-10-15,100\nB,2000,1999-12-30,90",
		fields: "film: title\nrelease_date: release_date\nruntime: runtime",
	},
	{
		name: "some rows without a year", base: "films",
		table:  "title,year,director\nA,1999,Ann Bell\nB,,Ann Bell\nC,2001,Ann Bell",
		fields: "title: title\nyear: release_date\ndirector: credits.crew (Director)",
		lines:  "mint = [\"title\", \"year?\"]",
	},
	{
		name: "no row with a year", base: "films",
		table:  "title,director\nA,Ann Bell\nB,Ann Bell",
		fields: "title: title\ndirector: credits.crew (Director)",
		lines:  "mint = [\"title\"]",
		first:  `{"id":` + mintedOf("A") + `,"title":"A"}`,
	},
	{
		name: "German", base: "filme",
		table: `
id;Titel;Kinostart;Bewertung;Einspielergebnis;Laufzeit;Genres;Land
1;Amélie;25.04.2001;7,9;10.000.000;122 Min.;Comedy,Romance;FR
2;Köln;01.02.1999;6,5;1,5 Mio;90 Min.;-;DE`,
		fields: "Titel: title\nKinostart: release_date\nBewertung: vote_average\nEinspielergebnis: revenue\nLaufzeit: runtime\nGenres: genres\nLand: production_countries",
		lines:  "decimal = \",\"\nthousands = \".\"\nscale = { \"Mio\" = 1000000 }",
		first: `{"genres":[{"id":35,"name":"Comedy"},{"id":10749,"name":"Romance"}],"id":` + mintedOf("Amélie", "2001") + `,"production_countries":[{"iso_3166_1":"FR","name":"France"}],` +
			`"release_date":"2001-04-25","revenue":10000000,"runtime":122,"title":"Amélie","vote_average":7.9}`,
	},
	{
		name: "French", base: "films",
		table:  "Titre,Date de sortie,Note,Recettes,Réalisateur,Durée\nA,25/04/2001,\"3,412\",10 000 000,Ann Bell,2h05\nB,13/02/1999,\"8,1\",2 500 000,Tom Reed,1 h 30 min",
		fields: "Titre: title\nDate de sortie: release_date\nNote: vote_average\nRecettes: revenue\nRéalisateur: credits.crew (Director)\nDurée: runtime",
		first:  `{"id":` + mintedOf("A", "2001") + `,"release_date":"2001-04-25","revenue":10000000,"runtime":125,"title":"A","vote_average":3.412}`,
	},
	{
		name: "Spanish without accents", base: "peliculas",
		table:  "Titulo,Ano,Genero,Duracion,Director,Sinopsis,Pais,Puntuacion\nA,1999,Drama,100,Ann Bell,Uno dos.,ES,7.5\nB,2001,Comedia,90 min,Tom Reed,Dos tres.,MX,8.1",
		fields: "Titulo: title\nAno: release_date\nGenero: genres\nDuracion: runtime\nDirector: credits.crew (Director)\nSinopsis: overview\nPais: production_countries\nPuntuacion: vote_average",
	},
	{
		name: "Portuguese", base: "filmes",
		table:  "Título,Ano de Lançamento,Gênero,Duração,Direção,Elenco,Sinopse,Avaliação,Bilheteria\nA,1999,Drama,100,Ann Bell,\"Tom Reed, Lia Park\",Um.,7.5,1000\nB,2001,Comédia,90,Tom Reed,Ed Moss,Dois.,8.1,2000",
		fields: "Título: title\nAno de Lançamento: release_date\nGênero: genres\nDuração: runtime\nDireção: credits.crew (Director)\nElenco: credits.cast\nSinopse: overview\nAvaliação: vote_average\nBilheteria: revenue",
	},
	{
		name: "Italian", base: "film",
		table:  "Titolo,Anno,Genere,Durata,Regia,Attori,Trama,Voto,Voti\nA,1999,Dramma,100,Ann Bell,\"Tom Reed, Lia Park\",Uno.,7.5,100\nB,2001,Commedia,90,Tom Reed,Ed Moss,Due.,8.1,200",
		fields: "Titolo: title\nAnno: release_date\nGenere: genres\nDurata: runtime\nRegia: credits.crew (Director)\nAttori: credits.cast\nTrama: overview\nVoto: vote_average\nVoti: vote_count",
	},
	{
		name: "Russian", base: "список",
		table:  "Название,Год выпуска,Жанр,Режиссёр,В ролях,Описание,Рейтинг,Хронометраж\nСолярис,1972,\"драма, фантастика\",Андрей Тарковский,\"Наталья Бондарчук, Донатас Банионис\",Один.,8.0,167 мин.\nСталкер,1979,драма,Андрей Тарковский,Александр Кайдановский,Два.,8.1,162 мин.",
		fields: "Название: title\nГод выпуска: release_date\nЖанр: genres\nРежиссёр: credits.crew (Director)\nВ ролях: credits.cast\nОписание: overview\nРейтинг: vote_average\nХронометраж: runtime",
	},
	{
		name: "Chinese", base: "top250",
		table:  "片名,年份,类型,导演,主演,评分,评价人数,制片国家/地区,片长\n霸王别姬,1993,剧情,陈凯歌,张国荣、张丰毅,9.6,2000000,CN,171分钟\n活着,1994,剧情 / 历史,张艺谋,葛优、巩俐,9.3,800000,CN,132分钟",
		fields: "片名: title\n年份: release_date\n类型: genres\n导演: credits.crew (Director)\n主演: credits.cast\n评分: vote_average\n评价人数: vote_count\n制片国家/地区: production_countries\n片长: runtime",
		lines:  `credits.cast = 'names(主演, "person", {separator: "、"})'`,
	},
	{
		name: "Arabic", base: "افلام",
		table:  "العنوان,السنة,المخرج,بطولة,التقييم,المدة,القصة\nوجدة,2012,هيفاء المنصور,وعد محمد,7.5,98,قصة فتاة.\nكفرناحوم,2018,نادين لبكي,زين الرافعي,8.4,126,قصة ولد.",
		fields: "العنوان: title\nالسنة: release_date\nالمخرج: credits.crew (Director)\nبطولة: credits.cast\nالتقييم: vote_average\nالمدة: runtime\nالقصة: overview",
	},
	{
		name: "days of spreadsheets, two digits", base: "films",
		table:  "Film,Released,Runtime\nA,30-Mar-21,100\nB,2-Jun-75,90\nC,15-Oct-30,80",
		fields: "Film: title\nReleased: release_date\nRuntime: runtime",
		lines:  fmt.Sprintf(`release_date = 'date(Released, "D-MMM-YY", %d)'  # two digits stand for %d to %d`, time.Now().Year(), time.Now().Year()-99, time.Now().Year()),
		first:  `{"id":` + mintedOf("A", "2021") + `,"release_date":"2021-03-30","runtime":100,"title":"A"}`,
	},
	{
		name: "days that may be months", base: "films", doubt: "the days of Released may be M/D/YYYY or D/M/YYYY",
		table:  "Film,Released,Runtime\nA,1/2/1999,100\nB,3/4/2001,90",
		fields: "Film: title\nReleased: release_date\nRuntime: runtime",
		lines:  "or D/M/YYYY: the rows fit both",
	},
	{
		name: "scores to a hundred, dollars, thousands", base: "movies",
		table: `
Title,Year,Score,Budget,Box Office,Votes
A,1999,83%,"$1,000,000","$2,500,000","700,000"
B,2001,7%,"$200,000",$1.5M,"1,234"
C,2002,91%,"$30,000","$2,000","12,345,678"`,
		fields: "Title: title\nYear: release_date\nScore: vote_average\nBudget: budget\nBox Office: revenue\nVotes: vote_count",
		lines:  "vote_average = 'score(Score, 100)'  # from 0 to 100 in the table\nthousands = \",\"",
		first:  `{"budget":1000000,"id":` + mintedOf("A", "1999") + `,"release_date":"1999-01-01","revenue":2500000,"title":"A","vote_average":8.3,"vote_count":700000}`,
	},
	{
		name: "thousands by most cells", base: "movies", doubt: "of votes are not read",
		table:  "film,votes\nA,\"1.234\"\nB,\"1,234\"\nC,\"2,345,678\"",
		fields: "film: title\nvotes: vote_count",
		lines:  "thousands = \",\"\nnot read: 1 of 3 cells, such as \"1.234\"",
	},
	{
		name: "other currencies", base: "movies",
		table:  "film,year,budget,director\nA,1999,€ 1000000,Ann Bell\nB,2001,€ 2000000,Ann Bell",
		fields: "film: title\nyear: release_date\ndirector: credits.crew (Director)",
		lines:  "budget? Most of its cells do not fit",
	},
	{
		name: "lists by a separator of most cells", base: "movies",
		table: `
film,year,actors
A,1999,"Ann Bell,Tom Reed, Lia Park"
B,2001,"Ed Moss, Kay Moss"
C,2002,Kay|Moss
D,2003,"Jim &amp; Jo Ray, Ann Bell"`,
		fields: "film: title\nyear: release_date\nactors: credits.cast",
		lines:  `credits.cast = 'names(unescape(actors), "person", {separator: ","})'`,
	},
	{
		name: "texts for nothing", base: "movies",
		table:  "film,year,overview,runtime\nA,1999,N/A,100\nB,2001,Two.,Unknown\nC,2002,NaN,90\nD,2002,Four.,80\nUnknown,2003,Five.,Unknown",
		fields: "film: title\nyear: release_date\noverview: overview\nruntime: runtime",
		lines:  "overview = 'without(overview, \"N/A\", \"NaN\")'\nruntime = 'without(runtime, \"Unknown\")'",
	},
	{
		name: "lists as Python writes them", base: "shows",
		table:  "Title,Year,Actors,Producers\nAlpha,2001,\"['Ann Bell', 'Tom Reed']\",\"['Lia Park', 'Ed Moss']\"\nBeta,2002,['Ann Bell'],['Ed Moss']",
		fields: "Title: name\nYear: first_air_date\nActors: credits.cast\nProducers: credits.crew (Producer)",
	},
	{
		name: "objects without ids", base: "films",
		table: `
{"tmdb":1007,"title":"T","cast":[{"name":"Ann Bell","character":"B"}],"genres":[{"name":"Drama"}]}
{"tmdb":1008,"title":"U","cast":[{"name":"Tom Reed","character":"C"}],"genres":[]}`,
		fields: "tmdb: id\ntitle: title\ncast: credits.cast\ngenres: genres",
		first:  `{"genres":[{"id":18,"name":"Drama"}],"id":1007,"title":"T","credits":{"cast":[{"id":` + mintedPerson("Ann Bell") + `,"name":"Ann Bell","order":0}]}}`,
	},
	{
		name: "objects with ids", base: "films",
		table:  `{"tmdb":1007,"title":"T","cast":[{"id":5,"name":"A","character":"B"}]}`,
		fields: "tmdb: id\ntitle: title\ncast: credits.cast",
		lines:  "credits.cast = 'cast'",
	},
	{
		name: "another catalogue of series", base: "shows",
		table: `
{"id":1,"name":"Under the Dome","type":"Scripted","language":"English","genres":["Drama","Science-Fiction"],"runtime":60,"premiered":"2013-06-24","ended":"2015-09-10","rating":{"average":6.5},"network":{"id":2,"name":"CBS"},"externals":{"tvrage":25988,"thetvdb":264492,"imdb":"tt1553656"},"summary":"It."}
{"id":6,"name":"The 100","type":"Scripted","language":"English","genres":["Action"],"runtime":60,"premiered":"2014-03-19","ended":"2020-09-30","rating":{"average":7.4},"network":{"id":5,"name":"The CW"},"externals":{"tvrage":34770,"thetvdb":268592,"imdb":"tt2661044"},"summary":"They."}`,
		fields: `
name: name
type: type
language: original_language
genres: genres
runtime: episode_run_time
premiered: first_air_date
ended: last_air_date
rating.average: vote_average
externals.thetvdb: external_ids.tvdb_id
externals.imdb: external_ids.imdb_id
summary: overview`,
		doubt: "the ids in id may be TMDB's or the table's own",
	},
	{
		name: "an API of films", base: "omdb",
		table: `
{"Title":"The Matrix","Year":"1999","Rated":"R","Released":"31 Mar 1999","Runtime":"136 min","Genre":"Action, Sci-Fi","Director":"Lana Wachowski, Lilly Wachowski","Writer":"Lilly Wachowski","Actors":"Keanu Reeves, Carrie-Anne Moss","Plot":"A hacker.","Language":"English","Country":"United States, Australia","Awards":"Won 4 Oscars","Poster":"https://m.media-amazon.com/a.jpg","imdbRating":"8.7","imdbVotes":"1,800,000","imdbID":"tt0133093","Type":"movie","BoxOffice":"$172,076,928","Website":"N/A"}
{"Title":"Babe","Year":"1995","Rated":"G","Released":"N/A","Runtime":"89 min","Genre":"Comedy, Drama","Director":"Chris Noonan","Writer":"N/A","Actors":"James Cromwell","Plot":"A pig.","Language":"English","Country":"Australia","Awards":"N/A","Poster":"N/A","imdbRating":"6.9","imdbVotes":"140,000","imdbID":"tt0112431","Type":"movie","BoxOffice":"N/A","Website":"N/A"}`,
		fields: `
Title: title
Released: release_date
Runtime: runtime
Genre: genres
Director: credits.crew (Director)
Writer: credits.crew (Writer)
Actors: credits.cast
Plot: overview
Language: original_language
Country: production_countries
imdbRating: vote_average
imdbVotes: vote_count
imdbID: imdb_id
Type: kind
BoxOffice: revenue`,
	},
	{
		name: "ids that are TMDB's by other columns", base: "g_movies",
		table:  "id,title,genre_ids,rating\n900021,A,\"[18, 35]\",7.1",
		fields: "id: id\ntitle: title\ngenre_ids: genre_ids\nrating: vote_average",
		first:  `{"genres":[{"id":18,"name":"Drama"},{"id":35,"name":"Comedy"}],"id":900021,"title":"A","vote_average":7.1}`,
	},
	{
		name: "numbers for titles, blanks", base: "m_movies",
		table:  "{\"Title\":1776,\"Year\":1972}\n{\"Title\":\" Firefox \",\"Year\":\" 1982\"}",
		fields: "Title: title\nYear: release_date",
	},
	{
		name: "texts of a language", base: "movies",
		table:  "{\"tmdb_id\":5,\"title\":\"A\",\"title_de\":\"Ah\",\"overview_ar\":\"ب\"}",
		fields: "tmdb_id: id\ntitle: title\ntitle_de: title_de\noverview_ar: overview_ar",
	},
	{
		name: "companies of TMDB", base: "list", doubt: "names alone make no movie records",
		table: "name,tmdb_url\nLucasfilm,https://www.themoviedb.org/company/1\nPixar,https://www.themoviedb.org/company/3-pixar",
	},
	{
		name: "a list of series with ids", base: "history",
		table: `
{"last_watched_at":"2022-09-17T23:48:00Z","show":{"title":"Beta","year":2010,"ids":{"trakt":7,"tmdb":1396,"imdb":"tt0903747","tvdb":81189}}}
{"last_watched_at":"2022-09-17T23:48:00Z","show":{"title":"Gamma","year":2011,"ids":{"trakt":9,"tmdb":1399,"imdb":"tt0944947","tvdb":121361}}}`,
		fields: "show.title: name\nshow.year: first_air_date\nshow.ids.tmdb: id\nshow.ids.imdb: external_ids.imdb_id\nshow.ids.tvdb: external_ids.tvdb_id",
	},
	{
		name: "scores by the names of sites", base: "movies",
		table:  "Movie Name,Year,IMDb,TMDB,Director\nA,2001,7,70,Ann Bell\nB,2002,6,61,Tom Reed",
		fields: "Movie Name: title\nYear: release_date\nIMDb: vote_average\nDirector: credits.crew (Director)",
		lines:  "mint = [\"title\", \"year\"]",
	},
	{
		name: "songs", base: "songs", doubt: "the column artist belongs to rows about something else",
		table: "title,artist,year,genre,duration\nA,The Band,1999,Music,3:45\nB,The Band,2001,Music,4:10",
	},
	{
		name: "screenings", base: "screenings", doubt: "the days of date may not be release dates",
		table:  "date,time,film,hall,price\n2024-05-01,20:00,Alpha,1,9.50\n2024-05-02,20:15,Beta,2,9.50",
		fields: "date: release_date\nfilm: title",
	},
	{
		name: "series", base: "shows",
		table:  "Title,Seasons,Episodes,Start Year,Network,IMDb Rating,Status\nAlpha,3,30,2001,HBO,8.1,Ended\nBeta,1,8,2011,Netflix,7.2,Returning Series",
		fields: "Title: name\nSeasons: number_of_seasons\nEpisodes: number_of_episodes\nStart Year: first_air_date\nNetwork: networks\nIMDb Rating: vote_average\nStatus: status",
	},
	{
		name: "people", base: "actors",
		table:  "Name,Born,Birthplace\nAnn Bell,12 March 1970,Rome\nTom Reed,1 April 1981,Oslo",
		fields: "Name: name\nBorn: birthday\nBirthplace: place_of_birth",
		first:  `{"birthday":"1970-03-12","id":` + mintedPerson("Ann Bell") + `,"name":"Ann Bell","place_of_birth":"Rome"}`,
	},
	{
		name: "users", base: "users", doubt: "the column email belongs to rows about something else",
		table: "id,name,email,year\n5,Bob,bob@example.org,1990\n7,Eve,eve@example.org,1991",
	},
	{
		name: "a list of a service in French", base: "b_series",
		table:  "Série,Début,Saisons,Chaîne,Genre,Note /10\nAlpha,2001,5 saisons,Canal+,Drame,\"8,1\"\nBeta,2010,1 saison,Arte,Comédie,\"7,4\"",
		fields: "Série: name\nDébut: first_air_date\nSaisons: number_of_seasons\nChaîne: networks\nGenre: genres\nNote /10: vote_average",
	},
	{
		name: "days of a spreadsheet, words behind numbers, units in names", base: "a_movies",
		table: `
Movie Title,Release Date,Run Time (Minutes),Genre 1,Genre 2,Votes,IMDB Rating (out of 10),Country of Origin,Language(s),Rotten Tomatoes
Alpha,36448,120,Drama,Comedy,2.3M,8.1,USA,"English, French",83%
Beta,36100,95,Action,,900K,7.2,UK,English,71%`,
		fields: `
Movie Title: title
Release Date: release_date
Run Time (Minutes): runtime
Genre 1: genres
Genre 2: genres
Votes: vote_count
IMDB Rating (out of 10): vote_average
Country of Origin: production_countries
Language(s): spoken_languages`,
		lines: "scale = { \"K\" = 1000, \"M\" = 1000000 }\ngenres = 'names([row[\"Genre 1\"], row[\"Genre 2\"]], \"genre\")'\nrelease_date = 'date(row[\"Release Date\"], \"excel\")'",
		first: `{"genres":[{"id":18,"name":"Drama"},{"id":35,"name":"Comedy"}],"id":` + mintedOf("Alpha", "1999") + `,"production_countries":[{"iso_3166_1":"US","name":"United States of America"}],` +
			`"release_date":"1999-10-15","runtime":120,"spoken_languages":[{"english_name":"English","iso_639_1":"en","name":"English"},{"english_name":"French","iso_639_1":"fr","name":"Français"}],` +
			`"title":"Alpha","vote_average":8.1,"vote_count":2300000}`,
	},
	{
		name: "credits as Python writes them", base: "movies",
		table: `
title,vote_average,vote_count,id,cast,crew
Alpha,7.1,100,550,"[{'character': 'X', 'credit_id': '52fe', 'gender': 2, 'id': 819, 'name': 'Ann Bell', 'order': 0}]","[{'credit_id': '52', 'department': 'Directing', 'id': 7, 'job': 'Director', 'name': 'Tom Reed', 'profile_path': None}]"`,
		fields: "title: title\nvote_average: vote_average\nvote_count: vote_count\nid: id\ncast: credits.cast\ncrew: credits.crew",
		lines:  "credits.crew = 'python(crew)'",
	},
	{
		name: "films with prizes", base: "oscars", doubt: "the column Awards belongs to rows about something else",
		table: "Film,Year,Awards,Nominations\nAlpha,2001,3,5\nBeta,2002,1,2",
	},
	{
		name: "original titles alone", base: "movies",
		table:  "original_title,year,director\nA,2001,Ann Bell\nB,2002,Tom Reed",
		fields: "original_title: title\nyear: release_date\ndirector: credits.crew (Director)",
	},
	{
		name: "one object keyed by ids", base: "movies", doubt: "no column is an id or a title",
		table: `{"93837":{"id":93837,"title":"Alpha"},"8193":{"id":8193,"title":"Beta"}}`,
	},
	{
		name: "labels of Wikidata", base: "query",
		table:  "film,filmLabel,publicationDate,directorLabel,genreLabel\nhttp://www.wikidata.org/entity/Q1,Alpha,2001-02-03T00:00:00Z,Ann Bell,Drama\nhttp://www.wikidata.org/entity/Q2,Beta,2002-02-03T00:00:00Z,Tom Reed,Comedy",
		fields: "filmLabel: title\npublicationDate: release_date\ndirectorLabel: credits.crew (Director)\ngenreLabel: genres",
	},
	{
		name: "addresses of TMDB, texts in two languages, truths and amounts as people write them", base: "films",
		table: `
url,title_de,title_en,is_adult,revenue
https://www.themoviedb.org/movie/550-x,Kampf,Fight,No,257.6 million
https://www.themoviedb.org/movie/551,Ende,End,Yes,$1.5 million`,
		fields: "url: id\ntitle_de: title_de\ntitle_en: title\nis_adult: adult\nrevenue: revenue",
		first:  `{"adult":false,"id":550,"revenue":257600000,"title":"Fight","localized":[{"language":"de-DE","title":"Kampf"}]}`,
	},
	{
		name: "people with TMDB's ids", base: "people",
		table:  "tmdb_person_id,name,birth,death\n7,Ann Bell,1970-03-12,2020-01-02\n8,Tom Reed,1981-04-01,",
		fields: "tmdb_person_id: id\nname: name\nbirth: birthday\ndeath: deathday",
	},
	{
		name: "odd cells", base: "movies", doubt: "",
		table:  "film,year,runtime,score\n" + strings.Repeat("A,1999,100 min,7.5\n", 1) + oddRows(40) + "Z,unknown year,long,83\n",
		fields: "film: title\nyear: release_date\nruntime: runtime\nscore: vote_average",
		lines:  "not read: 1 of 42 cells, such as \"long\"\nnot read: 1 of 42 cells, such as \"unknown year\"\nvote_average = 'score(score, 10)'  # not read: 1 of 42 cells, such as \"83\"",
	},
}

func oddRows(n int) (out string) {
	for i := range n {
		out += fmt.Sprintf("Film %d,%d,%d min,%d.1\n", i, 1950+i, 80+i, i%9)
	}
	return out
}

func mintedOf(parts ...string) string { return mintedKind(fragment.KindMovie, parts...) }

func mintedPerson(name string) string { return mintedKind(fragment.KindPerson, name) }

func mintedKind(kind fragment.Kind, parts ...string) string {
	for i := range parts {
		parts[i] = Folded(parts[i])
	}
	id, _ := mintID(kind, parts)
	return fmt.Sprint(id)
}

// TestDraftPattern: the pattern of a file name matches the name.
func TestDraftPattern(t *testing.T) {
	rows := []string{`{"film":"A","year":1999,"runtime":90}`}
	for base, want := range map[string]string{"films*": `files = ["films\\*"]`, "862": `files = ["[0-9]*"]`, "Films": `files = ["films"]`} {
		if d := NewDraft(base+".csv", base, "", rows); !strings.Contains(d.Text, want) {
			t.Errorf("NewDraft(%s) = %s, want %s", base, d.Text, want)
		}
	}
}

// fuzzRows returns the rows of a tab-separated table whose first line has the column names. Cells that are JSON stay JSON.
func fuzzRows(table string) (rows []string) {
	lines := strings.Split(table, "\n")
	names := strings.Split(lines[0], "\t")
	for _, line := range lines[1:] {
		var row []byte
		for i, cell := range strings.Split(line, "\t") {
			row = append(record.AppendString(append(row, ','), names[i%len(names)]), ':')
			if !json.Valid([]byte(cell)) {
				cell = string(record.AppendString(nil, cell))
			}
			row = append(row, strings.TrimSpace(cell)...)
		}
		rows = append(rows, "{"+string(row[1:])+"}")
	}
	return rows
}

// fuzzTable is the inverse of fuzzRows.
func fuzzTable(tb testing.TB, rows []string) string {
	tb.Helper()
	table := strings.Join(ColumnsOf(rows[0]), "\t")
	for _, row := range rows {
		fields, err := record.Fields(row)
		if err != nil {
			tb.Fatal(err)
		}
		var cells []string
		for _, name := range ColumnsOf(rows[0]) {
			raw := fields.Value(name)
			if text := scalarText(raw); text != "" {
				raw = text
			}
			cells = append(cells, raw)
		}
		table += "\n" + strings.Join(cells, "\t")
	}
	return table
}

// FuzzNewDraft: the draft of any rows is a valid mapping, and makes at least one record if it has a table.
func FuzzNewDraft(f *testing.F) {
	for _, c := range draftCases {
		f.Add(c.base, fuzzTable(f, rowsOf(f, c.table)))
	}
	f.Add("\x7f*", "\x7f\ttitle\n\u007f\tA")
	f.Add("t", "type\ttitle\t\x7f#cast\tdirector\nMovie\tA\tB, C\tD")
	f.Add("t", "id\tname\tposter\tdate\ta\rb\n[1]\t{\"a\":1}\t/a\t1/2/99\t\u0000")
	f.Fuzz(func(t *testing.T, base, table string) {
		if len(table) > 1<<11 || strings.TrimSpace(base) == "" || !utf8.ValidString(base) || !utf8.ValidString(table) {
			return
		}
		rows := fuzzRows(table)
		d := NewDraft(base+".csv", base, "", rows)
		m, err := parseMapping("m.toml", []byte(d.Text), true)
		if err != nil {
			t.Fatalf("parseMapping(%s) = %v", d.Text, err)
		}
		if len(m.tables) == 0 {
			return
		}
		l := (&Meaning{Layout: Tables, table: m.tables[0]}).Reader(Options{Values: &record.Values{}})
		var faults []error
		for _, row := range rows {
			recs, err := l.Records(Row{File: base, JSON: row, Table: true})
			if len(recs) > 0 {
				return
			}
			faults = append(faults, err)
		}
		t.Errorf("no row of %s makes a record: %v by\n%s", rows, faults, d.Text)
	})
}

// BenchmarkNewDraft drafts a mapping for 1,000 rows of 30 columns.
func BenchmarkNewDraft(b *testing.B) {
	const n = 1000
	var rows []string
	for i := range n {
		rows = append(rows, fmt.Sprintf(`{"id":"%d","imdb_id":"tt%07d","Title":"Film %d (%d)","Release Date":"%d/%d/%d","Genres":"Drama, Science Fiction","Overview":"A story of %d.",`+
			`"Runtime":"%d min","Rating":"%d.5","Votes":"%d,%03d","Budget":"$1,%03d,000","Revenue":"$2,%03d,000","Cast":"Ann Bell, Tom Reed, Lia Park","Director":"Ed Moss",`+
			`"Writer":"Kay Moss, Ann Bell","Country":"United States, France","Language":"English","Keywords":"one, two, three","Production Companies":"One Pictures, Two Films",`+
			`"Poster":"https://image.tmdb.org/t/p/w500/a%d.jpg","Tagline":"All of %d","Status":"Released","Original Title":"Film %d","Popularity":"%d.125","Homepage":"https://example.org/%d",`+
			`"note1":"a","note2":"b","note3":"c","note4":"d","note5":"e","note6":"f"}`,
			17*i+5, i+1, i, 1950+i%70, 1+i%12, 1+i%28, 1950+i%70, i, 80+i%60, i%10, 1+i%9, i, i, i, i, i, i, i%300, i))
	}
	b.ReportAllocs()
	for b.Loop() {
		if d := NewDraft("films.csv", "films", "", rows); len(d.Columns) != 30 {
			b.Fatal(d.Text)
		}
	}
}
