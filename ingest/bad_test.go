package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestBadFiles: an unreadable file ends the ingest with one line that names the file and the place, and the catalogue is
// unchanged.
func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	lines(t, dir, Config{}, `{"id":1,"title":"A"}`)
	before := catalogBytes(t, dir)
	refuse := func(want string, c Config) {
		t.Helper()
		c.Catalog = dir
		_, err := Run(t.Context(), c)
		if err == nil || err.Error() != want {
			t.Errorf("Run(%v) = %v, want %s", c.Sources, err, want)
		}
		if !bytes.Equal(catalogBytes(t, dir), before) {
			t.Errorf("Run(%v) changed the catalogue", c.Sources)
		}
		checkFiles(t, dir, "movie.parquet")
	}
	src := t.TempDir()
	f := func(name, data, want string) {
		t.Helper()
		refuse(want, Config{Sources: []string{put(t, src, name, data)}})
	}

	f("movies.json.gz", gz(t, "[{\"id\":1}]")[:20], "movies.json.gz: row 1 (line 1): unexpected end of gzip stream (rows read before it: 0)")
	f("movies.lfs.json", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
		`movies.lfs.json: is a Git LFS pointer, not the data: fetch it with "git lfs pull" first`)
	f("movies.empty.json", "", "movies.empty.json: empty file")
	f("movies.parquet.gz", gz(t, "PAR1 and then nothing"), `movies.parquet.gz: truncated Parquet file: want PAR1 as the last 4 bytes, found "hing"`)
	f("movies.parquet.zst", cutTo(zst(t, string(before)), 0.5), "movies.parquet.zst: unexpected end of zstd stream")
	f("dump.ndjson", `{"id":1,"name":"A","homepage":"B"}`, "dump.ndjson: its name shows no kind of records: use --kind with one of tv, person, company, network")

	other := t.TempDir()
	readme := put(t, other, "README", "text")
	put(t, other, "movies.json", "")
	refuse(readme+": is not a JSON, CSV, TSV or Parquet file; 1 could not be read, such as movies.json: empty file", Config{Sources: []string{other}})
	others := t.TempDir()
	for n := range 3 {
		put(t, others, fmt.Sprintf("data/%d.json", n+1), fmt.Sprintf(`{"id":%d,"original_title":"T","cast":"A|B"}`, n+1))
	}
	put(t, others, "data/862.0.json", "") // it hides no other file
	refuse("none of 3 files can be taken, the first: data/1.json: its name shows no kind of records: use --kind with one of "+strings.Join(catalog.Kinds(), ", ")+
		"; 1 could not be read, such as data/862.0.json: empty file", Config{Sources: []string{others}})
	refuse("none of 2 files could be read, the first: movies.json: empty file", Config{Sources: []string{filepath.Join(other, "movies.json"), put(t, other, "movies.b.json", "")}})
	refuse(`README: want JSON, CSV, TSV or Parquet, found text that starts with "text"`, Config{Sources: []string{readme}, Layout: "tables"})
	noLanguage := "layout movnix: its rows are of no language, so language de-DE cannot be theirs: ingest them without one"
	renamed := put(t, src, "movies.renamed.json", `{"movie":{"tmdbId":1},"watchProviders":{}}`)
	refuse("movies.renamed.json: "+noLanguage, Config{Sources: []string{renamed}, Language: "de"})
	refuse(noLanguage, Config{Sources: []string{renamed}, Language: "de", Layout: "movnix"})

	missing := filepath.Join(src, "nothing.ndjson")
	refuse(missing+": no such file or folder", Config{Sources: []string{missing}})
	good := put(t, src, "movies.good.json", `{"id":1}`)
	refuse(`layout "csv": want one of auto, tmdb, movnix, tables, kaggle, idexport, imdb`, Config{Sources: []string{good}, Layout: "csv"})
	refuse(`movies.other.json: layout kaggle: no mapping has a table "movies.other" with these columns: want one of credits, keywords, links, movielens, movies, movies_metadata, `+
		"tmdb_5000_credits, tmdb_5000_movies, tmdb_movie_dataset, tmdb_tv_dataset",
		Config{Sources: []string{put(t, src, "movies.other.json", `{"name":"A"}`)}, Layout: "kaggle"})
	refuse("movies.good.json: ratings by single users have no place in the API",
		Config{Sources: []string{put(t, t.TempDir(), "movies.good.json", `{"userId":1,"movieId":2,"rating":3}`)}})
	refuse("read mapping: open none.toml: no such file or directory", Config{Sources: []string{good}, Mappings: []string{"none.toml"}})
	refuse(`language "german": want xx or xx-YY, for instance de-DE`, Config{Sources: []string{good}, Language: "german"})
	refuse(`kind "film": want one of `+strings.Join(catalog.Kinds(), ", "), Config{Sources: []string{good}, Kind: "film"})
	refuse("want at least one source", Config{})
	if os.Getuid() != 0 { // root may read everything
		p := put(t, src, "movies.secret.json", `{"id":1}`)
		if err := os.Chmod(p, 0); err != nil {
			t.Fatal(err)
		}
		refuse("movies.secret.json: open "+p+": permission denied", Config{Sources: []string{p}})
	}
}

