package sample

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/klauspost/compress/zstd"

	"reelsplice/schemas/sharedtest"
)

var wantKeys = strings.Split("adult,backdrop_path,belongs_to_collection,budget,genres,homepage,id,imdb_id,"+
	"origin_country,original_language,original_title,overview,popularity,poster_path,production_companies,"+
	"production_countries,release_date,revenue,runtime,softcore,spoken_languages,status,tagline,title,video,"+
	"vote_average,vote_count,alternative_titles,credits,external_ids,images,keywords,release_dates,reviews,"+
	"translations,videos,watch/providers", ",")

// rowKeys is the key order of the rows that occur in an answer, by path.
var rowKeys = parseRowKeys(`
belongs_to_collection: id,name,poster_path,backdrop_path
genres[]: id,name
production_companies[]: id,logo_path,name,origin_country
production_countries[]: iso_3166_1,name
spoken_languages[]: english_name,iso_639_1,name
alternative_titles: titles
alternative_titles.titles[]: iso_3166_1,title,type
credits: cast,crew
credits.cast[]: adult,gender,id,known_for_department,name,original_name,popularity,profile_path,cast_id,character,credit_id,order
credits.crew[]: adult,gender,id,known_for_department,name,original_name,popularity,profile_path,credit_id,department,job
external_ids: imdb_id,wikidata_id,facebook_id,instagram_id,twitter_id
images: backdrops,logos,posters
images.backdrops[]: aspect_ratio,height,iso_3166_1,iso_639_1,file_path,vote_average,vote_count,width
images.logos[]: aspect_ratio,height,iso_3166_1,iso_639_1,file_path,vote_average,vote_count,width
images.posters[]: aspect_ratio,height,iso_3166_1,iso_639_1,file_path,vote_average,vote_count,width
keywords: keywords
keywords.keywords[]: id,name
release_dates: results
release_dates.results[]: iso_3166_1,release_dates
release_dates.results[].release_dates[]: certification,descriptors,iso_639_1,note,release_date,type
reviews: page,results,total_pages,total_results
reviews.results[]: author,author_details,content,created_at,id,updated_at,url
reviews.results[].author_details: name,username,avatar_path,rating
translations: translations
translations.translations[]: iso_3166_1,iso_639_1,name,english_name,data
translations.translations[].data: homepage,overview,runtime,tagline,title
videos: results
videos.results[]: iso_639_1,iso_3166_1,name,key,site,size,type,official,id,published_at
watch/providers: results
watch/providers.results.{}.buy[]: logo_path,provider_id,provider_name,display_priority
watch/providers.results.{}.flatrate[]: logo_path,provider_id,provider_name,display_priority
watch/providers.results.{}.rent[]: logo_path,provider_id,provider_name,display_priority
`)

func parseRowKeys(table string) map[string]string {
	keys := map[string]string{}
	for line := range strings.Lines(table) {
		if path, list, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			keys[path] = list
		}
	}
	return keys
}

// floatKeys are the keys whose numbers always carry a fraction, with the number of
// digits allowed in it.
var floatKeys = map[string]int{"popularity": 4, "vote_average": 3, "aspect_ratio": 3, "rating": 1}

type image struct {
	AspectRatio float64 `json:"aspect_ratio"`
	Height      int     `json:"height"`
	Country     *string `json:"iso_3166_1"`
	Language    *string `json:"iso_639_1"`
	FilePath    string  `json:"file_path"`
	VoteAverage float64 `json:"vote_average"`
	Width       int     `json:"width"`
}

type credit struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	CastID   int    `json:"cast_id"`
	CreditID string `json:"credit_id"`
	Order    int    `json:"order"`
	Job      string `json:"job"`
}

