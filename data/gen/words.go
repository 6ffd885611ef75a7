package gen

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"reelsplice/data/reference"
)

//go:embed words
var wordFiles embed.FS

// wordLines returns the lines of a word list, split at blanks, without comments.
func wordLines(name string) [][]string {
	data, err := wordFiles.ReadFile("words/" + name)
	if err != nil {
		panic(fmt.Errorf("gen: %w", err)) // part of the program
	}
	var out [][]string
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 0 && f[0] != "#" {
			out = append(out, f)
		}
	}
	return out
}

// number reads a number of a word list.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(fmt.Errorf("gen: word lists: %w", err)) // part of the program
	}
	return n
}

// english are the lists of english.txt by name.
var english = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for _, f := range wordLines("english.txt") {
		for _, w := range f[1:] {
			out[f[0]] = append(out[f[0]], strings.ReplaceAll(w, "_", " "))
		}
	}
	return out
})

// A language is one that titles are in.
type language struct {
	code, region      string // region: the usual country of its films
	locale            string // xx-YY, ISO 639-1 and 3166-1
	name, englishName string
	words             []string // frequent ones first; nil for English
	capitals          []string // the words with a capital
	spaced            bool     // there are blanks between words
	stop              string   // what ends a sentence
}

// vocabularySize is how many words a language has besides English.
const vocabularySize = 1500

// languages are those of languages.txt, English first, and their weights among titles.
var languages = sync.OnceValues(func() ([]*language, []uint32) {
	out := []*language{newLanguage("en", "US", nil)}
	weights := []uint32{4700}
	for _, f := range wordLines("languages.txt") {
		out = append(out, newLanguage(f[0], f[1], f[3:]))
		weights = append(weights, uint32(number(f[2])))
	}
	return out, weights
})

func newLanguage(code, region string, words []string) *language {
	ref, ok := reference.LanguageByCode(code)
	if !ok {
		panic("gen: languages.txt: no language " + code)
	}
	l := &language{
		code: code, region: region, locale: code + "-" + region, name: escaped(ref.Name), englishName: escaped(ref.EnglishName),
		spaced: true, stop: ".",
	}
	switch code {
	case "ja", "zh", "cn":
		l.spaced, l.stop = false, "。"
	case "th":
		l.spaced = false
		l.stop = " "
	case "hi", "bn":
		l.stop = "।"
	}
	if words != nil {
		shortest := 2
		if !l.spaced {
			shortest = 1
		}
		l.words = vocabulary(words, vocabularySize, shortest, l.spaced)
		l.capitals = make([]string, len(l.words))
		for i, w := range l.words {
			l.capitals[i] = capitalized(w)
		}
	}
	return l
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

// capitalized returns w with a capital at its start, where its script has such.
func capitalized(w string) string {
	c, n := utf8.DecodeRuneInString(w)
	return string(unicode.ToUpper(c)) + w[n:]
}

// A name is part of a person's name, as it is written in Latin letters and in its own script.
type name struct{ latin, own string }

// An origin is where people have names of one kind.
type origin struct {
	female, male, family []name
	familyFirst          bool   // in the original script
	join                 string // between family and given name there
}

// familyNames is how many family names an origin has.
const familyNames = 2000

// origins are those of names.txt and their weights among people.
var origins = sync.OnceValues(func() ([]*origin, []uint32) {
	var out []*origin
	var weights []uint32
	lists := map[string][]string{}
	flush := func() {
		if len(lists) > 0 {
			out = append(out, newOrigin(lists))
			lists = map[string][]string{}
		}
	}
	for _, f := range wordLines("names.txt") {
		if len(f) == 2 {
			flush()
			weights = append(weights, uint32(number(f[1])))
			lists["origin"] = f[:1]
			continue
		}
		lists[f[0]] = f[1:]
	}
	flush()
	return out, weights
})

func newOrigin(lists map[string][]string) *origin {
	o := &origin{join: " "}
	switch lists["origin"][0] {
	case "ja", "zh", "ko":
		o.familyFirst, o.join = true, ""
	}
	ends := parseNames(lists["t"])
	o.female = combine(lists["f"], ends)
	o.male = combine(lists["m"], ends)
	if s := lists["s"]; strings.Contains(s[0], "/") || strings.HasPrefix(s[0], "+") {
		o.family = combine(s, ends)
	} else {
		o.family = parseNames(vocabulary(s, familyNames, 4, true))
	}
	return o
}

// combine returns the names of a list or, where it is marked by +, each of it with each end.
func combine(list []string, ends []name) []name {
	if !strings.HasPrefix(list[0], "+") {
		return parseNames(list)
	}
	list = append([]string{list[0][1:]}, list[1:]...)
	var out []name
	for _, n := range parseNames(list) {
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
