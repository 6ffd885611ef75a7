package fragment

import (
	"bytes"
	"errors"
	"strconv"
)

// Fields of rows that details do not have under that name.
const (
	FieldGenreIDs     = "genre_ids"
	FieldMediaType    = "media_type"
	FieldShowID       = "show_id"
	FieldEpisodeCount = "episode_count"
)

// RowFields returns the fields of the rows of a kind, in the API's order: those of lists of the
// kind for SubRow, of lists that mix kinds for SubMediaRow. It is nil for none.
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

// mediaTypes are the values of media_type.
var mediaTypes = map[Kind]string{
	KindMovie: "movie", KindTV: "tv", KindSeason: "tv_season",
	KindEpisode: "tv_episode", KindPerson: "person",
}

// MediaTypeOf returns the value of media_type of a kind.
func MediaTypeOf(k Kind) string { return mediaTypes[k] }

// RowSource returns the sub-request whose fragments hold the rows s of kind k: s itself, or
// the one that AppendRow makes them from, in which case derived is true.
func RowSource(k Kind, s Sub) (from Sub, derived bool) {
	switch {
	case k == KindEpisode && s == SubMediaRow:
		return SubDetails, true
	case k == KindPerson && s == SubRow:
		return SubMediaRow, true
	}
	return s, false
}

// emptyValues are the values of an episode's fields that its details lack, or have null where rows
// have none. Fields that are null in rows are not here. The rows of people lack nothing.
var emptyValues = map[string]string{
	"id": "0", "name": `""`, "overview": `""`, "vote_average": "0.0", "vote_count": "0", "episode_number": "0",
	"episode_type": `""`, "production_code": `""`, "season_number": "0",
}

var errRowSource = errors.New("row of a list: the source is no JSON object without its end")

// AppendRow appends a derived row, without braces, to dst. source is the text of the fragment that
// RowSource names: an object without its last brace, with or without its first one. show is the id
// of the series of an episode.
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
		none := emptyValues[name]
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
