package sample

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	personKeys  = "adult,gender,id,known_for_department,name,original_name,popularity,profile_path"
	episodeKeys = "id,name,overview,vote_average,vote_count,air_date,episode_number,episode_type,production_code,runtime,season_number,show_id,still_path"
	imageKeys   = "aspect_ratio,height,iso_3166_1,iso_639_1,file_path,vote_average,vote_count,width"
	langKeys    = "iso_3166_1,iso_639_1,name,english_name,data"
	videoKeys   = "iso_639_1,iso_3166_1,name,key,site,size,type,official,id,published_at"
	networkKeys = "id,logo_path,name,origin_country"
)

var tvLayout = parseLayout(`
row: adult,backdrop_path,created_by,episode_run_time,first_air_date,genres,homepage,id,in_production,languages,last_air_date,last_episode_to_air,name,next_episode_to_air,networks,number_of_episodes,number_of_seasons,origin_country,original_language,original_name,overview,popularity,poster_path,production_companies,production_countries,seasons,softcore,spoken_languages,status,tagline,type,vote_average,vote_count
row: alternative_titles,content_ratings,credits,external_ids,images,keywords,reviews,translations,videos,watch/providers
created_by[]: id,credit_id,name,original_name,gender,profile_path
genres[]: id,name
last_episode_to_air: ` + episodeKeys + `
next_episode_to_air: ` + episodeKeys + `
networks[]: ` + networkKeys + `
production_companies[]: id,logo_path,name,origin_country
production_countries[]: iso_3166_1,name
seasons[]: air_date,episode_count,id,name,overview,poster_path,season_number,vote_average
spoken_languages[]: english_name,iso_639_1,name
alternative_titles: results
alternative_titles.results[]: iso_3166_1,title,type
content_ratings: results
content_ratings.results[]: descriptors,iso_3166_1,rating
credits: cast,crew
credits.cast[]: ` + personKeys + `,character,credit_id,order
credits.crew[]: ` + personKeys + `,credit_id,department,job
episode_groups: results
episode_groups.results[]: description,episode_count,group_count,id,name,network,type
external_ids: imdb_id,freebase_mid,freebase_id,tvdb_id,tvrage_id,wikidata_id,facebook_id,instagram_id,twitter_id
images: backdrops,logos,posters
images.backdrops[]: ` + imageKeys + `
images.logos[]: ` + imageKeys + `
images.posters[]: ` + imageKeys + `
keywords: results
keywords.results[]: name,id
reviews: page,results,total_pages,total_results
reviews.results[]: author,author_details,content,created_at,id,updated_at,url
reviews.results[].author_details: name,username,avatar_path,rating
translations: translations
translations.translations[]: ` + langKeys + `
translations.translations[].data: name,overview,homepage,tagline
videos: results
videos.results[]: ` + videoKeys + `
watch/providers: results
watch/providers.results.{}.flatrate[]: logo_path,provider_id,provider_name,display_priority
season/{}: _id,air_date,episodes,name,networks,overview,id,poster_path,season_number,vote_average
season/{}.networks[]: ` + networkKeys + `
season/{}.episodes[]: air_date,episode_number,episode_type,id,name,overview,production_code,runtime,season_number,show_id,still_path,vote_average,vote_count,crew,guest_stars
season/{}.episodes[].crew[]: department,job,credit_id,` + personKeys + `
season/{}.episodes[].guest_stars[]: character,credit_id,order,` + personKeys + `
`)

// TestTVBytes: episode_groups and the seasons are in some rows only, the seasons last
// and in ascending order.
func TestTVBytes(t *testing.T) {
	checkBytes(t, "tv.ndjson", tvLayout, func(keys []string) []string {
		keys = slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return k == "episode_groups" })
		for i, k := range keys {
			if strings.HasPrefix(k, "season/") {
				return keys[:i]
			}
		}
		return keys
	})
}

