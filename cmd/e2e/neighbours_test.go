package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/edge"
)

// minShare is the number of recorded lists of recommendations that must share a title with ours.
const minShare = 0.8

// TestNeighbours compares derived recommendations with TMDB's, over the sample and the movies of the TMDB 5000 dump,
// which has no credits.
func TestNeighbours(t *testing.T) {
	skipLarge(t)
	dir := t.TempDir()
	sources := []string{filepath.Join(dir, "sample"), sharedtest.Path(t, "dumps", "tmdb5000", "tmdb_5000_movies.csv.gz")}
	if err := os.CopyFS(sources[0], sample.FS()); err != nil {
		t.Fatal(err)
	}
	if _, err := ingest.Run(t.Context(), ingest.Config{Catalog: filepath.Join(dir, "catalog"), Sources: sources}); err != nil {
		t.Fatal(err)
	}
	rel := buildCatalog(t, dir)
	title := regexp.MustCompile(`^/3/(movie|tv)/\d+`)
	lists, hits := 0, 0
	for _, r := range recordings(t, "movie/", "tv/") {
		v := jsonOf(t, string(r.body(t)))
		given := v.list("recommendations", "results")
		if strings.HasSuffix(r.operation(), "/recommendations") {
			given = v.list("results")
		}
		path := title.FindString(r.request)
		kind := map[bool]fragment.Kind{true: fragment.KindMovie, false: fragment.KindTV}[r.group() == "movie"]
		known := map[int64]bool{}
		for _, row := range given {
			if _, ok := rel.Lookup(fragment.AppendID(nil, kind, fragment.ID(row.int("id")))); ok {
				known[row.int("id")] = true
			}
		}
		if a, err := edge.Inspect(rel, path); len(known) == 0 || err != nil || a.Status != 200 {
			continue
		}
		common := 0
		for page := 1; page <= 2; page++ {
			for _, row := range get(t, rel, fmt.Sprintf("%s/recommendations?page=%d", path, page)).list("results") {
				if known[row.int("id")] {
					common++
				}
			}
		}
		t.Logf("%s: %d of the %d that we have are among ours", r.file, common, len(known))
		lists++
		hits += min(common, 1)
	}
	if float64(hits) < minShare*float64(lists) || lists < 5 {
		t.Errorf("%d of %d recorded lists share a title with ours, want at least %.0f %%", hits, lists, 100*minShare)
	}
}
