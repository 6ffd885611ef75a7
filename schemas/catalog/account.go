package catalog

import (
	"time"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// An Account holds the data of a user: of an account, which has an ID, or of a guest, who has a session ID and can
// only rate.
type Account struct {
	record.Object
	Avatar         *avatar       `record:"avatar"`
	ID             record.Int    `record:"id"`
	ISO639         record.String `record:"iso_639_1,dict"`
	ISO3166        record.String `record:"iso_3166_1,dict"`
	Name           record.String `record:"name"`
	IncludeAdult   record.Bool   `record:"include_adult"`
	Username       record.String `record:"username"`
	ObjectID       record.String `record:"account_object_id"` // 24 hex digits: the account in version 4 of the API
	GuestSessionID record.String `record:"guest_session_id"`  // 32 hex digits

	Favorites       *AccountTitles `record:"favorites"`
	Watchlist       *AccountTitles `record:"watchlist"`
	Rated           *AccountTitles `record:"rated"`
	Recommendations *AccountTitles `record:"recommendations"`
	// Lists are the IDs of the user's lists, in order. If unset, all lists by the user.
	Lists []int64 `record:"lists"`
	// Fetched is the day on which the record was fetched, YYYY-MM-DD: see FetchedColumn.
	Fetched record.String `record:"_fetched,dict,own"`
}

// avatar is the picture of an account.
type avatar struct {
	record.Object
	Gravatar *gravatar   `record:"gravatar"`
	TMDB     *tmdbAvatar `record:"tmdb"`
}

// gravatar is a picture of gravatar.com.
type gravatar struct {
	record.Object
	Hash record.String `record:"hash"` // MD5, as hex digits
}

// tmdbAvatar is a picture uploaded by the user.
type tmdbAvatar struct {
	record.Object
	AvatarPath record.String `record:"avatar_path,null"`
}

// AccountTitles are a user's titles by media type.
type AccountTitles struct {
	record.Object
	Movies   []AccountTitle `record:"movies"`
	TV       []AccountTitle `record:"tv"`
	Episodes []AccountTitle `record:"episodes"` // only for ratings
}

// AccountTitle is one title with the time of its entry.
type AccountTitle struct {
	record.Object
	ID            record.Int    `record:"id"`      // ID of the movie, series or episode
	ShowID        record.Int    `record:"show_id"` // series of an episode
	SeasonNumber  record.Int    `record:"season_number"`
	EpisodeNumber record.Int    `record:"episode_number"`
	Value         record.Float  `record:"value"` // rating, 0.5 to 10
	CreatedAt     record.String `record:"created_at"`
}

// timeForms are the API's notations for times.
var timeForms = [...]string{"2006-01-02 15:04:05 UTC", time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly}

// ParseTime parses a time: 2026-08-01 12:30:00 UTC, RFC 3339, or a day. Years are limited to 1970 to 9999.
func ParseTime(text string) (time.Time, bool) {
	for _, form := range timeForms {
		if t, err := time.Parse(form, text); err == nil {
			t = t.UTC()
			return t, t.Year() >= 1970 && t.Year() <= 9999
		}
	}
	return time.Time{}, false
}

// A List is a user's list of movies and series.
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
	ItemCount     record.Int     `record:"item_count"` // from the dump; responses count the titles in the release
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

// ListAuthor is the author of a list.
type ListAuthor struct {
	record.Object
	AvatarPath   record.String `record:"avatar_path,null"`
	GravatarHash record.String `record:"gravatar_hash"`
	ID           record.String `record:"id"` // 24 hex digits: the account_object_id of the account
	Name         record.String `record:"name"`
	Username     record.String `record:"username"`
}

// ListItemPage is a page of the items of a list. A list stored whole has one page.
type ListItemPage = Page[listItem]

// listItem is a title on a list.
type listItem struct {
	record.Object
	MediaType record.String `record:"media_type,dict"` // movie, tv
	ID        record.Int    `record:"id"`
	Comment   record.String `record:"comment"`
	Order     record.Int    `record:"order,own"` // place on the page, from 0
}
