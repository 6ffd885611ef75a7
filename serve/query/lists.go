package query

import (
	"math"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/serve/route"
)

// A Window is the first and the last day of a list, its dates in the response.
type Window struct{ From, To day.Day }

// windows are the days of lists, counted from the day of the query.
var windows = map[api.Answerer]Window{
	api.AnswerNowPlaying:  {-42, 0},
	api.AnswerUpcoming:    {0, 21},
	api.AnswerAiringToday: {0, 0},
	api.AnswerOnTheAir:    {0, 7},
}

// minimumVotes is the lowest number of votes in top_rated.
const minimumVotes = 200

// notTopRated are the genres that top_rated excludes: documentaries, and a number without a
// genre at TMDB.
var notTopRated = []uint64{99, 10755}

// Popular returns the query of the list of popular movies, series or people: all except adult
// ones and videos.
func Popular(kind fragment.Kind) Filter {
	return Filter{kind: kind, sort: tables.Popularity, descending: true}
}

// TopRated returns the query of the list of the best movies or series. In a release without any votes, the list has
// all titles with a grade.
func (e *Engine) TopRated(kind fragment.Kind) (Filter, error) {
	f := topRated(kind)
	t, err := e.table(kind)
	if t == nil || err != nil || !t.Has(tables.VoteCount) {
		return f, err
	}
	voted, err := t.Range(tables.VoteCount).Count(1, math.MaxInt32)
	if voted == 0 {
		f.ranges[tables.VoteCount] = bounds{}
		f.ranges[tables.VoteAverage].atLeast(1)
	}
	return f, err
}

func topRated(kind fragment.Kind) Filter {
	f := Popular(kind)
	f.sort = tables.VoteAverage
	f.ranges[tables.VoteCount].atLeast(minimumVotes)
	if kind == fragment.KindMovie {
		f.excluded = termsOf(notTopRated, tables.Genre)
	}
	return f
}

// InWindow returns the query of a list in windows, and its days. The list has movies in theatres, or series with an
// episode. Without a region any release of a movie counts, else only theatrical releases there.
func InWindow(list api.Answerer, kind fragment.Kind, today day.Day, region route.Country) (Filter, Window) {
	w := windows[list]
	w = Window{today + w.From, today + w.To}
	f := Popular(kind)
	f.released.atLeast(int32(w.From))
	f.released.atMost(int32(w.To))
	f.ShowRegion(region)
	if f.region != (route.Country{}) {
		f.types, f.shownTypes = []typeSet{theatricalSet}, []uint8{limited, theatrical}
	}
	return f, w
}
