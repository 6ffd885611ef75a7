package layout

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"reelsplice/data/reference"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/wire"
)

// tmdb is the layout of TMDB's own answers: details with or without appended
// objects, rows of lists, and single sub-requests.
type tmdb struct {
	parser   *wire.Parser
	language string
	dropped  map[string]int64
}

func newTMDB(language string) *tmdb {
	return &tmdb{parser: wire.NewParser(), language: language, dropped: map[string]int64{}}
}

func (t *tmdb) Counts() wire.Counts { return t.parser.Counts }

func (t *tmdb) Dropped() map[string]int64 { return t.dropped }

func (t *tmdb) Movie(r Row) (*catalog.Movie, error) {
	text := r.JSON
	if r.Sub != "" {
		var err error
		if text, err = wrap(r); err != nil {
			return nil, err
		}
	}
	m := &catalog.Movie{}
	t.parser.Columns = r.Table
	if err := t.parser.Parse(text, wire.RecordOf(m)); err != nil {
		return nil, err
	}
	if !m.ID.Set {
		if err := answeredError(r.JSON); err != nil {
			return nil, err
		}
	}
	t.dropEmpty(wire.RecordOf(m))
	sameTags(m)
	english, err := t.known(m)
	if err != nil {
		return nil, err
	}
	if err := check(m); err != nil {
		return nil, err
	}
	if r.ID != 0 && r.ID != m.ID.V {
		return nil, &wire.FieldError{Field: "id", What: fmt.Sprintf("the file name says %d, the row says %d", r.ID, m.ID.V)}
	}
	if t.language != "" {
		localize(m, t.language)
	}
	fill(m, &english) // the base is free for it now
	return m, nil
}

// isSub reports whether name is a sub-request of a movie.
func isSub(name string) bool {
	if name == "casts" || name == "similar_movies" {
		return true
	}
	f, ok := wire.PlanOf[catalog.Movie]().Field(name)
	return ok && f.Elem != nil && f.Elem.DropID
}

// answeredError returns the error of the API that a crawler kept in place of an
// answer, nil when row is none.
func answeredError(row string) error {
	var e struct {
		Code    *int64  `json:"status_code"`
		Message *string `json:"status_message"`
	}
	if json.Unmarshal([]byte(row), &e) == nil && e.Code != nil && e.Message != nil {
		return &wire.FieldError{Field: "status_code", What: fmt.Sprintf("is no answer but error %d: %s", *e.Code, *e.Message)}
	}
	return nil
}

// wrap makes a record of the answer to one sub-request.
func wrap(r Row) (string, error) {
	if !isSub(r.Sub) {
		return "", fmt.Errorf("the file name says sub-request %q, which is none of a movie", r.Sub)
	}
	if err := answeredError(r.JSON); err != nil {
		return "", err
	}
	var own struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal([]byte(r.JSON), &own); err != nil {
		return "", fmt.Errorf("parse JSON: %w", err)
	}
	if own.ID != nil && string(own.ID) != fmt.Sprint(r.ID) {
		return "", &wire.FieldError{Field: "id", What: fmt.Sprintf("the file name says %d, the answer says %s", r.ID, own.ID)}
	}
	return fmt.Sprintf(`{"id":%d,%q:%s}`, r.ID, r.Sub, r.JSON), nil
}

// legacy are members that rows of lists and old answers have in place of others.
type legacy struct {
	wire.Object
	Casts         *catalog.Credits      `wire:"casts"`
	GenreIDs      []int64               `wire:"genre_ids"`
	MediaType     wire.String           `wire:"media_type"`
	SimilarMovies []catalog.SummaryPage `wire:"similar_movies,pages"`
}

// known moves members that m does not know but their meaning is, to where they
// belong. English texts, of members such as title_en, it returns: in a crawl of
// another language the base is not free for them yet.
func (t *tmdb) known(m *catalog.Movie) (english catalog.Localized, err error) {
	if m.Extra == "" {
		return english, nil
	}
	var l legacy
	p := wire.NewParser()
	if err := p.Parse("{"+m.Extra+"}", wire.RecordOf(&l)); err != nil {
		return english, err
	}
	if l.MediaType.Set && l.MediaType.V != "movie" {
		return english, &wire.FieldError{Field: "media_type", What: fmt.Sprintf(`want "movie", found %q`, l.MediaType.V)}
	}
	t.countBelow(p.Counts)
	t.dropEmpty(wire.RecordOf(&l))
	m.Extra = l.Extra
	if m.Credits == nil {
		m.Credits = l.Casts
	}
	if m.Similar == nil {
		m.Similar = l.SimilarMovies
	}
	if m.Genres == nil && l.GenreIDs != nil {
		m.Genres = t.genresOf(l.GenreIDs)
	}
	for _, name := range []string{"casts", "genre_ids", "media_type", "similar_movies"} {
		t.forget(name)
	}
	return t.suffixed(m)
}

