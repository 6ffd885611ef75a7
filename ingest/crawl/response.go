package crawl

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/text"
)

// fetchedField is the field of a row with the day of its response.
const fetchedField = "_fetched"

// A result is what the response to a task gives: a part, or one for each season.
type result struct {
	parts []part
	// found counts rows of resources, by kind; without rows of languages.
	found map[string]int64
}

// A part is an entry for the journal, and rows for a file.
type part struct {
	entry entry
	rows  []byte // each with its line end
}

// A stamp has the days of a response: its own, and that of its data where the server says that it is older.
type stamp struct{ day, data Day }

func (s stamp) entry(key string) entry {
	return entry{Key: key, Day: s.day, Data: s.data, Named: map[string][]int64{}}
}

// use reads the body of the response to a task.
func (t *task) use(cfg *Config, at stamp, body []byte) (r result, err error) {
	r.found = map[string]int64{}
	if t.what == fetchSeasons {
		err = t.someSeasons(&r, at, body)
	} else {
		r.parts = []part{{entry: at.entry(t.key())}}
		err = t.one(&r, &r.parts[0], body)
	}
	for i := range r.parts {
		e := &r.parts[i].entry
		for k, ids := range e.Named {
			slices.Sort(ids)
			if e.Named[k] = slices.Compact(ids); len(ids) == 0 {
				delete(e.Named, k)
			}
		}
		if t.hasVideos() && !e.left() {
			e.Videos = t.furtherVideos(cfg)
		}
	}
	return r, err
}

// one reads the body of a response that is one part.
func (t *task) one(r *result, p *part, body []byte) error {
	switch t.what {
	case fetchDetails:
		return t.details(r, p, body)
	case fetchLanguage:
		return t.inLanguage(p, body)
	case fetchEpisode:
		return t.oneEpisode(r, p, body)
	case findID:
		return t.found(p, body)
	case searchTitle:
		return t.searched(p, body)
	default:
		return t.changes(p, body)
	}
}

// gone is the result for a resource that is no more.
func (t *task) gone(at stamp) (r result) {
	switch t.what {
	case fetchDetails:
		return result{parts: []part{removal(at, t.key(), kindNamed(t.kind), fmt.Sprintf(`"id":%d`, t.id))}}
	case fetchSeasons:
		for _, n := range t.seasons {
			r.parts = append(r.parts, t.goneSeason(at, n))
		}
		return r
	case fetchEpisode:
		return result{parts: []part{t.goneEpisode(at)}}
	}
	e := at.entry(t.key())
	e.Gone = true
	return result{parts: []part{{entry: e}}}
}

// removal is the part for a resource that is no more: a row takes it out of the catalogue.
func removal(at stamp, key string, k *kind, address string) part {
	e := at.entry(key)
	e.Gone, e.File = true, k.fileOf("")
	return part{e, fmt.Appendf(nil, `{%s,"_deleted":true,"%s":"%s"}`+"\n", address, fetchedField, e.age())}
}

// goneSeason is the part for a season that is no more. Its rows in further languages go with the one that takes it out.
func (t *task) goneSeason(at stamp, number int64) part {
	p := removal(at, t.seasonKey(number), &seasons, fmt.Sprintf(`"series_id":%d,"season_number":%d`, t.id, number))
	if t.language != "" {
		p.entry.File, p.rows = "", nil
	}
	return p
}

// goneEpisode is the part for an episode that is no more.
func (t *task) goneEpisode(at stamp) part {
	season, episode := t.at()
	return removal(at, t.key(), &episodes, fmt.Sprintf(`"series_id":%d,"season_number":%d,"episode_number":%d`, t.id, season, episode))
}

// idOf returns the id of a response about one resource.
func idOf(body []byte) (int64, error) {
	var v struct{ ID int64 }
	if err := json.Unmarshal(body, &v); err != nil || v.ID < 1 {
		return 0, errors.New("the response has no id: want details of a resource")
	}
	return v.ID, nil
}

