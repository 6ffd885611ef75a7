package tmdb

import (
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// maxPage is the last page that the API has of any list, but for those of users.
const maxPage = 500

// dropEmpty takes off the empty responses to sub-requests: null, {} and
// errors of the API. Crawlers keep those for requests that failed, and joined to an
// older record they would take away what a better crawl gave.
func (t *Reader) dropEmpty(r record.Record) {
	for i := range r.Schema.Fields {
		f := &r.Schema.Fields[i]
		if f.Elem == nil || !f.Elem.DropID || !record.Present(r, f) {
			continue
		}
		if f.Shape == record.ShapePages {
			t.pages(r, f)
		} else if sub, ok := r.Sub(f); !ok || saysNothing(sub) {
			t.drop(r, f)
		}
	}
}

// pages takes off pages that are empty or that the API cannot have, and numbers
// those without a number, so that pages of several crawls can be told apart.
func (t *Reader) pages(r record.Record, f *record.Field) {
	before, _ := r.Len(f)
	record.Retain(r, f, func(p record.Record) bool { return !saysNothing(p) && (unpaged(p) || number(p)) })
	switch after, _ := r.Len(f); {
	case after == 0:
		t.drop(r, f)
	case after < before:
		record.Count(t.dropped, f.Name+"[]", int64(before-after))
	}
}

// unpaged reports whether a page is of a list that the API serves whole, as page 0,
// whatever page is asked for: tagged images.
func unpaged(p record.Record) bool {
	n := p.IntNamed("page")
	return p.Schema == record.SchemaOf[catalog.TaggedImagePage]() && n.Set && n.V == 0
}

// number gives a page without a sensible number the first; false when it is beyond
// the last.
func number(p record.Record) bool {
	n := p.IntNamed("page")
	if n.V < 1 {
		record.MarkAbsent(p, "page")
		*n = record.Number(1)
	}
	return n.V <= maxPage || p.Schema == record.SchemaOf[catalog.ListItemPage]()
}

// drop makes a field absent and counts it.
func (t *Reader) drop(r record.Record, f *record.Field) {
	record.Unset(r, f)
	record.Count(t.dropped, f.Name, 1)
}

// saysNothing reports whether a response has no field that is known, and none that
// is not either, unless it is an error.
func saysNothing(r record.Record) bool {
	for i := range r.Schema.Fields {
		if record.Present(r, &r.Schema.Fields[i]) {
			return false
		}
	}
	extra := r.Object().Extra
	return extra == "" || record.HasField(extra, "status_code")
}
