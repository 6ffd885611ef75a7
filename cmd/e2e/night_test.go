package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/data/gen"
	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/object/s3"
	"github.com/reelsplice/reelsplice/schemas/release/store"
)

// TestNight: after changes to 2 % of the movies, an incremental build in a bucket moves 2 % of the release to an
// edge: deltas of existing files, and whole new packs.
func TestNight(t *testing.T) {
	if raceDetector {
		t.Skip("it makes 400 movies, and shares no memory")
	}
	const changed = 50 // one in 50
	c := gen.DefaultConfig()
	c.Out, c.Movies, c.TV = t.TempDir(), 400, 0
	if _, err := gen.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	cfg := build.DefaultConfig()
	cfg.Catalog, cfg.Releases = t.TempDir(), t.TempDir()
	night := func(from string, update bool) string {
		t.Helper()
		if _, err := ingest.Run(t.Context(), ingest.Config{Catalog: cfg.Catalog, Sources: []string{from}, Update: update}); err != nil {
			t.Fatal(err)
		}
		r, err := build.Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		return r.Release
	}
	first := night(c.Out, false)
	var rows []byte
	for i, movie := range rowsOf(t, os.DirFS(c.Out), "movies.ndjson.zst") {
		if i%changed == 0 {
			movie["overview"], movie["vote_count"] = "Revised.", i
			row, err := json.Marshal(movie)
			if err != nil {
				t.Fatal(err)
			}
			rows = append(append(rows, row...), '\n')
		}
	}
	changes := t.TempDir()
	if err := os.WriteFile(filepath.Join(changes, "movies.ndjson"), rows, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Previous = first
	second := night(changes, true)

	folder, err := s3.OpenFolder(t.Context(), objecttest.New(t).URL("releases"))
	if err != nil {
		t.Fatal(err)
	}
	s, local := store.Bucket{Folder: folder}, store.Folder{Dir: cfg.Releases}
	sizes := func(prefix string) map[string]int64 { // by name
		all, err := folder.List(t.Context(), prefix, object.MaxListed)
		if err != nil {
			t.Fatal(err)
		}
		list := map[string]int64{}
		for _, o := range all {
			list[strings.TrimPrefix(o.Key, prefix)] = o.Size
		}
		return list
	}
	push := func(id string) map[string]int64 {
		if _, err := s.Push(t.Context(), local.Path(id), nil); err != nil {
			t.Fatal(err)
		}
		return sizes("files/")
	}
	before, after := push(first), push(second)
	if _, err := s.PushDeltas(t.Context(), local, second, first); err != nil {
		t.Fatal(err)
	}
	m, err := s.Manifest(t.Context(), second)
	if err != nil {
		t.Fatal(err)
	}
	var size, whole int64
	for _, f := range m.Files() {
		if size += f.Size; before[f.SHA256] == 0 {
			whole += f.Size
		}
	}
	moved := whole
	for key, n := range sizes(store.DeltasPrefix) {
		made, _, _ := store.SplitDeltaName(store.DeltasPrefix + key)
		moved += n - after[made]
	}
	t.Logf("%d bytes of a release, %d in new files, %d moved: %.2f %%", size, whole, moved, 100*float64(moved)/float64(size))
	if moved == 0 || 1000*moved > 25*size {
		t.Errorf("%d bytes of %d move, want 2.5 %% at most", moved, size)
	}
}
