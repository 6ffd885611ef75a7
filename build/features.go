package build

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"reelsplice/build/neighbours"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/wire"
)

// featureMovie and featureSeries have the columns by which titles are alike.
type featureMovie struct {
	wire.Object
	Adult               wire.Bool          `wire:"adult"`
	BelongsToCollection *planID            `wire:"belongs_to_collection,null"`
	Genres              []planID           `wire:"genres"`
	ID                  wire.Int           `wire:"id"`
	Popularity          wire.Float         `wire:"popularity"`
	VoteCount           wire.Int           `wire:"vote_count"`
	Credits             *featureCredits    `wire:"credits"`
	Keywords            *featureKeywords   `wire:"keywords"`
	Localized           []featureLocalized `wire:"localized,own"`
}

type featureSeries struct {
	wire.Object
	Adult            wire.Bool                `wire:"adult"`
	CreatedBy        []planID                 `wire:"created_by"`
	Genres           []planID                 `wire:"genres"`
	ID               wire.Int                 `wire:"id"`
	Popularity       wire.Float               `wire:"popularity"`
	VoteCount        wire.Int                 `wire:"vote_count"`
	AggregateCredits *featureAggregate        `wire:"aggregate_credits"`
	Credits          *featureCredits          `wire:"credits"`
	Keywords         *featureResults          `wire:"keywords"`
	Localized        []featureLocalizedSeries `wire:"localized,own"`
}

// featureLocalized and featureLocalizedSeries are what only crawls in other languages
// may have given: see render.Base.
type featureLocalized struct {
	wire.Object
	BelongsToCollection *planID         `wire:"belongs_to_collection"`
	Genres              []planID        `wire:"genres"`
	Credits             *featureCredits `wire:"credits"`
}

type featureLocalizedSeries struct {
	wire.Object
	Genres           []planID          `wire:"genres"`
	AggregateCredits *featureAggregate `wire:"aggregate_credits"`
	Credits          *featureCredits   `wire:"credits"`
}

type featureCredits struct {
	wire.Object
	Cast []planID      `wire:"cast"`
	Crew []featureCrew `wire:"crew"`
}

type featureAggregate struct {
	wire.Object
	Cast []planID               `wire:"cast"`
	Crew []featureAggregateCrew `wire:"crew"`
}

type featureAggregateCrew struct {
	wire.Object
	ID   wire.Int     `wire:"id"`
	Jobs []featureJob `wire:"jobs"`
}

type featureJob struct {
	wire.Object
	Job wire.String `wire:"job,dict"`
}

type featureCrew struct {
	wire.Object
	ID  wire.Int    `wire:"id"`
	Job wire.String `wire:"job,dict"`
}

type featureKeywords struct {
	wire.Object
	Keywords []planID `wire:"keywords"`
}

type featureResults struct {
	wire.Object
	Results []planID `wire:"results"`
}

// title is what neighbours are found by.
func (f *featureMovie) title(t *neighbours.Title) {
	for i := range f.Localized {
		l := &f.Localized[i]
		f.BelongsToCollection = cmp.Or(f.BelongsToCollection, l.BelongsToCollection)
		f.Credits = cmp.Or(f.Credits, l.Credits)
		if f.Genres == nil {
			f.Genres = l.Genres
		}
	}
	m := catalog.Movie{Adult: f.Adult, ID: f.ID, Popularity: f.Popularity, VoteCount: f.VoteCount, Genres: named[catalog.Genre](f.Genres)}
	if f.BelongsToCollection != nil {
		m.BelongsToCollection = &catalog.CollectionRef{ID: f.BelongsToCollection.ID}
	}
	if f.Credits != nil {
		m.Credits = &catalog.Credits{Cast: named[catalog.CastCredit](f.Credits.Cast), Crew: f.Credits.crew()}
	}
	if f.Keywords != nil {
		m.Keywords = &catalog.Keywords{Keywords: named[catalog.Keyword](f.Keywords.Keywords)}
	}
	t.OfMovie(&m)
}

