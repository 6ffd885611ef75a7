package build

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/schemas/release/compare"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// buildIncremental makes an incremental and a full build after the last release, and requires equal responses. It returns the
// report of the incremental one.
func buildIncremental(t *testing.T, c Config) Report {
	t.Helper()
	incremental := run(t, c)
	c.Full = true
	full := run(t, c)
	if full.Reused != 0 {
		t.Errorf("a full build reused %d resources", full.Reused)
	}
	a, b := openRelease(t, c, incremental), openRelease(t, c, full)
	differences, err := compare.Releases(t.Context(), a, b, nil)
	sharedtest.NoError(t, err)
	for _, change := range compare.Changes() {
		err := differences.Each(t.Context(), change, func(d compare.Difference) error {
			t.Errorf("%s: %s in the full build", fragment.DescribeKey(d.Key), change)
			return nil
		})
		sharedtest.NoError(t, err)
	}
	// Compare trusts fingerprints, so the texts are compared as well.
	got, want := strings.Split(dump(t, a), "\n"), strings.Split(dump(t, b), "\n")
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("line %d of all fragments is\n%s\nin the full build\n%s", i+1, got[i], want[i])
		}
	}
	if x, y := resources(t, a), resources(t, b); !maps.Equal(x, y) {
		t.Errorf("%d resources, the full build has %d", len(x), len(y))
	}
	if x, y := a.Manifest().Counts, b.Manifest().Counts; !cmp.Equal(x.ResponseCounts, y.ResponseCounts) || !maps.Equal(x.Terms, y.Terms) {
		t.Errorf("the manifest counts %v and %v, that of the full build %v and %v", x.ResponseCounts, x.Terms, y.ResponseCounts, y.Terms)
	}
	return incremental
}

// TestKeepNewKinds: an incremental build handles a catalogue that gains or loses the file of a kind.
func TestKeepNewKinds(t *testing.T) {
	all := map[fragment.Kind][]string{
		fragment.KindMovie: buildtest.Sample(t, "movies")[:12], fragment.KindTV: buildtest.Sample(t, "tv")[:6],
	}
	if testing.Short() { // each kind takes seven builds
		all[fragment.KindMovie], all[fragment.KindTV] = all[fragment.KindMovie][:4], all[fragment.KindTV][:2]
	}
	catalogOf := func(t *testing.T, kinds ...fragment.Kind) string {
		t.Helper()
		dir := t.TempDir()
		for _, kind := range kinds {
			buildtest.WriteKind(t, dir, kind, all[kind]...)
		}
		return dir
	}
	for _, kind := range []fragment.Kind{fragment.KindMovie, fragment.KindTV} {
		t.Run(kind.String(), func(t *testing.T) {
			c := config(t, catalogOf(t, kind))
			c.Previous = run(t, c).Release
			c.Catalog = catalogOf(t, fragment.KindMovie, fragment.KindTV)
			both := buildIncremental(t, c)
			c.Previous, c.Catalog = both.Release, catalogOf(t, kind)
			buildIncremental(t, c)
		})
	}
}

// object is a JSON object of a dump.
type object = map[string]any

// shorten cuts all lists below a value to two elements and objects by country to one, removes appended seasons, and
// returns the value.
func shorten(v any) any {
	switch v := v.(type) {
	case object:
		for i, k := range slices.Sorted(maps.Keys(v)) {
			if v[k] = shorten(v[k]); i > 0 && len(k) == len("US") && k != "id" || strings.HasPrefix(k, "season/") {
				delete(v, k)
			}
		}
	case []any:
		v = v[:min(len(v), 2)]
		for i := range v {
			v[i] = shorten(v[i])
		}
		return v
	}
	return v
}

// edits returns functions that each change or remove one value somewhere below a value.
func edits(v any) (all []func(v any)) {
	switch v := v.(type) {
	case object:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			all = append(all, func(v any) { delete(v.(object), k) }, func(v any) { v.(object)[k] = edited(v.(object)[k]) })
			for _, edit := range edits(v[k]) {
				all = append(all, func(v any) { edit(v.(object)[k]) })
			}
		}
	case []any:
		if len(v) > 0 {
			for _, edit := range edits(v[0]) {
				all = append(all, func(v any) { edit(v.([]any)[0]) })
			}
		}
	}
	return all
}

