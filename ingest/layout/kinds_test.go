package layout

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
)

const hex24 = "5acf93e60e0a26346d0000ce"

// described returns the records as lines: kind, key, JSON.
func described(recs []Record) []string {
	var out []string
	for _, r := range recs {
		out = append(out, r.Key.Describe(r.Type.Kind)+" "+text(r.Record))
	}
	return out
}

// TestKinds: rows of every kind, as crawlers store them, and their records.
func TestKinds(t *testing.T) {
	f := func(language, kindName string, row Row, want ...string) {
		t.Helper()
		l := newReader(TMDB, Options{Language: language})
		row.Type = kind(kindName)
		recs, err := l.Records(row)
		if got := described(recs); err != nil || !slices.Equal(got, want) {
			t.Errorf("Records(%s) in %q\n = %s, %v\nwant %s", row.JSON, language, strings.Join(got, "\n   "), err, strings.Join(want, "\n   "))
		}
	}

	// Series: rows of lists, also with names of movie fields.
	f("", "tv", Row{JSON: `{"id":5,"genre_ids":[10765],"media_type":"tv","name":"A","origin_country":["US"]}`},
		`tv 5 {"genres":[{"id":10765,"name":"Sci-Fi & Fantasy"}],"id":5,"name":"A","origin_country":["US"]}`)
	f("", "tv", Row{JSON: `{"id":5,"type":"tv","title":"A","title_ar":"B","overview_ar":"o","release_date":"2005-09-13"}`},
		`tv 5 {"first_air_date":"2005-09-13","id":5,"name":"A","localized":[{"language":"ar-SA","name":"B","overview":"o"}]}`)
	f("", "tv", Row{JSON: `{"id":5,"type":"Scripted","name":"A","title":"T"}`}, `tv 5 {"id":5,"name":"A","type":"Scripted"}`)
	f("", "tv", Row{JSON: `{"id":5,"results":[{"rating":"TV-14"}]}`, ID: 5, Sub: "content_ratings"}, `tv 5 {"id":5,"content_ratings":{"results":[{"rating":"TV-14"}]}}`)
	f("de-DE", "tv", Row{JSON: `{"id":5,"name":"","overview":"o","seasons":[],"number_of_seasons":1,"credits":{"cast":[]},"similar":{"page":1}}`},
		`tv 5 {"id":5,"number_of_seasons":1,"similar":{"language":"de-DE","page":1},"localized":[{"language":"de-DE","overview":"o","seasons":[],"credits":{"cast":[]}}]}`)

	// Appended responses about seasons and episodes.
	f("", "tv", Row{JSON: `{"id":5,"season/2/credits":{"cast":[]},"season/2":{"_id":"x","id":7,"season_number":2,"new":1},"season/0":{"id":6,"season_number":0},` +
		`"season/10":{"id":8},"season/1/episode/3":{"id":9,"episode_number":3},"season/1/episode/3/images":{"stills":[]},"season/3":null,"season/4":{"success":false,"status_code":34},"season/5/lists":{}}`},
		`tv 5 {"id":5,"season/5/lists":{}}`,
		`season 5 0 {"id":6,"season_number":0,"series_id":5}`,
		`episode 5 1 3 {"episode_number":3,"id":9,"season_number":1,"images":{"stills":[]},"series_id":5}`,
		`season 5 2 {"_id":"x","id":7,"season_number":2,"credits":{"cast":[]},"series_id":5,"new":1}`,
		`season 5 10 {"id":8,"season_number":10,"series_id":5}`)
	f("de-DE", "tv", Row{JSON: `{"id":5,"season/1":{"name":"N","episodes":[],"air_date":"2000-01-02"}}`},
		`tv 5 {"id":5,"localized":[{"language":"de-DE"}]}`,
		`season 5 1 {"air_date":"2000-01-02","season_number":1,"series_id":5,"localized":[{"language":"de-DE","episodes":[],"name":"N"}]}`)
	f("", "tv", Row{Table: true, JSON: `{"id":5,"season/1":"{\"id\":7}","season/2":null}`}, `tv 5 {"id":5}`, `season 5 1 {"id":7,"season_number":1,"series_id":5}`)
	f("", "season", Row{JSON: `{"id":7,"season_number":1,"episode/2":{"id":9}}`, Series: 5, Season: 1},
		`season 5 1 {"id":7,"season_number":1,"series_id":5}`, `episode 5 1 2 {"episode_number":2,"id":9,"season_number":1,"series_id":5}`)

	// The series ID of a season: its own field, the file name, its episodes.
	f("", "season", Row{JSON: `{"id":7,"season_number":0,"show_id":5}`}, `season 5 0 {"id":7,"season_number":0,"series_id":5}`)
	f("", "season", Row{JSON: `{"id":7,"season_number":0,"tv_id":5,"episodes":[{"show_id":6}]}`}, `season 5 0 {"episodes":[{"show_id":6}],"id":7,"season_number":0,"series_id":5}`)
	f("", "season", Row{JSON: `{"id":7,"season_number":1,"episodes":[{},{"show_id":6}]}`, ID: 7}, `season 6 1 {"episodes":[{},{"show_id":6}],"id":7,"season_number":1,"series_id":6}`)
	f("", "season", Row{JSON: `{"air_date":null}`, Series: 5}, `season 5 0 {"air_date":null,"season_number":0,"series_id":5}`)
	f("", "season", Row{JSON: `{"id":7,"posters":[]}`, Series: 5, Season: 1, Sub: "images"}, `season 5 1 {"id":7,"season_number":1,"images":{"posters":[]},"series_id":5}`)
	f("", "season", Row{JSON: `{"changes":[]}`, Series: 5, Season: 1, Sub: "changes"}, `season 5 1 {"season_number":1,"changes":{"changes":[]},"series_id":5}`)
	f("", "episode", Row{JSON: `{"id":9,"episode_number":2,"season_number":1,"show_id":5,"name_de":"N"}`},
		`episode 5 1 2 {"episode_number":2,"id":9,"season_number":1,"series_id":5,"localized":[{"language":"de-DE","name":"N"}]}`)
	f("", "episode", Row{JSON: `{"cast":[],"guest_stars":[],"id":9}`, Series: 5, Season: 1, Episode: 2, Sub: "credits"},
		`episode 5 1 2 {"episode_number":2,"id":9,"season_number":1,"credits":{"cast":[],"guest_stars":[]},"series_id":5}`)

	// The other kinds.
	f("", "person", Row{JSON: `{"id":5,"name":"N","original_name":"O","known_for":[{"id":1,"media_type":"tv"}],"media_type":"person"}`},
		`person 5 {"id":5,"name":"N","original_name":"O","known_for":[{"id":1,"media_type":"tv"}]}`)
	f("fr-FR", "person", Row{JSON: `{"id":5,"name":"N","biography":"b","birthday":null,"movie_credits":{"cast":[]}}`},
		`person 5 {"birthday":null,"id":5,"localized":[{"language":"fr-FR","biography":"b","name":"N","movie_credits":{"cast":[]}}]}`)
	f("", "person", Row{JSON: `{"id":5,"tagged_images":{"page":0,"results":[]}}`}, `person 5 {"id":5,"tagged_images":{"page":0,"results":[]}}`)
	f("", "person", Row{JSON: `{"page":0,"results":[]}`, ID: 5, Sub: "tagged_images"}, `person 5 {"id":5,"tagged_images":{"page":0,"results":[]}}`)
	f("", "collection", Row{JSON: `{"id":5,"name":"C","overview_de":"o","poster_path_de":"/p"}`},
		`collection 5 {"id":5,"name":"C","localized":[{"language":"de-DE","overview":"o","poster_path":"/p"}]}`)
	f("", "company", Row{JSON: `{"id":5,"page":1,"results":[]}`, ID: 5, Sub: "movies"}, `company 5 {"id":5,"movies":{"page":1,"results":[]}}`)
	f("de-DE", "network", Row{JSON: `{"id":5,"name":"N"}`}, `network 5 {"id":5,"name":"N"}`)
	f("", "keyword", Row{JSON: `{"id":5,"name":"k"}`}, `keyword 5 {"id":5,"name":"k","_details":true}`)
	f("", "review", Row{JSON: `{"id":"` + hex24 + `","media_type":"tv"}`, Text: hex24}, `review "`+hex24+`" {"id":"`+hex24+`","media_type":"tv"}`)
	f("de-DE", "credit", Row{JSON: `{"id":"` + hex24 + `","media":{"name":"M"},"job":"Actor"}`},
		`credit "`+hex24+`" {"job":"Actor","id":"`+hex24+`","localized":[{"language":"de-DE","media":{"name":"M"}}]}`)
	f("", "episode_group", Row{JSON: `{"id":"` + hex24 + `","groups":[]}`}, `episode_group "`+hex24+`" {"groups":[],"id":"`+hex24+`"}`)
}

