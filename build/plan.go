package build

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"reelsplice/build/derive"
	"reelsplice/build/neighbours"
	"reelsplice/build/render"
	"reelsplice/build/shuffle"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// Bounds of the shards of a release, by what they hold. A release has 4096 at most;
// beyond a bound, shards take several row groups each.
const (
	maxTitleShards  = 1000 // of movies, and as many of series
	maxPersonShards = 1000
	maxCreditShards = 300
	maxOtherShards  = 100 // of each other kind, and of find
)

// Expectations of what titles say, by which partitions are made. They must not follow
// from the memory at hand: the release's bytes depend on them.
const (
	creditsOfMovie  = 40
	creditsOfSeason = 60
	refsOfTitle     = 5
	partitionSize   = 200_000 // records
)

// A plan is what the tasks need to know of one another.
type plan struct {
	movies, series []span
	reduce         map[fragment.Kind]*reducePlan
	partitions     int             // of all kinds
	reduceOrder    []fragment.Kind // of the partitions
	finds          int             // partitions of find

	genres  map[fragment.Kind]map[string][]int64 // the distinct lists, by their names
	latest  map[fragment.Kind]int64
	persons atomic.Int64 // the highest id of a person in the credits
	// imdbOwners holds, for each IMDb id that several movies claim, the lowest of
	// their ids.
	imdbOwners map[uint64]int64
	sharedIMDb int64
	// idOwners holds, for each id that several seasons or episodes claim as their own,
	// the first of them.
	idOwners map[ownID]catalog.Key

	neighbours map[fragment.Kind]*neighbours.Table
}

// An ownID is the id of a season or an episode.
type ownID struct {
	kind fragment.Kind
	id   uint64
}

// planMovie has the columns of a movie that the plan looks at.
type planMovie struct {
	record.Object
	ID          record.Int       `record:"id"`
	IMDbID      record.String    `record:"imdb_id,null"`
	Genres      []catalog.Genre  `record:"genres"`
	ExternalIDs *planExternalIDs `record:"external_ids"`
	Localized   []planLocalized  `record:"localized"`
}

type planExternalIDs struct {
	record.Object
	IMDbID record.String `record:"imdb_id,null"`
}

type planLocalized struct {
	record.Object
	Genres []catalog.Genre `record:"genres"`
}

// planID has nothing but the id.
type planID struct {
	record.Object
	ID record.Int `record:"id"`
}

// planTV has the columns of a series that the plan looks at.
type planTV struct {
	record.Object
	ID        record.Int      `record:"id"`
	Genres    []catalog.Genre `record:"genres"`
	Localized []planLocalized `record:"localized"`
}

// planSeason and planEpisode have the ids of seasons and episodes.
type planSeason struct {
	record.Object
	Episodes     []planSeasonEpisode `record:"episodes"`
	ID           record.Int          `record:"id"`
	SeasonNumber record.Int          `record:"season_number"`
	SeriesID     record.Int          `record:"series_id,own"`
	Localized    []planEpisodes      `record:"localized,own"`
}

// planEpisodes are the episodes that a crawl in another language gave.
type planEpisodes struct {
	record.Object
	Episodes []planSeasonEpisode `record:"episodes"`
}

// numbered returns the episodes of a season that are built from its list, but for those
// that have a record of their own: see render.Base and seriesMapper.allEpisodes.
func (s *planSeason) numbered() []planSeasonEpisode {
	list := s.Episodes
	for i := range s.Localized {
		if list == nil {
			list = s.Localized[i].Episodes
		}
	}
	have := map[int64]bool{}
	out := list[:0:0]
	for _, e := range list {
		if n := e.EpisodeNumber; derive.IsNumber(n) && !have[n.V] {
			have[n.V] = true
			out = append(out, e)
		}
	}
	return out
}

type planSeasonEpisode struct {
	record.Object
	EpisodeNumber record.Int `record:"episode_number"`
	ID            record.Int `record:"id"`
}

type planEpisode struct {
	record.Object
	EpisodeNumber record.Int `record:"episode_number"`
	ID            record.Int `record:"id"`
	SeasonNumber  record.Int `record:"season_number"`
	SeriesID      record.Int `record:"series_id,own"`
}

// makePlan reads a few columns of the whole catalogue. What it keeps in memory is
// small: the distinct lists of genres, sixteen bytes for each IMDb id, and the ids that
// several claim.
func (b *builder) makePlan(ctx context.Context) error {
	p := &b.plan
	p.genres = map[fragment.Kind]map[string][]int64{fragment.KindMovie: {}, fragment.KindTV: {}}
	p.latest = map[fragment.Kind]int64{}
	p.imdbOwners, p.idOwners = map[uint64]int64{}, map[ownID]catalog.Key{}
	for _, step := range []func(context.Context) error{b.planMovies, b.planSeries, b.planPersons, b.planOwnIDs} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return b.planNeighbours(ctx)
}

