package task

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/build/derive"
	"github.com/reelsplice/reelsplice/build/neighbours"
	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// survey reads a few columns of the titles of a span and writes data that all titles share: lists of genres, ids that
// titles, seasons and episodes claim, and the features for neighbours.
func survey(ctx context.Context, b *Build, i int, d *taskRecord) error {
	kind, span := b.Plan.TitleSpan(i)
	return b.writeSorted(ctx, d, fmt.Sprintf("survey-%05d", i), b.Plan.SurveySections(), func(s *extsort.Sorter) error {
		u := &surveyor{b, s}
		near := neighbours.NewWriter(s, b.Plan.NearSection(kind), b.Plan.Near[kind])
		var t neighbours.Title
		if kind == fragment.KindMovie {
			return work.Each(ctx, b.inputs.Of(kind), span, movieFields, func(k catalog.Key, m *catalog.Movie) error {
				var err error
				if n, ok := imdbNumber(catalog.IMDbOf(m)); ok {
					err = u.claim(kind, n, k)
				}
				err = cmp.Or(err, u.genres(kind, m.Genres))
				for i := range m.Localized {
					err = cmp.Or(err, u.genres(kind, complete.Genres(kind, m.Localized[i].Genres, "en", "")))
				}
				t.SetMovie(complete.Base(m))
				d.Count++
				return cmp.Or(err, near.Add(&t))
			})
		}
		err := work.Each(ctx, b.inputs.Of(kind), span, seriesFields, func(_ catalog.Key, s *catalog.TV) error {
			err := u.genres(kind, s.Genres)
			for i := range s.Localized {
				err = cmp.Or(err, u.genres(kind, complete.Genres(kind, s.Localized[i].Genres, "en", "")))
			}
			t.SetSeries(complete.Base(s))
			d.Count++
			return cmp.Or(err, near.Add(&t))
		})
		if err != nil {
			return err
		}
		err = work.Each(ctx, b.inputs.Of(fragment.KindSeason), span, seasonFields, func(k catalog.Key, s *catalog.Season) error {
			s = complete.Base(s).V()
			err := u.claimID(fragment.KindSeason, s.ID.V, k)
			seen := map[int64]bool{} // same as in completeSeason
			for i := range s.Episodes {
				n := s.Episodes[i].EpisodeNumber
				if !derive.IsNumber(n) || seen[n.V] {
					continue
				}
				seen[n.V] = true
				err = cmp.Or(err, u.claimID(fragment.KindEpisode, s.Episodes[i].ID.V, catalog.EpisodeKey(int64(k.ID()), int64(k.Season()), n.V)))
			}
			return err
		})
		if err != nil {
			return err
		}
		return work.Each(ctx, b.inputs.Of(fragment.KindEpisode), span, []string{"id"}, func(k catalog.Key, e *catalog.Episode) error {
			return u.claimID(fragment.KindEpisode, e.ID.V, k)
		})
	})
}

// Fields of titles that a survey reads. Some may exist only in crawls of other languages: see complete.Base.
var (
	movieFields = []string{
		"adult", "belongs_to_collection.id", "genres", "imdb_id", "popularity", "vote_count",
		"credits.cast.id", "credits.crew.id", "credits.crew.job", "external_ids.imdb_id", "keywords.keywords.id",
		"localized.language", "localized.belongs_to_collection.id", "localized.genres",
		"localized.credits.cast.id", "localized.credits.crew.id", "localized.credits.crew.job",
	}
	seriesFields = []string{
		"adult", "created_by.id", "genres", "popularity", "vote_count",
		"aggregate_credits.cast.id", "aggregate_credits.crew.id", "aggregate_credits.crew.jobs.job",
		"credits.cast.id", "credits.crew.id", "credits.crew.job", "keywords.results.id",
		"localized.language", "localized.created_by.id", "localized.genres", "localized.aggregate_credits.cast.id", "localized.aggregate_credits.crew.id",
		"localized.aggregate_credits.crew.jobs.job", "localized.credits.cast.id", "localized.credits.crew.id", "localized.credits.crew.job",
	}
	seasonFields = []string{
		"id", "episodes.episode_number", "episodes.id",
		"localized.language", "localized.episodes.episode_number", "localized.episodes.id",
	}
)

// A surveyor adds genres and claims to the output of a survey task.
type surveyor struct {
	b *Build
	s *extsort.Sorter
}

// genres adds a list of genres, if titles refer to it instead of containing a copy.
func (u *surveyor) genres(kind fragment.Kind, list []catalog.Genre) error {
	if !render.ShareGenres(kind, list) {
		return nil
	}
	ids := render.GenreIDs(list)
	var payload []byte
	for _, id := range ids {
		payload = binary.AppendVarint(payload, id)
	}
	return u.s.Add(work.GenreSection, append([]byte{byte(kind)}, render.GenresName(ids)...), payload)
}

// claim records that a resource claims an id: a movie its IMDb id, others their own.
func (u *surveyor) claim(kind fragment.Kind, id uint64, k catalog.Key) error {
	key := binary.BigEndian.AppendUint64([]byte{byte(kind)}, id)
	return u.s.Add(u.b.Plan.ClaimSection(id), key, work.AppendKey(nil, k))
}

// claimID claims the id in the record of a season or an episode.
func (u *surveyor) claimID(kind fragment.Kind, id int64, k catalog.Key) error {
	if id < 1 || u.b.inputs.Removed.Has(kind, k) {
		return nil
	}
	return u.claim(kind, uint64(id), k)
}

// imdbNumber returns the number in "tt0137523". Ids of another form cannot be requested.
func imdbNumber(id string) (uint64, bool) {
	digits, ok := strings.CutPrefix(id, "tt")
	if !ok || len(digits) < 1 || len(digits) > 18 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}
