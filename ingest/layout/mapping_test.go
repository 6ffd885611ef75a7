package layout

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// mapping parses a mapping.
func mapping(tb testing.TB, text string) *Mapping {
	tb.Helper()
	m, err := parseMapping("m.toml", []byte(text), true)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// movieTable is a mapping of a table "t" of movies, with further fields.
func movieTable(fields ...string) string {
	return "[[table]]\nfiles=['t']\n[[table.record]]\nkind='movie'\n[table.record.fields]\nid = 'id'\n" + strings.Join(fields, "\n") + "\n"
}

// field is a line of a mapping: a path and an expression.
func field(spec string) string {
	path, source, _ := strings.Cut(spec, " = ")
	return path + " = " + quoted(source)
}

// inLine matches the start of errors with a line; TestMappingLines checks the lines.
var inLine = regexp.MustCompile(`mapping m\.toml: (line \d+(, column \d+)?: )?`)

func TestMappingRefuses(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		_, err := parseMapping("m.toml", []byte(text), true)
		if err == nil || inLine.ReplaceAllString(err.Error(), "mapping m.toml: ") != "mapping m.toml: "+strings.Join(want, "\nmapping m.toml: ") {
			t.Errorf("parseMapping(%s)\n = %v\nwant mapping m.toml: %s", text, err, strings.Join(want, "\nmapping m.toml: "))
		}
	}
	entry := func(spec, want string) {
		t.Helper()
		path, _, _ := strings.Cut(spec, " = ")
		f(movieTable(field(spec)), "table t: record 1: field "+path+": "+want)
	}
	// The file.
	f("", "want a [[table]], found none")
	f("[[table]]\nfile='t'", `unknown key "table.file": want one of name, about, files, requires, rows, min_fit, decimal, thousands, scale, record, ignore`)
	f("[[table]]\n[[table.record]]\nid={mint=['title']}", `unknown key "table.record.id": want one of kind, list, part, where, each, match, mint, fields, element`)
	f("[[table]", "expected ']]' to close array table name")
	f("[[table]]\nfiles='t'", `key "table.files": want a list of texts`)
	f("[[table]]\nfiles=[1]", `key "table.files": want a list of texts`)
	f("[[table]]\nmin_fit='yes'", `key "table.min_fit": want a number`)
	f("[[table]]\nfiles=['t']\nmin_fit=50\n[[table.record]]\nkind='movie'\nfields.id='id'", "table t: min_fit 50: want a share from 0 to 1")
	f("[table]\nfiles=['t']", "table t: want a [[table.record]], found none") // one table counts as a list
	f("[[table]]\n[[table.record]]\nfields='x'", `key "table.record.fields": want a table`)
	f("[aliases]\ngenre='Krimi'", `key "aliases.genre": want a table`)
	f("[[table]]\nfiles=['t']\nfiles=['u']", "key files is already defined")
	f("[[table.record]]\nkind='movie'", "table : want files or requires, found neither", "table : record 1: fields: want a field, found none")
	// Tables.
	f("[[table]]\n[[table.record]]\nkind='movie'\nfields.id='id'", "table : want files or requires, found neither")
	f("[[table]]\nfiles=['[']\n[[table.record]]\nkind='movie'\nfields.id='id'", `table [: files: "[" is not a pattern of file names`)
	f("[[table]]\nfiles=['t']", "table t: want a [[table.record]], found none")
	f("[[table]]\nfiles=['t']\nignore=[{column='id'}]\n[[table.record]]\nkind='movie'\nfields.id='id'", "table t: column id is used and ignored")
	for _, text := range []string{"[[table]]\nname = nr", "[[table]]\nname = titel", "[[table]]\nmin_fit = True"} {
		f(text, "want a value in quotes, such as title = 'name', or true or false")
	}
	f("[[skip]]\nfiles=['t']", "skip 1: want a reason, found none")
	f("[[skip]]\nreason='r'", "skip 1: want files or requires, found neither")
	for key, want := range map[string]string{
		"decimal='0'":                `decimal "0": want one sign, such as a comma`,
		"thousands='..'":             `thousands "..": want one sign, such as a comma`,
		"thousands='.'":              `thousands ".": want a sign other than decimal`,
		"decimal=','\nthousands=','": `thousands ",": want a sign other than decimal`,
		"scale={Mio=0}":              `scale: want words and their factors, found "Mio" = 0`,
	} {
		f("[[table]]\nfiles=['t']\n"+key+"\n[[table.record]]\nkind='movie'\nfields.id='id'", "table t: "+want)
	}
	// Records.
	rec := func(r, want string) {
		t.Helper()
		f("[[table]]\nfiles=['t']\n[[table.record]]\n"+r, "table t: record 1: "+want)
	}
	rec("kind='film'", `kind "film": want one of movie, tv, season, episode, person, collection, company, network, keyword, review, credit, episode_group, list, account`)
	rec("kind='movie'", "fields: want a field, found none")
	rec("kind='movie'\nfields.title='t'", "no column maps to the id of movie records or to an external id such as imdb_id, and the record mints none")
	rec("kind='season'\nfields.season_number='t'", "no column maps to the field series_id, which identifies season records")
	rec("kind='movie'\nlist='cast'\nfields.id='id'", "list: movie records have no field cast")
	rec("kind='movie'\nlist='credits'\nfields.id='id'", "list: credits is not a list of objects")
	rec("kind='movie'\nelement='x'\nfields.id='id'", "element: want list, which names the list that a row is an element of")
	rec("kind='movie'\nwhere='5'\nfields.id='id'", "where: 5: expected bool, but got int")
	rec("kind='movie'\nwhere='x =='\nfields.id='id'", "where: x ==: unexpected token EOF")
	rec("kind='movie'\neach='split(x)'\nfields.id='id'", `each: split: want a separator, for instance ", "`)
	// Fields.
	entry("titel = x", "movie records have no field titel")
	entry("title_xq = x", "movie records have no field title_xq")
	entry("credits.casts = x", "there is no field casts")
	entry("credits.cast.id = x", "field cast is not an object")
	f(movieTable("credits.cast='a'\ncredits.crew='b'\nvideos.results='c'", "credits='d'"), "key credits is already defined")
	entry("title = date(x)", "date: want at least one format, for instance YYYY-MM-DD")
	for _, f := range []string{"M/D", "YYYY-D", "YYYY-MM-DD-DD", "yyyy", "YYYYThh", ""} {
		entry("title = date(x, '"+f+"')",
			fmt.Sprintf("date: formats: %q is not a date format: want excel, unix, or YYYY or YY once, with M, MM, MMM or MMMM and D or DD once each, "+
				"and blanks, points, commas, - or / between, for instance YYYY-MM-DD", f))
	}
	for _, pair := range [][2]string{{"YYYY-MM-DD", "YYYY-MM-DD"}, {"M/D/YY", "D/M/YY"}, {"YY-M-D", "D-M-YY"}, {"YYYY", "YYMM"}, {"YYMMDD", "excel"}, {"M/D/YYYY", "D/M/YYYY"}} {
		entry("title = date(x, '"+pair[0]+"','"+pair[1]+"')", "date: formats: "+pair[0]+" and "+pair[1]+" read the same texts")
	}
	entry("title = date(x, 'YYYY', 2000)", "date: last_year: want a format with YY")
	entry("title = date(x, 'YY', 26)", "date: last_year 26: want a year from 1900 to 9999")
	entry("title = date(x, y)", "date: argument 2: want a constant")
	entry("title = date()", "date: want a value to read, found none")
	entry("title = title(x, 1)", "title: argument 2: want a text, found 1")
	entry("title = titel(x)", "titel: there is no such function: want one of "+strings.Join(functionNames(), ", ")+", or one of the language")
	entry("title = x.title()", "want the name of a function before (")
	entry("title = now()", "now: there is no such function: want one of "+strings.Join(functionNames(), ", ")+", or one of the language")
	entry("title = imdb(x, 'tt')", "imdb: want one argument, found 2")
	entry("runtime = minutes(x, ',')", "minutes: want one argument: decimal, thousands and scale are keys of the table")
	entry("runtime = tmdb(x, 'movie')", "tmdb: want one argument, found 2")
	entry("vote_average = score(x)", "score: want the best score, such as 5 or 100")
	entry("vote_average = score(x, 0)", "score: want the best score, such as 5 or 100")
	entry("budget = amount(x)", "amount: want at least one unit, such as $")
	entry("budget = amount(x, '')", "amount: want units, found an empty one")
	entry("title = x +", "x +: unexpected token EOF")
	for aliases, want := range map[string]string{
		"[aliases.film]\n'A' = 'B'":          "aliases.film: want aliases of one of genre, country, language, company, network, keyword, person",
		"[aliases.genre]\n'Krimi' = 'Crimi'": `aliases.genre."Krimi": alias: "Crimi" is not a genre of the API`,
		"[aliases.country]\n'BRD' = ['XX']":  `aliases.country."BRD": alias: "XX" is not a country of the API`,
		"[aliases.genre]\n'Krimi' = 80":      `aliases.genre."Krimi": alias: want a text or a list of texts`,
		"[aliases.keyword]\n'a' = ''":        `aliases.keyword."a": alias: "" is not a keyword of the API`,
	} {
		f(aliases, want)
	}
	entry("genres = names(x)", "names: want the kind of the names, one of genre, country, language, company, network, keyword, person, and at most {separator, mint} after it")
	entry("genres = names(x, 'film')", "names: want one of genre, country, language, company, network, keyword, person, found film")
	entry("origin_country = codes(x, 'genre')", "codes: want one of country, language, found genre")
	entry("genres = names(x, 'genre', {mint: true})", "names: mint: want names of company, network or keyword; unknown people get ids anyway")
	entry("genres = names(x, 'genre', {separater: ';'})", "names: unknown option separater: want separator, mint")
	entry("genres = names(x, 'genre', {separator: 5})", "names: separator: found 5")
	entry("genres = names(x, 'genre', ';')", "names: want {separator, mint}, found ;")
	entry("budget = match(x, {})", `match: want a value for each text, for instance {"Woman": 1, "Man": 2}`)
	// Values that do not fit the field.
	entry("title = split(x, ';')", "split(x, ';') is a list, and the field a text")
	entry("title = bool(x)", "bool(x) is true or false, and the field a text")
	entry("budget = date(x, 'YYYY')", "date(x, 'YYYY') is a text, and the field an integer")
	entry("genres = int(x)", "int(x) is an integer, and the field a list of objects")
	f(movieTable("title=true"), "table t: record 1: field title: value true does not fit the field")
	f(movieTable("genres=1"), "table t: record 1: field genres: value 1 does not fit the field")
	entry("budget = 'x'", "value x does not fit the field")
	// All errors of a file are reported.
	f(movieTable("b='x'\nd='y'"), "table t: record 1: field b: movie records have no field b", "table t: record 1: field d: movie records have no field d")
	if _, err := ReadMapping(filepath.Join(t.TempDir(), "none.toml")); err == nil || !strings.HasPrefix(err.Error(), "read mapping: ") {
		t.Errorf("ReadMapping(none) = %v", err)
	}
}

