package e2e

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release/compare"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/schemas/tables"
)

// TestDivided: catalogue, release and responses are the same for any division of data. Each number is first above the
// sample's, then below.
func TestDivided(t *testing.T) {
	skipLarge(t)
	whole := makeDivided(t, ingest.DefaultMemory, build.DefaultConfig())
	want := responses(t, whole)
	lowerAll(t)
	var spilled atomic.Int64
	create := sortCreate
	sharedtest.Set(t, &sortCreate, func(path string) (io.WriteCloser, error) {
		if strings.HasSuffix(path, ".run") {
			spilled.Add(1)
		}
		return create(path)
	})
	c := build.DefaultConfig()
	c.Memory, c.Jobs = 256<<20, 256<<20/int(build.MinMemory) // the minimum for each task
	parts := makeDivided(t, 20<<10, c)

	if n := spilled.Load(); n < 1000 {
		t.Errorf("sorters spilled %d times, want most of them to spill", n)
	}
	isDivided(t, parts.Catalog)
	for i := range whole.made {
		sameCatalog(t, whole.catalogs[i], parts.catalogs[i])
		sameResponses(t, filepath.Join(parts.Releases, parts.made[i]), filepath.Join(whole.Releases, whole.made[i]), true)
	}
	if diff := cmp.Diff(differences(t, whole), differences(t, parts)); diff != "" {
		t.Errorf("differences between the releases (-whole +divided):\n%s", diff)
	}
	for target, got := range responses(t, parts) {
		if diff := cmp.Diff(want[target], got, cmp.AllowUnexported(reply{})); diff != "" {
			t.Errorf("GET %s (-whole +divided):\n%s", target, diff)
		}
	}
}

