package e2e

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/release/check"
)

// TestParts: a collection has its movies, by date.
func TestParts(t *testing.T) {
	rel := sampleWorld.open(t)
	movies := sampleRows(t, "movies.ndjson")
	dates := map[int64]string{}
	for _, m := range movies {
		dates[m.int("id")] = m.text("release_date")
	}
	for _, c := range sampleRows(t, "collections.ndjson") {
		var want []int64
		for _, m := range movies {
			if m.int("belongs_to_collection", "id") == c.int("id") {
				want = append(want, m.int("id"))
			}
		}
		slices.SortFunc(want, func(a, b int64) int { return cmp.Compare(dates[a], dates[b]) })
		var got []int64
		for _, p := range get(t, rel, fmt.Sprintf("/3/collection/%d", c.int("id"))).list("parts") {
			got = append(got, p.int("id"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("collection %d: parts %v, want %v", c.int("id"), got, want)
		}
	}
	v := get(t, rel, "/3/collection/10")
	if got := ids(v.list("parts")); !slices.Equal(got, []int64{11, 1891, 1892}) {
		t.Errorf("collection 10: parts %v, want the first three films", got)
	}
}

// TestSampleReferences: every person, season, network and company that a response of the
// sample names is there, so that clients can follow it.
func TestSampleReferences(t *testing.T) {
	skipLarge(t)
	rel := sampleWorld.open(t)
	p := samplePlaces(t, rel)
	for _, kind := range []struct{ parameter, path string }{
		{"person_id", "/3/person/{person_id}"},
		{"credit_id", "/3/credit/{credit_id}"},
		{"season_number", "/3/tv/{series_id}/season/{season_number}"},
		{"episode_number", "/3/tv/{series_id}/season/{season_number}/episode/{episode_number}"},
	} {
		for _, path := range p.paths(kind.path) {
			get(t, rel, path)
		}
	}
	for _, path := range p.paths("/3/tv/{series_id}") {
		v := get(t, rel, path)
		for _, n := range v.list("networks") {
			get(t, rel, fmt.Sprintf("/3/network/%d", n.int("id")))
		}
		for _, c := range v.list("production_companies") {
			get(t, rel, fmt.Sprintf("/3/company/%d", c.int("id")))
		}
	}
	problems, err := check.Verify(t.Context(), filepath.Join(sampleWorld.releases(), sampleWorld.id), check.Options{}, nil)
	if err != nil || len(problems) > 0 {
		t.Errorf("verify: %d problems, %v, want none: %v", len(problems), err, problems[:min(len(problems), 5)])
	}
}
