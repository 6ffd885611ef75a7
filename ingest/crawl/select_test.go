package crawl

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestRequests pins targets, by which servers count and cache.
func TestRequests(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Languages = []string{"de-DE", "pt-BR", "pt-PT"}
	for _, c := range []struct {
		task task
		want string
	}{
		{
			task{action: fetchDetails, kind: "movie", id: 550},
			"/movie/550?append_to_response=alternative_titles,credits,external_ids,images,keywords,lists,recommendations,release_dates,reviews,similar,translations,videos,watch/providers&include_video_language=en,null,de,pt",
		},
		{task{action: fetchDetails, kind: "keyword", id: 825}, "/keyword/825?"},
		{task{action: fetchLanguage, kind: "movie", id: 550, language: "de-DE"}, "/movie/550?append_to_response=credits,lists,recommendations,reviews,similar&language=de-DE"},
		{
			task{action: fetchSeasons, kind: "tv", id: 1, language: "de-DE", mode: seasonsAll, seasons: []int64{0, 2}},
			"/tv/1?append_to_response=season/0,season/0/aggregate_credits,season/0/credits,season/2,season/2/aggregate_credits,season/2/credits&language=de-DE",
		},
		{
			task{action: fetchEpisode, kind: "tv", id: 1, number: episodeNumber(2, 3)},
			"/tv/1/season/2/episode/3?append_to_response=credits,external_ids,images,translations,videos&include_video_language=en,null,de,pt",
		},
		{task{action: findID, source: "imdb_id", text: "tt0137523"}, "/find/tt0137523?external_source=imdb_id"},
		{task{action: searchTitle, kind: "tv", text: "A & B", year: 2010}, "/search/tv?first_air_date_year=2010&query=A+&+B"},
		{task{action: listChanges, kind: "tv", day: 20000, end: 20001, page: 2}, "/tv/changes?end_date=2024-10-05&page=2&start_date=2024-10-04"},
	} {
		path, q := c.task.request(&cfg)
		got := path + "?" + strings.NewReplacer("%2C", ",", "%2F", "/", "%26", "&").Replace(q.Encode())
		if got != c.want {
			t.Errorf("request(%+v) = %s, want %s", c.task, got, c.want)
		}
	}
	// 20 names per request
	for _, k := range slices.Concat(kinds, []kind{seasons, episodes}) {
		if n := len(k.appends); n > maxAppends {
			t.Errorf("%s appends %d names, want at most %d", k.name, n, maxAppends)
		}
	}
	one := task{action: fetchSeasons, kind: "tv", id: 1, mode: seasonsDetails}
	for n := range int64(45) {
		one.seasons = append(one.seasons, n)
	}
	if got := one.seasonTasks(); len(got) != 3 || len(got[0].seasons) != 20 || len(got[2].seasons) != 5 {
		t.Errorf("seasonTasks = %v, want 20, 20 and 5 seasons", got)
	}
	one.mode = seasonsAll
	if got := one.seasonTasks(); len(got) != 23 {
		t.Errorf("seasonTasks = %d tasks, want 23", len(got))
	}
}

