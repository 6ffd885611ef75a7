package index

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/blevesearch/vellum"

	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
	"github.com/reelsplice/reelsplice/schemas/text"
)

// heavyPrefix is the number of terms and ranks above which the list of a prefix is stored. The edge merges shorter
// lists in about ten microseconds.
const heavyPrefix = 4096

// maxNames limits the names of a resource that are stored for scoring. All names are found.
var maxNames = 512 // tests lower it

// A cutter cuts the names of resources into terms, one resource at a time.
type cutter struct {
	folded []byte   // all folded names
	list   [][]byte // subslices of folded, main names first
	main   int      // number of main names in list
	arena  []byte
	terms  [][]byte // subslices of arena
	keys   []uint64 // name keys with tiers
	stored []byte   // the names in stored form
	seen   map[string]struct{}
}

// cut replaces the contents with the names of the next resource, each once.
func (c *cutter) cut(names []searchName) {
	c.folded, c.list, c.main = c.folded[:0], c.list[:0], 0
	clear(c.seen)
	for _, n := range names { // main names come first
		from := len(c.folded)
		c.folded = text.AppendFolded(c.folded, n.text, text.MaxName)
		name := c.folded[from:]
		if _, ok := c.seen[string(name)]; ok || len(name) == 0 {
			c.folded = c.folded[:from]
			continue
		}
		c.seen[string(name)] = struct{}{}
		c.list = append(c.list, name) // remains valid when folded grows
		if n.kind <= originalName {
			c.main = len(c.list)
		}
	}
	c.stored, c.keys = c.stored[:0], c.keys[:0]
	for i, name := range c.list {
		tier := byte(tables.OtherName)
		if i < c.main {
			tier = tables.MainName
		}
		c.keys = append(c.keys, text.Key(name)|uint64(tier))
		if i < maxNames {
			c.stored = append(append(c.stored, name...), tier)
		}
	}
	slices.Sort(c.keys) // main names sort before others that differ only in spaces
	c.keys = slices.CompactFunc(c.keys, func(a, b uint64) bool { return a&^1 == b&^1 })
	for len(c.stored)%tables.NameAlign != 0 {
		c.stored = append(c.stored, 0)
	}
	c.arena, c.terms = c.arena[:0], c.terms[:0]
	for _, name := range c.list {
		text.Terms(name, func(term []byte) {
			from := len(c.arena)
			c.arena = append(c.arena, term...)
			c.terms = append(c.terms, c.arena[from:])
		})
	}
	slices.SortFunc(c.terms, bytes.Compare)
	c.terms = slices.CompactFunc(c.terms, bytes.Equal)
}

// eachTerm calls fn with each term, its number and its ranks, in order, and returns the number of terms.
func (m *merger) eachTerm(section int, fn func(term []byte, n uint32, ranks []uint32) error) (n uint32, err error) {
	err = grouped(m, section, 0, func(_ []byte, rank uint32) uint32 { return rank }, func(term []byte, ranks []uint32) error {
		if n == tables.MaxTerms {
			return fmt.Errorf("more than %d terms", uint32(tables.MaxTerms))
		}
		n++
		return fn(term, n-1, ranks)
	})
	return n, err
}

// terms writes the lists of all terms, the terms themselves, and the lists of prefixes.
func (m *merger) terms(section int) error {
	var fst bytes.Buffer // buffered until its section can begin
	terms, err := vellum.New(&fst, nil)
	if err != nil {
		return err
	}
	lists := posting.NewListWriter(m.out, tables.TermLists)
	if _, err := m.eachTerm(section, func(term []byte, n uint32, ranks []uint32) error {
		if err := terms.Insert(term, uint64(n)); err != nil {
			return err
		}
		return lists.Add(uint64(n), ranks)
	}); err != nil {
		return err
	}
	if err := errors.Join(lists.Close(), terms.Close()); err != nil {
		return err
	}
	if _, err := fst.WriteTo(m.out.Section(tables.NameTerms)); err != nil {
		return err
	}
	p := &prefixes{out: posting.NewListWriter(m.out, tables.PrefixLists), set: posting.NewSet(m.rows)}
	n, err := m.eachTerm(section, p.add)
	m.termCount = int64(n)
	for err == nil && len(p.open) > 0 {
		err = p.pop(n)
	}
	return errors.Join(err, p.out.Close())
}

// prefixes unites the lists of the terms below each prefix. Terms come in order, so only the prefixes of the last one
// are open.
type prefixes struct {
	out  *posting.ListWriter
	term []byte  // the last one
	open []level // its prefixes, by length
	last uint64  // key of the last list written; 0 for none
	set  posting.Set
}

// A level is an open prefix.
type level struct {
	end   int      // length of the prefix in bytes
	first uint32   // number of its first term
	cost  int      // number of terms and ranks below it
	ranks []uint32 // ranks of its terms, unordered, with duplicates
}

// add adds a term. Terms ascend.
func (p *prefixes) add(term []byte, n uint32, ranks []uint32) error {
	common := 0
	for common < len(p.term) && common < len(term) && p.term[common] == term[common] {
		common++
	}
	for len(p.open) > 0 && p.open[len(p.open)-1].end > common {
		if err := p.pop(n); err != nil {
			return err
		}
	}
	end := 0
	if len(p.open) > 0 {
		end = p.open[len(p.open)-1].end
	}
	for end < len(term) {
		_, size := utf8.DecodeRune(term[end:])
		end += size
		i := len(p.open)
		p.open = slices.Grow(p.open, 1)[:i+1] // levels reuse their memory
		p.open[i] = level{end: end, first: n, ranks: p.open[i].ranks[:0]}
	}
	p.term = append(p.term[:0], term...)
	l := &p.open[len(p.open)-1]
	l.cost += 1 + len(ranks)
	l.ranks = append(l.ranks, ranks...)
	return nil
}

// pop closes the last prefix. n is the number after its last term.
func (p *prefixes) pop(n uint32) error {
	l := &p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	// A longer prefix with the same terms has the same list.
	if key := tables.PrefixKey(l.first, n); l.cost > heavyPrefix && key != p.last {
		p.last = key
		for _, r := range l.ranks { // sorted by the set, without duplicates
			p.set.Add(r)
		}
		l.ranks = l.ranks[:0]
		for r := p.set.Next(0); r >= 0; r = p.set.Next(r + 1) {
			l.ranks = append(l.ranks, uint32(r))
		}
		p.set.Clear()
		if err := p.out.Add(key, l.ranks); err != nil {
			return err
		}
	}
	if len(p.open) > 0 {
		parent := &p.open[len(p.open)-1]
		parent.cost += l.cost
		parent.ranks = append(parent.ranks, l.ranks...)
	}
	return nil
}
