package catalog

import "github.com/reelsplice/reelsplice/schemas/record"

// A TV holds all data of one series except its seasons: the fields of its details response, then its sub-requests
// under the names of append_to_response.
type TV struct {
	record.Object
	Adult               record.Bool      `record:"adult"`
	BackdropPath        record.String    `record:"backdrop_path,null,details"`
	CreatedBy           []creator        `record:"created_by,details"`
	EpisodeRunTime      []int64          `record:"episode_run_time,details"` // minutes
	FirstAirDate        record.String    `record:"first_air_date,details,day"`
	Genres              []Genre          `record:"genres,details"`
	Homepage            record.String    `record:"homepage,details"`
	ID                  record.Int       `record:"id,details"`
	InProduction        record.Bool      `record:"in_production,details"`
	Languages           []string         `record:"languages,details"`
	LastAirDate         record.String    `record:"last_air_date,null,details,day"`
	LastEpisodeToAir    *EpisodeSummary  `record:"last_episode_to_air,null"`
	Name                record.String    `record:"name,details"`
	NextEpisodeToAir    *EpisodeSummary  `record:"next_episode_to_air,null"`
	Networks            []CompanyRef     `record:"networks,details"`
	NumberOfEpisodes    record.Int       `record:"number_of_episodes,details"`
	NumberOfSeasons     record.Int       `record:"number_of_seasons,details"`
	OriginCountry       []string         `record:"origin_country,details"`
	OriginalLanguage    record.String    `record:"original_language,dict,details"`
	OriginalName        record.String    `record:"original_name,details"`
	Overview            record.String    `record:"overview,details"`
	Popularity          record.Float     `record:"popularity,details"`
	PosterPath          record.String    `record:"poster_path,null,details"`
	ProductionCompanies []CompanyRef     `record:"production_companies"`
	ProductionCountries []country        `record:"production_countries"`
	Seasons             []SeasonSummary  `record:"seasons,details"`
	Softcore            record.Bool      `record:"softcore"`
	SpokenLanguages     []spokenLanguage `record:"spoken_languages"`
	Status              record.String    `record:"status,dict,details"`
	Tagline             record.String    `record:"tagline"`
	Type                record.String    `record:"type,dict"`
	VoteAverage         record.Float     `record:"vote_average,details"`
	VoteCount           record.Int       `record:"vote_count,details"`

	AggregateCredits     *AggregateCredits                `record:"aggregate_credits"`
	AlternativeTitles    *TVAlternativeTitles             `record:"alternative_titles"`
	Changes              *changes                         `record:"changes"`
	ContentRatings       *contentRatings                  `record:"content_ratings"`
	Credits              *TVCredits                       `record:"credits"`
	EpisodeGroups        *episodeGroups                   `record:"episode_groups"`
	ExternalIDs          *TVExternalIDs                   `record:"external_ids"`
	Images               *Images                          `record:"images"`
	Keywords             *results[tvKeyword]              `record:"keywords"`
	Lists                []Page[listRow]                  `record:"lists,pages,id"`
	Recommendations      []Page[MediaRow]                 `record:"recommendations,pages"`
	Reviews              []ReviewPage                     `record:"reviews,pages,id"`
	ScreenedTheatrically *results[theatricalEpisode]      `record:"screened_theatrically"`
	Similar              []Page[summaryRow]               `record:"similar,pages"`
	Translations         *translations[tvTranslationData] `record:"translations"`
	Videos               *Videos                          `record:"videos"`
	WatchProviders       *WatchProviders                  `record:"watch/providers" column:"watch_providers"`

	// Localized holds the results of crawls in languages other than en-US, one element per language. TMDB has no such
	// field.
	Localized []localizedTV `record:"localized,own"`
	Provenance
}

// localizedTV is the text of a series in one language, from a crawl in that language. Fields absent from the crawl
// are unset, as is an empty name.
type localizedTV struct {
	record.Object
	Language         record.String     `record:"language,dict"` // xx-YY; xx without a known region
	BackdropPath     record.String     `record:"backdrop_path"`
	CreatedBy        []creator         `record:"created_by"`
	Genres           []Genre           `record:"genres"`
	Homepage         record.String     `record:"homepage"`
	LastEpisodeToAir *EpisodeSummary   `record:"last_episode_to_air"`
	Name             record.String     `record:"name"`
	NextEpisodeToAir *EpisodeSummary   `record:"next_episode_to_air"`
	Overview         record.String     `record:"overview"`
	PosterPath       record.String     `record:"poster_path"`
	Seasons          []SeasonSummary   `record:"seasons"`
	Tagline          record.String     `record:"tagline"`
	AggregateCredits *AggregateCredits `record:"aggregate_credits"` // complete: names may be translated
	Credits          *TVCredits        `record:"credits"`
}

