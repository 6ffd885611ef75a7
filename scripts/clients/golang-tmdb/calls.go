package main

import (
	"encoding/json"
	"os"
	"strings"

	tmdb "github.com/cyruzin/golang-tmdb"
)

// Ids of the sample.
const (
	movie     = 11
	tv        = 1396
	season    = 3572
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

// reads calls what needs no session.
func reads(u user) {
	titles(u)
	seasonsAndEpisodes(u)
	people(u)
	others(u)
	lookups(u)
	facts(u)
}

func titles(u user) {
	none := options(nil)
	u.call("GetMovieDetails", func(c *checker, v *tmdb.MovieDetails) {
		equal(c, "id", v.ID, movie)
		equal(c, "title", v.Title, "Star Wars")
		equal(c, "imdb_id", v.IMDbID, "tt0076759")
		equal(c, "collection", v.BelongsToCollection.ID, 10)
		some(c, "genres", v.Genres)
		some(c, "companies", v.ProductionCompanies)
	}, movie, none)
	u.call("GetMovieDetails", func(c *checker, v *tmdb.MovieDetails) {
		equal(c, "title", v.Title, "Krieg der Sterne")
		some(c, "cast", v.Credits.Cast)
		some(c, "titles", v.AlternativeTitles.Titles)
		equal(c, "imdb_id", v.MovieExternalIDs.IMDbID, "tt0076759")
		some(c, "posters", v.Images.Posters)
		some(c, "keywords", v.Keywords.Keywords)
		some(c, "release dates", v.ReleaseDates.Results)
		some(c, "translations", v.Translations.Translations)
		some(c, "recommendations", v.Recommendations.Results)
		some(c, "similar", v.Similar.Results)
		equal(c, "offers in the US", v.WatchProviders.Results["US"].Link != "", true)
	}, movie, options{
		"language":           "de-DE",
		"append_to_response": "alternative_titles,changes,credits,external_ids,images,keywords,release_dates,videos,translations,recommendations,similar,reviews,lists,watch/providers",
	})
	u.refused("GetMovieDetails", 34, notFound, 999999999, none)
	u.call("GetMovieAlternativeTitles", func(c *checker, v *tmdb.MovieAlternativeTitles) {
		equal(c, "id", v.ID, movie)
		some(c, "titles", v.Titles)
	}, movie, none)
	u.call("GetMovieChanges", func(c *checker, v *tmdb.MovieChanges) { some(c, "changes", v.Changes) }, movie, none)
	u.call("GetMovieCredits", func(c *checker, v *tmdb.MovieCredits) {
		equal(c, "id", v.ID, movie)
		equal(c, "character", v.Cast[0].Character, "Luke Skywalker")
		some(c, "crew", v.Crew)
	}, movie, none)
	u.call("GetMovieExternalIDs", func(c *checker, v *tmdb.MovieExternalIDs) {
		equal(c, "id", v.ID, movie)
		equal(c, "wikidata_id", v.WikiDataID, "Q17738")
	}, movie, none)
	u.call("GetMovieImages", func(c *checker, v *tmdb.MovieImages) {
		equal(c, "id", v.ID, movie)
		some(c, "posters", v.Posters)
		some(c, "logos", v.Logos)
	}, movie, options{"include_image_language": "en,null,de"})
	u.call("GetMovieKeywords", func(c *checker, v *tmdb.MovieKeywords) {
		equal(c, "id", v.ID, movie)
		some(c, "keywords", v.Keywords)
	}, movie)
	u.call("GetMovieReleaseDates", func(c *checker, v *tmdb.MovieReleaseDates) {
		equal(c, "id", v.ID, movie)
		some(c, "dates", v.Results[0].ReleaseDates)
	}, movie)
	u.call("GetMovieVideos", func(c *checker, v *tmdb.MovieVideos) { some(c, "videos", v.Results) }, movie, none)
	u.call("GetMovieWatchProviders", func(c *checker, v *tmdb.MovieWatchProviders) {
		equal(c, "id", v.ID, movie)
		equal(c, "offers in the US", v.Results["US"].Link != "", true)
	}, movie, none)
	u.call("GetMovieTranslations", func(c *checker, v *tmdb.MovieTranslations) { some(c, "translations", v.Translations) }, movie, none)
	u.call("GetMovieRecommendations", func(c *checker, v *tmdb.MovieRecommendations) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
		some(c, "rows", v.Results)
	}, movie, none)
	u.call("GetMovieSimilar", func(c *checker, v *tmdb.MovieSimilar) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
		some(c, "rows", v.Results)
	}, movie, none)
	u.call("GetMovieReviews", func(c *checker, v *tmdb.MovieReviews) {
		equal(c, "id", v.ID, movie)
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
		some(c, "reviews", v.Results)
	}, movie, none)
	u.call("GetMovieLists", func(c *checker, v *tmdb.MovieLists) { c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20) }, movie, none)
	u.call("GetMovieLatest", func(c *checker, v *tmdb.MovieLatest) { equal(c, "has an id", v.ID > 0, true) }, none)
	u.call("GetMovieNowPlaying", func(c *checker, v *tmdb.MovieNowPlaying) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
		equal(c, "dates are in order", v.Dates.Minimum < v.Dates.Maximum, true)
	}, options{"region": "US"})
	u.call("GetMovieUpcoming", func(c *checker, v *tmdb.MovieUpcoming) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
		equal(c, "dates are in order", v.Dates.Minimum < v.Dates.Maximum, true)
	}, none)
	u.call("GetMoviePopular", func(c *checker, v *tmdb.MoviePopular) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 2, 20)
		some(c, "rows", v.Results)
	}, options{"page": "2"})
	u.refused("GetMoviePopular", 22, "Invalid page: Pages start at 1 and max at 500. They are expected to be an integer.", options{"page": "501"})
	u.call("GetMovieTopRated", func(c *checker, v *tmdb.MovieTopRated) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
		some(c, "rows", v.Results)
	}, none)

	u.call("GetTVDetails", func(c *checker, v *tmdb.TVDetails) {
		equal(c, "id", v.ID, tv)
		equal(c, "name", v.Name, "Breaking Bad")
		equal(c, "seasons", len(v.Seasons), 5)
		equal(c, "network", v.Networks[0].ID, 174)
		equal(c, "last episode", v.LastEpisodeToAir.Name, "Felina")
	}, tv, none)
	u.call("GetTVDetails", func(c *checker, v *tmdb.TVDetails) {
		some(c, "aggregate cast", v.AggregateCredits.Cast)
		some(c, "ratings", v.ContentRatings.Results)
		some(c, "cast", v.Credits.Cast)
		some(c, "keywords", v.Keywords.Results)
		equal(c, "tvdb_id", v.TVDBID, 81189)
	}, tv, options{
		"language":           "fr-FR",
		"append_to_response": "aggregate_credits,alternative_titles,changes,content_ratings,credits,episode_groups,external_ids,images,keywords,recommendations,reviews,screened_theatrically,similar,translations,videos,watch/providers",
	})
	u.refused("GetTVDetails", 34, notFound, 999999999, none)
	u.call("GetTVAggregateCredits", func(c *checker, v *tmdb.TVAggregateCredits) {
		equal(c, "id", v.ID, tv)
		some(c, "roles", v.Cast[0].Roles)
		some(c, "jobs", v.Crew[0].Jobs)
	}, tv, none)
	u.call("GetTVAlternativeTitles", func(c *checker, v *tmdb.TVAlternativeTitles) { some(c, "titles", v.Results) }, tv, none)
	u.call("GetTVChanges", func(c *checker, v *tmdb.TVChanges) { some(c, "changes", v.Changes) }, tv, none)
	u.call("GetTVContentRatings", func(c *checker, v *tmdb.TVContentRatings) { some(c, "ratings", v.Results) }, tv, none)
	u.call("GetTVCredits", func(c *checker, v *tmdb.TVCredits) {
		equal(c, "id", v.ID, tv)
		some(c, "cast", v.Cast)
		some(c, "crew", v.Crew)
	}, tv, none)
	u.call("GetTVEpisodeGroups", func(c *checker, v *tmdb.TVEpisodeGroups) { some(c, "groups", v.Results) }, tv, none)
	u.call("GetTVExternalIDs", func(c *checker, v *tmdb.TVExternalIDs) { equal(c, "tvdb_id", v.TVDBID, 81189) }, tv, none)
	u.call("GetTVImages", func(c *checker, v *tmdb.TVImages) { some(c, "posters", v.Posters) }, tv, none)
	u.call("GetTVKeywords", func(c *checker, v *tmdb.TVKeywords) { some(c, "keywords", v.Results) }, tv)
	u.call("GetTVRecommendations", func(c *checker, v *tmdb.TVRecommendations) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
		some(c, "rows", v.Results)
	}, tv, none)
	u.call("GetTVReviews", func(c *checker, v *tmdb.TVReviews) { some(c, "reviews", v.Results) }, tv, none)
	u.call("GetTVScreenedTheatrically", func(c *checker, v *tmdb.TVScreenedTheatrically) { equal(c, "id", v.ID, tv) }, tv)
	u.call("GetTVSimilar", func(c *checker, v *tmdb.TVSimilar) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
		some(c, "rows", v.Results)
	}, tv, none)
	u.call("GetTVWatchProviders", func(c *checker, v *tmdb.TVWatchProviders) {
		equal(c, "offers in the US", v.Results["US"].Link != "", true)
	}, tv, none)
	u.call("GetTVTranslations", func(c *checker, v *tmdb.TVTranslations) { some(c, "translations", v.Translations) }, tv, none)
	u.call("GetTVVideos", func(c *checker, v *tmdb.TVVideos) { some(c, "videos", v.Results) }, tv, none)
	u.call("GetTVLatest", func(c *checker, v *tmdb.TVLatest) { equal(c, "has an id", v.ID > 0, true) }, none)
	u.call("GetTVAiringToday", func(c *checker, v *tmdb.TVAiringToday) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
	}, options{"timezone": "America/New_York"})
	u.call("GetTVOnTheAir", func(c *checker, v *tmdb.TVOnTheAir) { c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20) }, none)
	u.call("GetTVPopular", func(c *checker, v *tmdb.TVPopular) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
		some(c, "rows", v.Results)
	}, none)
	u.call("GetTVTopRated", func(c *checker, v *tmdb.TVTopRated) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
		some(c, "rows", v.Results)
	}, none)
}

