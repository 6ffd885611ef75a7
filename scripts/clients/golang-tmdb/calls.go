package main

import "os"

// Ids of the sample.
const (
	movie     = 11
	pictured  = 550 // with images and videos
	tv        = 1396
	episode   = 62085
	person    = 287
	actor     = 17419
	list      = 7101
	accountID = 7001
)

const (
	notFound  = "The resource you requested could not be found."
	noSession = "Authentication failed: You do not have permissions to access the service."
	noKey     = "Invalid API key: You must be granted a valid key."
)

// unused are methods that are not called, with the reason.
var unused = map[string]string{
	"SetSessionID": "a setting", "SetClientConfig": "a setting", "SetClientAutoRetry": "a setting",
	"SetAlternateBaseURL": "a setting", "SetCustomBaseURL": "a setting", "GetBaseURL": "a setting",
	"MarkAsFavorite": "writes", "AddToWatchlist": "writes", "CreateList": "writes", "AddMovie": "writes",
	"RemoveMovie": "writes", "ClearList": "writes", "DeleteList": "writes", "PostMovieRating": "writes",
	"DeleteMovieRating": "writes", "PostTVShowRating": "writes", "DeleteTVShowRating": "writes",
}

// reads calls methods that need no session.
func reads(u user) {
	none := options(nil)
	u.each(`GetMovieDetails GetMovieAlternativeTitles GetMovieChanges GetMovieCredits GetMovieExternalIDs
		GetMovieWatchProviders GetMovieTranslations GetMovieRecommendations GetMovieSimilar GetMovieReviews GetMovieLists`, movie, none)
	u.each("GetMovieImages GetMovieVideos", pictured, none)
	u.each("GetMovieKeywords GetMovieReleaseDates", movie)
	u.each("GetMovieDetails", movie, options{
		"language":           "de-DE",
		"append_to_response": "alternative_titles,changes,credits,external_ids,images,keywords,release_dates,videos,translations,recommendations,similar,reviews,lists,watch/providers",
	})
	u.each(`GetTVDetails GetTVAggregateCredits GetTVAlternativeTitles GetTVChanges GetTVContentRatings GetTVCredits GetTVEpisodeGroups
		GetTVExternalIDs GetTVImages GetTVRecommendations GetTVReviews GetTVSimilar GetTVWatchProviders GetTVTranslations GetTVVideos`, tv, none)
	u.each("GetTVKeywords GetTVScreenedTheatrically", tv)
	u.each("GetTVDetails", tv, options{
		"language":           "fr-FR",
		"append_to_response": "aggregate_credits,alternative_titles,changes,content_ratings,credits,episode_groups,external_ids,images,keywords,recommendations,reviews,screened_theatrically,similar,translations,videos,watch/providers",
	})
	u.each("GetTVSeasonDetails", tv, 1, options{"append_to_response": "aggregate_credits,credits,external_ids,images,translations,videos"})
	u.each("GetTVSeasonCredits GetTVSeasonExternalIDs GetTVSeasonImages GetTVSeasonVideos", tv, 1, none)
	u.each("GetTVSeasonTranslations", tv, 1)
	// The client mistakes texts in changes of a season, as after a changed episode, for errors.
	u.each("GetTVSeasonChanges", 3573, none)
	u.each("GetTVEpisodeDetails", tv, 1, 1, options{"append_to_response": "credits,external_ids,images,translations,videos"})
	u.each("GetTVEpisodeCredits GetTVEpisodeExternalIDs GetTVEpisodeImages GetTVEpisodeTranslations", tv, 1, 1)
	u.each("GetTVEpisodeVideos", tv, 1, 1, none)
	u.each("GetTVEpisodeChanges", episode, none)
	u.each("GetTVEpisodeGroupsDetails", "afbbb3b13c8d851e72055ce7", none)
	u.each("GetPersonDetails", person, options{"append_to_response": "changes,movie_credits,tv_credits,combined_credits,external_ids,images,tagged_images,translations"})
	u.each("GetPersonChanges GetPersonMovieCredits GetPersonExternalIDs GetPersonTaggedImages GetPersonTranslations", person, none)
	u.each("GetPersonImages", person)
	u.each("GetPersonTVCredits GetPersonCombinedCredits", actor, none)
	u.each("GetCreditDetails", "7ca9a98ee361df1ee302fe17")
	u.each("GetCollectionDetails", 10, options{"language": "ja-JP"})
	u.each("GetCollectionImages GetCollectionTranslations", 10, none)
	u.each("GetCompanyDetails GetCompanyAlternativeNames GetCompanyImages", 1)
	u.each("GetNetworkDetails GetNetworkAlternativeNames", 174)
	u.each("GetNetworkImages", 213)
	u.each("GetKeywordDetails", 803)
	u.each("GetKeywordMovies", 803, none)
	u.each("GetReviewDetails", "68df5cb7979936816bcef0a5")
	u.each("GetListDetails", list, none)
	u.each("GetListItemStatus", list, options{"movie_id": "11"})

	// Lists, changes and facts.
	u.each(`GetMovieLatest GetMovieUpcoming GetMovieTopRated GetTVLatest GetTVOnTheAir GetTVPopular GetTVTopRated GetPersonLatest
		GetPersonPopular GetChangesMovie GetChangesTV GetChangesPerson GetGenreTVList GetAvailableWatchProviderRegions GetWatchProvidersTv`, none)
	u.each("GetMovieNowPlaying", options{"region": "US"})
	u.each("GetMoviePopular", options{"page": "2"})
	u.each("GetTVAiringToday", options{"timezone": "America/New_York"})
	u.each("GetGenreMovieList", options{"language": "pt-BR"})
	u.each("GetWatchProvidersMovie", options{"watch_region": "US"})
	u.each("GetDiscoverMovie", options{"with_cast": "287,819", "sort_by": "primary_release_date.asc"})
	u.each("GetDiscoverTV", options{"with_networks": "174", "vote_average.gte": "8", "with_status": "3|4"})
	u.each("GetTrending", "movie", "day", none)
	u.each("GetTrending", "all", "week", none)
	u.each("GetFindByID", "tt0076759", options{"external_source": "imdb_id"})
	u.each("GetFindByID", "349232", options{"external_source": "tvdb_id"})
	u.each("GetSearchMovies", "star wars", options{"language": "de-DE", "include_adult": "false"})
	for method, query := range map[string]string{
		"GetSearchTVShow": "breaking bad", "GetSearchPeople": "brad pitt", "GetSearchMulti": "breaking bad", "GetSearchCollections": "star wars",
		"GetSearchCompanies": "lucasfilm", "GetSearchKeywords": "android",
	} {
		u.each(method, query, none)
	}
	u.each(`GetConfigurationAPI GetConfigurationCountries GetConfigurationJobs GetConfigurationLanguages GetConfigurationPrimaryTranslations
		GetConfigurationTimezones GetCertificationMovie GetCertificationTV CreateGuestSession CreateRequestToken`)

	for _, method := range []string{"GetMovieDetails", "GetTVDetails", "GetPersonDetails", "GetListDetails"} {
		u.refused(method, 34, notFound, 999999999, none)
	}
	u.refused("GetTVSeasonDetails", 34, notFound, tv, 99, none)
	u.refused("GetTVEpisodeDetails", 34, notFound, tv, 1, 99, none)
	u.refused("GetMoviePopular", 22, "Invalid page: Pages start at 1 and max at 500. They are expected to be an integer.", options{"page": "501"})
	u.refused("GetChangesMovie", 20, "Invalid date range: Should be a range no longer than 14 days.",
		options{"start_date": "2026-01-01", "end_date": "2026-02-01"})
}

// account calls methods for data of one account: mine has a session, u is a guest.
func account(u, mine user, session string) {
	none := options(nil)
	mine.each("GetAccountDetails")
	mine.each("GetFavoriteMovies", accountID, options{"sort_by": "created_at.desc"})
	mine.each(`GetCreatedLists GetFavoriteTVShows GetRatedMovies GetRatedTVShows GetRatedTVEpisodes GetMovieWatchlist
		GetTVShowsWatchlist`, accountID, none)
	mine.each("GetMovieAccountStates", movie, options{"session_id": session})
	mine.each("GetTVAccountStates", tv, options{"session_id": session})
	u.each("GetGuestSessionRatedMovies GetGuestSessionRatedTVShows GetGuestSessionRatedTVEpisodes", os.Getenv("REELSPLICE_GUEST"), none)
	u.refused("GetAccountDetails", 3, noSession)
}

// refusals calls methods without a valid token.
func refusals(stranger user) {
	stranger.refused("GetMovieDetails", 7, noKey, movie, options(nil))
	stranger.refused("GetSearchMovies", 7, noKey, "star", options(nil))
	stranger.refused("GetConfigurationAPI", 7, noKey)
	stranger.refused("GetAccountDetails", 7, noKey)
}
