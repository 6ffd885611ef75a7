package catalog

import "reelsplice/schemas/wire"

// A Person is everything about one person.
type Person struct {
	wire.Object
	Adult              wire.Bool   `wire:"adult"`
	AlsoKnownAs        []string    `wire:"also_known_as"`
	Biography          wire.String `wire:"biography"`
	Birthday           wire.String `wire:"birthday,null"`
	Deathday           wire.String `wire:"deathday,null"`
	Gender             wire.Int    `wire:"gender"`
	Homepage           wire.String `wire:"homepage,null"`
	ID                 wire.Int    `wire:"id"`
	IMDbID             wire.String `wire:"imdb_id,null"`
	KnownForDepartment wire.String `wire:"known_for_department,null,dict"`
	Name               wire.String `wire:"name"`
	PlaceOfBirth       wire.String `wire:"place_of_birth,null"`
	Popularity         wire.Float  `wire:"popularity"`
	ProfilePath        wire.String `wire:"profile_path,null"`

	Changes         *Changes           `wire:"changes"`
	CombinedCredits *PersonCredits     `wire:"combined_credits"`
	ExternalIDs     *PersonExternalIDs `wire:"external_ids"`
	Images          *PersonImages      `wire:"images"`
	MovieCredits    *PersonCredits     `wire:"movie_credits"`
	TaggedImages    []TaggedImagePage  `wire:"tagged_images,pages,id"`
	Translations    *Biographies       `wire:"translations"`
	TVCredits       *PersonCredits     `wire:"tv_credits"`

	// OriginalName is known from rows of lists; details do not have it.
	OriginalName wire.String `wire:"original_name,own"`
	// KnownFor is known from rows of lists.
	KnownFor []MediaRow `wire:"known_for,own"`
	// Localized holds what crawls in languages other than en-US gave.
	Localized []LocalizedPerson `wire:"localized,own"`
	// Details says that a source gave a whole details answer of the API: see MarkDetails.
	Details wire.Bool `wire:"_details,own"`
}

// LocalizedPerson is the text of a person in one language, as a crawl in that
// language gave it.
type LocalizedPerson struct {
	wire.Object
	Language        wire.String    `wire:"language,dict"`
	Biography       wire.String    `wire:"biography"`
	Name            wire.String    `wire:"name"`
	KnownFor        []MediaRow     `wire:"known_for"`
	CombinedCredits *PersonCredits `wire:"combined_credits"`
	MovieCredits    *PersonCredits `wire:"movie_credits"`
	TVCredits       *PersonCredits `wire:"tv_credits"`
}

// PersonCredits is the answer of movie_credits, tv_credits or combined_credits.
type PersonCredits struct {
	wire.Object `wire:"drop-id,id=end"`
	Cast        []PersonCredit `wire:"cast"`
	Crew        []PersonCredit `wire:"crew"`
}

// PersonCredit is a title and what the person did in it. Movies and series, cast and
// crew have different members; their order is the same in all.
type PersonCredit struct {
	wire.Object
	Adult              wire.Bool   `wire:"adult"`
	BackdropPath       wire.String `wire:"backdrop_path,null"`
	GenreIDs           []int64     `wire:"genre_ids"`
	ID                 wire.Int    `wire:"id"`
	OriginCountry      []string    `wire:"origin_country"`
	Title              wire.String `wire:"title"`
	OriginalLanguage   wire.String `wire:"original_language,dict"`
	OriginalTitle      wire.String `wire:"original_title"`
	OriginalName       wire.String `wire:"original_name"`
	Overview           wire.String `wire:"overview"`
	Popularity         wire.Float  `wire:"popularity"`
	PosterPath         wire.String `wire:"poster_path,null"`
	ReleaseDate        wire.String `wire:"release_date"`
	FirstAirDate       wire.String `wire:"first_air_date"`
	Softcore           wire.Bool   `wire:"softcore"`
	Video              wire.Bool   `wire:"video"`
	Name               wire.String `wire:"name"`
	VoteAverage        wire.Float  `wire:"vote_average"`
	VoteCount          wire.Int    `wire:"vote_count"`
	Character          wire.String `wire:"character"`
	CreditID           wire.String `wire:"credit_id"`
	Order              wire.Int    `wire:"order"`
	Department         wire.String `wire:"department,dict"`
	EpisodeCount       wire.Int    `wire:"episode_count"`
	FirstCreditAirDate wire.String `wire:"first_credit_air_date"`
	Job                wire.String `wire:"job,dict"`
	MediaType          wire.String `wire:"media_type,dict"`
}

// PersonExternalIDs is the answer of person/{id}/external_ids.
type PersonExternalIDs struct {
	wire.Object `wire:"drop-id"`
	FreebaseMID wire.String `wire:"freebase_mid,null"`
	FreebaseID  wire.String `wire:"freebase_id,null"`
	IMDbID      wire.String `wire:"imdb_id,null"`
	TVRageID    wire.Int    `wire:"tvrage_id,null"`
	WikidataID  wire.String `wire:"wikidata_id,null"`
	FacebookID  wire.String `wire:"facebook_id,null"`
	InstagramID wire.String `wire:"instagram_id,null"`
	TikTokID    wire.String `wire:"tiktok_id,null"`
	TwitterID   wire.String `wire:"twitter_id,null"`
	YouTubeID   wire.String `wire:"youtube_id,null"`
}

// PersonImages is the answer of person/{id}/images.
type PersonImages struct {
	wire.Object `wire:"drop-id"`
	Profiles    []Image `wire:"profiles"`
}

// TaggedImagePage is a page of person/{id}/tagged_images.
type TaggedImagePage = Page[TaggedImage]

// TaggedImage is an image of a title that shows the person.
type TaggedImage struct {
	wire.Object
	AspectRatio wire.Float  `wire:"aspect_ratio"`
	FilePath    wire.String `wire:"file_path"`
	Height      wire.Int    `wire:"height"` // pixels
	ID          wire.String `wire:"id"`
	ISO3166     wire.String `wire:"iso_3166_1,null,dict"`
	ISO639      wire.String `wire:"iso_639_1,null,dict"`
	VoteAverage wire.Float  `wire:"vote_average"`
	VoteCount   wire.Int    `wire:"vote_count"`
	Width       wire.Int    `wire:"width"` // pixels
	ImageType   wire.String `wire:"image_type,dict"`
	Media       *MediaRow   `wire:"media"`
	MediaType   wire.String `wire:"media_type,dict"`
}

// Biographies is the answer of person/{id}/translations.
type Biographies struct {
	wire.Object  `wire:"drop-id"`
	Translations []Biography `wire:"translations"`
}

// Biography is a person's text in one language.
type Biography struct {
	wire.Object
	ISO3166     wire.String    `wire:"iso_3166_1,dict"`
	ISO639      wire.String    `wire:"iso_639_1,dict"`
	Name        wire.String    `wire:"name,dict"`
	EnglishName wire.String    `wire:"english_name,dict"`
	Data        *BiographyData `wire:"data"`
}

// BiographyData is the text itself.
type BiographyData struct {
	wire.Object
	Biography wire.String `wire:"biography"`
	Name      wire.String `wire:"name"`
}
