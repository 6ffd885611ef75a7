package serve

import (
	"strconv"
	"time"

	"reelsplice/schemas/api"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables/changelog"
	"reelsplice/serve/route"
	"reelsplice/serve/splice"
)

// changeRows is how many rows a page of a list of changes has.
const changeRows = 100

// changeLists are the operations that list what changed.
var changeLists = map[api.Op]fragment.Kind{
	api.OpChangesMovieList: fragment.KindMovie, api.OpChangesTvList: fragment.KindTV, api.OpChangesPeopleList: fragment.KindPerson,
}

// windowOf returns the time that a request for changes asks about.
func windowOf(log *changelog.Log, p *route.Params, now time.Time) changelog.Window {
	return log.Window(changelog.Days{
		Start: int32(p.Start), End: int32(p.End), HasStart: p.HasStart, HasEnd: p.HasEnd,
	}, now)
}

// clock returns the time by which changes are recent.
func (c *composer) clock() time.Time {
	c.timed = true
	if c.now == nil {
		return time.Now()
	}
	return c.now()
}

// changes adds what the builds of the last days changed of a resource, from behind the
// opening brace on.
func (c *composer) changes(p *part, k fragment.Kind, id uint64) error {
	log := changelog.Open(p.rel)
	for piece, err := range log.Answer(k, id, windowOf(log, &p.q.Params, c.clock())) {
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

// changeList adds a page of the resources of a kind that changed.
func (c *composer) changeList(rel *release.Reader, q *route.Request, k fragment.Kind) {
	c.pack = true
	log := changelog.Open(rel)
	rows, total := log.List(nil, k, windowOf(log, &q.Params, c.clock()), int(q.Page), changeRows)
	b := append(c.mark[:0], `{"results":[`...)
	for i := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = rows[i].AppendJSON(b)
	}
	b = strconv.AppendUint(append(b, `],"page":`...), uint64(q.Page), 10)
	c.mark = append(appendTotals(b, total, changeRows, 0), '}')
	splice.Literal(&c.answer, c.mark)
}
