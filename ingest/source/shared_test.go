package source

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// skipLong tells which files of so many rows are left out with -short: the race detector
// sees no more in the thousandth row than in those before. The series of movnix are few, and
// long.
func skipLong(name string, rows int) bool {
	return testing.Short() && (rows > 20_000 || strings.HasSuffix(name, "tv.ndjson.zst"))
}

// TestSharedSources reads every file that SOURCES.tsv names and compares the number of
// its rows, bad and blank ones among them.
func TestSharedSources(t *testing.T) {
	const ( // what is known of the two files that are not clean
		invalidUTF8Rows = 14
		blankRows       = 43814
	)
	list, err := os.ReadFile(sharedtest.Path(t, "dumps", "SOURCES.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(strings.NewReader(string(list)))
	files, densest := 0, 0.0
	for lines.Scan() {
		cells := strings.Split(lines.Text(), "\t")
		want, err := strconv.Atoi(cells[1])
		if err != nil {
			continue
		}
		files++
		if skipLong(cells[0], want) {
			continue
		}
		good, bad, blank, ratio := countAll(t, sharedtest.Path(t, "dumps", filepath.FromSlash(cells[0])))
		wantBad, wantBlank := 0, 0
		switch cells[0] {
		case "daily-ids/genre-counts.json":
			want = 1 // one document with all of them in it
		case "tmdb-v11-sample/TMDB_movie_dataset_v11.csv":
			wantBad = invalidUTF8Rows
		case "movies-dataset-mangled/movies_metadata.csv.gz":
			wantBlank = blankRows
		}
		// limit.DefaultMaxRatio has to be far from what is real.
		if densest = max(densest, ratio); ratio > limit.DefaultMaxRatio/20 {
			t.Errorf("%s expands to %.1f times its size", cells[0], ratio)
		}
		if good+bad+blank != want || bad != wantBad || blank != wantBlank {
			t.Errorf("%s has %d good, %d bad and %d blank rows, want %d in all, %d bad, %d blank", cells[0], good, bad, blank, want, wantBad, wantBlank)
		}
	}
	t.Logf("%d files, the densest expands to %.1f times its size", files, densest)
	if files < 40 {
		t.Errorf("SOURCES.tsv names %d files, want at least 40", files)
	}
}

// countAll reads a whole file and judges its rows as encoding/json does. It also returns
// how many bytes came of each byte on disk.
func countAll(t *testing.T, p string) (good, bad, blank int, ratio float64) {
	t.Helper()
	r, err := Open(File{Path: p}, Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	bytes := int64(0)
	for {
		row, err := r.Next()
		bytes += row.Size
		switch {
		case err == io.EOF:
			rows, _ := r.SkippedRows()
			return good, bad, int(rows), float64(bytes) / float64(r.File().Bytes)
		case err != nil:
			t.Fatal(err)
		case row.Err == nil && !json.Valid(row.JSON):
			t.Fatalf("%v: not JSON: %.200s", row.Place, row.JSON)
		case row.Err == nil:
			good++
		case !strings.Contains(row.Err.Error(), "invalid UTF-8"):
			t.Error(row.Err)
		default:
			bad++
		}
	}
}
