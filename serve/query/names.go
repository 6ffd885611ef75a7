package query

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"sort"

	"github.com/blevesearch/vellum"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/posting"
	"reelsplice/schemas/release"
)

// names is what search needs of one kind's table.
type names struct {
	kind fragment.Kind
	rows int
	sets *posting.Pool

	terms    *vellum.FST
	lists    posting.Lists
	prefixes posting.Lists
	keys     posting.Uint64s
	ranks    posting.Uint32s
	stored   []byte
	places   posting.Uint32s

	ids        posting.Uint64s
	popularity posting.Float64s
	flag       posting.Lists
	anyYear    posting.Lists
	date       posting.Range
	release    posting.Dated
}

// openNames opens the sections of search; nil for a table that has none.
func openNames(kind fragment.Kind, s posting.Source, rows int, sets *posting.Pool) (n *names, err error) {
	fst := s.Section(posting.Terms)
	if fst == nil {
		return nil, nil //nolint:nilnil // a table need not have names
	}
	defer func() {
		if p := recover(); p != nil { // vellum trusts its bytes
			err = fmt.Errorf("%w: section %s: %v", release.ErrCorrupt, posting.Terms, p)
		}
	}()
	n = &names{
		kind: kind, rows: rows, sets: sets,
		keys: posting.Uint64s(s.Section(posting.NameKeys)), ranks: posting.Uint32s(s.Section(posting.NameRanks)),
		stored: s.Section(posting.Names), places: posting.Uint32s(s.Section(posting.NamePlaces)),
	}
	if n.terms, err = vellum.Load(fst); err != nil {
		return nil, fmt.Errorf("%w: section %s: %v", release.ErrCorrupt, posting.Terms, err)
	}
	if len(n.keys)%8 != 0 || len(n.ranks)%4 != 0 || n.keys.Len() != n.ranks.Len() {
		return nil, fmt.Errorf("%w: section %s has %d bytes, %s %d", release.ErrCorrupt, posting.NameKeys, len(n.keys), posting.NameRanks, len(n.ranks))
	}
	if len(n.places) != 4*(rows+1) || int64(n.places.At(rows))*posting.NameAlign != int64(len(n.stored)) {
		return nil, fmt.Errorf("%w: section %s has %d bytes for %d rows, or does not end with the length of %s",
			release.ErrCorrupt, posting.NamePlaces, len(n.places), rows, posting.Names)
	}
	open := func(l *posting.Lists, name string) {
		if err == nil {
			*l, err = posting.OpenLists(s, name, rows)
		}
	}
	open(&n.lists, posting.TermLists)
	open(&n.prefixes, posting.PrefixLists)
	open(&n.flag, posting.Flag)
	if err == nil {
		n.ids, err = posting.OpenUint64s(s, posting.ID, rows)
	}
	if err == nil {
		n.popularity, err = posting.OpenFloat64s(s, posting.Popularity, rows)
	}
	if err == nil && n.lists.Len() != n.terms.Len() {
		err = fmt.Errorf("%w: section %s has %d terms, %s.keys %d lists", release.ErrCorrupt, posting.Terms, n.terms.Len(), posting.TermLists, n.lists.Len())
	}
	if err == nil && (kind == fragment.KindMovie || kind == fragment.KindTV) {
		open(&n.anyYear, posting.AnyYear)
		if err == nil {
			n.date, err = posting.OpenRange(s, posting.Day, rows, sets)
		}
		if err == nil {
			n.release, err = posting.OpenDated(s, posting.Release, rows)
		}
	}
	if err != nil {
		return nil, err
	}
	return n, nil
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

// find returns the list of a term; false if there is none.
func (n *names) find(term []byte) (posting.List, bool, error) {
	i, ok, err := n.terms.Get(term)
	if err != nil || !ok {
		return posting.List{}, false, damagedTerms(err)
	}
	if i >= uint64(n.lists.Len()) {
		return posting.List{}, false, fmt.Errorf("%w: section %s: term %d of %d", release.ErrCorrupt, posting.Terms, i, n.lists.Len())
	}
	return n.lists.At(int(i)), true, nil
}

func damagedTerms(err error) error {
	if err == nil || errors.Is(err, vellum.ErrIteratorDone) {
		return nil
	}
	return fmt.Errorf("%w: section %s: %v", release.ErrCorrupt, posting.Terms, err)
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
	last := uint64(n.lists.Len())
	var buf [64]byte
	switch err = it.Seek(append(append(buf[:0], prefix...), afterAll)); {
	case err == nil:
		_, last = it.Current()
	case !errors.Is(err, vellum.ErrIteratorDone):
		return 0, 0, damagedTerms(err)
	}
	if i > last || last > uint64(n.lists.Len()) {
		return 0, 0, fmt.Errorf("%w: section %s: terms %d to %d of %d", release.ErrCorrupt, posting.Terms, i, last, n.lists.Len())
	}
	return uint32(i), uint32(last), nil
}

// load makes dst the resources that have a term, or one that begins so.
func (n *names) load(dst posting.Set, term []byte, prefix bool) error {
	dst.Clear()
	if !prefix {
		list, ok, err := n.find(term)
		if err != nil || !ok {
			return err
		}
		return list.Load(dst)
	}
	first, end, err := n.span(term)
	if err != nil || first == end {
		return err
	}
	if list, ok := n.prefixes.Find(posting.PrefixKey(first, end)); ok {
		return list.Load(dst)
	}
	scratch := n.sets.Get()
	defer n.sets.Put(scratch)
	for i := first; i < end; i++ {
		if err := n.lists.At(int(i)).AddTo(dst, *scratch); err != nil {
			return err
		}
	}
	return nil
}

// nth returns the n-th rank of a set, from 0; -1 if there is none.
func nth(s posting.Set, n int) int {
	for i, w := range s {
		c := bits.OnesCount64(w)
		if n >= c {
			n -= c
			continue
		}
		for ; n > 0; n-- {
			w &= w - 1
		}
		return i*64 + bits.TrailingZeros64(w)
	}
	return -1
}
