package crawl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/text"
)

// fetchedField is the field of a row with the date of its data.
const fetchedField = "_fetched"

// A result holds the parts of a response: one, or one for each season.
type result struct {
	parts []part
	// missing are seasons that the series lists and the response lacks.
	missing []string
}

// A part is a journal entry with the rows for its file.
type part struct {
	entry entry
	rows  []byte // each row ends with a line feed
}

// A stamp holds the date of a response, and the date of its data if the server reports an older one.
type stamp struct{ day, data day.Day }

func (s stamp) entry(key string) entry {
	return entry{Key: key, Day: s.day, Data: s.data, Named: map[string][]int64{}}
}

// parse parses the response to a task.
func (t *task) parse(cfg *Config, fetched stamp, body []byte) (r result, err error) {
	v, err := decoded(body)
	if err != nil {
		return r, err
	}
	switch id := slices.Concat(numbers(v, "id"), []int64{0})[0]; {
	case t.isList():
		p := part{entry: fetched.entry(t.key())}
		if err := t.parseList(&p.entry, v, body); err != nil {
			return r, err
		}
		r.parts = []part{p}
	case id < 1:
		return r, errors.New("the response has no id: want details of a resource")
	case id == t.id || t.action == fetchEpisode:
		if err := t.addRows(&r, fetched, v, body); err != nil {
			return r, err
		}
	case t.action == fetchDetails: // a merge that the server followed; the other ID gets its own task
		p := part{entry: fetched.entry(t.key())}
		p.entry.Into, p.entry.File = id, kindNamed(t.kind).fileOf("")
		p.rows = fmt.Appendf(nil, `{"id":%d,"_merged_into":%d,"%s":"%s"}`+"\n", t.id, id, fetchedField, p.entry.age())
		r.parts = []part{p}
	default: // merged into another
		return t.removal(fetched), nil
	}
	for i := range r.parts {
		e := &r.parts[i].entry
		for k, ids := range e.Named {
			slices.Sort(ids)
			if e.Named[k] = slices.Compact(ids); len(ids) == 0 {
				delete(e.Named, k)
			}
		}
		if t.hasVideos() && !e.removed() {
			e.Videos = t.furtherVideos(cfg)
		}
	}
	return r, nil
}

// decoded decodes JSON into maps, lists and json.Numbers.
func decoded(body []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return v, d.Decode(&v)
}

// numbers returns the integers at a dotted path, from all elements of lists on it.
func numbers(v any, path string) (out []int64) {
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			out = append(out, numbers(element, path)...)
		}
	case map[string]any:
		if field, rest, _ := strings.Cut(path, "."); path != "" {
			return numbers(v[field], rest)
		}
	case json.Number:
		if n, err := v.Int64(); err == nil && path == "" {
			out = append(out, n)
		}
	}
	return out
}

// addIDs adds the IDs at a path of the response.
func (e *entry) addIDs(kind string, v any, path string) {
	for _, id := range numbers(v, path) {
		if id > 0 {
			e.Named[kind] = append(e.Named[kind], id)
		}
	}
}

// removal returns the result for a resource that no longer exists: a row that removes it, with its translations, from the
// catalogue.
func (t *task) removal(fetched stamp) (r result) {
	remove := func(key string, k *kind, address string, args ...any) {
		p := part{entry: fetched.entry(key)}
		p.entry.Gone = true
		if k != nil && t.language == "" {
			p.entry.File = k.fileOf("")
			p.rows = fmt.Appendf(nil, `{%s,"_deleted":true,"%s":"%s"}`+"\n", fmt.Sprintf(address, args...), fetchedField, p.entry.age())
		}
		r.parts = append(r.parts, p)
	}
	switch t.action {
	case fetchDetails:
		remove(t.key(), kindNamed(t.kind), `"id":%d`, t.id)
	case fetchSeasons:
		for _, n := range t.seasons {
			remove(t.seasonKey(n), &seasons, `"series_id":%d,"season_number":%d`, t.id, n)
		}
	case fetchEpisode:
		season, episode := t.splitNumber()
		remove(t.key(), &episodes, `"series_id":%d,"season_number":%d,"episode_number":%d`, t.id, season, episode)
	default:
		remove(t.key(), nil, "")
	}
	return r
}

