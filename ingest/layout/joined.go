package layout

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout/pyliteral"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
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

// A nameReader reads cells of names: of one, or of several.
type nameReader struct {
	of         string        // what the names are of
	field      *record.Field // that they become
	mint       bool          // unknown names get an id that is made of the name
	separator  string        // that the mapping names; "" for none
	separators []string      // tried in their order
	vocabulary *vocabulary   // of names that are all known; nil for others
	aliases    aliases       // of the mappings
}

// meaning returns what a name stands for; false for an unknown one. If mint is set and the mapping
// asks for it, an unknown one gets a minted id.
func (n *nameReader) meaning(name string, names *identifier, mint bool) (m meaning, ok bool) {
	if n.vocabulary != nil {
		return n.vocabulary.find(name)
	}
	targets, aliased := n.aliases[name]
	if !aliased {
		targets = []string{name}
	}
	for _, target := range targets {
		id, ok := int64(0), false
		if names != nil {
			id, ok = names.ID(nameKinds[n.of], target)
		}
		switch {
		case !ok && mint && names != nil && n.mint:
			id = names.mintNamed(nameKinds[n.of], target)
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
	if n.field.Shape == record.ShapeInt {
		return strconv.FormatInt(id, 10)
	}
	return string(appendIDName(nil, id, name))
}

// oneName appends what a single name stands for.
func (n *nameReader) oneName(dst []byte, s string, names *identifier) ([]byte, error) {
	name := strings.TrimSpace(s)
	m, ok := n.meaning(name, names, true)
	switch {
	case !ok || m.several || len(m.elements) > 1:
		return dst, fmt.Errorf("want the name of a %s that is known", n.of)
	case len(m.elements) == 0:
		return dst, &leftError{nothing: []string{name}}
	}
	return append(dst, m.elements[0]...), nil
}

// names appends the elements of a cell of names: of a list of texts as JSON or Python
// writes it, or of a joined list. Any text is the name of somebody, and of something that
// a mapping mints ids for, so these are only split where the mapping has a separator.
func (n *nameReader) names(dst []byte, s string, names *identifier) ([]byte, error) {
	list, ok := listedNames(s)
	if ok {
		return n.listed(dst, list, names)
	}
	if n.of != ofPerson {
		if out, err := n.splitNames(dst, s, names); err != errWhole || !n.mint {
			return out, err
		}
	}
	if n.separator == "" {
		return dst, errWhole
	}
	return n.listed(dst, withoutBlanks(strings.Split(s, n.separator)), names)
}

// listedNames reads a list of texts; false for what is none.
func listedNames(s string) ([]string, bool) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "[") || !strings.HasSuffix(s, "]") {
		return nil, false
	}
	var list []*string
	if json.Unmarshal([]byte(s), &list) != nil {
		text, err := pyliteral.AppendJSON(nil, s)
		if err != nil || json.Unmarshal(text, &list) != nil {
			return nil, false
		}
	}
	var out []string
	for _, name := range list {
		if name != nil {
			out = append(out, *name)
		}
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

// listed appends the elements of a list whose names are told apart: those that are known
// to stand for just one thing. The others are left.
func (n *nameReader) listed(dst []byte, list []string, names *identifier) ([]byte, error) {
	var elements, unknown []string
	left := leftError{}
	for _, name := range list {
		m, ok := n.meaning(name, names, true)
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
			return dst, err
		}
		left.raw = string(raw)
	}
	if len(elements) > 0 || len(list) == 0 {
		dst = n.appendElements(dst, elements)
	}
	if unknown == nil && left.nothing == nil {
		return dst, nil
	}
	return dst, &left
}

// appendElements appends a list, each element once. Where elements have an order, as in
// the cast, it is that of the list.
func (n *nameReader) appendElements(dst []byte, elements []string) []byte {
	ordered := false
	if n.field.Shape == record.ShapeObjects {
		_, ordered = n.field.Elem.Field("order")
	}
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
		if ordered {
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

// splitNames appends the elements of a joined list; errWhole where it cannot be split
// safely.
func (n *nameReader) splitNames(dst []byte, s string, names *identifier) ([]byte, error) {
	for _, separator := range n.separators {
		cut := n.cut(s, separator, names)
		if cut == nil {
			continue
		}
		for _, name := range cut {
			if m, _ := n.meaning(name, names, false); m.several {
				return dst, errWhole
			}
		}
		return n.listed(dst, cut, names)
	}
	return dst, errWhole
}

// maxPieces bounds the length of lists and maxJoined that of names that are looked at.
const (
	maxPieces = 1000
	maxJoined = 12
)

// cut returns the names of a joined list; nil where it cannot be cut. The names of
// genres, countries and languages are all known, so the longest ones win; those of other
// kinds are not, and the list must allow just one cut into known names.
func (n *nameReader) cut(s, separator string, names *identifier) []string {
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
			if _, known := n.meaning(name(i, end), names, false); !known {
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
