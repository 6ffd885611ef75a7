package layout

import (
	"cmp"
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

// A meaning is what a name stands for.
type meaning struct {
	elements []string // elements of a field, as JSON; empty for a name without a place in the API
	several  bool     // the name is ambiguous and resolves to nothing
}

// A vocabulary maps the names of genres, countries or languages to their meanings.
type vocabulary struct {
	exact, folded map[string]meaning // folded keys are in lower case
}

func newVocabulary() *vocabulary {
	return &vocabulary{map[string]meaning{}, map[string]meaning{}}
}

// add adds a name. A name that is present with another element becomes ambiguous.
func (v *vocabulary) add(name, element string) {
	for _, to := range []struct {
		in   map[string]meaning
		name string
	}{{v.exact, name}, {v.folded, strings.ToLower(name)}} {
		old, twice := to.in[to.name]
		one := meaning{elements: []string{element}}
		if twice && !slices.Equal(old.elements, one.elements) {
			one.several = true
		}
		to.in[to.name] = one
	}
}

// find returns the meaning of a name. Case matters only if two names differ in it: Yi is a language, and yi the code of
// another.
func (v *vocabulary) find(name string) (meaning, bool) {
	name = strings.TrimSpace(name)
	if m, ok := v.exact[name]; ok {
		return m, true
	}
	m, ok := v.folded[strings.ToLower(name)]
	return m, ok
}

// alias adds aliases of known names. An alias whose targets this kind of title does not have is dropped, unless it has no
// targets on purpose.
func (v *vocabulary) alias(known *vocabulary, names aliases) {
	for name, to := range names {
		m := meaning{}
		for _, target := range to {
			if one, ok := known.find(target); ok {
				m.elements = append(m.elements, one.elements...)
				m.several = m.several || one.several
			}
		}
		if len(to) == 0 || len(m.elements) > 0 {
			v.exact[name], v.folded[strings.ToLower(name)] = m, m
		}
	}
}

// vocabularyKey identifies a vocabulary.
type vocabularyKey struct {
	of    string
	media reference.Media // list of genres
	codes bool            // the elements are codes or IDs, not objects
}

// knownNames has the vocabularies without aliases.
var knownNames = sync.OnceValue(func() map[vocabularyKey]*vocabulary {
	out := map[vocabularyKey]*vocabulary{}
	for _, codes := range []bool{false, true} {
		for _, k := range []vocabularyKey{{of: ofCountry}, {of: ofLanguage}, {of: ofGenre, media: reference.Movie}, {of: ofGenre, media: reference.TV}} {
			k.codes = codes
			out[k] = k.names()
		}
	}
	return out
})

// names builds the vocabulary of a key.
func (k vocabularyKey) names() *vocabulary {
	v := newVocabulary()
	switch k.of {
	case ofGenre:
		for _, id := range reference.Genres(k.media) {
			name := reference.GenreName(k.media, id, "en", "")
			code := strconv.FormatInt(id, 10)
			element := code
			if !k.codes {
				element = string(appendIDName(nil, id, name))
			}
			v.add(name, element)
			v.add(code, element)
		}
	case ofCountry:
		for _, c := range reference.Countries() {
			element := string(record.AppendString(nil, c.Code))
			if !k.codes {
				element = `{"iso_3166_1":` + element + `,"name":` + string(record.AppendString(nil, c.EnglishName)) + `}`
			}
			v.add(c.EnglishName, element)
			v.add(c.Code, element)
		}
	case ofLanguage:
		for _, l := range reference.Languages() {
			element := string(record.AppendString(nil, l.Code))
			if !k.codes {
				element = fmt.Sprintf(`{"english_name":%s,"iso_639_1":%s,"name":%s}`,
					record.AppendString(nil, l.EnglishName), element, record.AppendString(nil, l.Name))
			}
			v.add(l.EnglishName, element)
			v.add(l.Code, element)
		}
	}
	return v
}

// vocabularyOf returns the vocabulary of a kind of names with all aliases, or nil if not all names of the kind are known. media
// selects the list of genres.
func (n *nameReader) vocabularyOf(media reference.Media) *vocabulary {
	k := vocabularyKey{of: n.of, codes: n.as != asObject}
	if n.of == ofGenre {
		k.media = media
	}
	known := knownNames()[k]
	if known == nil {
		return nil
	}
	v := newVocabulary()
	if k.of == ofGenre { // weaker than aliases
		for _, id := range reference.Genres(k.media) {
			english, _ := known.find(reference.GenreName(k.media, id, "en", ""))
			for _, name := range reference.GenreTranslations(k.media, id) {
				v.add(name, english.elements[0])
			}
		}
	}
	v.alias(known, readyAliases()[n.of])
	maps.Copy(v.exact, known.exact)
	maps.Copy(v.folded, known.folded)
	v.alias(known, n.aliases)
	return v
}

// genreNames are the names of genres with the built-in aliases.
var genreNames = sync.OnceValue(func() map[reference.Media]*vocabulary {
	n := nameReader{of: ofGenre}
	return map[reference.Media]*vocabulary{reference.Movie: n.vocabularyOf(reference.Movie), reference.TV: n.vocabularyOf(reference.TV)}
})

// genreNamed returns the genre of a kind with a name, as JSON, or "" for an unknown or ambiguous name.
func genreNamed(k fragment.Kind, name string) string {
	if m, ok := genreNames()[mediaOf(k)].find(name); ok && len(m.elements) == 1 {
		return m.elements[0]
	}
	return ""
}

// mediaOf returns the list of genres for titles of a kind.
func mediaOf(k fragment.Kind) reference.Media {
	if k == fragment.KindTV {
		return reference.TV
	}
	return reference.Movie
}

func appendIDName(dst []byte, id int64, name string) []byte {
	dst = append(strconv.AppendInt(append(dst, `{"id":`...), id, 10), `,"name":`...)
	return append(record.AppendString(dst, name), '}')
}

// aliases maps a name to the names that it stands for.
type aliases map[string][]string

// readAliases checks the aliases of a file, by kind of name.
func readAliases(spec map[string]map[string]any) (map[string]aliases, error) {
	out := map[string]aliases{}
	var errs []error
	for _, of := range slices.Sorted(maps.Keys(spec)) {
		if !slices.Contains(objectsOf, of) {
			err := fmt.Errorf("want aliases of one of %s", strings.Join(objectsOf, ", "))
			errs = append(errs, within("aliases."+of, err))
			continue
		}
		out[of] = aliases{}
		for _, name := range slices.Sorted(maps.Keys(spec[of])) {
			to, err := textsOf("alias", spec[of][name])
			err = cmp.Or(err, checkAlias(of, to))
			errs = append(errs, within("aliases."+of+"."+strconv.Quote(name), err))
			out[of][name] = to
		}
	}
	return out, errors.Join(errs...)
}

// checkAlias returns an error for an unknown target.
func checkAlias(of string, to []string) error {
	for _, target := range to {
		known := nameKinds[of] != 0 && target != ""
		for k, names := range knownNames() {
			if k.of == of && !known {
				_, known = names.find(target)
			}
		}
		if !known {
			return fmt.Errorf("alias: %q is no %s of the API", target, of)
		}
	}
	return nil
}

// readyAliases has the built-in aliases.
var readyAliases = sync.OnceValue(func() map[string]aliases {
	var spec mappingSpec
	text, err := mappingFiles.ReadFile("mappings/aliases.toml")
	if err == nil {
		err = DecodeTOML(text, &spec)
	}
	all, wrong := readAliases(spec.Aliases)
	if err = cmp.Or(err, wrong); err != nil {
		panic(fmt.Sprintf("layout: %v", err)) // a built-in mapping is broken
	}
	return all
})

// WithAliases returns options with the aliases of the caller's mappings applied to all tables, built-in ones included. The
// first mapping that defines an alias wins.
func WithAliases(o Options) (Options, error) {
	all := map[string]aliases{}
	for _, m := range slices.Backward(o.Mappings) {
		for of, names := range m.aliases {
			if all[of] == nil {
				all[of] = aliases{}
			}
			maps.Copy(all[of], names)
		}
	}
	if len(all) == 0 {
		return o, nil
	}
	var errs []error
	compiled := func(mappings []*Mapping) (out []*Mapping) {
		for _, m := range mappings {
			one := &Mapping{Name: m.Name, spec: m.spec, aliases: all}
			errs, out = append(errs, one.compile(false)), append(out, one) // m was checked before
		}
		return out
	}
	o.Mappings, o.aliased = compiled(o.Mappings), map[string][]*Mapping{}
	for _, name := range mappedLayouts {
		o.aliased[name] = compiled(ready(name))
	}
	return o, errors.Join(errs...)
}
