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
	t        *Table
	features []feature
	lists    []list // parallel to features
	genres   []genreScore
	seen     map[int64]int // indexes into all
	all      []candidate

	recommended, similar ranking
}

// A genreScore is the score of a shared genre.
type genreScore struct {
	id    uint64
	score float64
}

// Finder returns a Finder.
func (t *Table) Finder() *Finder { return &Finder{t: t, seen: map[int64]int{}} }

// votesFactor returns the factor of votes: 1 without any, growing slowly.
func votesFactor(votes uint32) float64 { return math.Sqrt(1 + math.Log1p(float64(votes))) }

// Find writes the neighbours of t into dst and reuses its memory. t need not be in the Table. An error names the
// damaged file of the Table.
func (f *Finder) Find(t *Title, dst *Result) error {
	if err := f.read(t); err != nil {
		return err
	}
	f.scoreGenres()
	clear(f.seen)
	f.all = f.all[:0]
	for i := range f.lists {
		if err := f.count(&f.lists[i], t.Adult); err != nil {
			return err
		}
	}
	f.recommended, f.similar = f.recommended[:0], f.similar[:0]
	for i := range f.all {
		if c := &f.all[i]; c.id != t.ID {
			factor := votesFactor(c.votes)
			f.recommended.offer(ranked{c.shared * factor, c.votes, c.id})
			f.similar.offer(ranked{c.alike * factor, c.votes, c.id})
		}
	}
	dst.Recommendations = f.recommended.appendIDs(dst.Recommendations[:0])
	dst.Similar = f.similar.appendIDs(dst.Similar[:0])
	return nil
}

// read reads the lists of the title's features.
func (f *Finder) read(t *Title) error {
	f.features = t.appendFeatures(f.features[:0])
	f.lists = slices.Grow(f.lists[:0], len(f.features))[:len(f.features)]
	for i, ft := range f.features {
		if err := f.t.read(ft, &f.lists[i]); err != nil {
			return err
		}
	}
	return nil
}

// scoreGenres computes the score of each shared genre.
func (f *Finder) scoreGenres() {
	f.genres = f.genres[:0]
	for i := range f.lists {
		if l := &f.lists[i]; l.feature.kind() == genre && l.df > 0 {
			f.genres = append(f.genres, genreScore{l.feature.id(), f.score(l)})
		}
	}
}

// score returns the score for sharing the feature of l. The conversion prevents a fused multiply-add, which would
// make results depend on the processor.
func (f *Finder) score(l *list) float64 {
	return float64(l.feature.weight() * math.Log1p(float64(f.t.titles)/float64(l.df)))
}

// count adds the feature of l to the scores of its titles.
func (f *Finder) count(l *list, adult bool) error {
	shared, alike := 0.0, 0.0
	switch l.feature.kind() {
	case genre: // counted with all genres of a title when it is first seen
	case keyword:
		shared = f.score(l)
		alike = shared
	default:
		shared = f.score(l)
	}
	r := encoding.NewReader(l.titles)
	for n := uint64(0); r.Len() > 0 && (adult || n < l.safe); n++ {
		id, votes := int64(r.Uvarint()), uint32(r.Uvarint())
		c, first := f.candidate(id)
		if first {
			c.votes = votes
			c.alike = f.sharedGenres(&r)
			c.shared = c.alike
		} else {
			for range r.Uvarint() {
				r.Uvarint()
			}
		}
		c.shared += shared
		c.alike += alike
		if r.Err() != nil {
			p := &f.t.parts[l.feature.part(len(f.t.parts))]
			return p.failed(0, errDamaged)
		}
	}
	return nil
}

// sharedGenres reads the genres of a title and returns the score of the shared ones.
func (f *Finder) sharedGenres(r *encoding.Reader) float64 {
	sum := 0.0
	for range r.Uvarint() {
		id := r.Uvarint()
		if r.Err() != nil {
			return 0
		}
		for _, g := range f.genres {
			if g.id == id {
				sum += g.score
			}
		}
	}
	return sum
}

// A candidate is a title that shares a feature.
type candidate struct {
	id     int64
	votes  uint32
	shared float64 // sum over all features
	alike  float64 // sum over genres and keywords
}

// candidate returns the candidate with an id, and whether it was new. It is valid until the next call.
func (f *Finder) candidate(id int64) (c *candidate, first bool) {
	i, ok := f.seen[id]
	if !ok {
		i = len(f.all)
		f.seen[id] = i
		f.all = append(f.all, candidate{id: id})
	}
	return &f.all[i], !ok
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
