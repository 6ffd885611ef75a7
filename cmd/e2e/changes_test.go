package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/flate"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
)

// A content is rows of JSON by kind.
type content map[fragment.Kind][]string

// A logged ingests into one catalogue, and builds releases one after another.
type logged struct {
	build.Config
	keys map[string]string // by row: the row that removes its record from the catalogue
}

func newLogged(t *testing.T) *logged {
	t.Helper()
	n := &logged{build.DefaultConfig(), map[string]string{}}
	n.Catalog, n.Releases, n.Level = t.TempDir(), t.TempDir(), 1
	return n
}

// onDay returns a time some days and hours after the first of November 2026.
func onDay(days, hours int) time.Time { return time.Date(2026, 11, 1+days, hours, 0, 0, 0, time.UTC) }

// ingest replaces the catalogue's rows: missing ones are deleted.
func (n *logged) ingest(t *testing.T, date time.Time, c content) error {
	t.Helper()
	keys, files, src := map[string]string{}, map[string][]byte{}, t.TempDir()
	for kind, rows := range c {
		for _, row := range rows {
			var key struct {
				ID     int64  `json:"id"`
				Series *int64 `json:"series_id"`
				Number *int64 `json:"season_number"`
			}
			if err := json.Unmarshal([]byte(row), &key); err != nil {
				t.Fatalf("%v in %s", err, row)
			}
			remove := fmt.Sprintf(`{"id":%d,"_deleted":true}`, key.ID)
			if kind == fragment.KindSeason {
				remove = fmt.Sprintf(`{"series_id":%d,"season_number":%d,"_deleted":true}`, *key.Series, *key.Number)
			}
			keys[kind.String()+remove] = remove
			files[kind.String()+".ndjson"] = append(files[kind.String()+".ndjson"], strings.ReplaceAll(row, "\n", "")+"\n"...)
		}
	}
	for _, kind := range changelog.Kinds() {
		for name, remove := range n.keys {
			if _, ok := keys[name]; !ok && strings.HasPrefix(name, kind.String()+"{") {
				files[kind.String()+".ndjson"] = append(files[kind.String()+".ndjson"], remove+"\n"...)
			}
		}
	}
	writeFiles(t, src, files)
	r, err := ingest.Run(t.Context(), ingest.Config{Catalog: n.Catalog, Sources: []string{src}, Date: date})
	if err == nil && r.Quarantined > 0 {
		t.Fatalf("in quarantine %q", r.Bad)
	}
	n.keys = keys
	return err
}

// run ingests, and builds a release on the previous one, whose place it takes.
func (n *logged) run(t *testing.T, date time.Time, c content) build.Report {
	t.Helper()
	if err := n.ingest(t, date, c); err != nil {
		t.Fatal(err)
	}
	r, err := build.Run(t.Context(), n.Config)
	if err != nil {
		t.Fatal(err)
	}
	n.Previous = r.Release
	return r
}

// open opens the last release, which must be valid. A full build has the same table of changes.
func (n *logged) open(t *testing.T) *changelog.Log {
	t.Helper()
	r := buildtest.OpenRelease(t, filepath.Join(n.Releases, n.Previous))
	l := changelog.Open(r)
	if err := l.Check(); err != nil {
		t.Error(err)
	}
	c := n.Config
	c.Releases, c.Previous = t.TempDir(), ""
	full, err := build.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := tableBytes(t, filepath.Join(n.Releases, n.Previous), changelog.Table), tableBytes(t, filepath.Join(c.Releases, full.Release), changelog.Table); !bytes.Equal(a, b) {
		t.Errorf("the table has %d bytes, that of a full build %d others", len(a), len(b))
	}
	return l
}

// movies returns only movies.
func movies(rows ...string) content { return content{fragment.KindMovie: rows} }

// always is a window of all times.
var always = changelog.Window{From: 0, To: 1 << 40}

