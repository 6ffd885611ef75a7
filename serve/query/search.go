package query

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
	"github.com/reelsplice/reelsplice/serve/route"
)

// A Search finds the resources whose names have the words of a query: all words, in any
// order, in one name or in several. The last word may be the beginning of one.
type Search struct {
	// Kind is the kind to search; 0 is movies, series and people together.
	Kind fragment.Kind
	// Query is any text. Package text splits it into words.
	Query []byte
	// IncludeAdult includes adult titles and people.
	IncludeAdult bool
	// Year, unless it is 0, is a year in which a movie was released anywhere, or an episode
	// of a series aired, or the series began.
	Year int
	// PrimaryYear, unless it is 0, is the year of a movie's primary release date.
	PrimaryYear int
	// FirstAirYear, unless it is 0, is the year in which a series began.
	FirstAirYear int
	// Fuzzy allows typing errors if no resource has the words of the query.
	Fuzzy bool
	// Region is the country whose release dates movies show, if they have one there.
	Region route.Country
}

// kindsOf returns the kinds of a query for a kind: for 0, movies, series and people.
func kindsOf(kind fragment.Kind) []fragment.Kind {
	if kind == 0 {
		return []fragment.Kind{fragment.KindMovie, fragment.KindTV, fragment.KindPerson}
	}
	return []fragment.Kind{kind}
}

// Search fills out with one page of hits. Pages count from 1, and share one order. First
// come the resources whose title or original title is the query, then those with another
// name equal to it, both by popularity. Then come the most popular of the others by a score
// of fit and popularity, and the rest by popularity. A Fuzzy search without any hit allows
// one wrong letter in a word, or two in words of eight letters and more, but not the first.
// An error matches release.ErrCorrupt.
func (e *Engine) Search(s *Search, page, size int, out *Result) (err error) {
	out.reset()
	q := searches.Get().(*search)
	defer func() {
		if p := recover(); p != nil { // a library trusts the bytes of the release
			if err = release.Damage(p); err == nil {
				err = fmt.Errorf("%w: %v", release.ErrCorrupt, p)
			}
		} else { // after a panic q may be in any state
			q.drop()
			searches.Put(q)
		}
		if err != nil {
			err = fmt.Errorf("search: %w", err)
		}
	}()
	q.parse(s.Query)
	if len(q.words) == 0 {
		return nil
	}
	for _, typos := range [...]bool{false, true} {
		if err := q.find(e, s, typos); err != nil {
			return err
		}
		if q.matched || !s.Fuzzy {
			break
		}
	}
	if err := q.page((page-1)*size, size, out); err != nil {
		return err
	}
	if s.Kind != fragment.KindMovie || len(out.Rows) == 0 { // only searches of movies have a region
		return nil
	}
	f := Filter{kind: fragment.KindMovie, region: s.Region}
	return e.showDays(e.tables[fragment.KindMovie], &f, q.ranks, out.Rows)
}

// A search is the state of one query.
type search struct {
	queryWords
	lists   [restHit][]scoredRank // the hits of all kinds, by class
	rest    []*stream             // hits of the last class, by kind
	matched bool                  // resources have the words, filtered out or not
	ranks   []uint32              // ranks of the rows of the page
}

var searches = sync.Pool{New: func() any { return new(search) }}

// drop empties the hits.
func (q *search) drop() {
	for _, s := range q.rest {
		s.t.Pool.Put(s.set)
	}
	clear(q.rest)
	q.rest, q.ranks = q.rest[:0], q.ranks[:0]
	for i := range q.lists {
		clear(q.lists[i])
		q.lists[i] = q.lists[i][:0]
	}
}

// Classes of hits, in their order.
const (
	mainExact  = iota // the title or original title is the query
	otherExact        // another name is the query
	scoredHit         // by a score of fit and popularity
	restHit           // by popularity alone
)

// maxScored is how many hits of a kind get a score.
const maxScored = 300

// A scoredRank is a hit with its score.
type scoredRank struct {
	t     *table
	rank  uint32
	score float64
}

