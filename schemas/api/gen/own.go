package main

import (
	"fmt"
	"path"
)

// This file is the one place for what the API's documents do not list. Add a row, run
// go generate ./schemas/api, and run the tests: they name what is missing, such as a row in
// docs/reference/extensions.md.
//
// A sub-request of one's own takes a row of ownOperations, a row of ownAppendNames for each
// of its namespaces, a number from fragment.SubOwn on, and a field of the kind's record in
// package catalog. A parameter takes a row of ownParams.

// ownOperations are rows like those of operations.tsv. The API serves those of the
// group Legacy without documenting them; Extensions are our own.
var ownOperations = [][]string{
	{"Legacy", "legacyGenreList", "GET", "/3/genre/list", "", "language:string:en", "", "bearer", "no", "GenreList", "old name of genre/movie/list"},
	{"Extensions", "batchMovies", "GET", "/3/movie", "", batchParams, "", "bearer", "no", "", "details of up to 100 movies in one response"},
	{"Extensions", "batchSeries", "GET", "/3/tv", "", batchParams, "", "bearer", "no", "", "details of up to 100 series in one response"},
	{"Extensions", "batchPeople", "GET", "/3/person", "", batchParams, "", "bearer", "no", "", "details of up to 100 people in one response"},
}

// batchParams are the parameters of batch lookups.
const batchParams = "ids*:string:,append_to_response:string:,language:string:en-US"

// ownAppendNames are rows like those of append-names.tsv. The namespace configuration is
// that of its details: clients in use append all of it.
var ownAppendNames = [][]string{
	{"configuration", "countries", "countries", "language:string:en-US", "ConfigurationCountries", "", ""},
	{"configuration", "jobs", "jobs", "", "ConfigurationJobs", "", ""},
	{"configuration", "languages", "languages", "", "ConfigurationLanguages", "", ""},
	{"configuration", "primary_translations", "primary_translations", "", "ConfigurationPrimaryTranslations", "", ""},
	{"configuration", "timezones", "timezones", "", "ConfigurationTimezones", "", ""},
}

// usedAppendNames are rows like those of append-names.tsv, which lacks them. They are no extensions:
// applications append them to the API. Kodi's scraper of series appends episodes to their season.
var usedAppendNames = [][]string{
	{"season", "episode/{episode_number}", "episode/{episode_number}", "language:string:en-US", "EpisodeDetails", "", ""},
	{"season", "episode/{episode_number}/{sub_request}", "episode/{episode_number}/{sub_request}", "as in the episode namespace", "", "", ""},
}

// ownParams are query parameters of our own, by operations in the syntax of path.Match.
var ownParams = []struct{ operations, params string }{
	{"search*", "fuzzy:boolean:"},
	{"discover*", "without_original_language:string:,without_origin_country:string:"},
	{"discoverTv", "certification:string:,certification.gte:string:,certification.lte:string:,certification_country:string:"},
	{"discoverTv", "number_of_seasons.gte:integer:,number_of_seasons.lte:integer:,number_of_episodes.gte:integer:,number_of_episodes.lte:integer:"},
}

// ownParamsOf returns the own parameters of an operation, as lists.
func ownParamsOf(operation string) (lists []string, err error) {
	for _, row := range ownParams {
		ok, err := path.Match(row.operations, operation)
		if err != nil {
			return nil, fmt.Errorf("own parameters of %q: %w", row.operations, err)
		}
		if ok {
			lists = append(lists, row.params)
		}
	}
	return lists, nil
}
