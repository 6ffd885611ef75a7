package query

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/blevesearch/vellum"
	"github.com/blevesearch/vellum/levenshtein"

	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

const (
	oneTypo  = 4  // letters: shorter words have no typing errors
	twoTypos = 8  // letters: shorter words have one at most
	longest  = 24 // letters: longer words have no typing errors

	// maxTyped bounds the words of a query with typing errors.
	maxTyped = 4
	// maxTypos bounds the similar terms of a word.
	maxTypos = 48
	// maxTried bounds the terms compared with a word.
	maxTried = 2000
)

// automata build automata for words with one and with two errors. Two swapped neighbours count
// as one error.
var automata = sync.OnceValues(func() (list [2]*levenshtein.LevenshteinAutomatonBuilder, err error) {
	for i := range list {
		if list[i], err = levenshtein.NewLevenshteinAutomatonBuilder(uint8(i+1), true); err != nil {
			return list, err
		}
	}
	return list, nil
})

// matchTypos sets set to the resources with the words up to typing errors: first only in
// words that no name has, then in any.
func (q *search) matchTypos(n *names, set posting.Set) error {
	for i := range q.words {
		q.words[i].typos, q.words[i].tried = nil, false // they belong to another kind
	}
	for _, anyWord := range [...]bool{false, true} {
		set.Clear()
		tried, err := q.allowTypos(n, anyWord)
		if err != nil {
			return err
		}
		if !tried {
			continue
		}
		if err := q.loadAll(n, set); err != nil || set.Next(0) >= 0 {
			return err
		}
	}
	return nil
}

// allowTypos finds similar terms for any of the words, or only for words that no name has.
// It reports whether it found new ones.
func (w *queryWords) allowTypos(n *names, anyWord bool) (bool, error) {
	scratch, part := n.Pool.Get(), n.Pool.Get()
	defer func() { n.Pool.Put(scratch); n.Pool.Put(part) }()
	w.needle = nil // other letters may be right
	tried, found := 0, false
	for i := range w.words {
		wd := &w.words[i]
		if count := utf8.RuneCount(wd.letters()); wd.run || count < oneTypo || count > longest || tried == maxTyped {
			continue
		}
		if tried++; wd.tried {
			continue
		}
		if !anyWord {
			if err := wd.load(n, *scratch, *part); err != nil {
				return false, err
			}
			if scratch.Next(0) >= 0 {
				tried--
				continue
			}
		}
		var err error
		if wd.typos, err = n.similar(wd.letters()); err != nil {
			return false, err
		}
		wd.tried = true
		found = found || len(wd.typos) > 0
	}
	return found, nil
}

// letters returns the word without joints.
func (w *word) letters() []byte {
	if w.joined != nil {
		return w.joined
	}
	return w.text
}

// loadTypos sets dst to the resources with the word or a similar one.
func (w *word) loadTypos(n *names, dst, part posting.Set) error {
	exact := *w
	exact.typos = nil
	if err := exact.load(n, dst, part); err != nil {
		return err
	}
	for i := range w.typos {
		if err := w.typos[i].list.AddTo(dst); err != nil {
			return err
		}
	}
	return nil
}

// similar returns the terms that differ from a word by typing errors. The fewest errors
// come first, then the terms of most resources.
func (n *names) similar(letters []byte) ([]typo, error) {
	builders, err := automata()
	if err != nil {
		return nil, err
	}
	edits := 1
	if utf8.RuneCount(letters) >= twoTypos {
		edits = 2
	}
	dfa, err := builders[edits-1].BuildDfa(string(letters), uint8(edits))
	if err != nil {
		return nil, nil //nolint:nilerr // a word with too many states has no similar terms
	}
	_, size := utf8.DecodeRune(letters)
	first := letters[:size:size] // must be right, or too many terms would be similar
	terms, err := n.Terms.Search(dfa, first, append(first, afterAll))
	var list []typo
	for tried := 0; err == nil && tried < maxTried; err = terms.Next() {
		tried++
		key, i := terms.Current()
		if i >= uint64(n.TermLists.Len()) {
			return nil, corrupt("section %s: term %d of %d", tables.NameTerms, i, n.TermLists.Len())
		}
		if ok, e := dfa.MatchAndDistance(string(key)); ok && e > 0 {
			list = append(list, typo{bytes.Clone(key), int(e), n.TermLists.At(int(i))})
		}
	}
	if err != nil && !errors.Is(err, vellum.ErrIteratorDone) {
		return nil, damagedTerms(err)
	}
	slices.SortStableFunc(list, func(a, b typo) int {
		return cmp.Or(cmp.Compare(a.edits, b.edits), cmp.Compare(b.list.Bytes(), a.list.Bytes()))
	})
	return list[:min(len(list), maxTypos)], nil
}
