package e2e

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// worldsDir is a folder of TestMain for worlds that several tests share.
var worldsDir string

func TestMain(m *testing.M) { os.Exit(sharedtest.InMemory(withWorlds{m}).Run()) }

// withWorlds runs the tests with the folder of worlds.
type withWorlds struct{ tests *testing.M }

// Run returns the exit code of the tests.
func (w withWorlds) Run() int {
	dir, err := os.MkdirTemp("", "e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	worldsDir = dir
	defer func() { _ = os.RemoveAll(dir) }() // among temporary files; a leftover harms nothing
	return w.tests.Run()
}

// A world is a catalogue, and a release of it, that several tests share: the first of them makes it.
type world struct {
	name   string
	source func(dir string) (ingest.Config, error) // the source; files may be written below dir
	large  bool                                    // too large for tests that skipLarge skips

	once   sync.Once
	report ingest.Report
	id     string // release ID
	err    error
}

func (w *world) dir() string      { return filepath.Join(worldsDir, w.name) }
func (w *world) releases() string { return filepath.Join(w.dir(), "releases") }

func (w *world) make(t *testing.T) error {
	t.Helper()
	c, err := w.source(w.dir())
	if err != nil {
		return err
	}
	c.Catalog = filepath.Join(w.dir(), "catalog")
	if w.report, err = ingest.Run(t.Context(), c); err != nil {
		return err
	}
	rel, err := buildRelease(t, w.dir())
	if err != nil {
		return err
	}
	w.id = rel.Manifest().ID
	return rel.Close()
}

// open returns the world's release.
func (w *world) open(t *testing.T) *release.Reader {
	t.Helper()
	if w.large {
		skipLarge(t)
	}
	w.once.Do(func() { w.err = w.make(t) })
	if w.err != nil {
		t.Fatalf("%s: %v", w.name, w.err)
	}
	rel, err := release.Open(filepath.Join(w.releases(), w.id))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rel.Close() })
	return rel
}

// sampleWorld is the embedded sample. Under the race detector only the script "up" of cmd/reelsplice ingests, builds
// and serves it, because that takes half a minute.
var sampleWorld = &world{name: "sample", large: true, source: func(dir string) (ingest.Config, error) {
	src := filepath.Join(dir, "src")
	return ingest.Config{Sources: []string{src}}, os.CopyFS(src, sample.FS())
}}

// sampleEdge returns an edge over the embedded sample.
func sampleEdge(t *testing.T) (*testEdge, *release.Reader) {
	t.Helper()
	rel := sampleWorld.open(t)
	return newEdge(t, sampleWorld.releases(), rel.Manifest().ID), rel
}

// eachRecord calls f with every record of a kind in the catalogue below dir.
func eachRecord(t *testing.T, dir string, kind fragment.Kind, f func(k catalog.Key, r record.Record)) {
	t.Helper()
	ty := catalog.TypeOf(kind)
	file, err := ty.Open(filepath.Join(dir, "catalog"))
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows := file.Groups(0, file.RowGroups())
	defer rows.Close()
	for {
		r := ty.New()
		err := rows.Next(r)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		k, err := ty.Key(r)
		if err != nil {
			t.Fatal(err)
		}
		f(k, r)
	}
}

// places are the values of path parameters, by the name of the last parameter. A value has one text for each
// parameter.
type places map[string][][]string

func (p places) add(name string, value ...any) {
	texts := make([]string, len(value))
	for i, v := range value {
		texts[i] = fmt.Sprint(v)
	}
	p[name] = append(p[name], texts)
}

// unique sorts the values and drops the repeated ones.
func (p places) unique() {
	for name := range p {
		slices.SortFunc(p[name], slices.Compare)
		p[name] = slices.CompactFunc(p[name], slices.Equal)
	}
}

// paths returns path with its parameters filled, once for each place.
func (p places) paths(path string) []string {
	open := strings.LastIndexByte(path, '{')
	if open < 0 {
		return []string{path}
	}
	name, _, _ := strings.Cut(path[open+1:], "}")
	var out []string
	for _, texts := range p[name] {
		filled := path
		for _, text := range texts {
			from, to := strings.IndexByte(filled, '{'), strings.IndexByte(filled, '}')
			filled = filled[:from] + text + filled[to+1:]
		}
		out = append(out, filled)
	}
	return out
}

