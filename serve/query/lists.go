package query

import (
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/tables"
	"reelsplice/serve/route"
)

// A Window is the first and the last day of a list, its dates in the response.
type Window struct{ From, To int32 }

// Lengths of windows in days.
const (
	nowPlayingDays = 42 // back
	upcomingDays   = 21 // ahead
	onTheAirDays   = 7  // ahead
)

// minimumVotes is the least number of votes in top_rated.
const minimumVotes = 200

// notTopRated are the genres that top_rated leaves out: documentaries, and a number that
// TMDB gives to no genre.
var notTopRated = []uint64{99, 10755}

// Popular returns the query of the list of popular movies, series or people: all of them
// but the adult ones and videos.
func Popular(kind fragment.Kind) Filter {
	return Filter{kind: kind, sort: tables.Popularity, descending: true}
}

// TopRated returns the query of the list of the best movies or series.
func TopRated(kind fragment.Kind) Filter {
	f := Popular(kind)
	f.sort = tables.VoteAverage
	f.ranges[tables.VoteCount].least(minimumVotes)
	if kind == fragment.KindMovie {
		f.not = termsOf(notTopRated, tables.Genre)
	}
	return f
}

// NowPlaying returns the query of the list of movies that are in theatres on a day. Without
// a region any release in the window counts, with one those in theatres there.
func NowPlaying(day int32, region route.Country) (Filter, Window) {
	return inTheatres(Window{day - nowPlayingDays, day}, region)
}

// Upcoming returns the query of the list of movies that come to theatres from a day on;
// region is as for NowPlaying.
func Upcoming(day int32, region route.Country) (Filter, Window) {
	return inTheatres(Window{day, day + upcomingDays}, region)
}

func inTheatres(w Window, region route.Country) (Filter, Window) {
	f := Popular(fragment.KindMovie)
	f.released.least(w.From)
	f.released.most(w.To)
	f.ShowRegion(region)
	if f.region != (route.Country{}) {
		f.types, f.shown = []typeSet{theatricalSet}, []uint8{limited, theatrical}
	}
	return f, w
}

// AiringToday returns the query of the list of series with an episode on a day.
func AiringToday(day int32) Filter { return onAir(Window{day, day}) }

// OnTheAir returns the query of the list of series with an episode in the week from a day
// on.
func OnTheAir(day int32) Filter { return onAir(Window{day, day + onTheAirDays}) }

func onAir(w Window) Filter {
	f := Popular(fragment.KindTV)
	f.released.least(w.From)
	f.released.most(w.To)
	return f
}
