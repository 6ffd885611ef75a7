package layout

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"reelsplice/data/reference"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/wire"
)

// tmdb is the layout of TMDB's own answers: details with or without appended
// objects, rows of lists, and single sub-requests.
type tmdb struct {
	parser   *wire.Parser
	language string
}

func newTMDB(language string) *tmdb {
	return &tmdb{parser: wire.NewParser(), language: language}
}

func (t *tmdb) Counts() wire.Counts { return t.parser.Counts }

func (t *tmdb) Movie(r Row) (*catalog.Movie, error) {
	text := r.JSON
	if r.Sub != "" {
		var err error
		if text, err = wrap(r); err != nil {
			return nil, err
		}
	}
	m := &catalog.Movie{}
	if err := t.parser.Parse(text, wire.RecordOf(m)); err != nil {
		return nil, err
	}
	if err := t.known(m); err != nil {
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
	return m, nil
}

// wrap makes a record of the answer to one sub-request.
func wrap(r Row) (string, error) {
	if _, ok := fragment.ParseSub(r.Sub); !ok {
		return "", fmt.Errorf("the file name says sub-request %q, which is none", r.Sub)
	}
	var own struct {
		ID json.Number `json:"id"`
	}
	if err := json.Unmarshal([]byte(r.JSON), &own); err != nil {
		return "", &wire.FieldError{Field: "id", What: "want an integer: " + err.Error()}
	}
	if own.ID != "" && own.ID.String() != fmt.Sprint(r.ID) {
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
// belong.
func (t *tmdb) known(m *catalog.Movie) error {
	if m.Extra == "" {
		return nil
	}
	var l legacy
	p := wire.NewParser()
	if err := p.Parse("{"+m.Extra+"}", wire.RecordOf(&l)); err != nil {
		return err
	}
	m.Extra = l.Extra
	if m.Credits == nil {
		m.Credits = l.Casts
	}
	if m.Similar == nil {
		m.Similar = l.SimilarMovies
	}
	if m.Genres == nil && l.GenreIDs != nil {
		m.Genres = genresOf(l.GenreIDs)
	}
	for _, name := range []string{"casts", "genre_ids", "media_type", "similar_movies"} {
		t.forget(name)
	}
	return t.suffixed(m)
}

// forget takes a member off the count of unknown ones.
func (t *tmdb) forget(name string) {
	if t.parser.Counts.Unknown[name]--; t.parser.Counts.Unknown[name] <= 0 {
		delete(t.parser.Counts.Unknown, name)
	}
}

func genresOf(ids []int64) []catalog.Genre {
	out := make([]catalog.Genre, 0, len(ids))
	for _, id := range ids {
		if n := reference.GenreName(reference.Movie, id, "en", ""); n != "" {
			out = append(out, catalog.Genre{ID: wire.Number(id), Name: wire.Text(n)})
		}
	}
	return out
}

// suffixed turns texts whose name ends in a language, title_ar, into the text of
// that language.
func (t *tmdb) suffixed(m *catalog.Movie) error {
	if m.Extra == "" || !strings.Contains(m.Extra, "_") {
		return nil
	}
	var extra map[string]json.RawMessage
	if err := json.Unmarshal([]byte("{"+m.Extra+"}"), &extra); err != nil {
		return fmt.Errorf("parse unknown members: %w", err)
	}
	found := false
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		base, lang, ok := cutLast(name, "_")
		var text string
		if !ok || len(lang) != 2 || json.Unmarshal(extra[name], &text) != nil {
			continue
		}
		if _, known := reference.LanguageByCode(lang); known && setText(m, lang, base, text) {
			delete(extra, name)
			t.forget(name)
			found = true
		}
	}
	if found {
		m.Extra = membersOf(extra)
	}
	return nil
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

func setText(m *catalog.Movie, lang, member, text string) bool {
	l := localized(m, lang)
	dst := map[string]*wire.String{
		"title": &l.Title, "overview": &l.Overview, "tagline": &l.Tagline, "homepage": &l.Homepage,
	}[member]
	if dst == nil {
		return false
	}
	*dst = wire.Text(text)
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

// localize moves what depends on the language of the crawl to m.Localized, and
// leaves the rest, which is the same in every language, where it is.
func localize(m *catalog.Movie, language string) {
	l := localized(m, language)
	move := func(dst, src *wire.String, name string) {
		if src.Set {
			*dst, *src = *src, wire.String{}
		}
		wire.MarkAbsent(wire.RecordOf(m), name)
	}
	move(&l.Title, &m.Title, "title")
	move(&l.Overview, &m.Overview, "overview")
	move(&l.Tagline, &m.Tagline, "tagline")
	move(&l.Homepage, &m.Homepage, "homepage")
	move(&l.PosterPath, &m.PosterPath, "poster_path")
	move(&l.BackdropPath, &m.BackdropPath, "backdrop_path")
	l.Runtime, m.Runtime = m.Runtime, wire.Int{}
	l.Genres, m.Genres = m.Genres, nil
	l.BelongsToCollection, m.BelongsToCollection = m.BelongsToCollection, nil
	wire.MarkAbsent(wire.RecordOf(m), "belongs_to_collection")
	l.Credits, m.Credits = m.Credits, nil
	l.Trailers, m.Trailers = m.Trailers, nil
	for i := range m.Lists {
		m.Lists[i].Language = wire.Text(language)
	}
	for i := range m.Recommendations {
		m.Recommendations[i].Language = wire.Text(language)
	}
	for i := range m.Reviews {
		m.Reviews[i].Language = wire.Text(language)
	}
	for i := range m.Similar {
		m.Similar[i].Language = wire.Text(language)
	}
}