// changesOfResource returns the changes of a resource as an edge would compose them. Each segment must match its row.
func changesOfResource(t *testing.T, l *changelog.Log, k fragment.Kind, id uint64, w changelog.Window) string {
	t.Helper()
	out := []byte{'{'}
	for p, err := range l.Answer(k, id, w) {
		if err != nil {
			t.Fatal(err)
		}
		if p.Text != nil {
			out = append(out, p.Text...)
			continue
		}
		g := p.Segment
		raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(append(bytes.Clone(g.Stored), 3, 0))))
		if err != nil {
			t.Fatal(err)
		}
		if g.RawLen != uint32(len(raw)) || g.CRC != crc32.ChecksumIEEE(raw) || g.Op != release.CRCOp(uint64(len(raw))) || g.Hash != release.HashOf(raw) {
			t.Errorf("segment of %s %d: %d bytes, its row says otherwise", k, id, len(raw))
		}
		out = append(out, raw...)
	}
	if !json.Valid(out) {
		t.Errorf("changes of %s %d are no JSON: %s", k, id, out)
	}
	return string(out)
}

// A changeOfKey is an item under its key.
type changeOfKey struct {
	Key   string
	Items []struct {
		ID            string          `json:"id"`
		Action        string          `json:"action"`
		Time          string          `json:"time"`
		ISO639        string          `json:"iso_639_1"`
		ISO3166       string          `json:"iso_3166_1"`
		Value         json.RawMessage `json:"value"`
		OriginalValue json.RawMessage `json:"original_value"`
	}
}

// changeLines returns the items of a response in short form: "title en-US updated "B" for "A"".
func changeLines(t *testing.T, text string) (out []string) {
	t.Helper()
	var a struct{ Changes []changeOfKey }
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	ids := map[string]bool{}
	for _, c := range a.Changes {
		for _, it := range c.Items {
			if ids[it.ID] || len(it.ID) != 24 {
				t.Errorf("id %q is there twice, or not one of 24 digits", it.ID)
			}
			ids[it.ID] = true
			s := c.Key
			if it.ISO639 != "" {
				s += " " + it.ISO639
			}
			if it.ISO3166 != "" {
				s += "-" + it.ISO3166
			}
			s += " " + it.Action
			if it.Value != nil {
				s += " " + string(it.Value)
			}
			if it.OriginalValue != nil {
				s += " for " + string(it.OriginalValue)
			}
			out = append(out, s)
		}
	}
	return out
}

// listedChanges returns the ids of a list, with their true flags.
func listedChanges(l *changelog.Log, k fragment.Kind, w changelog.Window) (out []string) {
	rows, _ := l.List(nil, k, w, 1, 1<<20)
	for _, r := range rows {
		s := fmt.Sprint(r.ID)
		if r.Adult != changelog.No {
			s += " adult " + r.Adult.String()
		}
		if r.Softcore != changelog.No {
			s += " softcore " + r.Softcore.String()
		}
		out = append(out, s)
	}
	return out
}

const (
	seriesBefore = `{"id":1,"name":"S","first_air_date":"2020-01-01","networks":[],"created_by":[],"external_ids":{"tvdb_id":null},
		"content_ratings":{"results":[]},"keywords":{"results":[]},"alternative_titles":{"results":[]}}`
	seriesAfter = `{"id":1,"name":"S","first_air_date":"2020-02-01","networks":[{"id":9,"name":"N","logo_path":null,"origin_country":"US"}],
		"created_by":[{"id":5,"credit_id":"c","name":"P","gender":1,"profile_path":null}],"external_ids":{"tvdb_id":375980},
		"content_ratings":{"results":[{"descriptors":[],"iso_3166_1":"BR","rating":"12"}]},"keywords":{"results":[{"name":"k","id":3}]},
		"alternative_titles":{"results":[{"iso_3166_1":"DE","title":"T","type":""}]}}`
)

func season(id, number, series int, text string, episodes ...string) string {
	return fmt.Sprintf(`{"id":%d,"series_id":%d,"season_number":%d,"name":"Part","overview":%q,"episodes":[%s]}`, id, series, number, text, strings.Join(episodes, ","))
}

