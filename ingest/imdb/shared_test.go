package imdb

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// A tsv is a table as IMDb publishes it.
type tsv struct {
	table string
	rows  [][]byte // as JSON objects
}

// readTSV reads a file like package source: \N and an empty cell are null, and nothing is quoted.
func readTSV(tb testing.TB, path string) tsv {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	base, zipped := strings.CutSuffix(filepath.Base(path), ".gz")
	if zipped {
		if r, err = gzip.NewReader(f); err != nil {
			tb.Fatal(err)
		}
	}
	all, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return parseTSV(tb, strings.TrimSuffix(base, ".tsv"), string(all))
}

func parseTSV(tb testing.TB, table, text string) tsv {
	tb.Helper()
	head, rest, _ := strings.Cut(text, "\n")
	columns, out := strings.Split(head, "\t"), tsv{table: table}
	for line := range strings.SplitSeq(strings.TrimSuffix(rest, "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if len(cells) != len(columns) {
			tb.Fatalf("%s: %q has %d cells, want %d", table, line, len(cells), len(columns))
		}
		row := []byte("{")
		for i, c := range cells {
			row = append(record.AppendString(append(row, ","[:min(i, 1)]...), columns[i]), ':')
			if c == `\N` || c == "" {
				row = append(row, "null"...)
			} else {
				row = record.AppendString(row, c)
			}
		}
		out.rows = append(out.rows, append(row, '}'))
	}
	return out
}

// readShared reads the tables of a folder of ../shared/dumps.
func readShared(tb testing.TB, dir string) []tsv {
	tb.Helper()
	dir = sharedtest.Path(tb, "dumps", dir)
	var out []tsv
	for _, name := range Tables() {
		paths, err := filepath.Glob(filepath.Join(dir, name+".tsv*"))
		if err != nil {
			tb.Fatal(err)
		}
		for _, p := range paths {
			out = append(out, readTSV(tb, p))
		}
	}
	return out
}

// A report counts the rows and the records of a join, and the parts left out.
type report struct {
	Rows    map[string]int64 // by table
	Records map[string]int64 // by kind
	Dropped map[string]int64
}

// A joined is the result of a join.
type joined struct {
	records map[string]string // JSON, by kind and key
	report  report
	bad     []string // rows that Add rejected
}

func (g *joined) get(tb testing.TB, key string) map[string]any {
	tb.Helper()
	text, ok := g.records[key]
	if !ok {
		tb.Fatalf("no record %s", key)
	}
	var out map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		tb.Fatal(err)
	}
	return out
}

// newJoiner returns a Joiner that the test closes. Bad rows are ignored unless c handles them.
func newJoiner(tb testing.TB, c Config) *Joiner {
	tb.Helper()
	c.Dir, c.Memory = cmp.Or(c.Dir, tb.TempDir()), cmp.Or(c.Memory, 256<<20)
	if c.ID == nil {
		c.ID = func(fragment.Kind, string) (int64, bool) { return 0, false }
	}
	if c.Place == nil {
		c.Place = func(file int, row, _ int64) string { return fmt.Sprintf("file %d row %d", file, row) }
	}
	if c.Bad == nil {
		c.Bad = func(int, int64, int64, []byte, error) error { return nil }
	}
	j := New(c)
	tb.Cleanup(func() {
		if err := j.Close(); err != nil {
			tb.Error(err)
		}
	})
	return j
}

// join joins tables, each in its own file.
func join(tb testing.TB, c Config, files ...tsv) joined {
	tb.Helper()
	c.Dir = tb.TempDir()
	j := newJoiner(tb, c)
	defer func() {
		if err := j.Close(); err != nil {
			tb.Error(err)
		}
		if left, _ := os.ReadDir(c.Dir); len(left) > 0 {
			tb.Errorf("Close left %v", left)
		}
	}()
	got := joined{records: map[string]string{}, report: report{map[string]int64{}, map[string]int64{}, j.Dropped()}}
	for n, f := range files {
		for i, row := range f.rows {
			var bad *record.FieldError
			switch err := j.Add(f.table, n, int64(i+1), int64(i+2), string(row)); {
			case err == nil:
				got.report.Rows[f.table]++
			case errors.As(err, &bad):
				got.bad = append(got.bad, bad.Error())
			default:
				tb.Fatal(err)
			}
		}
	}
	err := j.Records(tb.Context(), func(_ int, _, _ int64, rec layout.Record) error {
		key := rec.Key.Describe(rec.Type.Kind)
		if old, ok := got.records[key]; ok {
			tb.Errorf("%s came twice: %s", key, old)
		}
		if k, err := rec.Type.Key(rec.Record); err != nil || k != rec.Key {
			tb.Errorf("%s: Key = %v, %v, want %v", key, k, err, rec.Key)
		}
		got.report.Records[rec.Type.Name()]++
		got.records[key] = string(record.Append(nil, rec.Record))
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

// addAll adds the rows of tables, each in its own file.
func addAll(tb testing.TB, j *Joiner, files []tsv) {
	tb.Helper()
	for n, f := range files {
		for i, row := range f.rows {
			if err := j.Add(f.table, n, int64(i+1), int64(i+2), string(row)); err != nil {
				tb.Fatal(err)
			}
		}
	}
}
