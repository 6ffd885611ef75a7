package render

import (
	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// translations adds the given translations, nil for none, and a row for each language in which the
// record was crawled without one: clients pick languages from this list.
func (f *fragments) translations(m *model, s *sub, rec, given record.Record) {
	t := m.Translations
	var missing []int
	n, _ := rec.Len(m.Localized)
	for i := range n {
		if c := rec.At(m.Localized, i); m.hasText(c) && (given.IsNil() || !hasRow(t, given, c.String(m.Language).V)) {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		f.whole(s, fragment.Base, given)
		return
	}
	f.begin()
	f.mark(opID)
	f.name(t.Rows.Name)
	f.text("[")
	if !given.IsNil() {
		rows, _ := given.Len(t.Rows)
		for i := range rows {
			f.comma()
			f.buf = record.Append(f.buf, given.At(t.Rows, i))
		}
	}
	for _, i := range missing {
		f.comma()
		m.appendTranslation(f, rec.At(m.Localized, i))
	}
	f.text("]")
	if !given.IsNil() {
		f.extra(given)
	}
	f.text("}")
	f.add(fragment.Address{Sub: s.Sub}, f.end())
}

// hasText reports whether a crawl has text that translations have too.
func (m *model) hasText(crawl record.Record) bool {
	for i := range m.Texts {
		t := &m.Texts[i]
		if t.Data != nil && t.Crawl != nil && t.Field.Shape == record.ShapeString && t.Field.Name != "homepage" &&
			crawl.String(t.Crawl).Set {
			return true
		}
	}
	return false
}

// hasRow reports whether the translations have a row of the language.
func hasRow(t *complete.Translations, given record.Record, tag string) bool {
	lang, region := tagCodes(tag)
	n, _ := given.Len(t.Rows)
	for i := range n {
		row := given.At(t.Rows, i)
		if row.String(t.Language).V == lang && row.String(t.Country).V == region {
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
	lang, region := tagCodes(crawl.String(m.Language).V)
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
	data := m.Translations.Data.Elem
	for i := range data.Fields {
		d := &data.Fields[i]
		f.name(d.Name)
		f.text(m.crawled(crawl, d))
	}
	f.text("}}")
}

// crawled returns the JSON of what a crawl gave for a field of translations.
func (m *model) crawled(crawl record.Record, data *record.Field) string {
	for i := range m.Texts {
		t := &m.Texts[i]
		if t.Data == data && t.Crawl != nil && record.Present(crawl, t.Crawl) && !record.IsNull(crawl, t.Crawl.Name) {
			return record.FieldText(crawl, t.Crawl)
		}
	}
	return emptyValue(data)
}