// addRows adds the rows of a response about one resource.
func (t *task) addRows(r *result, fetched stamp, v any, body []byte) error {
	p := part{entry: fetched.entry(t.key())}
	fields, err := record.Fields(string(body))
	if err != nil {
		return err
	}
	switch t.action {
	case fetchSeasons:
		return t.addSeasons(r, fetched, v, fields)
	case fetchLanguage:
		k := kindNamed(t.kind)
		p.entry.File = k.fileOf(t.language)
		p.rows = localizedRow(fmt.Sprintf(`"id":%d`, t.id), k, t.language, fields, p.entry.age())
		r.parts = []part{p}
		return nil
	case fetchEpisode:
		season, episode := t.splitNumber()
		return r.add(&p, &episodes, v, withNumbers(fields, t.id, season, episode))
	default:
		if t.kind == "tv" {
			p.entry.Named[seasons.name] = numbers(v, "seasons.season_number")
		}
		return r.add(&p, kindNamed(t.kind), v, fields)
	}
}

// add adds a part with the row of a resource and the IDs in it. An older date in the response takes precedence.
func (r *result) add(p *part, k *kind, v any, fields record.RawFields) error {
	age := p.entry.age()
	if raw, ok := fields.Take(fetchedField); ok {
		if older, ok := day.Parse(record.Unquote(raw)); ok {
			age = min(age, older)
		}
	}
	if len(fields) == 0 {
		return errors.New("the response has no fields")
	}
	for _, l := range k.names {
		p.entry.addIDs(l.kind, v, l.list+".id")
	}
	row := fields.Object()
	p.entry.File = k.fileOf("")
	p.rows = fmt.Appendf(nil, `%s,"%s":"%s"}`+"\n", row[:len(row)-1], fetchedField, age)
	r.parts = append(r.parts, *p)
	return nil
}

// withNumbers returns the fields of a season or an episode after its series ID and numbers. Numbers in the response are kept.
func withNumbers(fields record.RawFields, series int64, place ...int64) record.RawFields {
	fields.Take("series_id")
	fields.Take("show_id")
	out := record.RawFields{{Name: "series_id", Raw: strconv.FormatInt(series, 10)}}
	for i, name := range [...]string{"season_number", "episode_number"} {
		if i < len(place) && !fields.Has(name) {
			out = append(out, record.RawField{Name: name, Raw: strconv.FormatInt(place[i], 10)})
		}
	}
	return append(out, fields...)
}

// localizedRow makes a row of translated texts. An empty title means that there is no translation.
func localizedRow(idFields string, k *kind, language string, fields record.RawFields, age day.Day) []byte {
	dst := []byte("{" + idFields)
	for _, f := range fields {
		if _, pages := k.localizes(f.Name); pages && strings.HasPrefix(f.Raw, "{") {
			page := append([]byte(`{"language":`), record.AppendString(nil, language)...)
			if rest := f.Raw[1:]; rest != "}" {
				page = append(page, ',')
			}
			dst = record.AppendField(dst, f.Name, string(page)+f.Raw[1:])
		}
	}
	dst = append(dst, `,"localized":[{"language":`...)
	dst = record.AppendString(dst, language)
	for _, f := range fields {
		if text, _ := k.localizes(f.Name); text && ((f.Name != "title" && f.Name != "name") || f.Raw != `""`) {
			dst = record.AppendField(dst, f.Name, f.Raw)
		}
	}
	return fmt.Appendf(dst, `}],"%s":"%s"}`+"\n", fetchedField, age)
}

