package complete

import (
	"cmp"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Base returns a record with what only crawls in other languages gave of fields that depend on the
// language, as if en-US had no text: given itself where there are no such crawls. Its columns may be read in part.
func Base[T any](given *T) *T {
	rec := record.Of(given)
	m := modelOf(rec)
	if m.Localized == nil {
		return given
	}
	n, _ := rec.Len(m.Localized)
	if n == 0 {
		return given
	}
	v := *given
	en := m.englishRow(rec)
	rec = record.Of(&v)
	for i := range n {
		crawl := rec.At(m.Localized, i)
		for j := range m.Texts {
			if t := &m.Texts[j]; t.Crawl != nil {
				m.fillText(rec, crawl, t)
			}
		}
		for j := range m.Subs {
			// Trailers are those in the language of the crawl.
			if s := &m.Subs[j]; s.Crawl != nil && s.Sub != fragment.SubTrailers && !record.Present(rec, s.Field) && record.Present(crawl, s.Crawl) {
				record.Copy(rec, crawl, s.Crawl)
			}
		}
	}
	for i := range m.Texts {
		t := &m.Texts[i]
		if !en.IsNil() && t.Data != nil && t.Field.Shape == record.ShapeString && en.String(t.Data).V != "" {
			*rec.String(t.Field) = *en.String(t.Data)
		}
		record.MarkNull(rec, t.Field.Name) // what no crawl gave is null
	}
	return &v
}

// fillText sets a text when the crawl gave it and the base has none, not even a null.
func (m *Model) fillText(rec, crawl record.Record, t *Text) {
	if record.Present(rec, t.Field) || !record.Present(crawl, t.Crawl) || record.IsNull(crawl, t.Crawl.Name) {
		return
	}
	if t.Field.Shape != record.ShapeString {
		record.Copy(rec, crawl, t.Crawl)
		if t.Rule == ToGenres {
			genres := m.GenresOf(rec)
			*genres = Genres(m.Kind, *genres, "en", "")
		}
		return
	}
	s := crawl.String(t.Crawl).V
	switch t.Rule {
	case ToNothing:
		s = ""
	case ToOriginal:
		s = cmp.Or(m.OriginalOf(rec), s)
	case ToGeneric:
		s = m.NameOf(rec)
	}
	*rec.String(t.Field) = record.Text(s)
}

// englishRow returns the data of the en-US translation of a record that was never
// crawled in en-US, else nil: a crawl's own text wins over its translations.
func (m *Model) englishRow(rec record.Record) record.Record {
	t := m.Translations
	if t == nil || rec.String(m.Texts[0].Field).Set {
		return record.Record{}
	}
	sub, ok := rec.Sub(t.Field)
	if !ok {
		return record.Record{}
	}
	n, _ := sub.Len(t.Rows)
	for i := range n {
		row := sub.At(t.Rows, i)
		if fragment.Language(row.String(t.Language).V, row.String(t.Country).V) == fragment.Language("en", "US") {
			if data, ok := row.Sub(t.Data); ok {
				return data
			}
		}
	}
	return record.Record{}
}
