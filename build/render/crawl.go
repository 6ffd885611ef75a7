package render

import (
	"cmp"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// fillBase sets the fields that depend on the language where only crawls in other
// languages gave them, as if en-US had no text.
func (m *model) fillBase(rec record.Record) {
	if m.localized == nil {
		return
	}
	n, _ := rec.Len(m.localized)
	if n == 0 {
		return
	}
	en := m.englishRow(rec)
	for i := range n {
		c := rec.At(m.localized, i)
		for j := range m.texts {
			if t := &m.texts[j]; t.crawl != nil {
				m.fillText(rec, c, t)
			}
		}
		for j := range m.subs {
			// Trailers are those in the language of the crawl.
			if s := &m.subs[j]; s.crawl != nil && s.sub != fragment.SubTrailers && !record.Present(rec, s.field) && record.Present(c, s.crawl) {
				record.Copy(rec, c, s.crawl)
			}
		}
	}
	for i := range m.texts {
		t := &m.texts[i]
		if !en.IsNil() && t.data != nil && t.field.Shape == record.ShapeString && en.String(t.data).V != "" {
			*rec.String(t.field) = *en.String(t.data)
		}
		record.MarkNull(rec, t.field.Name) // what no crawl gave is null
	}
}

// fillText sets a text when the crawl gave it and the base has none, not even a null.
func (m *model) fillText(rec, crawl record.Record, t *text) {
	if record.Present(rec, t.field) || !record.Present(crawl, t.crawl) || record.IsNull(crawl, t.crawl.Name) {
		return
	}
	if t.field.Shape != record.ShapeString {
		record.Copy(rec, crawl, t.crawl)
		if t.rule == toGenres {
			genres := m.genresOf(rec)
			*genres = EnglishGenres(m.kind, *genres)
		}
		return
	}
	s := crawl.String(t.crawl).V
	switch t.rule {
	case toNothing:
		s = ""
	case toOriginal:
		s = cmp.Or(m.originalOf(rec), s)
	case toGeneric:
		s = m.englishName(rec)
	}
	*rec.String(t.field) = record.Text(s)
}

// originalOf returns the original title or name, "" where it is not known.
func (m *model) originalOf(rec record.Record) string {
	if m.original == nil {
		return ""
	}
	return rec.String(m.original).V
}

// englishName returns the generic name of a season or an episode.
func (m *model) englishName(rec record.Record) string {
	if m.word == 0 {
		return ""
	}
	return englishName(m.word, rec.Int(m.number).V)
}

func englishName(word release.Word, number int64) string {
	switch n := int(number); {
	case n < 0:
		return ""
	case word == release.WordEpisode:
		return reference.EpisodeName("en", "", n)
	default: // season 0 is called by a name of its own
		return reference.SeasonName("en", "", n)
	}
}

// englishRow returns the data of the en-US translation of a record that was never
// crawled in en-US, else nil: a crawl's own text wins over its translations.
func (m *model) englishRow(rec record.Record) record.Record {
	t := m.translations
	if t == nil || rec.String(m.texts[0].field).Set {
		return record.Record{}
	}
	sub, ok := rec.Sub(t.field)
	if !ok {
		return record.Record{}
	}
	n, _ := sub.Len(t.rows)
	for i := range n {
		row := sub.At(t.rows, i)
		if fragment.Language(row.String(t.language).V, row.String(t.country).V) == enUS {
			if data, ok := row.Sub(t.data); ok {
				return data
			}
		}
	}
	return record.Record{}
}

// translations adds the given translations, and a row for each language in which the
// record was crawled without one: clients pick languages from this list.
func (f *fragments) translations(m *model, s *sub, rec record.Record) {
	t := m.translations
	given, ok := rec.Sub(t.field)
	var missing []int
	n, _ := rec.Len(m.localized)
	for i := range n {
		if c := rec.At(m.localized, i); m.hasText(c) && (!ok || !t.has(given, c.String(m.crawlLanguage).V)) {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		f.whole(s, fragment.Base, given)
		return
	}
	f.begin()
	f.mark(opID)
	f.name(t.rows.Name)
	f.text("[")
	if ok {
		rows, _ := given.Len(t.rows)
		for i := range rows {
			f.comma()
			f.buf = record.Append(f.buf, given.At(t.rows, i))
		}
	}
	for _, i := range missing {
		f.comma()
		m.appendTranslation(f, rec.At(m.localized, i))
	}
	f.text("]")
	if ok {
		f.extra(given)
	}
	f.text("}")
	f.add(fragment.Address{Sub: s.sub}, f.end())
}

// hasText reports whether a crawl has text that translations have too.
func (m *model) hasText(crawl record.Record) bool {
	for i := range m.texts {
		t := &m.texts[i]
		if t.data != nil && t.crawl != nil && t.field.Shape == record.ShapeString && t.field.Name != "homepage" &&
			crawl.String(t.crawl).Set {
			return true
		}
	}
	return false
}

// has reports whether the translations have a row of the language.
func (t *rowsSchema) has(given record.Record, tag string) bool {
	lang, region := tagCodes(tag)
	n, _ := given.Len(t.rows)
	for i := range n {
		row := given.At(t.rows, i)
		if row.String(t.language).V == lang && row.String(t.country).V == region {
			return true
		}
	}
	return false
}

// tagCodes splits xx-YY; without a region, the language's usual one is meant.
func tagCodes(tag string) (lang, region string) {
	lang, region = splitTag(tag)
	if region == "" {
		region = reference.DefaultRegion(lang)
	}
	return lang, region
}

// appendTranslation appends a row of translations made of what a crawl gave.
func (m *model) appendTranslation(f *fragments, crawl record.Record) {
	lang, region := tagCodes(crawl.String(m.crawlLanguage).V)
	l, _ := reference.LanguageByCode(lang)
	f.text("{")
	for _, field := range [...][2]string{
		{"iso_3166_1", region}, {"iso_639_1", lang}, {"name", l.Name}, {"english_name", l.EnglishName},
	} {
		f.name(field[0])
		f.buf = record.AppendString(f.buf, field[1])
	}
	f.name("data")
	f.text("{")
	data := m.translations.data.Elem
	for i := range data.Fields {
		d := &data.Fields[i]
		f.name(d.Name)
		f.text(m.crawled(crawl, d))
	}
	f.text("}}")
}

// crawled returns the JSON of what a crawl gave for a field of translations.
func (m *model) crawled(crawl record.Record, data *record.Field) string {
	for i := range m.texts {
		t := &m.texts[i]
		if t.data == data && t.crawl != nil && record.Present(crawl, t.crawl) && !record.IsNull(crawl, t.crawl.Name) {
			return record.FieldText(crawl, t.crawl)
		}
	}
	return emptyValue(data)
}
