package index

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/posting"
	"reelsplice/schemas/release"
)

// A past is what the release before says of the resources of a kind.
type past struct {
	ids        posting.Uint64s
	popularity posting.Float64s
	heat       posting.Float64s
	byID       []uint32 // ranks in the order of ids
}

// openPast returns nil when there is no release before, or it has no such table.
func openPast(r *release.Reader, kind fragment.Kind) (*past, error) {
	if r == nil {
		return nil, nil
	}
	t, ok := r.Table(kind.String())
	if !ok {
		return nil, nil
	}
	p := &past{}
	var err error
	if p.ids, err = posting.OpenUint64s(t, posting.ID, t.Rows()); err == nil {
		p.popularity, err = posting.OpenFloat64s(t, posting.Popularity, t.Rows())
	}
	if err == nil {
		p.heat, err = posting.OpenFloat64s(t, posting.Heat, t.Rows())
	}
	if err != nil {
		return nil, fmt.Errorf("release before, %s: %w", r.Manifest().ID, err)
	}
	p.byID = ranks(t.Rows())
	slices.SortFunc(p.byID, func(a, b uint32) int { return cmp.Compare(p.ids.At(int(a)), p.ids.At(int(b))) })
	return p, nil
}

// of returns the popularity and the heat that a resource had.
func (p *past) of(id uint64) (popularity, heat float64, ok bool) {
	i := sort.Search(len(p.byID), func(i int) bool { return p.ids.At(int(p.byID[i])) >= id })
	if i == len(p.byID) || p.ids.At(int(p.byID[i])) != id {
		return 0, 0, false
	}
	rank := int(p.byID[i])
	return p.popularity.At(rank), p.heat.At(rank), true
}

// A trend is the scores of a table's rows, and how often they were asked for.
type trend struct {
	score []float64 // nil: by rank
	count []uint64  // nil: unknown
}

// trends returns the trends of a day and of a week, and the heat that the next release
// goes on from.
func (b *builder) trends() (ofDay, ofWeek trend, heat []float64, err error) {
	before, err := openPast(b.o.Previous, b.t.kind)
	if err != nil {
		return ofDay, ofWeek, nil, err
	}
	heat = slices.Clone(b.popularity)
	if before != nil {
		ofDay.score, ofWeek.score = make([]float64, len(b.ids)), make([]float64, len(b.ids))
		for i, id := range b.ids {
			if popularity, was, ok := before.of(id); ok {
				heat[i] = was + (b.popularity[i]-was)/7
				ofDay.score[i] = b.popularity[i] - popularity
				ofWeek.score[i] = b.popularity[i] - heat[i]
			}
		}
	}
	if b.o.Access != nil {
		ofDay.count, ofWeek.count = make([]uint64, len(b.ids)), make([]uint64, len(b.ids))
		for i, id := range b.ids {
			ofDay.count[i], ofWeek.count[i] = b.o.Access(b.t.kind, id)
		}
	}
	return ofDay, ofWeek, heat, nil
}

// order returns n ranks, the hottest first.
func (t *trend) order(n int) []uint32 {
	list := ranks(n)
	slices.SortStableFunc(list, func(a, b uint32) int {
		if t.count != nil && t.count[a] != t.count[b] {
			return cmp.Compare(t.count[b], t.count[a])
		}
		if t.score != nil {
			return cmp.Compare(t.score[b], t.score[a])
		}
		return 0
	})
	return list
}

// ranks returns the first n ranks.
func ranks(n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(i)
	}
	return list
}
