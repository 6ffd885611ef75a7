package merge

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A change is a change of a field or of a list element. Values are JSON, "" for no value.
type change struct {
	field, language, country string
	old, new                 string
}

// A differ compares two records of a resource in one walk over their fields. The names of changes follow recorded responses
// of the API. Counters (popularity, votes), derived fields (filmographies, recommendations) and watch providers make no
// changes.
type differ struct {
	kind    fragment.Kind
	changes []change
}

// texts are the translated fields by kind. The details have the texts in en-US.
var texts = map[fragment.Kind][]string{
	fragment.KindMovie:   {"title", "overview", "tagline", "homepage", "runtime"},
	fragment.KindTV:      {"name", "overview", "tagline", "homepage"},
	fragment.KindSeason:  {"name", "overview"},
	fragment.KindEpisode: {"name", "overview"},
	fragment.KindPerson:  {"biography", "name"},
}

// silent are the fields of details that make no change: counters, copies of other fields or resources, and fields that are
// compared together with another field.
var silent = map[string]bool{
	"popularity": true, "vote_average": true, "vote_count": true,
	"id": true, "_id": true, "series_id": true, "show_id": true, "season_number": true, "episode_number": true,
	"seasons": true, "episodes": true, "number_of_seasons": true, "number_of_episodes": true,
	"last_air_date": true, "last_episode_to_air": true, "next_episode_to_air": true, "in_production": true,
	"poster_path": true, "backdrop_path": true, "still_path": true, "profile_path": true, "release_date": true,
}

// A changedList is a list whose elements make changes.
type changedList struct {
	field string
	at    []string // its paths: in the details or in a sub-request
	by    []string // fields that identify an element
	// show are the fields of a change's value, in order; "name=from" renames one. A single field makes a plain value.
	show  []string
	codes []string // fields of an element with the language and the country of its change
	// image is the name of an image in changes, and path the field of the details that has one image of the list.
	image, path string
}

var (
	byID    = []string{"id"}
	named   = []string{"name", "id"}
	credit  = []string{"credit_id", "id"}
	country = []string{"iso_3166_1"}
)

// character describes the change of a role's name, which has its own field.
var character = changedList{field: "character_names", show: []string{"person_id=id", "character", "cast_id", "credit_id"}}

var changedLists = []changedList{
	{field: "genres", at: []string{"genres"}, by: byID, show: named},
	{field: "production_companies", at: []string{"production_companies"}, by: byID, show: named},
	{field: "production_countries", at: []string{"production_countries"}, by: country, show: country},
	{field: "network", at: []string{"networks"}, by: byID, show: named},
	{field: "created_by", at: []string{"created_by"}, by: credit, show: []string{"person_id=id", "name", "credit_id"}},
	{field: "belongs_to_collection", at: []string{"belongs_to_collection"}, show: named},
	imageList("posters", "poster", "poster_path"),
	imageList("backdrops", "backdrop", "backdrop_path"),
	imageList("logos", "title_logo", ""),
	imageList("stills", "still", "still_path"),
	imageList("profiles", "profile", "profile_path"),
	{field: "cast", at: []string{"credits.cast"}, by: credit, show: []string{"person_id=id", "character", "order", "cast_id", "credit_id"}},
	{field: "guest_stars", at: []string{"credits.guest_stars", "guest_stars"}, by: credit, show: []string{"person_id=id", "character", "order", "cast_id", "credit_id"}},
	{field: "crew", at: []string{"credits.crew", "crew"}, by: credit, show: []string{"person_id=id", "department", "job", "credit_id"}},
	{field: "videos", at: []string{"videos.results"}, by: []string{"id", "site", "key"}, show: []string{"id", "name", "key", "size", "site", "type"}, codes: []string{"iso_639_1", "iso_3166_1"}},
	{field: "plot_keywords", at: []string{"keywords.keywords", "keywords.results"}, by: byID, show: named},
	{field: "alternative_titles", at: []string{"alternative_titles.titles", "alternative_titles.results"}, by: []string{"iso_3166_1", "type"}, show: []string{"title", "iso_3166_1", "type"}},
	{field: "release_dates", at: []string{"release_dates.results.release_dates"}, by: []string{"iso_3166_1", "type"}, show: []string{"iso_3166_1", "iso_639_1", "release_date", "certification", "type", "note"}},
	{field: "certifications", at: []string{"content_ratings.results"}, by: country, show: []string{"iso_3166_1", "certification=rating"}},
}

