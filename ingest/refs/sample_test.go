package refs_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/ingest/refs"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// ingestInto ingests sources and returns the catalogue's folder.
func ingestInto(tb testing.TB, sources ...string) string {
	tb.Helper()
	dir := tb.TempDir()
	if _, err := ingest.Run(tb.Context(), ingest.Config{Catalog: dir, Sources: sources}); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// sampleCatalog ingests the embedded sample.
func sampleCatalog(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	if err := os.CopyFS(dir, sample.FS()); err != nil {
		tb.Fatal(err)
	}
	return ingestInto(tb, dir)
}

// TestSample compares what Check says of the embedded sample with what a plain walk
// through the JSON of its records finds.
func TestSample(t *testing.T) {
	dir := sampleCatalog(t)
	got, err := refs.Check(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	records := readAll(t, dir)
	if len(got) < 20 {
		t.Fatalf("%d relations, want at least 20", len(got))
	}
	for _, rel := range got {
		if rel.Target == "season" {
			continue // not known by an id among records
		}
		known := map[string]bool{}
		for _, r := range records[rel.Target] {
			known[fmt.Sprint(r["id"])] = true
		}
		references, distinct := 0, map[string]bool{}
		for _, r := range records[rel.Kind] {
			for _, id := range at(r, strings.Split(rel.Path, "."), rel) {
				if id != "<nil>" {
					references++
					distinct[id] = true
				}
			}
		}
		missing := 0
		for id := range distinct {
			if !known[id] {
				missing++
			}
		}
		if rel.References != int64(references) || rel.Distinct != int64(len(distinct)) || rel.Missing != int64(missing) {
			t.Errorf("%s.%s -> %s: %d references, %d ids, %d missing, want %d, %d, %d", rel.Kind, rel.Path, rel.Target,
				rel.References, rel.Distinct, rel.Missing, references, len(distinct), missing)
		}
	}
}

// readAll returns all records as JSON objects, by kind.
func readAll(t *testing.T, dir string) map[string][]map[string]any {
	t.Helper()
	all := map[string][]map[string]any{}
	for _, typ := range catalog.Types() {
		f, err := typ.Open(dir)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		rows := f.Groups(0, f.RowGroups())
		defer rows.Close()
		for range f.NumRows() {
			r := typ.New()
			if err := rows.Next(r); err != nil {
				t.Fatal(err)
			}
			d := json.NewDecoder(strings.NewReader(string(record.Append(nil, r))))
			d.UseNumber()
			var v map[string]any
			if err := d.Decode(&v); err != nil {
				t.Fatal(err)
			}
			all[typ.Name()] = append(all[typ.Name()], v)
		}
	}
	return all
}

// at returns the ids at a path in a part of a record; "<nil>" for an element without one.
func at(v any, path []string, rel refs.Relation) []string {
	switch v := v.(type) {
	case []any:
		var ids []string
		for _, e := range v {
			ids = append(ids, at(e, path, rel)...)
		}
		return ids
	case map[string]any:
		if len(path) > 1 {
			return at(v[path[0]], path[1:], rel)
		}
		// A row says which of two kinds it is of; elsewhere media_type means nothing.
		if media, ok := v["media_type"].(string); ok && slices.Contains([]string{"movie", "tv"}, rel.Target) && media != rel.Target {
			return nil
		}
		if id, ok := v[path[0]]; ok || path[0] == "id" {
			return []string{fmt.Sprint(id)}
		}
	}
	return nil
}

// BenchmarkCheck measures the check of catalogues of real dumps.
func BenchmarkCheck(b *testing.B) {
	for _, name := range []string{"movnix", "parquet-duckdb"} {
		b.Run(name, func(b *testing.B) {
			dir := ingestInto(b, sharedtest.Path(b, "dumps", name))
			b.SetBytes(parquetBytes(b, dir))
			b.ReportAllocs()
			var r []refs.Relation
			for b.Loop() {
				var err error
				if r, err = refs.Check(b.Context(), dir, nil); err != nil {
					b.Fatal(err)
				}
			}
			var n int64
			for _, rel := range r {
				n += rel.References
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "references/s")
		})
	}
}

// parquetBytes returns the size of a catalogue's files.
func parquetBytes(tb testing.TB, dir string) (n int64) {
	tb.Helper()
	files, err := fs.Glob(os.DirFS(dir), "*.parquet")
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range files {
		info, err := os.Stat(filepath.Join(dir, f))
		if err != nil {
			tb.Fatal(err)
		}
		n += info.Size()
	}
	return n
}
