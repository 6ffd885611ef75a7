package task

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/build/derive"
	"github.com/reelsplice/reelsplice/build/neighbours"
	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// A titles task builds the movies, or the series with their seasons and episodes, of a span. It writes a part of the
// release, and a file of contributions to other resources, such as people and companies.
type titles struct {
	b      *Build
	owners owners
	near   map[fragment.Kind]*neighbours.Table
}

func openTitles(b *Build) (_ tasks, err error) {
	t := &titles{b: b, owners: owners{}, near: map[fragment.Kind]*neighbours.Table{}}
	contested, err := b.openSorted(ownersPrefix, "prepare")
	if err != nil {
		return tasks{}, err
	}
	err = contested.groups(context.Background(), 0, func(key []byte, owner [][]byte) error {
		t.owners[claimedID{fragment.Kind(key[0]), binary.BigEndian.Uint64(key[1:])}] = work.ParseKey(owner[0])
		return nil
	})
	if err = errors.Join(err, contested.close()); err != nil {
		return tasks{}, err
	}
	surveys, err := b.taskRecords("survey")
	if err != nil {
		return tasks{}, err
	}
	for _, kind := range work.Titles {
		var n int64
		for i := range surveys {
			if k, _ := b.Plan.TitleSpan(i); k == kind {
				n += surveys[i].Count
			}
		}
		files, err := b.outputs(nearPrefix(kind), "prepare")
		paths := make([]string, len(files))
		for i := 0; i < len(files) && err == nil; i++ {
			paths[i], err = b.Folder.Path(files[i])
		}
		if err == nil {
			t.near[kind], err = neighbours.Open(paths, n)
		}
		if err != nil {
			return tasks{}, errors.Join(err, t.close())
		}
	}
	run := func(ctx context.Context, i int, d *taskRecord) error {
		kind, span := b.Plan.TitleSpan(i)
		return b.contribute(ctx, d, firstTitlePart+i, func(o *output, c *contributor) error {
			if kind == fragment.KindTV {
				return t.series(ctx, o, c, span)
			}
			return t.movies(ctx, o, c, span)
		})
	}
	return tasks{run, t.close}, nil
}

func (t *titles) close() (err error) {
	for _, near := range t.near {
		if near != nil {
			err = errors.Join(err, near.Close())
		}
	}
	return err
}

// latestAlias adds the alias "latest" of a kind if id is the newest one.
func latestAlias(list [][]byte, kind fragment.Kind, id, newest int64) [][]byte {
	if id == newest {
		list = append(list, fragment.AppendAlias(nil, kind, "latest"))
	}
	return list
}

// A neighbourFinder finds the recommendations and similar titles that a record lacks. It is for one goroutine.
type neighbourFinder struct {
	finder *neighbours.Finder
	title  neighbours.Title
	result neighbours.Result
}

// lacksPages reports whether a list has no page in the base language. Pages from crawls in other languages serve only
// those.
func lacksPages[R any](pages []catalog.Page[R]) bool {
	return !slices.ContainsFunc(pages, func(p catalog.Page[R]) bool { return p.Language.V == "" })
}

// find finds the recommendations and similar titles of a title whose record lacks them. read reads its features, if
// they are needed.
func (t *neighbourFinder) find(lacksRecommendations, lacksSimilar bool, read func(*neighbours.Title)) error {
	r := &t.result
	r.Recommendations, r.Similar = r.Recommendations[:0], r.Similar[:0]
	if !lacksRecommendations && !lacksSimilar {
		return nil
	}
	read(&t.title)
	err := t.finder.Find(&t.title, r)
	if !lacksRecommendations {
		r.Recommendations = r.Recommendations[:0]
	}
	if !lacksSimilar {
		r.Similar = r.Similar[:0]
	}
	return err
}

// addTo adds the result to the inputs of the title.
func (t *neighbourFinder) addTo(in *resourceInputs) {
	in.Numbers(t.result.Recommendations)
	in.Numbers(t.result.Similar)
}

// derived returns the result for rendering.
func (t *neighbourFinder) derived() render.TitleDerived {
	return render.TitleDerived{Recommendations: t.result.Recommendations, Similar: t.result.Similar}
}

// movies builds the movies of a span.
func (t *titles) movies(ctx context.Context, o *output, c *contributor, s work.Span) error {
	near := neighbourFinder{finder: t.near[fragment.KindMovie].Finder()}
	return work.All(ctx, t.b.inputs.Of(fragment.KindMovie), s, func(key catalog.Key, given *catalog.Movie) error {
		t.b.advance()
		o.inputs.Record(record.Of(given))
		based := complete.Base(given)
		completed := complete.Of(based)
		m := completed.V()
		if err := near.find(lacksPages(m.Recommendations), lacksPages(m.Similar), func(t *neighbours.Title) { t.SetMovie(based) }); err != nil {
			return err
		}
		near.addTo(&o.inputs)

		title := derive.MovieTitle(m)
		c.credits(derive.MovieCredits(m))
		if m.BelongsToCollection != nil {
			refs(c, fragment.KindCollection, &title, []catalog.CollectionRef{*m.BelongsToCollection})
		}
		refs(c, fragment.KindCompany, &title, m.ProductionCompanies)
		if m.Keywords != nil {
			refs(c, fragment.KindKeyword, &title, m.Keywords.Keywords)
		}
		c.reviews(&title, m.Title, m.Reviews)
		c.externalIDs(record.Of(m.ExternalIDs), m.IMDbID.V, release.Include{Kind: fragment.KindMovie, ID: uint64(m.ID.V)})

		spec := o.spec(fragment.KindMovie, key, key.ID(), o.inputs.Fingerprint())
		imdb := catalog.IMDbOf(m)
		if n, ok := imdbNumber(imdb); ok && t.owners.isOwner(fragment.KindMovie, n, key) {
			spec.Aliases = [][]byte{fragment.AppendAlias(nil, fragment.KindMovie, imdb)}
		}
		spec.Aliases = latestAlias(spec.Aliases, fragment.KindMovie, int64(key.ID()), t.b.Plan.Latest[fragment.KindMovie])
		if err := o.add(spec, func() []release.FragmentSpec { return o.render.Movie(completed, near.derived()) }); err != nil {
			return err
		}
		return cmp.Or(c.rows.Movie(completed), c.err)
	})
}