// TestMappingLines: syntax errors have the right line.
func TestMappingLines(t *testing.T) {
	for text, want := range map[string]string{
		"[[table]]\nfiles=['t']\n\nfile='u'":         "line 4: ",
		"[[table]]\nfiles=['t']\nmin_fit='a'":        "line 3, column 9: ",
		"[[table]]\nfiles=['t']\nname='t'\nname='t'": "line 4, column 1: ",
	} {
		_, err := parseMapping("m.toml", []byte(text), true)
		if err == nil || !strings.HasPrefix(err.Error(), "mapping m.toml: "+want) {
			t.Errorf("parseMapping(%s) = %v, want mapping m.toml: %s", text, err, want)
		}
	}
}

// names is a NameIDs with companies.
type names map[string]int64

func (n names) ID(k fragment.Kind, name string) (int64, bool) {
	id, ok := n[name]
	return id, ok && k == fragment.KindCompany
}

// TestConvert: cells and the fields that they give.
func TestConvert(t *testing.T) {
	c := cellTest{T: t, names: names{"A": 1, "B": 2, "B, C": 3, "D, Inc.": 4, "Twice": 0, "E, F": 0, "E": 5, "F": 6}}
	// Integers.
	for cell, n := range map[string]string{`"12"`: "12", `" 12 "`: "12", `"550.0"`: "550", `"1.23e6"`: "1230000", `"-3"`: "-3", `"0"`: "0", `425274.0`: "425274", `7`: "7", `"9007199254740993"`: "9007199254740993"} {
		c.want("budget = x", cell, `"budget":`+n)
	}
	for _, cell := range []string{`"1,234"`, `"1.5"`, `"abc"`, `"1e300"`, `"0x10"`, `"1_000"`, `"1 2"`, `"inf"`, `"--1"`, `"12a"`, `1.5`, `true`, `"150.000"`} {
		c.refuse("budget = x", cell, "want an integer, found "+cell)
	}
	c.want("budget = x", `150.000`, `"budget":150`)
	c.refuse(`budget = amount(x, "$")`, `"$150.000"`, `want a number, with or without $, found "$150.000"`) // 150,000 in countries with a decimal comma
	c.refuse("budget = x", `[1]`, "want one value, found [1]")
	c.want("budget = x", `""`, "")
	c.want("budget = x", `"  "`, "")
	c.want("budget = x", `null`, "")
	// Numbers.
	c.want("popularity = x", `"8.20E-05"`, `"popularity":0.000082`)
	c.want("popularity = x", `"1.23e6"`, `"popularity":1230000.0`)
	c.want("popularity = x", `" 7 "`, `"popularity":7.0`)
	c.want("popularity = x", `".5"`, `"popularity":0.5`)
	c.want("popularity = x", `7.25`, `"popularity":7.25`)
	for _, cell := range []string{`"1,5"`, `"Infinity"`, `"1e999"`, `"0x1p-2"`} {
		c.refuse("popularity = x", cell, "want a number, found "+cell)
	}
	// Booleans.
	for _, cell := range []string{`"TRUE"`, `"true"`, `"True"`, `"1"`, `"1.0"`, `true`, `1`, `"Yes"`, `"t"`} {
		c.want("adult = x", cell, `"adult":true`)
	}
	for _, cell := range []string{`"FALSE"`, `"false"`, `"False"`, `"0"`, `"0.0"`, `false`, `0`, `"no"`, `"N"`} {
		c.want("adult = x", cell, `"adult":false`)
	}
	c.refuse("adult = x", `"maybe"`, `want true or false, found "maybe"`)
	c.refuse("adult = x", `2`, `want true or false, found 2`)
	// Days.
	days := `release_date = date(x, "YYYY-MM-DD", "M/D/YYYY", "excel")`
	for cell, d := range map[string]string{
		`"1995-10-30"`: "1995-10-30", `"10/30/1995"`: "1995-10-30", `"1/2/1995"`: "1995-01-02", `" 1995-10-30 "`: "1995-10-30",
		`"1995-10-30 00:00:00"`: "1995-10-30", `"1995-10-30T00:00:00.000Z"`: "1995-10-30", `"35002"`: "1995-10-30", `35002`: "1995-10-30", `"10000.0"`: "1927-05-18",
		`"2000-02-29"`: "2000-02-29",
	} {
		c.want(days, cell, `"release_date":"`+d+`"`)
	}
	for _, cell := range []string{`"1/2/95"`, `"30/10/1995"`, `"1995"`, `"2001-02-29"`, `"0000-01-01"`, `"9999"`, `"-1"`, `"95-10-30"`, `"Oct 1995"`} {
		c.refuse(days, cell, "want a day as YYYY-MM-DD or M/D/YYYY or excel, found "+cell)
	}
	c.want(`release_date = date(x, "D.M.YYYY")`, `"30.10.1995"`, `"release_date":"1995-10-30"`)
	c.want(`release_date = date(x, "YYYYMMDD")`, `19951030`, `"release_date":"1995-10-30"`)
	c.refuse("release_date = x", `"30.10.1995"`, `want YYYY-MM-DD or nothing, found "30.10.1995"`)
	// Texts.
	c.want("title = x", `"A \"b\" \u00e9"`, `"title":"A \"b\" é"`)
	c.want("title = x", `""`, `"title":""`)
	c.want(`title = x in ["-", "n/a"] ? nil : x`, `"n/a"`, "")
	c.want(`poster_path = trimPrefix(trimPrefix(x, "https://i/original"), "https://i/w500")`, `"https://i/w500/a.jpg"`, `"poster_path":"/a.jpg"`)
	c.want(`poster_path = trimPrefix(x, "https://i/original")`, `"/a.jpg"`, `"poster_path":"/a.jpg"`)
	// Prefixes are removed before numbers and other values are read.
	c.want(`budget = trimPrefix(x, "s")`, `"s123"`, `"budget":123`)
	c.want(`budget = trimPrefix(trimPrefix(x, "s"), "S")`, `"S123"`, `"budget":123`)
	c.want(`budget = trimPrefix(x, "s")`, `"123"`, `"budget":123`)
	c.want(`budget = trimPrefix(x, "s")`, `123`, `"budget":123`)
	c.want(`budget = trimPrefix(x, "s")`, `"s"`, "")
	// Also at the end of a path.
	c.want(`poster_path = trimSuffix(trimPrefix(json(x)?.u, "https://i/w500"), "?x")`, `{"u":"https://i/w500/a.jpg?x"}`, `"poster_path":"/a.jpg"`)
	c.want(`poster_path = trimPrefix(json(x)?.u, "https://i/w500")`, `"{\"u\":\"https://i/w500/a.jpg\"}"`, `"poster_path":"/a.jpg"`)
	c.want(`poster_path = json(x)?.u in ["-"] ? nil : json(x)?.u`, `{"u":"-"}`, "")
	c.want(`budget = trimSuffix(json(x)?.a?.n, " $")`, `{"a":{"n":"12 $"}}`, `"budget":12`)
	c.want(`imdb_id = imdb(trimPrefix(x, "https://www.imdb.com/title/"))`, `"https://www.imdb.com/title/tt0114709"`, `"imdb_id":"tt0114709"`)
	c.want(`adult = trimPrefix(x, "is_")`, `"is_true"`, `"adult":true`)
	c.want(`status = match(trimPrefix(x, "s-"), {"1": "Released"})`, `"s-1"`, `"status":"Released"`)
	c.refuse(`budget = trimPrefix(x, "s")`, `"sx"`, `want an integer, found "sx"`)
	c.refuse(`budget = trimPrefix(x, "s")`, `"x1"`, `want an integer, found "x1"`)
	c.want("imdb_id = imdb(x)", `"0114709"`, `"imdb_id":"tt0114709"`)
	c.want("imdb_id = imdb(x)", `"tt0114709"`, `"imdb_id":"tt0114709"`)
	c.want("imdb_id = imdb(x)", `114709.0`, `"imdb_id":"tt0114709"`)
	c.want("imdb_id = imdb(x)", `"https://www.imdb.com/title/tt0114709/?ref_=x"`, `"imdb_id":"tt0114709"`)
	c.want("imdb_id = imdb(x)", `"https://example.org/1"`, ``)
	c.want("imdb_id = imdb(x)", `[{"id":"tmdb://862"},{"id":"imdb://tt0114709"}]`, `"imdb_id":"tt0114709"`)
	c.want("imdb_id = imdb(x)", `"12345678"`, `"imdb_id":"tt12345678"`)
	c.refuse("imdb_id = imdb(x)", `"0"`, `want an IMDb id of a title, with or without tt, found "0"`)
	c.refuse("imdb_id = imdb(x)", `"nm0000001"`, `want an IMDb id of a title, with or without tt, found "nm0000001"`)
	c.want("title = x", `5`, `"title":"5"`)
	c.refuse("title = x", `true`, "want a text, found true")
	c.want("title_de = x", `"D"`, `"localized":[{"language":"de-DE","title":"D"}]`)
	// Values.
	c.want(`status = match(x, {"1": "Released"})`, `"1"`, `"status":"Released"`)
	c.want(`status = match(x, {"1": "Released"})`, `1`, `"status":"Released"`)
	c.want(`video = match(x, {"j": true, "n": false})`, `"n"`, `"video":false`)
	c.refuse(`video = match(x, {"j": true, "n": false})`, `"x"`, `want one of "j", "n", found "x"`)
	c.want(`video = match(x, {"j": true})`, `null`, "")
	// JSON and Python.
	c.want("genres = x", `"[{\"id\":18}]"`, `"genres":[{"id":18}]`)
	c.want("genres = x", `[{"id":18,"name":"Drama"}]`, `"genres":[{"id":18,"name":"Drama"}]`)
	c.want("genres = x", `"[]"`, `"genres":[]`)
	c.want("genres = x", `""`, "")
	c.refuse("genres = x", `"Drama"`, `want JSON, found "Drama"`)
	c.refuse("genres = x", `"[{'id': 18}]"`, `want JSON, found "[{'id': 18}]"`)
	if got, err := c.read("genres = x", `"[{\"id\":\"x\"}]"`); err == nil || err.Error() != `x[0].id: want an integer, found "x"` {
		t.Errorf("genres with a text as id = %s, %v", got, err)
	}
	c.want("belongs_to_collection = python(x)", `"{'id': 2, 'name': \"It's\", 'poster_path': None}"`, `"belongs_to_collection":{"id":2,"name":"It's","poster_path":null}`)
	c.refuse("belongs_to_collection = python(x)", `"{'id': 2"`, `want a Python literal: its parts do not fit together, found "{'id': 2"`)
	c.want("genre_ids = x", `"[18]"`, `"genres":[{"id":18,"name":"Drama"}]`)
	c.want("credits.cast = x", `"[{\"id\":3}]"`, `"credits":{"cast":[{"id":3}]}`)
	// Paths.
	c.want("title = python(x)?.a?.b", `"{'a': {'b': 'T'}}"`, `"title":"T"`)
	c.want("title = json(x)?.a?.b", `{"a":{"b":"T"}}`, `"title":"T"`)
	c.want("title = json(x)?.a?.b", `{"a":null}`, "")
	c.want("title = json(x)?.a?.b", `{"a":{}}`, "")
	c.refuse("title = json(x)?.a?.b", `{"a":[1]}`, `want an object, found {"a":[1]}`)
	c.want(`"*" = x`, `{"title":"T","budget":1}`, `"budget":1,"title":"T"`)
	c.refuse(`"*" = x`, `[1]`, "want an object, found [1]")
	// Lists.
	c.want(`genre_ids = split(x, " ")`, `"18 53"`, `"genres":[{"id":18,"name":"Drama"},{"id":53,"name":"Thriller"}]`)
	c.refuse(`genre_ids = split(x, " ")`, `"18 x"`, `want integers, found "18 x"`)
	c.want(`origin_country = codes(x, "country")`, `"US, Great Britannia"`, `"x_text":"US, Great Britannia"`)
	// Joined lists of names.
	genres := `genres = names(x, "genre")`
	c.want(genres, `"Drama, TV Movie"`, `"genres":[{"id":18,"name":"Drama"},{"id":10770,"name":"TV Movie"}]`)
	c.want(`genres = names(x, "genre", {separator: ", "})`, `"Drama,Comedy"`, `"x_text":"Drama,Comedy"`)
	c.want(genres, `""`, "")
	c.want(`production_countries = names(x, "country")`, `"United Kingdom, Congo"`, `"x_text":"United Kingdom, Congo"`) // an ambiguous name
	c.want(`spoken_languages = names(x, "language", {separator: " / "})`, `"English / French"`,
		`"spoken_languages":[{"english_name":"English","iso_639_1":"en","name":"English"},{"english_name":"French","iso_639_1":"fr","name":"Français"}]`)
	companies := `production_companies = names(x, "company")`
	c.want(companies, `"A, D, Inc."`, `"production_companies":[{"id":1,"name":"A"},{"id":4,"name":"D, Inc."}]`)
	c.want(companies, `"A"`, `"production_companies":[{"id":1,"name":"A"}]`)
	c.want(companies, `"A, B, C"`, `"production_companies":[{"id":1,"name":"A"},{"id":3,"name":"B, C"}]`) // C alone is unknown
	c.want(companies, `"A, Unknown"`, `"x_text":"A, Unknown"`)
	c.want(companies, `"A, Twice"`, `"x_text":"A, Twice"`)
	c.want(companies, `"E, F"`, `"x_text":"E, F"`) // one company with an ambiguous name, or two companies
	c.want(companies, `"A, E"`, `"production_companies":[{"id":1,"name":"A"},{"id":5,"name":"E"}]`)
	c.want(`production_companies = names(x, "person")`, `"A"`, `"x_text":"A"`) // a person's name may have any form
	c.want(`keywords.keywords = names(x, "keyword")`, `"a, b"`, `"x_text":"a, b"`)
	// Of two columns with one name, the last counts.
	c.want("title = x", `"A","x":"B"`, `"title":"B"`)
}

