package query

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/serve/route"
)

// releaseOf makes a release with tables and opens it.
func releaseOf(t *testing.T, rows int, tables map[fragment.Kind]memory) *release.Reader {
	t.Helper()
	dir := t.TempDir()
	w, err := releasetest.Create(dir)
	ok(t, err)
	s, err := w.Part(nil)
	ok(t, err)
	err = s.Add(release.ResourceSpec{Key: fragment.AppendID(nil, fragment.KindMovie, 550), ID: 550})
	ok(t, err)
	_, err = s.Close()
	ok(t, err)
	for kind, m := range tables {
		tw, err := w.Table(kind.String(), rows)
		ok(t, err)
		for name, b := range m {
			_, err := tw.Section(name).Write(b)
			ok(t, err)
		}
		ok(t, tw.Close())
	}
	m, err := w.Seal(t.Context())
	ok(t, err)
	r, err := release.Open(filepath.Join(dir, m.ID))
	ok(t, err)
	t.Cleanup(func() { ok(t, r.Close()) })
	return r
}

// TestOpen opens a release, and asks it from several goroutines at once.
func TestOpen(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	const rows = 300
	movie, tv := fragment.KindMovie, fragment.KindTV
	docs := map[fragment.Kind][]doc{movie: randomDocs(rng, rows, true), tv: randomDocs(rng, rows, false)}
	rel := releaseOf(t, rows, map[fragment.Kind]memory{movie: tableOf(t, movie, docs[movie]), tv: tableOf(t, tv, docs[tv])})
	e := Open(rel, 20_000) // for a few results
	ok(t, e.Err())
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(11, uint64(g)))
			for range 100 {
				kind := pick(rng, []fragment.Kind{movie, tv})
				params := map[string]string{
					"with_genres": pick(rng, []string{"1", "2", "3|4"}), "sort_by": pick(rng, []string{"vote_average.desc", "title.asc", ""}),
					"region": pick(rng, []string{"US", "DE", ""}),
				}
				f := ParseFilter(kind, pairs(rng, params))
				var got Result
				if err := e.Discover(&f, 1, 20, &got); err != nil {
					t.Error(err)
				}
				ids, days, total := brute{kind == movie, params}.page(docs[kind], 1, 20)
				if got.Total != total || !rowsAre(got.Rows, kind, ids, days) {
					t.Errorf("%s %v: %v of %d, want %v of %d", kind, params, got.Rows, got.Total, ids, total)
				}
			}
		})
	}
	wg.Wait()
}

// TestUnfit: a table that does not fit keeps only the queries that need it from being
// answered.
func TestUnfit(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 12))
	movie, tv := fragment.KindMovie, fragment.KindTV
	docs := map[fragment.Kind][]doc{movie: randomDocs(rng, 100, true), tv: randomDocs(rng, 100, false)}
	for column, damage := range map[tables.ColumnID]func(m memory, section string){
		tables.VoteCount: func(m memory, section string) { m[section] = m[section][:4] },
		tables.ID:        func(m memory, section string) { delete(m, section) }, // it is required
	} {
		m := tableOf(t, movie, docs[movie])
		damage(m, column.String())
		e := Open(releaseOf(t, 100, map[fragment.Kind]memory{movie: m, tv: tableOf(t, tv, docs[tv])}), DefaultCacheBytes)
		if err := e.Err(); !errors.Is(err, release.ErrCorrupt) || !strings.Contains(err.Error(), column.String()) {
			t.Errorf("%s: %v", column, err)
		}
		for kind, want := range map[fragment.Kind]error{movie: release.ErrCorrupt, tv: nil, 0: release.ErrCorrupt} {
			var got Result
			s := Search{Kind: kind, Query: []byte("a")}
			for what, err := range map[string]error{"trending": e.Trending(kind, true, 1, 20, &got), "search": e.Search(&s, 1, 20, &got)} {
				if !errors.Is(err, want) {
					t.Errorf("%s: %s of %s: %v, want %v", column, what, kind, err, want)
				}
			}
			if f := Popular(kind); kind != 0 {
				if err := e.Discover(&f, 1, 20, &got); !errors.Is(err, want) || err == nil && got.Total == 0 {
					t.Errorf("%s: discover %s: %v, want %v", column, kind, err, want)
				}
			}
		}
	}
}

