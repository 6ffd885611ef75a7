package merge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A step is a record before and after, and what changed of it.
type step struct {
	name, old, now string // fields after the id; "-" for no record
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

// TestMovies: what changed of a movie, field by field.
func TestMovies(t *testing.T) { testSteps[catalog.Movie](t, fragment.KindMovie, movieSteps) }

func testSteps[T any](t *testing.T, k fragment.Kind, steps []step) {
	t.Helper()
	var d differ
	for _, s := range steps {
		old, now := new(T), new(T)
		for _, side := range []struct {
			fields string
			to     *T
		}{{s.old, old}, {s.now, now}} {
			if err := record.NewParser().Parse("{"+side.fields+"}", record.Of(side.to)); err != nil {
				t.Fatal(err)
			}
		}
		d.compare(k, record.Of(old), record.Of(now))
		if diff := gocmp.Diff(s.want, linesOf(d.changes)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.name, diff)
		}
	}
}

// linesOf returns changes in short, by field.
func linesOf(changes []change) (out []string) {
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.field, b.field) })
	for _, c := range changes {
		s := c.field
		if c.language != "" {
			s += " " + strings.TrimSuffix(c.language+"-"+c.country, "-")
		}
		switch {
		case c.old == "":
			s += " added " + c.new
		case c.new == "":
			s += " deleted for " + c.old
		default:
			s += fmt.Sprintf(" updated %s for %s", c.new, c.old)
		}
		out = append(out, s)
	}
	return out
}

// TestPeople: the same of a person.
func TestPeople(t *testing.T) {
	testSteps[catalog.Person](t, fragment.KindPerson, []step{
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

// TestSubsAreCompared: each sub-request of the kinds that have changes is compared, or stands here
// with the reason why no change tells of it.
func TestSubsAreCompared(t *testing.T) {
	untold := map[fragment.Sub]string{
		fragment.SubAccountStates: "it is of an account", fragment.SubChanges: "it is what this package makes",
		fragment.SubRecommendations: "it is derived", fragment.SubSimilar: "it is derived",
		fragment.SubLists: "it is of the lists", fragment.SubReviews: "the API tells of none", fragment.SubWatchProviders: "the API tells of none",
		fragment.SubEpisodeGroups: "the API tells of none", fragment.SubScreenedTheatrically: "the API tells of none", fragment.SubTaggedImages: "it is of the titles",
		fragment.SubAggregateCredits: "credits tell of it", fragment.SubCombinedCredits: "titles tell of it", fragment.SubMovieCredits: "titles tell of it",
		fragment.SubTVCredits: "titles tell of it", fragment.SubReleases: "an old form of release_dates",
		fragment.SubTrailers: "an old form of videos",
	}
	for kind := range texts {
		for _, a := range api.AppendNames(kind.String()) {
			if a.Pattern() || untold[a.Sub] != "" || a.Name == "translations" || a.Name == "external_ids" {
				continue
			}
			if !slices.ContainsFunc(changedLists, func(l changedList) bool { return strings.HasPrefix(l.paths[0], a.Sub.Name()+".") }) {
				t.Errorf("%s of %s is not compared: add it to changedLists in differ.go, or with a reason to this test", a.Name, kind)
			}
		}
	}
}
