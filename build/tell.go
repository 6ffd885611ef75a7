package build

import (
	"context"
	"errors"
	"iter"
	"path/filepath"

	"reelsplice/build/ledger"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

// goneName is the name, inside a release's folder, of a ledger that has an entry for each
// resource of the reduce stage that is removed.
const goneName = "ledger-gone"

// tell delivers what titles say, in a build that keeps: they have said nothing to the reduce
// stage yet. It is read from the ledgers of this build, and delivered of those resources
// alone that are stale.
func (b *builder) tell(ctx context.Context, w *release.Writer) error {
	people, err := b.staleGone()
	if err != nil {
		return err
	}
	if b.untold.Load() {
		b.stale.addAll() // who knows what was said
	}
	if err := b.surveyAll(ctx); err != nil {
		return err
	}
	if len(people) > 0 {
		if err := b.eachTitleShard(ctx, w, func(r *ledger.Reader) error { return b.staleCredits(r, people) }); err != nil {
			return err
		}
	}
	return b.eachTitleShard(ctx, w, b.tellShard)
}

// eachTitleShard calls fn with the ledgers of this build that tell of titles.
func (b *builder) eachTitleShard(ctx context.Context, w *release.Writer, fn func(*ledger.Reader) error) error {
	return b.atOnce(ctx, b.plan.titleShards(), func(_ context.Context, i int) error {
		r, err := ledger.Open(w.Aside(ledgerName(1+i)), b.mark)
		if err != nil {
			return err
		}
		defer r.Close()
		return fn(r)
	})
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
	first := 1 + b.plan.titleShards()
	for _, kind := range b.plan.reduceOrder {
		p := b.plan.reduce[kind]
		err := b.atOnce(ctx, p.partitions(), func(_ context.Context, i int) error {
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
		if _, ok := r.Find(last, sum); !ok {
			keys = append(keys, staleKey(p.kind, last))
		}
	}
	if r.Err() != nil {
		b.stale.addAll() // some of it is not known
	}
	b.stale.add(keys)
	return c.err
}

// writeGone writes what is removed, for the next build.
func (b *builder) writeGone(w *release.Writer) error {
	l, err := ledger.Create(w.Aside(goneName), b.mark)
	if err != nil {
		return err
	}
	for key := range b.gone() {
		l.Begin([]byte(key), 0)
		err = errors.Join(err, l.End())
	}
	return errors.Join(err, l.Close())
}

// gone returns the resources of the reduce stage that are removed, in order: the byte of the
// kind and the key.
func (b *builder) gone() iter.Seq[string] {
	return func(yield func(string) bool) {
		var key []byte
		for _, r := range b.removed.List() {
			if b.plan.reduce[r.Kind] == nil {
				continue
			}
			if key = appendKey(append(key[:0], byte(r.Kind)), r.Key); !yield(string(key)) {
				return
			}
		}
	}
}

// staleGone makes stale what is removed and was not, and the other way round. It returns the
// people among them. When that is not known, everything is stale.
func (b *builder) staleGone() (people map[catalog.Key]bool, err error) {
	changed := map[string]bool{}
	for key := range b.gone() {
		changed[key] = true
	}
	r, err := ledger.Open(filepath.Join(b.previousDir(), goneName), b.recalled)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	err = r.Each(func(e ledger.Entry) error {
		if key := string(e.Key()); changed[key] {
			delete(changed, key)
		} else {
			changed[key] = true
		}
		return nil
	})
	if err != nil {
		b.stale.addAll()
		return nil, nil
	}
	people = map[catalog.Key]bool{}
	var keys []uint64
	for key := range changed {
		kind := fragment.Kind(key[0])
		if keys = append(keys, staleKey(kind, []byte(key[1:]))); kind == fragment.KindPerson {
			people[parseKey([]byte(key[1:]))] = true
		}
	}
	b.stale.add(keys)
	return people, nil
}

// staleCredits makes the credits of people who are gone, or are back, stale.
func (b *builder) staleCredits(r *ledger.Reader, people map[catalog.Key]bool) error {
	var keys []uint64
	err := r.Each(func(entry ledger.Entry) error {
		said, err := entry.Said()
		changed := false
		for n := (ledger.Note{}); said.Next(&n); {
			kind := fragment.Kind(n.Kind)
			if kind != fragment.KindCredit {
				changed = kind == fragment.KindPerson && people[parseKey(n.Key)]
			} else if changed {
				keys = append(keys, staleKey(kind, n.Key))
			}
		}
		return err
	})
	b.stale.add(keys)
	return err
}
