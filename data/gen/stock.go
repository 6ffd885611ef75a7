package gen

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A node is a value of the sample.
type node struct {
	key, path string  // key of a field, "" of an element; file and keys on the way, "movies.credits.cast"
	text      string  // JSON
	fields    []*node // fields of an object, or elements of a list
}

// field returns a field of an object, nil without one.
func (n *node) field(key string) *node {
	for _, f := range n.fields {
		if f.key == key {
			return f
		}
	}
	return nil
}

// content returns a text without its quotes.
func (n *node) content() string { return n.text[1 : len(n.text)-1] }

// A stock is the sample as material for records.
type stock struct {
	rows  map[string][]*node // by file
	lists map[string][]*node // elements of all lists, by path

	words, foreign []string // from titles
	given, family  []string // names of people
	collectionRef  *node    // the collection of a movie, for its fields
}

// newStock reads the sample.
var newStock = sync.OnceValue(func() *stock {
	s := &stock{rows: map[string][]*node{}, lists: map[string][]*node{}}
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
	s.collect()
	return s
})

// parse returns the value at the start of text, which is compact JSON, and the text after it.
func (s *stock) parse(text, path string) (n *node, rest string) {
	n = &node{path: path}
	switch c := text[0]; c {
	case '{', '[':
		for rest = text[1:]; rest[0] != c+2; rest = strings.TrimPrefix(rest, ",") { // '}' is '{'+2, ']' is '['+2
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

// stringLen returns the length of the quoted string at the start of text.
func stringLen(text string) int {
	n := 1
	for ; text[n] != '"'; n++ {
		if text[n] == '\\' {
			n++
		}
	}
	return n + 1
}

// collect fills the lists of words and names, each value once, and keeps one translation a language.
func (s *stock) collect() {
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
		for _, w := range strings.FieldsFunc(k.field("name").content(), func(c rune) bool { return c < 'a' || c > 'z' }) {
			add(&s.words, strings.ToUpper(w[:1])+w[1:])
		}
	}
	for _, p := range s.rows["people"] {
		given, family, _ := strings.Cut(p.field("name").content(), " ")
		add(&s.given, given)
		add(&s.family, strings.Fields(family)...)
	}
	for _, t := range s.rows["movies"] {
		if original := t.field("original_title"); original.text != t.field("title").text {
			add(&s.foreign, strings.Fields(original.content())...)
		}
		if c := t.field("belongs_to_collection"); c.text != "null" {
			s.collectionRef = c
		}
	}
	for path, list := range s.lists {
		if file, ok := strings.CutSuffix(path, ".translations.translations"); ok {
			s.lists[path] = slices.DeleteFunc(list, func(n *node) bool {
				tag := file + n.field("iso_639_1").text + n.field("iso_3166_1").text
				known := seen[tag]
				seen[tag] = true
				return known
			})
		}
	}
}

// title returns one to six random words.
func (s *stock) title(r *random, words []string) string {
	t := words[r.rank(uint64(len(words)))]
	for range r.rank(5) {
		t += " " + words[r.rank(uint64(len(words)))]
	}
	return t
}
