package query

import (
	"bytes"
	"errors"
	"iter"
	"sort"

	"github.com/blevesearch/vellum"

	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// names are a table with its index of names.
type names struct {
	*table
	*tables.NameIndex
}

// exact yields the resources with a whole name, by its key.
func (n *names) exact(key uint64) iter.Seq[uint32] {
	return func(yield func(rank uint32) bool) {
		for i := sort.Search(n.Keys.Len(), func(i int) bool { return n.Keys.At(i) >= key }); i < n.Keys.Len() && n.Keys.At(i) == key; i++ {
			if rank := n.Ranks.At(i); int(rank) < n.Rows && !yield(rank) {
				return
			}
		}
	}
}

func damagedTerms(err error) error {
	if err == nil || errors.Is(err, vellum.ErrIteratorDone) {
		return nil
	}
	return corrupt("section %s: %v", tables.NameTerms, err)
}

// afterAll is above all bytes of terms, which are UTF-8.
const afterAll = 0xff

// termRange returns the numbers of the terms that begin with prefix.
func (n *names) termRange(prefix []byte) (first, end uint32, err error) {
	terms, err := n.Terms.Iterator(prefix, nil)
	if err != nil {
		return 0, 0, damagedTerms(err)
	}
	key, i := terms.Current()
	if !bytes.HasPrefix(key, prefix) {
		return 0, 0, nil
	}
	last := uint64(n.TermLists.Len())
	var buf [64]byte
	switch err = terms.Seek(append(append(buf[:0], prefix...), afterAll)); {
	case err == nil:
		_, last = terms.Current()
	case !errors.Is(err, vellum.ErrIteratorDone):
		return 0, 0, damagedTerms(err)
	}
	if i > last || last > uint64(n.TermLists.Len()) {
		return 0, 0, corrupt("section %s: terms %d to %d of %d", tables.NameTerms, i, last, n.TermLists.Len())
	}
	return uint32(i), uint32(last), nil
}

// load sets dst to the resources with a term, or with any term of a prefix.
func (n *names) load(dst posting.Set, term []byte, prefix bool) error {
	dst.Clear()
	if !prefix {
		i, ok, err := n.Terms.Get(term)
		switch {
		case err != nil || !ok:
			return damagedTerms(err)
		case i >= uint64(n.TermLists.Len()):
			return corrupt("section %s: term %d of %d", tables.NameTerms, i, n.TermLists.Len())
		}
		return n.TermLists.At(int(i)).AddTo(dst)
	}
	first, end, err := n.termRange(term)
	if err != nil || first == end {
		return err
	}
	if list, ok := n.PrefixLists.Find(tables.PrefixKey(first, end)); ok {
		return list.AddTo(dst)
	}
	for i := first; i < end; i++ {
		if err := n.TermLists.At(int(i)).AddTo(dst); err != nil {
			return err
		}
	}
	return nil
}
