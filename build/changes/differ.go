package changes

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// A differ finds out what changed of one resource. It is for one goroutine.
type differ struct {
	old, now source
	kind     fragment.Kind
	recorder
}

// Codes of the language of answers without one.
var english, america = json.RawMessage(`"en"`), json.RawMessage(`"US"`)

// texts are the fields, by kind, that translations have: the details have those of en-US.
var texts = map[fragment.Kind][]string{
	fragment.KindMovie:   {"title", "overview", "tagline", "homepage", "runtime"},
	fragment.KindTV:      {"name", "overview", "tagline", "homepage"},
	fragment.KindSeason:  {"name", "overview"},
	fragment.KindEpisode: {"name", "overview"},
	fragment.KindPerson:  {"biography", "name"},
}

// subs are the sub-requests, by kind, that are compared.
var subs = map[fragment.Kind][]fragment.Sub{
	fragment.KindMovie: {
		fragment.SubDetails, fragment.SubImages, fragment.SubCredits, fragment.SubTranslations, fragment.SubVideos,
		fragment.SubKeywords, fragment.SubAlternativeTitles, fragment.SubReleaseDates, fragment.SubExternalIDs,
	},
	fragment.KindTV: {
		fragment.SubDetails, fragment.SubImages, fragment.SubCredits, fragment.SubTranslations, fragment.SubVideos,
		fragment.SubKeywords, fragment.SubAlternativeTitles, fragment.SubContentRatings, fragment.SubExternalIDs,
	},
	fragment.KindSeason: {
		fragment.SubDetails, fragment.SubImages, fragment.SubCredits, fragment.SubTranslations, fragment.SubVideos, fragment.SubExternalIDs,
	},
	fragment.KindEpisode: {
		fragment.SubDetails, fragment.SubImages, fragment.SubCredits, fragment.SubTranslations, fragment.SubVideos, fragment.SubExternalIDs,
	},
	fragment.KindPerson: {fragment.SubDetails, fragment.SubImages, fragment.SubTranslations, fragment.SubExternalIDs},
}

// silent are the fields of details without changes of their own: copies of other fields or
// resources, counters, and fields that are compared elsewhere.
var silent = map[string]bool{
	"id": true, "_id": true, "series_id": true, "show_id": true, "season_number": true, "episode_number": true,
	"seasons": true, "episodes": true, "number_of_seasons": true, "number_of_episodes": true,
	"last_air_date": true, "last_episode_to_air": true, "next_episode_to_air": true, "in_production": true,
	"poster_path": true, "backdrop_path": true, "still_path": true, "profile_path": true,
	"crew": true, "guest_stars": true, "release_date": true,
}

// renamed are the fields of details whose key is another.
var renamed = map[string]string{"first_air_date": "air_date"}

// shapes are the lists among the fields of details.
var shapes = map[string]*shape{
	"genres": &shapeGenre, "production_companies": &shapeCompany, "production_countries": &shapeCountry,
	"networks": &shapeNetwork, "created_by": &shapeCreator,
}

// An image is a list of images, the field of details that has one of it, and how changes
// call an image of it.
type image struct{ list, path, name string }

var images = []image{
	{"posters", "poster_path", "poster"},
	{"backdrops", "backdrop_path", "backdrop"},
	{"logos", "", "title_logo"},
	{"stills", "still_path", "still"},
	{"profiles", "profile_path", "profile"},
}

// compare returns what changed of a resource that both releases have. The slice is valid
// until the next call.
func (d *differ) compare(k fragment.Kind, key []byte) ([]item, error) {
	d.start(k, key)
	differs := map[fragment.Sub]bool{}
	for _, sub := range subs[k] {
		differ, err := d.differs(sub)
		if err != nil {
			return nil, err
		}
		if differ {
			differs[sub] = true
		}
	}
	if len(differs) == 0 {
		return nil, nil
	}
	old, now, err := d.objects(fragment.SubDetails)
	if err != nil {
		return nil, err
	}
	if differs[fragment.SubDetails] {
		d.details(old, now)
	}
	// The details repeat some fields of these sub-requests.
	differs[fragment.SubImages] = differs[fragment.SubImages] || differs[fragment.SubDetails]
	differs[fragment.SubCredits] = differs[fragment.SubCredits] || differs[fragment.SubDetails] && k == fragment.KindEpisode
	for _, sub := range subs[k][1:] {
		if !differs[sub] {
			continue
		}
		a, b, err := d.objects(sub)
		if err != nil {
			return nil, err
		}
		d.sub(sub, a, b)
	}
	if !d.has(shapeRelease.key) {
		d.note("release_date", nil, nil, old["release_date"], now["release_date"])
	}
	return d.items, nil
}

