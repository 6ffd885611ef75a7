package tmdb

import (
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// maxPage is the last page of the API's lists, except users' lists.
const maxPage = 500

// dropEmpty removes empty responses to sub-requests: null, {} and errors of the API. Crawlers store them for failed requests,
// and merging them would erase data of an earlier crawl.
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

// pages removes pages that are empty or out of range. Pages without a number become page 1, so that pages of several crawls can
// be merged.
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

// unpaged reports whether a page is a whole list, which the API serves as page 0: tagged images.
func unpaged(p record.Record) bool {
	n := p.IntNamed("page")
	return p.Schema == record.SchemaOf[catalog.TaggedImagePage]() && n.Set && n.V == 0
}

// number makes a page without a valid number page 1. It returns false after the last page.
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

// saysNothing reports whether a response has no fields at all, or is an error.
func saysNothing(r record.Record) bool {
	for i := range r.Schema.Fields {
		if record.Present(r, &r.Schema.Fields[i]) {
			return false
		}
	}
	extra := r.Object().Extra
	return extra == "" || record.HasField(extra, "status_code")
}
