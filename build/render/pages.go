package render

import (
	"slices"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// maxPage is the last page that the API answers.
const maxPage = 500

// pageSize is the number of rows of a page that is derived.
const pageSize = 20

// A pager writes the pages of one list.
type pager struct {
	out   *fragments
	s     *sub
	first int // of out.list, that the list begins with
}

func (f *fragments) pager(s *sub) pager { return pager{f, s, len(f.list)} }

// given adds the given pages, by language, and for each language the tail that answers all other
// pages: no rows, the true totals.
func (p *pager) given(rec record.Record) {
	n, _ := rec.Len(p.s.field)
	if n == 0 {
		return
	}
	completePages(rec, p.s.field)
	langs := pageLanguages(p.s, rec, n)
	for i := range n {
		page := pageOf(rec.At(p.s.field, i))
		for _, v := range langs.pageVariants(page.language) {
			p.page(page, v)
		}
	}
	if p.s.sub != fragment.SubReviews {
		p.borrow()
		return
	}
	if p.has(fragment.Address{Sub: p.s.sub}) {
		// Reviews are not translated: in a language without any there are none.
		p.tail(fragment.Untranslated, 1, 0)
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

// page adds one page in one variant, and the tail of that variant where it is the first.
func (p *pager) page(page page, v fragment.Variant) {
	f := p.out
	a := fragment.Address{Sub: p.s.sub, Page: uint16(min(max(page.number.V, 1), maxPage)), Variant: v}
	// Tagged images ignore the requested page and always name page 0.
	unpaged := p.s.sub == fragment.SubTaggedImages && page.number.Set && page.number.V == 0
	if unpaged {
		a.Page = 0
	}
	if page.number.V > maxPage || p.has(a) {
		return // beyond the API's last page, or there before
	}
	if unpaged {
		f.begin()
		f.mark(opID)
		f.fields(page.rec, page.rows-1, page.rows)
	} else {
		p.begin()
	}
	n := len(f.buf)
	f.fields(page.rec, page.rows, len(page.rec.Schema.Fields))
	f.extra(page.rec)
	if len(f.buf) == n {
		f.drop()
		return // without fields
	}
	f.text("}")
	f.add(a, f.end())
	if !p.has(fragment.Address{Sub: p.s.sub, Variant: v}) {
		p.tail(v, page.pages, page.results)
	}
}

// begin opens a page with the marks before its rows.
func (p *pager) begin() {
	p.out.begin()
	if p.s.field.ID {
		p.out.mark(opID)
	}
	p.out.mark(release.OpPageMark)
}

// tail adds a page without rows and without its number.
func (p *pager) tail(v fragment.Variant, pages, results int64) {
	p.begin()
	p.out.text(`"results":[]`)
	p.end(fragment.Address{Sub: p.s.sub, Variant: v}, pages, results)
}

// end writes the totals of a page and adds it.
func (p *pager) end(a fragment.Address, pages, results int64) {
	f := p.out
	f.int(`,"total_pages":`, pages)
	f.int(`,"total_results":`, results)
	f.text("}")
	f.add(a, f.end())
}

// has reports whether the list has an address.
func (p *pager) has(a fragment.Address) bool {
	return slices.ContainsFunc(p.out.list[p.first:], func(f Fragment) bool { return f.Address == a })
}

// borrow adds, for each language, the pages that only the base has: a crawl in another language
// mostly has the first page alone, and rows in English are better than none.
func (p *pager) borrow() {
	given := p.out.list[p.first:len(p.out.list):len(p.out.list)]
	for _, f := range given {
		if f.Address.Variant != fragment.Base || f.Address.Page == 0 {
			continue
		}
		for _, tail := range given {
			a := f.Address
			a.Variant = tail.Address.Variant
			if tail.Address.Page == 0 && !p.has(a) {
				p.out.add(a, f.Pieces)
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

// derivedPages adds a list of titles where rec gives no page of the base, with rows that are
// included. A page that a crawl in another language gives is for that language.
func (f *fragments) derivedPages(m *model, rec record.Record, name fragment.Sub, v fragment.Variant, row release.Include, ids []int64) {
	s := m.sub(name)
	if len(ids) == 0 || hasBasePage(rec, s.field) {
		return
	}
	p := f.pager(s)
	results := int64(len(ids))
	total := (results + pageSize - 1) / pageSize
	for n := range min(total, maxPage) {
		p.begin()
		f.text(`"results":`)
		f.includeList(row, ids[n*pageSize:min((n+1)*pageSize, results)])
		p.end(fragment.Address{Sub: name, Page: uint16(n + 1), Variant: v}, total, results)
	}
	p.tail(v, total, results)
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
