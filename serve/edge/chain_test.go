package edge

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// The model joins decoded responses, in the simplest way that the rules of package fallback allow.

type chainModel struct {
	tb        testing.TB
	world     *world
	languages []string // "es-MX"
}

// join joins a value of each language and, last, the one without text. of are the objects that have it.
func (m *chainModel) join(within, name string, values []any, of []map[string]any) any {
	n := len(m.languages)
	same := true
	for _, v := range values[1:n] {
		same = same && reflect.DeepEqual(v, values[0])
	}
	if same {
		return values[0]
	}
	if objects, ok := allOf[map[string]any](values); ok && sameThing(objects) {
		out := map[string]any{}
		for _, o := range objects[:n] {
			for k := range o {
				field := make([]any, len(objects))
				for i := range objects {
					field[i] = objects[i][k]
				}
				out[k] = m.join(name, k, field, objects)
			}
		}
		return out
	}
	if lists, ok := allOf[[]any](values); ok {
		if out, ok := m.joinLists(name, lists); ok {
			return out
		}
	}
	var generic any
	for i, l := range m.languages {
		v := values[i]
		isName := name == "name" || name == "title"
		switch {
		case v == nil || reflect.ValueOf(v).IsZero() || reflect.DeepEqual(v, []any{}):
		case isName && v == genericName(of[i], l):
			if generic == nil {
				generic = v
			}
		case !reflect.DeepEqual(v, values[n]), of[i]["original_language"] == l[:2], m.hasEqual(within, isName, of[i], l):
			return v
		}
	}
	if generic != nil {
		return generic
	}
	return values[n-1]
}

func (m *chainModel) joinLists(name string, lists [][]any) ([]any, bool) {
	out := []any{}
	for at := range lists[0] {
		item := make([]any, len(lists))
		objects := true
		for i := range lists {
			if len(lists[i]) != len(lists[0]) {
				return nil, false
			}
			item[i] = lists[i][at]
			_, isObject := item[i].(map[string]any)
			objects = objects && isObject
		}
		if o, ok := allOf[map[string]any](item); objects && ok && !sameThing(o) {
			return nil, false
		}
		out = append(out, m.join("", name, item, make([]map[string]any, len(lists))))
	}
	for i := range lists {
		if len(lists[i]) != len(lists[0]) {
			return nil, false
		}
	}
	return out, true
}

// hasEqual is about a value that equals the one without text.
func (m *chainModel) hasEqual(within string, isName bool, o map[string]any, language string) bool {
	if within == "genres" {
		return slices.ContainsFunc(reference.GenreLanguages(), func(l string) bool { return l == language[:2] || l == language })
	}
	path := ""
	switch {
	case o["original_title"] != nil:
		path = "movie"
	case o["original_name"] != nil && o["first_air_date"] != nil:
		path = "tv"
	case o["original_name"] != nil && o["known_for_department"] == nil:
		path = "collection"
	}
	if !isName || path == "" {
		return language[:2] == "en"
	}
	var list struct {
		Translations []struct {
			Language string `json:"iso_639_1"`
			Country  string `json:"iso_3166_1"`
			Data     struct{ Title, Name string }
		}
	}
	a := m.world.get(m.tb, fmt.Sprintf("/3/%s/%.0f/translations", path, o["id"]))
	if err := json.Unmarshal([]byte(a.plain), &list); err != nil {
		m.tb.Fatal(err)
	}
	for _, t := range list.Translations {
		if t.Language+"-"+t.Country == language {
			return t.Data.Title+t.Data.Name != ""
		}
	}
	return false
}

func genericName(o map[string]any, language string) any {
	if n, ok := o["episode_number"].(float64); ok {
		return reference.EpisodeName(language[:2], language[3:], int(n))
	}
	if n, ok := o["season_number"].(float64); ok {
		return reference.SeasonName(language[:2], language[3:], int(n))
	}
	return nil
}

func sameThing(objects []map[string]any) bool {
	for _, o := range objects {
		for _, name := range []string{"id", "credit_id", "season_number", "episode_number"} {
			if o[name] != objects[0][name] {
				return false
			}
		}
	}
	return true
}

func allOf[T any](values []any) ([]T, bool) {
	out := make([]T, len(values))
	for i, v := range values {
		t, ok := v.(T)
		if !ok {
			return nil, false
		}
		out[i] = t
	}
	return out, true
}

