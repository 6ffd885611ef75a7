package ingest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/merge"
)

const hex24 = "5acf93e60e0a26346d0000ce"

// TestKinds: a crawl with one file per resource gives records of every kind, each with its file, and files without changes
// stay.
func TestKinds(t *testing.T) {
	t.Parallel()
	src, dir := t.TempDir(), t.TempDir()
	for name, data := range map[string]string{
		"movie/550.json":                              `{"id":550,"title":"A"}`,
		"tv/1399.json":                                `{"id":1399,"name":"B","season/2":{"id":3625,"season_number":2},"season/1/episode/1":{"id":63056,"episode_number":1}}`,
		"tv/1399-images.json":                         `{"id":1399,"posters":[]}`,
		"tv/1399-season-1.json":                       `{"id":3624,"season_number":1,"episodes":[{"episode_number":1,"show_id":1399}]}`,
		"tv/1399-season-1-credits.json":               `{"cast":[],"crew":[],"id":3624}`,
		"tv/1399/season/0.json":                       `{"id":3627,"season_number":0}`,
		"tv/1399/season/1/episode/2.json":             `{"id":63057,"season_number":1,"episode_number":2}`,
		"tv/1399-season-1-episode-2-images.json":      `{"id":63057,"stills":[]}`,
		"person/287.json":                             `{"id":287,"name":"C"}`,
		"person/287-movie_credits.json":               `{"cast":[],"crew":[],"id":287}`,
		"collection/10-images.json":                   `{"id":10,"posters":[]}`,
		"company/1.json":                              `{"id":1,"name":"D"}`,
		"networks.ndjson":                             `{"id":6,"name":"E"}` + "\n" + `{"id":4,"name":"F"}`,
		"keyword/825-movies.json":                     `{"id":825,"page":1,"results":[]}`,
		"review/5013bc76760ee372cb00253e.json":        `{"id":"5013bc76760ee372cb00253e","author":"G"}`,
		"credits.ndjson":                              `{"id":"` + hex24 + `","job":"Actor"}`,
		"episode_group/5acf93e60e0a26346d0000ce.json": `{"id":"` + hex24 + `","groups":[]}`,
	} {
		put(t, src, name, data)
	}
	r := ingestInto(t, dir, Config{Sources: []string{src}})
	want := map[string]int64{
		"movie": 1, "tv": 1, "season": 3, "episode": 2, "person": 1, "collection": 1, "company": 1, "network": 2,
		"keyword": 1, "review": 1, "credit": 1, "episode_group": 1,
	}
	if !maps.Equal(r.Records, want) || r.Quarantined != 0 {
		t.Fatalf("records = %v, bad %q, want %v", r.Records, r.Bad, want)
	}
	f := func(kind string, want ...string) {
		t.Helper()
		if got := recordsOf(t, dir, kind); !slices.Equal(got, want) {
			t.Errorf("%s records = %s\nwant %s", kind, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	f("tv", `{"id":1399,"name":"B","images":{"posters":[]}}`)
	f("season", `{"id":3627,"season_number":0,"series_id":1399}`,
		`{"episodes":[{"episode_number":1,"show_id":1399}],"id":3624,"season_number":1,"credits":{"cast":[],"crew":[]},"series_id":1399}`,
		`{"id":3625,"season_number":2,"series_id":1399}`)
	f("episode", `{"episode_number":1,"id":63056,"season_number":1,"series_id":1399}`, `{"episode_number":2,"id":63057,"season_number":1,"images":{"stills":[]},"series_id":1399}`)
	f("person", `{"id":287,"name":"C","movie_credits":{"cast":[],"crew":[]}}`)
	f("network", `{"id":4,"name":"F"}`, `{"id":6,"name":"E"}`)

	before, err := os.Stat(filepath.Join(dir, movieFile))
	if err != nil {
		t.Fatal(err)
	}
	first := allFiles(t, dir)
	r = ingestInto(t, dir, Config{Sources: []string{filepath.Join(src, "tv")}})
	if after, err := os.Stat(filepath.Join(dir, movieFile)); err != nil || !os.SameFile(before, after) {
		t.Errorf("an ingest of series made a new file of movies: %v", err)
	}
	if !maps.Equal(r.Records, want) {
		t.Errorf("records = %v, want those of all kinds, %v", r.Records, want)
	}
	if !maps.Equal(allFiles(t, dir), first) {
		t.Error("the same answers again changed the catalogue's bytes")
	}
}

// allFiles returns the contents of the Parquet files of a catalogue.
func allFiles(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	out := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			tb.Fatal(err)
		}
		out[filepath.Base(p)] = string(b)
	}
	return out
}

// fileOf ingests rows as one file of that name.
func fileOf(tb testing.TB, dir, name string, c Config, rows ...string) Report {
	tb.Helper()
	c.Sources = []string{put(tb, tb.TempDir(), name, strings.Join(rows, "\n")+"\n")}
	return ingestInto(tb, dir, c)
}

// TestCatalogAgain: the catalogue of any kind can be ingested, as Parquet and as JSON.
func TestCatalogAgain(t *testing.T) {
	first := t.TempDir()
	fileOf(t, first, "tv.ndjson", Config{Language: "de-DE"},
		`{"id":5,"name":"N","season/1":{"id":7,"air_date":null,"name":"S","episodes":[{"episode_number":1,"show_id":5}]},"season/1/episode/1":{"name":"E"},"similar":{"page":1}}`)
	fileOf(t, first, "people.ndjson", Config{}, `{"id":1,"name":"P","original_name":"Q","known_for":[{"id":1,"media_type":"movie"}],"tagged_images":{"page":0,"results":[]}}`)
	fileOf(t, first, "reviews.ndjson", Config{}, `{"id":"`+hex24+`","rating":1}`)
	want := allFiles(t, first)
	parquet, text := t.TempDir(), t.TempDir()
	for name := range want {
		kind := strings.TrimSuffix(name, ".parquet")
		ingestInto(t, parquet, Config{Sources: []string{filepath.Join(first, name)}})
		fileOf(t, text, kind+".ndjson", Config{}, recordsOf(t, first, kind)...)
	}
	for form, dir := range map[string]string{"Parquet": parquet, "NDJSON": text} {
		if got := allFiles(t, dir); !maps.Equal(got, want) {
			t.Errorf("a catalogue made of a catalogue as %s has other bytes", form)
		}
	}
}

// TestWholeSeries: crawls of a series in two requests and two languages make one record.
func TestWholeSeries(t *testing.T) {
	dir := t.TempDir()
	r := fileOf(t, dir, "tv.ndjson", Config{}, // more seasons than one request can have
		`{"id":5,"name":"A","season/1":{"id":1,"episodes":[{"episode_number":1,"name":"one","runtime":20}]}}`,
		`{"id":5,"name":"A","season/2":{"id":2,"episodes":[]}}`)
	if r.Quarantined != 0 || r.Records["season"] != 2 || r.Records["tv"] != 1 {
		t.Fatalf("Run = %+v, want one series of two seasons", r)
	}
	fileOf(t, dir, "tv.ndjson", Config{Language: "de"}, `{"id":5,"name":"B","season/1":{"id":1,"episodes":[{"episode_number":1,"name":"eins"}]}}`)
	fileOf(t, dir, "seasons.ndjson", Config{}, `{"id":1,"show_id":5,"season_number":1,"episodes":[{"episode_number":1,"name":"uno"},{"episode_number":2}]}`)
	want := []string{
		`{"episodes":[{"episode_number":1,"name":"uno","runtime":20},{"episode_number":2}],"id":1,"season_number":1,"series_id":5,"localized":[{"language":"de-DE","episodes":[{"episode_number":1,"name":"eins"}]}]}`,
		`{"episodes":[],"id":2,"season_number":2,"series_id":5}`,
	}
	if got := recordsOf(t, dir, "season"); !slices.Equal(got, want) {
		t.Errorf("seasons = %s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	bad := fileOf(t, dir, "tv.ndjson", Config{}, `{"id":6,"season/1":{"id":1}}`, `{"id":6,"season/1":{"id":2}}`)
	if want := "tv.ndjson:2: id: season 6 1 is already at tv.ndjson:1, with other content"; !slices.Equal(bad.Bad, []string{want}) {
		t.Errorf("Bad = %q, want %q", bad.Bad, want)
	}
}

// TestOverlayOfKinds: every kind can have an overlay.
func TestOverlayOfKinds(t *testing.T) {
	dir := t.TempDir()
	fileOf(t, dir, "tv.ndjson", Config{Mode: merge.Overlay}, `{"id":5,"name":"Ours","season/1":{"name":"Ours too"}}`)
	fileOf(t, dir, "tv.ndjson", Config{}, `{"id":5,"name":"A","overview":"o","season/1":{"name":"B","overview":"p"}}`)
	got := append(recordsOf(t, dir, "tv"), recordsOf(t, dir, "season")...)
	want := []string{`{"id":5,"name":"Ours","overview":"o"}`, `{"name":"Ours too","overview":"p","season_number":1,"series_id":5}`}
	if !slices.Equal(got, want) {
		t.Errorf("records = %s, want %s", got, want)
	}
	checkFiles(t, dir, "changes.parquet", "season.overlay.parquet", "season.parquet", "tv.overlay.parquet", "tv.parquet")
}

// TestAllOrNothing: if one kind cannot be written, none is.
func TestAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	fileOf(t, dir, "tv.ndjson", Config{}, `{"id":5,"name":"A"}`)
	put(t, dir, "season.parquet", "PAR1 damaged PAR1")
	before := allFiles(t, dir)
	src := put(t, t.TempDir(), "tv.ndjson", `{"id":5,"name":"B","season/1":{"id":1}}`+"\n"+`{"id":"bad"}`)
	for _, mode := range []merge.Mode{merge.Update, merge.Overlay} {
		if _, err := Run(t.Context(), Config{Catalog: dir, Sources: []string{src}, Mode: mode}); err == nil || !strings.Contains(err.Error(), "season.parquet") {
			t.Errorf("Run = %v, want an error that names season.parquet", err)
		}
		if !maps.Equal(allFiles(t, dir), before) {
			t.Error("a failed ingest changed the catalogue")
		}
		checkFiles(t, dir, "tv.parquet", "season.parquet")
	}
}

// TestRepeatedSeries: a repeated row that gives many records counts as one duplicate.
func TestRepeatedSeries(t *testing.T) {
	row := `{"id":5,"name":"S","season/1":{"id":6,"episodes":[]},"season/2":{"id":7,"episodes":[]}}`
	dir := t.TempDir()
	r := fileOf(t, dir, "tv.ndjson", Config{}, row, row)
	if d := r.Details.Totals; r.Records["season"] != 2 || d.Kept != 1 || d.Duplicates != 1 || r.Duplicates != 1 {
		t.Errorf("Run = %v, kept %d, duplicates %d and %d, want 1 of each", r.Records, d.Kept, d.Duplicates, r.Duplicates)
	}
}
