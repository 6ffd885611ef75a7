package index

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// A past has popularity and heat of a kind's resources in the previous release.
type past struct {
	ids        posting.Uint64s
	popularity posting.Float64s
	heat       posting.Float64s
	byID       []uint32 // ranks in the order of ids
}

// openPast returns nil without a previous release, or a table of the kind with heat in it.
func openPast(r *release.Reader, kind fragment.Kind) (*past, error) {
	if r == nil {
		return nil, nil
	}
	t, ok := r.Table(kind.String())
	if !ok || !t.Has(tables.Heat.String()) {
		return nil, nil
	}
	p := &past{byID: ranks(t.Rows())}
	var errs [3]error
	p.ids, errs[0] = posting.OpenUint64s(t, tables.ID.String(), t.Rows())
	p.popularity, errs[1] = posting.OpenFloat64s(t, tables.Popularity.String(), t.Rows())
	p.heat, errs[2] = posting.OpenFloat64s(t, tables.Heat.String(), t.Rows())
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("previous release %s: %w", r.Manifest().ID, err)
	}
	slices.SortFunc(p.byID, func(a, b uint32) int { return cmp.Compare(p.ids.At(int(a)), p.ids.At(int(b))) })
	return p, nil
}

// of returns the popularity and the heat that a resource had.
func (p *past) of(id uint64) (popularity, heat float64, ok bool) {
	i, ok := slices.BinarySearchFunc(p.byID, id, func(rank uint32, id uint64) int { return cmp.Compare(p.ids.At(int(rank)), id) })
	if !ok {
		return 0, 0, false
	}
	rank := int(p.byID[i])
	return p.popularity.At(rank), p.heat.At(rank), true
}

// trends are the scores of a table's rows in a day and in a week, the highest being the
// hottest, and the heat that the next release starts from.
type trends struct{ ofDay, ofWeek, heat []float64 }

// askedFor is above every difference in popularity: requested titles are hotter than all
// others.
const askedFor = 1e12

// trends compares the rows with the previous release.
func (b *builder) trends() (trends, error) {
	before, err := openPast(b.o.Previous, b.kind)
	if err != nil {
		return trends{}, err
	}
	t := trends{make([]float64, len(b.ids)), make([]float64, len(b.ids)), append([]float64{}, b.popularity...)}
	for i, id := range b.ids {
		if before != nil {
			if popularity, was, ok := before.of(id); ok {
				t.heat[i] = was + (b.popularity[i]-was)/7
				t.ofDay[i] = b.popularity[i] - popularity
				t.ofWeek[i] = b.popularity[i] - t.heat[i]
			}
		}
		if b.o.Access == nil {
			continue
		}
		day, week := b.o.Access(b.kind, id)
		if day > 0 {
			t.ofDay[i] = askedFor + float64(day)
		}
		if week > 0 {
			t.ofWeek[i] = askedFor + float64(week)
		}
	}
	return t, nil
}

// write writes a column: the heat, or scores with their order, the hottest first.
func (t *trends) write(w *release.TableWriter, c *tables.Column) error {
	var scores []float64
	switch c.ID {
	case tables.Heat:
		return posting.Write(w, c.Name, t.heat)
	case tables.TrendDay:
		scores = t.ofDay
	case tables.TrendWeek:
		scores = t.ofWeek
	default:
		return fmt.Errorf("column %s: package index does not compute it", c.Name)
	}
	if err := posting.Write(w, c.Name, scores); err != nil {
		return err
	}
	order := ranks(len(scores))
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(scores[b], scores[a]) })
	return posting.WriteOrder(w, c.Name, order)
}

// ranks returns the first n ranks.
func ranks(n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(i)
	}
	return list
}
