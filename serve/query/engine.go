package query

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
	"github.com/reelsplice/reelsplice/serve/lru"
)

// A Row is one hit.
type Row struct {
	Kind fragment.Kind
	ID   uint64
	Date day.Day // to show in place of the row's release date; posting.NoDay keeps it
}

// A Result is one page of hits.
type Result struct {
	Rows  []Row // rows of the page; empty after the last page
	Total int   // hits on all pages
}

// reset empties r and keeps its memory.
func (r *Result) reset() { r.Rows, r.Total = r.Rows[:0], 0 }

// DefaultCacheBytes is the usual size of the cache of results.
const DefaultCacheBytes = 16 << 20

// An Engine runs queries over the tables of one release. Its methods may be called from
// several goroutines, as long as the release is open. Errors match release.ErrCorrupt.
type Engine struct {
	tables    map[fragment.Kind]*table
	tableErrs map[fragment.Kind]error // errors of kinds whose table is left out
	cache     *lru.Cache[*hits]       // cached results; nil for no cache
}

// Open returns an Engine over the tables of rel with a cache of cacheBytes for results, 0 for none. It
// takes constant time. Kinds without a table have no hits. An unusable table is left out: only
// queries over it fail, see Err.
func Open(rel *release.Reader, cacheBytes int) *Engine {
	e := &Engine{tables: map[fragment.Kind]*table{}, tableErrs: map[fragment.Kind]error{}}
	if cacheBytes > 0 {
		e.cache = lru.New[*hits](cacheBytes)
	}
	for _, kind := range tables.Kinds {
		e.tableErrs[kind] = release.Guard(func() error {
			t, err := tables.Open(rel, kind)
			if t != nil {
				e.tables[kind] = &table{Table: t}
			}
			return err
		})
	}
	return e
}

// Err returns why tables are left out, or nil. Queries over the other tables work.
func (e *Engine) Err() error {
	var errs []error
	for _, kind := range tables.Kinds {
		errs = append(errs, e.tableErrs[kind])
	}
	return errors.Join(errs...)
}

// Warm reads and checks up to limit bytes that every search needs: otherwise the first search waits for all ids and
// names of its kinds.
func (e *Engine) Warm(ctx context.Context, limit int64) {
	for _, kind := range tables.Kinds {
		if t := e.tables[kind]; t != nil && ctx.Err() == nil {
			_ = release.Guard(func() error { limit = t.Warm(limit); return nil }) // the release reports damage
		}
	}
}

// table returns the table of a kind. It is nil, without an error, if the release has no such table.
func (e *Engine) table(kind fragment.Kind) (*table, error) { return e.tables[kind], e.tableErrs[kind] }

// A table is one kind's table and a cached set.
type table struct {
	*tables.Table
	// unflagged has the ranks that are neither adult nor video; nil before the first use.
	unflagged atomic.Pointer[posting.Set]
}

// Discover fills out with a page of the hits of f. Pages count from 1 and have size rows; pages after the last one are
// empty.
func (e *Engine) Discover(f *Filter, page, size int, out *Result) error {
	out.reset()
	t, err := e.table(f.kind)
	if t == nil {
		return err
	}
	f = t.supported(f)
	key := f.appendKey(append(make([]byte, 0, 256), keyDiscover))
	ranks, err := e.page(page, size, out, key, func(limit int) (*hits, error) { return t.find(f, limit) })
	if err == nil {
		err = e.showDays(t, f, ranks, out.Rows)
	}
	if err != nil {
		return fmt.Errorf("discover %s: %w", f.kind, err)
	}
	return nil
}

// Lookups returns the hits and the misses of the cache of results so far.
func (e *Engine) Lookups() (hits, misses uint64) { return e.cache.Lookups() }

// firstCached is the number of cached hits of a result: 50 pages, which are enough for most clients. For deeper pages,
// ten times as many are cached. Tests lower it.
var firstCached = 1000

// The first byte of keys in the cache: the kind of query.
const (
	keyDiscover = 'd'
	keyTrending = 't'
	keyRegion   = 'r'
)

// hits are the first or some of the hits of a query.
type hits struct {
	tables []*table // tables of the ranks: one for all, or one for each
	ranks  []uint32
	days   []int32 // date in a region of each rank
	total  int     // number of all hits
}

// bytes returns the approximate memory of h.
func (h *hits) bytes() int { return 4*cap(h.ranks) + 4*cap(h.days) + 8*cap(h.tables) }

// page fills out with a page of hits, and returns the ranks of its rows. find returns up to limit
// hits, which are cached by key.
func (e *Engine) page(page, size int, out *Result, key []byte, find func(limit int) (*hits, error)) ([]uint32, error) {
	skip := (page - 1) * size
	h := e.cache.Get(key)
	if h == nil || skip < h.total && len(h.ranks) < min(h.total, skip+size) {
		limit := firstCached
		for limit < skip+size {
			limit *= 10
		}
		var err error
		if h, err = find(limit); err != nil {
			return nil, err
		}
		e.cache.Put(key, h, h.bytes())
	}
	out.Total = h.total
	skip = min(skip, len(h.ranks))
	ranks := h.ranks[skip:min(skip+size, len(h.ranks))]
	for i, rank := range ranks {
		t := h.tables[min(skip+i, len(h.tables)-1)]
		out.Rows = append(out.Rows, Row{Kind: t.Kind, ID: t.Uint64s(tables.ID).At(int(rank)), Date: posting.NoDay})
	}
	return ranks, nil
}
