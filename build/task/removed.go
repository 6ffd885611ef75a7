package task

import (
	"context"
	"slices"

	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// skip returns what makes a cursor over records of a kind leave out removed ones, nil for nothing.
// They count as done.
func (b *Build) skip(kind fragment.Kind) func(catalog.Key) bool {
	if len(b.inputs.Removed) == 0 {
		return nil
	}
	return func(k catalog.Key) bool {
		gone := b.inputs.Removed.Has(kind, k)
		if gone {
			b.advance(1)
		}
		return gone
	}
}

// seasonsLeft returns a series without removed seasons in its lists.
func (m *seriesBuilder) seasonsLeft(given *catalog.TV) *catalog.TV {
	left := func(list []catalog.SeasonSummary) []catalog.SeasonSummary {
		return slices.DeleteFunc(slices.Clone(list), func(s catalog.SeasonSummary) bool {
			return m.t.b.inputs.Removed.Has(fragment.KindSeason, catalog.SeasonKey(m.id, s.SeasonNumber.V))
		})
	}
	tv := *given
	tv.Seasons, tv.Localized = left(tv.Seasons), slices.Clone(tv.Localized)
	for i := range tv.Localized {
		tv.Localized[i].Seasons = left(tv.Localized[i].Seasons)
	}
	return &tv
}

// episodesLeft returns a season without removed episodes in its lists: episodes are built from them.
func (m *seriesBuilder) episodesLeft(given *catalog.Season) *catalog.Season {
	left := func(list []catalog.SeasonEpisode) []catalog.SeasonEpisode {
		return slices.DeleteFunc(slices.Clone(list), func(e catalog.SeasonEpisode) bool {
			return m.t.b.inputs.Removed.Has(fragment.KindEpisode, catalog.EpisodeKey(m.id, given.SeasonNumber.V, e.EpisodeNumber.V))
		})
	}
	s := *given
	s.Episodes, s.Localized = left(s.Episodes), slices.Clone(s.Localized)
	for i := range s.Localized {
		s.Localized[i].Episodes = left(s.Localized[i].Episodes)
	}
	return &s
}

// writeRemoved writes a resource for each removed one, for those who compare releases.
func (b *Build) writeRemoved(ctx context.Context, o *output) error {
	var key, of, into []byte
	for _, r := range b.inputs.Removed {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.Kind == fragment.KindAccount {
			continue // accounts of the past are private
		}
		of = r.Key.Append(of[:0], r.Kind)
		key = fragment.AppendRemoved(key[:0], of)
		var list []render.Fragment
		if r.Merged {
			into = r.Into.Append(into[:0], r.Kind)
			o.inputs.Bytes(into)
			list = []render.Fragment{{
				Address: fragment.Address{Sub: fragment.SubMergedInto},
				Pieces:  []render.Piece{{Op: release.OpSegment, Raw: into}},
			}}
		}
		spec := release.ResourceSpec{Key: key, Fingerprint: o.inputs.Fingerprint()}
		if err := o.Add(spec, func() []render.Fragment { return list }); err != nil {
			return err
		}
	}
	return nil
}
