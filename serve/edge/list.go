package edge

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
	_ "time/tzdata" // the machine may lack time zones

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
	"github.com/reelsplice/reelsplice/serve/query"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/splice"
	"github.com/reelsplice/reelsplice/serve/status"
)

// Pages of titles and people are joined from rows, which a release stores once for each
// resource and language. Twenty rows deflated one by one take 1.7 times the bytes of a
// single pass, so pages are compressed as a whole. They are cached by entity tag: equal
// content has the same body in every release.

// pageRows is the number of rows of a page.
const pageRows = 20

// A pageShape describes a page around its rows.
type pageShape struct {
	sub      fragment.Sub // SubRow or SubMediaRow
	knownFor bool         // people have known_for
	id       uint64       // id before the page; 0 for none
	window   query.Window // dates before the page; zero for none
	maxPages int          // in total_pages at most; 0 for any number
}

// Lists of the whole catalogue. Their rows have the kind op.Rows.

func popular(x *exchange, op *api.Operation) error {
	f := query.Popular(op.Rows)
	f.ShowRegion(x.q.Region)
	return serveFilter(x, &f, pageShape{knownFor: true})
}

func topRated(x *exchange, op *api.Operation) error {
	f, err := queryEngine(x).TopRated(op.Rows)
	if err != nil {
		return err
	}
	f.ShowRegion(x.q.Region)
	return serveFilter(x, &f, pageShape{})
}

// inTheatres serves the movies of a window of days around today.
func inTheatres(x *exchange, op *api.Operation) error {
	f, window := query.InWindow(op.Answerer, op.Rows, today(x, nil), x.q.Region)
	return serveFilter(x, &f, pageShape{window: window})
}

// onAir serves the series of a window of days around today in the request's time zone.
func onAir(x *exchange, op *api.Operation) error {
	zone, err := zoneOf(x.q.Timezone)
	if err != nil {
		return err
	}
	f, _ := query.InWindow(op.Answerer, op.Rows, today(x, zone), x.q.Region)
	return serveFilter(x, &f, pageShape{})
}

func discover(x *exchange, op *api.Operation) error {
	f := query.ParseFilter(op.Rows, route.Each(x.q.Raw))
	return serveFilter(x, &f, pageShape{})
}

// genreMovies serves the movies of a genre, a predecessor of discover.
func genreMovies(x *exchange, _ *api.Operation) error {
	q := &x.q
	if !slices.Contains(reference.Genres(reference.Movie), int64(q.ID)) {
		return status.NotFound
	}
	f := query.ParseFilter(fragment.KindMovie, func(yield func(name, value []byte) bool) {
		_ = yield([]byte("with_genres"), strconv.AppendUint(nil, uint64(q.ID), 10)) &&
			yield([]byte("include_adult"), strconv.AppendBool(nil, q.IncludeAdult))
	})
	return serveFilter(x, &f, pageShape{id: uint64(q.ID)})
}

// trending serves the titles and people of the day or the week. op.Rows is 0 for several kinds.
func trending(x *exchange, op *api.Operation) error {
	q := &x.q
	week := string(q.Name) == "week"
	if !week && string(q.Name) != "day" {
		return status.NotFound
	}
	err := queryEngine(x).Trending(op.Rows, week, int(q.Page), pageRows, &x.rows)
	return servePage(x, err, pageShape{sub: fragment.SubMediaRow, maxPages: trendingPages, knownFor: op.Rows == 0})
}

// trendingPages bounds the pages of trending.
const trendingPages = 500

// search serves a search by name. op.Rows is 0 for several kinds.
func search(x *exchange, op *api.Operation) error {
	q := &x.q
	if len(q.Query) == 0 {
		return status.MissingQuery
	}
	err := queryEngine(x).Search(&query.Search{
		Kind: op.Rows, Query: q.Query, IncludeAdult: q.IncludeAdult, Fuzzy: q.Fuzzy, Region: q.Region,
		Year: int(q.Year), PrimaryYear: int(q.PrimaryYear), FirstAirYear: int(q.FirstAirYear),
	}, int(q.Page), pageRows, &x.rows)
	shape := pageShape{knownFor: true}
	if op.Rows == 0 {
		shape.sub = fragment.SubMediaRow
	}
	return servePage(x, err, shape)
}

