package edge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/serve/releases"
)

// The generators write records as JSON text, with members left out, null and
// unknown, and text that needs care.

var (
	runes     = []rune("ab \"\\/\n\t{}[],:<&é漢😀\u2028\x01")
	languages = []string{"en", "de", "fr", "pt", "zh", "xx"}
	pairs     = []string{"en-US", "de-DE", "de-AT", "pt-BR", "pt-PT", "fr-FR", "zh-CN", "xx-"}
)

func text(t *rapid.T, label string) string {
	s := rapid.StringOfN(rapid.RuneFrom(runes), 0, 8, -1).Draw(t, label)
	if rapid.Bool().Draw(t, "escaped") {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	return string(record.AppendString(nil, s))
}

func number(t *rapid.T, label string) string {
	return fmt.Sprint(rapid.IntRange(0, 3000).Draw(t, label))
}

func decimal(t *rapid.T, label string) string {
	return rapid.SampledFrom([]string{"0.0", "8.0", "8.438", "0.667", "9.8011"}).Draw(t, label)
}

func oneOf(values ...string) func(*rapid.T, string) string {
	return func(t *rapid.T, label string) string { return rapid.SampledFrom(values).Draw(t, label) }
}

func quoted(values ...string) func(*rapid.T, string) string {
	for i, v := range values {
		if values = slices.Clone(values); v != "null" {
			values[i] = `"` + v + `"`
		}
	}
	return oneOf(values...)
}

func array(max int, el func(*rapid.T, string) string) func(*rapid.T, string) string {
	return func(t *rapid.T, label string) string {
		n := rapid.IntRange(0, max).Draw(t, label+" length")
		list := make([]string, n)
		for i := range list {
			list[i] = el(t, label)
		}
		return "[" + strings.Join(list, ",") + "]"
	}
}

// unknown is the value of a member that no version of the API has.
var unknown = oneOf("1", "null", `"x"`, `{"a":[{"iso_639_1":"de"}],"b":{}}`, `[{"iso_639_1":"fr"},{"iso_639_1":null}]`, "[]")

type member struct {
	name  string
	value func(*rapid.T, string) string
}

// object draws some of the members; one in eight objects gets an unknown one.
func object(members ...member) func(*rapid.T, string) string {
	return func(t *rapid.T, label string) string {
		var list []string
		add := func(name, value string) { list = append(list, `"`+name+`":`+value) }
		for _, m := range members {
			if rapid.IntRange(0, 5).Draw(t, m.name+" given") > 0 {
				add(m.name, m.value(t, m.name))
			}
		}
		if rapid.IntRange(0, 7).Draw(t, label+" unknown") == 0 {
			add("unknown_member", unknown(t, "unknown"))
		}
		return "{" + strings.Join(list, ",") + "}"
	}
}

// creditRow is object for a row of credits that an API gave: it has a credit_id, without which fields are added.
func creditRow(members ...member) func(*rapid.T, string) string {
	draw := object(members...)
	return func(t *rapid.T, label string) string {
		rest := strings.TrimPrefix(draw(t, label), "{")
		if rest != "}" {
			rest = "," + rest
		}
		return `{"credit_id":"c"` + rest
	}
}

func rowPage(number int, row func(*rapid.T, string) string) func(*rapid.T, string) string {
	return object(
		member{"page", oneOf(fmt.Sprint(number))},
		member{"results", array(2, row)},
		member{"total_pages", oneOf("3")},
		member{"total_results", oneOf("41")},
	)
}

// pages is a page, or an array of some.
func pages(row func(*rapid.T, string) string) func(*rapid.T, string) string {
	return func(t *rapid.T, label string) string {
		if rapid.Bool().Draw(t, label+" alone") {
			return rowPage(1, row)(t, label)
		}
		return "[" + rowPage(1, row)(t, label) + "," + rowPage(3, row)(t, label) + "]"
	}
}

func rec(t *rapid.T, id int) string {
	iso639 := member{"iso_639_1", quoted(append([]string{"null", "mul", ""}, languages...)...)}
	videoLanguage := member{"iso_639_1", quoted(languages...)}
	title := member{"title", text}
	image := object(member{"file_path", quoted("/1.jpg", "/2.jpg", "/3.jpg")}, member{"vote_average", decimal}, member{"iso_3166_1", oneOf("null")})
	// Images as the API has them: all lists, and each image with a language. The builder completes others.
	whole := func(t *rapid.T, label string) string {
		return strings.Replace(`{"iso_639_1":`+iso639.value(t, label)+`,`+image(t, label)[1:], ",}", "}", 1)
	}
	images := func(t *rapid.T) string {
		return `{"backdrops":` + array(3, whole)(t, "backdrops") + `,"logos":` + array(2, whole)(t, "logos") + `,"posters":` + array(3, whole)(t, "posters") + `}`
	}
	genre := oneOf(`{"id":18,"name":"Drama"}`, `{"id":35,"name":"Comedy"}`, `{"id":878,"name":"Science Fiction"}`, `{"id":1,"name":"Unheard of"}`)
	collection := oneOf("null", `{"id":9,"name":"C","poster_path":null,"backdrop_path":null}`)
	list := object(member{"id", number}, title, member{"overview", text}, member{"genre_ids", array(2, number)}, member{"poster_path", oneOf("null", `"/p.jpg"`)})
	translation := func(t *rapid.T, label string) string {
		pair := rapid.SampledFrom(pairs).Draw(t, label)
		lang, region, _ := strings.Cut(pair, "-")
		return `{"iso_3166_1":"` + region + `","iso_639_1":"` + lang + `","data":` +
			object(title, member{"overview", text}, member{"tagline", text}, member{"homepage", text}, member{"runtime", number})(t, label) + `}`
	}
	offers := array(2, object(member{"provider_id", number}, member{"provider_name", text}))
	offer := object(member{"link", text}, member{"rent", offers}, member{"buy", offers})
	members := []member{
		{"adult", oneOf("true", "false")},
		{"backdrop_path", oneOf("null", `"/b.jpg"`)},
		{"belongs_to_collection", collection},
		{"genres", array(3, genre)},
		{"homepage", text},
		{"imdb_id", oneOf("null", `"tt0000001"`, `""`)},
		{"original_language", quoted(languages...)},
		{"original_title", text},
		{"overview", text},
		{"popularity", decimal},
		{"poster_path", oneOf("null", `"/1.jpg"`)},
		{"runtime", number},
		{"tagline", text},
		{"title", text},
		{"vote_average", decimal},
		{"alternative_titles", object(member{"titles", array(3, object(member{"iso_3166_1", quoted("US", "DE", "FR")}, title))})},
		{"changes", object(member{"changes", array(2, object(member{"key", text}, member{"items", array(2, object(
			member{"id", text}, member{"time", quoted("2024-12-01 09:57:34 UTC", "2024-12-10 00:00:00 UTC")}, member{"value", unknown}))}))})},
		{"credits", object(member{"cast", array(2, creditRow(member{"id", number}, member{"name", text}))}, member{"crew", array(1, creditRow(member{"job", text}))})},
		{"external_ids", object(member{"imdb_id", oneOf("null", `"tt0000001"`)}, member{"twitter_id", text})},
		{"keywords", object(member{"keywords", array(2, object(member{"id", number}, member{"name", text}))})},
		{"lists", pages(object(member{"id", number}, member{"name", text}))},
		{"recommendations", pages(list)},
		{"release_dates", object(member{"results", array(2, object(member{"iso_3166_1", quoted("US")}, member{"release_dates", array(2, object(
			member{"certification", text}, member{"release_date", quoted("1999-10-15T00:00:00.000Z")}))}))})},
		{"reviews", pages(object(member{"author", text}, member{"content", text}))},
		{"similar", pages(list)},
		{"translations", object(member{"translations", array(4, translation)})},
		{"videos", object(member{"results", array(3, object(videoLanguage, member{"name", text}, member{"site", quoted("YouTube")}, member{"key", text}))})},
		{"watch/providers", object(member{"results", func(t *rapid.T, label string) string {
			return rapid.SampledFrom([]string{`{}`, `{"US":` + offer(t, label) + `}`, `{"DE":` + offer(t, label) + `,"FR":` + offer(t, label) + `}`}).Draw(t, label)
		}})},
	}
	body := fmt.Sprintf(`{"id":%d,"images":%s,`, id, images(t)) + object(members...)(t, "record")[1:]
	return strings.Replace(body, ",}", "}", 1)
}

// appendable are the names that movies append, but for account_states.
var appendable = []string{
	"alternative_titles", "casts", "changes", "credits", "external_ids", "images", "keywords", "lists", "recommendations",
	"release_dates", "releases", "reviews", "similar", "similar_movies", "trailers", "translations", "videos", "watch/providers",
}

// parameters are what requests may ask for, but for append_to_response.
var parameters = []struct {
	name   string
	values []string
}{
	{"country", []string{"DE", "fr", "XX", "bad"}},
	{"end_date", []string{"2024-12-09", "2024-12-05"}},
	{"include_image_language", []string{"null", "en,null", "de,fr,en,null", "xx,mul", "de-AT,pt", "zz", ""}},
	{"include_video_language", []string{"null", "en,de", "de,fr,pt", "en", "zz"}},
	{"language", []string{"en-US", "en", "en-GB", "de", "de-DE", "de-AT", "de-CH", "pt", "pt-BR", "fr", "xx", "ja-JP", "bad"}},
	{"page", []string{"1", "2", "3", "500"}},
	{"start_date", []string{"2024-12-01", "2024-12-05"}},
	{"unknown", []string{"x"}},
}

// params draws the parameters of a request.
func params(t *rapid.T) url.Values {
	v := url.Values{}
	for _, p := range parameters {
		if rapid.IntRange(0, 2).Draw(t, p.name+" given") == 0 {
			v.Set(p.name, rapid.SampledFrom(p.values).Draw(t, p.name))
		}
	}
	return v
}

// uri writes a path with parameters in some order, some of their bytes encoded.
func uri(t *rapid.T, path string, v url.Values, names []string) string {
	var list []string
	for name := range v {
		list = append(list, name+"="+url.QueryEscape(v.Get(name)))
	}
	slices.Sort(list)
	if names != nil {
		comma := rapid.SampledFrom([]string{",", "%2C", "%2c"}).Draw(t, "comma")
		list = append(list, "append_to_response="+strings.Join(names, comma))
	}
	return path + "?" + strings.Join(rapid.Permutation(list).Draw(t, "order"), "&")
}

// withoutID cuts the member id out of an object's text, if it has one.
func withoutID(t *rapid.T, object string) (rest string, had bool) {
	dec := json.NewDecoder(strings.NewReader(object))
	if _, err := dec.Token(); err != nil {
		t.Fatalf("%s: %v", object, err)
	}
	for first := true; dec.More(); first = false {
		start := dec.InputOffset() // before the comma, if there is one
		key, err := dec.Token()
		if err != nil {
			t.Fatalf("%s: %v", object, err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatalf("%s: %v", object, err)
		}
		if key != "id" {
			continue
		}
		end := dec.InputOffset()
		if first {
			return object[:start] + strings.TrimPrefix(object[end:], ","), true
		}
		return object[:start] + object[end:], true
	}
	return object, false
}

// withoutIDs are the sub-requests whose standalone answers have no id.
var withoutIDs = []string{"changes", "recommendations", "similar", "similar_movies"}

// composed joins the standalone answers.
func composed(t *rapid.T, w *world, path string, v url.Values, names []string) string {
	base := w.get(t, uri(t, path, v, nil))
	if base.Status != 200 || !strings.HasSuffix(base.plain, "}") {
		t.Fatalf("%s = %d %s, want an object", path, base.Status, base.plain)
	}
	out := strings.TrimSuffix(base.plain, "}")
	for i, name := range names {
		if !slices.Contains(appendable, name) || slices.Contains(names[:i], name) {
			continue
		}
		alone := name
		if name == "casts" { // the old path takes no language, the appended object does
			alone = "credits"
		}
		sub := w.get(t, uri(t, path+"/"+alone, v, nil))
		if sub.Status != 200 {
			t.Fatalf("%s/%s = %d %s, want 200", path, alone, sub.Status, sub.plain)
		}
		rest, had := withoutID(t, sub.plain)
		if had == slices.Contains(withoutIDs, name) {
			t.Fatalf("%s/%s = %s, with an id: %v", path, alone, sub.plain, had)
		}
		out += `,"` + name + `":` + rest
	}
	return out + "}"
}

// drawNames draws what append_to_response asks for.
func drawNames(t *rapid.T) []string {
	all := append([]string{"nonsense", "account_states", "watch_providers", "Videos", ""}, appendable...)
	return rapid.SliceOfN(rapid.SampledFrom(all), 0, 20).Draw(t, "names")
}

// TestComposition builds releases of random records and checks, for random requests,
// that an answer is what its parts' standalone answers make, in every encoding.
func TestComposition(t *testing.T) {
	w := newWorld(t, nil)
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		row := rec(t, 1)
		open := func(name string, level int, rows ...string) *world {
			return w.over(t, filepath.Join(dir, fmt.Sprint(n, name)), level, rows...)
		}
		a, again := open("a", 6, row), open("again", 1, row, `{"id":2}`)
		other := open("other", 6, rec(t, 1))
		defer func() {
			for _, w := range []*world{a, again, other} {
				w.releases.Close()
			}
			_ = os.RemoveAll(dir)
		}()
		problems, err := check.Verify(t.Context(), store.Folder{Dir: a.dir}.Path(a.releases.ID()), check.Options{}, nil)
		if err != nil || len(problems) != 0 {
			t.Fatalf("Verify = %v, %v, want no problem", problems, err)
		}
		given(t, a, row)
		for range 15 {
			request(t, a, again, other)
			rows(t, a, row, params(t))
		}
	})
}

