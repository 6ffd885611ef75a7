package layout

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A cellTest reads cells of a column x through an entry of a mapping.
type cellTest struct {
	*testing.T
	kind  string // default: movie
	extra string // further text of the mapping
	names NameIDs
}

// read returns the fields of the record except its ID.
func (c *cellTest) read(spec, cell string) (string, error) {
	c.Helper()
	kind := c.kind
	if kind == "" {
		kind = "movie"
	}
	file := strings.Replace(movieTable(field(spec)), "kind='movie'", "kind='"+kind+"'", 1)
	l := newReader(tables, Options{Mappings: []*Mapping{mapping(c.T, file+c.extra)}, Names: c.names})
	recs, err := l.Records(Row{File: "t", JSON: `{"id":"7","x":` + cell + `}`, Table: true})
	if err != nil {
		return "", err
	}
	got := strings.TrimSuffix(strings.TrimPrefix(text(recs[0].Record), "{"), "}")
	for _, id := range []string{`,"id":7`, `"id":7,`, `"id":7`} {
		if before, after, found := strings.Cut(got, id); found {
			return before + after, nil
		}
	}
	return got, nil
}

// want checks the fields that a cell gives, as JSON; "" for none.
func (c *cellTest) want(spec, cell, want string) {
	c.Helper()
	if got, err := c.read(spec, cell); err != nil || got != want {
		c.Errorf("%s of %s = %s, %v, want %s", spec, cell, got, err, want)
	}
}

// refuse checks the error of a cell.
func (c *cellTest) refuse(spec, cell, want string) {
	c.Helper()
	if got, err := c.read(spec, cell); err == nil || err.Error() != "x: "+want {
		c.Errorf("%s of %s = %s, %v, want x: %s", spec, cell, got, err, want)
	}
}

// TestDates: dates in the formats of tables.
func TestDates(t *testing.T) {
	c := cellTest{T: t}
	f := func(formats, cell, want string) {
		t.Helper()
		c.want("release_date = date(x, "+formats+")", cell, `"release_date":"`+want+`"`)
	}
	// A missing part becomes the first.
	f("'YYYY'", `"1995"`, "1995-01-01")
	f("'YYYY'", `1995`, "1995-01-01")
	f("'YYYY'", `1995.0`, "1995-01-01")
	f("'YYYY-MM-DD','YYYY'", `"1995"`, "1995-01-01")
	f("'YYYY-MM-DD','YYYY'", `"1995-06-12"`, "1995-06-12")
	f("'YYYY-MM'", `"1995-06"`, "1995-06-01")
	f("'MMMM YYYY'", `"June 1995"`, "1995-06-01")
	// Names of months, in any case.
	f("'MMM D YYYY'", `"Jun 12 1998"`, "1998-06-12")
	f("'MMM D YYYY'", `"JUN 2 1998"`, "1998-06-02")
	f("'MMM D, YYYY'", `"Jun 12, 1998"`, "1998-06-12")
	f("'D MMMM YYYY'", `"2 september 1998"`, "1998-09-02")
	f("'DD/MM/YYYY'", `"02/06/1998"`, "1998-06-02")
	f("'D MMM YYYY','MMMM D, YYYY','YYYYMMDD'", `"June 2, 1998"`, "1998-06-02")
	// Times and countries after dates, and ranges of years.
	f("'MMMM D, YYYY'", `"June 13, 1980 (United States)"`, "1980-06-13")
	f("'YYYY'", `"2008–2013"`, "2008-01-01")
	f("'YYYY'", `"(2019- )"`, "2019-01-01")
	f("'YYYY'", `"(1995)"`, "1995-01-01")
	// Seconds and milliseconds since 1970.
	f("'unix'", `951782400`, "2000-02-29")
	f("'unix'", `"951782400000"`, "2000-02-29")
	f("'unix'", `-1353888000`, "1927-02-06")
	f("'YYYY','unix'", `1995`, "1995-01-01")
	// Two-digit years are 1969 to 2068, or the hundred years up to last_year.
	f("'D-MMM-YY'", `"30-Mar-21"`, "2021-03-30")
	f("'D-MMM-YY'", `"30-Mar-68"`, "2068-03-30")
	f("'D-MMM-YY'", `"30-Mar-69"`, "1969-03-30")
}

