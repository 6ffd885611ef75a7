package catalog

import "github.com/reelsplice/reelsplice/schemas/record"

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