// cutTo returns the first part of s.
func cutTo(s string, part float64) string { return s[:int(float64(len(s))*part)] }

// TestBadRows: each bad row goes to quarantine with its place and reason; the other rows are ingested.
func TestBadRows(t *testing.T) {
	t.Parallel()
	const good = `{"id":1,"title":"A"}`
	mended := ""
	run := func(c Config, bad, want string) {
		t.Helper()
		dir := t.TempDir()
		r := lines(t, dir, c, good, bad, `{"id":2,"title":"B"}`)
		if r.Quarantined != 1 || r.Records["movie"] != 2 || !slices.Equal(r.Bad, []string{"movies.ndjson:2: " + want}) {
			t.Errorf("Run(%.60q): %d records, Bad %q, want 2, %q", bad, r.Records["movie"], r.Bad, "movies.ndjson:2: "+want)
		}
		for path, want := range map[string]fs.FileMode{r.QuarantineFile: 0o600, filepath.Dir(r.QuarantineFile): 0o700} {
			if info, err := os.Stat(path); err != nil || (runtime.GOOS != "windows" && info.Mode().Perm() != want) {
				t.Errorf("%s has mode %v, %v, want %v: rows may hold account data", path, info.Mode(), err, want)
			}
		}
		var text string
		e := quarantined(t, r)[0]
		if json.Unmarshal(e.Row, &text) != nil { // an object from the reader
			text = string(e.Row)
		}
		if text != strings.ToValidUTF8(bad, "\uFFFD") && text != mended || e.Number != 2 || e.Line != 2 || e.File != "movies.ndjson" {
			t.Errorf("quarantine of %.60q = %s:%d, row %s", bad, e.File, e.Line, e.Row)
		}
	}
	f := func(bad, want string) {
		t.Helper()
		run(Config{}, bad, want)
		run(Config{Strict: true}, bad, want)
	}
	f("{\"id\":3,\"title\":\"a \x94 b\"}", "byte 19: invalid UTF-8")
	f(`{"id":"x","title":"C"}`, `id: want an integer, found "x"`)
	f(`{"id":3.5,"title":"C"}`, `id: want an integer, found 3.5`)
	f(`{"id":null,"title":"C"}`, `id: want an integer, found nothing`)
	f(`{"title":"C"}`, `id: want an integer, found nothing`)
	f(`{"id":0}`, `id: want 1 or more, found 0`)
	f(`{"id":-5}`, `id: want 1 or more, found -5`)
	f(`{"id":9223372036854775808}`, `id: want an integer, found 9223372036854775808`)
	f(`{"id":3,"media_type":"tv","name":"A show"}`, `media_type: want "movie", found "tv"`)
	f(`{"success":false,"status_code":34,"status_message":"The resource you requested could not be found."}`,
		`status_code: want a response, found error 34: The resource you requested could not be found.`)
	f(`[1,2]`, `byte 0: want an object, found an array`)
	f(`null`, `byte 0: want an object, found null`)
	f(`{"id":3`, `byte 7: unexpected end of JSON input`)
	f(`{"id":1,"title":"other"}`, `id: movie 1 is already at movies.ndjson:1, with other content`)

	// A row that the reader repaired is quarantined as the reader returned it, and an unreadable row as found.
	mended = `{"id":null,"title":"C\\s"}`
	run(Config{}, "{\"id\":NaN,\"title\":\"C\\s\x01\"}", "id: want an integer, found nothing")
	run(Config{}, `{"id":3,"title":}NaN`, "byte 16: invalid character '}' looking for beginning of value")

	strict := func(bad, want string) {
		t.Helper()
		run(Config{Strict: true, Kind: "movie"}, bad, want)
	}
	strict(`{"id":"3","title":"C"}`, `id: want an integer, found "3"`)
	strict(`{"id":3.0,"title":"C"}`, `id: want an integer, found 3.0`)
	strict(`{"id":3,"release_date":"12/31/1999"}`, `release_date: want YYYY-MM-DD or nothing, found "12/31/1999"`)
	strict(`{"id":3,"release_date":"1999-13-01"}`, `release_date: want YYYY-MM-DD or nothing, found "1999-13-01"`)
	strict(`{"id":3,"release_date":"1999-12-31T00:00:00Z"}`, `release_date: want YYYY-MM-DD or nothing, found "1999-12-31T00:00:00Z"`)
	strict(`{"id":3,"release_date":19991231}`, `release_date: want a string, found 19991231`)
	strict(`{"id":3,"title":1776}`, `title: want a string, found 1776`)
	strict(`{"id":3,"adult":"true"}`, `adult: want true or false, found "true"`)
	strict(`{"id":3,"genres":["Drama"]}`, `genres[0]: want an object, found "Drama"`)
	strict(`{"id":3,"genre_ids":[1,"x"]}`, `genre_ids[1]: want an integer, found "x"`)
	strict(`{"id":3,"credits":{"cast":[{"id":1},{"id":"x"}]}}`, `credits.cast[1].id: want an integer, found "x"`)
	strict(`{"id":3,"watch/providers":{"results":{"US":5}}}`, `watch/providers.results.US: want an object, found 5`)
}

