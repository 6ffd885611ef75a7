package query

import (
	"cmp"
	"fmt"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/tables"
	"reelsplice/schemas/tables/posting"
)

// maxTrending is how many hits trending has at most.
const maxTrending = 10_000

// Trending fills out with a page of what is hottest in a day or a week; kind 0 is movies,
// series and people together, merged by their scores, then by popularity. Adult ones are
// left out. Pages are those of Discover.
func (e *Engine) Trending(kind fragment.Kind, week bool, page, size int, out *Result) error {
	out.reset()
	kinds := []fragment.Kind{kind}
	switch kind {
	case 0:
		kinds = []fragment.Kind{fragment.KindMovie, fragment.KindTV, fragment.KindPerson}
	case fragment.KindMovie, fragment.KindTV, fragment.KindPerson:
	default:
		return fmt.Errorf("trending: there is no order of %s", kind)
	}
	key := []byte{keyTrending, byte(kind), bits(week)}
	_, err := e.page(page, size, out, key, func(skip, limit int) (*hits, error) {
		h := &hits{}
		var trends []*trend
		for _, k := range kinds {
			t, err := e.table(k)
			if err != nil {
				return nil, err
			}
			if t == nil {
				continue
			}
			tr, err := t.trend(week)
			if err != nil {
				return nil, fmt.Errorf("trending %s: %w", k, err)
			}
			defer t.Pool.Put(tr.set)
			h.total += tr.set.Count()
			trends = append(trends, tr)
		}
		h.total = min(h.total, maxTrending)
		return h, h.merge(trends, skip, min(skip+limit, h.total))
	})
	return err
}

// merge sets the hits to numbers from to to-1.
func (h *hits) merge(trends []*trend, from, to int) error {
	for _, tr := range trends {
		if err := tr.next(); err != nil {
			return err
		}
	}
	for i := range to {
		var first *trend
		for _, tr := range trends {
			if tr.left && (first == nil || tr.hotter(first)) {
				first = tr
			}
		}
		if first == nil { // a damaged order
			return corrupt("trends: they end behind %d of %d", i, to)
		}
		if i >= from {
			h.ranks, h.tables = append(h.ranks, first.rank), append(h.tables, first.t)
		}
		if err := first.next(); err != nil {
			return err
		}
	}
	return nil
}

// A trend iterates over the ranks of one kind, the hottest first.
type trend struct {
	t     *table
	order *posting.Order
	score posting.Float64s
	set   *posting.Set // of all but adult ones
	place int          // behind the place of rank
	rank  uint32
	left  bool // rank is valid
}

// trend starts before the first rank. The set comes from t's pool.
func (t *table) trend(week bool) (*trend, error) {
	by := tables.TrendDay
	if week {
		by = tables.TrendWeek
	}
	tr := &trend{t: t, order: t.Order(by), score: t.Float64s(by), set: t.Pool.Get()}
	tr.set.Fill(t.Rows)
	if err := t.unflag(*tr.set, tables.Adult); err != nil {
		return nil, err
	}
	return tr, nil
}

// next goes to the next rank of the set.
func (tr *trend) next() error {
	for tr.left = false; !tr.left && tr.place < tr.t.Rows; tr.place++ {
		tr.rank = tr.order.At(tr.place)
		if int(tr.rank) >= tr.t.Rows {
			return corrupt("order of trends: rank %d of %d", tr.rank, tr.t.Rows)
		}
		tr.left = tr.set.Has(tr.rank)
	}
	return nil
}

// hotter reports whether tr's rank comes before o's.
func (tr *trend) hotter(o *trend) bool {
	return cmp.Or(cmp.Compare(tr.score.At(int(tr.rank)), o.score.At(int(o.rank))), cmp.Compare(tr.popularity(), o.popularity())) > 0
}

func (tr *trend) popularity() float64 { return tr.t.Float64s(tables.Popularity).At(int(tr.rank)) }
