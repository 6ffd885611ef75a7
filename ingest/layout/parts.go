package layout

import (
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/wire"
)

// maxPage is the last page that the API has of any list.
const maxPage = 500

// dropEmpty takes off the answers to sub-requests that say nothing: null, {} and
// errors of the API. Crawlers keep those for requests that failed, and joined to an
// older record they would take away what a better crawl gave.
func (t *tmdb) dropEmpty(r wire.Record) {
	for i := range r.Plan.Fields {
		f := &r.Plan.Fields[i]
		if f.Elem == nil || !f.Elem.DropID || !wire.Present(r, f) {
			continue
		}
		switch f.Shape {
		case wire.ShapePages:
			t.pages(r, f)
		default:
			if sub, ok := r.Sub(f); !ok || saysNothing(sub) {
				t.drop(r, f)
			}
		}
	}
}

// pages takes off pages that say nothing or that the API cannot have, and numbers
// those without a number, so that pages of several crawls can be told apart.
func (t *tmdb) pages(r wire.Record, f *wire.Field) {
	before, _ := r.Len(f)
	wire.Retain(r, f, func(p wire.Record) bool {
		sameTag(p)
		return !saysNothing(p) && number(p)
	})
	switch after, _ := r.Len(f); {
	case after == 0:
		t.drop(r, f)
	case after < before:
		wire.Count(t.dropped, f.Name+"[]", int64(before-after))
	}
}

// number gives a page without a sensible number the first; false when it is beyond
// the last.
func number(p wire.Record) bool {
	f, _ := p.Plan.Field("page")
	n := p.Int(f)
	if n.V < 1 {
		wire.MarkAbsent(p, f.Name)
		*n = wire.Number(1)
	}
	return n.V <= maxPage
}

// sameTag brings the language that a page has already to the form of ParseLanguage.
func sameTag(p wire.Record) {
	f, _ := p.Plan.Field("language")
	if l := p.String(f); l.Set {
		if tag, err := ParseLanguage(l.V); err == nil && tag != "" {
			l.V = tag
		}
	}
}

// drop makes a member absent and counts it.
func (t *tmdb) drop(r wire.Record, f *wire.Field) {
	wire.Unset(r, f)
	wire.Count(t.dropped, f.Name, 1)
}

// saysNothing reports whether an answer has no member that is known, and none that
// is not either, unless it is an error.
func saysNothing(r wire.Record) bool {
	for i := range r.Plan.Fields {
		if wire.Present(r, &r.Plan.Fields[i]) {
			return false
		}
	}
	extra := r.Object().Extra
	return extra == "" || wire.HasMember(extra, "status_code")
}

// sameTags brings the languages of parts that a row has already to the form of
// ParseLanguage, so that no language has two tags.
func sameTags(m *catalog.Movie) {
	list := m.Localized
	for i := range list {
		if tag, err := ParseLanguage(list[i].Language.V); err == nil && tag != "" && tag != list[i].Language.V {
			list[i].Language = wire.Text(tag)
			m.Localized = nil
		}
	}
	if m.Localized != nil || len(list) == 0 {
		return
	}
	for i := range list {
		overlay(wire.RecordOf(localized(m, list[i].Language.V)), wire.RecordOf(&list[i]))
	}
}

// overlay sets the members of dst that src has.
func overlay(dst, src wire.Record) {
	for i := range src.Plan.Fields {
		if f := &src.Plan.Fields[i]; wire.Present(src, f) {
			wire.Copy(dst, src, f)
		}
	}
	dst.Object().Extra = wire.UniteExtra(src.Object().Extra, dst.Object().Extra)
}

// localize moves what depends on the language of the crawl to m.Localized, and
// leaves the rest, which is the same in every language, where it is.
func localize(m *catalog.Movie, language string) {
	base, local := wire.RecordOf(m), wire.RecordOf(localized(m, language))
	if m.Title.V == "" { // not translated: the original title is shown
		f, _ := base.Plan.Field("title")
		wire.Unset(base, f)
	}
	for i := range local.Plan.Fields {
		f, ok := base.Plan.Field(local.Plan.Fields[i].Name)
		if !ok || !wire.Present(base, f) {
			continue
		}
		wire.Copy(local, base, f)
		wire.Unset(base, f)
	}
	for i := range base.Plan.Fields {
		if f := &base.Plan.Fields[i]; f.Shape == wire.ShapePages {
			tagPages(base, f, language)
		}
	}
}

// tagPages sets the language of all pages of a list.
func tagPages(r wire.Record, f *wire.Field, language string) {
	tag, _ := f.Elem.Field("language")
	n, _ := r.Len(f)
	for i := range n {
		*r.At(f, i).String(tag) = wire.Text(language)
	}
}