// details makes a row of the whole response.
func (t *task) details(r *result, p *part, body []byte) error {
	id, err := idOf(body)
	if err != nil {
		return err
	}
	k := kindNamed(t.kind)
	p.entry.File = k.fileOf("")
	if id != t.id { // the server followed a merge by itself; the other is a task of its own
		p.entry.Into = id
		p.rows = fmt.Appendf(p.rows, `{"id":%d,"_merged_into":%d,"%s":"%s"}`+"\n", t.id, id, fetchedField, p.entry.age())
		return nil
	}
	if p.rows, err = appendRow(p.rows, body, p.entry.age()); err != nil {
		return err
	}
	r.found[t.kind]++
	if err := named(body, k.names, p.entry.Named); err != nil {
		return err
	}
	if t.kind == "tv" {
		p.entry.Named[seasons.name], err = seasonNumbers(body)
	}
	return err
}

// seasonNumbers returns the numbers of the seasons that details of a series list.
func seasonNumbers(body []byte) (out []int64, err error) {
	var v struct {
		Seasons []struct {
			Number int64 `json:"season_number"`
		}
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return nil, err
	}
	for _, s := range v.Seasons {
		out = append(out, s.Number)
	}
	return out, nil
}

// appendRow appends a response with the day of its data. An older day that a body has by itself stays.
func appendRow(dst, body []byte, today Day) ([]byte, error) {
	if strings.Contains(string(body), `"`+fetchedField+`"`) {
		fields, err := record.Fields(string(body))
		if err != nil {
			return dst, err
		}
		if raw, ok := fields.Take(fetchedField); ok {
			if day, err := ParseDay(record.Unquote(raw)); err == nil {
				today = min(today, day)
			}
			body = []byte(fields.Object())
		}
	}
	if len(body) < len(`{"":0}`) {
		return dst, errors.New("the response has no fields")
	}
	dst = append(dst, body[:len(body)-1]...)
	return fmt.Appendf(dst, `,"%s":"%s"}`+"\n", fetchedField, today), nil
}

// inLanguage makes a row of what depends on the language.
func (t *task) inLanguage(p *part, body []byte) error {
	id, err := idOf(body)
	if err != nil {
		return err
	}
	if id != t.id { // it was merged into another
		p.entry.Gone = true
		return nil
	}
	k := kindNamed(t.kind)
	fields, err := record.Fields(string(body))
	if err != nil {
		return err
	}
	p.entry.File = k.fileOf(t.language)
	p.rows = localizedRow(p.rows, fmt.Sprintf(`"id":%d`, id), k, t.language, fields, p.entry.age())
	return nil
}

