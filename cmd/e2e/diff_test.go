package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/schemas/release/compare"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/schemas/tables/credits"
	"github.com/reelsplice/reelsplice/serve/edge"
)

// A smallMovie has the movie's values that tests of differences change. The numbers choose among few values, so that
// movies have much in common.
type smallMovie struct {
	title, german, popularity, imdb, collection, company, keyword, video int
	cast                                                                 []int
}

// A smallWorld is a catalogue of few resources, by id; a series has its seasons with the titles of their episodes.
type smallWorld struct {
	movies  map[int]smallMovie
	series  map[int][][]int
	people  map[int]int
	removed []catalog.Removed
}

func (w *smallWorld) clone() *smallWorld {
	c := &smallWorld{maps.Clone(w.movies), map[int][][]int{}, maps.Clone(w.people), slices.Clone(w.removed)}
	for id, seasons := range w.series {
		for _, s := range seasons {
			c.series[id] = append(c.series[id], slices.Clone(s))
		}
	}
	return c
}

// All possible ids.
const (
	maxMovie, maxSeries, maxPerson, maxSeason, maxEpisode, maxSet = 6, 2, 5, 2, 3, 2
)

func randomMovie(r *rand.Rand) smallMovie {
	m := smallMovie{
		r.IntN(9), r.IntN(3), r.IntN(4), r.IntN(4), r.IntN(maxSet + 1), r.IntN(maxSet + 1), r.IntN(maxSet + 1), r.IntN(4), nil,
	}
	for range r.IntN(3) {
		m.cast = append(m.cast, 1+r.IntN(maxPerson))
	}
	return m
}

func randomSeries(r *rand.Rand) (seasons [][]int) {
	for range 1 + r.IntN(maxSeason) {
		var episodes []int
		for range r.IntN(maxEpisode + 1) {
			episodes = append(episodes, r.IntN(5))
		}
		seasons = append(seasons, episodes)
	}
	return seasons
}

// change changes something at random.
func (w *smallWorld) change(r *rand.Rand) {
	id := 1 + r.IntN(maxMovie)
	m, known := w.movies[id]
	switch n := r.IntN(14); {
	case n == 0:
		delete(w.movies, id)
	case n == 1 || !known:
		w.movies[id] = randomMovie(r)
	case n == 2:
		m.title++
		w.movies[id] = m
	case n == 3:
		m.german = (m.german + 1) % 3
		w.movies[id] = m
	case n == 4:
		m.popularity = (m.popularity + 1) % 4
		w.movies[id] = m
	case n == 5:
		m.imdb = (m.imdb + 1) % 4
		w.movies[id] = m
	case n == 6:
		m.video = (m.video + 1) % 4
		w.movies[id] = m
	case n == 7:
		w.series[1+r.IntN(maxSeries)] = randomSeries(r)
	case n == 8:
		delete(w.series, 1+r.IntN(maxSeries))
	case n == 9:
		w.people[1+r.IntN(maxPerson)]++
	case n == 10:
		delete(w.people, 1+r.IntN(maxPerson))
	default:
		w.remove(r)
	}
}

// remove removes a random resource, which may not exist.
func (w *smallWorld) remove(r *rand.Rand) {
	rm := catalog.Removed{Merged: r.IntN(2) == 0}
	series, season, episode := int64(1+r.IntN(maxSeries)), int64(r.IntN(maxSeason)), int64(1+r.IntN(maxEpisode))
	switch r.IntN(8) {
	case 0:
		rm.Kind, rm.Key, rm.Into = fragment.KindMovie, catalog.NumberKey(int64(1+r.IntN(maxMovie))), catalog.NumberKey(99)
	case 1:
		rm.Kind, rm.Key, rm.Into = fragment.KindPerson, catalog.NumberKey(int64(1+r.IntN(maxPerson))), catalog.NumberKey(99)
	case 2:
		rm.Kind, rm.Key, rm.Into = fragment.KindTV, catalog.NumberKey(series), catalog.NumberKey(99)
	case 3:
		rm.Kind, rm.Key, rm.Into = fragment.KindSeason, catalog.SeasonKey(series, season), catalog.SeasonKey(99, 1)
	case 4:
		rm.Kind, rm.Key, rm.Into = fragment.KindEpisode, catalog.EpisodeKey(series, season, episode), catalog.EpisodeKey(99, 1, 1)
	default:
		kinds := []fragment.Kind{fragment.KindCollection, fragment.KindCompany, fragment.KindKeyword}
		rm.Kind, rm.Key, rm.Into = kinds[r.IntN(3)], catalog.NumberKey(int64(1+r.IntN(maxSet))), catalog.NumberKey(99)
	}
	w.removed = slices.DeleteFunc(w.removed, func(o catalog.Removed) bool { return o.Kind == rm.Kind && o.Key == rm.Key })
	w.removed = append(w.removed, rm)
}