func decoded(tb testing.TB, text string) (v any) {
	tb.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		tb.Fatalf("%v in %s", err, text)
	}
	return v
}

// wholeSample returns an Edge over all kinds of the sample that have texts.
func wholeSample(tb testing.TB) *world {
	tb.Helper()
	w := bareWorld(tb, nil)
	c := build.DefaultConfig()
	c.Catalog, c.Releases = tb.TempDir(), w.dir
	buildtest.WriteCatalog(tb, c.Catalog, buildtest.Sample(tb, "movies")...)
	for k, name := range map[fragment.Kind]string{
		fragment.KindTV: "tv", fragment.KindPerson: "people", fragment.KindCollection: "collections",
	} {
		buildtest.WriteKind(tb, c.Catalog, k, buildtest.Sample(tb, name)...)
	}
	for k, name := range map[fragment.Kind]string{fragment.KindSeason: "seasons.ndjson", fragment.KindEpisode: "episodes.ndjson"} {
		b, err := fs.ReadFile(sample.FS(), name)
		if err != nil {
			tb.Fatal(err)
		}
		rows := slices.DeleteFunc(strings.Split(string(b), "\n"), func(row string) bool { return !strings.Contains(row, `"series_id":1399,`) })
		buildtest.WriteKind(tb, c.Catalog, k, rows...)
	}
	r, err := build.Run(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	servetest.Publish(tb, w.dir, r.Release)
	w.open(tb)
	return w
}

// TestChainModel: a response of several languages is what the model makes of those of one.
func TestChainModel(t *testing.T) {
	w := wholeSample(t)
	joined := 0
	for _, uri := range []string{
		"/3/movie/11?append_to_response=credits,similar,recommendations,keywords",
		"/3/movie/862?append_to_response=translations", "/3/movie/129?", "/3/movie/194?", "/3/movie/219?", "/3/movie/496243?",
		"/3/tv/1399?append_to_response=season/1,season/1/episode/1,aggregate_credits",
		"/3/tv/1399/season/1?", "/3/tv/1399/season/1/episode/2?", "/3/person/31?append_to_response=movie_credits,combined_credits",
		"/3/collection/10?", "/3/discover/movie?", "/3/movie/popular?region=DE", "/3/search/multi?query=star", "/3/trending/all/day?",
		"/3/movie/11/similar?", "/3/find/tt0076759?external_source=imdb_id", "/3/movie?ids=11,862&append_to_response=similar",
	} {
		for _, chain := range []string{"es-MX,es-ES,en-US", "de-DE,it-IT", "fr-CA,fr-FR,de-DE,ja-JP", "en-US,fr-FR", "ko-KR,en-US", "zu-ZA,es-ES,es-MX"} {
			m := chainModel{tb: t, world: w, languages: strings.Split(chain, ",")}
			var values []any
			if a := w.get(t, uri); a.Status != 200 {
				t.Fatalf("%s: status = %d, want 200", uri, a.Status)
			}
			for _, l := range append(m.languages, "zu") {
				values = append(values, decoded(t, w.get(t, uri+"&language="+l).plain))
			}
			a := w.get(t, uri+"&language="+chain)
			want := m.join("", "", values, make([]map[string]any, len(values)))
			if got := decoded(t, a.plain); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s&language=%s = %s\nwant %v", uri, chain, a.plain, want)
			}
			if !reflect.DeepEqual(want, values[0]) {
				joined++
			}
			checkEncodings(t, w, uri+"&language="+chain, &a)
		}
	}
	if joined < 30 {
		t.Errorf("%d responses differ from those of their first language, want 30 at least", joined)
	}
}

