package layout

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// All genres, countries and languages are known: their names and codes make a vocabulary. Aliases in mappings override names;
// built-in aliases do not.

// A sense is what a name stands for.
type sense struct {
	elements  []element // empty for a name without a place in the API
	ambiguous bool      // the name resolves to nothing
}

// An element is a resource as JSON: its ID or code, and the object that has it.
type element struct{ key, object string }

// A vocabulary maps the names of genres, countries or languages to their senses: names, and their folded forms.
type vocabulary map[string]sense

// foldedForm returns the key of a name in any case, which is no name.
func foldedForm(name string) string { return "\x00" + strings.ToLower(name) }

// add adds names of an element. A name that is present with another element becomes ambiguous.
func (v vocabulary) add(e element, names ...string) {
	for _, name := range names {
		for _, key := range []string{name, foldedForm(name)} {
			old, exists := v[key]
			v[key] = sense{[]element{e}, exists && !slices.Equal(old.elements, []element{e})}
		}
	}
}

// find returns the sense of a name. Case matters only if two names differ in it: Yi is a language, and yi the code of
// another.
func (v vocabulary) find(name string) (m sense, ok bool) {
	name = strings.TrimSpace(name)
	if m, ok = v[name]; !ok {
		m, ok = v[foldedForm(name)]
	}
	return m, ok
}

// alias adds aliases of known names. An alias whose targets this kind of title does not have is dropped, unless it has no
// targets on purpose.
func (v vocabulary) alias(known vocabulary, names aliases) {
	for name, targets := range names {
		m := sense{}
		for _, target := range targets {
			if found, ok := known.find(target); ok {
				m.elements = append(m.elements, found.elements...)
				m.ambiguous = m.ambiguous || found.ambiguous
			}
		}
		if len(targets) == 0 || len(m.elements) > 0 {
			v[name], v[foldedForm(name)] = m, m
		}
	}
}

// vocabularyKey identifies a vocabulary.
type vocabularyKey struct {
	kind  string
	media reference.Media // list of genres
}

// keyOf returns the key of the names of a kind in records of a kind.
func keyOf(kind string, k fragment.Kind) vocabularyKey {
	switch {
	case kind != ofGenre:
		return vocabularyKey{kind: kind}
	case k == fragment.KindTV:
		return vocabularyKey{kind, reference.TV}
	}
	return vocabularyKey{kind, reference.Movie}
}

// knownNames has the vocabularies without aliases.
var knownNames = sync.OnceValue(func() map[vocabularyKey]vocabulary {
	countries, languages := vocabulary{}, vocabulary{}
	for _, c := range reference.Countries() {
		code := string(record.AppendString(nil, c.Code))
		object := fmt.Sprintf(`{"iso_3166_1":%s,"name":%s}`, code, record.AppendString(nil, c.EnglishName))
		countries.add(element{code, object}, c.EnglishName, c.Code)
	}
	for _, l := range reference.Languages() {
		code := string(record.AppendString(nil, l.Code))
		object := fmt.Sprintf(`{"english_name":%s,"iso_639_1":%s,"name":%s}`, record.AppendString(nil, l.EnglishName), code, record.AppendString(nil, l.Name))
		languages.add(element{code, object}, l.EnglishName, l.Code)
	}
	out := map[vocabularyKey]vocabulary{{kind: ofCountry}: countries, {kind: ofLanguage}: languages}
	for _, media := range []reference.Media{reference.Movie, reference.TV} {
		genres := vocabulary{}
		for _, id := range reference.Genres(media) {
			name := reference.GenreName(media, id, "en", "")
			genres.add(resource(id, name), name, strconv.FormatInt(id, 10))
		}
		out[vocabularyKey{ofGenre, media}] = genres
	}
	return out
})

// A dictionary has all names that are known without a catalogue, and the aliases of a run.
type dictionary struct {
	vocabularies map[vocabularyKey]vocabulary // with all aliases
	aliases      map[string]aliases           // aliases in the caller's mappings, by kind of name
}

