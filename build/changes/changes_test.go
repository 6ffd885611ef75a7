package changes_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A step is a record before and after, and what changed of it.
type step struct {
	name, old, now string // members behind the id; "-" for no record
	want           []string
}

var movieSteps = []step{
	{"counters", `"title":"A","popularity":1.5,"vote_average":6.5,"vote_count":3`, `"title":"A","popularity":2.5,"vote_average":6.6,"vote_count":4`, nil},
	{"title", `"title":"A","original_title":"O"`, `"title":"B","original_title":"O"`, []string{`title en-US updated "B" for "A"`}},
	{"overview added", `"title":"A","overview":""`, `"title":"A","overview":"Text."`, []string{`overview en-US added "Text."`}},
	{"tagline deleted", `"tagline":"T"`, `"tagline":""`, []string{`tagline en-US deleted for "T"`}},
	{"runtime", `"runtime":90`, `"runtime":91`, []string{`runtime en-US updated 91 for 90`}},
	{"scalars", `"budget":0,"revenue":1,"adult":false,"status":"Planned","imdb_id":null`, `"budget":5,"revenue":2,"adult":true,"status":"Released","imdb_id":"tt7"`, []string{
		`adult updated true for false`, `budget updated 5 for 0`, `imdb_id added "tt7"`, `revenue updated 2 for 1`, `status updated "Released" for "Planned"`,
	}},
	{
		"genres", `"genres":[{"id":1,"name":"One"},{"id":2,"name":"Two"}]`, `"genres":[{"id":2,"name":"Two"},{"id":3,"name":"Three"}]`,
		[]string{`genres added {"name":"Three","id":3}`, `genres deleted for {"name":"One","id":1}`},
	},
	{
		"companies and countries",
		`"production_companies":[{"id":1,"logo_path":null,"name":"One","origin_country":"US"}],"production_countries":[]`,
		`"production_companies":[{"id":1,"logo_path":"/new.png","name":"One","origin_country":"US"},{"id":2,"logo_path":null,"name":"Two","origin_country":""}],"production_countries":[{"iso_3166_1":"US","name":"United States of America"}]`,
		[]string{`production_companies added {"name":"Two","id":2}`, `production_countries added "US"`},
	},
	{
		"languages", `"spoken_languages":[{"english_name":"English","iso_639_1":"en","name":"English"}]`,
		`"spoken_languages":[{"english_name":"English","iso_639_1":"en","name":"English"},{"english_name":"German","iso_639_1":"de","name":"Deutsch"}]`,
		[]string{`spoken_languages updated ["en","de"] for ["en"]`},
	},
	{
		"collection", `"belongs_to_collection":null`, `"belongs_to_collection":{"id":7,"name":"Set","poster_path":null,"backdrop_path":null}`,
		[]string{`belongs_to_collection added {"name":"Set","id":7}`},
	},
	{
		"images",
		`"poster_path":"/a.jpg","images":{"backdrops":[{"file_path":"/b.jpg","iso_639_1":null,"vote_average":1.5}],"logos":[],"posters":[{"file_path":"/a.jpg","iso_639_1":"en"},{"file_path":"/c.jpg","iso_639_1":null}]}`,
		`"poster_path":"/c.jpg","images":{"backdrops":[{"file_path":"/b.jpg","iso_639_1":null,"vote_average":2.5},{"file_path":"/d.jpg","iso_639_1":"de"}],"logos":[{"file_path":"/l.png","iso_639_1":null}],"posters":[{"file_path":"/c.jpg","iso_639_1":"fr"}]}`,
		[]string{
			`images fr updated {"poster":{"file_path":"/c.jpg","iso_639_1":"fr"}} for {"poster":{"file_path":"/c.jpg","iso_639_1":null}}`,
			`images en deleted for {"poster":{"file_path":"/a.jpg","iso_639_1":"en"}}`,
			`images de added {"backdrop":{"file_path":"/d.jpg","iso_639_1":"de"}}`,
			`images added {"title_logo":{"file_path":"/l.png"}}`,
		},
	},
	{"poster without lists", `"poster_path":"/a.jpg"`, `"poster_path":"/b.jpg"`, []string{`images added {"poster":{"file_path":"/b.jpg"}}`, `images deleted for {"poster":{"file_path":"/a.jpg"}}`}},
	{
		"credits",
		`"credits":{"cast":[{"id":1,"name":"One","popularity":1.5,"character":"A","credit_id":"c1","order":0},{"id":2,"name":"Two","character":"B","credit_id":"c2","order":1}],"crew":[]}`,
		`"credits":{"cast":[{"id":1,"name":"Uno","popularity":2.5,"character":"AA","credit_id":"c1","order":0},{"id":3,"name":"Three","cast_id":4,"character":"C","credit_id":"c3","order":1}],"crew":[{"id":2,"name":"Two","credit_id":"c4","department":"Writing","job":"Story"}]}`,
		[]string{
			`cast added {"person_id":3,"character":"C","order":1,"cast_id":4,"credit_id":"c3"}`,
			`cast deleted for {"person_id":2,"character":"B","order":1,"credit_id":"c2"}`,
			`character_names updated {"person_id":1,"character":"AA","credit_id":"c1"} for {"person_id":1,"character":"A","credit_id":"c1"}`,
			`crew added {"person_id":2,"department":"Writing","job":"Story","credit_id":"c4"}`,
		},
	},
	{
		"translations",
		`"title":"A","translations":{"translations":[{"iso_3166_1":"DE","iso_639_1":"de","name":"Deutsch","english_name":"German","data":{"homepage":"","overview":"","runtime":0,"tagline":"","title":"Alt"}},{"iso_3166_1":"FR","iso_639_1":"fr","name":"Français","english_name":"French","data":{"title":"Ancien"}}]}`,
		`"title":"A","translations":{"translations":[{"iso_3166_1":"DE","iso_639_1":"de","name":"Deutsch","english_name":"German","data":{"homepage":"","overview":"Text.","runtime":80,"tagline":"","title":"Neu"}},{"iso_3166_1":"BR","iso_639_1":"pt","name":"Português","english_name":"Portuguese","data":{"runtime":0,"title":"Novo"}}]}`,
		[]string{
			`overview de-DE added "Text."`, `runtime de-DE updated 80 for 0`,
			`title de-DE updated "Neu" for "Alt"`, `title pt-BR added "Novo"`, `title fr-FR deleted for "Ancien"`,
			`translations added "pt-BR"`, `translations deleted for "fr-FR"`,
		},
	},
	{
		"videos of all languages", `"videos":{"results":[{"iso_639_1":"en","iso_3166_1":"US","name":"N","key":"k","site":"YouTube","size":720,"type":"Trailer","id":"v1"}]}`,
		`"videos":{"results":[{"iso_639_1":"en","iso_3166_1":"US","name":"N","key":"k","site":"YouTube","size":1080,"type":"Trailer","id":"v1"},{"iso_639_1":"hu","iso_3166_1":"HU","name":"M","key":"l","site":"YouTube","size":720,"type":"Teaser","id":"v2"}]}`,
		[]string{
			`videos en-US updated {"id":"v1","name":"N","key":"k","size":1080,"site":"YouTube","type":"Trailer"} for {"id":"v1","name":"N","key":"k","size":720,"site":"YouTube","type":"Trailer"}`,
			`videos hu-HU added {"id":"v2","name":"M","key":"l","size":720,"site":"YouTube","type":"Teaser"}`,
		},
	},
	{"keywords", `"keywords":{"keywords":[{"id":1,"name":"one"}]}`, `"keywords":{"keywords":[{"id":2,"name":"two"}]}`, []string{`plot_keywords added {"name":"two","id":2}`, `plot_keywords deleted for {"name":"one","id":1}`}},
	{"keywords at last", ``, `"keywords":{"keywords":[{"id":1,"name":"one"}]}`, []string{`plot_keywords added {"name":"one","id":1}`}},
	{
		"alternative titles", `"alternative_titles":{"titles":[{"iso_3166_1":"US","title":"A","type":""},{"iso_3166_1":"US","title":"B","type":""}]}`,
		`"alternative_titles":{"titles":[{"iso_3166_1":"US","title":"B","type":""},{"iso_3166_1":"US","title":"C","type":""}]}`,
		[]string{`alternative_titles updated {"title":"C","iso_3166_1":"US","type":""} for {"title":"A","iso_3166_1":"US","type":""}`},
	},
	{
		"release dates",
		`"release_date":"2026-01-01","release_dates":{"results":[{"iso_3166_1":"US","release_dates":[{"certification":"","descriptors":[],"iso_639_1":"","note":"","release_date":"2026-01-01T00:00:00.000Z","type":3}]}]}`,
		`"release_date":"2026-02-01","release_dates":{"results":[{"iso_3166_1":"US","release_dates":[{"certification":"PG","descriptors":[],"iso_639_1":"","note":"","release_date":"2026-02-01T00:00:00.000Z","type":3}]}]}`,
		[]string{`release_dates updated {"iso_3166_1":"US","iso_639_1":"","release_date":"2026-02-01","certification":"PG","type":3,"note":""} for {"iso_3166_1":"US","iso_639_1":"","release_date":"2026-01-01","certification":"","type":3,"note":""}`},
	},
	{"release date alone", `"release_date":"2026-01-01"`, `"release_date":"2026-02-01"`, []string{`release_date updated "2026-02-01" for "2026-01-01"`}},
	{
		"external ids", `"imdb_id":"tt1","external_ids":{"imdb_id":"tt1","wikidata_id":null}`, `"imdb_id":"tt2","external_ids":{"imdb_id":"tt2","wikidata_id":"Q1"}`,
		[]string{`imdb_id updated "tt2" for "tt1"`, `wikidata_id added "Q1"`},
	},
	{"a member of the dump's own", `"x_rating":1`, `"x_rating":2`, []string{`x_rating updated 2 for 1`}},
	{"derived", `"reviews":{"page":1,"results":[],"total_pages":1,"total_results":0}`, `"watch/providers":{"results":{"US":{"link":"l"}}}`, nil},
}