// creditID returns the id of a credit of a person in a title.
func creditID(kind, title, n int) string { return fmt.Sprintf("%08x%08x%08x", kind, title, n) }

func castRows(kind, title int, cast []int) string {
	rows := make([]string, len(cast))
	for i, p := range cast {
		rows[i] = fmt.Sprintf(`{"id":%d,"name":"Person %d","character":"Part %d","credit_id":%q,"order":%d}`, p, p, i, creditID(kind, title, i), i)
	}
	return strings.Join(rows, ",")
}

func movieJSON(id int, m smallMovie) string {
	s := fmt.Sprintf(`{"id":%d,"title":"Title %d","original_language":"en","popularity":%d.5,"genres":[{"id":18,"name":"Drama"}]`, id, m.title, m.popularity)
	if m.collection > 0 {
		s += fmt.Sprintf(`,"belongs_to_collection":{"id":%d,"name":"Collection %d"}`, m.collection, m.collection)
	}
	if m.company > 0 {
		s += fmt.Sprintf(`,"production_companies":[{"id":%d,"name":"Company %d"}]`, m.company, m.company)
	}
	if m.imdb > 0 {
		s += fmt.Sprintf(`,"imdb_id":"tt%07d"`, m.imdb)
	}
	s += fmt.Sprintf(`,"credits":{"cast":[%s],"crew":[]}`, castRows(1, id, m.cast))
	if m.keyword > 0 {
		s += fmt.Sprintf(`,"keywords":{"keywords":[{"id":%d,"name":"keyword %d"}]}`, m.keyword, m.keyword)
	}
	if m.german > 0 {
		s += fmt.Sprintf(`,"translations":{"translations":[{"iso_3166_1":"DE","iso_639_1":"de","name":"Deutsch","english_name":"German","data":{"title":"Titel %d"}}]}`, m.german)
	}
	if m.video > 0 {
		s += fmt.Sprintf(`,"videos":{"results":[{"iso_639_1":%q,"iso_3166_1":"US","name":"Video","key":"k","site":"YouTube","id":"5"}]}`, []string{"en", "de", "fr"}[m.video-1])
	}
	return s + "}"
}

// write writes the catalogue.
func (w *smallWorld) write(t *testing.T, dir string) {
	t.Helper()
	var movies, series, seasons, people []string
	for _, id := range slices.Sorted(maps.Keys(w.movies)) {
		movies = append(movies, movieJSON(id, w.movies[id]))
	}
	for _, id := range slices.Sorted(maps.Keys(w.series)) {
		series = append(series, fmt.Sprintf(`{"id":%d,"name":"Series %d","popularity":1.5,"credits":{"cast":[%s],"crew":[]}}`, id, id, castRows(2, id, []int{1, 2})))
		for n, episodes := range w.series[id] {
			var rows []string
			for i, title := range episodes {
				rows = append(rows, fmt.Sprintf(`{"episode_number":%d,"id":%d,"name":"Episode %d","season_number":%d}`, i+1, 1000*id+100*n+i, title, n))
			}
			seasons = append(seasons, fmt.Sprintf(`{"id":%d,"season_number":%d,"series_id":%d,"name":"Part %d","episodes":[%s]}`, 10*id+n, n, id, n, strings.Join(rows, ",")))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.people)) {
		people = append(people, fmt.Sprintf(`{"id":%d,"name":"Person %d, %d"}`, id, id, w.people[id]))
	}
	buildtest.WriteKind(t, dir, fragment.KindMovie, movies...)
	buildtest.WriteKind(t, dir, fragment.KindTV, series...)
	buildtest.WriteKind(t, dir, fragment.KindSeason, seasons...)
	buildtest.WriteKind(t, dir, fragment.KindPerson, people...)
	if err := catalog.WriteRemoved(dir, w.removed); err != nil {
		t.Fatal(err)
	}
}

// build builds the world. It returns the release, which must be valid, and the folder of its store.
func (w *smallWorld) build(t *testing.T) (_ *release.Reader, releases string) {
	t.Helper()
	dir := t.TempDir()
	catalogDir := filepath.Join(dir, "catalog")
	if err := os.MkdirAll(catalogDir, 0o755); err != nil {
		t.Fatal(err)
	}
	w.write(t, catalogDir)
	rel := buildCatalog(t, dir)
	releases = filepath.Join(dir, "releases")
	problems, err := check.Verify(t.Context(), filepath.Join(releases, rel.Manifest().ID), check.Options{}, nil)
	if err != nil || len(problems) > 0 {
		t.Fatalf("verify: %v, %v", problems, err)
	}
	return rel, releases
}

