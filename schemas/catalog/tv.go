package catalog

import "reelsplice/schemas/wire"

// A TV is everything about one series but its seasons: the members of its details
// answer, then its sub-requests under the names of append_to_response.
type TV struct {
	wire.Object
	Adult               wire.Bool        `wire:"adult"`
	BackdropPath        wire.String      `wire:"backdrop_path,null"`
	CreatedBy           []Creator        `wire:"created_by"`
	EpisodeRunTime      []int64          `wire:"episode_run_time"` // minutes
	FirstAirDate        wire.String      `wire:"first_air_date"`
	Genres              []Genre          `wire:"genres"`
	Homepage            wire.String      `wire:"homepage"`
	ID                  wire.Int         `wire:"id"`
	InProduction        wire.Bool        `wire:"in_production"`
	Languages           []string         `wire:"languages"`
	LastAirDate         wire.String      `wire:"last_air_date,null"`
	LastEpisodeToAir    *EpisodeSummary  `wire:"last_episode_to_air,null"`
	Name                wire.String      `wire:"name"`
	NextEpisodeToAir    *EpisodeSummary  `wire:"next_episode_to_air,null"`
	Networks            []NetworkRef     `wire:"networks"`
	NumberOfEpisodes    wire.Int         `wire:"number_of_episodes"`
	NumberOfSeasons     wire.Int         `wire:"number_of_seasons"`
	OriginCountry       []string         `wire:"origin_country"`
	OriginalLanguage    wire.String      `wire:"original_language,dict"`
	OriginalName        wire.String      `wire:"original_name"`
	Overview            wire.String      `wire:"overview"`
	Popularity          wire.Float       `wire:"popularity"`
	PosterPath          wire.String      `wire:"poster_path,null"`
	ProductionCompanies []CompanyRef     `wire:"production_companies"`
	ProductionCountries []Country        `wire:"production_countries"`
	Seasons             []SeasonSummary  `wire:"seasons"`
	Softcore            wire.Bool        `wire:"softcore"`
	SpokenLanguages     []SpokenLanguage `wire:"spoken_languages"`
	Status              wire.String      `wire:"status,dict"`
	Tagline             wire.String      `wire:"tagline"`
	Type                wire.String      `wire:"type,dict"`
	VoteAverage         wire.Float       `wire:"vote_average"`
	VoteCount           wire.Int         `wire:"vote_count"`

	AggregateCredits     *AggregateCredits     `wire:"aggregate_credits"`
	AlternativeTitles    *TVAlternativeTitles  `wire:"alternative_titles"`
	Changes              *Changes              `wire:"changes"`
	ContentRatings       *ContentRatings       `wire:"content_ratings"`
	Credits              *TVCredits            `wire:"credits"`
	EpisodeGroups        *EpisodeGroups        `wire:"episode_groups"`
	ExternalIDs          *TVExternalIDs        `wire:"external_ids"`
	Images               *Images               `wire:"images"`
	Keywords             *TVKeywords           `wire:"keywords"`
	Lists                []ListPage            `wire:"lists,pages,id"`
	Recommendations      []MediaPage           `wire:"recommendations,pages"`
	Reviews              []ReviewPage          `wire:"reviews,pages,id"`
	ScreenedTheatrically *ScreenedTheatrically `wire:"screened_theatrically"`
	Similar              []SummaryPage         `wire:"similar,pages"`
	Translations         *TVTranslations       `wire:"translations"`
	Videos               *Videos               `wire:"videos"`
	WatchProviders       *WatchProviders       `wire:"watch/providers" column:"watch_providers"`

	// Localized holds what crawls in languages other than en-US gave, one element a
	// language. It is no member of TMDB's.
	Localized []LocalizedTV `wire:"localized,own"`
	// Details says that a source gave a whole details answer of the API: see MarkDetails.
	Details wire.Bool `wire:"_details,own"`
}

// LocalizedTV is the text of a series in one language, as a crawl in that language
// gave it. Members that the crawl did not give are unset, and so is an empty name.
type LocalizedTV struct {
	wire.Object
	Language         wire.String       `wire:"language,dict"` // xx-YY; xx where no region is known
	BackdropPath     wire.String       `wire:"backdrop_path"`
	CreatedBy        []Creator         `wire:"created_by"`
	Genres           []Genre           `wire:"genres"`
	Homepage         wire.String       `wire:"homepage"`
	LastEpisodeToAir *EpisodeSummary   `wire:"last_episode_to_air"`
	Name             wire.String       `wire:"name"`
	NextEpisodeToAir *EpisodeSummary   `wire:"next_episode_to_air"`
	Overview         wire.String       `wire:"overview"`
	PosterPath       wire.String       `wire:"poster_path"`
	Seasons          []SeasonSummary   `wire:"seasons"`
	Tagline          wire.String       `wire:"tagline"`
	AggregateCredits *AggregateCredits `wire:"aggregate_credits"` // whole: names may be translated
	Credits          *TVCredits        `wire:"credits"`
}

