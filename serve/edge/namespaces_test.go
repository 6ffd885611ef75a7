package edge

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// A drawing is a release in the making: some resources of each kind that has append
// names, with random sub-requests, variants, pages, pieces and includes.
type drawing struct {
	t    *rapid.T
	rows []release.PieceSpec // that every release has
	// languages are those of the rows of images and videos that were drawn, by path.
	languages map[string][]string
}

// drawnVariants are the languages that text may have.
var drawnVariants = []fragment.Variant{
	fragment.Language("de", "DE"), fragment.Language("de", ""), fragment.AnyRegion("de"),
	fragment.Untranslated, fragment.Language("fr", "FR"), fragment.Language("en", "GB"),
}

// takes reports whether the operation of a kind's sub-request takes a parameter.
func takes(k fragment.Kind, s fragment.Sub, param string) bool {
	for _, op := range api.Operations() {
		if op.Kind == k && op.Sub == s && slices.ContainsFunc(op.QueryParams, func(p api.Param) bool { return p.Name == param }) {
			return true
		}
	}
	return false
}

// members are members of an object, cut into pieces, with includes and names between
// where the answer takes a language.
func (d *drawing) members(label string, localised bool) []any {
	out := []any{fmt.Sprintf(`"v":%q`, label)}
	if !localised {
		return append(out, `,"t":`, text(d.t, "text"))
	}
	for range rapid.IntRange(0, 3).Draw(d.t, "members") {
		name := fmt.Sprintf(`,"m%d":`, len(out))
		switch rapid.IntRange(0, 2).Draw(d.t, "member") {
		case 0:
			out = append(out, name+`{`, rapid.SampledFrom(d.rows).Draw(d.t, "row"), `}`)
		case 1:
			word := rapid.SampledFrom([]release.Word{release.WordSeason, release.WordEpisode, release.WordSpecials}).Draw(d.t, "word")
			out = append(out, name, servetest.NameMark(word, rapid.Uint32Range(0, 99).Draw(d.t, "number")))
		default:
			out = append(out, name, text(d.t, "text"))
		}
	}
	return out
}

// defaultLabel is the label of the defaults of a kind, which have no rows.
const defaultLabel = "default"

// imageArrays names an array of images that a kind has.
var imageArrays = map[fragment.Kind]string{
	fragment.KindMovie: "logos", fragment.KindTV: "backdrops", fragment.KindSeason: "posters", fragment.KindEpisode: "stills",
	fragment.KindCollection: "posters", fragment.KindPerson: "profiles", fragment.KindCompany: "logos", fragment.KindNetwork: "logos",
}

// groups are the stored groups of an array of images or videos. Rows without a language
// belong to the group of none, unless that is empty.
func (d *drawing) groups(s fragment.Sub, label, array, none string, whole fragment.Variant) []servetest.Fragment {
	var langs []string
	if label != defaultLabel {
		langs = rapid.SliceOfN(rapid.SampledFrom([]string{"null", `"en"`, `"de"`, `"fr"`}), 0, 5).Draw(d.t, array)
		d.languages[label+"/"+s.Name()] = langs
	}
	body := func(keep func(string) bool) string {
		var rows []string
		for i, l := range langs {
			if keep(l) {
				rows = append(rows, fmt.Sprintf(`{"iso_639_1":%s,"n":%d}`, l, i))
			}
		}
		return `"` + array + `":[` + strings.Join(rows, ",") + `]}`
	}
	out := []servetest.Fragment{servetest.In(s, whole, servetest.IDMark, body(func(string) bool { return true }))}
	for i, l := range langs {
		if slices.Contains(langs[:i], l) {
			continue
		}
		v := fragment.Language(strings.Trim(strings.Replace(l, "null", none, 1), `"`), "")
		if v == fragment.Base {
			v = fragment.NoLanguage
		}
		if none != "" && l == "null" && slices.Contains(langs, `"`+none+`"`) {
			continue // the group of the other spelling holds both
		}
		out = append(out, servetest.In(s, v, servetest.IDMark, body(func(m string) bool {
			return m == l || none != "" && v == fragment.Language(none, "") && (m == "null" || m == `"`+none+`"`)
		})))
	}
	return out
}

