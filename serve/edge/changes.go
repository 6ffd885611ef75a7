package edge

import (
	"strconv"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
	"github.com/reelsplice/reelsplice/serve/splice"
)

// changeRows is how many rows a page of a list of changes has.
const changeRows = 100

// changesIn opens the changes of the release, and returns the window of the request.
func (c *composer) changesIn() (*changelog.Log, changelog.Window) {
	log, p := changelog.Open(c.rel), &c.q.Params
	days := changelog.Days{Start: int32(p.Start), End: int32(p.End), HasStart: p.HasStart, HasEnd: p.HasEnd}
	return log, log.Window(days, c.now())
}

// addChanges adds the changes of a resource in the builds of the last days, after the opening
// brace. They depend on the clock.
func addChanges(c *composer, k fragment.Kind, id uint64) error {
	c.raise(Page)
	log, window := c.changesIn()
	for piece, err := range log.Answer(k, id, window) {
		switch {
		case err != nil:
			return err
		case piece.Text != nil:
			splice.Literal(c.answer, piece.Text)
		default:
			c.answer.Segment(&piece.Segment)
		}
	}
	return nil
}

// changes serves a page of the resources of a kind that changed.
func changes(x *exchange, op *api.Operation) error {
	c := &x.c
	c.raise(Page)
	log, window := c.changesIn()
	rows, total := log.List(nil, op.Rows, window, int(x.q.Page), changeRows)
	b := append(c.scratch.mark[:0], `{"results":[`...)
	for i := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = rows[i].AppendJSON(b)
	}
	b = strconv.AppendUint(append(b, `],"page":`...), uint64(x.q.Page), 10)
	c.scratch.mark = append(appendTotals(b, total, changeRows, 0), '}')
	splice.Literal(c.answer, c.scratch.mark)
	return x.finish()
}
