package build

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"reelsplice/build/segment/deflate"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// A share is the titles and people that are asked for most: what they say is compressed
// slowly. It follows from the catalogue alone.
type share struct {
	ids      map[fragment.Kind][]int64 // ascending
	encoders sync.Pool                 // of *deflate.Encoder, as many as there are workers
}

// has tells whether the share has the resource of a record.
func (s *share) has(kind fragment.Kind, id int64) bool {
	_, ok := slices.BinarySearch(s.ids[kind], id)
	return ok
}

// planPopularity has the columns by which a share is found.
type planPopularity struct {
	record.Object
	ID         record.Int   `record:"id"`
	Popularity record.Float `record:"popularity"`
}

// planShare finds the share of each kind that has one: seasons and episodes go with their
// series.
func (b *builder) planShare(ctx context.Context) error {
	b.share.ids = map[fragment.Kind][]int64{}
	if b.Best == 0 {
		return nil
	}
	for _, kind := range []fragment.Kind{fragment.KindMovie, fragment.KindTV, fragment.KindPerson} {
		in := b.inputs[kind]
		top := topRows{n: int(math.Ceil(float64(in.rows()) * b.Best / 100))}
		err := eachRow(ctx, in, func(row *planPopularity) error {
			if !b.removed.Has(kind, catalog.NumberKey(row.ID.V)) {
				top.add(popular{row.Popularity.V, row.ID.V})
			}
			return nil
		})
		if err != nil {
			return err
		}
		b.share.ids[kind] = top.ids()
	}
	return nil
}

// A popular is a resource and how popular it is.
type popular struct {
	popularity float64
	id         int64
}

// compare orders the more popular first, and of equals the lower id.
func (p popular) compare(o popular) int {
	return cmp.Or(cmp.Compare(o.popularity, p.popularity), cmp.Compare(p.id, o.id))
}

// A topRows finds the n most popular of many, and holds no more than twice as many.
type topRows struct {
	n    int
	rows []popular
	full bool // the last of the first n is the least that counts
}

func (t *topRows) add(p popular) {
	if t.n < 1 || t.full && p.compare(t.rows[t.n-1]) > 0 {
		return
	}
	if t.rows = append(t.rows, p); len(t.rows) >= 2*t.n {
		t.cut()
	}
}

// cut keeps the first n.
func (t *topRows) cut() {
	slices.SortFunc(t.rows, popular.compare)
	if len(t.rows) >= t.n {
		t.rows, t.full = t.rows[:t.n], true
	}
}

// ids returns the ids of the n most popular, in order of id.
func (t *topRows) ids() []int64 {
	t.cut()
	ids := make([]int64, len(t.rows))
	for i, p := range t.rows {
		ids[i] = p.id
	}
	slices.Sort(ids)
	return ids
}

// rank says of which resource the unit at hand is: those of the share are compressed
// slowly, and that is part of what a unit is made of.
func (o *output) rank(kind fragment.Kind, id int64) {
	best := o.b.share.has(kind, id)
	o.recall.best = best
	if best == (o.encoder != nil) {
		return
	}
	if best {
		e, ok := o.b.share.encoders.Get().(*deflate.Encoder)
		if !ok {
			e = &deflate.Encoder{}
		}
		o.encoder = e
	} else {
		o.b.share.encoders.Put(o.encoder)
		o.encoder = nil
	}
	o.z.Slow(o.encoder)
}
