package query

import (
	"cmp"
	"fmt"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// maxTrending bounds the hits of trending.
const maxTrending = 10_000

// Trending fills out with a page of the hottest resources of a day or a week. Kind 0 is
// movies, series and people together, merged by their scores, then by popularity. Adult
// ones are left out. Pages work as in Discover.
func (e *Engine) Trending(kind fragment.Kind, week bool, page, size int, out *Result) error {
	out.reset()
	kinds := kindsOf(kind)
	key := []byte{keyTrending, byte(kind), bits(week)}
	_, err := e.page(page, size, out, key, func(limit int) (*hits, error) {
		h := &hits{}
		var trends []*stream
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
		return h, merge(trends, 0, min(limit, h.total), func(s *stream) {
			h.ranks, h.tables = append(h.ranks, s.rank), append(h.tables, s.t)
		})
	})
	return err
}

// trend returns the hottest resources of a kind without adult ones, or the most popular if the
// release has no scores. The set comes from t's pool.
func (t *table) trend(week bool) (*stream, error) {
	column := tables.TrendDay
	if week {
		column = tables.TrendWeek
	}
	s := &stream{t: t, score: t.Float64s(tables.Popularity), set: t.Pool.Get()}
	if t.Has(column) {
		s.order, s.score = t.Order(column), t.Float64s(column)
	}
	s.set.Fill(t.Rows)
	return s, t.unflag(*s.set, tables.Adult)
}

// A stream iterates over the ranks of a set by descending score.
type stream struct {
	t     *table
	order *posting.Order // by score; nil for the order of ranks, by popularity
	score posting.Float64s
	set   *posting.Set
	place int    // place after rank's
	rank  uint32 // valid until the end
	ended bool
}

// next moves to the next rank of the set.
func (s *stream) next() error {
	if s.order == nil {
		r := s.set.Next(s.place)
		s.rank, s.place, s.ended = uint32(r), r+1, r < 0
		return nil
	}
	for ; s.place < s.t.Rows; s.place++ {
		s.rank = s.order.At(s.place)
		if int(s.rank) >= s.t.Rows {
			return corrupt("order of trends: rank %d of %d", s.rank, s.t.Rows)
		}
		if s.set.Has(s.rank) {
			s.place++
			return nil
		}
	}
	s.ended = true
	return nil
}

// hotter reports whether s's rank comes before o's.
func (s *stream) hotter(o *stream) bool {
	return cmp.Or(cmp.Compare(s.score.At(int(s.rank)), o.score.At(int(o.rank))), cmp.Compare(s.popularity(), o.popularity())) > 0
}

func (s *stream) popularity() float64 { return s.t.Float64s(tables.Popularity).At(int(s.rank)) }

// merge calls add for up to limit ranks of new streams by score, after the first skip.
func merge(streams []*stream, skip, limit int, add func(s *stream)) error {
	for _, s := range streams {
		if err := s.next(); err != nil {
			return err
		}
	}
	for i := range skip + limit {
		var first *stream
		for _, s := range streams {
			if !s.ended && (first == nil || s.hotter(first)) {
				first = s
			}
		}
		if first == nil {
			return nil
		}
		if i >= skip {
			add(first)
		}
		if err := first.next(); err != nil {
			return err
		}
	}
	return nil
}
