package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// paged are the recordings of pages over the whole catalogue, and of users' lists.
var paged = []string{
	"search/", "discover/", "trending/", "movie-list/", "tv-list/", "person-list/", "list/details--",
	"genre/movies--", "keyword/movies--", "company/movies--",
}

// otherPath are the requests of recordings whose source differs from their rows.
var otherPath = map[string]string{"search/tv--jdrouet-tv-search-decoding-error.json": "/3/search/movie"}

// Recordings with zero votes get enough for the minimum of lists.
const (
	zeroVotes = `"vote_average":0.0,"vote_count":0`
	someVotes = `"vote_average":8.5,"vote_count":5000`
)

// A recordedPage is a recorded page of a list, and the catalogue data that it needs.
type recordedPage struct {
	recording
	path     string // request path
	query    url.Values
	language string // language of the rows, "" for English
	day      string // start of the list's period
	body     *value
	rows     []*value
	records  []listRecord // rows, and the titles in known_for
	list     []byte       // the list of a user
	asked                 // values that the filters of the request require
}

// asked are values of a title that rows lack.
type asked struct {
	cast, keywords, companies []int64
	releases                  []shownRelease // day "" is the row's
	offers                    []offer
	airDates                  []string
}

type shownRelease struct {
	country, day, certification string
	typ                         int64
}

type offer struct {
	country, typ string
	provider     int64
}

// A listRecord holds the rows' values of one resource.
type listRecord struct {
	key     rowKey
	members map[string]json.RawMessage
	asked
}

// A rowKey identifies a row: kind and id.
type rowKey struct {
	kind string
	id   int64
}

// readPage reads a recording.
func readPage(t *testing.T, r recording) *recordedPage {
	t.Helper()
	text := r.body(t)
	if r.fidelity == "pinned" {
		text = bytes.ReplaceAll(text, []byte(zeroVotes), []byte(someVotes))
	}
	p := &recordedPage{recording: r, body: jsonOf(t, string(text))}
	u, err := url.Parse(r.request)
	if err != nil {
		t.Fatal(err)
	}
	p.path, p.query = strings.Replace(u.Path, "{time_window}", "day", 1), u.Query()
	if other := otherPath[r.file]; other != "" {
		p.path = other
	}
	if l := p.query.Get("language"); !strings.HasPrefix(l, "en") {
		p.language = l
	}
	var raw struct{ Results, Items []json.RawMessage }
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	if id := strings.TrimPrefix(p.path, "/3/list/"); id != p.path {
		if _, err := strconv.Atoi(id); err == nil { // older lists had other ids
			p.list = text
		}
	}
	p.day = r.date
	for op, end := range map[string]string{"movie-list/now_playing": "maximum", "movie-list/upcoming": "minimum"} {
		if p.operation() == op {
			p.day = p.body.text("dates", end)
		}
	}
	p.asked = p.filters(t)
	for _, row := range append(raw.Results, raw.Items...) {
		p.add(t, row)
	}
	return p
}

// add adds a row.
func (p *recordedPage) add(t *testing.T, raw json.RawMessage) {
	t.Helper()
	p.rows = append(p.rows, jsonOf(t, string(raw)))
	p.addRecord(t, raw, p.asked)
	var person struct {
		KnownFor []json.RawMessage `json:"known_for"`
	}
	if err := json.Unmarshal(raw, &person); err != nil {
		t.Fatal(err)
	}
	for _, raw := range person.KnownFor {
		p.addRecord(t, raw, asked{})
	}
}

// addRecord adds the record of a row.
func (p *recordedPage) addRecord(t *testing.T, raw json.RawMessage, a asked) {
	t.Helper()
	r := listRecord{key: p.keyOf(jsonOf(t, string(raw))), asked: a}
	if err := json.Unmarshal(raw, &r.members); err != nil {
		t.Fatal(err)
	}
	delete(r.members, "media_type")
	p.records = append(p.records, r)
}

// keyOf returns the resource of a row: the one it names, or the one that the operation lists.
func (p *recordedPage) keyOf(row *value) rowKey {
	kind := row.text("media_type")
	if kind == "" {
		kind = "movie"
		for _, k := range []string{"tv", "person", "collection", "company", "keyword"} {
			if slices.Contains(strings.Split(p.path, "/"), k) && !strings.HasSuffix(p.path, "/movies") {
				kind = k
			}
		}
	}
	return rowKey{kind, row.int("id")}
}