// divide makes the spans of the map stage and the partitions of the reduce stage.
func (p *plan) divide(inputs map[fragment.Kind]*input) {
	p.movies = spansOf(inputs[fragment.KindMovie], maxTitleShards)
	// Seasons have the most text by far; where there are none, series are divided.
	widest := inputs[fragment.KindSeason]
	for _, k := range []fragment.Kind{fragment.KindTV, fragment.KindEpisode} {
		if in := inputs[k]; in != nil && (widest == nil || len(in.first) > len(widest.first)) {
			widest = in
		}
	}
	p.series = []span{everything}
	if widest != nil {
		p.series = seriesSpans(widest.first)
	}
	movies, seasons := inputs[fragment.KindMovie].rows(), inputs[fragment.KindSeason].rows()
	p.reduce, p.reduceOrder, p.partitions = map[fragment.Kind]*reducePlan{}, nil, 0
	credits := movies*creditsOfMovie + seasons*creditsOfSeason
	refs := (movies + inputs[fragment.KindTV].rows()) * refsOfTitle
	for _, r := range []struct {
		kind   fragment.Kind
		expect int64 // records from titles
		most   int
	}{
		{fragment.KindPerson, credits, maxPersonShards},
		{fragment.KindCollection, movies, maxOtherShards},
		{fragment.KindCompany, refs, maxOtherShards},
		{fragment.KindNetwork, refs / refsOfTitle, maxOtherShards},
		{fragment.KindKeyword, refs, maxOtherShards},
		{fragment.KindReview, refs, maxOtherShards},
		{fragment.KindCredit, credits, maxCreditShards},
		{fragment.KindEpisodeGroup, 0, maxOtherShards},
		{fragment.KindList, 0, maxOtherShards},
	} {
		rp := &reducePlan{kind: r.kind, spans: spansOf(inputs[r.kind], r.most)}
		rp.subs = int(min(r.expect/partitionSize/int64(len(rp.spans))+1, int64(r.most/len(rp.spans))))
		p.addReduce(rp)
	}
	p.finds = int(min((movies+seasons+inputs[fragment.KindPerson].rows())/partitionSize+1, maxOtherShards))
}

// addReduce gives a kind the next partitions.
func (p *plan) addReduce(r *reducePlan) {
	r.first = p.partitions
	p.partitions += r.partitions()
	p.reduce[r.kind] = r
	p.reduceOrder = append(p.reduceOrder, r.kind)
}

// spansOf divides a kind by the row groups of its file. Without one there is a span too:
// there may be a file the next time.
func spansOf(in *input, most int) []span {
	if in == nil {
		return []span{everything}
	}
	return spans(in.first, most)
}

// seriesSpans divides series by row groups, between series.
func seriesSpans(first []catalog.Key) []span {
	keys := slices.Clone(first)
	for i := range keys {
		keys[i].Lo = 0
	}
	return spans(keys, maxTitleShards)
}

func (b *builder) planMovies(ctx context.Context) error {
	var claims []claim
	err := eachRow(ctx, b.inputs[fragment.KindMovie], func(row *planMovie) error {
		if b.removed.Has(fragment.KindMovie, catalog.NumberKey(row.ID.V)) {
			return nil
		}
		b.plan.addGenres(fragment.KindMovie, row.Genres, row.Localized)
		b.plan.latest[fragment.KindMovie] = row.ID.V
		id := row.IMDbID.V
		if row.ExternalIDs != nil {
			id = catalog.FirstIMDb(id, row.ExternalIDs.IMDbID.V)
		}
		if n, ok := imdbNumber(id); ok {
			claims = append(claims, claim{n, row.ID.V})
		}
		return nil
	})
	b.plan.settle(claims)
	return err
}

func (b *builder) planSeries(ctx context.Context) error {
	return eachRow(ctx, b.inputs[fragment.KindTV], func(row *planTV) error {
		if b.removed.Has(fragment.KindTV, catalog.NumberKey(row.ID.V)) {
			return nil
		}
		b.plan.addGenres(fragment.KindTV, row.Genres, row.Localized)
		b.plan.latest[fragment.KindTV] = row.ID.V
		return nil
	})
}

func (b *builder) planPersons(ctx context.Context) error {
	return eachRow(ctx, b.inputs[fragment.KindPerson], func(row *planID) error {
		if !b.removed.Has(fragment.KindPerson, catalog.NumberKey(row.ID.V)) {
			b.plan.sawPerson(row.ID.V)
		}
		return nil
	})
}

