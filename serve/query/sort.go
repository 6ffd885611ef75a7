package query

import (
	"fmt"
	"sort"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// corrupt returns an error about a table.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", release.ErrCorrupt, fmt.Sprintf(format, args...))
}

// firstRanks collects up to limit ranks.
type firstRanks struct {
	limit int
	ranks []uint32
}

// add adds the next rank. It returns false once there are limit.
func (w *firstRanks) add(rank uint32) bool {
	w.ranks = append(w.ranks, rank)
	return len(w.ranks) < w.limit
}

// walkPart bounds a walk over the places of an order to one walkPart-th of them. Looking up the
// places of all hits is cheaper than a longer walk.
const walkPart = 8

// collect adds the count ranks of set to w in the order of f. It walks over the order first: many hits that are spread
// evenly are found soon.
func (t *table) collect(f *Filter, set posting.Set, count int, w *firstRanks) error {
	s := sorter{set: set, rows: t.Rows, steps: t.Rows / walkPart}
	missing := 0 // resources without a value
	switch f.sort.Column().Type {
	case tables.Range:
		s.column = t.Range(f.sort)
		s.order = &s.column.Order
		var err error
		if missing, err = s.column.Count(posting.NoDay, posting.NoDay); err != nil {
			return err
		}
	case tables.NumberOrder, tables.TextOrder:
		s.order = t.Order(f.sort)
	default:
		byRank(set, f.descending, w)
		return nil
	}
	if w.limit <= count/walkPart {
		if s.run(missing, f.descending, w); s.err != nil || s.steps > 0 {
			return s.err
		}
		w.ranks = w.ranks[:0]
	}
	places := t.Pool.Get()
	defer t.Pool.Put(places)
	if err := s.findPlaces(*places); err != nil {
		return err
	}
	s.run(missing, f.descending, w)
	return s.err
}

// byRank adds the ranks of set by popularity.
func byRank(set posting.Set, descending bool, w *firstRanks) {
	if descending {
		for r := set.Next(0); r >= 0 && w.add(uint32(r)); {
			r = set.Next(r + 1)
		}
		return
	}
	for r := set.Prev(len(set) * 64); r >= 0 && w.add(uint32(r)); {
		r = set.Prev(r - 1)
	}
}

// A sorter iterates over the hits of set by their places.
type sorter struct {
	set    posting.Set
	rows   int
	order  *posting.Order
	column *posting.Range // nil if the order has no equal values
	places posting.Set    // places of the hits; nil before they are looked up
	steps  int            // places that a walk may still visit
	err    error
}

// run adds the hits to w. Hits without a value have the first places, but come last.
func (s *sorter) run(missing int, descending bool, w *firstRanks) {
	if descending {
		s.descend(w)
	} else if s.ascend(missing, s.rows, w) {
		s.ascend(0, missing, w)
	}
}

// rankAt returns the rank at a place.
func (s *sorter) rankAt(place int) uint32 {
	rank := s.order.At(place)
	if int(rank) >= s.rows {
		s.err = corrupt("order: rank %d of %d", rank, s.rows)
		return 0
	}
	return rank
}

// findPlaces fills places with the places of the hits.
func (s *sorter) findPlaces(places posting.Set) error {
	places.Clear()
	for r := s.set.Next(0); r >= 0; r = s.set.Next(r + 1) {
		if r >= s.rows {
			return corrupt("rank %d of %d", r, s.rows)
		}
		place := s.order.Place(uint32(r))
		if place >= s.rows {
			return corrupt("order: place %d of %d", place, s.rows)
		}
		places.Add(uint32(place))
	}
	s.places = places
	return nil
}

// ascend adds the hits at the places [from, to). It returns false when w is full.
func (s *sorter) ascend(from, to int, w *firstRanks) bool {
	if s.places == nil {
		return s.walk(from, to, w)
	}
	for p := s.places.Next(from); p >= 0 && p < to; p = s.places.Next(p + 1) {
		if r := s.rankAt(p); s.err != nil || !w.add(r) {
			return false
		}
	}
	return true
}

// walk is ascend without the places of the hits.
func (s *sorter) walk(from, to int, w *firstRanks) bool {
	end := min(to, from+s.steps)
	s.steps -= end - from
	for p := from; p < end; p++ {
		r := s.rankAt(p)
		if s.err != nil {
			return false
		}
		if s.set.Has(r) && !w.add(r) {
			s.steps = max(s.steps, 1)
			return false
		}
	}
	return s.steps > 0
}

// descend adds the hits from the last place to the first. Equal values stay in the order of ranks.
func (s *sorter) descend(w *firstRanks) {
	for end := s.rows - 1; end >= 0 && s.err == nil; end-- {
		if s.places != nil {
			if end = s.places.Prev(end); end < 0 {
				return
			}
		}
		start := s.firstEqual(end)
		if s.err != nil || !s.ascend(start, end+1, w) {
			return
		}
		end = start
	}
}

// firstEqual returns the first place with the same value as place.
func (s *sorter) firstEqual(place int) int {
	if s.column == nil {
		return place
	}
	v := s.column.Value(s.rankAt(place))
	equal := func(p int) bool { return s.column.Value(s.rankAt(p)) == v }
	if place == 0 || !equal(place-1) {
		return place
	}
	step := 1
	for place-step >= 0 && equal(place-step) {
		step *= 2
	}
	low := max(place-step, -1) // its value differs
	return low + 1 + sort.Search(place-low-1, func(i int) bool { return equal(low + 1 + i) })
}
