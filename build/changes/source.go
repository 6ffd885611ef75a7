package changes

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
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

// text returns the JSON of a sub-request without the id and without counters; nil
// when the resource does not have it.
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
	return counters.ReplaceAll(s.raw, nil), nil
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
		dst = reference.AppendSeasonName(dst, en, nil, 0)
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

// counters matches fields that change all the time and have no changes, with one of the commas
// around each. The text has no white space. Quotes in strings are escaped, so that no text of a
// string looks like the name of a field.
var counters = regexp.MustCompile(`,"(?:popularity|vote_average|vote_count)":[^,}\]]*|"(?:popularity|vote_average|vote_count)":[^,}\]]*,?`)

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
