package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/credits"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// config returns a Config over a catalogue with a fresh folder of releases.
func config(tb testing.TB, catalogDir string) Config {
	tb.Helper()
	c := DefaultConfig()
	c.Catalog, c.Releases = catalogDir, tb.TempDir()
	return c
}

// run builds a release.
func run(tb testing.TB, c Config) Report {
	tb.Helper()
	r, err := Run(tb.Context(), c)
	if err != nil {
		tb.Fatalf("Run: %v", err)
	}
	return r
}

// sampleMovies are the movies of the sample, or a quarter with -short: the others add nothing for the race detector.
func sampleMovies(tb testing.TB) []string {
	tb.Helper()
	rows := buildtest.Sample(tb, "movies")
	if testing.Short() {
		return rows[:len(rows)/4]
	}
	return rows
}

// TestAgain builds the sample with one worker, with four, and once more in the same folder. TestSameRelease of
// build/array compares memory and processes too.
func TestAgain(t *testing.T) {
	c := config(t, buildtest.Catalog(t, sampleMovies(t)...))
	c.Jobs = 1
	first := run(t, c)
	c.Jobs = 4
	if again := run(t, c); again.Release != first.Release {
		t.Errorf("Run = release %s the second time, want %s", again.Release, first.Release)
	}
	if n := folders(t, c.Releases); len(n) != 1 {
		t.Errorf("folder of releases holds %q, want one release", n)
	}
	openRelease(t, c, first)
	c.Level = 1
	if fast := run(t, c); fast.Release == first.Release {
		t.Errorf("Run at level 1 = release %s, as at level 6: its bytes differ", fast.Release)
	}
}

// folders returns the folders inside dir.
func folders(tb testing.TB, dir string) []string {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestReport(t *testing.T) {
	rows := sampleMovies(t)
	c := config(t, buildtest.Catalog(t, rows...))
	var done, total int64
	c.Jobs = 1
	c.Progress = func(d, n int64) { done, total = d, n }
	r := run(t, c)
	n := int64(len(rows))
	if done != n || total != n {
		t.Errorf("Progress ends with %d of %d, want %d of %d", done, total, n, n)
	}
	if r.Records["movie"] != n || r.Resources <= n || r.Fragments < 10*n || r.Segments == 0 || r.Jobs != 1 || r.Level != 6 {
		t.Errorf("Report = %+v, want %d movies, more resources, at least 10 fragments each", r, n)
	}
	if len(r.Tables) != 7 || r.Tables["movie"] < 100*n || r.Stages["index"] <= 0 {
		t.Errorf("Report = %+v, want the sizes of seven tables, and a stage that made them", r)
	}
	if r.StoredBytes == 0 || r.RawBytes < r.StoredBytes || r.Seconds <= 0 || r.PeakRSSBytes <= 0 || r.BuiltAt.IsZero() {
		t.Errorf("Report = %+v, want sizes, times and memory", r)
	}
	data, err := os.ReadFile(filepath.Join(c.Releases, r.Release, release.ReportName))
	if err != nil {
		t.Fatal(err)
	}
	var written Report
	if err := json.Unmarshal(data, &written); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, written); diff != "" {
		t.Errorf("%s differs from what Run returns (-want +got):\n%s", release.ReportName, diff)
	}
}

func TestCancelled(t *testing.T) {
	rows := buildtest.Sample(t, "movies")[:20]
	dir := buildtest.Catalog(t, rows...)
	f := func(name string, after int64) {
		t.Helper()
		c := config(t, dir)
		c.Jobs = 2
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if after == 0 {
			cancel()
		}
		c.Progress = func(done, _ int64) {
			if done == after {
				cancel()
			}
		}
		r, err := Run(ctx, c)
		if !errors.Is(err, context.Canceled) || r.Release != "" {
			t.Errorf("%s: Run = %q, %v, want no release and context.Canceled", name, r.Release, err)
		}
		if left := folders(t, c.Releases); len(left) != 0 {
			t.Errorf("%s: Run leaves %q", name, left)
		}
		// The folder is free for the next build.
		c.Progress = nil
		run(t, c)
	}
	f("before", 0)
	f("at the first record", 1)
	f("at the last record", int64(len(rows)))
}

