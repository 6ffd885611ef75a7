package e2e

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// A keyLine is a line of the recordings' KEY_ORDER.tsv: the members of an object of an
// operation's responses, in their order.
type keyLine struct {
	operation, object string
	keys              []string
	open              bool // other objects of the same place may have other members
}

// loadKeyLines returns the lines of the operations that begin with one of the prefixes.
func loadKeyLines(t *testing.T, prefixes ...string) (out []keyLine) {
	t.Helper()
	text, err := os.ReadFile(sharedtest.Path(t, "recorded", "KEY_ORDER.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(c[0], p) }) && !strings.HasSuffix(c[0], "/latest") {
			out = append(out, keyLine{operation: c[0], object: c[1], keys: strings.Split(c[3], ",")})
		}
	}
	if len(out) == 0 {
		t.Fatalf("KEY_ORDER.tsv has no line of %q", prefixes)
	}
	return out
}

// objectsAt returns the objects of a response at a path as KEY_ORDER.tsv has them:
// "results[].known_for[]", "(top)".
func objectsAt(v *value, path string) []*value {
	all := []*value{v}
	if path == "(top)" {
		return all
	}
	for name := range strings.SplitSeq(path, ".") {
		name, isList := strings.CutSuffix(name, "[]")
		var next []*value
		for _, o := range all {
			if isList {
				next = append(next, o.list(name)...)
			} else if m := o.at(name); m != nil && m.kind == '{' {
				next = append(next, m)
			}
		}
		all = next
	}
	return all
}

// checkKeyLines compares responses, by operation, with lines: each line is the order of an
// object that is there, and each object has the order of a line unless the line is open.
func checkKeyLines(t *testing.T, lines []keyLine, responses map[string][]*value) {
	t.Helper()
	compared := 0
	for _, l := range lines {
		same, seen := 0, map[string]bool{}
		for _, a := range responses[l.operation] {
			for _, o := range objectsAt(a, l.object) {
				compared++
				like := func(other keyLine) bool { return other.fits(l, o) && slices.Equal(other.keys, o.keys) }
				switch {
				case slices.Equal(o.keys, l.keys):
					same++
				case !l.open && !slices.ContainsFunc(lines, like):
					seen[strings.Join(o.keys, ",")] = true
				}
			}
		}
		if same == 0 {
			t.Errorf("%s %s: no object has the keys %v", l.operation, l.object, l.keys)
		}
		for keys := range seen {
			t.Errorf("%s %s: an object has the keys %s, which no recording has in this order", l.operation, l.object, keys)
		}
	}
	t.Logf("%d lines, %d objects", len(lines), compared)
}

// fits reports whether a line may be that of an object which is not like line l: another
// one of the same place, or for a series one of another place with media_type, since
// some places were recorded with movies alone.
func (k keyLine) fits(l keyLine, o *value) bool {
	return k.operation == l.operation && k.object == l.object ||
		o.text("media_type") == "tv" && slices.Contains(k.keys, "media_type")
}

// pathsOfLists are requests for operations over the whole catalogue.
var pathsOfLists = map[string]string{
	"discover/movie": "/3/discover/movie", "discover/tv": "/3/discover/tv", "list/details": "/3/list/1",
	"movie-list/popular": "/3/movie/popular", "movie-list/top_rated": "/3/movie/top_rated",
	"movie-list/now_playing": "/3/movie/now_playing", "movie-list/upcoming": "/3/movie/upcoming",
	"tv-list/popular": "/3/tv/popular", "tv-list/top_rated": "/3/tv/top_rated",
	"tv-list/airing_today": "/3/tv/airing_today", "tv-list/on_the_air": "/3/tv/on_the_air",
	"person-list/popular": "/3/person/popular",
	"trending/all":        "/3/trending/all/day", "trending/movie": "/3/trending/movie/week",
	"trending/tv": "/3/trending/tv/day", "trending/person": "/3/trending/person/week",
}

// TestKeyOrderOfLists: over the sample, the responses of all operations over the whole
// catalogue have the members of KEY_ORDER.tsv in its order, and no others.
func TestKeyOrderOfLists(t *testing.T) {
	skipLarge(t)
	lines := loadKeyLines(t, "search/", "discover/", "trending/", "movie-list/", "tv-list/", "person-list/", "list/")
	rel := sampleWorld.open(t)
	responses := map[string][]*value{}
	for operation, path := range pathsOfLists {
		day := ""
		switch operation {
		case "movie-list/now_playing", "movie-list/upcoming":
			day = lastOf(t, "movies.ndjson", "release_date")
		case "tv-list/airing_today", "tv-list/on_the_air":
			day = lastOf(t, "tv.ndjson", "last_air_date")
		}
		v, err := ask(newEdgeOn(t, sampleWorld.releases(), rel.Manifest().ID, day), path)
		if err != nil {
			t.Fatal(err)
		}
		responses[operation] = append(responses[operation], v)
	}
	e := newEdge(t, sampleWorld.releases(), rel.Manifest().ID)
	for operation, file := range map[string]string{
		"search/movie": "movies", "search/tv": "tv", "search/person": "people", "search/collection": "collections",
		"search/company": "companies", "search/keyword": "keywords",
	} {
		n := 10
		if file == "people" {
			n = 100 // few are known for a series
		}
		for _, row := range sampleRows(t, file+".ndjson")[:n] {
			for _, op := range []string{operation, "search/multi"} {
				v, err := ask(e, fmt.Sprintf("/3/%s?query=%s", op, url.QueryEscape(nameOf(row))))
				if err != nil {
					t.Fatal(err)
				}
				responses[op] = append(responses[op], v)
			}
		}
	}
	checkKeyLines(t, lines, responses)
}

// lastOf returns the last day that a member of the sample's rows has.
func lastOf(t *testing.T, file, member string) (last string) {
	t.Helper()
	for _, row := range sampleRows(t, file) {
		last = max(last, row.text(member))
	}
	return last
}