// TestDuplicates: a row equal to an earlier one of its file is dropped.
func TestDuplicates(t *testing.T) {
	dir := t.TempDir()
	r := lines(t, dir, Config{}, `{"id":1,"title":"A","adult":false}`, `{"adult":false,"title":"A","id":1}`, `{"id":1,"title":"A","adult":false}`)
	if r.Duplicates != 2 || r.Quarantined != 0 || r.Records["movie"] != 1 || r.Rows != 3 {
		t.Errorf("Run = %+v, want 3 rows, 2 of them duplicates", r)
	}
}

// TestDamagedCatalogue: a truncated or corrupted catalogue file gives an error with its name, never wrong data, and is
// unchanged.
func TestDamagedCatalogue(t *testing.T) {
	t.Parallel()
	good := t.TempDir()
	lines(t, good, Config{}, sampleRows(t, 3)...)
	b := catalogBytes(t, good)
	want := records(t, good)
	src := put(t, t.TempDir(), "movies.ndjson", want[0])
	dir := t.TempDir()
	path := filepath.Join(dir, movieFile)
	f := func(what string, damaged []byte, sure bool) {
		t.Helper()
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Run(t.Context(), Config{Catalog: dir, Sources: []string{src}})
		switch {
		case err == nil && (sure || !slices.Equal(records(t, dir), want)):
			t.Errorf("%s: no error, and other records than before", what)
		case err != nil && (!strings.HasPrefix(err.Error(), path+": ") || strings.Contains(err.Error(), "\n")):
			t.Errorf("%s: %q, want one line that begins with %s", what, err, path)
		case err != nil && !bytes.Equal(catalogBytes(t, dir), damaged):
			t.Errorf("%s: the damaged file was changed", what)
		}
	}
	f("empty", nil, true)
	f("text", []byte("not Parquet"), true)
	f("first half", b[:len(b)/2], true)
	f("last half", b[len(b)/2:], true)
	flips := 40
	if testing.Short() {
		flips = 10
	}
	for n := range flips {
		flipped := bytes.Clone(b)
		at := len(b) * n / flips
		flipped[at] ^= 0x10
		f(fmt.Sprintf("bit at %d of %d", at, len(b)), flipped, false)
	}
}

