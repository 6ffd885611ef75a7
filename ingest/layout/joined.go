package layout

import (
	"strconv"
	"strings"
	"sync"

	"reelsplice/data/reference"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/wire"
)

// NameIDs knows the ids of companies, networks and keywords by their names. Layouts of
// several workers may share one, so it is safe for concurrent use.
type NameIDs interface {
	// ID returns the id of the one resource of a kind that has a name. ok is false for
	// a name that nothing has. One that several have is known, with the id 0: it is not
	// taken for any of them, and neither for several shorter names.
	ID(kind fragment.Kind, name string) (id int64, ok bool)
}

// A joined list, "Drama, Comedy", does not say where it was joined: names have commas
// too. It is split only where that is safe.

// splitNames appends the objects of a joined list; errWhole where it cannot be split
// safely. The names of genres, countries and languages are all known, so the longest
// ones win; those of other kinds are not, and the list must allow just one cut into
// known names.
func (e *entry) splitNames(dst []byte, s string, names NameIDs) ([]byte, error) {
	start := len(dst)
	if e.Of == ofPerson {
		return e.splitPeople(dst, s, names)
	}
	cut := e.cut(s, names)
	if cut == nil {
		return dst, errWhole
	}
	dst = append(dst, '[')
	for i, name := range cut {
		if i > 0 {
			dst = append(dst, ',')
		}
		var ok bool
		if dst, ok = e.named(dst, name, names); !ok {
			return dst[:start], errWhole // several have the name
		}
	}
	return append(dst, ']'), nil
}

// splitPeople appends the people of a joined list. Any text is the name of somebody, so
// the list is only split where the mapping says by what.
func (e *entry) splitPeople(dst []byte, s string, names NameIDs) ([]byte, error) {
	if e.Separator == "" {
		return dst, errWhole
	}
	_, ordered := e.field.Elem.Field("order")
	dst = append(dst, '[')
	n := 0
	for name := range strings.SplitSeq(s, e.Separator) {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if n > 0 {
			dst = append(dst, ',')
		}
		dst, _ = e.named(dst, name, names) // anybody has a name
		if ordered {
			dst = append(strconv.AppendInt(append(dst[:len(dst)-1], `,"order":`...), int64(n), 10), '}')
		}
		n++
	}
	return append(dst, ']'), nil
}

// maxPieces bounds the length of lists and maxJoined that of names that are looked at.
const (
	maxPieces = 1000
	maxJoined = 12
)

// cut returns the names of a joined list; nil where it cannot be cut.
func (e *entry) cut(s string, names NameIDs) []string {
	n := strings.Count(s, e.separator) + 1
	if n > maxPieces {
		return nil
	}
	at := e.starts(s, n)
	name := func(i, end int) string { return s[at[i] : at[end]-len(e.separator)] }
	// ways[i] is in how many ways the pieces from i on can be cut, up to two, and
	// next[i] behind which piece the longest name from i on ends with which one can.
	ways, next := make([]int, n+1), make([]int, n)
	ways[n] = 1
	for i := n - 1; i >= 0; i-- {
		for end := min(n, i+maxJoined); end > i; end-- {
			if ways[end] == 0 || !e.isName(name(i, end), names) {
				continue
			}
			if ways[i] == 0 {
				next[i] = end
			}
			ways[i] = min(2, ways[i]+ways[end])
		}
	}
	if ways[0] == 0 || ways[0] > 1 && nameKinds[e.Of] != 0 {
		return nil
	}
	var out []string
	for i := 0; i < n; i = next[i] {
		out = append(out, name(i, next[i]))
	}
	return out
}

// starts returns where the n pieces of a joined list start, and where one more would.
func (e *entry) starts(s string, n int) []int {
	at := make([]int, 1, n+1)
	for {
		from := at[len(at)-1]
		i := strings.Index(s[from:], e.separator)
		if i < 0 {
			return append(at, len(s)+len(e.separator))
		}
		at = append(at, from+i+len(e.separator))
	}
}

// isName reports whether something has a name, or several do.
func (e *entry) isName(name string, names NameIDs) bool {
	if kind := nameKinds[e.Of]; kind != 0 {
		if names == nil {
			return false
		}
		_, ok := names.ID(kind, name)
		return ok
	}
	if e.field.Shape == wire.ShapeStrings {
		_, ok := appendCode(nil, e.Of, name)
		return ok
	}
	switch e.Of {
	case ofGenre:
		_, ok := genresNamed()[mediaOf(e.kind)][name]
		return ok
	case ofCountry:
		return countryNamed()[name] != ""
	case ofLanguage:
		return languageNamed()[name] != ""
	}
	return false
}

// The names of what package reference has, with the code of each: "" where two have the
// name.
var (
	countryNamed = sync.OnceValue(func() map[string]string {
		out := map[string]string{}
		for _, c := range reference.Countries() {
			addName(out, c.EnglishName, c.Code)
		}
		return out
	})
	languageNamed = sync.OnceValue(func() map[string]string {
		out := map[string]string{}
		for _, l := range reference.Languages() {
			addName(out, l.EnglishName, l.Code)
		}
		return out
	})
)

func addName(names map[string]string, name, code string) {
	if _, twice := names[name]; twice {
		code = ""
	}
	names[name] = code
}

// genresNamed has the ids of the genres of movies and of series by their English names.
var genresNamed = sync.OnceValue(func() map[reference.Media]map[string]int64 {
	out := map[reference.Media]map[string]int64{}
	for _, m := range []reference.Media{reference.Movie, reference.TV} {
		out[m] = map[string]int64{}
		for _, id := range reference.Genres(m) {
			out[m][reference.GenreName(m, id, "en", "")] = id
		}
	}
	return out
})

// mediaOf returns the list of genres that titles of a kind have.
func mediaOf(k fragment.Kind) reference.Media {
	if k == fragment.KindTV {
		return reference.TV
	}
	return reference.Movie
}

// appendGenre appends a genre; false where titles of a kind have none of that name.
func appendGenre(dst []byte, k fragment.Kind, name string) ([]byte, bool) {
	id, ok := genresNamed()[mediaOf(k)][name]
	return appendIDName(dst, id, name), ok
}
