package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/ingest/merge"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/provenance"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// put writes a file below dir and returns its path.
func put(tb testing.TB, dir, name, data string) string {
	tb.Helper()
	p := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(data), 0o600); err != nil {
		tb.Fatal(err)
	}
	return p
}

func gz(tb testing.TB, data string) string {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, data)
	if err := errors.Join(err, z.Close()); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func zst(tb testing.TB, data string) string {
	tb.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return string(z.EncodeAll([]byte(data), nil))
}

// ingestInto ingests sources into the catalogue folder dir.
func ingestInto(tb testing.TB, dir string, c Config) Report {
	tb.Helper()
	c.Catalog = dir
	r, err := Run(tb.Context(), c)
	if err != nil {
		tb.Fatalf("Run(%v): %v", c.Sources, err)
	}
	return r
}

// lines ingests NDJSON rows as one file.
func lines(tb testing.TB, dir string, c Config, rows ...string) Report {
	tb.Helper()
	c.Sources = []string{put(tb, tb.TempDir(), "movies.ndjson", strings.Join(rows, "\n")+"\n")}
	return ingestInto(tb, dir, c)
}

// movieFile is the catalogue's file of movies.
const movieFile = "movie.parquet"

// records returns the movies of a catalogue as JSON.
func records(tb testing.TB, dir string) []string {
	tb.Helper()
	return recordsOf(tb, dir, "movie")
}

// recordsOf returns the records of a kind in a catalogue as JSON.
func recordsOf(tb testing.TB, dir, kind string) []string {
	tb.Helper()
	typ, ok := catalog.TypeNamed(kind)
	if !ok {
		tb.Fatalf("no kind %s", kind)
	}
	f, err := typ.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	rows := f.Groups(0, f.RowGroups())
	defer rows.Close()
	var out []string
	var last catalog.Key
	for {
		r := typ.New()
		err := rows.Next(r)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			tb.Fatal(err)
		}
		key, err := typ.Key(r)
		if err != nil || key.Compare(last) <= 0 {
			tb.Errorf("record %v follows %v, %v, want ascending keys", key, last, err)
		}
		last = key
		out = append(out, string(record.Append(nil, r)))
	}
}

func catalogBytes(tb testing.TB, dir string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(dir, movieFile))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// catalogNames returns the names of the files in a catalogue folder, without the lock, the reports and the list of dumps.
func catalogNames(tb testing.TB, dir string) (names []string) {
	tb.Helper()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !slices.Contains([]string{".lock", report.JSONFile, report.HTMLFile, provenance.FileName}, d.Name()) {
			rel, _ := filepath.Rel(dir, p)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// checkFiles checks that a catalogue folder holds only the named files and the report, and nothing temporary.
func checkFiles(tb testing.TB, dir string, want ...string) {
	tb.Helper()
	slices.Sort(want)
	if got := catalogNames(tb, dir); !slices.Equal(got, want) {
		tb.Errorf("files in the catalogue = %q, want %q", got, want)
	}
}

// allFiles returns the contents of the Parquet files of a catalogue.
func allFiles(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	out := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			tb.Fatal(err)
		}
		out[filepath.Base(p)] = string(b)
	}
	return out
}

// fileOf ingests rows as one file of that name.
func fileOf(tb testing.TB, dir, name string, c Config, rows ...string) Report {
	tb.Helper()
	c.Sources = []string{put(tb, tb.TempDir(), name, strings.Join(rows, "\n")+"\n")}
	return ingestInto(tb, dir, c)
}

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

// latestQuarantine returns the bad rows of the last ingest into a catalogue.
func latestQuarantine(t *testing.T, dir string) (all []report.BadRow) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "quarantine", "*.ndjson"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no quarantine: %v", err)
	}
	text, err := os.ReadFile(slices.Max(files))
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

// member returns the JSON of a member of a JSON object, or "".
func member(tb testing.TB, row, path string) string {
	tb.Helper()
	raw := json.RawMessage(row)
	for _, name := range strings.Split(path, ".") {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			tb.Fatalf("%s of %.80s: %v", path, row, err)
		}
		raw = m[name]
		if raw == nil {
			return ""
		}
	}
	return string(raw)
}

