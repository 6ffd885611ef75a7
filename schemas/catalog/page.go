package catalog

import "github.com/reelsplice/reelsplice/schemas/record"

// Paged lists are stored page by page, as in the dump. Language is a field of our own: the language of the page's
// crawl, unset for en-US.

// Page is a page of rows R.
type Page[R any] struct {
	record.Object `record:"drop-id"`
	Language      record.String `record:"language,dict"`
	Page          record.Int    `record:"page"`
	Results       []R           `record:"results"`
	TotalPages    record.Int    `record:"total_pages"`
	TotalResults  record.Int    `record:"total_results"`
}

// translations is the common form of translations responses; D is the text.
type translations[D any] struct {
	record.Object `record:"drop-id"`
	Translations  []Translation[D] `record:"translations"`
}

// Translation is the text of a resource in one language.
type Translation[D any] struct {
	record.Object
	ISO3166     record.String `record:"iso_3166_1,dict"`
	ISO639      record.String `record:"iso_639_1,dict"`
	Name        record.String `record:"name,dict"`
	EnglishName record.String `record:"english_name,dict"`
	Data        *D            `record:"data"`
}

// results is the response of a sub-request with a list of rows R.
type results[R any] struct {
	record.Object `record:"drop-id"`
	Results       []R `record:"results"`
}

// MixedTitle holds the common fields of titles of any media type.
type MixedTitle struct {
	Adult            record.Bool   `record:"adult"`
	BackdropPath     record.String `record:"backdrop_path,null"`
	ID               record.Int    `record:"id"`
	Title            record.String `record:"title"`
	Name             record.String `record:"name"`
	OriginalTitle    record.String `record:"original_title"`
	OriginalName     record.String `record:"original_name"`
	Overview         record.String `record:"overview"`
	PosterPath       record.String `record:"poster_path,null"`
	MediaType        record.String `record:"media_type,dict"`
	OriginalLanguage record.String `record:"original_language,dict"`
	GenreIDs         []int64       `record:"genre_ids"`
	Popularity       record.Float  `record:"popularity"`
	ReleaseDate      record.String `record:"release_date,day"`
	FirstAirDate     record.String `record:"first_air_date,day"`
	Softcore         record.Bool   `record:"softcore"`
	Video            record.Bool   `record:"video"`
	VoteAverage      record.Float  `record:"vote_average"`
	VoteCount        record.Int    `record:"vote_count"`
	OriginCountry    []string      `record:"origin_country"`
}

// MediaRow is a title, a season or an episode in lists of mixed media types. The kinds have different fields, in the
// same order.
type MediaRow struct {
	record.Object
	MixedTitle
	AirDate        record.String `record:"air_date,day"`
	EpisodeNumber  record.Int    `record:"episode_number"`
	EpisodeType    record.String `record:"episode_type,dict"`
	ProductionCode record.String `record:"production_code"`
	Runtime        record.Int    `record:"runtime"` // minutes
	SeasonNumber   record.Int    `record:"season_number"`
	ShowID         record.Int    `record:"show_id"`
	EpisodeCount   record.Int    `record:"episode_count"`
	StillPath      record.String `record:"still_path"`
}

// Summary holds the common fields of titles of one media type.
type Summary struct {
	Adult            record.Bool   `record:"adult"`
	BackdropPath     record.String `record:"backdrop_path,null"`
	GenreIDs         []int64       `record:"genre_ids"`
	ID               record.Int    `record:"id"`
	OriginCountry    []string      `record:"origin_country"`
	Title            record.String `record:"title"`
	OriginalLanguage record.String `record:"original_language,dict"`
	OriginalTitle    record.String `record:"original_title"`
	OriginalName     record.String `record:"original_name"`
	Overview         record.String `record:"overview"`
	Popularity       record.Float  `record:"popularity"`
	PosterPath       record.String `record:"poster_path,null"`
	ReleaseDate      record.String `record:"release_date,day"`
	FirstAirDate     record.String `record:"first_air_date,day"`
	Softcore         record.Bool   `record:"softcore"`
	Video            record.Bool   `record:"video"`
	Name             record.String `record:"name"`
	VoteAverage      record.Float  `record:"vote_average"`
	VoteCount        record.Int    `record:"vote_count"`
}

// summaryRow is a title in lists of one media type. Movies and series have different fields, in the same order.
type summaryRow struct {
	record.Object
	Summary
}

// listRow is a public list that contains a title.
type listRow struct {
	record.Object
	Description   record.String `record:"description"`
	FavoriteCount record.Int    `record:"favorite_count"`
	ID            record.Raw    `record:"id"` // an integer; 24 hex digits before 2022
	ItemCount     record.Int    `record:"item_count"`
	ISO639        record.String `record:"iso_639_1,dict"`
	ISO3166       record.String `record:"iso_3166_1,dict"`
	ListType      record.String `record:"list_type,dict"`
	Name          record.String `record:"name"`
	PosterPath    record.String `record:"poster_path,null"`
}

// ReviewPage is a page of reviews.
type ReviewPage = Page[review]

// review is one review.
type review struct {
	record.Object
	Author        record.String `record:"author"`
	AuthorDetails *reviewAuthor `record:"author_details"`
	Content       record.String `record:"content"`
	CreatedAt     record.String `record:"created_at"`
	ID            record.String `record:"id"`
	UpdatedAt     record.String `record:"updated_at"`
	URL           record.String `record:"url"`
}

// reviewAuthor is the author of a review.
type reviewAuthor struct {
	record.Object
	Name       record.String `record:"name"`
	Username   record.String `record:"username"`
	AvatarPath record.String `record:"avatar_path,null"`
	Rating     record.Float  `record:"rating,null"`
}

// CountRows sets the totals of a list that a table contains as a single page without totals.
func CountRows(r record.Record, f *record.Field) {
	if n, _ := r.Len(f); n != 1 {
		return
	}
	page := r.At(f, 0)
	pages, total := page.IntNamed("total_pages"), page.IntNamed("total_results")
	results, _ := page.Schema.Field("results")
	if rows, set := page.Len(results); set && !pages.Set && !total.Set {
		*pages = record.Number(1)
		*total = record.Number(int64(rows))
	}
}
