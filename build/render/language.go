package render

import (
	"cmp"
	"slices"

	"reelsplice/data/reference"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/wire"
)

// A language is everything a record says about its movie in one language.
type language struct {
	lang, region string
	bare         bool // also answers a request for the language without a region
	row          *catalog.Translation
	crawl        *catalog.Localized
}

// variant is the address tag of l.
func (l *language) variant() fragment.Variant { return fragment.Language(l.lang, l.region) }

// languagesOf returns the languages that m has text in, but for en-US, which is the
// base. Rows whose codes are no language pair are skipped; they stay in the answer
// of translations.
func languagesOf(m *catalog.Movie) []language {
	var list []language
	at := func(lang, region string) *language {
		if region == "" {
			region = reference.DefaultRegion(lang)
		}
		v := languageVariant(lang, region)
		if v == fragment.Base || v == enUS {
			return nil
		}
		i := slices.IndexFunc(list, func(l language) bool { return l.variant() == v })
		if i < 0 {
			i = len(list)
			list = append(list, language{lang: lang, region: region})
		}
		return &list[i]
	}
	if m.Translations != nil {
		for i := range m.Translations.Translations {
			t := &m.Translations.Translations[i]
			if l := at(t.ISO639.V, t.ISO3166.V); l != nil && l.row == nil && t.Data != nil {
				l.row = t
			}
		}
	}
	for i := range m.Localized {
		c := &m.Localized[i]
		lang, region := splitTag(c.Language.V)
		if l := at(lang, region); l != nil {
			l.crawl = c
		}
	}
	chooseBare(list)
	return list
}

// enUS is the language of the base variant.
var enUS = fragment.Language("en", "US")

// languageVariant is fragment.Language for codes out of a record: Base unless they
// are letters, so that they cannot pass for a variant that is no language.
func languageVariant(lang, region string) fragment.Variant {
	if !isLetters(lang) || !isLetters(region) {
		return fragment.Base
	}
	return fragment.Language(lang, region)
}