// smallPaths returns the path of each possible resource, by its name.
func smallPaths() map[string]string {
	paths := map[string]string{}
	for kind, most := range map[string]int{
		"movie": maxMovie, "tv": maxSeries, "person": maxPerson, "collection": maxSet, "company": maxSet, "keyword": maxSet,
	} {
		for id := range most + 1 {
			paths[fmt.Sprintf("%s %d", kind, id)] = fmt.Sprintf("/3/%s/%d", kind, id)
		}
	}
	for id := range maxSeries + 1 {
		for s := range maxSeason {
			season := fmt.Sprintf("/3/tv/%d/season/%d", id, s)
			paths[fmt.Sprintf("season %d %d", id, s)] = season
			for e := range maxEpisode + 1 {
				paths[fmt.Sprintf("episode %d %d %d", id, s, e)] = fmt.Sprintf("%s/episode/%d", season, e)
			}
		}
		for i := range maxPerson {
			paths[fmt.Sprintf("credit %q", creditID(2, id, i))] = "/3/credit/" + creditID(2, id, i)
		}
	}
	for id := range maxMovie + 1 {
		for i := range 3 {
			paths[fmt.Sprintf("credit %q", creditID(1, id, i))] = "/3/credit/" + creditID(1, id, i)
		}
	}
	for n := range 5 {
		id := fmt.Sprintf("tt%07d", n)
		paths[fmt.Sprintf("find imdb_id %q", id)] = "/3/find/" + id + "?external_source=imdb_id"
	}
	return paths
}

// aliasPaths are paths that serve other resources.
func aliasPaths() []string {
	paths := []string{"/3/movie/latest", "/3/tv/latest", "/3/person/latest"}
	for n := range 5 {
		paths = append(paths, fmt.Sprintf("/3/movie/tt%07d", n))
	}
	return paths
}

// purgeList returns the names to purge when b replaces a.
func purgeList(t *testing.T, a, b *release.Reader) map[string]bool {
	t.Helper()
	c, err := compare.Releases(t.Context(), a, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	add := func(key []byte) error {
		names[string(edge.AppendPurge(nil, key))] = true
		return nil
	}
	for _, change := range compare.Changes() {
		if err := c.Each(t.Context(), change, func(d compare.Difference) error { return add(d.Key) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.NewAliases(add); err != nil {
		t.Fatal(err)
	}
	err = credits.Compare(a, b, func(_ compare.Change, id string) error {
		return add(fragment.AppendText(nil, fragment.KindCredit, id))
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestPurge: responses still cached after purging equal the responses of the later release, found or not.
func TestPurge(t *testing.T) {
	rounds := uint64(sharedtest.Rounds(8, 20))
	if testing.Short() || raceDetector {
		rounds = 2
	}
	targets := aliasPaths()
	for _, path := range smallPaths() {
		path, query, _ := strings.Cut(path, "?")
		for _, more := range []string{"", "&language=de-DE", "&append_to_response=credits,videos,season/1,season/0/credits"} {
			targets = append(targets, path+"?"+query+more)
		}
		if query == "" {
			targets = append(targets, path+"/combined_credits", path+"/recommendations", path+"/movies", path+"/images")
		}
	}
	for n := range 300 {
		targets = append(targets, fmt.Sprintf("/3/tv/season/%d/changes", n))
	}
	slices.Sort(targets)
	kept, purged := 0, 0
	for seed := range rounds {
		r := rand.New(rand.NewPCG(seed, 2))
		before := &smallWorld{map[int]smallMovie{}, map[int][][]int{1: randomSeries(r)}, map[int]int{1: 0, 2: 0}, nil}
		for id := 1; id < maxMovie; id++ {
			before.movies[id] = randomMovie(r)
		}
		after := before.clone()
		for range 1 + r.IntN(2) {
			after.change(r)
		}
		a, earlier := before.build(t)
		b, later := after.build(t)
		names := purgeList(t, a, b)
		cache, origin := newEdge(t, earlier, a.Manifest().ID), newEdge(t, later, b.Manifest().ID)
		for _, target := range targets {
			was, is := cache.get(target), origin.get(target)
			if slices.ContainsFunc(strings.Fields(was.keys), func(k string) bool { return names[k] }) {
				purged++
				continue
			}
			kept++
			if was.status != is.status || was.body != is.body {
				t.Errorf("seed %d: %s stays in the cache under %q with %d %.80s, the release serves %d %.80s",
					seed, target, was.keys, was.status, was.body, is.status, is.body)
			}
		}
	}
	if kept < 20*int(rounds) || purged < 5*int(rounds) {
		t.Errorf("%d responses kept, %d purged: too few for a verdict", kept, purged)
	}
}
