package ingest

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestRefusedRowGivesNothing: a row that the merge rejects adds neither crew to the film with its ID nor people to the
// catalogue, and the quarantined row is complete.
func TestRefusedRowGivesNothing(t *testing.T) {
	films := put(t, t.TempDir(), "films.toml", `[[table]]
requires = ["title", "director"]

[[table.record]]
kind = "movie"
mint = ["title", "year"]
[table.record.fields]
title = 'title'
release_date = 'date(year, "YYYY")'
vote_average = 'rating'

[[table.record]]
kind = "movie"
list = "credits.crew"
each = 'split(director, ", ")'
[table.record.element]
id = 'id(element, "person")'
name = 'element'
job = '"Director"'
`)
	rows := "title,year,director,rating\nAlien,1979,Ridley Scott,8.5\nAlien,1979,\"Jane Doe, Joe Doe\",3.5\nHeat,1995,Michael Mann,8.3\nAlien,1979,Ridley Scott,8.5\n"
	dir := t.TempDir()
	r := ingestInto(t, dir, Config{Mappings: []string{films}, Sources: []string{put(t, t.TempDir(), "films.csv", rows)}})
	if r.Quarantined != 1 || r.Duplicates != 1 || r.Records["movie"] != 2 || r.Records["person"] != 2 {
		t.Errorf("Run = %d quarantined, %d duplicates, %v, want 1, 1, 2 movies and 2 people", r.Quarantined, r.Duplicates, r.Records)
	}
	for _, film := range fields(t, dir, "movie", "title", "credits") {
		if strings.Contains(film, "Doe") {
			t.Errorf("film %s has the crew of a row in quarantine", film)
		}
	}
	for _, name := range fields(t, dir, "person", "name") {
		if strings.Contains(name, "Doe") {
			t.Errorf("person %s is of a row in quarantine alone", name)
		}
	}
	var bad struct {
		Title   string
		Credits struct {
			Crew []struct{ Name string }
		}
	}
	if err := json.Unmarshal(quarantined(t, r)[0].Row, &bad); err != nil || bad.Title != "Alien" || len(bad.Credits.Crew) != 2 || bad.Credits.Crew[1].Name != "Joe Doe" {
		t.Errorf("the quarantine has %+v, %v, want the whole row", bad, err)
	}
}