func (d *differ) start(k fragment.Kind, key []byte) {
	d.kind, d.items = k, d.items[:0]
	d.old.open(key)
	d.now.open(key)
}

// differs reports whether more than counters differ in a sub-request.
func (d *differ) differs(sub fragment.Sub) (bool, error) {
	a, aok := d.old.fragment(sub)
	b, bok := d.now.fragment(sub)
	if !aok && !bok || aok && bok && same(a, b) {
		return false, nil
	}
	x, err := d.old.text(sub)
	if err != nil {
		return false, err
	}
	y, err := d.now.text(sub)
	return string(x) != string(y), err
}

// objects returns a sub-request in both releases.
func (d *differ) objects(sub fragment.Sub) (old, now object, err error) {
	if old, err = d.old.object(sub); err != nil {
		return nil, nil, err
	}
	now, err = d.now.object(sub)
	return old, now, err
}

// create returns the items of a new resource: that it is there, and, if detailed, what its
// details say. What belongs to it is there as a whole, and no change.
func (d *differ) create(k fragment.Kind, key []byte, detailed bool) ([]item, error) {
	d.start(k, key)
	d.add(item{key: keyGeneral, action: created})
	if !detailed {
		return d.items, nil
	}
	now, err := d.now.object(fragment.SubDetails)
	d.details(nil, now)
	d.note("release_date", nil, nil, nil, now["release_date"])
	return d.items, err
}

// remove returns the item of a resource that is gone.
func (d *differ) remove(k fragment.Kind, key []byte) []item {
	d.start(k, key)
	d.add(item{key: keyGeneral, action: destroyed})
	return d.items
}

// details notes what changed of the details.
func (d *differ) details(old, now object) {
	for _, name := range members(old, now) {
		switch {
		case silent[name]:
		case name == "networks" && d.kind == fragment.KindSeason: // those of its series
		case shapes[name] != nil:
			d.rows(shapes[name], old.list(name), now.list(name))
		case name == shapeSet.key:
			d.note(name, nil, nil, shapeSet.value(old.object(name)), shapeSet.value(now.object(name)))
		case name == "spoken_languages":
			d.note(name, nil, nil, codes(old.list(name)), codes(now.list(name)))
		case slices.Contains(texts[d.kind], name):
			d.note(name, english, america, old[name], now[name])
		default:
			key := name
			if k, ok := renamed[name]; ok {
				key = k
			}
			d.note(key, nil, nil, old[name], now[name])
		}
	}
}

// members returns the names of the fields of two objects, ascending.
func members(a, b object) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	return slices.Compact(names)
}

// codes returns the codes of languages as a list.
func codes(rows []object) json.RawMessage {
	if len(rows) == 0 {
		return nil
	}
	out := []byte{'['}
	for i, row := range rows {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, code(row["iso_639_1"])...)
	}
	return append(out, ']')
}

// sub notes what changed of a sub-request.
func (d *differ) sub(s fragment.Sub, old, now object) {
	switch s {
	case fragment.SubImages:
		d.images(old, now)
	case fragment.SubCredits:
		d.credits(old, now)
	case fragment.SubTranslations:
		d.translations(old.list("translations"), now.list("translations"))
	case fragment.SubVideos:
		d.rows(&shapeVideo, old.list("results"), now.list("results"))
	case fragment.SubKeywords:
		d.rows(&shapeKeyword, old.either("keywords", "results"), now.either("keywords", "results"))
	case fragment.SubAlternativeTitles:
		d.rows(&shapeTitle, old.either("titles", "results"), now.either("titles", "results"))
	case fragment.SubReleaseDates:
		d.rows(&shapeRelease, releases(old), releases(now))
	case fragment.SubContentRatings:
		d.rows(&shapeRating, old.list("results"), now.list("results"))
	case fragment.SubExternalIDs:
		d.externalIDs(old, now)
	}
}

// either returns the list that movies, or that series call by another name.
func (o object) either(movies, series string) []object {
	if _, ok := o[movies]; ok {
		return o.list(movies)
	}
	return o.list(series)
}

// images notes which images came and went, and whose language changed. An image that
// only the details name counts too: not all dumps have lists.
func (d *differ) images(old, now object) {
	a, _ := d.old.object(fragment.SubDetails) // compare has read them
	b, _ := d.now.object(fragment.SubDetails)
	for _, m := range images {
		d.imageList(&m, withPath(old.list(m.list), a[m.path]), withPath(now.list(m.list), b[m.path]))
	}
}

