package crawl

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestExportedLists reads exported lists: each title by its ID, else by its name and year.
func TestExportedLists(t *testing.T) {
	const imdb = "\ufeffPosition,Const,Created,Title,URL,Title Type,Your Rating,Year\r\n1,tt0137523,2024-01-01,Fight Club,https://x/,Movie,9,1999\r\n" +
		"2,tt0903747,2024-01-01,Breaking Bad,https://x/,TV Series,,2008–2013\r\n"
	const trakt = `[{"rank":1,"id":7,"listed_at":"2024","type":"movie","movie":{"title":"Fight Club","year":1999,"ids":{"trakt":1,"slug":"f","imdb":"tt0137523","tmdb":550}}},
		{"type":"show","show":{"title":"Breaking Bad","ids":{"trakt":1,"tvdb":81189,"tmdb":1396}}},
		{"type":"episode","episode":{"title":"Pilot","ids":{"tmdb":62085}},"show":{"title":"Breaking Bad","ids":{"tmdb":null,"tvdb":81189}}},
		{"type":"person","person":{"name":"Brad Pitt","ids":{"tmdb":287}}}]`
	const letterboxd = "Date,Name,Year,Letterboxd URI,Rating\n2024-01-01,Amélie,2001,https://boxd.it/1,4.5\n2024-01-02,No Year,,https://boxd.it/2,\n"
	for _, c := range []struct {
		name, text, kind, want, unresolved, err string
	}{
		{name: "watchlist.csv", text: imdb, want: "imdb_id tt0137523; imdb_id tt0903747"},
		{name: "ratings.csv", text: "Const,Your Rating,Date Rated\nnm0000093,9,2024-01-02\n", want: "imdb_id nm0000093"},
		{name: "german.csv", text: strings.ReplaceAll(imdb, ",", ";"), want: "imdb_id tt0137523; imdb_id tt0903747"},
		{name: "watched.csv", text: letterboxd, want: "search movie Amélie 2001", unresolved: "watched.csv:3: No Year: want an id, or a title with its year"},
		{name: "best.csv", text: "Letterboxd list export v7\nDate,Name,Tags,URL,Description\n2024-01-01,Best,,https://x,\n\nPosition,Name,Year,URL,Description\n1,Alien,1979,https://y,\n", want: "search movie Alien 1979"},
		{name: "trakt.json", text: trakt, want: "movie 550; tv 1396; person 287; tvdb_id 81189"},
		{name: "list", text: trakt, want: "movie 550; tv 1396; person 287; tvdb_id 81189"},
		{name: "tmdb.csv", text: "TMDb ID,IMDb ID,Type,Name,Release Date\n550,tt0137523,movie,Fight Club,1999-10-15\n1399,,tv,Game of Thrones,\n", want: "movie 550; tv 1399"},
		{name: "typeless.csv", text: "TMDb ID,IMDb ID\n550,tt0137523\n", want: "imdb_id tt0137523"},
		{name: "own.csv", text: "id,title\n550,Fight Club\n", kind: "movie", want: "movie 550"},
		{name: "own.csv", text: "tmdb_id,title\n550,Fight Club\n", unresolved: "own.csv:2: Fight Club: want the kind of 550: a type such as movie or tv, or --kind"},
		{name: "other.csv", text: "name,price\nAlien,3\n", err: "want a column or field such as Const, imdb_id or tmdb_id, or a title with its year; found name, price"},
		{name: "ids.txt", text: "550\ntv 1399\nhttps://www.imdb.com/title/tt0137523/?ref_=x\n", kind: "movie", want: "movie 550; tv 1399; imdb_id tt0137523"},
		{name: "ids.csv", text: "movie 550\ntv 1399\n", want: "movie 550; tv 1399"},
		{name: "ids.txt", text: "movie 1\n550\nfilm 2\n", want: "movie 1", unresolved: "ids.txt:2: 550: want the kind of 550: a type such as movie or tv, or --kind; " +
			`ids.txt:3: want an id such as movie 550, tv 1399, person 287, tvdb 121361 or tt0137523, found "film 2"`},
		{name: "no-ids.txt", text: "film 2\nmovie\n", err: "ids no-ids.txt:1: want an id such as movie 550"},
		{name: "Fight Club.nfo", text: "<?xml version=\"1.0\"?>\n<movie><title>x</title><uniqueid type=\"tmdb\">550</uniqueid></movie>", want: "movie 550"},
		{name: "page.nfo", text: "https://www.imdb.com/title/tt0137523/\n", want: "imdb_id tt0137523"},
		{name: "a.nfo", text: "<x><tmdbid>550</tmdbid></x>", unresolved: "a.nfo: want the kind of 550: a type such as movie or tv, or --kind"},
		{name: "a.nfo", text: "<movie/>", err: "want an NFO file with an id"},
	} {
		dir := t.TempDir()
		servetest.WriteFile(t, filepath.Join(dir, c.name), c.text)
		cfg := DefaultConfig()
		cfg.IDs, cfg.Kind = []string{filepath.Join(dir, c.name)}, c.kind
		s, err := readSelection(t.Context(), &cfg)
		if c.err != "" {
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""), c.err) {
				t.Errorf("%s: %v, want %q", c.name, err, c.err)
			}
			continue
		}
		var got []string
		for _, title := range s.titles {
			got = append(got, fmt.Sprint(title.Kind, " ", title.ID))
		}
		for _, task := range s.tasks {
			switch {
			case !strings.Contains(task.place, c.name):
				t.Errorf("%s: place %q", c.name, task.place)
			case task.what == searchTitle:
				got = append(got, fmt.Sprint("search ", task.kind, " ", task.text, " ", task.year))
			default:
				got = append(got, task.source+" "+task.text)
			}
		}
		if d := cmp.Diff(c.want, strings.Join(got, "; ")); d != "" || err != nil {
			t.Errorf("%s: %v, %s", c.name, err, d)
		}
		if d := cmp.Diff(c.unresolved, strings.ReplaceAll(strings.Join(s.unresolved, "; "), dir+string(filepath.Separator), "")); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}
