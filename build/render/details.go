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
	langs languages // languages of the record
	// fallback are the languages whose texts replace missing ones of other languages.
	fallback []fragment.Variant
}

// A subject has data about the current record from other records.
type subject struct {
	nested         nested
	showID         int64           // id of the series
	episodeCount   int64           // for a season
	seriesLanguage string          // original language of the series of a season
	baseName       string          // for a person or a collection: the original name in rows whose record has none
	adult          bool            // for a collection
	genres         []catalog.Genre // genres of the base: rows have their ids in all languages
	parts          []int64         // derived parts of a collection; else nil
	base           record.Record   // set with a fallback
}

// details adds the details and the rows in the base variant, in the untranslated one, and in the languages that
// differ from it.
func (d *detailer) details(m *model, rec record.Record, langs languages) {
	base := version{rec: rec}
	if m.genres != nil {
		d.genres = *m.GenresOf(rec)
	}
	if len(m.Texts) == 0 {
		d.addVersion(m, &base, nil, baseOnly)
		return
	}
	if len(d.fallback) > 0 {
		d.base, base.rec = rec, rec.Clone()
		d.fillTexts(m, rec, &base, nil)
	}
	plain := d.untranslated(m, rec, "")
	d.fillTexts(m, rec, &plain, nil)
	plain.shared = m.genres != nil && ShareGenres(m.Kind, *m.GenresOf(rec))
	if plain.generic && !m.namesRows(rec) {
		// If a season or an episode has no base text except the English generic name, base and plain are equal, and
		// plain is not stored.
		named := version{rec: base.rec, generic: true}
		base.generic = m.sameTexts(&named, &plain) && rec.String(m.Texts[0].Field).V == m.NameOf(rec)
	}
	d.addVersion(m, &base, nil, baseOnly)
	if plain.shared || m.namesRows(rec) || !m.sameTexts(&plain, &base) {
		d.addVersion(m, &plain, &base, plainOnly)
	}
	textless := d.textless(m, rec, &plain)
	for i := range langs {
		l := &langs[i]
		v := d.translated(m, rec, l)
		other := &plain
		if j := slices.IndexFunc(textless, func(t version) bool { return t.lang == l.lang }); j >= 0 {
			other = &textless[j]
		}
		if !l.nested && m.sameTexts(&v, other) {
			continue
		}
		if l.lang == "en" { // falls back to the base, which is English
			if other = &base; !l.nested && m.sameTexts(&v, other) {
				continue
			}
		}
		d.addVersion(m, &v, other, l.variants())
	}
}

// The variants of versions that belong to no single language.
var (
	baseOnly  = []fragment.Variant{fragment.Base}
	plainOnly = []fragment.Variant{fragment.Untranslated}
)

// addVersion adds the details of a version, and those rows that differ from the rows of other. Equal rows are found there.
// other may be nil.
func (d *detailer) addVersion(m *model, v, other *version, variants []fragment.Variant) {
	d.detail(m, v)
	d.out.addTo(fragment.Address{Sub: fragment.SubDetails}, variants, d.out.end())
	for i := range m.rows {
		w := &m.rows[i]
		if other != nil && !slices.ContainsFunc(w.texts, func(i int) bool { return !m.sameText(i, v, other) }) {
			continue
		}
		d.row(m, w, v)
		d.out.addTo(fragment.Address{Sub: w.sub}, variants, d.out.end())
	}
}

// namesRows reports whether rec has seasons or episodes, whose names are generic in languages without text.
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

