package edge

import (
	"bytes"
	"strconv"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// Caches purge responses by the names in Surrogate-Key, which are stable. All responses of
// a release have the release's id. The other names are:
//
//	movie 550                 movie movie-550
//	person, collection, ...   likewise
//	season 1 of series 1399   tv tv-1399 season season-1399-1
//	episode 2 of it           tv tv-1399 season-1399-1 episode episode-1399-1-2
//	review 5488c29b...        review review-5488c29b...
//	credit, episode group     likewise: credit-..., episode_group-...; a credit that no dump gave
//	                          has the names of its title and its person too, movie-550 person-287
//	list 509                  list list-509
//	find tt0137523            find find-imdb_id-tt0137523
//	popular, discover, search query query-moviePopularList: and the name of the operation;
//	                          all of them change with the tables of a release
//	configuration, genres     static static-configurationDetails: no release id, and
//	                          the name of the operation
//
// Rows of titles in filmographies, collections, find and similar responses, and rows of the
// lists that hold a title, add no names. They are refreshed with the release id, when
// max-age is over, or when the list itself is purged: compare.Releases finds changed lists,
// and AppendPurge appends their names.
//
// A series with seasons or episodes appended has their names too. A 404 has the requested
// name, by text or number ("movie-tt0137523", "season-3624" for changes), unless a byte
// of it is not allowed in a header.

// QueryKey is the name in Surrogate-Key of responses from the tables of a release:
// lists, discover, search. A change of any title may change them all.
const QueryKey = "query"

// AppendPurge appends the name that purges the responses of a resource, given by its key,
// or the 404 of an alias: "movie-550". If the text of the key is not allowed in a header,
// it is the name of the kind, "find".
func AppendPurge(dst, key []byte) []byte {
	n := len(dst)
	dst = appendKeys(dst, "", key)
	last := bytes.LastIndexByte(dst[n:], ' ') + 1 // the names go from general to particular
	return append(dst[:n], dst[n+last:]...)
}

// appendKeys appends the names of a resource.
func appendKeys(dst []byte, releaseID string, resource []byte) []byte {
	dst = append(dst, releaseID...)
	if len(resource) == 0 {
		return dst
	}
	k, rest := fragment.Kind(resource[0]), resource[1:]
	switch {
	case k == fragment.KindAlias && len(rest) > 0:
		return appendTextKeys(dst, fragment.Kind(rest[0]), "", rest[1:])
	case k == fragment.KindFind && len(rest) > 0:
		return appendTextKeys(dst, k, fragment.Source(rest[0]).Name(), rest[1:])
	case k >= fragment.KindReview && k != fragment.KindList:
		return appendTextKeys(dst, k, "", rest)
	}
	r, ok := fragment.ParseKey(resource)
	if !ok {
		return appendTextKeys(dst, k, "", rest)
	}
	i := release.Include{Kind: k, ID: uint64(r.ID), Season: r.Season, Episode: r.Episode}
	switch k {
	case fragment.KindEpisode:
		dst = appendKey(appendKey(dst, fragment.KindTV, true, i), fragment.KindSeason, false, i)
	case fragment.KindSeason:
		dst = appendKey(dst, fragment.KindTV, true, i)
	}
	return appendKey(dst, k, true, i)
}

// appendKey appends the name of the resource of kind k that i is or belongs to, after the name of its kind if withKind
// is set.
func appendKey(dst []byte, k fragment.Kind, withKind bool, i release.Include) []byte {
	if withKind {
		dst = append(append(dst, ' '), k.String()...)
	}
	dst = append(append(append(dst, ' '), k.String()...), '-')
	dst = strconv.AppendUint(dst, i.ID, 10)
	if k == fragment.KindSeason || k == fragment.KindEpisode {
		dst = strconv.AppendUint(append(dst, '-'), uint64(i.Season), 10)
	}
	if k == fragment.KindEpisode {
		dst = strconv.AppendUint(append(dst, '-'), uint64(i.Episode), 10)
	}
	return dst
}

// appendTextKeys appends the names of a kind and of a resource known by a text.
func appendTextKeys(dst []byte, k fragment.Kind, source string, text []byte) []byte {
	dst = append(append(dst, ' '), k.String()...)
	if len(text) == 0 || !isToken(text) {
		return dst
	}
	dst = append(append(append(dst, ' '), k.String()...), '-')
	if source != "" {
		dst = append(append(dst, source...), '-')
	}
	return append(dst, text...)
}

// isToken reports whether text is allowed in a list of names: letters, digits and a
// few signs.
func isToken(text []byte) bool {
	for _, c := range text {
		letter, digit := 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9'
		if !letter && !digit && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}
