package e2e

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/schemas/tables/credits"
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

// placesOf names the parameter of a kind's resources.
var placesOf = map[fragment.Kind]string{
	fragment.KindMovie: "movie_id", fragment.KindTV: "series_id", fragment.KindSeason: "season_id", fragment.KindEpisode: "episode_id",
	fragment.KindPerson: "person_id", fragment.KindCollection: "collection_id", fragment.KindCompany: "company_id", fragment.KindNetwork: "network_id",
	fragment.KindKeyword: "keyword_id", fragment.KindReview: "review_id", fragment.KindCredit: "credit_id", fragment.KindEpisodeGroup: "tv_episode_group_id",
}

// samplePlaces returns values from the keys of a release. Sources that the API has dropped have ids with slashes.
func samplePlaces(t *testing.T, rel *release.Reader) places {
	t.Helper()
	p := places{"time_window": {{"day"}, {"week"}}}
	add := func(e release.Entry) error {
		r, _ := fragment.ParseKey(e.Key())
		name := placesOf[r.Kind]
		switch {
		case e.IsAlias(): // a season or an episode by its id
			if kind := fragment.Kind(e.Key()[1]); kind == fragment.KindSeason || kind == fragment.KindEpisode {
				p.add(placesOf[kind], string(e.Key()[2:]))
			}
		case r.Kind == fragment.KindFind && !strings.HasPrefix(r.Source.Name(), "freebase"):
			p.add("external_id", fmt.Sprintf("%s?external_source=%s", r.Text, r.Source.Name()))
		case r.Kind == fragment.KindSeason:
			p.add("season_number", r.ID, r.Season)
		case r.Kind == fragment.KindEpisode:
			p.add("episode_number", r.ID, r.Season, r.Episode)
		case name != "" && r.Text != "":
			p.add(name, r.Text)
		case name != "":
			p.add(name, r.ID)
		}
		return nil
	}
	for part := range rel.Manifest().Parts {
		if err := rel.EachBlock(part, add); err != nil {
			t.Fatal(err)
		}
	}
	err := credits.Each(rel, func(id []byte, _ *credits.Credit) error {
		p.add("credit_id", hex.EncodeToString(id))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range reference.Genres(reference.Movie) {
		p.add("genre_id", g)
	}
	p.unique()
	return p
}
