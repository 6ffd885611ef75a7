package build

import (
	"maps"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestAge: a release has the days on which its records were fetched. Records with equal content and new days are all
// reused, and no response changes.
func TestAge(t *testing.T) {
	catalogOf := func(movieDay string) string {
		t.Helper()
		dir := t.TempDir()
		dated := func(row, day string) string { return strings.TrimSuffix(row, "}") + `,"_fetched":"` + day + `"}` }
		movies := buildtest.Sample(t, "movies")[:4]
		buildtest.WriteKind(t, dir, fragment.KindMovie, dated(movies[0], movieDay), movies[1], dated(movies[2], "2026-05-01"), movies[3])
		buildtest.WriteKind(t, dir, fragment.KindTV, `{"id":1,"name":"One","_fetched":"2026-06-01"}`, `{"id":3,"name":"Three"}`)
		buildtest.WriteKind(t, dir, fragment.KindSeason,
			`{"series_id":1,"season_number":1,"id":11,"name":"S","_fetched":"2026-06-02"}`, `{"series_id":2,"season_number":1,"id":21,"name":"S","_fetched":"2019-01-01"}`)
		buildtest.WriteKind(t, dir, fragment.KindEpisode, `{"series_id":1,"season_number":2,"episode_number":1,"id":5,"name":"E","_fetched":"2018-01-01"}`)
		err := catalog.WriteRemoved(dir, []catalog.Removed{{Kind: fragment.KindTV, Key: catalog.NumberKey(2)}, {Kind: fragment.KindSeason, Key: catalog.SeasonKey(1, 2)}})
		sharedtest.NoError(t, err)
		return dir
	}
	want := map[string]day.Days{
		"movie":  {Records: 2, Oldest: "2026-04-30", Newest: "2026-05-01"},
		"tv":     {Records: 1, Oldest: "2026-06-01", Newest: "2026-06-01"},
		"season": {Records: 1, Oldest: "2026-06-02", Newest: "2026-06-02"},
	}
	c := config(t, catalogOf("2026-04-30"))
	first := run(t, c)
	check := func(r Report) {
		t.Helper()
		m := openRelease(t, c, r).Manifest()
		if got := day.FromSources(m.Sources); !maps.Equal(got, want) || !maps.Equal(r.FetchedByKind, want) || r.Fetched == nil || *r.Fetched != day.All(want) {
			t.Errorf("the manifest has the days %v, the report %v, in all %v, want %v", got, r.FetchedByKind, r.Fetched, want)
		}
	}
	check(first)

	c.Previous = first.Release
	if again := run(t, c); !again.Unchanged || again.Release != first.Release {
		t.Errorf("the same catalogue gives %s after %s, want no other release", again.Release, first.Release)
	}
	c.Catalog = catalogOf("2026-11-01")
	want["movie"] = day.Days{Records: 2, Oldest: "2026-05-01", Newest: "2026-11-01"}
	second := buildIncremental(t, c)
	check(second)
	if second.Unchanged || second.Release == first.Release {
		t.Error("no other release has the new days")
	}
	changed := 0
	for _, n := range second.Changed {
		changed += n
	}
	if changed > 0 || second.Reused == 0 {
		t.Errorf("%d resources changed, %d reused, want none and some", changed, second.Reused)
	}
	a, b := openRelease(t, c, first), openRelease(t, c, second)
	if dump(t, a) != dump(t, b) {
		t.Error("responses depend on the days")
	}
	for i, f := range b.Manifest().Parts {
		if f != a.Manifest().Parts[i] {
			t.Errorf("part %d is %s after %s, want the same file", i, f.Name, a.Manifest().Parts[i].Name)
		}
	}
}

// TestAgeUnknown: records without a day leave no days in the release.
func TestAgeUnknown(t *testing.T) {
	c := config(t, buildtest.Catalog(t, `{"id":1,"title":"A"}`))
	r := run(t, c)
	if m := openRelease(t, c, r).Manifest(); len(m.Sources) != 1 || r.Fetched != nil || len(r.FetchedByKind) > 0 {
		t.Errorf("sources %v, report %v and %v, want the number of movies alone", m.Sources, r.FetchedByKind, r.Fetched)
	}
}