type movie struct {
	ID               int    `json:"id"`
	IMDbID           string `json:"imdb_id"`
	OriginalLanguage string `json:"original_language"`
	OriginalTitle    string `json:"original_title"`
	Title            string `json:"title"`
	Overview         string `json:"overview"`
	Tagline          string `json:"tagline"`
	ReleaseDate      string `json:"release_date"`
	Runtime          int    `json:"runtime"`
	PosterPath       string `json:"poster_path"`
	BackdropPath     string `json:"backdrop_path"`
	Credits          struct{ Cast, Crew []credit }
	ExternalIDs      struct {
		IMDbID string `json:"imdb_id"`
	} `json:"external_ids"`
	Genres []struct {
		ID   int
		Name string
	}
	Images       struct{ Backdrops, Logos, Posters []image }
	ReleaseDates struct {
		Results []struct {
			Country string `json:"iso_3166_1"`
			Rows    []struct {
				Certification string `json:"certification"`
				Date          string `json:"release_date"`
				Type          int    `json:"type"`
			} `json:"release_dates"`
		}
	} `json:"release_dates"`
	Reviews struct {
		Results      []struct{ Content, ID string }
		TotalResults int `json:"total_results"`
	}
	Translations struct {
		Translations []struct {
			Country  string `json:"iso_3166_1"`
			Language string `json:"iso_639_1"`
			Data     struct {
				Overview, Tagline, Title string
				Runtime                  int
			}
		}
	}
	Videos struct {
		Results []struct {
			Language  string `json:"iso_639_1"`
			Key       string
			ID        string
			Published string `json:"published_at"`
		}
	}
	Providers struct {
		Results map[string]struct{ Link string }
	} `json:"watch/providers"`
}

func readLines(t *testing.T) [][]byte {
	t.Helper()
	b, err := fs.ReadFile(FS(), "movies.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(b, []byte("\n")) {
		t.Fatal("the last line does not end with a newline")
	}
	return bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
}

func readMovies(t *testing.T) []movie {
	t.Helper()
	var out []movie
	for n, line := range readLines(t) {
		var m movie
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("line %d: %v", n+1, err)
		}
		out = append(out, m)
	}
	return out
}

// walk calls object for every object below v with its path and keys, and number for
// every number with the key it stands under.
func walk(d *json.Decoder, path, key string, object func(path string, keys []string), number func(key, num string)) error {
	tok, err := d.Token()
	if err != nil {
		return err
	}
	switch tok {
	case json.Delim('{'):
		var keys []string
		for d.More() {
			k, err := d.Token()
			if err != nil {
				return err
			}
			name := k.(string)
			keys = append(keys, name)
			sub := name
			if path == "watch/providers.results" {
				sub = "{}"
			}
			if path != "" {
				sub = path + "." + sub
			}
			if err := walk(d, sub, name, object, number); err != nil {
				return err
			}
		}
		object(path, keys)
		_, err = d.Token()
		return err
	case json.Delim('['):
		for d.More() {
			if err := walk(d, path+"[]", key, object, number); err != nil {
				return err
			}
		}
		_, err = d.Token()
		return err
	}
	if n, ok := tok.(json.Number); ok {
		number(key, n.String())
	}
	return nil
}

