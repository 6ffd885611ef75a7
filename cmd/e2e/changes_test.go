package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestChangesOfMany: beyond the limit for details, the log has only the creation of new titles.
func TestChangesOfMany(t *testing.T) {
	lower(t, &maxDetailed, 2)
	dir, rows := t.TempDir(), []string(nil)
	ingestFile(t, dir, "movies.ndjson", "", `{"id":1,"title":"A"}`)
	for id := 2; id <= 5; id++ {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"title":"New"}`, id))
	}
	ingestFile(t, dir, "movies.ndjson", "", rows...)
	rel, now := buildCatalog(t, dir), time.Now()
	for id, want := range [][]string{1: nil, 2: {"general", "title"}, 3: {"general", "title"}, 4: {"general"}, 5: {"general"}} {
		if id == 0 {
			continue
		}
		var got []string
		path := fmt.Sprintf("/3/movie/%d/changes?start_date=%s&end_date=%s", id, now.AddDate(0, 0, -1).Format(time.DateOnly), now.AddDate(0, 0, 2).Format(time.DateOnly))
		for _, change := range get(t, rel, path).list("changes") {
			got = append(got, change.text("key"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("changes of movie %d are %q, want %q", id, got, want)
		}
	}
}
