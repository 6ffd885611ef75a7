package query

import (
	"bytes"
	"math"
	"unicode/utf8"

	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
	"github.com/reelsplice/reelsplice/schemas/text"
)

// queryWords are the words of a query.
type queryWords struct {
	folded []byte
	key    uint64 // hash of the whole query
	words  []word
	length int    // letters of the words
	needle []byte // see setNeedle
}

// A word is a word of the query with its joints, such as hyphens.
type word struct {
	text   []byte // part of folded
	joined []byte // text without joints, if it has any
	run    bool   // in a script without spaces
	prefix bool   // the beginning of a word suffices: the last word of the query
	typos  []typo // similar terms
	tried  bool   // typos is final
}

// A typo is a term similar to a word.
type typo struct {
	term  []byte
	edits int
	list  posting.List
}

// parse sets w to the words of a query.
func (w *queryWords) parse(query []byte) {
	w.folded = text.AppendFolded(w.folded[:0], query, text.MaxQuery)
	w.key = text.Key(w.folded)
	w.words, w.length = w.words[:0], 0
	terms := 0
	rest := w.folded
	for len(rest) > 0 && terms < text.MaxWords {
		var wd word
		wd, rest = nextWord(rest, &terms)
		w.words = append(w.words, wd)
		w.length += utf8.RuneCount(wd.text)
	}
	if n := len(w.words); n > 0 && len(rest) == 0 {
		w.words[n-1].prefix = true
	}
	w.setNeedle()
}

// nextWord splits the first word with its parts off a folded text and counts its terms.
func nextWord(folded []byte, terms *int) (w word, rest []byte) {
	part, rest := text.Next(folded)
	start := len(folded) - len(rest) - len(part.Text)
	w.run = part.Run
	for *terms++; len(rest) > 0 && rest[0] == text.Joint && *terms < text.MaxWords; *terms++ {
		_, rest = text.Next(rest)
	}
	w.text = folded[start : len(folded)-len(rest)]
	if w.run {
		*terms += max(utf8.RuneCount(w.text)-2, 0) // pairs
	}
	if bytes.IndexByte(w.text, text.Joint) >= 0 {
		w.joined = text.Clip(text.AppendSqueezed(nil, w.text))
	}
	return w, rest
}

// maxNeedle bounds the bytes of a needle.
const maxNeedle = 4

// setNeedle selects bytes that every fitting name has: the first ones of the longest word. A fast
// search for them skips most names of famous titles.
func (w *queryWords) setNeedle() {
	w.needle = nil
	length := 0
	for i := range w.words {
		if wd := &w.words[i]; len(wd.text) > length {
			length = len(wd.text)
			n := bytes.IndexByte(append(wd.text[:len(wd.text):len(wd.text)], text.Joint), text.Joint)
			n = min(n, maxNeedle)
			for !utf8.Valid(wd.text[:n]) {
				n--
			}
			w.needle = wd.text[:n]
		}
	}
}

// loadAll sets dst to the resources with all words.
func (w *queryWords) loadAll(n *names, dst posting.Set) error {
	first := true
	scratch, part := n.Pool.Get(), n.Pool.Get()
	defer func() { n.Pool.Put(scratch); n.Pool.Put(part) }()
	for i := range w.words {
		into := *scratch
		if first {
			into = dst
		}
		if err := w.words[i].load(n, into, *part); err != nil {
			return err
		}
		if !first {
			dst.And(into)
		}
		if first = false; dst.Next(0) < 0 {
			return nil
		}
	}
	return nil
}

// load sets dst to the resources with the word. part is scratch space.
func (w *word) load(n *names, dst, part posting.Set) error {
	if len(w.typos) > 0 {
		return w.loadTypos(n, dst, part)
	}
	first := true
	if err := w.terms(func(term []byte, prefix bool) error {
		if first {
			first = false
			return n.load(dst, term, prefix)
		}
		if dst.Next(0) < 0 {
			return nil
		}
		err := n.load(part, term, prefix)
		dst.And(part)
		return err
	}); err != nil || w.joined == nil {
		return err
	}
	err := n.load(part, w.joined, w.prefix)
	dst.Or(part)
	return err
}

// terms calls fn with each term of the word.
func (w *word) terms(fn func(term []byte, prefix bool) error) (err error) {
	if w.run {
		if utf8.RuneCount(w.text) == 1 {
			return fn(w.text, true)
		}
		pairs := 0
		text.Pairs(w.text, func(pair []byte) {
			if pairs++; err == nil && pairs < text.MaxWords {
				err = fn(pair, false)
			}
		})
		return err
	}
	for rest := w.text; len(rest) > 0 && err == nil; {
		var part text.Word
		part, rest = text.Next(rest)
		err = fn(part.Text, w.prefix && len(rest) == 0)
	}
	return err
}