// TestUnixDays: years and placeholders are not seconds, and a column has either seconds or spreadsheet days.
func TestUnixDays(t *testing.T) {
	c := cellTest{T: t}
	for _, cell := range []string{`0`, `1995`, `"1999-10-15"`, `99999999999999999`} {
		c.refuse(`release_date = date(x, "unix")`, cell, "want a day as unix, found "+cell)
	}
	if _, err := newDayReader([]string{"unix", "excel"}, 0); err == nil || err.Error() != "formats: unix and excel read the same texts" {
		t.Errorf("newDayReader(unix, excel) = %v, want that they read the same texts", err)
	}
}

// TestConverters: IDs in addresses, images, durations, scores, amounts and entities.
func TestConverters(t *testing.T) {
	c := cellTest{T: t}
	for _, one := range []struct{ spec, cell, want string }{
		{"runtime = tmdb(x)", `550`, `"runtime":550`},
		{"runtime = tmdb(x)", `"550.0"`, `"runtime":550`},
		{"runtime = tmdb(x)", `"tmdb://550"`, `"runtime":550`},
		{"runtime = tmdb(x)", `"com.plexapp.agents.themoviedb://550?lang=en"`, `"runtime":550`},
		{"runtime = tmdb(x)", `"https://www.themoviedb.org/movie/550-fight-club"`, `"runtime":550`},
		{"runtime = tmdb(x)", `"https://api.themoviedb.org/3/movie/550"`, `"runtime":550`},
		{"runtime = tmdb(x)", `[{"id":"imdb://tt0137523"},{"id":"tmdb://550"}]`, `"runtime":550`},
		{"runtime = tmdb(x)", `"https://www.themoviedb.org/tv/1396"`, ``},
		{"runtime = tmdb(x)", `"imdb://tt0137523"`, ``},
		{"poster_path = image(x)", `"https://image.tmdb.org/t/p/w500/a.jpg"`, `"poster_path":"/a.jpg"`},
		{"poster_path = image(x)", `"//image.tmdb.org/t/p/original/a.jpg"`, `"poster_path":"/a.jpg"`},
		{"poster_path = image(x)", `"/a.jpg"`, `"poster_path":"/a.jpg"`},
		{"runtime = minutes(x)", `139`, `"runtime":139`},
		{"runtime = minutes(x)", `"139.0"`, `"runtime":139`},
		{"runtime = minutes(x)", `"81 Min."`, `"runtime":81`},
		{"runtime = minutes(x)", `"2h 19m"`, `"runtime":139`},
		{"runtime = minutes(x)", `"2h19"`, `"runtime":139`},
		{"runtime = minutes(x)", `"1 Stunde und 5 Minuten"`, `"runtime":65`},
		{"runtime = minutes(x)", `"2 hours"`, `"runtime":120`},
		{"runtime = minutes(x)", `"1 hr. 55 min."`, `"runtime":115`},
		{"runtime = minutes(x)", `"24 min. per ep."`, `"runtime":24`},
		{"runtime = minutes(x)", `"PT2H19M"`, `"runtime":139`},
		{"runtime = minutes(x)", `"PT1H30M15S"`, `"runtime":90`},
		{"runtime = minutes(x)", `"02:19:00"`, `"runtime":139`},
		{"runtime = minutes(x)", `"167 мин."`, `"runtime":167`},
		{"runtime = minutes(x)", `"171分钟"`, `"runtime":171`},
		{"runtime = minutes(x)", `"98 دقيقة"`, `"runtime":98`},
		{"vote_average = score(x, 100)", `"83%"`, `"vote_average":8.3`},
		{"vote_average = score(x, 100)", `83`, `"vote_average":8.3`},
		{"vote_average = score(x, 5)", `"4.5/5"`, `"vote_average":9.0`},
		{"vote_average = score(x, 10)", `"8.1 / 10"`, `"vote_average":8.1`},
		{"budget = amount(x, '$', 'us', 'usd')", `"US$ 1000000"`, `"budget":1000000`},
		{"budget = amount(x, '$', 'us', 'usd')", `"1000000 USD"`, `"budget":1000000`},
		{"budget = amount(x, '$', 'us', 'usd')", `1000000`, `"budget":1000000`},
		{"overview = without(x, 'N/A', 'Unknown')", `"N/A"`, ``},
		{"overview = without(x, 'N/A', 'Unknown')", `"A text"`, `"overview":"A text"`},
		{"runtime = without(x, 'Unknown')", `90`, `"runtime":90`},
		{"overview = unescape(x)", `"Tom &amp; Jerry &#39;s"`, `"overview":"Tom & Jerry 's"`},
	} {
		c.want(one.spec, one.cell, one.want)
	}
	for _, one := range []struct{ spec, cell, want string }{
		{"runtime = tmdb(x)", `"s1"`, `want an id of TMDB, or an address with one, found "s1"`},
		{"poster_path = image(x)", `"https://example.org/a.jpg"`, `want the path of an image, or its address at image.tmdb.org, found "https://example.org/a.jpg"`},
		{"runtime = minutes(x)", `"2 Seasons"`, `want minutes, such as 139, 139 min or 2h 19m, found "2 Seasons"`},
		{"runtime = minutes(x)", `"PT"`, `want minutes, such as 139, 139 min or 2h 19m, found "PT"`},
		{"vote_average = score(x, 10)", `83`, `want a score from 0 to 10, found 83`},
		{"vote_average = score(x, 10)", `"4/5"`, `want a score from 0 to 10, found "4/5"`},
		{"budget = amount(x, '$')", `"€ 5"`, `want a number, with or without $, found "€ 5"`},
	} {
		c.refuse(one.spec, one.cell, one.want)
	}
	c.kind = "person"
	c.want("imdb_id = imdb(x)", `"https://www.imdb.com/name/nm0000093/"`, `"imdb_id":"nm0000093"`)
	c.want("imdb_id = imdb(x)", `"nm0000093"`, `"imdb_id":"nm0000093"`)
}

