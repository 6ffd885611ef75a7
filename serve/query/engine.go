package query

import (
	"errors"
	"fmt"
	"sync/atomic"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables/posting"
)

// A Row is one hit.
type Row struct {
	Kind fragment.Kind
	ID   uint64
	// Date is the release date to show, in days since 1970-01-01, in place of the one
	// that is stored with the row; posting.NoDay leaves that.
	Date int32
}

// A Result is one page of an answer.
type Result struct {
	Rows  []Row // of the page; none behind the last one
	Total int   // hits on all pages
}

// reset empties r for another answer and keeps its memory.
func (r *Result) reset() { r.Rows, r.Total = r.Rows[:0], 0 }

// DefaultCacheBytes is what Open allows for results that are kept.
const DefaultCacheBytes = 16 << 20

// An Engine answers queries over the tables of one release. Its methods may be called
// from several goroutines, as long as the release is open. Errors match
// release.ErrCorrupt, unless the caller is to blame.
type Engine struct {
	tables map[fragment.Kind]*table
	cache  *cache // nil: nothing is kept
}

// tableKinds are the kinds that can have a table.
var tableKinds = [...]fragment.Kind{
	fragment.KindMovie, fragment.KindTV, fragment.KindPerson,
	fragment.KindCollection, fragment.KindCompany, fragment.KindKeyword,
}

// Open returns an Engine over the tables of rel. It parses none of them: it takes the
// same time at any size. Kinds without a table have no hits.
func Open(rel *release.Reader) (*Engine, error) { return OpenCache(rel, DefaultCacheBytes) }

// OpenCache is Open with another bound, in bytes, on the results that are kept; 0 keeps
// none.
func OpenCache(rel *release.Reader, cacheBytes int) (*Engine, error) {
	e := &Engine{tables: map[fragment.Kind]*table{}}
	if cacheBytes > 0 {
		e.cache = newCache(cacheBytes)
	}
	for _, kind := range tableKinds {
		t, ok := rel.Table(kind.String())
		if !ok {
			continue
		}
		opened, err := openTable(kind, t, t.Rows())
		if err != nil {
			return nil, fmt.Errorf("open table %s: %w", kind, err)
		}
		e.tables[kind] = opened
	}
	return e, nil
}

// A table is one kind's table of the release. Ranks count its rows from the most
// popular one, 0, to rows-1.
type table struct {
	kind fragment.Kind
	rows int
	pool *posting.Pool // sets for rows ranks
	// usual has the ranks that are neither adult nor video; nil until they are asked for.
	usual atomic.Pointer[posting.Set]

	ids        checked[posting.Uint64s]
	popularity checked[posting.Float64s]

	// Of kinds that trend.
	trends [2]checked[posting.Order] // of the day, of the week
	scores [2]checked[posting.Float64s]

	// The flags are of all kinds, the rest of movies and series.
	lists    [listCount]checked[posting.Lists]
	ranges   [rangeCount]checked[posting.Range]
	orders   [orderCount]checked[posting.Order]
	releases checked[posting.Dated]

	names *names // nil: nothing is found by its name
}

// A checked is a view of sections that are checked when it is used for the first time, so
// that opening a release reads none of them.
type checked[T any] struct {
	view  T
	check release.SectionCheck
}

// use returns the view. It panics on damage: see release.Guard.
func (c *checked[T]) use() *T {
	c.check.Check()
	return &c.view
}

// A lazySource hands out sections that check is going to check.
type lazySource struct {
	posting.Source
	check *release.SectionCheck
}

// Section returns the bytes of a section, which are read behind the check alone, but for
// what tells whether all of it is there.
func (s lazySource) Section(name string) []byte {
	t, ok := s.Source.(*release.Table)
	if !ok {
		return s.Source.Section(name)
	}
	s.check.Add(t, name)
	return t.Unchecked(name)
}

// A listID is a section of lists that a filter can ask.
type listID uint8

const (
	flag listID = iota
	genre
	keyword
	company
	cast
	crew
	country
	language
	anyYear
	offer
	certification
	network // of series, as what follows
	status
	seriesType
	listCount
)

var listNames = [listCount]string{
	flag: posting.Flag, genre: posting.Genre, keyword: posting.Keyword, company: posting.Company, cast: posting.Cast,
	crew: posting.Crew, country: posting.Country, language: posting.Language, anyYear: posting.AnyYear,
	offer: posting.Offer, certification: posting.Certification, network: posting.Network, status: posting.Status,
	seriesType: posting.Type,
}

// A column is a range that a filter can ask.
type column uint8

const (
	day column = iota
	firstDay
	lastDay
	voteAverage
	voteCount
	runtime
	seasons // of series, as what follows
	episodes
	rangeCount
)

var rangeNames = [rangeCount]string{
	day: posting.Day, firstDay: posting.FirstDay, lastDay: posting.LastDay, voteAverage: posting.VoteAverage,
	voteCount: posting.VoteCount, runtime: posting.Runtime, seasons: posting.Seasons, episodes: posting.Episodes,
}

// Orders without a column.
const (
	title = iota
	originalTitle
	revenue // of movies
	orderCount
)

var orderNames = [orderCount]string{posting.Title, posting.OriginalTitle, posting.Revenue}

