package changes_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
)

// A film is what the builds change about a movie. Each number but the popularity has a
// key of its own.
type film struct{ title, german, keyword, poster, popularity int }

// keysOf returns the keys of what differs between two films.
func keysOf(a, b film) []string {
	keys := map[string]bool{
		"title": a.title != b.title, "plot_keywords": a.keyword != b.keyword, "images": a.poster != b.poster,
		"translations": (a.german == 0) != (b.german == 0),
	}
	if a.german != b.german {
		keys["title"] = true
	}
	maps.DeleteFunc(keys, func(_ string, differs bool) bool { return !differs })
	return slices.Sorted(maps.Keys(keys))
}

func (f film) json(id int) string {
	var german, keyword, poster string
	if f.german > 0 {
		german = fmt.Sprintf(`{"iso_3166_1":"DE","iso_639_1":"de","name":"Deutsch","english_name":"German","data":{"title":"Titel %d"}}`, f.german)
	}
	if f.keyword > 0 {
		keyword = fmt.Sprintf(`{"id":%d,"name":"word %d"}`, f.keyword, f.keyword)
	}
	if f.poster > 0 {
		poster = fmt.Sprintf(`{"file_path":"/%d.jpg","iso_639_1":null}`, f.poster)
	}
	return fmt.Sprintf(`{"id":%d,"title":"Title %d","original_title":"O","popularity":%d.5,"translations":{"translations":[%s]},"keywords":{"keywords":[%s]},"images":{"posters":[%s]}}`,
		id, f.title, f.popularity, german, keyword, poster)
}

// A world is films by id, and the titles of the episodes of one season of each series.
type world struct {
	films  map[int]film
	series map[int][]int
}

func (w world) clone() world {
	c := world{maps.Clone(w.films), map[int][]int{}}
	for id, episodes := range w.series {
		c.series[id] = slices.Clone(episodes)
	}
	return c
}

func (w world) catalogue() catalogue {
	c := movies()
	for _, id := range slices.Sorted(maps.Keys(w.films)) {
		c.rows[fragment.KindMovie] = append(c.rows[fragment.KindMovie], w.films[id].json(id))
	}
	for _, id := range slices.Sorted(maps.Keys(w.series)) {
		var rows []string
		for i, title := range w.series[id] {
			rows = append(rows, episode(1000*id+i, 1, i+1, fmt.Sprint("Name ", title)))
		}
		c.rows[fragment.KindTV] = append(c.rows[fragment.KindTV], fmt.Sprintf(`{"id":%d,"name":"S"}`, id))
		c.rows[fragment.KindSeason] = append(c.rows[fragment.KindSeason], season(10*id, 1, id, "", rows...))
	}
	return c
}

// edit edits one thing, which may be a popularity.
func (w world) edit(r *rand.Rand) {
	id := 1 + r.IntN(12)
	f, ok := w.films[id]
	switch n := r.IntN(9); {
	case n == 0:
		delete(w.films, id)
		return
	case !ok:
		f.title = r.IntN(9)
	case n == 1:
		f.title++
	case n == 2:
		f.german = r.IntN(3)
	case n == 3:
		f.keyword = r.IntN(3)
	case n == 4:
		f.poster = r.IntN(3)
	case n == 5:
		f.popularity++
	default:
		id := 1 + r.IntN(3)
		switch episodes := w.series[id]; {
		case len(episodes) > 1 && n == 6:
			w.series[id] = episodes[:len(episodes)-1]
		case len(episodes) == 0 || n == 7:
			w.series[id] = append(episodes, 0)
		default:
			episodes[r.IntN(len(episodes))]++
		}
		return
	}
	w.films[id] = f
}

// edited returns what of a kind differs between two worlds.
func edited(k fragment.Kind, a, b world) map[uint64][]string {
	out := map[uint64][]string{}
	if k == fragment.KindTV {
		for id := 1; id <= 3; id++ {
			x, xok := a.series[id]
			y, yok := b.series[id]
			switch {
			case xok != yok:
				out[uint64(id)] = []string{"general"}
			case !slices.Equal(x, y):
				out[uint64(id)] = []string{"season"}
			}
		}
		return out
	}
	for id := 1; id <= 12; id++ {
		x, xok := a.films[id]
		y, yok := b.films[id]
		switch keys := keysOf(x, y); {
		case xok != yok:
			out[uint64(id)] = []string{"general"}
		case xok && len(keys) > 0:
			out[uint64(id)] = keys
		}
	}
	return out
}