func imageList(name, image, path string) changedList {
	return changedList{
		field: "images", at: []string{"images." + name}, by: []string{"file_path"}, show: []string{"file_path", "iso_639_1"}, codes: []string{"iso_639_1"},
		image: image, path: path,
	}
}

// inDetails reports whether the list is a field of the details.
func (l *changedList) inDetails() bool { return !strings.Contains(l.at[0], ".") }

// isListed reports whether a field of the details is one of the lists, or a part of one.
func isListed(name string) bool {
	return slices.ContainsFunc(changedLists, func(l changedList) bool { return slices.Contains(l.at, name) })
}

// compare sets the changes between two records. A nil old record means a new resource: only its details make changes. An
// episode in a season's record has other fields than its own record; fields that only the former has are not compared.
func (d *differ) compare(kind fragment.Kind, old, now record.Record) {
	d.kind, d.changes = kind, d.changes[:0]
	if old.IsNil() {
		d.changes = append(d.changes, change{field: catalog.FieldGeneral, new: "true"})
	}
	differs := map[string]bool{}
	for i := range now.Schema.Fields {
		f := &now.Schema.Fields[i]
		was, is := fieldText(old, f.Name), fieldText(now, f.Name)
		if is == "" && !sameType(old, now) {
			continue
		}
		if differs[f.Name] = was != is; was != is && i < now.Schema.Subs {
			d.detail(f.Name, was, is, old, now)
		}
	}
	d.extra(old, now)
	for i := range changedLists {
		l := &changedLists[i]
		if d.kind == fragment.KindSeason && l.field == "network" || d.kind == fragment.KindEpisode && l.field == "cast" {
			continue // copied from its series, or from its season
		}
		top := func(path string) bool { name, _, _ := strings.Cut(path, "."); return differs[name] }
		if (slices.ContainsFunc(l.at, top) || differs[l.path]) && (l.inDetails() || !old.IsNil()) {
			d.list(l, l.elements(old), l.elements(now))
		}
	}
	if !old.IsNil() && (differs["translations"] || differs["localized"]) {
		d.translations(translated(old, texts[kind]), translated(now, texts[kind]))
	}
	if !old.IsNil() && differs["external_ids"] {
		d.externalIDs(old, now)
	}
	if differs["release_date"] && !d.has("release_dates") {
		d.note("release_date", "", "", fieldText(old, "release_date"), fieldText(now, "release_date"))
	}
}

func sameType(a, b record.Record) bool { return a.Schema == b.Schema }

// fieldText returns the JSON of a field, "" for none.
func fieldText(r record.Record, name string) string {
	if r.IsNil() {
		return ""
	}
	f, ok := r.Schema.Field(name)
	if !ok || !record.Present(r, f) {
		return ""
	}
	return record.FieldText(r, f)
}

// note adds the change of a value, if it changed.
func (d *differ) note(field, language, country, old, now string) {
	old, now = valueOf(old), valueOf(now)
	if old != now {
		d.changes = append(d.changes, change{field, language, country, old, now})
	}
}

// valueOf returns a value, "" for an empty one.
func valueOf(text string) string {
	switch text {
	case "null", `""`, "[]", "{}":
		return ""
	}
	return text
}

// has reports whether there is a change of a field.
func (d *differ) has(field string) bool {
	return slices.ContainsFunc(d.changes, func(c change) bool { return c.field == field })
}

// detail notes a field of the details.
func (d *differ) detail(name, was, is string, old, now record.Record) {
	switch {
	case silent[name] || isListed(name):
	case name == "spoken_languages":
		d.note(name, "", "", codesOf(old, name), codesOf(now, name))
	case slices.Contains(texts[d.kind], name):
		d.note(name, "en", "US", was, is)
	default:
		if name == "first_air_date" {
			name = "air_date"
		}
		d.note(name, "", "", was, is)
	}
}

// codesOf returns the codes of a list of languages.
func codesOf(r record.Record, name string) string {
	var codes []string
	for language := range r.Each(name) {
		codes = append(codes, fieldText(language, "iso_639_1"))
	}
	return record.List(codes)
}

