package render

import (
	"slices"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// maxPage is the last page that the API serves.
const maxPage = 500

// pageSize is the number of rows of a derived page.
const pageSize = 20

// A pager writes the pages of one list.
type pager struct {
	out   *fragments
	s     *sub
	first int // start of the list in out.list
}

func (f *fragments) pager(s *sub) pager { return pager{f, s, len(f.list)} }

// addRecorded adds the pages of the record by language, and for each language the tail that serves all other pages: it
// has no rows, but the true totals. A language also gets the pages that only the base has: a crawl in another language
// often has only the first page, and English rows are better than none.
func (p *pager) addRecorded(rec record.Record) {
	if n, _ := rec.Len(p.s.Field); n == 0 {
		return
	}
	pages := complete.Pages(rec, p.s.Field)
	var langs languages
	for i := range pages {
		if tag := pages[i].Language; tag != "" {
			langs.findOrAdd(splitTag(tag))
		}
	}
	langs.chooseBare()
	for i := range pages {
		for _, v := range langs.pageVariants(pages[i].Language) {
			p.addPage(&pages[i], v)
		}
	}
	if p.s.Sub == fragment.SubReviews {
		if p.contains(fragment.Address{Sub: p.s.Sub}) {
			// Reviews are not translated: languages without any have an empty list.
			p.tail(fragment.Untranslated, 1, 0)
		}
		return
	}
	recorded := p.out.list[p.first:len(p.out.list):len(p.out.list)]
	for _, f := range recorded {
		if f.Address.Variant != fragment.Base || f.Address.Page == 0 {
			continue
		}
		for _, tail := range recorded {
			a := f.Address
			a.Variant = tail.Address.Variant
			if tail.Address.Page == 0 && !p.contains(a) {
				p.out.add(a, f.Pieces)
			}
		}
	}
}

// addPage adds one page in one variant, and with the first page the variant's tail.
func (p *pager) addPage(page *complete.Page, v fragment.Variant) {
	f := p.out
	a := fragment.Address{Sub: p.s.Sub, Page: uint16(min(max(page.Number.V, 1), maxPage)), Variant: v}
	// Tagged images ignore the requested page and always name page 0.
	unpaged := p.s.Sub == fragment.SubTaggedImages && page.Number.Set && page.Number.V == 0
	if unpaged {
		a.Page = 0
	}
	if page.Number.V > maxPage || p.contains(a) {
		return // beyond the API's last page, or a duplicate
	}
	if unpaged {
		f.begin()
		f.mark(opID)
		f.fields(page.Rec, page.Rows-1, page.Rows)
	} else {
		p.begin()
	}
	n := len(f.buf)
	f.fields(page.Rec, page.Rows, len(page.Rec.Schema.Fields))
	f.extra(page.Rec)
	if len(f.buf) == n {
		f.drop()
		return // without fields
	}
	f.text("}")
	f.add(a, f.end())
	if !p.contains(fragment.Address{Sub: p.s.Sub, Variant: v}) {
		p.tail(v, page.Pages, page.Results)
	}
}

// begin opens a page with the marks before its rows.
func (p *pager) begin() {
	p.out.begin()
	if p.s.Field.ID {
		p.out.mark(opID)
	}
	p.out.mark(release.OpPageMark)
}

// tail adds a page without rows and page number.
func (p *pager) tail(v fragment.Variant, pages, results int64) {
	p.begin()
	p.out.text(`"results":[]`)
	p.end(fragment.Address{Sub: p.s.Sub, Variant: v}, pages, results)
}

// end writes the totals of a page and adds it.
func (p *pager) end(a fragment.Address, pages, results int64) {
	f := p.out
	f.int(`,"total_pages":`, pages)
	f.int(`,"total_results":`, results)
	f.text("}")
	f.add(a, f.end())
}

// contains reports whether the list has an address.
func (p *pager) contains(a fragment.Address) bool {
	return slices.ContainsFunc(p.out.list[p.first:], func(f release.FragmentSpec) bool { return f.Address == a })
}

// pageVariants returns the addresses of the pages of a language, none for an invalid tag.
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

// derivedPages adds a list of titles if rec has no page of the base. Its rows are included. Pages from crawls in
// other languages serve only those.
func (f *fragments) derivedPages(m *model, rec record.Record, name fragment.Sub, v fragment.Variant, row release.Include, ids []int64) {
	s := m.sub(name)
	if len(ids) == 0 {
		return
	}
	language, _ := s.Field.Elem.Field("language")
	recorded, _ := rec.Len(s.Field)
	for i := range recorded {
		if rec.At(s.Field, i).String(language).V == "" {
			return
		}
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
