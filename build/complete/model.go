package complete

import (
	"slices"
	"sync"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// A rule determines the value of a details field in a language without text.
type rule uint8

// The rules.
const (
	ToBase     rule = iota + 1 // the value in the base
	ToBaseName                 // same, but an empty name counts as missing
	ToOriginal                 // the original title or name
	ToNothing                  // empty
	ToGeneric                  // the generic name, such as "Season 1"
	ToPoster                   // the first poster in the language, or in the original language, or of all
	ToGenres                   // genres with the reference's names
	ToNames                    // seasons or episodes, with ToGeneric for names and ToNothing for overviews
)

// textRules are the language-dependent fields of the details by kind, the name first. data is the field's name in the
// data of translations, "" if it is not there.
var textRules = map[fragment.Kind][]struct {
	field string
	rule  rule
	data  string
}{
	fragment.KindMovie: {
		{"title", ToOriginal, "title"},
		{"overview", ToNothing, "overview"},
		{"tagline", ToNothing, "tagline"},
		{"homepage", ToNothing, "homepage"},
		{"runtime", ToBase, "runtime"},
		{"poster_path", ToPoster, ""},
		{"backdrop_path", ToBase, ""},
		{"belongs_to_collection", ToBase, ""},
		{"genres", ToGenres, ""},
	},
	fragment.KindTV: {
		{"name", ToOriginal, "name"},
		{"overview", ToNothing, "overview"},
		{"tagline", ToNothing, "tagline"},
		{"homepage", ToNothing, "homepage"},
		{"poster_path", ToPoster, ""},
		{"backdrop_path", ToBase, ""},
		{"created_by", ToBase, ""},
		{"genres", ToGenres, ""},
		{"seasons", ToNames, ""},
		{"last_episode_to_air", ToNames, ""},
		{"next_episode_to_air", ToNames, ""},
	},
	fragment.KindSeason: {
		{"name", ToGeneric, "name"},
		{"overview", ToNothing, "overview"},
		{"poster_path", ToPoster, ""},
		{"episodes", ToNames, ""},
	},
	fragment.KindEpisode: {
		{"name", ToGeneric, "name"}, {"overview", ToNothing, "overview"}, {"crew", ToBase, ""}, {"guest_stars", ToBase, ""},
	},
	fragment.KindPerson: {{"name", ToBaseName, "name"}, {"biography", ToNothing, "biography"}},
	fragment.KindCollection: {
		{"name", ToOriginal, "title"},
		{"overview", ToNothing, "overview"},
		{"poster_path", ToPoster, ""},
		{"backdrop_path", ToBase, ""},
		{"parts", ToBase, ""},
	},
	fragment.KindCredit: {{"media", ToBase, ""}, {"person", ToBase, ""}},
}

// A Model has the language-dependent fields of a kind, and where their text is. It is read-only.
type Model struct {
	Kind         fragment.Kind
	Schema       *record.Schema
	Texts        []Text
	Subs         []SubRequest
	Word         release.Word  // for generic names of seasons and episodes; 0 for other kinds
	Number       *record.Field // the number in the generic name
	Original     *record.Field // original_title or original_name
	Translations *Translations
	Localized    *record.Field
	Language     *record.Field // in an element of Localized
}

// A Text is a details field that depends on the language.
type Text struct {
	Field *record.Field
	Rule  rule
	Data  *record.Field // in the data of a translation; nil if missing
	Crawl *record.Field // in an element of Localized; nil if missing
}

// A SubRequest is a record field with its own API path.
type SubRequest struct {
	Sub   fragment.Sub
	Field *record.Field
	Crawl *record.Field // in an element of Localized; nil if missing
}

// Translations is the layout of the rows of a translations sub-request.
type Translations struct {
	Field, Rows             *record.Field
	Language, Country, Data *record.Field
}

// Models returns the models of all kinds.
var Models = sync.OnceValue(func() []*Model {
	var all []*Model
	field := func(p *record.Schema, name string) *record.Field { f, _ := p.Field(name); return f }
	for _, t := range catalog.Types() {
		m := &Model{Kind: t.Kind, Schema: t.Schema, Original: field(t.Schema, "original_title"), Localized: field(t.Schema, "localized")}
		all = append(all, m)
		if m.Original == nil && m.Kind != fragment.KindPerson {
			m.Original = field(t.Schema, "original_name")
		}
		crawl := func(name string) *record.Field {
			if m.Localized == nil {
				return nil
			}
			return field(m.Localized.Elem, name)
		}
		m.Language = crawl("language")
		switch m.Kind {
		case fragment.KindSeason:
			m.Word, m.Number = release.WordSeason, field(t.Schema, "season_number")
		case fragment.KindEpisode:
			m.Word, m.Number = release.WordEpisode, field(t.Schema, "episode_number")
		}
		if f := field(t.Schema, "translations"); f != nil {
			rows := field(f.Elem, "translations")
			m.Translations = &Translations{
				Field: f, Rows: rows, Language: field(rows.Elem, "iso_639_1"), Country: field(rows.Elem, "iso_3166_1"), Data: field(rows.Elem, "data"),
			}
		}
		for _, r := range textRules[m.Kind] {
			text := Text{Field: field(t.Schema, r.field), Rule: r.rule, Crawl: crawl(r.field)}
			if m.Translations != nil && r.data != "" {
				text.Data = field(m.Translations.Data.Elem, r.data)
			}
			m.Texts = append(m.Texts, text)
		}
		for i := t.Schema.Subs; i < len(t.Schema.Fields); i++ {
			f := &t.Schema.Fields[i]
			if s, ok := fragment.ParseSub(f.Name); ok && f.IsSub() {
				m.Subs = append(m.Subs, SubRequest{s, f, crawl(f.Name)})
			}
		}
	}
	return all
})

// modelOf returns the model of the kind of a record.
func modelOf(rec record.Record) *Model {
	for _, m := range Models() {
		if m.Schema == rec.Schema {
			return m
		}
	}
	panic("complete: no kind has records of " + rec.Schema.Type.String()) // callers have structs of package catalog
}

// OriginalOf returns the original title or name, "" if unknown.
func (m *Model) OriginalOf(rec record.Record) string {
	if m.Original == nil {
		return ""
	}
	return rec.String(m.Original).V
}

// NameOf returns the English generic name of a season or an episode, "" for other kinds.
func (m *Model) NameOf(rec record.Record) string {
	if m.Word == 0 {
		return ""
	}
	return GenericName(m.Word, rec.Int(m.Number).V)
}

// GenericName returns the English name of a season or an episode without one.
func GenericName(word release.Word, number int64) string {
	switch n := int(number); {
	case n < 0:
		return ""
	case word == release.WordEpisode:
		return reference.EpisodeName("en", "", n)
	default: // season 0
		return reference.SeasonName("en", "", n)
	}
}

// GenresOf returns the genres of a movie or a series.
func (m *Model) GenresOf(rec record.Record) *[]catalog.Genre {
	if m.Kind == fragment.KindTV {
		return &record.As[catalog.TV](rec).Genres
	}
	return &record.As[catalog.Movie](rec).Genres
}

// Genres returns genres of movies or series with their names in a language. Genres that the reference lacks keep
// their names.
func Genres(k fragment.Kind, genres []catalog.Genre, lang, region string) []catalog.Genre {
	media := reference.Movie
	if k == fragment.KindTV {
		media = reference.TV
	}
	out := slices.Clone(genres)
	for i := range out {
		if n := reference.GenreName(media, out[i].ID.V, lang, region); n != "" {
			out[i].Name = record.Text(n)
		}
	}
	return out
}
