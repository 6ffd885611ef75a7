package crawl

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"log/slog"
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
			task{what: fetchDetails, kind: "movie", id: 550},
			"/movie/550?append_to_response=alternative_titles,credits,external_ids,images,keywords,lists,recommendations,release_dates,reviews,similar,translations,videos,watch/providers&include_video_language=en,null,de,pt",
		},
		{task{what: fetchDetails, kind: "keyword", id: 825}, "/keyword/825?"},
		{task{what: fetchLanguage, kind: "movie", id: 550, language: "de-DE"}, "/movie/550?append_to_response=credits,lists,recommendations,reviews,similar&language=de-DE"},
		{
			task{what: fetchSeasons, kind: "tv", id: 1, language: "de-DE", mode: seasonsAll, seasons: []int64{0, 2}},
			"/tv/1?append_to_response=season/0,season/0/aggregate_credits,season/0/credits,season/2,season/2/aggregate_credits,season/2/credits&language=de-DE",
		},
		{
			task{what: fetchEpisode, kind: "tv", id: 1, number: episodeNumber(2, 3)},
			"/tv/1/season/2/episode/3?append_to_response=credits,external_ids,images,translations,videos&include_video_language=en,null,de,pt",
		},
		{task{what: findID, source: "imdb_id", text: "tt0137523"}, "/find/tt0137523?external_source=imdb_id"},
		{task{what: searchTitle, kind: "tv", text: "A & B", year: 2010}, "/search/tv?first_air_date_year=2010&query=A+&+B"},
		{task{what: listChanges, kind: "tv", day: 20000, end: 20001, page: 2}, "/tv/changes?end_date=2024-10-05&page=2&start_date=2024-10-04"},
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
	one := task{what: fetchSeasons, kind: "tv", id: 1, mode: seasonsDetails}
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
	titles := []Title{{"movie", 550}, {"tv", 1399}, {"movie", 11}, {"person", 287}}
	if d := cmp.Diff(titles, s.titles); d != "" {
		t.Error(d)
	}
	var found []string
	for _, task := range s.tasks {
		found = append(found, task.source+" "+task.text)
	}
	if d := cmp.Diff([]string{"imdb_id tt0137523", "imdb_id nm0000093", "tvdb_id 121361"}, found); d != "" {
		t.Error(d)
	}
	for text, want := range map[string]string{
		"\nfilm 2": "ids f:2: want an id such as movie 550", "movie 0": "f:1: want an id from 1 on", "tt": "f:1: want an id",
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
	if d := cmp.Diff([]Title{{"movie", 1}, {"network", 49}}, s.titles); d != "" {
		t.Error(d)
	}
	cfg.Kinds = []string{"network"}
	if s, err = readSelection(t.Context(), &cfg); err != nil || len(s.titles) != 1 {
		t.Errorf("readSelection = %v, %v, want the network alone", s.titles, err)
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

// titlesOf reads a library and describes its titles in order.
func titlesOf(t *testing.T, dir string) (out []string) {
	t.Helper()
	titles, err := readLibrary(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, title := range titles {
		text := title.kind + " named " + title.title
		var one selection
		if one.addLibrary(title, false); len(one.titles) > 0 {
			text = one.titles[0].key()
		} else if len(one.tasks) > 0 {
			text = title.kind + " " + one.tasks[0].source + one.tasks[0].text
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

// TestLibraryOfOne: the folder of a library may be a title's folder. Its name does not apply to other titles.
func TestLibraryOfOne(t *testing.T) {
	for name, c := range map[string]struct {
		folder string
		files  []string
		want   []string
	}{
		"series with an id":   {"Breaking Bad {tmdb-1396}", []string{"Breaking.Bad.S01E01.mkv", "Subs/a.srt"}, []string{"tv/1396"}},
		"series with seasons": {"Breaking Bad (2008)", []string{"Season 01/a.mkv", "poster.jpg"}, []string{"tv named Breaking Bad"}},
		"movie with an id":    {"Fight Club {tmdb-550}", []string{"a.mkv", "Other/b.mkv"}, []string{"movie/550"}},
		"movies": {
			"Films (2020)",
			[]string{"One.mkv", "Two (1999)/Two.mkv", "Two (1999)/Other/Making of.mkv", "Extras/Season 1/Extras S01E01.avi"},
			[]string{"movie named One", "movie named Two", "tv named Extras"},
		},
		"series with an id and another video": {
			"Breaking Bad {tmdb-1396}", []string{"Breaking.Bad.S01E01.mkv", "Inside Look.mkv", "Making of/a.mkv"}, []string{"tv/1396"},
		},
		"movie with specials": {"Fight Club {tmdb-550}", []string{"Fight Club.mkv", "Specials/a.srt"}, []string{"movie/550"}},
		"movies named as episodes": {
			"films",
			[]string{"10x10 (2018) {tmdb-438674}/10x10 (2018).mkv", "12x12 [2019].mkv", "10x10 (2018) S01E01.mkv"},
			[]string{"movie named 12x12", "movie/438674", "tv named 10x10"},
		},
		"loose episodes": {"tv", []string{"A.S01E01.mkv", "A.S01E02.mkv", "B 2x03.mkv"}, []string{"tv named A", "tv named B"}},
		"a stray episode": {
			"tv",
			[]string{"Films (2020)/Heat (1995).mkv", "Films (2020)/Show.S01E01.mkv", "Films (2020)/Alien (1979)/a.mkv"},
			[]string{"movie named Alien", "movie named Heat", "tv named Show"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), c.folder)
			for _, file := range c.files {
				writeIn(t, dir, file, "")
			}
			if d := cmp.Diff(c.want, titlesOf(t, dir)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestLibrary reads a library in the form of media servers.
func TestLibrary(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Fight Club (1999) {tmdb-550}/Fight Club.mkv":           "",
		"Fight Club (1999) {tmdb-550}/Fight Club-trailer.mkv":   "",
		"Fight Club (1999) {tmdb-550}/extras/Making of.mkv":     "",
		"Fight Club (1999) {tmdb-550}/Fight Club - cd2.mkv":     "",
		"Alien [imdbid-tt0078748].mp4":                          "",
		"Heat (1995)/Heat.1995.1080p.mkv":                       "",
		"Heat (1995)/movie.nfo":                                 `<?xml version="1.0"?><movie><actor><tmdbid>1158</tmdbid></actor><uniqueid type="imdb">tt0113277</uniqueid><uniqueid type="tmdb" default="true">949</uniqueid></movie>`,
		"Up (2009)/Up.mkv":                                      "",
		"Up (2009)/Up.nfo":                                      "https://www.themoviedb.org/movie/14160-up",
		"Old (1990)/Old.avi":                                    "",
		"Old (1990)/Old.nfo":                                    `<movie><id>tt0099810</id></movie>trailing text`,
		"Disc [tmdbid=348]/VIDEO_TS/readme.txt":                 "",
		"Unknown Film (2003)/unknown.mkv":                       "",
		"tv/Game of Thrones [tvdbid=121361]/Season 01/s1e1.mkv": "",
		"tv/Show With NFO/tvshow.nfo":                           `<tvshow><tmdbid>1396</tmdbid></tvshow>`,
		"tv/Show With NFO/Show.S01E01.nfo":                      `<episodedetails><uniqueid type="tmdb">62085</uniqueid></episodedetails>`,
		"tv/Flat Show (2011)/Flat.Show.S02E03.720p.mkv":         "",
		".hidden/Other (2000) {tmdb-1}.mkv":                     "",
		"notes.txt":                                             "",
		"._Ghost (1990) {tmdb-251}.mkv":                         "",
		"Shorts/Bao (2018) {tmdb-514754}.mkv":                   "", // a folder of the library, not of a title
		"Specials/Concert (2001) {tmdb-7}.mkv":                  "", // does not turn the library into a series
		"Stray.S01E01.{tvdb-5}.mkv":                             "",
		"Pilots/1x01 - Pilot.mkv":                               "",
		"Pilots/1x01 - Pilot.nfo":                               `<episodedetails><uniqueid type="tmdb">62085</uniqueid><uniqueid type="imdb">tt0959621</uniqueid></episodedetails>`,
		"Pilots/Other Film (2002).mkv":                          "",
		"Pilots/Other Film (2002).nfo":                          "https://www.themoviedb.org/tv/1399-game-of-thrones",
	} {
		writeIn(t, dir, name, text)
	}
	got := titlesOf(t, dir)
	want := []string{
		"episode imdb_idtt0959621", "movie imdb_idtt0078748", "movie imdb_idtt0099810", "movie named Unknown Film", "movie/14160", "movie/348",
		"movie/514754", "movie/550", "movie/7", "movie/949", "tv named Flat Show", "tv tvdb_id121361", "tv tvdb_id5", "tv/1396", "tv/1399",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, err := readLibrary(t.Context(), filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there has titles")
	}
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
		if id, err := parseID(name); err == nil && !id.any() {
			t.Errorf("parseID(%q) = %+v", name, id)
		}
		if title, ok := titleKey(name); ok && (title.ID < 1 || kindNamed(title.Kind) == nil) {
			t.Errorf("titleKey(%q) = %+v", name, title)
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
			if got.tmdb < 0 || got.tvdb < 0 || got.imdb != "" && !imdbID.MatchString(got.imdb) || !got.any() && got.title == "" {
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
		for _, one := range []task{
			{what: fetchDetails, kind: "movie", id: 1},
			{what: fetchDetails, kind: "tv", id: 1},
			{what: fetchLanguage, kind: "movie", id: 1, language: "de-DE"},
			{what: fetchSeasons, kind: "tv", id: 1, mode: seasonsAll, seasons: []int64{1, 2}},
			{what: fetchSeasons, kind: "tv", id: 1, seasons: []int64{1}, language: "fr"},
			{what: fetchEpisode, kind: "tv", id: 1, number: episodeNumber(1, 1)},
			{what: findID, source: "imdb_id", text: "tt1"},
			{what: searchTitle, kind: "movie", text: "T", year: 2000},
			{what: listChanges, kind: "tv", day: 1, end: 2, page: 1},
		} {
			c.key = Key{"a key that no body has"}
			_ = c.usable(data, func(body []byte) error {
				r, err := one.use(&cfg, stamp{20000, 19000}, body)
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
			t.Errorf("use(%q) = row %q: %v", body, line, err)
		}
	}
	if _, err := parseEntry(lineOf(&p.entry)); err != nil && len(p.rows) == 0 && p.entry.File == "" {
		t.Errorf("use(%q) = entry %s: %v", body, lineOf(&p.entry), err)
	}
}

// TestPagesOfChanges: of a list with too many pages, all available pages are read, with a log line.
func TestPagesOfChanges(t *testing.T) {
	for pages, want := range map[int]int{0: 0, 1: 0, 2: 1, maxPages: maxPages - 1, maxPages + 1: maxPages - 1} {
		var log bytes.Buffer
		l := &loop{cfg: &Config{Log: slog.New(slog.NewTextHandler(&log, nil))}}
		l.followChanges(task{what: listChanges, kind: "movie", page: 1}, &entry{Pages: pages})
		if len(l.lists) != want || want > 0 && l.lists[want-1].page != want+1 || (log.Len() > 0) != (pages > maxPages) {
			t.Errorf("after the first of %d pages %d are read, want %d: %s", pages, len(l.lists), want, log.String())
		}
	}
}
