package build

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"reelsplice/build/ledger"
	"reelsplice/schemas/fragment"
)

// stale is the resources of the reduce stage that cannot be kept unseen: something else is
// said of them than in the release before, or their record is another one. Others may be
// among them. They are added before it is asked.
type stale struct {
	mu   sync.Mutex
	all  bool // everything is
	most int  // more than so many are all
	keys map[uint64]struct{}
}

// staleBytes is about what a key in a stale takes of the memory.
const staleBytes = 24

// staleKey is how a stale knows a resource. Those with equal ones are stale together.
func staleKey(kind fragment.Kind, key []byte) uint64 { return xxh3.HashSeed(key, uint64(kind)) }

func (s *stale) add(keys []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all {
		return
	}
	if s.keys == nil {
		s.keys = map[uint64]struct{}{}
	}
	for _, k := range keys {
		s.keys[k] = struct{}{}
	}
	if len(s.keys) > s.most {
		s.all, s.keys = true, nil
	}
}

// addAll makes everything stale.
func (s *stale) addAll() {
	s.mu.Lock()
	s.all, s.keys = true, nil
	s.mu.Unlock()
}

func (s *stale) has(kind fragment.Kind, key []byte) bool {
	if s.all {
		return true
	}
	_, ok := s.keys[staleKey(kind, key)]
	return ok
}

// A saying is something that is said of a resource: the sum of who and what.
type saying struct{ who, what uint64 }

func compareSayings(a, b saying) int {
	return cmp.Or(cmp.Compare(a.who, b.who), cmp.Compare(a.what, b.what))
}

// appendSayings appends what notes say.
func appendSayings(list []saying, notes ledger.Notes) []saying {
	for n := (ledger.Note{}); notes.Next(&n); {
		who := staleKey(fragment.Kind(n.Kind), n.Key)
		list = append(list, saying{who, xxh3.HashSeed(n.Payload, who)})
	}
	return list
}

// news finds out of which resources the units of a shard say something else than those of
// the release before.
type news struct {
	unit    []byte   // the last one that is made
	was, is []saying // of it
	who     []uint64
}

// begin starts a unit that is made. It may have been in the ledger before.
func (n *news) begin(key []byte, old *ledger.Reader) error {
	n.unit, n.was = append(n.unit[:0], key...), n.was[:0]
	e, _, ok := old.At(key)
	if !ok {
		return nil
	}
	said, err := e.Said()
	n.was = appendSayings(n.was, said)
	return err
}

// end is told what the unit says now.
func (n *news) end(said ledger.Notes) {
	n.is = appendSayings(n.is[:0], said)
	n.differ()
}

// passed is told of a unit of the ledger before that is not kept.
func (n *news) passed(e ledger.Entry) error {
	if bytes.Equal(e.Key(), n.unit) {
		return nil // it was made, so begin has seen it
	}
	said, err := e.Said()
	n.was, n.is = appendSayings(n.was[:0], said), n.is[:0]
	n.differ()
	return err
}

// differ adds those of whom was and is do not say the same.
func (n *news) differ() {
	slices.SortFunc(n.was, compareSayings)
	slices.SortFunc(n.is, compareSayings)
	was, is := n.was, n.is
	for len(was) > 0 && len(is) > 0 {
		switch c := compareSayings(was[0], is[0]); {
		case c == 0:
			was, is = was[1:], is[1:]
		case c < 0:
			n.who, was = append(n.who, was[0].who), was[1:]
		default:
			n.who, is = append(n.who, is[0].who), is[1:]
		}
	}
	for _, rest := range [...][]saying{was, is} {
		for _, s := range rest {
			n.who = append(n.who, s.who)
		}
	}
}

// keys returns the keys for stale.
func (n *news) keys() []uint64 {
	slices.Sort(n.who)
	return slices.Compact(n.who)
}
