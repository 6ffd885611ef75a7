package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/edge"
)

// movnixTV is a row of the dump: what is compared with the responses.
type movnixTV struct {
	Show struct {
		ID           int64   `json:"tmdbId"`
		Name         string  `json:"name"`
		OriginalName *string `json:"originalName"`
		FirstAirDate *string `json:"firstAirDate"`
		LastAirDate  *string `json:"lastAirDate"`
		Status       *string `json:"status"`
		IMDb         *string `json:"imdbId"`
		Poster       *string `json:"posterPath"`
	} `json:"tvShow"`
	Companies []struct{} `json:"companies"`
	Credits   []struct{} `json:"credits"`
	Videos    []struct{} `json:"videos"`
	Titles    []struct{} `json:"alternativeTitles"`
	Seasons   []struct {
		Number   int64   `json:"season_number"`
		ID       int64   `json:"id"`
		Name     string  `json:"name"`
		AirDate  *string `json:"air_date"`
		Episodes []struct {
			Number  int64      `json:"episode_number"`
			ID      int64      `json:"id"`
			Name    string     `json:"name"`
			AirDate *string    `json:"air_date"`
			Crew    []struct{} `json:"crew"`
			Guests  []struct{} `json:"guest_stars"`
		} `json:"episodes"`
	} `json:"seasons"`
}

func (r *movnixTV) episodes() (n int) {
	for i := range r.Seasons {
		n += len(r.Seasons[i].Episodes)
	}
	return n
}