// request checks one random request.
func request(t *rapid.T, a, again, other *world) {
	const path = "/3/movie/1"
	v, names := params(t), drawNames(t)
	asked := uri(t, path, v, names)
	got := checkAnswer(t, a, asked, composed(t, a, path, v, names))
	spelling := uri(t, path, v, names)
	if same := again.get(t, spelling); same.plain != got.plain || string(same.ETag) != string(got.ETag) {
		t.Fatalf("%s from another release of the same content\n = %s %s\nwant %s %s, as %s", spelling, same.ETag, same.plain, got.ETag, got.plain, asked)
	}
	if differs := other.get(t, asked); differs.plain != got.plain && string(differs.ETag) == string(got.ETag) {
		t.Fatalf("%s = %s and %s with one entity tag %s", asked, got.plain, differs.plain, got.ETag)
	}
}

// given checks that what the record says comes out as it is: the details, and the
// sub-requests that need no variant.
func given(t *rapid.T, w *world, row string) {
	var rec map[string]json.RawMessage
	if err := json.Unmarshal([]byte(row), &rec); err != nil {
		t.Fatal(err)
	}
	details := map[string]json.RawMessage{}
	for name, value := range rec {
		if !slices.Contains(appendable, name) {
			details[name] = value
			continue
		}
		if name == "videos" || value[0] == '[' || bytes.Equal(withoutPage(t, value), []byte("{}")) {
			continue
		}
		sub := w.get(t, "/3/movie/1/"+name)
		rest, _ := withoutID(t, sub.plain)
		got, want := decode(t, rest), decode(t, string(value))
		completed(got, want)
		if !reflect.DeepEqual(withPage(got), withPage(want)) {
			t.Fatalf("movie/1/%s = %s, want %s", name, sub.plain, value)
		}
	}
	want, err := json.Marshal(details)
	if err != nil {
		t.Fatal(err)
	}
	base := w.get(t, "/3/movie/1")
	if got := decode(t, base.plain); !reflect.DeepEqual(withoutFill(got, details), decode(t, string(want))) {
		t.Fatalf("movie/1 = %s, want %s", base.plain, want)
	}
}

