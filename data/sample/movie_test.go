package sample

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

var movieLayout = parseLayout(`
row: adult,backdrop_path,belongs_to_collection,budget,genres,homepage,id,imdb_id,origin_country,original_language,original_title,overview,popularity,poster_path,production_companies,production_countries,release_date,revenue,runtime,softcore,spoken_languages,status,tagline,title,video,vote_average,vote_count,alternative_titles,credits,external_ids,images,keywords,release_dates,reviews,translations,videos,watch/providers
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

type credit struct {
	ID       int     `json:"id"`
	Name     string  `json:"name"`
	CastID   int     `json:"cast_id"`
	CreditID string  `json:"credit_id"`
	Order    int     `json:"order"`
	Job      string  `json:"job"`
	Gender   int     `json:"gender"`
	Profile  *string `json:"profile_path"`
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

func readMovies(t *testing.T) []movie {
	t.Helper()
	return readRows[movie](t, "movies.ndjson")
}

func TestBytes(t *testing.T) {
	if n := checkBytes(t, "movies.ndjson", movieLayout, nil); n < 2<<20 || n > 4<<20 {
		t.Errorf("movies.ndjson has %d bytes, want 2 to 4 MiB", n)
	}
}

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
	if want := firstImage(m.Images.Posters, "en"); want == "" || m.PosterPath != want {
		t.Errorf("%d: poster_path %s, first English poster %s", m.ID, m.PosterPath, want)
	}
	if want := firstImage(m.Images.Backdrops, ""); want == "" || m.BackdropPath != want {
		t.Errorf("%d: backdrop_path %s, first plain backdrop %s", m.ID, m.BackdropPath, want)
	}
	checkImageList(t, fmt.Sprintf("%d: backdrops", m.ID), m.Images.Backdrops, 2, 6, imageRE)
	checkImageList(t, fmt.Sprintf("%d: posters", m.ID), m.Images.Posters, 3, 8, imageRE)
	checkImageList(t, fmt.Sprintf("%d: logos", m.ID), m.Images.Logos, 0, 3, logoRE)
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