// readMovnixTV calls f with each row of the dump.
func readMovnixTV(t *testing.T, f func(r *movnixTV)) {
	t.Helper()
	s := bufio.NewScanner(bytes.NewReader(readDump(t, "movnix", "tv.ndjson.zst")))
	s.Buffer(nil, 1<<26)
	for s.Scan() {
		var r movnixTV
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		f(&r)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}

// movnixSeries is the dump as it lies: 67,312 episodes, which are a long test. movnixWorld
// skips where it is not there.
var movnixSeries = &world{name: "movnix-tv"}

func movnixWorld(t *testing.T) *world {
	t.Helper()
	skipLarge(t)
	sharedtest.Long(t)
	src := sharedtest.Path(t, "dumps", "movnix", "tv.ndjson.zst")
	movnixSeries.source = func(string) (ingest.Config, error) { return ingest.Config{Sources: []string{src}}, nil }
	return movnixSeries
}

// TestMovnixTV: a crawl of series in a layout of its own, with all their seasons and
// episodes, is served in TMDB's shapes.
func TestMovnixTV(t *testing.T) {
	rel := movnixWorld(t).open(t)
	r := &movnixSeries.report
	logReport(t, "movnix/tv", *r)
	if r.Records["tv"] != 780 || r.Records["season"] != 2834 || r.Quarantined != 0 {
		t.Errorf("records %v, quarantined %d, want 780 series, 2834 seasons and none", r.Records, r.Quarantined)
	}
	problems, err := release.Verify(t.Context(), filepath.Join(movnixSeries.releases(), movnixSeries.id), release.VerifyOptions{}, nil)
	if err != nil || len(problems) > 0 {
		t.Errorf("verify: %d problems, %v, want none: %v", len(problems), err, problems[:min(len(problems), 5)])
	}
	var series, seasons, episodes int
	readMovnixTV(t, func(in *movnixTV) {
		checkSeries(t, rel, in)
		series++
		seasons += len(in.Seasons)
		episodes += in.episodes()
	})
	if series != 780 || seasons != 2834 || episodes != 67312 {
		t.Errorf("asked for %d series, %d seasons, %d episodes, want 780, 2834, 67312", series, seasons, episodes)
	}
}

// orEmpty is the text that a null stands for where the API has "".
func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// same compares members with the dump; a nil text is null.
func same(t *testing.T, what string, got *value, want map[string]any) {
	t.Helper()
	for name, w := range want {
		var g any
		if m := got.at(name); m != nil {
			g = m.scalar
		} else {
			g = "(missing)"
		}
		if p, ok := w.(*string); ok && p == nil {
			w = nil
		} else if ok {
			w = *p
		}
		if fmt.Sprint(g) != fmt.Sprint(w) {
			t.Errorf("%s: %s = %v, want %v", what, name, g, w)
		}
	}
}

// checkSeries asks for a series, all its seasons and all their episodes.
func checkSeries(t *testing.T, rel *release.Reader, in *movnixTV) {
	t.Helper()
	what := fmt.Sprintf("tv %d", in.Show.ID)
	got := get(t, rel, fmt.Sprintf("/3/tv/%d?append_to_response=credits,videos,alternative_titles,external_ids", in.Show.ID))
	same(t, what, got, map[string]any{
		"id": in.Show.ID, "name": in.Show.Name, "original_name": orEmpty(in.Show.OriginalName),
		"first_air_date": orEmpty(in.Show.FirstAirDate), "last_air_date": in.Show.LastAirDate,
		"status": orEmpty(in.Show.Status), "poster_path": in.Show.Poster,
	})
	same(t, what, got.at("external_ids"), map[string]any{"imdb_id": in.Show.IMDb})
	for name, n := range map[string][2]int{
		"credits":    {len(got.list("credits", "cast")) + len(got.list("credits", "crew")), len(in.Credits)},
		"videos":     {len(got.list("videos", "results")), len(in.Videos)},
		"titles":     {len(got.list("alternative_titles", "results")), len(in.Titles)},
		"companies":  {len(got.list("production_companies")), len(in.Companies)},
		"seasons":    {len(got.list("seasons")), len(in.Seasons)},
		"of seasons": {int(got.int("number_of_seasons")), len(in.Seasons) - specials(in)},
	} {
		if n[0] != n[1] {
			t.Errorf("%s: %d %s, want %d", what, n[0], name, n[1])
		}
	}
	for i, s := range in.Seasons {
		path := fmt.Sprintf("/3/tv/%d/season/%d", in.Show.ID, s.Number)
		season := get(t, rel, path)
		same(t, path, season, map[string]any{"id": s.ID, "name": s.Name, "air_date": s.AirDate, "season_number": s.Number})
		if list := got.list("seasons"); len(list) == len(in.Seasons) {
			same(t, what, list[i], map[string]any{"id": s.ID, "name": s.Name, "episode_count": len(s.Episodes), "season_number": s.Number})
		}
		list := season.list("episodes")
		if len(list) != len(s.Episodes) {
			t.Errorf("%s: %d episodes, want %d", path, len(list), len(s.Episodes))
			continue
		}
		for i, e := range s.Episodes {
			want := map[string]any{"id": e.ID, "name": e.Name, "air_date": e.AirDate, "episode_number": e.Number}
			same(t, path, list[i], want)
			path := fmt.Sprintf("%s/episode/%d", path, e.Number)
			got := get(t, rel, path)
			same(t, path, got, want)
			if n := len(got.list("crew")); n != len(e.Crew) {
				t.Errorf("%s: crew of %d, want %d", path, n, len(e.Crew))
			}
			if n := len(got.list("guest_stars")); n != len(e.Guests) {
				t.Errorf("%s: %d guests, want %d", path, n, len(e.Guests))
			}
		}
	}
}

// specials counts the seasons of number 0.
func specials(in *movnixTV) (n int) {
	for i := range in.Seasons {
		if in.Seasons[i].Number == 0 {
			n++
		}
	}
	return n
}

// TestLargestShow: the longest series of the dump with twenty seasons appended is one
// response, spliced from its parts, and each part is the response of the season alone.
func TestLargestShow(t *testing.T) {
	rel := movnixWorld(t).open(t)
	var largest movnixTV
	readMovnixTV(t, func(r *movnixTV) {
		if cmp.Compare(r.episodes(), largest.episodes()) > 0 {
			largest = *r
		}
	})
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("season/%d", i+1))
	}
	target := fmt.Sprintf("/3/tv/%d?append_to_response=%s", largest.Show.ID, strings.Join(names, ","))
	start := time.Now()
	a, err := edge.Inspect(rel, target)
	took := time.Since(start)
	if err != nil || a.Status != 200 {
		t.Fatalf("GET %s: status %d, %v", target, a.Status, err)
	}
	t.Logf("GET %s (%s, %d episodes in all): status %d, %d bytes, %d gzip, %d parts, %v",
		target, largest.Show.Name, largest.episodes(), a.Status, len(a.Body), a.GzipBytes, len(a.Pieces), took)
	got, err := parseJSON(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	if tail := got.keys[max(0, len(got.keys)-len(names)):]; !slices.Equal(tail, names) {
		t.Errorf("the last members are %v, want %v", tail, names)
	}
	for i, name := range names {
		alone := get(t, rel, fmt.Sprintf("/3/tv/%d/season/%d", largest.Show.ID, i+1))
		if got.at(name) == nil {
			t.Errorf("%s is not appended", name)
		} else if d := diff(name, got.at(name), alone, nil); len(d) > 0 {
			t.Errorf("%s appended is not the season alone: %s", name, d[0])
		}
	}
}
