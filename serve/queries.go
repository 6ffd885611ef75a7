package serve

import (
	"slices"
	"strconv"
	"sync"
	"time"
	_ "time/tzdata" // the machine need not know any time zone

	"reelsplice/data/reference"
	"reelsplice/schemas/api"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables/posting"
	"reelsplice/serve/query"
	"reelsplice/serve/route"
)

// A querier answers the operations over the whole catalogue: what they ask for, as a query,
// and what their pages look like.
type querier struct {
	engine *query.Engine
	now    time.Time
	fixed  bool      // it is that day everywhere
	until  time.Time // the end of the day that the results are of; zero for results of no day
	fuzzy  bool      // searches are, unless a request says otherwise
	res    query.Result
}

// defaultTimezone is where days begin and end for lists of series, when a request names no
// other place.
const defaultTimezone = "America/New_York"

// isQuery reports whether querier answers an operation.
func isQuery(op api.Op) bool {
	switch op {
	case api.OpMoviePopularList, api.OpMovieTopRatedList, api.OpMovieNowPlayingList, api.OpMovieUpcomingList,
		api.OpTvSeriesPopularList, api.OpTvSeriesTopRatedList, api.OpTvSeriesAiringTodayList, api.OpTvSeriesOnTheAirList,
		api.OpPersonPopularList, api.OpTrendingAll, api.OpTrendingMovies, api.OpTrendingTv, api.OpTrendingPeople,
		api.OpDiscoverMovie, api.OpDiscoverTv, api.OpLegacyGenreMovies:
		return true
	}
	_, search := searchKind(op)
	_, changes := changeLists[op]
	return search || changes
}

// kindMulti stands for movies, series and people together.
const kindMulti fragment.Kind = 0

// searchKind returns what a search looks for; false for an operation that is none.
func searchKind(op api.Op) (fragment.Kind, bool) {
	switch op {
	case api.OpSearchMovie:
		return fragment.KindMovie, true
	case api.OpSearchTv:
		return fragment.KindTV, true
	case api.OpSearchPerson:
		return fragment.KindPerson, true
	case api.OpSearchCollection:
		return fragment.KindCollection, true
	case api.OpSearchCompany:
		return fragment.KindCompany, true
	case api.OpSearchKeyword:
		return fragment.KindKeyword, true
	case api.OpSearchMulti:
		return kindMulti, true
	}
	return 0, false
}

// compose fills c.answer with the page that q asks for.
func (l *querier) compose(c *composer, rel *release.Reader, q *route.Request) error {
	if kind, ok := changeLists[q.Op]; ok {
		c.changeList(rel, q, kind)
		return nil
	}
	shape := pageShape{sub: fragment.SubRow}
	err := l.find(q, &shape)
	if err != nil {
		return err
	}
	return c.page(&part{rel: rel, q: q}, &shape, &l.res, q.Page)
}

// find runs the query that q stands for.
func (l *querier) find(q *route.Request, s *pageShape) error {
	if kind, ok := searchKind(q.Op); ok {
		return l.search(q, kind, s)
	}
	page := int(q.Page)
	region := q.Region.String()
	var f query.Filter
	kind := fragment.KindMovie
	switch q.Op {
	case api.OpTrendingAll, api.OpTrendingMovies, api.OpTrendingTv, api.OpTrendingPeople:
		return l.trending(q, s)
	case api.OpDiscoverMovie, api.OpDiscoverTv:
		if q.Op == api.OpDiscoverTv {
			kind = fragment.KindTV
		}
		var err error
		if f, err = query.ParseFilter(kind, route.Each(q.Raw)); err != nil {
			return err
		}
	case api.OpLegacyGenreMovies:
		s.id = uint64(q.ID)
		var err error
		if f, err = genreMovies(q); err != nil {
			return err
		}
	case api.OpMoviePopularList:
		f = query.Popular(kind)
	case api.OpMovieTopRatedList:
		f = query.TopRated(kind)
	case api.OpMovieNowPlayingList:
		s.dated = true
		f, s.window = query.NowPlaying(l.day(l.now), region)
	case api.OpMovieUpcomingList:
		s.dated = true
		f, s.window = query.Upcoming(l.day(l.now), region)
	case api.OpPersonPopularList:
		kind, s.knownFor = fragment.KindPerson, true
		f = query.Popular(kind)
	default:
		kind = fragment.KindTV
		var err error
		if f, err = l.series(q); err != nil {
			return err
		}
	}
	if q.Op == api.OpMoviePopularList || q.Op == api.OpMovieTopRatedList {
		f.ShowRegion(region)
	}
	return l.engine.Discover(kind, &f, page, pageRows, &l.res)
}

