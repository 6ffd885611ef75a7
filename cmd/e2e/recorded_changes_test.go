package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/ingest"
)

// editedEdge builds the dumps of testdata/edited, before and after an update a minute ago with every kind of recorded
// change. Movie 2 and person 2 are new.
func editedEdge(t *testing.T) *testEdge {
	t.Helper()
	c, date := build.DefaultConfig(), time.Now().Add(-time.Minute)
	c.Catalog, c.Releases = t.TempDir(), t.TempDir()
	for _, state := range []string{"before", "after"} {
		report, err := ingest.Run(t.Context(), ingest.Config{Catalog: c.Catalog, Sources: []string{"testdata/edited/" + state}, Date: date})
		if err != nil || report.Quarantined > 0 {
			t.Fatalf("ingest: %v, in quarantine %q", err, report.Bad)
		}
		built, err := build.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		c.Previous = built.Release
	}
	return newEdge(t, c.Releases, c.Previous)
}

// changesOf are the requests for the changes in the edited catalogue.
var changesOf = map[string][]string{
	"movie": {"/3/movie/1/changes", "/3/movie/2/changes"}, "person": {"/3/person/1/changes", "/3/person/2/changes"},
	"tv": {"/3/tv/1/changes"}, "tv-season": {"/3/tv/season/11/changes"}, "tv-episode": {"/3/tv/episode/111/changes", "/3/tv/episode/112/changes"},
}

// TestRecordedChanges: lists of changes, and the changes of one resource, have the members of recorded ones, in their
// order and of their types. Each recorded change of a key needs a similar one in the edited catalogue.
// testdata/exceptions_changes.tsv lists differences.
func TestRecordedChanges(t *testing.T) {
	skipLarge(t)
	compared := recordings(t, "changes/", "movie/changes--", "tv/changes--", "person/changes--", "tv-season/changes--", "tv-episode/changes--")
	exceptions := loadExceptions(t, "exceptions_changes.tsv", compared)
	e := editedEdge(t)
	responses := map[string][]*value{}
	ours := func(operation string) []*value {
		group, list, _ := strings.Cut(operation, "/")
		paths := changesOf[group]
		if group == "changes" {
			paths = []string{"/3/" + list + "/changes"}
		}
		for _, path := range paths[len(responses[operation]):] {
			v, err := ask(e, path)
			if err != nil {
				t.Fatal(err)
			}
			responses[operation] = append(responses[operation], v)
		}
		return responses[operation]
	}
	for _, r := range compared {
		t.Run(r.file, func(t *testing.T) {
			got, want := ours(r.operation()), jsonOf(t, string(r.body(t)))
			var differences []string
			if r.group() == "changes" {
				differences = r.compareChangeLists(got[0], want)
			} else {
				differences = r.compareChanges(got, want)
			}
			exceptions.judge(t, r, differences)
		})
	}
}

// compareChangeLists compares the envelope, and the rows with the first one whose resource exists.
func (r recording) compareChangeLists(got, want *value) []string {
	if !r.isNew() {
		got, want = shared(got, want), shared(want, got)
	}
	out := (&recordedPage{recording: r, body: want, path: "/3/"}).envelope(got)
	for _, row := range want.list("results") {
		if r.isNew() {
			row = lacking(row, func(name string) bool { return since[name] > r.date })
		}
		like := func(g *value) bool { return r.likeIn(g, row) }
		if row.at("adult") != nil && row.at("adult").scalar != nil && !slices.ContainsFunc(got.list("results"), like) {
			out = append(out, fmt.Sprintf("no row is like %s", shapeOf(row)))
		}
	}
	return slices.Compact(out)
}

// compareChanges looks for a similar item under the same key for each recorded item.
func (r recording) compareChanges(responses []*value, want *value) (out []string) {
	for _, change := range want.list("changes") {
		key := change.text("key")
		for _, item := range change.list("items") {
			found := []string{}
			like := false
			for _, a := range responses {
				for _, c := range a.list("changes") {
					if c.text("key") != key || !slices.Equal(c.keys, change.keys) {
						continue
					}
					for _, it := range c.list("items") {
						if it.text("action") == item.text("action") {
							like = like || r.likeIn(it, item)
							found = append(found, shapeOf(it))
						}
					}
				}
			}
			if !like {
				out = append(out, fmt.Sprintf("%s %s: no item is like %s but %q", key, item.text("action"), shapeOf(item), found))
			}
		}
	}
	return slices.Compact(out)
}

// likeIn reports whether an object has the members of a recorded one in their order, and their types. It may have
// more than an old one.
func (r recording) likeIn(got, want *value) bool {
	if shapeOf(shared(got, want)) != shapeOf(want) {
		return false
	}
	return !r.isNew() || shapeOf(got) == shapeOf(want)
}
