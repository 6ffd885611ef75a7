package merge

import (
	"slices"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// parts builds one record from several rows of a table. The result does not depend on the order of the rows, but the list
// elements of one row stay in their order. The zero value has no parts.
type parts struct {
	record   record.Record    // built so far
	reported map[string]bool  // fields that were reported as conflicts
	places   map[string][]int // index of each element in the list of its row, by the path of the list
	row      int64            // row of the last part
	inRow    map[string]int   // elements of that row so far, by list
}

// put adds a part from a row. Its lists are appended. Of two values the greater text stays; disagree, unless nil, gets each
// such field once.
func (p *parts) put(part record.Record, row int64, disagree func(conflict)) {
	if p.record.Schema == nil {
		p.record, p.reported, p.places = part, map[string]bool{}, map[string][]int{}
	} else {
		p.combine(p.record, part, disagree)
	}
	if row != p.row || p.inRow == nil {
		p.row, p.inRow = row, map[string]int{}
	}
	p.notePlaces(part, "")
}

// notePlaces records the places of a part's elements.
func (p *parts) notePlaces(part record.Record, path string) {
	for i := range part.Schema.Fields {
		f := &part.Schema.Fields[i]
		name := path + "." + f.Name
		switch f.Shape {
		case record.ShapeObject:
			if sub, ok := part.Sub(f); ok {
				p.notePlaces(sub, name)
			}
		case record.ShapeObjects:
			n, _ := part.Len(f)
			for range n {
				p.places[name] = append(p.places[name], p.inRow[name])
				p.inRow[name]++
			}
		}
	}
}

// combine adds src to dst, field by field.
func (p *parts) combine(dst, src record.Record, disagree func(conflict)) {
	for i := range src.Schema.Fields {
		f := &src.Schema.Fields[i]
		switch {
		case !record.Present(src, f):
		case !record.Present(dst, f):
			record.Copy(dst, src, f)
		case f.Shape == record.ShapeObjects:
			n, _ := src.Len(f)
			if _, set := dst.Len(f); !set {
				dst.MakeList(f, n)
			}
			for i := range n {
				assign(dst.Grow(f), src.At(f, i))
			}
		case f.Shape == record.ShapeObject:
			subDst, ok := dst.Sub(f)
			subSrc, ok2 := src.Sub(f)
			if ok && ok2 {
				p.combine(subDst, subSrc, disagree)
			} else if ok2 {
				record.Copy(dst, src, f)
			}
		case f.Shape == record.ShapePages:
			for _, page := range elements(src, f) {
				old := elements(dst, f)
				same := func(other record.Record) bool { return pages.identity(other) == pages.identity(page) }
				if i := slices.IndexFunc(old, same); i >= 0 {
					p.combine(old[i], page, disagree)
				} else {
					assign(dst.Grow(f), page)
				}
			}
		case !record.Same(dst, src, f): // the greater text stays: the order of the rows must not matter
			lost, kept := record.FieldText(dst, f), record.FieldText(src, f)
			if lost > kept {
				lost, kept = kept, lost
			} else {
				record.Copy(dst, src, f)
			}
			if disagree != nil && !p.reported[f.Name] && f.Name != catalog.FetchedColumn {
				p.reported[f.Name] = true
				disagree(conflict{f.Name, lost, kept})
			}
		}
	}
	d := dst.Object()
	if x := src.Object().Extra; x > d.Extra {
		d.Extra = record.UniteExtra(x, d.Extra)
	} else {
		d.Extra = uniteExtra(x, d.Extra)
	}
}

// finish sorts the lists, removes repeated elements, and returns the record.
func (p *parts) finish() record.Record {
	sortLists(p.record, "", p.places)
	return p.record
}
