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
	by      catalog.Key // of the record at hand
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

// number, season, episode and text say which record is at hand. Its key has been
// checked when it was written.
func (c *collector) number(id record.Int) { c.by = catalog.NumberKey(id.V) }

func (c *collector) season(series, season record.Int) { c.by = catalog.SeasonKey(series.V, season.V) }

func (c *collector) episode(series, season, episode record.Int) {
	c.by = catalog.EpisodeKey(series.V, season.V, episode.V)
}

func (c *collector) text(id record.String) { c.by, _ = catalog.TextKey(id.V) }

// sub adds the reference of an object that may be absent.
func (c *collector) sub(path string, to fragment.Kind, row *idRow) {
	if row != nil {
		c.list(path, targetKey{kind: to}, []idRow{*row})
	}
}

// id adds one reference; nothing when the member is unset.
func (c *collector) id(path string, to fragment.Kind, id record.Int) {
	if id.Set {
		c.tally(path, targetKey{kind: to}).add(id.V, c.by)
	}
}

// ids adds the references of a list. An element without an id is counted as such.
func (c *collector) ids(path string, to fragment.Kind, rows []idRow) {
	c.list(path, targetKey{kind: to}, rows)
}

// genres adds the genres of a title.
func (c *collector) genres(rows []idRow) { c.list("genres.id", targetKey{c.kind, true}, rows) }

func (c *collector) list(path string, to targetKey, rows []idRow) {
	if len(rows) == 0 {
		return
	}
	t := c.tally(path, to)
	for i := range rows {
		if rows[i].ID.Set {
			t.add(rows[i].ID.V, c.by)
		} else {
			t.unset++
		}
	}
}

// media adds the references of a list of titles. A row without a media type is of
// kind other; rows of other media than movies and series are not looked at.
func (c *collector) media(path string, other fragment.Kind, rows []mediaRow) {
	for i := range rows {
		kind := other
		switch rows[i].MediaType.V {
		case "":
		case "movie":
			kind = fragment.KindMovie
		case "tv":
			kind = fragment.KindTV
		default:
			continue
		}
		t := c.tally(path, targetKey{kind: kind})
		if rows[i].ID.Set {
			t.add(rows[i].ID.V, c.by)
		} else {
			t.unset++
		}
	}
}

// merge adds what o found. o is not to be used afterwards.
func (c *collector) merge(o *collector) {
	for k, t := range o.tallies {
		c.tally(k.path, k.target).merge(t)
	}
}

// A tally adds up the references of one member to one kind.
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
