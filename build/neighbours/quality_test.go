package neighbours

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// minShare is how many of the recorded lists of recommendations must share a title with
// ours.
const minShare = 0.6

// TestRecorded compares our neighbours with those that TMDB gave, over the movies of the
// sample and of the TMDB 5000 dump, with credits of another dump, and the series of the
// sample.
func TestRecorded(t *testing.T) {
	lists, hits := 0, 0
	for kind, titles := range map[string]map[int64]Title{"movie": movies(t), "tv": series(t)} {
		all := slices.Collect(maps.Values(titles))
		table := tableOf(t, t.TempDir(), all, settings{4, 1, 1 << 20})
		defer table.Close()
		f := table.Finder()
		for _, g := range given(t, kind) {
			title, ok := titles[g.of]
			known := slices.DeleteFunc(g.ids, func(id int64) bool { _, ok := titles[id]; return !ok || id == g.of })
			if !ok || len(known) == 0 {
				continue
			}
			ours := find(t, f, &title).Recommendations
			if g.list == "similar" {
				ours = find(t, f, &title).Similar
			}
			common := 0
			for _, id := range known {
				if slices.Contains(ours, id) {
					common++
				}
			}
			t.Logf("%s: %s of %d: %d of the %d that we have are among our %d", g.file, g.list, g.of, common, len(known), len(ours))
			if g.list == "recommendations" {
				lists++
				hits += min(common, 1)
			}
		}
	}
	if lists == 0 {
		t.Fatal("no recorded list has titles that we have")
	}
	t.Logf("%d of %d recorded lists of recommendations share a title with ours", hits, lists)
	if float64(hits) < minShare*float64(lists) {
		t.Errorf("want at least %.0f %%", 100*minShare)
	}
}

// lines calls fn with every line of a file of the sample.
func lines(t *testing.T, name string, fn func(line string)) {
	t.Helper()
	b, err := fs.ReadFile(sample.FS(), name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		fn(line)
	}
}

func movies(t *testing.T) map[int64]Title {
	t.Helper()
	titles := map[int64]Title{}
	thousands(t, titles)
	lines(t, "movies.ndjson", func(line string) {
		var m catalog.Movie
		if err := record.NewParser().Parse(line, record.Of(&m)); err != nil {
			t.Fatal(err)
		}
		var title Title
		title.OfMovie(&m)
		titles[title.ID] = title
	})
	return titles
}

func series(t *testing.T) map[int64]Title {
	t.Helper()
	titles := map[int64]Title{}
	lines(t, "tv.ndjson", func(line string) {
		var s catalog.TV
		if err := record.NewParser().Parse(line, record.Of(&s)); err != nil {
			t.Fatal(err)
		}
		var title Title
		title.OfSeries(&s)
		titles[title.ID] = title
	})
	return titles
}

// thousands adds the movies of the TMDB 5000 dump, with the people of another one.
func thousands(t *testing.T, titles map[int64]Title) {
	t.Helper()
	f, err := os.Open(sharedtest.Path(t, "dumps", "tmdb5000", "tmdb_5000_movies.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bufio.NewReader(z)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	people := peopleOf(t)
	column := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
	for _, row := range rows[1:] {
		title := Title{Genres: idsOf(t, column(row, "genres")), Keywords: idsOf(t, column(row, "keywords"))}
		title.ID, _ = strconv.ParseInt(column(row, "id"), 10, 64)
		title.Votes, _ = strconv.ParseInt(column(row, "vote_count"), 10, 64)
		title.Popularity, _ = strconv.ParseFloat(column(row, "popularity"), 64)
		title.People = people[title.ID]
		titles[title.ID] = title
	}
}

// idsOf returns the ids of a JSON list of objects.
func idsOf(t *testing.T, cell string) []int64 {
	t.Helper()
	var rows []struct{ ID int64 }
	if err := json.Unmarshal([]byte(cell), &rows); err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	return ids
}

func peopleOf(t *testing.T) map[int64][]int64 {
	t.Helper()
	type credit struct {
		Movie  int64  `parquet:"movie_id,optional"`
		Person int64  `parquet:"person_id,optional"`
		Job    string `parquet:"job,optional"`
		Order  *int64 `parquet:"cast_order,optional"`
	}
	rows, err := parquet.ReadFile[credit](sharedtest.Path(t, "dumps", "parquet-duckdb", "credits.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	people := map[int64][]int64{}
	for _, c := range rows {
		if keyJobs[c.Job] || c.Order != nil && *c.Order < maxCast {
			people[c.Movie] = append(people[c.Movie], c.Person)
		}
	}
	return people
}

// A givenList is a recorded list of neighbours.
type givenList struct {
	file, list string
	of         int64
	ids        []int64
}

type page struct {
	Results []struct{ ID int64 }
}

var titlePath = regexp.MustCompile(`^/3/(?:movie|tv)/([0-9]+)`)

// given returns the recorded lists of which it is known whose neighbours they are.
func given(t *testing.T, kind string) []givenList {
	t.Helper()
	var lists []givenList
	for file, request := range requests(t) {
		if filepath.Dir(file) != kind {
			continue
		}
		b, err := os.ReadFile(sharedtest.Path(t, "recorded", filepath.FromSlash(file)))
		var body struct {
			page
			ID                       int64
			Recommendations, Similar *page
		}
		if err != nil || json.NewDecoder(bytes.NewReader(b)).Decode(&body) != nil {
			continue // some are no objects
		}
		if m := titlePath.FindStringSubmatch(request); m != nil && body.ID == 0 {
			body.ID, _ = strconv.ParseInt(m[1], 10, 64)
		}
		operation, _, _ := strings.Cut(filepath.Base(file), "--")
		for list, p := range map[string]*page{"recommendations": body.Recommendations, "similar": body.Similar, operation: &body.page} {
			if p == nil || list != "recommendations" && list != "similar" {
				continue
			}
			g := givenList{file: file, list: list, of: body.ID}
			for _, r := range p.Results {
				g.ids = append(g.ids, r.ID)
			}
			lists = append(lists, g)
		}
	}
	slices.SortFunc(lists, func(a, b givenList) int { return strings.Compare(a.file+a.list, b.file+b.list) })
	return lists
}

// requests returns the request of each recorded file.
func requests(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open(sharedtest.Path(t, "recorded", "SOURCES.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if cells := strings.Split(line, "\t"); len(cells) > 4 {
			sources[cells[0]] = cells[4]
		}
	}
	return sources
}
