package gen

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// phrases are the sentences of English texts; a letter after % is a slot:
//
//	a adjective, A article and adjective, n noun, N plural noun, D "the adjective noun",
//	p person, v verb, i infinitive, l place, t time, T time at the start, k link at the
//	start, f first name, F full name.
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

// A lexicon is English, ready to write with.
type lexicon struct {
	adjectives, nouns, plurals, people, verbs, infinitives, places, times, links []string
	reviews, companies, endings, towns, characters                               []string
	titleAdjectives, titleNouns, titlePlurals                                    []string // capitalized
	phrases, taglines                                                            [][]step
	origins                                                                      []*origin
	originOf                                                                     chooser
	languages                                                                    []*language
	languageOf                                                                   chooser
}

var words = sync.OnceValue(func() *lexicon {
	e := english()
	l := &lexicon{
		adjectives: e["adjectives"], nouns: e["nouns"], plurals: e["plurals"], people: e["people"], verbs: e["verbs"],
		infinitives: e["infinitives"], places: e["places"], times: e["times"], links: e["links"], reviews: e["reviews"],
		companies: e["companies"], endings: e["endings"], towns: e["towns"], characters: e["characters"],
	}
	l.titleAdjectives, l.titleNouns, l.titlePlurals = capitals(l.adjectives), capitals(l.nouns), capitals(l.plurals)
	for _, p := range phrases {
		l.phrases = append(l.phrases, parsePhrase(p))
	}
	for _, p := range taglines {
		l.taglines = append(l.taglines, parsePhrase(p))
	}
	var weights []uint32
	l.origins, weights = origins()
	l.originOf = newChooser(weights...)
	l.languages, weights = languages()
	l.languageOf = newChooser(weights...)
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
	for _, s := range pick(r, phrases) {
		b = append(b, s.text...)
		b = l.appendSlot(b, r, s.slot)
	}
	if c := b[start]; c >= 'a' && c <= 'z' {
		b[start] = c - 'a' + 'A'
	}
	return b
}

func (l *lexicon) appendSlot(b []byte, r *random, slot byte) []byte {
	switch slot {
	case 'a':
		return append(b, pick(r, l.adjectives)...)
	case 'A':
		return appendWithArticle(b, pick(r, l.adjectives))
	case 'n':
		return append(b, pick(r, l.nouns)...)
	case 'N':
		return append(b, pick(r, l.plurals)...)
	case 'D':
		b = append(append(b, "the "...), pick(r, l.adjectives)...)
		return append(append(b, ' '), pick(r, l.nouns)...)
	case 'p':
		return append(b, pick(r, l.people)...)
	case 'v':
		return append(b, pick(r, l.verbs)...)
	case 'i':
		return append(b, pick(r, l.infinitives)...)
	case 'l':
		return append(b, pick(r, l.places)...)
	case 't', 'T':
		return append(b, pick(r, l.times)...)
	case 'k':
		return append(b, pick(r, l.links)...)
	case 'f':
		return append(b, l.firstName(r).latin...)
	case 'F':
		o := l.origins[l.originOf.pick(r)]
		b = append(append(b, l.givenName(r, o).latin...), ' ')
		return append(b, pick(r, o.family).latin...)
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
	b = l.appendEnglishTitle(b, r, r.below(100))
	if r.chance(35) {
		b = append(b, ": "...)
		b = l.appendEnglishTitle(b, r, r.between(30, 99))
	}
	if r.chance(40) {
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(2+r.front(4)), 10)
	}
	return b
}

// appendEnglishTitle appends a title of one of several forms, as form from 0 to 99 says.
func (l *lexicon) appendEnglishTitle(b []byte, r *random, form int) []byte {
	noun := func() { b = append(b, pick(r, l.titleNouns)...) }
	adjective := func() { b = append(append(b, pick(r, l.titleAdjectives)...), ' ') }
	text := func(s string) { b = append(b, s...) }
	switch {
	case form < 16:
		noun()
	case form < 30:
		text("The ")
		noun()
	case form < 44:
		adjective()
		noun()
	case form < 57:
		text("The ")
		adjective()
		noun()
	case form < 63:
		adjective()
		text(pick(r, l.titlePlurals))
	case form < 71:
		noun()
		text(" of the ")
		noun()
	case form < 76:
		noun()
		text(" and ")
		noun()
	case form < 81:
		text(l.firstName(r).latin)
	case form < 85:
		b = l.appendSlot(b, r, 'F')
	case form < 89:
		text("The ")
		noun()
		text(" Between the ")
		text(pick(r, l.titlePlurals))
	case form < 92:
		text("How to ")
		text(pick(r, l.infinitives))
	case form < 95:
		text("A ")
		noun()
		text(" for ")
		text(l.firstName(r).latin)
	case form < 97:
		text("The Last Days of the ")
		adjective()
		noun()
	default:
		text("Notes on ")
		adjective()
		text("and ")
		adjective()
		text(pick(r, l.titlePlurals))
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
