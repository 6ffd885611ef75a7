package query

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/writertest"
	"github.com/reelsplice/reelsplice/schemas/tables"
)

// releaseOf makes a release with tables and opens it.
func releaseOf(t *testing.T, rows int, tables map[fragment.Kind]memory) *release.Reader {
	t.Helper()
	dir := t.TempDir()
	w, err := writertest.Create(dir)
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
				f, err := ParseFilter(kind, pairs(rng, params))
				var got Result
				if err = errors.Join(err, e.Discover(kind, &f, 1, 20, &got)); err != nil {
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
	m := tableOf(t, movie, docs[movie])
	delete(m, tables.VoteCount.String())
	e := Open(releaseOf(t, 100, map[fragment.Kind]memory{movie: m, tv: tableOf(t, tv, docs[tv])}), DefaultCacheBytes)
	if err := e.Err(); !errors.Is(err, release.ErrCorrupt) || !strings.Contains(err.Error(), "vote_count") {
		t.Errorf("without vote_count: %v", err)
	}
	for kind, want := range map[fragment.Kind]error{movie: release.ErrCorrupt, tv: nil, 0: release.ErrCorrupt} {
		var got Result
		s := Search{Kind: kind, Query: []byte("a")}
		for what, err := range map[string]error{"trending": e.Trending(kind, true, 1, 20, &got), "search": e.Search(&s, 1, 20, &got)} {
			if !errors.Is(err, want) {
				t.Errorf("%s of %s: %v, want %v", what, kind, err, want)
			}
		}
		if f := Popular(kind); kind != 0 {
			if err := e.Discover(kind, &f, 1, 20, &got); !errors.Is(err, want) || err == nil && got.Total == 0 {
				t.Errorf("discover %s: %v, want %v", kind, err, want)
			}
		}
	}
}

func TestNoTables(t *testing.T) {
	e := Open(releaseOf(t, 0, nil), DefaultCacheBytes)
	ok(t, e.Err())
	var got Result
	f := Popular(fragment.KindMovie)
	if err := errors.Join(e.Discover(fragment.KindMovie, &f, 1, 20, &got), e.Trending(0, true, 1, 20, &got)); err != nil || got.Total != 0 {
		t.Errorf("a release without tables: %v, %v", got, err)
	}
}
