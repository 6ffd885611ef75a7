package query

import (
	"slices"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
	"github.com/reelsplice/reelsplice/serve/route"
)

// showDays sets the dates of rows, whose ranks are given, to the dates in f's region.
func (e *Engine) showDays(t *table, f *Filter, ranks []uint32, rows []Row) error {
	if f.region == (route.Country{}) || len(ranks) == 0 {
		return nil
	}
	key := append([]byte{keyRegion, byte(t.Kind)}, f.region[:]...)
	key = append(key, f.shownTypes...)
	h := e.cache.Get(key)
	if h == nil {
		var err error
		if h, err = t.regionDays(f); err != nil {
			return err
		}
		e.cache.Put(key, h, h.bytes())
	}
	for i, r := range ranks {
		if n, ok := slices.BinarySearch(h.ranks, r); ok {
			rows[i].Date = day.Day(h.days[n])
		}
	}
	return nil
}

// regionDays returns the ranks released in f's region, ascending, with the day to show: the earliest release there of
// the first of f's types with one, else of the theatrical types, else a premiere, else any. The lists are not in the
// order of ranks, so it reads all releases of the region; the result is cached.
func (t *table) regionDays(f *Filter) (*hits, error) {
	days := make([]int32, t.Rows)
	for i := range days {
		days[i] = posting.NoDay
	}
	// Groups of types in the order of preference. The last is any type, which includes dates of unknown type.
	var groups [][]uint8
	for _, typ := range f.shownTypes {
		groups = append(groups, []uint8{typ})
	}
	groups = append(groups, []uint8{limited, theatrical}, []uint8{premiere}, []uint8{anyType})
	n := 0
	decided, group := t.Pool.Get(), t.Pool.Get()
	defer t.Pool.Put(decided)
	defer t.Pool.Put(group)
	decided.Clear()
	for _, types := range groups {
		group.Clear()
		for _, typ := range types {
			l, _ := t.Dated(tables.Release).Find(tables.ReleaseKey(f.region[:], int(typ)))
			for i := range l.Len() {
				rank, day := l.Rank(i), l.Day(i)
				if int(rank) >= t.Rows {
					return nil, corrupt("release: rank %d of %d", rank, t.Rows)
				}
				if decided.Has(rank) {
					continue
				}
				if days[rank] == posting.NoDay {
					n++
				} else if days[rank] <= day {
					continue
				}
				days[rank] = day
				group.Add(rank)
			}
		}
		decided.Or(*group)
	}
	h := &hits{ranks: make([]uint32, 0, n), days: make([]int32, 0, n)}
	for r := decided.Next(0); r >= 0; r = decided.Next(r + 1) {
		h.ranks, h.days = append(h.ranks, uint32(r)), append(h.days, days[r])
	}
	return h, nil
}
