package render

import (
	"slices"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// nested is the text of the children that details list: the seasons and the last and next episode of a series, the
// episodes of a season.
type nested struct {
	children []child
	// plain means that generic names are written in English, because there are more than a fragment may have pieces.
	plain bool
}

// A child is a season or an episode, with its text by language.
type child struct {
	place
	translations []catalog.NameTranslation
	localized    []complete.LocalizedName
}

// A place identifies a child of a record.
type place struct {
	word            release.Word
	season, episode int64 // season is 0 for episodes of a season, episode for seasons
}

// number returns the number in the generic name.
func (p place) number() int64 {
	if p.word == release.WordSeason {
		return p.season
	}
	return p.episode
}

// childOf returns an episode as a child.
func childOf(at place, e *catalog.Episode) child {
	p := child{place: at}
	if e.Translations != nil {
		p.translations = e.Translations.Translations
	}
	for i := range e.Localized {
		l := &e.Localized[i]
		p.localized = append(p.localized, complete.LocalizedName{Language: l.Language.V, Name: l.Name.V, Overview: l.Overview.V})
	}
	return p
}

// addLanguages adds the languages in which any child has text.
func (n *nested) addLanguages(list *languages) {
	for i := range n.children {
		p := &n.children[i]
		for j := range p.translations {
			t := &p.translations[j]
			if d := t.Data; d != nil && (d.Name.V != "" || d.Overview.V != "") {
				list.mark(t.ISO639.V, t.ISO3166.V)
			}
		}
		for j := range p.localized {
			if l := &p.localized[j]; l.Name != "" || l.Overview != "" {
				list.mark(splitTag(l.Language))
			}
		}
	}
}

// mark records that a season or an episode has text in a language.
func (list *languages) mark(lang, region string) {
	if l := list.at(lang, region); l != nil {
		l.nested = true
	}
}

// nameText is the text of a season or an episode in one language; empty if unknown.
type nameText struct{ name, overview string }

// text returns the text of a child in a language.
func (n *nested) text(at place, v fragment.Variant) (t nameText) {
	i := slices.IndexFunc(n.children, func(p child) bool { return p.place == at })
	if i < 0 || v == fragment.Base {
		return t
	}
	p := &n.children[i]
	for j := range p.translations {
		row := &p.translations[j]
		if d := row.Data; d != nil && variantOf(row.ISO639.V, row.ISO3166.V) == v {
			t.override(d.Name.V, d.Overview.V)
			break
		}
	}
	for j := range p.localized {
		if l := &p.localized[j]; variantOf(splitTag(l.Language)) == v {
			t.override(l.Name, l.Overview)
		}
	}
	return t
}

// override replaces a text if the new one is not empty.
func (t *nameText) override(name, overview string) {
	if name != "" {
		t.name = name
	}
	if overview != "" {
		t.overview = overview
	}
}

// write writes the value of a field whose seasons or episodes have names in the language of v. isGiven reports
// whether a crawl in that language gave them.
func (n *nested) write(d *detailer, v *version, f *record.Field, isGiven bool) {
	name := indexOf(f.Elem, fieldOf(f.Elem, "name"))
	if f.Shape == record.ShapeObject { // the last or the next episode of a series
		row, _ := v.rec.Sub(f)
		d.named(row, name, v, f, isGiven)
		return
	}
	count, _ := v.rec.Len(f)
	n.plain = count > maxIncludes
	d.out.text("[")
	for i := range count {
		d.out.comma()
		d.named(v.rec.At(f, i), name, v, f, isGiven)
	}
	d.out.text("]")
	n.plain = false
}

// placeOf returns the place of the child in a row.
func placeOf(row record.Record) place {
	switch row.Schema {
	case record.SchemaOf[catalog.SeasonSummary]():
		return place{release.WordSeason, record.As[catalog.SeasonSummary](row).SeasonNumber.V, 0}
	case record.SchemaOf[catalog.SeasonEpisode]():
		return place{release.WordEpisode, 0, record.As[catalog.SeasonEpisode](row).EpisodeNumber.V}
	}
	e := record.As[catalog.EpisodeSummary](row)
	return place{release.WordEpisode, e.SeasonNumber.V, e.EpisodeNumber.V}
}

// named writes a season or an episode with the name and overview of a language, or with the generic name. Fields that
// the row lacks are not added. name is the index of the name field, which the overview follows; f is the list of v that
// has the row.
func (d *detailer) named(row record.Record, name int, v *version, f *record.Field, isGiven bool) {
	out := d.out
	at := placeOf(row)
	isOwn := isGiven || !v.local // the row has the text of the language
	t := d.nested.text(at, v.variant)
	if isOwn {
		t = rowText(row, name)
	}
	t = d.fillChild(at, t, v, f, name)
	fields := row.Schema.Fields
	out.text("{")
	out.fields(row, 0, name)
	switch {
	case !row.String(&fields[name]).Set, isOwn && t.name == "":
		out.fields(row, name, name+1)
	case t.name != "":
		out.name("name")
		out.buf = record.AppendString(out.buf, t.name)
	default:
		out.name("name")
		d.genericName(at.word, at.number())
	}
	if row.String(&fields[name+1]).Set {
		out.name("overview")
		out.buf = record.AppendString(out.buf, t.overview)
	} else {
		out.fields(row, name+1, name+2)
	}
	out.fields(row, name+2, len(fields))
	out.extra(row)
	out.text("}")
}
