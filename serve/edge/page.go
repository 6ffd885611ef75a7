package edge

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
	"github.com/reelsplice/reelsplice/serve/query"
	"github.com/reelsplice/reelsplice/serve/splice"
)

// Pages of titles, people and the like are joined from the rows that the release
// stores once for each resource and language. Twenty rows deflated one by one
// take 1.7 times the bytes of one pass over them, so pages are compressed as a whole, and kept
// by their entity tags: the same content has the same body in every release.

// pageRows is how many rows a page has.
const pageRows = 20

// A pageShape describes a page around its rows.
type pageShape struct {
	sub      fragment.Sub // SubRow or SubMediaRow
	knownFor bool         // people have known_for
	id       uint64       // before the page; 0 for none
	dated    bool         // with dates: from the first to the last day
	window   query.Window
	maxPages int // in total_pages at most; 0 for any number
}

// page adds a page of rows. page is the number that was asked for.
func (c *composer) page(s *pageShape, res *query.Result, page uint16) error {
	c.atLeast(Page)
	if c.prefetch {
		c.scratch.awaitRows(c.rel, s, res.Rows)
	}
	b := append(c.scratch.mark[:0], '{')
	if s.dated {
		b = append(b, `"dates":{"maximum":"`...)
		b = append(posting.AppendDay(b, s.window.To), `","minimum":"`...)
		b = append(posting.AppendDay(b, s.window.From), `"},`...)
	}
	if s.id != 0 {
		b = append(strconv.AppendUint(append(b, `"id":`...), s.id, 10), ',')
	}
	b = strconv.AppendUint(append(b, `"page":`...), uint64(page), 10)
	c.scratch.mark = append(b, `,"results":[`...)
	splice.Literal(&c.answer, c.scratch.mark)
	for i := range res.Rows {
		if i > 0 {
			splice.Literal(&c.answer, ",")
		}
		if err := c.row(s, &res.Rows[i]); err != nil {
			return err
		}
	}
	b = appendTotals(append(c.scratch.mark[:0], ']'), res.Total, pageRows, s.maxPages)
	c.scratch.mark = append(b, '}')
	splice.Literal(&c.answer, c.scratch.mark)
	return nil
}

// pagesOf returns how many pages rows make: one at least.
func pagesOf(rows, size int) int { return max(1, (rows+size-1)/size) }

// appendTotals appends the totals of a list.
func appendTotals(dst []byte, rows, size, maxPages int) []byte {
	pages := pagesOf(rows, size)
	if maxPages > 0 && pages > maxPages {
		pages, rows = maxPages, maxPages*size
	}
	dst = strconv.AppendInt(append(dst, `,"total_pages":`...), int64(pages), 10)
	return strconv.AppendInt(append(dst, `,"total_results":`...), int64(rows), 10)
}

// row adds one row of a page.
func (c *composer) row(s *pageShape, r *query.Row) error {
	splice.Literal(&c.answer, "{")
	i := release.Include{Kind: r.Kind, ID: r.ID, Sub: s.sub}
	var err error
	if r.Date != posting.NoDay && r.Kind == fragment.KindMovie {
		err = c.datedRow(&i, r.Date)
	} else {
		err = c.include(&i, 0)
	}
	if err == nil && s.knownFor && r.Kind == fragment.KindPerson {
		splice.Literal(&c.answer, ",")
		i.Sub = fragment.SubKnownFor
		err = c.include(&i, 0)
	}
	splice.Literal(&c.answer, "}")
	return err
}

// releaseDate is the field of a movie's row that depends on the region.
var releaseDate = []byte(`"release_date":"`)

// datedRow adds the row of a movie with the date of a region in place of its primary one.
// Inside of a JSON string the quotes of releaseDate would be escaped, so it is found where
// it is a field and nowhere else.
func (c *composer) datedRow(i *release.Include, day int32) error {
	raw, err := c.aside(func(side *composer) error { return side.include(i, 0) })
	if err != nil {
		return err
	}
	at := bytes.Index(raw, releaseDate)
	if at < 0 {
		splice.Literal(&c.answer, raw) // a row of an older shape
		return nil
	}
	at += len(releaseDate)
	end := bytes.IndexByte(raw[at:], '"')
	if end < 0 {
		return fmt.Errorf("%w: row of %s ends in its date", release.ErrCorrupt, *i)
	}
	c.scratch.thin = append(posting.AppendDay(append(c.scratch.thin[:0], raw[:at]...), day), raw[at+end:]...)
	splice.Literal(&c.answer, c.scratch.thin)
	return nil
}

// derivedRow adds a row that no fragment holds: it is made from the fragments of sub-request from,
// in the request's language.
func (c *composer) derivedRow(i *release.Include, from fragment.Sub) error {
	source := *i
	source.Sub = from
	raw, err := c.aside(func(side *composer) error { return side.include(&source, 0) })
	if err != nil {
		return err
	}
	if c.scratch.thin, err = fragment.AppendRow(c.scratch.thin[:0], i.Kind, i.Sub, i.ID, raw); err != nil {
		return fmt.Errorf("%w: %s: %w", release.ErrCorrupt, *i, err)
	}
	if c.class == Page { // the page is compressed as a whole
		splice.Literal(&c.answer, c.scratch.thin)
		return nil
	}
	return c.deflate(c.scratch.thin)
}

// Rows of lists lie anywhere in a release, and each is found by three reads, one after the
// other. From a disk those of a page of twenty take several milliseconds, unless the disk
// reads for all of them at a time. The waits are system calls: see faultWatch in package serve.

// awaitRows waits until the rows of a page are in memory.
func (s *scratch) awaitRows(rel *release.Reader, shape *pageShape, rows []query.Row) {
	s.ahead = s.ahead[:0]
	for i := range rows {
		s.ahead = append(s.ahead, release.Include{Kind: rows[i].Kind, ID: rows[i].ID, Sub: shape.sub})
	}
	rel.AwaitIncludes(s.ahead)
}

// awaitIncludes waits until the fragments that a fragment includes are in memory.
func (s *scratch) awaitIncludes(rel *release.Reader, f *release.Fragment) {
	s.ahead = s.ahead[:0]
	var piece release.Piece
	pieces := f.Pieces()
	for pieces.Next(&piece) {
		if piece.Op == release.OpInclude {
			s.ahead = append(s.ahead, piece.Include)
		}
	}
	if len(s.ahead) > 1 {
		rel.AwaitIncludes(s.ahead)
	}
}
