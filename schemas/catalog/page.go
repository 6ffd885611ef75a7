package catalog

import "reelsplice/schemas/wire"

// Lists that answer in pages are kept page by page, as the dump gave them. Language
// is ours: the language of the crawl that gave the page, unset for en-US.

// Page is a page of rows R.
type Page[R any] struct {
	wire.Object  `wire:"drop-id"`
	Language     wire.String `wire:"language,dict"`
	Page         wire.Int    `wire:"page"`
	Results      []R         `wire:"results"`
	TotalPages   wire.Int    `wire:"total_pages"`
	TotalResults wire.Int    `wire:"total_results"`
}

// MediaPage is a page of recommendations.
type MediaPage = Page[MediaRow]

// MediaRow is a title, a season or an episode in lists that mix media types. The
// kinds have different members; their order is the same in all.
type MediaRow struct {
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
	AirDate          wire.String `wire:"air_date"`
	EpisodeNumber    wire.Int    `wire:"episode_number"`
	EpisodeType      wire.String `wire:"episode_type,dict"`
	ProductionCode   wire.String `wire:"production_code"`
	Runtime          wire.Int    `wire:"runtime"` // minutes
	SeasonNumber     wire.Int    `wire:"season_number"`
	ShowID           wire.Int    `wire:"show_id"`
	EpisodeCount     wire.Int    `wire:"episode_count"`
	StillPath        wire.String `wire:"still_path"`
}

// SummaryPage is a page of similar, or of the movies of a company or a keyword.
type SummaryPage = Page[SummaryRow]

// SummaryRow is a title in lists of one media type. Movies and series have different
// members; their order is the same in both.
type SummaryRow struct {
	wire.Object
	Adult            wire.Bool   `wire:"adult"`
	BackdropPath     wire.String `wire:"backdrop_path,null"`
	GenreIDs         []int64     `wire:"genre_ids"`
	ID               wire.Int    `wire:"id"`
	OriginCountry    []string    `wire:"origin_country"`
	Title            wire.String `wire:"title"`
	OriginalLanguage wire.String `wire:"original_language,dict"`
	OriginalTitle    wire.String `wire:"original_title"`
	OriginalName     wire.String `wire:"original_name"`
	Overview         wire.String `wire:"overview"`
	Popularity       wire.Float  `wire:"popularity"`
	PosterPath       wire.String `wire:"poster_path,null"`
	ReleaseDate      wire.String `wire:"release_date"`
	FirstAirDate     wire.String `wire:"first_air_date"`
	Softcore         wire.Bool   `wire:"softcore"`
	Video            wire.Bool   `wire:"video"`
	Name             wire.String `wire:"name"`
	VoteAverage      wire.Float  `wire:"vote_average"`
	VoteCount        wire.Int    `wire:"vote_count"`
}

// ListPage is a page of lists.
type ListPage = Page[ListRow]

// ListRow is a public list that holds a title.
type ListRow struct {
	wire.Object
	Description   wire.String `wire:"description"`
	FavoriteCount wire.Int    `wire:"favorite_count"`
	ID            wire.Raw    `wire:"id"` // an integer; 24 hex digits before 2022
	ItemCount     wire.Int    `wire:"item_count"`
	ISO639        wire.String `wire:"iso_639_1,dict"`
	ISO3166       wire.String `wire:"iso_3166_1,dict"`
	ListType      wire.String `wire:"list_type,dict"`
	Name          wire.String `wire:"name"`
	PosterPath    wire.String `wire:"poster_path,null"`
}

// ReviewPage is a page of reviews.
type ReviewPage = Page[Review]

// Review is one review.
type Review struct {
	wire.Object
	Author        wire.String   `wire:"author"`
	AuthorDetails *ReviewAuthor `wire:"author_details"`
	Content       wire.String   `wire:"content"`
	CreatedAt     wire.String   `wire:"created_at"`
	ID            wire.String   `wire:"id"`
	UpdatedAt     wire.String   `wire:"updated_at"`
	URL           wire.String   `wire:"url"`
}

// ReviewAuthor is who wrote a review.
type ReviewAuthor struct {
	wire.Object
	Name       wire.String `wire:"name"`
	Username   wire.String `wire:"username"`
	AvatarPath wire.String `wire:"avatar_path,null"`
	Rating     wire.Float  `wire:"rating,null"`
}

// CountRows sets the totals of a list that a table gave whole: where the list is a
// single page and does not say how many rows there are, they are those of the page.
func CountRows(r wire.Record, f *wire.Field) {
	if n, _ := r.Len(f); n != 1 {
		return
	}
	page := r.At(f, 0)
	pages, _ := page.Plan.Field("total_pages")
	total, _ := page.Plan.Field("total_results")
	results, _ := page.Plan.Field("results")
	if rows, set := page.Len(results); set && !page.Int(pages).Set && !page.Int(total).Set {
		*page.Int(pages) = wire.Number(1)
		*page.Int(total) = wire.Number(int64(rows))
	}
}
