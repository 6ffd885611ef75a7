package main

import "regexp"

// wrong are members in the client's types that the API lacks, and lists without rows, by method name and path of the
// member, with the reason. compare ignores them.
var wrong = []struct {
	pattern   *regexp.Regexp
	why       string
	sometimes bool // depends on the data: an unused pattern is no error
}{
	{pattern: regexp.MustCompile(`^Get(MovieDetails lists|TVSeasonDetails credits|PersonDetails tagged_images)\.id is missing$`), why: "appended objects have no id"},
	{
		pattern: regexp.MustCompile(`^GetPerson(Details combined_credits\.|CombinedCredits )(cast|crew)\[\]\.(original_title|release_date|title|video) is missing$`),
		why:     "series have a name and first_air_date",
	},
	{
		pattern: regexp.MustCompile(`^GetPerson(Details combined_credits\.|CombinedCredits )(cast|crew)\[\]\.(original_name|first_air_date|name|origin_country|episode_count) is missing$`),
		why:     "movies have a title and release_date",
	},
	{pattern: regexp.MustCompile(`^GetCreditDetails person\.known_for is missing$`), why: "in lists of people"},
	{pattern: regexp.MustCompile(`^GetWatchProviders(Movie|Tv) results\[\]\.(id|name) is missing$`), why: "provider_id, provider_name"},
	{pattern: regexp.MustCompile(`^GetMovie(Popular|TopRated|NowPlaying|Upcoming) results\[\]\.genres is missing$`), why: "genre_ids"},
	{
		pattern:   regexp.MustCompile(`(Changes |Details changes\.)changes\[\]\.items\[\]\.original_value is missing$`),
		why:       "only where something was updated",
		sometimes: true,
	},
	{
		pattern: regexp.MustCompile(`^Get(TV(Details|Latest) episode_run_time|(TVScreenedTheatrically|TVEpisodeVideos|PersonTaggedImages|` +
			`MovieUpcoming|MovieNowPlaying|TVOnTheAir|TVAiringToday) results|PersonMovieCredits crew|PersonLatest also_known_as|FindByID \w+) is empty$`),
		why:       "the sample has none, or none on this day",
		sometimes: true,
	},
}
