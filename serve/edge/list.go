package edge

import (
	"slices"
	"strconv"
	"sync"
	"time"
	_ "time/tzdata" // the machine may lack time zones

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
	"github.com/reelsplice/reelsplice/serve/query"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/splice"
	"github.com/reelsplice/reelsplice/serve/status"
)

// trendingPages is how many pages of trending there are at most, whatever the catalogue has.
const trendingPages = 500

// defaultTimezone is where days begin and end for lists of series, when a request names no
// other place.
const defaultTimezone = "America/New_York"

// list serves a page of resources of the whole catalogue.
func list(x *exchange, op *api.Operation) error {
	x.nameQuery(op)
	shape := pageShape{sub: fragment.SubRow}
	if err := runQuery(x, op, &shape); err != nil {
		return err
	}
	if err := x.c.page(&shape, &x.rows, x.q.Page); err != nil {
		return err
	}
	return x.finish()
}

// nameQuery gives the response of a query its names for caches.
func (x *exchange) nameQuery(op *api.Operation) {
	x.keys = append(append(x.keys, " "+QueryKey+" "+QueryKey+"-"...), op.Name...)
	x.rs.Keys = x.keys
}

// runQuery runs the query that an operation stands for, and adds to shape.
func runQuery(x *exchange, op *api.Operation, shape *pageShape) (err error) {
	q := &x.q
	var f query.Filter
	switch op.Answerer {
	case api.AnswerSearch:
		return search(x, op.Rows, shape)
	case api.AnswerTrending:
		return trending(x, op.Rows, shape)
	case api.AnswerPopular:
		shape.knownFor = op.Rows == fragment.KindPerson
		f = query.Popular(op.Rows)
	case api.AnswerTopRated:
		f = query.TopRated(op.Rows)
	case api.AnswerNowPlaying, api.AnswerUpcoming:
		shape.dated = true
		f, shape.window = query.InWindow(op.Answerer, op.Rows, today(x, nil), q.Region)
	case api.AnswerAiringToday, api.AnswerOnTheAir:
		var day int32
		day, err = dayIn(x, q.Timezone)
		f, _ = query.InWindow(op.Answerer, op.Rows, day, q.Region)
	case api.AnswerDiscover:
		f, err = query.ParseFilter(op.Rows, route.Each(q.Raw))
	case api.AnswerGenreMovies:
		shape.id = uint64(q.ID)
		f, err = genreMovies(q)
	}
	if err != nil {
		return err
	}
	if op.Rows == fragment.KindMovie && (op.Answerer == api.AnswerPopular || op.Answerer == api.AnswerTopRated) {
		f.ShowRegion(q.Region)
	}
	return x.queries().Discover(op.Rows, &f, int(q.Page), pageRows, &x.rows)
}

// queries returns the engine of the release. Inspect has none before it needs one.
func (x *exchange) queries() *query.Engine {
	if x.engine == nil {
		x.engine = query.Open(x.rel, 0)
	}
	return x.engine
}

// genreMovies returns the query of the movies of a genre, an old name of discover.
func genreMovies(q *route.Request) (query.Filter, error) {
	if !slices.Contains(reference.Genres(reference.Movie), int64(q.ID)) {
		return query.Filter{}, status.NotFound
	}
	return query.ParseFilter(fragment.KindMovie, func(yield func(name, value []byte) bool) {
		_ = yield([]byte("with_genres"), strconv.AppendUint(nil, uint64(q.ID), 10)) &&
			yield([]byte("include_adult"), strconv.AppendBool(nil, q.IncludeAdult))
	})
}

// zones are the time zones that were asked for. There are a few hundred names.
var zones sync.Map // string -> *time.Location

// dayIn returns the day that it is in a time zone.
func dayIn(x *exchange, zone []byte) (int32, error) {
	name := string(zone)
	if name == "" {
		name = defaultTimezone
	}
	loc, ok := zones.Load(name)
	if !ok {
		loaded, err := time.LoadLocation(name)
		if err != nil || name == "Local" {
			return 0, status.InvalidTimezone
		}
		loc = loaded
		zones.Store(name, loc)
	}
	return today(x, loc.(*time.Location)), nil
}

// today returns the day that it is at a place, nil for here. The response lasts until that day ends,
// unless it is the day of Options.Date.
func today(x *exchange, place *time.Location) int32 {
	if only := x.edge.opts.DateRelease; !x.edge.date.IsZero() && (only == "" || only == x.rs.Release) {
		return posting.DayAt(x.edge.date)
	}
	now := x.edge.opts.Now()
	if place != nil {
		now = now.In(place)
	}
	y, m, d := now.Date()
	left := time.Date(y, m, d+1, 0, 0, 0, 0, now.Location()).Sub(now)
	if left < x.edge.opts.MaxAge {
		x.rs.Cache = x.edge.opts.cacheControl(left)
	}
	return posting.DayAt(now)
}

// trending runs the query of the titles and people of the day or the week. Of several kinds, rows is 0.
func trending(x *exchange, rows fragment.Kind, shape *pageShape) error {
	q := &x.q
	shape.sub, shape.maxPages, shape.knownFor = fragment.SubMediaRow, trendingPages, rows == 0
	week := string(q.Name) == "week"
	if !week && string(q.Name) != "day" {
		return status.NotFound
	}
	return x.queries().Trending(rows, week, int(q.Page), pageRows, &x.rows)
}

// search runs a search by name. For several kinds, rows is 0.
func search(x *exchange, rows fragment.Kind, shape *pageShape) error {
	q := &x.q
	if len(q.Query) == 0 {
		return status.MissingQuery
	}
	fuzzy := x.edge.opts.FuzzySearch
	if q.HasFuzzy {
		fuzzy = q.Fuzzy
	}
	shape.knownFor = true
	if rows == 0 {
		shape.sub = fragment.SubMediaRow
	}
	return x.queries().Search(&query.Search{
		Kind: rows, Query: q.Query, IncludeAdult: q.IncludeAdult, Fuzzy: fuzzy, Region: q.Region,
		Year: int(q.Year), PrimaryYear: int(q.PrimaryYear), FirstAirYear: int(q.FirstAirYear),
	}, int(q.Page), pageRows, &x.rows)
}

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