// filters returns values that the request requires of its rows beyond their fields.
func (p *recordedPage) filters(t *testing.T) (a asked) {
	t.Helper()
	numbers := func(text string) (out []int64) {
		for _, s := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsDigit(r) }) {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, n)
		}
		return out
	}
	q := p.query
	a.cast = numbers(q.Get("with_people"))
	switch p.operation() {
	case "keyword/movies":
		a.keywords = []int64{p.body.int("id")}
	case "company/movies":
		a.companies = numbers(strings.Split(p.path, "/")[3])
	case "movie-list/now_playing", "movie-list/upcoming":
		a.releases = []shownRelease{{country: "US", day: p.day, typ: 3}}
	case "tv-list/airing_today", "tv-list/on_the_air":
		a.airDates = []string{p.day}
	case "search/tv":
		if year := q.Get("year"); year != "" { // the year of any episode
			a.airDates = []string{year + "-06-30"}
		}
	}
	if c := q.Get("certification"); c != "" {
		a.releases = append(a.releases, shownRelease{country: q.Get("certification_country"), certification: c, typ: 3})
	}
	if typ := numbers(q.Get("with_release_type")); len(typ) > 0 {
		a.releases = append(a.releases, shownRelease{country: "US", typ: typ[0]})
	}
	if region := q.Get("region"); region != "" {
		a.releases = append(a.releases, shownRelease{country: region, typ: 3})
	}
	if region := q.Get("watch_region"); region != "" {
		o := offer{region, "flatrate", 8}
		if ids := numbers(q.Get("with_watch_providers")); len(ids) > 0 {
			o.provider = ids[0]
		}
		a.offers = []offer{o}
	}
	return a
}