func seasonsAndEpisodes(u user) {
	none := options(nil)
	u.call("GetTVSeasonDetails", func(c *checker, v *tmdb.TVSeasonDetails) {
		equal(c, "id", v.ID, season)
		equal(c, "episodes", len(v.Episodes), 7)
		some(c, "aggregate cast", v.AggregateCredits.Cast)
		equal(c, "tvdb_id", v.ExternalIDs.TVDBID, 30272)
	}, tv, 1, options{"append_to_response": "aggregate_credits,credits,external_ids,images,translations,videos"})
	u.refused("GetTVSeasonDetails", 34, notFound, tv, 99, none)
	// The client takes texts in changes of seasons for errors: a season of which an episode changed.
	u.call("GetTVSeasonChanges", func(c *checker, v *tmdb.TVSeasonChanges) {
		some(c, "changes", v.Changes)
		equal(c, "episode", v.Changes[0].Items[0].Value.EpisodeNumber, 1)
	}, 3573, none)
	u.call("GetTVSeasonCredits", func(c *checker, v *tmdb.TVSeasonCredits) { equal(c, "id", v.ID, season) }, tv, 1, none)
	u.call("GetTVSeasonExternalIDs", func(c *checker, v *tmdb.TVSeasonExternalIDs) {
		equal(c, "id", v.ID, season)
		equal(c, "tvdb_id", v.TVDBID, 30272)
	}, tv, 1, none)
	u.call("GetTVSeasonImages", func(c *checker, v *tmdb.TVSeasonImages) { some(c, "posters", v.Posters) }, tv, 1, none)
	u.call("GetTVSeasonVideos", func(c *checker, v *tmdb.TVSeasonVideos) { some(c, "videos", v.Results) }, tv, 1, none)
	u.call("GetTVSeasonTranslations", func(c *checker, v *tmdb.TVSeasonTranslations) {
		some(c, "translations", v.Translations)
	}, tv, 1)
	u.call("GetTVEpisodeDetails", func(c *checker, v *tmdb.TVEpisodeDetails) {
		equal(c, "id", v.ID, episode)
		equal(c, "name", v.Name, "Pilot")
		some(c, "guests", v.GuestStars)
		some(c, "stills", v.Images.Stills)
	}, tv, 1, 1, options{"append_to_response": "credits,external_ids,images,translations,videos"})
	u.refused("GetTVEpisodeDetails", 34, notFound, tv, 1, 99, none)
	u.call("GetTVEpisodeChanges", func(c *checker, v *tmdb.TVEpisodeChanges) { some(c, "changes", v.Changes) }, episode, none)
	u.call("GetTVEpisodeCredits", func(c *checker, v *tmdb.TVEpisodeCredits) {
		equal(c, "id", v.ID, episode)
		some(c, "cast", v.Cast)
		some(c, "guests", v.GuestStars)
	}, tv, 1, 1)
	u.call("GetTVEpisodeExternalIDs", func(c *checker, v *tmdb.TVEpisodeExternalIDs) {
		equal(c, "id", v.ID, episode)
		equal(c, "imdb_id", v.IMDbID, "tt0959621")
	}, tv, 1, 1)
	u.call("GetTVEpisodeImages", func(c *checker, v *tmdb.TVEpisodeImages) { some(c, "stills", v.Stills) }, tv, 1, 1)
	u.call("GetTVEpisodeTranslations", func(c *checker, v *tmdb.TVEpisodeTranslations) {
		some(c, "translations", v.Translations)
	}, tv, 1, 1)
	u.call("GetTVEpisodeVideos", func(c *checker, v *tmdb.TVEpisodeVideos) { equal(c, "id", v.ID, episode) }, tv, 1, 1, none)
	u.call("GetTVEpisodeGroupsDetails", func(c *checker, v *tmdb.TVEpisodeGroupsDetails) {
		equal(c, "id", v.ID, "afbbb3b13c8d851e72055ce7")
		equal(c, "groups", len(v.Groups), 6)
	}, "afbbb3b13c8d851e72055ce7", none)
}

