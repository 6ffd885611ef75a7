package reference

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// These tests compare the data with recorded answers of TMDB. A difference is
// either a mistake here or listed with its reason.

// genre is a genre as answers carry it.
type genre struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// unsaidLanguages are the languages of recorded details whose source tells the path
// of the request but not its query.
var unsaidLanguages = map[string]string{
	"movie/details--vfalies-11.json": "fr",
	"tv/details--vfalies-253.json":   "fr",
}

// retiredGenre is "Foreign", which a recording of 2013 carries and TMDB has since dropped.
const retiredGenre = 10769

// TestRecordedGenreNames compares the genres inside details, so that recorded details
// in every language come out as they went in.
func TestRecordedGenreNames(t *testing.T) {
	root := sharedtest.Path(t, "recorded")
	seen := 0
	for file, request := range readSources(t) {
		group, _, _ := strings.Cut(file, "/")
		if group == "genre" { // lists, see TestRecordedGenreLists
			continue
		}
		m := Movie
		if strings.HasPrefix(group, "tv") {
			m = TV
		}
		var body struct{ Genres []genre }
		if !decodeObject(t, filepath.Join(root, filepath.FromSlash(file)), &body) {
			continue
		}
		lang, region := languageOf(request)
		if unsaid, ok := unsaidLanguages[file]; ok {
			lang = unsaid
		}
		for _, g := range body.Genres {
			if g.ID == retiredGenre {
				continue
			}
			seen++
			if got := GenreName(m, g.ID, lang, region); got != g.Name {
				t.Errorf("GenreName(%v, %d, %q, %q) = %q, want %q as in %s", m, g.ID, lang, region, got, g.Name, file)
			}
		}
	}
	if seen < 50 {
		t.Errorf("compared %d recorded genre names, want at least 50", seen)
	}
}

// TestDumpedGenreNames compares the genres of a crawl in Arabic.
func TestDumpedGenreNames(t *testing.T) {
	for m, file := range map[Media]string{Movie: "movies.ndjson.gz", TV: "tv.ndjson.gz"} {
		seen := 0
		for _, g := range readDumpedGenres(t, sharedtest.Path(t, "dumps", "tmdb-native-ar", file)) {
			seen++
			if got := GenreName(m, g.ID, "ar", "SA"); got != g.Name {
				t.Errorf("GenreName(%v, %d, %q, %q) = %q, want %q as in %s", m, g.ID, "ar", "SA", got, g.Name, file)
			}
		}
		if seen == 0 {
			t.Errorf("%s has no genres, want some", file)
		}
	}
}

// TestRecordedRegions checks that each language of the recorded translation lists
// has a default region that TMDB really uses with it.
func TestRecordedRegions(t *testing.T) {
	regions := make(map[string][]string)
	root := sharedtest.Path(t, "recorded")
	for file := range readSources(t) {
		type row struct {
			Language string `json:"iso_639_1"`
			Region   string `json:"iso_3166_1"`
		}
		var body struct{ Translations json.RawMessage }
		if !decodeObject(t, filepath.Join(root, filepath.FromSlash(file)), &body) {
			continue
		}
		// Alone the rows are "translations" themselves, appended they lie inside it.
		var rows []row
		var appended struct{ Translations []row }
		if json.Unmarshal(body.Translations, &rows) != nil && json.Unmarshal(body.Translations, &appended) == nil {
			rows = appended.Translations
		}
		for _, r := range rows {
			regions[r.Language] = append(regions[r.Language], r.Region)
		}
	}
	if len(regions) == 0 {
		t.Error("no recorded translations, want some")
	}
	for lang, want := range regions {
		if got := DefaultRegion(lang); !slices.Contains(want, got) {
			t.Errorf("DefaultRegion(%q) = %q, want one of %v", lang, got, slices.Compact(slices.Sorted(slices.Values(want))))
		}
	}
}