// keysIn returns the keys of a response; of what was created or deleted only that.
func keysIn(t *testing.T, response string) []string {
	t.Helper()
	keys := map[string]bool{}
	for _, line := range lines(t, response) {
		keys[strings.Fields(line)[0]] = true
	}
	if keys["general"] {
		return []string{"general"}
	}
	return slices.Sorted(maps.Keys(keys))
}

// TestIncrementalBuilds: over builds after random edits, the lists of every window are what
// was edited, and so are the keys of every resource in every build.
func TestIncrementalBuilds(t *testing.T) {
	const builds = 6
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 7))
		now := world{map[int]film{1: {}, 2: {}, 3: {}, 4: {}}, map[int][]int{1: {0, 0}}}
		n := newHistory(t)
		n.run(t, at(0, 4), now.catalogue())
		var moments []time.Time
		var edits []map[fragment.Kind]map[uint64][]string
		for i := 1; i <= builds; i++ {
			before := now.clone()
			for range 1 + r.IntN(5) {
				now.edit(r)
			}
			if report := n.run(t, at(i, r.IntN(20)), now.catalogue()); report.Unchanged {
				continue
			}
			moments = append(moments, n.Date)
			found := map[fragment.Kind]map[uint64][]string{}
			for _, k := range []fragment.Kind{fragment.KindMovie, fragment.KindTV} {
				found[k] = edited(k, before, now)
			}
			edits = append(edits, found)
		}
		_, l := n.open(t)
		if l.Builds() != len(moments) || len(moments) < builds/2 {
			t.Fatalf("seed %d: %d builds in the table, want %d", seed, l.Builds(), len(moments))
		}
		for _, k := range []fragment.Kind{fragment.KindMovie, fragment.KindTV} {
			for i := range moments {
				w := changelog.Window{From: moments[i].Unix(), To: moments[i].Unix()}
				for id := uint64(1); id <= 12; id++ {
					if diff := cmp.Diff(edits[i][k][id], keysIn(t, answer(t, l, k, id, w))); diff != "" {
						t.Errorf("seed %d: %s %d in build %d (-want +got):\n%s", seed, k, id, i, diff)
					}
				}
				for j := i; j < len(moments); j++ {
					w := changelog.Window{From: moments[i].Unix(), To: moments[j].Unix()}
					checkWindow(t, l, k, w, edits[i:j+1])
				}
			}
		}
	}
}