// TestDamagedAmongGood: an unreadable file does not affect other files, or its own rows before the damage, even if it is the
// only file.
func TestDamagedAmongGood(t *testing.T) {
	dir, src := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"1.json": `{"id":1,"title":"A"}`, "862.0.json": "", "2.json": "version https://git-lfs.github.com/spec/v1\noid x\n",
		"many.json": `[{"id":3,"title":"C"},{"id":4,"title":"D"`,
	} {
		put(t, src, "movie/"+name, text)
	}
	r := ingestInto(t, dir, Config{Sources: []string{src}})
	if r.FailedFiles != 3 || len(r.Failed) != 3 || r.Records["movie"] != 2 {
		t.Errorf("report = %d failed %q, %v records, want 3 and 2", r.FailedFiles, r.Failed, r.Records)
	}
	alone := ingestInto(t, t.TempDir(), Config{Kind: "movie", Sources: []string{filepath.Join(src, "movie", "many.json")}})
	if alone.FailedFiles != 1 || alone.Records["movie"] != 1 || alone.Kept != 1 {
		t.Errorf("report of a file that is cut = %d failed, %v records, want 1 and 1", alone.FailedFiles, alone.Records)
	}
	// It is an error, without changes, if no file has a row.
	var none []string
	for _, name := range []string{"2.json", "862.0.json"} {
		none = append(none, filepath.Join(src, "movie", name))
	}
	if _, err := Run(t.Context(), Config{Catalog: dir, Sources: none}); err == nil || !strings.Contains(err.Error(), "2.json: is a Git LFS pointer") {
		t.Errorf("Run over damaged files alone = %v, want the first one's reason", err)
	}
}