// detail writes the details of v without their closing brace. The caller ends the fragment.
func (d *detailer) detail(m *model, v *version) {
	f := d.out
	f.begin()
	f.text("{")
	from := 0
	for i := range m.cuts {
		c := &m.cuts[i]
		t := &m.Texts[c.text]
		crawled := v.crawled>>c.text&1 != 0
		switch {
		case t.Rule == complete.ToGeneric && v.generic:
			f.fields(v.rec, from, c.index)
			f.name(t.Field.Name)
			d.genericName(m.Word, v.rec.Int(m.Number).V)
		case t.Rule == complete.ToGenres && v.shared:
			f.fields(v.rec, from, c.index)
			f.comma()
			key := fragment.AppendShared(nil, fragment.KindGenres, m.Kind, GenresName(GenreIDs(*m.GenresOf(v.rec))))
			f.value(release.PieceSpec{Op: release.OpReference, Shared: key, Sub: fragment.SubGenres})
		case t.Rule == complete.ToNames && (!crawled && v.local || len(d.fallback) > 0) && length(v.rec, t.Field) > 0:
			f.fields(v.rec, from, c.index)
			f.name(t.Field.Name)
			d.writeChildren(v, t.Field, crawled)
		case t.Rule == complete.ToBase && !crawled && d.parts != nil:
			f.fields(v.rec, from, c.index)
			f.name(t.Field.Name)
			f.includeList(release.Include{Kind: fragment.KindMovie, Sub: fragment.SubMediaRow}, d.parts)
		default:
			continue
		}
		from = c.index + 1
	}
	f.fields(v.rec, from, m.Schema.Subs)
	f.extra(v.rec)
}

// genericName writes a piece for the generic name of a season or an episode, a JSON string.
func (d *detailer) genericName(word release.Word, number int64) {
	if word == release.WordSeason && number == 0 {
		word = release.WordSpecials
	}
	if d.nested.plain {
		d.out.buf = record.AppendString(d.out.buf, complete.GenericName(word, number))
		return
	}
	d.out.value(release.PieceSpec{Op: release.OpName, Word: word, Number: uint32(max(number, 0))})
}

// textless adds the details for languages that have no text but a poster, or genre names outside shared fragments. They
// serve every region of the language that has no text.
func (d *detailer) textless(m *model, rec record.Record, plain *version) []version {
	var langs []string // languages of posters, and of the reference if genres are not shared, except English
	add := func(lang string) {
		if fragment.Language(lang, "") != fragment.Base && lang != "en" && !slices.Contains(langs, lang) {
			langs = append(langs, lang)
		}
	}
	for _, p := range m.posters(rec) {
		add(p.ISO639.V)
	}
	if m.originalLanguage != nil && len(d.fallback) > 0 { // its title has no fallback
		add(rec.String(m.originalLanguage).V)
	}
	if m.genres != nil && !plain.shared && len(*m.GenresOf(rec)) > 0 {
		for _, key := range reference.GenreLanguages() {
			lang, _ := splitTag(key)
			add(lang)
		}
	}
	var list []version
	for _, lang := range langs {
		v := d.untranslated(m, rec, lang)
		d.fillTexts(m, rec, &v, nil)
		if m.genres != nil {
			genres := m.GenresOf(v.rec)
			*genres = localGenres(m.Kind, *genres, lang, "")
		}
		if m.sameTexts(&v, plain) {
			continue
		}
		d.addVersion(m, &v, plain, []fragment.Variant{fragment.AnyRegion(lang)})
		list = append(list, v)
	}
	return list
}

// posterFor returns the first poster in the language, or else in the original language, or else the first. A season
// has the original language of its series.
func (d *detailer) posterFor(m *model, rec record.Record, lang string) (string, bool) {
	original := d.seriesLanguage
	if m.originalLanguage != nil {
		original = rec.String(m.originalLanguage).V
	}
	posters := m.posters(rec)
	for _, want := range [...]string{lang, original} {
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

// posters returns the posters of a record with a poster_path, which may be null.
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

// row writes v as a list row without its braces. The caller ends the fragment. Fields missing from the details get
// their empty value.
func (d *detailer) row(m *model, w *listRow, v *version) {
	f := d.out
	f.begin()
	for i := range w.cells {
		c := &w.cells[i]
		if c.text >= 0 && v.generic && m.Texts[c.text].Rule == complete.ToGeneric {
			f.name(c.name)
			d.genericName(m.Word, v.rec.Int(m.Number).V)
			continue
		}
		if c.index >= 0 { // a field of the details; empty instead of null, where rows have no null
			n := len(f.buf)
			f.fields(v.rec, c.index, c.index+1)
			if len(f.buf) > n && (c.null || !bytes.HasSuffix(f.buf, null)) {
				continue
			}
			f.buf = f.buf[:n]
			if c.name != originalName || m.Kind == fragment.KindTV {
				f.comma()
				f.text(c.empty)
				continue
			}
		}
		f.name(c.name)
		switch c.name {
		case originalName:
			f.buf = record.AppendString(f.buf, d.baseName)
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
}

var null = []byte(":null")
