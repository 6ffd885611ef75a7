package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/ingest/merge"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// ingestMe makes the test binary run only an ingest, into the first folder of lines: see TestFullDisk.
const ingestMe = "REELSPLICE_TEST_INGEST"

func TestMain(m *testing.M) {
	if args := os.Getenv(ingestMe); args != "" {
		sources := strings.Split(args, "\n")
		if _, err := Run(context.Background(), Config{Catalog: sources[0], Sources: sources[1:], Memory: 256 << 10}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1) //nolint:forbidigo // a separate process
		}
		return
	}
	sharedtest.InMemory(m).Run()
}

// killedDate is the time of all changes.
var killedDate = time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC)

// killedCatalog returns a folder with the catalogue of those dumps.
func killedCatalog(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, title := range []string{"before", "later"} {
		lines(t, dir, Config{Date: killedDate}, `{"id":7,"title":"`+title+`"}`, `{"id":20001,"title":"`+title+`"}`)
	}
	for _, name := range []string{report.JSONFile, report.HTMLFile} { // files that mark a complete ingest
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// catalogFiles returns the contents of the files that an ingest makes: kinds and quarantine.
func catalogFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	var files []string
	for _, pattern := range []string{"*.parquet", "*.ids", filepath.Join("quarantine", "*.ndjson")} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(f)
		if strings.HasSuffix(name, ".ndjson") {
			name = "quarantine"
		}
		out[name] += string(b)
	}
	return out
}

