package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/credits"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

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

// BenchmarkSample builds the sample, for profiles.
func BenchmarkSample(b *testing.B) {
	c := config(b, buildtest.Catalog(b, buildtest.Sample(b, "movies")...))
	c.Jobs = 1
	for b.Loop() {
		c.Releases = b.TempDir()
		b.SetBytes(run(b, c).RawBytes)
	}
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
	sharedtest.NoError(tb, err)
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
	sharedtest.NoError(t, err)
	var written Report
	sharedtest.NoError(t, json.Unmarshal(data, &written))
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
	sharedtest.NoError(t, os.WriteFile(path, []byte("no Parquet"), 0o600))
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

// openRelease opens the release of a build, which must be valid.
func openRelease(tb testing.TB, c Config, r Report) *release.Reader {
	tb.Helper()
	return buildtest.OpenRelease(tb, filepath.Join(c.Releases, r.Release))
}

// readCatalog writes the catalogue in a file of testdata: a section for each kind of record, and one for what was removed. It
// adds the other sections to rest.
func readCatalog(tb testing.TB, path string, rest map[string]string) (dir string) {
	tb.Helper()
	archive, err := txtar.ParseFile(path)
	sharedtest.NoError(tb, err)
	dir = tb.TempDir()
	for _, f := range archive.Files {
		lines := strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		if typ, ok := catalog.TypeNamed(f.Name); ok {
			buildtest.WriteKind(tb, dir, typ.Kind, lines...)
		} else if f.Name != "removed" {
			rest[f.Name] = string(f.Data)
		} else {
			var all []catalog.Removed
			for _, line := range lines {
				var kind string
				var id, season, episode int64
				_, _ = fmt.Sscan(line, &kind, &id, &season, &episode) // most keys are shorter
				typ, _ := catalog.TypeNamed(kind)
				all = append(all, removedKey(typ.Kind, catalog.EpisodeKey(id, season, episode)))
			}
			sharedtest.NoError(tb, catalog.WriteRemoved(dir, all))
		}
	}
	return dir
}

// TestCases builds small catalogues. The text of their releases, with all aliases, contains each line of the section has, and
// none of the section lacks.
func TestCases(t *testing.T) {
	for _, name := range []string{"ids", "languages", "removed"} {
		t.Run(name, func(t *testing.T) {
			sections := map[string]string{}
			c := config(t, readCatalog(t, "testdata/"+name+".txtar", sections))
			report := run(t, c)
			rel := openRelease(t, c, report)
			text := dump(t, rel) + fmt.Sprintf("%d shared IMDb ids\n", report.SharedIMDbIDs)
			for i := range rel.Manifest().Parts {
				if err := rel.EachBlock(i, func(e release.Entry) error {
					if to, ok := e.Target(); ok && e.IsAlias() {
						text += fmt.Sprintf("%s: %s\n", fragment.DescribeKey(e.Key()), fragment.DescribeKey(to.Key()))
					}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			for section, want := range map[string]bool{"has": true, "lacks": false} {
				for line := range strings.Lines(sections[section]) {
					if line = strings.TrimSuffix(line, "\n"); strings.Contains(text, line) != want {
						t.Errorf("the release has %q: %v, want %v", line, !want, want)
					}
				}
			}
			if sections["has"] == "" {
				t.Error("nothing is required")
			}
		})
	}
}

// TestEveryKind compares every fragment and every row of the tables of a small release of all kinds, derived ones
// included, with testdata.
func TestEveryKind(t *testing.T) {
	c := config(t, readCatalog(t, "testdata/kinds.txtar", nil))
	report := run(t, c)
	path := filepath.Join("testdata", "kinds.golden")
	rel := openRelease(t, c, report)
	got := dump(t, rel) + dumpTables(t, rel)
	sharedtest.Golden(t, path, got)
	// Derived: two people, a collection, a network, a keyword, a review. Credits are no resources.
	if report.Derived != 6 {
		t.Errorf("Derived = %d, want 6", report.Derived)
	}
}

// dump writes all fragments as text.
func dump(tb testing.TB, r *release.Reader) string {
	tb.Helper()
	var b strings.Builder
	var inflater release.Inflater
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
					if err := inflater.WriteTo(&b, &p.Segment); err != nil {
						return err
					}
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
	sharedtest.NoError(tb, err)
	return b.String()
}

// dumpTables writes the tables of titles, people and their like as text: the columns of each row, and the ranks of each list.
func dumpTables(tb testing.TB, r *release.Reader) string {
	tb.Helper()
	var b strings.Builder
	for _, kind := range tables.Kinds {
		tab, err := tables.Open(r, kind)
		sharedtest.NoError(tb, err)
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
				sharedtest.NoError(tb, err)
				fmt.Fprintf(&b, "  %s %d: %d\n", c.Name, tab.Lists(c.ID).Key(i), ranks)
			}
		}
	}
	return b.String()
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
		sharedtest.NoError(t, err)
		o, err := posting.OpenOrder(tab, tables.TrendDay.String(), tab.Rows())
		sharedtest.NoError(t, err)
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
