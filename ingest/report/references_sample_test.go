package report_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// TestReferencesOfSample compares what CheckReferences says of the embedded sample with what a plain walk
// through the JSON of its records finds.
func TestReferencesOfSample(t *testing.T) {
	from, dir := t.TempDir(), t.TempDir()
	if err := os.CopyFS(from, sample.FS()); err != nil {
		t.Fatal(err)
	}
	if _, err := ingest.Run(t.Context(), ingest.Config{Catalog: dir, Sources: []string{from}}); err != nil {
		t.Fatal(err)
	}
	got, err := report.CheckReferences(t.Context(), dir, nil)
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
func at(v any, path []string, rel report.Relation) []string {
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
