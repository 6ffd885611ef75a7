package index

import (
	"errors"
	"fmt"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// trends are the scores of a range's rows in a day and in a week, the highest being the
// hottest, and the heat that the next release starts from.
type trends struct {
	ids                             []uint64
	popularity, ofDay, ofWeek, heat []float64
}

// askedFor is above every difference in popularity: requested titles are hotter than all
// others.
const askedFor = 1e12

// compute compares the rows with the previous release.
func (t *trends) compute(kind fragment.Kind, o Options) error {
	t.ofDay, t.ofWeek, t.heat = make([]float64, len(t.ids)), make([]float64, len(t.ids)), append([]float64{}, t.popularity...)
	if err := t.since(o.Previous, kind); err != nil {
		return err
	}
	if o.Access == nil {
		return nil
	}
	for i, id := range t.ids {
		day, week := o.Access(kind, id)
		if day > 0 {
			t.ofDay[i] = askedFor + float64(day)
		}
		if week > 0 {
			t.ofWeek[i] = askedFor + float64(week)
		}
	}
	return nil
}

// since adds what the rows have gained since a release, which may be nil or lack the table or its heat. It reads the ids
// of that once, however few the rows are.
func (t *trends) since(r *release.Reader, kind fragment.Kind) error {
	if r == nil || len(t.ids) == 0 {
		return nil
	}
	table, ok := r.Table(kind.String())
	if !ok || !table.Has(tables.Heat.String()) {
		return nil
	}
	ids, err := posting.OpenUint64s(table, tables.ID.String(), table.Rows())
	popularity, errPopularity := posting.OpenFloat64s(table, tables.Popularity.String(), table.Rows())
	heat, errHeat := posting.OpenFloat64s(table, tables.Heat.String(), table.Rows())
	if err := errors.Join(err, errPopularity, errHeat); err != nil {
		return fmt.Errorf("previous release %s: %w", r.Manifest().ID, err)
	}
	now := make(map[uint64]int, len(t.ids))
	for i, id := range t.ids {
		now[id] = i
	}
	for k := range table.Rows() {
		if i, ok := now[ids.At(k)]; ok {
			was := heat.At(k)
			t.heat[i] = was + (t.popularity[i]-was)/7
			t.ofDay[i] = t.popularity[i] - popularity.At(k)
			t.ofWeek[i] = t.popularity[i] - t.heat[i]
		}
	}
	return nil
}

// of returns the values of a column, nil for one that is not of trends.
func (t *trends) of(c tables.ColumnID) []float64 {
	switch c {
	case tables.TrendDay:
		return t.ofDay
	case tables.TrendWeek:
		return t.ofWeek
	case tables.Heat:
		return t.heat
	}
	return nil
}