func people(u user) {
	none := options(nil)
	u.call("GetPersonDetails", func(c *checker, v *tmdb.PersonDetails) {
		equal(c, "id", v.ID, person)
		equal(c, "name", v.Name, "Brad Pitt")
		equal(c, "birthday", v.Birthday, "1963-12-18")
		some(c, "other names", v.AlsoKnownAs)
		some(c, "movies", v.MovieCredits.Cast)
	}, person, options{"append_to_response": "changes,movie_credits,tv_credits,combined_credits,external_ids,images,tagged_images,translations"})
	u.refused("GetPersonDetails", 34, notFound, 999999999, none)
	u.call("GetPersonChanges", func(c *checker, v *tmdb.PersonChanges) { some(c, "changes", v.Changes) }, person, none)
	u.call("GetPersonMovieCredits", func(c *checker, v *tmdb.PersonMovieCredits) { some(c, "cast", v.Cast) }, person, none)
	u.call("GetPersonTVCredits", func(c *checker, v *tmdb.PersonTVCredits) { some(c, "cast", v.Cast) }, actor, none)
	u.call("GetPersonCombinedCredits", func(c *checker, v *tmdb.PersonCombinedCredits) { some(c, "cast", v.Cast) }, actor, none)
	u.call("GetPersonExternalIDs", func(c *checker, v *tmdb.PersonExternalIDs) {
		equal(c, "id", v.ID, person)
		equal(c, "imdb_id", v.IMDbID, "nm0000093")
	}, person, none)
	u.call("GetPersonImages", func(c *checker, v *tmdb.PersonImages) { some(c, "profiles", v.Profiles) }, person)
	u.call("GetPersonTaggedImages", func(c *checker, v *tmdb.PersonTaggedImages) { equal(c, "id", v.ID, person) }, person, none)
	u.call("GetPersonTranslations", func(c *checker, v *tmdb.PersonTranslations) { some(c, "translations", v.Translations) }, person, none)
	u.call("GetPersonLatest", func(c *checker, v *tmdb.PersonLatest) { equal(c, "has an id", v.ID > 0, true) }, none)
	u.call("GetPersonPopular", func(c *checker, v *tmdb.PersonPopular) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
		some(c, "known for", v.Results[0].KnownFor)
	}, none)
	u.call("GetCreditDetails", func(c *checker, v *tmdb.CreditsDetails) {
		equal(c, "id", v.ID, "7ca9a98ee361df1ee302fe17")
		equal(c, "movie", v.Media.ID, movie)
		equal(c, "person", v.Person.ID, 2)
	}, "7ca9a98ee361df1ee302fe17")
}

