package catalog

import (
	"strings"

	"reelsplice/schemas/wire"
)

// A Movie is everything about one movie: the members of its details answer, then
// its sub-requests under the names of append_to_response.
type Movie struct {
	wire.Object
	Adult               wire.Bool        `wire:"adult"`
	BackdropPath        wire.String      `wire:"backdrop_path,null"`
	BelongsToCollection *CollectionRef   `wire:"belongs_to_collection,null"`
	Budget              wire.Int         `wire:"budget"`
	Genres              []Genre          `wire:"genres"`
	Homepage            wire.String      `wire:"homepage"`
	ID                  wire.Int         `wire:"id"`
	IMDbID              wire.String      `wire:"imdb_id,null"`
	OriginCountry       []string         `wire:"origin_country"`
	OriginalLanguage    wire.String      `wire:"original_language,dict"`
	OriginalTitle       wire.String      `wire:"original_title"`
	Overview            wire.String      `wire:"overview"`
	Popularity          wire.Float       `wire:"popularity"`
	PosterPath          wire.String      `wire:"poster_path,null"`
	ProductionCompanies []CompanyRef     `wire:"production_companies"`
	ProductionCountries []Country        `wire:"production_countries"`
	ReleaseDate         wire.String      `wire:"release_date"`
	Revenue             wire.Int         `wire:"revenue"`
	Runtime             wire.Int         `wire:"runtime"` // minutes; 0 when unknown
	Softcore            wire.Bool        `wire:"softcore"`
	SpokenLanguages     []SpokenLanguage `wire:"spoken_languages"`
	Status              wire.String      `wire:"status,dict"`
	Tagline             wire.String      `wire:"tagline"`
	Title               wire.String      `wire:"title"`
	Video               wire.Bool        `wire:"video"`
	VoteAverage         wire.Float       `wire:"vote_average"`
	VoteCount           wire.Int         `wire:"vote_count"`

	AlternativeTitles *AlternativeTitles `wire:"alternative_titles"`
	Changes           *Changes           `wire:"changes"`
	Credits           *Credits           `wire:"credits"`
	ExternalIDs       *MovieExternalIDs  `wire:"external_ids"`
	Images            *Images            `wire:"images"`
	Keywords          *Keywords          `wire:"keywords"`
	Lists             []ListPage         `wire:"lists,pages,id"`
	Recommendations   []MediaPage        `wire:"recommendations,pages"`
	ReleaseDates      *ReleaseDates      `wire:"release_dates"`
	Releases          *Releases          `wire:"releases"`
	Reviews           []ReviewPage       `wire:"reviews,pages,id"`
	Similar           []SummaryPage      `wire:"similar,pages"`
	Trailers          *Trailers          `wire:"trailers"`
	Translations      *Translations      `wire:"translations"`
	Videos            *Videos            `wire:"videos"`
	WatchProviders    *WatchProviders    `wire:"watch/providers" column:"watch_providers"`

	// Localized holds what crawls in languages other than en-US gave, one element
	// a language. It is no member of TMDB's.
	Localized []Localized `wire:"localized,own"`
	// Details says that a source gave a whole details answer of the API: see MarkDetails.
	Details wire.Bool `wire:"_details,own"`
}

// Localized is the text of a movie in one language, as a crawl in that language
// gave it. Members that the crawl did not give are unset, and so is an empty title.
type Localized struct {
	wire.Object
	Language            wire.String    `wire:"language,dict"` // xx-YY; xx where no region is known
	BackdropPath        wire.String    `wire:"backdrop_path"`
	BelongsToCollection *CollectionRef `wire:"belongs_to_collection"`
	Genres              []Genre        `wire:"genres"`
	Homepage            wire.String    `wire:"homepage"`
	Overview            wire.String    `wire:"overview"`
	PosterPath          wire.String    `wire:"poster_path"`
	Runtime             wire.Int       `wire:"runtime"`
	Tagline             wire.String    `wire:"tagline"`
	Title               wire.String    `wire:"title"`
	Credits             *Credits       `wire:"credits"` // whole, as the crawl gave them: names may be translated
	Trailers            *Trailers      `wire:"trailers"`
}

