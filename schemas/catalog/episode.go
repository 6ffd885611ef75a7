package catalog

import "github.com/reelsplice/reelsplice/schemas/record"

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
