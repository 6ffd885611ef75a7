package merge

import (
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A conflict is a field that has different values in two records.
type conflict struct {
	field    string // or the path of a list in a sub-request: credits.cast
	old, new string // JSON texts
}

// top returns the first name of the path.
func (c conflict) top() string {
	name, _, _ := strings.Cut(c.field, ".")
	return name
}

// join merges src into dst, a record of the same kind: src wins field by field, and dst keeps fields that src lacks. Lists
// that crawls fetch by language or by page are united. join may change src and keep parts of it. It replaces fields of dst,
// but does not change the lists and objects in them, which other records may share. It calls disagree, unless nil, for every
// scalar field of the details whose value changes.
func join(dst, src record.Record, disagree func(conflict)) {
	for i := range src.Schema.Fields {
		f := &src.Schema.Fields[i]
		if !record.Present(src, f) || uniteField(dst, src, f) {
			continue
		}
		if f.Name == catalog.FetchedColumn { // the newest day, without a conflict
			catalog.SetFetched(dst, max(catalog.FetchedOf(dst), catalog.FetchedOf(src)))
			continue
		}
		if disagree != nil && isScalar(f) && record.Present(dst, f) && !record.Same(dst, src, f) {
			disagree(conflict{f.Name, record.FieldText(dst, f), record.FieldText(src, f)})
		}
		record.Copy(dst, src, f)
	}
	d := dst.Object()
	d.Extra = uniteExtra(d.Extra, src.Object().Extra)
}

// isScalar reports whether a field is one value. Lists are not compared: their length and order differ between sources.
func isScalar(f *record.Field) bool {
	switch f.Shape {
	case record.ShapeString, record.ShapeInt, record.ShapeFloat, record.ShapeBool:
		return true
	}
	return false
}

// uniteField unites a field of both records. It returns false if src's field replaces dst's.
func uniteField(dst, src record.Record, f *record.Field) bool {
	rule := ruleOf(f)
	switch {
	case f.Shape == record.ShapeObject: // a sub-request is united field by field: a table may have only the cast, or one external id
		if _, set := dst.Sub(f); !set || !f.IsSub() {
			return false
		}
		sub, set := src.Sub(f)
		if !set { // null images and videos count as absent
			return slices.ContainsFunc(f.Elem.Fields, func(list record.Field) bool { return isByLanguage(ruleOf(&list)) })
		}
		join(dst.CloneSub(f), sub, nil)
	case rule == nil && f.Name != "localized":
		return false
	case isUnset(src, f):
		return !isUnset(dst, f) || isByLanguage(rule)
	case rule == nil:
		uniteLocalized(dst, src, f)
	default:
		rule.unite(dst, src, f)
		record.Copy(dst, src, f)
	}
	return true
}

// keepIDs drops a list from src if its elements have no ids but dst's do: replacing it would break links that clients
// follow. It calls onDrop for each dropped list, with a path such as credits.cast.
func keepIDs(dst, src record.Record, path string, onDrop func(conflict)) {
	for i := range src.Schema.Fields {
		f := &src.Schema.Fields[i]
		switch f.Shape {
		case record.ShapeObject:
			old, ok := dst.Sub(f)
			if _, set := src.Sub(f); ok && set && f.IsSub() {
				keepIDs(old, src.CloneSub(f), path+f.Name+".", onDrop)
			}
		case record.ShapeObjects:
			if _, ok := f.Elem.Field("id"); ok && ruleOf(f) == nil && hasIDs(dst, f) && !hasIDs(src, f) && !isEmpty(src, f) {
				onDrop(conflict{path + f.Name, record.FieldText(dst, f), record.FieldText(src, f)})
				record.Unset(src, f)
			}
		}
	}
}

// unsetEmpty removes empty values from dst if src has a value. dst must not share memory with other records.
func unsetEmpty(dst, src record.Record) {
	for i := range src.Schema.Fields {
		f := &src.Schema.Fields[i]
		switch {
		case isEmpty(src, f):
		case isEmpty(dst, f):
			record.Unset(dst, f)
		case f.Shape == record.ShapeObject && f.IsSub():
			old, _ := dst.Sub(f)
			from, _ := src.Sub(f)
			unsetEmpty(old, from)
		}
	}
}

// isEmpty reports whether a field is absent or empty: null, an empty text, zero, an empty list. False is a value.
func isEmpty(r record.Record, f *record.Field) bool {
	switch f.Shape {
	case record.ShapeObject:
		_, set := r.Sub(f)
		return !set
	case record.ShapeObjects, record.ShapeKeyed, record.ShapePages:
		n, _ := r.Len(f)
		return n == 0
	}
	switch record.FieldText(r, f) {
	case "null", `""`, "0", "0.0", "[]":
		return true
	}
	return false
}

// hasIDs reports whether any element of a list has an id.
func hasIDs(r record.Record, f *record.Field) bool {
	return slices.ContainsFunc(elements(r, f), func(el record.Record) bool {
		id, _ := el.Schema.Field("id")
		return record.Present(el, id)
	})
}

// complete copies to dst the fields that only src has.
func complete(dst, src record.Record) {
	for i := range src.Schema.Fields {
		if f := &src.Schema.Fields[i]; record.Present(src, f) && !record.Present(dst, f) {
			record.Copy(dst, src, f)
		}
	}
	d := dst.Object()
	d.Extra = uniteExtra(src.Object().Extra, d.Extra)
}

// uniteExtra unites unknown fields. src's come first and take precedence.
func uniteExtra(dst, src string) string {
	switch {
	case src == "" || src == dst:
		return dst
	case dst == "":
		return src
	}
	return record.UniteExtra(src, dst)
}
