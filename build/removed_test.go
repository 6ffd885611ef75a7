package build

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/credits"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// resources returns the names of the resources of a release that serve responses.
func resources(tb testing.TB, r *release.Reader) map[string]bool {
	tb.Helper()
	names := map[string]bool{}
	err := r.Resources(tb.Context(), func(key []byte, _ release.Entry, _ release.Ref) error {
		if k := fragment.Kind(key[0]); k != fragment.KindRemoved && k != fragment.KindGenres {
			names[fragment.DescribeKey(key)] = true
		}
		return nil
	})
	sharedtest.NoError(tb, err)
	err = credits.Each(r, func(id []byte, _ *credits.Credit) error {
		names[fmt.Sprintf("credit \"%x\"", id)] = true
		return nil
	})
	sharedtest.NoError(tb, err)
	return names
}

// checkTables checks that the rows of the tables are the resources of their kinds. All of them must have the given
// names.
func checkTables(tb testing.TB, rel *release.Reader, names map[string]bool) {
	tb.Helper()
	kinds := tableNames(rel)
	if len(kinds) != 7 {
		tb.Errorf("the release has the tables %q, want 7", kinds)
	}
	for _, kind := range kinds {
		if kind == credits.Table {
			continue // resources reads it
		}
		want := map[string]bool{}
		for name := range names {
			if strings.HasPrefix(name, kind+" ") {
				want[name] = true
			}
		}
		tab, _ := rel.Table(kind)
		ids, err := posting.OpenUint64s(tab, tables.ID.String(), tab.Rows())
		sharedtest.NoError(tb, err)
		got := map[string]bool{}
		for i := range ids.Len() {
			got[fmt.Sprintf("%s %d", kind, ids.At(i))] = true
		}
		if !maps.Equal(got, want) || ids.Len() != len(want) {
			tb.Errorf("table %s has %v, want %v", kind, got, want)
		}
	}
}

// removedKey returns a removal.
func removedKey(kind fragment.Kind, k catalog.Key) catalog.Removed {
	return catalog.Removed{Kind: kind, Key: k}
}

// textKey returns the key of a text id.
func textKey(tb testing.TB, text string) catalog.Key {
	tb.Helper()
	k, ok := catalog.TextKey(text)
	if !ok {
		tb.Fatalf("%q is no text id", text)
	}
	return k
}

// TestRemoved removes one resource of each kind, with a record or derived, and requires that only dependent resources
// disappear with it.
func TestRemoved(t *testing.T) {
	dir := readCatalog(t, "testdata/kinds.txtar", nil)
	c := config(t, dir)
	before := run(t, c)
	first := openRelease(t, c, before)
	all := resources(t, first)
	checkTables(t, first, all)
	id := func(kind fragment.Kind, n int64) catalog.Removed { return removedKey(kind, catalog.NumberKey(n)) }
	f := func(r catalog.Removed, gone ...string) {
		t.Helper()
		sharedtest.NoError(t, catalog.WriteRemoved(dir, []catalog.Removed{r}))
		report := run(t, c)
		if report.Removed != 1 {
			t.Errorf("%s: Removed = %d, want 1", r, report.Removed)
		}
		rel := openRelease(t, c, report)
		left := resources(t, rel)
		checkTables(t, rel, left)
		var missing []string
		for name := range all {
			if !left[name] {
				missing = append(missing, name)
			}
		}
		slices.Sort(missing)
		slices.Sort(gone)
		if !slices.Equal(missing, gone) {
			t.Errorf("%s: without it go %q, want %q", r, missing, gone)
		}
		for name := range left {
			if !all[name] {
				t.Errorf("%s: without it there is %s", r, name)
			}
		}
		if _, ok, err := rel.Removed(r.Key.Append(nil, r.Kind)); !ok || err != nil {
			t.Errorf("%s: the release does not say so, %v", r, err)
		}
	}
	// A resource that only one title names disappears with it; Star plays in others too.
	f(id(fragment.KindMovie, 11), "movie 11", "person 1", `credit "00000000000000000000000a"`,
		`credit "00000000000000000000000b"`, `review "00000000000000000000000c"`, `find imdb_id "tt0000011"`)
	f(id(fragment.KindMovie, 12), "movie 12", `credit "00000000000000000000001a"`)
	f(id(fragment.KindTV, 20), "tv 20", "season 20 1", "episode 20 1 1", "episode 20 1 2", "network 49", "person 3", `credit "00000000000000000000002a"`,
		`credit "00000000000000000000003b"`, `find imdb_id "tt0000020"`, `find tvdb_id "200"`, `find tiktok_id "show"`, `find imdb_id "tt0000301"`)
	f(removedKey(fragment.KindSeason, catalog.SeasonKey(20, 1)), "season 20 1", "episode 20 1 1", "episode 20 1 2", "person 3",
		`credit "00000000000000000000003b"`, `find imdb_id "tt0000301"`)
	f(removedKey(fragment.KindEpisode, catalog.EpisodeKey(20, 1, 1)), "episode 20 1 1", "person 3",
		`credit "00000000000000000000003b"`, `find imdb_id "tt0000301"`)
	// A person with a record, and one known only from credits.
	f(id(fragment.KindPerson, 2), "person 2", `credit "00000000000000000000000a"`, `credit "00000000000000000000001a"`,
		`credit "00000000000000000000002a"`, `find imdb_id "nm0000002"`)
	f(id(fragment.KindPerson, 1), "person 1", `credit "00000000000000000000000b"`)
	f(id(fragment.KindCollection, 10), "collection 10")
	f(id(fragment.KindCompany, 1), "company 1")
	f(id(fragment.KindNetwork, 49), "network 49")
	f(id(fragment.KindKeyword, 825), "keyword 825")
	f(removedKey(fragment.KindReview, textKey(t, "00000000000000000000000c")), `review "00000000000000000000000c"`)
	f(removedKey(fragment.KindCredit, textKey(t, "00000000000000000000001a")), `credit "00000000000000000000001a"`)
	// Removals of unknown resources are recorded too.
	f(id(fragment.KindMovie, 99))

	sharedtest.NoError(t, os.Remove(filepath.Join(dir, catalog.RemovedFile)))
	if again := run(t, c); again.Release != before.Release {
		t.Errorf("Run without removals = release %s, want %s", again.Release, before.Release)
	}
}

