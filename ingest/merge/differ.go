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

// A change is a change of a field or of a list element. Values are JSON; "" is no value.
type change struct {
	field, language, country string
	old, new                 string
}

// A differ compares two records of a resource. The names of changes are those in recorded responses of the API.
// Counters (popularity, votes), derived fields (filmographies, recommendations) and watch providers are not compared.
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

// notLogged are the fields of details without their own changes: counters, copies of other fields or resources, and fields
// that are compared together with another field.
var notLogged = map[string]bool{
	"popularity": true, "vote_average": true, "vote_count": true,
	"id": true, "_id": true, "series_id": true, "show_id": true, "season_number": true, "episode_number": true,
	"seasons": true, "episodes": true, "number_of_seasons": true, "number_of_episodes": true,
	"last_air_date": true, "last_episode_to_air": true, "next_episode_to_air": true, "in_production": true,
	"poster_path": true, "backdrop_path": true, "still_path": true, "profile_path": true, "release_date": true,
}

// A changedList is a list whose elements are compared one by one.
type changedList struct {
	field string
	paths []string // in the details or in a sub-request
	keys  []string // fields that identify an element
	// values are the fields of a change's value, in order; "name=from" renames one. A single field makes a plain value.
	values []string
	codes  []string // fields of an element with the language and the country of its change
	// image is the name of an image in changes. path is the field of the details with the main image of the list.
	image, path string
}

var (
	byID      = []string{"id"}
	nameAndID = []string{"name", "id"}
	credit    = []string{"credit_id", "id"}
	country   = []string{"iso_3166_1"}
)

// character describes changes of a role's name, which have their own field.
var character = changedList{field: "character_names", values: []string{"person_id=id", "character", "cast_id", "credit_id"}}

var changedLists = []changedList{
	{field: "genres", paths: []string{"genres"}, keys: byID, values: nameAndID},
	{field: "production_companies", paths: []string{"production_companies"}, keys: byID, values: nameAndID},
	{field: "production_countries", paths: []string{"production_countries"}, keys: country, values: country},
	{field: "network", paths: []string{"networks"}, keys: byID, values: nameAndID},
	{field: "created_by", paths: []string{"created_by"}, keys: credit, values: []string{"person_id=id", "name", "credit_id"}},
	{field: "belongs_to_collection", paths: []string{"belongs_to_collection"}, values: nameAndID},
	imageList("posters", "poster", "poster_path"),
	imageList("backdrops", "backdrop", "backdrop_path"),
	imageList("logos", "title_logo", ""),
	imageList("stills", "still", "still_path"),
	imageList("profiles", "profile", "profile_path"),
	{field: "cast", paths: []string{"credits.cast"}, keys: credit, values: []string{"person_id=id", "character", "order", "cast_id", "credit_id"}},
	{field: "guest_stars", paths: []string{"credits.guest_stars", "guest_stars"}, keys: credit, values: []string{"person_id=id", "character", "order", "cast_id", "credit_id"}},
	{field: "crew", paths: []string{"credits.crew", "crew"}, keys: credit, values: []string{"person_id=id", "department", "job", "credit_id"}},
	{field: "videos", paths: []string{"videos.results"}, keys: []string{"id", "site", "key"}, values: []string{"id", "name", "key", "size", "site", "type"}, codes: []string{"iso_639_1", "iso_3166_1"}},
	{field: "plot_keywords", paths: []string{"keywords.keywords", "keywords.results"}, keys: byID, values: nameAndID},
	{field: "alternative_titles", paths: []string{"alternative_titles.titles", "alternative_titles.results"}, keys: []string{"iso_3166_1", "type"}, values: []string{"title", "iso_3166_1", "type"}},
	{field: "release_dates", paths: []string{"release_dates.results.release_dates"}, keys: []string{"iso_3166_1", "type"}, values: []string{"iso_3166_1", "iso_639_1", "release_date", "certification", "type", "note"}},
	{field: "certifications", paths: []string{"content_ratings.results"}, keys: country, values: []string{"iso_3166_1", "certification=rating"}},
}

func imageList(name, image, path string) changedList {
	return changedList{
		field: "images", paths: []string{"images." + name}, keys: []string{"file_path"}, values: []string{"file_path", "iso_639_1"}, codes: []string{"iso_639_1"},
		image: image, path: path,
	}
}