// TestDatesOfReady: built-in tables read the dates of spreadsheets and people, but none without a century.
func TestDatesOfReady(t *testing.T) {
	for cell, want := range map[string]string{
		"1995-10-30": "1995-10-30", "10/30/1995": "1995-10-30", "30-Oct-1995": "1995-10-30", "Oct 30 1995": "1995-10-30", "1995": "1995-01-01", "30-Oct-95": "",
	} {
		l := newReader(kaggle, Options{})
		rec, err := movieOf(l, Row{File: "x", Table: true, Texts: true, JSON: `{"id":"5","title":"A","vote_average":"","status":"","adult":"","release_date":"` + cell +
			`","backdrop_path":"","imdb_id":"","poster_path":"","genres":"","production_companies":"","production_countries":"","spoken_languages":""}`})
		if (err == nil) != (want != "") || err == nil && !strings.Contains(text(rec), `"release_date":"`+want+`"`) {
			t.Errorf("release_date %s: %v, want %q", cell, err, want)
		}
	}
}

// TestDatesLastYear: a mapping can set the last year that two digits mean.
func TestDatesLastYear(t *testing.T) {
	c := cellTest{T: t}
	spec := "release_date = date(x, 'D-MMM-YY', "
	for _, one := range []struct{ last, cell, want string }{
		{"2026", `"30-Mar-26"`, "2026-03-30"},
		{"2026", `"30-Mar-27"`, "1927-03-30"},
		{"2026", `"29-Feb-00"`, "2000-02-29"},
		{"1999", `"30-Mar-21"`, "1921-03-30"},
		{"2100", `"1-Jan-00"`, "2100-01-01"},
	} {
		c.want(spec+one.last+")", one.cell, `"release_date":"`+one.want+`"`)
	}
	c.refuse(spec+"1999)", `"29-Feb-00"`, `want a day as D-MMM-YY, found "29-Feb-00"`) // 1900 was not a leap year
	c.refuse(spec+"2026)", `"30-Mar-1921"`, `want a day as D-MMM-YY, found "30-Mar-1921"`)
	c.refuse(`release_date = date(x, "YYYY")`, `"95"`, `want a day as YYYY, found "95"`)
	c.refuse(`release_date = date(x, "YYYY")`, `"0"`, `want a day as YYYY, found "0"`)
}

// TestListCells: lists of codes and numbers, joined or not.
func TestListCells(t *testing.T) {
	c := cellTest{T: t}
	for _, cell := range []string{`"US|GB"`, `"[\"US\", \"GB\"]"`, `"['US', 'GB']"`, `["US","GB"]`} {
		c.want(`origin_country = split(x, "|")`, cell, `"origin_country":["US","GB"]`)
	}
	for _, cell := range []string{`"18|53"`, `"[18, 53]"`, `[18,53]`} {
		c.want(`genre_ids = split(x, "|")`, cell, `"genres":[{"id":18,"name":"Drama"},{"id":53,"name":"Thriller"}]`)
	}
	c.refuse(`genre_ids = split(x, "|")`, `"[18"`, `want integers, found "[18"`)
}

// TestStripEnd: suffixes are removed in addition to prefixes.
func TestStripEnd(t *testing.T) {
	c := cellTest{T: t}
	c.want(`runtime = trimSuffix(x, " min", " mins")`, `"90 min"`, `"runtime":90`)
	c.want(`runtime = trimSuffix(trimPrefix(x, "~"), " min")`, `"~90 min"`, `"runtime":90`)
	c.want(`runtime = trimSuffix(x, " min")`, `"90"`, `"runtime":90`)
	c.refuse(`runtime = trimSuffix(x, " min")`, `"2 Seasons"`, `want an integer, found "2 Seasons"`)
}

