package render

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// A detailer writes the details of a record and its rows in lists, in all its languages.
type detailer struct {
	out *fragments
	subject
	langs languages // of the record

	// Kept for the next record:
	plain []version
	codes []string
}

// A subject is the record at work, as far as others know of it.
type subject struct {
	nested         nested
	showID         int64           // of a season or an episode
	episodeCount   int64           // of a season
	seriesLanguage string          // original language of the series of a season
	baseName       string          // of a person or a collection: rows without an original name have it
	adult          bool            // of a collection
	genres         []catalog.Genre // of the base, whose ids rows have in all languages
	parts          []int64         // of a collection that gives none; else nil
}

// details adds the details and the rows in the base variant, in the untranslated one,
// and in the languages in which they differ from that.
func (d *detailer) details(m *model, rec record.Record, langs languages) {
	base := version{rec: rec}
	if m.genres != nil {
		d.genres = *m.GenresOf(rec)
	}
	if len(m.Texts) == 0 {
		d.show(m, &base, nil, baseOnly)
		return
	}
	plain := d.untranslated(m, rec, "")
	plain.shared = m.genres != nil && ShareGenres(m.Kind, *m.GenresOf(rec))
	base.generic = plain.generic && !m.namesRows(rec) && m.saysNothing(rec, &plain)
	d.show(m, &base, nil, baseOnly)
	if plain.shared || m.namesRows(rec) || !m.same(&plain, &base) {
		d.show(m, &plain, &base, plainOnly)
	}
	textless := d.textless(m, rec, &plain)
	for i := range langs {
		l := &langs[i]
		v := d.apply(m, rec, l)
		other := &plain
		if j := slices.IndexFunc(textless, func(t version) bool { return t.lang == l.lang }); j >= 0 {
			other = &textless[j]
		}
		if !l.nested && m.same(&v, other) {
			continue
		}
		if l.lang == "en" { // falls back to the base, which is English
			if other = &base; !l.nested && m.same(&v, other) {
				continue
			}
		}
		d.show(m, &v, other, l.variants())
	}
}

// saysNothing reports whether the base of a season or an episode has no text but the
// generic name in English. Then it is plain, the untranslated version, which need not be
// stored beside it.
func (m *model) saysNothing(rec record.Record, plain *version) bool {
	named := version{rec: rec, generic: true}
	return m.same(&named, plain) && rec.String(m.Texts[0].Field).V == m.NameOf(rec)
}

// The variants of versions that are no language.
var (
	baseOnly  = []fragment.Variant{fragment.Base}
	plainOnly = []fragment.Variant{fragment.Untranslated}
)

// show adds the details of a version, and the rows that differ from those of other,
// which are found where there are none; other may be nil.
func (d *detailer) show(m *model, v, other *version, variants []fragment.Variant) {
	d.detail(m, v)
	d.out.addTo(fragment.Address{Sub: fragment.SubDetails}, variants, d.out.end())
	for i := range m.rows {
		w := &m.rows[i]
		if other != nil && m.sameRow(w, v, other) {
			continue
		}
		d.row(m, w, v)
		d.out.addTo(fragment.Address{Sub: w.sub}, variants, d.out.end())
	}
}

// namesRows reports whether rec has seasons or episodes, whose names are generic in
// languages without text.
func (m *model) namesRows(rec record.Record) bool {
	return slices.ContainsFunc(m.Texts, func(t complete.Text) bool { return t.Rule == complete.ToNames && length(rec, t.Field) > 0 })
}

// length returns the number of elements of a list; 1 for an object.
func length(rec record.Record, f *record.Field) int {
	if f.Shape == record.ShapeObject {
		if _, ok := rec.Sub(f); ok {
			return 1
		}
		return 0
	}
	n, _ := rec.Len(f)
	return n
}

// detail writes the details of v without their closing brace. The caller ends it.
func (d *detailer) detail(m *model, v *version) {
	f := d.out
	f.begin()
	f.text("{")
	from := 0
	for i := range m.cuts {
		c := &m.cuts[i]
		if !d.isCut(m, c, v) {
			continue
		}
		f.fields(v.rec, from, c.index)
		d.cutMember(m, c, v)
		from = c.index + 1
	}
	f.fields(v.rec, from, m.Schema.Subs)
	f.extra(v.rec)
}

// isCut reports whether v writes a field piece by piece.
func (d *detailer) isCut(m *model, c *cut, v *version) bool {
	t := &m.Texts[c.text]
	switch {
	case t.Rule == complete.ToGeneric:
		return v.generic
	case t.Rule == complete.ToGenres:
		return v.shared
	case v.given>>c.text&1 != 0:
		return false
	case t.Rule == complete.ToNames:
		return v.local && length(v.rec, t.Field) > 0
	}
	return d.parts != nil
}

func (d *detailer) cutMember(m *model, c *cut, v *version) {
	f := d.out
	t := &m.Texts[c.text]
	switch t.Rule {
	case complete.ToGenres:
		f.comma()
		f.value(Piece{Op: release.OpReference, Genres: GenreIDs(*m.GenresOf(v.rec)), Kind: m.Kind})
	case complete.ToGeneric:
		f.name(t.Field.Name)
		d.genericName(m.Word, v.rec.Int(m.Number).V)
	case complete.ToNames:
		f.name(t.Field.Name)
		d.nested.write(d, v, t.Field)
	default:
		f.name(t.Field.Name)
		f.includeList(release.Include{Kind: fragment.KindMovie, Sub: fragment.SubMediaRow}, d.parts)
	}
}