// samplePlaces returns values from the sample: its records and the resources in their responses, such as people,
// credits and external ids.
func samplePlaces(t *testing.T, rel *release.Reader) places {
	t.Helper()
	p := places{}
	for kind, name := range map[fragment.Kind]string{
		fragment.KindMovie: "movie_id", fragment.KindTV: "series_id", fragment.KindPerson: "person_id",
		fragment.KindCollection: "collection_id", fragment.KindCompany: "company_id", fragment.KindNetwork: "network_id",
		fragment.KindKeyword: "keyword_id",
	} {
		eachRecord(t, sampleWorld.dir(), kind, func(k catalog.Key, _ record.Record) { p.add(name, k.ID()) })
	}
	for kind, name := range map[fragment.Kind]string{
		fragment.KindReview: "review_id", fragment.KindCredit: "credit_id", fragment.KindEpisodeGroup: "tv_episode_group_id",
	} {
		eachRecord(t, sampleWorld.dir(), kind, func(k catalog.Key, _ record.Record) { p.add(name, k.Text()) })
	}
	eachRecord(t, sampleWorld.dir(), fragment.KindSeason, func(k catalog.Key, r record.Record) {
		p.addSeason(k.ID(), int64(k.Season()), record.As[catalog.Season](r))
	})
	eachRecord(t, sampleWorld.dir(), fragment.KindEpisode, func(k catalog.Key, r record.Record) {
		p.add("episode_number", k.ID(), k.Season(), k.Episode())
	})
	for _, path := range p.paths("/3/movie/{movie_id}") {
		p.addCredits(get(t, rel, path+"/credits"))
		p.addExternal(get(t, rel, path+"/external_ids"))
		p.addReviews(get(t, rel, path+"/reviews"))
	}
	for _, path := range p.paths("/3/tv/{series_id}") {
		p.addReviews(get(t, rel, path+"/reviews"))
		p.addCredits(get(t, rel, path+"/credits"))
		p.addExternal(get(t, rel, path+"/external_ids"))
		v := get(t, rel, path)
		for _, c := range v.list("created_by") {
			p.addCredit(c)
		}
		for _, n := range v.list("networks") {
			p.add("network_id", n.int("id"))
		}
		for _, c := range v.list("production_companies") {
			p.add("company_id", c.int("id"))
		}
	}
	for _, g := range reference.Genres(reference.Movie) {
		p.add("genre_id", g)
	}
	p.add("time_window", "day")
	p.add("time_window", "week")
	p.unique()
	return p
}

func (p places) addSeason(series uint64, number int64, s *catalog.Season) {
	p.add("season_number", series, number)
	if s.ID.Set {
		p.add("season_id", s.ID.V)
	}
	for _, e := range s.Episodes {
		p.add("episode_number", series, number, e.EpisodeNumber.V)
		if e.ID.Set {
			p.add("episode_id", e.ID.V)
		}
		for _, g := range e.GuestStars {
			p.add("person_id", g.ID.V)
			p.add("credit_id", g.CreditID.V)
		}
	}
}

func (p places) addCredits(v *value) {
	for _, list := range []string{"cast", "crew"} {
		for _, c := range v.list(list) {
			p.addCredit(c)
		}
	}
}

func (p places) addCredit(c *value) {
	p.add("person_id", c.int("id"))
	p.add("credit_id", c.text("credit_id"))
}

func (p places) addReviews(v *value) {
	for _, r := range v.list("results") {
		p.add("review_id", r.text("id"))
	}
}

// addExternal adds parameters of find: an id with its source. Sources that the API has dropped have ids with slashes.
func (p places) addExternal(v *value) {
	for _, source := range slices.Sorted(maps.Keys(v.members)) {
		_, known := fragment.ParseSource(source)
		if id := v.at(source).scalar; known && id != nil && id != "" && !strings.HasPrefix(source, "freebase") {
			p.add("external_id", fmt.Sprintf("%v?external_source=%s", id, source))
		}
	}
}
