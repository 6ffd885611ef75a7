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
func childOf(p place, e *catalog.Episode) child {
	c := child{place: p}
	if e.Translations != nil {
		c.translations = e.Translations.Translations
	}
	for i := range e.Localized {
		l := &e.Localized[i]
		c.localized = append(c.localized, complete.LocalizedName{Language: l.Language.V, Name: l.Name.V, Overview: l.Overview.V})
	}
	return c
}

// nameText is the text of a season or an episode in one language; empty if unknown.
type nameText struct{ name, overview string }

// text returns the text of a child in a language.
func (n *nested) text(p place, v fragment.Variant) (t nameText) {
	i := slices.IndexFunc(n.children, func(c child) bool { return c.place == p })
	if i < 0 || v == fragment.Base {
		return t
	}
	c := &n.children[i]
	for j := range c.translations {
		row := &c.translations[j]
		if d := row.Data; d != nil && variantOf(row.ISO639.V, row.ISO3166.V) == v {
			t.override(d.Name.V, d.Overview.V)
			break
		}
	}
	for j := range c.localized {
		if l := &c.localized[j]; variantOf(splitTag(l.Language)) == v {
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

// writeChildren writes the value of a field whose seasons or episodes have names in the language of v. crawled
// reports whether they come from a crawl in that language.
func (d *detailer) writeChildren(v *version, f *record.Field, crawled bool) {
	name := indexOf(f.Elem, fieldOf(f.Elem, "name"))
	if f.Shape == record.ShapeObject { // the last or the next episode of a series
		row, _ := v.rec.Sub(f)
		d.writeChild(row, name, v, f, crawled)
		return
	}
	count, _ := v.rec.Len(f)
	d.nested.plain = count > maxIncludes
	d.out.text("[")
	for i := range count {
		d.out.comma()
		d.writeChild(v.rec.At(f, i), name, v, f, crawled)
	}
	d.out.text("]")
	d.nested.plain = false
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

// writeChild writes a season or an episode with the name and overview of a language, or with the generic name. Fields
// that the row lacks are not added. name is the index of the name field, which the overview follows; f is the list of v
// that has the row.
func (d *detailer) writeChild(row record.Record, name int, v *version, f *record.Field, crawled bool) {
	out := d.out
	p := placeOf(row)
	hasText := crawled || !v.local // the row has the text of the language
	t := d.nested.text(p, v.variant)
	if hasText {
		t = rowText(row, name)
	}
	t = d.fillChild(p, t, v, f, name)
	fields := row.Schema.Fields
	out.text("{")
	out.fields(row, 0, name)
	switch {
	case !row.String(&fields[name]).Set, hasText && t.name == "":
		out.fields(row, name, name+1)
	case t.name != "":
		out.name("name")
		out.buf = record.AppendString(out.buf, t.name)
	default:
		out.name("name")
		d.genericName(p.word, p.number())
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