func record(id int, members string) string {
	if members == "" {
		return fmt.Sprintf(`{"id":%d}`, id)
	}
	return fmt.Sprintf(`{"id":%d,%s}`, id, members)
}

// TestMovies: what changed of a movie, key by key.
func TestMovies(t *testing.T) {
	testSteps(t, fragment.KindMovie, movieSteps)
}

func testSteps(t *testing.T, k fragment.Kind, steps []step) {
	t.Helper()
	var before, after []string
	for i, s := range steps {
		before, after = append(before, record(i+1, s.old)), append(after, record(i+1, s.now))
	}
	n := newHistory(t)
	n.run(t, at(0, 4), catalogue{rows: map[fragment.Kind][]string{k: before}})
	n.run(t, at(1, 4), catalogue{rows: map[fragment.Kind][]string{k: after}})
	_, l := n.open(t)
	var changed []string
	for i, s := range steps {
		got := lines(t, answer(t, l, k, uint64(i+1), always))
		if diff := cmp.Diff(s.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.name, diff)
		}
		if s.want != nil {
			changed = append(changed, fmt.Sprint(i+1))
		}
	}
	var ids []string
	for _, s := range listed(l, k, always) {
		ids = append(ids, strings.Fields(s)[0])
	}
	if diff := cmp.Diff(changed, ids); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

