package merge

import (
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A conflict is a field on which two records disagree.
type conflict struct {
	field    string // or the path of a list in a sub-request: credits.cast
	old, new string // JSON texts
}

// top returns the field of the record itself that the conflict is about or below.
func (c conflict) top() string {
	name, _, _ := strings.Cut(c.field, ".")
	return name
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
		if f.Name == catalog.FetchedColumn { // the newest day counts, and another one is no conflict
			catalog.SetFetched(dst, max(catalog.FetchedOf(dst), catalog.FetchedOf(src)))
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
	way := wayOf(f)
	switch {
	case f.Shape == record.ShapeObject:
		return uniteSub(dst, src, f)
	case way == nil && f.Name != "localized":
		return false
	case null(src, f):
		return !null(dst, f) || byLanguage(way)
	case way == nil:
		uniteLocalized(dst, src, f)
	default:
		way.unite(dst, src, f)
		record.Copy(dst, src, f)
	}
	return true
}

// uniteSub unites what both records have of a sub-request, field by field: a table may
// have just the cast, or one external id. Responses of the API have all fields.
func uniteSub(dst, src record.Record, f *record.Field) bool {
	_, ok := dst.Sub(f)
	news, ok2 := src.Sub(f)
	switch {
	case !f.IsSub() || !ok:
		return false
	case !ok2: // null in place of images or videos counts as absent
		return slices.ContainsFunc(f.Elem.Fields, func(list record.Field) bool { return byLanguage(wayOf(&list)) })
	}
	join(dst.OwnSub(f), news, nil)
	return true
}

// keepIDs takes from src the lists of resources without ids, such as a table's cast of names alone, where dst
// has the same list with ids: clients follow them, and what was linked would not be any more. kept gets those
// lists, by paths such as credits.cast.
func keepIDs(dst, src record.Record, path string, kept func(conflict)) {
	for i := range src.Schema.Fields {
		f := &src.Schema.Fields[i]
		switch f.Shape {
		case record.ShapeObject:
			old, ok := dst.Sub(f)
			if _, set := src.Sub(f); ok && set && f.IsSub() {
				keepIDs(old, src.OwnSub(f), path+f.Name+".", kept)
			}
		case record.ShapeObjects:
			if _, ok := f.Elem.Field("id"); ok && wayOf(f) == nil && hasIDs(dst, f) && !hasIDs(src, f) && !empty(src, f) {
				kept(conflict{path + f.Name, record.FieldText(dst, f), record.FieldText(src, f)})
				record.Unset(src, f)
			}
		}
	}
}

// hasIDs reports whether any element of a list has an id.
func hasIDs(r record.Record, f *record.Field) bool {
	return slices.ContainsFunc(elements(r, f), func(el record.Record) bool {
		id, _ := el.Schema.Field("id")
		return record.Present(el, id)
	})
}

// empty reports whether a list has no elements.
func empty(r record.Record, f *record.Field) bool {
	n, _ := r.Len(f)
	return n == 0
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