func others(u user) {
	none := options(nil)
	u.call("GetCollectionDetails", func(c *checker, v *tmdb.CollectionDetails) {
		equal(c, "id", v.ID, 10)
		some(c, "parts", v.Parts)
	}, 10, options{"language": "ja-JP"})
	u.call("GetCollectionImages", func(c *checker, v *tmdb.CollectionImages) { some(c, "posters", v.Posters) }, 10, none)
	u.call("GetCollectionTranslations", func(c *checker, v *tmdb.CollectionTranslations) {
		some(c, "translations", v.Translations)
	}, 10, none)
	u.call("GetCompanyDetails", func(c *checker, v *tmdb.CompanyDetails) { equal(c, "name", v.Name, "Lucasfilm Ltd.") }, 1)
	u.call("GetCompanyAlternativeNames", func(c *checker, v *tmdb.CompanyAlternativeNames) { some(c, "names", v.Results) }, 1)
	u.call("GetCompanyImages", func(c *checker, v *tmdb.CompanyImages) { some(c, "logos", v.Logos) }, 1)
	u.call("GetNetworkDetails", func(c *checker, v *tmdb.NetworkDetails) { equal(c, "name", v.Name, "AMC") }, 174)
	u.call("GetNetworkAlternativeNames", func(c *checker, v *tmdb.NetworkAlternativeNames) { some(c, "names", v.Results) }, 174)
	u.call("GetNetworkImages", func(c *checker, v *tmdb.NetworkImages) { some(c, "logos", v.Logos) }, 174)
	u.call("GetKeywordDetails", func(c *checker, v *tmdb.KeywordDetails) { equal(c, "name", v.Name, "android") }, 803)
	u.call("GetKeywordMovies", func(c *checker, v *tmdb.KeywordMovies) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
		some(c, "rows", v.Results)
	}, 803, none)
	u.call("GetReviewDetails", func(c *checker, v *tmdb.ReviewDetails) {
		equal(c, "id", v.ID, "68df5cb7979936816bcef0a5")
		equal(c, "movie", v.MediaID, movie)
	}, "68df5cb7979936816bcef0a5")
	u.call("GetListDetails", func(c *checker, v *tmdb.ListDetails) {
		equal(c, "id", v.ID, list)
		equal(c, "items", len(v.Items), 3)
		equal(c, "first", v.Items[0].ID, movie)
	}, list, none)
	u.refused("GetListDetails", 34, notFound, 999999999, none)
	u.call("GetListItemStatus", func(c *checker, v *tmdb.ListItemStatus) {
		equal(c, "id", v.ID, "7101")
		equal(c, "item_present", v.ItemPresent, true)
	}, list, options{"movie_id": "11"})
}

