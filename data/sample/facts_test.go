package sample

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

func year(date string) string { return date[:min(4, len(date))] }

// TestMovieFacts compares movies with a dump of 2017.
func TestMovieFacts(t *testing.T) {
	skipAlone(t)
	rows, err := csv.NewReader(bytes.NewReader(unpacked(t, "tmdb5000/tmdb_5000_movies.csv.gz"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	col, dump := map[string]int{}, map[string][]string{}
	for i, name := range rows[0] {
		col[name] = i
	}
	for _, row := range rows[1:] {
		dump[row[col["id"]]] = row
	}
	compared := 0
	for _, m := range readRows[movie](t, "movies.ndjson") {
		row, ok := dump[strconv.Itoa(m.ID)]
		if !ok {
			continue
		}
		compared++
		title, date := row[col["original_title"]], row[col["release_date"]]
		runtime, _ := strconv.ParseFloat(row[col["runtime"]], 64) // two rows have none
		if d := int(runtime) - m.Runtime; title != m.OriginalTitle || year(date) != year(m.ReleaseDate) || d < -2 || d > 2 {
			t.Errorf("%d: %q of %s with %d minutes, the dump has %q of %s with %g", m.ID, m.OriginalTitle, m.ReleaseDate, m.Runtime, title, date, runtime)
		}
	}
	if compared < 100 {
		t.Errorf("only %d movies are in the dump, want at least 100", compared)
	}
}

// A tvFact is a series of a crawl.
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

// readMovnixTV returns the rows of the crawl about series of the sample.
func readMovnixTV(t *testing.T, want map[int]series) map[int]tvFact {
	t.Helper()
	out := map[int]tvFact{}
	for line := range bytes.Lines(unpacked(t, "movnix/tv.ndjson.zst")) {
		// Most rows are long and of other series: the first object has the id.
		var id struct {
			ID int `json:"tmdbId"`
		}
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
	}
	return out
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
				compareEpisode(t, id, e, known[e.ID])
				episodes++
			}
		}
	}
	if len(facts) < 40 || episodes < 1500 {
		t.Errorf("compared %d series with %d episodes, want 40 with 1500", len(facts), episodes)
	}
}

func compareEpisode(t *testing.T, series int, e, known episode) {
	t.Helper()
	if e.Name != strings.TrimSpace(known.Name) || value(e.AirDate) != value(known.AirDate) || e.Number != known.Number || e.Season != known.Season {
		t.Errorf("%d: season %d, episode %d: %q on %s; the crawl has %q on %s", series, e.Season, e.Number, e.Name, value(e.AirDate), known.Name, value(known.AirDate))
	}
	people := map[int]string{}
	for _, c := range known.Crew {
		people[c.ID] += "," + c.Job + ","
	}
	for _, c := range known.Guests {
		people[c.ID] += "," + c.Character + ","
	}
	for _, c := range e.Crew {
		if !strings.Contains(people[c.ID], ","+c.Job+",") {
			t.Errorf("%d: season %d, episode %d: %s, %s", series, e.Season, e.Number, c.Name, c.Job)
		}
	}
	for _, c := range e.Guests {
		if people[c.ID] == "" {
			t.Errorf("%d: season %d, episode %d: guest %s", series, e.Season, e.Number, c.Name)
		}
	}
}

// TestPeopleFacts compares names with the table of persons, the rest with recorded responses and with IMDb's own list.
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
			if names++; p.Name != r.Name {
				t.Errorf("%d: %s, the table has %s", p.ID, p.Name, r.Name)
			}
		}
	}
	recorded := 0
	files, err := filepath.Glob(filepath.Join(sharedtest.Path(t, "recorded", "person"), "details*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.Contains(file, "openapi") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var p person
		if err := json.Unmarshal(data, &p); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		have, ok := people[p.ID]
		if !ok {
			continue
		}
		if recorded++; value(have.Birthday) != value(p.Birthday) || value(have.Deathday) != value(p.Deathday) || value(have.IMDb) != value(p.IMDb) {
			t.Errorf("%d: born %s, died %s, %s; %s has %s, %s, %s", p.ID, value(have.Birthday), value(have.Deathday), value(have.IMDb), file, value(p.Birthday), value(p.Deathday), value(p.IMDb))
		}
	}
	list := map[string][]string{} // id, name, years of birth and death ...
	for line := range bytes.Lines(unpacked(t, "imdb/name.basics.tsv.gz")) {
		cells := strings.Split(string(line), "\t")
		list[cells[0]] = cells
	}
	years := 0
	for _, p := range people {
		row := list[value(p.IMDb)]
		if len(row) < 4 {
			continue
		}
		years++
		if b := value(p.Birthday); b != "" && year(b) != row[2] || p.Deathday != nil && year(*p.Deathday) != row[3] {
			t.Errorf("%d: %s born %s, died %s; IMDb has %v", p.ID, p.Name, b, value(p.Deathday), row)
		}
	}
	if names < 300 || recorded < 5 || years < 20 {
		t.Errorf("compared %d names, %d recorded people, %d rows of IMDb's", names, recorded, years)
	}
}
