package query

import (
	"slices"

	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/serve/route"
)

// answerable returns f without conditions and an order on columns that t lacks, because an older
// program wrote it. Popularity replaces an absent order.
func (t *table) answerable(f *Filter) *Filter {
	lacks := func(c tables.ColumnID) bool { return !t.Has(c) }
	if !slices.ContainsFunc(tables.Columns(t.Kind), func(c *tables.Column) bool { return lacks(c.ID) }) {
		return f
	}
	known := *f
	if lacks(f.sort) {
		known.sort, known.descending = tables.Popularity, true
	}
	for c := range known.ranges {
		if lacks(tables.ColumnID(c)) {
			known.ranges[c] = bounds{}
		}
	}
	// Any of several columns suffices: with_people finds the cast if the crew is absent.
	left := func(terms []term) []term {
		return slices.DeleteFunc(slices.Clone(terms), func(l term) bool { return lacks(l.list) })
	}
	known.must, known.not = nil, left(f.not)
	for _, clause := range f.must {
		if l := left(clause); len(l) > 0 || len(clause) == 0 { // an empty clause matches nothing
			known.must = append(known.must, l)
		}
	}
	days := []tables.ColumnID{tables.Release, tables.FirstDay, tables.LastDay}
	if f.region != (route.Country{}) {
		days = days[:1]
	}
	if slices.ContainsFunc(days, lacks) {
		known.released, known.types = bounds{}, nil
	}
	return &known
}
