package layout

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// NameIDs finds the ids of companies, networks and keywords by their names. Layouts of
// several workers may share one, so it is safe for concurrent use.
type NameIDs interface {
	// ID returns the id of the one resource of a kind that has a name. ok is false for
	// a name that nothing has. One that several have is known, with the id 0: it is not
	// taken for any of them, and neither for several shorter names.
	ID(kind fragment.Kind, name string) (id int64, ok bool)
}

// nameKinds are the kinds whose names *identifier finds.
var nameKinds = map[string]fragment.Kind{
	ofCompany: fragment.KindCompany, ofNetwork: fragment.KindNetwork, ofKeyword: fragment.KindKeyword,
	ofPerson: fragment.KindPerson,
}

// What names are of.
const (
	ofGenre    = "genre"
	ofCountry  = "country"
	ofLanguage = "language"
	ofCompany  = "company"
	ofNetwork  = "network"
	ofKeyword  = "keyword"
	ofPerson   = "person" // by the title: see identifier.ID
)

// A nameForm is what names become.
type nameForm int

const (
	asObject nameForm = iota // with the id or code, and the name
	asCode                   // of a country or language
	asID
)

var objectsOf = []string{ofGenre, ofCountry, ofLanguage, ofCompany, ofNetwork, ofKeyword, ofPerson}

// of lists what names can be of.
func (f nameForm) of() []string {
	switch f {
	case asCode:
		return []string{ofCountry, ofLanguage}
	case asID:
		return []string{ofGenre, ofCompany, ofNetwork, ofKeyword, ofPerson}
	}
	return objectsOf
}

// defaultSeparators are what most joined lists are joined with. Where all names are
// known, a list is split by the first that leaves no unknown one; others by the first
// alone, because a name may have any.
var defaultSeparators = []string{", ", ",", "|", ";", "/"}

// A nameReader reads names: one, or several.
type nameReader struct {
	of         string // what the names are of
	as         nameForm
	ordered    bool        // elements have an order
	mint       bool        // unknown names get an id that is made of the name
	separator  string      // that the mapping names; "" for none
	separators []string    // tried in their order
	vocabulary *vocabulary // of names that are all known; nil for others
	aliases    aliases     // of the mappings
}

// leftNames are the rest of a cell of names besides those that were read.
type leftNames struct {
	raw     string   // JSON text that the record keeps; "" for nothing
	nothing []string // names without a place in the API
	whole   bool     // the list cannot be split: the record keeps the cell
}

// meaning returns what a name stands for; false for an unknown one. If mint is set and the mapping
// asks for it, an unknown one gets a minted id.
func (n *nameReader) meaning(name string, ids *identifier, mint bool) (m meaning, ok bool) {
	if n.vocabulary != nil {
		return n.vocabulary.find(name)
	}
	targets, aliased := n.aliases[name]
	if !aliased {
		targets = []string{name}
	}
	for _, target := range targets {
		id, ok := int64(0), false
		if ids != nil {
			id, ok = ids.ID(nameKinds[n.of], target)
		}
		switch {
		case !ok && mint && ids != nil && n.mint:
			id = ids.mintNamed(nameKinds[n.of], target)
		case !ok:
			return m, false
		}
		m.several = m.several || id < 1
		m.elements = append(m.elements, n.element(id, target))
	}
	return m, true
}

// element returns the JSON text of a resource with an id and a name.
func (n *nameReader) element(id int64, name string) string {
	if n.as == asID {
		return strconv.FormatInt(id, 10)
	}
	return string(appendIDName(nil, id, name))
}

// oneName returns what a single name stands for.
func (n *nameReader) oneName(s string, v *evaluator) ([]byte, error) {
	name := strings.TrimSpace(s)
	m, ok := n.meaning(name, v.ids, true)
	switch {
	case !ok || m.several || len(m.elements) > 1:
		return nil, fmt.Errorf("want the name of a %s that is known", n.of)
	case len(m.elements) == 0:
		v.left = append(v.left, leftNames{nothing: []string{name}})
		return nil, nil
	}
	return []byte(m.elements[0]), nil
}

// names returns the elements of a text of names: of a list of texts as JSON or Python
// writes it, or of a joined list. Any text is the name of somebody, and of something that
// a mapping mints ids for, so these are only split where the mapping has a separator.
func (n *nameReader) names(s string, v *evaluator) ([]byte, error) {
	var list []string
	texts, ok := listOf(strings.TrimSpace(s))
	if ok {
		list, ok = textsOfList(texts)
	}
	if !ok && n.of != ofPerson {
		list, ok = n.splitNames(s, v.ids)
	}
	if !ok && n.separator != "" && (n.mint || n.of == ofPerson) {
		list, ok = withoutBlanks(strings.Split(s, n.separator)), true
	}
	if !ok {
		v.left = append(v.left, leftNames{whole: true})
		return nil, nil
	}
	return n.listed(list, v)
}

