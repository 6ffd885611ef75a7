package build

import (
	"context"
	"slices"

	"reelsplice/build/derive"
	"reelsplice/build/neighbours"
	"reelsplice/build/render"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/wire"
)

// mapMovies builds a shard of movies and sends what they say of other resources.
func (b *builder) mapMovies(ctx context.Context, o *output, s span) error {
	e := b.newEmitter()
	err := b.eachMovie(ctx, o, e, s)
	e.keep(err)
	return e.close()
}

func (b *builder) eachMovie(ctx context.Context, o *output, e *emitter, s span) error {
	finder := b.plan.neighbours[fragment.KindMovie].Finder()
	c := newCursor[catalog.Movie](b.inputs[fragment.KindMovie], s)
	c.skip = b.skips(fragment.KindMovie)
	defer c.close()
	var title neighbours.Title
	var near neighbours.Result
	var alias []byte
	for {
		key, ok := c.peek()
		if !ok {
			return c.err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		m := c.take()
		render.Base(fragment.KindMovie, wire.RecordOf(m))
		e.movie(m)
		spec := o.spec(fragment.KindMovie, key, uint64(m.ID.V))
		if id, ok := b.plan.ownIMDb(catalog.IMDbOf(m), m.ID.V); ok {
			alias = fragment.AppendAlias(alias[:0], fragment.KindMovie, id)
			spec.Aliases = append(spec.Aliases, alias)
		}
		b.latestAlias(&spec, fragment.KindMovie, m.ID.V)
		var d render.TitleDerived
		if lacksBase(m.Recommendations) || lacksBase(m.Similar) {
			title.OfMovie(m)
			if err := finder.Find(&title, &near); err != nil {
				return err
			}
			d.Recommendations, d.Similar = near.Recommendations, near.Similar
		}
		if err := o.add(spec, o.render.Movie(m, d)); err != nil {
			return err
		}
		e.keep(e.rows.Movie(m))
		if e.err != nil {
			return e.err
		}
		b.advance(1)
	}
}

// movie sends what a movie says of other resources.
func (e *emitter) movie(m *catalog.Movie) {
	t := derive.MovieTitle(m)
	e.credits(derive.MovieCredits(m))
	if c := m.BelongsToCollection; c != nil {
		e.ref(fragment.KindCollection, c.ID.V, &t, wire.RecordOf(c))
	}
	e.companies(&t, m.ProductionCompanies)
	if m.Keywords != nil {
		for i := range m.Keywords.Keywords {
			k := &m.Keywords.Keywords[i]
			e.ref(fragment.KindKeyword, k.ID.V, &t, wire.RecordOf(k))
		}
	}
	e.reviews(&t, m.Title, m.Reviews)
	e.externalIDs(wire.RecordOf(m.ExternalIDs), m.IMDbID.V, hit{kind: fragment.KindMovie, id: uint64(m.ID.V)})
}

// latestAlias adds the alias of the newest resource of a kind.
func (b *builder) latestAlias(spec *release.ResourceSpec, kind fragment.Kind, id int64) {
	if b.plan.latest[kind] == id {
		spec.Aliases = append(spec.Aliases, fragment.AppendAlias(nil, kind, latest))
	}
}

// latest is the alias of the resource with the highest id.
const latest = "latest"

// lacksBase reports whether no page of a list is of the base: what crawls in other
// languages give is for those.
func lacksBase[R any](pages []catalog.Page[R]) bool {
	return !slices.ContainsFunc(pages, func(p catalog.Page[R]) bool { return p.Language.V == "" })
}
