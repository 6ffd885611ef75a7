package catalog

import "reelsplice/schemas/wire"

// Reviews, credits and episode groups are known by 24 hex digits.

// A ReviewRecord is the answer of review/{id}. A dump has most reviews in their
// titles alone.
type ReviewRecord struct {
	wire.Object
	ID            wire.String   `wire:"id"`
	Author        wire.String   `wire:"author"`
	AuthorDetails *ReviewAuthor `wire:"author_details"`
	Content       wire.String   `wire:"content"`
	CreatedAt     wire.String   `wire:"created_at"`
	ISO639        wire.String   `wire:"iso_639_1,dict"`
	MediaID       wire.Int      `wire:"media_id"`
	MediaTitle    wire.String   `wire:"media_title"`
	MediaType     wire.String   `wire:"media_type,dict"`
	UpdatedAt     wire.String   `wire:"updated_at"`
	URL           wire.String   `wire:"url"`

	// Details says that a source gave a whole details answer of the API: see MarkDetails.
	Details wire.Bool `wire:"_details,own"`
}

// A Credit is the answer of credit/{id}.
type Credit struct {
	wire.Object
	CreditType wire.String   `wire:"credit_type,dict"` // cast, crew or creator
	Department wire.String   `wire:"department,dict"`
	Job        wire.String   `wire:"job,dict"`
	Media      *CreditMedia  `wire:"media"`
	MediaType  wire.String   `wire:"media_type,dict"`
	ID         wire.String   `wire:"id"`
	Person     *CreditPerson `wire:"person"`
	// Localized holds what crawls in languages other than en-US gave.
	Localized []LocalizedCredit `wire:"localized,own"`
}

// LocalizedCredit is a credit in one language, as a crawl in that language gave it.
type LocalizedCredit struct {
	wire.Object
	Language wire.String   `wire:"language,dict"`
	Media    *CreditMedia  `wire:"media"`
	Person   *CreditPerson `wire:"person"`
}

// CreditMedia is the title of a credit.
type CreditMedia struct {
	wire.Object
	Adult            wire.Bool   `wire:"adult"`
	BackdropPath     wire.String `wire:"backdrop_path,null"`
	ID               wire.Int    `wire:"id"`
	Title            wire.String `wire:"title"`
	Name             wire.String `wire:"name"`
	OriginalTitle    wire.String `wire:"original_title"`
	OriginalName     wire.String `wire:"original_name"`
	Overview         wire.String `wire:"overview"`
	PosterPath       wire.String `wire:"poster_path,null"`
	MediaType        wire.String `wire:"media_type,dict"`
	OriginalLanguage wire.String `wire:"original_language,dict"`
	GenreIDs         []int64     `wire:"genre_ids"`
	Popularity       wire.Float  `wire:"popularity"`
	ReleaseDate      wire.String `wire:"release_date"`
	FirstAirDate     wire.String `wire:"first_air_date"`
	Softcore         wire.Bool   `wire:"softcore"`
	Video            wire.Bool   `wire:"video"`
	VoteAverage      wire.Float  `wire:"vote_average"`
	VoteCount        wire.Int    `wire:"vote_count"`
	OriginCountry    []string    `wire:"origin_country"`
	Character        wire.String `wire:"character"`
	Episodes         []MediaRow  `wire:"episodes"`
	Seasons          []MediaRow  `wire:"seasons"`
}

// CreditPerson is the person of a credit.
type CreditPerson struct {
	wire.Object
	Adult              wire.Bool   `wire:"adult"`
	ID                 wire.Int    `wire:"id"`
	Name               wire.String `wire:"name"`
	OriginalName       wire.String `wire:"original_name"`
	MediaType          wire.String `wire:"media_type,dict"`
	Popularity         wire.Float  `wire:"popularity"`
	Gender             wire.Int    `wire:"gender"`
	KnownForDepartment wire.String `wire:"known_for_department,dict"`
	ProfilePath        wire.String `wire:"profile_path,null"`
}

// An EpisodeGroupRecord is the answer of tv/episode_group/{id}.
type EpisodeGroupRecord struct {
	wire.Object
	Description  wire.String    `wire:"description"`
	EpisodeCount wire.Int       `wire:"episode_count"`
	GroupCount   wire.Int       `wire:"group_count"`
	Groups       []EpisodeGroup `wire:"groups"`
	ID           wire.String    `wire:"id"`
	Name         wire.String    `wire:"name"`
	Network      *NetworkRef    `wire:"network,null"`
	Type         wire.Int       `wire:"type"` // 1 original air date to 7 TV

	// Details says that a source gave a whole details answer of the API: see MarkDetails.
	Details wire.Bool `wire:"_details,own"`
}

// EpisodeGroup is one group of episodes, in the group's own order.
type EpisodeGroup struct {
	wire.Object
	ID       wire.String    `wire:"id"`
	Name     wire.String    `wire:"name"`
	Order    wire.Int       `wire:"order"` // from 0
	Episodes []GroupEpisode `wire:"episodes"`
	Locked   wire.Bool      `wire:"locked"`
}

// GroupEpisode is an episode in a group. Its season and number are the original ones.
type GroupEpisode struct {
	wire.Object
	AirDate        wire.String `wire:"air_date,null"`
	EpisodeNumber  wire.Int    `wire:"episode_number"`
	EpisodeType    wire.String `wire:"episode_type,dict"`
	ID             wire.Int    `wire:"id"`
	Name           wire.String `wire:"name"`
	Overview       wire.String `wire:"overview"`
	ProductionCode wire.String `wire:"production_code"`
	Runtime        wire.Int    `wire:"runtime,null"` // minutes
	SeasonNumber   wire.Int    `wire:"season_number"`
	ShowID         wire.Int    `wire:"show_id"`
	StillPath      wire.String `wire:"still_path,null"`
	VoteAverage    wire.Float  `wire:"vote_average"`
	VoteCount      wire.Int    `wire:"vote_count"`
	Order          wire.Int    `wire:"order"` // from 0
}
