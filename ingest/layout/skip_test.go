package layout

import (
	"strings"
	"testing"
)

// TestExportedLists: lists that people export are skipped with advice. A mapping of the caller reads them.
func TestExportedLists(t *testing.T) {
	for _, c := range []struct{ file, row, want string }{
		{"watchlist", `{"Position":"1","Const":"tt0137523","Title":"Fight Club","Title Type":"Movie","Year":"1999"}`, "IMDb"},
		{"people", `{"Position":"1","Const":"nm0000093","Name":"Brad Pitt","Known For":"Fight Club"}`, "IMDb"},
		{"diary", `{"Date":"2024-01-01","Name":"Alien","Year":"1979","Letterboxd URI":"https://x","Rating":"5"}`, "Letterboxd"},
		{"best", `{"Position":"1","Name":"Alien","Year":"1979","URL":"https://x","Description":null}`, "Letterboxd"},
		{"lists-all", `{"rank":1,"id":7,"listed_at":"2024","type":"movie","movie":{"ids":{"tmdb":550}}}`, "Trakt"},
		{"ratings-movies", `{"rated_at":"2024","rating":9,"type":"movie","movie":{"ids":{"tmdb":550}}}`, "Trakt"},
		{"watched-movies", `{"plays":1,"last_watched_at":"2024","last_updated_at":"2024","movie":{"ids":{"tmdb":550}}}`, "Trakt"},
		{"watched-history-1", `{"id":1,"watched_at":"2024","action":"watch","type":"movie","movie":{"ids":{"tmdb":550}}}`, "Trakt"},
	} {
		want := "a list of titles exported from " + c.want + ": fetch them with reelsplice crawl --from URL --key-file KEY --out DIR --ids FILE"
		if got := chosen(c.file, "", Options{}, c.row).Skip; got != want {
			t.Errorf("%s is skipped for %q, want %q", c.file, got, want)
		}
	}
	for _, c := range []struct {
		want string
		rows []string
	}{
		{"phpMyAdmin", []string{`{"type":"header","version":"5.2.1","comment":"Export"}`, `{"type":"database","name":"x"}`, `{"type":"table","name":"movies","database":"x","data":[{"id":"550"}]}`}},
		{"DynamoDB", []string{`{"Items":[{"id":{"N":"550"}}],"Count":1,"ScannedCount":1}`}},
	} {
		if got := chosen("movies", "", Options{}, c.rows...).Skip; !strings.HasPrefix(got, c.want) {
			t.Errorf("an export of %s is skipped for %q", c.want, got)
		}
	}
	m, err := parseMapping("m.toml", []byte(strings.Join([]string{
		"[[table]]", `requires = ["Const"]`, "[[table.record]]", `kind = "movie"`, `mint = ["imdb_id"]`, `fields.imdb_id = 'imdb(Const)'`,
	}, "\n")), true)
	if err != nil {
		t.Fatal(err)
	}
	c := chosen("watchlist", "", Options{Mappings: []*Mapping{m}}, `{"Const":"tt0137523","Title Type":"Movie"}`)
	if c.Skip != "" || c.Meaning == nil || !c.Meaning.IsOwn() {
		t.Errorf("with a mapping of the caller's: %+v, want it to be taken", c)
	}
}