func episode(id, season, number int, name string, guests ...int) string {
	var rows []string
	for _, g := range guests {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"name":"P%d","character":"C","credit_id":"g%d","order":0}`, g, g, g))
	}
	return fmt.Sprintf(`{"id":%d,"season_number":%d,"episode_number":%d,"name":%q,"air_date":"2020-01-01","guest_stars":[%s]}`, id, season, number, name, strings.Join(rows, ","))
}

// TestChangesOfSeries: changes of an episode show in its season and in its series.
func TestChangesOfSeries(t *testing.T) {
	other := `{"id":2,"name":"Other"}`
	third := `{"id":3,"name":"Third"}`
	before := content{
		fragment.KindTV: {seriesBefore, other, third},
		fragment.KindSeason: {
			season(11, 1, 1, "", episode(111, 1, 1, "One"), episode(112, 1, 2, "Two")),
			season(21, 1, 2, "", episode(211, 1, 1, "One")),
			season(22, 2, 2, "", episode(221, 2, 1, "One")),
			season(31, 1, 3, "", episode(311, 1, 1, "One")),
		},
	}
	after := content{
		fragment.KindTV: {seriesAfter, other, third},
		fragment.KindSeason: {
			season(11, 1, 1, "", episode(111, 1, 1, "Uno", 7), episode(113, 1, 3, "Three")),
			season(21, 1, 2, "Text.", episode(211, 1, 1, "One")),
			season(23, 3, 2, "", episode(231, 3, 1, "One")),
			season(31, 1, 3, "", episode(311, 1, 1, "One")),
		},
	}
	n := newLogged(t)
	n.run(t, onDay(0, 4), before)
	report := n.run(t, onDay(1, 4), after)
	if report.Changed["tv"] != 2 || report.Changed["movie"] != 0 || report.Changed["person"] != 0 {
		t.Errorf("changed %v, want 2 series", report.Changed)
	}
	l := n.open(t)
	for _, c := range []struct {
		kind fragment.Kind
		id   uint64
		want []string
	}{
		{fragment.KindTV, 1, []string{
			`air_date updated "2020-02-01" for "2020-01-01"`, `alternative_titles added {"title":"T","iso_3166_1":"DE","type":""}`,
			`certifications added {"iso_3166_1":"BR","certification":"12"}`, `created_by added {"person_id":5,"name":"P","credit_id":"c"}`,
			`network added {"name":"N","id":9}`, `plot_keywords added {"name":"k","id":3}`,
			`season updated {"season_id":11,"season_number":1}`, `tvdb_id added "375980"`,
		}},
		{fragment.KindSeason, 11, []string{
			`episode updated {"episode_id":111,"episode_number":1}`, `episode deleted for {"episode_id":112,"episode_number":2}`,
			`episode added {"episode_id":113,"episode_number":3}`,
		}},
		{fragment.KindEpisode, 111, []string{`guest_stars added {"person_id":7,"character":"C","order":0,"credit_id":"g7"}`, `name en-US updated "Uno" for "One"`}},
		{fragment.KindEpisode, 112, []string{`general destroyed`}},
		{fragment.KindEpisode, 113, []string{`air_date added "2020-01-01"`, `general created`, `name en-US added "Three"`}},
		{fragment.KindTV, 2, []string{
			`season updated {"season_id":21,"season_number":1}`, `season deleted for {"season_id":22,"season_number":2}`,
			`season added {"season_id":23,"season_number":3}`,
		}},
		{fragment.KindSeason, 21, []string{`overview en-US added "Text."`}},
		{fragment.KindSeason, 22, []string{`general destroyed`}},
		{fragment.KindSeason, 23, []string{`episode added {"episode_id":231,"episode_number":1}`, `general created`, `name en-US added "Part"`}},
		{fragment.KindTV, 3, nil},
		{fragment.KindSeason, 31, nil},
		{fragment.KindEpisode, 311, nil},
	} {
		if diff := cmp.Diff(c.want, changeLines(t, changesOfResource(t, l, c.kind, c.id, always))); diff != "" {
			t.Errorf("%s %d (-want +got):\n%s", c.kind, c.id, diff)
		}
	}
	if diff := cmp.Diff([]string{"1", "2"}, listedChanges(l, fragment.KindTV, always)); diff != "" {
		t.Errorf("tv/changes (-want +got):\n%s", diff)
	}
}

// TestChangesCreatedAndRemoved: resources that are created and deleted.
func TestChangesCreatedAndRemoved(t *testing.T) {
	n := newLogged(t)
	n.run(t, onDay(0, 4), movies(`{"id":1,"title":"A"}`, `{"id":2,"title":"B"}`, `{"id":3,"title":"C"}`))
	c := movies(`{"id":3,"title":"C"}`, `{"id":4,"title":"D","original_title":"O","adult":true,"softcore":true,"images":{"posters":[{"file_path":"/x.jpg"}]}}`, `{"id":2,"_merged_into":3}`)
	n.run(t, onDay(1, 4), c)
	l := n.open(t)
	want := []string{"1 adult null softcore null", "2 adult null softcore null", "4 adult true softcore true"}
	if diff := cmp.Diff(want, listedChanges(l, fragment.KindMovie, always)); diff != "" {
		t.Errorf("movie/changes (-want +got):\n%s", diff)
	}
	for id, want := range map[uint64][]string{
		1: {"general destroyed"}, 2: {"general destroyed"}, 3: nil,
		4: {`adult added true`, `general created`, `original_title added "O"`, `softcore added true`, `title en-US added "D"`},
	} {
		got := changeLines(t, changesOfResource(t, l, fragment.KindMovie, id, always))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("movie %d (-want +got):\n%s", id, diff)
		}
	}
	if got := changesOfResource(t, l, fragment.KindMovie, 3, always); got != `{"changes":[]}` {
		t.Errorf("changes of movie 3 = %s, want none", got)
	}
}

// TestChangesOfMany: beyond the limit for details, the log has only the creation of new titles.
func TestChangesOfMany(t *testing.T) {
	lower(t, &maxDetailed, 2)
	n := newLogged(t)
	rows := []string{`{"id":1,"title":"A"}`}
	n.run(t, onDay(0, 4), movies(rows...))
	for id := 2; id <= 5; id++ {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"title":"New"}`, id))
	}
	n.run(t, onDay(1, 4), movies(rows...))
	l := n.open(t)
	for id, want := range map[uint64][]string{
		1: nil,
		2: {"general created", `title en-US added "New"`}, 3: {"general created", `title en-US added "New"`},
		4: {"general created"}, 5: {"general created"},
	} {
		got := changeLines(t, changesOfResource(t, l, fragment.KindMovie, id, always))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("movie %d (-want +got):\n%s", id, diff)
		}
	}
}

