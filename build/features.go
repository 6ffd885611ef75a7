package build

import (
	"cmp"
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"reelsplice/build/neighbours"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// featureMovie and featureSeries have the columns by which titles are alike.
type featureMovie struct {
	record.Object
	Adult               record.Bool        `record:"adult"`
	BelongsToCollection *planID            `record:"belongs_to_collection,null"`
	Genres              []planID           `record:"genres"`
	ID                  record.Int         `record:"id"`
	Popularity          record.Float       `record:"popularity"`
	VoteCount           record.Int         `record:"vote_count"`
	Credits             *featureCredits    `record:"credits"`
	Keywords            *featureKeywords   `record:"keywords"`
	Localized           []featureLocalized `record:"localized,own"`
}

type featureSeries struct {
	record.Object
	Adult            record.Bool              `record:"adult"`
	CreatedBy        []planID                 `record:"created_by"`
	Genres           []planID                 `record:"genres"`
	ID               record.Int               `record:"id"`
	Popularity       record.Float             `record:"popularity"`
	VoteCount        record.Int               `record:"vote_count"`
	AggregateCredits *featureAggregate        `record:"aggregate_credits"`
	Credits          *featureCredits          `record:"credits"`
	Keywords         *featureResults          `record:"keywords"`
	Localized        []featureLocalizedSeries `record:"localized,own"`
}

// featureLocalized and featureLocalizedSeries are what only crawls in other languages
// may have given: see render.Base.
type featureLocalized struct {
	record.Object
	BelongsToCollection *planID         `record:"belongs_to_collection"`
	Genres              []planID        `record:"genres"`
	Credits             *featureCredits `record:"credits"`
}

type featureLocalizedSeries struct {
	record.Object
	Genres           []planID          `record:"genres"`
	AggregateCredits *featureAggregate `record:"aggregate_credits"`
	Credits          *featureCredits   `record:"credits"`
}

type featureCredits struct {
	record.Object
	Cast []planID      `record:"cast"`
	Crew []featureCrew `record:"crew"`
}

type featureAggregate struct {
	record.Object
	Cast []planID               `record:"cast"`
	Crew []featureAggregateCrew `record:"crew"`
}

type featureAggregateCrew struct {
	record.Object
	ID   record.Int   `record:"id"`
	Jobs []featureJob `record:"jobs"`
}

type featureJob struct {
	record.Object
	Job record.String `record:"job,dict"`
}

type featureCrew struct {
	record.Object
	ID  record.Int    `record:"id"`
	Job record.String `record:"job,dict"`
}

type featureKeywords struct {
	record.Object
	Keywords []planID `record:"keywords"`
}

type featureResults struct {
	record.Object
	Results []planID `record:"results"`
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
	id, _ := record.SchemaOf[T]().Field("id")
	out := make([]T, len(list))
	for i := range list {
		*record.Of(&out[i]).Int(id) = list[i].ID
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
func (b *builder) planNeighbours(ctx context.Context) error {
	b.plan.neighbours = map[fragment.Kind]*neighbours.Table{}
	err := prepare(ctx, b, fragment.KindMovie, (*featureMovie).title)
	if err != nil {
		return err
	}
	return prepare(ctx, b, fragment.KindTV, (*featureSeries).title)
}

// prepare makes the table of one kind. F has the columns that title needs.
func prepare[F any](ctx context.Context, b *builder, kind fragment.Kind, title func(*F, *neighbours.Title)) (err error) {
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
			g.Go(func() error { return collect(ctx, in.ProjectGroups(record.SchemaOf[F](), i, i+1), c.Writer(), known) })
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
	b.plan.neighbours[kind], err = c.Finish(ctx, b.workers())
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