func (f *featureSeries) title(t *neighbours.Title) {
	for i := range f.Localized {
		l := &f.Localized[i]
		f.AggregateCredits = cmp.Or(f.AggregateCredits, l.AggregateCredits)
		f.Credits = cmp.Or(f.Credits, l.Credits)
		if f.Genres == nil {
			f.Genres = l.Genres
		}
	}
	s := catalog.TV{
		Adult: f.Adult, ID: f.ID, Popularity: f.Popularity, VoteCount: f.VoteCount,
		Genres: named[catalog.Genre](f.Genres), CreatedBy: named[catalog.Creator](f.CreatedBy),
	}
	if f.Credits != nil {
		s.Credits = &catalog.TVCredits{Cast: named[catalog.TVCastCredit](f.Credits.Cast), Crew: f.Credits.crew()}
	}
	if a := f.AggregateCredits; a != nil {
		s.AggregateCredits = &catalog.AggregateCredits{Cast: named[catalog.AggregateCast](a.Cast), Crew: a.crew()}
	}
	if f.Keywords != nil {
		s.Keywords = &catalog.TVKeywords{Results: named[catalog.TVKeyword](f.Keywords.Results)}
	}
	t.OfSeries(&s)
}

// named makes rows T with nothing but their ids.
func named[T any](list []planID) []T {
	id, _ := wire.PlanOf[T]().Field("id")
	out := make([]T, len(list))
	for i := range list {
		*wire.RecordOf(&out[i]).Int(id) = list[i].ID
	}
	return out
}

func (c *featureCredits) crew() []catalog.CrewCredit {
	out := make([]catalog.CrewCredit, len(c.Crew))
	for i := range c.Crew {
		out[i].ID, out[i].Job = c.Crew[i].ID, c.Crew[i].Job
	}
	return out
}

func (a *featureAggregate) crew() []catalog.AggregateCrew {
	out := make([]catalog.AggregateCrew, len(a.Crew))
	for i := range a.Crew {
		out[i].ID = a.Crew[i].ID
		for _, j := range a.Crew[i].Jobs {
			out[i].Jobs = append(out[i].Jobs, catalog.AggregateJob{Job: j.Job})
		}
	}
	return out
}

// featuresPerPartition bounds what is sorted at once when neighbours are prepared.
const featuresPerPartition = 10_000_000

// planNeighbours prepares what recommendations and similar titles are computed from.
func (b *builder) planNeighbours(ctx context.Context, w *release.Writer) error {
	b.plan.neighbours = map[fragment.Kind]*neighbours.Table{}
	err := prepare(ctx, b, w, fragment.KindMovie, (*featureMovie).title)
	if err != nil {
		return err
	}
	return prepare(ctx, b, w, fragment.KindTV, (*featureSeries).title)
}

// nearName is the name, inside a release's folder, of the sums of what titles of a kind are
// compared by.
func nearName(kind fragment.Kind) string { return "ledger-near-" + kind.String() }

// prepare makes the table of one kind. F has the columns that title needs.
func prepare[F any](ctx context.Context, b *builder, w *release.Writer, kind fragment.Kind, title func(*F, *neighbours.Title)) (err error) {
	in := b.inputs[kind]
	known := func(row *F, t *neighbours.Title) bool {
		title(row, t)
		return !b.removed.Has(kind, catalog.NumberKey(t.ID))
	}
	const each = 32 // features of a title, about
	partitions := int(in.rows()*each/featuresPerPartition) + 1
	c, err := neighbours.New(b.work, partitions, b.Memory/8)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if in != nil {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(b.workers())
		for i := range in.RowGroups() {
			g.Go(func() error { return collect(ctx, in.ProjectGroups(wire.PlanOf[F](), i, i+1), c.Writer(), known) })
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
	sums := neighbours.Sums{Path: w.Aside(nearName(kind)), Mark: b.mark}
	if b.keeping {
		sums.Previous, sums.PreviousMark = filepath.Join(b.previousDir(), nearName(kind)), b.recalled
	}
	b.plan.neighbours[kind], err = c.Finish(ctx, b.workers(), &sums)
	return err
}

// collect adds the titles of some rows, but for those of which title says false.
func collect[F any](ctx context.Context, rows *catalog.Rows, w *neighbours.Writer, title func(*F, *neighbours.Title) bool) error {
	defer rows.Close()
	var t neighbours.Title
	for row, err := range catalog.Each[F](rows) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return errors.Join(err, w.Close())
		}
		if !title(row, &t) {
			continue
		}
		if err := w.Add(&t); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}

// closeTables removes what planNeighbours made.
func (b *builder) closeTables() {
	for _, t := range b.plan.neighbours {
		if t != nil { // making it failed
			_ = t.Close() // its files lie in the folder that goes with the build
		}
	}
}