// odd are rows with everything that typed columns cannot hold.
var odd = []string{
	`{"adult":false,"backdrop_path":null,"belongs_to_collection":null,"budget":0,"genres":[],"homepage":"","id":7,` +
		`"imdb_id":null,"origin_country":[],"original_language":"de","original_title":"Ein Film","overview":"a \"b\" \u2028 é",` +
		`"popularity":1.5,"poster_path":"/p.jpg","production_companies":[{"id":1,"logo_path":null,"name":"A","origin_country":""}],` +
		`"release_date":"","revenue":0,"runtime":null,"status":"Released","tagline":"","title":"A film","video":false,` +
		`"vote_average":8.0,"vote_count":3,"new_member":{"a":[1,null,"x"]},` +
		`"watch/providers":{"results":{"US":{"link":"l","rent":[{"logo_path":"/l.jpg","provider_id":2,"provider_name":"P","display_priority":4}],"buy":[]},"CA":{"link":"m"}}},` +
		`"changes":{"changes":[{"key":"title","items":[{"id":"5","action":"added","value":{"a":1},"original_value":null},{"value":"text"},{"value":3}]}]},` +
		`"lists":{"page":1,"results":[{"id":"5a0b","name":"n"},{"id":12,"name":"m"}],"total_pages":1,"total_results":2},` +
		`"images":{"backdrops":[],"logos":[],"posters":[{"aspect_ratio":0.667,"height":3,"iso_639_1":null,"file_path":"/p.jpg","vote_average":0.0,"vote_count":0,"width":2}]}}`,
	`{"id":8,"title":"B","status":"Released","genres":[{"id":18,"name":"Drama","more":true}],"keywords":{"keywords":[]},"credits":{"cast":null,"crew":[]}}`,
	`{"id":9,"title":"C","status":"","genres":[],"translations":{"translations":[{"iso_639_1":"de","data":null},{"iso_639_1":"fr","data":{"title":"Ç"}}]}}`,
}

// sampleRows returns the first n movies of the embedded sample, and the odd ones.
func sampleRows(tb testing.TB, n int) []string {
	tb.Helper()
	b, err := fs.ReadFile(sample.FS(), "movies.ndjson")
	if err != nil {
		tb.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(b)), "\n")
	return append(slices.Clone(odd), rows[:min(n, len(rows))]...)
}

// split splits a record into details and responses of sub-requests, as files.
func split(t *testing.T, dir, row string, pack func(testing.TB, string) string, ext string) {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(row), &m); err != nil {
		t.Fatal(err)
	}
	id := string(m["id"])
	details := map[string]json.RawMessage{}
	for name, v := range m {
		f, known := fieldOf(name)
		if !known || f.Shape < record.ShapeObject || f.Elem == nil || !f.Elem.DropID {
			details[name] = v
			continue
		}
		// The response to a sub-request has the ID in it.
		body := `{"id":` + id + `,` + string(v)[1:]
		put(t, dir, id+"-"+strings.ReplaceAll(name, "/", "_")+".json"+ext, pack(t, body))
	}
	b, err := json.Marshal(details)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, id+".json"+ext, pack(t, string(b)))
}

func fieldOf(name string) (record.Field, bool) {
	for _, f := range record.SchemaOf[catalog.Movie]().Fields {
		if f.Name == name {
			return f, true
		}
	}
	return record.Field{}, false
}

