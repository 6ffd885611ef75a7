package refs

import (
	"context"
	"errors"
	"io"
	"slices"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// Seasons are known by two numbers, of which no bitmap is small. But the files of
// series, seasons and episodes are all sorted by series, so that what refers to
// seasons and the seasons themselves pass by side by side.

// seasonNumbers goes through the seasons of the catalogue, series by series.
type seasonNumbers struct {
	rows    *catalog.Rows // nil when there are none
	next    seasonID
	held    bool // next is valid
	series  int64
	numbers []int64 // of series, ascending
}

type seasonID struct {
	record.Object
	SeasonNumber record.Int `record:"season_number"`
	SeriesID     record.Int `record:"series_id,own"`
}

func newSeasonNumbers(f *catalog.File) *seasonNumbers {
	if f == nil {
		return &seasonNumbers{}
	}
	return &seasonNumbers{rows: f.Project(record.SchemaOf[seasonID]())}
}

// of returns the numbers of a series' seasons. Series must be asked for in ascending
// order.
func (s *seasonNumbers) of(series int64) ([]int64, error) {
	if series == s.series {
		return s.numbers, nil
	}
	s.series, s.numbers = series, s.numbers[:0]
	for {
		ok, err := s.peek()
		if err != nil || !ok || s.next.SeriesID.V > series {
			return s.numbers, err
		}
		if s.next.SeriesID.V == series {
			s.numbers = append(s.numbers, s.next.SeasonNumber.V)
		}
		s.held = false
	}
}

func (s *seasonNumbers) peek() (bool, error) {
	if s.held || s.rows == nil {
		return s.held, nil
	}
	err := s.rows.Next(record.Of(&s.next))
	if errors.Is(err, io.EOF) {
		s.close()
		return false, nil
	}
	s.held = err == nil
	return s.held, err
}

func (s *seasonNumbers) close() {
	if s.rows != nil {
		s.rows.Close()
		s.rows = nil
	}
}

// pairs returns a tally of references to seasons, which counts distinct ones itself.
func (c *checker) pairs(kind fragment.Kind, path string) *tally {
	return &tally{kind: kind, path: path, target: c.targets[targetKey{kind: fragment.KindSeason}]}
}

// pair adds n references to a season that was not referred to before.
func (t *tally) pair(series, season, n int64, found bool, by catalog.Key) {
	t.references += n
	t.distinct++
	if !found {
		t.dangling += n
		t.missing++
		t.sample(dangling{catalog.SeasonKey(series, season), by})
	}
}

// again adds a reference to the season that was referred to last.
func (t *tally) again(found bool) {
	t.references++
	if !found {
		t.dangling++
	}
}

// keep puts a tally among the results if there is anything in it.
func (c *checker) keep(t *tally) {
	if t.references+t.unset > 0 {
		c.done = append(c.done, t)
	}
}

// seasonList is the seasons that the details of a series list.
type seasonList struct {
	record.Object
	ID      record.Int   `record:"id"`
	Seasons []seasonInTV `record:"seasons"`
}

type seasonInTV struct {
	record.Object
	SeasonNumber record.Int `record:"season_number"`
}

// scanSeasonLists adds up the seasons that the details of series list.
func scanSeasonLists(ctx context.Context, c *checker) error {
	f, err := c.open(fragment.KindTV)
	if f == nil || err != nil {
		return err
	}
	defer closeFile(f)
	seasons, err := c.open(fragment.KindSeason)
	if err != nil {
		return err
	}
	defer closeFile(seasons)
	t := c.pairs(fragment.KindTV, "seasons.season_number")
	known := newSeasonNumbers(seasons)
	defer known.close()
	err = eachRow(ctx, f.Project(record.SchemaOf[seasonList]()), func(row *seasonList) error {
		have, err := known.of(row.ID.V)
		for season, n := range row.numbers(t) {
			t.pair(row.ID.V, season, n, slices.Contains(have, season), catalog.NumberKey(row.ID.V))
		}
		return err
	})
	c.keep(t)
	return err
}

// numbers returns how often each season is listed, and counts in t those without a
// number.
func (r *seasonList) numbers(t *tally) map[int64]int64 {
	times := map[int64]int64{}
	for _, s := range r.Seasons {
		if s.SeasonNumber.Set {
			times[s.SeasonNumber.V]++
		} else {
			t.unset++
		}
	}
	return times
}

// scanEpisodeSeasons adds up the seasons that records of episodes are of.
func scanEpisodeSeasons(ctx context.Context, c *checker) error {
	f, err := c.open(fragment.KindEpisode)
	if f == nil || err != nil {
		return err
	}
	defer closeFile(f)
	seasons, err := c.open(fragment.KindSeason)
	if err != nil {
		return err
	}
	defer closeFile(seasons)
	t := c.pairs(fragment.KindEpisode, "season_number")
	known := newSeasonNumbers(seasons)
	defer known.close()
	var last catalog.Key // of the season before; no season has this one
	err = eachRow(ctx, f.Project(record.SchemaOf[episodeID]()), func(row *episodeID) error {
		series, season := row.SeriesID.V, row.SeasonNumber.V
		have, err := known.of(series)
		found := slices.Contains(have, season)
		if key := catalog.SeasonKey(series, season); key != last {
			last = key
			t.pair(series, season, 1, found, catalog.EpisodeKey(series, season, row.EpisodeNumber.V))
		} else {
			t.again(found)
		}
		return err
	})
	c.keep(t)
	return err
}

type episodeID struct {
	record.Object
	EpisodeNumber record.Int `record:"episode_number"`
	SeasonNumber  record.Int `record:"season_number"`
	SeriesID      record.Int `record:"series_id,own"`
}
