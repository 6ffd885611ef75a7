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

// The prepare tasks compute from the survey what titles tasks share: the common part of the release, the owners of
// contested ids, and the tables of neighbours. One writes the part of removed resources.
type prepare struct {
	b      *Build
	survey *sorted
}

// Prepare tasks, in order: the common part, removed resources, partitions of claims, parts of the tables of
// neighbours.
const (
	prepareCommon = iota
	prepareRemoved
	prepareOwners
)

func prepareTasks(p *work.Plan) int {
	return prepareOwners + p.Finds + p.Near[fragment.KindMovie] + p.Near[fragment.KindTV]
}

func openPrepare(b *Build) (tasks, error) {
	survey, err := b.openSorted("", "survey")
	return tasks{(&prepare{b, survey}).run, survey.close}, err
}

// ownersPrefix starts the names of files of owners.
const ownersPrefix = "owners-"

// nearPrefix starts the file names of a kind's table of neighbours.
func nearPrefix(kind fragment.Kind) string { return fmt.Sprintf("near-%s-", kind) }

func (t *prepare) run(ctx context.Context, i int, d *taskRecord) error {
	switch {
	case i == prepareCommon:
		return t.b.writePart(d, commonPart, func(o *output) error { return t.common(ctx, o) })
	case i == prepareRemoved:
		return t.b.writePart(d, t.b.removedPart(), func(o *output) error { return t.removed(ctx, o) })
	case i < prepareOwners+t.b.Plan.Finds:
		return t.owners(ctx, i-prepareOwners, d)
	}
	kind, part := fragment.KindMovie, i-prepareOwners-t.b.Plan.Finds // the index of the part in the table of neighbours
	if movies := t.b.Plan.Near[kind]; part >= movies {
		kind, part = fragment.KindTV, part-movies
	}
	rows, err := t.survey.merge(ctx, t.b.Plan.NearSection(kind)+part)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s%05d", nearPrefix(kind), part)
	err = t.b.writeFile(d, name, func(path string) error { return neighbours.WritePart(path, rows) })
	return errors.Join(err, rows.Close())
}

// common writes the resources that all of a kind share: the defaults and the lists of genres.
func (t *prepare) common(ctx context.Context, o *output) error {
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
	return t.survey.groups(ctx, work.GenreSection, func(key []byte, payloads [][]byte) error {
		kind, ids := fragment.Kind(key[0]), []int64(nil)
		for list := payloads[0]; len(list) > 0; {
			id, n := binary.Varint(list)
			ids, list = append(ids, id), list[n:]
		}
		return o.addInputs(render.GenresKey(kind, ids), func() []release.FragmentSpec { return render.SharedGenres(kind, ids) })
	})
}

// removed writes a resource for each removed one, for comparisons of releases.
func (t *prepare) removed(ctx context.Context, o *output) error {
	var key, removed, target []byte
	for _, r := range t.b.inputs.Removed {
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

// owners finds the ids of a partition that several resources claim. The lowest key owns such an id: duplicates are
// the newer entries.
func (t *prepare) owners(ctx context.Context, i int, d *taskRecord) error {
	return t.b.writeSorted(ctx, d, fmt.Sprintf("%s%05d", ownersPrefix, i), 1, func(s *extsort.Sorter) error {
		return t.survey.groups(ctx, t.b.Plan.ClaimSection(uint64(i)), func(key []byte, claimants [][]byte) error {
			for range claimants[1:] {
				if fragment.Kind(key[0]) == fragment.KindMovie {
					d.SharedIMDbIDs++
				}
				if err := s.Add(0, key, claimants[0]); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// owners maps each contested id, by kind, to its owner: an IMDb id for a movie, its own id for a season or an
// episode. Any other id belongs to its only claimant.
type owners map[claimedID]catalog.Key

type claimedID struct {
	kind fragment.Kind
	id   uint64
}

// readOwners reads the contested ids.
func readOwners(b *Build) (owners, error) {
	s, err := b.openSorted(ownersPrefix, "prepare")
	if err != nil {
		return nil, err
	}
	o := owners{}
	err = s.groups(context.Background(), 0, func(key []byte, owner [][]byte) error {
		o[claimedID{fragment.Kind(key[0]), binary.BigEndian.Uint64(key[1:])}] = work.ParseKey(owner[0])
		return nil
	})
	return o, errors.Join(err, s.close())
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
