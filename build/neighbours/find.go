package neighbours

import (
	"math"
	"math/bits"
	"slices"

	"reelsplice/schemas/encoding"
)

// A Result is the ids of a title's neighbours, best first.
type Result struct {
	Recommendations []int64
	Similar         []int64
}

// A Finder finds neighbours. It is for one goroutine and holds about 1 MiB.
type Finder struct {
	t        *Table
	features []feature
	genres   []genreScore
	seen     candidates
	cache    [cacheBlocks]cached
	best     [2]ranking
	bounds   [33]float64 // by the bits of votes: the most that they count
}

// cacheBlocks is how many blocks of the Table a Finder holds: common features come again
// and again.
const cacheBlocks = 128

type cached struct {
	part, block int // block counts from 1; 0 is none
	data        []byte
	lists       []byte // of data
}

// A genreScore is what sharing a genre counts.
type genreScore struct {
	id    uint64
	score float64
}

// Finder returns a Finder.
func (t *Table) Finder() *Finder {
	f := &Finder{t: t}
	for i := range f.bounds {
		f.bounds[i] = votesFactor(uint32(1<<i - 1))
	}
	return f
}

// votesFactor returns what votes count: 1 for none, slowly more for more.
func votesFactor(votes uint32) float64 { return math.Sqrt(1 + math.Log1p(float64(votes))) }

// Find puts the neighbours of t, which need not be one of the Table's titles, into dst,
// whose memory it uses again. An error is one of the Table's files, which it names.
func (f *Finder) Find(t *Title, dst *Result) error {
	f.features = t.appendFeatures(f.features[:0])
	f.seen.reset()
	if err := f.scoreGenres(); err != nil {
		return err
	}
	for _, ft := range f.features {
		if err := f.count(ft, t.Adult); err != nil {
			return err
		}
	}
	recommendations, similar := &f.best[0], &f.best[1]
	recommendations.reset()
	similar.reset()
	for i := range f.seen.all {
		if c := &f.seen.all[i]; c.id != t.ID {
			bound := f.bounds[bits.Len32(c.votes)]
			recommendations.offer(c, c.shared, bound)
			similar.offer(c, c.alike, bound)
		}
	}
	dst.Recommendations = recommendations.appendIDs(dst.Recommendations[:0])
	dst.Similar = similar.appendIDs(dst.Similar[:0])
	return nil
}

// scoreGenres looks up what sharing each genre counts.
func (f *Finder) scoreGenres() error {
	f.genres = f.genres[:0]
	for _, ft := range f.features {
		if ft.kind() != genre {
			break // genres are first
		}
		l, err := f.list(ft)
		if err != nil {
			return err
		}
		if l.df > 0 {
			f.genres = append(f.genres, genreScore{ft.id(), f.score(ft, l)})
		}
	}
	return nil
}

// score returns what sharing ft counts. The conversion keeps the product from being fused
// with the sum that it goes into, which would make results depend on the processor.
func (f *Finder) score(ft feature, l list) float64 {
	return float64(ft.weight() * math.Log1p(float64(f.t.titles)/float64(l.df)))
}

// list returns the list of ft, which is valid until the next call.
func (f *Finder) list(ft feature) (list, error) {
	n := ft.part(len(f.t.parts))
	p := &f.t.parts[n]
	i := p.find(ft)
	if i < 0 {
		return list{}, nil
	}
	c := &f.cache[(n*31+i)%cacheBlocks]
	if c.part != n || c.block != i+1 {
		c.block = 0
		if err := p.read(i, c); err != nil {
			return list{}, err
		}
		c.part, c.block = n, i+1
	}
	l, err := listIn(c.lists, ft)
	if err != nil {
		return list{}, p.failed(p.blocks[i].off, err)
	}
	return l, nil
}

// count adds ft to the scores of the titles in its list.
func (f *Finder) count(ft feature, adult bool) error {
	l, err := f.list(ft)
	if err != nil {
		return err
	}
	shared, alike := 0.0, 0.0
	switch ft.kind() {
	case genre: // counted with all genres of a title, when it is first seen
	case keyword:
		shared = f.score(ft, l)
		alike = shared
	default:
		shared = f.score(ft, l)
	}
	r := encoding.NewReader(l.titles)
	for n := uint64(0); r.Len() > 0 && (adult || n < l.safe); n++ {
		id, votes := int64(r.Uvarint()), uint32(r.Uvarint())
		c, first := f.seen.of(id)
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
			return f.damaged(ft)
		}
	}
	return nil
}

// damaged is the error of a list of ft that is cut.
func (f *Finder) damaged(ft feature) error {
	p := &f.t.parts[ft.part(len(f.t.parts))]
	return p.failed(p.blocks[p.find(ft)].off, errDamaged)
}

// sharedGenres reads the genres of a title and returns what those shared count.
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

// candidates is a hash table of candidates by id. Its slots are cleared by counting up.
type candidates struct {
	all   []candidate
	slots []slot // a power of two
	round uint32
}

type slot struct {
	round uint32 // in which it was filled
	at    uint32 // in all
}

func (s *candidates) reset() {
	s.all = s.all[:0]
	if s.round++; s.round == 0 { // all the way round
		clear(s.slots)
		s.round = 1
	}
}

// of returns the candidate with an id, and whether it was new. It is valid until the next
// call.
func (s *candidates) of(id int64) (c *candidate, first bool) {
	if 2*len(s.all) >= len(s.slots) {
		s.grow()
	}
	at := s.slot(id)
	if at.round == s.round {
		return &s.all[at.at], false
	}
	*at = slot{s.round, uint32(len(s.all))}
	s.all = append(s.all, candidate{id: id})
	return &s.all[at.at], true
}

// slot returns the slot that has id, or the one that it should go to.
func (s *candidates) slot(id int64) *slot {
	mask := uint64(len(s.slots) - 1)
	for i := uint64(id) * 0x9e3779b97f4a7c15 >> 32; ; i++ {
		at := &s.slots[i&mask]
		if at.round != s.round || s.all[at.at].id == id {
			return at
		}
	}
}

func (s *candidates) grow() {
	s.slots = make([]slot, max(2*len(s.slots), 4096))
	s.round = 1
	for i, c := range s.all {
		*s.slot(c.id) = slot{s.round, uint32(i)}
	}
}

// A ranking is the best candidates, best first.
type ranking struct {
	n   int
	top [MaxNeighbours]ranked
}

type ranked struct {
	score float64
	votes uint32
	id    int64
}

func (a ranked) before(b ranked) bool {
	switch {
	case a.score != b.score:
		return a.score > b.score
	case a.votes != b.votes:
		return a.votes > b.votes
	}
	return a.id < b.id
}

func (r *ranking) reset() { r.n = 0 }

// offer takes a candidate in when it is good enough. Its votes count bound at most.
func (r *ranking) offer(c *candidate, sum, bound float64) {
	full := r.n == len(r.top)
	if sum == 0 || full && sum*bound < r.top[r.n-1].score {
		return
	}
	m := ranked{sum * votesFactor(c.votes), c.votes, c.id}
	if full && !m.before(r.top[r.n-1]) {
		return
	}
	if !full {
		r.n++
	}
	i := r.n - 1
	for ; i > 0 && m.before(r.top[i-1]); i-- {
		r.top[i] = r.top[i-1]
	}
	r.top[i] = m
}

func (r *ranking) appendIDs(dst []int64) []int64 {
	dst = slices.Grow(dst, r.n)
	for _, m := range r.top[:r.n] {
		dst = append(dst, m.id)
	}
	return dst
}