// completed takes what the builder completes a sub-request with out of an answer: empty
// values, and the totals of a page.
func completed(got, given any) {
	answer, ok := got.(map[string]any)
	rec, ok2 := given.(map[string]any)
	if !ok || !ok2 || len(rec) == 0 {
		return
	}
	for name, value := range answer {
		if _, ok := rec[name]; ok {
			continue
		}
		list, isList := value.([]any)
		object, isObject := value.(map[string]any)
		total := (name == "total_pages" || name == "total_results") && value != nil
		if value == nil || total || isList && len(list) == 0 || isObject && len(object) == 0 {
			delete(answer, name)
		}
	}
}

// withoutFill leaves out the empty values that the builder fills in: no record that is
// drawn is a details answer.
func withoutFill(v any, given map[string]json.RawMessage) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	for name, value := range m {
		if _, ok := given[name]; ok {
			continue
		}
		switch x := value.(type) {
		case []any:
			ok = len(x) == 0
		default:
			ok = value == nil || value == "" || value == 0.0 || value == false
		}
		// The title stands for an original one that nobody gave, and the other way round.
		if ok || name == "original_title" && value == m["title"] || name == "title" && value == m["original_title"] {
			delete(m, name)
		}
	}
	return m
}

func decode(t *rapid.T, s string) any {
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return v
}

