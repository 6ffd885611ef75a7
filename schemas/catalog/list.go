package catalog

import "github.com/reelsplice/reelsplice/schemas/record"

// A List is a list that a user made of movies and series.
type List struct {
	record.Object
	AverageRating record.Float   `record:"average_rating"`
	BackdropPath  record.String  `record:"backdrop_path,null"`
	CreatedBy     *ListAuthor    `record:"created_by"`
	CreatedAt     record.String  `record:"created_at"`
	Description   record.String  `record:"description"`
	FavoriteCount record.Int     `record:"favorite_count"`
	ID            record.Int     `record:"id"`
	ISO3166       record.String  `record:"iso_3166_1,dict"`
	ISO639        record.String  `record:"iso_639_1,dict"`
	ItemCount     record.Int     `record:"item_count"` // as the dump has it; responses count what the release has
	ListType      record.String  `record:"list_type,dict"`
	Name          record.String  `record:"name"`
	PosterPath    record.String  `record:"poster_path,null"`
	Public        record.Bool    `record:"public"` // unset is true
	Revenue       record.Int     `record:"revenue"`
	Runtime       record.Int     `record:"runtime"`      // minutes
	SortBy        record.String  `record:"sort_by,dict"` // original_order.asc, title.desc ...
	UpdatedAt     record.String  `record:"updated_at"`
	Items         []ListItemPage `record:"items,pages"`

	// Fetched is the day on which the record was fetched, YYYY-MM-DD: see FetchedColumn.
	Fetched record.String `record:"_fetched,dict,own"`
}

// ListAuthor is who made a list.
type ListAuthor struct {
	record.Object
	AvatarPath   record.String `record:"avatar_path,null"`
	GravatarHash record.String `record:"gravatar_hash"`
	ID           record.String `record:"id"` // 24 hex digits: the account_object_id of the account
	Name         record.String `record:"name"`
	Username     record.String `record:"username"`
}

// ListItemPage is a page of what is on a list. A list that was given whole has one.
type ListItemPage = Page[ListItem]

// ListItem is a title on a list.
type ListItem struct {
	record.Object
	MediaType record.String `record:"media_type,dict"` // movie, tv
	ID        record.Int    `record:"id"`
	Comment   record.String `record:"comment"`
	Order     record.Int    `record:"order,own"` // place on the page, from 0
}
