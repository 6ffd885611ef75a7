package neighbours

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// settings must not affect the results.
type settings struct {
	parts, writers int
	memory         int64
}

// partsOf writes the parts of a Table of titles to a folder and returns their paths.
func partsOf(tb testing.TB, dir string, titles []Title, s settings) (paths []string) {
	tb.Helper()
	var files []*extsort.File
	for i := range s.writers {
		sorter := extsort.New(extsort.Options{Dir: dir, Memory: s.memory, Sections: s.parts})
		w := NewWriter(sorter, 0, s.parts)
		for k := i; k < len(titles); k += s.writers {
			sharedtest.NoError(tb, w.Add(&titles[k]))
		}
		f, err := sorter.WriteFile(tb.Context(), filepath.Join(dir, fmt.Sprintf("features-%d", i)))
		sharedtest.NoError(tb, errors.Join(err, sorter.Close()))
		defer f.Close()
		files = append(files, f)
	}
	for i := range s.parts {
		path := filepath.Join(dir, fmt.Sprintf("part-%d", i))
		it, err := extsort.Merge(tb.Context(), files, i, extsort.Options{Dir: dir, Memory: s.memory})
		sharedtest.NoError(tb, err)
		sharedtest.NoError(tb, errors.Join(WritePart(path, it), it.Close()))
		paths = append(paths, path)
	}
	return paths
}

// tableOf makes a Table of titles in a folder.
func tableOf(tb testing.TB, dir string, titles []Title, s settings) *Table {
	tb.Helper()
	t, err := Open(partsOf(tb, dir, titles, s), int64(len(titles)))
	sharedtest.NoError(tb, err)
	return t
}

func find(tb testing.TB, f *Finder, t *Title) Result {
	tb.Helper()
	var r Result
	sharedtest.NoError(tb, f.Find(t, &r))
	return r
}

var weights = map[kind]float64{genre: 1, keyword: 1, person: 0.5, collection: 2}

// clampVotes returns n within uint32.
func clampVotes(n int64) uint32 {
	return uint32(max(0, min(n, math.MaxUint32)))
}

// clampPopularity returns x, or 0 for NaN, infinity and negative values.
func clampPopularity(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return 0
	}
	return x
}

// expect computes the result of Find by brute force.
func expect(titles []Title, t *Title) Result {
	lists := map[feature][]*Title{}
	for i := range titles {
		for _, f := range titles[i].appendFeatures(nil) {
			lists[f] = append(lists[f], &titles[i])
		}
	}
	own := t.appendFeatures(nil)
	weight := func(f feature) float64 {
		return float64(weights[f.kind()] * math.Log1p(float64(len(titles))/float64(len(lists[f]))))
	}
	shared, alike := map[*Title]float64{}, map[*Title]float64{}
	for _, f := range own {
		for _, b := range listed(lists[f], t.Adult) {
			if _, ok := shared[b]; b.ID == t.ID || ok {
				continue
			}
			shared[b] = 0
			for _, g := range b.appendFeatures(nil) {
				if g.kind() == genre && slices.Contains(own, g) {
					shared[b] += weight(g)
				}
			}
			alike[b] = shared[b]
		}
	}
	for _, f := range own {
		for _, b := range listed(lists[f], t.Adult) {
			if b.ID != t.ID && f.kind() != genre {
				shared[b] += weight(f)
			}
			if b.ID != t.ID && f.kind() == keyword {
				alike[b] += weight(f)
			}
		}
	}
	return Result{ranked40(shared), ranked40(alike)}
}

// listed returns the candidates among the titles of a feature.
func listed(all []*Title, adult bool) []*Title {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b *Title) int {
		return cmp.Or(
			cmp.Compare(clampVotes(b.Votes), clampVotes(a.Votes)),
			cmp.Compare(clampPopularity(b.Popularity), clampPopularity(a.Popularity)), cmp.Compare(a.ID, b.ID))
	})
	var safe, not []*Title
	for _, t := range all {
		if t.Adult {
			not = append(not, t)
		} else {
			safe = append(safe, t)
		}
	}
	safe, not = safe[:min(len(safe), listSize)], not[:min(len(not), listSize)]
	if adult {
		return append(safe, not...)
	}
	return safe
}

