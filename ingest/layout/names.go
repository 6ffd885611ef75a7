package layout

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	xlanguage "golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// NameIDs finds IDs of companies, networks and keywords by name. It is safe for concurrent use, because the layouts of several
// workers share it.
type NameIDs interface {
	// ID returns the ID of the one resource of a kind that has the name. ok is false for an unknown name. An ambiguous name
	// gives 0 and true: it stands for none of its resources, and is not split into shorter names.
	ID(kind fragment.Kind, name string) (id int64, ok bool)
}

// nameKinds are the kinds whose names *identifier resolves.
var nameKinds = map[string]fragment.Kind{
	ofCompany: fragment.KindCompany, ofNetwork: fragment.KindNetwork, ofKeyword: fragment.KindKeyword,
	ofPerson: fragment.KindPerson,
}

// Kinds of names.
const (
	ofGenre    = "genre"
	ofCountry  = "country"
	ofLanguage = "language"
	ofCompany  = "company"
	ofNetwork  = "network"
	ofKeyword  = "keyword"
	ofPerson   = "person" // resolved with the title: see identifier.ID
)

// A nameForm is the form of a resolved name.
type nameForm int

const (
	asObject nameForm = iota // with the id or code, and the name
	asCode                   // code of a country or language
	asID
)

var objectsOf = []string{ofGenre, ofCountry, ofLanguage, ofCompany, ofNetwork, ofKeyword, ofPerson}

// kinds lists the kinds of names that a form allows.
func (f nameForm) kinds() []string {
	switch f {
	case asCode:
		return []string{ofCountry, ofLanguage}
	case asID:
		return []string{ofGenre, ofCompany, ofNetwork, ofKeyword, ofPerson}
	}
	return objectsOf
}

// defaultSeparators are the usual separators of joined lists. If all names of a kind are known, a list is split by the first
// separator that leaves no unknown name. Other kinds use only the first, because a name may contain the rest.
var defaultSeparators = []string{", ", ",", "|", ";", "/"}

// A nameReader reads one name, or a list.
type nameReader struct {
	kind       string        // kind of the names
	known      vocabularyKey // key of the kind, if all its names are known
	form       nameForm
	ordered    bool     // the elements have an order
	mint       bool     // unknown names get an ID derived from the name
	separator  string   // separator in the mapping, or ""
	separators []string // tried in order
}

// unmatchedNames are the names of a cell that were not resolved.
type unmatchedNames struct {
	unknown []string // names that the record keeps
	dropped []string // names that the API lacks
	whole   bool     // the list cannot be split: the record keeps the cell
}

// sense returns the sense of a name, or false. If mint is set and the mapping has the option, an unknown name gets a
// minted ID.
func (n *nameReader) sense(name string, v *evaluator, mint bool) (m sense, ok bool) {
	if known := v.names.vocabularies[n.known]; known != nil {
		return known.find(name)
	}
	targets, aliased := v.names.aliases[n.kind][name]
	if !aliased {
		targets = []string{name}
	}
	for _, target := range targets {
		id, ok := v.ids.ID(nameKinds[n.kind], target)
		switch {
		case !ok && mint && n.mint && v.ids != nil:
			id = v.ids.mintNamed(nameKinds[n.kind], target)
		case !ok:
			return m, false
		}
		m.ambiguous = m.ambiguous || id < 1
		m.elements = append(m.elements, resource(id, target))
	}
	return m, true
}

// text returns the JSON text of an element.
func (n *nameReader) text(e element) string {
	if n.form == asObject {
		return e.object
	}
	return e.key
}

// single returns the element of a single name, as JSON text.
func (n *nameReader) single(value any, v *evaluator) (any, error) {
	switch value.(type) {
	case []any, map[string]any:
		return nil, errors.New("want one name")
	}
	name := strings.TrimSpace(textOf(value))
	m, ok := n.sense(name, v, true)
	switch {
	case !ok || m.ambiguous || len(m.elements) > 1:
		return nil, fmt.Errorf("want the name of a known %s", n.kind)
	case len(m.elements) == 0:
		v.unmatched = append(v.unmatched, unmatchedNames{dropped: []string{name}})
		return nil, nil
	}
	return rawJSON(n.text(m.elements[0])), nil
}

// list returns the elements of a list without repeated ones, as JSON text: of the names that stand for exactly one thing. The
// others go to v.unmatched. Ordered elements get their index as order.
func (n *nameReader) list(value any, v *evaluator) (any, error) {
	var list []string
	ok := false
	switch value := value.(type) {
	case []any:
		list, ok = textsOfList(value)
	case map[string]any:
	default:
		if list, ok = n.namesIn(textOf(value), v); !ok {
			v.unmatched = append(v.unmatched, unmatchedNames{whole: true})
			return nil, nil
		}
	}
	if !ok {
		return nil, errors.New("want a list of names")
	}
	var elements []element
	unmatched := unmatchedNames{}
	for _, name := range list {
		m, ok := n.sense(name, v, true)
		switch {
		case !ok || m.ambiguous:
			unmatched.unknown = append(unmatched.unknown, name)
		case len(m.elements) == 0:
			unmatched.dropped = append(unmatched.dropped, name)
		default:
			elements = append(elements, m.elements...)
		}
	}
	if unmatched.unknown != nil || unmatched.dropped != nil {
		v.unmatched = append(v.unmatched, unmatched)
	}
	if given, _ := value.([]any); len(elements) == 0 && len(list)+len(given) > 0 {
		return nil, nil
	}
	out, order := []byte{'['}, int64(0)
	for i, e := range elements {
		if slices.ContainsFunc(elements[:i], func(earlier element) bool { return earlier.key == e.key }) { // also by another name
			continue
		}
		if order > 0 {
			out = append(out, ',')
		}
		out = append(out, n.text(e)...)
		if n.ordered {
			out = append(strconv.AppendInt(append(out[:len(out)-1], `,"order":`...), order, 10), '}')
		}
		order++
	}
	return rawJSON(append(out, ']')), nil
}

