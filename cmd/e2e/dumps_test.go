package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// readDump returns the content of a dump, uncompressed.
func readDump(t *testing.T, elem ...string) []byte {
	t.Helper()
	f, err := os.Open(sharedtest.Path(t, append([]string{"dumps"}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader
	if strings.HasSuffix(f.Name(), ".gz") {
		r, err = gzip.NewReader(f)
	} else {
		r, err = zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ingestDump ingests a dump as it lies into a new catalogue, logs the report,
// and returns the folder that buildCatalog takes.
func ingestDump(t *testing.T, c ingest.Config, elem ...string) (string, ingest.Report) {
	t.Helper()
	dir := t.TempDir()
	c.Catalog = filepath.Join(dir, "catalog")
	c.Sources = []string{sharedtest.Path(t, append([]string{"dumps"}, elem...)...)}
	r, err := ingest.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	logReport(t, strings.Join(elem, "/"), r)
	return dir, r
}

func logReport(t *testing.T, name string, r ingest.Report) {
	t.Helper()
	t.Logf("%s: rows %d, records %v, quarantined %d, duplicates %d, conflicts %d, %.1f s",
		name, r.Rows, r.Records, r.Quarantined, r.Duplicates, r.Conflicts, r.Seconds)
	for what, counts := range map[string]map[string]int64{"unknown": r.Unknown, "coerced": r.Coerced, "dropped": r.Dropped} {
		for _, path := range slices.Sorted(maps.Keys(counts)) {
			t.Logf("  %s %s: %d", what, path, counts[path])
		}
	}
	for _, line := range r.Bad {
		t.Logf("  bad: %s", line)
	}
}

// movieParts are the sub-requests that may be appended to a movie without a session.
func movieParts() []string {
	var out []string
	for _, a := range api.AppendNames("movie") {
		if a.Sub != fragment.SubAccountStates {
			out = append(out, a.Name)
		}
	}
	return out
}

// without returns v after taking a member out of it.
func without(v *value, key string) *value {
	delete(v.members, key)
	v.keys = slices.DeleteFunc(v.keys, func(k string) bool { return k == key })
	return v
}

// whole asks for a movie with everything appended.
func whole(t *testing.T, rel *release.Reader, id int64) *value {
	t.Helper()
	v := get(t, rel, fmt.Sprintf("/3/movie/%d?append_to_response=%s", id, strings.Join(movieParts(), ",")))
	for _, p := range movieParts() {
		if v.members[p] == nil {
			t.Errorf("movie %d: %s is not appended", id, p)
		}
	}
	return v
}

// checkParts asks for each part of a movie alone, and compares it with the appended
// one, which lacks the id.
func checkParts(t *testing.T, rel *release.Reader, id int64) {
	t.Helper()
	whole := whole(t, rel, id)
	for _, p := range movieParts() {
		alone := get(t, rel, fmt.Sprintf("/3/movie/%d/%s", id, p))
		if d := diff("", whole.members[p], without(alone, "id"), nil); len(d) > 0 {
			t.Errorf("movie %d: %s appended is not %s alone: %s", id, p, p, d)
		}
	}
}

// TestMovnix: a crawl in a layout of its own is served in TMDB's shapes.
func TestMovnix(t *testing.T) {
	skipLarge(t)
	type name struct {
		ID   int64  `json:"tmdbId"`
		Name string `json:"name"`
	}
	type row struct {
		Movie struct {
			ID          int64   `json:"tmdbId"`
			Title       string  `json:"title"`
			ReleaseDate *string `json:"releaseDate"`
			Runtime     *int64  `json:"runtime"`
			Budget      *string `json:"budget"`
			Average     float64 `json:"voteAverage"`
			IMDb        *string `json:"imdbId"`
		} `json:"movie"`
		Collection *name  `json:"collection"`
		Companies  []name `json:"companies"`
		Genres     []name `json:"genres"`
		Credits    []struct {
			Name string `json:"name"`
		} `json:"credits"`
		Videos []struct {
			Key string `json:"key"`
		} `json:"videos"`
		Titles []struct {
			Title string `json:"title"`
		} `json:"alternativeTitles"`
	}
	dir, r := ingestDump(t, ingest.Config{}, "movnix", "movies.ndjson.zst")
	if r.Records["movie"] != 1139 || r.Quarantined != 0 {
		t.Errorf("%d records, %d in quarantine, want 1139 and 0", r.Records["movie"], r.Quarantined)
	}
	rel := buildCatalog(t, dir)
	s := bufio.NewScanner(bytes.NewReader(readDump(t, "movnix", "movies.ndjson.zst")))
	s.Buffer(nil, 1<<24)
	n := 0
	for ; s.Scan(); n++ {
		var in row
		if err := json.Unmarshal(s.Bytes(), &in); err != nil {
			t.Fatal(err)
		}
		if n%20 == 0 {
			checkParts(t, rel, in.Movie.ID)
		}
		got := whole(t, rel, in.Movie.ID)
		text := func(p *string) any {
			if p == nil {
				return ""
			}
			return *p
		}
		f := func(what string, got, want any) {
			t.Helper()
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("movie %d: %s = %v, want %v", in.Movie.ID, what, got, want)
			}
		}
		scalar := func(name string) any { return got.members[name].scalar }
		count := func(part, list string) int { return len(got.members[part].members[list].items) }
		f("title", scalar("title"), in.Movie.Title)
		f("release_date", scalar("release_date"), text(in.Movie.ReleaseDate))
		f("vote_average", scalar("vote_average"), json.Number(withFraction(in.Movie.Average)))
		if in.Movie.Runtime != nil {
			f("runtime", scalar("runtime"), *in.Movie.Runtime)
		}
		if in.Movie.Budget != nil {
			f("budget", scalar("budget"), *in.Movie.Budget)
		}
		if in.Movie.IMDb != nil {
			f("imdb_id", scalar("imdb_id"), *in.Movie.IMDb)
		}
		f("companies", len(got.members["production_companies"].items), len(in.Companies))
		f("credits", count("credits", "cast")+count("credits", "crew"), len(in.Credits))
		f("videos", count("videos", "results"), len(in.Videos))
		f("alternative titles", count("alternative_titles", "titles"), len(in.Titles))
		f("collection", got.members["belongs_to_collection"].kind == '{', in.Collection != nil)
		for _, g := range got.members["genres"].items {
			if !slices.ContainsFunc(in.Genres, func(n name) bool { return n.Name == g.members["name"].scalar }) {
				t.Errorf("movie %d: genre %v is not in the dump", in.Movie.ID, g.members["name"].scalar)
			}
		}
	}
	if n != 1139 || s.Err() != nil {
		t.Errorf("the dump has %d rows, %v, want 1139", n, s.Err())
	}
}

// withFraction is a number as the API writes floats.
func withFraction(f float64) string {
	b, err := json.Marshal(f)
	if err != nil {
		return err.Error()
	}
	if !bytes.ContainsRune(b, '.') {
		return string(b) + ".0"
	}
	return string(b)
}

// TestNativeArabic: crawls in Arabic, details with credits, similar and videos, are
// served in Arabic as they were.
func TestNativeArabic(t *testing.T) {
	for _, dump := range []struct {
		kind, file string
		rows       int64
	}{{"movie", "movies.ndjson.gz", 17}, {"tv", "tv.ndjson.gz", 18}} {
		t.Run(dump.kind, func(t *testing.T) {
			dir, r := ingestDump(t, ingest.Config{Language: "ar"}, "tmdb-native-ar", dump.file)
			if r.Records[dump.kind] != dump.rows || r.Quarantined != 0 || len(r.Unknown) > 0 || len(r.Coerced) > 0 {
				t.Errorf("Run = %+v, want %d records, none in quarantine, nothing unknown", r, dump.rows)
			}
			rel := buildCatalog(t, dir)
			equal, responses := 0, 0
			for line := range bytes.Lines(readDump(t, "tmdb-native-ar", dump.file)) {
				want, err := parseJSON(line)
				if err != nil {
					t.Fatal(err)
				}
				e, n := checkCrawled(t, rel, dump.kind, want)
				equal, responses = equal+e, responses+n
			}
			t.Logf("%d of %d responses equal", equal, responses)
			// Without a language the titles are there too, as far as the crawl has them.
			if dump.kind == "movie" {
				checkParts(t, rel, 83533)
			}
		})
	}
}

// checkCrawled asks in Arabic for a row of a crawl, and for each of its parts alone.
func checkCrawled(t *testing.T, rel *release.Reader, kind string, want *value) (equal, responses int) {
	t.Helper()
	var parts []string
	for _, k := range want.keys {
		if isSub(k) {
			parts = append(parts, k)
		}
	}
	path := fmt.Sprintf("/3/%s/%v", kind, want.members["id"].scalar)
	target := path + "?language=ar&append_to_response=" + strings.Join(parts, ",")
	got := get(t, rel, target)
	responses++
	if d := diff("", got, want, nil); len(d) > 0 {
		t.Errorf("GET %s: %s", target, strings.Join(d[:min(len(d), 8)], "\n"))
	} else if !slices.Equal(got.keys, want.keys) {
		t.Errorf("GET %s: keys %v, want %v", target, got.keys, want.keys)
	} else {
		equal++
	}
	// Alone, each part has the id besides.
	for _, p := range parts {
		target := path + "/" + p + "?language=ar"
		alone := get(t, rel, target)
		responses++
		if d := diff("", without(alone, "id"), want.members[p], nil); len(d) > 0 {
			t.Errorf("GET %s: %s", target, strings.Join(d[:min(len(d), 8)], "\n"))
			continue
		}
		equal++
	}
	return equal, responses
}

// TestNativeListRows: rows of lists become movies with the same facts.
func TestNativeListRows(t *testing.T) {
	dir, r := ingestDump(t, ingest.Config{Kind: "movie"}, "tmdb-native", "movie-list-items.ndjson.gz")
	if r.Records["movie"] != 995 || r.Quarantined != 0 || len(r.Unknown) > 0 || len(r.Coerced) > 0 {
		t.Errorf("Run = %+v, want 995 records, none in quarantine, nothing unknown", r)
	}
	rel := buildCatalog(t, dir)
	for line := range bytes.Lines(readDump(t, "tmdb-native", "movie-list-items.ndjson.gz")) {
		want, err := parseJSON(line)
		if err != nil {
			t.Fatal(err)
		}
		got := get(t, rel, fmt.Sprintf("/3/movie/%v", want.members["id"].scalar))
		for _, k := range want.keys {
			if k == "genre_ids" {
				ids := &value{kind: '['}
				for _, g := range got.members["genres"].items {
					ids.items = append(ids.items, g.members["id"])
				}
				got.members[k] = ids
			}
			if got.members[k] == nil {
				t.Errorf("movie %v: %s is missing", want.members["id"].scalar, k)
			} else if d := diff(k, got.members[k], want.members[k], nil); len(d) > 0 {
				t.Errorf("movie %v: %s", want.members["id"].scalar, d)
			}
		}
	}
}

// TestNativeCredits: responses of single sub-requests are served as they were.
func TestNativeCredits(t *testing.T) {
	for _, id := range []string{"550", "163"} {
		name := "movie-" + id + "-credits.json.gz"
		dir, r := ingestDump(t, ingest.Config{}, "tmdb-native", name)
		if r.Records["movie"] != 1 || r.Quarantined != 0 || len(r.Unknown) > 0 {
			t.Errorf("Run(%s) = %+v, want 1 record", name, r)
		}
		want, err := parseJSON(readDump(t, "tmdb-native", name))
		if err != nil {
			t.Fatal(err)
		}
		rel := buildCatalog(t, dir)
		got := get(t, rel, "/3/movie/"+id+"/credits")
		if d := diff("", got, want, nil); len(d) > 0 {
			t.Errorf("GET /3/movie/%s/credits: %s", id, strings.Join(d, "\n"))
		}
		if order := []string{"id", "cast", "crew"}; !slices.Equal(got.keys, order) {
			t.Errorf("GET /3/movie/%s/credits: keys %v, want %v", id, got.keys, order)
		}
		checkParts(t, rel, mustInt(t, id))
	}
}

func mustInt(t *testing.T, s string) int64 {
	t.Helper()
	n, err := json.Number(s).Int64()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestNativeFilmography: a person's credits, in an order of members of their own, are
// served as they were.
func TestNativeFilmography(t *testing.T) {
	dir, _ := ingestDump(t, ingest.Config{}, "tmdb-native", "person-287-movie-credits.json.gz")
	want, err := parseJSON(readDump(t, "tmdb-native", "person-287-movie-credits.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	got := get(t, buildCatalog(t, dir), "/3/person/287/movie_credits")
	if d := diff("", got, want, nil); len(d) > 0 {
		t.Errorf("GET /3/person/287/movie_credits: %s", strings.Join(d[:min(len(d), 8)], "\n"))
	}
	if order := []string{"cast", "crew", "id"}; !slices.Equal(got.keys, order) {
		t.Errorf("GET /3/person/287/movie_credits: keys %v, want %v", got.keys, order)
	}
}

// TestNativeList: a table with texts in two languages is served in both.
func TestNativeList(t *testing.T) {
	skipLarge(t)
	t.Run("movie", func(t *testing.T) { checkList(t, "movie", "title", "movies-list.json.gz") })
	t.Run("tv", func(t *testing.T) { checkList(t, "tv", "name", "tv-list.json.gz") })
}

func checkList(t *testing.T, kind, name, file string) {
	t.Helper()
	dir, r := ingestDump(t, ingest.Config{}, "tmdb-native-ar", file)
	var rows []struct {
		ID         int64   `json:"id"`
		Title      string  `json:"title"`
		TitleAr    string  `json:"title_ar"`
		Overview   string  `json:"overview"`
		OverviewAr string  `json:"overview_ar"`
		Poster     *string `json:"poster_path"`
	}
	if err := json.Unmarshal(readDump(t, "tmdb-native-ar", file), &rows); err != nil {
		t.Fatal(err)
	}
	if r.Rows != int64(len(rows)) || r.Quarantined != 0 || r.Records[kind]+r.Duplicates != r.Rows {
		t.Errorf("Run = %+v, want %d rows, none in quarantine", r, len(rows))
	}
	rel := buildCatalog(t, dir)
	for _, row := range rows {
		for language, want := range map[string][2]string{"en-US": {row.Title, row.Overview}, "ar": {row.TitleAr, row.OverviewAr}} {
			got := get(t, rel, fmt.Sprintf("/3/%s/%d?language=%s", kind, row.ID, language))
			if got.text(name) != want[0] || got.text("overview") != want[1] {
				t.Errorf("%s %d in %s = %v, %v, want %q", kind, row.ID, language, got.text(name), got.text("overview"), want)
			}
		}
	}
}

// TestCatalogueAsSource: a catalogue's own file is a dump like any other, and gives
// the same catalogue again.
func TestCatalogueAsSource(t *testing.T) {
	skipLarge(t)
	movies := catalog.TypeOf(fragment.KindMovie).File()
	for _, dump := range []struct {
		c    ingest.Config
		path []string
	}{
		{ingest.Config{}, []string{"movnix", "movies.ndjson.zst"}},
		{ingest.Config{Language: "ar"}, []string{"tmdb-native-ar", "movies.ndjson.gz"}},
		{ingest.Config{}, []string{"tmdb-native-ar", "movies-list.json.gz"}},
		{ingest.Config{}, []string{"tmdb-native", "movie-550-credits.json.gz"}},
	} {
		dir, _ := ingestDump(t, dump.c, dump.path...)
		again := t.TempDir()
		from := filepath.Join(dir, "catalog", movies)
		if _, err := ingest.Run(t.Context(), ingest.Config{Catalog: again, Sources: []string{from}}); err != nil {
			t.Errorf("%s: %v", dump.path, err)
			continue
		}
		want, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(again, movies))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: the catalogue made of a catalogue has other bytes", dump.path)
		}
	}
}