// A film has the movie's values that builds change.
type film struct{ title, keyword int }

func (f film) json(id int) string {
	var keyword string
	if f.keyword > 0 {
		keyword = fmt.Sprintf(`{"id":%d,"name":"word %d"}`, f.keyword, f.keyword)
	}
	return fmt.Sprintf(`{"id":%d,"title":"Title %d","original_title":"O","keywords":{"keywords":[%s]}}`, id, f.title, keyword)
}

// TestChangesKept: changes are kept for 15 days.
func TestChangesKept(t *testing.T) {
	n := newLogged(t)
	n.run(t, onDay(0, 4), movies(film{}.json(1), film{}.json(2)))
	n.run(t, onDay(1, 4), movies(film{title: 1}.json(1), film{keyword: 1}.json(2)))
	n.run(t, onDay(2, 4), movies(film{title: 2}.json(1), film{keyword: 1}.json(2)))
	n.run(t, onDay(16, 4), movies(film{title: 3}.json(1), film{keyword: 1}.json(2)))
	l := n.open(t)
	if got := listedChanges(l, fragment.KindMovie, always); !slices.Equal(got, []string{"1", "2"}) || l.Builds() != 3 {
		t.Errorf("after 15 days: %d builds, %v, want all", l.Builds(), got)
	}
	n.run(t, onDay(16, 5), movies(film{title: 4}.json(1), film{keyword: 1}.json(2)))
	l = n.open(t)
	if got := listedChanges(l, fragment.KindMovie, always); !slices.Equal(got, []string{"1"}) || l.Builds() != 3 {
		t.Errorf("after 15 days and an hour: %d builds, %v, want those since the second one", l.Builds(), got)
	}
	want := []string{`title en-US updated "Title 2" for "Title 1"`, `title en-US updated "Title 3" for "Title 2"`, `title en-US updated "Title 4" for "Title 3"`}
	if diff := cmp.Diff(want, changeLines(t, changesOfResource(t, l, fragment.KindMovie, 1, always))); diff != "" {
		t.Errorf("changes of movie 1 (-want +got):\n%s", diff)
	}
	if got := changesOfResource(t, l, fragment.KindMovie, 2, always); got != `{"changes":[]}` || l.Keys() != 1 {
		t.Errorf("movie 2 has %s and there are %d keys, want none and one", got, l.Keys())
	}
}