// TestForms: every form of a dump gives the same catalogue, byte by byte.
func TestForms(t *testing.T) {
	t.Parallel()
	rows := sampleRows(t, 12)
	if testing.Short() { // each of the many forms is an ingest
		rows = rows[:3]
	}
	base := t.TempDir()
	r := lines(t, base, Config{}, rows...)
	if r.Quarantined != 0 || r.Records["movie"] != int64(len(rows)) || r.Rows != int64(len(rows)) {
		t.Fatalf("Run = %+v, want %d records", r, len(rows))
	}
	want := catalogBytes(t, base)
	checkFiles(t, base, "movie.parquet")
	f := func(name string, c Config) {
		t.Helper()
		dir := t.TempDir()
		ingestInto(t, dir, c)
		if got := catalogBytes(t, dir); !bytes.Equal(got, want) {
			a, b := records(t, dir), records(t, base)
			for i := range a {
				if i >= len(b) || a[i] != b[i] {
					t.Errorf("%s: record %d\n got %.2000s\nwant %.2000s", name, i, a[i], b[min(i, len(b)-1)])
					return
				}
			}
			t.Errorf("%s: the catalogue's %d records are equal as JSON, its bytes are not", name, len(a))
		}
		checkFiles(t, dir, "movie.parquet")
	}
	plain := func(_ testing.TB, s string) string { return s }
	for _, p := range []struct {
		ext  string
		pack func(testing.TB, string) string
	}{{"", plain}, {".gz", gz}, {".zst", zst}} {
		src := t.TempDir()
		f("ndjson"+p.ext, Config{Sources: []string{put(t, src, "movies.ndjson"+p.ext, p.pack(t, strings.Join(rows, "\n")))}})
		f("array"+p.ext, Config{Sources: []string{put(t, src, "movie.json"+p.ext, p.pack(t, "[\n"+strings.Join(rows, ",\n")+"]"))}})
		f("parquet"+p.ext, Config{Sources: []string{put(t, src, "movie.parquet"+p.ext, p.pack(t, string(want)))}})
		for _, row := range rows {
			put(t, src, "movie/"+member(t, row, "id")+".json"+p.ext, p.pack(t, row))
			split(t, filepath.Join(src, "answers", "movie"), row, p.pack, p.ext)
		}
		f("folder"+p.ext, Config{Sources: []string{filepath.Join(src, "movie")}})
		f("folder of answers"+p.ext, Config{Sources: []string{filepath.Join(src, "answers", "movie")}})
	}
	f("small memory", Config{Memory: 1, Sources: []string{put(t, t.TempDir(), "movies.ndjson", strings.Join(rows, "\n"))}})
	reversed := slices.Clone(rows)
	slices.Reverse(reversed)
	f("reversed", Config{Kind: "movie", Sources: []string{put(t, t.TempDir(), "x.ndjson", strings.Join(reversed, "\n"))}})
	f("one file a row", Config{Sources: oneFileEach(t, rows)})
}

func oneFileEach(t *testing.T, rows []string) []string {
	t.Helper()
	dir := t.TempDir()
	var out []string
	for i, row := range rows {
		out = append(out, put(t, dir, fmt.Sprintf("movies-%d.ndjson", len(rows)-i), row))
	}
	return out
}

// TestRecordedCatalogue: records made from recorded responses of all years, merged by movie, survive the catalogue's file
// format unchanged.
func TestRecordedCatalogue(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(sharedtest.Path(t, "recorded", "movie"), "details*.json"))
	if err != nil {
		t.Fatal(err)
	}
	src := t.TempDir()
	for i, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		put(t, src, fmt.Sprintf("movies-x%03d.json", i), string(b))
	}
	first, second := t.TempDir(), t.TempDir()
	r := ingestInto(t, first, Config{Sources: []string{src}})
	if r.Quarantined > 0 || r.Conflicts == 0 || r.Records["movie"] < 10 {
		t.Errorf("Run = %+v, want conflicts and no row in quarantine", r)
	}
	ingestInto(t, second, Config{Sources: []string{filepath.Join(first, movieFile)}})
	if !bytes.Equal(catalogBytes(t, first), catalogBytes(t, second)) {
		t.Error("the catalogue made of a catalogue has other bytes")
	}
	ingestInto(t, first, Config{Sources: []string{src}})
	if !bytes.Equal(catalogBytes(t, first), catalogBytes(t, second)) {
		t.Error("the same answers again changed the catalogue's bytes")
	}
}

// TestConflicts: all conflicts are counted, and the first are sampled.
func TestConflicts(t *testing.T) {
	src, dir := t.TempDir(), t.TempDir()
	many := make([]string, 2)
	for i := range many {
		var rows []string
		for id := range 60 {
			rows = append(rows, fmt.Sprintf(`{"id":%d,"title":"%d"}`, id+1, i))
		}
		many[i] = put(t, src, fmt.Sprintf("many-movies-%d.ndjson", i), strings.Join(rows, "\n"))
	}
	if r := ingestInto(t, dir, Config{Sources: many}); r.Conflicts != 60 || len(r.Samples) != 3 {
		t.Errorf("conflicts = %d, %d samples, want 60, 3", r.Conflicts, len(r.Samples))
	}
}

