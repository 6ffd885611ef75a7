package index

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/blevesearch/vellum"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
	"github.com/reelsplice/reelsplice/schemas/text"
)

// randomNames returns up to four names of few words.
func randomNames(r *rand.Rand) (list []searchName) {
	for k := range r.IntN(5) {
		var words []string
		for range 1 + r.IntN(4) {
			words = append(words, fmt.Sprintf("%c%x", 'a'+r.IntN(3), r.IntN(1+r.IntN(3000))))
		}
		list = append(list, searchName{strings.Join(words, " -"[r.IntN(2):][:1]), nameKind(k)})
	}
	return list
}

// checkTerms compares terms, their lists and names with a walk over the names by rank.
func checkTerms(t *testing.T, s posting.Source, names [][]searchName) {
	t.Helper()
	rows := len(names)
	want := map[string][]uint32{}
	for i, list := range names {
		for _, n := range list {
			text.Terms(text.AppendFolded(nil, n.text, text.MaxName), func(term []byte) {
				if l := want[string(term)]; len(l) == 0 || l[len(l)-1] != uint32(i) {
					want[string(term)] = append(l, uint32(i))
				}
			})
		}
	}
	terms := make([]string, 0, len(want))
	for term := range want {
		terms = append(terms, term)
	}
	slices.Sort(terms)
	fst, err := vellum.Load(s.Section(tables.NameTerms))
	sharedtest.NoError(t, err)
	lists, err := posting.OpenLists(s, tables.TermLists, rows)
	sharedtest.NoError(t, err)
	if fst.Len() != len(terms) || lists.Len() != len(terms) {
		t.Fatalf("%d terms, %d lists, want %d", fst.Len(), lists.Len(), len(terms))
	}
	for i, term := range terms {
		if n, ok, err := fst.Get([]byte(term)); err != nil || !ok || n != uint64(i) {
			t.Fatalf("term %q has number %d, %v, %v, want %d", term, n, ok, err, i)
		}
		l := lists.At(i)
		if got, err := buildtest.Ranks(l, rows); err != nil || !slices.Equal(got, want[term]) {
			t.Fatalf("term %q: ranks %v, %v, want %v", term, got, err, want[term])
		}
	}
	checkPrefixes(t, s, rows, terms, want)
	checkNames(t, s, names)
}

// checkPrefixes checks that exactly the prefixes of many terms and ranks have lists, with the ranks of their terms.
func checkPrefixes(t *testing.T, s posting.Source, rows int, terms []string, want map[string][]uint32) {
	t.Helper()
	lists, err := posting.OpenLists(s, tables.PrefixLists, rows)
	sharedtest.NoError(t, err)
	heavy, seen := map[uint64]bool{}, map[string]bool{}
	for _, term := range terms {
		for end := 1; end <= len(term); end++ {
			prefix := term[:end]
			if seen[prefix] {
				continue
			}
			seen[prefix] = true
			first, _ := slices.BinarySearch(terms, prefix)
			last, _ := slices.BinarySearch(terms, prefix+"\xff")
			key := tables.PrefixKey(uint32(first), uint32(last))
			var ranks []uint32
			cost := last - first
			for _, t := range terms[first:last] {
				ranks = append(ranks, want[t]...)
				cost += len(want[t])
			}
			l, ok := lists.Find(key)
			if ok != (cost > heavyPrefix) {
				t.Fatalf("prefix %q of %d terms and ranks: has a list: %v", prefix, cost, ok)
			}
			if !ok || heavy[key] {
				continue
			}
			heavy[key] = true
			slices.Sort(ranks)
			if got, err := buildtest.Ranks(l, rows); err != nil || !slices.Equal(got, slices.Compact(ranks)) {
				t.Fatalf("prefix %q: %d ranks, %v, want %d", prefix, len(got), err, len(ranks))
			}
		}
	}
	if len(heavy) < 3 || len(heavy) != lists.Len() {
		t.Errorf("%d prefixes have lists, %d are there", len(heavy), lists.Len())
	}
}

// checkNames checks the stored names.
func checkNames(t *testing.T, s posting.Source, names [][]searchName) {
	t.Helper()
	keys, ranks := posting.Uint64s(s.Section(tables.NameKeys)), posting.Uint32s(s.Section(tables.NameRanks))
	places, stored := posting.Uint32s(s.Section(tables.NamePlaces)), s.Section(tables.NameTexts)
	if keys.Len() != ranks.Len() || places.Len() != len(names)+1 {
		t.Fatalf("%d keys, %d ranks, %d places", keys.Len(), ranks.Len(), places.Len())
	}
	type entry struct {
		key  uint64
		rank uint32
	}
	there := map[entry]bool{}
	for i := range keys.Len() {
		if i > 0 && (keys.At(i) < keys.At(i-1) || keys.At(i) == keys.At(i-1) && ranks.At(i) <= ranks.At(i-1)) {
			t.Fatalf("key %d does not ascend", i)
		}
		there[entry{keys.At(i), ranks.At(i)}] = true
	}
	for i, list := range names {
		tiers := map[string]byte{} // folded names
		keyTiers := map[uint64]uint64{}
		for _, n := range list {
			f := text.AppendFolded(nil, n.text, text.MaxName)
			tier := byte(tables.OtherName)
			if n.kind <= originalName {
				tier = tables.MainName
			}
			if old, ok := tiers[string(f)]; !ok || tier < old {
				tiers[string(f)] = tier
			}
			if old, ok := keyTiers[text.Key(f)]; !ok || uint64(tier) < old {
				keyTiers[text.Key(f)] = uint64(tier)
			}
		}
		for key, tier := range keyTiers {
			if !there[entry{key | tier, uint32(i)}] || tier == tables.MainName && there[entry{key | tables.OtherName, uint32(i)}] {
				t.Fatalf("rank %d: key %x of tier %d is wrong", i, key, tier)
			}
		}
		from, to := tables.NameAlign*int(places.At(i)), tables.NameAlign*int(places.At(i+1))
		for rest := stored[from:to]; len(tiers) > 0; {
			end := bytes.IndexAny(rest, "\x00\x01")
			if end < 0 {
				t.Fatalf("rank %d lacks names %q", i, tiers)
			}
			if tier, ok := tiers[string(rest[:end])]; !ok || tier != rest[end] {
				t.Fatalf("rank %d has name %q of tier %d, want one of %q", i, rest[:end], rest[end], tiers)
			}
			delete(tiers, string(rest[:end]))
			rest = rest[end+1:]
		}
	}
}

// TestManyNames: if a resource has more names than are stored, each name is still found, and the main ones are
// stored.
func TestManyNames(t *testing.T) {
	sharedtest.Set(t, &maxNames, 4)
	for n := range 2*maxNames + 1 {
		names := []searchName{{"Main", mainName}}
		for i := range n {
			names = append(names, searchName{fmt.Sprintf("Other %d", i), alternativeName})
		}
		c := cutter{seen: map[string]struct{}{}}
		c.cut(names)
		if kept := bytes.Count(c.stored, []byte{tables.OtherName}); !bytes.HasPrefix(c.stored, []byte("main\x00")) || kept != min(n, maxNames-1) {
			t.Errorf("of %d other names %d are kept: %q", n, kept, c.stored)
		}
		found := 0
		for _, term := range c.terms {
			if term[0] >= '0' && term[0] <= '9' {
				found++
			}
		}
		if len(c.keys) != n+1 || found != n {
			t.Errorf("of %d names %d are found as a whole, and %d by their last word", n+1, len(c.keys), found)
		}
	}
}
