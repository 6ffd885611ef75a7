package layout

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// knownIDs implements IDs with keys such as "movie imdb_id tt5" and "movie 5 Name".
type knownIDs map[string]int64

func (k knownIDs) External(kind fragment.Kind, source, id string) (int64, bool) {
	n, ok := k[fmt.Sprint(kind, " ", source, " ", id)]
	return n, ok
}

func (k knownIDs) Person(kind fragment.Kind, title int64, name string) (int64, bool) {
	n, ok := k[fmt.Sprint(kind, " ", title, " ", name)]
	return n, ok
}

// A tableTest reads rows of a table "t".
type tableTest struct {
	*testing.T
	l Layout
}

func newTableTest(t *testing.T, records string, ids IDs) tableTest {
	t.Helper()
	o := Options{Mappings: []*Mapping{mapping(t, "[[table]]\nfiles=['t']\n"+records)}, IDs: ids}
	return tableTest{t, newReader(tables, o)}
}

func (t tableTest) records(row string) ([]Record, error) {
	return t.l.Records(Row{File: "t", JSON: row, Table: true})
}

func (t tableTest) want(row string, want ...string) []Record {
	t.Helper()
	recs, err := t.records(row)
	if got := described(recs); err != nil || !slices.Equal(got, want) {
		t.Errorf("Records(%s)\n = %s, %v\nwant %s", row, strings.Join(got, "\n   "), err, strings.Join(want, "\n   "))
	}
	return recs
}

func (t tableTest) refuse(row, want string) {
	t.Helper()
	var no *NoIDError
	var fe *record.FieldError
	recs, err := t.records(row)
	if err == nil || err.Error() != want || !errors.As(err, &fe) || errors.As(err, &no) != strings.Contains(want, "to mint an id from") && !strings.Contains(want, "want an id:") {
		t.Errorf("Records(%s) = %s, %v, want %s", row, described(recs), err, want)
	}
}

// TestMatchedIDs: rows without an ID get the ID of a record with the same external ID.
func TestMatchedIDs(t *testing.T) {
	ids := knownIDs{"movie imdb_id tt137523": 550, "movie wikidata_id Q190050": 551, "tv tvdb_id 81189": 1396}
	f := newTableTest(t, `[[table.record]]
kind = "movie"
[table.record.fields]
imdb_id = 'imdb(imdbId)'
external_ids.wikidata_id = 'q'
title = 't'`, ids)
	recs := f.want(`{"imdbId":"0137523","q":"Q190050","t":"A"}`, `movie 550 {"id":550,"imdb_id":"tt0137523","title":"A","external_ids":{"wikidata_id":"Q190050"}}`)
	if recs[0].Found != tmdb.FoundMatch || recs[0].Mint != 0 {
		t.Errorf("Found = %d, Mint = %d, want a match", recs[0].Found, recs[0].Mint)
	}
	f.want(`{"imdbId":"7","q":"Q190050","t":"A"}`, `movie 551 {"id":551,"imdb_id":"tt0000007","title":"A","external_ids":{"wikidata_id":"Q190050"}}`)
	f.refuse(`{"imdbId":"7","q":"","t":"A"}`, "imdbId: want an id: no other record has this external id, and the mapping mints none")
	var no *NoIDError
	for row, asked := range map[string]bool{`{"imdbId":"7","t":"A"}`: true, `{"imdbId":"","t":"A"}`: false} {
		if _, err := f.records(row); !errors.As(err, &no) || no.Asked != asked {
			t.Errorf("Records(%s) = %v, want a NoIDError, asked %v", row, err, asked)
		}
	}
	f.refuse(`{"imdbId":"","t":"A"}`, "imdbId: want an id: the row has none, and no external id either")
	f = newTableTest(t, `[[table.record]]
kind = "tv"
[table.record.fields]
external_ids.tvdb_id = 'tvdb'
name = 't'`, ids)
	f.want(`{"tvdb":81189,"t":"A"}`, `tv 1396 {"id":1396,"name":"A","external_ids":{"tvdb_id":81189}}`)
	// A table with a column of IDs must state how to handle rows without one.
	f = newTableTest(t, `[[table.record]]
kind = "movie"
match = true
[table.record.fields]
id = 'id'
imdb_id = 'imdb'`, ids)
	if recs := f.want(`{"id":"9","imdb":"tt0137523"}`, `movie 9 {"id":9,"imdb_id":"tt0137523"}`); recs[0].Found != tmdb.FoundNothing {
		t.Errorf("Found = %d, want nothing found: the row has the id", recs[0].Found)
	}
	f.want(`{"id":"","imdb":"tt0137523"}`, `movie 550 {"id":550,"imdb_id":"tt0137523"}`)
	f = newTableTest(t, `[[table.record]]
kind = "movie"
[table.record.fields]
id = 'id'
imdb_id = 'imdb'`, ids)
	f.refuse(`{"id":"","imdb":"tt0137523"}`, "id: want an integer, found nothing")
}

