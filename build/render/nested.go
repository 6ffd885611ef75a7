package render

import (
	"slices"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
	"reelsplice/schemas/release"
)

// nested is the text of what the details of a record list: of the seasons of a series,
// of the episodes of a season.
type nested struct {
	seasons  []SeasonInfo
	episodes []*catalog.Episode
	aired    []*catalog.Episode // the last and the next one of a series
	// plain means that generic names are written in English: there are more of them than
	// a fragment has pieces.
	plain bool
}

// A LocalizedName is the text of a season in one language, as a crawl in that language
// gave it.
type LocalizedName struct {
	Language       string // xx-YY; xx where no region is known
	Name, Overview string
}

// addLanguages adds the languages that any of the seasons or episodes has text in.
func (n *nested) addLanguages(list *languages) {
	for i := range n.seasons {
		s := &n.seasons[i]
		list.addNested(s.Translations)
		for j := range s.Localized {
			if l := &s.Localized[j]; l.Name != "" || l.Overview != "" {
				list.mark(splitTag(l.Language))
			}
		}
	}
	for _, e := range slices.Concat(n.episodes, n.aired) {
		if e.Translations != nil {
			list.addNested(e.Translations.Translations)
		}
		for j := range e.Localized {
			if l := &e.Localized[j]; l.Name.V != "" || l.Overview.V != "" {
				list.mark(splitTag(l.Language.V))
			}
		}
	}
}

func (list *languages) addNested(rows []catalog.NameTranslation) {
	for i := range rows {
		if d := rows[i].Data; d != nil && (d.Name.V != "" || d.Overview.V != "") {
			list.mark(rows[i].ISO639.V, rows[i].ISO3166.V)
		}
	}
}

// mark remembers that a season or an episode has text in a language.
func (list *languages) mark(lang, region string) {
	if l := list.at(lang, region); l != nil {
		l.nested = true
	}
}

// nameText is the text of a season or an episode in one language; empty for none.
type nameText struct{ name, overview string }

// season returns the text of a season.
func (n *nested) season(number int64, v fragment.Variant) (t nameText) {
	i := slices.IndexFunc(n.seasons, func(s SeasonInfo) bool { return s.Summary.SeasonNumber.V == number })
	if i < 0 || v == fragment.Base {
		return t
	}
	s := &n.seasons[i]
	t.translate(s.Translations, v)
	for j := range s.Localized {
		l := &s.Localized[j]
		if variantOf(splitTag(l.Language)) == v {
			t.take(l.Name, l.Overview)
		}
	}
	return t
}

// episode returns the text of an episode of the season.
func (n *nested) episode(number int64, v fragment.Variant) (t nameText) {
	i := slices.IndexFunc(n.episodes, func(e *catalog.Episode) bool { return e.EpisodeNumber.V == number })
	if i >= 0 {
		t.ofEpisode(n.episodes[i], v)
	}
	return t
}

// broadcast returns the text of the last or the next episode of a series.
func (n *nested) broadcast(row *catalog.EpisodeSummary, v fragment.Variant) (t nameText) {
	i := slices.IndexFunc(n.aired, func(e *catalog.Episode) bool {
		return e.SeasonNumber.V == row.SeasonNumber.V && e.EpisodeNumber.V == row.EpisodeNumber.V
	})
	if i >= 0 {
		t.ofEpisode(n.aired[i], v)
	}
	return t
}

func (t *nameText) ofEpisode(e *catalog.Episode, v fragment.Variant) {
	if v == fragment.Base {
		return
	}
	if e.Translations != nil {
		t.translate(e.Translations.Translations, v)
	}
	for j := range e.Localized {
		l := &e.Localized[j]
		if variantOf(splitTag(l.Language.V)) == v {
			t.take(l.Name.V, l.Overview.V)
		}
	}
}

func (t *nameText) translate(rows []catalog.NameTranslation, v fragment.Variant) {
	for i := range rows {
		if d := rows[i].Data; d != nil && variantOf(rows[i].ISO639.V, rows[i].ISO3166.V) == v {
			t.take(d.Name.V, d.Overview.V)
			return
		}
	}
}

// take replaces what is not empty.
func (t *nameText) take(name, overview string) {
	if name != "" {
		t.name = name
	}
	if overview != "" {
		t.overview = overview
	}
}

// The fields of the lists that nested writes: of each, the place of the name, which
// the overview follows.
var (
	seasonName  = nameIndex(record.SchemaOf[catalog.SeasonSummary]())
	episodeName = nameIndex(record.SchemaOf[catalog.SeasonEpisode]())
	summaryName = nameIndex(record.SchemaOf[catalog.EpisodeSummary]())
)

func nameIndex(p *record.Schema) int { return indexOf(p, fieldOf(p, "name")) }

// write writes the value of a field whose seasons or episodes are named in the
// language of v.
func (n *nested) write(d *detailer, v *version, f *record.Field) {
	if f.Shape == record.ShapeObjects {
		count, _ := v.rec.Len(f)
		n.plain = count > maxIncludes
		defer func() { n.plain = false }()
	}
	switch f.Elem {
	case record.SchemaOf[catalog.SeasonSummary]():
		d.out.text("[")
		count, _ := v.rec.Len(f)
		for i := range count {
			row := v.rec.At(f, i)
			number := record.As[catalog.SeasonSummary](row).SeasonNumber.V
			d.out.comma()
			d.named(row, seasonName, release.WordSeason, number, n.season(number, v.variant))
		}
		d.out.text("]")
	case record.SchemaOf[catalog.SeasonEpisode]():
		d.out.text("[")
		count, _ := v.rec.Len(f)
		for i := range count {
			row := v.rec.At(f, i)
			number := record.As[catalog.SeasonEpisode](row).EpisodeNumber.V
			d.out.comma()
			d.named(row, episodeName, release.WordEpisode, number, n.episode(number, v.variant))
		}
		d.out.text("]")
	default: // the last or the next episode of a series
		row, _ := v.rec.Sub(f)
		e := record.As[catalog.EpisodeSummary](row)
		d.named(row, summaryName, release.WordEpisode, e.EpisodeNumber.V, n.broadcast(e, v.variant))
	}
}

// named writes a season or an episode with a text in place of its name and overview,
// the generic name where the text has none. What the row lacks is not added.
func (d *detailer) named(row record.Record, name int, word release.Word, number int64, t nameText) {
	f := d.out
	fields := row.Schema.Fields
	f.text("{")
	f.fields(row, 0, name)
	switch {
	case !row.String(&fields[name]).Set:
		f.fields(row, name, name+1)
	case t.name != "":
		f.name("name")
		f.buf = record.AppendString(f.buf, t.name)
	default:
		f.name("name")
		d.genericName(word, number)
	}
	if row.String(&fields[name+1]).Set {
		f.name("overview")
		f.buf = record.AppendString(f.buf, t.overview)
	} else {
		f.fields(row, name+1, name+2)
	}
	f.fields(row, name+2, len(fields))
	f.extra(row)
	f.text("}")
}
