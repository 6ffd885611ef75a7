package neighbours

import (
	"cmp"
	"math"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/encoding"
)

// A Result is the ids of a title's neighbours, best first.
type Result struct {
	Recommendations []int64
	Similar         []int64
}

// A Finder finds neighbours. It is for one goroutine.
type Finder struct {
	table      *Table
	features   []feature
	lists      []list // parallel to features
	genres     []genreScore
	candidates []candidate
	byID       map[int64]int // indexes into candidates

	recommended, similar ranking
}

// A genreScore is the score of a shared genre.
type genreScore struct {
	id    uint64
	score float64
}

// Finder returns a Finder.
func (t *Table) Finder() *Finder { return &Finder{table: t, byID: map[int64]int{}} }

// Find writes the neighbours of t into dst and reuses its memory. t need not be in the Table. An error names the
// damaged file of the Table.
func (f *Finder) Find(t *Title, dst *Result) error {
	f.features = t.appendFeatures(f.features[:0])
	f.lists = slices.Grow(f.lists[:0], len(f.features))[:len(f.features)]
	f.genres, f.candidates = f.genres[:0], f.candidates[:0]
	clear(f.byID)
	for i, ft := range f.features {
		l := &f.lists[i]
		if err := f.table.read(ft, l); err != nil {
			return err
		}
		if ft.kind() == genre && l.df > 0 {
			f.genres = append(f.genres, genreScore{ft.id(), f.score(l)})
		}
	}
	for i := range f.lists {
		l := &f.lists[i]
		shared, similar := 0.0, 0.0
		switch l.feature.kind() {
		case genre: // counted with all genres of a title when it is first seen
		case keyword:
			shared = f.score(l)
			similar = shared
		default:
			shared = f.score(l)
		}
		r := encoding.NewReader(l.titles)
		for n := uint64(0); r.Len() > 0 && (t.Adult || n < l.safe); n++ {
			id, votes, genres := int64(r.Uvarint()), uint32(r.Uvarint()), r.Uvarint()
			k, seen := f.byID[id]
			if !seen {
				k = len(f.candidates)
				f.byID[id] = k
				f.candidates = append(f.candidates, candidate{id: id, votes: votes})
			}
			c := &f.candidates[k]
			for range genres {
				id := r.Uvarint()
				if r.Err() != nil {
					break
				}
				if seen {
					continue
				}
				for _, g := range f.genres {
					if g.id == id {
						c.similar += g.score
						c.shared += g.score
					}
				}
			}
			c.shared += shared
			c.similar += similar
			if r.Err() != nil {
				p := &f.table.parts[l.feature.part(len(f.table.parts))]
				return p.failed(0, errDamaged)
			}
		}
	}
	f.recommended, f.similar = f.recommended[:0], f.similar[:0]
	for _, c := range f.candidates {
		if c.id != t.ID {
			factor := math.Sqrt(1 + math.Log1p(float64(c.votes)))
			f.recommended.offer(ranked{c.shared * factor, c.votes, c.id})
			f.similar.offer(ranked{c.similar * factor, c.votes, c.id})
		}
	}
	dst.Recommendations = f.recommended.appendIDs(dst.Recommendations[:0])
	dst.Similar = f.similar.appendIDs(dst.Similar[:0])
	return nil
}

// score returns the score for sharing the feature of l. The conversion prevents a fused multiply-add, which would
// make results depend on the processor.
func (f *Finder) score(l *list) float64 {
	weight := 1.0
	switch l.feature.kind() {
	case person:
		weight = 0.5
	case collection:
		weight = 2
	}
	return float64(weight * math.Log1p(float64(f.table.titles)/float64(l.df)))
}

// A candidate is a title that shares a feature.
type candidate struct {
	id      int64
	votes   uint32
	shared  float64 // sum over all features
	similar float64 // sum over genres and keywords
}

// A ranking is the best candidates, best first.
type ranking []ranked

type ranked struct {
	score float64
	votes uint32
	id    int64
}

func (a ranked) compare(b ranked) int {
	if a.score != b.score { // almost always
		return cmp.Compare(b.score, a.score)
	}
	return cmp.Or(cmp.Compare(b.votes, a.votes), cmp.Compare(a.id, b.id))
}

// offer inserts a candidate if it ranks high enough.
func (r *ranking) offer(m ranked) {
	full := len(*r) == maxNeighbours
	if m.score == 0 || full && m.compare((*r)[maxNeighbours-1]) > 0 {
		return
	}
	if full {
		*r = (*r)[:maxNeighbours-1]
	}
	i, _ := slices.BinarySearchFunc(*r, m, ranked.compare)
	*r = slices.Insert(*r, i, m)
}

func (r ranking) appendIDs(dst []int64) []int64 {
	dst = slices.Grow(dst, len(r))
	for _, m := range r {
		dst = append(dst, m.id)
	}
	return dst
}
