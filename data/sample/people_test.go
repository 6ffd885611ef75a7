package sample

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"
)

var peopleLayout = parseLayout(`
row: adult,also_known_as,biography,birthday,deathday,gender,homepage,id,imdb_id,known_for_department,name,place_of_birth,popularity,profile_path
row: external_ids,images,translations
external_ids: freebase_mid,freebase_id,imdb_id,tvrage_id,wikidata_id,facebook_id,instagram_id,tiktok_id,twitter_id,youtube_id
images: profiles
images.profiles[]: ` + imageKeys + `
translations: translations
translations.translations[]: ` + langKeys + `
translations.translations[].data: biography,name
`)

type person struct {
	ID          int
	Name        string
	Biography   string
	Birthday    *string
	Deathday    *string
	Place       *string `json:"place_of_birth"`
	Gender      int
	IMDb        *string `json:"imdb_id"`
	Profile     *string `json:"profile_path"`
	ExternalIDs struct {
		IMDb     *string `json:"imdb_id"`
		Wikidata *string `json:"wikidata_id"`
	} `json:"external_ids"`
	Images       struct{ Profiles []image }
	Translations struct {
		Rows []struct {
			Language string `json:"iso_639_1"`
			Data     struct{ Biography, Name string }
		} `json:"translations"`
	}
}

// credited returns the credits of everybody in the credits of films and series.
func credited(t *testing.T) map[int][]credit {
	t.Helper()
	out := map[int][]credit{}
	add := func(list ...credit) {
		for _, c := range list {
			out[c.ID] = append(out[c.ID], c)
		}
	}
	for _, m := range readMovies(t) {
		add(slices.Concat(m.Credits.Cast, m.Credits.Crew)...)
	}
	for _, s := range readSeries(t) {
		add(slices.Concat(s.Credits.Cast, s.Credits.Crew)...)
		for _, c := range s.CreatedBy {
			add(c.credit)
		}
		for _, se := range s.Seasons {
			for _, e := range se.Episodes {
				for _, c := range e.Crew {
					add(c.credit)
				}
				for _, c := range e.Guests {
					add(c.credit)
				}
			}
		}
	}
	return out
}

var (
	personIMDbRE = regexp.MustCompile(`^nm\d{7,8}$`)
	wikidataRE   = regexp.MustCompile(`^Q[1-9]\d*$`)
)

func TestPeople(t *testing.T) {
	checkBytes(t, "people.ndjson", peopleLayout, nil)
	credits := credited(t)
	imdb, wikidata := newOnce(t, "IMDb id"), newOnce(t, "Wikidata id")
	people := readRows[person](t, "people.ndjson")
	var biographies, birthdays, imdbs, last int
	var pitt bool
	for _, p := range people {
		where := fmt.Sprintf("person %d", p.ID)
		if p.ID <= last {
			t.Errorf("%d comes after %d", p.ID, last)
		}
		last, pitt = p.ID, pitt || p.ID == 287
		if len(credits[p.ID]) == 0 {
			t.Errorf("%s (%s) is in no credits", where, p.Name)
		}
		for _, c := range credits[p.ID] {
			if c.Name != p.Name || value(c.Profile) != value(p.Profile) || c.Gender != p.Gender {
				t.Errorf("%s: %s, gender %d; a credit has %s, %d", where, p.Name, p.Gender, c.Name, c.Gender)
				break
			}
		}
		if id := value(p.IMDb); id != value(p.ExternalIDs.IMDb) || id != "" && !personIMDbRE.MatchString(id) {
			t.Errorf("%s: IMDb id %s", where, id)
		} else if id != "" {
			imdb.add(id, where)
			imdbs++
		}
		if id := value(p.ExternalIDs.Wikidata); id != "" {
			wikidata.add(id, where)
			if !wikidataRE.MatchString(id) {
				t.Errorf("%s: Wikidata id %s", where, id)
			}
		}
		checkDates(t, where, p)
		if p.Birthday != nil {
			birthdays++
		}
		if p.Biography != "" {
			biographies++
			if len(p.Translations.Rows) == 0 || p.Translations.Rows[0].Data.Biography != p.Biography {
				t.Errorf("%s: no English row", where)
			}
		}
		if n := len(p.Images.Profiles); (n > 0) != (p.Profile != nil) || n > 0 && p.Images.Profiles[0].FilePath != *p.Profile {
			t.Errorf("%s: profile_path is not the first of %d profiles", where, n)
		}
		checkImageList(t, where, p.Images.Profiles, 0, 3, imageRE)
	}
	if !pitt {
		t.Error("287 is missing")
	}
	for _, c := range []struct {
		what      string
		have, min int
	}{
		{"people", len(people), 400},
		{"biographies", biographies, 100},
		{"birthdays", birthdays, 200},
		{"people with an IMDb id", imdbs, 200},
	} {
		if c.have < c.min {
			t.Errorf("%s: %d, want at least %d", c.what, c.have, c.min)
		}
	}
}

// checkDates: days are days, nobody dies before the birth, and who has a birthday has a
// place of birth.
func checkDates(t *testing.T, where string, p person) {
	t.Helper()
	for _, d := range []*string{p.Birthday, p.Deathday} {
		if d == nil {
			continue
		}
		if _, err := time.Parse(time.DateOnly, *d); err != nil {
			t.Errorf("%s: %v", where, err)
		}
	}
	if p.Deathday != nil && value(p.Birthday) >= *p.Deathday || p.Birthday != nil && value(p.Place) == "" {
		t.Errorf("%s: %s in %s, %s", where, value(p.Birthday), value(p.Place), value(p.Deathday))
	}
}
