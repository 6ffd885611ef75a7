package ingest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/merge"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// loggedChanges returns the log of a catalogue, one line per change.
func loggedChanges(t *testing.T, dir string) (out []string) {
	t.Helper()
	f, err := catalog.OpenChanges(dir)
	if f == nil || err != nil {
		t.Fatalf("no log of changes: %v", err)
	}
	defer f.Close()
	err = f.Groups(0, f.RowGroups()).Each(context.WithoutCancel(t.Context()), func(r record.Record) error {
		c := record.As[catalog.LoggedChange](r)
		out = append(out, fmt.Sprintf("%s %d %s: %s -> %s", c.Kind.V, c.ID.V, c.Field.V, c.Old.V, c.New.V))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// fields returns some fields of each record of a kind, separated by blanks.
func fields(t *testing.T, dir, kind string, names ...string) (out []string) {
	t.Helper()
	for _, row := range recordsOf(t, dir, kind) {
		var texts []string
		for _, name := range names {
			texts = append(texts, member(t, row, name))
		}
		out = append(out, strings.Join(texts, " "))
	}
	return out
}

func wantFields(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestReplace: the catalogue becomes the sources' contents for their kinds. Missing records and fields are removed and logged.
// Other kinds stay.
func TestReplace(t *testing.T) {
	dir, src := t.TempDir(), t.TempDir()
	movies := put(t, src, "movies.ndjson", `{"id":1,"title":"One","overview":"O","genres":[{"id":18,"name":"Drama"}],"external_ids":{"imdb_id":"tt0000001"},"own":1}`+"\n"+
		`{"id":2,"title":"Two"}`+"\n"+`{"id":3,"title":"Three"}`+"\n")
	people := put(t, src, "people.ndjson", `{"id":5,"name":"Somebody"}`)
	ingestInto(t, dir, Config{Sources: []string{movies, people}})
	lines(t, dir, Config{}, `{"id":8,"_deleted":true}`, `{"id":9,"_deleted":true}`)
	lines(t, dir, Config{Mode: merge.Overlay}, `{"id":4,"title":"Own film"}`, `{"id":3,"tagline":"Own"}`)

	next := put(t, t.TempDir(), "movies.ndjson", `{"id":1,"title":"One"}`+"\n"+`{"id":3,"title":"Three"}`+"\n"+`{"id":9,"title":"Back"}`+"\n")
	r := ingestInto(t, dir, Config{Sources: []string{next}, Mode: merge.Replace})
	wantFields(t, fields(t, dir, "movie", "id", "title", "tagline", "overview"), `1 "One"  `, `3 "Three" "Own" `, `4 "Own film"  `, `9 "Back"  `)
	wantFields(t, fields(t, dir, "person", "id"), "5")
	if want := (report.Records{Kind: "movie", Before: 4, Now: 4, Added: 1, Changed: 1, Removed: 1}); r.Details.Records[0] != want || r.RemovedRecords["movie"] != 1 {
		t.Errorf("records = %+v, %v, want %+v", r.Details.Records[0], r.RemovedRecords, want)
	}
	gone, err := removedTexts(dir)
	if err != nil || len(gone) != 1 || !strings.Contains(gone[0], "8") {
		t.Errorf("removed = %q, %v, want movie 8 as before", gone, err)
	}
	log := loggedChanges(t, dir)
	for _, want := range []string{
		`movie 1 overview: "O" -> `, `movie 1 genres: {"name":"Drama","id":18} -> `, `movie 1 imdb_id: "tt0000001" -> `, "movie 1 own: 1 -> ",
		"movie 2 general: true -> ", "movie 9 general:  -> true",
	} {
		if !slices.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, strings.Join(log, "\n"))
		}
	}
	if slices.ContainsFunc(log, func(s string) bool {
		return strings.HasPrefix(s, "movie 3 title") || strings.HasPrefix(s, "movie 3 general")
	}) {
		t.Errorf("movie 3 has not changed:\n%s", strings.Join(log, "\n"))
	}
}

// TestReplaceIsFresh: without overlays, a replaced catalogue has the bytes of an ingest into an empty one.
func TestReplaceIsFresh(t *testing.T) {
	rows := sampleRows(t, 200)
	dir, fresh := t.TempDir(), t.TempDir()
	lines(t, dir, Config{}, rows[:150]...)
	lines(t, dir, Config{Mode: merge.Replace}, rows[50:]...)
	lines(t, fresh, Config{}, rows[50:]...)
	if string(catalogBytes(t, dir)) != string(catalogBytes(t, fresh)) {
		t.Error("the catalogue differs from a new one of the same source")
	}
}

// TestReplaceMinted: a title that is corrected in a table without IDs stays one film, and so does a name with a minted ID.
// People with their own IDs stay.
func TestReplaceMinted(t *testing.T) {
	f := newIDsTest(t)
	mapping := put(t, f.dir, "films.toml", `[[table]]
files = ["films*"]

[[table.record]]
kind = "movie"
mint = ["title", "year"]
[table.record.fields]
title = 'title'
production_companies = 'names(company, "company", {separator: "|", mint: true})'
credits.cast = 'names(actor, "person", {separator: "|"})'
`)
	night := func(dir string, mode merge.Mode, rows string) Report {
		t.Helper()
		src := put(t, t.TempDir(), "films.csv", "title,year,company,actor\n"+rows)
		return ingestInto(t, dir, Config{Sources: []string{src}, Mappings: []string{mapping}, Mode: mode})
	}
	dir := t.TempDir()
	for _, file := range []string{"companies.ndjson", "people.ndjson"} {
		ingestInto(t, dir, Config{Sources: []string{put(t, f.dir, file, `{"id":7,"name":"Crawled"}`)}})
	}
	night(dir, merge.Update, "Alein,1979,Fox|Brandywine,Sigurney W\nHeat,1995,Regency,Al P\n")
	before := fields(t, dir, "movie", "id", "title")
	if len(before) != 2 || len(recordsOf(t, dir, "company")) != 4 {
		t.Fatalf("movies %q, companies %q", before, recordsOf(t, dir, "company"))
	}
	r := night(dir, merge.Replace, "Alien,1979,Fox,Sigourney W\nHeat,1995,Regency,Al P\n")
	if got := fields(t, dir, "movie", "title"); len(got) != 2 || !slices.Contains(got, `"Alien"`) || !slices.Contains(got, `"Heat"`) {
		t.Errorf("movies = %q, want the corrected title once", got)
	}
	if got := fields(t, dir, "company", "name"); len(got) != 3 || !slices.Contains(got, `"Crawled"`) || slices.Contains(got, `"Brandywine"`) {
		t.Errorf("companies = %q, want Crawled, Fox and Regency", got)
	}
	if got := fields(t, dir, "person", "name"); len(got) != 3 || !slices.Contains(got, `"Crawled"`) || slices.Contains(got, `"Sigurney W"`) {
		t.Errorf("people = %q, want Crawled, Sigourney W and Al P", got)
	}
	if r.RemovedRecords["person"] != 1 || r.RemovedRecords["movie"] != 1 || r.RemovedRecords["company"] != 1 {
		t.Errorf("removed = %v", r.RemovedRecords)
	}
	removed := ""
	for _, row := range before {
		if id, ok := strings.CutSuffix(row, ` "Alein"`); ok {
			removed = "movie " + id + " general: true -> "
		}
	}
	if log := loggedChanges(t, dir); !slices.Contains(log, removed) {
		t.Errorf("the log lacks %q:\n%s", removed, strings.Join(log, "\n"))
	}
	// A minted ID is replaced by one of TMDB's, and redirects there.
	minted := slices.DeleteFunc(fields(t, dir, "movie", "id", "title"), func(s string) bool { return !strings.HasSuffix(s, `"Heat"`) })[0]
	lines(t, dir, Config{}, `{"id":`+strings.TrimSuffix(minted, ` "Heat"`)+`,"imdb_id":"tt0113277","overview":"O"}`)
	lines(t, dir, Config{Mode: merge.Replace}, `{"id":949,"imdb_id":"tt0113277","title":"Heat"}`)
	wantFields(t, fields(t, dir, "movie", "id", "title", "overview"), `949 "Heat" `)
	if gone, err := removedTexts(dir); err != nil || len(gone) != 1 || !strings.Contains(gone[0], "949") {
		t.Errorf("removed = %q, %v, want the minted id into 949", gone, err)
	}
}

// TestReplaceParts: seasons of a series are replaced with it. If no source has seasons, the seasons of removed series are removed.
func TestReplaceParts(t *testing.T) {
	dir := t.TempDir()
	tv := func(mode merge.Mode, rows ...string) {
		t.Helper()
		fileOf(t, dir, "tv.ndjson", Config{Mode: mode}, rows...)
	}
	tv(merge.Update, `{"id":1,"name":"A","season/1":{"id":11,"name":"S1","episodes":[]},"season/2":{"id":12,"name":"S2","episodes":[]}}`, `{"id":2,"name":"B","season/1":{"id":21,"name":"S1","episodes":[]}}`)
	tv(merge.Replace, `{"id":1,"name":"A","season/1":{"id":11,"name":"S1","episodes":[]}}`)
	wantFields(t, fields(t, dir, "season", "id"), "11")
	tv(merge.Replace, `{"id":1,"name":"AA"}`)
	wantFields(t, fields(t, dir, "season", "id"), "11")
	fileOf(t, dir, "seasons.ndjson", Config{}, `{"id":31,"series_id":3,"season_number":1,"name":"of no series"}`)
	tv(merge.Replace, `{"id":4,"name":"D"}`)
	wantFields(t, fields(t, dir, "season", "id"), "31")
}

// TestReplaceBroken: an incomplete or empty source replaces nothing.
func TestReplaceBroken(t *testing.T) {
	dir, src := t.TempDir(), t.TempDir()
	movies := `{"id":1,"title":"One"}` + "\n" + `{"id":2,"title":"Two"}` + "\n"
	lines(t, dir, Config{}, strings.Split(strings.TrimSpace(movies), "\n")...)
	before := string(catalogBytes(t, dir))
	cut := gz(t, movies)
	good := put(t, src, "a/movies.ndjson", movies)
	for what, sources := range map[string][]string{
		"a cut file":          {good, put(t, src, "b/movies.ndjson.gz", cut[:len(cut)-9])},
		"a source of no kind": {good, put(t, src, "c/sales.csv", "country,sold\nFR,3\n")},
	} {
		r, err := Run(t.Context(), Config{Catalog: dir, Sources: sources, Mode: merge.Replace})
		if err == nil || !strings.Contains(err.Error(), "catalogue stays as it was") || string(catalogBytes(t, dir)) != before {
			t.Errorf("%s: Run = %+v, %v, want an error and the catalogue as it was", what, r, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, workDir)); err == nil {
		t.Error("the working folder is still there")
	}
	if _, err := Run(t.Context(), Config{Catalog: dir, Sources: []string{good}, Mode: "other"}); err == nil {
		t.Error("a mode that there is not = nil, want an error")
	}
}

// TestFill: fill sources add records and fields that the catalogue lacks, and values for empty fields.
func TestFill(t *testing.T) {
	dir := t.TempDir()
	lines(t, dir, Config{},
		`{"id":1,"title":"Strong","overview":"","runtime":0,"adult":false,"homepage":null,"vote_count":7,"genres":[],"_fetched":"2026-05-01",`+
			`"credits":{"cast":[{"name":"Named"}],"crew":[]},"images":{"posters":[{"file_path":"/a.jpg","iso_639_1":"en"}],"backdrops":[]},"own":1}`,
		`{"id":2,"title":"Same"}`, `{"id":3,"_deleted":true}`)
	r := lines(t, dir, Config{Mode: merge.Fill},
		`{"id":1,"title":"Weak","overview":"W","runtime":90,"adult":true,"homepage":"https://w","vote_count":1,"budget":5,"genres":[{"id":18,"name":"Drama"}],"_fetched":"2026-06-01",`+
			`"credits":{"cast":[{"id":287,"name":"Brad Pitt"}],"crew":[{"id":1,"name":"C"}]},"images":{"posters":[{"file_path":"/b.jpg","iso_639_1":"en"},{"file_path":"/c.jpg","iso_639_1":"de"}],"backdrops":[]},"own":2,"other":3}`,
		`{"id":2,"_deleted":true}`, `{"id":3,"title":"Gone"}`, `{"id":4,"title":"New"}`)
	wantFields(t, fields(t, dir, "movie", "id", "title"), `1 "Strong"`, `2 "Same"`, `4 "New"`)
	row := records(t, dir)[0]
	for name, want := range map[string]string{
		"overview": `"W"`, "runtime": "90", "adult": "false", "homepage": `"https://w"`, "vote_count": "7", "budget": "5", "genres": `[{"id":18,"name":"Drama"}]`,
		"credits.cast": `[{"name":"Named"}]`, "credits.crew": `[{"id":1,"name":"C"}]`, "own": "1", "other": "3", "_fetched": `"2026-05-01"`,
		"images.posters": `[{"iso_639_1":"en","file_path":"/a.jpg"},{"iso_639_1":"de","file_path":"/c.jpg"}]`,
	} {
		if got := member(t, row, name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	if c := r.Details.Records[0]; c.Changed != 1 || c.Added != 1 || c.Removed != 0 || r.Conflicts != 0 {
		t.Errorf("records = %+v, %d conflicts", c, r.Conflicts)
	}
	before := string(catalogBytes(t, dir))
	lines(t, dir, Config{Mode: merge.Fill}, `{"id":1,"title":"Other","overview":"X","_fetched":"2026-07-01"}`)
	if string(catalogBytes(t, dir)) != before {
		t.Errorf("a source with nothing to add changed the catalogue: %s", records(t, dir)[0])
	}
}

// TestFillMinted: data under a minted ID moves to the TMDB ID of a weak source, and still wins.
func TestFillMinted(t *testing.T) {
	f := newIDsTest(t)
	dir := t.TempDir()
	f.into(dir, f.put("titles.csv", "title,year\nA,1999\n"))
	id := member(t, records(t, dir)[0], "id")
	lines(t, dir, Config{}, `{"id":`+id+`,"imdb_id":"tt0000007"}`)
	lines(t, dir, Config{Mode: merge.Fill}, `{"id":7,"imdb_id":"tt0000007","title":"Weak","overview":"O"}`)
	wantFields(t, fields(t, dir, "movie", "id", "title", "overview"), `7 "A" "O"`)
}
