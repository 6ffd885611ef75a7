package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// ParseFallback reads a list of languages such as "en-US,de-DE". A language without a region stands for its usual
// region; "" is an empty list.
func ParseFallback(list string) (languages []fragment.Variant, err error) {
	if list == "" {
		return nil, nil
	}
	for tag := range strings.SplitSeq(list, ",") {
		lang, region := splitTag(tag)
		v := variantOf(lang, region)
		switch {
		case v == fragment.Base, lang != strings.ToLower(lang), region != strings.ToUpper(region):
			return nil, fmt.Errorf("fallback %q: want languages such as en-US,de-DE", list)
		case slices.Contains(languages, v):
			return nil, fmt.Errorf("fallback %q: want each language once", list)
		}
		languages = append(languages, v)
	}
	return languages, nil
}

// fallbackFields are the texts of the details that another language may replace.
var fallbackFields = []string{"title", "name", "overview", "tagline", "biography"}

// fillTexts sets each text that l lacks from the first fallback language that has it. l is nil for the base and for
// versions without text.
func (d *detailer) fillTexts(m *model, base record.Record, v *version, l *language) {
	for i := range m.Texts {
		t := &m.Texts[i]
		if len(d.fallback) == 0 || !slices.Contains(fallbackFields, t.Field.Name) || !v.rec.String(t.Field).Set || d.hasOwnText(m, base, t, v, l) {
			continue
		}
		for _, f := range d.fallback {
			if s := d.textIn(m, base, t, f); s != "" {
				v.rec.String(t.Field).V = s
				v.generic = v.generic && t.Rule != complete.ToGeneric
				break
			}
		}
	}
}

// hasOwnText reports whether a version has the text in its own language. The original title counts for the original
// language.
func (d *detailer) hasOwnText(m *model, base record.Record, t *complete.Text, v *version, l *language) bool {
	switch {
	case t.Rule == complete.ToOriginal && m.isOriginalLanguage(base, v.lang):
		return true
	case !v.local:
		return d.textIn(m, base, t, enUS) != ""
	case l == nil:
		return false
	}
	return m.ownText(base, t, l) != ""
}

// isOriginalLanguage reports whether a language is the original one of a title.
func (m *model) isOriginalLanguage(base record.Record, lang string) bool {
	return m.originalLanguage != nil && lang != "" && base.String(m.originalLanguage).V == lang
}

// textIn returns a text in a language, "" if the record has none.
func (d *detailer) textIn(m *model, base record.Record, t *complete.Text, v fragment.Variant) string {
	if v == enUS {
		s := base.String(t.Field).V
		if t.Rule == complete.ToGeneric && s == m.NameOf(base) || t.Rule == complete.ToOriginal && s == m.OriginalOf(base) && !m.isOriginalLanguage(base, "en") && !m.namedInEnglish(base, t) {
			return ""
		}
		return s
	}
	if i := slices.IndexFunc(d.langs, func(l language) bool { return l.variant == v }); i >= 0 {
		if s := m.ownText(base, t, &d.langs[i]); s != "" {
			return s
		}
	}
	if t.Rule == complete.ToOriginal && m.isOriginalLanguage(base, v.Bare().String()) {
		return m.OriginalOf(base)
	}
	return ""
}

// ownText returns a text of l, "" for none. In a crawl, the original title and generic names stand for missing text.
func (m *model) ownText(base record.Record, t *complete.Text, l *language) string {
	translated := ""
	if !l.row.IsNil() && t.Data != nil {
		translated = l.row.String(t.Data).V
	}
	s := ""
	if !l.crawl.IsNil() && t.Crawl != nil {
		s = l.crawl.String(t.Crawl).V
	}
	if s == "" || t.Rule == complete.ToOriginal && s == m.OriginalOf(base) && !m.isOriginalLanguage(base, l.lang) {
		s = translated
	}
	if t.Rule == complete.ToGeneric && isGeneric(s, m.Word, base.Int(m.Number).V, l.lang, l.region) {
		return ""
	}
	return s
}

// isGeneric reports whether a name is the generic one of a season or an episode.
func isGeneric(name string, word release.Word, number int64, lang, region string) bool {
	if word == release.WordEpisode {
		return name == reference.EpisodeName(lang, region, int(number))
	}
	return name == reference.SeasonName(lang, region, int(number))
}

// namedInEnglish reports whether the translations of a title have its name in English.
func (m *model) namedInEnglish(base record.Record, t *complete.Text) bool {
	if m.Translations == nil || t.Data == nil {
		return false
	}
	sub, ok := base.Sub(m.Translations.Field)
	if !ok {
		return false
	}
	n, _ := sub.Len(m.Translations.Rows)
	for i := range n {
		row := sub.At(m.Translations.Rows, i)
		if variantOf(row.String(m.Translations.Language).V, row.String(m.Translations.Country).V) == enUS {
			data, ok := row.Sub(m.Translations.Data)
			return ok && data.String(t.Data).V != ""
		}
	}
	return false
}

// fillChild returns the text of a season or an episode in a language, completed from the fallback
// languages. f is the list that has the row; name is the index of its name field.
func (d *detailer) fillChild(p place, t nameText, v *version, f *record.Field, name int) nameText {
	if len(d.fallback) == 0 {
		return t
	}
	lang, region := "en", ""
	if v.variant != fragment.Base {
		lang, region = codesOf(v.variant)
	}
	needsName := t.name == "" || isGeneric(t.name, p.word, p.number(), lang, region)
	for _, language := range d.fallback {
		if !needsName && t.overview != "" {
			break
		}
		other := d.nested.text(p, language)
		if language == enUS {
			other = d.englishText(p, f, name)
		}
		lang, region := codesOf(language)
		if needsName && other.name != "" && !isGeneric(other.name, p.word, p.number(), lang, region) {
			t.name, needsName = other.name, false
		}
		if t.overview == "" {
			t.overview = other.overview
		}
	}
	return t
}

// englishText returns the text of a season or an episode in the base.
func (d *detailer) englishText(p place, f *record.Field, name int) nameText {
	if f.Shape == record.ShapeObject {
		if row, ok := d.base.Sub(f); ok && placeOf(row) == p {
			return rowText(row, name)
		}
		return nameText{}
	}
	n, _ := d.base.Len(f)
	for i := range n {
		if row := d.base.At(f, i); placeOf(row) == p {
			return rowText(row, name)
		}
	}
	return nameText{}
}

// rowText returns the text of a row; name is the index of its name field.
func rowText(row record.Record, name int) nameText {
	return nameText{row.String(&row.Schema.Fields[name]).V, row.String(&row.Schema.Fields[name+1]).V}
}

// codesOf returns the codes of a language and its region, "" without one.
func codesOf(v fragment.Variant) (lang, region string) {
	code := v.String()
	return code[:2], code[2:]
}
