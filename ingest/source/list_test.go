package source

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	tests := []struct {
		path string
		kind string
		id   int64
		sub  string
	}{
		{"movie.json", "movie", 0, ""},
		{"movies.ndjson.zst", "movie", 0, ""},
		{"movie_ids_05_15_2024.json.gz", "movie", 0, ""},
		{"adult_movie_ids.json.gz", "movie", 0, ""},
		{"adult_movie_ids_05_15_2024.json.gz", "movie", 0, ""},
		{"tv_series_ids_05_15_2024.json.gz", "tv", 0, ""},
		{"adult_tv_series_ids_05_15_2024.json.gz", "tv", 0, ""},
		{"person_ids_05_15_2024.json.gz", "person", 0, ""},
		{"adult_person_ids_05_15_2024.json.gz", "person", 0, ""},
		{"collection_ids_05_15_2024.json.gz", "collection", 0, ""},
		{"tv_network_ids_05_15_2024.json.gz", "network", 0, ""},
		{"keyword_ids_05_15_2024.json.gz", "keyword", 0, ""},
		{"production_company_ids_05_15_2024.json.gz", "company", 0, ""},
		{"keyword_ids_05_15_2024.csv.zst", "keyword", 0, ""},
		{"title.basics.tsv.gz", "", 0, ""},
		{"tmdb_5000_movies.csv", "movie", 0, ""},
		{"movie/550.csv", "movie", 0, ""},
		{"tmdb_movies_2026.ndjson.gz", "movie", 0, ""},
		{"TMDB_movie_dataset_v11.parquet", "movie", 0, ""},
		{"movie_keywords.parquet", "movie", 0, ""},
		{"films.parquet", "movie", 0, ""},
		{"tv.ndjson", "tv", 0, ""},
		{"tv_series_ids.json.gz", "tv", 0, ""},
		{"tv_network_ids.json.gz", "network", 0, ""},
		{"tv-seasons.ndjson", "season", 0, ""},
		{"tv_episodes.parquet", "episode", 0, ""},
		{"people.parquet", "person", 0, ""},
		{"persons.PARQUET", "person", 0, ""},
		{"person.jsonl", "person", 0, ""},
		{"collections.ndjson", "collection", 0, ""},
		{"production_company_ids.json.gz", "company", 0, ""},
		{"companies.json", "company", 0, ""},
		{"networks.json", "network", 0, ""},
		{"keywords.json", "keyword", 0, ""},
		{"credits.parquet", "credit", 0, ""},
		{"credits.ndjson", "credit", 0, ""},
		{"credits.csv", "", 0, ""},
		{"tmdb_credits.tsv.gz", "", 0, ""},
		{"movie_credits.csv", "movie", 0, ""},
		{"movie_credits.parquet", "movie", 0, ""},
		{"reviews.ndjson", "review", 0, ""},
		{"episode_groups.ndjson", "episode_group", 0, ""},
		{"tv-episode-groups.ndjson", "episode_group", 0, ""},
		{"tv_episodes_groups.ndjson", "episode", 0, ""},
		{"lists.ndjson.gz", "list", 0, ""},
		{"user_lists.ndjson", "list", 0, ""},
		{"list/509.json", "list", 509, ""},
		{"list/509-page-2.json", "list", 509, "page_2"},
		{"list-509.json", "list", 509, ""},
		{"movie/lists.ndjson", "list", 0, ""},
		{"movie/popular-list.json", "movie", 0, ""},
		{"list_of_movies.csv", "movie", 0, ""},
		{"accounts.ndjson", "account", 0, ""},
		{"account/548.json", "account", 548, ""},
		{"account_lists.ndjson", "account", 0, ""},
		{"guest_sessions.ndjson", "account", 0, ""},
		{"moviesque.json", "", 0, ""},
		{"movie/550.json", "movie", 550, ""},
		{"movie/0/5/550.json", "movie", 550, ""},
		{"movie-recommender/data/genres.json", "", 0, ""},
		{"tv-tracker/users.json", "", 0, ""},
		{"account-service/config.json", "", 0, ""},
		{"episode-groups/all.json", "episode_group", 0, ""},
		{"tv/1399.json.gz", "tv", 1399, ""},
		{"tv/tv-list.json", "tv", 0, ""},
		{"movie/550-credits.json", "movie", 550, "credits"},
		{"movie/550-watch_providers.json", "movie", 550, "watch/providers"},
		{"movie/550-watch-providers.json.zst", "movie", 550, "watch/providers"},
		{"movie/550-alternative_titles.json", "movie", 550, "alternative_titles"},
		{"movie-550-credits.json.gz", "movie", 550, "credits"},
		{"person-287-movie-credits.json.gz", "person", 287, "movie_credits"},
		{"movie-550.json", "movie", 550, ""},
		{"movies-2026-05-01.json", "movie", 0, ""},
		{"2026-05-01.json", "", 0, ""},
		{"movies-2026.ndjson", "movie", 0, ""},
		{"550.ndjson", "", 0, ""},
		{"862.0.json", "", 0, ""},
		{"people/movie/550.json", "movie", 550, ""},
		{"person/287-movie_credits.json", "person", 287, "movie_credits"},
		{"collection/10-images.json", "collection", 10, "images"},
		{"keyword/825-movies.json", "keyword", 825, "movies"},
		{"tv/1399-images.json", "tv", 1399, "images"},
		{"tv/1399-season-x.json", "tv", 1399, "season_x"},
	}
	for _, tt := range tests {
		wantMeaning(t, tt.path, "", "", tt.kind, Address{ID: tt.id, Sub: tt.sub})
	}
}

