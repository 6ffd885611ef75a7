package ingest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reelsplice/schemas/sharedtest"
)

var update = flag.Bool("update", false, "rewrite the table of dumps")

// dumpsTable holds, for each real dump, what comes of it.
const dumpsTable = "testdata/dumps.tsv"

// A dump is one ingest of TestDumps: a file of SOURCES.tsv by itself, or some together.
type dump struct {
	name     string
	files    []string
	kind     string
	language string
}

// dumpFlags are what has to be said of dumps whose names do not tell.
var dumpFlags = map[string]dump{
	"tmdb-native/movie-list-items.ndjson.gz": {kind: "movie"},
	"tmdb-native-ar/movies.ndjson.gz":        {language: "ar"},
	"tmdb-native-ar/tv.ndjson.gz":            {language: "ar"},
}

// dumpFolders are ingested whole too.
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
		if name == "imdb-small" { // and not what is below it
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

// TestDumps ingests each real dump in a process of its own, and compares what comes of
// it with testdata/dumps.tsv: rows, records by kind, and rows that were put aside by
// reason. With -v it prints the table, with times and memory.
func TestDumps(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process for each of fifty dumps")
	}
	want := readTable(t)
	var table []string
	t.Logf("%-46s %8s %8s %7s %7s  records; put aside", "dump", "rows", "seconds", "MB/s", "RSS MB")
	for _, d := range dumps(t) {
		o := ingestDump(t, d)
		line := d.name + "\t" + o.counts()
		table = append(table, line)
		t.Logf("%-46s %8d %8.2f %7.1f %7d  %s", d.name, o.Rows, o.Seconds, float64(o.Bytes)/1e6/max(o.Seconds, 1e-3), o.RSS>>20, o.short())
		if !*update && want[d.name] != line {
			t.Errorf("%s:\n got %s\nwant %s\ngo test ./ingest -run Dumps -update writes %s", d.name, line, want[d.name], dumpsTable)
		}
	}
	if *update {
		text := "# dump, rows, without a value, that repeat another, in quarantine, records by kind, quarantine by reason, why it holds none\n" +
			strings.Join(table, "\n") + "\n"
		if err := os.WriteFile(dumpsTable, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func readTable(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(dumpsTable)
	if err != nil && !*update {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		name, _, _ := strings.Cut(line, "\t")
		out[name] = strings.TrimRight(line, "\n")
	}
	return out
}

// dumped is what a process that ingests a dump prints.
type dumped struct {
	Rows, Blank, Duplicates, Quarantined, Bytes, RSS int64

	Records map[string]int64
	Reasons []string
	Seconds float64
	Failed  string
}

func (o *dumped) records() string {
	var out []string
	for _, kind := range slices.Sorted(maps.Keys(o.Records)) {
		out = append(out, fmt.Sprintf("%s %d", kind, o.Records[kind]))
	}
	return strings.Join(out, ", ")
}

// counts is what must stay as it is.
func (o *dumped) counts() string {
	return fmt.Sprintf("%d\t%d\t%d\t%d\t%s\t%s\t%s", o.Rows, o.Blank, o.Duplicates, o.Quarantined, o.records(), strings.Join(o.Reasons, "; "), o.Failed)
}

func (o *dumped) short() string {
	s := o.records()
	if o.Failed != "" {
		s = o.Failed
	}
	if o.Blank > 0 {
		s += fmt.Sprintf("; %d without a value", o.Blank)
	}
	if o.Duplicates > 0 {
		s += fmt.Sprintf("; %d repeat another", o.Duplicates)
	}
	for _, r := range o.Reasons {
		s += "; " + r
	}
	return s
}

// dumpMe makes the test binary ingest one dump and print what came of it.
const dumpMe = "REELSPLICE_TEST_DUMP"

type dumpArgs struct {
	Catalog  string
	Sources  []string
	Kind     string
	Language string
}

func ingestDump(t *testing.T, d dump) dumped {
	t.Helper()
	args, err := json.Marshal(dumpArgs{t.TempDir(), d.files, d.kind, d.language})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), dumpMe+"="+string(args))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v: %s", d.name, err, stderr.String())
	}
	var o dumped
	if err := json.Unmarshal(stdout.Bytes(), &o); err != nil {
		t.Fatalf("%s: %v: %s", d.name, err, stdout.String())
	}
	return o
}

// runDump is the process.
func runDump(args string) error {
	var a dumpArgs
	if err := json.Unmarshal([]byte(args), &a); err != nil {
		return err
	}
	r, err := Run(context.Background(), Config{Catalog: a.Catalog, Sources: a.Sources, Kind: a.Kind, Language: a.Language})
	o := dumped{Rows: r.Rows, Quarantined: r.Quarantined, Records: r.Records, Seconds: r.Seconds, RSS: peakRSS()}
	if err != nil {
		_, o.Failed, _ = strings.Cut(err.Error(), ": ")
	}
	t := &r.Details.Totals
	o.Blank, o.Duplicates, o.Bytes = t.Blank, t.Duplicates, t.Bytes
	for _, x := range t.Reasons.Top {
		o.Reasons = append(o.Reasons, strings.TrimPrefix(fmt.Sprintf("%s: %s (%d)", x.Field, x.Reason, x.Count), ": "))
	}
	return json.NewEncoder(os.Stdout).Encode(&o)
}