// genericName puts the generic name of a season or an episode, a JSON string.
func (d *detailer) genericName(word release.Word, number int64) {
	if word == release.WordSeason && number == 0 {
		word = release.WordSpecials
	}
	if d.nested.plain {
		d.out.buf = record.AppendString(d.out.buf, complete.GenericName(word, number))
		return
	}
	d.out.value(Piece{Op: release.OpName, Word: word, Number: uint32(max(number, 0))})
}

// textless adds the details for languages that have no text but a poster of their
// own, or names for genres that no shared fragment has. They answer every region of
// the language that has no text.
func (d *detailer) textless(m *model, rec record.Record, plain *version) []version {
	list := d.plain[:0]
	for _, lang := range d.textlessLanguages(m, rec, plain) {
		v := d.untranslated(m, rec, lang)
		if m.genres != nil {
			genres := m.GenresOf(v.rec)
			*genres = localGenres(m.Kind, *genres, lang, "")
		}
		if m.same(&v, plain) {
			continue
		}
		d.show(m, &v, plain, []fragment.Variant{fragment.AnyRegion(lang)})
		list = append(list, v)
	}
	d.plain = list
	return list
}

// textlessLanguages returns the languages, but English, of the record's posters, and
// those of the reference where its genres are not shared.
func (d *detailer) textlessLanguages(m *model, rec record.Record, plain *version) []string {
	list := d.codes[:0]
	add := func(lang string) {
		if languageVariant(lang, "") != fragment.Base && lang != "en" && !slices.Contains(list, lang) {
			list = append(list, lang)
		}
	}
	for _, p := range m.posters(rec) {
		add(p.ISO639.V)
	}
	if m.genres != nil && !plain.shared && len(*m.GenresOf(rec)) > 0 {
		for _, key := range reference.GenreLanguages() {
			lang, _ := splitTag(key)
			add(lang)
		}
	}
	d.codes = list
	return list
}

// posterFor returns the first poster in the language, else in the original language,
// else the first of all.
func (d *detailer) posterFor(m *model, rec record.Record, lang string) (string, bool) {
	posters := m.posters(rec)
	for _, want := range [...]string{lang, d.originalLanguage(m, rec)} {
		for i := range posters {
			if p := &posters[i]; want != "" && p.ISO639.V == want && p.FilePath.V != "" {
				return p.FilePath.V, true
			}
		}
	}
	for i := range posters {
		if p := posters[i].FilePath.V; p != "" {
			return p, true
		}
	}
	return "", false
}

// originalLanguage is that of a title; a season has that of its series.
func (d *detailer) originalLanguage(m *model, rec record.Record) string {
	if m.originalLanguage == nil {
		return d.seriesLanguage
	}
	return rec.String(m.originalLanguage).V
}

// posters returns the posters of a record that has a poster_path, a null included.
func (m *model) posters(rec record.Record) []catalog.Image {
	if m.images == nil || m.poster == nil || !record.Present(rec, m.poster) {
		return nil
	}
	sub, ok := rec.Sub(m.images)
	if !ok {
		return nil
	}
	switch sub.Schema {
	case record.SchemaOf[catalog.Images]():
		return record.As[catalog.Images](sub).Posters
	case record.SchemaOf[catalog.SeasonImages]():
		return record.As[catalog.SeasonImages](sub).Posters
	case record.SchemaOf[catalog.CollectionImages]():
		return record.As[catalog.CollectionImages](sub).Posters
	}
	return nil
}

// sameRow reports whether a and b are the same row of lists.
func (m *model) sameRow(w *listRow, a, b *version) bool {
	for _, i := range w.texts {
		if !m.sameText(i, a, b) {
			return false
		}
	}
	return true
}

// row writes v as a row of lists, without its braces. The caller ends it. What the
// details do not say is there too, with the value that stands for none.
func (d *detailer) row(m *model, w *listRow, v *version) {
	f := d.out
	f.begin()
	for i := range w.cells {
		c := &w.cells[i]
		switch {
		case c.text >= 0 && v.generic && m.Texts[c.text].Rule == complete.ToGeneric:
			f.name(c.name)
			d.genericName(m.Word, v.rec.Int(m.Number).V)
		case c.index >= 0:
			d.cell(m, c, v.rec)
		default:
			d.ownCell(m, c)
		}
	}
}

var null = []byte(":null")

// cell writes a field of the details; where rows have no null, an empty value for it.
func (d *detailer) cell(m *model, c *cell, rec record.Record) {
	f := d.out
	n := len(f.buf)
	f.fields(rec, c.index, c.index+1)
	if len(f.buf) > n && (c.null || !bytes.HasSuffix(f.buf, null)) {
		return
	}
	f.buf = f.buf[:n]
	if c.name == originalName && m.Kind != fragment.KindTV {
		f.name(c.name)
		f.buf = record.AppendString(f.buf, d.baseName)
		return
	}
	f.comma()
	f.text(c.empty)
}

// ownCell writes a field that the details do not have.
func (d *detailer) ownCell(m *model, c *cell) {
	f := d.out
	f.name(c.name)
	switch c.name {
	case fragment.FieldMediaType:
		f.buf = record.AppendString(f.buf, fragment.MediaTypeOf(m.Kind))
	case adult:
		f.buf = strconv.AppendBool(f.buf, d.adult)
	case fragment.FieldShowID:
		f.buf = strconv.AppendInt(f.buf, d.showID, 10)
	case fragment.FieldEpisodeCount:
		f.buf = strconv.AppendInt(f.buf, d.episodeCount, 10)
	case fragment.FieldGenreIDs:
		f.text("[")
		for i := range d.genres {
			f.comma()
			f.buf = strconv.AppendInt(f.buf, d.genres[i].ID.V, 10)
		}
		f.text("]")
	}
}