// creator is a person who created a series.
type creator struct {
	record.Object
	ID           record.Int    `record:"id"`
	CreditID     record.String `record:"credit_id"`
	Name         record.String `record:"name"`
	OriginalName record.String `record:"original_name"`
	Gender       record.Int    `record:"gender"`
	ProfilePath  record.String `record:"profile_path,null"`
}

// EpisodeSummary is an episode in the details of its series.
type EpisodeSummary struct {
	record.Object
	ID             record.Int    `record:"id"`
	Name           record.String `record:"name"`
	Overview       record.String `record:"overview"`
	VoteAverage    record.Float  `record:"vote_average"`
	VoteCount      record.Int    `record:"vote_count"`
	AirDate        record.String `record:"air_date,null,day"`
	EpisodeNumber  record.Int    `record:"episode_number"`
	EpisodeType    record.String `record:"episode_type,dict"`
	ProductionCode record.String `record:"production_code"`
	Runtime        record.Int    `record:"runtime,null"` // minutes
	SeasonNumber   record.Int    `record:"season_number"`
	ShowID         record.Int    `record:"show_id"`
	StillPath      record.String `record:"still_path,null"`
}

// SeasonSummary is a season in the details of its series.
type SeasonSummary struct {
	record.Object
	AirDate      record.String `record:"air_date,null,day"`
	EpisodeCount record.Int    `record:"episode_count"`
	ID           record.Int    `record:"id"`
	Name         record.String `record:"name"`
	Overview     record.String `record:"overview"`
	PosterPath   record.String `record:"poster_path,null"`
	SeasonNumber record.Int    `record:"season_number"`
	VoteAverage  record.Float  `record:"vote_average"`
}

// AggregateCredits is the aggregate_credits response of a series or a season: each person once, with all roles and
// jobs.
type AggregateCredits struct {
	record.Object `record:"drop-id,id=end"`
	Cast          []AggregateCast `record:"cast"`
	Crew          []AggregateCrew `record:"crew"`
}

// AggregateCast lists the roles of one person.
type AggregateCast struct {
	record.Object
	Credited
	Roles             []AggregateRole `record:"roles"`
	TotalEpisodeCount record.Int      `record:"total_episode_count"`
	Order             record.Int      `record:"order"`
}

// AggregateRole is one role with its number of episodes.
type AggregateRole struct {
	record.Object
	CreditID     record.String `record:"credit_id"`
	Character    record.String `record:"character"`
	EpisodeCount record.Int    `record:"episode_count"`
}

// AggregateCrew lists the jobs of one person in one department.
type AggregateCrew struct {
	record.Object
	Credited
	Jobs              []AggregateJob `record:"jobs"`
	Department        record.String  `record:"department,dict"`
	TotalEpisodeCount record.Int     `record:"total_episode_count"`
}

// AggregateJob is one job with its number of episodes.
type AggregateJob struct {
	record.Object
	CreditID     record.String `record:"credit_id"`
	Job          record.String `record:"job,dict"`
	EpisodeCount record.Int    `record:"episode_count"`
}

// TVAlternativeTitles is the response of tv/{id}/alternative_titles.
type TVAlternativeTitles = results[AlternativeTitle]

// contentRatings is the response of tv/{id}/content_ratings.
type contentRatings struct {
	record.Object `record:"drop-id,id=end"`
	Results       []contentRating `record:"results"`
}

// contentRating is the rating of a series in one country.
type contentRating struct {
	record.Object
	Descriptors []string      `record:"descriptors"`
	ISO3166     record.String `record:"iso_3166_1,dict"`
	Rating      record.String `record:"rating,dict"`
}

// TVCredits is the credits response of a series or a season.
type TVCredits struct {
	record.Object `record:"drop-id,id=end"`
	Cast          []TVCastCredit `record:"cast"`
	Crew          []CrewCredit   `record:"crew"`
}

// TVCastCredit is one role of one person in a series, a season or an episode.
type TVCastCredit struct {
	record.Object
	Credited
	Character record.String `record:"character"`
	CreditID  record.String `record:"credit_id"`
	Order     record.Int    `record:"order"`
}

// episodeGroups is the response of tv/{id}/episode_groups.
type episodeGroups struct {
	record.Object `record:"drop-id,id=end"`
	Results       []episodeGroupSummary `record:"results"`
}

