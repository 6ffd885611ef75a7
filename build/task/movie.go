package task

import (
	"context"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/build/derive"
	"github.com/reelsplice/reelsplice/build/neighbours"
	"github.com/reelsplice/reelsplice/build/records"
	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A movieBuilder builds the movies of a titles task, one after another.
type movieBuilder struct {
	t    *titles
	o    *output
	c    *contributor
	near nearby
}

// movies builds the movies of a span.
func (t *titles) movies(ctx context.Context, o *output, c *contributor, s records.Span) error {
	m := &movieBuilder{t: t, o: o, c: c, near: nearby{finder: t.near[fragment.KindMovie].Finder()}}
	return records.All(ctx, t.b.inputs.Of(fragment.KindMovie), s, t.b.skip(fragment.KindMovie), func(key catalog.Key, movie *catalog.Movie) error {
		t.b.advance(1)
		if err := m.movie(key, movie); err != nil {
			return err
		}
		return c.err
	})
}

// movie builds a movie.
func (b *movieBuilder) movie(key catalog.Key, given *catalog.Movie) error {
	b.o.inputs.Record(record.Of(given))
	completed := complete.Of(given)
	m := completed.V()
	if err := b.near.of(lackingOf(m.Recommendations, m.Similar), func(t *neighbours.Title) { t.OfMovie(m) }); err != nil {
		return err
	}
	b.near.addTo(&b.o.inputs)
	b.c.movie(m)
	spec := b.o.spec(fragment.KindMovie, key, key.ID(), b.o.inputs.Fingerprint())
	spec.Aliases = b.aliases(key, m)
	if err := b.o.add(spec, func() []render.Fragment { return b.o.render.Movie(completed, b.near.derived()) }); err != nil {
		return err
	}
	return b.c.rows.Movie(completed)
}

// aliases returns the keys by which a movie is found beside its id.
func (b *movieBuilder) aliases(key catalog.Key, m *catalog.Movie) (list [][]byte) {
	imdb := catalog.IMDbOf(m)
	if n, ok := imdbNumber(imdb); ok && b.t.owners.has(fragment.KindMovie, n, key) {
		list = append(list, fragment.AppendAlias(nil, fragment.KindMovie, imdb))
	}
	return latestAlias(list, fragment.KindMovie, int64(key.ID()), b.t.b.Plan.Latest[fragment.KindMovie])
}

// movie contributes a movie to other resources.
func (c *contributor) movie(m *catalog.Movie) {
	t := derive.MovieTitle(m)
	c.credits(derive.MovieCredits(m))
	if of := m.BelongsToCollection; of != nil {
		refs(c, fragment.KindCollection, &t, []catalog.CollectionRef{*of})
	}
	refs(c, fragment.KindCompany, &t, m.ProductionCompanies)
	if m.Keywords != nil {
		refs(c, fragment.KindKeyword, &t, m.Keywords.Keywords)
	}
	c.reviews(&t, m.Title, m.Reviews)
	c.externalIDs(record.Of(m.ExternalIDs), m.IMDbID.V, render.Hit{Kind: fragment.KindMovie, ID: uint64(m.ID.V)})
}
