package query

import (
	"bytes"
	"errors"
	mathbits "math/bits"
	"sort"

	"github.com/blevesearch/vellum"

	"reelsplice/schemas/release"
	"reelsplice/schemas/tables/posting"
)

// names are what search needs of a table.
type names struct {
	*table
	check       release.SectionCheck // of all that follows
	terms       *vellum.FST
	termLists   posting.Lists
	prefixLists posting.Lists
	keys        posting.Uint64s
	ranks       posting.Uint32s
	stored      []byte
	places      posting.Uint32s
}

// openNames opens the sections of search; nil for a table that has none.
func openNames(t *table, s posting.Source) (n *names, err error) {
	n = &names{table: t}
	s = lazySource{s, &n.check}
	fst := s.Section(posting.Terms)
	if fst == nil {
		return nil, nil //nolint:nilnil // a table need not have names
	}
	defer func() {
		if p := recover(); p != nil { // vellum trusts its bytes
			if n, err = nil, release.Damage(p); err == nil {
				err = corrupt("section %s: %v", posting.Terms, p)
			}
		}
	}()
	n.keys, n.ranks = s.Section(posting.NameKeys), s.Section(posting.NameRanks)
	n.stored, n.places = s.Section(posting.Names), s.Section(posting.NamePlaces)
	if n.terms, err = vellum.Load(fst); err != nil {
		return nil, corrupt("section %s: %v", posting.Terms, err)
	}
	if n.termLists, err = posting.OpenLists(s, posting.TermLists, t.rows); err != nil {
		return nil, err
	}
	if n.prefixLists, err = posting.OpenLists(s, posting.PrefixLists, t.rows); err != nil {
		return nil, err
	}
	switch {
	case n.terms.Len() != n.termLists.Len():
		return nil, corrupt("section %s: %d terms, %d lists", posting.Terms, n.terms.Len(), n.termLists.Len())
	case len(n.keys)%8 != 0 || len(n.ranks)%4 != 0 || n.keys.Len() != n.ranks.Len():
		return nil, corrupt("section %s: %d bytes, and %d in %s", posting.NameKeys, len(n.keys), len(n.ranks), posting.NameRanks)
	case len(n.places) != 4*(t.rows+1) || int64(n.places.At(t.rows))*posting.NameAlign != int64(len(n.stored)):
		return nil, corrupt("section %s: %d bytes for %d rows, or its end is not that of %s", posting.NamePlaces, len(n.places), t.rows, posting.Names)
	}
	return n, nil
}

// use returns n, checked. It panics on damage: see release.Guard.
func (n *names) use() *names {
	n.check.Check()
	return n
}

// of returns the folded names of a resource, each with its tier behind it; nothing where
// the places lie.
func (n *names) of(rank uint32) []byte {
	from, to := uint64(n.places.At(int(rank)))*posting.NameAlign, uint64(n.places.At(int(rank)+1))*posting.NameAlign
	if from > to || to > uint64(len(n.stored)) {
		return nil
	}
	return n.stored[from:to]
}

// exact appends the resources that a key belongs to.
func (n *names) exact(key uint64, dst []judged) []judged {
	for i := sort.Search(n.keys.Len(), func(i int) bool { return n.keys.At(i) >= key }); i < n.keys.Len() && n.keys.At(i) == key; i++ {
		if rank := n.ranks.At(i); int(rank) < n.rows {
			dst = append(dst, judged{rank: rank})
		}
	}
	return dst
}

// list returns the list of a term; false if there is none.
func (n *names) list(term []byte) (posting.List, bool, error) {
	i, ok, err := n.terms.Get(term)
	if err != nil || !ok {
		return posting.List{}, false, damagedTerms(err)
	}
	if i >= uint64(n.termLists.Len()) {
		return posting.List{}, false, corrupt("section %s: term %d of %d", posting.Terms, i, n.termLists.Len())
	}
	return n.termLists.At(int(i)), true, nil
}

func damagedTerms(err error) error {
	if err == nil || errors.Is(err, vellum.ErrIteratorDone) {
		return nil
	}
	return corrupt("section %s: %v", posting.Terms, err)
}

// afterAll is behind all bytes of terms, which are UTF-8.
const afterAll = 0xff

// span returns the numbers of the terms that begin with prefix.
func (n *names) span(prefix []byte) (first, end uint32, err error) {
	it, err := n.terms.Iterator(prefix, nil)
	if err != nil {
		return 0, 0, damagedTerms(err)
	}
	key, i := it.Current()
	if !bytes.HasPrefix(key, prefix) {
		return 0, 0, nil
	}
	last := uint64(n.termLists.Len())
	var buf [64]byte
	switch err = it.Seek(append(append(buf[:0], prefix...), afterAll)); {
	case err == nil:
		_, last = it.Current()
	case !errors.Is(err, vellum.ErrIteratorDone):
		return 0, 0, damagedTerms(err)
	}
	if i > last || last > uint64(n.termLists.Len()) {
		return 0, 0, corrupt("section %s: terms %d to %d of %d", posting.Terms, i, last, n.termLists.Len())
	}
	return uint32(i), uint32(last), nil
}

// load makes dst the resources that have a term, or one that begins so.
func (n *names) load(dst posting.Set, term []byte, prefix bool) error {
	dst.Clear()
	if !prefix {
		list, ok, err := n.list(term)
		if err != nil || !ok {
			return err
		}
		return list.Load(dst)
	}
	first, end, err := n.span(term)
	if err != nil || first == end {
		return err
	}
	if list, ok := n.prefixLists.Find(posting.PrefixKey(first, end)); ok {
		return list.Load(dst)
	}
	scratch := n.pool.Get()
	defer n.pool.Put(scratch)
	for i := first; i < end; i++ {
		if err := n.termLists.At(int(i)).AddTo(dst, *scratch); err != nil {
			return err
		}
	}
	return nil
}

// nth returns the n-th rank of a set, from 0; -1 if there is none.
func nth(s posting.Set, n int) int {
	for i, w := range s {
		c := mathbits.OnesCount64(w)
		if n >= c {
			n -= c
			continue
		}
		for ; n > 0; n-- {
			w &= w - 1
		}
		return i*64 + mathbits.TrailingZeros64(w)
	}
	return -1
}