// TestChainOfRows: videos and images are those of all languages, in the chain's order.
func TestChainOfRows(t *testing.T) {
	w := newWorld(t, nil, `{"id":550,"title":"T","images":{"posters":[{"file_path":"/n.jpg","iso_639_1":null},{"file_path":"/e.jpg","iso_639_1":"en"},{"file_path":"/f.jpg","iso_639_1":"fr"},{"file_path":"/d.jpg","iso_639_1":"de"}]},
		"videos":{"results":[{"iso_639_1":"en","key":"e"},{"iso_639_1":"de","key":"d"},{"iso_639_1":"fr","key":"f"},{"iso_639_1":"en","key":"e2"}]}}`)
	order := func(uri string, path ...string) (list []string) {
		t.Helper()
		v := decoded(t, w.get(t, uri).plain)
		for _, name := range path {
			v = v.(map[string]any)[name]
		}
		for _, row := range v.([]any) {
			language, ok := row.(map[string]any)["iso_639_1"].(string)
			if !ok {
				language = "null"
			}
			if len(list) == 0 || list[len(list)-1] != language {
				list = append(list, language)
			}
		}
		return list
	}
	f := func(want, uri string, path ...string) {
		t.Helper()
		if got := strings.Join(order(uri, path...), " "); got != want {
			t.Errorf("%s: languages = %s, want %s", uri, got, want)
		}
	}
	f("fr de en", "/3/movie/550/videos?language=fr-CA,de,en-US", "results")
	f("de en", "/3/movie/550?append_to_response=videos&language=es,de,en", "videos", "results")
	f("en de", "/3/movie/550/videos?language=es,en&include_video_language=de", "results")
	f("fr", "/3/movie/550/videos?language=fr-CA,fr-FR", "results")
	f("", "/3/movie/550/videos?language=es,it", "results")
	if a, b := w.get(t, "/3/movie/550/videos?language=es,fr-FR"), w.get(t, "/3/movie/550/videos?language=fr"); a.plain != b.plain || string(a.ETag) != string(b.ETag) {
		t.Errorf("videos of one language of a chain = %s %s, want %s %s", a.ETag, a.plain, b.ETag, b.plain)
	}
	all := order("/3/movie/550/images", "posters")
	for _, chain := range []string{"fr,en", "en,fr"} {
		var want []string
		for _, l := range strings.Split(chain, ",") {
			if slices.Contains(all, l) {
				want = append(want, l)
			}
		}
		if len(want) != 2 {
			t.Fatalf("posters of the sample have languages %v, want en and fr", all)
		}
		f(strings.Join(want, " "), "/3/movie/550/images?language="+chain, "posters")
		f(strings.Join(append(want, "null"), " "), "/3/movie/550/images?include_image_language=null&language="+chain, "posters")
	}
}

// TestChainsOfBatchesAreBounded: a batch is refused for what its languages have, not for its response alone.
func TestChainsOfBatchesAreBounded(t *testing.T) {
	w := sampleWorld(t, nil)
	const batch = "/3/movie?ids=11,12,13&append_to_response=credits&language="
	defer func(n int) { maxBatch = n }(maxBatch)
	maxBatch = 2 * len(w.get(t, batch+"fr").plain)
	for language, want := range map[string]int{"fr": 200, "fr,de": 200, "zu,xh,af,sw,am,yo,ig,fr": 422} {
		if a := w.get(t, batch+language); a.Status != want {
			t.Errorf("language=%s = %d, want %d", language, a.Status, want)
		}
	}
}

// TestChainIsCanonical: what one language has all of is its response, byte for byte, and the order of
// languages counts.
func TestChainIsCanonical(t *testing.T) {
	w := sampleWorld(t, nil)
	get := func(language string) reply {
		return w.get(t, "/3/movie/11?append_to_response=credits,keywords&language="+language)
	}
	french, german := get("fr-FR"), get("de-DE")
	for _, c := range []struct {
		chain string
		want  reply
	}{{"fr-FR,de-DE", french}, {"de-DE,fr-FR", german}, {"de-de,+fr-FR,de-DE,", german}, {"fr-FR,", french}, {"zu,fr-FR", french}} {
		if a := get(c.chain); a.plain != c.want.plain || string(a.ETag) != string(c.want.ETag) || string(a.sent) != string(c.want.sent) {
			t.Errorf("language=%s = %s %s, want %s %s", c.chain, a.ETag, a.plain, c.want.ETag, c.want.plain)
		}
	}
	if a, b := get("es-MX,es-ES"), get("es-MX,+es-ES,,"); string(a.ETag) != string(b.ETag) || string(a.ETag) == string(get("es-MX").ETag) || a.Class != Stored {
		t.Errorf("joined responses have tags %s and %s and class %d, want one that es-MX has not, and class %d", a.ETag, b.ETag, a.Class, Stored)
	}
}
