package catalog

import "reelsplice/schemas/wire"

// An Episode is what a dump gave of one episode by itself. Most dumps have episodes
// in their seasons alone.
type Episode struct {
	wire.Object
	AirDate        wire.String   `wire:"air_date,null"`
	Crew           []EpisodeCrew `wire:"crew"`
	EpisodeNumber  wire.Int      `wire:"episode_number"`
	EpisodeType    wire.String   `wire:"episode_type,dict"`
	GuestStars     []GuestStar   `wire:"guest_stars"`
	Name           wire.String   `wire:"name"`
	Overview       wire.String   `wire:"overview"`
	ID             wire.Int      `wire:"id"`
	ProductionCode wire.String   `wire:"production_code"`
	Runtime        wire.Int      `wire:"runtime,null"` // minutes
	SeasonNumber   wire.Int      `wire:"season_number"`
	StillPath      wire.String   `wire:"still_path,null"`
	VoteAverage    wire.Float    `wire:"vote_average"`
	VoteCount      wire.Int      `wire:"vote_count"`

	Changes      *Changes            `wire:"changes"`
	Credits      *EpisodeCredits     `wire:"credits"`
	ExternalIDs  *EpisodeExternalIDs `wire:"external_ids"`
	Images       *EpisodeImages      `wire:"images"`
	Translations *NameTranslations   `wire:"translations"`
	Videos       *Videos             `wire:"videos"`

	// SeriesID is the series that the episode is of. Answers do not say it.
	SeriesID wire.Int `wire:"series_id,own"`
	// Localized holds what crawls in languages other than en-US gave.
	Localized []LocalizedEpisode `wire:"localized,own"`
	// Details says that a source gave a whole details answer of the API: see MarkDetails.
	Details wire.Bool `wire:"_details,own"`
}

// LocalizedEpisode is the text of an episode in one language, as a crawl in that
// language gave it.
type LocalizedEpisode struct {
	wire.Object
	Language   wire.String     `wire:"language,dict"`
	Crew       []EpisodeCrew   `wire:"crew"`
	GuestStars []GuestStar     `wire:"guest_stars"`
	Name       wire.String     `wire:"name"`
	Overview   wire.String     `wire:"overview"`
	Credits    *EpisodeCredits `wire:"credits"`
}

// EpisodeCredits is the answer of credits of an episode.
type EpisodeCredits struct {
	wire.Object `wire:"drop-id,id=end"`
	Cast        []TVCastCredit `wire:"cast"`
	Crew        []EpisodeCrew  `wire:"crew"`
	GuestStars  []GuestStar    `wire:"guest_stars"`
}

// EpisodeExternalIDs is the answer of external_ids of an episode.
type EpisodeExternalIDs struct {
	wire.Object `wire:"drop-id"`
	IMDbID      wire.String `wire:"imdb_id,null"`
	FreebaseMID wire.String `wire:"freebase_mid,null"`
	FreebaseID  wire.String `wire:"freebase_id,null"`
	TVDBID      wire.Int    `wire:"tvdb_id,null"`
	TVRageID    wire.Int    `wire:"tvrage_id,null"`
	WikidataID  wire.String `wire:"wikidata_id,null"`
}

// EpisodeImages is the answer of images of an episode.
type EpisodeImages struct {
	wire.Object `wire:"drop-id"`
	Stills      []Image `wire:"stills"`
}