// differences returns the differences of the two releases.
func differences(t *testing.T, d divided) (all []string) {
	t.Helper()
	c, err := compare.Releases(t.Context(), openRelease(t, filepath.Join(d.Releases, d.made[0])), openRelease(t, filepath.Join(d.Releases, d.made[1])), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range compare.Changes() {
		all = append(all, fmt.Sprint(change, c.Count(change)))
		err := c.Each(t.Context(), change, func(d compare.Difference) error {
			all = append(all, fmt.Sprint(fragment.DescribeKey(d.Key), " ", d.Change, d.Subs, d.Aliases))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(all)
	if len(all) < 50 {
		t.Errorf("%d resources differ, want many", len(all))
	}
	return all
}

// responses returns an edge's responses from the last release to requests of all pages of lists, and of titles with
// appended parts.
func responses(t *testing.T, d divided) map[string]reply {
	t.Helper()
	e := newEdgeOn(t, d.Releases, d.made[len(d.made)-1], "2026-05-01")
	all := map[string]reply{}
	ask := func(target, name string, get func(target string) reply) reply {
		r := get(target)
		r.keys = strings.ReplaceAll(r.keys, d.made[len(d.made)-1], "release")
		all[name] = r
		return r
	}
	for _, list := range []string{
		"/3/discover/movie?sort_by=title.asc", "/3/discover/movie?sort_by=primary_release_date.desc&with_genres=18|28",
		"/3/discover/tv?sort_by=vote_average.desc", "/3/movie/popular?region=US", "/3/trending/all/week", "/3/trending/person/day",
		"/3/search/multi?query=a", "/3/search/company?query=s", "/3/search/keyword?query=a", "/3/person/popular?language=de",
	} {
		for page, total := int64(1), int64(1); page <= min(total, 9); page++ {
			target := fmt.Sprintf("%s%cpage=%d", list, "?&"[strings.Count(list, "?")], page)
			r := ask(target, target, e.get)
			v, err := parseJSON([]byte(r.body))
			if err != nil || r.status != 200 {
				t.Fatalf("GET %s: status %d, %v: %s", target, r.status, err, r.body)
			}
			if total = v.int("total_pages"); page == 1 && total < 2 {
				t.Errorf("GET %s: %d pages, want several", target, total)
			}
		}
	}
	first, _ := sampleFiles(t)
	for name, append := range map[string]string{
		"movie":  "credits,images,videos,similar,recommendations,keywords,release_dates,translations",
		"tv":     "aggregate_credits,images,videos,similar,content_ratings,season/1,season/1/credits,season/1/episode/1",
		"person": "combined_credits,images,external_ids,translations",
	} {
		file := name
		switch name {
		case "movie":
			file = "movies"
		case "person":
			file = "people"
		}
		for line := range bytes.Lines(first[file+".ndjson"]) {
			v, err := parseJSON(line)
			if err != nil {
				t.Fatal(err)
			}
			target := fmt.Sprintf("/3/%s/%d?language=de-DE&append_to_response=%s", name, v.int("id"), append)
			ask(target, target, e.get)
			ask(target, target+" with gzip", func(target string) reply { return e.getGzip(t, target) })
		}
	}
	return all
}

// A divided is a catalogue and its releases: of the sample, then of the sample with some changed rows.
type divided struct {
	build.Config
	catalogs []string // catalogue of each release
	made     []string // ids
}

func makeDivided(t *testing.T, memory int64, c build.Config) divided {
	t.Helper()
	d := divided{Config: c}
	d.Catalog, d.Releases = filepath.Join(t.TempDir(), "catalog"), t.TempDir()
	first, second := sampleFiles(t)
	for i, files := range []map[string][]byte{first, second} {
		dir := t.TempDir()
		writeFiles(t, dir, files)
		r, err := ingest.Run(t.Context(), ingest.Config{
			Catalog: d.Catalog, Sources: []string{dir}, Memory: memory, Update: i > 0, Date: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC),
		})
		if err != nil {
			t.Fatal(err)
		}
		if r.Quarantined > 0 {
			t.Fatalf("%d rows of the sample are in quarantine: %q", r.Quarantined, r.Bad)
		}
		copied := t.TempDir()
		if err := os.CopyFS(copied, os.DirFS(d.Catalog)); err != nil {
			t.Fatal(err)
		}
		d.catalogs = append(d.catalogs, copied)
		made, err := build.Run(t.Context(), d.Config)
		if err != nil {
			t.Fatal(err)
		}
		d.made, d.Previous = append(d.made, made.Release), made.Release
	}
	return d
}

// sampleFiles returns files of a part of the sample, and for each the rows that change later: every ninth one.
func sampleFiles(t *testing.T) (all, changed map[string][]byte) {
	t.Helper()
	all, changed = map[string][]byte{}, map[string][]byte{}
	names, err := fs.Glob(sample.FS(), "*.ndjson")
	if err != nil || len(names) == 0 {
		t.Fatalf("the sample has the files %q, %v", names, err)
	}
	for _, name := range names {
		if all[name], err = fs.ReadFile(sample.FS(), name); err != nil {
			t.Fatal(err)
		}
		rows := slices.Collect(bytes.Lines(all[name]))
		rows = rows[:min(len(rows), 60)]
		all[name] = bytes.Join(rows, nil)
		for i, line := range rows {
			if i%9 == 4 {
				line = bytes.Replace(line, []byte(`"name":"`), []byte(`"name":"Another `), 1)
				changed[name] = append(changed[name], bytes.Replace(line, []byte(`"overview":"`), []byte(`"overview":"Not `), 1)...)
			}
		}
	}
	return all, changed
}

// isDivided checks that a catalogue and its plan are in many pieces.
func isDivided(t *testing.T, dir string) {
	t.Helper()
	in, err := work.OpenCatalog(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for _, typ := range catalog.Types() {
		if f := in.Of(typ.Kind); f != nil && f.NumRows() > 20 && f.RowGroups() < 2 {
			t.Errorf("%d records of %s are in %d row groups", f.NumRows(), typ.Kind, f.RowGroups())
		}
	}
	p, err := work.MakePlan(in, work.Params{Catalog: dir})
	if err != nil {
		t.Fatal(err)
	}
	for i, kind := range tables.Kinds {
		titled := slices.Contains([]fragment.Kind{fragment.KindMovie, fragment.KindTV, fragment.KindPerson}, kind)
		if titled && len(p.Ranges[i]) < 3 {
			t.Errorf("the table of %s has %d ranges", kind, 1+len(p.Ranges[i]))
		}
	}
	for i := range p.Resources {
		if r := &p.Resources[i]; r.Partitions() < 2 && in.Of(r.Kind).Rows() > 20 {
			t.Errorf("%d partitions of %s", r.Partitions(), r.Kind)
		}
	}
	if len(p.Movies) < 3 || len(p.Series) < 3 || p.Finds < 2 || p.Near[fragment.KindMovie] < 3 || p.Near[fragment.KindTV] < 3 {
		t.Errorf("spans of %d movies and %d series, %d partitions of external ids, neighbours of %v", len(p.Movies), len(p.Series), p.Finds, p.Near)
	}
}

// sameCatalog compares the records of two catalogues.
func sameCatalog(t *testing.T, want, got string) {
	t.Helper()
	rows := func(dir string, typ *catalog.Type) (out []string) {
		f, err := typ.Open(dir)
		if err != nil {
			return []string{err.Error()[strings.LastIndex(err.Error(), ":")+1:]}
		}
		defer f.Close()
		all := f.Content(0, f.RowGroups())
		defer all.Close()
		for {
			r := typ.New()
			if err := all.Next(r); err == io.EOF {
				return out
			} else if err != nil {
				t.Fatal(err)
			}
			out = append(out, string(record.AppendBinary(nil, r)))
		}
	}
	for _, typ := range catalog.Types() {
		if a, b := rows(want, typ), rows(got, typ); !slices.Equal(a, b) {
			t.Errorf("%s: %d records differ from %d of the undivided catalogue", typ.Kind, len(b), len(a))
		}
	}
}
