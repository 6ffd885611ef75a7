package index

import (
	"slices"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// A Series is a series with what its seasons and episodes contribute.
type Series struct {
	TV complete.Record[catalog.TV]
	// Cast and Crew are ids of people, of the series, its seasons and its episodes.
	Cast, Crew []int64
	Aired      []string // the dates of all its episodes, specials too
	Runtime    int64    // the most frequent one of its episodes, in minutes; 0 when unknown
}

// Series adds a series. Without episodes, the days on the air are its first and its last.
func (w *Writer) Series(s Series) error {
	t := s.TV.V()
	r := w.start(uint64(t.ID.V), t.Popularity.V)
	r.fields(fragment.KindTV, record.Of(t))
	r.is(tables.Adult, t.Adult.V)
	r.is(tables.Softcore, t.Softcore.V)
	r.is(tables.ScreenedTheatrically, t.ScreenedTheatrically != nil && len(t.ScreenedTheatrically.Results) > 0)
	r.set(tables.Runtime, s.Runtime) // the API's own record of the series lacks it
	if len(t.EpisodeRunTime) > 0 {
		r.set(tables.Runtime, t.EpisodeRunTime[0])
	}
	r.texts[tables.Title], r.texts[tables.OriginalTitle] = SortKey(t.Name.V), SortKey(t.OriginalName.V)
	for _, id := range s.Cast {
		r.inID(tables.Cast, id)
	}
	for _, id := range s.Crew {
		r.inID(tables.Crew, id)
	}
	r.numbered(tables.Status, statuses[:], t.Status.V)
	r.numbered(tables.SeriesType, types[:], t.Type.V)
	r.offers(t.WatchProviders)
	r.ratings(t.ContentRatings)
	r.aired(t, s.Aired)
	return w.add(fragment.KindTV)
}

// statuses and types have numbers in discover: their places here.
var (
	statuses = [...]string{"Returning Series", "Planned", "In Production", "Ended", "Canceled", "Pilot"}
	types    = [...]string{"Documentary", "News", "Miniseries", "Reality", "Scripted", "Talk Show", "Video"}
)

func (r *row) numbered(list tables.ColumnID, names []string, name string) {
	if i := slices.Index(names, name); i >= 0 {
		r.in(list, uint64(i))
	}
}

func (r *row) ratings(c *catalog.ContentRatings) {
	if c == nil {
		return
	}
	for i := range c.Results {
		r.certified(c.Results[i].ISO3166.V, c.Results[i].Rating.V)
	}
}

// aired adds the days on the air.
func (r *row) aired(t *catalog.TV, dates []string) {
	for _, date := range dates {
		if at, ok := posting.DayOf(date); ok {
			r.shown(at)
		}
	}
	for _, e := range []*catalog.EpisodeSummary{t.LastEpisodeToAir, t.NextEpisodeToAir} {
		if e == nil {
			continue
		}
		if at, ok := posting.DayOf(e.AirDate.V); ok {
			r.shown(at)
		}
	}
	first, began := posting.DayOf(t.FirstAirDate.V)
	if began {
		r.numbers[tables.Day] = int64(first)
		r.year(first)
	}
	if len(r.releases) > 0 {
		return
	}
	if began {
		r.shown(first)
	}
	if last, ok := posting.DayOf(t.LastAirDate.V); ok {
		r.shown(last)
	}
}