// sawPerson remembers the highest id of a person.
func (p *plan) sawPerson(id int64) {
	for {
		n := p.persons.Load()
		if id <= n || p.persons.CompareAndSwap(n, id) {
			return
		}
	}
}

// eachRow calls fn with the columns of P of every record of an input, which may be nil,
// until fn returns an error.
func eachRow[P any](ctx context.Context, in *input, fn func(*P) error) error {
	if in == nil {
		return nil
	}
	rows := in.Project(record.SchemaOf[P]())
	defer rows.Close()
	for row, err := range catalog.Each[P](rows) {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(row); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) addGenres(kind fragment.Kind, base []catalog.Genre, localized []planLocalized) {
	lists := [][]catalog.Genre{base}
	for i := range localized {
		lists = append(lists, render.EnglishGenres(kind, localized[i].Genres))
	}
	for _, list := range lists {
		if !render.ShareGenres(kind, list) {
			continue
		}
		ids := render.GenreIDs(list)
		p.genres[kind][render.GenresName(ids)] = ids
	}
}

// genreNames returns the names of the shared lists of genres of a kind, in order.
func (p *plan) genreNames(kind fragment.Kind) []string {
	return slices.Sorted(maps.Keys(p.genres[kind]))
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

// planOwnIDs finds the ids that several seasons, or several episodes, claim as their
// own. There are millions of ids and hardly any claimed twice, so they are compared a
// partition at a time.
func (b *builder) planOwnIDs(ctx context.Context) (err error) {
	claims, err := shuffle.New(b.work, b.plan.finds, b.Memory/16)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, claims.Close()) }()
	if err := b.claimIDs(ctx, claims); err != nil {
		return err
	}
	for i := range claims.Partitions() {
		if err := b.settleIDs(ctx, claims, i); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) claimIDs(ctx context.Context, claims *shuffle.Shuffle) error {
	w := claims.Writer()
	claim := func(kind fragment.Kind, id int64, k catalog.Key) error {
		if id < 1 || b.removed.Has(kind, k) {
			return nil
		}
		key := binary.BigEndian.AppendUint64([]byte{byte(kind)}, uint64(id))
		return w.Add(uint64(id), key, appendKey(nil, k))
	}
	err := eachRow(ctx, b.inputs[fragment.KindSeason], func(s *planSeason) error {
		err := claim(fragment.KindSeason, s.ID.V, catalog.SeasonKey(s.SeriesID.V, s.SeasonNumber.V))
		for _, e := range s.numbered() {
			err = cmp.Or(err, claim(fragment.KindEpisode, e.ID.V, catalog.EpisodeKey(s.SeriesID.V, s.SeasonNumber.V, e.EpisodeNumber.V)))
		}
		return err
	})
	if err == nil {
		err = eachRow(ctx, b.inputs[fragment.KindEpisode], func(e *planEpisode) error {
			return claim(fragment.KindEpisode, e.ID.V, catalog.EpisodeKey(e.SeriesID.V, e.SeasonNumber.V, e.EpisodeNumber.V))
		})
	}
	return errors.Join(err, w.Close())
}

// settleIDs gives ids that are claimed by several to the first of them.
func (b *builder) settleIDs(ctx context.Context, claims *shuffle.Shuffle, i int) error {
	it, err := claims.Partition(ctx, i, b.Memory/8)
	if err != nil {
		return err
	}
	defer it.Close()
	var last ownID
	var owner catalog.Key
	return it.Each(func(key, payload []byte) error {
		id, k := ownID{fragment.Kind(key[0]), binary.BigEndian.Uint64(key[1:])}, parseKey(payload)
		if id != last {
			last, owner = id, k
		} else if k != owner {
			b.plan.idOwners[id] = owner
		}
		return nil
	})
}

// ownAlias returns the alias by which a season or an episode is found by its own id;
// none when another one owns that.
func (p *plan) ownAlias(kind fragment.Kind, id int64, k catalog.Key) [][]byte {
	if id < 1 {
		return nil
	}
	if owner, shared := p.idOwners[ownID{kind, uint64(id)}]; shared && owner != k {
		return nil
	}
	return [][]byte{fragment.AppendAlias(nil, kind, strconv.FormatInt(id, 10))}
}

// shards returns how many shards the plan makes: the common one, those of the map stage,
// those of the reduce stage, those of find.
func (p *plan) shards() int { return 1 + p.titleShards() + p.partitions + p.finds }

// titleShards returns how many shards have titles: those behind the common one.
func (p *plan) titleShards() int { return len(p.movies) + len(p.series) }
