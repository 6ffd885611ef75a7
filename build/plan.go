package build

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"reelsplice/build/render"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/release"
	"reelsplice/schemas/wire"
)

// maxMovieShards bounds the shards of movies. A release has at most 4096 shards in
// all; beyond the bound, shards take several row groups each.
const maxMovieShards = 1024

// A plan is what the shards need to know of one another.
type plan struct {
	shards    [][]int // row groups of each shard
	genres    [][]int64
	genreRefs map[string]release.Ref
	// imdbOwners holds, for each IMDb id that several movies claim, the lowest of
	// their ids.
	imdbOwners map[uint64]int64
	sharedIMDb int64
}

// planRow has the columns that the plan looks at.
type planRow struct {
	wire.Object
	ID          wire.Int         `wire:"id"`
	IMDbID      wire.String      `wire:"imdb_id,null"`
	Genres      []catalog.Genre  `wire:"genres"`
	ExternalIDs *planExternalIDs `wire:"external_ids"`
	Localized   []planLocalized  `wire:"localized"`
}

type planExternalIDs struct {
	wire.Object
	IMDbID wire.String `wire:"imdb_id,null"`
}

type planLocalized struct {
	wire.Object
	Genres []catalog.Genre `wire:"genres"`
}

// makePlan reads a few columns of the whole catalogue. What it keeps is small: the
// distinct lists of genres, and sixteen bytes for each IMDb id.
func makePlan(ctx context.Context, movies *catalog.File[catalog.Movie]) (plan, error) {
	p := plan{genreRefs: map[string]release.Ref{}, imdbOwners: map[uint64]int64{}}
	genres := map[string][]int64{}
	var claims []claim
	rows := catalog.Project[planRow](movies)
	defer rows.Close()
	for row, err := range rows.Each() {
		if err != nil {
			return p, err
		}
		if err := ctx.Err(); err != nil {
			return p, err
		}
		addGenres(genres, row)
		id := row.IMDbID.V
		if row.ExternalIDs != nil {
			id = catalog.FirstIMDb(id, row.ExternalIDs.IMDbID.V)
		}
		if n, ok := imdbNumber(id); ok {
			claims = append(claims, claim{n, row.ID.V})
		}
	}
	p.settle(claims)
	for _, name := range slices.Sorted(maps.Keys(genres)) {
		p.genres = append(p.genres, genres[name])
	}
	p.divide(movies.RowGroups())
	return p, nil
}

func addGenres(m map[string][]int64, row *planRow) {
	lists := [][]catalog.Genre{row.Genres}
	for i := range row.Localized {
		lists = append(lists, render.EnglishGenres(row.Localized[i].Genres))
	}
	for _, list := range lists {
		if !render.ShareGenres(list) {
			continue
		}
		ids := render.GenreIDs(list)
		m[render.GenresName(ids)] = ids
	}
}

// divide gives every shard its row groups, in order.
func (p *plan) divide(groups int) {
	per := max(1, (groups+maxMovieShards-1)/maxMovieShards)
	for from := 0; from < groups; from += per {
		var shard []int
		for g := from; g < min(from+per, groups); g++ {
			shard = append(shard, g)
		}
		p.shards = append(p.shards, shard)
	}
}

// A claim is a movie's saying that an IMDb id is its own.
type claim struct {
	imdb  uint64
	movie int64
}

// settle finds the IMDb ids that several movies claim. They go to the lowest id,
// because TMDB's duplicates are the newer entries.
func (p *plan) settle(claims []claim) {
	slices.SortFunc(claims, func(a, b claim) int {
		return cmp.Or(cmp.Compare(a.imdb, b.imdb), cmp.Compare(a.movie, b.movie))
	})
	for i := 1; i < len(claims); i++ {
		if claims[i].imdb != claims[i-1].imdb {
			continue
		}
		p.sharedIMDb++
		if _, ok := p.imdbOwners[claims[i].imdb]; !ok {
			p.imdbOwners[claims[i].imdb] = claims[i-1].movie
		}
	}
}

// ownIMDb returns the IMDb id as requests spell it, when the movie is found by it.
func (p *plan) ownIMDb(id string, movie int64) (string, bool) {
	n, ok := imdbNumber(id)
	if !ok {
		return "", false
	}
	if owner, shared := p.imdbOwners[n]; shared && owner != movie {
		return "", false
	}
	return id, true
}

// imdbNumber returns the number in "tt0137523". Ids of another form cannot be asked
// for.
func imdbNumber(id string) (uint64, bool) {
	digits, ok := strings.CutPrefix(id, "tt")
	if !ok || len(digits) < 1 || len(digits) > 18 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}