func TestNoCatalogue(t *testing.T) {
	c := config(t, t.TempDir())
	_, err := Run(t.Context(), c)
	movies := catalog.TypeOf(fragment.KindMovie).File()
	if err == nil || !strings.Contains(err.Error(), c.Catalog) || !strings.Contains(err.Error(), movies) ||
		!strings.Contains(err.Error(), "ingest") || strings.Contains(err.Error(), "\n") {
		t.Errorf("Run without a catalogue = %v, want one line that names %s and says to ingest", err, c.Catalog)
	}
	path := filepath.Join(c.Catalog, movies)
	if err := os.WriteFile(path, []byte("no Parquet"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("Run over a broken catalogue = %v, want an error that names %s", err, path)
	}
	if left := folders(t, c.Releases); len(left) != 0 {
		t.Errorf("Run leaves %q", left)
	}
}

func TestEmptyCatalogue(t *testing.T) {
	c := config(t, buildtest.Catalog(t))
	r := run(t, c)
	openRelease(t, c, r)
	if r.Records["movie"] != 0 || r.Derived != 0 {
		t.Errorf("Report = %+v, want no movie and nothing derived", r)
	}
}

func TestValidate(t *testing.T) {
	f := func(want string, change func(c *Config)) {
		t.Helper()
		c := DefaultConfig()
		c.Catalog, c.Releases = "catalog", "releases"
		if err := c.Validate(); err != nil {
			t.Fatalf("Validate of the defaults = %v, want none", err)
		}
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate = %v, want an error with %q", err, want)
		}
		if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Run = %v, want an error with %q", err, want)
		}
	}
	f("catalog", func(c *Config) { c.Catalog = "" })
	f("releases", func(c *Config) { c.Releases = "" })
	f("level 0", func(c *Config) { c.Level = 0 })
	f("level 10", func(c *Config) { c.Level = 10 })
	f("jobs 0", func(c *Config) { c.Level, c.Jobs = 0, 0 })
	f("memory 67108863", func(c *Config) { c.Memory = 64<<20 - 1 })
}

func TestWorkers(t *testing.T) {
	f := func(jobs int, memory int64, want int) {
		t.Helper()
		if got := Workers(jobs, memory); got != want {
			t.Errorf("workers of %d jobs in %d bytes = %d, want %d", jobs, memory, got, want)
		}
	}
	f(1, 2<<30, 1)
	f(4, 2<<30, 4)
	f(64, 128<<20, 2)
	f(64, MinMemory, 1)
}

func TestSharedIMDbIDs(t *testing.T) {
	c := config(t, buildtest.Catalog(t,
		`{"id":1,"imdb_id":"tt0000007"}`,
		`{"id":2,"imdb_id":null,"external_ids":{"imdb_id":"tt0000008"}}`,
		`{"id":3,"imdb_id":"tt0000007"}`,
		`{"id":4,"imdb_id":"tt0000007"}`,
		`{"id":5,"imdb_id":"nm0000001"}`,
		`{"id":6,"imdb_id":""}`,
	))
	report := run(t, c)
	if report.SharedIMDbIDs != 2 {
		t.Errorf("SharedIMDbIDs = %d, want 2", report.SharedIMDbIDs)
	}
	r := openRelease(t, c, report)
	f := func(name string, want uint64) {
		t.Helper()
		e, ok := r.Lookup(fragment.AppendAlias(nil, fragment.KindMovie, name))
		if ok != (want != 0) || ok && !bytes.Equal(e.Key(), fragment.AppendID(nil, fragment.KindMovie, fragment.ID(want))) {
			t.Errorf("Lookup(%s) = %s, %v, want movie %d", name, fragment.DescribeKey(e.Key()), ok, want)
		}
	}
	f("tt0000007", 1)
	f("tt0000008", 2)
	f("nm0000001", 0)
	f("", 0)
}

