package refs

import (
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// A collector adds up the references of some records of one kind. One goroutine uses it.
type collector struct {
	*checker
	kind    fragment.Kind
	tallies map[tallyKey]*tally
}

type tallyKey struct {
	path   string
	target targetKey
}

// tally returns that of a path and a target, which exists from then on.
func (c *collector) tally(path string, to targetKey) *tally {
	k := tallyKey{path, to}
	t, ok := c.tallies[k]
	if !ok {
		if c.tallies == nil {
			c.tallies = map[tallyKey]*tally{}
		}
		t = &tally{kind: c.kind, path: path, target: c.targets[to], seen: roaring64.New()}
		c.tallies[k] = t
	}
	return t
}

// record adds the references of a record.
func (c *collector) record(r record.Record, by catalog.Key, walkers []walker) {
	for i := range walkers {
		w := &walkers[i]
		w.each(r, func(id record.Int, media string) {
			to := targetKey{w.to, w.how == genre}
			switch media {
			case "":
			case "movie":
				to.kind = fragment.KindMovie
			case "tv":
				to.kind = fragment.KindTV
			default:
				return // other media are not checked
			}
			if t := c.tally(w.path, to); id.Set {
				t.add(id.V, by)
			} else {
				t.unset++
			}
		})
	}
}

// merge adds the tallies of o, which must not be used afterwards.
func (c *collector) merge(o *collector) {
	for k, t := range o.tallies {
		c.tally(k.path, k.target).merge(t)
	}
}

// A tally adds up the references of one field to one kind.
type tally struct {
	kind                        fragment.Kind
	path                        string
	target                      *target
	references, dangling, unset int64
	seen                        *roaring64.Bitmap // nil for pairs, which are counted as they come
	distinct, missing           int64             // of pairs
	first                       []dangling        // the lowest MaxSamples, in order
}

// dangling is an id without a record, and the first record that refers to it.
type dangling struct{ id, by catalog.Key }

func (t *tally) add(id int64, by catalog.Key) {
	t.references++
	t.seen.Add(uint64(id))
	if !t.target.known.Contains(uint64(id)) {
		t.dangling++
		t.sample(dangling{catalog.NumberKey(id), by})
	}
}

// sample keeps d if it is among the first.
func (t *tally) sample(d dangling) {
	at, found := slices.BinarySearchFunc(t.first, d, func(a, b dangling) int { return a.id.Compare(b.id) })
	switch {
	case found:
		if d.by.Compare(t.first[at].by) < 0 {
			t.first[at].by = d.by
		}
	case at < MaxSamples:
		t.first = slices.Insert(t.first, at, d)
		t.first = t.first[:min(len(t.first), MaxSamples)]
	}
}

func (t *tally) merge(o *tally) {
	t.references += o.references
	t.dangling += o.dangling
	t.unset += o.unset
	t.distinct += o.distinct
	t.missing += o.missing
	if t.seen != nil {
		t.seen.Or(o.seen)
	}
	for _, d := range o.first {
		t.sample(d)
	}
}

func (t *tally) relation(removed Removed) Relation {
	r := Relation{
		Kind: t.kind.String(), Path: t.path, Target: t.target.name(), TargetRecords: t.target.records,
		References: t.references, Dangling: t.dangling, Unset: t.unset, Distinct: t.distinct, Missing: t.missing,
	}
	if t.seen != nil {
		r.Distinct = int64(t.seen.GetCardinality())
		r.Missing = r.Distinct - int64(t.seen.AndCardinality(t.target.known))
		r.Removed = t.removed(removed)
	}
	if r.Distinct > 0 {
		r.MissingShare = float64(r.Missing) / float64(r.Distinct)
	}
	for _, d := range t.first {
		r.Samples = append(r.Samples, Sample{
			ID: t.describe(d.id), By: d.by.Describe(t.kind),
			Removed: t.seen != nil && removed != nil && removed.Contains(t.target.kind, int64(d.id.Hi)),
		})
	}
	return r
}

// removed counts the missing ids that were removed on purpose.
func (t *tally) removed(r Removed) (n int64) {
	if r == nil || t.target.genre {
		return 0
	}
	missing := roaring64.AndNot(t.seen, t.target.known)
	for it := missing.Iterator(); it.HasNext(); {
		if r.Contains(t.target.kind, int64(it.Next())) {
			n++
		}
	}
	return n
}

// describe names a missing id. Such an id may be below zero, other than that of a record.
func (t *tally) describe(id catalog.Key) string {
	if t.seen == nil {
		return id.Describe(t.target.kind)
	}
	return fmt.Sprintf("%s %d", t.target.name(), int64(id.Hi))
}