// newDictionary returns a dictionary with aliases. They override names; built-in aliases do not.
func newDictionary(custom map[string]aliases) *dictionary {
	d := &dictionary{map[vocabularyKey]vocabulary{}, custom}
	for k, known := range knownNames() {
		v := vocabulary{}
		if k.kind == ofGenre { // weaker than aliases
			for _, id := range reference.Genres(k.media) {
				english, _ := known.find(reference.GenreName(k.media, id, "en", ""))
				v.add(english.elements[0], reference.GenreTranslations(k.media, id)...)
			}
		}
		v.alias(known, readyAliases()[k.kind])
		maps.Copy(v, known)
		v.alias(known, custom[k.kind])
		d.vocabularies[k] = v
	}
	return d
}

// readyNames is the dictionary without aliases of mappings.
var readyNames = sync.OnceValue(func() *dictionary { return newDictionary(nil) })

// genreNamed returns the genre of a kind with a name, as JSON, or "" for an unknown or ambiguous name.
func genreNamed(k fragment.Kind, name string) string {
	if m, ok := readyNames().vocabularies[keyOf(ofGenre, k)].find(name); ok && len(m.elements) == 1 {
		return m.elements[0].object
	}
	return ""
}

// resource returns the element of a resource with an ID and a name.
func resource(id int64, name string) element {
	return element{strconv.FormatInt(id, 10), fmt.Sprintf(`{"id":%d,"name":%s}`, id, record.AppendString(nil, name))}
}

// aliases maps a name to the names that it stands for.
type aliases map[string][]string

// readAliases checks the aliases of a file, by kind of name.
func readAliases(spec map[string]map[string]any) (map[string]aliases, error) {
	out := map[string]aliases{}
	var errs []error
	for _, kind := range slices.Sorted(maps.Keys(spec)) {
		if !slices.Contains(objectsOf, kind) {
			err := fmt.Errorf("want aliases of one of %s", strings.Join(objectsOf, ", "))
			errs = append(errs, within("aliases."+kind, err))
			continue
		}
		out[kind] = aliases{}
		for _, name := range slices.Sorted(maps.Keys(spec[kind])) {
			targets, err := aliasTargets(kind, spec[kind][name])
			errs = append(errs, within("aliases."+kind+"."+strconv.Quote(name), err))
			out[kind][name] = targets
		}
	}
	return out, errors.Join(errs...)
}

// aliasTargets returns the targets of an alias: a name, or a list of names.
func aliasTargets(kind string, value any) (out []string, err error) {
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	for _, item := range list {
		target, ok := item.(string)
		if !ok {
			return nil, errors.New("alias: want a text or a list of texts")
		}
		known := nameKinds[kind] != 0 && target != ""
		for k, names := range knownNames() {
			if k.kind == kind && !known {
				_, known = names.find(target)
			}
		}
		if !known {
			return nil, fmt.Errorf("alias: %q is no %s of the API", target, kind)
		}
		out = append(out, target)
	}
	return out, nil
}

// readyAliases has the built-in aliases.
var readyAliases = sync.OnceValue(func() map[string]aliases {
	var spec mappingSpec
	text, err := mappingFiles.ReadFile("mappings/aliases.toml")
	if err == nil {
		err = decodeTOML(text, &spec)
	}
	all, aliasErr := readAliases(spec.Aliases)
	if err = errors.Join(err, aliasErr); err != nil {
		panic(fmt.Sprintf("layout: %v", err)) // a built-in mapping is broken
	}
	return all
})

// WithAliases returns options with the aliases of the caller's mappings, for all tables. The first mapping that defines an alias
// wins.
func WithAliases(o Options) Options {
	all := map[string]aliases{}
	for _, m := range slices.Backward(o.Mappings) {
		for kind, names := range m.aliases {
			if all[kind] == nil {
				all[kind] = aliases{}
			}
			maps.Copy(all[kind], names)
		}
	}
	if len(all) > 0 {
		o.dictionary = newDictionary(all)
	}
	return o
}
