package gen

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// phrases are the sentences of English texts. A letter after % is a slot: one of the lists
// of slotLists, or
//
//	A article and adjective, D "the adjective noun", f first name, F full name, s family
//	name, y country, X title in any language.
var phrases = []string{
	`%A %p %v %D in %l.`,
	`%T, %F must %i or %i.`,
	`%k %A %p %v %D, and %f has to %i.`,
	`When %A %p %v %D, everybody in %l wants to %i.`,
	`%F, %A %p from %l, %v %D to %i.`,
	`The story of %A %p who %v %D %t.`,
	`Nobody in %l knows why %f %v %D.`,
	`%f and %f decide to %i %t, but %D makes them %i.`,
	`A letter about %D brings %f to %l, where %A %p %v %A %n.`,
	`%T, %A %n turns up in %l.`,
	`There, %A %p teaches %f how to %i.`,
	`%k %A %p called %f %v the %N of %l.`,
	`What begins as %A %n ends with %D and %A %p.`,
	`Between %D and the %a %N, %F learns to %i.`,
	`The %a %N of %l are about to %i, and only %A %p %v them.`,
	`It takes %A %p, two %N and %A %n to %i.`,
	`In a town they call \"%D\", %f %v all the %N.`,
	`%f would rather %i than %i, until %D %v %A %p.`,
	`A documentary about the %N of %l and the %p who %v them.`,
	`Filmed %t, it follows %A %p, %A %p and their %N through %l.`,
	`%k the %N are gone.`,
	`The question is not who %v %D, but when to %i.`,
	`%T, the %p of %l %v %D, which %f never meant to %i.`,
	`Two %N, one %n and no way to %i.`,
}

// taglines are short phrases.
var taglines = []string{
	`Some %N never %i.`, `Every %n has its %n.`, `%D is watching.`, `It is time to %i.`, `One %n. Two %N. No way back.`,
	`Nobody can %i alone.`, `The %a %N are back.`, `She came to %i. He came to %i.`, `Trust no %p.`, `%D is only the beginning.`,
	`Before %D, there was %A %n.`, `You can %i, but you cannot %i.`, `From %l with love.`, `Be %a. Be %a. Be gone.`,
	`Where there are %N, there is %A %n.`, `This %n was made to %i.`,
}

// titles are the forms of English titles and their weights; subtitles are of those from
// firstSubtitle on.
var titles = []weighted{
	{16, `%B`},
	{14, `The %B`},
	{14, `%E %B`},
	{13, `The %E %B`},
	{6, `%E %M`},
	{8, `%B of the %B`},
	{5, `%B and %B`},
	{5, `%f`},
	{4, `%F`},
	{4, `The %B Between the %M`},
	{3, `How to %i`},
	{3, `A %B for %f`},
	{2, `The Last Days of the %E %B`},
	{3, `Notes on %E and %E %M`},
}

const firstSubtitle = 30

// companyNames are names of companies and networks. Some hold a comma: lists joined by
// commas cannot be taken apart.
var companyNames = []weighted{
	{7, `%c, %c & Co.`}, {343, `%c %e`}, {250, `%s %e`}, {200, `%c %B %e`}, {130, `%w %B %e`}, {70, `%X`},
}

var keywordNames = []weighted{
	{9, `%w, %y`}, {171, `%n`}, {370, `%a %n`}, {230, `%n %p`}, {120, `%a %p %N`}, {100, `%N and %N`},
}

// A weighted phrase is one of several, of which each has its weight.
type weighted struct {
	weight uint32
	phrase string
}

// Forms are phrases, ready to write, one of which is chosen by weight.
type forms struct {
	of      chooser
	phrases [][]step
}

func newForms(list []weighted) forms {
	var f forms
	var weights []uint32
	for _, w := range list {
		f.phrases, weights = append(f.phrases, parsePhrase(w.phrase)), append(weights, w.weight)
	}
	f.of = newChooser(weights...)
	return f
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

func parsePhrases(list []string) [][]step {
	var out [][]step
	for _, p := range list {
		out = append(out, parsePhrase(p))
	}
	return out
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
	phrases, taglines               [][]step
	titles, companyNames, keywords  forms
	origins                         []*origin
	languages                       []*language
	countries                       []country
	originOf, languageOf, countryOf chooser
}

var words = sync.OnceValue(func() *lexicon {
	e := english()
	l := &lexicon{
		reviews: e["reviews"], towns: e["towns"], characters: e["characters"],
		phrases: parsePhrases(phrases), taglines: parsePhrases(taglines),
		titles: newForms(titles), companyNames: newForms(companyNames), keywords: newForms(keywordNames),
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

// appendPhrase appends a random one of the phrases, with a capital at its start.
func (l *lexicon) appendPhrase(b []byte, r *random, phrases [][]step) []byte {
	start := len(b)
	b = l.appendSteps(b, r, pick(r, phrases))
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
		b = l.appendPhrase(b, r, l.phrases)
		switch n := len(b) - start; {
		case n > maxOverview:
			return b[:end]
		case n >= chars-40:
			return b
		}
	}
}

// appendForeign appends sentences of a language's words. Unspaced scripts say as much in
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
	return l.appendPhrase(b, r, l.taglines)
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
