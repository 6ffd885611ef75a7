package route

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// dirty reports whether cleaning could change more of a path than a slash at its end, or refuse it.
func dirty(path []byte) bool {
	for i, ch := range path {
		switch ch {
		case '%', 0:
			return true
		case '/':
			if i+1 < len(path) && (path[i+1] == '/' || path[i+1] == '.') {
				return true
			}
		}
	}
	return false
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

// A slot is the type of value that a node matches in place of a word.
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

// A node is a place in a tree of paths. Segments lead from one to the next: the
// words among kids, anything else through the slot.
type node struct {
	kids  []edge
	param *node
	slot  slot
	// leaf is the caller's number for the path that ends here; -1 when none does.
	leaf int
}

type edge struct {
	word string
	to   *node
}

// A capture holds what the slots of a path took.
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
	for more := true; more; {
		seg := p
		i := bytes.IndexByte(p, '/')
		if more = i >= 0 && n.slot != slotRest; more {
			seg, p = p[:i], p[i+1:]
		}
		for i := range n.kids {
			if e := &n.kids[i]; e.word == string(seg) {
				n = e.to
				continue next
			}
		}
		if n.slot == slotNone || !c.take(n.slot, seg) {
			return -1
		}
		n = n.param
	}
	return n.leaf
}

// take stores seg as the value of a slot and reports whether it can be one.
func (c *capture) take(s slot, seg []byte) bool {
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
	v, ok := parseUint(seg)
	switch s {
	case slotSeason:
		c.season = uint32(v)
		return ok && v == uint64(c.season)
	case slotEpisode:
		c.episode = uint32(v)
		return ok && v == uint64(c.episode)
	}
	c.id = fragment.ID(v)
	return ok
}

// ParseID reads the id of a resource of a kind as paths have it: a number, of a movie also
// an IMDb id, which is returned as name.
func ParseID(k fragment.Kind, text []byte) (id fragment.ID, name []byte, ok bool) {
	var c capture
	s := slotID
	if k == fragment.KindMovie {
		s = slotMovie
	}
	ok = c.take(s, text)
	return c.id, c.text, ok
}

// parseUint reads decimal digits, leading zeros allowed. It refuses everything
// else and what does not fit.
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
		i := slices.IndexFunc(n.kids, func(e edge) bool { return e.word == seg })
		if i < 0 {
			i = len(n.kids)
			n.kids = append(n.kids, edge{seg, newNode()})
		}
		n = n.kids[i].to
	}
	return n
}

func newNode() *node { return &node{leaf: -1} }