// TestReasons: a file that is mistaken for another form gets a reason and advice.
func TestReasons(t *testing.T) {
	shop := put(t, t.TempDir(), "shop.toml", `[[table]]
requires = ["nr", "name", "year"]

[[table.record]]
kind = "movie"
[table.record.fields]
id = 'nr'
title = 'name'
`)
	f := func(name, text, want string, c Config) {
		t.Helper()
		dir := t.TempDir()
		c.Catalog, c.Sources = t.TempDir(), []string{put(t, dir, name, text)}
		r, err := Run(t.Context(), c)
		got := r.Bad
		if err != nil {
			got = []string{strings.ReplaceAll(err.Error(), dir, "DIR")}
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("Run(%s) = %q, want %q", name, got, want)
		}
	}
	const no, lacks = "its columns are unknown", `mapping shop.toml requires columns that the file lacks: year`
	draft := func(why, file, name string) string {
		return why + ": run \"reelsplice ingest --explain DIR/" + file + " >DIR/" + name + ".toml\", check what it wrote, and run this again"
	}
	kind := func(kinds string) string {
		return "its name shows no kind of records: use --kind with one of " + kinds
	}
	mapped := Config{Mappings: []string{shop}}
	f("movies.csv", "nr,name\n1,A\n", "movies.csv: "+lacks, mapped)
	f("movies.ndjson", `{"nr":1,"name":"A"}`, "movies.ndjson: "+lacks, mapped)
	f("shop.csv", "nr,name\n1,A\n", "shop.csv: "+lacks, mapped)
	f("movies.csv", "nr,name\n1,A\n", "movies.csv: "+draft("its rows are not movie records of the API: id: want an integer, found nothing", "movies.csv", "movies"), Config{})
	f("movies.csv", "id,title\n1,A\nx,B\n", `movies.csv:3: id: want an integer, found "x"`, Config{}) // an error in the row
	f("shop.csv", "nr,name\n1,A\n", "shop.csv: "+draft(no, "shop.csv", "shop"), Config{})
	f("shop.csv", "id,name,homepage\n1,A,http://a\n", "shop.csv: "+kind("tv, person, company, network"), Config{})
	f("credits.csv", "movie,person\n1,2\n", "credits.csv: "+draft(no, "credits.csv", "credits"), Config{})
	f("crawl/550.json", `{"cast":[],"crew":[]}`, "550.json: "+kind(strings.Join(catalog.Kinds(), ", ")), Config{})
	f("dump.ndjson", `{"id":550,"cast":[{"id":1}],"crew":[]}`, "dump.ndjson: "+draft(no, "dump.ndjson", "dump")+
		", or name it like 550-credits.json if it is the response of a sub-request; as a record: no column is the title of a movie", Config{})
	loses := func(as, columns, file, name string) string {
		return draft("as "+as+" it would lose columns that a mapping has a field for: "+columns, file, name)
	}
	counted := "id,title,runtime,overview\n"
	for n := range 10 {
		counted += fmt.Sprintf("%d,Film %d,90,o\n", n+1, n)
	}
	f("films.csv", counted, "films.csv: "+draft("its rows are not movie records of the API: column id counts the rows: use --kind if it has TMDB's ids", "films.csv", "films"), Config{})
	f("movies.csv", "id,title,vote_average,original_language\n5,A,84,English\n6,B,71,French\n",
		"movies.csv: "+loses("movie records of the API", "original_language, vote_average", "movies.csv", "movies"), Config{})
	f("movies.json", `{"data":{"movies":{"edges":[{"node":{"id":5,"title":"A","releaseDate":"1999-10-15"}}]}}}`,
		"movies.json: "+loses("movie records of the API", "releaseDate", "movies.json", "movies"), Config{})
	f("movies.json", `{"id":1,"jsonrpc":"2.0","result":{"movies":[{"movieid":1,"title":"A","plot":"o","premiered":"1999-10-15","uniqueid":{"tmdb":"5"}}]}}`,
		"movies.json: "+draft("its rows are not movie records of the API: id: want an integer, found nothing", "movies.json", "movies"), Config{})
	f("series.json", `{"status":"success","data":[{"id":7,"name":"A","overview":"o","firstAired":"2011-04-17","lastAired":"2019-05-19","slug":"a","status":{"id":2,"name":"Ended"}}]}`,
		"series.json: "+loses("tv records of the API", "firstAired, lastAired", "series.json", "series"), Config{})
	f("movies.json", `{"id":7,"title":"My list","items":[{"tmdb_id":5,"title":"A"},{"tmdb_id":6,"title":"B"}]}`,
		"movies.json: "+draft("its rows are not movie records of the API: id: want an integer, found nothing", "movies.json", "movies"), Config{})
	f("movies.json", `{"id":1,"jsonrpc":"2.0","result":"OK"}`, "movies.json: "+draft("its rows are not movie records of the API: no row has the title of a movie", "movies.json", "movies")+
		", or name it like 550-credits.json if it is the response of a sub-request; as a record: no row has the title of a movie", Config{})
	f("names.tsv", "nconst\tprimaryName\tbirthYear\tdeathYear\tprimaryProfession\tknownForTitles\nnm1\tA\t\\N\t\\N\tactor\ttt1\n",
		"names.tsv: has the columns of IMDb's table name.basics, but not its name: want name.basics.tsv or name.basics.tsv.gz", Config{})
	f("movies.json", "id,title\n1,A\n", "movies.json: is CSV or TSV, but its extension .json decides: rename it to .csv or .tsv", Config{})
}