// sub draws the fragments of a sub-request.
func (d *drawing) sub(k fragment.Kind, s fragment.Sub, label string) []servetest.Fragment {
	switch s {
	case fragment.SubImages:
		return d.groups(s, label, imageArrays[k], "", fragment.Base)
	case fragment.SubVideos:
		return d.groups(s, label, "results", "en", fragment.All)
	case fragment.SubChanges:
		return []servetest.Fragment{servetest.Of(s, `"changes":[{"key":"k","items":[{"time":"2024-12-01 09:57:34 UTC"},{"time":"2024-12-10 00:00:00 UTC"}]}]}`)}
	case fragment.SubAlternativeTitles:
		if k == fragment.KindMovie {
			return []servetest.Fragment{servetest.Of(s, servetest.IDMark, `"titles":[{"iso_3166_1":"DE"},{"iso_3166_1":"FR"}]}`)}
		}
	}
	variants := []fragment.Variant{fragment.Base}
	localised := takes(k, s, "language")
	if localised {
		variants = append(variants, rapid.SliceOfNDistinct(rapid.SampledFrom(drawnVariants), 0, 3, rapid.ID).Draw(d.t, "variants")...)
	}
	pages := []uint16{0}
	paged := takes(k, s, "page")
	if paged {
		pages = []uint16{0, 1, 2}[:rapid.IntRange(1, 3).Draw(d.t, "pages")]
	}
	atEnd := rapid.Bool().Draw(d.t, "id at the end")
	var out []servetest.Fragment
	for _, v := range variants {
		for _, page := range pages {
			out = append(out, servetest.Fragment{Address: fragment.Address{Sub: s, Page: page, Variant: v}, Pieces: d.body(fmt.Sprintf("%s %s %s %s %d", k, s, label, v, page), localised, paged, atEnd)})
		}
	}
	return out
}

// body is the program of a sub-request's fragment.
func (d *drawing) body(label string, localised, paged, atEnd bool) []any {
	var out []any
	if !atEnd {
		out = append(out, servetest.IDMark)
	}
	if paged {
		out = append(out, servetest.PageMark)
	}
	out = append(out, d.members(label, localised)...)
	if atEnd {
		return append(out, servetest.IDEnd)
	}
	return append(out, "}")
}

// details draws the fragments of the resource itself.
func (d *drawing) details(k fragment.Kind, label string) []servetest.Fragment {
	localised := takes(k, fragment.SubDetails, "language")
	out := []servetest.Fragment{servetest.Of(fragment.SubDetails, append([]any{"{"}, d.members(label, localised)...)...)}
	if localised {
		for _, v := range rapid.SliceOfNDistinct(rapid.SampledFrom(drawnVariants), 0, 3, rapid.ID).Draw(d.t, "variants") {
			out = append(out, servetest.In(fragment.SubDetails, v, append([]any{"{"}, d.members(label+" "+v.String(), true)...)...))
		}
	}
	return out
}

// subs draws some of the sub-requests that a kind appends.
func (d *drawing) subs(k fragment.Kind, label string) []servetest.Fragment {
	var out []servetest.Fragment
	for _, a := range api.AppendNames(k.String()) {
		alias := a.Sub == fragment.SubCasts || a.Sub == fragment.SubSimilarMovies || a.Sub == fragment.SubAccountStates
		// Without them the edge takes them from combined_credits, which a drawing makes of any fields.
		needed := k == fragment.KindPerson && (a.Sub == fragment.SubMovieCredits || a.Sub == fragment.SubTVCredits)
		if a.Pattern() || alias || rapid.IntRange(0, 2).Draw(d.t, a.Name) == 0 && !needed {
			continue
		}
		out = append(out, d.sub(k, a.Sub, label)...)
	}
	return out
}

// drawnPaths are the resources of a drawing, by the path of their details.
var drawnPaths = []struct {
	path  string
	kind  fragment.Kind
	key   []byte
	id    uint64
	byID  string // path of the changes
	maybe bool   // may be missing
}{
	{path: "/3/movie/1", kind: fragment.KindMovie},
	{path: "/3/tv/7", kind: fragment.KindTV},
	{path: "/3/tv/7/season/0", kind: fragment.KindSeason, key: fragment.AppendSeason(nil, 7, 0), id: 70, byID: "/3/tv/season/70/changes", maybe: true},
	{path: "/3/tv/7/season/1", kind: fragment.KindSeason, key: fragment.AppendSeason(nil, 7, 1), id: 71, byID: "/3/tv/season/71/changes"},
	{path: "/3/tv/7/season/1/episode/1", kind: fragment.KindEpisode, key: fragment.AppendEpisode(nil, 7, 1, 1), id: 711, byID: "/3/tv/episode/711/changes"},
	{path: "/3/tv/7/season/1/episode/2", kind: fragment.KindEpisode, key: fragment.AppendEpisode(nil, 7, 1, 2), id: 712, byID: "/3/tv/episode/712/changes", maybe: true},
	{path: "/3/person/3", kind: fragment.KindPerson},
	{path: "/3/collection/4", kind: fragment.KindCollection},
	{path: "/3/company/5", kind: fragment.KindCompany},
	{path: "/3/network/6", kind: fragment.KindNetwork},
	{path: "/3/keyword/8", kind: fragment.KindKeyword},
}