// CollectionRef names the collection that a movie belongs to.
type CollectionRef struct {
	wire.Object
	ID           wire.Int    `wire:"id"`
	Name         wire.String `wire:"name"`
	PosterPath   wire.String `wire:"poster_path,null"`
	BackdropPath wire.String `wire:"backdrop_path,null"`
}

// Genre is a genre of a title.
type Genre struct {
	wire.Object
	ID   wire.Int    `wire:"id"`
	Name wire.String `wire:"name,dict"`
}

// CompanyRef names a production company.
type CompanyRef struct {
	wire.Object
	ID            wire.Int    `wire:"id"`
	LogoPath      wire.String `wire:"logo_path,null"`
	Name          wire.String `wire:"name,dict"`
	OriginCountry wire.String `wire:"origin_country,dict"`
}

// Country is a production country.
type Country struct {
	wire.Object
	ISO3166 wire.String `wire:"iso_3166_1,dict"`
	Name    wire.String `wire:"name,dict"`
}

// SpokenLanguage is a language that is spoken in a title.
type SpokenLanguage struct {
	wire.Object
	EnglishName wire.String `wire:"english_name,dict"`
	ISO639      wire.String `wire:"iso_639_1,dict"`
	Name        wire.String `wire:"name,dict"`
}

// AlternativeTitles is the answer of movie/{id}/alternative_titles.
type AlternativeTitles struct {
	wire.Object `wire:"drop-id"`
	Titles      []AlternativeTitle `wire:"titles"`
}

// AlternativeTitle is a title by which a movie is known somewhere.
type AlternativeTitle struct {
	wire.Object
	ISO3166 wire.String `wire:"iso_3166_1,dict"`
	Title   wire.String `wire:"title"`
	Type    wire.String `wire:"type,dict"`
}

// Changes is the answer of changes of any resource. It has no id.
type Changes struct {
	wire.Object `wire:"drop-id,id=none"`
	Changes     []Change `wire:"changes"`
}

// Change is what happened to one property.
type Change struct {
	wire.Object
	Key   wire.String  `wire:"key,dict"`
	Items []ChangeItem `wire:"items"`
}

// ChangeItem is one edit. Value and OriginalValue are of any type.
type ChangeItem struct {
	wire.Object
	ID            wire.String `wire:"id"`
	Action        wire.String `wire:"action,dict"`
	Time          wire.String `wire:"time"` // 2024-12-24 09:57:34 UTC
	ISO639        wire.String `wire:"iso_639_1,dict"`
	ISO3166       wire.String `wire:"iso_3166_1,dict"`
	Value         wire.Raw    `wire:"value"`
	OriginalValue wire.Raw    `wire:"original_value"`
}

// Credits is the answer of movie/{id}/credits.
type Credits struct {
	wire.Object `wire:"drop-id"`
	Cast        []CastCredit `wire:"cast"`
	Crew        []CrewCredit `wire:"crew"`
}

// CastCredit is one role of one person.
type CastCredit struct {
	wire.Object
	Adult              wire.Bool   `wire:"adult"`
	Gender             wire.Int    `wire:"gender"` // 0 not set, 1 female, 2 male, 3 non-binary
	ID                 wire.Int    `wire:"id"`
	KnownForDepartment wire.String `wire:"known_for_department,dict"`
	Name               wire.String `wire:"name"`
	OriginalName       wire.String `wire:"original_name"`
	Popularity         wire.Float  `wire:"popularity"`
	ProfilePath        wire.String `wire:"profile_path,null"`
	CastID             wire.Int    `wire:"cast_id"`
	Character          wire.String `wire:"character"`
	CreditID           wire.String `wire:"credit_id"`
	Order              wire.Int    `wire:"order"`
}