// checkWindow compares the list of a window, by pages, with the edits of its builds.
func checkWindow(t *testing.T, l *changelog.Log, k fragment.Kind, w changelog.Window, edits []map[fragment.Kind]map[uint64][]string) {
	t.Helper()
	var want []uint64
	for _, build := range slices.Backward(edits) {
		for _, id := range slices.Sorted(maps.Keys(build[k])) {
			if !slices.Contains(want, id) {
				want = append(want, id)
			}
		}
	}
	var got []uint64
	for page := 1; ; page++ {
		rows, total := l.List(nil, k, w, page, 3)
		if total != len(want) {
			t.Errorf("%s/changes has %d results, want %d", k, total, len(want))
		}
		for _, r := range rows {
			got = append(got, r.ID)
		}
		if len(rows) < 3 {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s/changes = %v, want %v", k, got, want)
	}
}

// TestRetention: changes are kept for 15 days.
func TestRetention(t *testing.T) {
	n := newHistory(t)
	n.run(t, at(0, 4), movies(film{}.json(1), film{}.json(2)))
	n.run(t, at(1, 4), movies(film{title: 1}.json(1), film{keyword: 1}.json(2)))
	n.run(t, at(2, 4), movies(film{title: 2}.json(1), film{keyword: 1}.json(2)))
	n.run(t, at(16, 4), movies(film{title: 3}.json(1), film{keyword: 1}.json(2)))
	_, l := n.open(t)
	if got := listed(l, fragment.KindMovie, always); !slices.Equal(got, []string{"1", "2"}) || l.Builds() != 3 {
		t.Errorf("after 15 days: %d builds, %v, want all", l.Builds(), got)
	}
	n.run(t, at(16, 5), movies(film{title: 4}.json(1), film{keyword: 1}.json(2)))
	_, l = n.open(t)
	if got := listed(l, fragment.KindMovie, always); !slices.Equal(got, []string{"1"}) || l.Builds() != 3 {
		t.Errorf("after 15 days and an hour: %d builds, %v, want those since the second one", l.Builds(), got)
	}
	want := []string{`title en-US updated "Title 2" for "Title 1"`, `title en-US updated "Title 3" for "Title 2"`, `title en-US updated "Title 4" for "Title 3"`}
	if diff := cmp.Diff(want, lines(t, answer(t, l, fragment.KindMovie, 1, always))); diff != "" {
		t.Errorf("changes of movie 1 (-want +got):\n%s", diff)
	}
	if got := answer(t, l, fragment.KindMovie, 2, always); got != `{"changes":[]}` || l.Keys() != 1 {
		t.Errorf("movie 2 has %s and there are %d keys, want none and one", got, l.Keys())
	}
	n.run(t, at(60, 4), movies(film{title: 4, popularity: 1}.json(1), film{keyword: 1}.json(2)))
	if _, l = n.open(t); l.Builds() != 1 || len(listed(l, fragment.KindMovie, always)) != 0 {
		t.Errorf("%d builds after two months, want the last one, in which only a popularity changed", l.Builds())
	}
}

// TestNoNews: what does not differ makes no release, whenever it is built.
func TestNoNews(t *testing.T) {
	n := newHistory(t)
	first := n.run(t, at(0, 4), movies(film{}.json(1)))
	if first.Unchanged || first.Previous != "" {
		t.Errorf("first build: %+v", first)
	}
	again := n.run(t, at(1, 4), movies(film{}.json(1)))
	if !again.Unchanged || again.Release != first.Release || again.Previous != first.Release {
		t.Errorf("the same catalogue again gave release %s, want %s", again.Release, first.Release)
	}
	second := n.run(t, at(2, 4), movies(film{title: 1}.json(1)))
	if second.Unchanged || second.Release == first.Release {
		t.Errorf("another catalogue gave release %s again", second.Release)
	}
	if r, _ := n.open(t); r.Manifest().Parent != first.Release || r.Manifest().Params["date"] != "2026-11-03T04:00:00Z" {
		t.Errorf("manifest %+v, want the parent and the date", r.Manifest())
	}
	if again := n.run(t, at(3, 4), movies(film{title: 1}.json(1))); again.Release != second.Release {
		t.Errorf("the same catalogue again gave release %s, want %s", again.Release, second.Release)
	}
	n.Level = 2
	if other := n.run(t, at(4, 4), movies(film{title: 1}.json(1))); other.Unchanged {
		t.Error("another level gave the same release")
	}
	if got := folders(t, n.Releases); len(got) != 3 {
		t.Errorf("folder of releases has %q, want three", got)
	}
}

// folders returns the names of all folders, hidden ones too.
func folders(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestDates: changes cannot precede those of the previous release.
func TestDates(t *testing.T) {
	n := newHistory(t)
	n.run(t, at(0, 4), movies(film{}.json(1)))
	n.run(t, at(2, 4), movies(film{title: 1}.json(1)))
	n.Date = at(1, 4)
	writeRows(t, n.Catalog, movies(film{title: 2}.json(1)))
	_, err := build.Run(t.Context(), n.Config)
	if err == nil || !strings.Contains(err.Error(), "2026-11-03T04:00:00Z") {
		t.Errorf("Run with an earlier date: %v, want an error that names the later one", err)
	}
	n.Previous = "r0123456789abcdef"
	if _, err := build.Run(t.Context(), n.Config); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Run upon a release that is not there: %v", err)
	}
	if got := folders(t, n.Releases); len(got) != 2 {
		t.Errorf("folder of releases has %q, want two releases and nothing of the others", got)
	}
}

// TestBrokenTable: whatever bytes a table has, reading it ends with an error at worst.
func TestBrokenTable(t *testing.T) {
	n := newHistory(t)
	n.run(t, at(0, 4), movies(film{}.json(1)))
	n.run(t, at(1, 4), movies(film{title: 1}.json(1)))
	path := filepath.Join(n.Releases, n.Previous, "table-"+changelog.Table)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		broken := slices.Clone(data)
		for range 1 + r.IntN(4) {
			broken[64+r.IntN(len(broken)-64-64*7)] = byte(r.IntN(256))
		}
		if err := os.WriteFile(path, broken, 0o644); err != nil {
			t.Fatal(err)
		}
		rel, err := release.Open(filepath.Join(n.Releases, n.Previous))
		if err != nil {
			continue
		}
		read(t, changelog.Open(rel))
		_ = rel.Close()
	}
}

// read reads all that a table has, sound or not. It must not panic, and errors match ErrCorrupt.
func read(t *testing.T, l *changelog.Log) {
	t.Helper()
	if err := l.Check(); err != nil && !errors.Is(err, release.ErrCorrupt) {
		t.Errorf("Check: %v", err)
	}
	for _, k := range changelog.Kinds() {
		_, _ = l.List(nil, k, always, 1, 100)
		for id := range uint64(3) {
			for _, err := range l.Answer(k, id, always) {
				if err != nil && !errors.Is(err, release.ErrCorrupt) {
					t.Errorf("Answer: %v", err)
				}
			}
		}
	}
}