// episodeGroupSummary is an ordering of a series' episodes, without the episodes.
type episodeGroupSummary struct {
	record.Object
	Description  record.String `record:"description"`
	EpisodeCount record.Int    `record:"episode_count"`
	GroupCount   record.Int    `record:"group_count"`
	ID           record.String `record:"id"`
	Name         record.String `record:"name"`
	Network      *CompanyRef   `record:"network,null"`
	Type         record.Int    `record:"type"` // 1 original air date to 7 TV
}

// TVExternalIDs is the response of tv/{id}/external_ids.
type TVExternalIDs struct {
	record.Object `record:"drop-id"`
	IMDbID        record.String `record:"imdb_id,null"`
	FreebaseMID   record.String `record:"freebase_mid,null"`
	FreebaseID    record.String `record:"freebase_id,null"`
	TVDBID        record.Int    `record:"tvdb_id,null"`
	TVRageID      record.Int    `record:"tvrage_id,null"`
	WikidataID    record.String `record:"wikidata_id,null"`
	FacebookID    record.String `record:"facebook_id,null"`
	InstagramID   record.String `record:"instagram_id,null"`
	TwitterID     record.String `record:"twitter_id,null"`
}

// tvKeyword is a keyword of a series.
type tvKeyword struct {
	record.Object
	Name record.String `record:"name,dict"`
	ID   record.Int    `record:"id"`
}

// theatricalEpisode is an episode that was shown in theatres.
type theatricalEpisode struct {
	record.Object
	ID            record.Int `record:"id"`
	EpisodeNumber record.Int `record:"episode_number"`
	SeasonNumber  record.Int `record:"season_number"`
}

// tvTranslationData is the text itself.
type tvTranslationData struct {
	record.Object
	Name     record.String `record:"name"`
	Overview record.String `record:"overview"`
	Homepage record.String `record:"homepage"`
	Tagline  record.String `record:"tagline"`
}

// A Season holds all data of one season of a series, including its episodes.
type Season struct {
	record.Object
	ObjectID     record.String   `record:"_id"` // 24 hex digits
	AirDate      record.String   `record:"air_date,null,details,day"`
	Episodes     []SeasonEpisode `record:"episodes,details"`
	Name         record.String   `record:"name,details"`
	Networks     []CompanyRef    `record:"networks"`
	Overview     record.String   `record:"overview,details"`
	ID           record.Int      `record:"id,details"`
	PosterPath   record.String   `record:"poster_path,null,details"`
	SeasonNumber record.Int      `record:"season_number,details"`
	VoteAverage  record.Float    `record:"vote_average"`

	AggregateCredits *AggregateCredits                  `record:"aggregate_credits"`
	Changes          *changes                           `record:"changes"`
	Credits          *TVCredits                         `record:"credits"`
	ExternalIDs      *SeasonExternalIDs                 `record:"external_ids"`
	Images           *SeasonImages                      `record:"images"`
	Translations     *translations[NameTranslationData] `record:"translations"`
	Videos           *Videos                            `record:"videos"`
	WatchProviders   *WatchProviders                    `record:"watch/providers" column:"watch_providers"`

	// SeriesID is the series of the season. Responses lack it.
	SeriesID record.Int `record:"series_id,own"`
	// EpisodeCount comes from rows of lists; details lack it.
	EpisodeCount record.Int `record:"episode_count,own"`
	// Localized holds the results of crawls in languages other than en-US.
	Localized []localizedSeason `record:"localized,own"`
	Provenance
}

// localizedSeason is the text of a season in one language, from a crawl in that language.
type localizedSeason struct {
	record.Object
	Language         record.String     `record:"language,dict"`
	Episodes         []SeasonEpisode   `record:"episodes"`
	Name             record.String     `record:"name"`
	Overview         record.String     `record:"overview"`
	PosterPath       record.String     `record:"poster_path"`
	AggregateCredits *AggregateCredits `record:"aggregate_credits"`
	Credits          *TVCredits        `record:"credits"`
}

// ListedEpisode holds the common fields of episodes in seasons and groups.
type ListedEpisode struct {
	AirDate        record.String `record:"air_date,null,day"`
	EpisodeNumber  record.Int    `record:"episode_number"`
	EpisodeType    record.String `record:"episode_type,dict"` // standard, finale, mid_season
	ID             record.Int    `record:"id"`
	Name           record.String `record:"name"`
	Overview       record.String `record:"overview"`
	ProductionCode record.String `record:"production_code"`
	Runtime        record.Int    `record:"runtime,null"` // minutes
	SeasonNumber   record.Int    `record:"season_number"`
	ShowID         record.Int    `record:"show_id"`
	StillPath      record.String `record:"still_path,null"`
	VoteAverage    record.Float  `record:"vote_average"`
	VoteCount      record.Int    `record:"vote_count"`
}

