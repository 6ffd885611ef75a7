package build

import (
	"context"
	"errors"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"reelsplice/build/ledger"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

// errUnkept says that the release before is not as its ledgers say: nothing can be kept.
var errUnkept = errors.New("the previous release is not what its ledgers tell")

// goneName is the name, inside a release's folder, of a ledger that has an entry for each
// person who is removed.
const goneName = "ledger-gone"

// tell delivers what titles say, in a build that keeps: titles that are kept have said
// nothing yet. It is read from the ledgers of this build, and delivered of those resources
// alone that are stale.
func (b *builder) tell(ctx context.Context, w *release.Writer) error {
	if err := b.writeGone(w); err != nil || !b.keeping {
		return err
	}
	gone, err := b.changedGone()
	if err != nil {
		return err
	}
	if b.untold.Load() {
		b.stale.addAll() // who knows what was said
	}
	if err := b.surveyAll(ctx); err != nil {
		return err
	}
	if len(gone) > 0 {
		if err := b.eachTitleShard(ctx, w, func(r *ledger.Reader) error { return b.staleCredits(r, gone) }); err != nil {
			return err
		}
	}
	return b.eachTitleShard(ctx, w, b.tellShard)
}

// isTitles tells whether a shard has titles.
func (b *builder) isTitles(shard int) bool {
	return shard > 0 && shard <= len(b.plan.movies)+len(b.plan.series)
}

// eachTitleShard calls fn with the ledgers of this build that tell of titles.
func (b *builder) eachTitleShard(ctx context.Context, w *release.Writer, fn func(*ledger.Reader) error) error {
	return b.atOnce(ctx, len(b.plan.movies)+len(b.plan.series), func(i int) error {
		r, err := ledger.Open(w.Aside(ledgerName(1+i)), b.mark)
		if err != nil {
			return err
		}
		defer r.Close()
		return fn(r)
	})
}

// atOnce calls fn with the numbers below n, as many at once as there are workers.
func (b *builder) atOnce(ctx context.Context, n int, fn func(i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(b.workers())
	for i := range n {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return fn(i)
		})
	}
	return g.Wait()
}

// tellShard delivers what the titles of a shard say.
func (b *builder) tellShard(r *ledger.Reader) error {
	e := b.newTeller()
	err := r.Each(func(entry ledger.Entry) error {
		said, err := entry.Said()
		for n := (ledger.Note{}); said.Next(&n); {
			e.deliver(fragment.Kind(n.Kind), n.Key, n.Payload)
		}
		return errors.Join(err, e.err)
	})
	return errors.Join(err, e.close())
}

// surveyAll finds the resources of the reduce stage whose records are others than in the
// release before, or come or go.
func (b *builder) surveyAll(ctx context.Context) error {
	first := 1 + len(b.plan.movies) + len(b.plan.series)
	for _, kind := range b.plan.reduceOrder {
		p := b.plan.reduce[kind]
		err := b.atOnce(ctx, p.partitions(), func(i int) error {
			r, err := ledger.Open(filepath.Join(b.previousDir(), ledgerName(first+p.first+i)), b.recalled)
			if err != nil {
				return err
			}
			defer r.Close()
			return b.survey(p, i, r)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// survey is surveyAll for a partition, whose ledger r is.
func (b *builder) survey(p *reducePlan, i int, r *ledger.Reader) error {
	c := newCursor[struct{}](b.inputs[p.kind], p.spans[i/p.subs])
	defer c.close()
	var last []byte
	var keys []uint64
	for {
		at, isRecord := nextIn(c, p, i%p.subs)
		old := r.After(last)
		if !isRecord && old == nil {
			break
		}
		key := at
		if !isRecord || old != nil && parseKey(old).Compare(at) < 0 {
			key = parseKey(old)
		}
		last = appendKey(last[:0], key)
		var sum uint64
		if isRecord && key == at {
			sum = c.sum()
			c.leave()
		}
		if _, ok := r.Find(last, b.recordSum(p.kind, key, sum)); !ok {
			keys = append(keys, staleKey(p.kind, last))
		}
	}
	if r.Err() != nil {
		b.stale.addAll() // some of it is not known
	}
	b.stale.add(keys)
	return c.err
}

// recordSum returns the sum of a unit of the reduce stage, but for what titles say, from
// that of its record.
func (b *builder) recordSum(kind fragment.Kind, key catalog.Key, record uint64) uint64 {
	return markBest(record, b.share.has(kind, int64(key.ID())))
}

// writeGone writes who is removed, for the next build.
func (b *builder) writeGone(w *release.Writer) error {
	l, err := ledger.Create(w.Aside(goneName), b.mark)
	if err != nil {
		return err
	}
	var key []byte
	for _, r := range b.removed.List() {
		if r.Kind == fragment.KindPerson {
			key = appendKey(key[:0], r.Key)
			l.Begin(key, 0)
			err = errors.Join(err, l.End())
		}
	}
	return errors.Join(err, l.Close())
}

// changedGone returns the people who are removed and were not, or the other way round. When
// that is not known, everything is stale.
func (b *builder) changedGone() (map[catalog.Key]bool, error) {
	changed := map[catalog.Key]bool{}
	for _, r := range b.removed.List() {
		if r.Kind == fragment.KindPerson {
			changed[r.Key] = true
		}
	}
	r, err := ledger.Open(filepath.Join(b.previousDir(), goneName), b.recalled)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	err = r.Each(func(e ledger.Entry) error {
		if k := parseKey(e.Key()); changed[k] {
			delete(changed, k)
		} else {
			changed[k] = true
		}
		return nil
	})
	if err != nil {
		b.stale.addAll()
		return nil, nil
	}
	return changed, nil
}

// staleCredits makes the people who are gone, or are back, and their credits stale.
func (b *builder) staleCredits(r *ledger.Reader, gone map[catalog.Key]bool) error {
	var keys []uint64
	err := r.Each(func(entry ledger.Entry) error {
		said, err := entry.Said()
		isGone := false
		for n := (ledger.Note{}); said.Next(&n); {
			kind := fragment.Kind(n.Kind)
			if kind != fragment.KindCredit {
				isGone = kind == fragment.KindPerson && gone[parseKey(n.Key)]
			}
			if isGone {
				keys = append(keys, staleKey(kind, n.Key))
			}
		}
		return err
	})
	b.stale.add(keys)
	return err
}
