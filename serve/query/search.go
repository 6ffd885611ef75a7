package query

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables"
	"reelsplice/schemas/tables/posting"
)

// A Search finds the resources whose names have the words of a query: all words, in any
// order, in one name or in several. The last word may be the beginning of one.
type Search struct {
	// Kind is what is searched; 0 is movies, series and people together.
	Kind fragment.Kind
	// Query is any text. Package text cuts it into words.
	Query []byte
	// IncludeAdult includes adult titles and people.
	IncludeAdult bool
	// Year, unless it is 0, is a year in which a movie was released anywhere, or in which
	// an episode of a series was aired or the series began.
	Year int
	// PrimaryYear, unless it is 0, is the year of a movie's primary release date.
	PrimaryYear int
	// FirstAirYear, unless it is 0, is the year in which a series began.
	FirstAirYear int
	// Fuzzy allows typing errors if no resource has the words of the query.
	Fuzzy bool
	// Region is the country whose release dates rows show, where movies have one.
	Region string
}

// multiKinds are the kinds of a Search without a kind.
var multiKinds = [...]fragment.Kind{fragment.KindMovie, fragment.KindTV, fragment.KindPerson}

// Search fills out with one page of hits. Pages count from 1. The order is one for all
// pages. First come the resources whose title or original title is the query, then those
// whose other names are, both by popularity. Then the most popular of the others by a score
// of fit and popularity, and the rest by popularity. A Fuzzy search without any hit allows
// one wrong letter in a word, or two in words of eight letters and more, but not the first.
// An error matches release.ErrCorrupt.
func (e *Engine) Search(s *Search, page, size int, out *Result) (err error) {
	out.reset()
	if page < 1 || size < 1 || page > maxRank/size {
		return fmt.Errorf("search: page %d of %d rows: there is none", page, size)
	}
	q := searches.Get().(*search)
	defer func() {
		if p := recover(); p != nil { // by a library that trusts the bytes of the release
			if err = release.Damage(p); err == nil {
				err = fmt.Errorf("search: %w: %v", release.ErrCorrupt, p)
			}
			return // q may be in any state
		}
		q.release()
	}()
	q.parse(s.Query)
	if len(q.words) == 0 {
		return nil
	}
	kinds := multiKinds[:]
	if s.Kind != 0 {
		kinds = []fragment.Kind{s.Kind}
	}
	for _, typos := range [...]bool{false, true} {
		if err := q.find(e, kinds, s, typos); err != nil {
			return fmt.Errorf("search: %w", err)
		}
		if q.found || !s.Fuzzy {
			break
		}
	}
	q.page((page-1)*size, size, out)
	if s.Region == "" {
		return nil
	}
	if err := q.date(e, s, out); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	return nil
}

// A search is the state of one query.
type search struct {
	wanted
	hits  []matches
	found bool     // resources have the words, filtered out or not
	ranks []uint32 // of the rows of the page
}

var searches = sync.Pool{New: func() any { return new(search) }}

// release returns the search to the pool.
func (q *search) release() {
	q.drop()
	searches.Put(q)
}

// drop empties the hits.
func (q *search) drop() {
	for i := range q.hits {
		if h := &q.hits[i]; h.set != nil {
			h.t.Pool.Put(h.set)
			h.set = nil
		}
	}
	q.hits = q.hits[:0]
}

// Classes of hits, in their order.
const (
	mainExact  = iota // the title is the query
	otherExact        // another name is
	judgedHit         // by a score of fit and popularity
	restHit           // by popularity alone
	classes
)

// maxJudged is how many hits of a kind get a score.
const maxJudged = 300

// matches are the hits of one kind.
type matches struct {
	t      names
	set    *posting.Set // of the last class
	lists  [restHit][]judged
	counts [classes]int
}

// A judged hit has its score.
type judged struct {
	rank  uint32
	score float64
}

// push returns a new element of q.hits.
func (q *search) push(t names) *matches {
	if len(q.hits) < cap(q.hits) {
		q.hits = q.hits[:len(q.hits)+1]
	} else {
		q.hits = append(q.hits, matches{})
	}
	h := &q.hits[len(q.hits)-1]
	h.t, h.counts = t, [classes]int{}
	for i := range h.lists {
		h.lists[i] = h.lists[i][:0]
	}
	h.set = t.Pool.Get()
	return h
}

// find fills q.hits for all kinds.
func (q *search) find(e *Engine, kinds []fragment.Kind, s *Search, typos bool) error {
	q.drop()
	q.found = false
	for _, kind := range kinds {
		t, err := e.table(kind)
		if err != nil {
			return err
		}
		if t == nil || t.Rows == 0 {
			continue
		}
		h := q.push(names{t, t.Names()})
		if err := q.match(h, typos); err != nil {
			return err
		}
		if h.set.Next(0) < 0 {
			continue
		}
		q.found = true
		if err := h.filter(kind, s); err != nil {
			return err
		}
		h.sort(&q.wanted)
	}
	return nil
}

// match fills h with all resources that have the words.
func (q *search) match(h *matches, typos bool) error {
	if typos {
		return q.matchTypos(h)
	}
	if err := q.all(&h.t, *h.set); err != nil {
		return err
	}
	for tier := range judgedHit {
		h.lists[tier] = h.t.exact(q.key|uint64(tier), h.lists[tier])
		for _, hit := range h.lists[tier] {
			h.set.Add(hit.rank)
		}
	}
	return nil
}