// withPath adds an image to those that are listed.
func withPath(rows []object, path json.RawMessage) []object {
	listed := func(o object) bool { return string(o["file_path"]) == string(path) }
	if isEmpty(path) || slices.ContainsFunc(rows, listed) {
		return rows
	}
	return append(rows, object{"file_path": path})
}

func (d *differ) imageList(m *image, old, now []object) {
	s := shape{key: "images", by: []string{"file_path"}, show: []string{"file_path", "iso_639_1"}}
	for _, p := range s.pairs(old, now) {
		show := func(row object) json.RawMessage {
			if row == nil {
				return nil
			}
			if (p.old == nil || p.now == nil) && isEmpty(row["iso_639_1"]) {
				row = object{"file_path": row["file_path"]} // a new image has no null
			}
			return append(append([]byte(`{"`+m.name+`":`), s.value(row)...), '}')
		}
		d.note(s.key, code(p.row()["iso_639_1"]), nil, show(p.old), show(p.now))
	}
}

// credits notes who joined and who left. The cast of an episode is that of its season,
// and the details of an episode name the others as well.
func (d *differ) credits(old, now object) {
	if d.kind != fragment.KindEpisode {
		d.cast(&shapeCast, old.list("cast"), now.list("cast"))
		d.rows(&shapeCrew, old.list("crew"), now.list("crew"))
		return
	}
	a, _ := d.old.object(fragment.SubDetails) // compare has read them
	b, _ := d.now.object(fragment.SubDetails)
	d.cast(&shapeGuest, union(&shapeGuest, old, a, "guest_stars"), union(&shapeGuest, now, b, "guest_stars"))
	d.rows(&shapeCrew, union(&shapeCrew, old, a, "crew"), union(&shapeCrew, now, b, "crew"))
}

// union returns the rows of a list of two objects, each once.
func union(s *shape, a, b object, name string) []object {
	rows, more := a.list(name), b.list(name)
	have := map[string]bool{}
	for _, row := range rows {
		have[s.identity(row)] = true
	}
	for _, row := range more {
		if !have[s.identity(row)] {
			rows = append(rows, row)
		}
	}
	return rows
}

// releases returns the releases of all countries in one list, with days for times.
func releases(o object) (rows []object) {
	for _, c := range o.list("results") {
		for _, row := range c.list("release_dates") {
			row["iso_3166_1"] = c["iso_3166_1"]
			if v := row["release_date"]; len(v) > len(`"2006-01-02"`) {
				row["release_date"] = append(v[:len(`"2006-01-02`):len(`"2006-01-02`)], '"')
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// translations notes which languages came and went, and what changed of their texts. What
// en-US says the details say too.
func (d *differ) translations(old, now []object) {
	s := shape{by: []string{"iso_639_1", "iso_3166_1"}, show: []string{"iso_639_1", "iso_3166_1", "data"}}
	for _, p := range s.pairs(old, now) {
		row := p.row()
		language, country := code(row["iso_639_1"]), code(row["iso_3166_1"])
		tag := func(o object) json.RawMessage {
			if o == nil {
				return nil
			}
			return tagOf(language, country)
		}
		d.note("translations", nil, nil, tag(p.old), tag(p.now))
		if string(language) == string(english) && string(country) == string(america) {
			continue
		}
		a, b := p.old.object("data"), p.now.object("data")
		for _, name := range texts[d.kind] {
			x, y := a[name], b[name]
			if name == "runtime" && (p.old == nil || p.now == nil) { // 0 is not translated
				x, y = unlessZero(x), unlessZero(y)
			}
			d.note(name, language, country, x, y)
		}
	}
}

func unlessZero(v json.RawMessage) json.RawMessage {
	if string(v) == "0" {
		return nil
	}
	return v
}

// tagOf joins two codes to the tag of a language.
func tagOf(language, country json.RawMessage) json.RawMessage {
	if string(country) == string(none) {
		return language
	}
	return slices.Concat(language[:len(language)-1], []byte("-"), country[1:])
}

// externalIDs notes which ids changed. Changes have all of them as text.
func (d *differ) externalIDs(old, now object) {
	for _, name := range members(old, now) {
		if name == "id" || d.has(name) {
			continue // it is a change of the details
		}
		d.note(name, nil, nil, quoted(old[name]), quoted(now[name]))
	}
}

func quoted(v json.RawMessage) json.RawMessage {
	if _, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return slices.Concat([]byte(`"`), v, []byte(`"`))
	}
	return v
}