// readSources returns the request of each recorded file.
func readSources(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(sharedtest.Path(t, "recorded", "SOURCES.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	const fileColumn, requestColumn = 0, 4
	requests := make(map[string]string)
	for line := range strings.Lines(string(data)) {
		if f := strings.Split(line, "\t"); len(f) > requestColumn && f[fileColumn] != "file" {
			requests[f[fileColumn]] = f[requestColumn]
		}
	}
	return requests
}

// languageOf returns the language and region that a request asks for, English
// where it names none.
func languageOf(request string) (lang, region string) {
	u, err := url.Parse(request)
	if err != nil || u.Query().Get("language") == "" {
		return "en", ""
	}
	lang, region, _ = strings.Cut(u.Query().Get("language"), "-")
	return lang, region
}

// readJSON decodes a recorded file.
func readJSON[T any](t *testing.T, path string) T {
	t.Helper()
	var v T
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

// decodeObject decodes a recorded file into v and reports whether it is an object
// of that shape; answers also come as arrays and as text.
func decodeObject(t *testing.T, path string, v any) bool {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return json.Unmarshal(data, v) == nil
}

// generic is a season or an episode as answers carry it.
type generic struct {
	Name    string `json:"name"`
	Season  int    `json:"season_number"`
	Episode int    `json:"episode_number"`
}

// TestDumpedGenericNames compares the names of seasons and episodes in a crawl in
// Arabic. Some are named by hand, so it looks at those that begin as generic ones do.
func TestDumpedGenericNames(t *testing.T) {
	type series struct {
		Seasons []generic
		Last    *generic `json:"last_episode_to_air"`
		Next    *generic `json:"next_episode_to_air"`
	}
	seasons, episodes, specials := 0, 0, 0
	for _, s := range readDump[series](t, sharedtest.Path(t, "dumps", "tmdb-native-ar", "tv.ndjson.gz")) {
		for _, g := range s.Seasons {
			if !strings.HasPrefix(g.Name, "الموسم ") && g.Season != 0 {
				continue
			}
			if g.Season == 0 {
				specials++
			}
			seasons++
			if got := SeasonName("ar", "SA", g.Season); got != g.Name {
				t.Errorf("SeasonName(%q, %q, %d) = %q, want %q", "ar", "SA", g.Season, got, g.Name)
			}
		}
		for _, g := range []*generic{s.Last, s.Next} {
			if g == nil || !strings.HasPrefix(g.Name, "الحلقة ") {
				continue
			}
			episodes++
			if got := EpisodeName("ar", "SA", g.Episode); got != g.Name {
				t.Errorf("EpisodeName(%q, %q, %d) = %q, want %q", "ar", "SA", g.Episode, got, g.Name)
			}
		}
	}
	if seasons < 100 || episodes < 10 || specials < 10 {
		t.Errorf("compared %d seasons, %d of them specials, and %d episodes, want 100, 10, 10", seasons, specials, episodes)
	}
}

// TestRecordedGenericNames compares names that translators gave first seasons, where
// they are the generic ones. (They write "1ª Temporada" and "فصل ۱" too.)
func TestRecordedGenericNames(t *testing.T) {
	names := make(map[string][]string)
	for _, file := range []string{"translations--openapi.json", "translations--swift-3572.json"} {
		recorded := readJSON[struct {
			Translations []struct {
				Language string `json:"iso_639_1"`
				Data     struct{ Name string }
			}
		}](t, sharedtest.Path(t, "recorded", "tv-season", file))
		for _, r := range recorded.Translations {
			names[r.Language] = append(names[r.Language], r.Data.Name)
		}
	}
	for _, lang := range []string{"bg", "el", "hr", "hu", "ka", "ko", "nl", "no", "th"} {
		if got := SeasonName(lang, "", 1); !slices.Contains(names[lang], got) {
			t.Errorf("SeasonName(%q, %q, 1) = %q, want one of %q", lang, "", got, names[lang])
		}
	}
}

// readDumpedGenres returns the genres of every record in a compressed dump.
func readDumpedGenres(t *testing.T, path string) []genre {
	t.Helper()
	var all []genre
	for _, record := range readDump[struct{ Genres []genre }](t, path) {
		all = append(all, record.Genres...)
	}
	return all
}

// readDump returns every record in a compressed dump.
func readDump[T any](t *testing.T, path string) []T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var all []T
	dec := json.NewDecoder(bufio.NewReader(zr))
	for dec.More() {
		var record T
		if err := dec.Decode(&record); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, record)
	}
	return all
}