type episode struct {
	ID       int
	Name     string
	Overview string
	AirDate  *string `json:"air_date"`
	Number   int     `json:"episode_number"`
	Season   int     `json:"season_number"`
	Show     int     `json:"show_id"`
	Runtime  *int
	Still    *string `json:"still_path"`
	Crew     []struct {
		credit
		Department string
	}
	Guests []struct {
		credit
		Character string
	} `json:"guest_stars"`
}

type season struct {
	ID       int
	OID      string `json:"_id"`
	Name     string
	Overview string
	AirDate  *string `json:"air_date"`
	Number   int     `json:"season_number"`
	Episodes []episode
	Networks []named
	Poster   *string `json:"poster_path"`
}

// named is anything that a row refers to by its id.
type named struct {
	ID      int
	Name    string
	Logo    *string `json:"logo_path"`
	Profile *string `json:"profile_path"`
}

type series struct {
	ID           int
	Name         string
	OriginalName string `json:"original_name"`
	Language     string `json:"original_language"`
	Overview     string
	Tagline      string
	FirstAir     string   `json:"first_air_date"`
	LastAir      string   `json:"last_air_date"`
	Last         *episode `json:"last_episode_to_air"`
	Next         *episode `json:"next_episode_to_air"`
	Episodes     int      `json:"number_of_episodes"`
	SeasonCount  int      `json:"number_of_seasons"`
	Poster       string   `json:"poster_path"`
	Backdrop     string   `json:"backdrop_path"`
	CreatedBy    []struct {
		credit
		OriginalName string `json:"original_name"`
	} `json:"created_by"`
	Companies []named `json:"production_companies"`
	Networks  []named
	Summary   []struct {
		ID      int
		Name    string
		AirDate *string `json:"air_date"`
		Count   int     `json:"episode_count"`
		Number  int     `json:"season_number"`
		Poster  *string `json:"poster_path"`
	} `json:"seasons"`
	Credits     struct{ Cast, Crew []credit }
	ExternalIDs struct {
		IMDb     *string `json:"imdb_id"`
		TVDB     *int    `json:"tvdb_id"`
		Wikidata *string `json:"wikidata_id"`
	} `json:"external_ids"`
	Groups *struct {
		Results []struct{ ID string }
	} `json:"episode_groups"`
	Images   struct{ Backdrops, Logos, Posters []image }
	Keywords struct{ Results []named }
	Reviews  struct {
		Results []struct{ Content, ID string }
		Total   int `json:"total_results"`
	}
	Translations struct {
		Rows []struct {
			Language string `json:"iso_639_1"`
			Data     struct{ Name, Overview, Tagline string }
		} `json:"translations"`
	}
	Videos struct {
		Results []struct{ Key, ID string }
	}
	Seasons seasonParts `json:"-"`
}

