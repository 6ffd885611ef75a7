// Package route turns the path and the query of a request into a typed Request. It
// works on bytes without a server, and allocates nothing once its tables are built
// (by Prepare or on first use, from the table of package api).
//
// # Paths
//
// A path is percent-decoded once, then dot segments are resolved, so that "%2F" is a slash and "%252F" is not. Repeated
// slashes count as one and a slash at the end is ignored, as in common proxies; ".." at the root stays at the root. A
// NUL, encoded or not, and an invalid escape are InvalidInput. Backslash, ";a=b" and full-width slashes are letters
// like any other.
//
// Words in a path win over parameters: "/3/movie/latest" is not a movie. Numbers are
// decimal digits, leading zeros allowed; signs, other letters and numbers that do
// not fit are NotFound, and so is a path of more than MaxPath bytes.
//
// # Queries
//
// Names and values are percent-decoded, "+" is a space, and an invalid escape stays as it is. The order of parameters
// is irrelevant, and unknown ones are ignored. The last of repeated parameters counts. An empty value counts as no
// value. A parameter that neither the operation nor its appended sub-requests accept keeps its zero value: it changes
// no response and causes no error.
//
// # Which error wins
//
// The path (InvalidInput, NotFound), then the method (MethodNotAllowed), then the query:
// its length (InvalidInput), append_to_response (TooManyAppends), page (InvalidPage), each
// date (InvalidDate), the window (InvalidDateRange). Whether the resource exists is for
// the caller to find out after that.
package route

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/serve/status"
)

// The limits of a request.
const (
	MaxPath      = 1024 // bytes of the raw path
	MaxQuery     = 4096 // bytes of the raw query
	maxAppends   = 20   // names in append_to_response, unknown and repeated ones too
	maxPage      = 500
	maxDays      = 14  // between start_date and end_date
	maxLanguages = 64  // in include_image_language or include_video_language
	MaxIDs       = 100 // in ids, repeated ones too
)

// The methods that the edge serves.
const (
	get     = "GET"
	head    = "HEAD"
	options = "OPTIONS"
)

// A Request is a parsed path and query. It takes some 10 KB and is meant to be reused: every Match resets it. It must
// not be copied.
//
// Its byte slices point into the parsed path and query, or into the Request itself. They are valid
// until the caller changes those bytes or parses into the Request again.
type Request struct {
	target
	Params

	// The memory of Params.
	appends [maxAppends]Append
	images  [maxLanguages]fragment.Variant
	videos  [maxLanguages]fragment.Variant

	// scratch holds decoded text. Nothing is decoded twice and decoding
	// never lengthens, so it cannot overflow.
	scratch    [MaxPath + MaxQuery]byte
	scratchLen int
}

// A target is the operation and the resource in a path.
type target struct {
	// Op is the operation; NoOp if none has this path and method.
	Op api.Op
	// Kind and Sub belong to the operation; zero if it has none.
	Kind fragment.Kind
	Sub  fragment.Sub
	// ID is the number in the path: the series' in the paths of seasons and
	// episodes. It is zero in paths without one, and for a movie named by Name.
	ID fragment.ID
	// Season and Episode are the numbers below a series. In the paths of the changes
	// of a season or an episode they are zero, and ID is its own number.
	Season, Episode uint32
	// Name is the text in the path, decoded: a review's or credit's id, a time
	// window, an external id, or the IMDb id ("tt0137523") in place of a movie's
	// number. It is nil in other paths.
	Name []byte
	// Allow is the value of the Allow header, for every known path and any method.
	Allow string
}

// Params are the values in the query that the operation or an appended sub-request accepts.
type Params struct {
	// Language is valid where HasLanguage is set: "xx" or "xx-YY" in any case, the first one of a
	// list. Other values count as no language.
	Language    fragment.Variant
	HasLanguage bool
	// Page is 1 to 500, and 1 by default.
	Page uint16
	// Country, Region and WatchRegion are zero unless the query has two letters.
	Country, Region, WatchRegion Country
	// Start and End are valid where HasStart and HasEnd are set. End may lie before
	// Start.
	Start, End       day.Day
	HasStart, HasEnd bool
	// IncludeAdult is set by "true" in any case.
	IncludeAdult bool
	// Fuzzy is set by "true" in any case.
	Fuzzy bool
	// Year, PrimaryYear and FirstAirYear are 0 unless the query has a year from 1000 to 9999.
	Year, PrimaryYear, FirstAirYear uint16

	// The texts, decoded. An absent one is nil, an empty one is not.
	Query, ExternalSource, SortBy, Timezone, IDs []byte
	// Raw is the whole raw query, for Each and Lookup.
	Raw []byte

	// Appends are the sub-requests to append in the order of the request: known
	// names, each once. It is empty for operations that append nothing.
	// The caller decides about "account_states".
	Appends []Append
	// ImageLanguages are the items of include_image_language: bare languages and NoLanguage (for "null"), ascending,
	// each once. Regions, spaces around items, other items, and items beyond maxLanguages are ignored. VideoLanguages
	// are the same for include_video_language.
	ImageLanguages, VideoLanguages []fragment.Variant
}