// row returns the record as the response with details and sub-requests that it came from.
func (r *listRecord) row(t *testing.T) []byte {
	t.Helper()
	all := map[string]any{}
	for name, raw := range r.members {
		all[name] = raw
	}
	type object = map[string]any
	named := func(ids []int64) (out []any) {
		for _, id := range ids {
			out = append(out, object{"id": id, "name": fmt.Sprint("Name ", id)})
		}
		return out
	}
	if r.cast != nil {
		var cast []any
		for i, id := range r.cast {
			cast = append(cast, object{"id": id, "name": fmt.Sprint("Name ", id), "character": "", "order": i, "credit_id": fmt.Sprintf("%08x%08x%08x", 3, r.key.id, i)})
		}
		all["credits"] = object{"cast": cast, "crew": []any{}}
	}
	if r.keywords != nil {
		all["keywords"] = object{"keywords": named(r.keywords)}
	}
	if r.companies != nil {
		all["production_companies"] = named(r.companies)
	}
	countries := map[string][]any{}
	for _, s := range r.releases {
		if s.day == "" {
			_ = json.Unmarshal(r.members["release_date"], &s.day) // a row without a date has none
		}
		if s.day != "" {
			countries[s.country] = append(countries[s.country], object{"certification": s.certification, "release_date": s.day + "T00:00:00.000Z", "type": s.typ})
		}
	}
	if len(countries) > 0 {
		var results []any
		for _, c := range slices.Sorted(maps.Keys(countries)) {
			results = append(results, object{"iso_3166_1": c, "release_dates": countries[c]})
		}
		all["release_dates"] = object{"results": results}
	}
	if r.offers != nil {
		results := object{}
		for _, o := range r.offers {
			c, _ := results[o.country].(object)
			if c == nil {
				c = object{"link": "l"}
				results[o.country] = c
			}
			list, _ := c[o.typ].([]any)
			c[o.typ] = append(list, object{"provider_id": o.provider, "provider_name": "P"})
		}
		all["watch/providers"] = object{"results": results}
	}
	if r.airDates != nil {
		var episodes []any
		for i, day := range r.airDates {
			episodes = append(episodes, object{"id": r.key.id<<8 + int64(i), "episode_number": i + 1, "season_number": 1, "name": "E", "air_date": day})
		}
		all["season/1"] = object{"id": r.key.id, "season_number": 1, "name": "S", "episodes": episodes}
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// edge ingests and builds the records, and returns an edge over them.
func (p *recordedPage) edge(t *testing.T) *testEdge {
	t.Helper()
	dir, files := t.TempDir(), map[string][]byte{}
	if p.list != nil {
		files[strings.TrimPrefix(p.path, "/3/")+".json"] = p.list
	}
	for i := range p.records {
		file := p.records[i].key.kind + ".ndjson"
		files[file] = append(append(files[file], p.records[i].row(t)...), '\n')
	}
	if len(files) == 0 {
		files["movie.ndjson"] = []byte(`{"id":1,"_deleted":true}`) // ingest refuses a folder without files
	}
	writeFiles(t, filepath.Join(dir, "src"), files)
	rel, err := buildFrom(t, dir, filepath.Join(dir, "src"), p.language)
	if err != nil {
		t.Fatal(err)
	}
	id := rel.Manifest().ID
	if err := rel.Close(); err != nil {
		t.Fatal(err)
	}
	return newEdgeOn(t, filepath.Join(dir, "releases"), id, p.day)
}

// TestRecordedPages: recorded pages of lists, discover, searches and trends, whose rows are ingested, are served with
// equal rows in an envelope like the recorded one. For recordings before 2025, only common members are compared.
// testdata/exceptions_lists.tsv lists differences.
func TestRecordedPages(t *testing.T) {
	skipLarge(t)
	compared := recordings(t, paged...)
	compared = slices.DeleteFunc(compared, func(r recording) bool { return strings.HasSuffix(r.operation(), "/latest") })
	exceptions := loadExceptions(t, "exceptions_lists.tsv", compared)
	keyOrder := loadOrders(t)
	for _, r := range compared {
		t.Run(r.file, func(t *testing.T) {
			t.Parallel()
			p := readPage(t, r)
			exceptions.judge(t, r, p.check(t, p.edge(t), keyOrder))
		})
	}
}

// target returns the request with another search query and page; "" and 0 keep the recorded ones.
func (p *recordedPage) target(search string, page int) string {
	q := maps.Clone(p.query)
	if search != "" {
		q.Set("query", search)
	}
	if page > 0 {
		q.Set("page", strconv.Itoa(page))
	}
	return p.path + "?" + q.Encode()
}

// ask asks an edge for target.
func ask(e *testEdge, target string) (*value, error) {
	a := e.get(target)
	if a.status != 200 {
		return nil, fmt.Errorf("GET %s: status %d: %s", target, a.status, a.body)
	}
	return parseJSON([]byte(a.body))
}

// walk gathers the rows of all pages.
func (p *recordedPage) walk(e *testEdge, search string, found map[rowKey]*value) error {
	for n := 1; ; n++ {
		got, err := ask(e, p.target(search, n))
		if err != nil {
			return err
		}
		for _, row := range append(got.list("results"), got.list("items")...) {
			found[p.keyOf(row)] = row
		}
		if int64(n) >= got.int("total_pages") {
			return nil
		}
	}
}

// check requests the page from an edge and returns the differences.
func (p *recordedPage) check(t *testing.T, e *testEdge, keyOrder orders) (differences []string) {
	t.Helper()
	search := ""
	if p.group() == "search" && !p.query.Has("query") {
		search = nameOf(p.rows[0])
	}
	got, err := ask(e, p.target(search, 0))
	if err != nil {
		return []string{err.Error()}
	}
	differences = keyOrder.check(p.operation(), "", got, p.envelope(got))
	found := map[rowKey]*value{}
	if err := p.walk(e, search, found); err != nil {
		return append(differences, err.Error())
	}
	for i, row := range p.rows {
		key := p.keyOf(row)
		if found[key] == nil && p.group() == "search" {
			if query := p.query.Get("query"); query != "" && hasWords(row, query) {
				differences = append(differences, fmt.Sprintf("%v %q: is not found, but has all words of %q", key, nameOf(row), query))
			}
			if err := p.walk(e, nameOf(row), found); err != nil {
				differences = append(differences, err.Error())
			}
		}
		if found[key] == nil {
			differences = append(differences, fmt.Sprintf("%v %q: is missing", key, nameOf(row)))
			continue
		}
		differences = append(differences, p.compare(fmt.Sprintf("row %d (%v)", i, key), found[key], row)...)
	}
	return differences
}

// nameOf returns the title or the name of a row.
func nameOf(row *value) string {
	if s := row.text("title"); s != "" {
		return s
	}
	return row.text("name")
}

// hasWords reports whether the names in a row have all words of a query.
func hasWords(row *value, query string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	for _, name := range []string{"title", "name", "original_title", "original_name"} {
		have := words(row.text(name))
		if !slices.ContainsFunc(words(query), func(w string) bool { return !slices.Contains(have, w) }) {
			return true
		}
	}
	return false
}

// isNew reports whether the recording has today's members.
func (r recording) isNew() bool {
	return r.fidelity == "pinned" || r.fidelity == "raw" && r.date >= "2025"
}

// since has the members added after new recordings.
var since = map[string]string{"softcore": "2026"}

// envelope compares everything around the rows.
func (p *recordedPage) envelope(got *value) (out []string) {
	want := p.body
	for _, k := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(got.keys, want.keys)))) {
		g, w := got.members[k], want.members[k]
		switch {
		case g == nil || w == nil:
			out = append(out, fmt.Sprintf("%s: is in one alone: got keys %v, want %v", k, got.keys, want.keys))
		case shapeOf(g) != shapeOf(w) && g.kind != '[':
			out = append(out, fmt.Sprintf("%s: got %s, want %s", k, shapeOf(g), shapeOf(w)))
		case k == "page" || k == "id" || k == "dates" && p.isNew() || p.list != nil && k != "items":
			out = diff(k, g, w, out)
		}
	}
	if p.isNew() && !slices.Equal(got.keys, want.keys) {
		out = append(out, fmt.Sprintf("keys: got %v, want %v", got.keys, want.keys))
	}
	return out
}