// genreMovies returns the query of the movies of a genre, an old name of discover.
func genreMovies(q *route.Request) (query.Filter, error) {
	if !slices.Contains(reference.Genres(reference.Movie), int64(q.ID)) {
		return query.Filter{}, &errNotFound
	}
	return query.ParseFilter(fragment.KindMovie, func(yield func(name, value []byte) bool) {
		_ = yield([]byte("with_genres"), strconv.AppendUint(nil, uint64(q.ID), 10)) &&
			yield([]byte("include_adult"), strconv.AppendBool(nil, q.IncludeAdult))
	})
}

// series returns the query of a list of series.
func (l *querier) series(q *route.Request) (query.Filter, error) {
	switch q.Op {
	case api.OpTvSeriesPopularList:
		return query.Popular(fragment.KindTV), nil
	case api.OpTvSeriesTopRatedList:
		return query.TopRated(fragment.KindTV), nil
	}
	day, err := l.dayIn(q.Timezone)
	if err != nil {
		return query.Filter{}, err
	}
	if q.Op == api.OpTvSeriesAiringTodayList {
		return query.AiringToday(day), nil
	}
	return query.OnTheAir(day), nil
}

// zones are the time zones that were asked for. There are a few hundred names.
var zones sync.Map // string -> *time.Location

// dayIn returns the day that it is in a time zone.
func (l *querier) dayIn(zone []byte) (int32, error) {
	name := string(zone)
	if name == "" {
		name = defaultTimezone
	}
	loc, ok := zones.Load(name)
	if !ok {
		loaded, err := time.LoadLocation(name)
		if err != nil || name == "Local" {
			return 0, &errNoTimezone
		}
		loc = loaded
		zones.Store(name, loc)
	}
	if l.fixed {
		return l.day(l.now), nil
	}
	return l.day(l.now.In(loc.(*time.Location))), nil
}

// day returns the day that it is at t, where t is, and notes when it ends.
func (l *querier) day(t time.Time) int32 {
	if !l.fixed {
		y, m, d := t.Date()
		l.until = time.Date(y, m, d+1, 0, 0, 0, 0, t.Location())
	}
	return posting.DayAt(t)
}

// trendingPages is how many pages of trending there are at most, whatever the catalogue has.
const trendingPages = 500

func (l *querier) trending(q *route.Request, s *pageShape) error {
	s.sub, s.maxPages = fragment.SubMediaRow, trendingPages
	week := string(q.Name) == "week"
	if !week && string(q.Name) != "day" {
		return &errNotFound
	}
	kind := map[api.Op]fragment.Kind{
		api.OpTrendingMovies: fragment.KindMovie, api.OpTrendingTv: fragment.KindTV, api.OpTrendingPeople: fragment.KindPerson,
	}[q.Op]
	if q.Op == api.OpTrendingAll {
		kind, s.knownFor = kindMulti, true
	}
	return l.engine.Trending(kind, week, int(q.Page), pageRows, &l.res)
}

func (l *querier) search(q *route.Request, kind fragment.Kind, s *pageShape) error {
	if len(q.Query) == 0 {
		return &errNoQuery
	}
	fuzzy := l.fuzzy
	if q.HasFuzzy {
		fuzzy = q.Fuzzy
	}
	s.knownFor = true
	if kind == kindMulti {
		s.sub = fragment.SubMediaRow
	}
	return l.engine.Search(&query.Search{
		Kind: kind, Query: q.Query, IncludeAdult: q.IncludeAdult, Fuzzy: fuzzy, Region: q.Region.String(),
		Year: int(q.Year), PrimaryYear: int(q.PrimaryYear), FirstAirYear: int(q.FirstAirYear),
	}, int(q.Page), pageRows, &l.res)
}
