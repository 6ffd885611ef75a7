package main

import (
	"bytes"
	"fmt"
	"path"
)

// answerers gives operations their answerer by path, in the syntax of path.Match. The first
// row that matches counts. An operation that matches none is served as a fragment.
var answerers = []struct {
	path     string
	answerer string
	rows     string // kind of a list's rows; "" for several kinds, or no list
}{
	{"/3/movie", "Batch", ""},
	{"/3/tv", "Batch", ""},
	{"/3/person", "Batch", ""},
	{"/3/*/latest", "Latest", ""},
	{"/3/tv/season/{season_id}/changes", "OwnChanges", ""},
	{"/3/tv/episode/{episode_id}/changes", "OwnChanges", ""},
	{"/3/find/*", "Find", ""},
	{"/3/credit/*", "Credit", ""},

	{"/3/movie/popular", "Popular", "movie"},
	{"/3/movie/top_rated", "TopRated", "movie"},
	{"/3/movie/now_playing", "NowPlaying", "movie"},
	{"/3/movie/upcoming", "Upcoming", "movie"},
	{"/3/movie/changes", "Changes", "movie"},
	{"/3/tv/popular", "Popular", "tv"},
	{"/3/tv/top_rated", "TopRated", "tv"},
	{"/3/tv/airing_today", "AiringToday", "tv"},
	{"/3/tv/on_the_air", "OnTheAir", "tv"},
	{"/3/tv/changes", "Changes", "tv"},
	{"/3/person/popular", "Popular", "person"},
	{"/3/person/changes", "Changes", "person"},
	{"/3/trending/all/*", "Trending", ""},
	{"/3/trending/movie/*", "Trending", "movie"},
	{"/3/trending/tv/*", "Trending", "tv"},
	{"/3/trending/person/*", "Trending", "person"},
	{"/3/discover/movie", "Discover", "movie"},
	{"/3/discover/tv", "Discover", "tv"},
	{"/3/genre/{genre_id}/movies", "GenreMovies", "movie"},
	{"/3/search/multi", "Search", ""},
	{"/3/search/movie", "Search", "movie"},
	{"/3/search/tv", "Search", "tv"},
	{"/3/search/person", "Search", "person"},
	{"/3/search/collection", "Search", "collection"},
	{"/3/search/company", "Search", "company"},
	{"/3/search/keyword", "Search", "keyword"},

	{"/[34]/list/{list_id}", "List", ""},
	{"/[34]/list/{list_id}/item_status", "ListItem", ""},
	{"/3/*/*/account_states", "States", ""},
	{"/3/tv/*/season/*/account_states", "States", ""},
	{"/3/tv/*/season/*/episode/*/account_states", "States", ""},
	{"/3/account", "Account", ""},
	{"/3/account/{account_id}", "Account", ""},
	{"/3/account/{account_id}/lists", "AccountLists", ""},
	{"/4/account/{account_object_id}/lists", "AccountLists", ""},
	{"/3/account/{account_id}/*/*", "Shelf", ""},
	{"/3/account/{account_id}/*/*/*", "Shelf", ""},
	{"/4/account/{account_object_id}/*/*", "Shelf", ""},
	{"/3/guest_session/{guest_session_id}/rated/*", "GuestShelf", ""},
	{"/3/guest_session/{guest_session_id}/rated/tv/episodes", "GuestShelf", ""},

	{"/3/configuration", "Static", ""},
	{"/3/configuration/*", "Static", ""},
	{"/3/genre/list", "Static", ""},
	{"/3/genre/*/list", "Static", ""},
	{"/3/certification/*/list", "Static", ""},
	{"/3/watch/providers/*", "Static", ""},
	{"/3/job/list", "Static", ""},
	{"/3/timezones/list", "Static", ""},

	{"/3/authentication", "ValidKey", ""},
	{"/3/authentication/token/new", "RequestToken", ""},
	{"/3/authentication/guest_session/new", "GuestSession", ""},
}

// renderAnswerer writes the answerer of an operation. One that changes something has none, but
// for the tokens that no edge keeps.
func renderAnswerer(b *bytes.Buffer, name, method, pattern string, writes, fragment bool) error {
	for _, row := range answerers {
		ok, err := path.Match(row.path, pattern)
		if err != nil {
			return err
		}
		if !ok || writes && row.answerer != "RequestToken" && row.answerer != "GuestSession" || method != "GET" {
			continue
		}
		fmt.Fprintf(b, "Answerer: Answer%s,\n", row.answerer)
		if row.rows != "" {
			fmt.Fprintf(b, "Rows: %s,\n", kindConst(row.rows))
		}
		return nil
	}
	switch {
	case writes || method != "GET":
		return nil
	case fragment:
		b.WriteString("Answerer: AnswerDetails,\n")
		return nil
	}
	return fmt.Errorf("no answerer serves %s: add it to gen/answerers.go", name)
}