// TestNoChanges: a build without differences makes no release, at any time.
func TestNoChanges(t *testing.T) {
	// In a first ingest everything is new, even an episode that its season has in another form.
	dir := t.TempDir()
	if _, err := ingest.Run(t.Context(), ingest.Config{Catalog: dir, Sources: []string{filepath.Join("..", "..", "data", "sample")}}); err != nil {
		t.Fatal(err)
	}
	if log, err := catalog.OpenChanges(dir); log != nil || err != nil {
		t.Errorf("the catalogue of a first ingest has a log of changes: %v", err)
	}

	n := newLogged(t)
	first := n.run(t, onDay(0, 4), movies(film{}.json(1)))
	if first.Unchanged || first.Previous != "" {
		t.Errorf("first build: %+v", first)
	}
	again := n.run(t, onDay(1, 4), movies(film{}.json(1)))
	if !again.Unchanged || again.Release != first.Release || again.Previous != first.Release {
		t.Errorf("the same catalogue again gave release %s, want %s", again.Release, first.Release)
	}
	second := n.run(t, onDay(2, 4), movies(film{title: 1}.json(1)))
	if second.Unchanged || second.Release == first.Release {
		t.Errorf("another catalogue gave release %s again", second.Release)
	}
	if l := n.open(t); l.Builds() != 1 || l.Time(0) != onDay(2, 4).Unix() {
		t.Errorf("%d ingests in the table, want that which changed something", l.Builds())
	}
	if again := n.run(t, onDay(3, 4), movies(film{title: 1}.json(1))); again.Release != second.Release {
		t.Errorf("the same catalogue again gave release %s, want %s", again.Release, second.Release)
	}
	n.Level = 2
	if other := n.run(t, onDay(4, 4), movies(film{title: 1}.json(1))); other.Unchanged {
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

// TestChangesDates: changes cannot precede the catalogue's.
func TestChangesDates(t *testing.T) {
	n := newLogged(t)
	n.run(t, onDay(0, 4), movies(film{}.json(1)))
	n.run(t, onDay(2, 4), movies(film{title: 1}.json(1)))
	if err := n.ingest(t, onDay(1, 4), movies(film{title: 2}.json(1))); err == nil || !strings.Contains(err.Error(), "2026-11-03T04:00:00Z") {
		t.Errorf("an ingest with an earlier date: %v, want an error that names the later one", err)
	}
	n.Previous = "r0123456789abcdef"
	if _, err := build.Run(t.Context(), n.Config); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Run upon a release that is not there: %v", err)
	}
	if got := folders(t, n.Releases); len(got) != 2 {
		t.Errorf("folder of releases has %q, want two releases and nothing of the others", got)
	}
}
