package catalog

import "reelsplice/schemas/wire"

// A List is a list that a user made of movies and series.
type List struct {
	wire.Object
	AverageRating wire.Float     `wire:"average_rating"`
	BackdropPath  wire.String    `wire:"backdrop_path,null"`
	CreatedBy     *ListAuthor    `wire:"created_by"`
	CreatedAt     wire.String    `wire:"created_at"`
	Description   wire.String    `wire:"description"`
	FavoriteCount wire.Int       `wire:"favorite_count"`
	ID            wire.Int       `wire:"id"`
	ISO3166       wire.String    `wire:"iso_3166_1,dict"`
	ISO639        wire.String    `wire:"iso_639_1,dict"`
	ItemCount     wire.Int       `wire:"item_count"` // as the dump says; answers count what the release has
	ListType      wire.String    `wire:"list_type,dict"`
	Name          wire.String    `wire:"name"`
	PosterPath    wire.String    `wire:"poster_path,null"`
	Public        wire.Bool      `wire:"public"` // unset is true
	Revenue       wire.Int       `wire:"revenue"`
	Runtime       wire.Int       `wire:"runtime"`      // minutes
	SortBy        wire.String    `wire:"sort_by,dict"` // original_order.asc, title.desc ...
	UpdatedAt     wire.String    `wire:"updated_at"`
	Items         []ListItemPage `wire:"items,pages"`
}

// ListAuthor is who made a list.
type ListAuthor struct {
	wire.Object
	AvatarPath   wire.String `wire:"avatar_path,null"`
	GravatarHash wire.String `wire:"gravatar_hash"`
	ID           wire.String `wire:"id"` // 24 hex digits: the account_object_id of the account
	Name         wire.String `wire:"name"`
	Username     wire.String `wire:"username"`
}

// ListItemPage is a page of what is on a list. A list that was given whole has one.
type ListItemPage = Page[ListItem]

// ListItem is a title on a list.
type ListItem struct {
	wire.Object
	MediaType wire.String `wire:"media_type,dict"` // movie, tv
	ID        wire.Int    `wire:"id"`
	Comment   wire.String `wire:"comment"`
	Order     wire.Int    `wire:"order,own"` // place on the page, from 0
}