// TestPeople: the same of a person.
func TestPeople(t *testing.T) {
	testSteps(t, fragment.KindPerson, []step{
		{"counters", `"name":"A","popularity":1.5`, `"name":"A","popularity":2.5`, nil},
		{"facts", `"name":"A","gender":0,"birthday":null,"also_known_as":[]`, `"name":"A","gender":2,"birthday":"1950-01-01","also_known_as":["B"]`, []string{
			`also_known_as added ["B"]`, `birthday added "1950-01-01"`, `gender updated 2 for 0`,
		}},
		{
			"texts", `"name":"A","biography":"","translations":{"translations":[]}`,
			`"name":"A","biography":"Text.","translations":{"translations":[{"iso_3166_1":"ES","iso_639_1":"ca","name":"Català","english_name":"Catalan","data":{"biography":"B.","name":""}}]}`,
			[]string{`biography en-US added "Text."`, `biography ca-ES added "B."`, `translations added "ca-ES"`},
		},
		{
			"images", `"name":"A","images":{"profiles":[]}`, `"name":"A","profile_path":"/p.jpg","images":{"profiles":[{"file_path":"/p.jpg","iso_639_1":null}]}`,
			[]string{`images added {"profile":{"file_path":"/p.jpg"}}`},
		},
	})
}