// openTable opens the sections of s, which has that many rows.
func openTable(kind fragment.Kind, s posting.Source, rows int) (*table, error) {
	t := &table{kind: kind, rows: rows, pool: posting.NewPool(rows)}
	err := errors.Join(
		open(&t.ids, s, posting.ID, rows, posting.OpenUint64s),
		open(&t.popularity, s, posting.Popularity, rows, posting.OpenFloat64s),
		open(&t.lists[flag], s, posting.Flag, rows, posting.OpenLists),
	)
	switch kind {
	case fragment.KindMovie:
		err = errors.Join(err, t.openTrends(s), t.openTitles(s, int(network), int(seasons), orderCount))
	case fragment.KindTV:
		err = errors.Join(err, t.openTrends(s), t.openTitles(s, int(listCount), int(rangeCount), revenue))
	case fragment.KindPerson:
		err = errors.Join(err, t.openTrends(s))
	}
	if err != nil {
		return nil, err
	}
	if t.names, err = openNames(t, s); err != nil {
		return nil, err
	}
	return t, nil
}

// open opens one section into dst.
func open[T any](
	dst *checked[T], s posting.Source, name string, rows int, fn func(posting.Source, string, int) (T, error),
) (err error) {
	dst.view, err = fn(lazySource{s, &dst.check}, name, rows)
	return err
}

func (t *table) openTrends(s posting.Source) error {
	return errors.Join(
		open(&t.trends[0], s, posting.TrendDay, t.rows, posting.OpenOrder),
		open(&t.trends[1], s, posting.TrendWeek, t.rows, posting.OpenOrder),
		open(&t.scores[0], s, posting.TrendDay, t.rows, posting.OpenFloat64s),
		open(&t.scores[1], s, posting.TrendWeek, t.rows, posting.OpenFloat64s),
	)
}

// openTitles opens what movies and series have: the first few of the lists, the ranges and
// the orders.
func (t *table) openTitles(s posting.Source, lists, ranges, orders int) error {
	var errs []error
	for i := int(genre); i < lists; i++ {
		errs = append(errs, open(&t.lists[i], s, listNames[i], t.rows, posting.OpenLists))
	}
	for i := range ranges {
		errs = append(errs, open(&t.ranges[i], s, rangeNames[i], t.rows, func(s posting.Source, name string, rows int) (posting.Range, error) {
			return posting.OpenRange(s, name, rows, t.pool)
		}))
	}
	for i := range orders {
		errs = append(errs, open(&t.orders[i], s, orderNames[i], t.rows, posting.OpenOrder))
	}
	errs = append(errs, open(&t.releases, s, posting.Release, t.rows, posting.OpenDated))
	return errors.Join(errs...)
}

// Discover fills out with a page of what f finds among the resources of a kind. Pages
// count from 1 and have size rows; behind the last page there are none. f must be for
// that kind.
func (e *Engine) Discover(kind fragment.Kind, f *Filter, page, size int, out *Result) error {
	out.reset()
	if f.kind != kind {
		return fmt.Errorf("discover %s: the filter is for %s", kind, f.kind)
	}
	t := e.tables[kind]
	if t == nil {
		return nil
	}
	key := f.AppendKey(append(make([]byte, 0, 256), keyDiscover))
	ranks, err := e.page(page, size, out, key, func(skip, limit int) (*hits, error) { return t.find(f, skip, limit) })
	if err == nil {
		err = e.showDays(t, f, ranks, out.Rows)
	}
	if err != nil {
		return fmt.Errorf("discover %s: %w", kind, err)
	}
	return nil
}

// How many hits of a result are kept: enough for 50 pages, which most never leave, or for
// 500 once somebody has.
const (
	firstKept = 1000
	maxKept   = 10_000
)

// What kept results are of: the first byte of their keys.
const (
	keyDiscover = 'd'
	keyTrending = 't'
	keyRegion   = 'r'
)

// hits are the first or some of the hits of a query.
type hits struct {
	tables []*table // whose ranks: one table, or one for each rank
	ranks  []uint32
	days   []int32 // of the dates of a region: those of the ranks
	total  int     // of all hits
}

// page fills out with a page of the hits that find returns, limit of them from the one
// with the number skip on, and returns the ranks of its rows. The first ones are kept by
// the key.
func (e *Engine) page(page, size int, out *Result, key []byte, find func(skip, limit int) (*hits, error)) ([]uint32, error) {
	if page < 1 || size < 1 || page > maxRank/size {
		return nil, fmt.Errorf("page %d of %d rows: there is none", page, size)
	}
	skip := (page - 1) * size
	if e.cache == nil {
		h, err := find(skip, size)
		if err != nil {
			return nil, err
		}
		return out.take(h, 0, size), nil
	}
	h := e.cache.get(key)
	for _, limit := range [...]int{firstKept, maxKept} {
		enough := skip+size <= limit
		if h == nil && (enough || limit == maxKept) || h != nil && enough && h.lacks(skip, size) {
			var err error
			if h, err = find(0, limit); err != nil {
				return nil, err
			}
			e.cache.put(key, h)
		}
	}
	if !h.lacks(skip, size) {
		return out.take(h, skip, size), nil
	}
	deep, err := find(skip, size)
	if err != nil {
		return nil, err
	}
	return out.take(deep, 0, size), nil
}

// lacks tells whether there are more hits on a page than those in h, from the first on.
func (h *hits) lacks(skip, size int) bool {
	return skip < h.total && len(h.ranks) < min(h.total, skip+size)
}

// maxRank is behind all ranks.
const maxRank = 1 << 32

// take takes over some hits of h, and returns their ranks.
func (r *Result) take(h *hits, skip, size int) []uint32 {
	r.Total = h.total
	skip = min(skip, len(h.ranks))
	ranks := h.ranks[skip:min(skip+size, len(h.ranks))]
	for i, rank := range ranks {
		t := h.tables[min(skip+i, len(h.tables)-1)]
		r.Rows = append(r.Rows, Row{Kind: t.kind, ID: t.ids.use().At(int(rank)), Date: posting.NoDay})
	}
	return ranks
}