// TestIntegers: integers in cells and in expressions are equal as keys and elements.
func TestIntegers(t *testing.T) {
	c := cellTest{T: t}
	const cell = `[{"no":7,"name":"A"},{"no":8,"name":"B"}]`
	c.want(`title = groupBy(x, .no)[7][0].name`, cell, `"title":"A"`)
	c.want(`title = find(x, .no in [8, 9]).name`, cell, `"title":"B"`)
	c.want(`title = x[len(filter(x, .no % 2 == 0))].name`, cell, `"title":"B"`)
}

// TestTitles: a title with a year gives both.
func TestTitles(t *testing.T) {
	c := cellTest{T: t}
	f := func(cell, title, year string) {
		t.Helper()
		c.want(`title = title(x, "The", "A", "L’")`, cell, `"title":"`+title+`"`)
		want := ""
		if year != "" {
			want = `"release_date":"` + year + `-01-01"`
		}
		c.want("release_date = year(x)", cell, want)
	}
	f(`"Heat (1995)"`, "Heat", "1995")
	f(`" Heat  (1995) "`, "Heat", "1995")
	f(`"Matrix, The (1999)"`, "The Matrix", "1999")
	f(`"Atalante, L’ (1934)"`, "L’Atalante", "1934")
	f(`"Lost (2004–2010)"`, "Lost", "2004")
	f(`"On Air (2019- )"`, "On Air", "2019")
	f(`"1917 (2019)"`, "1917", "2019")
	f(`"Seven (a.k.a. Se7en) (1995)"`, "Seven (a.k.a. Se7en)", "1995")
	f(`"Heat"`, "Heat", "")
	f(`"Good, Bad"`, "Good, Bad", "")
	f(`"(1995)"`, "(1995)", "")
	f(`"Flight (3000)"`, "Flight (3000)", "")
	f(`"Heat (95)"`, "Heat (95)", "")
	f(`"2001"`, "2001", "")
	c.want("title = title(x)", `"Matrix, The (1999)"`, `"title":"Matrix, The"`)
	c.want("title = title(x)", `""`, "")
}