// loadSeries decodes tv.ndjson, with the appended seasons in Seasons. It is the largest
// of the files, so all tests share what it returns and none may change it.
var loadSeries = sync.OnceValues(func() ([]series, error) {
	b, err := fs.ReadFile(FS(), "tv.ndjson")
	if err != nil {
		return nil, err
	}
	var out []series
	for line := range bytes.Lines(b) {
		var s series
		if err := json.Unmarshal(line, &s); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(line, &s.Seasons); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
})

func readSeries(t *testing.T) []series {
	t.Helper()
	out, err := loadSeries()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSeries(t *testing.T) {
	all := readSeries(t)
	if len(all) < 30 {
		t.Errorf("%d series, want at least 30", len(all))
	}
	byID := map[int]series{}
	var tenSeasons, specials, reviewed, translated, foreign, tvdb, oneLiners int
	last := 0
	for _, s := range all {
		if s.ID <= last {
			t.Errorf("%d comes after %d", s.ID, last)
		}
		last, byID[s.ID] = s.ID, s
		checkSeries(t, s)
		overviews := 0
		for _, r := range s.Translations.Rows {
			if r.Language != "en" && r.Data.Overview != "" {
				overviews++
			}
			if r.Data.Name == s.OriginalName {
				t.Errorf("%d: %s repeats the original name", s.ID, r.Language)
			}
		}
		for _, c := range []struct {
			n  *int
			is bool
		}{
			{&tenSeasons, s.SeasonCount >= 10},
			{&specials, s.Seasons[0].Number == 0},
			{&reviewed, len(s.Reviews.Results) > 0},
			{&translated, overviews >= 3},
			{&foreign, s.Language != "en"},
			{&tvdb, s.ExternalIDs.TVDB != nil},
		} {
			if c.is {
				*c.n++
			}
		}
		for _, se := range s.Seasons {
			for _, e := range se.Episodes {
				if e.Overview != "" {
					oneLiners++
				}
			}
		}
	}
	if byID[1399].SeasonCount != 8 || byID[1396].SeasonCount != 5 {
		t.Errorf("1399 has %d seasons, 1396 %d, want 8 and 5", byID[1399].SeasonCount, byID[1396].SeasonCount)
	}
	for _, c := range []struct {
		what      string
		have, min int
	}{
		{"series with ten seasons", tenSeasons, 1},
		{"series with specials", specials, 10},
		{"series with reviews", reviewed, 8},
		{"series with overviews in three more languages", translated, 5},
		{"series not in English", foreign, 8},
		{"series with a TVDB id", tvdb, 12},
		{"episodes with an overview", oneLiners, 30},
	} {
		if c.have < c.min {
			t.Errorf("%s: %d, want at least %d", c.what, c.have, c.min)
		}
	}
}

func checkSeries(t *testing.T, s series) {
	t.Helper()
	if s.Name == "" || s.OriginalName == "" || s.Overview == "" || s.Tagline == "" {
		t.Errorf("%d: an empty text", s.ID)
	}
	if s.ExternalIDs.IMDb == nil || !imdbRE.MatchString(*s.ExternalIDs.IMDb) || s.ExternalIDs.Wikidata == nil {
		t.Errorf("%d: external ids", s.ID)
	}
	if want := firstImage(s.Images.Posters, "en"); s.Poster != want {
		t.Errorf("%d: poster_path %s, first English poster %s", s.ID, s.Poster, want)
	}
	if want := firstImage(s.Images.Backdrops, ""); s.Backdrop != want {
		t.Errorf("%d: backdrop_path %s, first plain backdrop %s", s.ID, s.Backdrop, want)
	}
	checkImageList(t, fmt.Sprintf("series %d: backdrops", s.ID), s.Images.Backdrops, 2, 6, imageRE)
	checkImageList(t, fmt.Sprintf("series %d: posters", s.ID), s.Images.Posters, 3, 8, imageRE)
	checkImageList(t, fmt.Sprintf("series %d: logos", s.ID), s.Images.Logos, 1, 3, logoRE)
	if s.Reviews.Total != len(s.Reviews.Results) {
		t.Errorf("%d: total_results of reviews", s.ID)
	}
	for i, c := range s.Credits.Cast {
		if c.Order != i {
			t.Errorf("%d: order %d of %s, want %d", s.ID, c.Order, c.Name, i)
		}
	}
	checkSeasons(t, s)
}

func checkSeasons(t *testing.T, s series) {
	t.Helper()
	episodes, seasons, latest := 0, 0, ""
	var lastSeen, nextSeen bool
	if len(s.Seasons) != len(s.Summary) {
		t.Fatalf("%d: %d seasons, the summary has %d", s.ID, len(s.Seasons), len(s.Summary))
	}
	for i, se := range s.Seasons {
		row := s.Summary[i]
		if row.Number != se.Number || row.ID != se.ID || row.Name != se.Name || row.Count != len(se.Episodes) || value(row.AirDate) != value(se.AirDate) || value(row.Poster) != value(se.Poster) {
			t.Errorf("%d: season %d differs from its summary", s.ID, se.Number)
		}
		if i > 0 && se.Number <= s.Seasons[i-1].Number || !hexRE.MatchString(se.OID) {
			t.Errorf("%d: season %d after %d, _id %s", s.ID, se.Number, s.Seasons[i-1].Number, se.OID)
		}
		if se.Number > 0 {
			seasons++
			episodes += len(se.Episodes)
		}
		for j, e := range se.Episodes {
			if e.Show != s.ID || e.Season != se.Number || e.Name == "" || j > 0 && e.Number <= se.Episodes[j-1].Number {
				t.Errorf("%d: season %d: episode %d", s.ID, se.Number, e.Number)
			}
			if day := value(e.AirDate); se.Number > 0 && day != "" && day <= s.LastAir {
				latest = max(latest, day)
			}
			lastSeen = lastSeen || s.Last.ID == e.ID && s.Last.Name == e.Name && value(s.Last.AirDate) == s.LastAir
			nextSeen = nextSeen || s.Next != nil && s.Next.ID == e.ID && value(s.Next.AirDate) > s.LastAir
		}
	}
	if seasons != s.SeasonCount || episodes != s.Episodes || latest != s.LastAir {
		t.Errorf("%d: %d seasons with %d episodes, the last on %s; says %d, %d, %s",
			s.ID, seasons, episodes, latest, s.SeasonCount, s.Episodes, s.LastAir)
	}
	if !lastSeen || nextSeen != (s.Next != nil) {
		t.Errorf("%d: last_episode_to_air (%v) or next_episode_to_air (%v) is no episode", s.ID, lastSeen, nextSeen)
	}
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// TestIDs: what must be there once in the whole sample is.
func TestIDs(t *testing.T) {
	credits, episodes, seasons := newOnce(t, "credit id"), newOnce(t, "episode"), newOnce(t, "season")
	hex, keys, imdb := newOnce(t, "id"), newOnce(t, "video key"), newOnce(t, "IMDb id")
	for _, m := range readMovies(t) {
		where := fmt.Sprintf("movie %d", m.ID)
		imdb.add(m.IMDbID, where)
		for _, c := range slices.Concat(m.Credits.Cast, m.Credits.Crew) {
			credits.add(c.CreditID, where)
		}
		for _, r := range m.Reviews.Results {
			hex.add(r.ID, where)
		}
		for _, v := range m.Videos.Results {
			keys.add(v.Key, where)
			hex.add(v.ID, where)
		}
	}
	for _, s := range readSeries(t) {
		where := fmt.Sprintf("series %d", s.ID)
		imdb.add(value(s.ExternalIDs.IMDb), where)
		people := map[string]int{} // by the id of their credit
		list := slices.Concat(s.Credits.Cast, s.Credits.Crew)
		for _, c := range s.CreatedBy {
			list = append(list, c.credit)
		}
		for _, se := range s.Seasons {
			seasons.add(fmt.Sprint(se.ID), where)
			hex.add(se.OID, where)
			for _, e := range se.Episodes {
				episodes.add(fmt.Sprint(e.ID), where)
				for _, c := range e.Crew {
					list = append(list, c.credit)
				}
				for _, c := range e.Guests {
					list = append(list, c.credit)
				}
			}
		}
		for _, c := range list {
			if c.ID <= 0 || strings.TrimSpace(c.Name) == "" || !hexRE.MatchString(c.CreditID) {
				t.Errorf("%s: credit %+v", where, c)
			}
			// A credit is one part or job of one person, however many episodes it is in.
			switch of, again := people[c.CreditID]; {
			case !again:
				people[c.CreditID] = c.ID
				credits.add(c.CreditID, where)
			case of != c.ID:
				t.Errorf("%s: credit %s is of person %d and of person %d", where, c.CreditID, of, c.ID)
			}
		}
		for _, r := range s.Reviews.Results {
			hex.add(r.ID, where)
		}
		for _, v := range s.Videos.Results {
			keys.add(v.Key, where)
			hex.add(v.ID, where)
		}
	}
}
