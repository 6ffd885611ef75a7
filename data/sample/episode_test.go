package sample

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// seasonParts are the appended seasons of a series, in ascending order.
type seasonParts []season

func (p *seasonParts) UnmarshalJSON(b []byte) error {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for key, raw := range parts {
		if !strings.HasPrefix(key, "season/") {
			continue
		}
		var s season
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		*p = append(*p, s)
	}
	slices.SortFunc(*p, func(a, b season) int { return cmp.Compare(a.Number, b.Number) })
	return nil
}

var (
	seasonLayout = parseLayout(`
row: series_id,season_number,external_ids,images,translations,videos
external_ids: freebase_mid,freebase_id,tvdb_id,tvrage_id,wikidata_id
images: posters
images.posters[]: ` + imageKeys + `
translations: translations
translations.translations[]: ` + langKeys + `
translations.translations[].data: name,overview
videos: results
videos.results[]: ` + videoKeys + `
`)
	episodeLayout = parseLayout(`
row: series_id,season_number,episode_number,external_ids,images,translations
external_ids: imdb_id,freebase_mid,freebase_id,tvdb_id,tvrage_id,wikidata_id
images: stills
images.stills[]: ` + imageKeys + `
translations: translations
translations.translations[]: ` + langKeys + `
translations.translations[].data: name,overview
`)
	groupLayout = parseLayout(`
row: description,episode_count,group_count,groups,id,name,network,type
groups[]: id,name,order,episodes,locked
groups[].episodes[]: air_date,episode_number,episode_type,id,name,overview,production_code,runtime,season_number,show_id,still_path,vote_average,vote_count,order
`)
)

// extra is a row of seasons.ndjson or episodes.ndjson.
type extra struct {
	Series      int `json:"series_id"`
	Season      int `json:"season_number"`
	Episode     int `json:"episode_number"`
	ExternalIDs struct {
		IMDb     *string `json:"imdb_id"`
		TVDB     *int    `json:"tvdb_id"`
		Wikidata *string `json:"wikidata_id"`
	} `json:"external_ids"`
	Images       struct{ Posters, Stills []image }
	Translations struct {
		Rows []struct {
			Language string `json:"iso_639_1"`
			Data     struct{ Name, Overview string }
		} `json:"translations"`
	}
}

func (x extra) where() string { return fmt.Sprintf("%d/%d/%d", x.Series, x.Season, x.Episode) }

// compareExtra is the order of the rows: the key of the record.
func compareExtra(a, b extra) int {
	return cmp.Or(cmp.Compare(a.Series, b.Series), cmp.Compare(a.Season, b.Season), cmp.Compare(a.Episode, b.Episode))
}

func TestSeasonsAndEpisodes(t *testing.T) {
	checkBytes(t, "seasons.ndjson", seasonLayout, nil)
	checkBytes(t, "episodes.ndjson", episodeLayout, nil)
	seasons, episodes := map[string]season{}, map[string]episode{}
	for _, s := range readSeries(t) {
		for _, se := range s.Seasons {
			seasons[extra{Series: s.ID, Season: se.Number}.where()] = se
			for _, e := range se.Episodes {
				episodes[extra{Series: s.ID, Season: se.Number, Episode: e.Number}.where()] = e
			}
		}
	}
	for _, file := range []string{"seasons.ndjson", "episodes.ndjson"} {
		rows := readRows[extra](t, file)
		if !slices.IsSortedFunc(rows, compareExtra) || len(rows) < 10 {
			t.Errorf("%s: %d rows, or not sorted", file, len(rows))
		}
	}
	for _, x := range readRows[extra](t, "seasons.ndjson") {
		se, ok := seasons[x.where()]
		if !ok || firstImage(x.Images.Posters, "en") != value(se.Poster) || x.Translations.Rows[0].Data.Name != se.Name || x.Translations.Rows[0].Data.Overview != se.Overview {
			t.Errorf("season %s is not that of the series", x.where())
		}
		checkImageList(t, "season "+x.where(), x.Images.Posters, 2, 4, imageRE)
	}
	imdb := newOnce(t, "IMDb id")
	for _, x := range readRows[extra](t, "episodes.ndjson") {
		e, ok := episodes[x.where()]
		if !ok || firstImage(x.Images.Stills, "") != value(e.Still) || x.Translations.Rows[0].Data.Name != e.Name || x.Translations.Rows[0].Data.Overview != e.Overview {
			t.Errorf("episode %s is not that of the series", x.where())
		}
		if id := value(x.ExternalIDs.IMDb); id != "" {
			imdb.add(id, x.where())
		}
		checkImageList(t, "episode "+x.where(), x.Images.Stills, 1, 4, imageRE)
	}
}

// TestEpisodeGroups: a group holds episodes of the series that names it, as they are.
func TestEpisodeGroups(t *testing.T) {
	checkBytes(t, "episode_groups.ndjson", groupLayout, nil)
	episodes, named := map[int]episode{}, map[string]int{}
	for _, s := range readSeries(t) {
		for _, se := range s.Seasons {
			for _, e := range se.Episodes {
				episodes[e.ID] = e
			}
		}
		if s.Groups != nil {
			for _, g := range s.Groups.Results {
				named[g.ID] = s.ID
			}
		}
	}
	groups := readRows[struct {
		ID           string
		EpisodeCount int `json:"episode_count"`
		GroupCount   int `json:"group_count"`
		Groups       []struct {
			ID       string
			Order    int
			Episodes []struct {
				episode
				Order int
			}
		}
	}](t, "episode_groups.ndjson")
	if len(groups) != len(named) || len(groups) == 0 {
		t.Errorf("%d groups, series name %v", len(groups), named)
	}
	for _, g := range groups {
		count := 0
		seen := newOnce(t, "episode")
		for i, part := range g.Groups {
			if part.Order != i+1 || !hexRE.MatchString(part.ID) {
				t.Errorf("%s: group %s has order %d", g.ID, part.ID, part.Order)
			}
			for k, e := range part.Episodes {
				want := episodes[e.ID]
				if e.Show != named[g.ID] || e.Name != want.Name || value(e.AirDate) != value(want.AirDate) || e.Season != want.Season || e.Number != want.Number || e.Order != k {
					t.Errorf("%s: episode %d differs", g.ID, e.ID)
				}
				seen.add(fmt.Sprint(e.ID), part.ID)
				count++
			}
		}
		if count != g.EpisodeCount || len(g.Groups) != g.GroupCount {
			t.Errorf("%s: %d episodes in %d groups", g.ID, count, len(g.Groups))
		}
	}
}