// openRelease opens the release of a build, which must be valid.
func openRelease(tb testing.TB, c Config, r Report) *release.Reader {
	tb.Helper()
	return buildtest.OpenRelease(tb, filepath.Join(c.Releases, r.Release))
}

// oneOfEverything is the record of a movie with one of each element.
const oneOfEverything = `{"adult":false,"backdrop_path":"/b.jpg","belongs_to_collection":null,"budget":1,"genres":[{"id":18,"name":"Drama"}],"homepage":"","id":7,` +
	`"imdb_id":"tt0000007","original_language":"fr","original_title":"Le titre","overview":"Text","poster_path":"/p.jpg","runtime":90,"tagline":"",` +
	`"title":"The Title","vote_average":8,"new":{"a":1},"alternative_titles":{"titles":[{"iso_3166_1":"DE","title":"Titel","type":""}]},` +
	`"images":{"backdrops":[{"iso_639_1":null,"file_path":"/b.jpg"}],"logos":[],"posters":[{"iso_639_1":"fr","file_path":"/fr.jpg"},{"iso_639_1":"en","file_path":"/p.jpg"}]},` +
	`"release_dates":{"results":[{"iso_3166_1":"FR","release_dates":[{"certification":"","release_date":"2001-02-03T00:00:00.000Z","type":3}]}]},` +
	`"reviews":{"page":1,"results":[{"author":"A","content":"C"}],"total_pages":1,"total_results":1},` +
	`"translations":{"translations":[{"iso_3166_1":"DE","iso_639_1":"de","name":"Deutsch","english_name":"German","data":{"homepage":"","overview":"Inhalt","runtime":0,"tagline":"","title":"Der Titel"}}]},` +
	`"videos":{"results":[{"iso_639_1":"en","name":"T","key":"k","site":"YouTube","size":1080,"type":"Trailer"},{"iso_639_1":"fr","name":"B","key":"l","site":"YouTube","size":720,"type":"Teaser"}]}}`

// everyKind is a small catalogue: four movies, a series with a season and an episode of its own, and records of some
// of their people and companies.
func everyKind(tb testing.TB) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	for kind, rows := range map[fragment.Kind][]string{
		fragment.KindMovie: {
			oneOfEverything, `{"id":8,"title":"Bare"}`,
			`{"id":11,"title":"First","original_title":"First","release_date":"1983-05-25","popularity":9.5,"vote_count":90,"imdb_id":"tt0000011",` +
				`"genres":[{"id":12,"name":"Adventure"}],"belongs_to_collection":{"id":10,"name":"Both","poster_path":null,"backdrop_path":null},` +
				`"production_companies":[{"id":1,"logo_path":null,"name":"Maker","origin_country":"US"}],` +
				`"keywords":{"keywords":[{"id":825,"name":"support group"}]},` +
				`"credits":{"cast":[{"id":2,"name":"Star","credit_id":"00000000000000000000000a","character":"Hero","order":0}],` +
				`"crew":[{"id":1,"name":"Boss","credit_id":"00000000000000000000000b","department":"Directing","job":"Director"}]},` +
				`"reviews":{"page":1,"results":[{"author":"A","content":"C","id":"00000000000000000000000c"}],"total_pages":1,"total_results":1}}`,
			`{"id":12,"adult":true,"title":"Second","release_date":"1980-05-20","keywords":{"keywords":[{"id":825,"name":"support group"}]},"popularity":8.5,"vote_count":80,"genres":[{"id":12,"name":"Adventure"}],` +
				`"belongs_to_collection":{"id":10,"name":"Both","poster_path":null,"backdrop_path":null},` +
				`"credits":{"cast":[{"id":2,"name":"Star","credit_id":"00000000000000000000001a","character":"Hero","order":0}],"crew":[]}}`,
		},
		fragment.KindTV: {
			`{"id":20,"name":"Show","original_name":"Die Schau","first_air_date":"2001-01-01","popularity":7.5,"vote_count":70,` +
				`"networks":[{"id":49,"logo_path":null,"name":"Net","origin_country":"US"}],"external_ids":{"imdb_id":"tt0000020","tvdb_id":200,"tiktok_id":"show"},` +
				`"credits":{"cast":[{"id":2,"name":"Star","credit_id":"00000000000000000000002a","character":"Self","order":0}],"crew":[]}}`,
		},
		fragment.KindSeason: {
			`{"_id":"00000000000000000000003a","air_date":"2001-01-02","episodes":[{"air_date":"2001-01-02","episode_number":1,"id":301,"name":"Pilot","overview":"","runtime":45,"season_number":1,"show_id":20,"crew":[],` +
				`"guest_stars":[{"character":"Guest","credit_id":"00000000000000000000003b","order":5,"id":3,"name":"Visitor"}]},` +
				`{"air_date":"2001-01-09","episode_number":2,"id":302,"name":"Second","overview":"","runtime":40,"season_number":1,"show_id":20,"crew":[],"guest_stars":[]}],` +
				`"name":"Season 1","overview":"","id":30,"poster_path":null,"season_number":1,"vote_average":7,"series_id":20}`,
		},
		fragment.KindEpisode: {
			`{"episode_number":1,"season_number":1,"series_id":20,"external_ids":{"imdb_id":"tt0000301"},"images":{"stills":[]}}`,
		},
		fragment.KindPerson:     {`{"adult":false,"also_known_as":[],"biography":"","birthday":null,"gender":2,"id":2,"imdb_id":"nm0000002","known_for_department":"Acting","name":"Star","popularity":3.5,"profile_path":null}`},
		fragment.KindCollection: {`{"id":13,"name":"Listed","parts":[{"id":99,"adult":true,"popularity":4.5,"title":"Unknown"}]}`},
		fragment.KindCompany:    {`{"description":"","headquarters":"Here","homepage":"","id":1,"logo_path":null,"name":"Maker","origin_country":"US","parent_company":null}`},
	} {
		buildtest.WriteKind(tb, dir, kind, rows...)
	}
	return dir
}

