package ingest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/catalog"
)

// quarantined returns the bad rows of an ingest.
func quarantined(t *testing.T, r Report) (all []report.BadRow) {
	t.Helper()
	text, err := os.ReadFile(r.QuarantineFile)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		var e report.BadRow
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// mended writes the quarantined rows as jq -c .row does, with some texts replaced, and returns the file.
func mended(t *testing.T, r Report, name string, replace ...string) string {
	t.Helper()
	var out strings.Builder
	for _, e := range quarantined(t, r) {
		out.WriteString(strings.NewReplacer(replace...).Replace(string(e.Row)) + "\n")
	}
	return put(t, t.TempDir(), name, out.String())
}

// parquetOf returns a file of one row.
func parquetOf(t *testing.T, genres string) string {
	t.Helper()
	type film struct {
		ID     int64  `parquet:"id"`
		Nr     string `parquet:"nr"`
		Name   string `parquet:"name"`
		Title  string `parquet:"title"`
		Budget *int64 `parquet:"budget"`
		Genres string `parquet:"genres"`
	}
	var out bytes.Buffer
	if err := parquet.Write(&out, []film{{Nr: "x", Name: "A", Title: "A", Genres: genres}}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestMended: mended rows of a quarantine file can be ingested, whatever their original format.
func TestMended(t *testing.T) {
	shop := put(t, t.TempDir(), "shop.toml", `[[table]]
requires = ["nr", "name"]

[[table.record]]
kind = "movie"
[table.record.fields]
id = 'nr'
title = 'name'
genres = 'names(genres, "genre", {separator: ", "})'
`)
	mapped := Config{Mappings: []string{shop}}
	for _, tt := range []struct {
		what, name, text string // dump
		first            Config
		again            string // name of the mended file
		then             Config
		replace          []string
		want             []string
	}{
		{
			"a table by a mapping", "shop.csv", "nr;name;genres\nx1;\"A \"\"a\"\"\nB\";Drama, War\n2;C;\n", mapped,
			"mended.ndjson", mapped,
			[]string{`"x1"`, `"1"`},
			[]string{`1 "A \"a\"\nB" [{"id":18,"name":"Drama"},{"id":10752,"name":"War"}]`, `2 "C" `},
		},
		{
			"a table whose mapping came later", "shop-movies.csv", "id;nr;name;genres\ntt1;1;A;Drama\n",
			Config{Layout: "tmdb"},
			"mended.ndjson", mapped, nil,
			[]string{`1 "A" [{"id":18,"name":"Drama"}]`},
		},
		{
			"a table with the API's names", "movies.csv", `id,title,adult,budget,genres` + "\n" + `x,A,True,5,"[{""id"":18,""name"":""Drama""}]"` + "\n",
			Config{Layout: "tmdb"},
			"movies.ndjson",
			Config{},
			[]string{`"x"`, `"7"`},
			[]string{`7 "A" [{"id":18,"name":"Drama"}]`},
		},
		{
			"TSV", "movies.tsv", "id\ttitle\tgenres\nx\tA \\\\N\t\\N\n",
			Config{Layout: "tmdb"},
			"mended.ndjson",
			Config{Kind: "movie"},
			[]string{`"x"`, `"7"`},
			[]string{`7 "A \\\\N" null`},
		},
		{
			"Parquet with the API's names", "movies.parquet", parquetOf(t, `[{"id":18,"name":"Drama"}]`),
			Config{Layout: "tmdb"},
			"movies.ndjson",
			Config{},
			[]string{`"id":0`, `"id":7`},
			[]string{`7 "A" [{"id":18,"name":"Drama"}]`},
		},
		{
			"Parquet by a mapping", "shop.parquet", parquetOf(t, "Drama"), mapped,
			"mended.ndjson", mapped,
			[]string{`"nr":"x"`, `"nr":"7"`},
			[]string{`7 "A" [{"id":18,"name":"Drama"}]`},
		},
		{
			"lines", "movies.ndjson", `{"id":"x","title":"A","genres":[{"id":18,"name":"Drama"}]}` + "\n" + `{"id":8,"title":"B"}` + "\n",
			Config{},
			"mended.ndjson",
			Config{Kind: "movie"},
			[]string{`"x"`, `7`},
			[]string{`7 "A" [{"id":18,"name":"Drama"}]`, `8 "B" `},
		},
		{
			"an array", "movies.json", "[\n{\n\"id\":\"x\",\n\"title\":\"A\"}\n]",
			Config{Layout: "tmdb"},
			"movies.ndjson",
			Config{},
			[]string{`"x"`, `7`},
			[]string{`7 "A" `},
		},
		{
			"a file of one resource", "movie/7.json", `{"id":8,"title":"A"}`,
			Config{Layout: "tmdb"},
			"movie/7.json",
			Config{},
			[]string{`"id":8`, `"id":7`},
			[]string{`7 "A" `},
		},
		{
			"a strict ingest", "movies.ndjson", `{"id":7,"title":5}`,
			Config{Layout: "tmdb", Strict: true},
			"movies.ndjson",
			Config{Strict: true},
			[]string{`:5`, `:"A"`},
			[]string{`7 "A" `},
		},
		{
			"a row that says something else", "movies.ndjson", `{"id":7,"title":"A"}` + "\n" + `{"id":7,"title":"B"}`,
			Config{},
			"movies.ndjson",
			Config{},
			nil,
			[]string{`7 "B" `},
		},
		{
			"what is no JSON", "movies.ndjson", `{"id":8,"title":"B"}` + "\n" + `{"id":7,"title":` + "\n" + `{"id":9,"title":"C"}`,
			Config{},
			"movies.ndjson",
			Config{},
			[]string{`"{\"id\":7,\"title\":"`, `{"id":7,"title":"A"}`},
			[]string{`7 "A" `, `8 "B" `, `9 "C" `},
		},
		{
			"IMDb's tables", "title.basics.tsv", basics + "tt0000001\tmovie\tA\tA\t0\t1990\t\\N\t1\tDrama\n" + "x\tmovie\tB\tB\t0\t1990\t\\N\t1\tDrama\n",
			Config{},
			"title.basics.ndjson",
			Config{},
			[]string{`"x"`, `"tt0000002"`},
			[]string{` "A" [{"id":18,"name":"Drama"}]`, ` "B" [{"id":18,"name":"Drama"}]`},
		},
	} {
		dir := t.TempDir()
		c := tt.first
		c.Sources = []string{put(t, t.TempDir(), tt.name, tt.text)}
		r := ingestInto(t, dir, c)
		if r.Quarantined != 1 {
			t.Errorf("%s: %d rows in quarantine, want 1: %v", tt.what, r.Quarantined, r.Bad)
			continue
		}
		if e := quarantined(t, r)[0]; e.File != filepath.Base(tt.name) || e.Path != c.Sources[0] || e.Number == 0 || e.Reason == "" || (e.Mapping == "shop.toml") != (len(c.Mappings) > 0) {
			t.Errorf("%s: the quarantine has %+v", tt.what, e)
		}
		c = tt.then
		c.Sources, c.Update = []string{mended(t, r, tt.again, tt.replace...)}, catalog.Exists(dir)
		if r = ingestInto(t, dir, c); r.Quarantined != 0 || r.ValuesLeftOut != 0 {
			t.Errorf("%s: mended rows are in quarantine: %v", tt.what, r.Bad)
		}
		names := []string{"id", "title", "genres"}
		got := fields(t, dir, "movie", names...)
		if tt.name == "title.basics.tsv" {
			for i := range got {
				_, got[i], _ = strings.Cut(got[i], " ")
				got[i] = " " + got[i]
			}
		}
		if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s: movies\n%s\nwant\n%s", tt.what, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}

	// Rows that were not mended are quarantined again, unchanged.
	dir := t.TempDir()
	r := lines(t, dir, Config{}, `{"id":"x","title":"A"}`, `{"id":7,`, "{\"id\":8,\"title\":\"\x94\"}", "[1]", `{"id":9}`)
	before := quarantined(t, r)
	r = ingestInto(t, dir, Config{Layout: "tmdb", Sources: []string{mended(t, r, "movies.ndjson")}})
	after := quarantined(t, r)
	if len(before) != 4 || len(after) != 4 {
		t.Fatalf("%d and %d rows in quarantine, want 4", len(before), len(after))
	}
	for i := range after {
		if string(after[i].Row) != string(before[i].Row) {
			t.Errorf("row %s, before %s", after[i].Row, before[i].Row)
		}
	}
}