// compare sets d.changes to the changes between two records. A nil old record means a new resource, whose details alone
// are compared. An episode has fewer fields in its season's record than in its own; the others are not compared.
func (d *differ) compare(kind fragment.Kind, old, now record.Record) {
	d.kind, d.changes = kind, d.changes[:0]
	if old.IsNil() {
		d.changes = append(d.changes, change{field: catalog.FieldGeneral, new: "true"})
	}
	differs := map[string]bool{}
	for i := range now.Schema.Fields {
		name := now.Schema.Fields[i].Name
		oldText, newText := fieldText(old, name), fieldText(now, name)
		if newText == "" && !sameType(old, now) {
			continue
		}
		differs[name] = oldText != newText
		switch {
		case oldText == newText || i >= now.Schema.Subs || notLogged[name] || slices.ContainsFunc(changedLists, func(l changedList) bool { return slices.Contains(l.paths, name) }):
		case name == "spoken_languages":
			d.note(name, "", "", codesOf(old, name), codesOf(now, name))
		case slices.Contains(texts[kind], name):
			d.note(name, "en", "US", oldText, newText)
		case name == "first_air_date":
			d.note("air_date", "", "", oldText, newText)
		default:
			d.note(name, "", "", oldText, newText)
		}
	}
	// Fields that the API lacks.
	var oldExtra record.RawFields
	if !old.IsNil() {
		oldExtra = extraOf(old)
	}
	newExtra := extraOf(now)
	extra := newExtra
	if sameType(old, now) {
		extra = slices.Concat(newExtra, oldExtra)
	}
	slices.SortFunc(extra, func(a, b record.RawField) int { return cmp.Compare(a.Name, b.Name) })
	for _, f := range slices.CompactFunc(extra, func(a, b record.RawField) bool { return a.Name == b.Name }) {
		if !notLogged[f.Name] {
			d.note(f.Name, "", "", oldExtra.Value(f.Name), newExtra.Value(f.Name))
		}
	}
	for i := range changedLists {
		l := &changedLists[i]
		if kind == fragment.KindSeason && l.field == "network" || kind == fragment.KindEpisode && l.field == "cast" {
			continue // a copy of the series' or the season's list
		}
		topDiffers := func(path string) bool { name, _, _ := strings.Cut(path, "."); return differs[name] }
		inDetails := !strings.Contains(l.paths[0], ".")
		if (slices.ContainsFunc(l.paths, topDiffers) || differs[l.path]) && (inDetails || !old.IsNil()) {
			d.list(l, l.elements(old), l.elements(now))
		}
	}
	if !old.IsNil() && (differs["translations"] || differs["localized"]) {
		d.translations(translated(old, texts[kind]), translated(now, texts[kind]))
	}
	if !old.IsNil() && differs["external_ids"] {
		d.externalIDs(old, now)
	}
	if differs["release_date"] && !d.hasChange("release_dates") {
		d.note("release_date", "", "", fieldText(old, "release_date"), fieldText(now, "release_date"))
	}
}

func sameType(a, b record.Record) bool { return a.Schema == b.Schema }

// fieldText returns the JSON of a field, or "".
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

// note adds a change if the values differ.
func (d *differ) note(field, language, country, old, now string) {
	old, now = nonEmpty(old), nonEmpty(now)
	if old != now {
		d.changes = append(d.changes, change{field, language, country, old, now})
	}
}

// nonEmpty returns a JSON value, or "" for an empty one.
func nonEmpty(text string) string {
	switch text {
	case "null", `""`, "[]", "{}":
		return ""
	}
	return text
}

// hasChange reports whether there is a change of a field.
func (d *differ) hasChange(field string) bool {
	return slices.ContainsFunc(d.changes, func(c change) bool { return c.field == field })
}

// codesOf returns the codes of a list of languages.
func codesOf(r record.Record, name string) string {
	var codes []string
	for language := range r.Each(name) {
		codes = append(codes, fieldText(language, "iso_639_1"))
	}
	return record.List(codes)
}

func extraOf(r record.Record) record.RawFields {
	all, _ := record.Fields("{" + r.Object().Extra + "}") // it was parsed before
	return all
}

// An element is an element of a list. In a list inside another list, outer is the containing element of the outer list.
type element struct{ record, outer record.Record }

// text returns the JSON of a field, or "". Release times are cut to days.
func (e element) text(name string) string {
	text := fieldText(e.record, name)
	if text == "" && e.outer.Schema != nil {
		text = fieldText(e.outer, name)
	}
	const day = len(`"2006-01-02`)
	if name == "release_date" && len(text) > day+1 {
		text = text[:day] + `"`
	}
	return text
}

// elementsAt returns the elements at a path of a record.
func elementsAt(r record.Record, path string) (all []element) {
	outer, inner, nested := strings.Cut(path, ".results.")
	if !nested {
		for el := range r.Each(path) {
			all = append(all, element{record: el})
		}
		return all
	}
	for parent := range r.Each(outer + ".results") {
		for el := range parent.Each(inner) {
			all = append(all, element{el, parent})
		}
	}
	return all
}

