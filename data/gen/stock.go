package gen

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A node is a value of the sample.
type node struct {
	key    string  // of a field; "" of an element
	text   string  // JSON
	fields []*node // of an object, or the elements of a list
}

// field returns a field of an object.
func (n *node) field(key string) *node {
	for _, f := range n.fields {
		if f.key == key {
			return f
		}
	}
	panic("gen: the sample lacks " + key + " in " + n.text) // part of the program
}

// content returns a text without its quotes.
func (n *node) content() string { return n.text[1 : len(n.text)-1] }

// A stock is what records are made of: rows of the sample, the elements of their lists, its words and sentences.
type stock struct {
	rows  map[string][]*node // by file
	lists map[string][]*node // elements of all lists, by file and path: "movies.credits.cast"

	words, foreign []string         // of titles
	given, family  []string         // of people
	own            []string         // names of people in scripts of their own
	knownFor       map[string][]int // rows of people, by department
	sentences      []string         // of overviews
	taglines       []string
}

// How many words there are: those of the sample, and others of letters in like sequences.
const (
	titleWords  = 6000
	givenNames  = 2000
	familyNames = 12000
)

// newStock reads the sample.
var newStock = sync.OnceValue(func() *stock {
	s := &stock{rows: map[string][]*node{}, lists: map[string][]*node{}, knownFor: map[string][]int{}}
	for file, kind := range map[string]fragment.Kind{
		"movies": fragment.KindMovie, "tv": fragment.KindTV, "people": fragment.KindPerson, "collections": fragment.KindCollection,
		"companies": fragment.KindCompany, "networks": fragment.KindNetwork, "keywords": fragment.KindKeyword,
	} {
		typ := catalog.TypeOf(kind)
		data, err := fs.ReadFile(sample.FS(), file+".ndjson")
		p := record.NewParser()
		for line := range bytes.Lines(data) {
			rec := typ.New()
			if err == nil {
				err = p.Parse(string(line), rec)
			}
			n, _ := s.parse(string(record.Append(nil, rec)), file)
			s.rows[file] = append(s.rows[file], n)
		}
		if err != nil {
			panic(fmt.Errorf("gen: %s: %w", file, err)) // part of the program
		}
	}
	s.learn()
	return s
})

// parse returns the value that a text in compact JSON begins with, and what follows it. It keeps the elements of lists.
func (s *stock) parse(text, path string) (n *node, rest string) {
	n = &node{}
	switch c := text[0]; c {
	case '{', '[':
		for rest = text[1:]; rest[0] != c+2; rest = strings.TrimPrefix(rest, ",") { // the end of each is two behind its begin
			key, at := "", path
			if c == '{' {
				end := stringLen(rest)
				key, rest = rest[1:end-1], rest[end+1:]
				at += "." + key
				if strings.HasPrefix(key, "season/") {
					at = path + ".season"
				}
			}
			var f *node
			f, rest = s.parse(rest, at)
			f.key = key
			n.fields = append(n.fields, f)
			if c == '[' {
				s.lists[path] = append(s.lists[path], f)
			}
		}
		rest = rest[1:]
	case '"':
		rest = text[stringLen(text):]
	default:
		rest = text[strings.IndexAny(text, ",]}"):]
	}
	n.text = text[:len(text)-len(rest)]
	return n, rest
}

// stringLen returns the length of the string, in quotes, that a text begins with.
func stringLen(text string) int {
	n := 1
	for ; text[n] != '"'; n++ {
		if text[n] == '\\' {
			n++
		}
	}
	return n + 1
}

// learn collects words, names and sentences.
func (s *stock) learn() {
	seen := map[string]bool{}
	add := func(list *[]string, words ...string) {
		for _, w := range words {
			if w != "" && !seen[w] {
				seen[w] = true
				*list = append(*list, w)
			}
		}
	}
	for _, k := range s.rows["keywords"] {
		add(&s.words, strings.FieldsFunc(k.field("name").content(), func(c rune) bool { return c < 'a' || c > 'z' })...)
	}
	for i, p := range s.rows["people"] {
		known := p.field("known_for_department").content()
		s.knownFor[known] = append(s.knownFor[known], i)
		given, family, _ := strings.Cut(p.field("name").content(), " ")
		add(&s.given, given)
		add(&s.family, strings.Fields(family)...)
	}
	for _, c := range s.lists["movies.credits.cast"] {
		if own := c.field("original_name"); own.text != c.field("name").text {
			add(&s.own, own.content())
		}
	}
	for _, names := range [][2]string{{"movies", "title"}, {"tv", "name"}} {
		for _, t := range s.rows[names[0]] {
			if original := t.field("original_" + names[1]); original.text != t.field(names[1]).text {
				add(&s.foreign, strings.Fields(original.content())...)
			}
			add(&s.taglines, t.field("tagline").content())
		}
	}
	for _, file := range []string{"movies", "tv"} { // a language once
		list := s.lists[file+".translations.translations"]
		s.lists[file+".translations.translations"] = slices.DeleteFunc(list, func(n *node) bool {
			tag := n.field("iso_639_1").text + n.field("iso_3166_1").text
			known := seen[file+tag]
			seen[file+tag] = true
			return known
		})
	}
	for _, list := range [][]*node{s.rows["movies"], s.rows["tv"], s.lists["tv.season.episodes"], s.rows["collections"]} {
		for _, n := range list {
			add(&s.sentences, n.field("overview").content())
		}
	}
	s.words, s.given, s.family = vocabulary(s.words, titleWords), vocabulary(s.given, givenNames), vocabulary(s.family, familyNames)
}

// capitalized returns w with a capital at its start, where its script has such.
func capitalized(w string) string {
	c, n := utf8.DecodeRuneInString(w)
	return string(unicode.ToUpper(c)) + w[n:]
}

// vocabulary returns the given words and up to size in all with more of letters in like sequences.
func vocabulary(words []string, size int) []string {
	follow := map[[2]rune][]rune{} // by the letters before; 0 begins and ends a word
	known := map[string]bool{}
	for _, w := range words {
		known[w] = true
		last := [2]rune{}
		for _, c := range w + "\x00" {
			follow[last] = append(follow[last], c)
			last = [2]rune{last[1], c}
		}
	}
	r := random{uint64(size)}
	for len(words) < size {
		w := make([]rune, 0, 12)
		for last := ([2]rune{}); len(w) < cap(w); {
			c := pick(&r, follow[last])
			if c == 0 {
				break
			}
			w = append(w, c)
			last = [2]rune{last[1], c}
		}
		if text := string(w); len(w) > 2 && !known[text] {
			known[text] = true
			words = append(words, text)
		}
	}
	return words
}