// Weights in the score of a hit. A name scores 1 at most.
const (
	spread     = 0.1  // no single name has all words
	together   = 0.5  // all words are in one name
	adjacent   = 0.15 // adjacent and in the order of the query
	beginning  = 0.15 // at the beginning of the name too
	covering   = 0.2  // times the query's share of the name's letters
	lesser     = 0.7  // factor for names other than title and original title
	partial    = 0.7  // factor for names in which the last word is only a beginning
	perEdit    = 0.15 // less for each typing error
	popularity = 0.6  // logarithmic; in full for the popularity famous
	famous     = 500
)

// score returns the fit of a resource's best name, plus its popularity.
func (w *queryWords) score(stored []byte, pop float64) float64 {
	best := spread
	for len(stored) > 0 {
		from := 0
		if len(w.needle) > 0 { // Fast path: most of a famous title's names have other letters.
			offset := bytes.Index(stored, w.needle)
			if offset < 0 {
				break
			}
			for from = offset; from > 0 && stored[from-1] > tables.OtherName; from-- {
			}
		}
		end := from
		for end < len(stored) && stored[end] > tables.OtherName {
			end++
		}
		if fit := w.fit(stored[from:end]); end < len(stored) && stored[end] == tables.MainName {
			best = max(best, fit)
		} else {
			best = max(best, fit*lesser)
		}
		stored = stored[min(end+1, len(stored)):]
	}
	return best + popularity*math.Log1p(max(pop, 0))/math.Log1p(famous)
}

// fit returns how well one name fits, 0 if it lacks a word.
func (w *queryWords) fit(name []byte) float64 {
	if len(name) == 0 {
		return 0
	}
	edits := 0
	for i := range w.words {
		e, ok := w.words[i].editsIn(name)
		if !ok {
			return 0
		}
		edits += e
	}
	fit := together - perEdit*float64(edits)
	if offset := w.phraseOffset(name); offset >= 0 {
		fit += adjacent
		if offset == 0 {
			fit += beginning
		}
	}
	fit += covering * min(1, float64(w.length)/float64(utf8.RuneCount(name)))
	if last := w.words[len(w.words)-1]; last.prefix {
		last.prefix = false
		if _, ok := last.editsIn(name); !ok {
			fit *= partial
		}
	}
	return fit
}

// editsIn reports whether a name has the word, and with how many typing errors.
func (w *word) editsIn(name []byte) (edits int, ok bool) {
	edits = math.MaxInt
	for offset := 0; offset >= 0; offset = w.nextStart(name, offset+1) {
		if _, e, found := w.match(name[offset:]); found {
			edits, ok = min(edits, e), true
			if edits == 0 {
				break
			}
		}
	}
	return edits, ok
}

// nextStart returns the next offset from from on where the word could begin, or -1.
func (w *word) nextStart(name []byte, from int) int {
	for ; from < len(name); from++ {
		if c := name[from-1]; c == ' ' || c == text.Joint || w.run && utf8.RuneStart(name[from]) {
			return from
		}
	}
	return -1
}

// match reports whether a name begins with the word, and returns its bytes there and its
// typing errors.
func (w *word) match(name []byte) (n, edits int, ok bool) {
	if n, ok = matchLetters(name, w.text, w.run, w.prefix); ok || len(w.typos) == 0 {
		return n, 0, ok
	}
	for _, t := range w.typos {
		if n, ok = matchLetters(name, t.term, false, false); ok {
			return n, t.edits, true
		}
	}
	return 0, 0, false
}

// matchLetters reports whether a name begins with the letters of a word, ignoring joints, and
// returns their bytes. A run may end within a word of the name and include spaces.
func matchLetters(name, letters []byte, run, prefix bool) (n int, ok bool) {
	for i := 0; i < len(letters); {
		switch {
		case letters[i] == text.Joint:
			i++
		case n == len(name):
			return 0, false
		case n > 0 && (name[n] == text.Joint || run && name[n] == ' '):
			n++
		case name[n] != letters[i]:
			return 0, false
		default:
			i++
			n++
		}
	}
	return n, run || prefix || n == len(name) || name[n] == ' ' || name[n] == text.Joint
}

// phraseOffset returns the offset of all words, adjacent and in order, in a name, or -1.
func (w *queryWords) phraseOffset(name []byte) int {
	first := &w.words[0]
	for offset := 0; offset >= 0; offset = first.nextStart(name, offset+1) {
		if w.areAtStart(name[offset:]) {
			return offset
		}
	}
	return -1
}

// areAtStart reports whether a name begins with all words.
func (w *queryWords) areAtStart(name []byte) bool {
	for i := range w.words {
		if i > 0 && len(name) > 0 && (name[0] == ' ' || name[0] == text.Joint) {
			name = name[1:]
		}
		n, _, ok := w.words[i].match(name)
		if !ok {
			return false
		}
		name = name[n:]
	}
	return true
}
