package catalog

import "github.com/reelsplice/reelsplice/schemas/record"

// A Person holds all data of one person.
type Person struct {
	record.Object
	Adult              record.Bool   `record:"adult,details"`
	AlsoKnownAs        []string      `record:"also_known_as,details"`
	Biography          record.String `record:"biography,details"`
	Birthday           record.String `record:"birthday,null,details,day"`
	Deathday           record.String `record:"deathday,null,details,day"`
	Gender             record.Int    `record:"gender"`
	Homepage           record.String `record:"homepage,null,details"`
	ID                 record.Int    `record:"id,details"`
	IMDbID             record.String `record:"imdb_id,null,details"`
	KnownForDepartment record.String `record:"known_for_department,null,dict"`
	Name               record.String `record:"name,details"`
	PlaceOfBirth       record.String `record:"place_of_birth,null,details"`
	Popularity         record.Float  `record:"popularity,details"`
	ProfilePath        record.String `record:"profile_path,null,details"`

	Changes         *changes                     `record:"changes"`
	CombinedCredits *PersonCredits               `record:"combined_credits"`
	ExternalIDs     *PersonExternalIDs           `record:"external_ids"`
	Images          *personImages                `record:"images"`
	MovieCredits    *PersonCredits               `record:"movie_credits"`
	TaggedImages    []TaggedImagePage            `record:"tagged_images,pages,id"`
	Translations    *translations[biographyData] `record:"translations"`
	TVCredits       *PersonCredits               `record:"tv_credits"`

	// OriginalName comes from rows of lists; details lack it.
	OriginalName record.String `record:"original_name,own"`
	// KnownFor comes from rows of lists.
	KnownFor []MediaRow `record:"known_for,own"`
	// Localized holds the results of crawls in languages other than en-US.
	Localized []LocalizedPerson `record:"localized,own"`
	Provenance
}

// LocalizedPerson is the text of a person in one language, from a crawl in that language.
type LocalizedPerson struct {
	record.Object
	Language        record.String  `record:"language,dict"`
	Biography       record.String  `record:"biography"`
	Name            record.String  `record:"name"`
	KnownFor        []MediaRow     `record:"known_for"`
	CombinedCredits *PersonCredits `record:"combined_credits"`
	MovieCredits    *PersonCredits `record:"movie_credits"`
	TVCredits       *PersonCredits `record:"tv_credits"`
}

// PersonCredits is the response of movie_credits, tv_credits or combined_credits.
type PersonCredits struct {
	record.Object `record:"drop-id,id=end"`
	Cast          []PersonCredit `record:"cast"`
	Crew          []PersonCredit `record:"crew"`
}

// PersonCredit is a title with the person's part in it. Movies, series, cast and crew have different fields, in the
// same order.
type PersonCredit struct {
	record.Object
	Summary
	Character          record.String `record:"character"`
	CreditID           record.String `record:"credit_id"`
	Order              record.Int    `record:"order"`
	Department         record.String `record:"department,dict"`
	EpisodeCount       record.Int    `record:"episode_count"`
	FirstCreditAirDate record.String `record:"first_credit_air_date,day"`
	Job                record.String `record:"job,dict"`
	MediaType          record.String `record:"media_type,dict"`
}

// PersonExternalIDs is the response of person/{id}/external_ids.
type PersonExternalIDs struct {
	record.Object `record:"drop-id"`
	FreebaseMID   record.String `record:"freebase_mid,null"`
	FreebaseID    record.String `record:"freebase_id,null"`
	IMDbID        record.String `record:"imdb_id,null"`
	TVRageID      record.Int    `record:"tvrage_id,null"`
	WikidataID    record.String `record:"wikidata_id,null"`
	FacebookID    record.String `record:"facebook_id,null"`
	InstagramID   record.String `record:"instagram_id,null"`
	TikTokID      record.String `record:"tiktok_id,null"`
	TwitterID     record.String `record:"twitter_id,null"`
	YouTubeID     record.String `record:"youtube_id,null"`
}

// personImages is the response of person/{id}/images.
type personImages struct {
	record.Object `record:"drop-id"`
	Profiles      []Image `record:"profiles"`
}

// TaggedImagePage is a page of person/{id}/tagged_images.
type TaggedImagePage = Page[taggedImage]

// taggedImage is an image of a title that shows the person.
type taggedImage struct {
	record.Object
	AspectRatio record.Float  `record:"aspect_ratio"`
	FilePath    record.String `record:"file_path"`
	Height      record.Int    `record:"height"` // pixels
	ID          record.String `record:"id"`
	ISO3166     record.String `record:"iso_3166_1,null,dict"`
	ISO639      record.String `record:"iso_639_1,null,dict"`
	VoteAverage record.Float  `record:"vote_average"`
	VoteCount   record.Int    `record:"vote_count"`
	Width       record.Int    `record:"width"` // pixels
	ImageType   record.String `record:"image_type,dict"`
	Media       *MediaRow     `record:"media"`
	MediaType   record.String `record:"media_type,dict"`
}

// biographyData is the text itself.
type biographyData struct {
	record.Object
	Biography record.String `record:"biography"`
	Name      record.String `record:"name"`
}
