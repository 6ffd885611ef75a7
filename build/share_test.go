package build

import (
	"cmp"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"reelsplice/build/buildtest"
)

// TestTopRows compares with sorting all rows, many of which are equally popular.
func TestTopRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) popular {
			return popular{float64(rapid.IntRange(0, 5).Draw(t, "popularity")), rapid.Int64Range(1, 1000).Draw(t, "id")}
		}), 0, 60, func(p popular) int64 { return p.id }).Draw(t, "rows")
		top := topRows{n: rapid.IntRange(0, 70).Draw(t, "n")}
		for _, p := range all {
			top.add(p)
			if len(top.rows) > 2*top.n {
				t.Fatalf("%d rows are held, want %d at most", len(top.rows), 2*top.n)
			}
		}
		slices.SortFunc(all, func(a, b popular) int {
			return cmp.Or(cmp.Compare(b.popularity, a.popularity), cmp.Compare(a.id, b.id))
		})
		var want []int64
		for _, p := range all[:min(top.n, len(all))] {
			want = append(want, p.id)
		}
		slices.Sort(want)
		if got := top.ids(); !slices.Equal(got, want) {
			t.Fatalf("ids = %d, want %d", got, want)
		}
	})
}

// TestBest builds with shares of several sizes: each has the same answers in fewer bytes,
// whatever the jobs, and says so.
func TestBest(t *testing.T) {
	movies, shares := buildtest.Sample(t, "movies"), []float64{1, 20, 100}
	if testing.Short() { // the encoder is slow, more so under the race detector
		movies, shares = movies[:20], shares[1:]
	}
	c := config(t, buildtest.Catalog(t, movies...))
	was := run(t, c)
	for _, share := range shares {
		c.Best, c.Jobs = share, 1
		r := run(t, c)
		if r.RawBytes != was.RawBytes || r.Fragments != was.Fragments {
			t.Errorf("share %v: %d fragments of %d bytes, want %d of %d", share, r.Fragments, r.RawBytes, was.Fragments, was.RawBytes)
		}
		if r.StoredBytes >= was.StoredBytes {
			t.Errorf("share %v: %d bytes stored, want fewer than %d", share, r.StoredBytes, was.StoredBytes)
		}
		if got := openRelease(t, filepath.Join(c.Releases, r.Release)).Manifest().Params[paramBest]; got == "" || r.Best != share {
			t.Errorf("share %v: the manifest says %q, the report %v", share, got, r.Best)
		}
		verify(t, filepath.Join(c.Releases, r.Release))
		c.Jobs = 4
		if again := run(t, c); again.Release != r.Release {
			t.Errorf("share %v: release %s with 1 job, %s with 4", share, r.Release, again.Release)
		}
		was = r
	}
}

// TestBestAnew: upon a release of another share, nothing is kept.
func TestBestAnew(t *testing.T) {
	c := config(t, buildtest.Catalog(t, buildtest.Sample(t, "movies")[:5]...))
	for i, share := range []float64{0, 20, 20, 40, 0} {
		c.Best = share
		r := run(t, c)
		if want := i == 2; r.Kept > 0 != want || r.Unchanged != want {
			t.Errorf("build %d, of share %v: %d units kept, unchanged is %t; want any to be kept: %t", i, share, r.Kept, r.Unchanged, want)
		}
		c.Previous = r.Release
	}
}
