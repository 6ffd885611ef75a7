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
	"errors"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"golang.org/x/sync/errgroup"

	"reelsplice/data/reference"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// MaxSamples is how many dangling ids a Relation lists.
const MaxSamples = 10

// Removed is the set of ids of resources that were deleted or merged into others.
type Removed interface {
	// Contains reports whether the resource was removed. Several goroutines call it.
	Contains(kind fragment.Kind, id int64) bool
}

// Options are the settings of Check.
type Options struct {
	Removed Removed // nil for none
	Jobs    int     // row groups read at once; one for each CPU by default
}

// A Result is the references of a catalogue's records.
type Result struct {
	Relations []Relation `json:"relations"` // those that occur, by kind, path and target
	Records   int64      `json:"records"`   // read, of all kinds
	Seconds   float64    `json:"seconds"`
}

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

// Check reads the ids of all records of a catalogue. Files of kinds that are not there
// are no error: nothing refers from them, and everything that refers to them dangles.
func Check(ctx context.Context, catalogDir string, o Options) (Result, error) {
	start := time.Now()
	if o.Jobs <= 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	c := &checker{Options: o, dir: catalogDir, targets: newTargets()}
	for _, t := range catalog.Types() {
		if err := c.index(ctx, t.Kind); err != nil {
			return Result{}, err
		}
	}
	for _, t := range catalog.Types() {
		if len(relations[t.Kind]) == 0 {
			continue
		}
		if err := c.scan(ctx, t); err != nil {
			return Result{}, err
		}
	}
	if err := errors.Join(c.seasonLists(ctx), c.episodeSeasons(ctx)); err != nil {
		return Result{}, err
	}
	r := c.result()
	r.Seconds = time.Since(start).Seconds()
	return r, nil
}

// checker is one check at work. It has few files open at a time, because the footer
// of a large one takes many times what is kept of its ids.
type checker struct {
	Options
	dir     string
	targets map[targetKey]*target
	done    []*tally
	records int64
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
	known *roaring64.Bitmap
	// records counts what stands behind known. Seasons are found without it.
	records int64
}

func (t *target) name() string {
	if t.genre {
		return "genre"
	}
	return t.kind.String()
}

func newTargets() map[targetKey]*target {
	targets := map[targetKey]*target{}
	for _, t := range catalog.Types() {
		k := targetKey{kind: t.Kind}
		targets[k] = &target{targetKey: k, known: roaring64.New()}
	}
	for kind, media := range map[fragment.Kind]reference.Media{fragment.KindMovie: reference.Movie, fragment.KindTV: reference.TV} {
		k := targetKey{kind, true}
		t := &target{targetKey: k, known: roaring64.New()}
		for _, id := range reference.Genres(media) {
			t.known.Add(uint64(id))
			t.records++
		}
		targets[k] = t
	}
	return targets
}

// open opens the file of a kind; nil when there is none.
func (c *checker) open(kind fragment.Kind) (*catalog.File, error) {
	f, err := catalog.TypeOf(kind).Open(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// closeFile closes a file that open returned.
func closeFile(f *catalog.File) {
	if f != nil {
		_ = f.Close() // read side: nothing to lose
	}
}

// index counts the records of a kind, and reads their ids if these are numbers alone.
func (c *checker) index(ctx context.Context, kind fragment.Kind) error {
	f, err := c.open(kind)
	if f == nil || err != nil {
		return err
	}
	defer closeFile(f)
	t := c.targets[targetKey{kind: kind}]
	t.records = f.NumRows()
	c.records += f.NumRows()
	switch kind {
	case fragment.KindSeason, fragment.KindEpisode, fragment.KindReview, fragment.KindCredit, fragment.KindEpisodeGroup:
		return nil
	}
	typ := catalog.TypeOf(kind)
	err = eachRow(ctx, typ, f.Select(typ.KeyFields(), 0, f.RowGroups()), func(_ record.Record, key catalog.Key) { t.known.Add(key.ID()) })
	t.known.RunOptimize()
	return err
}

// eachRow calls fn with each record of rows, which it closes, and its key.
func eachRow(ctx context.Context, t *catalog.Type, rows *catalog.Rows, fn func(r record.Record, key catalog.Key)) error {
	defer rows.Close()
	r := t.New()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := rows.Next(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		var key catalog.Key
		if err == nil {
			key, err = t.Key(r)
		}
		if err != nil {
			return err
		}
		fn(r, key)
	}
}

// scan adds up the references of the records of one kind, several row groups at once.
func (c *checker) scan(ctx context.Context, t *catalog.Type) error {
	f, err := c.open(t.Kind)
	if f == nil || err != nil {
		return err
	}
	defer closeFile(f)
	walkers, paths := walkers(t)
	paths = append(paths, t.KeyFields()...)
	parts := make([]*collector, min(c.Jobs, f.RowGroups()))
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for i := range parts {
		part := &collector{checker: c, kind: t.Kind}
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

// result returns what was found, in an order that does not depend on goroutines.
func (c *checker) result() Result {
	slices.SortFunc(c.done, func(a, b *tally) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.path, b.path), cmp.Compare(a.target.kind, b.target.kind))
	})
	r := Result{Relations: []Relation{}, Records: c.records}
	for _, t := range c.done {
		r.Relations = append(r.Relations, t.relation(c.Removed))
	}
	return r
}