// Creator is a person who created a series.
type Creator struct {
	wire.Object
	ID           wire.Int    `wire:"id"`
	CreditID     wire.String `wire:"credit_id"`
	Name         wire.String `wire:"name"`
	OriginalName wire.String `wire:"original_name"`
	Gender       wire.Int    `wire:"gender"`
	ProfilePath  wire.String `wire:"profile_path,null"`
}

// EpisodeSummary is an episode in the details of its series.
type EpisodeSummary struct {
	wire.Object
	ID             wire.Int    `wire:"id"`
	Name           wire.String `wire:"name"`
	Overview       wire.String `wire:"overview"`
	VoteAverage    wire.Float  `wire:"vote_average"`
	VoteCount      wire.Int    `wire:"vote_count"`
	AirDate        wire.String `wire:"air_date,null"`
	EpisodeNumber  wire.Int    `wire:"episode_number"`
	EpisodeType    wire.String `wire:"episode_type,dict"`
	ProductionCode wire.String `wire:"production_code"`
	Runtime        wire.Int    `wire:"runtime,null"` // minutes
	SeasonNumber   wire.Int    `wire:"season_number"`
	ShowID         wire.Int    `wire:"show_id"`
	StillPath      wire.String `wire:"still_path,null"`
}

// NetworkRef names a network.
type NetworkRef struct {
	wire.Object
	ID            wire.Int    `wire:"id"`
	LogoPath      wire.String `wire:"logo_path,null"`
	Name          wire.String `wire:"name,dict"`
	OriginCountry wire.String `wire:"origin_country,dict"`
}

// SeasonSummary is a season in the details of its series.
type SeasonSummary struct {
	wire.Object
	AirDate      wire.String `wire:"air_date,null"`
	EpisodeCount wire.Int    `wire:"episode_count"`
	ID           wire.Int    `wire:"id"`
	Name         wire.String `wire:"name"`
	Overview     wire.String `wire:"overview"`
	PosterPath   wire.String `wire:"poster_path,null"`
	SeasonNumber wire.Int    `wire:"season_number"`
	VoteAverage  wire.Float  `wire:"vote_average"`
}

// AggregateCredits is the answer of aggregate_credits of a series or a season: each
// person once, with all roles and jobs.
type AggregateCredits struct {
	wire.Object `wire:"drop-id,id=end"`
	Cast        []AggregateCast `wire:"cast"`
	Crew        []AggregateCrew `wire:"crew"`
}

// AggregateCast is the roles of one person.
type AggregateCast struct {
	wire.Object
	Adult              wire.Bool       `wire:"adult"`
	Gender             wire.Int        `wire:"gender"`
	ID                 wire.Int        `wire:"id"`
	KnownForDepartment wire.String     `wire:"known_for_department,dict"`
	Name               wire.String     `wire:"name"`
	OriginalName       wire.String     `wire:"original_name"`
	Popularity         wire.Float      `wire:"popularity"`
	ProfilePath        wire.String     `wire:"profile_path,null"`
	Roles              []AggregateRole `wire:"roles"`
	TotalEpisodeCount  wire.Int        `wire:"total_episode_count"`
	Order              wire.Int        `wire:"order"`
}

// AggregateRole is one role and in how many episodes it was played.
type AggregateRole struct {
	wire.Object
	CreditID     wire.String `wire:"credit_id"`
	Character    wire.String `wire:"character"`
	EpisodeCount wire.Int    `wire:"episode_count"`
}

// AggregateCrew is the jobs of one person in one department.
type AggregateCrew struct {
	wire.Object
	Adult              wire.Bool      `wire:"adult"`
	Gender             wire.Int       `wire:"gender"`
	ID                 wire.Int       `wire:"id"`
	KnownForDepartment wire.String    `wire:"known_for_department,dict"`
	Name               wire.String    `wire:"name"`
	OriginalName       wire.String    `wire:"original_name"`
	Popularity         wire.Float     `wire:"popularity"`
	ProfilePath        wire.String    `wire:"profile_path,null"`
	Jobs               []AggregateJob `wire:"jobs"`
	Department         wire.String    `wire:"department,dict"`
	TotalEpisodeCount  wire.Int       `wire:"total_episode_count"`
}

// AggregateJob is one job and in how many episodes it was done.
type AggregateJob struct {
	wire.Object
	CreditID     wire.String `wire:"credit_id"`
	Job          wire.String `wire:"job,dict"`
	EpisodeCount wire.Int    `wire:"episode_count"`
}

// TVAlternativeTitles is the answer of tv/{id}/alternative_titles.
type TVAlternativeTitles struct {
	wire.Object `wire:"drop-id"`
	Results     []AlternativeTitle `wire:"results"`
}

