package main

import "regexp"

// wrong are members that the types of the client have and the API has not, by the name of
// the method and the path of the member, with what the API does. compare passes over them.
var wrong = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`^Get(MovieDetails lists|TVSeasonDetails credits|PersonDetails tagged_images)\.id$`), "what is appended has no id"},
	{
		regexp.MustCompile(`^GetPerson(Details combined_credits\.|CombinedCredits )(cast|crew)\[\]\.(original_title|release_date|title|video)$`),
		"series have a name and first_air_date",
	},
	{
		regexp.MustCompile(`^GetPerson(Details combined_credits\.|CombinedCredits )(cast|crew)\[\]\.(original_name|first_air_date|name|origin_country|episode_count)$`),
		"movies have a title and release_date",
	},
	{regexp.MustCompile(`^GetCreditDetails person\.known_for$`), "in lists of people"},
	{regexp.MustCompile(`^GetWatchProviders(Movie|Tv) results\[\]\.(id|name)$`), "provider_id, provider_name"},
}
