package serve

import (
	"bytes"
	"fmt"
	"strconv"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables/posting"
	"reelsplice/serve/account"
	"reelsplice/serve/query"
	"reelsplice/serve/route"
	"reelsplice/serve/splice"
)

// Pages of titles, people and the like are put together from the rows that the release
// stores once for each resource and language. Twenty rows that were deflated one by one
// take 1.7 times what one pass over them takes, so pages are packed as a whole, and kept:
// see pageCache.

// pageRows is how many rows a page has.
const pageRows = account.PageSize

// A pageShape says what stands around the rows of a page, and which rows they are.
type pageShape struct {
	sub      fragment.Sub // SubRow or SubMediaRow
	knownFor bool         // people say what they are known for
	id       uint64       // said before the page; 0 for none
	dated    bool         // with dates: from the first to the last day
	window   query.Window
	maxPages int // said at most; 0 for any number
}

// page adds a page of rows. page is the number that was asked for.
func (c *composer) page(p *part, s *pageShape, res *query.Result, page uint16) error {
	c.pack = true
	if c.fetch {
		c.fetchRows(p.rel, s, res.Rows)
	}
	b := append(c.mark[:0], '{')
	if s.dated {
		b = append(b, `"dates":{"maximum":"`...)
		b = append(posting.AppendDay(b, s.window.To), `","minimum":"`...)
		b = append(posting.AppendDay(b, s.window.From), `"},`...)
	}
	if s.id != 0 {
		b = append(strconv.AppendUint(append(b, `"id":`...), s.id, 10), ',')
	}
	b = strconv.AppendUint(append(b, `"page":`...), uint64(page), 10)
	c.mark = append(b, `,"results":[`...)
	splice.Literal(&c.answer, c.mark)
	for i := range res.Rows {
		if i > 0 {
			splice.Literal(&c.answer, ",")
		}
		if err := c.row(p, s, &res.Rows[i]); err != nil {
			return err
		}
	}
	b = appendTotals(append(c.mark[:0], ']'), res.Total, pageRows, s.maxPages)
	c.mark = append(b, '}')
	splice.Literal(&c.answer, c.mark)
	return nil
}

// appendTotals appends the totals of a list. No rows at all make one page.
func appendTotals(dst []byte, rows, size, maxPages int) []byte {
	pages := max(1, (rows+size-1)/size)
	if maxPages > 0 && pages > maxPages {
		pages, rows = maxPages, maxPages*size
	}
	dst = strconv.AppendInt(append(dst, `,"total_pages":`...), int64(pages), 10)
	return strconv.AppendInt(append(dst, `,"total_results":`...), int64(rows), 10)
}

// row adds one row of a page.
func (c *composer) row(p *part, s *pageShape, r *query.Row) error {
	splice.Literal(&c.answer, "{")
	i := release.Include{Kind: r.Kind, ID: r.ID, Sub: s.sub}
	var err error
	if r.Date != posting.NoDay && r.Kind == fragment.KindMovie {
		err = c.datedRow(p, &i, r.Date)
	} else {
		err = c.include(p, &i, 0)
	}
	if err == nil && s.knownFor && r.Kind == fragment.KindPerson {
		splice.Literal(&c.answer, ",")
		i.Sub = fragment.SubKnownFor
		err = c.include(p, &i, 0)
	}
	splice.Literal(&c.answer, "}")
	return err
}

// releaseDate is the member of a movie's row that depends on the region.
var releaseDate = []byte(`"release_date":"`)

// datedRow adds the row of a movie with the date of a region in place of its primary one.
// Inside of a JSON string the quotes of releaseDate would be escaped, so it is found where
// it is a member and nowhere else.
func (c *composer) datedRow(p *part, i *release.Include, day int32) error {
	raw, err := c.aside(func(side *composer) error { return side.include(p, i, 0) })
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
	c.thin = append(posting.AppendDay(append(c.thin[:0], raw[:at]...), day), raw[at+end:]...)
	splice.Literal(&c.answer, c.thin)
	return nil
}

// maxBatch is how many bytes of JSON the resources of a batch may have before one more.
const maxBatch = 32 << 20

// batch adds the details of several resources, with what is appended to each: an
// extension of the API. The ids are numbers, of movies IMDb ids too; a resource that is
// asked for several times is answered once. What does not exist is named in not_found.
func (c *composer) batch(p *part) error {
	q := p.q
	if len(q.IDs) == 0 {
		return &errNotFound // as the API answers the path
	}
	splice.Literal(&c.answer, `{"results":[`)
	asked, found := 0, 0
	done := map[string]bool{} // texts, and keys of resources
	var missing []byte
	for text := range bytes.SplitSeq(q.IDs, []byte(",")) {
		text = bytes.TrimSpace(text)
		if len(text) == 0 || done[string(text)] {
			continue
		}
		done[string(text)] = true
		if asked++; asked > route.MaxIDs {
			return &errParams
		}
		var ok bool
		if q.ID, q.Name, ok = route.ParseID(q.Kind, text); !ok {
			return &errParams
		}
		key, err := c.keyOf(q)
		if err != nil {
			return err
		}
		e, ok := p.rel.Lookup(key)
		if ok {
			key = e.Key()
		}
		if done[string(key)] {
			continue
		}
		done[string(key)] = true
		c.names = AppendPurge(append(c.names, ' '), key)
		if !ok {
			missing = appendID(append(missing, ','), q)
			continue
		}
		if found++; found > 1 {
			splice.Literal(&c.answer, ",")
		}
		if c.answer.RawLen() > maxBatch {
			return &errParams
		}
		if err := c.lease.atLeast(c.bytes()); err != nil {
			return err
		}
		c.id = e.ID()
		q.ID = fragment.ID(c.id) // that of the series whose seasons are appended
		if err := c.details(p, e); err != nil {
			return err
		}
	}
	splice.Literal(&c.answer, `],"not_found":[`)
	if len(missing) > 0 {
		splice.Literal(&c.answer, missing[1:])
	}
	splice.Literal(&c.answer, "]}")
	return nil
}

// appendID appends the id that a request names, as JSON. Names of movies are tt and digits.
func appendID(dst []byte, q *route.Request) []byte {
	if q.Name == nil {
		return strconv.AppendUint(dst, uint64(q.ID), 10)
	}
	return append(append(append(dst, '"'), q.Name...), '"')
}
