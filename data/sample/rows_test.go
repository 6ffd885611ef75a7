package sample

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The rows of the sample as far as tests look at them.

type credit struct {
	ID        int    `json:"id"`
	Name      string `json:"name"`
	Job       string `json:"job"`
	Character string `json:"character"`
}

type movie struct {
	ID            int    `json:"id"`
	OriginalTitle string `json:"original_title"`
	ReleaseDate   string `json:"release_date"`
	Runtime       int    `json:"runtime"`
}

type person struct {
	ID       int
	Name     string
	Birthday *string
	Deathday *string
	IMDb     *string `json:"imdb_id"`
}

type episode struct {
	ID       int
	Name     string
	Overview string
	AirDate  *string `json:"air_date"`
	Number   int     `json:"episode_number"`
	Season   int     `json:"season_number"`
	Crew     []credit
	Guests   []credit `json:"guest_stars"`
}

type season struct {
	ID       int
	Overview string
	AirDate  *string `json:"air_date"`
	Number   int     `json:"season_number"`
	Episodes []episode
}

type series struct {
	ID           int
	Name         string
	OriginalName string `json:"original_name"`
	FirstAir     string `json:"first_air_date"`
	ExternalIDs  struct {
		IMDb     *string `json:"imdb_id"`
		Wikidata *string `json:"wikidata_id"`
	} `json:"external_ids"`
	Seasons []season `json:"-"` // those that are appended, in ascending order
}

// loadSeries decodes tv.ndjson. It is the largest of the files, so all tests share what it returns and
// none may change it.
var loadSeries = sync.OnceValues(func() ([]series, error) {
	b, err := fs.ReadFile(FS(), "tv.ndjson")
	if err != nil {
		return nil, err
	}
	var out []series
	for line := range bytes.Lines(b) {
		var s series
		var parts map[string]json.RawMessage
		if err := json.Unmarshal(line, &s); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(line, &parts); err != nil {
			return nil, err
		}
		for key, raw := range parts {
			if !strings.HasPrefix(key, "season/") {
				continue
			}
			var one season
			if err := json.Unmarshal(raw, &one); err != nil {
				return nil, err
			}
			s.Seasons = append(s.Seasons, one)
		}
		slices.SortFunc(s.Seasons, func(a, b season) int { return cmp.Compare(a.Number, b.Number) })
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

// readRows decodes every line of file.
func readRows[T any](t *testing.T, file string) []T {
	t.Helper()
	b, err := fs.ReadFile(FS(), file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(b, []byte("\n")) {
		t.Fatalf("%s: the last line does not end with a newline", file)
	}
	var out []T
	for line := range bytes.Lines(b) {
		var row T
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatalf("%s: line %d: %v", file, len(out)+1, err)
		}
		out = append(out, row)
	}
	return out
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
