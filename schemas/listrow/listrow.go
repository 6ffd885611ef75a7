// Package listrow has the fields that a resource has as a row of lists, and derives the rows that a
// release does not store.
//
// Most rows are fragments, because lists include them by the dozen. A few are asked for so rarely,
// or on pages that are put together from JSON anyway, that storing them a second time in another
// order is not worth it: Source says what they are made from, Append makes them.
package listrow

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/jsontext"
)

// Fields of rows that details do not have under that name.
const (
	GenreIDs     = "genre_ids"
	MediaType    = "media_type"
	ShowID       = "show_id"
	EpisodeCount = "episode_count"
)

// Fields returns the fields of the rows of a kind, in the API's order: those of lists of the
// kind for fragment.SubRow, of lists that mix kinds for fragment.SubMediaRow. It is nil for none.
func Fields(k fragment.Kind, s fragment.Sub) []string { return fields[k][s] }

var fields = map[fragment.Kind]map[fragment.Sub][]string{
	fragment.KindMovie: {
		fragment.SubRow: {
			"adult", "backdrop_path", GenreIDs, "id", "title", "original_language", "original_title", "overview", "popularity",
			"poster_path", "release_date", "softcore", "video", "vote_average", "vote_count",
		},
		fragment.SubMediaRow: {
			"adult", "backdrop_path", "id", "title", "original_title", "overview", "poster_path", MediaType, "original_language",
			GenreIDs, "popularity", "release_date", "softcore", "video", "vote_average", "vote_count",
		},
	},
	fragment.KindTV: {
		fragment.SubRow: {
			"adult", "backdrop_path", GenreIDs, "id", "origin_country", "original_language", "original_name", "overview",
			"popularity", "poster_path", "first_air_date", "softcore", "name", "vote_average", "vote_count",
		},
		fragment.SubMediaRow: {
			"adult", "backdrop_path", "id", "name", "original_name", "overview", "poster_path", MediaType, "original_language",
			GenreIDs, "popularity", "first_air_date", "softcore", "vote_average", "vote_count", "origin_country",
		},
	},
	fragment.KindSeason: {
		fragment.SubMediaRow: {
			"id", "name", "overview", "poster_path", MediaType, "vote_average", "air_date", "season_number", ShowID, EpisodeCount,
		},
	},
	fragment.KindEpisode: {
		fragment.SubMediaRow: {
			"id", "name", "overview", MediaType, "vote_average", "vote_count", "air_date", "episode_number", "episode_type",
			"production_code", "runtime", "season_number", ShowID, "still_path",
		},
	},
	fragment.KindPerson: {
		fragment.SubRow: {
			"adult", "gender", "id", "known_for_department", "name", "original_name", "popularity", "profile_path",
		},
		fragment.SubMediaRow: {
			"adult", "id", "name", "original_name", MediaType, "popularity", "gender", "known_for_department", "profile_path",
		},
	},
	fragment.KindCollection: {
		fragment.SubRow: {
			"adult", "backdrop_path", "id", "name", "original_language", "original_name", "overview", "poster_path",
		},
	},
	fragment.KindCompany: {fragment.SubRow: {"id", "logo_path", "name", "origin_country"}},
	fragment.KindKeyword: {fragment.SubRow: {"id", "name"}},
}

// mediaTypes are the values of media_type.
var mediaTypes = map[fragment.Kind]string{
	fragment.KindMovie: "movie", fragment.KindTV: "tv", fragment.KindSeason: "tv_season",
	fragment.KindEpisode: "tv_episode", fragment.KindPerson: "person",
}

// TypeOf returns the value of media_type of a kind.
func TypeOf(k fragment.Kind) string { return mediaTypes[k] }

// Source returns the sub-request of which the fragments hold the rows s of kind k: s itself, or
// the one that Append makes them from, in which case derived is true.
func Source(k fragment.Kind, s fragment.Sub) (from fragment.Sub, derived bool) {
	switch {
	case k == fragment.KindEpisode && s == fragment.SubMediaRow:
		return fragment.SubDetails, true
	case k == fragment.KindPerson && s == fragment.SubRow:
		return fragment.SubMediaRow, true
	}
	return s, false
}

// empty are the values of an episode's fields that its details lack, or have null where rows
// have none. Fields of which rows have null are not here. The rows of people lack nothing.
var empty = map[string]string{
	"id": "0", "name": `""`, "overview": `""`, "vote_average": "0.0", "vote_count": "0", "episode_number": "0",
	"episode_type": `""`, "production_code": `""`, "season_number": "0",
}

var errCut = errors.New("listrow: the source is no JSON object without its end")

// Append appends a derived row, without braces, to dst. source is the text of the fragment that
// Source names: an object without its last brace, with or without its first one. show is the id
// of the series of an episode.
func Append(dst []byte, k fragment.Kind, s fragment.Sub, show uint64, source []byte) ([]byte, error) {
	source = bytes.TrimPrefix(source, []byte("{"))
	for i, name := range fields[k][s] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), name...), `":`...)
		switch name {
		case MediaType:
			dst = append(append(append(dst, '"'), mediaTypes[k]...), '"')
			continue
		case ShowID:
			dst = strconv.AppendUint(dst, show, 10)
			continue
		}
		v, ok := jsontext.Field(source, name)
		if !ok {
			return dst, errCut
		}
		none := empty[name]
		switch {
		case none == "" && v == nil:
			dst = append(dst, "null"...)
		case v == nil || none != "" && string(v) == "null":
			dst = append(dst, none...)
		default:
			dst = append(dst, v...)
		}
	}
	return dst, nil
}
