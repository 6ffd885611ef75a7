package catalog

import (
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// DetailsColumn is a column of ours: whether a source gave a whole details answer.
const DetailsColumn = "_details"

// detailsFields are what details answers of all years have. Kinds that are not here have
// no mark.
var detailsFields = map[fragment.Kind][]string{
	fragment.KindMovie: {
		"adult", "backdrop_path", "belongs_to_collection", "budget", "genres", "homepage", "id", "imdb_id", "original_title",
		"overview", "popularity", "poster_path", "production_companies", "production_countries", "release_date", "revenue",
		"runtime", "spoken_languages", "status", "tagline", "title", "vote_average", "vote_count",
	},
	fragment.KindTV: {
		"backdrop_path", "created_by", "episode_run_time", "first_air_date", "genres", "homepage", "id", "in_production",
		"languages", "last_air_date", "name", "networks", "number_of_episodes", "number_of_seasons", "origin_country",
		"original_language", "original_name", "overview", "popularity", "poster_path", "seasons", "status", "vote_average",
		"vote_count",
	},
	fragment.KindSeason: {"air_date", "episodes", "id", "name", "overview", "poster_path", "season_number"},
	fragment.KindEpisode: {
		"air_date", "crew", "episode_number", "guest_stars", "id", "name", "overview", "production_code", "season_number",
		"still_path", "vote_average", "vote_count",
	},
	fragment.KindPerson: {
		"adult", "also_known_as", "biography", "birthday", "deathday", "homepage", "id", "imdb_id", "name", "place_of_birth",
		"popularity", "profile_path",
	},
	fragment.KindCollection:   {"backdrop_path", "id", "name", "overview", "parts", "poster_path"},
	fragment.KindCompany:      {"description", "headquarters", "homepage", "id", "logo_path", "name", "parent_company"},
	fragment.KindNetwork:      {"headquarters", "homepage", "id", "logo_path", "name", "origin_country"},
	fragment.KindKeyword:      {"id", "name"},
	fragment.KindReview:       {"author", "content", "id", "media_id", "media_title", "media_type", "url"},
	fragment.KindEpisodeGroup: {"description", "episode_count", "group_count", "groups", "id", "name", "network", "type"},
}

// MarkDetails marks the record of a row that is an answer of the API, if it has what
// details answers of all years have. The details of a marked record are served as they
// were given, old shapes too; those of others are completed. So a row of another layout
// is never marked, whatever it has.
func (t *Type) MarkDetails(r record.Record) {
	if t.marked == nil {
		return
	}
	for _, f := range t.details {
		if !record.Present(r, f) {
			return
		}
	}
	*r.Bool(t.marked) = record.Bool{V: true, Set: true}
}

// HasDetails reports whether a record is marked, or of a kind that has no mark.
func (t *Type) HasDetails(r record.Record) bool { return t.marked == nil || r.Bool(t.marked).V }

// findDetails finds the fields of MarkDetails.
func (t *Type) findDetails() {
	for _, name := range detailsFields[t.Kind] {
		f, _ := t.Plan.Field(name)
		t.details = append(t.details, f)
	}
	t.marked, _ = t.Plan.Field(DetailsColumn)
}