// queryEngine returns the engine of the release. Inspect opens it on first use.
func queryEngine(x *exchange) *query.Engine {
	if x.engine == nil {
		x.engine = query.Open(x.rel, 0)
	}
	return x.engine
}

// defaultTimezone determines the days of lists of series if a request names no other
// time zone.
const defaultTimezone = "America/New_York"

// zones caches time zones. A few hundred names exist.
var zones sync.Map // string -> *time.Location

// zoneOf returns a time zone by its name.
func zoneOf(zone []byte) (*time.Location, error) {
	name := cmp.Or(string(zone), defaultTimezone)
	loc, ok := zones.Load(name)
	if !ok {
		loaded, err := time.LoadLocation(name)
		if err != nil || name == "Local" {
			return nil, status.InvalidTimezone
		}
		loc = loaded
		zones.Store(name, loc)
	}
	return loc.(*time.Location), nil
}

// today returns the current day at a place, nil for local time. The response expires with that day,
// unless it is the day of Options.Date.
func today(x *exchange, place *time.Location) day.Day {
	if id := x.edge.opts.DateRelease; !x.edge.date.IsZero() && (id == "" || id == x.rs.Release) {
		return day.Of(x.edge.date)
	}
	now := x.edge.opts.Now()
	if place != nil {
		now = now.In(place)
	}
	y, m, d := now.Date()
	if rest := time.Date(y, m, d+1, 0, 0, 0, 0, now.Location()).Sub(now); rest < x.edge.opts.MaxAge {
		x.rs.Cache = x.edge.opts.cacheControl(rest)
	}
	return day.Of(now)
}

// serveFilter serves a page of the resources that a filter finds.
func serveFilter(x *exchange, f *query.Filter, shape pageShape) error {
	err := queryEngine(x).Discover(f, int(x.q.Page), pageRows, &x.rows)
	return servePage(x, err, shape)
}

// servePage serves a page of x.rows. err is the error of their query.
func servePage(x *exchange, err error, shape pageShape) error {
	if err != nil {
		return err
	}
	s, res := &shape, &x.rows
	s.sub = cmp.Or(s.sub, fragment.SubRow)
	x.raiseClass(classPage)
	if x.prefetch {
		x.scratch.awaitRows(x.rel, s, res.Rows)
	}
	b := append(x.scratch.text[:0], '{')
	if s.window != (query.Window{}) {
		b = append(b, `"dates":{"maximum":"`...)
		b = append(s.window.To.AppendTo(b), `","minimum":"`...)
		b = append(s.window.From.AppendTo(b), `"},`...)
	}
	if s.id != 0 {
		b = append(strconv.AppendUint(append(b, `"id":`...), s.id, 10), ',')
	}
	b = strconv.AppendUint(append(b, `"page":`...), uint64(x.q.Page), 10)
	x.scratch.text = append(b, `,"results":[`...)
	splice.Literal(x.answer, x.scratch.text)
	for i := range res.Rows {
		if i > 0 {
			splice.Literal(x.answer, ",")
		}
		splice.Literal(x.answer, "{")
		row := &res.Rows[i]
		include := release.Include{Kind: row.Kind, ID: row.ID, Sub: s.sub}
		if row.Date != posting.NoDay && row.Kind == fragment.KindMovie {
			err = datedRow(x, &include, row.Date)
		} else {
			err = x.include(&include, 0)
		}
		if err == nil && s.knownFor && row.Kind == fragment.KindPerson {
			splice.Literal(x.answer, ",")
			include.Sub = fragment.SubKnownFor
			err = x.include(&include, 0)
		}
		if err != nil {
			return err
		}
		splice.Literal(x.answer, "}")
	}
	b = appendTotals(append(x.scratch.text[:0], ']'), res.Total, pageRows, s.maxPages)
	x.scratch.text = append(b, '}')
	splice.Literal(x.answer, x.scratch.text)
	return x.finish()
}

// pagesOf returns how many pages rows fill: one at least.
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

// releaseDate is the field of a movie's row that depends on the region.
var releaseDate = []byte(`"release_date":"`)

