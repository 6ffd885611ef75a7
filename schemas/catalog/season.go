package catalog

import "reelsplice/schemas/wire"

// A Season is everything about one season of a series, its episodes included.
type Season struct {
	wire.Object
	ObjectID     wire.String     `wire:"_id"` // 24 hex digits
	AirDate      wire.String     `wire:"air_date,null"`
	Episodes     []SeasonEpisode `wire:"episodes"`
	Name         wire.String     `wire:"name"`
	Networks     []NetworkRef    `wire:"networks"`
	Overview     wire.String     `wire:"overview"`
	ID           wire.Int        `wire:"id"`
	PosterPath   wire.String     `wire:"poster_path,null"`
	SeasonNumber wire.Int        `wire:"season_number"`
	VoteAverage  wire.Float      `wire:"vote_average"`

	AggregateCredits *AggregateCredits  `wire:"aggregate_credits"`
	Changes          *Changes           `wire:"changes"`
	Credits          *TVCredits         `wire:"credits"`
	ExternalIDs      *SeasonExternalIDs `wire:"external_ids"`
	Images           *SeasonImages      `wire:"images"`
	Translations     *NameTranslations  `wire:"translations"`
	Videos           *Videos            `wire:"videos"`
	WatchProviders   *WatchProviders    `wire:"watch/providers" column:"watch_providers"`

	// SeriesID is the series that the season is of. Answers do not say it.
	SeriesID wire.Int `wire:"series_id,own"`
	// EpisodeCount is known from rows of lists; details do not have it.
	EpisodeCount wire.Int `wire:"episode_count,own"`
	// Localized holds what crawls in languages other than en-US gave.
	Localized []LocalizedSeason `wire:"localized,own"`
	// Details says that a source gave a whole details answer of the API: see MarkDetails.
	Details wire.Bool `wire:"_details,own"`
}

// LocalizedSeason is the text of a season in one language, as a crawl in that
// language gave it.
type LocalizedSeason struct {
	wire.Object
	Language         wire.String       `wire:"language,dict"`
	Episodes         []SeasonEpisode   `wire:"episodes"`
	Name             wire.String       `wire:"name"`
	Overview         wire.String       `wire:"overview"`
	PosterPath       wire.String       `wire:"poster_path"`
	AggregateCredits *AggregateCredits `wire:"aggregate_credits"`
	Credits          *TVCredits        `wire:"credits"`
}

// SeasonEpisode is an episode in the details of its season.
type SeasonEpisode struct {
	wire.Object
	AirDate        wire.String   `wire:"air_date,null"`
	EpisodeNumber  wire.Int      `wire:"episode_number"`
	EpisodeType    wire.String   `wire:"episode_type,dict"` // standard, finale, mid_season
	ID             wire.Int      `wire:"id"`
	Name           wire.String   `wire:"name"`
	Overview       wire.String   `wire:"overview"`
	ProductionCode wire.String   `wire:"production_code"`
	Runtime        wire.Int      `wire:"runtime,null"` // minutes
	SeasonNumber   wire.Int      `wire:"season_number"`
	ShowID         wire.Int      `wire:"show_id"`
	StillPath      wire.String   `wire:"still_path,null"`
	VoteAverage    wire.Float    `wire:"vote_average"`
	VoteCount      wire.Int      `wire:"vote_count"`
	Crew           []EpisodeCrew `wire:"crew"`
	GuestStars     []GuestStar   `wire:"guest_stars"`
}

// EpisodeCrew is one job of one person in an episode. The API writes department and
// job in either order.
type EpisodeCrew struct {
	wire.Object
	Department         wire.String `wire:"department,dict"`
	Job                wire.String `wire:"job,dict"`
	CreditID           wire.String `wire:"credit_id"`
	Adult              wire.Bool   `wire:"adult"`
	Gender             wire.Int    `wire:"gender"`
	ID                 wire.Int    `wire:"id"`
	KnownForDepartment wire.String `wire:"known_for_department,dict"`
	Name               wire.String `wire:"name"`
	OriginalName       wire.String `wire:"original_name"`
	Popularity         wire.Float  `wire:"popularity"`
	ProfilePath        wire.String `wire:"profile_path,null"`
}

// GuestStar is one role of one person in an episode.
type GuestStar struct {
	wire.Object
	Character          wire.String `wire:"character"`
	CreditID           wire.String `wire:"credit_id"`
	Order              wire.Int    `wire:"order"`
	Adult              wire.Bool   `wire:"adult"`
	Gender             wire.Int    `wire:"gender"`
	ID                 wire.Int    `wire:"id"`
	KnownForDepartment wire.String `wire:"known_for_department,dict"`
	Name               wire.String `wire:"name"`
	OriginalName       wire.String `wire:"original_name"`
	Popularity         wire.Float  `wire:"popularity"`
	ProfilePath        wire.String `wire:"profile_path,null"`
}

// SeasonExternalIDs is the answer of external_ids of a season.
type SeasonExternalIDs struct {
	wire.Object `wire:"drop-id"`
	FreebaseMID wire.String `wire:"freebase_mid,null"`
	FreebaseID  wire.String `wire:"freebase_id,null"`
	TVDBID      wire.Int    `wire:"tvdb_id,null"`
	TVRageID    wire.Int    `wire:"tvrage_id,null"`
	WikidataID  wire.String `wire:"wikidata_id,null"`
}

// SeasonImages is the answer of images of a season.
type SeasonImages struct {
	wire.Object `wire:"drop-id"`
	Posters     []Image `wire:"posters"`
}

// NameTranslations is the answer of translations of a season or an episode.
type NameTranslations struct {
	wire.Object  `wire:"drop-id"`
	Translations []NameTranslation `wire:"translations"`
}

// NameTranslation is the text of a season or an episode in one language.
type NameTranslation struct {
	wire.Object
	ISO3166     wire.String          `wire:"iso_3166_1,dict"`
	ISO639      wire.String          `wire:"iso_639_1,dict"`
	Name        wire.String          `wire:"name,dict"`
	EnglishName wire.String          `wire:"english_name,dict"`
	Data        *NameTranslationData `wire:"data"`
}

// NameTranslationData is the text itself.
type NameTranslationData struct {
	wire.Object
	Name     wire.String `wire:"name"`
	Overview wire.String `wire:"overview"`
}
