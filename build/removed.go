package build

import (
	"context"
	"slices"

	"reelsplice/build/render"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

// skips returns what tells a cursor over records of a kind to leave out those that are
// removed. They count as done.
func (b *builder) skips(kind fragment.Kind) func(catalog.Key) bool {
	if b.removed.Len() == 0 {
		return nil
	}
	return func(k catalog.Key) bool {
		gone := b.removed.Has(kind, k)
		if gone {
			b.advance(1)
		}
		return gone
	}
}

// dropSeasons takes the seasons that are removed out of the list that a series has.
func (m *seriesMapper) dropSeasons(tv *catalog.TV) {
	if m.b.removed.Len() == 0 {
		return
	}
	tv.Seasons = slices.DeleteFunc(tv.Seasons, func(s catalog.SeasonSummary) bool {
		return m.b.removed.Has(fragment.KindSeason, catalog.SeasonKey(m.id, s.SeasonNumber.V))
	})
}

// dropEpisodes takes the episodes that are removed out of the list that a season has:
// episodes are built from it.
func (m *seriesMapper) dropEpisodes(s *catalog.Season) {
	if m.b.removed.Len() == 0 {
		return
	}
	s.Episodes = slices.DeleteFunc(s.Episodes, func(e catalog.SeasonEpisode) bool {
		return m.b.removed.Has(fragment.KindEpisode, catalog.EpisodeKey(m.id, s.SeasonNumber.V, e.EpisodeNumber.V))
	})
}

// sources returns what the build reads, by name.
func (b *builder) sources() map[string]int64 {
	n := b.records()
	if b.removed.Len() > 0 {
		n[fragment.KindRemoved.String()] = int64(b.removed.Len())
	}
	return n
}

// shardCount returns how many shards the release has: those of the plan, and one for
// what is removed if anything is.
func (b *builder) shardCount() int { return b.plan.shards() + len(b.removedTasks()) }

// removedTasks is the shard that says what is removed; none when nothing is.
func (b *builder) removedTasks() []task {
	if b.removed.Len() == 0 {
		return nil
	}
	return []task{b.writeRemoved}
}

// writeRemoved writes what is removed into the release, for those who compare releases.
func (b *builder) writeRemoved(ctx context.Context, o *output) error {
	var key, of, into []byte
	for _, r := range b.removed.List() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.Kind == fragment.KindAccount {
			continue // which accounts there were is nobody's business
		}
		of = r.Key.Append(of[:0], r.Kind)
		key = fragment.AppendRemoved(key[:0], of)
		var list []render.Fragment
		if r.Merged {
			into = r.Into.Append(into[:0], r.Kind)
			list = []render.Fragment{{
				Address: fragment.Address{Sub: fragment.SubMergedInto},
				Pieces:  []render.Piece{{Op: release.OpSegment, Raw: into}},
			}}
		}
		if err := o.add(o.keySpec(key, 0), list); err != nil {
			return err
		}
	}
	return nil
}
