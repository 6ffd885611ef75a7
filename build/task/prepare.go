package task

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/reelsplice/reelsplice/build/neighbours"
	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// Prepare tasks, in order: the common part, removed resources, partitions of claims, parts of the tables of
// neighbours.
const (
	prepareCommon = iota
	prepareRemoved
	prepareOwners
)

// ownersPrefix starts the names of files of owners.
const ownersPrefix = "owners-"

// nearPrefix starts the file names of a kind's table of neighbours.
func nearPrefix(kind fragment.Kind) string { return fmt.Sprintf("near-%s-", kind) }

// openPrepare opens the tasks that compute from the survey what titles tasks share: the common part of the release, the
// owners of contested ids, and the tables of neighbours. One writes the part of removed resources.
func openPrepare(b *Build) (tasks, error) {
	survey, err := b.openSorted("", "survey")
	run := func(ctx context.Context, i int, d *taskRecord) error {
		switch {
		case i == prepareCommon:
			return b.writePart(d, commonPart, func(o *output) error { return writeCommon(ctx, survey, o) })
		case i == prepareRemoved:
			return b.writePart(d, b.findPart(b.Plan.Finds), func(o *output) error { return b.writeRemoved(ctx, o) })
		case i < prepareOwners+b.Plan.Finds:
			i -= prepareOwners
			return b.writeSorted(ctx, d, fmt.Sprintf("%s%05d", ownersPrefix, i), 1, func(s *extsort.Sorter) error {
				return survey.groups(ctx, b.Plan.ClaimSection(uint64(i)), func(key []byte, claimants [][]byte) error {
					for range claimants[1:] {
						if fragment.Kind(key[0]) == fragment.KindMovie {
							d.SharedIMDbIDs++
						}
						if err := s.Add(0, key, claimants[0]); err != nil { // duplicates are the newer entries
							return err
						}
					}
					return nil
				})
			})
		}
		kind, part := fragment.KindMovie, i-prepareOwners-b.Plan.Finds // the index of the part in the table of neighbours
		if movies := b.Plan.Near[kind]; part >= movies {
			kind, part = fragment.KindTV, part-movies
		}
		rows, err := survey.merge(ctx, b.Plan.NearSection(kind)+part)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%s%05d", nearPrefix(kind), part)
		err = b.writeFile(d, name, func(path string) error { return neighbours.WritePart(path, rows) })
		return errors.Join(err, rows.Close())
	}
	return tasks{run, survey.close}, err
}

// writeCommon writes the resources that all of a kind share: the defaults and the lists of genres.
func writeCommon(ctx context.Context, survey *sorted, o *output) error {
	for _, t := range catalog.Types() {
		defaults := render.Defaults(t.Kind)
		if len(defaults) == 0 {
			continue
		}
		key := fragment.AppendShared(nil, fragment.KindDefault, t.Kind, "")
		if err := o.addInputs(key, func() []release.FragmentSpec { return defaults }); err != nil {
			return err
		}
	}
	return survey.groups(ctx, work.GenreSection, func(key []byte, payloads [][]byte) error {
		kind, ids := fragment.Kind(key[0]), []int64(nil)
		for list := payloads[0]; len(list) > 0; {
			id, n := binary.Varint(list)
			ids, list = append(ids, id), list[n:]
		}
		key = fragment.AppendShared(nil, fragment.KindGenres, kind, render.GenresName(ids))
		return o.addInputs(key, func() []release.FragmentSpec { return render.SharedGenres(kind, ids) })
	})
}

// writeRemoved writes a resource for each removed one, for comparisons of releases.
func (b *Build) writeRemoved(ctx context.Context, o *output) error {
	var key, removed, target []byte
	for _, r := range b.inputs.Removed {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.Kind == fragment.KindAccount {
			continue // removed accounts are private
		}
		removed = r.Key.Append(removed[:0], r.Kind)
		key = fragment.AppendRemoved(key[:0], removed)
		var list []release.FragmentSpec
		if r.Merged {
			target = r.Into.Append(target[:0], r.Kind)
			o.inputs.Bytes(target)
			list = []release.FragmentSpec{{
				Address: fragment.Address{Sub: fragment.SubMergedInto},
				Pieces:  []release.PieceSpec{{Op: release.OpSegment, Literal: target}},
			}}
		}
		if err := o.addInputs(key, func() []release.FragmentSpec { return list }); err != nil {
			return err
		}
	}
	return nil
}

// owners maps each contested id, by kind, to its owner, the claimant with the lowest key: an IMDb id for a movie, its
// own id for a season or an episode. Any other id belongs to its only claimant.
type owners map[claimedID]catalog.Key

type claimedID struct {
	kind fragment.Kind
	id   uint64
}

// isOwner reports whether a resource that claims an id owns it.
func (o owners) isOwner(kind fragment.Kind, id uint64, k catalog.Key) bool {
	owner, contested := o[claimedID{kind, id}]
	return !contested || owner == k
}

// idAlias returns the alias that finds a season or an episode by its own id, nil if another one owns that.
func (o owners) idAlias(kind fragment.Kind, id int64, k catalog.Key) [][]byte {
	if id < 1 || !o.isOwner(kind, uint64(id), k) {
		return nil
	}
	return [][]byte{fragment.AppendAlias(nil, kind, strconv.FormatInt(id, 10))}
}