// TestMintedIDs: an ID that is not found is minted from the values of the parts, not from their spelling.
func TestMintedIDs(t *testing.T) {
	of := func(rec, row string) int64 {
		t.Helper()
		recs, err := newTableTest(t, rec, knownIDs{"movie imdb_id tt5": 5}).records(row)
		if err != nil || len(recs) == 0 {
			t.Fatalf("Records(%s) = %v, %v", row, recs, err)
		}
		id := int64(recs[0].Key.ID())
		if minted := recs[0].Found == tmdb.FoundMint; minted != (recs[0].Mint != 0) || minted != IsMinted(id) {
			t.Errorf("Records(%s) = %d, Found = %d, Mint = %d", row, id, recs[0].Found, recs[0].Mint)
		}
		return id
	}
	titles := `[[table.record]]
kind = "movie"
mint = ["title", "year"]
[table.record.fields]
title = 'title'`
	want := of(titles, `{"title":"The Matrix","year":"1999"}`)
	if want != 202760209 { // a constant: IDs in catalogues must not change with the program
		t.Errorf("id of The Matrix, 1999 = %d", want)
	}
	same := func(rec, row string) {
		t.Helper()
		if got := of(rec, row); got != want {
			t.Errorf("id of %s = %d, want %d", row, got, want)
		}
	}
	same(titles, `{"title":" the  matrix","year":1999}`)
	same(titles, `{"title":"The Matrix","year":1999.0}`)
	same(`[[table.record]]
kind = "movie"
mint = ["Name", "Jahr"]
[table.record.fields]
title = 'trimPrefix(Name, "Film: ")'`, `{"Name":"Film: The Matrix","Jahr":"1999"}`)
	same(`[[table.record]]
kind = "movie"
mint = ["title", "year"]
[table.record.fields]
title = 'n'
release_date = 'd'`, `{"n":"The Matrix","d":"1999-03-30"}`)
	for _, names := range [][2]string{{"year", "year"}, {"Year", "year"}, {"YEAR", "year"}, {"Year", "Year"}, {"Released", "year"}} {
		column, part := names[0], names[1]
		same(fmt.Sprintf(`[[table.record]]
kind = "movie"
mint = ["title", %q]
[table.record.fields]
title = 'title'
release_date = 'date(%s, "YYYY")'`, part, column), fmt.Sprintf(`{"title":"The Matrix",%q:"1999.0"}`, column))
	}
	whole, _ := mintID(fragment.KindMovie, []string{"the matrix", "1999-01-01"}) // the field is its whole day
	if got := of(`[[table.record]]
kind = "movie"
mint = ["title", "release_date"]
[table.record.fields]
title = 'title'
release_date = 'date(year, "YYYY")'`, `{"title":"The Matrix","year":"1999"}`); got != whole {
		t.Errorf("id of title and release_date = %d, want %d", got, whole)
	}
	for _, row := range []string{`{"title":"The Matrix","year":"2000"}`, `{"title":"The Matri","year":"x1999"}`, `{"title":"1999","year":"the matrix"}`} {
		if got := of(titles, row); got == want {
			t.Errorf("id of %s = %d, that of another", row, got)
		}
	}
	perhaps := strings.Replace(titles, `"year"`, `"year?"`, 1)
	same(perhaps, `{"title":"The Matrix","year":"1999"}`)
	if got, alone := of(perhaps, `{"title":"The Matrix","year":""}`), of(strings.Replace(titles, `, "year"`, "", 1), `{"title":"The Matrix"}`); got != alone {
		t.Errorf("id of a row without a year = %d, want %d, that of the title alone", got, alone)
	}
	if got := of(`[[table.record]]
kind = "collection"
mint = ["name", "year"]
[table.record.fields]
name = 'name'`, `{"name":"The Matrix","year":"1999"}`); got == want {
		t.Errorf("id of a collection = %d, that of a movie", got)
	}
	imdb := `[[table.record]]
kind = "movie"
mint = ["imdb_id"]
[table.record.fields]
imdb_id = 'imdb(i)'`
	if got := of(imdb, `{"i":"5"}`); got != 5 {
		t.Errorf("id of tt0000005 = %d, want 5, which is known", got)
	}
	if a, b := of(imdb, `{"i":"6"}`), of(imdb, `{"i":"tt0000006"}`); a != b {
		t.Errorf("ids of 6 and tt0000006 = %d, %d", a, b)
	}
	newTableTest(t, imdb, nil).refuse(`{"i":"","x":"1"}`, "i: want a value to mint an id from, found nothing")
	f := newTableTest(t, titles, nil)
	f.refuse(`{"title":"A","year":""}`, "year: want a value to mint an id from, found nothing")
	f.want(`{"title":"A","year":"2"}`, `movie 220272519 {"id":220272519,"title":"A"}`)
	if d := f.l.Counts().Dropped; len(d) > 0 {
		t.Errorf("Dropped = %v, want none: the year is part of the id", d)
	}
}

