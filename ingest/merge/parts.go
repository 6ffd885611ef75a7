package merge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// parts puts the rows of one table that make one record together. The result does not depend on
// their order, but elements that one row gave stay in the order of its list. The zero value has none.
type parts struct {
	record record.Record    // of the parts so far
	noted  map[string]bool  // fields that disagree has got
	places map[string][]int // of the elements of lists, by the path of the list: what number they were in their row
	row    int64            // that gave the last part
	inRow  map[string]int   // elements that it gave so far, by list
}

// put adds a part that a row of the source gave. Its lists follow those of the others; of two values of
// a field the greater text stays, and disagree, unless nil, gets each field once.
func (p *parts) put(part record.Record, row int64, disagree func(conflict)) {
	if p.record.Schema == nil {
		p.record, p.noted, p.places = part, map[string]bool{}, map[string][]int{}
	} else {
		p.add(p.record, part, disagree)
	}
	if row != p.row || p.inRow == nil {
		p.row, p.inRow = row, map[string]int{}
	}
	p.note(part, "")
}

// note notes the places of a part's elements.
func (p *parts) note(part record.Record, path string) {
	for i := range part.Schema.Fields {
		f := &part.Schema.Fields[i]
		name := path + "." + f.Name
		switch f.Shape {
		case record.ShapeObject:
			if sub, ok := part.Sub(f); ok {
				p.note(sub, name)
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
	settleLists(p.record, "", p.places)
	return p.record
}

func settleLists(r record.Record, path string, places map[string][]int) {
	for i := range r.Schema.Fields {
		f := &r.Schema.Fields[i]
		name := path + "." + f.Name
		switch f.Shape {
		case record.ShapeObject:
			if sub, ok := r.Sub(f); ok {
				settleLists(sub, name, places)
			}
		case record.ShapeObjects:
			if n, _ := r.Len(f); n > 1 {
				settleList(r, f, places[name])
			}
		case record.ShapePages:
			for _, page := range elements(r, f) {
				settleLists(page, name, nil)
			}
			catalog.CountRows(r, f)
		}
	}
}

// settleList orders a list: by the elements' own order, else by department and job, else by their
// places in their rows, else by the time when they were written. Equal elements of one resource become one,
// which has the first place.
func settleList(r record.Record, f *record.Field, places []int) {
	list := elements(r, f)
	ranks := make(map[record.Record]rank, len(list))
	for i, el := range list {
		rank := rankOf(el)
		if len(places) == len(list) {
			rank.place = places[i]
		}
		ranks[el] = rank
	}
	slices.SortFunc(list, func(a, b record.Record) int {
		return cmp.Or(ranks[a].compare(ranks[b]), cmp.Compare(ranks[a].place, ranks[b].place))
	})
	list = slices.CompactFunc(list, func(a, b record.Record) bool { return ranks[a].same(ranks[b]) })
	slices.SortStableFunc(list, func(a, b record.Record) int {
		return cmp.Or(ranks[a].compareJobs(ranks[b]), cmp.Compare(ranks[a].place, ranks[b].place))
	})
	setElements(r, f, list)
}

// A rank orders an element of a list.
type rank struct {
	order                      int64
	department, job, character string
	id                         int64
	created, text              string
	place                      int // what number of its row's list it was
}

func rankOf(el record.Record) rank {
	order := *el.IntNamed("order")
	if !order.Set {
		order.V = 1 << 62 // behind those that have one
	}
	return rank{
		order.V, el.StringNamed("department").V, el.StringNamed("job").V, el.StringNamed("character").V,
		el.IntNamed("id").V, el.StringNamed("created_at").V, jsonOf(el), 0,
	}
}

func (a rank) compare(b rank) int {
	return cmp.Or(a.compareAll(b), strings.Compare(a.text, b.text))
}

// compareJobs compares the elements' own order, and department and job.
func (a rank) compareJobs(b rank) int {
	return cmp.Or(cmp.Compare(a.order, b.order), strings.Compare(a.department, b.department), strings.Compare(a.job, b.job))
}

// compareAll compares everything but places and texts.
func (a rank) compareAll(b rank) int {
	return cmp.Or(a.compareJobs(b), cmp.Compare(a.id, b.id), strings.Compare(a.character, b.character), strings.Compare(a.created, b.created))
}

// same reports whether two elements have the same facts about one resource. Elements without an
// id may be of several.
func (a rank) same(b rank) bool {
	return a.text == b.text || a.id != 0 && a.compareAll(b) == 0
}
