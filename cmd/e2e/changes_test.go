package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
)

// TestDiffOfTables: the changes in a release are no difference between releases,
// and they have the deletions and merges of diff.
func TestDiffOfTables(t *testing.T) {
	skipLarge(t)
	before := &smallWorld{movies: map[int]smallMovie{1: {}, 2: {}, 3: {}}, series: map[int][][]int{1: {{0, 1}}}, people: map[int]int{1: 0}}
	after := before.clone()
	after.movies[3] = smallMovie{title: 1}
	after.series[1][0][1]++
	delete(after.people, 1)
	for _, r := range []catalog.Removed{
		{Key: catalog.NumberKey(1)}, {Key: catalog.NumberKey(2), Merged: true, Into: catalog.NumberKey(3)},
	} {
		r.Kind = fragment.KindMovie
		after.removed = append(after.removed, r)
	}
	dir := t.TempDir()
	c := build.DefaultConfig()
	c.Catalog, c.Releases = filepath.Join(dir, "catalog"), filepath.Join(dir, "releases")
	if err := os.MkdirAll(c.Catalog, 0o755); err != nil {
		t.Fatal(err)
	}
	next := func(w *smallWorld) *release.Reader {
		t.Helper()
		w.write(t, c.Catalog)
		report, err := build.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		r, err := release.Open(filepath.Join(c.Releases, report.Release))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		return r
	}
	first := next(before)
	alone := next(after)
	c.Previous = first.Manifest().ID
	told := next(after)
	if _, ok := told.Table(changelog.Table); !ok || told.Manifest().ID == alone.Manifest().ID {
		t.Fatalf("release %s upon %s has no table of changes", told.Manifest().ID, c.Previous)
	}
	if found, _ := compared(t, alone, told); len(found) != 0 {
		t.Errorf("a table of changes makes a difference: %v", found)
	}
	found, into := compared(t, first, told)
	if found["movie 1"] != "deleted" || into["movie 2"] != "movie 3" || found["movie 3"] != "changed" {
		t.Errorf("found %v, merged into %v", found, into)
	}
	log, got := changelog.Open(told), map[uint64]changelog.Row{}
	rows, _ := log.List(nil, fragment.KindMovie, changelog.Window{To: 1 << 40}, 1, 100)
	for _, r := range rows {
		got[r.ID] = r
	}
	if len(got) != 3 || got[1].Adult != changelog.Null || got[2].Softcore != changelog.Null || got[3].Adult != changelog.No {
		t.Errorf("movie/changes has %+v, want 1 and 2 with null, and 3", got)
	}
	if rows, n := log.List(nil, fragment.KindTV, changelog.Window{To: 1 << 40}, 1, 100); n != 1 || rows[0].ID != 1 {
		t.Errorf("tv/changes has %+v, want the series of the episode", rows)
	}
}
