// Package gate compares the counts of a release with those before. A build from bad data, such as half a crawl, makes
// a valid release with less content.
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
	// DefaultPercent is the permitted fall of a count, in percent, unless Limits set another.
	DefaultPercent = 10
	// few is the smallest fall, in resources or terms, that counts for languages, sub-requests and terms without a
	// limit of their own. With three resources in a rare language, losing one is normal.
	few = 10
)

// Limits are the permitted falls in percent, by name of a count, such as movie, movie/videos or bytes, or of a group:
// the part before the slash. The name "" is for all others.
type Limits map[string]float64

// ParseLimits parses limits of the form 10% or NAME=10%. The sign is optional.
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

// The names of counts that do not belong to a kind.
const (
	languages = "language"
	terms     = "terms"
	bytes     = "bytes"
)

// isName reports whether name is a valid count or group.
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

// isKind reports whether name is a kind of records.
func isKind(name string) bool {
	for k := fragment.KindMovie; k <= fragment.KindAccount; k++ {
		if k.String() == name {
			return true
		}
	}
	return false
}

// limit returns the permitted fall of a count, and whether a limit names it or its group.
func (l Limits) limit(count string) (percent float64, named bool) {
	group, _, _ := strings.Cut(count, "/")
	for _, name := range []string{count, group} {
		if percent, ok := l[name]; ok {
			return percent, true
		}
	}
	return l[""], false
}

// A Fall is a count that fell by more than permitted.
type Fall struct {
	Count   string  `json:"count"`
	Before  int64   `json:"before"`
	After   int64   `json:"after"`
	Percent float64 `json:"percent"` // lost
	Allowed float64 `json:"allowed"` // permitted percentage
}

// Falls returns the counts that fell by more than permitted, sorted by name.
func Falls(before, after *release.Manifest, l Limits) []Fall {
	var falls []Fall
	countsBefore, countsAfter := counts(before), counts(after)
	for _, name := range slices.Sorted(maps.Keys(countsBefore)) {
		percent, named := l.limit(name)
		f := Fall{Count: name, Before: countsBefore[name], After: countsAfter[name], Allowed: percent}
		if !named && strings.Contains(name, "/") && f.Before-f.After < few {
			continue
		}
		if f.Percent = 100 * float64(f.Before-f.After) / float64(f.Before); f.Percent > f.Allowed {
			falls = append(falls, f)
		}
	}
	return falls
}

// Empty reports whether a release was built from no records.
func Empty(m *release.Manifest) bool {
	for name, n := range m.Sources {
		if isKind(name) && n > 0 {
			return false
		}
	}
	return true
}

// counts returns all compared counts that are not 0, by name: records of kinds, resources with a sub-request,
// resources with a language, search terms, and bytes of segments.
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
