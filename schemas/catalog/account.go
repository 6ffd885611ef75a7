package catalog

import (
	"time"

	"reelsplice/schemas/wire"
)

// An Account is everything about one user: an account, which has an id, or a guest, who
// has the id of a session instead and can do no more than rate.
type Account struct {
	wire.Object
	Avatar         *Avatar     `wire:"avatar"`
	ID             wire.Int    `wire:"id"`
	ISO639         wire.String `wire:"iso_639_1,dict"`
	ISO3166        wire.String `wire:"iso_3166_1,dict"`
	Name           wire.String `wire:"name"`
	IncludeAdult   wire.Bool   `wire:"include_adult"`
	Username       wire.String `wire:"username"`
	ObjectID       wire.String `wire:"account_object_id"` // 24 hex digits, by which version 4 of the API knows the account
	GuestSessionID wire.String `wire:"guest_session_id"`  // 32 hex digits

	Favorites       *AccountTitles `wire:"favorites"`
	Watchlist       *AccountTitles `wire:"watchlist"`
	Rated           *AccountTitles `wire:"rated"`
	Recommendations *AccountTitles `wire:"recommendations"`
	// Lists are the ids of the lists that the user made, in their order; unset, the lists
	// that name the user as who made them.
	Lists []int64 `wire:"lists"`
}

// Avatar is the picture of an account.
type Avatar struct {
	wire.Object
	Gravatar *Gravatar   `wire:"gravatar"`
	TMDB     *TMDBAvatar `wire:"tmdb"`
}

// Gravatar is a picture of gravatar.com.
type Gravatar struct {
	wire.Object
	Hash wire.String `wire:"hash"` // MD5, as hex digits
}

// TMDBAvatar is a picture that the user uploaded.
type TMDBAvatar struct {
	wire.Object
	AvatarPath wire.String `wire:"avatar_path,null"`
}

// AccountTitles are titles that mean something to a user, by type.
type AccountTitles struct {
	wire.Object
	Movies   []AccountTitle `wire:"movies"`
	TV       []AccountTitle `wire:"tv"`
	Episodes []AccountTitle `wire:"episodes"` // of what is rated
}

// AccountTitle is one title, and since when.
type AccountTitle struct {
	wire.Object
	ID            wire.Int    `wire:"id"`      // of the movie or series; of an episode its own
	ShowID        wire.Int    `wire:"show_id"` // of an episode: its series
	SeasonNumber  wire.Int    `wire:"season_number"`
	EpisodeNumber wire.Int    `wire:"episode_number"`
	Value         wire.Float  `wire:"value"` // of what is rated: 0.5 to 10
	CreatedAt     wire.String `wire:"created_at"`
}

// timeForms are how the API writes when something was done.
var timeForms = [...]string{"2006-01-02 15:04:05 UTC", time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly}

// ParseTime reads when something was done: 2026-08-01 12:30:00 UTC, RFC 3339, or a day.
// The years are those from 1970 to 9999.
func ParseTime(text string) (time.Time, bool) {
	for _, form := range timeForms {
		if t, err := time.Parse(form, text); err == nil {
			t = t.UTC()
			return t, t.Year() >= 1970 && t.Year() <= 9999
		}
	}
	return time.Time{}, false
}
