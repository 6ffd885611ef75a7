package ingest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/merge"
)

// idMapping is a mapping of tables whose rows have no TMDB IDs: films may be minted, prices are rejected without a known film,
// and titles have only a name.
const idMapping = `[[table]]
files = ["films*"]

[[table.record]]
kind = "movie"
mint = ["imdb_id"]
[table.record.fields]
imdb_id = 'imdb(imdb)'
external_ids.wikidata_id = 'q'
title = 'title'
credits.cast = 'names(cast, "person", {separator: "|"})'

[[table]]
files = ["takings*"]

[[table.record]]
kind = "movie"
[table.record.fields]
imdb_id = 'imdb(imdb)'
revenue = 'takings'

[[table]]
files = ["titles*"]

[[table.record]]
kind = "movie"
mint = ["title", "year"]
[table.record.fields]
title = 'title'
`

// An idsTest has files of tables without IDs.
type idsTest struct {
	*testing.T
	dir     string
	mapping string
}

func newIDsTest(t *testing.T) idsTest {
	t.Helper()
	dir := t.TempDir()
	return idsTest{t, dir, put(t, dir, "ids.toml", idMapping)}
}

func (t idsTest) put(name, text string) string { return put(t.T, t.dir, name, text) }

// into ingests sources into a catalogue.
func (t idsTest) into(dir string, sources ...string) Report {
	t.Helper()
	return ingestInto(t.T, dir, Config{Sources: sources, Mappings: []string{t.mapping}})
}