// TestMapped: rows of tables with the user's mapping.
func TestMapped(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "shop.toml"))
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Mappings: []*Mapping{mapping(t, string(text))}}
	l := newReader(tables, o)
	f := func(file, row string, want ...string) {
		t.Helper()
		recs, err := l.Records(Row{File: file, JSON: row, Table: true})
		if got := described(recs); err != nil || !slices.Equal(got, want) {
			t.Errorf("Records(%s, %s)\n = %s, %v\nwant %s", file, row, strings.Join(got, "\n   "), err, strings.Join(want, "\n   "))
		}
	}
	f("Filme_2", `{"nr":"5","name":"A","start":"1.2.1999","genre":"Drama; Comedy","preis":"9","Unnamed: 0":"1","farbe":"rot"}`,
		`movie 5 {"genres":[{"id":18,"name":"Drama"},{"id":35,"name":"Comedy"}],"id":5,"original_language":"de","release_date":"1999-02-01","title":"A"}`)
	f("filme", `{"name":"B","nr":"6","genre":"Drama; Heimat"}`, `movie 6 {"id":6,"original_language":"de","title":"B","genre_text":"Drama; Heimat"}`)
	f("filme", `{"nr":null,"name":null,"genre":""}`)
	f("rollen", `{"film":5,"person":7,"name":"N","art":"Darsteller","rolle":"R"}`,
		`movie 5 {"id":5,"credits":{"cast":[{"id":7,"name":"N","character":"R"}]}}`, `person 7 {"id":7,"name":"N"}`)
	f("rollen", `{"film":5,"person":7,"name":"N","art":"Regie","rolle":null}`,
		`movie 5 {"id":5,"credits":{"crew":[{"id":7,"name":"N","department":"Directing","job":"Regie"}]}}`, `person 7 {"id":7,"name":"N"}`)
	f("rollen", `{"film":5,"person":null,"name":"N","art":"Darsteller"}`)
	f("staffeln", `{"serie":"9","nr":"1","folgen":"[{\"nr\":1,\"titel\":\"A\",\"art\":\"x\",\"neu\":1},{\"nr\":2,\"titel\":null}]"}`,
		`season 9 1 {"episodes":[{"episode_number":1,"name":"A"},{"episode_number":2}],"season_number":1,"series_id":9}`)
	want := map[string]int64{
		"filme: empty rows": 1, "rollen: rows that no record takes": 1,
	}
	if !maps.Equal(l.Counts().Dropped, want) {
		t.Errorf("Dropped = %v, want %v", l.Counts().Dropped, want)
	}
	if want := map[string]int64{"filme.genre": 1}; !maps.Equal(l.Counts().Whole, want) || len(l.Counts().Unknown) > 0 {
		t.Errorf("Whole = %v, Unknown = %v, want %v, none", l.Counts().Whole, l.Counts().Unknown, want)
	}
	refuse := func(file, row, want string) {
		t.Helper()
		if recs, err := l.Records(Row{File: file, JSON: row, Table: true}); err == nil || err.Error() != want {
			t.Errorf("Records(%s, %s) = %s, %v, want %s", file, row, described(recs), err, want)
		}
	}
	refuse("filme", `{"nr":"","name":"A"}`, "nr: want an integer, found nothing")
	refuse("filme", `{"nr":"0","name":"A"}`, "nr: want 1 or more, found 0")
	refuse("rollen", `{"film":5,"person":7,"name":true,"art":"Darsteller"}`, "name: want a text, found true")
	refuse("staffeln", `{"serie":"9","nr":"1","folgen":"[{\"nr\":\"x\"}]"}`, `folgen[0].episode_number: want an integer, found "x"`)
	refuse("staffeln", `{"serie":"9","nr":"1","folgen":"[{\"nr\":1},2]"}`, `folgen: want an object, found "[{\"nr\":1},2]"`)
	refuse("staffeln", `{"serie":"9","nr":"1","folgen":"2"}`, `folgen: want a list, found "2"`)
	for _, c := range []struct{ file, row, want string }{
		{"filme", `{"nr":1,"name":"A"}`, ""},
		{"preise", `{"nr":1}`, "prices are none of the API's"},
		{"preise", `{"movieId":"1","imdbId":"2","tmdbId":"3"}`, "prices are none of the API's"}, // although a built-in table matches
		{"ratings", `{"userId":"1","movieId":"2","rating":"3","timestamp":"4"}`, "ratings by single users have no place in the API"},
	} {
		if got := chosen(c.file, "", o, c.row).Skip; got != c.want {
			t.Errorf("%s with %s is skipped for %q, want %q", c.file, c.row, got, c.want)
		}
	}
}