// TestRecordsThatFollow: records of a row inherit the IDs of earlier ones.
func TestRecordsThatFollow(t *testing.T) {
	f := newTableTest(t, `[[table.record]]
kind = "tv"
[table.record.fields]
external_ids.imdb_id = 'imdb'
name = 'name'

[[table.record]]
kind = "tv"
list = "credits.cast"
where = 'star != nil'
[table.record.fields]
[table.record.element]
id = 'star'

[[table.record]]
kind = "season"
each = 'seasons'
[table.record.fields]
season_number = 'element.no'
name = 'element.name'
episodes = 'map(element.eps, ({episode_number: .n, name: .t}))'
`, knownIDs{"tv imdb_id tt903747": 1396})
	tv := `tv 1396 {"id":1396,"name":"B","external_ids":{"imdb_id":"tt0903747"}}`
	seasons := []string{
		`season 1396 1 {"name":"One","season_number":1,"series_id":1396}`,
		`season 1396 2 {"episodes":[{"episode_number":1,"name":"A"}],"season_number":2,"series_id":1396}`,
	}
	list := `[{"no":1,"name":"One","year":2008},null,{"no":2,"eps":[{"n":1,"t":"A"}]}]`
	f.want(`{"imdb":"tt0903747","name":"B","star":7,"seasons":`+list+`}`, tv, `tv 1396 {"id":1396,"credits":{"cast":[{"id":7}]}}`, seasons[0], seasons[1])
	f.want(`{"imdb":"tt0903747","name":"B","seasons":`+string(record.AppendString(nil, list))+`}`, tv, seasons[0], seasons[1])
	f.want(`{"imdb":"tt0903747","name":"B","seasons":[]}`, tv)
	f.want(`{"imdb":"tt0903747","name":"B","seasons":null}`, tv)
	if want := map[string]int64{"t.seasons.year": 2}; !maps.Equal(f.l.Counts().Dropped, want) {
		t.Errorf("Dropped = %v, want %v", f.l.Counts().Dropped, want)
	}
	bad := func(seasons, want string) {
		t.Helper()
		if recs, err := f.records(`{"imdb":"tt0903747","seasons":` + seasons + `}`); err == nil || err.Error() != want {
			t.Errorf("Records of seasons %s = %s, %v, want %s", seasons, described(recs), err, want)
		}
	}
	bad(`[{"no":1},{"no":"x"}]`, `seasons[1].no: want an integer, found "x"`)
	bad(`[{"no":1},{}]`, `seasons[1].no: want an integer, found nothing`)
	bad(`{"no":1}`, `seasons: want a list, found {"no":1}`)
	bad(`"one"`, `seasons: want a list, found "one"`)
}

