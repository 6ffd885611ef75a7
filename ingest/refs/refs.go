// Package refs checks that the ids in a catalogue lead to records: those of the people of credits,
// the companies of movies, the seasons of series and so on.
//
// Dangling ids are no fault of the catalogue. A dump of movies alone names people without records,
// and the builder makes do with their credits. But a share of dangling ids that jumps from one
// dump to the next is a sign of an incomplete dump, and a record that refers to a removed one will
// show a dead link.
//
// Only the columns of ids are read, and ids are kept as compressed bitmaps: memory grows with the
// number of different ids, not with the number of references.
package refs

import (
	"cmp"
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// MaxSamples is how many dangling ids a Relation lists.
const MaxSamples = 10

// A Relation is all references by one field of one kind's records to resources of one kind. Those
// in other languages (localized) count with the rest.
type Relation struct {
	Kind   string `json:"kind"`   // of the records that refer: movie, tv, season ...
	Path   string `json:"path"`   // of the field: credits.cast.id
	Target string `json:"target"` // kind of the resources; genre for those of package reference

	TargetRecords int64    `json:"target_records"` // of the target kind in the catalogue
	References    int64    `json:"references"`     // in all
	Dangling      int64    `json:"dangling"`       // of these: to ids without a record
	Unset         int64    `json:"unset"`          // elements without an id, beside the references
	Distinct      int64    `json:"distinct"`       // ids referred to
	Missing       int64    `json:"missing"`        // of these: without a record
	Removed       int64    `json:"removed"`        // of the missing: removed on purpose
	MissingShare  float64  `json:"missing_share"`  // Missing / Distinct
	Samples       []Sample `json:"samples,omitempty"`
}

// A Sample is an id without a record.
type Sample struct {
	ID      string `json:"id"` // person 287
	By      string `json:"by"` // the first record that refers to it: movie 550
	Removed bool   `json:"removed,omitempty"`
}

// Check reads the ids of all records of a catalogue; gone are its removed resources. It returns the
// relations that occur, by kind, path and target. A kind without a file is no error: nothing refers
// from it, and everything that refers to it dangles.
func Check(ctx context.Context, catalogDir string, gone []catalog.Removed) ([]Relation, error) {
	c := &checker{dir: catalogDir, targets: newTargets(gone)}
	for _, t := range catalog.Types() {
		if err := c.index(ctx, t); err != nil {
			return nil, err
		}
	}
	for _, t := range catalog.Types() {
		if err := c.scan(ctx, t); err != nil {
			return nil, err
		}
	}
	return c.relations(), nil
}

// checker is one check at work. It has few files open at a time, because the footer
// of a large one takes many times what is kept of its ids.
type checker struct {
	dir     string
	targets map[targetKey]*target
	done    []*tally
}

// targetKey names a set of ids that can be referred to: the records of a kind, or the
// genres that titles of a kind may have.
type targetKey struct {
	kind  fragment.Kind
	genre bool
}

// A target is the ids that lead somewhere. It is read only once it is complete.
type target struct {
	targetKey
	known   *roaring64.Bitmap
	removed *roaring64.Bitmap // ids of resources that were deleted or merged into others
	records int64
}

func (t *target) name() string {
	if t.genre {
		return "genre"
	}
	return t.kind.String()
}

func newTargets(gone []catalog.Removed) map[targetKey]*target {
	targets := map[targetKey]*target{}
	add := func(k targetKey) *target {
		t := &target{targetKey: k, known: roaring64.New(), removed: roaring64.New()}
		targets[k] = t
		return t
	}
	for _, t := range catalog.Types() {
		add(targetKey{kind: t.Kind})
	}
	for _, r := range gone {
		if id, ok := idOf(r.Kind, r.Key); ok {
			targets[targetKey{kind: r.Kind}].removed.Add(id)
		}
	}
	for kind, media := range map[fragment.Kind]reference.Media{fragment.KindMovie: reference.Movie, fragment.KindTV: reference.TV} {
		t := add(targetKey{kind, true})
		for _, id := range reference.Genres(media) {
			t.known.Add(uint64(id))
			t.records++
		}
	}
	return targets
}

// seasonBits is how many bits of a season's id are its number; those of its series are above them.
const seasonBits = 20

func seasonID(series uint64, number int64) uint64 {
	return series<<seasonBits | uint64(number)&(1<<seasonBits-1)
}

// idOf returns the number by which records refer to a resource; false for kinds that none refers to.
func idOf(kind fragment.Kind, key catalog.Key) (uint64, bool) {
	switch kind {
	case fragment.KindSeason:
		return seasonID(key.ID(), int64(key.Season())), true
	case fragment.KindEpisode, fragment.KindReview, fragment.KindCredit, fragment.KindEpisodeGroup:
		return 0, false
	}
	return key.ID(), true
}

// open opens the file of a kind; nil when there is none.
func (c *checker) open(t *catalog.Type) (*catalog.File, error) {
	return catalog.OpenIfAny(filepath.Join(c.dir, t.File()), t)
}

// index counts the records of a kind, and reads the ids by which others refer to them.
func (c *checker) index(ctx context.Context, typ *catalog.Type) error {
	f, err := c.open(typ)
	if f == nil || err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read side: nothing to lose
	t := c.targets[targetKey{kind: typ.Kind}]
	t.records = f.NumRows()
	if _, ok := idOf(typ.Kind, catalog.Key{}); !ok {
		return nil
	}
	err = eachRow(ctx, typ, f.Select(typ.KeyFields(), 0, f.RowGroups()), func(_ record.Record, key catalog.Key) {
		id, _ := idOf(typ.Kind, key)
		t.known.Add(id)
	})
	t.known.RunOptimize()
	return err
}

// eachRow calls fn with each record of rows and its key.
func eachRow(ctx context.Context, t *catalog.Type, rows *catalog.Rows, fn func(r record.Record, key catalog.Key)) error {
	return rows.Each(ctx, func(r record.Record) error {
		key, err := t.Key(r)
		if err == nil {
			fn(r, key)
		}
		return err
	})
}

// scan adds up the references of the records of one kind, several row groups at once.
func (c *checker) scan(ctx context.Context, t *catalog.Type) error {
	if len(relations[t.Kind]) == 0 {
		return nil
	}
	f, err := c.open(t)
	if f == nil || err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read side: nothing to lose
	walkers, paths := walkers(t)
	paths = append(paths, t.KeyFields()...)
	parts := make([]*collector, min(runtime.GOMAXPROCS(0), f.RowGroups()))
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for i := range parts {
		part := &collector{targets: c.targets, kind: t.Kind}
		parts[i] = part
		g.Go(func() error {
			for {
				group := int(next.Add(1)) - 1
				if group >= f.RowGroups() {
					return nil
				}
				err := eachRow(ctx, t, f.Select(paths, group, group+1), func(r record.Record, key catalog.Key) { part.record(r, key, walkers) })
				if err != nil {
					return err
				}
			}
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	c.sum(parts)
	return nil
}

// sum puts what several goroutines found of one kind among the results.
func (c *checker) sum(parts []*collector) {
	if len(parts) == 0 {
		return
	}
	for _, p := range parts[1:] {
		parts[0].merge(p)
	}
	for _, t := range parts[0].tallies {
		c.done = append(c.done, t)
	}
}

// relations returns what was found, in an order that does not depend on goroutines.
func (c *checker) relations() []Relation {
	slices.SortFunc(c.done, func(a, b *tally) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.path, b.path), cmp.Compare(a.target.kind, b.target.kind))
	})
	out := make([]Relation, 0, len(c.done))
	for _, t := range c.done {
		out = append(out, t.relation())
	}
	return out
}
