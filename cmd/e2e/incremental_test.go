package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/data/gen"
	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/schemas/release/compare"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// A history is a catalogue that changes from build to build: dumps by name, a JSON object for each row, and removals.
type history struct {
	r       *rand.Rand
	names   []string
	first   map[string][]row // the state before the first build
	rows    map[string][]row
	absent  map[string]bool // dumps missing this time
	removed []catalog.Removed
	known   []catalog.Removed // resources of the last release, which may be removed
}

// A row is an object of a dump.
type row = map[string]any

// german are the dumps of a crawl in German: the same kinds, with common rows and rows of their own.
const german = "de/"

func newHistory(t *testing.T, seed uint64) *history {
	t.Helper()
	c := gen.DefaultConfig()
	c.Out, c.Movies, c.TV, c.Seed = t.TempDir(), 40, 6, seed
	if testing.Short() || raceDetector {
		c.Movies, c.TV = 12, 2
	}
	report, err := gen.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	n := &history{r: rand.New(rand.NewPCG(seed, 6)), first: map[string][]row{}}
	for _, f := range report.Files {
		n.add(strings.TrimSuffix(f.Name, ".zst"), rowsOf(t, os.DirFS(c.Out), f.Name))
	}
	n.addSample(t)
	for _, name := range []string{"movies.ndjson", "tv.ndjson", "people.ndjson"} {
		rows := n.first[name]
		n.add(german+name, rows[:len(rows)/3])
		n.first[name] = rows[2:] // the others exist only in German
	}
	n.rows = map[string][]row{}
	for _, name := range slices.Sorted(maps.Keys(n.first)) {
		n.names = append(n.names, name)
		for _, r := range n.first[name] {
			n.rows[name] = append(n.rows[name], clone(r).(row))
		}
	}
	return n
}

// addSample adds data that gen lacks: separate seasons and episodes, some of a series without a record, lists and
// accounts, and their titles.
func (n *history) addSample(t *testing.T) {
	t.Helper()
	titles := []string{"550", "62", "157336", "1396", "252372"}
	for _, name := range []string{"movies", "tv", "seasons", "episodes", "episode_groups", "lists", "accounts"} {
		name += ".ndjson"
		rows := rowsOf(t, sample.FS(), name)
		if name == "movies.ndjson" || name == "tv.ndjson" {
			rows = slices.DeleteFunc(rows, func(r row) bool { return !slices.Contains(titles, fmt.Sprint(r["id"])) })
		}
		n.add(name, rows)
	}
}

func (n *history) add(name string, rows []row) {
	if len(rows) > 0 {
		n.first[name] = append(n.first[name], rows...)
	}
}