// textsOfList returns the names of a list; false where it has anything else.
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

// withoutBlanks returns the names that are not empty, without blanks around them.
func withoutBlanks(list []string) []string {
	var out []string
	for _, name := range list {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// listed returns the elements of a list whose names are told apart: those that are known
// to stand for just one thing. The others are left.
func (n *nameReader) listed(list []string, v *evaluator) ([]byte, error) {
	var elements, unknown []string
	left := leftNames{}
	for _, name := range list {
		m, ok := n.meaning(name, v.ids, true)
		switch {
		case !ok || m.several:
			unknown = append(unknown, name)
		case len(m.elements) == 0:
			left.nothing = append(left.nothing, name)
		default:
			elements = append(elements, m.elements...)
		}
	}
	if len(unknown) > 0 {
		raw, err := json.Marshal(unknown)
		if err != nil {
			return nil, err
		}
		left.raw = string(raw)
	}
	if unknown != nil || left.nothing != nil {
		v.left = append(v.left, left)
	}
	if len(elements) > 0 || len(list) == 0 {
		return n.appendElements(nil, elements), nil
	}
	return nil, nil
}

// appendElements appends a list, each element once. Where elements have an order, as in
// the cast, it is that of the list.
func (n *nameReader) appendElements(dst []byte, elements []string) []byte {
	dst = append(dst, '[')
	count := 0
	for i, element := range elements {
		if slices.ContainsFunc(elements[:i], func(before string) bool { return sameElement(before, element) }) {
			continue
		}
		if count > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, element...)
		if n.ordered {
			dst = append(strconv.AppendInt(append(dst[:len(dst)-1], `,"order":`...), int64(count), 10), '}')
		}
		count++
	}
	return append(dst, ']')
}

// sameElement reports whether two elements stand for the same resource. The names may be
// written in different ways.
func sameElement(a, b string) bool {
	a, _, _ = strings.Cut(a, `,"name":`)
	b, _, _ = strings.Cut(b, `,"name":`)
	return a == b
}

// A joined list, "Drama, Comedy", does not show where it was joined: names have commas
// too. It is split only where that is safe.

// splitNames returns the names of a joined list; false where it cannot be split safely.
func (n *nameReader) splitNames(s string, ids *identifier) ([]string, bool) {
	for _, separator := range n.separators {
		cut := n.cut(s, separator, ids)
		if cut == nil {
			continue
		}
		return cut, !slices.ContainsFunc(cut, func(name string) bool {
			m, _ := n.meaning(name, ids, false)
			return m.several
		})
	}
	return nil, false
}

// maxPieces bounds the length of lists and maxJoined that of names that are looked at.
const (
	maxPieces = 1000
	maxJoined = 12
)

// cut returns the names of a joined list; nil where it cannot be cut. The names of
// genres, countries and languages are all known, so the longest ones win; those of other
// kinds are not, and the list must allow just one cut into known names.
func (n *nameReader) cut(s, separator string, ids *identifier) []string {
	pieces := strings.Count(s, separator) + 1
	if pieces > maxPieces {
		return nil
	}
	at := starts(s, separator, pieces)
	name := func(i, end int) string { return strings.TrimSpace(s[at[i] : at[end]-len(separator)]) }
	// Dynamic programming from the end: a list of 1,000 pieces, each a name of up to 12,
	// takes 12,000 looks at names, where trying all ways would take 2^1000.
	// ways[i] is in how many ways the pieces from i on can be cut, up to two, and
	// next[i] behind which piece the longest name from i on ends with which one can.
	ways, next := make([]int, pieces+1), make([]int, pieces)
	ways[pieces] = 1
	for i := pieces - 1; i >= 0; i-- {
		for end := min(pieces, i+maxJoined); end > i; end-- {
			if ways[end] == 0 {
				continue
			}
			if _, known := n.meaning(name(i, end), ids, false); !known {
				continue
			}
			if ways[i] == 0 {
				next[i] = end
			}
			ways[i] = min(2, ways[i]+ways[end])
		}
	}
	if ways[0] == 0 || ways[0] > 1 && n.vocabulary == nil {
		return nil
	}
	var out []string
	for i := 0; i < pieces; i = next[i] {
		out = append(out, name(i, next[i]))
	}
	return out
}

// starts returns where the n pieces of a joined list start, and where one more would.
func starts(s, separator string, n int) []int {
	at := make([]int, 1, n+1)
	for {
		from := at[len(at)-1]
		i := strings.Index(s[from:], separator)
		if i < 0 {
			return append(at, len(s)+len(separator))
		}
		at = append(at, from+i+len(separator))
	}
}