func edited(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) >= 10 && v[4] == '-' && v[7] == '-' { // a day or a time
			return "7" + v[1:]
		}
		if v != "" && '0' <= v[len(v)-1] && v[len(v)-1] <= '9' { // an id of IMDb, among others
			return v + "7"
		}
		return v + "x"
	case json.Number:
		digits := strings.TrimPrefix(v.String(), "-")
		switch {
		case !strings.Contains(digits, "."):
			return json.Number("7" + digits)
		case digits[0] == '7':
			return json.Number("3" + digits[1:])
		}
		return json.Number("7" + digits[1:]) // a score stays below 10
	case bool:
		return !v
	case []any:
		return v[:len(v)/2]
	}
	return v
}

// editable is a kind that is copied for each edit, with its own series and numbers.
type editable struct {
	kind     fragment.Kind
	file     string
	identity []string // fields of the key; the first has the number of the copy
}

var editables = []editable{
	{fragment.KindMovie, "movies", []string{"id"}},
	{fragment.KindTV, "tv", []string{"id"}},
	{fragment.KindSeason, "seasons", []string{"series_id", "season_number"}},
	{fragment.KindEpisode, "episodes", []string{"series_id", "season_number", "episode_number"}},
	{fragment.KindPerson, "people", []string{"id"}},
	{fragment.KindCollection, "collections", []string{"id"}},
	{fragment.KindCompany, "companies", []string{"id"}},
}

// TestEachInput changes each field of each kind of record, in a copy of its own: no resource that depends on the
// field is reused. A series, its seasons and their episodes share a number, so some resources have several records.
func TestEachInput(t *testing.T) {
	before, after := t.TempDir(), t.TempDir()
	for _, e := range editables {
		was, is := e.copies(t)
		if testing.Short() {
			was, is = was[:10], is[:10]
		}
		buildtest.WriteKind(t, before, e.kind, was...)
		buildtest.WriteKind(t, after, e.kind, is...)
	}
	c := config(t, before)
	c.Previous = run(t, c).Release
	c.Catalog = after
	incremental := buildIncremental(t, c)
	if incremental.Reused == 0 {
		t.Error("nothing was reused")
	}
	if testing.Short() {
		return
	}
	// Changes to rendering need a new render.Version. It is the only part of the code in a fingerprint if the program
	// was not built from a commit.
	const want = "2: b2b9fa50b3dabfb4"
	text := dump(t, openRelease(t, c, incremental))
	if got := fmt.Sprintf("%d: %x", render.Version, xxh3.HashString(text)); got != want {
		t.Errorf("the edited records are rendered as %q, pinned is %q: raise render.Version, unless the sample is another one, and pin it", got, want)
	}
}

// copies returns the copies of a sample record, unchanged and edited.
func (e *editable) copies(t *testing.T) (was, is []string) {
	t.Helper()
	byImages := func(a, b string) int { return strings.Count(a, `"file_path"`) - strings.Count(b, `"file_path"`) }
	sample := slices.MaxFunc(buildtest.Sample(t, e.file), byImages) // most have no images
	read := func() object {
		var row object
		d := json.NewDecoder(strings.NewReader(sample))
		d.UseNumber()
		sharedtest.NoError(t, d.Decode(&row))
		return shorten(row).(object)
	}
	write := func(row object, i int) string {
		for k, name := range e.identity {
			row[name] = 1
			if k == 0 {
				row[name] = i + 1
			}
		}
		data, err := json.Marshal(row)
		sharedtest.NoError(t, err)
		return string(data)
	}
	for i, edit := range edits(read()) {
		row := read()
		was = append(was, write(row, i))
		edit(row)
		is = append(is, write(row, i))
		sample = was[0]
	}
	return was, is
}

// largest returns the path of the largest file of a release with that prefix.
func largest(tb testing.TB, dir, prefix string) (path string) {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, prefix+"*"))
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no files %s*: %v", prefix, err)
	}
	var size int64
	for _, p := range paths {
		st, err := os.Stat(p)
		sharedtest.NoError(tb, err)
		if st.Size() > size {
			path, size = p, st.Size()
		}
	}
	return path
}

// damage flips a bit in the largest file of the previous release with that prefix.
func damage(tb testing.TB, c Config, prefix string) {
	tb.Helper()
	path := largest(tb, filepath.Join(c.Releases, c.Previous), prefix)
	st, err := os.Stat(path)
	sharedtest.NoError(tb, err)
	releasetest.Flip(tb, path, st.Size()/2, 0)
}

