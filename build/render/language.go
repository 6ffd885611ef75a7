package render

import (
	"slices"
	"strconv"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/build/derive"
	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// A language is the text of a record in one language.
type language struct {
	lang, region string
	variant      fragment.Variant
	bare         bool          // also serves requests for the language without a region
	nested       bool          // seasons or episodes of the record have text
	row          record.Record // the data of its translation, or nil
	crawl        record.Record // the element of localized, or nil
}

// variants are the address tags of l.
func (l *language) variants() []fragment.Variant {
	if bare := l.variant.Bare(); l.bare && bare != l.variant {
		return []fragment.Variant{l.variant, bare}
	}
	return []fragment.Variant{l.variant}
}

// A languages is a list of distinct languages.
type languages []language

// findOrAdd returns the language of a pair of codes, and adds it if needed. An empty region is the language's usual
// one. It returns nil for en-US, which is the base, and for invalid codes.
func (list *languages) findOrAdd(lang, region string) *language {
	v := variantOf(lang, region)
	if v == fragment.Base || v == enUS {
		return nil
	}
	for i := range *list {
		if l := &(*list)[i]; l.variant == v {
			return l
		}
	}
	if region == "" {
		region = reference.DefaultRegion(lang)
	}
	*list = append(*list, language{lang: lang, region: region, variant: v})
	return &(*list)[len(*list)-1]
}

// languagesOf returns the languages that rec has text in, except en-US, which is the base. Rows with invalid codes
// are skipped; they stay in the translations response.
func (d *detailer) languagesOf(m *model, rec record.Record) languages {
	list := d.langs[:0]
	if t := m.Translations; t != nil {
		if sub, ok := rec.Sub(t.Field); ok {
			n, _ := sub.Len(t.Rows)
			for i := range n {
				row := sub.At(t.Rows, i)
				l := list.findOrAdd(row.String(t.Language).V, row.String(t.Country).V)
				if l == nil || !l.row.IsNil() {
					continue
				}
				if data, ok := row.Sub(t.Data); ok {
					l.row = data
				}
			}
		}
	}
	if m.Localized != nil {
		n, _ := rec.Len(m.Localized)
		for i := range n {
			c := rec.At(m.Localized, i)
			lang, region := splitTag(c.String(m.Language).V)
			if l := list.findOrAdd(lang, region); l != nil {
				l.crawl = c
			}
		}
	}
	addNested := func(lang, region string) {
		if l := list.findOrAdd(lang, region); l != nil {
			l.nested = true
		}
	}
	for i := range d.nested.children {
		c := &d.nested.children[i]
		for j := range c.translations {
			t := &c.translations[j]
			if data := t.Data; data != nil && (data.Name.V != "" || data.Overview.V != "") {
				addNested(t.ISO639.V, t.ISO3166.V)
			}
		}
		for j := range c.localized {
			if l := &c.localized[j]; l.Name != "" || l.Overview != "" {
				addNested(splitTag(l.Language))
			}
		}
	}
	list.chooseBare()
	d.langs = list
	return list
}

// enUS is the language of the base variant.
var enUS = fragment.Language("en", "US")

// variantOf is fragment.Language for codes from a record. An empty region is the language's usual one.
func variantOf(lang, region string) fragment.Variant {
	if region == "" {
		region = reference.DefaultRegion(lang)
	}
	return fragment.Language(lang, region)
}

// splitTag splits xx-YY.
func splitTag(tag string) (lang, region string) {
	if len(tag) == 5 && tag[2] == '-' {
		return tag[:2], tag[3:]
	}
	return tag, ""
}

// chooseBare picks, for each language, the region that serves requests without one: the usual region, or else the first
// with text. English without a region is the base.
func (list languages) chooseBare() {
	for i := range list {
		l := &list[i]
		v := l.variant.Bare()
		first := slices.IndexFunc(list, func(o language) bool { return o.variant.Bare() == v })
		if first != i || l.lang == "en" {
			continue
		}
		usual := variantOf(l.lang, "")
		if j := slices.IndexFunc(list, func(o language) bool { return o.variant == usual }); j >= 0 {
			first = j
		}
		list[first].bare = true
	}
}

// A version is a record in one language.
type version struct {
	rec     record.Record
	lang    string
	variant fragment.Variant // Base for the base and for languages without text
	local   bool             // not the base: seasons and episodes are named in the language
	generic bool             // the name is the generic one
	shared  bool             // the genres are a shared fragment
	crawled uint64           // set of texts from a crawl in the language
}

// untranslated returns base in a language without text; lang "" stands for all of them.
func (d *detailer) untranslated(m *model, base record.Record, lang string) version {
	v := version{rec: base.Clone(), lang: lang, local: true}
	for i := range m.Texts {
		t := &m.Texts[i]
		switch t.Rule {
		case complete.ToOriginal:
			s := v.rec.String(t.Field)
			if m.Original != nil && s.Set && base.String(m.Original).V != "" {
				*s = *base.String(m.Original)
			}
		case complete.ToNothing:
			v.rec.String(t.Field).V = ""
		case complete.ToGeneric:
			v.generic = base.String(t.Field).Set && derive.IsNumber(*base.Int(m.Number))
		case complete.ToPoster:
			if p, ok := d.posterFor(m, base, lang); ok {
				*v.rec.String(t.Field) = record.Text(p)
			}
		}
	}
	return v
}

// translated returns base with the text of l, by the rules of each field. A field that both lack stays absent.
func (d *detailer) translated(m *model, base record.Record, l *language) version {
	v := d.untranslated(m, base, l.lang)
	v.variant = l.variant
	for i := range m.Texts {
		t := &m.Texts[i]
		if t.Rule == complete.ToGenres {
			genres := m.GenresOf(v.rec)
			*genres = localGenres(m.Kind, *genres, l.lang, l.region)
		}
		if !l.row.IsNil() && t.Data != nil { // an empty translation does not count
			if t.Field.Shape == record.ShapeString {
				if s := l.row.String(t.Data); s.V != "" {
					*v.rec.String(t.Field) = *s
					v.generic = v.generic && t.Rule != complete.ToGeneric
				}
			} else if n := l.row.Int(t.Data); n.V > 0 { // no translation has other fields
				*v.rec.Int(t.Field) = *n
			}
		}
		if !l.crawl.IsNil() && t.Crawl != nil && v.mergeCrawl(t, l.crawl) {
			v.crawled |= 1 << i
		}
	}
	d.fillTexts(m, base, &v, l)
	return v
}

// mergeCrawl copies a text from a crawl, including a null path, and reports whether it did. An empty name does not count.
func (v *version) mergeCrawl(t *complete.Text, crawl record.Record) bool {
	if t.Field.Shape == record.ShapeString {
		s := crawl.String(t.Crawl)
		switch {
		case t.Field.Nullable && record.IsNull(crawl, t.Crawl.Name):
			*v.rec.String(t.Field) = record.String{}
			record.MarkNull(v.rec, t.Field.Name)
			return true
		case !s.Set, s.V == "" && (t.Rule == complete.ToBaseName || t.Rule == complete.ToOriginal || t.Rule == complete.ToGeneric):
			return false
		}
		*v.rec.String(t.Field) = *s
		v.generic = v.generic && t.Rule != complete.ToGeneric
		return true
	}
	if !record.Present(crawl, t.Crawl) || record.IsNull(crawl, t.Crawl.Name) {
		return false
	}
	record.Copy(v.rec, crawl, t.Crawl)
	return true
}

// sameTexts reports whether a and b agree in all language-dependent fields, except names of shared genres, seasons and
// episodes.
func (m *model) sameTexts(a, b *version) bool {
	for i := range m.Texts {
		if !m.sameText(i, a, b) {
			return false
		}
	}
	return true
}

// sameText reports whether a and b agree in text i.
func (m *model) sameText(i int, a, b *version) bool {
	t := &m.Texts[i]
	f := t.Field
	switch {
	case t.Rule == complete.ToGeneric && (a.generic || b.generic):
		return a.generic == b.generic
	case t.Rule == complete.ToNames && a.crawled>>i&1 != b.crawled>>i&1:
		return false // one of them has its own names of the rows
	case t.Rule == complete.ToGenres:
		return a.crawled>>i&1 == b.crawled>>i&1 && (a.shared || b.shared || slices.Equal(*m.GenresOf(a.rec), *m.GenresOf(b.rec)))
	case f.Shape == record.ShapeString:
		return *a.rec.String(f) == *b.rec.String(f)
	case f.Shape == record.ShapeInt:
		return *a.rec.Int(f) == *b.rec.Int(f)
	case f.Shape == record.ShapeObject:
		x, _ := a.rec.Sub(f)
		y, _ := b.rec.Sub(f)
		return x == y
	default: // the same list
		x, xs := a.rec.Len(f)
		y, ys := b.rec.Len(f)
		return x == y && xs == ys && (x == 0 || a.rec.At(f, 0) == b.rec.At(f, 0))
	}
}

// media returns the list of genres of a kind's titles.
func media(k fragment.Kind) reference.Media {
	if k == fragment.KindTV {
		return reference.TV
	}
	return reference.Movie
}

// ShareGenres reports whether the genres of a title of kind k can be a shared fragment: the reference must have all
// of them with the same English names.
func ShareGenres(k fragment.Kind, genres []catalog.Genre) bool {
	if len(genres) == 0 || len(GenresName(GenreIDs(genres))) > fragment.MaxKeyLen-2 {
		return false
	}
	for i := range genres {
		g := &genres[i]
		english := reference.GenreName(media(k), g.ID.V, "en", "")
		if g.Extra != "" || g.Unusual != "" || english == "" || g.Name.V != english {
			return false
		}
	}
	return true
}

// GenreIDs returns the ids of genres, in their order.
func GenreIDs(genres []catalog.Genre) []int64 {
	ids := make([]int64, len(genres))
	for i := range genres {
		ids[i] = genres[i].ID.V
	}
	return ids
}

// GenresName is the resource name of a shared list of genres for titles of one kind: its ids.
func GenresName(ids []int64) string {
	var b []byte
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(b)
}

// SharedGenres returns the fragments of a shared list of genres of movies or series: the field `"genres":[...]`, in
// English and in each language with other names.
func SharedGenres(k fragment.Kind, ids []int64) []release.FragmentSpec {
	var f fragments
	write := func(lang, region string) []release.PieceSpec {
		f.begin()
		f.text(`"genres":[`)
		for _, id := range ids {
			f.comma()
			name := reference.GenreName(media(k), id, lang, region)
			f.buf = record.Append(f.buf, record.Of(&catalog.Genre{ID: record.Number(id), Name: record.Text(name)}))
		}
		f.text("]")
		return f.end()
	}
	english := write("en", "")
	f.add(fragment.Address{Sub: fragment.SubGenres}, english)
	for _, key := range reference.GenreLanguages() {
		lang, region := splitTag(key)
		if p := write(lang, region); string(p[0].Literal) != string(english[0].Literal) {
			f.add(fragment.Address{Sub: fragment.SubGenres, Variant: fragment.Language(lang, region)}, p)
		}
	}
	return f.list
}

// localGenres is complete.Genres for languages in which the reference has names.
func localGenres(k fragment.Kind, genres []catalog.Genre, lang, region string) []catalog.Genre {
	if genres == nil || lang == "en" {
		return genres
	}
	keys := reference.GenreLanguages()
	if _, ok := slices.BinarySearch(keys, lang); !ok {
		if _, ok = slices.BinarySearch(keys, lang+"-"+region); !ok {
			return genres
		}
	}
	return complete.Genres(k, genres, lang, region)
}