// TestCancel: a canceled ingest leaves the catalogue unchanged, and nothing else.
func TestCancel(t *testing.T) {
	dir := t.TempDir()
	lines(t, dir, Config{}, `{"id":1,"title":"A"}`)
	before := catalogBytes(t, dir)
	var rows []string
	for i := range 3000 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"title":"%s"}`, i+1, strings.Repeat("t", 300)), `{"id":"bad"}`)
	}
	src := put(t, t.TempDir(), "movies.ndjson", strings.Join(rows, "\n"))
	again := 3 // runs per call, because the other goroutines' positions are random
	if testing.Short() {
		again = 1
	}
	for _, mode := range []merge.Mode{merge.Update, merge.Overlay} {
		for at := range 4 * again {
			ctx, cancel := context.WithCancel(t.Context())
			calls := 0
			_, err := Run(ctx, Config{
				Catalog: dir, Sources: []string{src}, Memory: 1, Mode: mode, MinFit: AnyFit,
				Progress: func(int64, int64) {
					if calls++; calls == at/again+1 {
						cancel()
					}
				},
			})
			cancel()
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("Run = %v, want %v", err, context.Canceled)
			}
			if !bytes.Equal(catalogBytes(t, dir), before) {
				t.Fatal("a cancelled ingest changed the catalogue")
			}
			checkFiles(t, dir, "movie.parquet")
		}
	}
}

// TestOneAtATime: a second ingest into a catalogue is rejected while one is running.
func TestOneAtATime(t *testing.T) {
	dir := t.TempDir()
	src := put(t, t.TempDir(), "movies.ndjson", `{"id":1,"title":"A"}`)
	c := Config{Catalog: dir, Sources: []string{src}}
	var second error
	first := c
	first.Progress = func(int64, int64) { _, second = Run(t.Context(), c) }
	if _, err := Run(t.Context(), first); err != nil {
		t.Fatalf("the first ingest: %v", err)
	}
	if want := "catalogue " + dir + ": another ingest is running"; second == nil || second.Error() != want {
		t.Errorf("the second ingest: %v, want %s", second, want)
	}
	if _, err := Run(t.Context(), c); err != nil {
		t.Errorf("an ingest after it: %v", err)
	}
}

// TestProgress: the progress grows up to the size of all sources.
func TestProgress(t *testing.T) {
	src := t.TempDir()
	a, b := strings.Repeat("{\"id\":1}\n", 1000), gz(t, `{"id":2}`)
	var last, total int64
	ingestInto(t, t.TempDir(), Config{
		Sources: []string{put(t, src, "a-movies.ndjson", a), put(t, src, "b-movies.ndjson.gz", b)},
		Progress: func(done, of int64) {
			if done < last || of != int64(len(a)+len(b)) {
				t.Errorf("Progress(%d, %d) after %d, want it to grow up to %d", done, of, last, len(a)+len(b))
			}
			last, total = done, of
		},
	})
	if last != total || total == 0 {
		t.Errorf("Progress ended at %d of %d", last, total)
	}
}

// TestLeftovers: the next ingest removes leftovers of a killed one, but no other files.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".ingest/sort-1/1.run", ".ingest/.unpacked-7.parquet", ".ingest/new/.movie.parquet4711"} {
		put(t, dir, name, "left")
	}
	mine := []string{"notes.txt", ".hidden", "sort-of/x", "quarantine/old.ndjson"}
	for _, name := range mine {
		put(t, dir, name, "mine")
	}
	lines(t, dir, Config{Memory: 1}, `{"id":1}`)
	checkFiles(t, dir, append(mine, movieFile)...)
}

// TestOtherKinds: an ingest leaves the files of other kinds alone.
func TestOtherKinds(t *testing.T) {
	dir := t.TempDir()
	lines(t, dir, Config{}, `{"id":1,"title":"A"}`)
	before, err := os.Stat(filepath.Join(dir, movieFile))
	if err != nil {
		t.Fatal(err)
	}
	ingestInto(t, dir, Config{Sources: []string{put(t, t.TempDir(), "tv.ndjson", `{"id":1,"name":"A"}`+"\n")}})
	if after, err := os.Stat(filepath.Join(dir, movieFile)); err != nil || !os.SameFile(before, after) {
		t.Errorf("an ingest of series made a new file of movies: %v", err)
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
