package gen

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// kindOf are the kinds of records that the parts of a dump hold.
var kindOf = map[string]string{
	"movies": "movie", "tv": "tv", "people": "person", "collections": "collection", "companies": "company",
	"networks": "network", "keywords": "keyword",
}

// parse fills rec from a row and checks that it holds all of it: appended again, it is
// the row.
func parse(t *testing.T, p *record.Parser, row string, rec record.Record) {
	t.Helper()
	if err := p.Parse(row, rec); err != nil {
		t.Fatalf("Parse: %v in %s", err, row)
	}
	if got := string(record.Append(nil, rec)); got != row {
		t.Fatalf("parsed and appended = %s, want %s", got, row)
	}
}

// line returns record i of a part without its line break.
func line(t *testing.T, w *world, part *population, i uint64) string {
	t.Helper()
	j := writer{w: w}
	writeLine(&j, part, i)
	row, ok := strings.CutSuffix(string(j.b), "\n")
	if !ok || strings.ContainsAny(row, "\n\t") || !utf8.ValidString(row) {
		t.Fatalf("%s %d = %s, want one line of UTF-8", part.name, i, row)
	}
	return row
}

// seasonsIn returns the seasons that are appended to a series, in order.
func seasonsIn(t *testing.T, p *record.Parser, s *catalog.TV) []catalog.Season {
	t.Helper()
	var out []catalog.Season
	rest := s.Extra
	for rest != "" {
		name, tail, _ := strings.Cut(rest, ":")
		end := objectEnd(tail)
		var one catalog.Season
		parse(t, p, tail[:end], record.Of(&one))
		if want := fmt.Sprintf("%q", fmt.Sprintf("season/%d", one.SeasonNumber.V)); name != want {
			t.Errorf("season %d is appended as %s, want %s", one.SeasonNumber.V, name, want)
		}
		out = append(out, one)
		rest = strings.TrimPrefix(tail[end:], ",")
	}
	return out
}