// extra notes the fields that the API does not have.
func (d *differ) extra(old, now record.Record) {
	var was record.RawFields
	if !old.IsNil() {
		was = extraOf(old)
	}
	is := extraOf(now)
	both := is
	if sameType(old, now) {
		both = slices.Concat(is, was)
	}
	slices.SortFunc(both, func(a, b record.RawField) int { return cmp.Compare(a.Name, b.Name) })
	for _, f := range slices.CompactFunc(both, func(a, b record.RawField) bool { return a.Name == b.Name }) {
		if !silent[f.Name] {
			d.note(f.Name, "", "", was.Value(f.Name), is.Value(f.Name))
		}
	}
}

func extraOf(r record.Record) record.RawFields {
	all, _ := record.Fields("{" + r.Object().Extra + "}") // it was parsed before
	return all
}

// An element is an element of a list. For a list inside another list, of is the outer element.
type element struct{ record, of record.Record }

// text returns the JSON of a field, "" for none. Release times are cut to days.
func (e element) text(name string) string {
	text := fieldText(e.record, name)
	if text == "" && e.of.Schema != nil {
		text = fieldText(e.of, name)
	}
	const day = len(`"2006-01-02`)
	if name == "release_date" && len(text) > day+1 {
		text = text[:day] + `"`
	}
	return text
}

// at returns the elements at a path of a record.
func at(r record.Record, path string) (all []element) {
	outer, inner, nested := strings.Cut(path, ".results.")
	if !nested {
		for el := range r.Each(path) {
			all = append(all, element{record: el})
		}
		return all
	}
	for of := range r.Each(outer + ".results") {
		for el := range of.Each(inner) {
			all = append(all, element{el, of})
		}
	}
	return all
}

// elements returns the elements of the list, without repeats between its paths. An image that only the details name counts:
// some dumps have no lists of images.
func (l *changedList) elements(r record.Record) (all []element) {
	all = at(r, l.at[0])
	if len(l.at) > 1 {
		have := map[string]bool{}
		for _, e := range all {
			have[l.identity(e)] = true
		}
		for _, e := range at(r, l.at[1]) {
			if !have[l.identity(e)] {
				all = append(all, e)
			}
		}
	}
	path := valueOf(fieldText(r, l.path))
	if path == "" || slices.ContainsFunc(all, func(e element) bool { return e.text("file_path") == path }) {
		return all
	}
	image := record.Of(&catalog.Image{FilePath: record.Text(record.Unquote(path))})
	record.MarkAbsent(image, "iso_639_1")
	return append(all, element{record: image})
}

// identity returns the values that identify an element.
func (l *changedList) identity(e element) string {
	var out []byte
	for _, name := range l.by {
		out = append(append(out, e.text(name)...), 0)
	}
	return string(out)
}

// value returns the value of an element in a change, "" for a nil element. alone is set if the element was added or deleted:
// an image then has no null fields.
func (l *changedList) value(e *element, alone bool) string {
	if e == nil {
		return ""
	}
	if len(l.show) == 1 {
		return e.text(l.show[0])
	}
	out := []byte{'{'}
	for _, name := range l.show {
		name, from, ok := strings.Cut(name, "=")
		if !ok {
			from = name
		}
		text := e.text(from)
		if text == "" || alone && l.image != "" && text == "null" {
			continue
		}
		out = record.AppendField(out, name, text)
	}
	out = append(out, '}')
	if l.image != "" {
		out = append(record.AppendField([]byte{'{'}, l.image, string(out)), '}')
	}
	return string(out)
}

// A pair is an element before and after; one of them may be nil.
type pair struct{ old, now *element }

// pairs matches old and new elements and returns the pairs with different values: in the order of the new elements, then the
// deleted ones. Among elements with the same identity, equal ones are matched first, the others in order.
func (l *changedList) pairs(old, now []element) (out []pair) {
	type was struct {
		element *element
		text    string
	}
	before := map[string][]was{}
	for i := range old {
		id := l.identity(old[i])
		before[id] = append(before[id], was{&old[i], l.value(&old[i], false)})
	}
	for i := range now {
		id, text := l.identity(now[i]), l.value(&now[i], false)
		if at := slices.IndexFunc(before[id], func(w was) bool { return w.text == text }); at >= 0 {
			before[id] = slices.Delete(before[id], at, at+1)
			continue
		}
		out = append(out, pair{now: &now[i]})
	}
	next := func(e *element) *element {
		id := l.identity(*e)
		left := before[id]
		if len(left) == 0 {
			return nil
		}
		before[id] = left[1:]
		return left[0].element
	}
	for i := range out {
		out[i].old = next(out[i].now)
	}
	for i := range old {
		if gone := next(&old[i]); gone != nil {
			out = append(out, pair{old: gone})
		}
	}
	return out
}