// TestKindsRefuse: every error names the field at fault.
func TestKindsRefuse(t *testing.T) {
	f := func(kindName string, row Row, want string) {
		t.Helper()
		row.Type = kind(kindName)
		recs, err := tmdb.New("").Records(row)
		if err == nil || err.Error() != want {
			t.Errorf("Records(%s) = %s, %v, want %s", row.JSON, described(recs), err, want)
		}
	}
	f("tv", Row{JSON: `{"name":"A"}`}, "id: want an integer, found nothing")
	f("tv", Row{JSON: `{"success":false,"status_code":34,"status_message":"gone"}`}, "status_code: want a response, found error 34: gone")
	f("tv", Row{JSON: `{"id":5,"media_type":"movie"}`}, `media_type: want "tv", found "movie"`)
	f("tv", Row{JSON: `{"id":5,"last_air_date":"soon"}`}, `last_air_date: want YYYY-MM-DD or nothing, found "soon"`)
	f("tv", Row{JSON: `{"id":5,"release_date":7}`}, `first_air_date: want a string, found 7`)
	f("tv", Row{JSON: `{"id":5,"season/1":7}`}, `season/1: want an object, found 7`)
	f("tv", Row{JSON: `{"id":5,"season/1":{"season_number":2}}`}, `season/1.season_number: want 1, as in its address, found 2`)
	f("tv", Row{JSON: `{"id":5,"season/1/credits":7}`}, `season/1.credits: want an object, found 7`)
	f("tv", Row{JSON: `{}`, ID: 5, Sub: "season_1"}, `the file name has sub-request "season_1", which a tv record does not have`)
	f("season", Row{JSON: `{"season_number":1}`}, "series_id: want an integer, found nothing")
	f("season", Row{JSON: `{"season_number":-1,"show_id":5}`}, "season_number: want 0 or more, found -1")
	f("season", Row{JSON: `{"season_number":1,"show_id":5}`, Series: 6, Season: 1}, "series_id: want 6, as in its address, found 5")
	f("season", Row{JSON: `{"id":7,"season_number":1,"show_id":5}`, ID: 8}, "id: the file name has 8, the row has 7")
	f("season", Row{JSON: `{"id":8,"changes":[]}`, ID: 8, Sub: "changes"}, "series_id: want an integer, found nothing")
	f("episode", Row{JSON: `{"season_number":1,"show_id":5}`}, "episode_number: want an integer, found nothing")
	f("person", Row{JSON: `{"id":5,"birthday":"July"}`}, `birthday: want YYYY-MM-DD or nothing, found "July"`)
	f("credit", Row{JSON: `{"id":"5"}`}, `id: want 24 hex digits, found "5"`)
	f("review", Row{JSON: `{"id":7}`}, `id: want a string, found 7`)
	f("review", Row{JSON: `{"id":"` + hex24 + `"}`, Text: "0" + hex24[1:]}, "id: the file name has 0"+hex24[1:]+", the row has "+hex24)
	f("review", Row{JSON: `{}`}, `id: want 24 hex digits, found ""`)
	f("review", Row{JSON: `{}`, Sub: "images", Text: hex24}, `the file name has sub-request "images", which a review record does not have`)
	if _, err := tmdb.New("").Records(Row{JSON: `{"id":5}`}); err == nil {
		t.Error("a row of no known kind was taken")
	}
}

// TestAppendedCounts: appended seasons do not count as unknown fields, and failed responses are counted.
func TestAppendedCounts(t *testing.T) {
	l := tmdb.New("")
	_, err := l.Records(Row{Type: kind("tv"), JSON: `{"id":5,"season/1":{"id":1,"x":1},"season/2":{},"season/1/images":null,"show_id":1}`})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]int64{"x": 1, "show_id": 1}; !maps.Equal(l.Counts().Unknown, want) {
		t.Errorf("Unknown = %v, want %v", l.Counts().Unknown, want)
	}
	if want := map[string]int64{"season/{n}": 1, "images": 1}; !maps.Equal(l.Counts().Dropped, want) {
		t.Errorf("Dropped = %v, want %v", l.Counts().Dropped, want)
	}
}