// datedRow adds the row of a movie with the release date of a region in place of the
// primary one. Inside a JSON string the quotes of releaseDate would be escaped, so it
// matches only the field.
func datedRow(x *exchange, i *release.Include, date day.Day) error {
	raw, err := x.composeJSON(func() error { return x.include(i, 0) })
	if err != nil {
		return err
	}
	start := bytes.Index(raw, releaseDate)
	if start < 0 {
		splice.Literal(x.answer, raw) // a row of an older shape
		return nil
	}
	start += len(releaseDate)
	length := bytes.IndexByte(raw[start:], '"')
	if length < 0 {
		return fmt.Errorf("%w: row of %s ends in its date", release.ErrCorrupt, *i)
	}
	x.scratch.row = append(date.AppendTo(append(x.scratch.row[:0], raw[:start]...)), raw[start+length:]...)
	splice.Literal(x.answer, x.scratch.row)
	return nil
}

// derivedRow adds a row without a fragment of its own, made from the fragments of sub-request from,
// in the request's language.
func derivedRow(x *exchange, i *release.Include, from fragment.Sub) error {
	source := *i
	source.Sub = from
	raw, err := x.composeJSON(func() error { return x.include(&source, 0) })
	if err != nil {
		return err
	}
	if x.scratch.row, err = fragment.AppendRow(x.scratch.row[:0], i.Kind, i.Sub, i.ID, raw); err != nil {
		return fmt.Errorf("%w: %s: %w", release.ErrCorrupt, *i, err)
	}
	if x.class == classPage { // the whole body will be compressed
		splice.Literal(x.answer, x.scratch.row)
		return nil
	}
	return x.deflate(x.scratch.row)
}

// The rows of a list are scattered over a release, and each takes three reads, one after another. A disk needs several
// milliseconds for a page of twenty rows, unless it reads for all rows in parallel. The waits are system calls: see
// faultWatch in package serve.

// awaitRows waits until the rows of a page are in memory.
func (s *scratch) awaitRows(rel *release.Reader, shape *pageShape, rows []query.Row) {
	s.includes = s.includes[:0]
	for i := range rows {
		s.includes = append(s.includes, release.Include{Kind: rows[i].Kind, ID: rows[i].ID, Sub: shape.sub})
	}
	s.await(rel)
}

// awaitIncludes waits until the fragments that a fragment includes are in memory.
func (s *scratch) awaitIncludes(rel *release.Reader, f *release.Fragment) {
	s.includes = s.includes[:0]
	var piece release.Piece
	pieces := f.Pieces()
	for pieces.Next(&piece) {
		if piece.Op == release.OpInclude {
			s.includes = append(s.includes, piece.Include)
		}
	}
	if len(s.includes) > 1 {
		s.await(rel)
	}
}

func (s *scratch) await(rel *release.Reader) {
	var key [fragment.MaxKeyLen]byte
	rel.AwaitKeys(len(s.includes), func(i int) []byte { return s.includes[i].AppendKey(key[:0]) })
}

// changeRows is how many rows a page of a list of changes has.
const changeRows = 100

// changesIn opens the changes of the release, and returns the window of the request.
func changesIn(x *exchange) (*changelog.Log, changelog.Window) {
	log, p := changelog.Open(x.rel), &x.q.Params
	days := changelog.Days{Start: int32(p.Start), End: int32(p.End), HasStart: p.HasStart, HasEnd: p.HasEnd}
	return log, log.Window(days, x.edge.opts.Now())
}

// addChanges adds the changes of a resource in the builds of the last days, after the opening
// brace. They depend on the clock.
func addChanges(x *exchange, k fragment.Kind, id uint64) error {
	x.raiseClass(classPage)
	log, window := changesIn(x)
	for piece, err := range log.Answer(k, id, window) {
		switch {
		case err != nil:
			return err
		case piece.Text != nil:
			splice.Literal(x.answer, piece.Text)
		default:
			x.answer.Segment(&piece.Segment)
		}
	}
	return nil
}

// changes serves a page of the resources of a kind that changed.
func changes(x *exchange, op *api.Operation) error {
	x.raiseClass(classPage)
	log, window := changesIn(x)
	rows, total := log.List(nil, op.Rows, window, int(x.q.Page), changeRows)
	b := append(x.scratch.text[:0], `{"results":[`...)
	for i := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = rows[i].AppendJSON(b)
	}
	b = strconv.AppendUint(append(b, `],"page":`...), uint64(x.q.Page), 10)
	x.scratch.text = append(appendTotals(b, total, changeRows, 0), '}')
	splice.Literal(x.answer, x.scratch.text)
	return x.finish()
}