func isLetters(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// splitTag splits xx-YY.
func splitTag(tag string) (lang, region string) {
	if len(tag) == 5 && tag[2] == '-' {
		return tag[:2], tag[3:]
	}
	return tag, ""
}

// chooseBare picks, for each language, the region that answers a request without
// one: the language's usual region, else the first that has text. English without
// a region is the base.
func chooseBare(list []language) {
	for i := range list {
		l := &list[i]
		first := slices.IndexFunc(list, func(o language) bool { return o.lang == l.lang })
		usual := slices.IndexFunc(list, func(o language) bool {
			return o.lang == l.lang && o.region == reference.DefaultRegion(l.lang)
		})
		if usual >= 0 {
			first = usual
		}
		l.bare = first == i && l.lang != "en"
	}
}

// apply returns base with the text of l, by the rules of each member: a title falls
// back to the original title, texts to nothing, the runtime and the paths to the
// base. A member that neither the record nor l has stays absent.
func (l *language) apply(base *catalog.Movie) *catalog.Movie {
	v := untranslated(base, l.lang)
	if l.row != nil {
		d := l.row.Data
		setNonEmpty(&v.Title, d.Title)
		setNonEmpty(&v.Overview, d.Overview)
		setNonEmpty(&v.Tagline, d.Tagline)
		setNonEmpty(&v.Homepage, d.Homepage)
		if d.Runtime.Set && d.Runtime.V > 0 {
			v.Runtime = d.Runtime
		}
	}
	v.Genres = localGenres(base.Genres, l.lang, l.region)
	if c := l.crawl; c != nil {
		setNonEmpty(&v.Title, c.Title)
		setGiven(&v.Overview, c.Overview)
		setGiven(&v.Tagline, c.Tagline)
		setGiven(&v.Homepage, c.Homepage)
		setPath(v, &v.PosterPath, c, c.PosterPath, "poster_path")
		setPath(v, &v.BackdropPath, c, c.BackdropPath, "backdrop_path")
		if c.Runtime.Set {
			v.Runtime = c.Runtime
		}
		if c.BelongsToCollection != nil {
			v.BelongsToCollection = c.BelongsToCollection
		}
		if c.Genres != nil {
			v.Genres = c.Genres
		}
	}
	return v
}

func setNonEmpty(dst *wire.String, src wire.String) {
	if src.Set && src.V != "" {
		*dst = src
	}
}

func setGiven(dst *wire.String, src wire.String) {
	if src.Set {
		*dst = src
	}
}

// setPath sets an image path to what a crawl gave, a null included.
func setPath(v *catalog.Movie, dst *wire.String, c *catalog.Localized, given wire.String, name string) {
	setGiven(dst, given)
	if wire.IsNull(wire.RecordOf(c), name) {
		*dst = wire.String{}
		wire.MarkNull(wire.RecordOf(v), name)
	}
}

// untranslated returns base as it is shown in a language without text of its own.
func untranslated(base *catalog.Movie, lang string) *catalog.Movie {
	v := *base
	if v.Title.Set && v.OriginalTitle.V != "" {
		v.Title = v.OriginalTitle
	}
	for _, s := range []*wire.String{&v.Overview, &v.Tagline, &v.Homepage} {
		if s.Set {
			s.V = ""
		}
	}
	if p, ok := posterFor(base, lang); ok {
		v.PosterPath = wire.Text(p)
	}
	return &v
}

// posterFor returns the first poster in the language, else in the original
// language, else the first of all.
func posterFor(m *catalog.Movie, lang string) (string, bool) {
	if m.Images == nil || lacksPoster(m) {
		return "", false
	}
	for _, want := range []string{lang, m.OriginalLanguage.V} {
		for i := range m.Images.Posters {
			p := &m.Images.Posters[i]
			if want != "" && p.ISO639.V == want && p.FilePath.V != "" {
				return p.FilePath.V, true
			}
		}
	}
	for i := range m.Images.Posters {
		if p := m.Images.Posters[i].FilePath.V; p != "" {
			return p, true
		}
	}
	return "", false
}

// lacksPoster reports whether a record has no poster_path, not even a null.
func lacksPoster(m *catalog.Movie) bool {
	return !m.PosterPath.Set && !wire.IsNull(wire.RecordOf(m), "poster_path")
}

// localGenres returns the genres with their names in a language. Genres that the
// reference does not name keep theirs.
func localGenres(genres []catalog.Genre, lang, region string) []catalog.Genre {
	if genres == nil || !hasGenreNames(lang, region) {
		return genres
	}
	out := slices.Clone(genres)
	for i := range out {
		if n := reference.GenreName(reference.Movie, out[i].ID.V, lang, region); n != "" {
			out[i].Name = wire.Text(n)
		}
	}
	return out
}

// hasGenreNames reports whether the reference names genres in a language.
func hasGenreNames(lang, region string) bool {
	keys := reference.GenreLanguages()
	for _, k := range []string{lang, lang + "-" + region} {
		if _, ok := slices.BinarySearch(keys, k); ok && lang != "en" {
			return true
		}
	}
	return false
}

// fillBase sets the members that depend on the language where only crawls in other
// languages gave them, as if en-US had no text.
func fillBase(m *catalog.Movie) {
	en := englishRow(m)
	if len(m.Localized) > 0 {
		for _, name := range []string{"backdrop_path", "belongs_to_collection", "poster_path"} {
			defer wire.MarkNull(wire.RecordOf(m), name) // what no crawl gave is null
		}
	}
	for i := range m.Localized {
		c := &m.Localized[i]
		fillText(m, &m.Title, c.Title, "title", cmp.Or(m.OriginalTitle.V, c.Title.V))
		fillText(m, &m.Overview, c.Overview, "overview", "")
		fillText(m, &m.Tagline, c.Tagline, "tagline", "")
		fillText(m, &m.Homepage, c.Homepage, "homepage", "")
		fillText(m, &m.PosterPath, c.PosterPath, "poster_path", c.PosterPath.V)
		fillText(m, &m.BackdropPath, c.BackdropPath, "backdrop_path", c.BackdropPath.V)
		if !m.Runtime.Set {
			m.Runtime = c.Runtime
		}
		if m.Genres == nil {
			m.Genres = EnglishGenres(c.Genres)
		}
		if m.BelongsToCollection == nil && c.BelongsToCollection != nil {
			m.BelongsToCollection = c.BelongsToCollection
		}
		if m.Credits == nil {
			m.Credits = c.Credits
		}
	}
	if en != nil && len(m.Localized) > 0 {
		setNonEmpty(&m.Title, en.Data.Title)
		setNonEmpty(&m.Overview, en.Data.Overview)
		setNonEmpty(&m.Tagline, en.Data.Tagline)
		setNonEmpty(&m.Homepage, en.Data.Homepage)
	}
}

// englishRow returns the en-US translation of a movie that was never crawled in
// en-US, else nil: a crawl's own text wins over its translations.
func englishRow(m *catalog.Movie) *catalog.Translation {
	if m.Title.Set || m.Translations == nil {
		return nil
	}
	for i := range m.Translations.Translations {
		t := &m.Translations.Translations[i]
		if fragment.Language(t.ISO639.V, t.ISO3166.V) == enUS && t.Data != nil {
			return t
		}
	}
	return nil
}

// fillText sets *dst to text when the crawl gave the member and the base has none,
// not even a null.
func fillText(m *catalog.Movie, dst *wire.String, given wire.String, name, text string) {
	if given.Set && !dst.Set && !wire.IsNull(wire.RecordOf(m), name) {
		*dst = wire.Text(text)
	}
}

// EnglishGenres returns the genres with their English names.
func EnglishGenres(genres []catalog.Genre) []catalog.Genre {
	out := slices.Clone(genres)
	for i := range out {
		if n := reference.GenreName(reference.Movie, out[i].ID.V, "en", ""); n != "" {
			out[i].Name = wire.Text(n)
		}
	}
	return out
}