// elements returns the elements of the list at all its paths, each once. It adds an image that only the details have, because
// some dumps have no lists of images.
func (l *changedList) elements(r record.Record) (all []element) {
	all = elementsAt(r, l.paths[0])
	if len(l.paths) > 1 {
		seen := map[string]bool{}
		for _, e := range all {
			seen[l.identity(e)] = true
		}
		for _, e := range elementsAt(r, l.paths[1]) {
			if !seen[l.identity(e)] {
				all = append(all, e)
			}
		}
	}
	path := nonEmpty(fieldText(r, l.path))
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
	for _, name := range l.keys {
		out = append(append(out, e.text(name)...), 0)
	}
	return string(out)
}

// value returns the value of an element in a change, or "" for a nil element. unpaired means that the element was added or
// deleted: an image then has no null fields.
func (l *changedList) value(e *element, unpaired bool) string {
	if e == nil {
		return ""
	}
	if len(l.values) == 1 {
		return e.text(l.values[0])
	}
	out := []byte{'{'}
	for _, name := range l.values {
		name, from, ok := strings.Cut(name, "=")
		if !ok {
			from = name
		}
		text := e.text(from)
		if text == "" || unpaired && l.image != "" && text == "null" {
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
	type candidate struct {
		element *element
		text    string
	}
	before := map[string][]candidate{}
	for i := range old {
		id := l.identity(old[i])
		before[id] = append(before[id], candidate{&old[i], l.value(&old[i], false)})
	}
	for i := range now {
		id, text := l.identity(now[i]), l.value(&now[i], false)
		if j := slices.IndexFunc(before[id], func(c candidate) bool { return c.text == text }); j >= 0 {
			before[id] = slices.Delete(before[id], j, j+1)
			continue
		}
		out = append(out, pair{now: &now[i]})
	}
	next := func(e *element) *element {
		id := l.identity(*e)
		candidates := before[id]
		if len(candidates) == 0 {
			return nil
		}
		before[id] = candidates[1:]
		return candidates[0].element
	}
	for i := range out {
		out[i].old = next(out[i].now)
	}
	for i := range old {
		if deleted := next(&old[i]); deleted != nil {
			out = append(out, pair{old: deleted})
		}
	}
	return out
}

// list adds the changes of a list.
func (d *differ) list(l *changedList, old, now []element) {
	for _, p := range l.pairs(old, now) {
		unpaired := p.old == nil || p.now == nil
		if slices.Contains(l.values, "character") && !unpaired && p.old.text("character") != p.now.text("character") {
			d.note(character.field, "", "", character.value(p.old, false), character.value(p.now, false))
			if p.old.text("order") == p.now.text("order") {
				continue
			}
		}
		var codes [2]string
		for i, name := range l.codes {
			codes[i] = record.Unquote(cmp.Or(p.now, p.old).text(name))
		}
		d.note(l.field, codes[0], codes[1], l.value(p.old, unpaired), l.value(p.now, unpaired))
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

// translated returns the translations of a record: its own, and texts that were crawled in other languages.
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
		exists := func(t translation) bool { return t.language == language && (t.country == country || country == "") }
		if !slices.ContainsFunc(all, exists) {
			add(language, country, t)
		}
	}
	return all
}

// translations adds changes for added and deleted languages and for changed texts. It skips en-US, which the details have.
func (d *differ) translations(old, now []translation) {
	find := func(in []translation, t translation) (translation, bool) {
		i := slices.IndexFunc(in, func(o translation) bool { return o.language == t.language && o.country == t.country })
		if i < 0 {
			return translation{}, false
		}
		return in[i], true
	}
	compare := func(before, after, t translation, unpaired bool) {
		if t.language == "en" && t.country == "US" {
			return
		}
		for _, name := range texts[d.kind] {
			oldText, newText := before.texts[name], after.texts[name]
			if name == "runtime" && unpaired { // 0 means that there is no translation
				oldText, newText = strings.TrimPrefix(oldText, "0"), strings.TrimPrefix(newText, "0")
			}
			d.note(name, t.language, t.country, oldText, newText)
		}
	}
	for _, t := range now {
		before, ok := find(old, t)
		if !ok {
			d.note("translations", "", "", "", t.tag())
		}
		compare(before, t, t, !ok)
	}
	for _, t := range old {
		if _, ok := find(now, t); !ok {
			d.note("translations", "", "", t.tag(), "")
			compare(t, translation{}, t, true)
		}
	}
}

// externalIDs adds the changes of external ids. In changes, all of them are texts.
func (d *differ) externalIDs(old, now record.Record) {
	quoted := func(text string) string {
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			return `"` + text + `"`
		}
		return text
	}
	f, _ := now.Schema.Field("external_ids")
	var oldIDs, newIDs record.Record
	for ids := range old.Each(f.Name) { // by name: old may have another schema
		oldIDs = ids
	}
	for ids := range now.Each(f.Name) {
		newIDs = ids
	}
	for i := range f.Elem.Fields {
		if name := f.Elem.Fields[i].Name; !d.hasChange(name) { // the details may have the id too
			d.note(name, "", "", quoted(fieldText(oldIDs, name)), quoted(fieldText(newIDs, name)))
		}
	}
}