func ranked40(sums map[*Title]float64) []int64 {
	type scored struct {
		t     *Title
		score float64
	}
	var all []scored
	for t, sum := range sums {
		if sum > 0 {
			all = append(all, scored{t, sum * math.Sqrt(1+math.Log1p(float64(clampVotes(t.Votes))))})
		}
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(clampVotes(b.t.Votes), clampVotes(a.t.Votes)), cmp.Compare(a.t.ID, b.t.ID))
	})
	ids := []int64{}
	for _, s := range all[:min(len(all), maxNeighbours)] {
		ids = append(ids, s.t.ID)
	}
	return ids
}

func equal(a, b Result) bool {
	return slices.Equal(a.Recommendations, b.Recommendations) && slices.Equal(a.Similar, b.Similar)
}

// someTitles returns n random titles, with genres and keywords so common that lists are longer than listSize.
func someTitles(rng *rand.Rand, n int) []Title {
	ids := func(most int, from int64) []int64 {
		l := make([]int64, rng.IntN(most+1))
		for i := range l {
			l[i] = 1 + int64(math.Pow(float64(from), rng.Float64())) // few are common, most are rare
		}
		return l
	}
	titles := make([]Title, n)
	for i, id := range rng.Perm(n) {
		titles[i] = Title{
			ID: int64(id) + 1, Genres: ids(4, 18), Keywords: ids(9, int64(n)), People: ids(12, int64(4*n)),
			Votes: int64(math.Pow(30_000, rng.Float64())) - 1, Popularity: float64(rng.IntN(5)), Adult: rng.IntN(20) == 0,
		}
		if rng.IntN(5) == 0 {
			titles[i].Collection = 1 + rng.Int64N(int64(n/20)+1)
		}
	}
	return titles
}

// TestFind compares long lists with brute force, found by several Finders at once.
func TestFind(t *testing.T) {
	titles := someTitles(rand.New(rand.NewPCG(1, 1)), 3000)
	table := tableOf(t, t.TempDir(), titles, settings{parts: 3, writers: 1, memory: 1 << 20})
	defer table.Close()
	var all sync.WaitGroup
	for k := range 4 {
		all.Go(func() {
			f := table.Finder()
			var got Result
			for i := k; i < 200; i += 4 {
				if err := f.Find(&titles[i], &got); err != nil {
					t.Error(err)
					return
				}
				if want := expect(titles, &titles[i]); !equal(got, want) {
					t.Errorf("title %d:\n got %v\nwant %v", titles[i].ID, got, want)
					return
				}
			}
		})
	}
	all.Wait()
}

// TestFindAny compares any small catalogue in any setting with brute force.
func TestFindAny(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.SliceOfN(rapid.Int64Range(1, 6), 0, 4)
		n := rapid.IntRange(0, 30).Draw(rt, "titles")
		titles := make([]Title, n)
		for i := range titles {
			titles[i] = Title{
				ID: int64(n - i), Genres: ids.Draw(rt, "genres"), Keywords: ids.Draw(rt, "keywords"), People: ids.Draw(rt, "people"),
				Collection: rapid.Int64Range(0, 3).Draw(rt, "collection"), Votes: rapid.Int64Range(0, 2).Draw(rt, "votes"), Adult: rapid.Bool().Draw(rt, "adult"),
			}
		}
		table := tableOf(t, dir, titles, settings{
			rapid.IntRange(1, 5).Draw(rt, "parts"), rapid.IntRange(1, 3).Draw(rt, "writers"), rapid.Int64Range(0, 1<<20).Draw(rt, "memory"),
		})
		f := table.Finder()
		for i := range titles {
			if got, want := find(t, f, &titles[i]), expect(titles, &titles[i]); !equal(got, want) {
				rt.Fatalf("title %d: got %v, want %v", titles[i].ID, got, want)
			}
		}
		sharedtest.NoError(rt, errors.Join(table.Close(), os.RemoveAll(dir), os.Mkdir(dir, 0o700)))
	})
}