// draw draws a release.
func draw(t *rapid.T) (d *drawing, out []servetest.Resource) {
	movie, tv := fragment.KindMovie, fragment.KindTV
	d = &drawing{t: t, languages: map[string][]string{}, rows: []release.PieceSpec{
		servetest.RowOf(movie, 90, fragment.SubRow), servetest.RowOf(movie, 90, fragment.SubMediaRow), servetest.RowOf(tv, 91, fragment.SubRow), servetest.RowOf(tv, 92, fragment.SubRow),
	}}
	out = []servetest.Resource{
		servetest.Numbered(movie, 90, servetest.Of(fragment.SubRow, `"row":90`), servetest.In(fragment.SubRow, fragment.Language("de", "DE"), `"row":"deDE"`), servetest.Of(fragment.SubMediaRow, `"media":90`)),
		servetest.Numbered(tv, 91, servetest.Of(fragment.SubRow, `"row":91,"name":`, servetest.NameMark(release.WordSpecials, 0)), servetest.In(fragment.SubRow, fragment.Untranslated, `"row":"~"`)),
		servetest.Numbered(tv, 92), // its rows are the default
	}
	kinds := map[fragment.Kind]bool{}
	for _, p := range drawnPaths {
		if !kinds[p.kind] {
			kinds[p.kind] = true
			frags := d.subs(p.kind, defaultLabel)
			frags = slices.DeleteFunc(frags, func(f servetest.Fragment) bool { return f.Address.Variant != fragment.Base || f.Address.Page != 0 })
			if p.kind == tv {
				frags = append(frags, servetest.Of(fragment.SubRow, `"row":"default"`))
			}
			out = append(out, servetest.Defaults(p.kind, frags...))
		}
		if p.maybe && rapid.Bool().Draw(t, p.path+" missing") {
			continue
		}
		r := servetest.Resource{Key: p.key, ID: p.id, Fragments: append(d.details(p.kind, p.path), d.subs(p.kind, p.path)...)}
		if p.key == nil {
			id := lastNumber(p.path)
			r.Key, r.ID = fragment.AppendID(nil, p.kind, fragment.ID(id)), id
		}
		if p.id != 0 {
			r = r.Known(p.kind, fmt.Sprint(p.id))
		}
		out = append(out, r)
	}
	return d, out
}

// literals turns some of the texts into literals.
func (d *drawing) literals(resources []servetest.Resource) {
	for _, r := range resources {
		for _, f := range r.Fragments {
			for i, p := range f.Pieces {
				if text, ok := p.(string); ok && rapid.Bool().Draw(d.t, "literal") {
					f.Pieces[i] = servetest.Literal(text)
				}
			}
		}
	}
}

func lastNumber(path string) (id uint64) {
	if _, err := fmt.Sscan(path[strings.LastIndexByte(path, '/')+1:], &id); err != nil {
		panic(err)
	}
	return id
}

// drawAppends draws what append_to_response asks for in a namespace.
func drawAppends(t *rapid.T, ns string) []string {
	names := []string{"nonsense", "", "Videos", "season", "season/1/season/1"}
	var add func(prefix string, all []api.AppendName)
	add = func(prefix string, all []api.AppendName) {
		for _, a := range all {
			name := strings.NewReplacer("{season_number}", "1", "{episode_number}", "2").Replace(a.Name)
			if a.Inherits != "" {
				add(prefix+strings.TrimSuffix(name, "{sub_request}"), api.SubRequests(a.Inherits))
				continue
			}
			names = append(names, prefix+name)
			if a.Pattern() {
				names = append(names, prefix+strings.Replace(name, "season/1", "season/0", 1), prefix+strings.Replace(name, "season/1", "season/01", 1))
			}
		}
	}
	add("", api.AppendNames(ns))
	return rapid.SliceOfN(rapid.SampledFrom(names), 0, 20).Draw(t, "names")
}

// alonePath returns the path of the answer that an appended name stands for, and
// whether that is a whole resource, which keeps its id. It is empty for names that
// append nothing.
func alonePath(path, name string) (alone string, whole bool) {
	full := path + "/" + strings.ReplaceAll(name, "season/01", "season/1")
	if name == "casts" { // the old path takes no language, the appended object does
		full = path + "/credits"
	}
	for _, p := range drawnPaths {
		if p.path == full {
			return full, true
		}
		if p.byID != "" && p.path+"/changes" == full {
			return p.byID, false
		}
	}
	if strings.HasSuffix(name, "account_states") || strings.HasSuffix(name, "/changes") {
		return "", false // needs a session; or its season is missing
	}
	return full, false
}

