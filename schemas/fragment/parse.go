package fragment

import "encoding/binary"

// A Resource is what a resource key says. Which members count depends on Kind.
type Resource struct {
	Kind    Kind
	ID      ID     // of kinds known by a number; of seasons and episodes, that of their series
	Season  uint32 // of seasons and episodes
	Episode uint32 // of episodes
	Text    string // of kinds known by a text, and of KindFind: the external id
	Source  Source // of KindFind
}

// ParseKey is the inverse of AppendID, AppendSeason, AppendEpisode, AppendText and
// AppendFind; false for any other key.
func ParseKey(key []byte) (r Resource, ok bool) {
	if len(key) < 2 {
		return r, false
	}
	r.Kind = Kind(key[0])
	rest := key[1:]
	switch r.Kind {
	case KindReview, KindCredit, KindEpisodeGroup:
		r.Text = string(rest)
		return r, true
	case KindFind:
		r.Source, r.Text = Source(rest[0]), string(rest[1:])
		return r, true
	}
	if r.Kind == 0 || r.Kind >= KindAlias || len(rest) != numbersLen(r.Kind) {
		return r, false
	}
	r.ID = ID(binary.BigEndian.Uint64(rest))
	if len(rest) >= 12 {
		r.Season = binary.BigEndian.Uint32(rest[8:])
	}
	if len(rest) == 16 {
		r.Episode = binary.BigEndian.Uint32(rest[12:])
	}
	return r, true
}

// numbersLen returns how many bytes the numbers in a key of kind k take.
func numbersLen(k Kind) int {
	switch k {
	case KindSeason:
		return 12
	case KindEpisode:
		return 16
	}
	return 8
}