// TestBytes looks at the text of each line: compact, unescaped, keys in wire order,
// floats with a fraction and integers without.
func TestBytes(t *testing.T) {
	total := 0
	for n, line := range readLines(t) {
		total += len(line) + 1
		where := fmt.Sprintf("line %d", n+1)
		var compact bytes.Buffer
		if err := json.Compact(&compact, line); err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		if !bytes.Equal(compact.Bytes(), line) {
			t.Errorf("%s is not compact", where)
		}
		for _, esc := range []string{`\u`, `\/`} {
			if bytes.Contains(line, []byte(esc)) {
				t.Errorf("%s holds %s", where, esc)
			}
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		err := walk(d, "", "", func(path string, keys []string) {
			switch want, ok := rowKeys[path]; {
			case path == "":
				if !slices.Equal(keys, wantKeys) {
					t.Errorf("%s: keys %v", where, keys)
				}
			case path == "watch/providers.results":
				if !slices.IsSorted(keys) {
					t.Errorf("%s: provider countries %v", where, keys)
				}
			case path == "watch/providers.results.{}":
				if len(keys) < 2 || keys[0] != "link" {
					t.Errorf("%s: provider keys %v", where, keys)
				}
			case !ok:
				t.Errorf("%s: unknown object %q", where, path)
			case strings.Join(keys, ",") != want:
				t.Errorf("%s: %s has keys %v", where, path, keys)
			}
		}, func(key, num string) {
			digits, float := floatKeys[key]
			_, frac, found := strings.Cut(num, ".")
			if strings.ContainsAny(num, "eE") || found != float || len(frac) > digits {
				t.Errorf("%s: %s is %s", where, key, num)
			}
		})
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
	}
	if total < 2<<20 || total > 4<<20 {
		t.Errorf("movies.ndjson has %d bytes, want 2 to 4 MiB", total)
	}
}

var (
	imdbRE  = regexp.MustCompile(`^tt\d{7,8}$`)
	hexRE   = regexp.MustCompile(`^[0-9a-f]{24}$`)
	videoRE = regexp.MustCompile(`^[A-Za-z0-9_-]{11}$`)
	imageRE = regexp.MustCompile(`^/[A-Za-z0-9]{27}\.jpg$`)
	logoRE  = regexp.MustCompile(`^/[A-Za-z0-9]{27}\.png$`)
	stampRE = regexp.MustCompile(`^\d{4}-\d\d-\d\dT00:00:00\.000Z$`)
)

func TestStructure(t *testing.T) {
	movies := readMovies(t)
	if len(movies) < 150 {
		t.Errorf("%d movies, want at least 150", len(movies))
	}
	imdb, hexIDs, keys := map[string]int{}, map[string]int{}, map[string]int{}
	byID := map[int]bool{}
	unique := func(seen map[string]int, id string, m movie) {
		if other, ok := seen[id]; ok {
			t.Errorf("%s occurs in %d and %d", id, other, m.ID)
		}
		seen[id] = m.ID
	}
	var foreign, translated, overviews, reviewed, offered, localVideos, last int
	for _, m := range movies {
		if m.ID <= last {
			t.Errorf("%d comes after %d", m.ID, last)
		}
		last = m.ID
		byID[m.ID] = true
		if !imdbRE.MatchString(m.IMDbID) || m.ExternalIDs.IMDbID != m.IMDbID {
			t.Errorf("%d: imdb ids %q and %q", m.ID, m.IMDbID, m.ExternalIDs.IMDbID)
		}
		unique(imdb, m.IMDbID, m)
		if m.Overview == "" || m.Title == "" || m.OriginalTitle == "" || m.Runtime <= 0 || len(m.Genres) == 0 {
			t.Errorf("%d: an empty field", m.ID)
		}
		if m.OriginalLanguage != "en" {
			foreign++
		}
		checkCredits(t, m, func(id string) { unique(hexIDs, id, m) })
		checkImages(t, m)
		checkReleaseDates(t, m)

		titles, texts := map[string]bool{}, 0
		var english, original bool
		for _, r := range m.Translations.Translations {
			if r.Language == "en" {
				english = r.Data.Overview == m.Overview && r.Data.Tagline == m.Tagline
			}
			if r.Language == m.OriginalLanguage && r.Data.Title == "" || m.OriginalLanguage == "cn" && r.Country == "HK" {
				original = true
			}
			if r.Data.Title != "" {
				titles[r.Language] = true
				if r.Data.Title == m.OriginalTitle {
					t.Errorf("%d: %s repeats the original title", m.ID, r.Language)
				}
			}
			switch r.Language + r.Country {
			case "deDE", "frFR", "esES", "itIT", "ptBR":
				if r.Data.Overview != "" {
					texts++
				}
			}
		}
		if !english || !original {
			t.Errorf("%d: no English row (%v) or no row of the original language (%v)", m.ID, english, original)
		}
		if len(titles) >= 5 {
			translated++
		}
		if texts == 5 {
			overviews++
		}

		if len(m.Videos.Results) < 1 || len(m.Videos.Results) > 5 {
			t.Errorf("%d: %d videos", m.ID, len(m.Videos.Results))
		}
		local := false
		for i, v := range m.Videos.Results {
			unique(keys, v.Key, m)
			unique(hexIDs, v.ID, m)
			if !videoRE.MatchString(v.Key) || i > 0 && v.Published > m.Videos.Results[i-1].Published {
				t.Errorf("%d: video %d", m.ID, i)
			}
			local = local || v.Language != "en"
		}
		if local {
			localVideos++
		}
		if m.Reviews.TotalResults != len(m.Reviews.Results) {
			t.Errorf("%d: total_results of reviews", m.ID)
		}
		for _, r := range m.Reviews.Results {
			unique(hexIDs, r.ID, m)
		}
		if len(m.Reviews.Results) > 0 {
			reviewed++
		}
		if len(m.Providers.Results) > 0 {
			offered++
		}
		for cc, r := range m.Providers.Results {
			prefix := fmt.Sprintf("https://www.themoviedb.org/movie/%d-", m.ID)
			if !strings.HasPrefix(r.Link, prefix) || !strings.HasSuffix(r.Link, "/watch?locale="+cc) {
				t.Errorf("%d: link %s", m.ID, r.Link)
			}
		}
	}
	if !byID[550] || !byID[11] {
		t.Error("550 or 11 is missing")
	}
	for _, c := range []struct {
		what      string
		have, min int
	}{
		{"films not in English", foreign, 30},
		{"films with titles in five languages", translated, 60},
		{"films with overviews in five languages", overviews, 60},
		{"films with reviews", reviewed, 25},
		{"films with watch providers", offered, 40},
		{"films with videos in other languages", localVideos, 20},
	} {
		if c.have < c.min {
			t.Errorf("%s: %d, want at least %d", c.what, c.have, c.min)
		}
	}
}

func checkCredits(t *testing.T, m movie, unique func(string)) {
	t.Helper()
	if n := len(m.Credits.Cast); n < 8 || n > 20 {
		t.Errorf("%d: %d cast", m.ID, n)
	}
	if n := len(m.Credits.Crew); n < 4 || n > 15 {
		t.Errorf("%d: %d crew", m.ID, n)
	}
	director := false
	castIDs := map[int]bool{}
	for i, c := range m.Credits.Cast {
		if i > 0 && c.Order <= m.Credits.Cast[i-1].Order || castIDs[c.CastID] {
			t.Errorf("%d: order or cast_id of %s", m.ID, c.Name)
		}
		castIDs[c.CastID] = true
	}
	for _, c := range m.Credits.Crew {
		director = director || c.Job == "Director"
	}
	if !director {
		t.Errorf("%d has no director", m.ID)
	}
	for _, c := range slices.Concat(m.Credits.Cast, m.Credits.Crew) {
		if c.ID <= 0 || strings.TrimSpace(c.Name) == "" || !hexRE.MatchString(c.CreditID) {
			t.Errorf("%d: credit %+v", m.ID, c)
		}
		unique(c.CreditID)
	}
}

func checkImages(t *testing.T, m movie) {
	t.Helper()
	first := func(list []image, lang string) string {
		for _, im := range list {
			if lang == "" && im.Language == nil || im.Language != nil && *im.Language == lang {
				return im.FilePath
			}
		}
		return ""
	}
	if want := first(m.Images.Posters, "en"); want == "" || m.PosterPath != want {
		t.Errorf("%d: poster_path %s, first English poster %s", m.ID, m.PosterPath, want)
	}
	if want := first(m.Images.Backdrops, ""); want == "" || m.BackdropPath != want {
		t.Errorf("%d: backdrop_path %s, first plain backdrop %s", m.ID, m.BackdropPath, want)
	}
	for _, list := range []struct {
		name     string
		rows     []image
		min, max int
		path     *regexp.Regexp
	}{
		{"backdrops", m.Images.Backdrops, 2, 6, imageRE},
		{"posters", m.Images.Posters, 3, 8, imageRE},
		{"logos", m.Images.Logos, 0, 3, logoRE},
	} {
		if n := len(list.rows); n < list.min || n > list.max {
			t.Errorf("%d: %d %s", m.ID, n, list.name)
		}
		for i, im := range list.rows {
			if i > 0 && im.VoteAverage > list.rows[i-1].VoteAverage {
				t.Errorf("%d: %s are not sorted", m.ID, list.name)
			}
			if (im.Language == nil) != (im.Country == nil) || !list.path.MatchString(im.FilePath) {
				t.Errorf("%d: %s %+v", m.ID, list.name, im)
			}
			if math.Abs(im.AspectRatio-float64(im.Width)/float64(im.Height)) > 0.00051 {
				t.Errorf("%d: aspect ratio %v of %dx%d", m.ID, im.AspectRatio, im.Width, im.Height)
			}
		}
	}
}

// checkReleaseDates holds release_date to the rule of the primary date: the earliest
// theatrical or limited release.
func checkReleaseDates(t *testing.T, m movie) {
	t.Helper()
	primary, prev, certs := "", "", 0
	for _, r := range m.ReleaseDates.Results {
		if r.Country <= prev {
			t.Errorf("%d: country %s after %s", m.ID, r.Country, prev)
		}
		prev = r.Country
		day, certified := "", false
		for _, row := range r.Rows {
			certified = certified || row.Certification != ""
			if !stampRE.MatchString(row.Date) || row.Date < day {
				t.Errorf("%d: %s: date %s", m.ID, r.Country, row.Date)
				continue
			}
			day = row.Date
			if d := row.Date[:10]; (row.Type == 2 || row.Type == 3) && (primary == "" || d < primary) {
				primary = d
			}
		}
		if certified {
			certs++
		}
	}
	if len(m.ReleaseDates.Results) < 3 || certs < 2 || primary != m.ReleaseDate {
		t.Errorf("%d: %d countries, %d certified, release_date %s, primary %s",
			m.ID, len(m.ReleaseDates.Results), certs, m.ReleaseDate, primary)
	}
}

// fact is what a dump says about a movie.
type fact struct {
	title, date       string
	runtime           int
	overview, tagline string
}

func readTMDB5000(t *testing.T) map[int]fact {
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
	r := csv.NewReader(z)
	head, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	col := map[string]int{}
	for i, name := range head {
		col[name] = i
	}
	out := map[int]fact{}
	for {
		row, err := r.Read()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		id, err := strconv.Atoi(row[col["id"]])
		if err != nil {
			t.Fatal(err)
		}
		runtime, _ := strconv.ParseFloat(row[col["runtime"]], 64) // two rows have none
		out[id] = fact{
			row[col["original_title"]], row[col["release_date"]], int(runtime),
			row[col["overview"]], row[col["tagline"]],
		}
	}
}

func readMovnix(t *testing.T) map[int]fact {
	t.Helper()
	f, err := os.Open(sharedtest.Path(t, "dumps", "movnix", "movies.ndjson.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	out := map[int]fact{}
	r := bufio.NewReader(z)
	for {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var row struct {
				Movie struct {
					ID            int    `json:"tmdbId"`
					OriginalTitle string `json:"originalTitle"`
					ReleaseDate   string `json:"releaseDate"`
					Runtime       int    `json:"runtime"`
					Overview      string `json:"overview"`
					Tagline       string `json:"tagline"`
				} `json:"movie"`
			}
			if err := json.Unmarshal(line, &row); err != nil {
				t.Fatal(err)
			}
			m := row.Movie
			out[m.ID] = fact{m.OriginalTitle, m.ReleaseDate, m.Runtime, m.Overview, m.Tagline}
		}
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func readDumps(t *testing.T) map[string]map[int]fact {
	t.Helper()
	return map[string]map[int]fact{"tmdb5000": readTMDB5000(t), "movnix": readMovnix(t)}
}

func year(date string) string { return date[:min(4, len(date))] }

func TestFacts(t *testing.T) {
	dumps := readDumps(t)
	compared := map[int]bool{}
	for _, m := range readMovies(t) {
		for name, dump := range dumps {
			f, ok := dump[m.ID]
			if !ok {
				continue
			}
			compared[m.ID] = true
			if f.title != m.OriginalTitle {
				t.Errorf("%d: original title %q, %s has %q", m.ID, m.OriginalTitle, name, f.title)
			}
			if year(f.date) != year(m.ReleaseDate) {
				t.Errorf("%d: release date %s, %s has %s", m.ID, m.ReleaseDate, name, f.date)
			}
			if d := f.runtime - m.Runtime; d < -2 || d > 2 {
				t.Errorf("%d: runtime %d, %s has %d", m.ID, m.Runtime, name, f.runtime)
			}
		}
	}
	if len(compared) < 100 {
		t.Errorf("only %d movies occur in a dump, want at least 100", len(compared))
	}
	t.Logf("%d movies compared", len(compared))
}

// words splits s into case-folded words, with punctuation dropped.
func words(s string) []string {
	s = strings.NewReplacer("'", "", "’", "").Replace(strings.ToLower(s))
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// sharedRun returns a run of n words that a and b share, or "".
func sharedRun(a, b []string, n int) string {
	runs := map[string]bool{}
	for i := 0; i+n <= len(b); i++ {
		runs[strings.Join(b[i:i+n], " ")] = true
	}
	for i := 0; i+n <= len(a); i++ {
		if run := strings.Join(a[i:i+n], " "); runs[run] {
			return run
		}
	}
	return ""
}

func TestSentencesAreOurs(t *testing.T) {
	if sharedRun(words("A man's dog; runs, far!"), words("the mans DOG runs far away"), 4) != "mans dog runs far" {
		t.Fatal("sharedRun misses a shared run")
	}
	dumps := readDumps(t)
	names := make([]string, 0, len(dumps))
	for name := range dumps {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, m := range readMovies(t) {
		for _, name := range names {
			f := dumps[name][m.ID]
			for _, ours := range []string{m.Overview, m.Tagline} {
				for _, theirs := range []string{f.overview, f.tagline} {
					a, b := words(ours), words(theirs)
					if len(a) > 0 && slices.Equal(a, b) {
						t.Errorf("%d: %q is the text of %s", m.ID, ours, name)
					}
					if run := sharedRun(a, b, 8); run != "" {
						t.Errorf("%d: shares %q with %s", m.ID, run, name)
					}
				}
			}
		}
	}
}
