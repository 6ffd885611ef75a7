package query

import (
	"slices"

	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
	"github.com/reelsplice/reelsplice/serve/route"
)

// find returns up to limit hits of f.
func (t *table) find(f *Filter, limit int) (*hits, error) {
	set := t.Pool.Get()
	defer t.Pool.Put(set)
	if err := t.eval(f, *set); err != nil {
		return nil, err
	}
	h := &hits{tables: []*table{t}, total: set.Count()}
	if h.total == 0 {
		return h, nil
	}
	first := firstRanks{limit: min(limit, h.total)}
	first.ranks = make([]uint32, 0, first.limit)
	if err := t.collect(f, *set, h.total, &first); err != nil {
		return nil, err
	}
	h.ranks = first.ranks
	return h, nil
}

// eval sets set to the ranks that match f. Cheap and selective conditions come first: it stops as soon as the set is
// empty.
func (t *table) eval(f *Filter, set posting.Set) error {
	if err := t.fill(f, set); err != nil {
		return err
	}
	for c := range f.ranges {
		if err := t.keepInRange(f, tables.ColumnID(c), set); err != nil {
			return err
		}
	}
	for _, clause := range f.required {
		if set.Next(0) < 0 {
			return nil
		}
		if err := t.any(clause, set, posting.Set.And); err != nil {
			return err
		}
	}
	if len(f.excluded) > 0 && set.Next(0) >= 0 {
		if err := t.any(f.excluded, set, posting.Set.AndNot); err != nil {
			return err
		}
	}
	if set.Next(0) < 0 {
		return nil
	}
	if f.region != (route.Country{}) {
		return t.keepReleasedIn(f, set)
	}
	return t.keepReleased(f.released, set)
}

// fill sets set to all ranks but the flagged ones that f excludes. Most queries exclude both flags: these ranks are
// computed once.
func (t *table) fill(f *Filter, set posting.Set) error {
	if unflagged := t.unflagged.Load(); unflagged != nil && !f.adult && !f.video {
		copy(set, *unflagged)
		return nil
	}
	set.Fill(t.Rows)
	switch {
	case f.adult && f.video:
		return nil
	case f.video:
		return t.unflag(set, tables.Adult)
	case f.adult:
		return t.unflag(set, tables.Video)
	}
	err := t.unflag(set, tables.Adult, tables.Video)
	if err == nil {
		unflagged := slices.Clone(set)
		t.unflagged.Store(&unflagged)
	}
	return err
}

// unflag removes the ranks that have one of the flags.
func (t *table) unflag(set posting.Set, flags ...uint64) error {
	return t.any(termsOf(flags, tables.Flag), set, posting.Set.AndNot)
}

// any combines set with the union of the lists of terms.
func (t *table) any(terms []term, set posting.Set, combine func(set, found posting.Set)) error {
	found := t.Pool.Get()
	defer t.Pool.Put(found)
	found.Clear()
	for _, term := range terms {
		l, ok := t.Lists(term.list).Find(term.key)
		if !ok {
			continue
		}
		if err := l.AddTo(*found); err != nil {
			return err
		}
	}
	combine(set, *found)
	return nil
}

// keepInRange removes the ranks whose value in a column is outside f's bounds.
func (t *table) keepInRange(f *Filter, c tables.ColumnID, set posting.Set) error {
	b := f.ranges[c]
	if !b.set {
		return nil
	}
	r := t.Range(c)
	if c != tables.Day || !f.allowUndated {
		return r.And(set, b.lo, b.hi)
	}
	undated := t.Pool.Get()
	defer t.Pool.Put(undated)
	copy(*undated, set)
	if err := r.And(*undated, posting.NoDay, posting.NoDay); err != nil {
		return err
	}
	if err := r.And(set, b.lo, b.hi); err != nil {
		return err
	}
	set.Or(*undated)
	return nil
}

// keepReleasedIn removes the ranks without a release of f's types and days in its region.
func (t *table) keepReleasedIn(f *Filter, set posting.Set) error {
	b := f.released
	if !b.set && len(f.types) == 0 {
		return nil
	}
	b.init()
	types := f.types
	if len(types) == 0 {
		types = []typeSet{anyTypes}
	}
	var ranks [maxType + 1]*posting.Set // by type
	defer func() {
		for _, s := range ranks {
			if s != nil {
				t.Pool.Put(s)
			}
		}
	}()
	found := t.Pool.Get()
	defer t.Pool.Put(found)
	for _, group := range types {
		found.Clear()
		for typ := range ranks {
			if !group.contains(typ) {
				continue
			}
			if ranks[typ] == nil {
				ranks[typ] = t.Pool.Get()
				ranks[typ].Clear()
				l, _ := t.Dated(tables.Release).Find(tables.ReleaseKey(f.region[:], typ))
				if err := l.Between(b.lo, b.hi).AddTo(*ranks[typ]); err != nil {
					return err
				}
			}
			found.Or(*ranks[typ])
		}
		set.And(*found)
	}
	return nil
}

// keepReleased removes the ranks without a day of release, anywhere, or an episode within b.
func (t *table) keepReleased(b bounds, set posting.Set) error {
	switch {
	case !b.set:
		return nil
	case b.lo == posting.NoDay+1: // the first day decides
		return t.Range(tables.FirstDay).And(set, b.lo, b.hi)
	case b.hi == posting.MaxValue:
		return t.Range(tables.LastDay).And(set, b.lo, b.hi)
	}
	found := t.Pool.Get()
	defer t.Pool.Put(found)
	found.Clear()
	l, _ := t.Dated(tables.Release).Find(tables.ReleaseKey("", anyType))
	if err := l.Between(b.lo, b.hi).AddTo(*found); err != nil {
		return err
	}
	set.And(*found)
	return nil
}

// supported returns f without conditions and an order on columns that t lacks, because an older
// program wrote it. Popularity replaces an absent order.
func (t *table) supported(f *Filter) *Filter {
	lacks := func(c tables.ColumnID) bool { return !t.Has(c) }
	if !slices.ContainsFunc(tables.Columns(t.Kind), func(c *tables.Column) bool { return lacks(c.ID) }) {
		return f
	}
	reduced := *f
	if lacks(f.sort) {
		reduced.sort, reduced.descending = tables.Popularity, true
	}
	for c := range reduced.ranges {
		if lacks(tables.ColumnID(c)) {
			reduced.ranges[c] = bounds{}
		}
	}
	// Any of several columns suffices: with_people finds the cast if the crew is absent.
	existing := func(terms []term) []term {
		return slices.DeleteFunc(slices.Clone(terms), func(l term) bool { return lacks(l.list) })
	}
	reduced.required, reduced.excluded = nil, existing(f.excluded)
	for _, clause := range f.required {
		if l := existing(clause); len(l) > 0 || len(clause) == 0 { // an empty clause matches nothing
			reduced.required = append(reduced.required, l)
		}
	}
	days := []tables.ColumnID{tables.Release, tables.FirstDay, tables.LastDay}
	if f.region != (route.Country{}) {
		days = days[:1]
	}
	if slices.ContainsFunc(days, lacks) {
		reduced.released, reduced.types = bounds{}, nil
	}
	return &reduced
}