// lookups are search, discover, trending, find and changes.
func lookups(u user) {
	none := options(nil)
	u.call("GetSearchMovies", func(c *checker, v *tmdb.SearchMovies) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
		has(c, "rows", v.Results, movie, func(r *tmdb.MovieResult) int64 { return r.ID })
	}, "star wars", options{"language": "de-DE", "include_adult": "false"})
	u.call("GetSearchTVShow", func(c *checker, v *tmdb.SearchTVShows) { equal(c, "first", v.Results[0].ID, tv) }, "breaking bad", none)
	u.call("GetSearchPeople", func(c *checker, v *tmdb.SearchPeople) { equal(c, "first", v.Results[0].ID, person) }, "brad pitt", none)
	u.call("GetSearchMulti", func(c *checker, v *tmdb.SearchMulti) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
		equal(c, "media type", v.Results[0].MediaType, "tv")
	}, "breaking bad", none)
	u.call("GetSearchCollections", func(c *checker, v *tmdb.SearchCollections) { equal(c, "first", v.Results[0].ID, 10) }, "star wars", none)
	u.call("GetSearchCompanies", func(c *checker, v *tmdb.SearchCompanies) { equal(c, "first", v.Results[0].ID, 1) }, "lucasfilm", none)
	u.call("GetSearchKeywords", func(c *checker, v *tmdb.SearchKeywords) { equal(c, "first", v.Results[0].Name, "android") }, "android", none)
	u.call("GetDiscoverMovie", func(c *checker, v *tmdb.DiscoverMovie) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
		has(c, "rows", v.Results, 550, func(r *tmdb.MovieResult) int64 { return r.ID })
	}, options{"with_cast": "287,819", "sort_by": "primary_release_date.asc"})
	u.call("GetDiscoverTV", func(c *checker, v *tmdb.DiscoverTV) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
		has(c, "rows", v.Results, tv, func(r *tmdb.TVShowResult) int64 { return r.ID })
	}, options{"with_networks": "174", "vote_average.gte": "8", "with_status": "3|4"})
	u.call("GetTrending", func(c *checker, v *tmdb.Trending) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
		for _, r := range v.Results {
			equal(c, "media type", r.MediaType, "movie")
		}
	}, "movie", "day", none)
	u.call("GetTrending", func(c *checker, v *tmdb.Trending) { some(c, "rows", v.Results) }, "all", "week", none)
	u.call("GetFindByID", func(c *checker, v *tmdb.FindByID) { equal(c, "movie", v.MovieResults[0].ID, movie) },
		"tt0076759", options{"external_source": "imdb_id"})
	u.call("GetFindByID", func(c *checker, v *tmdb.FindByID) { equal(c, "episode", v.TvEpisodeResults[0].ID, episode) },
		"349232", options{"external_source": "tvdb_id"})
	u.call("GetChangesMovie", func(c *checker, v *tmdb.ChangesMovie) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 100)
		some(c, "rows", v.Results)
	}, none)
	u.call("GetChangesTV", func(c *checker, v *tmdb.ChangesTV) { some(c, "rows", v.Results) }, none)
	u.call("GetChangesPerson", func(c *checker, v *tmdb.ChangesPerson) { some(c, "rows", v.Results) }, none)
	u.refused("GetChangesMovie", 20, "Invalid date range: Should be a range no longer than 14 days.",
		options{"start_date": "2026-01-01", "end_date": "2026-02-01"})
}

