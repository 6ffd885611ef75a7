package gen

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/reelsplice/reelsplice/data/reference"
)

// A wordFile is words.toml, which explains its parts.
type wordFile struct {
	Words       map[string]string
	Phrases     struct{ Sentences, Taglines, Titles, Companies, Keywords []choice[string] }
	Choices     struct{ Countries, Videos, Shows []choice[string] }
	Locales     struct{ Order string }
	Languages   []choice[languageWords]
	Origins     []choice[originNames]
	Departments []department
}

type languageWords struct {
	Code, Words, Stop string
	Unspaced          bool
}

type originNames struct {
	Female, Male, Family, Endings string
	FamilyFirst                   bool `toml:"family_first"`
}

// A lexicon has all that texts and names are made of, ready to write.
type lexicon struct {
	words                                                   map[string][]string // English, by slot
	sentences, taglines, titles, companyNames, keywordNames weighted[phrase]
	origins                                                 weighted[*origin]
	languages                                               weighted[*language]
	countries                                               weighted[*reference.Country]
	videoTypes, showTypes                                   weighted[string]
	trades
	locales []locale
	english *language
}

var words = sync.OnceValue(func() *lexicon {
	f := readTOML[wordFile]("words.toml")
	l := &lexicon{words: map[string][]string{}}
	for slot, list := range f.Words {
		l.words[slot] = split(list)
		l.words[capitalized(slot)] = capitals(l.words[slot])
	}
	for _, w := range l.words["adjective"] {
		l.words["an adjective"] = append(l.words["an adjective"], withArticle(w))
	}
	l.sentences, l.taglines = weigh(f.Phrases.Sentences, l.parse), weigh(f.Phrases.Taglines, l.parse)
	l.titles, l.companyNames = weigh(f.Phrases.Titles, l.parse), weigh(f.Phrases.Companies, l.parse)
	l.keywordNames = weigh(f.Phrases.Keywords, l.parse)
	l.origins = weigh(f.Origins, newOrigin)
	l.languages = weigh(f.Languages, newLanguage)
	l.english = l.languages.list[0]
	l.countries = weigh(f.Choices.Countries, func(code string) *reference.Country {
		c, ok := reference.CountryByCode(code)
		if !ok {
			panic("gen: words.toml: no country " + code)
		}
		c.EnglishName = escaped(c.EnglishName)
		return &c
	})
	l.videoTypes, l.showTypes = weigh(f.Choices.Videos, same), weigh(f.Choices.Shows, same)
	l.setLocales(split(f.Locales.Order))
	l.setDepartments(f.Departments)
	return l
})

// split returns the words of a list.
func split(list string) []string {
	out := strings.Fields(list)
	for i, w := range out {
		out[i] = strings.ReplaceAll(w, "_", " ")
	}
	return out
}

func capitals(list []string) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = capitalized(w)
	}
	return out
}

// capitalized returns w with a capital at its start, where its script has such.
func capitalized(w string) string {
	c, n := utf8.DecodeRuneInString(w)
	return string(unicode.ToUpper(c)) + w[n:]
}

func withArticle(w string) string {
	if strings.IndexByte("aeiou", w[0]) >= 0 && !strings.HasPrefix(w, "use") {
		return "an " + w
	}
	return "a " + w
}

// A phrase is text with slots.
type phrase []step

// A step is text and the slot after it: "" at the end. words is nil for slots that no list fills.
type step struct {
	text, slot string
	words      []string
}

func (l *lexicon) parse(text string) (p phrase) {
	for {
		before, rest, more := strings.Cut(text, "{")
		slot, rest, _ := strings.Cut(rest, "}")
		p = append(p, step{before, slot, l.words[slot]})
		if !more {
			return p
		}
		text = rest
	}
}

// A language is one that titles are in.
type language struct {
	reference.Language
	words    []string // frequent ones first; nil for English
	capitals []string // the words with a capital
	spaced   bool     // there are blanks between words
	stop     string   // what ends a sentence
	locale   *locale  // of titles in it
}

// vocabularySize is how many words a language has besides English.
const vocabularySize = 1500