// An Append is one sub-request to append to a details response.
type Append struct {
	// Property is the name of the field in the response: the requested name, letter for
	// letter, decoded.
	Property []byte
	// Op is the operation appended to the configuration; NoOp elsewhere.
	Op api.Op
	// Kind is the kind of the details, or KindSeason or KindEpisode below a series;
	// Season and Episode are their numbers.
	Kind            fragment.Kind
	Sub             fragment.Sub
	Season, Episode uint32
}

// Reset empties q for the next request, and drops its references.
func (q *Request) Reset() {
	clear(q.Appends)
	q.target, q.Params = target{Op: api.NoOp}, Params{Page: 1}
	q.scratchLen = 0
}

// Parse routes a GET and parses its query: Match and ParseQuery in one.
func Parse(path, query []byte, q *Request) status.Code {
	if c := Match([]byte(get), path, q); c != status.OK {
		return c
	}
	return ParseQuery(query, q)
}

// Match resets q and fills in its target from a raw path, which starts with a slash
// and ends before the question mark.
//
// HEAD is routed as GET. OPTIONS is OK on every known path. Every other method
// is MethodNotAllowed, since the edge is read-only, and so is a GET that writes for a session.
func Match(method, path []byte, q *Request) status.Code {
	q.Reset()
	t := load()
	if len(path) == 0 || len(path) > MaxPath || path[0] != '/' {
		return status.NotFound
	}
	clean := bytes.TrimSuffix(path[1:], []byte{'/'}) // Fast path: nothing else to clean, as in most paths.
	escaped := bytes.IndexByte(path, '%') >= 0 || bytes.IndexByte(path, 0) >= 0
	if escaped || bytes.Contains(path, []byte("//")) || bytes.Contains(path, []byte("/.")) {
		var ok bool
		if clean, ok = cleanPath(q.scratch[:0], path); !ok {
			return status.InvalidInput
		}
		q.scratchLen = len(clean)
	}
	var c capture
	leaf := t.root.walk(clean, &c)
	if leaf < 0 {
		return status.NotFound
	}
	q.ID, q.Season, q.Episode, q.Name = c.id, c.season, c.episode, c.text
	read := t.reads[leaf]
	q.Allow = options
	if read != api.NoOp {
		q.Allow = get + ", " + head + ", " + options
	}
	if m := string(method); m != options && (read == api.NoOp || m != get && m != head) {
		return status.MethodNotAllowed
	}
	q.Op = read
	if op := read.Operation(); op != nil {
		q.Kind, q.Sub = op.Kind, op.Sub
	}
	return status.OK
}

// cleanPath appends to dst the path decoded and without dot segments, repeated
// slashes and the slashes at both ends. It refuses NUL and broken escapes.
func cleanPath(dst, path []byte) ([]byte, bool) {
	from := len(dst)
	for i := 0; i < len(path); i++ {
		ch := path[i]
		if ch == '%' {
			var ok bool
			if ch, ok = unhex(path[i+1:]); !ok {
				return nil, false
			}
			i += 2
		}
		if ch == 0 {
			return nil, false
		}
		dst = append(dst, ch)
	}
	return dst[:from+resolveDots(dst[from:])], true
}

// resolveDots rewrites p in place and returns its new length. Each segment is
// written at or before the place it is read from.
func resolveDots(p []byte) int {
	n := 0
	for seg := range bytes.SplitSeq(p, []byte{'/'}) {
		switch {
		case len(seg) == 0 || string(seg) == ".":
		case string(seg) == "..":
			n = max(bytes.LastIndexByte(p[:n], '/'), 0)
		default:
			if n > 0 {
				p[n] = '/'
				n++
			}
			n += copy(p[n:], seg)
		}
	}
	return n
}