// localizedRow appends a row with texts in a language. An empty title is none: the original one is shown.
func localizedRow(dst []byte, address string, k *kind, language string, fields record.RawFields, today Day) []byte {
	l := k.localized()
	dst = append(dst, "{"+address...)
	for _, f := range fields {
		if l.pages[f.Name] && strings.HasPrefix(f.Raw, "{") {
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
		if l.fields[f.Name] && ((f.Name != "title" && f.Name != "name") || f.Raw != `""`) {
			dst = record.AppendField(dst, f.Name, f.Raw)
		}
	}
	return fmt.Appendf(dst, `}],"%s":"%s"}`+"\n", fetchedField, today)
}

// someSeasons makes rows of seasons that are appended to a series. A season that the series has no more is gone.
func (t *task) someSeasons(r *result, at stamp, body []byte) error {
	id, err := idOf(body)
	if err != nil {
		return err
	}
	if id != t.id { // the series was merged into another
		*r = t.gone(at)
		return nil
	}
	fields, err := record.Fields(string(body))
	if err != nil {
		return err
	}
	listed, err := seasonNumbers(body)
	if err != nil {
		return err
	}
	ids := seasonIDs(fields.Value("seasons"))
	for _, n := range t.seasons {
		season, err := appendedSeason(fields, n)
		switch {
		case err != nil:
			return err
		case season == nil && slices.Contains(listed, n): // the server lacks it, or failed: it holds for today
			r.parts = append(r.parts, part{entry: at.entry(t.lackKey(n))})
			continue
		case season == nil:
			r.parts = append(r.parts, t.goneSeason(at, n))
			continue
		}
		if !season.Has("id") && ids[n] > 0 {
			season = append(season, record.RawField{Name: "id", Raw: strconv.FormatInt(ids[n], 10)})
		}
		prefix := fmt.Sprintf("season/%d/", n)
		for _, f := range fields {
			if sub, ok := strings.CutPrefix(f.Name, prefix); ok && !season.Has(sub) {
				season = append(season, record.RawField{Name: sub, Raw: f.Raw})
			}
		}
		p := part{entry: at.entry(t.seasonKey(n))}
		p.entry.Mode = t.mode
		if err := t.oneSeason(r, &p, n, season); err != nil {
			return err
		}
		r.parts = append(r.parts, p)
	}
	return nil
}

// appendedSeason returns the fields of a season, nil for one that did not come.
func appendedSeason(fields record.RawFields, n int64) (record.RawFields, error) {
	raw := fields.Value(fmt.Sprintf("season/%d", n))
	if raw == "" || raw[0] != '{' {
		return nil, nil
	}
	season, err := record.Fields(raw)
	if err != nil || season.Has("status_code") {
		return nil, err
	}
	return season, nil
}

// oneSeason makes a row of one season.
func (t *task) oneSeason(r *result, p *part, n int64, season record.RawFields) error {
	p.entry.File = seasons.fileOf(t.language)
	address := fmt.Sprintf(`"series_id":%d,"season_number":%d`, t.id, n)
	if t.language != "" {
		p.rows = localizedRow(p.rows, address, &seasons, t.language, season, p.entry.age())
		return nil
	}
	if err := named([]byte(season.Object()), seasons.names, p.entry.Named); err != nil {
		return err
	}
	// The number stays where the response has it.
	if season.Has("season_number") {
		address = fmt.Sprintf(`"series_id":%d`, t.id)
	}
	if err := nameEpisodes(p, n, season.Value("episodes")); err != nil {
		return err
	}
	season.Take("series_id")
	row := append([]byte("{"), address...)
	for _, f := range season {
		row = record.AppendField(row, f.Name, f.Raw)
	}
	var err error
	p.rows, err = appendRow(p.rows, append(row, '}'), p.entry.age())
	r.found[seasons.name]++
	return err
}

// nameEpisodes adds the numbers of a season's episodes.
func nameEpisodes(p *part, season int64, raw string) error {
	var list []struct {
		Number int64 `json:"episode_number"`
	}
	if err := json.Unmarshal([]byte(cmp.Or(raw, "[]")), &list); err != nil {
		return fmt.Errorf("episodes: %w", err)
	}
	for _, e := range list {
		if e.Number >= 0 && e.Number < 1<<seasonBits && season >= 0 && season < 1<<(seasonBits-1) {
			p.entry.Named[episodes.name] = append(p.entry.Named[episodes.name], episodeNumber(season, e.Number))
		}
	}
	return nil
}

// oneEpisode makes a row of an episode.
func (t *task) oneEpisode(r *result, p *part, body []byte) error {
	if _, err := idOf(body); err != nil {
		return err
	}
	fields, err := record.Fields(string(body))
	if err != nil {
		return err
	}
	if err := named(body, episodes.names, p.entry.Named); err != nil {
		return err
	}
	for _, name := range []string{"series_id", "show_id"} {
		fields.Take(name)
	}
	p.entry.File = episodes.fileOf("")
	row := fmt.Appendf(nil, `{"series_id":%d`, t.id)
	season, episode := t.at()
	if !fields.Has("season_number") {
		row = fmt.Appendf(row, `,"season_number":%d`, season)
	}
	if !fields.Has("episode_number") {
		row = fmt.Appendf(row, `,"episode_number":%d`, episode)
	}
	for _, f := range fields {
		row = record.AppendField(row, f.Name, f.Raw)
	}
	p.rows, err = appendRow(p.rows, append(row, '}'), p.entry.age())
	r.found[episodes.name]++
	return err
}

// seasonIDs returns the ids of the seasons in the details of a series, by their numbers.
func seasonIDs(raw string) map[int64]int64 {
	var list []struct {
		ID     int64
		Number int64 `json:"season_number"`
	}
	_ = json.Unmarshal([]byte(cmp.Or(raw, "[]")), &list) // without ids, seasons lack theirs
	ids := map[int64]int64{}
	for _, s := range list {
		ids[s.Number] = s.ID
	}
	return ids
}

// named adds the ids in lists of a response, by kind.
func named(body []byte, lists []namedIDs, to map[string][]int64) error {
	if len(lists) == 0 {
		return nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		return err
	}
	for _, l := range lists {
		field, rest, _ := strings.Cut(l.list, ".")
		var err error
		if to[l.kind], err = appendIDs(to[l.kind], all[field], rest); err != nil {
			return fmt.Errorf("%s: %w", l.list, err)
		}
	}
	return nil
}

// appendIDs appends the ids of an object, or of the objects of a list, below a field.
func appendIDs(dst []int64, raw json.RawMessage, below string) ([]int64, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return dst, nil
	}
	if raw[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return dst, err
		}
		for _, one := range list {
			var err error
			if dst, err = appendIDs(dst, one, below); err != nil {
				return dst, err
			}
		}
		return dst, nil
	}
	if below != "" {
		var in map[string]json.RawMessage
		if err := json.Unmarshal(raw, &in); err != nil {
			return dst, err
		}
		field, rest, _ := strings.Cut(below, ".")
		return appendIDs(dst, in[field], rest)
	}
	var v struct{ ID int64 }
	if err := json.Unmarshal(raw, &v); err != nil {
		return dst, err
	}
	if v.ID > 0 {
		dst = append(dst, v.ID)
	}
	return dst, nil
}