// TestEveryKind compares every fragment and every row of the tables of a small release of all kinds, derived ones
// included, with testdata.
func TestEveryKind(t *testing.T) {
	c := config(t, everyKind(t))
	report := run(t, c)
	path := filepath.Join("testdata", "kinds.golden")
	rel := openRelease(t, c, report)
	got := dump(t, rel) + dumpTables(t, rel)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./build -update writes it)", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("fragments differ from %s (-want +got); go test ./build -update writes it:\n%s", path, diff)
	}
	// Derived: two people, a collection, a network, a keyword, a review. Credits are no resources.
	if report.Derived != 6 {
		t.Errorf("Derived = %d, want 6", report.Derived)
	}
}

// dump writes all fragments as text.
func dump(tb testing.TB, r *release.Reader) string {
	tb.Helper()
	var b strings.Builder
	err := r.Resources(tb.Context(), func(key []byte, e release.Entry, _ release.Ref) error {
		fmt.Fprintf(&b, "%s\n", fragment.DescribeKey(key))
		for i := range e.Len() {
			if fragment.Kind(key[0]) == fragment.KindGenres && e.Address(i).Variant != fragment.Base {
				continue // package reference tests the names
			}
			fmt.Fprintf(&b, "  %s: ", e.Address(i))
			var p release.Piece
			pieces := e.Fragment(i).Pieces()
			for pieces.Next(&p) {
				switch p.Op {
				case release.OpLiteral:
					b.Write(p.Text())
				case release.OpSegment:
					raw, err := inflate(p.Segment)
					if err != nil {
						return err
					}
					b.Write(raw)
				case release.OpReference:
					fmt.Fprintf(&b, "<%s>", fragment.DescribeKey(p.Shared))
				case release.OpInclude:
					fmt.Fprintf(&b, "<%s>", p.Include)
				case release.OpName:
					fmt.Fprintf(&b, "<%s %d>", p.Word, p.Number)
				default:
					fmt.Fprintf(&b, "<%s>", p.Op)
				}
			}
			if pieces.Broken {
				return fmt.Errorf("%s is broken", e.Address(i))
			}
			b.WriteByte('\n')
		}
		return nil
	})
	if err == nil {
		err = credits.Each(r, func(id []byte, c *credits.Credit) error {
			fmt.Fprintf(&b, "credit \"%x\" of the table\n  %s: %s, %s, %q of <%s> in <%s>", id, c.Role, c.Department, c.Job, c.Character, c.PersonRow(), c.TitleRow())
			if c.Kind == fragment.KindTV {
				_ = c.Parts(
					func(_ int, e credits.Episode) error { fmt.Fprintf(&b, " <%s>", c.EpisodeRow(e)); return nil },
					func(_ int, n uint32) error { fmt.Fprintf(&b, " <%s>", c.SeasonRow(n)); return nil },
				)
			}
			b.WriteString("\n")
			return credits.Check(tb.Context(), r, func(int) bool { return true })
		})
	}
	if err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// dumpTables writes the tables of titles, people and their like as text: the columns of each row, and the ranks of each list.
func dumpTables(tb testing.TB, r *release.Reader) string {
	tb.Helper()
	var b strings.Builder
	for _, kind := range tables.Kinds {
		tab, err := tables.Open(r, kind)
		if err != nil {
			tb.Fatal(err)
		}
		for rank := range uint32(tab.Rows) {
			fmt.Fprintf(&b, "row %d of table %s: id %d, popularity %g", rank, kind, tab.Uint64s(tables.ID).At(int(rank)), tab.Float64s(tables.Popularity).At(int(rank)))
			for _, c := range tables.Columns(kind) {
				if c.Type == tables.Range {
					fmt.Fprintf(&b, ", %s %d", c.Name, tab.Range(c.ID).Value(rank))
				}
			}
			b.WriteByte('\n')
		}
		for _, c := range tables.Columns(kind) {
			for i := 0; c.Type == tables.Lists && i < tab.Lists(c.ID).Len(); i++ {
				ranks, err := buildtest.Ranks(tab.Lists(c.ID).At(i), tab.Rows)
				if err != nil {
					tb.Fatal(err)
				}
				fmt.Fprintf(&b, "  %s %d: %d\n", c.Name, tab.Lists(c.ID).Key(i), ranks)
			}
		}
	}
	return b.String()
}

// TestClaimedIDs: an id that several seasons or episodes claim belongs to the first one, and fails no build, wherever
// the claim comes from.
func TestClaimedIDs(t *testing.T) {
	dir := t.TempDir()
	for kind, rows := range map[fragment.Kind][]string{
		fragment.KindTV: {
			`{"id":1,"name":"A","seasons":[{"id":77,"season_number":1}]}`, `{"id":2,"name":"B","seasons":[{"id":77,"season_number":1}]}`,
			`{"id":3,"name":"C"}`, `{"id":4,"name":"D"}`,
		},
		fragment.KindSeason: {
			`{"id":77,"name":"S","season_number":1,"series_id":3,"localized":[{"language":"de-DE","episodes":[{"episode_number":1,"id":50,"name":"E"}]}]}`,
			`{"id":78,"name":"S","season_number":1,"series_id":4,"episodes":[{"id":51},{"episode_number":1,"id":50,"name":"E"},{"episode_number":1,"id":52}]}`,
		},
		fragment.KindEpisode: {
			`{"episode_number":1,"id":5,"season_number":1,"series_id":1}`, `{"episode_number":1,"id":6,"season_number":1,"series_id":2}`,
			`{"episode_number":2,"id":51,"season_number":1,"series_id":4}`,
		},
	} {
		buildtest.WriteKind(t, dir, kind, rows...)
	}
	c := config(t, dir)
	r := openRelease(t, c, run(t, c))
	f := func(kind fragment.Kind, id string, want []byte) {
		t.Helper()
		e, ok := r.Lookup(fragment.AppendAlias(nil, kind, id))
		if ok != (want != nil) || !bytes.Equal(e.Key(), want) {
			t.Errorf("%s %s is %s, want %s", kind, id, fragment.DescribeKey(e.Key()), fragment.DescribeKey(want))
		}
	}
	f(fragment.KindSeason, "77", fragment.AppendSeason(nil, 3, 1))
	f(fragment.KindSeason, "78", fragment.AppendSeason(nil, 4, 1))
	f(fragment.KindEpisode, "50", fragment.AppendEpisode(nil, 3, 1, 1))
	f(fragment.KindEpisode, "51", fragment.AppendEpisode(nil, 4, 1, 2))
	f(fragment.KindEpisode, "52", nil)
	f(fragment.KindEpisode, "6", fragment.AppendEpisode(nil, 2, 1, 1))
}

// TestOtherLanguage: data that only a crawl in another language has contributes to derived data too.
func TestOtherLanguage(t *testing.T) {
	dir := t.TempDir()
	for kind, rows := range map[fragment.Kind][]string{
		fragment.KindMovie: {
			`{"id":1,"localized":[{"language":"de-DE","title":"A","genres":[{"id":18,"name":"Drama"}],"credits":{"cast":[{"id":9,"name":"P","credit_id":"00000000000000000000000a"}],"crew":[]}}]}`,
			`{"id":2,"localized":[{"language":"de-DE","title":"B","genres":[{"id":18,"name":"Drama"}],"credits":{"cast":[{"id":9,"name":"P","credit_id":"00000000000000000000000b"}],"crew":[]}}]}`,
		},
		fragment.KindTV: {`{"id":3,"localized":[{"language":"de-DE","name":"C"}]}`},
		// Derived credits have all languages, so a crawl's credits do not replace them.
		fragment.KindPerson: {
			`{"id":9,"localized":[{"language":"de-DE","name":"P","combined_credits":{"cast":[{"id":1,"media_type":"movie","title":"A"}],"crew":[]}}]}`,
		},
		fragment.KindSeason: {
			`{"id":30,"season_number":1,"series_id":3,"localized":[{"language":"de-DE","name":"S","episodes":[{"episode_number":1,"id":31,"name":"E",` +
				`"crew":[],"guest_stars":[{"id":8,"name":"G","credit_id":"00000000000000000000000c"}]}]}]}`,
		},
	} {
		buildtest.WriteKind(t, dir, kind, rows...)
	}
	c := config(t, dir)
	text := dump(t, openRelease(t, c, run(t, c)))
	for _, want := range []string{
		`combined_credits: "cast":[{<movie 1 row>`, `recommendations page 1: <page mark>"results":[{<movie 2 media_row>}]`,
		`combined_credits: "cast":[{<tv 3 row>`, "credit \"00000000000000000000000c\"", `"number_of_episodes":1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the release lacks %s", want)
		}
	}
}

// TestTrends: a build measures trends from the previous release and from request counts.
func TestTrends(t *testing.T) {
	releases := t.TempDir()
	hottest := func(change func(c *Config), popularity ...float64) (id string, hot uint64) {
		t.Helper()
		var rows []string
		for i, p := range popularity {
			rows = append(rows, fmt.Sprintf(`{"id":%d,"title":"T","popularity":%v}`, i+1, p))
		}
		c := config(t, buildtest.Catalog(t, rows...))
		c.Releases = releases
		change(&c)
		report := run(t, c)
		id = report.Release
		rel := openRelease(t, c, report)
		tab, _ := rel.Table("movie")
		ids, err := posting.OpenUint64s(tab, tables.ID.String(), tab.Rows())
		if err != nil {
			t.Fatal(err)
		}
		o, err := posting.OpenOrder(tab, tables.TrendDay.String(), tab.Rows())
		if err != nil {
			t.Fatal(err)
		}
		return id, ids.At(int(o.At(0)))
	}
	first, hot := hottest(func(*Config) {}, 3, 2, 1)
	if hot != 1 {
		t.Errorf("without a release before, the hottest is movie %d, want the most popular", hot)
	}
	_, hot = hottest(func(c *Config) { c.Previous = first }, 3, 2.5, 1)
	if hot != 2 {
		t.Errorf("the hottest is movie %d, want the one that has won", hot)
	}
}