// wantRows checks some fields of each movie in a catalogue, separated by blanks.
func (t idsTest) wantRows(dir string, members []string, want ...string) {
	t.Helper()
	var got []string
	for _, row := range records(t.T, dir) {
		var texts []string
		for _, m := range members {
			texts = append(texts, member(t.T, row, m))
		}
		got = append(got, strings.Join(texts, " "))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("movies:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (t idsTest) wantIDs(r Report, matched, minted, missing int64) {
	t.Helper()
	s := r.Details.Totals
	if s.Matched != matched || s.Minted != minted || s.NoID != missing || r.Quarantined != missing ||
		r.Matched != matched || r.Minted != minted || r.NoID != missing {
		t.Errorf("matched %d, minted %d, missing %d, %d in quarantine (%v), want %d, %d, %d", s.Matched, s.Minted, s.NoID, r.Quarantined, r.Bad, matched, minted, missing)
	}
}

// TestMatchedIDs: rows without an ID get the ID of a record with the same external ID, in the catalogue or in any other source.
func TestMatchedIDs(t *testing.T) {
	f := newIDsTest(t)
	movies := f.put("movies.ndjson", `{"id":550,"imdb_id":"tt0137523","title":"Fight Club","revenue":1}`+"\n"+
		`{"id":551,"external_ids":{"imdb_id":"tt0000551","wikidata_id":"Q551"},"title":"B"}`+"\n")
	films := f.put("films.csv", "imdb,q,title,cast\n137523,,FC,\n,Q551,BB,\n")
	takings := f.put("takings.tsv", "imdb\ttakings\ntt137523\t7\ntt0000551\t8\ntt0000009\t9\n")
	members := []string{"id", "title", "revenue"}
	f.wantRows(dirOf(f, f.into, 4, 0, 1, movies, films, takings), members, `550 "FC" 7`, `551 "BB" 8`)
	f.wantRows(dirOf(f, f.into, 4, 0, 1, takings, films, movies), members, `550 "Fight Club" 1`, `551 "B" 8`)
	dir := t.TempDir()
	f.into(dir, movies)
	f.wantIDs(f.into(dir, films), 2, 0, 0)
	f.wantIDs(f.into(dir, takings), 2, 0, 1)
	f.wantRows(dir, members, `550 "FC" 7`, `551 "BB" 8`)
}

// dirOf ingests into a new catalogue and returns it.
func dirOf(f idsTest, into func(string, ...string) Report, matched, minted, missing int64, sources ...string) string {
	f.Helper()
	dir := f.TempDir()
	f.wantIDs(into(dir, sources...), matched, minted, missing)
	return dir
}

// TestMintedIDs: unmatched rows get IDs that are the same in every ingest, and that other tables of the run find. Known
// resources keep their IDs.
func TestMintedIDs(t *testing.T) {
	f := newIDsTest(t)
	films := f.put("films.csv", "imdb,q,title,cast\n1,Q1,A,\n2,,B,\n,,C,\n")
	takings := f.put("takings.csv", "imdb,takings\n1,7\n3,9\n")
	titles := f.put("titles.csv", "title,year\nA,1999\nA,1999\nA,2000\nB,\n")
	dir := t.TempDir()
	first := f.into(dir, titles, takings, films)
	f.wantIDs(first, 1, 5, 3)
	if first.Records["movie"] != 4 || first.Rows != 9 || first.Kept != 5 || first.Duplicates != 1 {
		t.Errorf("Run = %+v", first)
	}
	for _, row := range records(t, dir) {
		var id int64
		if _, err := fmt.Sscan(member(t, row, "id"), &id); err != nil || !layout.IsMinted(id) {
			t.Errorf("id of %s is none that was minted", row)
		}
	}
	before := string(catalogBytes(t, dir))
	again := f.into(dir, takings, titles, films)
	f.wantIDs(again, 3, 3, 3) // the catalogue has the films now
	if string(catalogBytes(t, dir)) != before {
		t.Error("another ingest changed the catalogue")
	}
	other := t.TempDir()
	f.into(other, films)
	f.into(other, takings, titles)
	if string(catalogBytes(t, other)) != before {
		t.Error("the files in other runs give other records")
	}
	small := t.TempDir()
	ingestInto(t, small, Config{Sources: []string{titles, takings, films}, Mappings: []string{f.mapping}, Memory: 1})
	if string(catalogBytes(t, small)) != before {
		t.Error("little memory gives other bytes")
	}
}

// TestIDsOfIMDb: tables without IDs find the titles of IMDb's tables in the same run, and IMDb's tables find titles that a
// table minted in an earlier ingest.
func TestIDsOfIMDb(t *testing.T) {
	f := newIDsTest(t)
	imdbTablesIn(t, filepath.Join(f.dir, "imdb"))
	imdb := filepath.Join(f.dir, "imdb")
	takings := f.put("takings.csv", "imdb,takings\n137523,7\n9,9\n")
	dir := t.TempDir()
	r := f.into(dir, takings, imdb)
	if r.Details.Totals.Matched != 2 || r.Details.Totals.NoID != 0 {
		t.Errorf("matched %d, missing %d, want 2 and none", r.Details.Totals.Matched, r.Details.Totals.NoID)
	}
	f.wantRows(dir, []string{"id", "revenue"}, "1000000009 9", "1000137523 7")
	films := f.put("films.csv", "imdb,q,title,cast\n9,,Nine,\n")
	dir = t.TempDir()
	f.into(dir, films)
	id := member(t, records(t, dir)[0], "id")
	f.into(dir, imdb)
	f.wantRows(dir, []string{"id", "title"}, id+` "Only Here"`, `1000137523 "Fight Club"`)
}

// TestPeopleByName: people of a table are found in the title's credits, in the catalogue or in another source; others get
// minted IDs and their own records.
func TestPeopleByName(t *testing.T) {
	f := newIDsTest(t)
	movies := f.put("movies.ndjson", `{"id":550,"imdb_id":"tt0137523","title":"Fight Club","credits":{"cast":[{"id":287,"name":"Brad Pitt"},{"id":1,"name":"Two"},{"id":2,"name":"Two"}],"crew":[]}}`+"\n"+
		`{"id":551,"imdb_id":"tt0000551","title":"B"}`+"\n")
	films := f.put("films.csv", "imdb,q,title,cast\n137523,,FC,brad pitt|Edward Norton|Two\n551,,B,Brad Pitt|Edward Norton\n")
	dir := t.TempDir()
	f.into(dir, movies, films)
	people := map[string]string{}
	for _, row := range recordsOf(t, dir, "person") {
		people[member(t, row, "name")] = member(t, row, "id")
	}
	pitt, norton, two := people[`"Brad Pitt"`], people[`"Edward Norton"`], people[`"Two"`]
	if len(people) != 3 || pitt == "" || pitt == "287" || norton == "" || two == "" || two == "1" || two == "2" {
		t.Fatalf("people = %v, want three that were minted", people)
	}
	cast := func(id, name string, order int) string {
		return fmt.Sprintf(`{"id":%s,"name":%q,"order":%d}`, id, name, order)
	}
	want := []string{
		"550 [" + cast("287", "brad pitt", 0) + "," + cast(norton, "Edward Norton", 1) + "," + cast(two, "Two", 2) + "]",
		"551 [" + cast(pitt, "Brad Pitt", 0) + "," + cast(norton, "Edward Norton", 1) + "]",
	}
	f.wantRows(dir, []string{"id", "credits.cast"}, want...)
	before := string(catalogBytes(t, dir))
	f.into(dir, films) // only the catalogue identifies the person
	if string(catalogBytes(t, dir)) != before {
		t.Error("another ingest changed the catalogue")
	}
}

// TestCastAndCrew: a row with the cast in one record and the crew in another adds both, and keeps another source's.
func TestCastAndCrew(t *testing.T) {
	src, dir := t.TempDir(), t.TempDir()
	m := put(t, src, "m.toml", `[[table]]
files = ["cast"]

[[table.record]]
kind = "movie"
[table.record.fields]
id = 'id'
credits.cast = 'names(cast, "person", {separator: "|"})'

[[table.record]]
kind = "movie"
list = "credits.crew"
each = 'split(crew, "|")'
element = 'name(element, "person")'
[table.record.fields]
`)
	movies := put(t, src, "movies.ndjson", `{"id":2,"credits":{"cast":[{"id":5,"name":"E"}],"crew":[{"id":6,"name":"F"}]}}`+"\n")
	table := put(t, src, "cast.csv", "id,cast,crew\n1,A|B,C|D\n2,e,\n")
	ingestInto(t, dir, Config{Sources: []string{movies, table}, Mappings: []string{m}})
	for n, want := range []string{`[A B] [C D]`, `[e] [F]`} {
		names := func(list string) string {
			var out []string
			var people []struct{ Name string }
			if err := json.Unmarshal([]byte(member(t, records(t, dir)[n], "credits."+list)), &people); err != nil {
				t.Fatal(err)
			}
			for _, p := range people {
				out = append(out, p.Name)
			}
			slices.Sort(out)
			return fmt.Sprint(out)
		}
		if got := names("cast") + " " + names("crew"); got != want {
			t.Errorf("cast and crew of movie %d = %s, want %s", n+1, got, want)
		}
	}
}

// movieRow returns the movie with an ID in a catalogue, or "".
func (t idsTest) movieRow(dir, id string) string {
	t.Helper()
	for _, row := range records(t.T, dir) {
		if member(t.T, row, "id") == id {
			return row
		}
	}
	return ""
}

// TestSuperseded: a record with a minted ID is merged, as the weakest source, into a record that arrives with a TMDB ID and the
// same external ID, and the minted ID redirects there.
func TestSuperseded(t *testing.T) {
	f := newIDsTest(t)
	films := f.put("films.csv", "imdb,q,title,cast\n137523,Q190050,FC,Edward Norton\n5,,Five,\n")
	dir := t.TempDir()
	f.into(dir, films)
	minted := member(t, records(t, dir)[0], "id")
	five := member(t, records(t, dir)[1], "id")
	if member(t, records(t, dir)[0], "title") != `"FC"` {
		minted, five = five, minted
	}
	lines(t, dir, Config{}, `{"id":550,"title":"Fight Club","overview":"O"}`) // without an ID that others have
	if n := len(records(t, dir)); n != 3 {
		t.Fatalf("%d movies, want 3", n)
	}
	r := lines(t, dir, Config{}, `{"id":550,"imdb_id":"tt0137523","budget":1}`, `{"id":6,"imdb_id":"tt0000006"}`)
	if r.Merged != 1 || r.Removed != 1 || r.Records["movie"] != 3 || r.Conflicts != 0 || f.movieRow(dir, five) == "" {
		t.Errorf("Run = %+v, want one record merged", r)
	}
	row := f.movieRow(dir, "550")
	for name, want := range map[string]string{"title": `"Fight Club"`, "overview": `"O"`, "budget": "1", "external_ids.wikidata_id": `"Q190050"`, "imdb_id": `"tt0137523"`} {
		if got := member(t, row, name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	if cast := member(t, row, "credits.cast"); !strings.Contains(cast, "Edward Norton") {
		t.Errorf("cast = %s, want what the table knew", cast)
	}
	if gone, err := removedTexts(dir); err != nil || len(gone) != 1 || !strings.Contains(gone[0], minted) || !strings.Contains(gone[0], "550") {
		t.Errorf("removed = %q, %v, want %s into 550", gone, err, minted)
	}
	// The table's rows now update the remaining record, and so does a row with that minted ID.
	f.wantIDs(f.into(dir, films), 2, 0, 0)
	if title := member(t, f.movieRow(dir, "550"), "title"); title != `"FC"` || f.movieRow(dir, minted) != "" {
		t.Errorf("title = %s, want that of the table, and no movie %s", title, minted)
	}
	before := string(catalogBytes(t, dir))
	if r := f.into(dir, films); r.Merged != 0 || string(catalogBytes(t, dir)) != before {
		t.Errorf("another ingest merged %d and changed the catalogue", r.Merged)
	}
}

// TestSupersededRows: a row whose minted ID the run merges into another source's record updates that record at once.
func TestSupersededRows(t *testing.T) {
	f := newIDsTest(t)
	dir := t.TempDir()
	f.into(dir, f.put("titles.csv", "title,year\nA,1999\n"))
	id := member(t, records(t, dir)[0], "id")
	lines(t, dir, Config{}, `{"id":`+id+`,"imdb_id":"tt0000007"}`)
	movies := f.put("movies.ndjson", `{"id":7,"imdb_id":"tt0000007","overview":"O"}`)
	r := f.into(dir, f.put("titles.csv", "title,year\na,1999\n"), movies)
	if r.Merged != 1 || r.Matched != 1 || r.Minted != 0 {
		t.Errorf("Run = %+v, want one record merged and its row matched", r)
	}
	f.wantRows(dir, []string{"id", "title", "overview"}, `7 "a" "O"`)
}

// TestMergedMint: a record that is only known by a minted ID follows it into the record that replaced it.
func TestMergedMint(t *testing.T) {
	f := newIDsTest(t)
	titles := f.put("titles.csv", "title,year\nA,1999\n")
	dir := t.TempDir()
	f.into(dir, titles)
	id := member(t, records(t, dir)[0], "id")
	lines(t, dir, Config{}, `{"id":7,"title":"B"}`, `{"id":`+id+`,"_merged_into":7}`)
	f.wantIDs(f.into(dir, titles), 1, 0, 0)
	f.wantRows(dir, []string{"id", "title"}, `7 "A"`)
}

// TestCollision: of two resources with the same minted ID the first keeps it, in this run and later, and the other's rows go to
// quarantine.
func TestCollision(t *testing.T) {
	f := newIDsTest(t)
	const collidingA, collidingB = "Film 76355,1999", "Film 83543,1999" // both 944906800
	a, b := "title,year\n"+collidingA+"\n", "title,year\n"+collidingB+"\n"
	both := f.put("titles.csv", a+strings.TrimPrefix(b, "title,year\n"))
	dir := t.TempDir()
	check := func(what string, r Report, bad int64) {
		t.Helper()
		got := records(t, dir)
		title := `"` + strings.Split(collidingA, ",")[0] + `"`
		if r.Quarantined != bad || len(got) != 1 || member(t, got[0], "title") != title || bad > 0 && !strings.Contains(r.Bad[0], "belongs to another movie by chance") {
			t.Errorf("%s: %d in quarantine, %v, movies %v, want %d and %s alone", what, r.Quarantined, r.Bad, got, bad, title)
		}
	}
	check("both", f.into(dir, both), 1)
	check("the other alone", f.into(dir, f.put("titles_b.csv", b)), 1)
	check("the first again", f.into(dir, f.put("titles_a.csv", a)), 0)
	check("both, the other first", f.into(dir, f.put("titles_b.csv", b), f.put("titles_a.csv", a)), 1)
	// A damaged list is named, with advice.
	list := filepath.Join(dir, merge.MintedFile)
	whole, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Catalog: dir, Sources: []string{both}, Mappings: []string{f.mapping}}
	const entries, entry = 8, 17 // bytes of the header, and of one entry
	for what, damaged := range map[string][]byte{
		"cut": whole[:20], "with other bytes": append([]byte("x"), whole...), "with an entry twice": append(whole[:entries+entry:entries+entry], whole[entries:]...),
	} {
		if err := os.WriteFile(list, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), list+" is damaged: remove it") {
			t.Errorf("Run with a list %s = %v", what, err)
		}
	}
	if err := os.Remove(list); err != nil {
		t.Fatal(err)
	}
	check("without the list", ingestInto(t, dir, c), 1)
}