// wantMeaning checks the meaning of a path below a folder root, with --kind given.
func wantMeaning(t *testing.T, path, root, given, kind string, want Address) {
	t.Helper()
	dir := t.TempDir()
	p := filepath.Join(dir, filepath.FromSlash(path))
	if a, k, _ := meaning(p, filepath.Join(dir, root), given); k != kind || a != want {
		t.Errorf("%s below %q with --kind %q means kind %q, %+v, want %q, %+v", path, root, given, k, a, kind, want)
	}
}

// TestNamesOfParts: seasons and episodes are named after their series, reviews, credits
// and episode groups after 24 hex digits.
func TestNamesOfParts(t *testing.T) {
	const hex = "5acf93e60e0a26346d0000ce"
	f := func(path, kind string, want Address) { t.Helper(); wantMeaning(t, path, "", "", kind, want) }
	f("tv/1399-season-1.json", "season", Address{Series: 1399, Season: 1})
	f("tv/1399-season-0.json.gz", "season", Address{Series: 1399})
	f("tv/1399_season_1.json", "season", Address{Series: 1399, Season: 1})
	f("tv-1399-season-1.json", "season", Address{Series: 1399, Season: 1})
	f("1399-season-1.json", "season", Address{Series: 1399, Season: 1})
	f("tv/1399-season-1-credits.json", "season", Address{Series: 1399, Season: 1, Sub: "credits"})
	f("tv/1399-season-1-watch-providers.json", "season", Address{Series: 1399, Season: 1, Sub: "watch/providers"})
	f("tv/1399-season-1-episode-2.json", "episode", Address{Series: 1399, Season: 1, Episode: 2})
	f("tv/1399-season-1-episode-2-external_ids.json", "episode", Address{Series: 1399, Season: 1, Episode: 2, Sub: "external_ids"})
	f("tv/1399/season/1.json", "season", Address{Series: 1399, Season: 1})
	f("tv/1399/season/1/changes.json", "season", Address{Series: 1399, Season: 1, Sub: "changes"})
	f("tv/1399/season/1/episode/2.json", "episode", Address{Series: 1399, Season: 1, Episode: 2})
	f("movie/1399-season-1.json", "movie", Address{ID: 1399, Sub: "season_1"})
	f("movie-1399-season-1.json", "movie", Address{ID: 1399, Sub: "season_1"})
	f("tv/1399-season-99999999999.json", "tv", Address{ID: 1399, Sub: "season_99999999999"})
	f("seasons-1-season-2.ndjson", "season", Address{})
	f("tv/1399/season/1-credits.json", "season", Address{ID: 1, Sub: "credits"}) // not a form
	f("x/1399/season/1.json", "season", Address{ID: 1})
	f("season/3624.json", "season", Address{ID: 3624})
	f("episode_group/"+hex+".json", "episode_group", Address{Text: hex})
	f("review/"+hex+".json", "review", Address{Text: hex})
	f("credit-"+hex+".json", "credit", Address{Text: hex})
	f("episode_group-"+hex+".json", "episode_group", Address{Text: hex})
	f("credit/5ACF93E60E0A26346D0000CE.json", "credit", Address{})
}