// TestAbsent asks a release of an older program, without one section of one column: all queries work.
func TestAbsent(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 13))
	docs := map[fragment.Kind][]doc{fragment.KindMovie: randomDocs(rng, 100, true), fragment.KindTV: randomDocs(rng, 100, false)}
	for kind, list := range docs {
		whole := tableOf(t, kind, list)
		for _, c := range tables.Columns(kind) {
			for _, section := range c.Sections() {
				m := maps.Clone(whole)
				delete(m, section)
				tab, err := tables.OpenSections(kind, m, len(list))
				if c.Required {
					if !errors.Is(err, release.ErrCorrupt) {
						t.Errorf("%s without %s: %v", kind, section, err)
					}
					continue
				}
				ok(t, err)
				e := &Engine{tables: map[fragment.Kind]*table{kind: {Table: tab}}}
				var got Result
				for range 10 {
					f := parse(t, kind, randomParams(rng, kind == fragment.KindMovie))
					ok(t, e.Discover(&f, 1, 20, &got))
				}
				now, _ := InWindow(api.AnswerNowPlaying, kind, firstTestDay, route.Country{'U', 'S'})
				best := topRated(kind)
				ok(t, errors.Join(e.Discover(&now, 1, 20, &got), e.Discover(&best, 1, 20, &got)))
				s := Search{Kind: kind, Query: []byte("a"), Year: 1970, PrimaryYear: 1970, FirstAirYear: 1970, Fuzzy: true, Region: route.Country{'U', 'S'}}
				ok(t, e.Search(&s, 1, 20, &got))
				for _, week := range []bool{false, true} {
					ok(t, e.Trending(kind, week, 1, 20, &got))
					popular := Popular(kind)
					popular.video = true
					var want Result
					ok(t, e.Discover(&popular, 1, 20, &want))
					if lost := c.ID == tables.TrendDay && !week || c.ID == tables.TrendWeek && week; lost && !slices.Equal(got.Rows, want.Rows) {
						t.Errorf("%s without %s: trending is %v, want %v", kind, section, got.Rows, want.Rows)
					}
				}
			}
		}
	}
}

// TestAbsentFilters: an absent column's filter is ignored, and its order falls back.
func TestAbsentFilters(t *testing.T) {
	docs := randomDocs(rand.New(rand.NewPCG(14, 14)), 300, true)
	all := tableOf(t, fragment.KindMovie, docs)
	whole := openDocs(t, fragment.KindMovie, docs)
	for _, c := range []struct {
		column      tables.ColumnID
		query, same string
	}{
		{tables.Genre, "with_genres=1,2|3&without_genres=4&vote_count.gte=2", "vote_count.gte=2"},
		{tables.Title, "sort_by=title.asc&with_genres=1", "with_genres=1"},
		{tables.Revenue, "sort_by=revenue.asc", "sort_by=popularity.desc"},
		{tables.VoteAverage, "sort_by=vote_average.asc&vote_average.gte=1", ""},
		{tables.Crew, "with_people=5|6|7", "with_cast=5|6|7"},
		{tables.Day, "primary_release_year=1970&include_null_first_air_dates=true&sort_by=release_date.asc", ""},
		{tables.AnyYear, "year=1970", ""},
		{tables.FirstDay, "release_date.gte=1970-01-01&release_date.lte=1971-01-01", ""},
		{tables.Release, "release_date.gte=1970-01-01&release_date.lte=1971-01-01", ""},
		{tables.Release, "region=US&with_release_type=2|3&release_date.gte=1970-01-01&with_genres=1", "with_genres=1"},
		{tables.LastDay, "region=US&with_release_type=2|3&release_date.gte=1970-01-01", "region=US&with_release_type=2|3&release_date.gte=1970-01-01"},
		{tables.Offer, "watch_region=US&with_watch_providers=1&without_watch_providers=2", ""},
		{tables.Certification, "certification_country=US&certification=R", ""},
	} {
		m := maps.Clone(all)
		for _, section := range c.column.Column().Sections() {
			delete(m, section)
		}
		tab, err := tables.OpenSections(fragment.KindMovie, m, len(docs))
		ok(t, err)
		var got, want Result
		f, same := queryOf(t, fragment.KindMovie, c.query), queryOf(t, fragment.KindMovie, c.same)
		older, newer := &Engine{tables: map[fragment.Kind]*table{fragment.KindMovie: {Table: tab}}}, &Engine{tables: map[fragment.Kind]*table{fragment.KindMovie: whole}}
		ok(t, errors.Join(older.Discover(&f, 1, 300, &got), newer.Discover(&same, 1, 300, &want)))
		if got.Total != want.Total || got.Total == 0 || !slices.Equal(got.Rows, want.Rows) {
			t.Errorf("without %s, %s finds %v of %d, want %v of %d", c.column, c.query, got.Rows, got.Total, want.Rows, want.Total)
		}
	}
}

// TestWarm: Warm reads the ids of a table, in which it finds damage, unless the limit is below their length.
func TestWarm(t *testing.T) {
	movie := fragment.KindMovie
	rel := releaseOf(t, 300, map[fragment.Kind]memory{movie: tableOf(t, movie, randomDocs(rand.New(rand.NewPCG(7, 7)), 300, true))})
	damage := 0
	rel.NotifyDamage(func(*release.CorruptError) { damage++ })
	table, _ := rel.Table(movie.String())
	file := rel.File("table-" + movie.String())
	at := bytes.Index(file.Content(), table.Unchecked(tables.ID.String()))
	f, err := os.OpenFile(file.Path(), os.O_WRONLY, 0) // the mapping shows the change
	ok(t, err)
	_, err = f.WriteAt([]byte{file.Content()[at] ^ 1}, int64(at))
	ok(t, errors.Join(err, f.Close()))
	e := Open(rel, 0)
	ok(t, e.Err())
	if e.Warm(t.Context(), 0); damage > 0 {
		t.Error("Warm reads beyond its limit")
	}
	if e.Warm(t.Context(), 1<<30); damage == 0 {
		t.Error("Warm does not read the ids")
	}
}