// TestNamesOfCells: lists with separate names, and joined lists.
func TestNamesOfCells(t *testing.T) {
	c := cellTest{T: t, names: names{"A": 1, "B": 2, "D, Inc.": 4, "Twice": 0}}
	const (
		drama   = `{"id":18,"name":"Drama"}`
		comedy  = `{"id":35,"name":"Comedy"}`
		english = `{"english_name":"English","iso_639_1":"en","name":"English"}`
		french  = `{"english_name":"French","iso_639_1":"fr","name":"Français"}`
		us      = `{"iso_3166_1":"US","name":"United States of America"}`
	)
	// JSON, Python, and columns that are lists.
	genres := `genres = names(x, "genre")`
	for _, cell := range []string{`"[\"Drama\", \"Comedy\"]"`, `"['Drama', 'Comedy']"`, `["Drama","Comedy"]`, `["Drama",null,"drama"," Comedy ",""]`} {
		c.want(genres, cell, `"genres":[`+drama+`,`+comedy+`]`)
	}
	c.want(genres, `[]`, `"genres":[]`)
	c.want(genres, `"[]"`, `"genres":[]`)
	// In a list with separate names, unknown names are kept and the others are read.
	c.want(genres, `["Drama","Heimat","Humour"]`, `"genres":[`+drama+`],"x_text":["Heimat","Humour"]`)
	c.want(genres, `["Heimat"]`, `"x_text":["Heimat"]`)
	companies := `production_companies = names(x, "company")`
	c.want(companies, `"[\"D, Inc.\", \"A\", \"Unknown\", \"Twice\"]"`,
		`"production_companies":[{"id":4,"name":"D, Inc."},{"id":1,"name":"A"}],"x_text":["Unknown","Twice"]`)
	cast := `credits.cast = names(x, "person")`
	want := `"credits":{"cast":[{"id":379131655,"name":"A","order":0},{"id":220533484,"name":"B, C","order":1}]}`
	c.want(cast, `["A","B, C","A"]`, want)
	c.want(cast, `"['A', 'B, C']"`, want)
	c.want(`credits.cast = names(x, "person", {separator: ";"})`, `"A; B, C;;"`, want)
	c.want(cast, `"A, B"`, `"x_text":"A, B"`)
	// A list of other values is rejected in a list column, and kept in a joined list.
	c.refuse(genres, `[18]`, "want a list of names, found [18]")
	c.refuse(genres, `[{"name":"Drama"}]`, `want a list of names, found [{"name":"Drama"}]`)
	c.refuse(genres, `{"a":1}`, `want a list of names, found {"a":1}`)
	c.want(genres, `"[Drama]"`, `"x_text":"[Drama]"`)
	// All separators are tried if all names are known. Blanks are ignored.
	for _, cell := range []string{`"18|35"`, `"Drama, Comedy"`, `"Drama,Comedy"`, `"Drama|Comedy"`, `"Drama | comedy"`, `"Drama; Comedy"`, `"Drama/Comedy"`} {
		c.want(genres, cell, `"genres":[`+drama+`,`+comedy+`]`)
	}
	// Genres have names in several languages. A name of several genres matches none.
	c.want(genres, `"Drama, Komödie"`, `"genres":[`+drama+`,`+comedy+`]`)
	c.want(genres, `["drame","Comédie","Фантастика"]`, `"genres":[`+drama+`,`+comedy+`],"x_text":["Фантастика"]`)
	c.want(genres, `"Drama|Heimat"`, `"x_text":"Drama|Heimat"`)
	c.want(companies, `"A|B"`, `"x_text":"A|B"`)
	c.want(`production_companies = names(x, "company", {separator: "|"})`, `"A|B"`, `"production_companies":[{"id":1,"name":"A"},{"id":2,"name":"B"}]`)
	// Codes and names of languages and countries.
	languages := `spoken_languages = names(x, "language")`
	for _, cell := range []string{`"en|fr"`, `"en, fr"`, `"en,fr"`, `"English, French"`, `["en","French"]`, `"EN;FR"`} {
		c.want(languages, cell, `"spoken_languages":[`+english+`,`+french+`]`)
	}
	c.want(languages, `"Haitian; Haitian Creole; English"`, `"spoken_languages":[{"english_name":"Haitian; Haitian Creole","iso_639_1":"ht","name":""},`+english+`]`)
	c.want(`production_countries = names(x, "country")`, `"US"`, `"production_countries":[`+us+`]`)
	c.want(`production_countries = names(x, "country")`, `["United States","USA"]`, `"production_countries":[`+us+`]`)
	c.want(`production_countries = names(x, "country")`, `["Congo","US"]`, `"production_countries":[`+us+`],"x_text":["Congo"]`)
	c.want(`origin_country = codes(x, "country")`, `"South Korea, us"`, `"origin_country":["KR","US"]`)
	c.want(`original_language = code(x, "language")`, `"Korean"`, `"original_language":"ko"`)
	c.want(`original_language = code(x, "language")`, `"yi"`, `"original_language":"yi"`)
	c.want(`original_language = code(x, "language")`, `"Yi"`, `"original_language":"ii"`)
	c.refuse(`original_language = code(x, "language")`, `"Klingon"`, `want the name of a known language, found "Klingon"`)
}

// TestMintedNames: unknown companies, networks and keywords get IDs minted from their names, if the mapping has the option and
// the names are separate.
func TestMintedNames(t *testing.T) {
	c := cellTest{T: t, names: names{"A": 1, "B, C": 2, "Twice": 0}, extra: "[aliases.company]\nWB='Warner'\n"}
	const spec = `production_companies = names(x, "company", {mint: true})`
	warner := `{"id":` + fmt.Sprint(mintedName("Warner")) + `,"name":"Warner"}`
	c.want(spec, `["A","Warner","Twice","WB"]`, `"production_companies":[{"id":1,"name":"A"},`+warner+`],"x_text":["Twice"]`)
	c.want(spec, `"A, Warner"`, `"x_text":"A, Warner"`) // the end of a name is unknown
	c.want(`production_companies = names(x, "company", {mint: true, separator: ", "})`, `"A, Warner"`, `"production_companies":[{"id":1,"name":"A"},`+warner+`]`)
	c.want(`production_companies = names(x, "company", {mint: true, separator: ", "})`, `"A, B, C"`, `"production_companies":[{"id":1,"name":"A"},{"id":2,"name":"B, C"}]`) // known names first
	c.want(`production_companies = names(x, "company")`, `["Warner"]`, `"x_text":["Warner"]`)
	// Each name makes a record.
	l := newReader(tables, Options{Mappings: []*Mapping{mapping(t, movieTable(field(spec), field(`keywords.keywords = names(k, "keyword", {mint: true})`)))}})
	recs, err := l.Records(Row{File: "t", JSON: `{"id":7,"x":["Warner","Warner"],"k":["warner"]}`, Table: true})
	id := fmt.Sprint(mintedName("Warner"))
	keyword, _ := mintID(fragment.KindKeyword, []string{"warner"})
	want := []string{
		`movie 7 {"id":7,"production_companies":[` + warner + `],"keywords":{"keywords":[{"id":` + fmt.Sprint(keyword) + `,"name":"warner"}]}}`,
		`keyword ` + fmt.Sprint(keyword) + ` {"id":` + fmt.Sprint(keyword) + `,"name":"warner"}`, `company ` + id + ` ` + warner,
	}
	if got := described(recs); err != nil || !slices.Equal(got, want) || recs[1].Mint == 0 {
		t.Errorf("Records = %s, %v, want %s", strings.Join(got, "\n"), err, strings.Join(want, "\n"))
	}
}