// TestDamagedPart: a damaged part is not copied into the next release with a valid checksum.
func TestDamagedPart(t *testing.T) {
	c := config(t, buildtest.Catalog(t, buildtest.Sample(t, "movies")[:8]...))
	c.Previous = run(t, c).Release
	damage(t, c, "part-")
	c.Catalog = buildtest.Catalog(t, buildtest.Sample(t, "movies")[:7]...)
	buildIncremental(t, c)
}

// TestDamagedPack: a full build after a release with a damaged pack makes another, valid release, even if the
// catalogue did not change.
func TestDamagedPack(t *testing.T) {
	rows := buildtest.Sample(t, "movies")[:8]
	c := config(t, buildtest.Catalog(t, rows...))
	c.Previous = run(t, c).Release
	damage(t, c, "pack-")
	c.Full = true
	full := run(t, c)
	if full.Unchanged || full.Release == c.Previous {
		t.Fatal("a full build upon a damaged release says that nothing has changed")
	}
	openRelease(t, c, full)
}

// TestPreviousShrinks truncates files of the previous release during a build: the new release is valid, rebuilt or
// built without the previous one, or the build fails with an error. Nothing panics.
func TestPreviousShrinks(t *testing.T) {
	rows := buildtest.Sample(t, "movies")[:8]
	first := config(t, buildtest.Catalog(t, rows...))
	previous := run(t, first).Release
	changed := slices.Clone(rows[:7])
	changed[3] = strings.Replace(changed[3], `"title":"`, `"title":"Not `, 1)
	catalog := buildtest.Catalog(t, changed...)
	from := filepath.Join(first.Releases, previous)
	for _, prefix := range []string{"part-", "index-", "pack-", "table-movie"} {
		name := filepath.Base(largest(t, from, prefix))
		for _, late := range []bool{false, true} {
			c := config(t, catalog)
			c.Previous = previous
			dir := filepath.Join(c.Releases, previous)
			sharedtest.NoError(t, os.CopyFS(dir, os.DirFS(from)))
			var once sync.Once
			c.Progress = func(done, total int64) {
				if !late || done == total {
					once.Do(func() {
						if err := os.Truncate(filepath.Join(dir, name), 100); err != nil {
							t.Error(err)
						}
					})
				}
			}
			r, err := Run(t.Context(), c)
			if err != nil {
				t.Logf("%s, late %v: %v", name, late, err)
				continue
			}
			problems, err := check.Verify(t.Context(), filepath.Join(c.Releases, r.Release), check.Options{}, nil)
			// A truncated reused pack is damaged in both releases: Verify reports it.
			if err != nil || len(problems) > 0 && problems[0].File != name {
				t.Errorf("%s, late %v: Verify = %v, %v", name, late, problems, err)
			}
		}
	}
}

// TestFallbackIsAnInput: an incremental build with another fallback renders anew and serves as a full build does, and one
// without a fallback again serves as before.
func TestFallbackIsAnInput(t *testing.T) {
	dir := t.TempDir()
	buildtest.WriteKind(t, dir, fragment.KindMovie, buildtest.Sample(t, "movies")[:8]...)
	buildtest.WriteKind(t, dir, fragment.KindTV, buildtest.Sample(t, "tv")[:3]...)
	c := config(t, dir)
	without := run(t, c)
	want := dump(t, openRelease(t, c, without))
	previous := without.Release
	for _, list := range []string{"en-US", "fr-FR,en-US", ""} {
		c.Previous, c.Fallback = previous, list
		r := buildIncremental(t, c)
		if got := openRelease(t, c, r); (dump(t, got) == want) != (list == "") || got.Manifest().Params[release.ParamFallback] != list {
			t.Errorf("fallback %q: manifest has %q, and its responses are those without a fallback: %t", list, got.Manifest().Params, list != "")
		}
		if r.Reused > 0 || r.Fallback != list {
			t.Errorf("fallback %q: report %q, %d resources of the previous release reused, want none", list, r.Fallback, r.Reused)
		}
		c.Previous = r.Release
		if again := run(t, c); !again.Unchanged {
			t.Errorf("fallback %q: the same build again has differences, want none", list)
		}
		previous = r.Release
	}
}
