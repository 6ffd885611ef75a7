package gen

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// firstSubtitle is the weight from which on titles are subtitles, too.
const firstSubtitle = 30

// Forms are phrases, ready to write. One is chosen by weight.
type forms struct {
	of      chooser
	phrases [][]step
}

// readForms returns the lists of phrases.txt by name. Phrases without a weight have the same.
func readForms() map[string]forms {
	data, err := wordFiles.ReadFile("words/phrases.txt")
	if err != nil {
		panic(fmt.Errorf("gen: %w", err)) // part of the program
	}
	weights, phrases := map[string][]uint32{}, map[string][][]step{}
	for line := range strings.Lines(string(data)) {
		name, phrase, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if strings.HasPrefix(name, "#") {
			continue
		}
		weight := 1
		if first, rest, ok := strings.Cut(phrase, " "); ok && first[0] >= '0' && first[0] <= '9' {
			weight, phrase = number(first), rest
		}
		weights[name], phrases[name] = append(weights[name], uint32(weight)), append(phrases[name], parsePhrase(phrase))
	}
	out := map[string]forms{}
	for name := range phrases {
		out[name] = forms{newChooser(weights[name]...), phrases[name]}
	}
	return out
}

// A step of a phrase is text and the slot after it, 0 at the end.
type step struct {
	text string
	slot byte
}

func parsePhrase(s string) []step {
	var out []step
	for {
		text, rest, ok := strings.Cut(s, "%")
		if !ok {
			return append(out, step{text: text})
		}
		out = append(out, step{text, rest[0]})
		s = rest[1:]
	}
}

// slotLists are the lists of english.txt that slots take a word of.
var slotLists = map[byte]string{
	'a': "adjectives", 'n': "nouns", 'N': "plurals", 'p': "people", 'v': "verbs", 'i': "infinitives", 'l': "places", 't': "times",
	'T': "times", 'k': "links", 'c': "companies", 'e': "endings", 'w': "towns",
	'E': "adjectives", 'B': "nouns", 'M': "plurals", // these three with a capital
}

// A lexicon is English, ready to write with.
type lexicon struct {
	slots                           [128][]string // by letter
	reviews, towns, characters      []string
	phrases, taglines, titles       forms
	companyNames, keywords          forms
	origins                         []*origin
	languages                       []*language
	countries                       []country
	originOf, languageOf, countryOf chooser
}

var words = sync.OnceValue(func() *lexicon {
	e, f := english(), readForms()
	l := &lexicon{
		reviews: e["reviews"], towns: e["towns"], characters: e["characters"],
		phrases: f["phrases"], taglines: f["taglines"], titles: f["titles"], companyNames: f["companies"], keywords: f["keywords"],
	}
	for slot, list := range slotLists {
		l.slots[slot] = e[list]
	}
	for _, slot := range "EBM" {
		l.slots[slot] = capitals(l.slots[slot])
	}
	var weights []uint32
	l.origins, weights = origins()
	l.originOf = newChooser(weights...)
	l.languages, weights = languages()
	l.languageOf = newChooser(weights...)
	l.countries, l.countryOf = newCountries()
	return l
})

func capitals(list []string) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = capitalized(w)
	}
	return out
}

// appendPhrase appends one of the forms, with a capital at its start.
func (l *lexicon) appendPhrase(b []byte, r *random, f *forms) []byte {
	start := len(b)
	b = l.appendForm(b, r, f)
	if c := b[start]; c >= 'a' && c <= 'z' {
		b[start] = c - 'a' + 'A'
	}
	return b
}

// appendForm appends one of the forms by weight.
func (l *lexicon) appendForm(b []byte, r *random, f *forms) []byte {
	return l.appendSteps(b, r, f.phrases[f.of.pick(r)])
}

func (l *lexicon) appendSteps(b []byte, r *random, steps []step) []byte {
	for _, s := range steps {
		b = append(b, s.text...)
		b = l.appendSlot(b, r, s.slot)
	}
	return b
}

