package refs

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A collector adds up the references of some records of one kind. One goroutine uses it.
type collector struct {
	targets map[targetKey]*target
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
			switch t := c.tally(w.path, to); {
			case !id.Set:
				t.unset++
			case w.how == season:
				t.add(seasonID(by.ID(), id.V), by)
			default:
				t.add(uint64(id.V), by)
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
	seen                        *roaring64.Bitmap
	first                       []dangling // the lowest MaxSamples, in order
}

// dangling is an id without a record, and the first record that refers to it.
type dangling struct {
	id uint64
	by catalog.Key
}

func (t *tally) add(id uint64, by catalog.Key) {
	t.references++
	t.seen.Add(id)
	if !t.target.known.Contains(id) {
		t.dangling++
		t.sample(dangling{id, by})
	}
}

// sample keeps d if it is among the first.
func (t *tally) sample(d dangling) {
	at, found := slices.BinarySearchFunc(t.first, d, func(a, b dangling) int { return cmp.Compare(a.id, b.id) })
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
	t.seen.Or(o.seen)
	for _, d := range o.first {
		t.sample(d)
	}
}

func (t *tally) relation() Relation {
	missing := roaring64.AndNot(t.seen, t.target.known)
	r := Relation{
		Kind: t.kind.String(), Path: t.path, Target: t.target.name(), TargetRecords: t.target.records,
		References: t.references, Dangling: t.dangling, Unset: t.unset, Distinct: int64(t.seen.GetCardinality()),
		Missing: int64(missing.GetCardinality()), Removed: int64(missing.AndCardinality(t.target.removed)),
	}
	if r.Distinct > 0 {
		r.MissingShare = float64(r.Missing) / float64(r.Distinct)
	}
	for _, d := range t.first {
		r.Samples = append(r.Samples, Sample{ID: t.describe(d.id), By: d.by.Describe(t.kind), Removed: t.target.removed.Contains(d.id)})
	}
	return r
}

// describe names a missing id. Such an id may be below zero, other than that of a record.
func (t *tally) describe(id uint64) string {
	if t.target.kind == fragment.KindSeason {
		return catalog.SeasonKey(int64(id>>seasonBits), int64(id&(1<<seasonBits-1))).Describe(t.target.kind)
	}
	return fmt.Sprintf("%s %d", t.target.name(), int64(id))
}
