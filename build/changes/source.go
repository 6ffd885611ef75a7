package changes

import (
	"bytes"
	"encoding/json"
	"fmt"

	"reelsplice/data/reference"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

// An object is the fields of a JSON object, their values as they are written.
type object map[string]json.RawMessage

// A source reads the answers of one resource in one release. It is for one goroutine.
type source struct {
	rel   *release.Reader
	entry release.Entry
	found bool
	docs  map[fragment.Sub]object // as far as they were asked for

	inflater release.Inflater
	raw      []byte
	buf      []byte
}

// open turns to the resource with that key, which the release may not have.
func (s *source) open(key []byte) {
	s.entry, s.found = s.rel.Lookup(key)
	clear(s.docs)
}

// fragment returns what answers a sub-request in English, unfiltered.
func (s *source) fragment(sub fragment.Sub) (release.Fragment, bool) {
	if !s.found {
		return release.Fragment{}, false
	}
	if f, ok := s.entry.Find(fragment.Address{Sub: sub, Variant: fragment.All}); ok {
		return f, true
	}
	return s.entry.Find(fragment.Address{Sub: sub})
}

// text returns the JSON of a sub-request without the id and without cut fields; nil
// when the resource does not have it. It is valid until the next call.
func (s *source) text(sub fragment.Sub) ([]byte, error) {
	f, ok := s.fragment(sub)
	if !ok {
		return nil, nil
	}
	s.raw = s.raw[:0]
	if sub != fragment.SubDetails {
		s.raw = append(s.raw, '{')
	}
	var p release.Piece
	pieces := f.Pieces()
	for pieces.Next(&p) {
		switch p.Op {
		case release.OpSegment:
			var err error
			if s.raw, err = s.inflater.Append(s.raw, &p.Segment); err != nil {
				return nil, fmt.Errorf("%s: %w", sub, err)
			}
		case release.OpLiteral:
			s.raw = append(s.raw, p.Text()...)
		case release.OpName:
			s.raw = appendName(s.raw, p.Word, int(p.Number))
		case release.OpIDEnd:
			s.raw = append(s.raw, '}')
		case release.OpIDMark:
		default:
			return nil, fmt.Errorf("%w: a piece of %s is a %s", release.ErrCorrupt, sub, p.Op)
		}
	}
	if pieces.Broken() {
		return nil, fmt.Errorf("%w: a piece of %s breaks the format", release.ErrCorrupt, sub)
	}
	if sub == fragment.SubDetails {
		s.raw = append(s.raw, '}')
	}
	s.buf = appendWithoutCounters(s.buf[:0], s.raw)
	return s.buf, nil
}

// appendName appends the generic name of a season or an episode in English.
func appendName(dst []byte, word release.Word, number int) []byte {
	en := []byte("en")
	dst = append(dst, '"')
	switch word {
	case release.WordSeason:
		dst = reference.AppendSeasonName(dst, en, nil, number)
	case release.WordEpisode:
		dst = reference.AppendEpisodeName(dst, en, nil, number)
	default:
		dst = reference.AppendSpecialsName(dst, en, nil)
	}
	return append(dst, '"')
}

// object returns the fields of a sub-request; none when the resource does not have it.
// It is valid until the next call of open.
func (s *source) object(sub fragment.Sub) (object, error) {
	if o, ok := s.docs[sub]; ok {
		return o, nil
	}
	text, err := s.text(sub)
	if err != nil {
		return nil, err
	}
	var o object
	if text != nil {
		if err := json.Unmarshal(text, &o); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", release.ErrCorrupt, sub, err)
		}
	}
	if s.docs == nil {
		s.docs = map[fragment.Sub]object{}
	}
	s.docs[sub] = o
	return o, nil
}

// counters are fields that change all the time and have no changes.
var counters = [...][]byte{[]byte(`"popularity":`), []byte(`"vote_average":`), []byte(`"vote_count":`)}

// appendWithoutCounters appends JSON without white space, without the counters in it,
// which are numbers. What is in strings has no quotes that are not escaped, so the name
// of a field cannot be taken for text.
func appendWithoutCounters(dst, text []byte) []byte {
	var next [len(counters)]int // where each is to be found next, from the rest on
	for i := range counters {
		next[i] = find(text, counters[i], 0)
	}
	at := 0
	for {
		first := 0
		for i := range next {
			if next[i] < next[first] {
				first = i
			}
		}
		start := next[first]
		if start == len(text) {
			return append(dst, text[at:]...)
		}
		end := start + len(counters[first])
		for end < len(text) && text[end] != ',' && text[end] != '}' && text[end] != ']' {
			end++
		}
		dst = append(dst, text[at:start]...)
		// Of the two commas around the field one is left.
		switch {
		case end < len(text) && text[end] == ',':
			end++
		case len(dst) > 0 && dst[len(dst)-1] == ',':
			dst = dst[:len(dst)-1]
		}
		at = end
		next[first] = find(text, counters[first], at)
	}
}

// find returns where sep is in text from a place on; the end of text when it is not.
func find(text, sep []byte, from int) int {
	if i := bytes.Index(text[from:], sep); i >= 0 {
		return from + i
	}
	return len(text)
}

// same reports whether two fragments have the same pieces. It is false for some that say
// the same in other pieces.
func same(a, b release.Fragment) bool {
	var x, y release.Piece
	was, is := a.Pieces(), b.Pieces()
	for {
		more, also := was.Next(&x), is.Next(&y)
		if more != also || was.Broken() || is.Broken() {
			return false
		}
		if !more {
			return true
		}
		if !x.Same(&y) {
			return false
		}
	}
}
