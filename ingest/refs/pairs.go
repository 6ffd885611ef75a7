package refs

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// A season is known by two numbers, for which bitmaps are large. But the files of series, seasons
// and episodes are all sorted by series, so that references to seasons and the seasons themselves
// pass by side by side.

// seasonNumbers goes through the seasons of the catalogue, series by series.
type seasonNumbers struct {
	heads   *catalog.Heads // nil when there are none left
	next    catalog.Key
	held    bool // next is valid
	series  uint64
	numbers []int64 // of series, ascending
}

func newSeasonNumbers(f *catalog.File) *seasonNumbers {
	if f == nil {
		return &seasonNumbers{}
	}
	return &seasonNumbers{heads: f.Heads(0, f.RowGroups())}
}

// of returns the numbers of a series' seasons. Series must be asked for in ascending order.
func (s *seasonNumbers) of(series uint64) ([]int64, error) {
	if series == s.series {
		return s.numbers, nil
	}
	s.series, s.numbers = series, s.numbers[:0]
	for {
		ok, err := s.peek()
		if err != nil || !ok || s.next.ID() > series {
			return s.numbers, err
		}
		if s.next.ID() == series {
			s.numbers = append(s.numbers, int64(s.next.Season()))
		}
		s.held = false
	}
}

func (s *seasonNumbers) peek() (bool, error) {
	if s.held || s.heads == nil {
		return s.held, nil
	}
	h, err := s.heads.Next()
	if errors.Is(err, io.EOF) {
		s.close()
		return false, nil
	}
	s.next, s.held = h.Key, err == nil
	return s.held, err
}

func (s *seasonNumbers) close() {
	if s.heads != nil {
		s.heads.Close()
		s.heads = nil
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

// withSeasons calls fn with the records of a kind that refer to seasons, read by a selection of
// their fields, and adds the tally of a path to the results.
func (c *checker) withSeasons(ctx context.Context, kind fragment.Kind, path string, fn func(r record.Record, key catalog.Key, t *tally, known []int64)) error {
	f, err := c.open(kind)
	if f == nil || err != nil {
		return err
	}
	defer closeFile(f)
	seasons, err := c.open(fragment.KindSeason)
	if err != nil {
		return err
	}
	defer closeFile(seasons)
	known := newSeasonNumbers(seasons)
	defer known.close()
	t, typ := c.pairs(kind, path), catalog.TypeOf(kind)
	rows := f.Select(append(typ.KeyFields(), path), 0, f.RowGroups())
	var failed error
	err = eachRow(ctx, typ, rows, func(r record.Record, key catalog.Key) {
		have, err := known.of(key.ID())
		failed = cmp.Or(failed, err)
		fn(r, key, t, have)
	})
	c.keep(t)
	return errors.Join(err, failed)
}

// seasonLists adds up the seasons that the details of series list.
func (c *checker) seasonLists(ctx context.Context) error {
	const path = "seasons.season_number"
	numbers, _ := newWalker(catalog.TypeOf(fragment.KindTV).Plan, relation{path: path}, "")
	return c.withSeasons(ctx, fragment.KindTV, path, func(r record.Record, key catalog.Key, t *tally, known []int64) {
		times := map[int64]int64{}
		numbers.each(r, func(n record.Int, _ string) {
			if n.Set {
				times[n.V]++
			} else {
				t.unset++
			}
		})
		for season, n := range times {
			t.pair(int64(key.ID()), season, n, slices.Contains(known, season), key)
		}
	})
}

// episodeSeasons adds up the seasons that records of episodes are of.
func (c *checker) episodeSeasons(ctx context.Context) error {
	var last catalog.Key // the season before; no season has this one
	return c.withSeasons(ctx, fragment.KindEpisode, "season_number", func(_ record.Record, key catalog.Key, t *tally, known []int64) {
		series, season := int64(key.ID()), int64(key.Season())
		found := slices.Contains(known, season)
		if of := catalog.SeasonKey(series, season); of != last {
			last = of
			t.pair(series, season, 1, found, key)
		} else {
			t.again(found)
		}
	})
}