// find collects the hits of all kinds.
func (q *search) find(e *Engine, s *Search, typos bool) error {
	q.drop()
	q.matched = false
	for _, kind := range kindsOf(s.Kind) {
		t, err := e.table(kind)
		if err != nil {
			return err
		}
		if t == nil || t.Rows == 0 || !t.Has(tables.Text) {
			continue
		}
		set := t.Pool.Get()
		q.rest = append(q.rest, &stream{t: t, score: t.Float64s(tables.Popularity), set: set})
		n := names{t, t.Names()}
		if err := q.match(&n, *set, typos); err != nil {
			return err
		}
		if set.Next(0) < 0 {
			continue
		}
		q.matched = true
		if err := t.filter(*set, s); err != nil {
			return err
		}
		q.classify(&n, *set)
	}
	for _, list := range q.lists {
		slices.SortStableFunc(list, func(a, b scoredRank) int { return cmp.Compare(b.score, a.score) })
	}
	return nil
}

// match sets set to the resources with the words.
func (q *search) match(n *names, set posting.Set, typos bool) error {
	if typos {
		return q.matchTypos(n, set)
	}
	if err := q.loadAll(n, set); err != nil {
		return err
	}
	for tier := range scoredHit {
		for rank := range n.exact(q.key | uint64(tier)) {
			set.Add(rank)
		}
	}
	return nil
}

// filter removes the hits that s excludes.
func (t *table) filter(set posting.Set, s *Search) error {
	if !s.IncludeAdult {
		if err := t.unflag(set, tables.Adult); err != nil {
			return err
		}
	}
	var first int   // the year of the first day
	switch s.Kind { // only searches of one kind have years
	case fragment.KindMovie:
		first = s.PrimaryYear
	case fragment.KindTV:
		first = s.FirstAirYear
	default:
		return nil
	}
	if first < 0 || first > 9999 {
		set.Clear()
	} else if first != 0 && t.Has(tables.Day) {
		if err := t.Range(tables.Day).And(set, int32(day.First(first)), int32(day.First(first+1))-1); err != nil {
			return err
		}
	}
	if s.Year != 0 && t.Has(tables.AnyYear) {
		return t.any([]term{{tables.AnyYear, uint64(s.Year)}}, set, posting.Set.And)
	}
	return nil
}

// classify moves the hits of a class above restHit from a kind's set to lists.
func (q *search) classify(n *names, set posting.Set) {
	popularity := n.Float64s(tables.Popularity)
	add := func(class int, rank uint32, score float64) {
		set.Remove(rank)
		q.lists[class] = append(q.lists[class], scoredRank{n.table, rank, score})
	}
	for tier := range scoredHit {
		for rank := range n.exact(q.key | uint64(tier)) {
			if set.Has(rank) {
				add(tier, rank, popularity.At(int(rank)))
			}
		}
	}
	limit := len(q.lists[scoredHit]) + maxScored
	for r := set.Next(0); r >= 0 && len(q.lists[scoredHit]) < limit; r = set.Next(r + 1) {
		add(scoredHit, uint32(r), q.score(n.Texts(uint32(r)), popularity.At(r)))
	}
}

// page appends hits from start on to out, until it has size rows.
func (q *search) page(start, size int, out *Result) error {
	add := func(t *table, rank uint32) {
		q.ranks = append(q.ranks, rank)
		out.Rows = append(out.Rows, Row{Kind: t.Kind, ID: t.Uint64s(tables.ID).At(int(rank)), Date: posting.NoDay})
	}
	for _, s := range q.rest {
		out.Total += s.set.Count()
	}
	for _, list := range q.lists {
		out.Total += len(list)
		from := min(start, len(list))
		start -= from
		for _, hit := range list[from:min(len(list), from+size-len(out.Rows))] {
			add(hit.t, hit.rank)
		}
	}
	return merge(q.rest, start, size-len(out.Rows), func(s *stream) { add(s.t, s.rank) })
}