// namesIn returns the names in a text: a list of texts in JSON or Python, or a joined list. Any text may be a person's name, or a
// name to mint an ID for, so such lists are split only by a separator in the mapping.
func (n *nameReader) namesIn(s string, v *evaluator) (names []string, ok bool) {
	list, ok := listOf(strings.TrimSpace(s))
	if ok {
		names, ok = textsOfList(list)
	}
	if !ok && n.kind != ofPerson {
		names, ok = n.splitNames(s, v)
	}
	if !ok && n.separator != "" && (n.mint || n.kind == ofPerson) {
		names, ok = withoutBlanks(splitText(s, n.separator)), true
	}
	return names, ok
}

// textsOfList returns the names of a list, or false if it has other elements.
func textsOfList(list []any) ([]string, bool) {
	var out []string
	for _, name := range list {
		text, ok := name.(string)
		if name != nil && !ok {
			return nil, false
		}
		out = append(out, text)
	}
	return withoutBlanks(out), true
}

// withoutBlanks trims names and drops empty ones.
func withoutBlanks(list []string) []string {
	var out []string
	for _, name := range list {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// A joined list such as "Drama, Comedy" is ambiguous, because names contain commas too. It is split only if that is safe.

// splitNames returns the names of a joined list, or false if it cannot be split safely.
func (n *nameReader) splitNames(s string, v *evaluator) ([]string, bool) {
	for _, separator := range n.separators {
		cut := n.cut(s, separator, v)
		if cut == nil {
			continue
		}
		return cut, !slices.ContainsFunc(cut, func(name string) bool {
			m, _ := n.sense(name, v, false)
			return m.ambiguous
		})
	}
	return nil, false
}

// maxPieces bounds the length of lists, and maxJoined the pieces of one name.
const (
	maxPieces = 1000
	maxJoined = 12
)

// cut returns the names of a joined list, or nil. With a vocabulary the longest names win. Without one the list must allow
// exactly one cut into known names.
func (n *nameReader) cut(s, separator string, v *evaluator) []string {
	pieces := strings.Count(s, separator) + 1
	if pieces > maxPieces {
		return nil
	}
	starts := append(make([]int, 0, pieces+1), 0) // offsets of the pieces, and of a piece after the last
	for piece := range strings.SplitSeq(s, separator) {
		starts = append(starts, starts[len(starts)-1]+len(piece)+len(separator))
	}
	name := func(i, end int) string { return strings.TrimSpace(s[starts[i] : starts[end]-len(separator)]) }
	// Dynamic programming from the end: 1,000 pieces with names of up to 12 take 12,000 lookups instead of 2^1000. ways[i]
	// counts the cuts of the pieces from i, up to two. next[i] is the end of the longest name at i that allows a cut.
	ways, next := make([]int, pieces+1), make([]int, pieces)
	ways[pieces] = 1
	for i := pieces - 1; i >= 0; i-- {
		for end := min(pieces, i+maxJoined); end > i; end-- {
			if ways[end] == 0 {
				continue
			}
			if _, known := n.sense(name(i, end), v, false); !known {
				continue
			}
			if ways[i] == 0 {
				next[i] = end
			}
			ways[i] = min(2, ways[i]+ways[end])
		}
	}
	if ways[0] == 0 || ways[0] > 1 && v.names.vocabularies[n.known] == nil {
		return nil
	}
	var out []string
	for i := 0; i < pieces; i = next[i] {
		out = append(out, name(i, next[i]))
	}
	return out
}

// All genres, countries and languages are known: their names and codes make a vocabulary. Aliases in mappings override names;
// built-in aliases do not.

// A sense is the meaning of a name.
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

// namingLanguages are languages whose names of countries and languages are known.
var namingLanguages = strings.Fields("ar de es fr it ja ko nl pl pt ru tr zh")

// translatedNames has vocabularies of countries and languages in namingLanguages. They are weaker than aliases.
var translatedNames = sync.OnceValue(func() map[vocabularyKey]vocabulary {
	countries, languages := vocabulary{}, vocabulary{}
	known := knownNames()
	for _, in := range namingLanguages {
		tag := xlanguage.MustParse(in)
		for _, c := range reference.Countries() {
			if region, err := xlanguage.ParseRegion(c.Code); err == nil {
				countries.add(known[vocabularyKey{kind: ofCountry}][c.Code].elements[0], display.Regions(tag).Name(region))
			}
		}
		for _, l := range reference.Languages() {
			if base, err := xlanguage.ParseBase(l.Code); err == nil {
				languages.add(known[vocabularyKey{kind: ofLanguage}][l.Code].elements[0], display.Languages(tag).Name(base))
			}
		}
	}
	return map[vocabularyKey]vocabulary{{kind: ofCountry}: countries, {kind: ofLanguage}: languages}
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
		if k.kind != ofGenre {
			maps.Copy(v, translatedNames()[k])
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
			return nil, fmt.Errorf("alias: %q is not a %s of the API", target, kind)
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
