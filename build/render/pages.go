package render

import (
	"slices"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
	"reelsplice/schemas/release"
)

// maxPage is the last page that the API answers.
const maxPage = 500

// pageSize is the number of rows of a page that is derived.
const pageSize = 20

// pages adds the given pages of a list, by language, and for each language the tail
// that answers all other pages: no rows, the true totals.
func (r *Renderer) pages(s *sub, rec record.Record) {
	n, _ := rec.Len(s.field)
	if n == 0 {
		return
	}
	completePages(rec, s.field)
	first := len(r.out.list)
	langs := pageLanguages(s, rec, n)
	for i := range n {
		p := pageOf(rec.At(s.field, i))
		for _, v := range langs.pageVariants(p.language) {
			r.page(s, first, p, v)
		}
	}
	if s.sub != fragment.SubReviews {
		r.borrowPages(first)
		return
	}
	if r.hasPage(first, fragment.Address{Sub: s.sub}) {
		// Reviews are not translated: in a language without any there are none.
		r.out.beginPage(s)
		r.out.noRows(1, 0)
		r.out.add(fragment.Address{Sub: s.sub, Variant: fragment.Untranslated}, r.out.end())
	}
}

// page is a page of a list, as a record has it.
type page struct {
	rec            record.Record
	rows           int // index of the field behind the page number
	language       string
	number         record.Int
	pages, results int64 // totals
}

func pageOf(rec record.Record) page {
	p := rec.Schema
	number := fieldOf(p, "page")
	return page{
		rec: rec, rows: indexOf(p, number) + 1, number: *rec.Int(number),
		language: rec.String(fieldOf(p, "language")).V,
		pages:    rec.Int(fieldOf(p, "total_pages")).V,
		results:  rec.Int(fieldOf(p, "total_results")).V,
	}
}

// count returns how many rows the page has.
func (p *page) count() int {
	n, _ := p.rec.Len(&p.rec.Schema.Fields[p.rows])
	return n
}

// page adds one page in one variant, and the tail of that variant where it is the
// first. first is the fragment with which the list begins.
func (r *Renderer) page(s *sub, first int, p page, v fragment.Variant) {
	f := &r.out
	a := fragment.Address{Sub: s.sub, Page: uint16(min(max(p.number.V, 1), maxPage)), Variant: v}
	// Tagged images ignore the page that is asked for and say that theirs is 0.
	unpaged := s.sub == fragment.SubTaggedImages && p.number.Set && p.number.V == 0
	if unpaged {
		a.Page = 0
	}
	if p.number.V > maxPage || r.hasPage(first, a) {
		return // beyond what the API answers, or there before
	}
	if unpaged {
		f.begin()
		f.mark(opID)
		f.members(p.rec, p.rows-1, p.rows)
	} else {
		f.beginPage(s)
	}
	n := len(f.buf)
	f.members(p.rec, p.rows, len(p.rec.Schema.Fields))
	f.extra(p.rec)
	if len(f.buf) == n {
		f.drop()
		return // without members
	}
	f.text("}")
	f.add(a, f.end())
	if tail := (fragment.Address{Sub: s.sub, Variant: v}); !r.hasPage(first, tail) {
		f.beginPage(s)
		f.noRows(p.pages, p.results)
		f.add(tail, f.end())
	}
}

// beginPage opens a page with the marks before its rows.
func (f *fragments) beginPage(s *sub) {
	f.begin()
	if s.field.ID {
		f.mark(opID)
	}
	f.mark(release.OpPageMark)
}

// noRows writes a page without rows and without its number.
func (f *fragments) noRows(pages, results int64) {
	f.text(`"results":[]`)
	f.totals(pages, results)
}

// totals writes the end of a page.
func (f *fragments) totals(pages, results int64) {
	f.int(`,"total_pages":`, pages)
	f.int(`,"total_results":`, results)
	f.text("}")
}

// hasPage reports whether the list that begins with fragment first has the address.
func (r *Renderer) hasPage(first int, a fragment.Address) bool {
	return slices.ContainsFunc(r.out.list[first:], func(f Fragment) bool { return f.Address == a })
}

// borrowPages adds, for each language, the pages that only the base has: a crawl in
// another language mostly has the first page alone, and rows in English are better
// than none.
func (r *Renderer) borrowPages(first int) {
	given := r.out.list[first:len(r.out.list):len(r.out.list)]
	for _, f := range given {
		if f.Address.Variant != fragment.Base || f.Address.Page == 0 {
			continue
		}
		for _, tail := range given {
			a := f.Address
			a.Variant = tail.Address.Variant
			if tail.Address.Page == 0 && !r.hasPage(first, a) {
				r.out.add(a, f.Pieces)
			}
		}
	}
}

// pageLanguages returns the languages of the pages.
func pageLanguages(s *sub, rec record.Record, n int) languages {
	var list languages
	for i := range n {
		if tag := pageOf(rec.At(s.field, i)).language; tag != "" {
			list.at(splitTag(tag))
		}
	}
	list.chooseBare()
	return list
}

// pageVariants returns the addresses under which pages of a language are found; none
// for a language that is none.
func (list languages) pageVariants(tag string) []fragment.Variant {
	if tag == "" {
		return baseOnly
	}
	v := variantOf(splitTag(tag))
	for i := range list {
		if list[i].variant == v {
			return list[i].variants()
		}
	}
	return nil
}

// derivedPages adds a list of titles where rec gives no page of the base. What a crawl in
// another language gives is for that language.
func (r *Renderer) derivedPages(m *model, rec record.Record, name fragment.Sub, v fragment.Variant, row include, ids []int64) {
	if s := m.sub(name); !hasBasePage(rec, s.field) {
		r.titlePages(s, v, row, ids)
	}
}

// titlePages adds all pages of a list of titles, and its tail: rows that are included.
func (r *Renderer) titlePages(s *sub, v fragment.Variant, row include, ids []int64) {
	if len(ids) == 0 {
		return
	}
	f := &r.out
	results := int64(len(ids))
	total := (results + pageSize - 1) / pageSize
	for n := range min(total, maxPage) {
		f.beginPage(s)
		f.text(`"results":`)
		r.includeList(row.kind, row.sub, ids[n*pageSize:min((n+1)*pageSize, results)])
		f.totals(total, results)
		f.add(fragment.Address{Sub: s.sub, Page: uint16(n + 1), Variant: v}, f.end())
	}
	f.beginPage(s)
	f.noRows(total, results)
	f.add(fragment.Address{Sub: s.sub, Variant: v}, f.end())
}

// hasBasePage reports whether a list has a page that no crawl in another language gave.
func hasBasePage(rec record.Record, f *record.Field) bool {
	language, _ := f.Elem.Field("language")
	n, _ := rec.Len(f)
	for i := range n {
		if rec.At(f, i).String(language).V == "" {
			return true
		}
	}
	return false
}