// objectEnd returns the length of the JSON object at the start of s.
func objectEnd(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && c == '{':
			depth++
		case !quoted && c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// A catalogue is all records of a small dump, by id.
type catalogue struct {
	movies      map[int64]*catalog.Movie
	tv          map[int64]*catalog.TV
	people      map[int64]*catalog.Person
	collections map[int64]*catalog.Collection
	companies   map[int64]*catalog.Company
	networks    map[int64]*catalog.Network
	keywords    map[int64]*catalog.KeywordRecord
	seasons     map[int64][]catalog.Season // by series
}

func all(t *testing.T, c *Config) *catalogue {
	t.Helper()
	out := &catalogue{seasons: map[int64][]catalog.Season{}}
	w := newWorld(c)
	out.movies = records[catalog.Movie](t, w, w.movies)
	out.tv = records[catalog.TV](t, w, w.tv)
	out.people = records[catalog.Person](t, w, w.people)
	out.collections = records[catalog.Collection](t, w, w.collections)
	out.companies = records[catalog.Company](t, w, w.companies)
	out.networks = records[catalog.Network](t, w, w.networks)
	out.keywords = records[catalog.KeywordRecord](t, w, w.keywords)
	p := record.NewParser()
	for id, s := range out.tv {
		out.seasons[id] = seasonsIn(t, p, s)
	}
	if len(p.Counts.Unknown)+len(p.Counts.Coerced) > 0 {
		t.Errorf("seasons: counts = %+v, want none", p.Counts)
	}
	return out
}

// records returns all records of a part by id, in the order of their ids. Each is one of its kind to the
// last member; nothing is unknown, nothing of another type.
func records[T any](t *testing.T, w *world, part *population) map[int64]*T {
	t.Helper()
	typ, _ := catalog.TypeNamed(kindOf[part.name])
	p := record.NewParser()
	out := map[int64]*T{}
	var last catalog.Key
	for i := range part.n {
		rec := typ.New()
		parse(t, p, line(t, w, part, i), rec)
		key, err := typ.Key(rec)
		if err != nil || key.Compare(last) <= 0 {
			t.Fatalf("%s %d: key %v after %v, %v, want ascending ids", part.name, i, key, last, err)
		}
		last = key
		out[int64(key.ID())] = record.As[T](rec)
	}
	for path := range p.Counts.Unknown { // seasons are appended under names of their own
		if part.name == "tv" && strings.HasPrefix(path, "season/") {
			delete(p.Counts.Unknown, path)
		}
	}
	if len(p.Counts.Unknown)+len(p.Counts.Coerced) > 0 {
		t.Errorf("%s: counts = %+v, want none", part.name, p.Counts)
	}
	return out
}

// TestReferences: references lead to records of the dump and repeat their values.
func TestReferences(t *testing.T) {
	c := all(t, &Config{Movies: 500, TV: 80, Seed: 11})
	collected := 0
	for _, m := range c.movies {
		for _, p := range m.Credits.Cast {
			c.person(t, "cast", p.ID, p.Name, p.Gender, p.Popularity, p.ProfilePath, p.KnownForDepartment)
		}
		for _, p := range m.Credits.Crew {
			c.person(t, "crew", p.ID, p.Name, p.Gender, p.Popularity, p.ProfilePath, p.KnownForDepartment)
		}
		c.companyRefs(t, m.ProductionCompanies)
		for _, k := range m.Keywords.Keywords {
			if r := c.keywords[k.ID.V]; r == nil || r.Name != k.Name {
				t.Errorf("movie %d: keyword %+v, want that of %+v", m.ID.V, k, r)
			}
		}
		if in := m.BelongsToCollection; in != nil {
			collected++
			if r := c.collections[in.ID.V]; r == nil || r.Name != in.Name || r.PosterPath != in.PosterPath {
				t.Errorf("movie %d: collection %+v, want that of %+v", m.ID.V, in, r)
			}
		}
	}
	for id, s := range c.tv {
		c.companyRefs(t, s.ProductionCompanies)
		for _, n := range s.Networks {
			if r := c.networks[n.ID.V]; r == nil || r.Name != n.Name || r.LogoPath != n.LogoPath || r.OriginCountry != n.OriginCountry {
				t.Errorf("tv %d: network %+v, want that of %+v", id, n, r)
			}
		}
		for _, season := range c.seasons[id] {
			for _, e := range season.Episodes {
				for _, p := range e.GuestStars {
					c.person(t, "guest star", p.ID, p.Name, p.Gender, p.Popularity, p.ProfilePath, p.KnownForDepartment)
				}
				for _, p := range e.Crew {
					c.person(t, "episode crew", p.ID, p.Name, p.Gender, p.Popularity, p.ProfilePath, p.KnownForDepartment)
				}
			}
		}
	}
	if collected < 5 {
		t.Errorf("%d movies are in collections, want more to compare", collected)
	}
}

func (c *catalogue) person(t *testing.T, what string, id record.Int, name record.String, gender record.Int, popularity record.Float, profile, known record.String) {
	t.Helper()
	p := c.people[id.V]
	if p == nil {
		t.Fatalf("%s: no person %d", what, id.V)
	}
	if p.Name != name || p.Gender != gender || p.Popularity != popularity || p.ProfilePath != profile || p.KnownForDepartment != known {
		t.Errorf("%s: person %d is %v, %v, %v, %v, %v, want %v, %v, %v, %v, %v", what, id.V, name, gender, popularity, profile, known,
			p.Name, p.Gender, p.Popularity, p.ProfilePath, p.KnownForDepartment)
	}
}

func (c *catalogue) companyRefs(t *testing.T, list []catalog.CompanyRef) {
	t.Helper()
	for _, ref := range list {
		r := c.companies[ref.ID.V]
		if r == nil || r.Name != ref.Name || r.LogoPath != ref.LogoPath || r.OriginCountry != ref.OriginCountry {
			t.Errorf("company %+v, want that of %+v", ref, r)
		}
	}
}

// TestAnswersHoldTogether: dates are dates, lists are ordered, ids are of one record.
func TestAnswersHoldTogether(t *testing.T) {
	c := all(t, &Config{Movies: 400, TV: 150, Seed: 5})
	credits := map[string]bool{}
	for id, m := range c.movies {
		checkDate(t, fmt.Sprintf("movie %d", id), m.ReleaseDate.V)
		for i, p := range m.Credits.Cast {
			if p.Order.V != int64(i) || credits[p.CreditID.V] || len(p.CreditID.V) != 24 {
				t.Errorf("movie %d: cast[%d] has order %d and credit %s, want its place and an id of its own", id, i, p.Order.V, p.CreditID.V)
			}
			credits[p.CreditID.V] = true
		}
		checkImages(t, fmt.Sprintf("movie %d", id), m.Images)
		if tr := m.Translations.Translations; len(tr) == 0 || tr[0].ISO639.V != "en" || tr[0].Data.Overview != m.Overview {
			t.Errorf("movie %d: translations start with %+v, want English with the overview", id, tr)
		}
		for _, country := range m.ReleaseDates.Results {
			for _, r := range country.ReleaseDates {
				if _, err := time.Parse("2006-01-02T15:04:05.000Z", r.ReleaseDate.V); err != nil || r.Type.V < 1 || r.Type.V > 6 {
					t.Errorf("movie %d: release %+v, want a time and a type from 1 to 6", id, r)
				}
			}
		}
	}
	seasons, episodes := map[int64]bool{}, map[int64]bool{}
	for id, s := range c.tv {
		checkDate(t, fmt.Sprintf("tv %d", id), s.FirstAirDate.V)
		checkImages(t, fmt.Sprintf("tv %d", id), s.Images)
		list := c.seasons[id]
		for i := range list {
			checkSeason(t, id, &list[i], seasons, episodes)
		}
		if len(list) == 0 || s.Seasons != nil || s.NumberOfEpisodes.Set {
			t.Errorf("tv %d: %d seasons are appended, and the series has %+v and %+v, want those that the build derives", id, len(list), s.Seasons, s.NumberOfEpisodes)
		}
	}
	for id, p := range c.people {
		checkDate(t, fmt.Sprintf("person %d", id), p.Birthday.V)
		checkDate(t, fmt.Sprintf("person %d", id), p.Deathday.V)
	}
}

func checkSeason(t *testing.T, id int64, s *catalog.Season, seasons, episodes map[int64]bool) {
	t.Helper()
	if seasons[s.ID.V] {
		t.Errorf("tv %d: season id %d is taken", id, s.ID.V)
	}
	seasons[s.ID.V] = true
	last := ""
	for i, e := range s.Episodes {
		regular := s.SeasonNumber.V > 0 // the sample's specials have gaps, and stand in the order of their numbers
		if regular && e.EpisodeNumber.V != int64(i+1) || e.ShowID.V != id || e.SeasonNumber != s.SeasonNumber || episodes[e.ID.V] {
			t.Errorf("tv %d: episode %d of season %d is %+v", id, i+1, s.SeasonNumber.V, e)
		}
		episodes[e.ID.V] = true
		checkDate(t, fmt.Sprintf("tv %d", id), e.AirDate.V)
		if regular && e.AirDate.Set && e.AirDate.V < last {
			t.Errorf("tv %d: episode %d airs on %s, before the one before it", id, i+1, e.AirDate.V)
		}
		last = max(last, e.AirDate.V)
	}
}

func checkDate(t *testing.T, what, date string) {
	t.Helper()
	if date == "" {
		return
	}
	if _, err := time.Parse(time.DateOnly, date); err != nil || date < "1870" || date > "2050" {
		t.Errorf("%s: date %q, %v", what, date, err)
	}
}

func checkImages(t *testing.T, what string, m *catalog.Images) {
	t.Helper()
	for _, list := range [][]catalog.Image{m.Posters, m.Backdrops, m.Logos} {
		for _, one := range list {
			if one.Width.V < 100 || one.Height.V < 100 || one.AspectRatio.V <= 0 {
				t.Errorf("%s: image %+v", what, one)
			}
		}
	}
}