func newLanguage(w languageWords) *language {
	l := &language{Language: languageByCode(w.Code), spaced: !w.Unspaced, stop: w.Stop}
	if w.Stop == "" {
		l.stop = "."
	}
	if w.Words != "" {
		shortest := 2
		if w.Unspaced {
			shortest = 1
		}
		l.words = vocabulary(split(w.Words), vocabularySize, shortest, l.spaced)
		l.capitals = capitals(l.words)
	}
	return l
}

func languageByCode(code string) reference.Language {
	l, ok := reference.LanguageByCode(code)
	if !ok {
		panic("gen: words.toml: no language " + code)
	}
	l.Name, l.EnglishName = escaped(l.Name), escaped(l.EnglishName)
	return l
}

// A locale is a language and region of translations.
type locale struct {
	*language
	region string
}

// setLocales sets the locales, and that of each language.
func (l *lexicon) setLocales(codes []string) {
	l.locales = make([]locale, len(codes))
	for _, lang := range l.languages.list {
		lang.locale = &l.locales[0] // of no language
		for i, code := range codes {
			if one, region, _ := strings.Cut(code, "-"); one == lang.Code {
				l.locales[i] = locale{lang, region}
				if lang.locale.language != lang {
					lang.locale = &l.locales[i]
				}
			}
		}
	}
}

// vocabulary returns the given words and up to size in all with more of letters in like
// sequences, none shorter than shortest letters. Words without blanks between them are
// too short to show which letters follow two others. It depends on nothing else: each
// language has one vocabulary.
func vocabulary(words []string, size, shortest int, spaced bool) []string {
	follow := map[[2]rune][]rune{} // by the letters before; 0 begins and ends a word
	known := map[string]bool{}
	for _, w := range words {
		known[w] = true
		last := [2]rune{}
		for _, c := range w {
			follow[last] = append(follow[last], c)
			last = after(last, c, spaced)
		}
		follow[last] = append(follow[last], 0)
	}
	out := append(make([]string, 0, size), words...)
	r := random{uint64(size)}
	const tries = 20
	for n := 0; len(out) < size && n < size*tries; n++ {
		if w := chain(follow, &r, spaced); utf8.RuneCountInString(w) >= shortest && !known[w] {
			known[w] = true
			out = append(out, w)
		}
	}
	return out
}

// after returns the letters that the next one depends on.
func after(last [2]rune, c rune, spaced bool) [2]rune {
	if spaced {
		return [2]rune{last[1], c}
	}
	return [2]rune{0, c}
}

// chain returns a word of letters that follow one another in the examples.
func chain(follow map[[2]rune][]rune, r *random, spaced bool) string {
	const longest = 12
	var w []rune
	for last := ([2]rune{}); len(w) < longest; {
		c := pick(r, follow[last])
		if c == 0 {
			break
		}
		w = append(w, c)
		last = after(last, c, spaced)
	}
	return string(w)
}

// A name is part of a person's name, as it is written in Latin letters and in its own script.
type name struct{ latin, own string }

// An origin is where people have names of one kind.
type origin struct {
	female, male, family []name
	familyFirst          bool // in the original script, where no blank is between the names
}

// familyNames is how many family names an origin of Latin letters has.
const familyNames = 2000

func newOrigin(n originNames) *origin {
	ends := parseNames(strings.Fields(n.Endings))
	o := &origin{female: combine(n.Female, ends), male: combine(n.Male, ends), familyFirst: n.FamilyFirst}
	if strings.ContainsAny(n.Family, "+/") {
		o.family = combine(n.Family, ends)
	} else {
		o.family = parseNames(vocabulary(strings.Fields(n.Family), familyNames, 4, true))
	}
	return o
}

// combine returns the names of a list or, where it is marked by +, each of it with each end.
func combine(list string, ends []name) (out []name) {
	list, marked := strings.CutPrefix(list, "+")
	names := parseNames(strings.Fields(list))
	if !marked {
		return names
	}
	for _, n := range names {
		for _, end := range ends {
			out = append(out, name{n.latin + end.latin, n.own + end.own})
		}
	}
	return out
}

// parseNames reads names in the form latin/own.
func parseNames(list []string) []name {
	out := make([]name, len(list))
	for i, s := range list {
		latin, own, ok := strings.Cut(s, "/")
		if !ok {
			own = latin
		}
		out[i] = name{latin, own}
	}
	return out
}