// SeasonEpisode is an episode in the details of its season.
type SeasonEpisode struct {
	record.Object
	ListedEpisode
	Crew       []EpisodeCrew `record:"crew"`
	GuestStars []GuestStar   `record:"guest_stars"`
}

// EpisodeCrew is one job of one person in an episode. The API writes department and job in either order.
type EpisodeCrew struct {
	record.Object
	Department record.String `record:"department,dict"`
	Job        record.String `record:"job,dict"`
	CreditID   record.String `record:"credit_id"`
	Credited
}

// GuestStar is one role of one person in an episode.
type GuestStar struct {
	record.Object
	Character record.String `record:"character"`
	CreditID  record.String `record:"credit_id"`
	Order     record.Int    `record:"order"`
	Credited
}

// SeasonExternalIDs is the external_ids response of a season.
type SeasonExternalIDs struct {
	record.Object `record:"drop-id"`
	FreebaseMID   record.String `record:"freebase_mid,null"`
	FreebaseID    record.String `record:"freebase_id,null"`
	TVDBID        record.Int    `record:"tvdb_id,null"`
	TVRageID      record.Int    `record:"tvrage_id,null"`
	WikidataID    record.String `record:"wikidata_id,null"`
}

// SeasonImages is the images response of a season.
type SeasonImages struct {
	record.Object `record:"drop-id"`
	Posters       []Image `record:"posters"`
}

// NameTranslation is the text of a season or an episode in one language.
type NameTranslation = Translation[NameTranslationData]

// NameTranslationData is the text itself.
type NameTranslationData struct {
	record.Object
	Name     record.String `record:"name"`
	Overview record.String `record:"overview"`
}

// An Episode is an episode that a dump has on its own. In most dumps, episodes occur only inside their seasons.
type Episode struct {
	record.Object
	AirDate        record.String `record:"air_date,null,details,day"`
	Crew           []EpisodeCrew `record:"crew,details"`
	EpisodeNumber  record.Int    `record:"episode_number,details"`
	EpisodeType    record.String `record:"episode_type,dict"`
	GuestStars     []GuestStar   `record:"guest_stars,details"`
	Name           record.String `record:"name,details"`
	Overview       record.String `record:"overview,details"`
	ID             record.Int    `record:"id,details"`
	ProductionCode record.String `record:"production_code,details"`
	Runtime        record.Int    `record:"runtime,null"` // minutes
	SeasonNumber   record.Int    `record:"season_number,details"`
	StillPath      record.String `record:"still_path,null,details"`
	VoteAverage    record.Float  `record:"vote_average,details"`
	VoteCount      record.Int    `record:"vote_count,details"`

	Changes      *changes                           `record:"changes"`
	Credits      *EpisodeCredits                    `record:"credits"`
	ExternalIDs  *EpisodeExternalIDs                `record:"external_ids"`
	Images       *EpisodeImages                     `record:"images"`
	Translations *translations[NameTranslationData] `record:"translations"`
	Videos       *Videos                            `record:"videos"`

	// SeriesID is the series of the episode. Responses lack it.
	SeriesID record.Int `record:"series_id,own"`
	// Localized holds the results of crawls in languages other than en-US.
	Localized []LocalizedEpisode `record:"localized,own"`
	Provenance
}

// LocalizedEpisode is the text of an episode in one language, from a crawl in that language.
type LocalizedEpisode struct {
	record.Object
	Language   record.String   `record:"language,dict"`
	Crew       []EpisodeCrew   `record:"crew"`
	GuestStars []GuestStar     `record:"guest_stars"`
	Name       record.String   `record:"name"`
	Overview   record.String   `record:"overview"`
	Credits    *EpisodeCredits `record:"credits"`
}

// EpisodeCredits is the credits response of an episode.
type EpisodeCredits struct {
	record.Object `record:"drop-id,id=end"`
	Cast          []TVCastCredit `record:"cast"`
	Crew          []EpisodeCrew  `record:"crew"`
	GuestStars    []GuestStar    `record:"guest_stars"`
}

// EpisodeExternalIDs is the external_ids response of an episode.
type EpisodeExternalIDs struct {
	record.Object `record:"drop-id"`
	IMDbID        record.String `record:"imdb_id,null"`
	FreebaseMID   record.String `record:"freebase_mid,null"`
	FreebaseID    record.String `record:"freebase_id,null"`
	TVDBID        record.Int    `record:"tvdb_id,null"`
	TVRageID      record.Int    `record:"tvrage_id,null"`
	WikidataID    record.String `record:"wikidata_id,null"`
}

// EpisodeImages is the images response of an episode.
type EpisodeImages struct {
	record.Object `record:"drop-id"`
	Stills        []Image `record:"stills"`
}
