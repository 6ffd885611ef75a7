package query

import (
	"cmp"
	"slices"

	"reelsplice/schemas/posting"
)

// regionDays returns which day each rank has in f's region: the earliest of the first of
// f's types that it has there, else of the theatrical types, else of a premiere, else of
// any; NoDay when it has none.
func (t *table) regionDays(f *Filter, ranks []uint32) ([]int32, error) {
	days := make([]int32, len(ranks))
	at := make([]uint32, len(ranks)) // indexes, ascending by rank
	pending := t.pool.Get()
	defer t.pool.Put(pending)
	pending.Clear()
	for i, r := range ranks {
		days[i], at[i] = posting.NoDay, uint32(i)
		pending.Add(r)
	}
	slices.SortFunc(at, func(a, b uint32) int { return cmp.Compare(ranks[a], ranks[b]) })
	for _, types := range preferred(f.shown) {
		var found []uint32
		for _, typ := range types {
			l, _ := t.releases.Find(posting.ReleaseKey(f.region[:], int(typ)))
			err := eachDated(l, *pending, func(rank uint32, day int32) {
				i, _ := slices.BinarySearchFunc(at, rank, func(i, rank uint32) int { return cmp.Compare(ranks[i], rank) })
				if d := &days[at[i]]; *d == posting.NoDay || day < *d {
					*d = day
					found = append(found, rank)
				}
			})
			if err != nil {
				return nil, err
			}
		}
		for _, r := range found {
			pending.Remove(r)
		}
	}
	return days, nil
}

// preferred returns the release types in the order in which their dates are shown; those
// of one group are equal. The last group is any type, which has dates of unknown type too.
func preferred(listed []uint8) [][]uint8 {
	var groups [][]uint8
	for _, typ := range listed {
		groups = append(groups, []uint8{typ})
	}
	return append(groups, []uint8{limited, theatrical}, []uint8{premiere}, []uint8{anyType})
}
