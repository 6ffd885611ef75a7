package merge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// parts puts the rows of one table that make one record together. The result does not depend on
// their order. The zero value has none.
type parts struct {
	record record.Record   // of the parts so far
	noted  map[string]bool // fields that disagree has got
}

// put adds a part. Its lists follow those of the others; of two values of a field the greater
// text stays, and disagree, unless nil, gets each field once.
func (p *parts) put(part record.Record, disagree func(conflict)) {
	if p.record.Schema == nil {
		p.record, p.noted = part, map[string]bool{}
		return
	}
	p.add(p.record, part, disagree)
}

func (p *parts) add(dst, src record.Record, disagree func(conflict)) {
	for i := range src.Schema.Fields {
		f := &src.Schema.Fields[i]
		switch {
		case !record.Present(src, f):
		case !record.Present(dst, f):
			record.Copy(dst, src, f)
		case f.Shape == record.ShapeObjects:
			appendElements(dst, src, f)
		case f.Shape == record.ShapeObject:
			to, ok := dst.Sub(f)
			from, ok2 := src.Sub(f)
			if ok && ok2 {
				p.add(to, from, disagree)
			} else if ok2 {
				record.Copy(dst, src, f)
			}
		case f.Shape == record.ShapePages:
			p.addPages(dst, src, f, disagree)
		case !record.Same(dst, src, f):
			p.choose(dst, src, f, disagree)
		}
	}
	d := dst.Object()
	if x := src.Object().Extra; x > d.Extra {
		d.Extra = record.UniteExtra(x, d.Extra)
	} else {
		d.Extra = uniteExtra(x, d.Extra)
	}
}

// addPages adds the rows of src's pages to those that dst has of them.
func (p *parts) addPages(dst, src record.Record, f *record.Field, disagree func(conflict)) {
	for _, page := range elements(src, f) {
		same := func(other record.Record) bool { return pages.names(other) == pages.names(page) }
		old := elements(dst, f)
		if i := slices.IndexFunc(old, same); i >= 0 {
			p.add(old[i], page, disagree)
			continue
		}
		assign(dst.Grow(f), page)
	}
}

// choose keeps one of two values: by their texts, because the order of the rows must not show.
func (p *parts) choose(dst, src record.Record, f *record.Field, disagree func(conflict)) {
	old, now := record.FieldText(dst, f), record.FieldText(src, f)
	if old > now {
		old, now = now, old
	} else {
		record.Copy(dst, src, f)
	}
	if disagree != nil && !p.noted[f.Name] && f.Name != catalog.FetchedColumn {
		p.noted[f.Name] = true
		disagree(conflict{f.Name, old, now})
	}
}

// appendElements appends the elements of a list of src to that of dst.
func appendElements(dst, src record.Record, f *record.Field) {
	n, _ := src.Len(f)
	if _, set := dst.Len(f); !set {
		dst.MakeList(f, n)
	}
	for i := range n {
		assign(dst.Grow(f), src.At(f, i))
	}
}

// assign sets dst, an empty record, to src.
func assign(dst, src record.Record) {
	for i := range src.Schema.Fields {
		record.Copy(dst, src, &src.Schema.Fields[i])
	}
	*dst.Object() = *src.Object()
}

// settle brings the lists that the parts gave into an order of their own and takes out
// what they repeat.
func (p *parts) settle() record.Record {
	settleLists(p.record)
	return p.record
}

func settleLists(r record.Record) {
	for i := range r.Schema.Fields {
		f := &r.Schema.Fields[i]
		switch f.Shape {
		case record.ShapeObject:
			if sub, ok := r.Sub(f); ok {
				settleLists(sub)
			}
		case record.ShapeObjects:
			if n, _ := r.Len(f); n > 1 {
				settleList(r, f)
			}
		case record.ShapePages:
			for _, page := range elements(r, f) {
				settleLists(page)
			}
			catalog.CountRows(r, f)
		}
	}
}

// settleList orders a list: by the elements' own order, else by department and job, else by the
// time when they were written. Equal elements of one resource become one.
func settleList(r record.Record, f *record.Field) {
	list := elements(r, f)
	ranks := make(map[record.Record]rank, len(list))
	for _, el := range list {
		ranks[el] = rankOf(el)
	}
	slices.SortFunc(list, func(a, b record.Record) int { return ranks[a].compare(ranks[b]) })
	list = slices.CompactFunc(list, func(a, b record.Record) bool { return ranks[a].same(ranks[b]) })
	setElements(r, f, list)
}

// A rank orders an element of a list.
type rank struct {
	order                      int64
	department, job, character string
	id                         int64
	created, text              string
}

func rankOf(el record.Record) rank {
	order := *el.IntNamed("order")
	if !order.Set {
		order.V = 1 << 62 // behind those that have one
	}
	return rank{
		order.V, el.StringNamed("department").V, el.StringNamed("job").V, el.StringNamed("character").V,
		el.IntNamed("id").V, el.StringNamed("created_at").V, jsonOf(el),
	}
}

func (a rank) compare(b rank) int {
	return cmp.Or(a.compareAll(b), strings.Compare(a.text, b.text))
}

// compareAll compares everything but the texts.
func (a rank) compareAll(b rank) int {
	return cmp.Or(cmp.Compare(a.order, b.order), strings.Compare(a.department, b.department), strings.Compare(a.job, b.job),
		cmp.Compare(a.id, b.id), strings.Compare(a.character, b.character), strings.Compare(a.created, b.created))
}

// same reports whether two elements have the same facts about one resource. Elements without an
// id may be of several.
func (a rank) same(b rank) bool {
	return a.text == b.text || a.id != 0 && a.compareAll(b) == 0
}
