package gen

import (
	"math"
	"slices"
	"testing"
)

func TestTail(t *testing.T) {
	d := tail{0, 10, 100, 1000}
	for _, tt := range []struct {
		u    uint64
		want int
	}{{math.MaxUint64, 1}, {1 << 63, 10}, {3 << 61, 55}, {1 << 62, 100}, {1 << 61, 1000}, {1, 1000}, {0, 1000}} {
		if got := d.at(tt.u); got != tt.want {
			t.Errorf("at(%#x) = %d, want %d", tt.u, got, tt.want)
		}
	}
	for _, d := range []tail{figures().Tail.MovieVotes, figures().Tail.TVVotes, figures().Tail.MoviePopularity, figures().Tail.TVPopularity, figures().Tail.PersonPopularity} {
		if !slices.IsSorted(d) {
			t.Errorf("tail %v is not sorted", d)
		}
	}
}

func TestLogNormal(t *testing.T) {
	r := random{1}
	var list []int
	for range 100_000 {
		list = append(list, r.logNormal(10_000, 50))
	}
	slices.Sort(list)
	// e^(0.5 z) for z of 0, 1.2816 and 2.3263.
	for _, q := range []struct{ at, want float64 }{{0.01, 3125}, {0.1, 5269}, {0.5, 10_000}, {0.9, 18_979}, {0.99, 32_001}} {
		got := float64(list[int(q.at*float64(len(list)))])
		if math.Abs(got/q.want-1) > 0.03 {
			t.Errorf("quantile %v = %v, want about %v", q.at, got, q.want)
		}
	}
}

func TestCurve(t *testing.T) {
	c := curve{0, 100, 300}
	for n, want := range []int{0, 100, 200, 300, 300} {
		if got := c.at(n); got != want {
			t.Errorf("at(%d) = %d, want %d", n, got, want)
		}
	}
}

// TestRelated: the popularity of titles depends on their votes, and is distributed as if
// it did not.
func TestRelated(t *testing.T) {
	r := random{1}
	var counts [8]int
	const n = 1 << 18
	for range n {
		counts[min(7, octave(r.related(r.next())))]++
	}
	for k, got := range counts[:7] {
		if want := float64(int(n) >> (k + 1)); math.Abs(float64(got)/want-1) > 0.1 {
			t.Errorf("octave %d has %d, want about %v", k, got, want)
		}
	}
}

func TestPopulation(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 8, 100, 1000, 4097} {
		p := newPopulation(3, 0, n)
		seen := map[uint64]bool{}
		last := 1
		for i := range uint64(n) {
			rank := p.rank(i)
			if back := p.ranked(rank); rank >= uint64(n) || seen[rank] || back != i {
				t.Fatalf("n=%d: rank(%d) = %d, ranked(%d) = %d, want another number for each and back", n, i, rank, rank, back)
			}
			seen[rank] = true
			if id := p.id(i); id <= last || id > firstID+(int(i)/idsUsed+1)*idSpan {
				t.Fatalf("n=%d: id(%d) = %d after %d, want ascending ids with gaps", n, i, id, last)
			}
			last = p.id(i)
		}
	}
}

// FuzzPopulation: ranks and numbers of records are the same set, whatever its size.
func FuzzPopulation(f *testing.F) {
	f.Add(uint64(1), int64(1000), uint64(999))
	f.Fuzz(func(t *testing.T, seed uint64, n int64, i uint64) {
		if n < 1 || n > maxRecords || i >= uint64(n) {
			t.Skip()
		}
		p := newPopulation(seed, 2, n)
		if rank := p.rank(i); rank >= uint64(n) || p.ranked(rank) != i {
			t.Errorf("rank(%d) = %d, ranked = %d", i, rank, p.ranked(rank))
		}
	})
}
