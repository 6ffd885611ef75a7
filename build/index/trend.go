package index

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables/posting"
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

// A trend is the scores of a table's rows: the highest is the hottest.
type trend []float64

// askedFor is above every difference in popularity: what was asked for is hotter than what
// was not, whatever its popularity does.
const askedFor = 1e12

// trends returns the trends of a day and of a week, and the heat that the next release
// goes on from.
func (b *builder) trends() (ofDay, ofWeek trend, heat []float64, err error) {
	before, err := openPast(b.o.Previous, b.t.kind)
	if err != nil {
		return ofDay, ofWeek, nil, err
	}
	heat = slices.Clone(b.popularity)
	ofDay, ofWeek = make(trend, len(b.ids)), make(trend, len(b.ids))
	for i, id := range b.ids {
		if before != nil {
			if popularity, was, ok := before.of(id); ok {
				heat[i] = was + (b.popularity[i]-was)/7
				ofDay[i] = b.popularity[i] - popularity
				ofWeek[i] = b.popularity[i] - heat[i]
			}
		}
		if b.o.Access == nil {
			continue
		}
		day, week := b.o.Access(b.t.kind, id)
		if day > 0 {
			ofDay[i] = askedFor + float64(day)
		}
		if week > 0 {
			ofWeek[i] = askedFor + float64(week)
		}
	}
	return ofDay, ofWeek, heat, nil
}

// write writes the scores and their order, the hottest first.
func (t trend) write(w *release.TableWriter, name string) error {
	if err := posting.WriteFloat64s(w, name, t); err != nil {
		return err
	}
	order := ranks(len(t))
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(t[b], t[a]) })
	return posting.WriteOrder(w, name, order)
}

// ranks returns the first n ranks.
func ranks(n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(i)
	}
	return list
}