// ContentRatings is the answer of tv/{id}/content_ratings.
type ContentRatings struct {
	wire.Object `wire:"drop-id,id=end"`
	Results     []ContentRating `wire:"results"`
}

// ContentRating is the rating of a series in one country.
type ContentRating struct {
	wire.Object
	Descriptors []string    `wire:"descriptors"`
	ISO3166     wire.String `wire:"iso_3166_1,dict"`
	Rating      wire.String `wire:"rating,dict"`
}

// TVCredits is the answer of credits of a series or a season.
type TVCredits struct {
	wire.Object `wire:"drop-id,id=end"`
	Cast        []TVCastCredit `wire:"cast"`
	Crew        []CrewCredit   `wire:"crew"`
}

// TVCastCredit is one role of one person in a series, a season or an episode.
type TVCastCredit struct {
	wire.Object
	Adult              wire.Bool   `wire:"adult"`
	Gender             wire.Int    `wire:"gender"`
	ID                 wire.Int    `wire:"id"`
	KnownForDepartment wire.String `wire:"known_for_department,dict"`
	Name               wire.String `wire:"name"`
	OriginalName       wire.String `wire:"original_name"`
	Popularity         wire.Float  `wire:"popularity"`
	ProfilePath        wire.String `wire:"profile_path,null"`
	Character          wire.String `wire:"character"`
	CreditID           wire.String `wire:"credit_id"`
	Order              wire.Int    `wire:"order"`
}

// EpisodeGroups is the answer of tv/{id}/episode_groups.
type EpisodeGroups struct {
	wire.Object `wire:"drop-id,id=end"`
	Results     []EpisodeGroupSummary `wire:"results"`
}

// EpisodeGroupSummary is an order of a series' episodes, without the episodes.
type EpisodeGroupSummary struct {
	wire.Object
	Description  wire.String `wire:"description"`
	EpisodeCount wire.Int    `wire:"episode_count"`
	GroupCount   wire.Int    `wire:"group_count"`
	ID           wire.String `wire:"id"`
	Name         wire.String `wire:"name"`
	Network      *NetworkRef `wire:"network,null"`
	Type         wire.Int    `wire:"type"` // 1 original air date to 7 TV
}

// TVExternalIDs is the answer of tv/{id}/external_ids.
type TVExternalIDs struct {
	wire.Object `wire:"drop-id"`
	IMDbID      wire.String `wire:"imdb_id,null"`
	FreebaseMID wire.String `wire:"freebase_mid,null"`
	FreebaseID  wire.String `wire:"freebase_id,null"`
	TVDBID      wire.Int    `wire:"tvdb_id,null"`
	TVRageID    wire.Int    `wire:"tvrage_id,null"`
	WikidataID  wire.String `wire:"wikidata_id,null"`
	FacebookID  wire.String `wire:"facebook_id,null"`
	InstagramID wire.String `wire:"instagram_id,null"`
	TwitterID   wire.String `wire:"twitter_id,null"`
}

// TVKeywords is the answer of tv/{id}/keywords.
type TVKeywords struct {
	wire.Object `wire:"drop-id"`
	Results     []TVKeyword `wire:"results"`
}

// TVKeyword is a keyword of a series.
type TVKeyword struct {
	wire.Object
	Name wire.String `wire:"name,dict"`
	ID   wire.Int    `wire:"id"`
}

// ScreenedTheatrically is the answer of tv/{id}/screened_theatrically.
type ScreenedTheatrically struct {
	wire.Object `wire:"drop-id"`
	Results     []TheatricalEpisode `wire:"results"`
}

// TheatricalEpisode is an episode that was shown in theatres.
type TheatricalEpisode struct {
	wire.Object
	ID            wire.Int `wire:"id"`
	EpisodeNumber wire.Int `wire:"episode_number"`
	SeasonNumber  wire.Int `wire:"season_number"`
}

// TVTranslations is the answer of tv/{id}/translations.
type TVTranslations struct {
	wire.Object  `wire:"drop-id"`
	Translations []TVTranslation `wire:"translations"`
}

// TVTranslation is a series' text in one language.
type TVTranslation struct {
	wire.Object
	ISO3166     wire.String        `wire:"iso_3166_1,dict"`
	ISO639      wire.String        `wire:"iso_639_1,dict"`
	Name        wire.String        `wire:"name,dict"`
	EnglishName wire.String        `wire:"english_name,dict"`
	Data        *TVTranslationData `wire:"data"`
}

// TVTranslationData is the text itself.
type TVTranslationData struct {
	wire.Object
	Name     wire.String `wire:"name"`
	Overview wire.String `wire:"overview"`
	Homepage wire.String `wire:"homepage"`
	Tagline  wire.String `wire:"tagline"`
}