// TestReadIDs reads files of IDs and daily ID exports.
func TestReadIDs(t *testing.T) {
	var s selection
	const text = "\ufeffmovie 550\n\n# a remark\ntv/1399  # another\nhttps://www.themoviedb.org/movie/11-star-wars\r\nperson 287\ntt0137523\nnm0000093\ntvdb 121361\n"
	if err := s.readIDs("ids", "", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if want := []resource{{"movie", 550}, {"tv", 1399}, {"movie", 11}, {"person", 287}}; !slices.Equal(want, s.resources) {
		t.Errorf("resources = %v, want %v", s.resources, want)
	}
	var found []string
	for _, task := range s.tasks {
		found = append(found, task.source+" "+task.text)
	}
	if d := cmp.Diff([]string{"imdb_id tt0137523", "imdb_id nm0000093", "tvdb_id 121361"}, found); d != "" {
		t.Error(d)
	}
	for text, want := range map[string]string{
		"\nfilm 2": "ids f:2: want an id such as movie 550", "movie 0": "f:1: want an id of 1 or more", "tt": "f:1: want an id",
		"movie 99999999999999999999": "f:1: want an id", strings.Repeat("x", maxIDLine+1): "line 1: bufio.Scanner: token too long",
	} {
		if err := s.readIDs("f", "", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("readIDs(%.30q) = %v, want %q", text, err, want)
		}
	}
}

// TestDailyIDs: an export has its kind in its name and may be compressed. A truncated one is an error.
func TestDailyIDs(t *testing.T) {
	dir := t.TempDir()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(`{"adult":false,"id":1,"original_title":"A","popularity":5.5,"video":false}` + "\n" + `{"adult":false,"id":2,"original_title":"B","popularity":0.5,"video":false}` + "\n"))
	_ = w.Close()
	movies, networks := filepath.Join(dir, "movie_ids_11_20_2026.json.gz"), filepath.Join(dir, "tv_network_ids_11_20_2026.json")
	servetest.WriteFile(t, movies, packed.String())
	servetest.WriteFile(t, networks, `{"id":49,"name":"HBO"}`+"\n")
	cfg := DefaultConfig()
	cfg.DailyIDs, cfg.MinPopularity = []string{movies, networks}, 1
	s, err := readSelection(t.Context(), &cfg)
	if err != nil {
		t.Fatal(err)
	}
	if want := []resource{{"movie", 1}, {"network", 49}}; !slices.Equal(want, s.resources) {
		t.Errorf("resources = %v, want %v", s.resources, want)
	}
	cfg.Kinds = []string{"network"}
	if s, err = readSelection(t.Context(), &cfg); err != nil || len(s.resources) != 1 {
		t.Errorf("readSelection = %v, %v, want the network alone", s.resources, err)
	}
	cfg.Kinds = nil
	servetest.WriteFile(t, movies, packed.String()[:packed.Len()-9])
	if _, err := readSelection(t.Context(), &cfg); err == nil || !strings.Contains(err.Error(), "movie_ids_11_20_2026.json.gz: row") {
		t.Errorf("readSelection = %v, want the file that is cut", err)
	}
	servetest.WriteFile(t, movies, "{\"id\":1}\n[]\n")
	if _, err := readSelection(t.Context(), &cfg); err == nil || !strings.Contains(err.Error(), ":2: want a row of a daily id export") {
		t.Errorf("readSelection = %v, want the bad line", err)
	}
	for name, want := range map[string]string{
		"movie_ids_1.json": "movie", "adult_tv_series_ids_1.json.gz": "tv", "person_ids.json": "person", "production_company_ids_1": "company",
		"keyword_ids": "keyword", "collection_ids": "collection",
	} {
		if got, err := exportKind(name); got != want || err != nil {
			t.Errorf("exportKind(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
	if _, err := exportKind("ids.json"); err == nil {
		t.Error("exportKind(ids.json) gives a kind")
	}
}

// writeIn writes a file of a library.
func writeIn(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	servetest.WriteFile(t, path, text)
}

// TestParseName reads names of files and folders.
func TestParseName(t *testing.T) {
	for name, want := range map[string]candidate{
		"Blade Runner 2049 (2017)":         {title: "Blade Runner 2049", year: 2017},
		"Blade.Runner.2049.2017.1080p":     {title: "Blade Runner", year: 2049},
		"2012 (2009) {tmdb-14161}":         {ids: ids{tmdb: 14161}, title: "2012", year: 2009},
		"[Group] Title - 01 [1080p]":       {title: "Title - 01"},
		"X [tmdbid=5] {imdb-tt7} (TVDB-9)": {ids: ids{tmdb: 5, imdb: "tt7", tvdb: 9}, title: "X"},
		"Y {tmdb-0} {imdb-12} [tmdb-x]":    {title: "Y"},
		"":                                 {},
	} {
		if got := parseName(name); got != want {
			t.Errorf("parseName(%q) = %+v, want %+v", name, got, want)
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, name := range []string{"Fight Club (1999) {tmdb-550}", "A.B.2010.mkv", "[imdbid=tt1]", "{tvdb-99999999999999999999}"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := parseName(name)
		if got.tmdb < 0 || got.tvdb < 0 || got.imdb != "" && !imdbID.MatchString(got.imdb) || got.year < 0 || got.year > 9999 {
			t.Errorf("parseName(%q) = %+v", name, got)
		}
		if id, err := parseID(name); err == nil && !id.hasID() {
			t.Errorf("parseID(%q) = %+v", name, id)
		}
		if res, ok := resourceOf(name); ok && (res.id < 1 || kindNamed(res.kind) == nil) {
			t.Errorf("resourceOf(%q) = %+v", name, res)
		}
	})
}

func FuzzNFO(f *testing.F) {
	for _, text := range []string{
		`<movie><uniqueid type="tmdb">550</uniqueid></movie>`, `<tvshow><tmdbid>1</tmdbid>`, "https://www.imdb.com/title/tt0137523/", `<a><b><tmdbid>1</tmdbid></b></a>`,
		`<?xml version="1.0" encoding="utf-16"?><movie><id>tt1</id></movie>`, `<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		found, _ := readNFO(bytes.NewReader(data))
		for _, got := range found {
			if got.tmdb < 0 || got.tvdb < 0 || got.imdb != "" && !imdbID.MatchString(got.imdb) || !got.hasID() && got.title == "" {
				t.Errorf("readNFO(%q) = %+v", data, got)
			}
		}
	})
}

// FuzzResponses: any JSON from a server gives complete lines of JSON objects.
func FuzzResponses(f *testing.F) {
	for _, body := range []string{
		`{"id":1}`, `{"id":1,"seasons":[{"id":3,"season_number":1}],"season/1":{"name":"S","episodes":[{"episode_number":1,"crew":[{"id":5}]}]},"season/1/credits":{"cast":[]}}`,
		`{"id":1,"credits":{"cast":[{"id":2}],"crew":null},"belongs_to_collection":{"id":3},"title":"","similar":{"page":1}}`, `{"id":1,"similar":{},"_fetched":"2020-01-01"}`,
		`{"results":[{"id":1}],"total_pages":3}`, `{"movie_results":[{"id":1}],"tv_episode_results":[{"show_id":4}]}`, `{"id":1,"credits":[[[{"cast":1}]]]}`,
	} {
		f.Add([]byte(body))
	}
	cfg := DefaultConfig()
	f.Fuzz(func(t *testing.T, data []byte) {
		var c client
		for _, next := range []task{
			{action: fetchDetails, kind: "movie", id: 1},
			{action: fetchDetails, kind: "tv", id: 1},
			{action: fetchLanguage, kind: "movie", id: 1, language: "de-DE"},
			{action: fetchSeasons, kind: "tv", id: 1, mode: seasonsAll, seasons: []int64{1, 2}},
			{action: fetchSeasons, kind: "tv", id: 1, seasons: []int64{1}, language: "fr"},
			{action: fetchEpisode, kind: "tv", id: 1, number: episodeNumber(1, 1)},
			{action: findID, source: "imdb_id", text: "tt1"},
			{action: searchTitle, kind: "movie", text: "T", year: 2000},
			{action: listChanges, kind: "tv", day: 1, end: 2, page: 1},
		} {
			c.key = Key{"a key that no body has"}
			_ = c.classify(&http.Response{StatusCode: http.StatusOK}, data, func(body []byte) error {
				r, err := next.parse(&cfg, stamp{20000, 19000}, body)
				if err != nil {
					return err
				}
				for _, p := range r.parts {
					checkPart(t, body, &p)
				}
				return nil
			})
		}
	})
}

// checkPart checks a part of a response.
func checkPart(t *testing.T, body []byte, p *part) {
	t.Helper()
	for line := range bytes.Lines(p.rows) {
		var row map[string]json.RawMessage
		if err := json.Unmarshal(line, &row); err != nil || !bytes.HasSuffix(line, []byte("\n")) || row[fetchedField] == nil {
			t.Errorf("parse(%q) = row %q: %v", body, line, err)
		}
	}
	if _, err := parseEntry(formatEntry(&p.entry)); err != nil && len(p.rows) == 0 && p.entry.File == "" {
		t.Errorf("parse(%q) = entry %s: %v", body, formatEntry(&p.entry), err)
	}
}

// TestPagesOfChanges: of a list with too many pages, all available pages are read, with a log line.
func TestPagesOfChanges(t *testing.T) {
	for pages, want := range map[int]int{0: 0, 1: 0, 2: 1, maxPages: maxPages - 1, maxPages + 1: maxPages - 1} {
		var log bytes.Buffer
		l := &loop{cfg: &Config{Log: slog.New(slog.NewTextHandler(&log, nil))}}
		if err := l.follow(task{action: listChanges, kind: "movie", page: 1}, &entry{Pages: pages}); err != nil {
			t.Fatal(err)
		}
		if len(l.lists) != want || want > 0 && l.lists[want-1].page != want+1 || (log.Len() > 0) != (pages > maxPages) {
			t.Errorf("after the first of %d pages %d are read, want %d: %s", pages, len(l.lists), want, log.String())
		}
	}
}