// TestEach: records made from elements of lists.
func TestEach(t *testing.T) {
	rec := func(each string) string {
		return "[[table.record]]\nkind='movie'\nlist='credits.crew'\neach='" + each + "'\nfields.id='id'\nelement.name='element'\nelement.job='\"Director\"'"
	}
	a := `movie 7 {"id":7,"credits":{"crew":[{"name":"A, Jr.","job":"Director"}]}}`
	b := `movie 7 {"id":7,"credits":{"crew":[{"name":"B","job":"Director"}]}}`
	newTableTest(t, rec("x"), nil).want(`{"id":7,"x":["A, Jr.","B","",null]}`, a, b)
	newTableTest(t, rec("x"), nil).want(`{"id":7,"x":"[\"A, Jr.\", \"B\"]"}`, a, b)
	newTableTest(t, rec(`split(x, ";")`), nil).want(`{"id":7,"x":" A, Jr.;B ;"}`, a, b)
	newTableTest(t, rec(`split(x, ";")`), nil).want(`{"id":7,"x":["A, Jr.","B"]}`, a, b)
	newTableTest(t, rec("python(x)"), nil).want(`{"id":7,"x":"['A, Jr.', 'B']"}`, a, b)
	newTableTest(t, rec("x"), nil).want(`{"id":7,"x":" "}`)
	newTableTest(t, `[[table.record]]
kind = "movie"
list = "credits.cast"
each = 'x'
[table.record.fields]
id = 'id'
[table.record.element]
name = 'element.n'
order = 'place'`, nil).
		want(`{"id":7,"x":[{"n":"A"},null,{"n":"B"}]}`, `movie 7 {"id":7,"credits":{"cast":[{"name":"A","order":0}]}}`, `movie 7 {"id":7,"credits":{"cast":[{"name":"B","order":2}]}}`)
	refuse := func(rec, want string) {
		t.Helper()
		_, err := parseMapping("m.toml", []byte("[[table]]\nfiles=['t']\n[[table.record]]\n"+rec), true)
		if err == nil || inLine.ReplaceAllString(err.Error(), "") != "table t: record 1: "+want {
			t.Errorf("parseMapping(%s) = %v, want %s", rec, err, want)
		}
	}
	refuse("kind='season'\nmint=['a']\nfields.season_number='n'", "match, mint: season records have no id that can be found or minted")
	refuse("kind='movie'\nmint=[]\nfields.title='t'", "mint: want names of fields or columns, one at least without ?, found []")
	refuse("kind='movie'\nmint=['title','']\nfields.title='t'", `mint: want names of fields or columns, one at least without ?, found ["title" ""]`)
	refuse("kind='movie'\nmint=['title?']\nfields.title='t'", `mint: want names of fields or columns, one at least without ?, found ["title?"]`)
	refuse("kind='tv'\neach='x'\nfields.name='element'", "no column maps to the id of tv records or to an external id such as imdb_id, and the record mints none")
}

// TestPeopleByName: people are found in the title's credits, else get minted IDs, which are the same in every title.
func TestPeopleByName(t *testing.T) {
	ids := knownIDs{"movie 603 keanu reeves": 6384, "movie imdb_id tt133093": 603}
	f := newTableTest(t, `[[table.record]]
kind = "movie"
[table.record.fields]
imdb_id = 'imdb'
credits.cast = 'names(cast, "person", {separator: "|"})'

[[table.record]]
kind = "movie"
list = "credits.crew"
each = 'split(directors, "|")'
element = 'name(element, "person")'
[table.record.fields]

[[table.record]]
kind = "person"
part = true
each = 'split(directors, "|")'
[table.record.fields]
id = 'id(element, "person")'
known_for_department = '"Directing"'
`, ids)
	const lana = "115493346"
	recs := f.want(`{"imdb":"tt0133093","cast":"Keanu Reeves| Lana Wachowski |keanu  reeves","directors":"lana  wachowski"}`,
		`movie 603 {"id":603,"imdb_id":"tt0133093","credits":{"cast":[{"id":6384,"name":"Keanu Reeves","order":0},{"id":`+lana+`,"name":"Lana Wachowski","order":1}]}}`,
		`movie 603 {"id":603,"credits":{"crew":[{"id":`+lana+`,"name":"lana  wachowski"}]}}`,
		`person `+lana+` {"id":`+lana+`,"known_for_department":"Directing"}`,
		`person `+lana+` {"id":`+lana+`,"name":"Lana Wachowski"}`)
	if p := recs[len(recs)-1]; !p.Part || p.Mint == 0 {
		t.Errorf("Part = %v, Mint = %d of the person, want a part that was minted", p.Part, p.Mint)
	}
	// The next row has its own people.
	f.want(`{"imdb":"tt0133093","cast":"Keanu Reeves"}`, `movie 603 {"id":603,"imdb_id":"tt0133093","credits":{"cast":[{"id":6384,"name":"Keanu Reeves","order":0}]}}`)
	if n := f.l.(*layoutReader).mappings[0].tables[0].form().needs(); n != (Needs{Kinds: Kinds(fragment.KindMovie), People: true}) {
		t.Errorf("needs = %+v", n)
	}
}