// addSeasons adds the rows of seasons that were appended to a series. It removes seasons that the series no longer lists.
func (t *task) addSeasons(r *result, fetched stamp, series any, fields record.RawFields) error {
	for _, n := range t.seasons {
		prefix := fmt.Sprintf("season/%d", n)
		season, err := record.Fields(cmp.Or(fields.Value(prefix), "{}"))
		switch {
		case err != nil && strings.HasPrefix(fields.Value(prefix), "{"):
			return err
		case err == nil && len(season) > 0 && !season.Has("status_code"):
		case slices.Contains(numbers(series, "seasons.season_number"), n): // the server lacks it, or failed
			r.missing = append(r.missing, t.seasonKey(n))
			continue
		default:
			dropped := task{action: fetchSeasons, id: t.id, language: t.language, seasons: []int64{n}}
			r.parts = append(r.parts, dropped.removal(fetched).parts...)
			continue
		}
		for _, f := range fields {
			if sub, ok := strings.CutPrefix(f.Name, prefix+"/"); ok && !season.Has(sub) {
				season = append(season, record.RawField{Name: sub, Raw: f.Raw})
			}
		}
		p := part{entry: fetched.entry(t.seasonKey(n))}
		p.entry.Mode = t.mode
		if t.language != "" {
			p.entry.File = seasons.fileOf(t.language)
			p.rows = localizedRow(fmt.Sprintf(`"series_id":%d,"season_number":%d`, t.id, n), &seasons, t.language, season, p.entry.age())
			r.parts = append(r.parts, p)
			continue
		}
		// If a season lacks its ID, take it from the series.
		list, _ := series.(map[string]any)["seasons"].([]any)
		i := slices.IndexFunc(list, func(s any) bool { return slices.Contains(numbers(s, "season_number"), n) })
		if ids := numbers(list[max(0, i):i+1], "id"); !season.Has("id") && len(ids) > 0 && ids[0] > 0 {
			season = append(season, record.RawField{Name: "id", Raw: strconv.FormatInt(ids[0], 10)})
		}
		v, err := decoded([]byte(season.Object()))
		if err != nil {
			return err
		}
		for _, episode := range numbers(v, "episodes.episode_number") {
			if episode >= 0 && episode < 1<<seasonBits && n >= 0 && n < 1<<(seasonBits-1) {
				p.entry.Named[episodes.name] = append(p.entry.Named[episodes.name], episodeNumber(n, episode))
			}
		}
		if err := r.add(&p, &seasons, v, withNumbers(season, t.id, n)); err != nil {
			return err
		}
	}
	return nil
}

// A foundRow is a row of a search or a find response.
type foundRow struct {
	ID       int64  `json:"id"`
	Title    string `json:"title"`
	Original string `json:"original_title"`
	Released string `json:"release_date"`
	Name     string `json:"name"`
	OrigName string `json:"original_name"`
	FirstAir string `json:"first_air_date"`
}

// maxTitle bounds the title of a search, in bytes.
const maxTitle = 256

// hasTitle reports whether the row has the title. As in a search, case, accents and punctuation do not count.
func (r *foundRow) hasTitle(title string) bool {
	fold := func(s string) string { return string(text.AppendFolded(nil, s, maxTitle)) }
	folded := fold(title)
	return folded != "" && slices.ContainsFunc([]string{r.Title, r.Original, r.Name, r.OrigName}, func(name string) bool { return fold(name) == folded })
}

// parseList adds the resources in a list.
func (t *task) parseList(e *entry, v any, body []byte) error {
	var found struct {
		Results []foundRow
		Series  []foundRow `json:"tv_results"`
	}
	switch {
	case t.action == listChanges:
		pages := numbers(v, "total_pages")
		if len(pages) == 0 {
			return errors.New("the response has no total_pages: want a page of changes")
		}
		e.Pages = int(min(pages[0], math.MaxInt32))
		e.addIDs(t.kind, v, "results.id")
		return nil
	case t.action == findID && t.source == fromIMDb: // for an episode, its series
		e.addIDs("movie", v, "movie_results.id")
		e.addIDs("tv", v, "tv_results.id")
		e.addIDs("person", v, "person_results.id")
		e.addIDs("tv", v, "tv_season_results.show_id")
		e.addIDs("tv", v, "tv_episode_results.show_id")
		if ids := e.Named[t.kind]; len(ids) > 0 { // the ID belongs to several kinds
			e.Named = map[string][]int64{t.kind: ids}
		}
		return nil
	case t.action == findID && t.kind != "":
		// At TVDB, unrelated series, seasons and episodes may have the same number.
		e.addIDs("tv", v, map[string]string{"tv": "tv_results.id", "season": "tv_season_results.show_id", "episode": "tv_episode_results.show_id"}[t.kind])
		return nil
	}
	if err := json.Unmarshal(body, &found); err != nil {
		return err
	}
	if t.action == findID { // a movie may have the same number, so the series must be the one in the list
		for _, row := range found.Series {
			if row.ID > 0 && (row.ID == t.id || t.id == 0 && row.hasTitle(t.title)) {
				e.Named["tv"] = append(e.Named["tv"], row.ID)
			}
		}
		return nil
	}
	// A search result counts only if no other has that name and year.
	var matches []int64
	for _, row := range found.Results {
		if strings.HasPrefix(cmp.Or(row.Released, row.FirstAir), strconv.Itoa(t.year)+"-") && row.hasTitle(t.text) {
			matches = append(matches, row.ID)
		}
	}
	if len(matches) == 1 && matches[0] > 0 {
		e.Named[t.kind] = matches
	}
	return nil
}
