package merge

import (
	"cmp"
	"slices"
	"strings"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/record"
)

// A conflict is a field on which two records disagree.
type conflict struct {
	field    string
	old, new string // JSON texts
}

// join merges src into dst, a record of the same kind: src wins, field by field, and fields that
// it lacks stay. Lists that crawls cut by language or by page are united; elements that a later
// crawl of the same language lacks go. join may change src and keep parts of it. Of dst it changes
// the struct itself alone: its lists and objects may be another record's too. disagree, unless
// nil, gets every scalar field of the details that had another value before.
func join(dst, src record.Record, disagree func(conflict)) {
	for i := range src.Schema.Fields {
		f := &src.Schema.Fields[i]
		if !record.Present(src, f) || united(dst, src, f) {
			continue
		}
		if disagree != nil && scalar(f) && record.Present(dst, f) && !record.Same(dst, src, f) {
			disagree(conflict{f.Name, record.FieldText(dst, f), record.FieldText(src, f)})
		}
		record.Copy(dst, src, f)
	}
	d := dst.Object()
	d.Extra = uniteExtra(d.Extra, src.Object().Extra)
}

// scalar reports whether a field is one value. Disagreement on lists is left
// uncounted: sources cut and order them as they please.
func scalar(f *record.Field) bool {
	switch f.Shape {
	case record.ShapeString, record.ShapeInt, record.ShapeFloat, record.ShapeBool:
		return true
	}
	return false
}

// united unites what both records have in one field, if it is one that crawls cut; it
// reports false for other fields, which the later source replaces.
func united(dst, src record.Record, f *record.Field) bool {
	switch f.Shape {
	case record.ShapePages:
		if null(src, f) {
			return !null(dst, f)
		}
		unitePages(dst, src, f)
	case record.ShapeObjects:
		switch {
		case null(src, f):
			return !null(dst, f) && (f.Name == "localized" || f.Elem == record.SchemaOf[catalog.SeasonEpisode]())
		case f.Name == "localized":
			uniteLocalized(dst, src, f)
		case f.Elem == record.SchemaOf[catalog.SeasonEpisode]():
			episodes.unite(dst, src, f)
			record.Copy(dst, src, f)
		default:
			return false
		}
	case record.ShapeObject:
		return uniteMedia(dst, src, f) || uniteSub(dst, src, f)
	default:
		return false
	}
	return true
}

// uniteSub unites what both records have of a sub-request, field by field: a table may
// have just the cast, or one external id. Responses of the API have all fields.
func uniteSub(dst, src record.Record, f *record.Field) bool {
	_, ok := dst.Sub(f)
	news, ok2 := src.Sub(f)
	if !f.IsSub() || !ok || !ok2 {
		return false
	}
	join(dst.OwnSub(f), news, nil)
	return true
}

// null reports whether a list is unset. Null in place of a list that is united counts as absent.
func null(r record.Record, f *record.Field) bool {
	_, set := r.Len(f)
	return !set
}

// elements returns the elements of a list.
func elements(r record.Record, f *record.Field) []record.Record {
	n, _ := r.Len(f)
	out := make([]record.Record, n)
	for i := range out {
		out[i] = r.At(f, i)
	}
	return out
}

// setElements makes a list of dst that of elements, which may be its own.
func setElements(dst record.Record, f *record.Field, list []record.Record) {
	record.Unset(dst, f)
	dst.MakeList(f, len(list)) // a new one: the elements' old places stay
	for _, from := range list {
		assign(dst.Grow(f), from)
	}
}

// A place identifies a page of a list.
type place struct {
	language string
	page     int64
}

func (p place) compare(q place) int {
	return cmp.Or(strings.Compare(p.language, q.language), cmp.Compare(p.page, q.page))
}

func placeOf(page record.Record) place {
	return place{page.StringNamed("language").V, page.IntNamed("page").V}
}

// unitePages gives dst the pages of both, those of src where both have one. Where src
// has the number of a language's pages, older ones beyond are gone.
func unitePages(dst, src record.Record, f *record.Field) {
	list := elements(src, f)
	have, totals := map[place]bool{}, map[string]int64{}
	for _, page := range list {
		p := placeOf(page)
		have[p] = true
		if total := page.IntNamed("total_pages"); total.Set {
			totals[p.language] = max(totals[p.language], total.V)
		}
	}
	for _, page := range elements(dst, f) {
		p := placeOf(page)
		total, known := totals[p.language]
		if !have[p] && (!known || p.page <= total) {
			list = append(list, page)
		}
	}
	slices.SortStableFunc(list, func(a, b record.Record) int { return placeOf(a).compare(placeOf(b)) })
	setElements(dst, f, list)
}

// uniteLocalized unites texts by language, each field by field.
func uniteLocalized(dst, src record.Record, f *record.Field) {
	list := elements(dst, f)
	for _, s := range elements(src, f) {
		at := slices.IndexFunc(list, func(l record.Record) bool { return l.StringNamed("language").V == s.StringNamed("language").V })
		if at < 0 {
			list = append(list, s)
			continue
		}
		list[at] = list[at].Clone()
		join(list[at], s, nil)
	}
	slices.SortStableFunc(list, func(a, b record.Record) int {
		return strings.Compare(a.StringNamed("language").V, b.StringNamed("language").V)
	})
	setElements(dst, f, list)
}

// uniteExtra keeps the unknown fields of both; src's come first and win.
func uniteExtra(dst, src string) string {
	switch {
	case src == "" || src == dst:
		return dst
	case dst == "":
		return src
	}
	return record.UniteExtra(src, dst)
}