// compare compares a row. Unless the recording is new, only common members count.
func (p *recordedPage) compare(where string, got, want *value) []string {
	if !p.isNew() {
		return diff(where, shared(got, want), shared(want, got), nil)
	}
	got = lacking(got, func(name string) bool { return since[name] > p.date })
	out := diff(where, got, want, nil)
	if g, w := keysOf(got), keysOf(want); g != w {
		out = append(out, fmt.Sprintf("%s: got the order %s, want %s", where, g, w))
	}
	return out
}

// lacking returns v without some members, at any depth.
func lacking(v *value, dropped func(name string) bool) *value {
	out := &value{kind: v.kind, scalar: v.scalar, members: map[string]*value{}}
	for _, k := range v.keys {
		if !dropped(k) {
			out.keys, out.members[k] = append(out.keys, k), lacking(v.members[k], dropped)
		}
	}
	for _, it := range v.items {
		out.items = append(out.items, lacking(it, dropped))
	}
	return out
}

// shared returns v with only the members that other has too.
func shared(v, other *value) *value {
	if v.kind != other.kind {
		return v
	}
	out := &value{kind: v.kind, scalar: v.scalar, members: map[string]*value{}}
	for _, k := range v.keys {
		if o := other.members[k]; o != nil {
			out.keys, out.members[k] = append(out.keys, k), shared(v.members[k], o)
		}
	}
	for i, it := range v.items {
		if i < len(other.items) {
			it = shared(it, other.items[i])
		}
		out.items = append(out.items, it)
	}
	return out
}

// keysOf returns the names of the members of v in their order, at any depth.
func keysOf(v *value) string {
	var out []string
	for _, k := range v.keys {
		out = append(out, k+keysOf(v.members[k]))
	}
	for _, it := range v.items {
		out = append(out, keysOf(it))
	}
	if v.kind == '.' {
		return ""
	}
	return string(v.kind) + strings.Join(out, ",") + string(v.kind+2)
}

// shapeOf returns the type of v; for objects, with the types of their members in order.
func shapeOf(v *value) string {
	var out []string
	switch v.kind {
	case '{':
		for _, k := range v.keys {
			out = append(out, k+":"+shapeOf(v.members[k]))
		}
		return "{" + strings.Join(out, ",") + "}"
	case '[':
		for _, it := range v.items {
			out = append(out, shapeOf(it))
		}
		return "[" + strings.Join(slices.Compact(out), ",") + "]"
	}
	return fmt.Sprintf("%T", v.scalar)
}
