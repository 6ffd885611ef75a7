package task

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"reelsplice/build/neighbours"
	"reelsplice/build/plan"
	"reelsplice/build/records"
	"reelsplice/build/render"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/extsort"
	"reelsplice/schemas/fragment"
)

// A survey task reads a few columns of the titles of a span: those from which follows what all
// titles share. It writes the lists of genres, the ids that titles, seasons and episodes claim,
// and the features by which titles are neighbours.
type survey struct{ b *Build }

func openSurvey(b *Build) (tasks, error) { return survey{b}, nil }

func (survey) close() error { return nil }

// surveyName returns the name of the output of survey task i.
func surveyName(i int) string { return fmt.Sprintf("survey-%05d", i) }

func (survey) files(i int) (inputs, outputs []string) { return nil, []string{surveyName(i)} }

// surveyCount is the name of the count of the titles whose features a task has written.
const surveyCount = "titles"

func (t survey) run(ctx context.Context, i int, d *Done) (err error) {
	kind, span := t.b.Plan.TitleSpan(i)
	s := extsort.New(extsort.Options{Dir: t.b.Work, Memory: t.b.Memory / 4, Sections: t.b.Plan.SurveySections()})
	defer func() { err = errors.Join(err, s.Close()) }()
	u := &surveyor{b: t.b, s: s, span: span, near: neighbours.NewWriter(s, t.b.Plan.NearSection(kind), t.b.Plan.Near[kind])}
	steps := []func(context.Context) error{u.movies}
	if kind == fragment.KindTV {
		steps = []func(context.Context) error{u.series, u.seasons, u.episodes}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	d.Counts[surveyCount] = u.titles
	return t.b.writeSorted(ctx, s, surveyName(i))
}

// A surveyor is a survey task at work.
type surveyor struct {
	b      *Build
	s      *extsort.Sorter
	span   records.Span
	near   *neighbours.Writer
	titles int64
}

func (u *surveyor) movies(ctx context.Context) error {
	var t neighbours.Title
	key := func(m *surveyMovie) catalog.Key { return catalog.NumberKey(m.ID.V) }
	return records.Each(ctx, u.b.inputs.Of(fragment.KindMovie), u.span, key, func(m *surveyMovie) error {
		if u.b.inputs.Removed.Has(fragment.KindMovie, key(m)) {
			return nil
		}
		id := m.IMDbID.V
		if m.ExternalIDs != nil {
			id = catalog.FirstIMDb(id, m.ExternalIDs.IMDbID.V)
		}
		if n, ok := imdbNumber(id); ok {
			if err := u.claim(fragment.KindMovie, n, key(m)); err != nil {
				return err
			}
		}
		err := u.genres(fragment.KindMovie, m.Genres)
		for i := range m.Localized {
			err = cmp.Or(err, u.genres(fragment.KindMovie, render.EnglishGenres(fragment.KindMovie, m.Localized[i].Genres)))
		}
		m.title(&t)
		u.titles++
		return cmp.Or(err, u.near.Add(&t))
	})
}

func (u *surveyor) series(ctx context.Context) error {
	var t neighbours.Title
	key := func(s *surveyTV) catalog.Key { return catalog.NumberKey(s.ID.V) }
	return records.Each(ctx, u.b.inputs.Of(fragment.KindTV), u.span, key, func(s *surveyTV) error {
		if u.b.inputs.Removed.Has(fragment.KindTV, key(s)) {
			return nil
		}
		err := u.genres(fragment.KindTV, s.Genres)
		for i := range s.Localized {
			err = cmp.Or(err, u.genres(fragment.KindTV, render.EnglishGenres(fragment.KindTV, s.Localized[i].Genres)))
		}
		s.title(&t)
		u.titles++
		return cmp.Or(err, u.near.Add(&t))
	})
}

// genres adds a list of genres, if titles refer to it instead of having a copy.
func (u *surveyor) genres(kind fragment.Kind, list []catalog.Genre) error {
	if !render.ShareGenres(kind, list) {
		return nil
	}
	ids := render.GenreIDs(list)
	var payload []byte
	for _, id := range ids {
		payload = binary.AppendVarint(payload, id)
	}
	return u.s.Add(plan.GenreSection, append([]byte{byte(kind)}, render.GenresName(ids)...), payload)
}

// claim adds that a resource claims an id: an IMDb id for a movie, else its own.
func (u *surveyor) claim(kind fragment.Kind, id uint64, k catalog.Key) error {
	key := binary.BigEndian.AppendUint64([]byte{byte(kind)}, id)
	return u.s.Add(u.b.Plan.ClaimSection(id), key, records.AppendKey(nil, k))
}

// claimOwn is claim of an id in the record of a season or an episode.
func (u *surveyor) claimOwn(kind fragment.Kind, id int64, k catalog.Key) error {
	if id < 1 || u.b.inputs.Removed.Has(kind, k) {
		return nil
	}
	return u.claim(kind, uint64(id), k)
}

func (u *surveyor) seasons(ctx context.Context) error {
	key := func(s *surveySeason) catalog.Key { return catalog.SeasonKey(s.SeriesID.V, s.SeasonNumber.V) }
	return records.Each(ctx, u.b.inputs.Of(fragment.KindSeason), u.span, key, func(s *surveySeason) error {
		err := u.claimOwn(fragment.KindSeason, s.ID.V, key(s))
		for _, e := range s.numbered() {
			k := catalog.EpisodeKey(s.SeriesID.V, s.SeasonNumber.V, e.EpisodeNumber.V)
			err = cmp.Or(err, u.claimOwn(fragment.KindEpisode, e.ID.V, k))
		}
		return err
	})
}

func (u *surveyor) episodes(ctx context.Context) error {
	key := func(e *surveyEpisode) catalog.Key {
		return catalog.EpisodeKey(e.SeriesID.V, e.SeasonNumber.V, e.EpisodeNumber.V)
	}
	return records.Each(ctx, u.b.inputs.Of(fragment.KindEpisode), u.span, key, func(e *surveyEpisode) error {
		return u.claimOwn(fragment.KindEpisode, e.ID.V, key(e))
	})
}

// imdbNumber returns the number in "tt0137523". Ids of another form cannot be asked
// for.
func imdbNumber(id string) (uint64, bool) {
	digits, ok := strings.CutPrefix(id, "tt")
	if !ok || len(digits) < 1 || len(digits) > 18 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}
