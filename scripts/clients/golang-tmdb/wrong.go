package main

import "regexp"

// wrong are members that the types of the client have and the API has not, by the name of
// the method and the path of the member, with what the API does. compare passes over them.
var wrong = []struct {
	pattern   *regexp.Regexp
	why       string
	sometimes bool // depends on the data: no fault when it is not met
}{
	{pattern: regexp.MustCompile(`^Get(MovieDetails lists|TVSeasonDetails credits|PersonDetails tagged_images)\.id$`), why: "what is appended has no id"},
	{
		pattern: regexp.MustCompile(`^GetPerson(Details combined_credits\.|CombinedCredits )(cast|crew)\[\]\.(original_title|release_date|title|video)$`),
		why:     "series have a name and first_air_date",
	},
	{
		pattern: regexp.MustCompile(`^GetPerson(Details combined_credits\.|CombinedCredits )(cast|crew)\[\]\.(original_name|first_air_date|name|origin_country|episode_count)$`),
		why:     "movies have a title and release_date",
	},
	{pattern: regexp.MustCompile(`^GetCreditDetails person\.known_for$`), why: "in lists of people"},
	{pattern: regexp.MustCompile(`^GetWatchProviders(Movie|Tv) results\[\]\.(id|name)$`), why: "provider_id, provider_name"},
	{pattern: regexp.MustCompile(`^GetMovie(Popular|TopRated|NowPlaying|Upcoming) results\[\]\.genres$`), why: "genre_ids"},
	{
		pattern:   regexp.MustCompile(`(Changes |Details changes\.)changes\[\]\.items\[\]\.original_value$`),
		why:       "only where something was updated",
		sometimes: true,
	},
}