// list notes the changes of a list.
func (d *differ) list(l *changedList, old, now []element) {
	for _, p := range l.pairs(old, now) {
		alone := p.old == nil || p.now == nil
		if slices.Contains(l.show, "character") && !alone && p.old.text("character") != p.now.text("character") {
			d.note(character.field, "", "", character.value(p.old, false), character.value(p.now, false))
			if p.old.text("order") == p.now.text("order") {
				continue
			}
		}
		var codes [2]string
		for i, name := range l.codes {
			codes[i] = record.Unquote(cmp.Or(p.now, p.old).text(name))
		}
		d.note(l.field, codes[0], codes[1], l.value(p.old, alone), l.value(p.now, alone))
	}
}

// A translation is the texts of a record in one language.
type translation struct {
	language, country string
	texts             map[string]string
}

// tag returns the tag of the language as JSON.
func (t translation) tag() string {
	if t.country == "" {
		return string(record.AppendString(nil, t.language))
	}
	return string(record.AppendString(nil, t.language+"-"+t.country))
}

// translated returns the translations of a record: its own, and the texts of crawls in further languages.
func translated(r record.Record, names []string) (all []translation) {
	add := func(language, country string, data record.Record) {
		t := translation{language, country, map[string]string{}}
		for _, name := range names {
			t.texts[name] = fieldText(data, name)
		}
		all = append(all, t)
	}
	code := func(r record.Record, name string) string { return record.Unquote(fieldText(r, name)) }
	for t := range r.Each("translations.translations") {
		data, _ := t.Schema.Field("data")
		sub, _ := t.Sub(data)
		add(code(t, "iso_639_1"), code(t, "iso_3166_1"), sub)
	}
	for t := range r.Each("localized") {
		language, country, _ := strings.Cut(code(t, "language"), "-")
		given := func(t translation) bool { return t.language == language && (t.country == country || country == "") }
		if !slices.ContainsFunc(all, given) {
			add(language, country, t)
		}
	}
	return all
}

// translations notes added and deleted languages, and changed texts. The details have the texts in en-US.
func (d *differ) translations(old, now []translation) {
	find := func(in []translation, t translation) (translation, bool) {
		i := slices.IndexFunc(in, func(o translation) bool { return o.language == t.language && o.country == t.country })
		if i < 0 {
			return translation{}, false
		}
		return in[i], true
	}
	compare := func(was, is translation, t translation, alone bool) {
		if t.language == "en" && t.country == "US" {
			return
		}
		for _, name := range texts[d.kind] {
			x, y := was.texts[name], is.texts[name]
			if name == "runtime" && alone { // 0 is not translated
				x, y = strings.TrimPrefix(x, "0"), strings.TrimPrefix(y, "0")
			}
			d.note(name, t.language, t.country, x, y)
		}
	}
	for _, t := range now {
		was, ok := find(old, t)
		if !ok {
			d.note("translations", "", "", "", t.tag())
		}
		compare(was, t, t, !ok)
	}
	for _, t := range old {
		if _, ok := find(now, t); !ok {
			d.note("translations", "", "", t.tag(), "")
			compare(t, translation{}, t, true)
		}
	}
}

// externalIDs notes changed ids. All ids are texts in changes.
func (d *differ) externalIDs(old, now record.Record) {
	quoted := func(text string) string {
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			return `"` + text + `"`
		}
		return text
	}
	f, _ := now.Schema.Field("external_ids")
	var was, is record.Record
	for ids := range old.Each(f.Name) { // by name: an element of a season has other fields
		was = ids
	}
	for ids := range now.Each(f.Name) {
		is = ids
	}
	for i := range f.Elem.Fields {
		if name := f.Elem.Fields[i].Name; !d.has(name) { // otherwise it is a change of the details
			d.note(name, "", "", quoted(fieldText(was, name)), quoted(fieldText(is, name)))
		}
	}
}