// mintedName returns the ID minted from a company's name.
func mintedName(name string) int64 {
	id, _ := mintID(fragment.KindCompany, []string{Folded(name)})
	return id
}

// TestAliases: aliases of the program and of a mapping.
func TestAliases(t *testing.T) {
	const genres = `genres = names(x, "genre")`
	c := cellTest{T: t}
	c.want(genres, `"Children's|Sci-Fi"`, `"genres":[{"id":10751,"name":"Family"},{"id":878,"name":"Science Fiction"}]`)
	c.want(genres, `"Action|Drama"`, `"genres":[{"id":28,"name":"Action"},{"id":18,"name":"Drama"}]`)
	c.want(genres, `"Crime|Film-Noir"`, `"genres":[{"id":80,"name":"Crime"}]`)
	c.want(genres, `"(no genres listed)"`, "")
	c.want(genres, `"Action & Adventure"`, `"x_text":"Action & Adventure"`) // a genre of series
	tv := cellTest{T: t, kind: "tv"}
	tv.want(genres, `"Action|Sci-Fi|Kids|Reality-TV"`,
		`"genres":[{"id":10759,"name":"Action & Adventure"},{"id":10765,"name":"Sci-Fi & Fantasy"},{"id":10762,"name":"Kids"},{"id":10764,"name":"Reality"}]`)
	tv.want(genres, `["Horror"]`, `"x_text":["Horror"]`)
	own := cellTest{T: t, names: names{"Warner Bros. Pictures": 174}, extra: `
[aliases.genre]
"Action & Adventure" = ["Action", "Adventure"]
Krimi = "Crime"
Drama = "History"
Sonstiges = []
[aliases.company]
WB = "Warner Bros. Pictures"
[aliases.country]
BRD = "DE"
`}
	own.want(genres, `"Action & Adventure, Krimi, Sonstiges, drama, Sci-Fi"`,
		`"genres":[{"id":28,"name":"Action"},{"id":12,"name":"Adventure"},{"id":80,"name":"Crime"},{"id":36,"name":"History"},{"id":878,"name":"Science Fiction"}]`)
	own.want(`production_companies = names(x, "company")`, `"WB"`, `"production_companies":[{"id":174,"name":"Warner Bros. Pictures"}]`)
	own.want(`origin_country = codes(x, "country")`, `"BRD"`, `"origin_country":["DE"]`)
}

// TestAliasesOfReady: aliases of a mapping apply to built-in tables, and names without a place in the API are counted.
func TestAliasesOfReady(t *testing.T) {
	o := Options{Mappings: []*Mapping{mapping(t, "[aliases.genre]\nKrimi = 'Crime'\nSonstiges = []"), mapping(t, "[aliases.genre]\nKrimi = 'Mystery'")}}
	const row = `{"id":"5","title":"A","vote_average":"","status":"","adult":"","backdrop_path":"","imdb_id":"","poster_path":"","genres":"Krimi, Sonstiges, IMAX","production_companies":"","production_countries":"","spoken_languages":""}`
	l := newReader(kaggle, o)
	rec, err := movieOf(l, Row{File: "x", JSON: row, Table: true, Texts: true})
	if err != nil || !strings.Contains(text(rec), `"genres":[{"id":80,"name":"Crime"}]`) {
		t.Errorf("Records = %s, %v, want the genre Crime", text(rec), err)
	}
	want := map[string]int64{"tmdb_movie_dataset.genres: Sonstiges": 1, "tmdb_movie_dataset.genres: IMAX": 1}
	if !maps.Equal(l.Counts().Dropped, want) {
		t.Errorf("Dropped = %v, want %v", l.Counts().Dropped, want)
	}
}