// TestExportLanguage: exports have no language, even beside a crawl in another one.
func TestExportLanguage(t *testing.T) {
	l := newReader(idExport, Options{Language: "de-DE"})
	recs, err := l.Records(Row{File: "person_ids_01_02_2024", JSON: `{"adult":false,"id":1,"name":"N","popularity":1.5}`})
	if got, want := described(recs), []string{`person 1 {"adult":false,"id":1,"name":"N","popularity":1.5}`}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Records = %s, %v, want %s", got, err, want)
	}
}

// A goldenRow is a file of testdata/ready: a row of a built-in table, and its records.
type goldenRow struct {
	path    string
	File    string          `json:"file"`
	Layout  string          `json:"layout"`
	Row     json.RawMessage `json:"row"`
	Records []string        `json:"records"`
}

func goldenRows(tb testing.TB) (out []goldenRow) {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "ready", "*.json"))
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no goldens: %v", err)
	}
	for _, path := range paths {
		g := goldenRow{path: path}
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, &g)
		}
		if err != nil {
			tb.Fatalf("%s: %v", path, err)
		}
		out = append(out, g)
	}
	return out
}

// TestReady: a row of every built-in table, and its records.
func TestReady(t *testing.T) {
	seen := map[string]bool{}
	o := Options{Names: names{"First Works": 7, "Works, Second": 8}}
	for _, g := range goldenRows(t) {
		c := Choose(Subject{Row: Row{File: g.File, Table: true}, Path: g.File, Layout: Auto, Rows: []string{string(g.Row)}}, o)
		if c.Meaning == nil {
			t.Fatalf("%s: %+v, want a meaning", g.path, c)
		}
		g.Layout = c.Meaning.Layout
		recs, err := c.Meaning.Reader(o).Records(Row{File: g.File, JSON: string(g.Row), Table: true})
		if err != nil {
			t.Errorf("%s: %v", g.path, err)
		}
		g.Records = described(recs)
		name, table := c.Meaning.Mapping()
		seen[name+" "+table] = true
		var now strings.Builder
		e := json.NewEncoder(&now)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(g); err != nil {
			t.Fatal(err)
		}
		sharedtest.Golden(t, g.path, now.String())
	}
	for _, name := range mappedLayouts {
		for _, m := range ready(name) {
			for _, tab := range m.tables {
				if !seen[m.Name+" "+tab.label()] {
					t.Errorf("testdata/ready has no row of table %s of %s: add a file with its name and row, then go test ./ingest/layout -update", tab.label(), m.Name)
				}
				if len(tab.Requires) == 0 {
					t.Errorf("table %s of %s has no columns that tell it from other tables", tab.label(), m.Name)
				}
			}
		}
	}
}

