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