// countBelow takes over what was counted inside of members, which the first parser
// only saw as unknown ones.
func (t *tmdb) countBelow(c wire.Counts) {
	for path, n := range c.Unknown {
		if strings.Contains(path, ".") || strings.Contains(path, "[") {
			wire.Count(t.parser.Counts.Unknown, path, n)
		}
	}
	for path, n := range c.Coerced {
		wire.Count(t.parser.Counts.Coerced, path, n)
	}
}

// forget takes a member off the count of unknown ones.
func (t *tmdb) forget(name string) {
	counts := t.parser.Counts.Unknown
	if _, ok := counts[name]; !ok {
		return // not in this row
	}
	if counts[name]--; counts[name] == 0 {
		delete(counts, name)
	}
}

// genresOf names genres. One that is not among the API's has no name.
func (t *tmdb) genresOf(ids []int64) []catalog.Genre {
	out := make([]catalog.Genre, 0, len(ids))
	for _, id := range ids {
		n := reference.GenreName(reference.Movie, id, "en", "")
		if n == "" {
			wire.Count(t.parser.Counts.Unknown, "genre_ids[]", 1)
		}
		out = append(out, catalog.Genre{ID: wire.Number(id), Name: wire.Text(n)})
	}
	return out
}

// fill sets the texts that m lacks to those of l.
func fill(m *catalog.Movie, l *catalog.Localized) {
	set := func(dst *wire.String, s wire.String) {
		if !dst.Set && s.Set {
			*dst = s
		}
	}
	set(&m.Title, l.Title)
	set(&m.Overview, l.Overview)
	set(&m.Tagline, l.Tagline)
	set(&m.Homepage, l.Homepage)
}

// suffixed turns texts whose name ends in a language, title_ar, into the text of
// that language.
func (t *tmdb) suffixed(m *catalog.Movie) (english catalog.Localized, err error) {
	if m.Extra == "" || !strings.Contains(m.Extra, "_") {
		return english, nil
	}
	var extra map[string]json.RawMessage
	if err := json.Unmarshal([]byte("{"+m.Extra+"}"), &extra); err != nil {
		return english, fmt.Errorf("parse unknown members: %w", err)
	}
	found := false
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		base, lang, ok := cutLast(name, "_")
		var text string
		if !ok || len(lang) != 2 || json.Unmarshal(extra[name], &text) != nil {
			continue
		}
		if _, known := reference.LanguageByCode(lang); known && t.setText(m, &english, lang, base, text) {
			delete(extra, name)
			t.forget(name)
			found = true
		}
	}
	if found {
		m.Extra = membersOf(extra)
	}
	return english, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// membersOf writes unknown members as wire.Object.Extra has them.
func membersOf(extra map[string]json.RawMessage) string {
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(extra)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(wire.AppendString(nil, name))
		b.WriteByte(':')
		b.Write(extra[name])
	}
	return b.String()
}

// setText reports false for members that have no text of their own in a language.
func (t *tmdb) setText(m *catalog.Movie, english *catalog.Localized, lang, member, text string) bool {
	of := func(title, overview, tagline, homepage *wire.String) *wire.String {
		return map[string]*wire.String{
			"title": title, "overview": overview, "tagline": tagline, "homepage": homepage,
		}[member]
	}
	base := of(&m.Title, &m.Overview, &m.Tagline, &m.Homepage)
	if base == nil {
		return false
	}
	if text == "" { // null too: no text, rather than an empty one
		return true
	}
	l := english
	if tag, err := ParseLanguage(lang); err != nil {
		return false
	} else if tag != "" {
		l = localized(m, tag)
	} else if t.language == "" && base.Set {
		return base.V == text // two English texts: the crawl's own is served
	}
	*of(&l.Title, &l.Overview, &l.Tagline, &l.Homepage) = wire.Text(text)
	return true
}

// localized returns m's element for a language, a new one if need be. The pointer
// is good until the next call.
func localized(m *catalog.Movie, language string) *catalog.Localized {
	for i := range m.Localized {
		if m.Localized[i].Language.V == language {
			return &m.Localized[i]
		}
	}
	m.Localized = append(m.Localized, catalog.Localized{Language: wire.Text(language)})
	return &m.Localized[len(m.Localized)-1]
}