// TestRemovedTraces: derived data does not refer to removed resources, and their aliases are free for others.
func TestRemovedTraces(t *testing.T) {
	rows := []string{
		`{"id":1,"title":"One","imdb_id":"tt0000001","popularity":1.5,"vote_count":9,"genres":[{"id":18,"name":"Drama"}],"keywords":{"keywords":[{"id":5,"name":"k"}]},"credits":{"cast":[{"id":7,"name":"P","credit_id":"00000000000000000000000a","order":0}],"crew":[]}}`,
		`{"id":2,"title":"Two","imdb_id":"tt0000001","popularity":2.5,"vote_count":9,"genres":[{"id":18,"name":"Drama"}],"keywords":{"keywords":[{"id":5,"name":"k"}]},"credits":{"cast":[{"id":7,"name":"P","credit_id":"00000000000000000000000b","order":0}],"crew":[]}}`,
		`{"id":3,"title":"Three","popularity":3.5,"vote_count":9,"genres":[{"id":18,"name":"Drama"}],"keywords":{"keywords":[{"id":5,"name":"k"}]},"credits":{"cast":[{"id":7,"name":"P","credit_id":"00000000000000000000000c","order":0}],"crew":[]}}`,
	}
	dir := buildtest.Catalog(t, rows...)
	into := removedKey(fragment.KindMovie, catalog.NumberKey(1))
	into.Into, into.Merged = catalog.NumberKey(2), true
	sharedtest.NoError(t, catalog.WriteRemoved(dir, []catalog.Removed{into, removedKey(fragment.KindMovie, catalog.NumberKey(3))}))
	c := config(t, dir)
	var done, total int64
	c.Jobs = 1
	c.Progress = func(d, n int64) { done, total = d, n }
	report := run(t, c)
	if done != 3 || total != 3 {
		t.Errorf("Progress ends with %d of %d, want 3 of 3", done, total)
	}
	rel := openRelease(t, c, report)
	if got := rel.Manifest(); got.Sources["removed"] != 2 || got.Counts.Resources["removed"] != 2 {
		t.Errorf("manifest counts %v and %v, want 2 removed", got.Sources, got.Counts.Resources)
	}
	for line := range strings.Lines(dump(t, rel)) {
		if strings.Contains(line, "<movie 1 ") || strings.Contains(line, "<movie 3 ") {
			t.Errorf("a removed movie is included: %.200s", line)
		}
	}
	two := fragment.AppendID(nil, fragment.KindMovie, 2)
	for _, name := range []string{"tt0000001", "latest"} {
		if e, ok := rel.Lookup(fragment.AppendAlias(nil, fragment.KindMovie, name)); !ok || string(e.Key()) != string(two) {
			t.Errorf("%s leads to %s, %v, want movie 2", name, fragment.DescribeKey(e.Key()), ok)
		}
	}
	if got, ok, err := rel.Removed(fragment.AppendID(nil, fragment.KindMovie, 1)); err != nil || !ok || string(got) != string(two) {
		t.Errorf("Removed(movie 1) = %x, %v, %v, want movie 2", got, ok, err)
	}
	four := c
	four.Releases, four.Jobs, four.Memory = t.TempDir(), 4, MinMemory
	if again := run(t, four); again.Release != report.Release {
		t.Errorf("Run = release %s with 1 job, %s with 4", report.Release, again.Release)
	}
}

// tableNames returns the names of the tables of a release, in order.
func tableNames(r *release.Reader) (names []string) {
	for _, f := range r.Manifest().Tables {
		name, _ := release.TableName(f.Name)
		names = append(names, name)
	}
	return names
}