// TestManySkipped: skipped files are counted, and the first are listed.
func TestManySkipped(t *testing.T) {
	src := t.TempDir()
	for n := range 60 {
		put(t, src, fmt.Sprintf("x%03d.json", n), `{"id":1,"name":"A","homepage":"B"}`)
	}
	_, err := Run(t.Context(), Config{Catalog: t.TempDir(), Sources: []string{src}})
	if want := "none of 60 files can be taken, the first: x000.json: its name shows no kind"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Run of files that tell no kind = %v, want %s", err, want)
	}
	// Likewise files skipped while they are read.
	other := put(t, t.TempDir(), "1.json", `{"id":1}`)
	_, err = Run(t.Context(), Config{Catalog: t.TempDir(), Sources: []string{other}})
	if want := "1.json: its name shows no kind"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Run of a file that tells no kind = %v, want %s", err, want)
	}
	put(t, src, "movies.json", `{"id":1}`)
	r := ingestInto(t, t.TempDir(), Config{Sources: []string{src}})
	if r.SkippedFiles != 60 || len(r.Skipped) != maxNamed || !strings.HasPrefix(r.Skipped[0], "x000.json: ") {
		t.Errorf("Run skips %d, lists %d: %.1q, want 60, %d", r.SkippedFiles, len(r.Skipped), r.Skipped, maxNamed)
	}
	notes := t.TempDir()
	for n := range 60 {
		put(t, notes, fmt.Sprintf("note%03d", n), "text")
	}
	put(t, notes, "movies.json", `{"id":1}`)
	if e, err := Explain(t.Context(), Config{Sources: []string{notes}}); err != nil || e.SkippedFiles != 60 || len(e.Skipped) != maxNamed {
		t.Errorf("Explain skips %d, lists %d, %v, want 60, %d", e.SkippedFiles, len(e.Skipped), err, maxNamed)
	}
	// Likewise in a run that is stopped.
	put(t, src, "1.json", `{"id":1}`)
	put(t, src, "z-movies.ndjson", `{"id":"x"}`)
	none, err := ParseTolerance("0")
	if err != nil {
		t.Fatal(err)
	}
	r, err = Run(t.Context(), Config{Catalog: t.TempDir(), Sources: []string{src}, MaxBad: none})
	if err == nil || r.SkippedFiles != 61 || r.Details.Skipped.More != 61-report.MaxListed {
		t.Errorf("a stopped Run = %v, skips %d, want 61", err, r.SkippedFiles)
	}
}

// TestFilesOfOneName: messages distinguish two files with one name.
func TestFilesOfOneName(t *testing.T) {
	root := t.TempDir()
	sources := []string{put(t, root, "a/movies.ndjson", `{"id":"x"}`), put(t, root, "b/movies.ndjson", `{"id":"x"}`)}
	r := ingestInto(t, t.TempDir(), Config{Sources: sources})
	for i, p := range sources {
		if want := p + `:1: id: want an integer, found "x"`; i >= len(r.Bad) || r.Bad[i] != want {
			t.Errorf("bad rows = %q, want %q", r.Bad, want)
		}
	}
}

// TestBadStart: bad first rows are ignored when the meaning is chosen, even if they are more than the sample.
func TestBadStart(t *testing.T) {
	sharedtest.Set(t, &headRows, 3)
	sharedtest.Set(t, &spreadRows, 3)
	good := map[string]string{
		"movies.ndjson": `{"id":1,"title":"A"}` + "\n" + `{"id":2,"title":"B"}` + "\n",
		"movies.csv":    "id,title,vote_average\n1,A,7.5\n2,B,8\n",
	}
	bad := map[string]string{"movies.ndjson": "{\n", "movies.csv": "1,A,7,too,many\n"}
	for name, text := range good {
		want := t.TempDir()
		ingestInto(t, want, Config{Sources: []string{put(t, t.TempDir(), name, text)}})
		for _, n := range []int{headRows - 1, headRows, headRows + 1} {
			lines, dir := strings.SplitAfter(text, "\n"), t.TempDir()
			at := 0
			if name == "movies.csv" {
				at = 1 // after the header
			}
			all := strings.Join(slices.Insert(lines, at, slices.Repeat([]string{bad[name]}, n)...), "")
			r := ingestInto(t, dir, Config{MinFit: AnyFit, Sources: []string{put(t, t.TempDir(), name, all)}})
			if got := records(t, dir); r.Quarantined != int64(n) || !slices.Equal(got, records(t, want)) {
				t.Errorf("%s after %d bad rows: %d are in quarantine, records %q, want %q", name, n, r.Quarantined, got, records(t, want))
			}
		}
	}
}