// unhex returns the byte that two hex digits at the start of b stand for.
func unhex(b []byte) (byte, bool) {
	var ch [1]byte
	if len(b) < 2 {
		return 0, false
	}
	_, err := hex.Decode(ch[:], b[:2])
	return ch[0], err == nil
}

// A slot is the type of value that a node matches instead of a word.
type slot uint8

const (
	slotNone    slot = iota
	slotID           // a number, also one with a title after it, as in 550-fight-club
	slotMovie        // likewise, or tt and digits
	slotSeason       // a number below a series
	slotEpisode      // likewise
	slotText         // anything
	slotRest         // anything, slashes included
)

// A node is a place in a tree of paths. A segment leads to the next node: a known word by
// children, any other by the slot.
type node struct {
	children []edge
	param    *node
	slot     slot
	// leaf is the caller's number for the path that ends here, or -1.
	leaf int
}

type edge struct {
	word string
	node *node
}

// A capture holds the values of the slots of a path.
type capture struct {
	id              fragment.ID
	season, episode uint32
	text            []byte
}

// walk follows the segments of p, which has no slash in front, and returns the leaf
// there, or -1. A node with words and a slot never needs a second try: its slot
// takes digits and its words have none (TestWordsAreNoNumbers).
func (n *node) walk(p []byte, c *capture) int {
next:
	for last := false; !last; {
		seg := p
		i := bytes.IndexByte(p, '/')
		if last = i < 0 || n.slot == slotRest; !last {
			seg, p = p[:i], p[i+1:]
		}
		for i := range n.children {
			if e := &n.children[i]; e.word == string(seg) {
				n = e.node
				continue next
			}
		}
		if n.slot == slotNone || !c.set(n.slot, seg) {
			return -1
		}
		n = n.param
	}
	return n.leaf
}

// set stores seg as the value of a slot. It returns false if seg cannot be one.
func (c *capture) set(s slot, seg []byte) bool {
	switch s {
	case slotText, slotRest:
		c.text = seg
		return len(seg) > 0
	case slotID, slotMovie:
		if i := bytes.IndexByte(seg, '-'); i > 0 {
			seg = seg[:i]
		}
		if s == slotMovie && len(seg) > 0 && seg[0] == 't' && isIMDb(seg) {
			c.text = seg
			return true
		}
	}
	number, ok := parseUint(seg)
	switch s {
	case slotSeason:
		c.season = uint32(number)
		return ok && number == uint64(c.season)
	case slotEpisode:
		c.episode = uint32(number)
		return ok && number == uint64(c.episode)
	}
	c.id = fragment.ID(number)
	return ok
}

// ParseID reads the id of a resource of a kind in the form of paths: a number, or a movie's
// IMDb id, which is returned as name.
func ParseID(k fragment.Kind, text []byte) (id fragment.ID, name []byte, ok bool) {
	var c capture
	s := slotID
	if k == fragment.KindMovie {
		s = slotMovie
	}
	ok = c.set(s, text)
	return c.id, c.text, ok
}

// parseUint reads decimal digits, with any leading zeros. It refuses other bytes, and numbers that do not fit.
func parseUint(b []byte) (uint64, bool) {
	v, err := strconv.ParseUint(string(b), 10, 64)
	return v, err == nil
}

// isIMDb reports whether b is tt and digits, short enough for a resource key.
func isIMDb(b []byte) bool {
	if len(b) < 3 || len(b) > fragment.MaxKeyLen-1 || b[0] != 't' || b[1] != 't' {
		return false
	}
	for _, ch := range b[2:] {
		if ch < '0' || ch > '9' {
			return false
		}
	}
	return true
}

// add makes the nodes for a path such as "3/movie/{movie_id}/credits" and returns
// the last one. slotOf returns the slot of each {name}.
func (n *node) add(path string, slotOf func(name string) slot) *node {
	for seg := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(seg, "{"); ok {
			s := slotOf(strings.TrimSuffix(name, "}"))
			if n.param == nil {
				n.slot, n.param = s, newNode()
			}
			if n.slot != s {
				panic("route: two kinds of parameters in one place")
			}
			n = n.param
			continue
		}
		i := slices.IndexFunc(n.children, func(e edge) bool { return e.word == seg })
		if i < 0 {
			i = len(n.children)
			n.children = append(n.children, edge{seg, newNode()})
		}
		n = n.children[i].node
	}
	return n
}

func newNode() *node { return &node{leaf: -1} }