// FuzzMapped: any row of any table, also without an ID, is rejected with one line, or makes records that survive JSON.
func FuzzMapped(f *testing.F) {
	m := mapping(f, `[[table]]
files = ["t"]

[[table.record]]
kind = "tv"
mint = ["name", "year"]
[table.record.fields]
external_ids.imdb_id = 'imdb'
external_ids.tvdb_id = 'trimPrefix(tvdb, "t")'
name = 'name'
credits.cast = 'names(cast, "person", {separator: "|"})'

[[table.record]]
kind = "tv"
list = "credits.crew"
each = 'split(crew, ";")'
element = 'name(element, "person")'
[table.record.fields]

[[table.record]]
kind = "season"
each = 'python(seasons)'
[table.record.fields]
season_number = 'element.no'
episode_count = 'place'
episodes = 'map(element.eps, ({episode_number: .n}))'
`)
	for _, row := range []string{
		`{"imdb":"tt5","name":"A","year":1999.0,"cast":"A|B","crew":["C","A"],"seasons":[{"no":1,"eps":[{"n":1}]},null]}`,
		`{"tvdb":"t7","crew":"A; B","seasons":"[{'no': 1}]"}`,
		`{"name":" a  B ","year":"x","seasons":[{"no":-1}]}`,
		`{"name":{},"year":[],"seasons":[[]],"crew":[{}]}`,
	} {
		f.Add(tables, "t", row)
	}
	known := knownIDs{"tv imdb_id tt5": 5, "tv tvdb_id 7": 7, "tv 5 a": 3}
	for _, g := range goldenRows(f) {
		f.Add(g.Layout, g.File, string(g.Row))
	}
	f.Fuzz(func(t *testing.T, name, file, row string) {
		if !IsMapped(name) || len(row) > 1<<14 || !utf8.ValidString(row) || !json.Valid([]byte(row)) {
			return
		}
		l := newReader(name, Options{Mappings: []*Mapping{m}, Names: names{"A": 1, "B, A": 2}, IDs: known})
		recs, err := l.Records(Row{File: file, JSON: row, Table: true})
		if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("Records(%q): %q, want one line", row, err)
		}
		for _, r := range recs {
			again := r.Type.New()
			if err := record.NewParser().Parse(text(r.Record), again); err != nil {
				t.Fatalf("Parse(%s) = %v", text(r.Record), err)
			}
			if key, err := r.Type.Key(again); err != nil || key != r.Key {
				t.Errorf("%q has key %v, %v, want %v", text(r.Record), key, err, r.Key)
			}
		}
	})
}

