package task

import (
	"cmp"
	"context"
	"fmt"

	"github.com/reelsplice/reelsplice/build/plan"
	"github.com/reelsplice/reelsplice/build/records"
	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A resources task builds a partition of the resources that titles contribute to, of their
// records and their contributions. It writes a part of the release, and a file of contributions
// to external ids and tables.
type resources struct {
	b      *Build
	titles *sorted
	latest int64 // highest id of a person
}

func openResources(b *Build) (_ tasks, err error) {
	t := &resources{b: b, latest: b.Plan.Latest[fragment.KindPerson]}
	done, err := b.Read("titles")
	if err != nil {
		return nil, err
	}
	for i := range done {
		t.latest = max(t.latest, done[i].LatestPerson)
	}
	t.titles, err = b.openSorted("", "titles")
	return t, err
}

func (t *resources) close() error { return t.titles.close() }

func (t *resources) run(ctx context.Context, i int, d *Done) error {
	p := t.b.Plan.Partition(i)
	return t.b.contribute(ctx, d, contributionsName("resources", i), func(c *contributor) error {
		return t.b.write(d, t.b.resourcePart(i), func(o *output) error {
			k := &partition{t: t, o: o, c: c, d: d, plan: p, i: i - p.First}
			return builders[p.Kind](ctx, k)
		})
	})
}

// builders build the partitions of each kind.
var builders = map[fragment.Kind]func(context.Context, *partition) error{
	fragment.KindPerson:       mergeBy(buildPerson),
	fragment.KindCollection:   mergeBy(buildCollection),
	fragment.KindCompany:      mergeBy(buildCompany),
	fragment.KindNetwork:      mergeBy(buildNetwork),
	fragment.KindKeyword:      mergeBy(buildKeyword),
	fragment.KindReview:       mergeBy(buildReview),
	fragment.KindCredit:       mergeBy(buildPlain[catalog.Credit]),
	fragment.KindEpisodeGroup: mergeBy(buildPlain[catalog.EpisodeGroupRecord]),
	fragment.KindList:         mergeBy(buildList),
}

func mergeBy[T any](build builder[T]) func(context.Context, *partition) error {
	return func(ctx context.Context, p *partition) error { return merge(ctx, p, build) }
}

// A partition is a resources task at work.
type partition struct {
	t    *resources
	o    *output
	c    *contributor
	d    *Done
	plan *plan.Resources
	i    int // of the kind's partitions
	// fingerprint is that of the record and the contributions at hand, which are all that a builder
	// may render.
	fingerprint uint64
}

// add writes the resource at hand. id is the one that standalone responses have.
func (p *partition) add(key catalog.Key, id uint64, aliases [][]byte, render func() []render.Fragment) error {
	spec := p.o.spec(p.plan.Kind, key, id, p.fingerprint)
	spec.Aliases = aliases
	return p.o.add(spec, render)
}

// derivedCount is the name of the count of resources without a record.
const derivedCount = "derived"

// A builder builds a resource. rec is nil if it has no record; contributions may be empty if it has
// one.
type builder[T any] func(p *partition, key catalog.Key, rec *T, contributions [][]byte) error

// merge builds a partition: the resources of its records T, and of the contributions to them, in the order of their keys.
func merge[T any](ctx context.Context, p *partition, build builder[T]) error {
	it, err := p.t.titles.merge(ctx, p.plan.First+p.i)
	if err != nil {
		return err
	}
	defer it.Close()
	contributed := &grouped{it: it}
	in := records.NewCursor[T](p.t.b.inputs.Of(p.plan.Kind), p.plan.Spans[p.i/p.plan.Subs], nil)
	defer in.Close()
	for {
		key, isRecord := in.Peek()
		for isRecord && p.plan.Sub(key) != p.i%p.plan.Subs {
			in.Leave()
			key, isRecord = in.Peek()
		}
		at, isContributed, err := contributed.peek()
		if err := cmp.Or(ctx.Err(), in.Err(), err, p.c.err); err != nil || !isRecord && !isContributed {
			return err
		}
		if isContributed && (!isRecord || at.Compare(key) < 0) {
			key, isRecord = at, false
		}
		var contributions [][]byte
		if isContributed && at == key {
			if contributions, err = contributed.take(); err != nil {
				return err
			}
		}
		if isRecord {
			p.t.b.advance(1)
		}
		if p.t.b.inputs.Removed.Has(p.plan.Kind, key) {
			if isRecord {
				in.Leave()
			}
			continue
		}
		var rec *T
		if !isRecord {
			p.d.Counts[derivedCount]++
		} else if rec, err = in.Take(); err != nil {
			return fmt.Errorf("%s: %w", key.Describe(p.plan.Kind), err)
		}
		p.o.inputs.Record(record.Of(rec))
		for _, b := range contributions {
			p.o.inputs.Bytes(b)
		}
		p.fingerprint = p.o.inputs.Fingerprint()
		if err := build(p, key, rec, contributions); err != nil {
			return fmt.Errorf("%s: %w", key.Describe(p.plan.Kind), err)
		}
	}
}