// A listRow is what the rows of lists have of a title.
type listRow struct {
	ID       int64  `json:"id"`
	ShowID   int64  `json:"show_id"`
	Title    string `json:"title"`
	Original string `json:"original_title"`
	Released string `json:"release_date"`
	Name     string `json:"name"`
	OrigName string `json:"original_name"`
	FirstAir string `json:"first_air_date"`
}

// found takes the resources of an external id; an episode stands for its series.
func (t *task) found(p *part, body []byte) error {
	var v struct {
		Movies   []listRow `json:"movie_results"`
		TV       []listRow `json:"tv_results"`
		People   []listRow `json:"person_results"`
		Seasons  []listRow `json:"tv_season_results"`
		Episodes []listRow `json:"tv_episode_results"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	add := func(kind string, id int64) {
		if id > 0 {
			p.entry.Named[kind] = append(p.entry.Named[kind], id)
		}
	}
	for _, row := range v.Movies {
		add("movie", row.ID)
	}
	for _, row := range v.TV {
		add("tv", row.ID)
	}
	for _, row := range v.People {
		add("person", row.ID)
	}
	for _, row := range slices.Concat(v.Seasons, v.Episodes) {
		add("tv", row.ShowID)
	}
	return nil
}

// searched takes the title if it is the only one of that name and year.
func (t *task) searched(p *part, body []byte) error {
	var v struct{ Results []listRow }
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	var same []int64
	for _, row := range v.Results {
		day := cmp.Or(row.Released, row.FirstAir)
		if strings.HasPrefix(day, strconv.Itoa(t.year)+"-") && slices.ContainsFunc([]string{row.Title, row.Original, row.Name, row.OrigName},
			func(name string) bool { return sameTitle(name, t.text) }) {
			same = append(same, row.ID)
		}
	}
	if len(same) == 1 && same[0] > 0 {
		p.entry.Named[t.kind] = same
	}
	return nil
}

// sameTitle compares titles as searches do, without case, accents and punctuation.
func sameTitle(a, b string) bool {
	fold := func(s string) string { return string(text.AppendFolded(nil, s, maxTitle)) }
	return fold(a) != "" && fold(a) == fold(b)
}

// maxTitle bounds the title of a search, in bytes.
const maxTitle = 256

// changes takes the ids of a page.
func (t *task) changes(p *part, body []byte) error {
	var v struct {
		Results []listRow `json:"results"`
		Pages   *int      `json:"total_pages"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	if v.Pages == nil {
		return errors.New("the response has no total_pages: want a page of changes")
	}
	p.entry.Pages = *v.Pages
	for _, row := range v.Results {
		if row.ID > 0 {
			p.entry.Named[t.kind] = append(p.entry.Named[t.kind], row.ID)
		}
	}
	return nil
}