// filter removes the hits that s excludes.
func (h *matches) filter(kind fragment.Kind, s *Search) error {
	t, set := h.t, *h.set
	if !s.IncludeAdult {
		if err := t.unflag(set, tables.Adult); err != nil {
			return err
		}
	}
	if s.Kind == 0 {
		return nil // only searches of one kind have years
	}
	var first int // the year of the first day
	switch kind {
	case fragment.KindMovie:
		first = s.PrimaryYear
	case fragment.KindTV:
		first = s.FirstAirYear
	default:
		return nil
	}
	if first < 0 || first > 9999 {
		set.Clear()
	} else if first != 0 {
		if err := t.Range(tables.Day).And(set, dayOf(first, time.January, 1), dayOf(first, time.December, 31)); err != nil {
			return err
		}
	}
	if s.Year != 0 {
		return t.any([]term{{tables.AnyYear, uint64(s.Year)}}, set, posting.Set.And)
	}
	return nil
}

// sort divides the hits into classes and orders those with a score.
func (h *matches) sort(w *wanted) {
	set := *h.set
	for tier := range h.lists[:judgedHit] {
		list := slices.DeleteFunc(h.lists[tier], func(hit judged) bool { return !set.Has(hit.rank) })
		for i := range list {
			set.Remove(list[i].rank)
			list[i].score = h.t.Float64s(tables.Popularity).At(int(list[i].rank))
		}
		h.lists[tier], h.counts[tier] = list, len(list)
	}
	list := h.lists[judgedHit]
	for r := set.Next(0); r >= 0 && len(list) < maxJudged; r = set.Next(r + 1) {
		rank := uint32(r)
		list = append(list, judged{rank, w.score(h.t.Texts(rank), h.t.Float64s(tables.Popularity).At(r))})
		set.Remove(rank)
	}
	slices.SortFunc(list, func(a, b judged) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.rank, b.rank)) })
	h.lists[judgedHit], h.counts[judgedHit] = list, len(list)
	h.counts[restHit] = set.Count()
}

// page appends hits from start on to out.
func (q *search) page(start, size int, out *Result) {
	q.ranks = q.ranks[:0]
	for i := range q.hits {
		for _, n := range q.hits[i].counts {
			out.Total += n
		}
	}
	for class := range classes {
		n := 0
		for i := range q.hits {
			n += q.hits[i].counts[class]
		}
		if start >= n {
			start -= n
			continue
		}
		q.merge(class, start, size, out)
		start = 0
	}
}

// merge appends hits of a class from start on to out, until that has size rows. It merges
// those of several kinds by their scores.
func (q *search) merge(class, start, size int, out *Result) {
	var heads [len(multiKinds)]cursor
	for i := range q.hits {
		heads[i].open(&q.hits[i], class)
	}
	if len(q.hits) == 1 {
		heads[0].skip(start)
		start = 0
	}
	for len(out.Rows) < size {
		best := -1
		for i := range heads[:len(q.hits)] {
			if heads[i].ok && (best < 0 || heads[i].hit.score > heads[best].hit.score) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		if c := &heads[best]; start > 0 {
			start--
		} else {
			q.ranks = append(q.ranks, c.hit.rank)
			out.Rows = append(out.Rows, Row{Kind: c.h.t.Kind, ID: c.h.t.Uint64s(tables.ID).At(int(c.hit.rank)), Date: posting.NoDay})
		}
		heads[best].next()
	}
}

// A cursor goes through the hits of a kind and a class.
type cursor struct {
	h    *matches
	list []judged
	rest int // the next rank, below 0 behind the last one or with a list
	hit  judged
	ok   bool
}

func (c *cursor) open(h *matches, class int) {
	*c = cursor{h: h, rest: -1}
	if class == restHit {
		if h.counts[restHit] > 0 {
			c.rest = h.set.Next(0)
		}
	} else {
		c.list = h.lists[class]
	}
	c.next()
}

func (c *cursor) next() {
	switch {
	case c.rest >= 0:
		c.hit, c.ok = judged{uint32(c.rest), c.h.t.Float64s(tables.Popularity).At(c.rest)}, true
		c.rest = c.h.set.Next(c.rest + 1)
	case len(c.list) > 0:
		c.hit, c.ok, c.list = c.list[0], true, c.list[1:]
	default:
		c.ok = false
	}
}

// skip moves n hits on, at least to the end.
func (c *cursor) skip(n int) {
	if c.rest < 0 {
		for ; n > 0 && c.ok; n-- {
			c.next()
		}
		return
	}
	c.rest = nth(*c.h.set, n)
	c.next()
}

// date sets the dates of the movies on the page that were released in a region. Only
// searches of movies have one.
func (q *search) date(e *Engine, s *Search, out *Result) error {
	f := Filter{kind: fragment.KindMovie}
	if f.ShowRegion(s.Region); s.Kind != fragment.KindMovie || f.region == [2]byte{} || len(out.Rows) == 0 {
		return nil
	}
	return e.showDays(e.tables[fragment.KindMovie], &f, q.ranks, out.Rows)
}
