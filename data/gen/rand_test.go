package gen

import "testing"

// FuzzPopulation: ranks and numbers of records are the same set, whatever its size.
func FuzzPopulation(f *testing.F) {
	for _, n := range []int64{1, 2, 3, 8, 100, 1000} {
		for i := range uint64(n) {
			f.Add(uint64(3), n, i)
		}
	}
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
