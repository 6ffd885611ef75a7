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
		if n := int64(len(quarantined(t, Report{QuarantineFile: bad.File}))); n != bad.Bad {
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

// TestRefusedRows: values of a rejected row are not counted, so that no field is reported as kept that is in quarantine.
func TestRefusedRows(t *testing.T) {
	r := lines(t, t.TempDir(), Config{Strict: true}, `{"id":1,"title":"A","mine":1}`, `{"id":0,"secret":1,"mine":2,"popularity":"7"}`,
		`{"id":2,"_merged_into":2}`, `{"id":3,"title":5,"keywords":{"odd":1}}`, `{"id":4,"season/1":{"new":1}}`)
	if want := (map[string]int64{"mine": 1, "season/1": 1}); !maps.Equal(r.Unknown, want) || len(r.Coerced) > 0 {
		t.Errorf("Run: unknown %v, coerced %v, want %v and none", r.Unknown, r.Coerced, want)
	}
	if r.Rows != 5 || r.Kept != 2 || r.Quarantined != 3 || r.Details.Totals.Records["movie"] != 2 {
		t.Errorf("Run = %+v, want 2 of 5 rows kept", r)
	}
}

// TestRemove: removal rows remove a resource from the catalogue, and later rows restore it.
func TestRemove(t *testing.T) {
	dir := t.TempDir()
	check := func(what string, removed int64, want ...string) {
		t.Helper()
		got := records(t, dir)
		list, err := removedTexts(dir)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) || int64(len(list)) != removed {
			t.Errorf("%s: records = %q, removed %q, want %q and %d", what, got, list, want, removed)
		}
	}
	movie := func(id int, title string) string { return fmt.Sprintf(`{"id":%d,"title":"%s"}`, id, title) }
	lines(t, dir, Config{}, movie(1, "A"), movie(2, "B"), movie(3, "C"))
	r := lines(t, dir, Config{}, `{"id":1,"_deleted":true}`, `{"id":2,"_merged_into":3}`, `{"id":9,"_deleted":true}`)
	check("removed", 3, movie(3, "C"))
	if r.Removed != 3 || r.Details.Records[0].Removed != 2 {
		t.Errorf("Run = %+v, want 3 ids removed, 2 of them records", r)
	}
	list, err := removedTexts(dir)
	if want := []string{"movie 1, deleted", "movie 2, merged into movie 3", "movie 9, deleted"}; err != nil || !slices.Equal(list, want) {
		t.Errorf("removed = %q, %v, want %q", list, err, want)
	}
	lines(t, dir, Config{}, movie(1, "Again"))
	check("brought back", 2, movie(1, "Again"), movie(3, "C"))

	lines(t, dir, Config{Mode: merge.Overlay}, `{"id":1,"_deleted":true}`, movie(2, "Own"))
	check("overlay", 2, movie(2, "Own"), movie(3, "C"))
	lines(t, dir, Config{}, movie(1, "Crawled"), movie(2, "Crawled"))
	check("the overlay wins over what comes later", 2, movie(2, "Own"), movie(3, "C"))
	lines(t, dir, Config{Mode: merge.Overlay}, `{"id":1,"_deleted":false,"title":"Mine"}`)
	check("until another overlay", 1, movie(1, "Mine"), movie(2, "Own"), movie(3, "C"))
	lines(t, dir, Config{}, movie(9, "Last"))
	check("the last one that was removed is back", 0, movie(1, "Mine"), movie(2, "Own"), movie(3, "C"), movie(9, "Last"))

	whole := t.TempDir()
	lines(t, whole, Config{}, movie(1, "A"), `{"id":2,"_deleted":true}`)
	if r := lines(t, whole, Config{}, movie(2, "B")); r.Removed != 0 {
		t.Errorf("Removed = %d after the last one came back, want 0", r.Removed)
	}
	if list, err := removedTexts(whole); err != nil || len(list) > 0 {
		t.Errorf("removed = %q, %v after the last one came back, want none", list, err)
	}

	r = lines(t, dir, Config{}, `{"id":3,"_merged_into":3}`, `{"id":3,"_merged_into":"x"}`, `{"id":3,"_deleted":"yes"}`, `{"_deleted":true}`)
	if want := []string{
		`movies.ndjson:1: _merged_into: want the id of another movie, found 3`,
		`movies.ndjson:2: _merged_into: want the id of another movie, found "x"`,
		`movies.ndjson:3: _deleted: want true or false, found "yes"`,
		`movies.ndjson:4: id: want an integer, found nothing`,
	}; !slices.Equal(r.Bad, want) {
		t.Errorf("Bad = %q, want %q", r.Bad, want)
	}
	check("refused", 0, movie(1, "Mine"), movie(2, "Own"), movie(3, "C"), movie(9, "Last"))

	// In a log, the last row about an ID counts.
	dir = t.TempDir()
	if r := lines(t, dir, Config{}, movie(1, "A"), `{"id":1,"_deleted":true}`, movie(2, "B"), `{"id":2,"_deleted":true}`, movie(2, "C")); r.Quarantined > 0 {
		t.Errorf("Bad = %q, want none", r.Bad)
	}
	check("a log", 1, movie(2, "C"))

	// Of several sources, the later one decides whether the resource exists.
	src := t.TempDir()
	a := put(t, src, "a/movies.ndjson", movie(3, "A")+"\n"+`{"id":2,"_deleted":true}`)
	b := put(t, src, "b/movies.ndjson", `{"id":3,"_deleted":true}`+"\n"+movie(4, "D"))
	other := t.TempDir()
	ingestInto(t, other, Config{Sources: []string{a, b}})
	dir = other
	check("two sources", 2, movie(4, "D"))
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