const (
	seriesBefore = `{"id":1,"name":"S","first_air_date":"2020-01-01","networks":[],"created_by":[],"external_ids":{"tvdb_id":null},
		"content_ratings":{"results":[]},"keywords":{"results":[]},"alternative_titles":{"results":[]}}`
	seriesAfter = `{"id":1,"name":"S","first_air_date":"2020-02-01","networks":[{"id":9,"name":"N","logo_path":null,"origin_country":"US"}],
		"created_by":[{"id":5,"credit_id":"c","name":"P","gender":1,"profile_path":null}],"external_ids":{"tvdb_id":375980},
		"content_ratings":{"results":[{"descriptors":[],"iso_3166_1":"BR","rating":"12"}]},"keywords":{"results":[{"name":"k","id":3}]},
		"alternative_titles":{"results":[{"iso_3166_1":"DE","title":"T","type":""}]}}`
)

func season(id, number, series int, text string, episodes ...string) string {
	return fmt.Sprintf(`{"id":%d,"series_id":%d,"season_number":%d,"name":"Part","overview":%q,"episodes":[%s]}`, id, series, number, text, strings.Join(episodes, ","))
}

func episode(id, season, number int, name string, guests ...int) string {
	var rows []string
	for _, g := range guests {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"name":"P%d","character":"C","credit_id":"g%d","order":0}`, g, g, g))
	}
	return fmt.Sprintf(`{"id":%d,"season_number":%d,"episode_number":%d,"name":%q,"air_date":"2020-01-01","guest_stars":[%s]}`, id, season, number, name, strings.Join(rows, ","))
}

// TestSeries: what happens to an episode shows in its season and in its series.
func TestSeries(t *testing.T) {
	other := `{"id":2,"name":"Other"}`
	third := `{"id":3,"name":"Third"}`
	before := catalogue{rows: map[fragment.Kind][]string{
		fragment.KindTV: {seriesBefore, other, third},
		fragment.KindSeason: {
			season(11, 1, 1, "", episode(111, 1, 1, "One"), episode(112, 1, 2, "Two")),
			season(21, 1, 2, "", episode(211, 1, 1, "One")),
			season(22, 2, 2, "", episode(221, 2, 1, "One")),
			season(31, 1, 3, "", episode(311, 1, 1, "One")),
		},
	}}
	after := catalogue{rows: map[fragment.Kind][]string{
		fragment.KindTV: {seriesAfter, other, third},
		fragment.KindSeason: {
			season(11, 1, 1, "", episode(111, 1, 1, "Uno", 7), episode(113, 1, 3, "Three")),
			season(21, 1, 2, "Text.", episode(211, 1, 1, "One")),
			season(23, 3, 2, "", episode(231, 3, 1, "One")),
			season(31, 1, 3, "", episode(311, 1, 1, "One")),
		},
	}}
	n := newHistory(t)
	n.run(t, at(0, 4), before)
	report := n.run(t, at(1, 4), after)
	if report.Changed["tv"] != 2 || report.Changed["movie"] != 0 || report.Changed["person"] != 2 {
		t.Errorf("changed %v, want 2 series and 2 people", report.Changed)
	}
	_, l := n.open(t)
	for _, c := range []struct {
		kind fragment.Kind
		id   uint64
		want []string
	}{
		{fragment.KindTV, 1, []string{
			`air_date updated "2020-02-01" for "2020-01-01"`, `alternative_titles added {"title":"T","iso_3166_1":"DE","type":""}`,
			`certifications added {"iso_3166_1":"BR","certification":"12"}`, `created_by added {"person_id":5,"name":"P","credit_id":"c"}`,
			`network added {"name":"N","id":9}`, `plot_keywords added {"name":"k","id":3}`,
			`season updated {"season_id":11,"season_number":1}`, `tvdb_id added "375980"`,
		}},
		{fragment.KindSeason, 11, []string{
			`episode updated {"episode_id":111,"episode_number":1}`, `episode deleted for {"episode_id":112,"episode_number":2}`,
			`episode added {"episode_id":113,"episode_number":3}`,
		}},
		{fragment.KindEpisode, 111, []string{`guest_stars added {"person_id":7,"character":"C","order":0,"credit_id":"g7"}`, `name en-US updated "Uno" for "One"`}},
		{fragment.KindEpisode, 112, []string{`general destroyed`}},
		{fragment.KindEpisode, 113, []string{`air_date added "2020-01-01"`, `general created`, `name en-US added "Three"`}},
		{fragment.KindTV, 2, []string{
			`season updated {"season_id":21,"season_number":1}`, `season deleted for {"season_id":22,"season_number":2}`,
			`season added {"season_id":23,"season_number":3}`,
		}},
		{fragment.KindSeason, 21, []string{`overview en-US added "Text."`}},
		{fragment.KindSeason, 22, []string{`general destroyed`}},
		{fragment.KindSeason, 23, []string{`episode added {"episode_id":231,"episode_number":1}`, `general created`, `name en-US added "Part"`}},
		{fragment.KindTV, 3, nil},
		{fragment.KindSeason, 31, nil},
		{fragment.KindEpisode, 311, nil},
	} {
		if diff := cmp.Diff(c.want, lines(t, answer(t, l, c.kind, c.id, always))); diff != "" {
			t.Errorf("%s %d (-want +got):\n%s", c.kind, c.id, diff)
		}
	}
	if diff := cmp.Diff([]string{"1", "2"}, listed(l, fragment.KindTV, always)); diff != "" {
		t.Errorf("tv/changes (-want +got):\n%s", diff)
	}
}

// TestCreatedAndRemoved: what comes and goes as a whole.
func TestCreatedAndRemoved(t *testing.T) {
	n := newHistory(t)
	n.run(t, at(0, 4), movies(`{"id":1,"title":"A"}`, `{"id":2,"title":"B"}`, `{"id":3,"title":"C"}`))
	c := movies(`{"id":3,"title":"C"}`, `{"id":4,"title":"D","original_title":"O","adult":true,"softcore":true,"images":{"posters":[{"file_path":"/x.jpg"}]}}`)
	c.removed = []catalog.Removed{{Kind: fragment.KindMovie, Key: catalog.NumberKey(2), Merged: true, Into: catalog.NumberKey(3)}}
	n.run(t, at(1, 4), c)
	_, l := n.open(t)
	want := []string{"1 adult null softcore null", "2 adult null softcore null", "4 adult true softcore true"}
	if diff := cmp.Diff(want, listed(l, fragment.KindMovie, always)); diff != "" {
		t.Errorf("movie/changes (-want +got):\n%s", diff)
	}
	for id, want := range map[uint64][]string{
		1: {"general destroyed"}, 2: {"general destroyed"}, 3: nil,
		4: {`adult added true`, `general created`, `original_title added "O"`, `softcore added true`, `title en-US added "D"`},
	} {
		got := lines(t, answer(t, l, fragment.KindMovie, id, always))
		var kept []string
		for _, s := range got {
			if !strings.HasSuffix(s, "added 0") && !strings.HasSuffix(s, "added false") {
				kept = append(kept, s)
			}
		}
		if diff := cmp.Diff(want, kept); diff != "" {
			t.Errorf("movie %d (-want +got):\n%s", id, diff)
		}
	}
	if got := answer(t, l, fragment.KindMovie, 3, always); got != `{"changes":[]}` {
		t.Errorf("changes of movie 3 = %s, want none", got)
	}
}

// TestGolden: the bytes of a small answer, and that they stay the same.
func TestGolden(t *testing.T) {
	n := newHistory(t)
	n.run(t, at(0, 4), movies(`{"id":1,"title":"A","original_title":"O","runtime":90,"images":{"posters":[]}}`))
	n.run(t, at(1, 4), movies(`{"id":1,"title":"B","original_title":"O","runtime":90,"images":{"posters":[{"file_path":"/a.jpg","iso_639_1":"fr"}]}}`))
	n.run(t, at(2, 4), movies(`{"id":1,"title":"Ä \"C\"","original_title":"O","runtime":91,"images":{"posters":[]}}`))
	_, l := n.open(t)
	got := answer(t, l, fragment.KindMovie, 1, always) + "\n"
	path := filepath.Join("testdata", "movie.golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("changes = %s, want %s; go test ./build/changes -update writes %s", got, want, path)
	}
}