// rowsOf reads a dump.
func rowsOf(t *testing.T, dir fs.FS, name string) (rows []row) {
	t.Helper()
	data, err := fs.ReadFile(dir, name)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".zst") {
		z, err := zstd.NewReader(nil)
		if err == nil {
			data, err = z.DecodeAll(data, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for d.More() {
		var r row
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

// identity is the key of a row of a dump.
func identity(r row) string {
	return fmt.Sprint(r["id"], r["series_id"], r["season_number"], r["episode_number"])
}

// clone returns a deep copy of a JSON value.
func clone(v any) any {
	switch v := v.(type) {
	case row:
		out := make(row, len(v))
		for k, x := range v {
			out[k] = clone(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = clone(x)
		}
		return out
	}
	return v
}

// change edits a few rows, each at random: a dump may change them in any way.
func (n *history) change() {
	n.absent = map[string]bool{}
	if n.r.IntN(4) == 0 {
		n.absent[n.names[n.r.IntN(len(n.names))]] = true
	}
	for range 1 + n.r.IntN(16) {
		name := n.names[n.r.IntN(len(n.names))]
		rows := n.rows[name]
		switch k := n.r.IntN(10); {
		case len(rows) == 0 || k == 0: // a row returns unchanged
			r := n.first[name][n.r.IntN(len(n.first[name]))]
			rows = slices.DeleteFunc(rows, func(o row) bool { return identity(o) == identity(r) })
			n.rows[name] = append(rows, clone(r).(row))
		case k == 1:
			i := n.r.IntN(len(rows))
			n.rows[name] = slices.Delete(rows, i, i+1)
		case k == 2:
			n.remove()
		case k == 3: // a row gets data of another one: a cast, a collection, external ids
			from, to := rows[n.r.IntN(len(rows))], rows[n.r.IntN(len(rows))]
			if key := n.member(from); !isIdentity(key) {
				to[key] = clone(from[key])
			}
		default:
			n.edit(rows[n.r.IntN(len(rows))], true)
		}
	}
}

func isIdentity(key string) bool {
	return key == "id" || key == "series_id" || key == "season_number" || key == "episode_number"
}

func (n *history) member(r row) string {
	keys := slices.Sorted(maps.Keys(r))
	return keys[n.r.IntN(len(keys))]
}

// edit changes one value somewhere in a row, except its identity.
func (n *history) edit(r row, whole bool) {
	key := n.member(r)
	switch v := r[key].(type) {
	case row:
		if len(v) > 0 {
			n.edit(v, false)
		}
	case []any:
		n.editList(r, key, v)
	case json.Number:
		if !whole || !isIdentity(key) { // few ids, so that several rows share one
			r[key] = json.Number(fmt.Sprint(1 + n.r.IntN(30)))
		}
	case string:
		if !strings.HasSuffix(key, "date") && !strings.HasPrefix(key, "iso_") {
			r[key] = v + "x"
		}
	case bool:
		r[key] = !v
	}
}

func (n *history) editList(r row, key string, list []any) {
	if len(list) == 0 {
		return
	}
	i := n.r.IntN(len(list))
	member, ok := list[i].(row)
	switch {
	case ok && len(member) > 0 && n.r.IntN(3) > 0:
		n.edit(member, false)
	case n.r.IntN(2) == 0:
		r[key] = slices.Delete(list, i, i+1)
	default:
		list[0], list[i] = list[i], list[0]
	}
}

// remove deletes or merges a resource, or reverts that.
func (n *history) remove() {
	if len(n.removed) > 0 && n.r.IntN(3) == 0 {
		i := n.r.IntN(len(n.removed))
		n.removed = slices.Delete(n.removed, i, i+1)
		return
	}
	kinds := []fragment.Kind{fragment.KindAccount}
	for _, o := range n.known {
		kinds = append(kinds, o.Kind)
	}
	slices.Sort(kinds)
	kinds = slices.Compact(kinds)
	kind := kinds[n.r.IntN(len(kinds))]
	of := slices.DeleteFunc(slices.Clone(n.known), func(o catalog.Removed) bool { return o.Kind != kind })
	if kind == fragment.KindAccount {
		of = []catalog.Removed{{Kind: kind, Key: catalog.NumberKey(1)}, {Kind: kind, Key: catalog.NumberKey(2)}}
	}
	r := of[n.r.IntN(len(of))]
	if into := of[n.r.IntN(len(of))].Key; n.r.IntN(2) == 0 && into != r.Key {
		r.Merged, r.Into = true, into
	}
	n.removed = slices.DeleteFunc(n.removed, func(o catalog.Removed) bool { return o.Kind == r.Kind && o.Key == r.Key })
	n.removed = append(n.removed, r)
}

// remember stores the resources of a release.
func (n *history) remember(t *testing.T, dir string) {
	t.Helper()
	n.known = nil
	err := openRelease(t, dir).Resources(t.Context(), func(key []byte, _ release.Entry, _ release.Ref) error {
		r, ok := fragment.ParseKey(key)
		if !ok || catalog.TypeOf(r.Kind) == nil {
			return nil
		}
		k := catalog.NumberKey(int64(r.ID))
		switch r.Kind {
		case fragment.KindSeason:
			k = catalog.SeasonKey(int64(r.ID), int64(r.Season))
		case fragment.KindEpisode:
			k = catalog.EpisodeKey(int64(r.ID), int64(r.Season), int64(r.Episode))
		case fragment.KindReview, fragment.KindCredit, fragment.KindEpisodeGroup:
			k, _ = catalog.TextKey(r.Text)
		}
		n.known = append(n.known, catalog.Removed{Kind: r.Kind, Key: k})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// write ingests the dumps into a new catalogue, the German ones last.
func (n *history) write(t *testing.T, dir string) {
	t.Helper()
	src := t.TempDir()
	sources := map[bool][]string{}
	for _, name := range n.names {
		if n.absent[name] {
			continue
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		for _, r := range n.rows[name] {
			if err := e.Encode(r); err != nil {
				t.Fatal(err)
			}
		}
		writeFiles(t, src, map[string][]byte{name: b.Bytes()})
		other := strings.HasPrefix(name, german)
		sources[other] = append(sources[other], filepath.Join(src, name))
	}
	for other, language := range []string{"", "de-DE"} {
		c := ingest.Config{Catalog: dir, Sources: sources[other == 1], Language: language, Date: time.Date(2026, 11, 1, other, 0, 0, 0, time.UTC)} // the log of changes has it
		if _, err := ingest.Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(n.removed, func(a, b catalog.Removed) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), a.Key.Compare(b.Key)) })
	if err := catalog.WriteRemoved(dir, n.removed); err != nil {
		t.Fatal(err)
	}
}

// TestIncrementalBuilds: after random changes, an incremental build has the same responses as a full build, byte for
// byte, and is valid. In a cache, purging by the differences leaves no response of the build before.
func TestIncrementalBuilds(t *testing.T) {
	builds, seeds := sharedtest.Rounds(7, 12), sharedtest.Rounds(1, 2)
	if testing.Short() || raceDetector {
		builds, seeds = 2, 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			n := newHistory(t, uint64(seed)+1)
			c := build.DefaultConfig()
			c.Releases = t.TempDir()
			var older string
			for i := range builds {
				c.Catalog = t.TempDir()
				n.write(t, c.Catalog)
				if i%6 == 5 {
					c.Previous = older // not the last one
				}
				kept := n.build(t, c)
				c.Full = true
				full := n.build(t, c)
				c.Full = false
				if full.Reused > 0 {
					t.Errorf("build %d: a full build reused %d resources", i, full.Reused)
				}
				if i > 0 && !kept.Unchanged && kept.Reused < kept.Resources/3 {
					t.Errorf("build %d: %d of %d resources reused, want a third at the least", i, kept.Reused, kept.Resources)
				}
				t.Logf("build %d: %d resources reused, %d resources, changed %v", i, kept.Reused, kept.Resources, kept.Changed)
				// Without a difference there is no new release, unless a full build moves bytes.
				differs := !kept.Unchanged && !full.Unchanged
				if differs && !maps.Equal(kept.Changed, full.Changed) {
					t.Errorf("build %d: %v changed, of the full build %v", i, kept.Changed, full.Changed)
				}
				sameResponses(t, filepath.Join(c.Releases, kept.Release), filepath.Join(c.Releases, full.Release), differs)
				if c.Previous != "" && !kept.Unchanged {
					t.Run(fmt.Sprintf("purge of build %d", i), func(t *testing.T) {
						checkPurge(t, c.Releases, c.Previous, kept.Release)
					})
				}
				older, c.Previous = c.Previous, kept.Release
				n.remember(t, filepath.Join(c.Releases, kept.Release))
				n.change()
			}
		})
	}
}

func (n *history) build(t *testing.T, c build.Config) build.Report {
	t.Helper()
	r, err := build.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sameResponses compares two releases except their layout: resources, aliases, and tables if requested. The first one
// must be valid.
func sameResponses(t *testing.T, dir, want string, tables bool) {
	t.Helper()
	problems, err := check.Verify(t.Context(), dir, check.Options{}, nil)
	if err != nil || len(problems) > 0 {
		t.Fatalf("verify: %v, %v", problems, err)
	}
	a, b := openRelease(t, dir), openRelease(t, want)
	found, err := compare.Releases(t.Context(), a, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range compare.Changes() {
		if err := found.Each(t.Context(), change, func(d compare.Difference) error {
			t.Errorf("%s: %s in the full build", fragment.DescribeKey(d.Key), change)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if x, y := resources(t, a), resources(t, b); !maps.Equal(x, y) {
		for key := range y {
			if x[key] != y[key] {
				t.Fatalf("%s: has\n%s\nwant\n%s", fragment.DescribeKey([]byte(key)), x[key], y[key])
			}
		}
		t.Errorf("%d resources, want %d", len(x), len(y))
	}
	if !tables {
		return
	}
	if x, y := tableNames(a), tableNames(b); !slices.Equal(x, y) {
		t.Fatalf("tables %q, want %q", x, y)
	}
	for _, name := range tableNames(a) {
		x, y := tableBytes(t, dir, name), tableBytes(t, want, name)
		if !bytes.Equal(x, y) {
			t.Errorf("table %s differs: %d and %d bytes", name, len(x), len(y))
		}
	}
}

func openRelease(t *testing.T, dir string) *release.Reader {
	t.Helper()
	r, err := release.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// resources returns the content of each resource of a release, except shared lists of genres, which replace their
// references.
func resources(t *testing.T, r *release.Reader) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := r.Resources(t.Context(), func(key []byte, e release.Entry, _ release.Ref) error {
		if fragment.Kind(key[0]) == fragment.KindGenres {
			return nil
		}
		var b strings.Builder
		fmt.Fprintln(&b, "id", e.ID())
		for i := range e.Len() {
			fmt.Fprintln(&b, e.Address(i))
			writePieces(t, &b, r, e.Fragment(i))
		}
		out[string(key)] = b.String()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func writePieces(t *testing.T, b *strings.Builder, r *release.Reader, f release.Fragment) {
	t.Helper()
	var p release.Piece
	c := f.Pieces()
	for c.Next(&p) {
		fmt.Fprintf(b, "  %s %x %d %v %d %x %q %d\n", p.Op, p.Segment.Stored, p.Segment.RawLen, p.Include, p.Word, p.Segment.Hash, p.Text(), p.Number)
		if p.Op != release.OpReference {
			continue
		}
		if _, ok := r.Lookup(p.Shared); !ok {
			t.Fatalf("a reference to %q leads nowhere", p.Shared)
		}
		fmt.Fprintf(b, "  -> %s\n", fragment.DescribeKey(p.Shared))
	}
	if c.Broken {
		t.Fatal("a program is broken")
	}
}

func tableBytes(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "table-"+name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// tableNames returns the names of the tables of a release, in order.
func tableNames(r *release.Reader) (names []string) {
	for _, f := range r.Manifest().Tables {
		name, _ := release.TableName(f.Name)
		names = append(names, name)
	}
	return names
}
