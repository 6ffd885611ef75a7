// Package gate compares the counts of a release with those of the one before it. A build that works on bad data, half of
// a crawl for instance, gives a sound release with less in it.
package gate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

const (
	// DefaultPercent is by how much a count may fall, in percent, if Limits do not name it.
	DefaultPercent = 10
	// few is how many resources with a language or a sub-request, or terms, have to go at least, if Limits do not name
	// the count: of three resources with a rare language, one goes now and then.
	few = 10
)

// Limits are by how much counts may fall, in percent, by name: a count, such as movie, movie/videos or bytes, or what
// comes before the slash of several. The name "" is for all others.
type Limits map[string]float64

// ParseLimits reads limits of the form 10% or NAME=10%, where the sign may be absent.
func ParseLimits(texts []string) (Limits, error) {
	l := Limits{"": DefaultPercent}
	for _, text := range texts {
		name, percent, named := strings.Cut(text, "=")
		if !named {
			name, percent = "", text
		}
		n, err := strconv.ParseFloat(strings.TrimSuffix(percent, "%"), 64)
		if err != nil || !(n >= 0 && n <= 100) || named && !isName(name) {
			return nil, fmt.Errorf("%q: want a percentage of 0 to 100, such as 10%%, or with a name, such as movie=5%%: a kind of records, "+
				"a sub-request of one (movie/videos), language, language/de, terms, terms/movie or bytes", text)
		}
		l[name] = n
	}
	return l, nil
}

// The names of counts that are not of a kind.
const (
	languages = "language"
	terms     = "terms"
	bytes     = "bytes"
)

// isName reports whether a count may have a name, or those of a kind.
func isName(name string) bool {
	group, sub, isSub := strings.Cut(name, "/")
	switch group {
	case bytes:
		return !isSub
	case languages:
		return !isSub || len(sub) == len("de")
	case terms:
		return !isSub || isKind(sub)
	}
	_, known := fragment.ParseSub(sub)
	return isKind(group) && (!isSub || known || sub == fragment.SubDetails.String())
}

// isKind reports whether a name is that of a kind of records.
func isKind(name string) bool {
	for k := fragment.KindMovie; k <= fragment.KindAccount; k++ {
		if k.String() == name {
			return true
		}
	}
	return false
}

// of returns by how much a count may fall, and whether a limit names it or its group.
func (l Limits) of(count string) (percent float64, named bool) {
	group, _, _ := strings.Cut(count, "/")
	for _, name := range []string{count, group} {
		if percent, ok := l[name]; ok {
			return percent, true
		}
	}
	return l[""], false
}

// A Fall is a count that is smaller than before by more than is allowed.
type Fall struct {
	Count   string  `json:"count"`
	Before  int64   `json:"before"`
	After   int64   `json:"after"`
	Percent float64 `json:"percent"` // that are gone
	Allowed float64 `json:"allowed"` // percent
}

// Falls returns what falls by more than is allowed, in order of name.
func Falls(before, after *release.Manifest, l Limits) []Fall {
	var falls []Fall
	now := counts(after)
	was := counts(before)
	for _, name := range slices.Sorted(maps.Keys(was)) {
		percent, named := l.of(name)
		f := Fall{Count: name, Before: was[name], After: now[name], Allowed: percent}
		if !named && strings.Contains(name, "/") && f.Before-f.After < few {
			continue
		}
		if f.Percent = 100 * float64(f.Before-f.After) / float64(f.Before); f.Percent > f.Allowed {
			falls = append(falls, f)
		}
	}
	return falls
}

// Empty reports whether a release was made of no record.
func Empty(m *release.Manifest) bool {
	for name, n := range m.Sources {
		if isKind(name) && n > 0 {
			return false
		}
	}
	return true
}

// counts returns what is compared, by name, none of them 0: records of kinds, resources with a sub-request, resources
// with a language, terms of search, and bytes of segments.
func counts(m *release.Manifest) map[string]int64 {
	c := map[string]int64{}
	for name, n := range m.Sources {
		if isKind(name) {
			c[name] = n
		}
	}
	for name, n := range m.Counts.SubRequests {
		c[name] = n
	}
	for name, n := range m.Counts.Languages {
		c[languages+"/"+name] = n
	}
	for name, n := range m.Counts.Terms {
		c[terms+"/"+name] = n
	}
	for _, f := range m.Packs {
		c[bytes] += f.Live
	}
	maps.DeleteFunc(c, func(_ string, n int64) bool { return n == 0 })
	return c
}