// CrewCredit is one job of one person.
type CrewCredit struct {
	wire.Object
	Adult              wire.Bool   `wire:"adult"`
	Gender             wire.Int    `wire:"gender"`
	ID                 wire.Int    `wire:"id"`
	KnownForDepartment wire.String `wire:"known_for_department,dict"`
	Name               wire.String `wire:"name"`
	OriginalName       wire.String `wire:"original_name"`
	Popularity         wire.Float  `wire:"popularity"`
	ProfilePath        wire.String `wire:"profile_path,null"`
	CreditID           wire.String `wire:"credit_id"`
	Department         wire.String `wire:"department,dict"`
	Job                wire.String `wire:"job,dict"`
}

// MovieExternalIDs is the answer of movie/{id}/external_ids.
type MovieExternalIDs struct {
	wire.Object `wire:"drop-id"`
	IMDbID      wire.String `wire:"imdb_id,null"`
	WikidataID  wire.String `wire:"wikidata_id,null"`
	FacebookID  wire.String `wire:"facebook_id,null"`
	InstagramID wire.String `wire:"instagram_id,null"`
	TwitterID   wire.String `wire:"twitter_id,null"`
}

// Images is the answer of images of a movie or a series, every language in rank order.
type Images struct {
	wire.Object `wire:"drop-id,id=1"`
	Backdrops   []Image `wire:"backdrops"`
	Logos       []Image `wire:"logos"`
	Posters     []Image `wire:"posters"`
}

// Image is one image; its language is null where it shows no text.
type Image struct {
	wire.Object
	AspectRatio wire.Float  `wire:"aspect_ratio"`
	Height      wire.Int    `wire:"height"` // pixels
	ISO3166     wire.String `wire:"iso_3166_1,null,dict"`
	ISO639      wire.String `wire:"iso_639_1,null,dict"`
	FilePath    wire.String `wire:"file_path"`
	VoteAverage wire.Float  `wire:"vote_average"`
	VoteCount   wire.Int    `wire:"vote_count"`
	Width       wire.Int    `wire:"width"` // pixels
}

// Keywords is the answer of movie/{id}/keywords.
type Keywords struct {
	wire.Object `wire:"drop-id"`
	Keywords    []Keyword `wire:"keywords"`
}

// Keyword is a keyword of a title.
type Keyword struct {
	wire.Object
	ID   wire.Int    `wire:"id"`
	Name wire.String `wire:"name,dict"`
}

// ReleaseDates is the answer of movie/{id}/release_dates.
type ReleaseDates struct {
	wire.Object `wire:"drop-id"`
	Results     []CountryReleases `wire:"results"`
}

// CountryReleases is a movie's releases in one country.
type CountryReleases struct {
	wire.Object
	ISO3166      wire.String   `wire:"iso_3166_1,dict"`
	ReleaseDates []ReleaseDate `wire:"release_dates"`
}

// ReleaseDate is one release.
type ReleaseDate struct {
	wire.Object
	Certification wire.String `wire:"certification,dict"`
	Descriptors   []string    `wire:"descriptors"`
	ISO639        wire.String `wire:"iso_639_1,dict"`
	Note          wire.String `wire:"note"`
	ReleaseDate   wire.String `wire:"release_date"` // 1999-10-15T00:00:00.000Z
	Type          wire.Int    `wire:"type"`         // 1 premiere to 6 TV
}

// Releases is the answer of the legacy movie/{id}/releases.
type Releases struct {
	wire.Object `wire:"drop-id"`
	Countries   []LegacyRelease `wire:"countries"`
}

// LegacyRelease is one release in the legacy form.
type LegacyRelease struct {
	wire.Object
	Certification wire.String `wire:"certification,dict"`
	Descriptors   []string    `wire:"descriptors"`
	ISO3166       wire.String `wire:"iso_3166_1,dict"`
	Primary       wire.Bool   `wire:"primary"`
	ReleaseDate   wire.String `wire:"release_date"` // 1999-10-15
}

