package e2e

import (
	"slices"
	"strings"
	"testing"
)

// TestGenericNames: seasons and episodes without a text in a language have their generic
// names in it, wherever they are listed.
func TestGenericNames(t *testing.T) {
	dir := t.TempDir()
	src := dir + "/src"
	writeFiles(t, src, map[string][]byte{
		"tv/7.json": []byte(`{"id":7,"name":"Seven","original_name":"Sieben","original_language":"de","number_of_seasons":1,` +
			`"seasons":[{"id":70,"season_number":0,"name":"Extras","overview":"o","episode_count":0,"air_date":null,"poster_path":null,"vote_average":0.0},` +
			`{"id":71,"season_number":1,"name":"The First","overview":"o","episode_count":2,"air_date":null,"poster_path":null,"vote_average":0.0}],` +
			`"last_episode_to_air":{"id":712,"name":"Last","overview":"o","episode_number":5,"season_number":1,"show_id":7}}`),
		"tv/7-season-0.json": []byte(`{"_id":"640b2aeecaaca20079decdc0","id":70,"season_number":0,"name":"Extras","overview":"o","episodes":[]}`),
		"tv/7-season-1.json": []byte(`{"_id":"640b2aeecaaca20079decdcc","id":71,"season_number":1,"name":"The First","overview":"o","episodes":[` +
			`{"id":711,"episode_number":1,"season_number":1,"show_id":7,"name":"One","overview":"o"},` +
			`{"id":712,"episode_number":5,"season_number":1,"show_id":7,"name":"Last","overview":"o"}]}`),
		"tv/7-season-1-translations.json": []byte(`{"id":71,"translations":[{"iso_3166_1":"FR","iso_639_1":"fr","name":"Français","english_name":"French",` +
			`"data":{"name":"La première","overview":"vue"}}]}`),
	})
	rel, err := buildFrom(t, dir, src, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rel.Close() })
	for _, tt := range []struct {
		language                        string
		season, specials, episode, text string
	}{
		{"", "The First", "Extras", "Last", "o"},
		{"de-DE", "Staffel 1", "Extras", "Folge 5", ""},
		{"zh-CN", "第 1 季", "特别篇", "第 5 集", ""},
		{"fr-FR", "La première", "Épisodes spéciaux", "Épisode 5", "vue"},
	} {
		query := "?language=" + tt.language
		whole := get(t, rel, "/3/tv/7"+query+"&append_to_response=season/1,season/1/episode/5")
		season := get(t, rel, "/3/tv/7/season/1"+query)
		episode := get(t, rel, "/3/tv/7/season/1/episode/5"+query)
		none := tt.text
		if tt.language == "fr-FR" {
			none = "" // only the season is translated
		}
		for what, got := range map[string][2]string{
			"season alone": {season.text("name"), tt.season}, "its overview": {season.text("overview"), tt.text},
			"season of the series": {whole.list("seasons")[1].text("name"), tt.season}, "its overview there": {whole.list("seasons")[1].text("overview"), tt.text},
			"season appended": {whole.text("season/1", "name"), tt.season},
			"specials alone":  {get(t, rel, "/3/tv/7/season/0"+query).text("name"), tt.specials}, "specials of the series": {whole.list("seasons")[0].text("name"), tt.specials},
			"episode alone": {episode.text("name"), tt.episode}, "its overview alone": {episode.text("overview"), none},
			"episode of the season": {season.list("episodes")[1].text("name"), tt.episode}, "episode appended": {whole.text("season/1/episode/5", "name"), tt.episode},
			"last episode": {whole.text("last_episode_to_air", "name"), tt.episode}, "its overview as the last": {whole.text("last_episode_to_air", "overview"), none},
		} {
			if got[0] != got[1] {
				t.Errorf("language %q: %s = %q, want %q", tt.language, what, got[0], got[1])
			}
		}
	}
}

// TestHeaders: what caches are told.
func TestHeaders(t *testing.T) {
	e, _ := sampleEdge(t)
	for _, tt := range []struct {
		target string
		status int
		cached bool
		keys   []string // among those that a cache may purge the response by
	}{
		{"/3/movie/550", 200, true, []string{"movie-550"}},
		{"/3/movie/tt0137523", 200, true, []string{"movie-550"}},
		{"/3/tv/1399/season/1", 200, true, []string{"tv-1399"}},
		{"/3/tv/1399/season/1/episode/2/credits", 200, true, []string{"tv-1399"}},
		{"/3/person/287/movie_credits", 200, true, []string{"person-287"}},
		{"/3/collection/10", 200, true, []string{"collection-10"}},
		{"/3/find/tt0137523?external_source=imdb_id", 200, true, nil},
		{"/3/configuration", 200, true, nil},
		{"/3/movie/latest", 200, false, nil},
		{"/3/tv/latest", 200, false, nil},
		{"/3/person/latest", 200, false, nil},
		{"/3/movie/1", 404, true, []string{"movie-1"}},
		{"/3/tv/1399/season/99", 404, true, []string{"tv-1399"}},
		{"/3/movie/550/account_states", 401, false, nil},
		{"/3/authentication/guest_session/new", 200, false, nil},
		{"/3/find/tt0137523?external_source=nothing", 422, false, nil},
		{"/3/find/tt0137523", 422, false, nil},
	} {
		a := e.get(tt.target)
		cached := strings.HasPrefix(a.cache, "public, max-age=") && a.cache != "public, max-age=0"
		if a.status != tt.status || cached != tt.cached {
			t.Errorf("GET %s: status %d, Cache-Control %q, want %d, kept by caches: %v", tt.target, a.status, a.cache, tt.status, tt.cached)
		}
		for _, key := range tt.keys {
			if !slices.Contains(strings.Fields(a.keys), key) {
				t.Errorf("GET %s: Surrogate-Key %q, want %s among them", tt.target, a.keys, key)
			}
		}
	}
}
