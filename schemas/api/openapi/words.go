package main

import (
	"fmt"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// description is the text at the top of the document.
const description = `The TMDB v3 API, and the reading part of v4, from data that you hold.

**Credentials.** Send a token as a bearer token, or as the query parameter ` + "`api_key`" + `. Account data needs a session as well: ` + "`session_id`" + `, or in v4 the token of that user.

**Caching.** Responses have a weak ` + "`ETag`" + `. Send it back in ` + "`If-None-Match`" + ` and an unchanged response is 304, without a body. Responses are gzip where ` + "`Accept-Encoding`" + ` allows it.

**Parameters.** Unknown parameters are ignored. Where a parameter is given several times, the last one counts.

**Fields.** Schemas allow further fields. A field that is not required is absent where the data behind it has none: records from older dumps lack the newer fields.

**Errors.** Every error is JSON. Operations that write are left out: the edge only reads, and they are refused with HTTP status 405, code 42. HEAD works wherever GET does.

**Extensions.** What TMDB does not have is marked with ` + "`x-reelsplice-extension: true`" + `. A parameter that takes more than TMDB's has a sentence there.`

// tags describes the groups that need it.
var tags = map[string]string{
	"Legacy":     "Old forms that the API serves without documenting them.",
	"Extensions": "Operations that the API does not have.",
}

// summaries are what operations do, by name. Sub-requests have theirs from subjects and subRequests.
var summaries = map[string]string{
	"authenticationValidateKey":        "Check the credential",
	"authenticationCreateGuestSession": "Issue a guest session",
	"authenticationCreateRequestToken": "Issue a request token",
	"guestSessionRatedMovies":          "Movies that a guest rated",
	"guestSessionRatedTv":              "Series that a guest rated",
	"guestSessionRatedTvEpisodes":      "Episodes that a guest rated",
	"configurationDetails":             "Image hosts, image sizes and change keys",
	"configurationCountries":           "Countries with their names",
	"configurationJobs":                "Departments with their jobs",
	"configurationLanguages":           "Languages with their names",
	"configurationPrimaryTranslations": "Languages that texts are translated into",
	"configurationTimezones":           "Countries with their time zones",
	"accountDetails":                   "The account of the session",
	"accountGetFavorites":              "Favourite movies of the account",
	"accountFavoriteTv":                "Favourite series of the account",
	"accountLists":                     "Lists that the account made",
	"accountRatedMovies":               "Movies that the account rated",
	"accountRatedTv":                   "Series that the account rated",
	"accountRatedTvEpisodes":           "Episodes that the account rated",
	"accountWatchlistMovies":           "Movies on the account's watchlist",
	"accountWatchlistTv":               "Series on the account's watchlist",
	"searchCollection":                 "Search collections by name",
	"searchCompany":                    "Search companies by name",
	"searchKeyword":                    "Search keywords by name",
	"searchMovie":                      "Search movies by title",
	"searchMulti":                      "Search movies, series and people at once",
	"searchPerson":                     "Search people by name",
	"searchTv":                         "Search series by name",
	"discoverMovie":                    "Filter and order all movies",
	"discoverTv":                       "Filter and order all series",
	"findById":                         "Find resources by an external ID",
	"listCheckItemStatus":              "Whether a movie is on a list",
	"listDetails":                      "A list with its titles",
	"trendingAll":                      "Trending movies, series and people",
	"trendingMovies":                   "Trending movies",
	"trendingPeople":                   "Trending people",
	"trendingTv":                       "Trending series",
	"movieLatestId":                    "The newest movie",
	"movieNowPlayingList":              "Movies in theatres",
	"moviePopularList":                 "Movies by popularity",
	"movieTopRatedList":                "Movies by rating",
	"movieUpcomingList":                "Movies that come to theatres soon",
	"tvSeriesLatestId":                 "The newest series",
	"tvSeriesAiringTodayList":          "Series with an episode today",
	"tvSeriesOnTheAirList":             "Series with an episode in the next seven days",
	"tvSeriesPopularList":              "Series by popularity",
	"tvSeriesTopRatedList":             "Series by rating",
	"tvSeasonChangesById":              "Changes of a season, by the season's own ID",
	"tvEpisodeChangesById":             "Changes of an episode, by the episode's own ID",
	"watchProviderTvList":              "Providers that offer series",
	"watchProvidersAvailableRegions":   "Countries that have providers",
	"watchProvidersMovieList":          "Providers that offer movies",
	"personLatestId":                   "The newest person",
	"personPopularList":                "People by popularity",
	"genreMovieList":                   "Genres of movies",
	"genreTvList":                      "Genres of series",
	"changesMovieList":                 "Movies that changed lately",
	"changesPeopleList":                "People that changed lately",
	"changesTvList":                    "Series that changed lately",
	"creditDetails":                    "One credit: who did what in which title",
	"certificationMovieList":           "Certifications of movies by country",
	"certificationsTvList":             "Certifications of series by country",
	"v4ListDetails":                    "A list with its titles and comments",
	"v4ListItemStatus":                 "Whether a title is on a list",
	"v4AccountLists":                   "Lists that the user made",
	"v4AccountMovieFavorites":          "Favourite movies of the user",
	"v4AccountMovieRated":              "Movies that the user rated",
	"v4AccountMovieRecommendations":    "Movies recommended to the user",
	"v4AccountMovieWatchlist":          "Movies on the user's watchlist",
	"v4AccountTvFavorites":             "Favourite series of the user",
	"v4AccountTvRated":                 "Series that the user rated",
	"v4AccountTvRecommendations":       "Series recommended to the user",
	"v4AccountTvWatchlist":             "Series on the user's watchlist",
	"legacyAccount":                    "The account of the session, without its ID",
	"legacyGenreMovies":                "Movies of a genre",
	"legacyJobList":                    "Departments with their jobs",
	"legacyTimezonesList":              "Time zones by country",
	"legacyGenreList":                  "Genres of movies",
	"batchMovies":                      "Details of up to 100 movies",
	"batchSeries":                      "Details of up to 100 series",
	"batchPeople":                      "Details of up to 100 people",
}

// notes are sentences that a summary has no place for, by operation.
var notes = map[string]string{
	"discoverMovie":       "Filters combine with AND. Inside a filter of IDs or codes, a comma means AND and `|` means OR. Malformed values are ignored.",
	"discoverTv":          "Filters combine with AND. Inside a filter of IDs or codes, a comma means AND and `|` means OR. Malformed values are ignored.",
	"findById":            "An ID that nothing has gives five empty lists.",
	"movieChanges":        "Not paged: `page` has no effect.",
	"tvSeriesChanges":     "Not paged: `page` has no effect.",
	"personChanges":       "Not paged: `page` has no effect.",
	"legacyCompanyMovies": "Serves the first page whatever `page` is, as the API does.",
	"personTaggedImages":  "`page` has no effect, and is 0 in the response.",
	"changesMovieList":    "100 rows a page: the last 24 hours, or up to 14 days between two dates.",
	"changesPeopleList":   "100 rows a page: the last 24 hours, or up to 14 days between two dates.",
	"changesTvList":       "100 rows a page: the last 24 hours, or up to 14 days between two dates.",
	"v4ListItemStatus":    "A title that is not on the list is 404, code 34.",
	"batchMovies":         "IDs without a resource are in `not_found`. Each resource is served once.",
	"batchSeries":         "IDs without a resource are in `not_found`. Each resource is served once.",
	"batchPeople":         "IDs without a resource are in `not_found`. Each resource is served once.",
}

// subjects are kinds in a sentence.
var subjects = map[fragment.Kind]string{
	fragment.KindMovie: "a movie", fragment.KindTV: "a series", fragment.KindSeason: "a season", fragment.KindEpisode: "an episode",
	fragment.KindPerson: "a person", fragment.KindCollection: "a collection", fragment.KindCompany: "a company",
	fragment.KindNetwork: "a network", fragment.KindKeyword: "a keyword", fragment.KindReview: "a review",
	fragment.KindEpisodeGroup: "an episode group",
}

// subRequests are summaries of sub-requests, with %s for the subject.
var subRequests = map[fragment.Sub]string{
	fragment.SubDetails:              "Details of %s",
	fragment.SubAccountStates:        "Marks and rating of %s by the session",
	fragment.SubAggregateCredits:     "Cast and crew of %s over all its episodes",
	fragment.SubAlternativeNames:     "Other names of %s",
	fragment.SubAlternativeTitles:    "Other titles of %s",
	fragment.SubCasts:                "Cast and crew of %s, by an old name",
	fragment.SubChanges:              "Changes of %s",
	fragment.SubCombinedCredits:      "Movies and series of %s",
	fragment.SubContentRatings:       "Content ratings of %s by country",
	fragment.SubCredits:              "Cast and crew of %s",
	fragment.SubEpisodeGroups:        "Episode groups of %s",
	fragment.SubExternalIDs:          "IDs of %s elsewhere",
	fragment.SubImages:               "Images of %s",
	fragment.SubKeywords:             "Keywords of %s",
	fragment.SubLists:                "Public lists with %s",
	fragment.SubMovieCredits:         "Movies of %s",
	fragment.SubMovies:               "Movies of %s",
	fragment.SubRecommendations:      "Titles recommended to viewers of %s",
	fragment.SubReleaseDates:         "Release dates and certifications of %s by country",
	fragment.SubReleases:             "Releases of %s by country, in an old form",
	fragment.SubReviews:              "Reviews of %s",
	fragment.SubScreenedTheatrically: "Episodes of %s that were screened in theatres",
	fragment.SubSimilar:              "Titles similar to %s",
	fragment.SubSimilarMovies:        "Titles similar to %s, by an old name",
	fragment.SubTaggedImages:         "Images that %s is tagged in",
	fragment.SubTrailers:             "Trailers of %s, in an old form",
	fragment.SubTranslations:         "Translations of %s",
	fragment.SubTVCredits:            "Series of %s",
	fragment.SubVideos:               "Videos of %s",
	fragment.SubWatchProviders:       "Where to watch %s, by country",
}

// summary returns what an operation does.
func summary(op *api.Operation) (string, error) {
	if s, ok := summaries[op.Name]; ok {
		return s, nil
	}
	subject, phrase := subjects[op.Kind], subRequests[op.Sub]
	if op.Answerer != api.AnswerDetails && op.Answerer != api.AnswerStates || subject == "" || phrase == "" {
		return "", fmt.Errorf("operation %s has no summary: add it to gen/words.go", op.Name)
	}
	return fmt.Sprintf(phrase, subject), nil
}

// descriptions replace those of shapes that are about recordings or the order of fields: of a shape, of a
// field of a shape, or of a field of all shapes.
var descriptions = map[string]string{
	"AggregateCredits":                   "Aggregate credits of a series or a season.",
	"ChangeDetails":                      "Changes of one movie, series, season, episode or person.",
	"ChangedIdPage":                      "movie/changes, tv/changes and person/changes: 100 rows a page.",
	"CollectionImages":                   "Collection images.",
	"CollectionMedia":                    "Collection row of search/multi.",
	"CompanyMoviePage":                   "company/{id}/movies.",
	"DateRange":                          "Release window of now_playing and upcoming.",
	"EpisodeCredits":                     "Episode credits.",
	"EpisodeCrewCredit":                  "Crew row inside season details, episode details and episode credits.",
	"GuestStar":                          "Guest star row inside season details, episode details and episode credits.",
	"Genre":                              "Genre id and localised name.",
	"Keyword":                            "Keyword of movies, of search and of keyword details.",
	"KeywordMoviePage":                   "keyword/{id}/movies.",
	"LegacyRelease":                      "Row of movie/{id}/releases.",
	"LegacyReleases":                     "movie/{id}/releases.",
	"LegacyTrailer":                      "Row of movie/{id}/trailers.",
	"LegacyTrailers":                     "movie/{id}/trailers.",
	"ListDetails":                        "list/{id} of version 3: the rows are in items, not in results.",
	"MovieCredits":                       "movie/{id}/credits.",
	"MovieDatedPage":                     "movie/now_playing and movie/upcoming.",
	"MovieDetails":                       "movie/{id} and movie/latest.",
	"MovieListsPage":                     "movie/{id}/lists.",
	"MovieMediaPage":                     "Page of MovieMedia: movie recommendations and trending/movie.",
	"MovieSummary":                       "Movie row of discover, popular, top_rated, now_playing, upcoming, search/movie, similar, keyword movies, company movies and account lists.",
	"PersonCombinedCredits":              "person/{id}/combined_credits.",
	"PersonCombinedTVCast":               "PersonTVCast with media_type, for combined_credits.",
	"PersonCombinedTVCrew":               "PersonTVCrew with media_type, for combined_credits.",
	"PersonMovieCredits":                 "person/{id}/movie_credits.",
	"PersonTVCredits":                    "person/{id}/tv_credits.",
	"RatedMovie":                         "MovieSummary with the rating of the session.",
	"RatedTV":                            "TVSummary with the rating of the session.",
	"ReviewPage":                         "movie/{id}/reviews and tv/{id}/reviews.",
	"TVContentRatings":                   "tv/{id}/content_ratings.",
	"TVCredits":                          "tv/{id}/credits and tv/{id}/season/{n}/credits: the id is that of the series or of the season.",
	"TVEpisodeGroups":                    "tv/{id}/episode_groups.",
	"TVKeyword":                          "Keyword row of a TV series.",
	"TVKeywords":                         "tv/{id}/keywords: the rows are in results.",
	"TVListsPage":                        "tv/{id}/lists.",
	"TVMedia":                            "TV row that carries media_type, in the same places as MovieMedia.",
	"TVMediaPage":                        "Page of TVMedia: TV recommendations and trending/tv.",
	"TVSummary":                          "TV row of discover, popular, top_rated, airing_today, on_the_air, search/tv, similar and account lists.",
	"TaggedImagesPage":                   "person/{id}/tagged_images: page is always 0.",
	"ValidateKey":                        "authentication.",
	"WatchProviderEntry":                 "Row of watch/providers/movie and watch/providers/tv.",
	"first_credit_air_date":              "absent in older records",
	"softcore":                           "absent in records from before 2026",
	"total_pages":                        "true number of pages, of which the first 500 are served; trending has 500",
	"ListDetails.id":                     "a number, or a text of digits",
	"ListDetails.page":                   "absent in older records",
	"Image.iso_3166_1":                   "null when no region is set; absent in records from before October 2025",
	"ReleaseDate.iso_639_1":              "empty string when none; null in some records",
	"SeasonDetails.networks":             "absent in older records",
	"TVDetails.first_air_date":           "empty string when unknown; null in some records",
	"PersonSummary.known_for_department": "null when the person has no credits; absent in older records",
	"PersonTranslationData.name":         "empty string when not translated; absent in records up to 2024",
	"V4ListDetails.object_ids":           "keyed like comments; empty",
}