func TestRules(t *testing.T) {
	titles := []Title{
		{ID: 1, Genres: []int64{18}, Keywords: []int64{7}, People: []int64{5}, Votes: 10},
		{ID: 2, Genres: []int64{18}, Keywords: []int64{7}, Votes: 10},
		{ID: 3, Genres: []int64{18}, People: []int64{5}, Votes: 10},
		{ID: 4, Genres: []int64{18}, Votes: 10, Adult: true},
		{ID: 5, Collection: 18, Votes: 10},
		{ID: 6, Keywords: []int64{18}, Popularity: math.NaN(), Votes: -1},
		{ID: 7, Collection: 18, People: []int64{5, 5}, Votes: math.MaxInt64},
	}
	table := tableOf(t, t.TempDir(), titles, settings{2, 1, 0})
	defer table.Close()
	f := table.Finder()
	tests := []struct {
		name string
		of   Title
		want Result
	}{
		{"all kinds of features", titles[0], Result{[]int64{2, 3, 7}, []int64{2, 3}}},
		{"adult titles of an adult title", Title{ID: 9, Genres: []int64{18}, Adult: true}, Result{[]int64{1, 2, 3, 4}, []int64{1, 2, 3, 4}}},
		{"same id of another kind", titles[5], Result{}},
		{"collection is not similar", titles[4], Result{[]int64{7}, nil}},
		{"nothing known", Title{ID: 100}, Result{}},
		{"nothing in common", Title{ID: 100, Genres: []int64{-1}, Keywords: []int64{1 << 60}}, Result{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := find(t, f, &tt.of); !equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestFindAllocates(t *testing.T) {
	titles := someTitles(rand.New(rand.NewPCG(3, 3)), 2000)
	table := tableOf(t, t.TempDir(), titles, settings{2, 1, 1 << 20})
	defer table.Close()
	f, i := table.Finder(), 0
	var r Result
	for k := range titles {
		if err := f.Find(&titles[k], &r); err != nil { // grows its memory
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(500, func() {
		i++
		sharedtest.NoError(t, f.Find(&titles[i], &r))
	}); n >= 1 {
		t.Errorf("%v allocations per title", n)
	}
}

func TestDamagedTable(t *testing.T) {
	titles := someTitles(rand.New(rand.NewPCG(4, 4)), 2000)
	for name, damage := range map[string]func([]byte) []byte{
		"bit":       func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"cut":       func(b []byte) []byte { return b[:len(b)/2] },
		"cut early": func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			table := tableOf(t, t.TempDir(), titles, settings{1, 1, 1 << 20})
			defer table.Close()
			path := table.parts[0].path
			b, err := os.ReadFile(path)
			sharedtest.NoError(t, err)
			sharedtest.NoError(t, os.WriteFile(path, damage(b), 0o600))
			f, failed := table.Finder(), 0
			for i := range titles {
				var r Result
				if err := f.Find(&titles[i], &r); err != nil {
					failed++
					if !strings.Contains(err.Error(), path) {
						t.Fatalf("error %v does not name %s", err, path)
					}
				} else if i < 20 && !equal(r, expect(titles, &titles[i])) {
					t.Fatalf("title %d is wrong without an error", titles[i].ID)
				}
			}
			if failed == 0 {
				t.Error("nothing noticed the damage")
			}
		})
	}
}

// TestDamagedPart: a part with damaged entries does not open.
func TestDamagedPart(t *testing.T) {
	titles := someTitles(rand.New(rand.NewPCG(4, 4)), 200)
	paths := partsOf(t, t.TempDir(), titles, settings{1, 1, 1 << 20})
	sound, err := os.ReadFile(paths[0])
	sharedtest.NoError(t, err)
	for cut := range sound {
		if len(sound)-cut > 200 {
			cut = cut * 37 % len(sound)
		}
		sharedtest.NoError(t, os.WriteFile(paths[0], sound[:cut], 0o600))
		if table, err := Open(paths, 200); err == nil {
			table.Close()
			t.Fatalf("the first %d of %d bytes open", cut, len(sound))
		} else if !strings.Contains(err.Error(), paths[0]) {
			t.Fatalf("error %v does not name %s", err, paths[0])
		}
	}
	for at := len(sound) - 2*entryBytes - sumBytes; at < len(sound); at++ {
		damaged := slices.Clone(sound)
		damaged[at] ^= 1
		sharedtest.NoError(t, os.WriteFile(paths[0], damaged, 0o600))
		if table, err := Open(paths, 200); err == nil {
			table.Close()
			t.Fatalf("with another byte %d of %d it opens", at, len(sound))
		}
	}
}