func (l *lexicon) appendSlot(b []byte, r *random, slot byte) []byte {
	if list := l.slots[slot]; list != nil {
		return append(b, pick(r, list)...)
	}
	switch slot {
	case 'A':
		return appendWithArticle(b, pick(r, l.slots['a']))
	case 'D':
		b = append(append(b, "the "...), pick(r, l.slots['a'])...)
		return append(append(b, ' '), pick(r, l.slots['n'])...)
	case 'f':
		return append(b, l.firstName(r).latin...)
	case 'F':
		o := l.origins[l.originOf.pick(r)]
		b = append(append(b, l.givenName(r, o).latin...), ' ')
		return append(b, pick(r, o.family).latin...)
	case 's':
		o := l.origins[l.originOf.pick(r)]
		return append(b, pick(r, o.family).latin...)
	case 'y':
		return append(b, l.countries[l.countryOf.pick(r)].name...)
	case 'X':
		return l.appendTitle(b, r, l.languages[l.languageOf.pick(r)])
	}
	return b
}

func appendWithArticle(b []byte, word string) []byte {
	if strings.IndexByte("aeiou", word[0]) >= 0 && !strings.HasPrefix(word, "use") {
		b = append(b, "an "...)
	} else {
		b = append(b, "a "...)
	}
	return append(b, word...)
}

func (l *lexicon) firstName(r *random) name {
	return l.givenName(r, l.origins[l.originOf.pick(r)])
}

func (l *lexicon) givenName(r *random, o *origin) name {
	if r.next()&1 == 0 {
		return pick(r, o.female)
	}
	return pick(r, o.male)
}

// maxOverview is the limit of TMDB's forms, in characters.
const maxOverview = 1000

// appendText appends a text of about so many characters, at most maxOverview.
func (l *lexicon) appendText(b []byte, r *random, lang *language, chars int) []byte {
	chars = max(20, min(chars, maxOverview))
	if lang.words != nil {
		return appendForeign(b, r, lang, chars)
	}
	start := len(b)
	for {
		end := len(b)
		if end > start {
			b = append(b, ' ')
		}
		b = l.appendPhrase(b, r, &l.phrases)
		switch n := len(b) - start; {
		case n > maxOverview:
			return b[:end]
		case n >= chars-40:
			return b
		}
	}
}

// appendForeign appends sentences of a language's words. Unspaced scripts need
// a third of the characters.
func appendForeign(b []byte, r *random, lang *language, chars int) []byte {
	if !lang.spaced {
		chars /= 3
	}
	for n := 0; n < chars; {
		if n > 0 && lang.spaced {
			b = append(b, ' ')
			n++
		}
		w := lang.capitals[r.front(len(lang.capitals))]
		for words := r.between(5, 16); ; words-- {
			if n+utf8.RuneCountInString(w) >= maxOverview {
				return b
			}
			b = append(b, w...)
			n += utf8.RuneCountInString(w)
			if words == 0 {
				break
			}
			if lang.spaced {
				b = append(b, ' ')
				n++
			} else if words == 5 {
				b = append(b, "、"...)
				n++
			}
			w = lang.words[r.front(len(lang.words))]
		}
		b = append(b, lang.stop...)
		n++
	}
	return b
}

// appendTagline appends a short phrase.
func (l *lexicon) appendTagline(b []byte, r *random, lang *language) []byte {
	if lang.words != nil {
		return appendForeign(b, r, lang, 10)
	}
	return l.appendPhrase(b, r, &l.taglines)
}

// appendTitle appends a title in a language.
func (l *lexicon) appendTitle(b []byte, r *random, lang *language) []byte {
	if lang.words != nil {
		return appendForeignTitle(b, r, lang)
	}
	b = l.appendForm(b, r, &l.titles)
	if r.chance(35) {
		subtitle := l.titles.of.at(uint32(r.between(firstSubtitle, 99)))
		b = l.appendSteps(append(b, ": "...), r, l.titles.phrases[subtitle])
	}
	if r.chance(40) {
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(2+r.front(4)), 10)
	}
	return b
}

// appendForeignTitle appends one to five words.
func appendForeignTitle(b []byte, r *random, lang *language) []byte {
	n := r.front(6)
	b = append(b, lang.capitals[r.front(len(lang.capitals))]...)
	for range n {
		if lang.spaced {
			b = append(b, ' ')
		}
		b = append(b, lang.words[r.front(len(lang.words))]...)
	}
	return b
}