// TestNamesOfSubFolders: a folder named after a sub-request has its answers, of every kind.
func TestNamesOfSubFolders(t *testing.T) {
	const hex = "5acf93e60e0a26346d0000ce"
	f := func(path, root, given, kind string, want Address) {
		t.Helper()
		wantMeaning(t, path, root, given, kind, want)
	}
	credits := Address{ID: 1018, Sub: "credits"}
	f("credits/1018.json", "", "movie", "movie", credits)
	f("credits/1018.json", "credits", "movie", "movie", credits)
	f("Credits/1018.json.gz", "", "tv", "tv", credits)
	f("credits/1018.json", "", "", "", Address{ID: 1018}) // nothing tells the kind
	f("movie/credits/1018.json", "", "", "movie", credits)
	f("movie/credits/1018.json", "movie/credits", "", "movie", credits)
	f("movie/credits/movie-1018.json", "", "", "movie", credits)
	f("my-movies/credits/1018.json", "", "", "", Address{ID: 1018}) // a name of its own is no kind
	f("movie_credits/1018.json", "", "", "movie", credits)
	f("tv-credits/1018.json", "", "", "tv", credits)
	f("movie_credits/1018.json", "", "movie", "movie", credits)
	f("movie_credits/287.json", "", "person", "person", Address{ID: 287, Sub: "movie_credits"})
	f("people/movie_credits/287.json", "", "", "person", Address{ID: 287, Sub: "movie_credits"})
	f("people/tv-credits/person-287.json", "", "", "person", Address{ID: 287, Sub: "tv_credits"})
	f("movie/watch/providers/550.json", "", "", "movie", Address{ID: 550, Sub: "watch/providers"})
	f("movie/watch-providers/550.json", "", "", "movie", Address{ID: 550, Sub: "watch/providers"})
	f("movie/keywords/550.json", "", "", "movie", Address{ID: 550, Sub: "keywords"})
	f("keywords/550.json", "", "movie", "movie", Address{ID: 550, Sub: "keywords"})
	f("keywords/movie-550.json", "", "", "movie", Address{ID: 550, Sub: "keywords"})
	f("movie/reviews/550.json", "", "", "movie", Address{ID: 550, Sub: "reviews"})
	f("movie/lists/550.json", "", "", "movie", Address{ID: 550, Sub: "lists"})
	f("movie/casts/550.json", "", "", "movie", Address{ID: 550, Sub: "casts"})
	f("tv/episode_groups/1399.json", "", "", "tv", Address{ID: 1399, Sub: "episode_groups"})
	f("company/movies/4.json", "", "", "company", Address{ID: 4, Sub: "movies"})
	f("tv/credits/1399-season-1.json", "", "", "season", Address{Series: 1399, Season: 1, Sub: "credits"})
	f("images/tv-1399-season-1-episode-2.json", "", "", "episode", Address{Series: 1399, Season: 1, Episode: 2, Sub: "images"})
	f("season_images/1399_season_1.json", "", "", "season", Address{Series: 1399, Season: 1, Sub: "images"})
	f("credits/1399-season-1.json", "", "tv", "season", Address{Series: 1399, Season: 1, Sub: "credits"})
	for sub := range subRequests() { // seasons and episodes included: their files have their own names
		name, want := "7.json", Address{ID: 7, Sub: sub.name}
		switch sub.kind {
		case "season":
			name, want = "7-season-0.json", Address{Series: 7, Sub: sub.name}
		case "episode":
			name, want = "7-season-0-episode-3.json", Address{Series: 7, Episode: 3, Sub: sub.name}
		}
		f(sub.name+"/"+name, "", sub.kind, sub.kind, want)
		f(sub.kind+"/"+sub.name+"/"+name, "", "", sub.kind, want)
	}

	// Other folders mean what they did.
	f("keywords/818.json", "", "", "keyword", Address{ID: 818})
	f("movie-dump/keywords/818.json", "", "", "keyword", Address{ID: 818})
	f("lists/509.json", "", "", "list", Address{ID: 509})
	f("people/movie/550.json", "", "", "movie", Address{ID: 550})
	f("movie/credits/"+hex+".json", "", "", "credit", Address{Text: hex})
	f("reviews/"+hex+".json", "", "", "review", Address{Text: hex})
	f("movie/images/550-credits.json", "", "", "movie", credits.with(550))
	f("movie/2024/550.json", "", "", "movie", Address{ID: 550})
	f("movie/credits/all.json", "", "", "credit", Address{})
	f("movie/credits.ndjson", "", "", "credit", Address{})
}