// FuzzDay: a text is rejected, or gives a valid date that survives formatting and parsing in the same format.
func FuzzDay(f *testing.F) {
	for _, seed := range [][2]string{
		{"YYYY-MM-DD", "1995-10-30"},
		{"D-MMM-YY", "30-Mar-21"},
		{"MMM D YYYY", "Jun 12 1998"},
		{"YYYY", "1995.0"},
		{"excel", "35002"},
		{"YYMMDD", "950612"},
		{"D.M.YYYY", "1.2.1999 00:00:00"},
	} {
		f.Add(seed[0], seed[1], int64(0))
		f.Add(seed[0], seed[1], int64(2026))
	}
	f.Fuzz(func(t *testing.T, format, text string, last int64) {
		r, err := newDayReader([]string{format}, last)
		if err != nil {
			return
		}
		got, err := r.parse(text)
		if err != nil {
			return
		}
		d, err := time.Parse(time.DateOnly, got)
		if err != nil || !record.IsDay(got) {
			t.Fatalf("parse(%q) in %q = %q, which is no day", text, format, got)
		}
		if r.formats[0].layout == "" {
			return
		}
		again := d.Format(r.formats[0].layout)
		if back, err := r.parse(again); err != nil || back != got {
			t.Errorf("parse(%q) in %q = %q, but that is written %q, which is %q, %v", text, format, got, again, back, err)
		}
	})
}

