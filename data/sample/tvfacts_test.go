package sample

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// tvFact is what the crawl says about a series.
type tvFact struct {
	Show struct {
		ID           int    `json:"tmdbId"`
		IMDb         string `json:"imdbId"`
		Name         string
		OriginalName string
		FirstAirDate string
		Overview     string
	} `json:"tvShow"`
	Seasons     []season
	ExternalIDs struct {
		Wikidata string `json:"wikidataId"`
	} `json:"externalIds"`
}

// readMovnixTV returns the rows of the crawl that are about want.
func readMovnixTV(t *testing.T, want map[int]series) map[int]tvFact {
	t.Helper()
	f, err := os.Open(sharedtest.Path(t, "dumps", "movnix", "tv.ndjson.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	out := map[int]tvFact{}
	r := bufio.NewReader(z)
	for {
		line, err := r.ReadBytes('\n')
		var id struct {
			ID int `json:"tmdbId"`
		}
		// Most rows are long and not wanted: the first object tells.
		if _, rest, ok := bytes.Cut(line, []byte(`"tvShow":`)); ok {
			if err := json.NewDecoder(bytes.NewReader(rest)).Decode(&id); err != nil {
				t.Fatal(err)
			}
		}
		if _, ok := want[id.ID]; ok {
			var row tvFact
			if err := json.Unmarshal(line, &row); err != nil {
				t.Fatal(err)
			}
			out[id.ID] = row
		}
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func seriesByID(t *testing.T) map[int]series {
	t.Helper()
	out := map[int]series{}
	for _, s := range readSeries(t) {
		out[s.ID] = s
	}
	return out
}

// TestTVFacts compares with the crawl: names, dates, and every season and episode.
func TestTVFacts(t *testing.T) {
	skipAlone(t)
	all := seriesByID(t)
	facts := readMovnixTV(t, all)
	episodes := 0
	for id, f := range facts {
		s := all[id]
		if s.Name != strings.TrimSpace(f.Show.Name) || s.OriginalName != strings.TrimSpace(f.Show.OriginalName) || s.FirstAir != f.Show.FirstAirDate {
			t.Errorf("%d: %q, %q, %s; the crawl has %q, %q, %s", id, s.Name, s.OriginalName, s.FirstAir, f.Show.Name, f.Show.OriginalName, f.Show.FirstAirDate)
		}
		if value(s.ExternalIDs.IMDb) != f.Show.IMDb || value(s.ExternalIDs.Wikidata) != f.ExternalIDs.Wikidata {
			t.Errorf("%d: IMDb id %s, Wikidata id %s", id, value(s.ExternalIDs.IMDb), value(s.ExternalIDs.Wikidata))
		}
		if len(s.Seasons) != len(f.Seasons) {
			t.Errorf("%d: %d seasons, the crawl has %d", id, len(s.Seasons), len(f.Seasons))
			continue
		}
		known := map[int]episode{}
		for _, se := range f.Seasons {
			for _, e := range se.Episodes {
				known[e.ID] = e
			}
		}
		for _, se := range s.Seasons {
			for _, e := range se.Episodes {
				k := known[e.ID]
				if e.Name != strings.TrimSpace(k.Name) || value(e.AirDate) != value(k.AirDate) || e.Number != k.Number || e.Season != k.Season {
					t.Errorf("%d: season %d, episode %d: %q on %s; the crawl has %q on %s", id, e.Season, e.Number, e.Name, value(e.AirDate), k.Name, value(k.AirDate))
				}
				people := map[int]string{}
				for _, c := range k.Crew {
					people[c.ID] += "," + c.Job + ","
				}
				for _, c := range k.Guests {
					people[c.ID] += "," + c.Character + ","
				}
				for _, c := range e.Crew {
					if !strings.Contains(people[c.ID], ","+c.Job+",") {
						t.Errorf("%d: season %d, episode %d: %s, %s", id, e.Season, e.Number, c.Name, c.Job)
					}
				}
				for _, c := range e.Guests {
					if people[c.ID] == "" {
						t.Errorf("%d: season %d, episode %d: guest %s", id, e.Season, e.Number, c.Name)
					}
				}
				episodes++
			}
		}
	}
	if len(facts) < 40 || episodes < 1500 {
		t.Errorf("compared %d series with %d episodes, want 40 with 1500", len(facts), episodes)
	}
	t.Logf("%d series with %d episodes compared", len(facts), episodes)
}

func readRecorded(t *testing.T, v any, elem ...string) {
	t.Helper()
	b, err := os.ReadFile(sharedtest.Path(t, append([]string{"recorded"}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", filepath.Join(elem...), err)
	}
}

// TestPeopleFacts compares names with the table of persons, the rest with recorded
// answers and with IMDb's own list.
func TestPeopleFacts(t *testing.T) {
	people := map[int]person{}
	for _, p := range readRows[person](t, "people.ndjson") {
		people[p.ID] = p
	}
	// Two rows of the table name somebody else; recorded credits have it right.
	wrong := map[int]bool{22970: true, 73421: true}
	rows, err := parquet.ReadFile[struct {
		ID   int64  `parquet:"id"`
		Name string `parquet:"name"`
	}](sharedtest.Path(t, "dumps", "parquet-duckdb", "persons.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, r := range rows {
		if p, ok := people[int(r.ID)]; ok && !wrong[p.ID] {
			names++
			if p.Name != r.Name {
				t.Errorf("%d: %s, the table has %s", p.ID, p.Name, r.Name)
			}
		}
	}
	recorded := 0
	for _, file := range recordedFiles(t, "person", "details") {
		var p person
		readRecorded(t, &p, "person", file)
		have, ok := people[p.ID]
		if !ok {
			continue
		}
		recorded++
		if value(have.Birthday) != value(p.Birthday) || value(have.Deathday) != value(p.Deathday) || value(have.IMDb) != value(p.IMDb) {
			t.Errorf("%d: born %s, died %s, %s; %s has %s, %s, %s", p.ID, value(have.Birthday), value(have.Deathday), value(have.IMDb), file, value(p.Birthday), value(p.Deathday), value(p.IMDb))
		}
	}
	list := readNameBasics(t)
	years := 0
	for _, p := range people {
		row, ok := list[value(p.IMDb)]
		if !ok {
			continue
		}
		years++
		if b := value(p.Birthday); b != "" && year(b) != row[1] || p.Deathday != nil && year(*p.Deathday) != row[2] {
			t.Errorf("%d: %s born %s, died %s; IMDb has %v", p.ID, p.Name, b, value(p.Deathday), row)
		}
	}
	if names < 300 || recorded < 5 || years < 20 {
		t.Errorf("compared %d names, %d recorded people, %d rows of IMDb's", names, recorded, years)
	}
	t.Logf("%d names, %d recorded people, %d rows of IMDb's compared", names, recorded, years)
}

// recordedFiles returns the names of the recordings in a folder that begin with prefix.
func recordedFiles(t *testing.T, folder, prefix string) []string {
	t.Helper()
	entries, err := os.ReadDir(sharedtest.Path(t, "recorded", folder))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && !strings.Contains(e.Name(), "openapi") {
			out = append(out, e.Name())
		}
	}
	return out
}

// readNameBasics returns name, year of birth and year of death by IMDb id.
func readNameBasics(t *testing.T) map[string][3]string {
	t.Helper()
	f, err := os.Open(sharedtest.Path(t, "dumps", "imdb", "name.basics.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][3]string{}
	for line := range strings.Lines(string(b)) {
		if cells := strings.Split(line, "\t"); len(cells) >= 4 {
			out[cells[0]] = [3]string{cells[1], cells[2], cells[3]}
		}
	}
	return out
}
