package edge

import (
	"strconv"
	"time"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/splice"
)

// changeRows is how many rows a page of a list of changes has.
const changeRows = 100

// windowOf returns the time that a request for changes asks about.
func windowOf(log *changelog.Log, p *route.Params, now time.Time) changelog.Window {
	return log.Window(changelog.Days{
		Start: int32(p.Start), End: int32(p.End), HasStart: p.HasStart, HasEnd: p.HasEnd,
	}, now)
}

// addChanges adds the changes that the builds of the last days made to a resource, from behind the
// opening brace on. They depend on the clock.
func addChanges(c *composer, k fragment.Kind, id uint64) error {
	c.atLeast(Page)
	log := changelog.Open(c.rel)
	for piece, err := range log.Answer(k, id, windowOf(log, &c.q.Params, c.now())) {
		switch {
		case err != nil:
			return err
		case piece.Text != nil:
			splice.Literal(&c.answer, piece.Text)
		default:
			c.answer.Segment(piece.Segment)
		}
	}
	return nil
}

// changeList serves a page of the resources of a kind that changed.
func changeList(x *exchange, op *api.Operation) error {
	x.nameQuery(op)
	c := &x.c
	c.atLeast(Page)
	log := changelog.Open(x.rel)
	rows, total := log.List(nil, op.Rows, windowOf(log, &x.q.Params, x.edge.opts.Now()), int(x.q.Page), changeRows)
	b := append(c.scratch.mark[:0], `{"results":[`...)
	for i := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = rows[i].AppendJSON(b)
	}
	b = strconv.AppendUint(append(b, `],"page":`...), uint64(x.q.Page), 10)
	c.scratch.mark = append(appendTotals(b, total, changeRows, 0), '}')
	splice.Literal(&c.answer, c.scratch.mark)
	return x.finish()
}