// TestDoubts: columns that have the API's names, but may have other values, are named.
func TestDoubts(t *testing.T) {
	f := func(cells func(n int) string, want ...string) {
		t.Helper()
		var rows []string
		for n := range 20 {
			row := fmt.Sprintf(`{"id":"%d","title":"A"%s}`, 100+n*n, cells(n+1))
			if strings.Count(row, `"title":`) > 1 {
				row = strings.Replace(row, `"title":"A",`, "", 1)
			}
			rows = append(rows, row)
		}
		typ, _ := catalog.TypeNamed("movie")
		c := Choose(Subject{Row: Row{File: "movies", Type: typ, Table: true}, Path: "movies", Layout: Auto, Named: true, Rows: rows}, Options{})
		if c.Meaning == nil || !slices.Equal(c.Meaning.Doubts, want) {
			t.Errorf("Choose(%s, ...) = %+v, doubts %q, want %q", rows[0], c, c.Meaning.Doubts, want)
		}
	}
	const ids = "id is treated as TMDB's"
	cell := func(column string, value func(n int) any) func(n int) string {
		return func(n int) string { return fmt.Sprintf(`,"%s":"%v"`, column, value(n)) }
	}
	f(func(int) string { return "" }, ids)
	f(func(int) string { return `,"vote_average":"7","poster_path":"/a.jpg"` })
	f(cell("vote_count\":\"7\",\"is_movie", func(n int) any { return n > 3 }), "is_movie may show that some rows are of another kind", ids)
	f(cell("popularity", func(n int) any { return 21 - n }), ids, "popularity counts the rows")
	f(cell("popularity", func(n int) any { return n * n }), ids)
	f(cell("vote_average", func(n int) any { return float64(n) / 4 }), ids, "no vote_average is above 5 of 10")
	f(cell("vote_average", func(n int) any { return float64(n) / 3 }), ids)
	f(cell("vote_average", func(int) any { return 0 }), ids)
	f(cell("runtime", func(n int) any { return 60 * (80 + n) }), ids, "runtimes are above 600 minutes")
	f(cell("runtime", func(n int) any { return 80 + n }), ids)
	f(cell(`genres":"Drama","release_date`, func(n int) any { return fmt.Sprintf("%d/%d/1999", n%12+1, n%9+1) }), ids, "release_date is read with the month first")
	f(cell(`genres":"Drama","release_date`, func(n int) any { return fmt.Sprintf("%d/%d/1999", n%12+1, n+8) }), ids)
	f(cell("original_language", func(int) any { return "eng" }), ids, "original_language has codes that the API lacks")
	f(cell("original_language", func(int) any { return "en" }), ids)
	f(cell("overview", func(int) any { return "Tom &amp; <b>Jerry</b>" }), ids, "overview has HTML")
	f(cell("overview", func(n int) any { return fmt.Sprintf("A < %d & B > C", n) }), ids)
	f(cell("overview", func(int) any { return "Un Ã©tÃ© Ã  Paris" }), ids, "overview has texts of another encoding, such as Ã© for é")
	f(cell("overview", func(int) any { return "SÃO PAULO, Ñandú" }), ids)
	f(cell("original_title", func(int) any { return "AmÃ©lie" }), ids, "original_title has texts of another encoding, such as Ã© for é")
	f(cell("poster_path", func(int) any { return "https://m.media-amazon.com/a.jpg" }), ids, "poster_path is not a path of TMDB's images")
	f(cell("poster_path", func(int) any { return "a.jpg" }), ids, "poster_path is not a path of TMDB's images")
	f(cell("status", func(int) any { return "available" }), ids, "status has values that the API lacks")
	f(cell("status", func(int) any { return "Post Production" }), ids)
	f(cell("budget", func(n int) any { return 5 - n }), ids, "budget is below 0")
	f(cell("runtime", func(n int) any { return []int{95, -1}[n%2] }), ids, "runtime is below 0")
	f(cell("runtime", func(n int) any { return []int{95, 9999}[n%5/4] }), ids, "runtimes are above 600 minutes")
	f(cell("release_date", func(n int) any { return []string{"1999-10-15", "9999-12-31"}[n%5/4] }), ids, "release_date has placeholders such as 9999-12-31")
	const decorated = "title has years, numbers or quotes that may not be part of it"
	for _, title := range []string{"%d. A", "1999 - A%d", "A%d [1999]", "A%d (1999)", `\"A%d\"`} {
		f(cell("title", func(n int) any { return fmt.Sprintf(title, n) }), ids, decorated)
	}
	f(cell("title", func(n int) any { return fmt.Sprintf("Ocean's %d", n) }), ids)
	f(cell("title", func(n int) any { return []string{"Matrix, The", "Me, Myself"}[n%2] }), ids, "title has articles at its end")
	typ, _ := catalog.TypeNamed("keyword") // a response of a crawl, keyword/5.json
	c := Choose(Subject{Row: Row{File: "5", ID: 5, Type: typ}, Path: "keyword/5", Layout: Auto, Rows: []string{`{"id":5,"name":"a"}`}}, Options{})
	if c.Meaning == nil || c.Meaning.Doubts != nil {
		t.Errorf("Choose of a response at its address = %+v, want no doubts", c)
	}
	typ, _ = catalog.TypeNamed("season")
	c = Choose(Subject{Row: Row{File: "seasons", Type: typ, Table: true}, Path: "seasons", Layout: Auto, Named: true, Rows: []string{`{"show_id":"5","season_number":"1","name":"A"}`}}, Options{})
	if want := []string{"show_id is treated as TMDB's"}; c.Meaning == nil || !slices.Equal(c.Meaning.Doubts, want) {
		t.Errorf("Choose of seasons = %+v, want doubts %q", c, want)
	}
	typ, _ = catalog.TypeNamed("list")
	c = Choose(Subject{Row: Row{File: "watched-list", Type: typ, Table: true}, Path: "watched-list", Layout: Auto, Rows: []string{`{"film":"Heat","year":"1995"}`}}, Options{})
	if c.Draft == nil || !strings.Contains(c.Draft.Text, `kind = "movie"`) {
		t.Errorf("Choose of a list of films = %+v, want a draft of movies", c)
	}
	rows := []string{`{"id":"1.5E+02","title":"A"}`, `{"id":"4.386E+05","title":"B"}`}
	c = Choose(Subject{Row: Row{File: "movies", Type: catalog.TypeOf(fragment.KindMovie), Table: true}, Path: "movies", Layout: Auto, Named: true, Rows: rows}, Options{})
	if want := []string{ids, "id has exponents, and may lack digits"}; c.Meaning == nil || !slices.Equal(c.Meaning.Doubts, want) {
		t.Errorf("Choose(%q, ...) = %+v, want doubts %q", rows, c, want)
	}
}

// TestDoubtsOfMapping: doubts that nobody removed from a draft stay doubts of its table.
func TestDoubtsOfMapping(t *testing.T) {
	const table = "[[table]]\nfiles = ['%s']\n[[table.record]]\nkind = 'movie'\nfields.id = 'nr'\n"
	m, err := parseMapping("m.toml", []byte("# Check: a.\n"+fmt.Sprintf(table, "x")+"# Check: b.\n# Check: c, d.\n"+fmt.Sprintf(table, "y")+"# Check: e.\n"), true)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]string{"x": {"a"}, "y": {"b", "c, d"}} {
		c := Choose(Subject{Row: Row{File: file, Table: true}, Path: file, Layout: Auto, Rows: []string{`{"nr":"1"}`}}, Options{Mappings: []*Mapping{m}})
		if c.Meaning == nil || !slices.Equal(c.Meaning.Doubts, want) {
			t.Errorf("Choose(%s, ...) = %+v, want doubts %q", file, c, want)
		}
	}
}
