package catalog

import (
	"strings"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Movie holds all data of one movie: the fields of its details response, then its sub-requests under the names of
// append_to_response.
type Movie struct {
	record.Object
	Adult               record.Bool      `record:"adult,details"`
	BackdropPath        record.String    `record:"backdrop_path,null,details"`
	BelongsToCollection *CollectionRef   `record:"belongs_to_collection,null,details"`
	Budget              record.Int       `record:"budget,details"`
	Genres              []Genre          `record:"genres,details"`
	Homepage            record.String    `record:"homepage,details"`
	ID                  record.Int       `record:"id,details"`
	IMDbID              record.String    `record:"imdb_id,null,details"`
	OriginCountry       []string         `record:"origin_country"`
	OriginalLanguage    record.String    `record:"original_language,dict"`
	OriginalTitle       record.String    `record:"original_title,details"`
	Overview            record.String    `record:"overview,details"`
	Popularity          record.Float     `record:"popularity,details"`
	PosterPath          record.String    `record:"poster_path,null,details"`
	ProductionCompanies []CompanyRef     `record:"production_companies,details"`
	ProductionCountries []country        `record:"production_countries,details"`
	ReleaseDate         record.String    `record:"release_date,details,day"`
	Revenue             record.Int       `record:"revenue,details"`
	Runtime             record.Int       `record:"runtime,details"` // minutes; 0 when unknown
	Softcore            record.Bool      `record:"softcore"`
	SpokenLanguages     []spokenLanguage `record:"spoken_languages,details"`
	Status              record.String    `record:"status,dict,details"`
	Tagline             record.String    `record:"tagline,details"`
	Title               record.String    `record:"title,details"`
	Video               record.Bool      `record:"video"`
	VoteAverage         record.Float     `record:"vote_average,details"`
	VoteCount           record.Int       `record:"vote_count,details"`

	AlternativeTitles *AlternativeTitles `record:"alternative_titles"`
	Changes           *changes           `record:"changes"`
	Credits           *Credits           `record:"credits"`
	ExternalIDs       *MovieExternalIDs  `record:"external_ids"`
	Images            *Images            `record:"images"`
	Keywords          *keywords          `record:"keywords"`
	Lists             []Page[listRow]    `record:"lists,pages,id"`
	Recommendations   []Page[MediaRow]   `record:"recommendations,pages"`
	ReleaseDates      *ReleaseDates      `record:"release_dates"`
	Releases          *Releases          `record:"releases"`
	Reviews           []ReviewPage       `record:"reviews,pages,id"`
	Similar           []Page[summaryRow] `record:"similar,pages"`
	Trailers          *Trailers          `record:"trailers"`
	Translations      *MovieTranslations `record:"translations"`
	Videos            *Videos            `record:"videos"`
	WatchProviders    *WatchProviders    `record:"watch/providers" column:"watch_providers"`

	// Localized holds the results of crawls in languages other than en-US, one element per language. TMDB has no such
	// field.
	Localized []localized `record:"localized,own"`
	Provenance
}

// localized is the text of a movie in one language, from a crawl in that language. Fields absent from the crawl are
// unset, as is an empty title.
type localized struct {
	record.Object
	Language            record.String  `record:"language,dict"` // xx-YY; xx without a known region
	BackdropPath        record.String  `record:"backdrop_path"`
	BelongsToCollection *CollectionRef `record:"belongs_to_collection"`
	Genres              []Genre        `record:"genres"`
	Homepage            record.String  `record:"homepage"`
	Overview            record.String  `record:"overview"`
	PosterPath          record.String  `record:"poster_path"`
	Runtime             record.Int     `record:"runtime"`
	Tagline             record.String  `record:"tagline"`
	Title               record.String  `record:"title"`
	Credits             *Credits       `record:"credits"` // complete, from the crawl: names may be translated
	Trailers            *Trailers      `record:"trailers"`
}

// CollectionRef names the collection of a movie.
type CollectionRef struct {
	record.Object
	ID           record.Int    `record:"id"`
	Name         record.String `record:"name"`
	PosterPath   record.String `record:"poster_path,null"`
	BackdropPath record.String `record:"backdrop_path,null"`
}

// Genre is a genre of a title.
type Genre struct {
	record.Object
	ID   record.Int    `record:"id"`
	Name record.String `record:"name,dict"`
}

// CompanyRef names a production company, or a network.
type CompanyRef struct {
	record.Object
	ID            record.Int    `record:"id"`
	LogoPath      record.String `record:"logo_path,null"`
	Name          record.String `record:"name,dict"`
	OriginCountry record.String `record:"origin_country,dict"`
}

// country is a production country.
type country struct {
	record.Object
	ISO3166 record.String `record:"iso_3166_1,dict"`
	Name    record.String `record:"name,dict"`
}

// spokenLanguage is a language spoken in a title.
type spokenLanguage struct {
	record.Object
	EnglishName record.String `record:"english_name,dict"`
	ISO639      record.String `record:"iso_639_1,dict"`
	Name        record.String `record:"name,dict"`
}

// AlternativeTitles is the response of movie/{id}/alternative_titles.
type AlternativeTitles struct {
	record.Object `record:"drop-id"`
	Titles        []AlternativeTitle `record:"titles"`
}

// AlternativeTitle is a title of a movie in some country.
type AlternativeTitle struct {
	record.Object
	ISO3166 record.String `record:"iso_3166_1,dict"`
	Title   record.String `record:"title"`
	Type    record.String `record:"type,dict"`
}

// changes is the response of changes of any resource. It has no id.
type changes struct {
	record.Object `record:"drop-id,id=none"`
	Changes       []change `record:"changes"`
}

// change lists the edits of one property.
type change struct {
	record.Object
	Key   record.String `record:"key,dict"`
	Items []changeItem  `record:"items"`
}

// changeItem is one edit. Value and OriginalValue have any type.
type changeItem struct {
	record.Object
	ID            record.String `record:"id"`
	Action        record.String `record:"action,dict"`
	Time          record.String `record:"time"` // 2024-12-24 09:57:34 UTC
	ISO639        record.String `record:"iso_639_1,dict"`
	ISO3166       record.String `record:"iso_3166_1,dict"`
	Value         record.Raw    `record:"value"`
	OriginalValue record.Raw    `record:"original_value"`
}

// Credits is the response of movie/{id}/credits.
type Credits struct {
	record.Object `record:"drop-id"`
	Cast          []CastCredit `record:"cast"`
	Crew          []CrewCredit `record:"crew"`
}

// Credited is the person of a credit. Structs of credits embed it.
type Credited struct {
	Adult              record.Bool   `record:"adult"`
	Gender             record.Int    `record:"gender"` // 0 not set, 1 female, 2 male, 3 non-binary
	ID                 record.Int    `record:"id"`
	KnownForDepartment record.String `record:"known_for_department,dict"`
	Name               record.String `record:"name"`
	OriginalName       record.String `record:"original_name"`
	Popularity         record.Float  `record:"popularity"`
	ProfilePath        record.String `record:"profile_path,null"`
}

// CastCredit is one role of one person.
type CastCredit struct {
	record.Object
	Credited
	CastID    record.Int    `record:"cast_id"`
	Character record.String `record:"character"`
	CreditID  record.String `record:"credit_id"`
	Order     record.Int    `record:"order"`
}

// CrewCredit is one job of one person.
type CrewCredit struct {
	record.Object
	Credited
	CreditID   record.String `record:"credit_id"`
	Department record.String `record:"department,dict"`
	Job        record.String `record:"job,dict"`
}

// MovieExternalIDs is the response of movie/{id}/external_ids.
type MovieExternalIDs struct {
	record.Object `record:"drop-id"`
	IMDbID        record.String `record:"imdb_id,null"`
	WikidataID    record.String `record:"wikidata_id,null"`
	FacebookID    record.String `record:"facebook_id,null"`
	InstagramID   record.String `record:"instagram_id,null"`
	TwitterID     record.String `record:"twitter_id,null"`
}

// Images is the images response of a movie or a series: all languages, by rank.
type Images struct {
	record.Object `record:"drop-id,id=1"`
	Backdrops     []Image `record:"backdrops"`
	Logos         []Image `record:"logos"`
	Posters       []Image `record:"posters"`
}

// Image is one image; its language is null if it shows no text.
type Image struct {
	record.Object
	AspectRatio record.Float  `record:"aspect_ratio"`
	Height      record.Int    `record:"height"` // pixels
	ISO3166     record.String `record:"iso_3166_1,null,dict"`
	ISO639      record.String `record:"iso_639_1,null,dict"`
	FilePath    record.String `record:"file_path"`
	VoteAverage record.Float  `record:"vote_average"`
	VoteCount   record.Int    `record:"vote_count"`
	Width       record.Int    `record:"width"` // pixels
}

// keywords is the response of movie/{id}/keywords.
type keywords struct {
	record.Object `record:"drop-id"`
	Keywords      []Keyword `record:"keywords"`
}

// Keyword is a keyword of a title.
type Keyword struct {
	record.Object
	ID   record.Int    `record:"id"`
	Name record.String `record:"name,dict"`
}

// ReleaseDates is the response of movie/{id}/release_dates.
type ReleaseDates = results[CountryReleases]

// CountryReleases is a movie's releases in one country.
type CountryReleases struct {
	record.Object
	ISO3166      record.String `record:"iso_3166_1,dict"`
	ReleaseDates []ReleaseDate `record:"release_dates"`
}

// ReleaseDate is one release.
type ReleaseDate struct {
	record.Object
	Certification record.String `record:"certification,dict"`
	Descriptors   []string      `record:"descriptors"`
	ISO639        record.String `record:"iso_639_1,dict"`
	Note          record.String `record:"note"`
	ReleaseDate   record.String `record:"release_date"` // 1999-10-15T00:00:00.000Z
	Type          record.Int    `record:"type"`         // 1 premiere to 6 TV
}

// Releases is the response of the legacy movie/{id}/releases.
type Releases struct {
	record.Object `record:"drop-id"`
	Countries     []LegacyRelease `record:"countries"`
}

// LegacyRelease is one release in the legacy form.
type LegacyRelease struct {
	record.Object
	Certification record.String `record:"certification,dict"`
	Descriptors   []string      `record:"descriptors"`
	ISO3166       record.String `record:"iso_3166_1,dict"`
	Primary       record.Bool   `record:"primary"`
	ReleaseDate   record.String `record:"release_date,day"` // 1999-10-15
}

// Trailers is the response of the legacy movie/{id}/trailers.
type Trailers struct {
	record.Object `record:"drop-id"`
	Quicktime     []LegacyTrailer `record:"quicktime"`
	YouTube       []LegacyTrailer `record:"youtube"`
}

// LegacyTrailer is one trailer in the legacy form.
type LegacyTrailer struct {
	record.Object
	Name   record.String `record:"name"`
	Size   record.String `record:"size,null,dict"` // HD, HQ
	Source record.String `record:"source"`
	Type   record.String `record:"type,dict"`
}

// MovieTranslations is the response of movie/{id}/translations.
type MovieTranslations = translations[TranslationData]

// TranslationData is the text itself.
type TranslationData struct {
	record.Object
	Homepage record.String `record:"homepage"`
	Overview record.String `record:"overview"`
	Runtime  record.Int    `record:"runtime"`
	Tagline  record.String `record:"tagline"`
	Title    record.String `record:"title"`
}

// Videos is the response of movie/{id}/videos: all languages, by rank.
type Videos = results[Video]

// Video is one trailer, teaser, clip or similar.
type Video struct {
	record.Object
	ISO639      record.String `record:"iso_639_1,dict"`
	ISO3166     record.String `record:"iso_3166_1,dict"`
	Name        record.String `record:"name"`
	Key         record.String `record:"key"`
	Site        record.String `record:"site,dict"`
	Size        record.Int    `record:"size"` // lines
	Type        record.String `record:"type,dict"`
	Official    record.Bool   `record:"official"`
	ID          record.String `record:"id"`
	PublishedAt record.String `record:"published_at"`
}

// WatchProviders is the response of movie/{id}/watch/providers. In JSON, results is an object keyed by country.
type WatchProviders struct {
	record.Object `record:"drop-id"`
	Results       []countryOffers `record:"results,keyed"`
}

// countryOffers lists where to watch a title in one country. In JSON, each list of offers is a field named by its
// type.
type countryOffers struct {
	record.Object
	ISO3166 record.String `record:"iso_3166_1,key,dict"`
	Link    record.String `record:"link"`
	Offers  []offers      `record:"*" column:"offers"`
}

// offers is the providers of one type: flatrate, buy, rent, free or ads.
type offers struct {
	record.Object
	Type      record.String `record:"type,key,dict"`
	Providers []provider    `record:"providers"`
}

// provider is one streaming service or shop.
type provider struct {
	record.Object
	LogoPath        record.String `record:"logo_path,dict"`
	ProviderID      record.Int    `record:"provider_id"`
	ProviderName    record.String `record:"provider_name,dict"`
	DisplayPriority record.Int    `record:"display_priority"`
}

// IMDbOf returns the movie's IMDb ID, or "". It prefers the details, unless their ID is not one of a title and the
// external IDs have one.
func IMDbOf(m *Movie) string {
	if m.ExternalIDs == nil || m.ExternalIDs.IMDbID.V == "" || strings.HasPrefix(m.IMDbID.V, "tt") {
		return m.IMDbID.V
	}
	return m.ExternalIDs.IMDbID.V
}