// FuzzParseMapping: any text is rejected, or is a mapping whose tables read rows.
func FuzzParseMapping(f *testing.F) {
	for _, name := range mappedLayouts {
		entries, err := mappingFiles.ReadDir("mappings/" + name)
		if err != nil {
			f.Fatal(err)
		}
		for _, e := range entries {
			text, err := mappingFiles.ReadFile("mappings/" + name + "/" + e.Name())
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	f.Add(movieTable("{column='x',field='title'}"))
	f.Add(movieTable("{column='x',field='production_companies',as='names',of='company',mint=true},{column='y',field='release_date',as='date',formats=['D-MMM-YY'],last_year=2026}") +
		"[aliases.genre]\n'Krimi'='Crime'\n[[skip]]\nfiles=['u']\nreason='r'")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parseMapping("m.toml", []byte(text), true)
		if err != nil {
			return
		}
		for _, tab := range m.tables {
			row := "{"
			for _, name := range readColumns(tab.form()) {
				if row != "{" {
					row += ","
				}
				row += string(record.AppendString(nil, name)) + `:"1"`
			}
			l := newReader(tables, Options{Mappings: []*Mapping{m}})
			_, _ = l.Records(Row{File: tab.label(), JSON: row + "}"})
		}
	})
}

// readColumns returns the columns that a form reads, and the ignored ones.
func readColumns(f *form) []string {
	all := maps.Clone(f.ignored)
	for _, s := range f.shapes {
		for _, name := range s.columns() {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// TestLeftOut: a value that does not fit its field is left out under its column's name, and the row stays.
func TestLeftOut(t *testing.T) {
	m := mapping(t, strings.Replace(movieTable(`name='name'`, `vote_count='cost'`, `first_air_date='date(start, "D.M.YYYY")'`, `poster_path='art.url'`, `genres='json(tags)'`), "movie", "tv", 1)+`
[[table.record]]
kind = "season"
each = 'seasons'
fields.season_number = 'element.no'
fields.name = 'element.title'
`)
	values := &record.Values{}
	o := Options{Mappings: []*Mapping{m}, Values: values}
	l := newReader(tables, o)
	recs, err := l.Records(Row{File: "t", Table: true, JSON: `{"id":7,"name":"A","cost":"x","start":"00.00.0000","art":{"url":true},"tags":"[{\"id\":18},5,{\"id\":\"y\"}]",` +
		`"seasons":[{"no":1,"title":true},{"no":"one"},{"no":2,"title":"Two"}]}`})
	want := []string{
		`tv 7 {"genres":[{"id":18},{}],"id":7,"name":"A"}`, `season 7 1 {"season_number":1,"series_id":7}`, `season 7 2 {"name":"Two","season_number":2,"series_id":7}`,
	}
	if got := described(recs); err != nil || !slices.Equal(got, want) {
		t.Errorf("Records = %s, %v, want %s", got, err, want)
	}
	var left []string
	for _, l := range values.Take() {
		left = append(left, l.Path+": "+l.First[0].What)
	}
	wantLeft := []string{
		`start: want a day as D.M.YYYY, found "00.00.0000"`, `art.url: want a text, found true`, `cost: want an integer, found "x"`, `tags[]: want an object, found 5`,
		`tags[].id: want an integer, found "y"`, `seasons[].title: want a text, found true`, `seasons[].no: want an integer, found "one"`,
	}
	if !slices.Equal(left, wantLeft) {
		t.Errorf("left out: %q, want %q", left, wantLeft)
	}
	if _, err := l.Records(Row{File: "t", Table: true, JSON: `{"id":"x","name":"A"}`}); err == nil || err.Error() != `id: want an integer, found "x"` {
		t.Errorf("Records of a row without a usable id: %v", err)
	}
}

// TestFates: a value counts by the result of its own expressions, beside others in the same object.
func TestFates(t *testing.T) {
	m := mapping(t, movieTable(`title='film.name'`, `release_date='date(film.start, "YYYY")'`, `budget='cost'`, `revenue='cost'`))
	l := newReader(tables, Options{Mappings: []*Mapping{m}, Values: &record.Values{}})
	if _, err := l.Records(Row{File: "t", JSON: `{"id":7,"film":{"name":"A","start":"soon","more":1},"cost":"x","rest":"y"}`}); err != nil {
		t.Fatal(err)
	}
	want := map[string]record.Cells{
		"id": {Used: 1}, "film.name": {Used: 1}, "film.start": {LeftOut: 1}, "film.more": {Unused: 1}, "cost": {LeftOut: 1}, "rest": {Unused: 1},
	}
	if got := l.Counts().Cells; !maps.Equal(got, want) {
		t.Errorf("Cells = %+v, want %+v", got, want)
	}
}

// TestNumbers: a table defines its number format.
func TestNumbers(t *testing.T) {
	m := mapping(t, strings.Replace(movieTable(`budget='cost'`, `popularity='pop'`, `vote_count='int(votes) + 1'`), "files=['t']", "files=['t']\ndecimal=','\nthousands='.'\nscale={Mio=1000000}", 1))
	o := Options{Mappings: []*Mapping{m}}
	l := newReader(tables, o)
	for row, want := range map[string]string{
		`{"id":"1","cost":"10.000.000","pop":"7,9","votes":"1.234"}`: `{"budget":10000000,"id":1,"popularity":7.9,"vote_count":1235}`,
		`{"id":"2","cost":"1,5 Mio","pop":"-1.234,5","votes":""}`:    `{"budget":1500000,"id":2,"popularity":-1234.5}`,
		`{"id":"3","cost":"12","pop":",5","votes":"0"}`:              `{"budget":12,"id":3,"popularity":0.5,"vote_count":1}`,
		`{"id":4,"cost":5,"pop":7.5,"votes":6}`:                      `{"budget":5,"id":4,"popularity":7.5,"vote_count":7}`,
	} {
		if recs, err := l.Records(Row{File: "t", Table: true, JSON: row}); err != nil || text(recs[0].Record) != want {
			t.Errorf("Records(%s) = %s, %v, want %s", row, described(recs), err, want)
		}
	}
	for _, cell := range []string{`"1.5"`, `"10.00"`, `"1.2345"`, `"1,2,3"`, `".5"`, `"1.234.56"`, `"5 Mio Mio"`, `"Mio"`} {
		if recs, err := l.Records(Row{File: "t", Table: true, JSON: `{"id":5,"pop":` + cell + `}`}); err == nil {
			t.Errorf("popularity %s = %s, want it refused", cell, described(recs))
		}
	}
}
