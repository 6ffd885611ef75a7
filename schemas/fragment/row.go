package fragment

import (
	"bytes"
	"errors"
	"strconv"
)

// Fields of rows that are absent from details, or named differently there.
const (
	FieldGenreIDs     = "genre_ids"
	FieldMediaType    = "media_type"
	FieldShowID       = "show_id"
	FieldEpisodeCount = "episode_count"
)

// RowFields returns the row fields of a kind in the API's order: SubRow for lists of one kind, SubMediaRow for lists
// of mixed kinds. It is nil if the kind has no such rows.
func RowFields(k Kind, s Sub) []string { return rowFields[k][s] }

var rowFields = map[Kind]map[Sub][]string{
	KindMovie: {
		SubRow: {
			"adult", "backdrop_path", FieldGenreIDs, "id", "title", "original_language", "original_title", "overview", "popularity",
			"poster_path", "release_date", "softcore", "video", "vote_average", "vote_count",
		},
		SubMediaRow: {
			"adult", "backdrop_path", "id", "title", "original_title", "overview", "poster_path", FieldMediaType, "original_language",
			FieldGenreIDs, "popularity", "release_date", "softcore", "video", "vote_average", "vote_count",
		},
	},
	KindTV: {
		SubRow: {
			"adult", "backdrop_path", FieldGenreIDs, "id", "origin_country", "original_language", "original_name", "overview",
			"popularity", "poster_path", "first_air_date", "softcore", "name", "vote_average", "vote_count",
		},
		SubMediaRow: {
			"adult", "backdrop_path", "id", "name", "original_name", "overview", "poster_path", FieldMediaType, "original_language",
			FieldGenreIDs, "popularity", "first_air_date", "softcore", "vote_average", "vote_count", "origin_country",
		},
	},
	KindSeason: {
		SubMediaRow: {
			"id", "name", "overview", "poster_path", FieldMediaType, "vote_average", "air_date", "season_number", FieldShowID, FieldEpisodeCount,
		},
	},
	KindEpisode: {
		SubMediaRow: {
			"id", "name", "overview", FieldMediaType, "vote_average", "vote_count", "air_date", "episode_number", "episode_type",
			"production_code", "runtime", "season_number", FieldShowID, "still_path",
		},
	},
	KindPerson: {
		SubRow: {
			"adult", "gender", "id", "known_for_department", "name", "original_name", "popularity", "profile_path",
		},
		SubMediaRow: {
			"adult", "id", "name", "original_name", FieldMediaType, "popularity", "gender", "known_for_department", "profile_path",
		},
	},
	KindCollection: {
		SubRow: {
			"adult", "backdrop_path", "id", "name", "original_language", "original_name", "overview", "poster_path",
		},
	},
	KindCompany: {SubRow: {"id", "logo_path", "name", "origin_country"}},
	KindKeyword: {SubRow: {"id", "name"}},
}

// mediaTypes holds the values of media_type.
var mediaTypes = map[Kind]string{
	KindMovie: "movie", KindTV: "tv", KindSeason: "tv_season",
	KindEpisode: "tv_episode", KindPerson: "person",
}

// MediaTypeOf returns the media_type of a kind.
func MediaTypeOf(k Kind) string { return mediaTypes[k] }

// RowSource returns the sub-request whose fragments hold the rows s of kind k. It is s itself, or the source for
// AppendRow; then derived is true.
func RowSource(k Kind, s Sub) (from Sub, derived bool) {
	switch {
	case k == KindEpisode && s == SubMediaRow:
		return SubDetails, true
	case k == KindPerson && s == SubRow:
		return SubMediaRow, true
	}
	return s, false
}

// emptyValues replaces values of an episode that its details lack or have as null, where a row never has null. Fields
// that may be null in rows are absent here. Rows of people need no replacement.
var emptyValues = map[string]string{
	"id": "0", "name": `""`, "overview": `""`, "vote_average": "0.0", "vote_count": "0", "episode_number": "0",
	"episode_type": `""`, "production_code": `""`, "season_number": "0",
}

var errRowSource = errors.New("row of a list: the source is not a JSON object without its end")

// AppendRow appends a derived row, without braces, to dst. source is the fragment chosen by RowSource: an object
// without its last brace, with or without its first one. show is the ID of an episode's series.
func AppendRow(dst []byte, k Kind, s Sub, show uint64, source []byte) ([]byte, error) {
	source = bytes.TrimPrefix(source, []byte("{"))
	for i, name := range rowFields[k][s] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), name...), `":`...)
		switch name {
		case FieldMediaType:
			dst = append(append(append(dst, '"'), mediaTypes[k]...), '"')
			continue
		case FieldShowID:
			dst = strconv.AppendUint(dst, show, 10)
			continue
		}
		v, ok := Field(source, name)
		if !ok {
			return dst, errRowSource
		}
		empty := emptyValues[name]
		switch {
		case empty == "" && v == nil:
			dst = append(dst, "null"...)
		case v == nil || empty != "" && string(v) == "null":
			dst = append(dst, empty...)
		default:
			dst = append(dst, v...)
		}
	}
	return dst, nil
}