// Trailers is the answer of the legacy movie/{id}/trailers.
type Trailers struct {
	wire.Object `wire:"drop-id"`
	Quicktime   []LegacyTrailer `wire:"quicktime"`
	YouTube     []LegacyTrailer `wire:"youtube"`
}

// LegacyTrailer is one trailer in the legacy form.
type LegacyTrailer struct {
	wire.Object
	Name   wire.String `wire:"name"`
	Size   wire.String `wire:"size,null,dict"` // HD, HQ
	Source wire.String `wire:"source"`
	Type   wire.String `wire:"type,dict"`
}

// Translations is the answer of movie/{id}/translations.
type Translations struct {
	wire.Object  `wire:"drop-id"`
	Translations []Translation `wire:"translations"`
}

// Translation is a movie's text in one language. Untranslated members are empty.
type Translation struct {
	wire.Object
	ISO3166     wire.String      `wire:"iso_3166_1,dict"`
	ISO639      wire.String      `wire:"iso_639_1,dict"`
	Name        wire.String      `wire:"name,dict"`
	EnglishName wire.String      `wire:"english_name,dict"`
	Data        *TranslationData `wire:"data"`
}

// TranslationData is the text itself.
type TranslationData struct {
	wire.Object
	Homepage wire.String `wire:"homepage"`
	Overview wire.String `wire:"overview"`
	Runtime  wire.Int    `wire:"runtime"`
	Tagline  wire.String `wire:"tagline"`
	Title    wire.String `wire:"title"`
}

// Videos is the answer of movie/{id}/videos, every language in rank order.
type Videos struct {
	wire.Object `wire:"drop-id"`
	Results     []Video `wire:"results"`
}

// Video is one trailer, teaser, clip or the like.
type Video struct {
	wire.Object
	ISO639      wire.String `wire:"iso_639_1,dict"`
	ISO3166     wire.String `wire:"iso_3166_1,dict"`
	Name        wire.String `wire:"name"`
	Key         wire.String `wire:"key"`
	Site        wire.String `wire:"site,dict"`
	Size        wire.Int    `wire:"size"` // lines
	Type        wire.String `wire:"type,dict"`
	Official    wire.Bool   `wire:"official"`
	ID          wire.String `wire:"id"`
	PublishedAt wire.String `wire:"published_at"`
}

// WatchProviders is the answer of movie/{id}/watch/providers. On the wire, results
// is an object keyed by country.
type WatchProviders struct {
	wire.Object `wire:"drop-id"`
	Results     []CountryOffers `wire:"results,keyed"`
}

// CountryOffers is where a title can be watched in one country. On the wire, each
// offer list is a member named by its type.
type CountryOffers struct {
	wire.Object
	ISO3166 wire.String `wire:"iso_3166_1,key,dict"`
	Link    wire.String `wire:"link"`
	Offers  []Offers    `wire:"*" column:"offers"`
}

// Offers is the providers of one type: flatrate, buy, rent, free or ads.
type Offers struct {
	wire.Object
	Type      wire.String `wire:"type,key,dict"`
	Providers []Provider  `wire:"providers"`
}

// Provider is one streaming service or shop.
type Provider struct {
	wire.Object
	LogoPath        wire.String `wire:"logo_path,dict"`
	ProviderID      wire.Int    `wire:"provider_id"`
	ProviderName    wire.String `wire:"provider_name,dict"`
	DisplayPriority wire.Int    `wire:"display_priority"`
}

// IMDbOf returns the movie's IMDb id, "" when it has none.
func IMDbOf(m *Movie) string {
	if m.ExternalIDs != nil {
		return FirstIMDb(m.IMDbID.V, m.ExternalIDs.IMDbID.V)
	}
	return m.IMDbID.V
}

// FirstIMDb returns the IMDb id of the details, or else, where that is none of a title,
// that of the external ids.
func FirstIMDb(details, external string) string {
	if strings.HasPrefix(details, "tt") || external == "" {
		return details
	}
	return external
}