func facts(u user) {
	none := options(nil)
	u.call("GetConfigurationAPI", func(c *checker, v *tmdb.ConfigurationAPI) {
		some(c, "sizes", v.Images.PosterSizes)
		some(c, "change keys", v.ChangeKeys)
	})
	u.call("GetConfigurationCountries", func(c *checker, v *tmdb.ConfigurationCountries) { some(c, "countries", *v) })
	u.call("GetConfigurationJobs", func(c *checker, v *tmdb.ConfigurationJobs) { some(c, "jobs", (*v)[0].Jobs) })
	u.call("GetConfigurationLanguages", func(c *checker, v *tmdb.ConfigurationLanguages) { some(c, "languages", *v) })
	u.call("GetConfigurationPrimaryTranslations", func(c *checker, v *tmdb.ConfigurationPrimaryTranslations) { some(c, "translations", *v) })
	u.call("GetConfigurationTimezones", func(c *checker, v *tmdb.ConfigurationTimezones) { some(c, "zones", (*v)[0].Zones) })
	u.call("GetGenreMovieList", func(c *checker, v *tmdb.GenreMovieList) { equal(c, "genres", len(v.Genres), 19) }, options{"language": "pt-BR"})
	u.call("GetGenreTVList", func(c *checker, v *tmdb.GenreMovieList) { equal(c, "genres", len(v.Genres), 16) }, none)
	u.call("GetCertificationMovie", func(c *checker, v *tmdb.CertificationMovie) { some(c, "certifications", v.Certifications.US) })
	u.call("GetCertificationTV", func(c *checker, v *tmdb.CertificationTV) { some(c, "certifications", v.Certifications.US) })
	u.call("GetAvailableWatchProviderRegions", func(c *checker, v *tmdb.WatchRegionList) { some(c, "regions", v.Regions) }, none)
	u.call("GetWatchProvidersMovie", func(c *checker, v *tmdb.WatchProviderList) { some(c, "providers", v.Providers) }, options{"watch_region": "US"})
	u.call("GetWatchProvidersTv", func(c *checker, v *tmdb.WatchProviderList) { some(c, "providers", v.Providers) }, none)
	u.call("CreateGuestSession", func(c *checker, v *tmdb.RequestToken) {
		equal(c, "length of the id", len(v.GuestSessionID), 32)
		equal(c, "expires_at is in UTC", strings.HasSuffix(v.ExpiresAt, " UTC"), true)
	})
	u.call("CreateRequestToken", func(c *checker, v *tmdb.RequestToken) { equal(c, "length of the token", len(v.RequestToken), 40) })
}