// with returns a with another id.
func (a Address) with(id int64) Address { a.ID = id; return a }

// tree makes files in a folder called dumps.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "dumps")
	for name, data := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func names(files []File) []string {
	var list []string
	for _, f := range files {
		list = append(list, f.Name)
	}
	return list
}

func TestList(t *testing.T) {
	dir := folder(t, map[string]string{
		"movie/550.json": "{}", "movie/11.json": "{\n}", "tv/1.json": "[]", "tv/.hidden.json": "{}", ".git/x.json": "{}",
		"README.md": "text", "a.ods": "PK\x03\x04" + strings.Repeat("\x00", 26) + "mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "b.csv.xz": "\xfd7zXZ\x00", "c.csv~": "id,name\n1,a\n", "d.tgz": string(gz(t, "text")), "x.csv": "a,b", "y.txt": "Words, and more\nof them, too\n", "table": "id,name\n1,a\n", "noext": "{}", "z.parquet": "PAR1", "movies.ndjson.gz": string(gz(t, "{}\n")), "lfs.json": "version https://git-lfs",
	})
	all := []string{"lfs.json", "movie/11.json", "movie/550.json", "movies.ndjson.gz", "noext", "table", "tv/1.json", "x.csv", "z.parquet"}
	var skipped []string
	o := Options{Skipped: func(p, reason string) { skipped = append(skipped, filepath.Base(p)+" "+reason) }}
	files, err := List([]string{dir, dir}, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := names(files); !reflect.DeepEqual(got, all) {
		t.Errorf("List of the folder gives %q, want %q", got, all)
	}
	if want := []string{
		"README.md is not a JSON, CSV, TSV or Parquet file",
		"a.ods is a workbook of Excel or LibreOffice: save each sheet as CSV UTF-8, and ingest that",
		"b.csv.xz is compressed with xz, want gzip or zstd",
		"c.csv~ is a backup or an unfinished download",
		"d.tgz is not a JSON, CSV, TSV or Parquet file",
		"y.txt is not a JSON, CSV, TSV or Parquet file",
	}; !reflect.DeepEqual(skipped[:6], want) {
		t.Errorf("skipped %q, want %q", skipped, want)
	}
	want := File{Path: filepath.Join(dir, "movie/11.json"), Name: "movie/11.json", Kind: "movie", Address: Address{ID: 11}, Bytes: 3}
	want.Modified = files[1].Modified
	if fmt.Sprintf("%+v", files[1]) != fmt.Sprintf("%+v", want) || want.Modified.IsZero() {
		t.Errorf("file is %+v, want %+v", files[1], want)
	}
	r, err := Open(files[3], Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if f := r.File(); f.Format != FormatNDJSON || f.Compression != "gzip" || f.Kind != "movie" {
		t.Errorf("file is %+v, want NDJSON in gzip", f)
	}
	f := func(srcs []string, want ...string) {
		t.Helper()
		for i := range srcs {
			srcs[i] = filepath.Join(dir, srcs[i])
		}
		files, err := List(srcs, Options{Kind: "keyword"})
		if got := names(files); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("List(%q) = %q, %v, want %q", srcs, got, err, want)
		}
		for _, f := range files {
			if f.Kind != "keyword" {
				t.Errorf("%s has kind %q, want the one given", f.Name, f.Kind)
			}
		}
	}
	f([]string{"tv/1.json", "movie/550.json"}, "1.json", "550.json")
	f([]string{"*/*.json"}, "11.json", "550.json", "1.json")
	f([]string{"t?"}, "1.json")
	f([]string{"**/*.json"}, "lfs.json", "11.json", "550.json", "1.json")
	f([]string{"x.csv"}, "x.csv")
	f([]string{"movie", "movie/11.json"}, "11.json", "550.json")
}

func TestListRefusals(t *testing.T) {
	dir := folder(t, map[string]string{"docs/README.md": "x", "a[1].json": "{}"})
	f := func(src, want string) {
		t.Helper()
		_, err := List([]string{src}, Options{})
		if got := strings.ReplaceAll(errText(err), dir+"/", ""); got != want {
			t.Errorf("List(%s): %q, want %q", src, got, want)
		}
	}
	f("ftp://host/movies", `ftp://host/movies: unknown scheme "ftp": want s3, gs or file`)
	f(dir+"/none.json", "none.json: no such file or folder")
	f(dir+"/*.ndjson", "*.ndjson: no file matches this pattern")
	f(dir+"/**/*.ndjson", "**/*.ndjson: no file matches this pattern")
	f(dir+"/none/**", "none/**: no file matches this pattern")
	f(dir+"/[.json", "[.json: bad pattern: syntax error in pattern")
	f(dir+"/docs", "docs: no dump file in this folder: want .json, .ndjson, .jsonl, .csv, .tsv or .parquet, also with .gz or .zst")
	f(dir+"/a[1].json", "") // a name with brackets is a name first
	if _, err := List(nil, Options{}); errText(err) != "no dump files named: want a file, a folder or a pattern" {
		t.Errorf("List of nothing: %v", err)
	}
}

// TestListBroken: what a folder has but cannot be looked at is listed, and Open says why.
func TestListBroken(t *testing.T) {
	dir := folder(t, map[string]string{"movie/1.json": "{}", "locked/2.json": "{}"})
	movie := filepath.Join(dir, "movie")
	for name, target := range map[string]string{"0.json": "gone.json", "loop.json": "loop.json", "NOTES": "gone"} {
		if err := os.Symlink(target, filepath.Join(movie, name)); err != nil {
			t.Skipf("this system has no symbolic links here: %v", err)
		}
	}
	f := func(src, skip string, want ...string) {
		t.Helper()
		var got, skipped []string
		files, err := List([]string{filepath.Join(dir, src)}, Options{Skipped: func(p, reason string) {
			skipped = append(skipped, filepath.Base(p)+" "+strings.ReplaceAll(reason, dir+"/", ""))
		}})
		if err != nil {
			t.Errorf("List(%s): %v", src, err)
		}
		for _, f := range files {
			r, err := Open(f, Options{})
			if err == nil {
				r.Close()
			}
			got = append(got, f.Name+" "+strings.ReplaceAll(errText(err), dir+"/", ""))
		}
		if !reflect.DeepEqual(got, want) || strings.Join(skipped, ",") != skip {
			t.Errorf("List(%s): opens %q, skips %q, want %q and %q", src, got, skipped, want, skip)
		}
	}
	gone, loop := "0.json 0.json: stat movie/0.json: no such file or directory", "loop.json loop.json: stat movie/loop.json: too many levels of symbolic links"
	notes := "NOTES cannot be read: stat movie/NOTES: no such file or directory"
	f("movie", notes, gone, "1.json ", loop)
	f("movie/*", notes, gone, "1.json ", loop)
	f("movie/**", notes, gone, "1.json ", loop)
	f("movie/0.json", "", gone)

	locked := filepath.Join(dir, "locked")
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(locked, 0o700) })
	if os.Getuid() == 0 {
		return // root looks into every folder
	}
	f(".", notes, "locked locked: open locked: permission denied", "movie/"+gone[:7]+"movie/"+gone[7:], "movie/1.json ", "movie/"+loop[:10]+"movie/"+loop[10:])
	f("*/1.json", "", dir+"/locked locked: open locked: permission denied", "1.json ")
	f("**/1.json", "", dir+"/locked locked: open locked: permission denied", "1.json ")
	f("locked/*", "", dir+"/locked locked: open locked: permission denied")
}

// TestListLinks: links in a folder that lead to files outside of it are not followed, and control characters in the names of
// files reach no message.
func TestListLinks(t *testing.T) {
	dir := folder(t, map[string]string{"secret.json": "{}", "dump/movies.json": "{}"})
	for name, target := range map[string]string{"out.json": "../secret.json", "in.json": "movies.json", "movies\nall is well\x1b[2J.json": "movies.json"} {
		if err := os.Symlink(target, filepath.Join(dir, "dump", name)); err != nil {
			t.Skipf("this system has no symbolic links here: %v", err)
		}
	}
	var got, skipped []string
	files, err := List([]string{filepath.Join(dir, "dump")}, Options{Skipped: func(p, reason string) { skipped = append(skipped, filepath.Base(p)+": "+reason) }})
	for _, f := range files {
		got = append(got, f.Name)
	}
	want := []string{"in.json", "movies\ufffdall is well\ufffd[2J.json", "movies.json"}
	if err != nil || !reflect.DeepEqual(got, want) || strings.Join(skipped, ",") != "out.json: is a link that leads out of the folder" {
		t.Errorf("List = %q, skips %q, %v, want %q", got, skipped, err, want)
	}
}