// joined is the answer of a resource and of what is appended to it, made of the
// answers that each has alone.
func joined(t *rapid.T, w *world, path string, v url.Values, names []string) string {
	base := w.get(t, uri(t, path, v, nil))
	if base.Status != 200 || !strings.HasSuffix(base.plain, "}") {
		t.Fatalf("%s = %d %s, want an object", path, base.Status, base.plain)
	}
	out := strings.TrimSuffix(base.plain, "}")
	for i, name := range names {
		alone, whole := alonePath(path, name)
		if name == "" || alone == "" || slices.Contains(names[:i], name) {
			continue
		}
		sub := w.get(t, uri(t, alone, v, nil))
		if sub.Status == 404 {
			continue
		}
		if sub.Status != 200 {
			t.Fatalf("%s = %d %s, want 200 or 404", alone, sub.Status, sub.plain)
		}
		object := sub.plain
		if !whole {
			object, _ = withoutID(t, object)
		}
		out += `,"` + name + `":` + object
	}
	return out + "}"
}

// checkAnswer asks for a URI in every encoding.
func checkAnswer(t *rapid.T, w *world, asked, want string) reply {
	got := w.get(t, asked)
	if got.plain != want {
		t.Fatalf("%s\n = %s\nwant %s", asked, got.plain, want)
	}
	if !json.Valid([]byte(got.plain)) {
		t.Fatalf("%s = %s, want JSON", asked, got.plain)
	}
	rq := w.request(asked)
	rq.AcceptEncoding = []byte(rapid.SampledFrom([]string{"", "identity", "br", "gzip;q=0"}).Draw(t, "encoding"))
	plain := w.do(t, rq)
	if plain.Gzip || string(plain.sent) != got.plain || string(plain.ETag) != string(got.ETag) {
		t.Fatalf("identity of %s = %s %s, want %s %s", asked, plain.ETag, plain.sent, got.ETag, got.plain)
	}
	rq.IfNoneMatch = got.ETag
	if cached := w.do(t, rq); cached.Status != 304 || len(cached.sent) != 0 {
		t.Fatalf("If-None-Match of %s = %d, want 304", asked, cached.Status)
	}
	return got
}

// TestNamespaces writes releases of random fragments and checks, for random requests of
// every namespace, that an answer is what its parts' standalone answers make.
func TestNamespaces(t *testing.T) {
	bare := bareWorld(t, nil)
	bare.openTokens(t)
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		d, resources := draw(t)
		d.literals(resources)
		w, closeWorld := bare.overWritten(t, filepath.Join(dir, fmt.Sprint(n)), resources...)
		defer closeWorld()
		w.verify(t)
		for _, p := range drawnPaths {
			if w.get(t, p.path).Status == 404 {
				continue
			}
			v, names := params(t), drawAppends(t, p.kind.String())
			checkAnswer(t, w, uri(t, p.path, v, names), joined(t, w, p.path, v, names))
		}
		v := params(t)
		for path, languages := range d.languages {
			checkRows(t, w, path, languages, v)
		}
	})
}

// checkRows checks which images or videos of a resource the languages of a request
// leave.
func checkRows(t *rapid.T, w *world, path string, languages []string, v url.Values) {
	asked, none := languageSet(v, "include_image_language"), "null"
	if strings.HasSuffix(path, "/videos") {
		asked, none = languageSet(v, "include_video_language"), "en"
		if len(asked) == 0 {
			asked["en"] = true
		}
	}
	for _, kind := range []string{"person", "company", "network"} {
		if strings.HasPrefix(path, "/3/"+kind) {
			clear(asked) // they take no language
		}
	}
	if strings.Contains(path, "/episode/") && strings.HasSuffix(path, "/images") &&
		len(languageSet(url.Values{"include_image_language": v["include_image_language"]}, "include_image_language")) == 0 {
		clear(asked) // a language alone does not choose among stills
	}
	want := []float64{}
	for i, l := range languages {
		if l = strings.Trim(l, `"`); l == "null" {
			l = none
		}
		if len(asked) == 0 || asked[l] {
			want = append(want, float64(i))
		}
	}
	a := w.get(t, uri(t, path, v, nil))
	if a.Status == 404 && len(want) == 0 {
		return // this release has no default, which is the answer without a row
	}
	have := []float64{}
	for _, member := range decode(t, a.plain).(map[string]any) {
		list, _ := member.([]any)
		for _, row := range list {
			have = append(have, row.(map[string]any)["n"].(float64))
		}
	}
	if !slices.Equal(have, want) {
		t.Fatalf("%s?%s = %s, want rows %v of %v", path, v.Encode(), a.plain, want, languages)
	}
}