// account calls what is one user's: for mine, who has a session, and for a guest.
func account(u, mine user, session string) {
	none := options(nil)
	mine.call("GetAccountDetails", func(c *checker, v *tmdb.AccountDetails) {
		equal(c, "id", v.ID, accountID)
		equal(c, "username", v.Username, "clients")
	})
	u.refused("GetAccountDetails", 3, noSession)
	mine.call("GetCreatedLists", func(c *checker, v *tmdb.AccountCreatedLists) { equal(c, "list", v.Results[0].ID, list) }, accountID, none)
	mine.call("GetFavoriteMovies", func(c *checker, v *tmdb.AccountFavoriteMovies) {
		c.page(v.PaginatedResultsMeta, len(v.Results), 1, 20)
		equal(c, "movie", v.Results[0].ID, movie)
	}, accountID, options{"sort_by": "created_at.desc"})
	mine.call("GetFavoriteTVShows", func(c *checker, v *tmdb.AccountFavoriteTVShows) { equal(c, "series", v.Results[0].ID, tv) }, accountID, none)
	mine.call("GetRatedMovies", func(c *checker, v *tmdb.AccountRatedMovies) { equal(c, "movie", v.Results[0].ID, movie) }, accountID, none)
	mine.call("GetRatedTVShows", func(c *checker, v *tmdb.AccountRatedTVShows) { equal(c, "series", v.Results[0].ID, tv) }, accountID, none)
	mine.call("GetRatedTVEpisodes", func(c *checker, v *tmdb.AccountRatedTVEpisodes) {
		equal(c, "episode", v.Results[0].ID, episode)
		equal(c, "rating", v.Results[0].Rating, 7.5)
	}, accountID, none)
	mine.call("GetMovieWatchlist", func(c *checker, v *tmdb.AccountMovieWatchlist) { equal(c, "movie", v.Results[0].ID, 550) }, accountID, none)
	mine.call("GetTVShowsWatchlist", func(c *checker, v *tmdb.AccountTVShowsWatchlist) { equal(c, "series", v.Results[0].ID, 1399) }, accountID, none)
	states := func(c *checker, id, want int64, favorite bool, rated json.RawMessage, value string) {
		equal(c, "id", id, want)
		equal(c, "favorite", favorite, true)
		equal(c, "rated", string(rated), value)
	}
	mine.call("GetMovieAccountStates", func(c *checker, v *tmdb.MovieAccountStates) {
		states(c, v.ID, movie, v.Favorite, json.RawMessage(v.Rated), `{"value":8.5}`)
	}, movie, options{"session_id": session})
	mine.call("GetTVAccountStates", func(c *checker, v *tmdb.TVAccountStates) {
		states(c, v.ID, tv, v.Favorite, json.RawMessage(v.Rated), `{"value":9.0}`)
	}, tv, options{"session_id": session})
	u.call("GetGuestSessionRatedMovies", func(c *checker, v *tmdb.GuestSessionRatedMovies) {
		equal(c, "movie", v.Results[0].ID, 550)
		equal(c, "rating", v.Results[0].Rating, 6)
	}, os.Getenv("REELSPLICE_GUEST"), none)
	u.call("GetGuestSessionRatedTVShows", func(c *checker, v *tmdb.GuestSessionRatedTVShows) { equal(c, "rating", v.Results[0].Rating, 7) }, os.Getenv("REELSPLICE_GUEST"), none)
	u.call("GetGuestSessionRatedTVEpisodes", func(c *checker, v *tmdb.GuestSessionRatedTVEpisodes) {
		equal(c, "rating", v.Results[0].Rating, 8)
	}, os.Getenv("REELSPLICE_GUEST"), none)
}

// refusals calls what nobody may without a token.
func refusals(stranger user) {
	stranger.refused("GetMovieDetails", 7, noKey, movie, options(nil))
	stranger.refused("GetSearchMovies", 7, noKey, "star", options(nil))
	stranger.refused("GetConfigurationAPI", 7, noKey)
	stranger.refused("GetAccountDetails", 7, noKey)
}