// TestKilled: if an ingest is killed before its files are complete, the catalogue is unchanged, and the same command then gives
// the bytes of an undisturbed ingest. If it is killed while files move into place, the next ingest completes it, whatever its
// sources. No leftovers remain.
func TestKilled(t *testing.T) {
	t.Parallel()
	rows := `{"id":7,"title":"new"}` + "\n" + `{"id":"x","title":"no id"}` + "\n" + `{"id":9,"title":"back"}` + "\n"
	sources := []string{put(t, t.TempDir(), "movies.ndjson", rows), put(t, t.TempDir(), "tv.ndjson", `{"id":1,"name":"A"}`)}
	const stages = 3
	begin := func(stages int) (string, *run) { // a catalogue, and an ingest into it that ends after some stages
		t.Helper()
		dir := killedCatalog(t)
		lines(t, dir, Config{Date: killedDate}, `{"id":9,"_deleted":true}`)
		r, err := newRun(Config{Catalog: dir, Sources: sources, Date: killedDate, Memory: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, stage := range []func(context.Context) error{r.prepare, r.read, r.write}[:stages] {
			if err := stage(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		r.release()
		return dir, r
	}
	whole, r := begin(stages)
	if err := r.work.commit(); err != nil {
		t.Fatal(err)
	}
	want := catalogFiles(t, whole)
	if _, ok := want[catalog.RemovedFile]; ok || want["quarantine"] == "" || want["tv.parquet"] == "" {
		t.Fatalf("the catalogue has %q, want a quarantine, series and no list of removed ids", slices.Sorted(maps.Keys(want)))
	}
	next := func(dir string, sources ...string) {
		t.Helper()
		ingestInto(t, dir, Config{Sources: sources, Date: killedDate})
		compareFiles(t, catalogFiles(t, dir), want)
		if _, err := os.Stat(filepath.Join(dir, workDir)); err == nil {
			t.Error("the working folder is still there")
		}
	}
	before, _ := begin(0)
	for done := range stages {
		dir, _ := begin(done + 1)
		compareFiles(t, catalogFiles(t, dir), catalogFiles(t, before))
		next(dir, sources...)
	}
	const moves = 5 // the quarantine, two kinds, the log of changes and the removed list
	for done := range moves + 1 {
		dir, r := begin(stages)
		from := r.work.path("complete")
		if err := os.Rename(r.work.path("new"), from); err != nil {
			t.Fatal(err)
		}
		files := 0
		err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if files++; files > done {
				return nil
			}
			name, err := filepath.Rel(from, path)
			if err != nil {
				return err
			}
			return file.Move(path, filepath.Join(dir, name))
		})
		if err != nil || files != moves {
			t.Fatalf("%d files, %v, want %d", files, err, moves)
		}
		next(dir, sources[1]) // without changes
	}
}

func compareFiles(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s: %d bytes differ from the %d of an ingest that was left alone", name, len(got[name]), len(text))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}

// TestMaxBad: too many bad rows stop an ingest; the catalogue is unchanged, and the rows can be inspected.
func TestMaxBad(t *testing.T) {
	t.Parallel()
	var rows []string
	for i := range 3000 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"title":"T"}`, i+1))
		if i%50 == 0 {
			rows = append(rows, `{"id":"bad"}`)
		}
	}
	f := func(limit string, want bool) {
		t.Helper()
		dir := t.TempDir()
		lines(t, dir, Config{}, `{"id":1,"title":"Old"}`)
		before := catalogBytes(t, dir)
		tolerance, err := ParseTolerance(limit)
		if err != nil {
			t.Fatal(err)
		}
		src := put(t, t.TempDir(), "movies.ndjson", strings.Join(rows, "\n"))
		r, err := Run(t.Context(), Config{Catalog: dir, Sources: []string{src}, MaxBad: tolerance})
		var bad *tooManyBadError
		if stopped := errors.As(err, &bad); stopped == want {
			t.Fatalf("Run with --max-bad %s = %+v, %v, want stopped: %v", limit, r, err, !want)
		}
		if want {
			return
		}
		if len(r.Bad) == 0 || r.Bad[0] != `movies.ndjson:2: id: want an integer, found "bad"` || int64(len(r.Bad)) != min(bad.Bad, 20) {
			t.Errorf("--max-bad %s: the report names the rows %q, want the first 20 of %d", limit, r.Bad, bad.Bad)
		}
		if !bytes.Equal(catalogBytes(t, dir), before) {
			t.Errorf("--max-bad %s: the catalogue changed", limit)
		}
		if n := int64(len(latestQuarantine(t, dir))); n != bad.Bad {
			t.Errorf("--max-bad %s: %d rows in %s, want %d", limit, n, bad.File, bad.Bad)
		}
	}
	f("1%", false)
	f("1.9%", false)
	f("2%", true) // 60 of 3060
	f("100%", true)
	f("60", true)
	f("59", false)
	f("0", false)
	f("0%", false)
	for _, s := range []string{"", "x", "-1", "101%", "%", "1.5", "NaN%"} {
		if _, err := ParseTolerance(s); err == nil {
			t.Errorf("ParseTolerance(%q) = nil, want an error", s)
		}
	}
}

func removedTexts(dir string) ([]string, error) {
	list, err := catalog.ReadRemoved(dir)
	var out []string
	for _, r := range list {
		out = append(out, r.String())
	}
	return out, err
}

// firstKeys returns the key of the first movie of each row group.
func firstKeys(t *testing.T, dir string) []catalog.Key {
	t.Helper()
	f, err := catalog.TypeOf(fragment.KindMovie).Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	keys, err := f.FirstKeys()
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestUpdate: changes in a catalogue give the records of a complete ingest. Unchanged row groups are copied. An update requires
// a catalogue.
func TestUpdate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	row := func(id int) string {
		text := make([]byte, 3000)
		for i := range text {
			text[i] = 'a' + byte(rng.IntN(26))
		}
		return fmt.Sprintf(`{"id":%d,"title":"T","overview":"%s"}`, id, text)
	}
	n := 10_000 // 30 MB: some row groups
	if testing.Short() {
		n /= 3
	}
	var rows []string
	for i := range n {
		rows = append(rows, row(2*i+2))
	}
	whole, updated := t.TempDir(), t.TempDir()
	lines(t, updated, Config{}, rows...)
	before := firstKeys(t, updated)
	news := []string{row(1), `{"id":5000,"title":"New"}`, `{"id":5001,"title":"Between"}`, fmt.Sprintf(`{"id":%d,"_deleted":true}`, 2*n-2)}
	got := lines(t, updated, Config{Update: true}, news...)
	src := t.TempDir()
	ingestInto(t, whole, Config{Sources: []string{put(t, src, "a/movies.ndjson", strings.Join(rows, "\n")), put(t, src, "b/movies.ndjson", strings.Join(news, "\n"))}})
	if !slices.Equal(records(t, updated), records(t, whole)) {
		t.Error("an update gives other records than an ingest of everything")
	}
	// The new record before them moves no boundary, so unchanged row groups are copied.
	if after := firstKeys(t, updated); len(before) < 2 || !slices.Contains(after, before[1]) || slices.Contains(firstKeys(t, whole), before[1]) {
		t.Errorf("row groups begin with %v, before with %v: the second has moved", after, before)
	}
	count := report.Records{Kind: "movie", Before: int64(n), Now: int64(n) + 1, Added: 2, Changed: 1, Removed: 1}
	if got.Details.Records[0] != count {
		t.Errorf("records = %+v, want %+v", got.Details.Records[0], count)
	}
	if _, err := Run(t.Context(), Config{Catalog: t.TempDir(), Sources: []string{put(t, t.TempDir(), "movies.ndjson", row(1))}, Update: true}); err == nil {
		t.Error("update of nothing = nil, want an error")
	}
}

// TestAllOrNothing: if one kind cannot be written, none is.
func TestAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	fileOf(t, dir, "tv.ndjson", Config{}, `{"id":5,"name":"A"}`)
	put(t, dir, "season.parquet", "PAR1 damaged PAR1")
	before := allFiles(t, dir)
	src := put(t, t.TempDir(), "tv.ndjson", `{"id":5,"name":"B","season/1":{"id":1}}`+"\n"+`{"id":"bad"}`)
	for _, mode := range []merge.Mode{merge.Update, merge.Overlay} {
		if _, err := Run(t.Context(), Config{Catalog: dir, Sources: []string{src}, Mode: mode}); err == nil || !strings.Contains(err.Error(), "season.parquet") {
			t.Errorf("Run = %v, want an error that names season.parquet", err)
		}
		if !maps.Equal(allFiles(t, dir), before) {
			t.Error("a failed ingest changed the catalogue")
		}
		checkFiles(t, dir, "tv.parquet", "season.parquet")
	}
}

// TestDamagedMinted: a damaged list of minted ids is named, with advice, and the ids stay the same without it.
func TestDamagedMinted(t *testing.T) {
	src, dir := t.TempDir(), t.TempDir()
	mapping := put(t, src, "titles.toml", "[[table]]\nfiles = ['titles']\n[[table.record]]\nkind = 'movie'\nmint = ['title', 'year']\nfields.title = 'title'\n")
	c := Config{Sources: []string{put(t, src, "titles.csv", "title,year\nFilm 76355,1999\n")}, Mappings: []string{mapping}}
	ingestInto(t, dir, c)
	before, list := records(t, dir), filepath.Join(dir, merge.MintedFile)
	whole, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	c.Catalog = dir
	for what, damaged := range map[string][]byte{
		"cut": whole[:20], "with other bytes": append([]byte("x"), whole...), "with an entry twice": append(bytes.Clone(whole), whole[len("rsmint01"):]...),
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
	if ingestInto(t, dir, c); !slices.Equal(records(t, dir), before) {
		t.Errorf("records without the list = %q, want %q", records(t, dir), before)
	}
}
