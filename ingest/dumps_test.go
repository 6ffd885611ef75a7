package ingest

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// dumpsTable holds the result for each real dump.
const dumpsTable = "testdata/dumps.tsv"

// A dump is one ingest of TestDumps: one file of SOURCES.tsv, or several.
type dump struct {
	name     string
	files    []string
	kind     string
	language string
	memory   int64
}

// dumpFlags are flags of dumps whose names do not show their kind or language.
var dumpFlags = map[string]dump{
	"tmdb-native/movie-list-items.ndjson.gz": {kind: "movie"},
	"tmdb-native-ar/movies.ndjson.gz":        {language: "ar"},
	"tmdb-native-ar/tv.ndjson.gz":            {language: "ar"},
}

// dumpFolders are also ingested as a whole.
var dumpFolders = []string{"imdb", "imdb-small", "movies-dataset-mangled", "parquet-duckdb", "parquet-pandas", "daily-ids", "movnix"}

// dumps lists the real dumps.
func dumps(t *testing.T) []dump {
	t.Helper()
	root := sharedtest.Path(t, "dumps")
	f, err := os.Open(filepath.Join(root, "SOURCES.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []dump
	s := bufio.NewScanner(f)
	s.Scan() // the header
	for s.Scan() {
		name, _, _ := strings.Cut(s.Text(), "\t")
		d := dumpFlags[name]
		d.name, d.files = name, []string{filepath.Join(root, filepath.FromSlash(name))}
		out = append(out, d)
	}
	for _, name := range dumpFolders {
		d := dump{name: name + "/", files: []string{filepath.Join(root, name)}}
		if name == "parquet-duckdb" { // sorted on disk, because the credits do not fit
			d.memory = 4 << 20
		}
		if name == "imdb-small" { // without its subfolders
			if d.files, err = filepath.Glob(filepath.Join(root, name, "*.tsv")); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, d)
	}
	if err := s.Err(); err != nil || len(out) < 40 {
		t.Fatalf("SOURCES.tsv has %d dumps, %v", len(out), err)
	}
	return out
}

// isLarge reports whether a dump is one of the five that take longer than all others together.
func (d *dump) isLarge() bool {
	return slices.Contains([]string{"movnix/tv.ndjson.zst", "movnix/", "parquet-duckdb/", "parquet-duckdb/credits.parquet", "daily-ids/"}, d.name)
}

// TestDumps ingests each real dump, and compares the result with testdata/dumps.tsv: rows, records by kind, and quarantined
// rows by reason. With -v it prints the table, with times.
func TestDumps(t *testing.T) {
	if testing.Short() {
		t.Skip("ingests fifty dumps")
	}
	t.Parallel()
	want, list := readTable(t), dumps(t)
	lines := make([]string, len(list))
	t.Cleanup(func() {
		if !*sharedtest.Update {
			return
		}
		text := "# dump, rows, without a value, that repeat another, in quarantine, records by kind, quarantine by reason, why it holds none\n" +
			strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile(dumpsTable, []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	})
	for n, d := range list {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			if d.isLarge() && !*sharedtest.Update {
				sharedtest.Long(t)
			}
			failed := ""
			r, err := Run(t.Context(), Config{Catalog: t.TempDir(), Sources: d.files, Kind: d.kind, Language: d.language, Memory: d.memory})
			if err != nil {
				_, failed, _ = strings.Cut(err.Error(), ": ")
			}
			for _, fit := range r.Columns {
				checkSums(t, d.name, fit)
			}
			lines[n] = d.name + "\t" + counted(&r, failed)
			t.Logf("%8d rows %8.2f s %7.1f MB/s  %s", r.Rows, r.Seconds, float64(r.Details.Totals.Bytes)/1e6/max(r.Seconds, 1e-3), recordsByKind(&r))
			if !*sharedtest.Update && want[d.name] != lines[n] {
				t.Errorf("%s:\n got %s\nwant %s\ngo test ./ingest -run Dumps -update writes %s", d.name, lines[n], want[d.name], dumpsTable)
			}
		})
	}
}

func readTable(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(dumpsTable)
	if err != nil && !*sharedtest.Update {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		name, _, _ := strings.Cut(line, "\t")
		out[name] = strings.TrimRight(line, "\n")
	}
	return out
}

// recordsByKind lists the records of a report by kind.
func recordsByKind(r *Report) string {
	var out []string
	for _, kind := range slices.Sorted(maps.Keys(r.Records)) {
		out = append(out, fmt.Sprintf("%s %d", kind, r.Records[kind]))
	}
	return strings.Join(out, ", ")
}

// counted returns the figures that must not change. failed is the reason if the dump holds no records.
func counted(r *Report, failed string) string {
	t := &r.Details.Totals
	var reasons []string
	for _, x := range t.Reasons.Top {
		reasons = append(reasons, strings.TrimPrefix(fmt.Sprintf("%s: %s (%d)", x.Field, x.Reason, x.Count), ": "))
	}
	return fmt.Sprintf("%d\t%d\t%d\t%d\t%s\t%s\t%s", r.Rows, t.Blank, t.Duplicates, r.Quarantined, recordsByKind(r), strings.Join(reasons, "; "), failed)
}