// withPage leaves the page number out, which an answer has even where the record
// lacks it.
func withPage(v any) any {
	if m, ok := v.(map[string]any); ok {
		delete(m, "page")
	}
	return v
}

func withoutPage(t *rapid.T, value json.RawMessage) []byte {
	out, err := json.Marshal(withPage(decode(t, string(value))))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// over returns a world like w over a new release in dir.
func (w *world) over(t *rapid.T, dir string, level int, rows ...string) *world {
	catalogue := filepath.Join(dir, "catalogue")
	if err := os.MkdirAll(catalogue, 0o755); err != nil {
		t.Fatal(err)
	}
	buildtest.WriteCatalog(t, catalogue, rows...)
	c := build.DefaultConfig()
	c.Catalog, c.Releases, c.Level, c.Jobs = catalogue, dir, level, 1
	r, err := build.Run(t.Context(), c)
	if err != nil {
		t.Fatalf("build of %s: %v", rows, err)
	}
	folder := store.Folder{Dir: dir}
	if _, err := store.Publish(t.Context(), folder, r.Release); err != nil {
		t.Fatal(err)
	}
	out := &world{opts: w.opts, dir: dir, tokens: w.tokens, token: w.token}
	if out.releases, err = releases.New(releases.Config{Store: folder, Log: w.opts.Log}); err != nil {
		t.Fatal(err)
	}
	out.edge = newEdge(t, out)
	return out
}

// rows checks which rows the languages and the country of a request leave, against
// the record.
func rows(t *rapid.T, w *world, row string, v url.Values) {
	var rec struct {
		Images map[string]any
		Videos map[string]any
		Titles map[string]any `json:"alternative_titles"`
	}
	if err := json.Unmarshal([]byte(row), &rec); err != nil {
		t.Fatal(err)
	}
	check := func(sub, array string, given map[string]any, keep func(row map[string]any) bool) {
		var got map[string]any
		a := w.get(t, uri(t, "/3/movie/1/"+sub, v, nil))
		if err := json.Unmarshal([]byte(a.plain), &got); err != nil {
			t.Fatal(err)
		}
		want := []any{}
		all, _ := given[array].([]any)
		for _, r := range all {
			if keep(r.(map[string]any)) {
				want = append(want, r)
			}
		}
		if have, _ := got[array].([]any); len(have) != len(want) || len(want) > 0 && !reflect.DeepEqual(have, want) {
			t.Fatalf("%s of movie/1/%s?%s = %v, want %v", array, sub, v.Encode(), have, want)
		}
	}
	images, videos := languageSet(v, "include_image_language"), languageSet(v, "include_video_language")
	if len(videos) == 0 {
		videos["en"] = true
	}
	if images["null"] { // some data say xx of an image without a language
		images["xx"] = true
	}
	for _, array := range []string{"backdrops", "logos", "posters"} {
		check("images", array, rec.Images, func(r map[string]any) bool { return len(images) == 0 || images[languageOf(r, "null")] })
	}
	check("videos", "results", rec.Videos, func(r map[string]any) bool { return videos[languageOf(r, "en")] })
	country := strings.ToUpper(v.Get("country"))
	check("alternative_titles", "titles", rec.Titles, func(r map[string]any) bool { return len(country) != 2 || r["iso_3166_1"] == country })
}

// languageSet is what a request's parameters name.
func languageSet(v url.Values, include string) map[string]bool {
	set := map[string]bool{}
	for _, tag := range append(strings.Split(v.Get(include), ","), v.Get("language")) {
		lang, _, _ := strings.Cut(tag, "-")
		if len(lang) == 2 || lang == "null" {
			set[lang] = true
		}
	}
	return set
}

// languageOf is the language of a row, none where it names no language.
func languageOf(row map[string]any, none string) string {
	if s, _ := row["iso_639_1"].(string); len(s) == 2 {
		return s
	}
	return none
}

// checkAnswer asks for a URI in both encodings.
func checkAnswer(t *rapid.T, w *world, asked, want string) reply {
	got := w.get(t, asked)
	if got.plain != want {
		t.Fatalf("%s\n = %s\nwant %s", asked, got.plain, want)
	}
	if !json.Valid([]byte(got.plain)) {
		t.Fatalf("%s = %s, want JSON", asked, got.plain)
	}
	checkEncodings(t, w, asked, &got)
	return got
}
