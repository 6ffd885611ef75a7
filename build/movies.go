package build

import (
	"context"

	"reelsplice/build/derive"
	"reelsplice/build/neighbours"
	"reelsplice/build/render"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// mapMovies builds a shard of movies and sends what they say of other resources.
func (b *builder) mapMovies(ctx context.Context, o *output, s span) error {
	e := b.newEmitter()
	err := b.eachMovie(ctx, o, e, s)
	e.keep(err)
	return e.close()
}

func (b *builder) eachMovie(ctx context.Context, o *output, e *emitter, s span) error {
	c := newCursor[catalog.Movie](b.inputs[fragment.KindMovie], s)
	c.skip = b.skips(fragment.KindMovie)
	defer c.close()
	m := &movieMapper{b: b, o: o, e: e, near: titleNear{finder: b.plan.neighbours[fragment.KindMovie].Finder()}}
	for {
		key, ok := c.peek()
		if !ok {
			return c.err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := m.movie(key, c); err != nil {
			return err
		}
		if e.err != nil {
			return e.err
		}
		b.advance(1)
	}
}

// A movieMapper builds movies one after another.
type movieMapper struct {
	b    *builder
	o    *output
	e    *emitter
	near titleNear
}

// movie builds the movie that c stands at.
func (mm *movieMapper) movie(key catalog.Key, c *cursor[catalog.Movie]) error {
	id := int64(key.ID())
	m, err := c.take()
	if err != nil {
		return err
	}
	render.Base(fragment.KindMovie, record.Of(m))
	if err := mm.near.of(lackingOf(m.Recommendations, m.Similar), func(t *neighbours.Title) { t.OfMovie(m) }); err != nil {
		return err
	}
	mm.e.movie(m)
	spec := mm.o.spec(fragment.KindMovie, key, uint64(id))
	spec.Aliases = mm.aliases(catalog.IMDbOf(m), id)
	if err := mm.o.add(spec, mm.o.render.Movie(m, mm.near.derived())); err != nil {
		return err
	}
	return mm.e.rows.Movie(m)
}

// aliases returns what a movie is found by beside its id.
func (mm *movieMapper) aliases(imdb string, id int64) (list [][]byte) {
	if imdb, ok := mm.b.plan.ownIMDb(imdb, id); ok {
		list = append(list, fragment.AppendAlias(nil, fragment.KindMovie, imdb))
	}
	return mm.b.latestAlias(list, fragment.KindMovie, id)
}

// movie sends what a movie says of other resources.
func (e *emitter) movie(m *catalog.Movie) {
	t := derive.MovieTitle(m)
	e.credits(derive.MovieCredits(m))
	if c := m.BelongsToCollection; c != nil {
		e.ref(fragment.KindCollection, c.ID.V, &t, record.Of(c))
	}
	e.companies(&t, m.ProductionCompanies)
	if m.Keywords != nil {
		for i := range m.Keywords.Keywords {
			k := &m.Keywords.Keywords[i]
			e.ref(fragment.KindKeyword, k.ID.V, &t, record.Of(k))
		}
	}
	e.reviews(&t, m.Title, m.Reviews)
	e.externalIDs(record.Of(m.ExternalIDs), m.IMDbID.V, hit{kind: fragment.KindMovie, id: uint64(m.ID.V)})
}

// latestAlias adds the alias of the newest resource of a kind, if this is the one.
func (b *builder) latestAlias(list [][]byte, kind fragment.Kind, id int64) [][]byte {
	if b.plan.latest[kind] == id {
		list = append(list, fragment.AppendAlias(nil, kind, latest))
	}
	return list
}

// latest is the alias of the resource with the highest id.
const latest = "latest"
