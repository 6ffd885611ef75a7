package reference

import (
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

// These tests compare the data with recorded responses of TMDB. A difference is either a mistake here or listed with
// its reason.

// unknownLanguages are the languages of recorded details whose source lacks the query of the request.
var unknownLanguages = map[string]string{"movie/details--vfalies-11.json": "fr", "tv/details--vfalies-253.json": "fr"}

// retiredGenre is "Foreign", in a recording of 2013. TMDB has dropped it.
const retiredGenre = 10769

// A genre is a genre in a response.
type genre struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// checkGenres checks names of genres in a language and region, and returns their number.
func checkGenres(t *testing.T, file string, m Media, list []genre, lang, region string) (seen int) {
	t.Helper()
	for _, g := range list {
		if g.ID == retiredGenre {
			continue
		}
		seen++
		if got := GenreName(m, g.ID, lang, region); got != g.Name {
			t.Errorf("GenreName(%v, %d, %q, %q) = %q, want %q as in %s", m, g.ID, lang, region, got, g.Name, file)
		}
	}
	return seen
}

// TestRecorded compares the genres in recorded details of each language, and default regions with the regions of recorded
// translations.
func TestRecorded(t *testing.T) {
	root, seen := sharedtest.Path(t, "recorded"), 0
	sources, err := os.ReadFile(filepath.Join(root, "SOURCES.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Language string `json:"iso_639_1"`
		Region   string `json:"iso_3166_1"`
	}
	regions := map[string][]string{}
	for line := range strings.Lines(string(sources)) {
		cells := strings.Split(line, "\t")
		file := cells[0]
		if len(cells) < 5 || file == "file" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		var body struct {
			Genres       []genre
			Translations json.RawMessage
		}
		if json.Unmarshal(data, &body) != nil {
			continue // an array or a text
		}
		group, _, _ := strings.Cut(file, "/")
		if group != "genre" { // serve/static compares lists
			m := Movie
			if strings.HasPrefix(group, "tv") {
				m = TV
			}
			lang, region := "en", ""
			if u, err := url.Parse(cells[4]); err == nil && u.Query().Get("language") != "" {
				lang, region, _ = strings.Cut(u.Query().Get("language"), "-")
			}
			if other := unknownLanguages[file]; other != "" {
				lang = other
			}
			seen += checkGenres(t, file, m, body.Genres, lang, region)
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
	if seen < 50 || len(regions) == 0 {
		t.Errorf("compared %d recorded genre names and regions of %d languages, want 50 and some", seen, len(regions))
	}
	for lang, want := range regions {
		if got := DefaultRegion(lang); !slices.Contains(want, got) {
			t.Errorf("DefaultRegion(%q) = %q, want one of %v", lang, got, slices.Compact(slices.Sorted(slices.Values(want))))
		}
	}
}

// TestDumped compares the genres of a crawl in Arabic, and the names of its seasons and episodes that begin like generic
// ones; translators named the others.
func TestDumped(t *testing.T) {
	type part struct {
		Name    string `json:"name"`
		Season  int    `json:"season_number"`
		Episode int    `json:"episode_number"`
	}
	type title struct {
		Genres  []genre
		Seasons []part
		Last    *part `json:"last_episode_to_air"`
		Next    *part `json:"next_episode_to_air"`
	}
	seasons, episodes, specials := 0, 0, 0
	for m, file := range map[Media]string{Movie: "movies.ndjson.gz", TV: "tv.ndjson.gz"} {
		genres := 0
		for _, s := range readDump[title](t, sharedtest.Path(t, "dumps", "tmdb-native-ar", file)) {
			genres += checkGenres(t, file, m, s.Genres, "ar", "SA")
			for _, g := range s.Seasons {
				if !strings.HasPrefix(g.Name, "الموسم ") && g.Season != 0 {
					continue
				}
				if seasons++; g.Season == 0 {
					specials++
				}
				if got := SeasonName("ar", "SA", g.Season); got != g.Name {
					t.Errorf("SeasonName(%q, %q, %d) = %q, want %q", "ar", "SA", g.Season, got, g.Name)
				}
			}
			for _, g := range []*part{s.Last, s.Next} {
				if g == nil || !strings.HasPrefix(g.Name, "الحلقة ") {
					continue
				}
				episodes++
				if got := EpisodeName("ar", "SA", g.Episode); got != g.Name {
					t.Errorf("EpisodeName(%q, %q, %d) = %q, want %q", "ar", "SA", g.Episode, got, g.Name)
				}
			}
		}
		if genres == 0 {
			t.Errorf("%s has no genres, want some", file)
		}
	}
	if seasons < 100 || episodes < 10 || specials < 10 {
		t.Errorf("compared %d seasons, %d of them specials, and %d episodes, want 100, 10, 10", seasons, specials, episodes)
	}
}

// TestRecordedGenericNames compares names that translators gave first seasons, where they are the generic ones. (They
// write "1ª Temporada" and "فصل ۱" too.)
func TestRecordedGenericNames(t *testing.T) {
	names := map[string][]string{}
	for _, file := range []string{"translations--openapi.json", "translations--swift-3572.json"} {
		data, err := os.ReadFile(sharedtest.Path(t, "recorded", "tv-season", file))
		if err != nil {
			t.Fatal(err)
		}
		var recorded struct {
			Translations []struct {
				Language string `json:"iso_639_1"`
				Data     struct{ Name string }
			}
		}
		if err := json.Unmarshal(data, &recorded); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
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

// readDump returns every record of a compressed dump.
func readDump[T any](t *testing.T, path string) (all []T) {
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
	for dec := json.NewDecoder(zr); dec.More(); {
		var record T
		if err := dec.Decode(&record); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, record)
	}
	return all
}
