package posting

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// memory is a table in memory.
type memory map[string]*bytes.Buffer

func (m memory) Section(name string) io.Writer {
	m[name] = &bytes.Buffer{}
	return m[name]
}

// read is what memory gives back.
type read map[string][]byte

func (r read) Section(name string) []byte { return r[name] }

func (m memory) read() read {
	r := read{}
	for name, b := range m {
		r[name] = append([]byte{}, b.Bytes()...)
	}
	return r
}

// writeLists writes lists whose keys ascend.
func writeLists(s Sink, name string, lists iter.Seq2[uint64, []uint32]) error {
	w := NewListWriter(s, name)
	for key, ranks := range lists {
		if err := w.Add(key, ranks); err != nil {
			return err
		}
	}
	return w.Close()
}

func ranksOf(s Set) []uint32 {
	var list []uint32
	for i := s.Next(0); i >= 0; i = s.Next(i + 1) {
		list = append(list, uint32(i))
	}
	return list
}

func TestSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 63, 64, 65, 1000} {
		s, all := NewSet(n), NewSet(n)
		var want []uint32
		for i := range n {
			if rng.IntN(5) == 0 {
				s.Add(uint32(i))
				want = append(want, uint32(i))
			}
		}
		all.Fill(n)
		if all.Count() != n || !slices.Equal(ranksOf(s), want) || s.Count() != len(want) {
			t.Errorf("%d ranks: %d and %v, want %v", n, all.Count(), ranksOf(s), want)
		}
		var back []uint32
		for i := s.Prev(n + 10); i >= 0; i = s.Prev(i - 1) {
			back = append(back, uint32(i))
		}
		slices.Reverse(back)
		if !slices.Equal(back, want) {
			t.Errorf("%d ranks, backwards: %v, want %v", n, back, want)
		}
		all.AndNot(s)
		if all.Count() != n-len(want) {
			t.Errorf("%d ranks: the others are %d", n, all.Count())
		}
		all.And(s)
		all.Or(s)
		if !slices.Equal(ranksOf(all), want) || n > 0 && all.Has(0) != slices.Contains(want, 0) {
			t.Errorf("%d ranks: %v", n, ranksOf(all))
		}
	}
}

func TestLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const rows = 200_000
	want := map[uint64][]uint32{3: {}, 5: {0}, 9: {1, 2, rows - 1}, 1 << 60: nil}
	for i, n := range []int{100, 5000, 8000, 100_000} {
		set := NewSet(rows)
		for range n {
			set.Add(uint32(rng.IntN(rows)))
		}
		want[uint64(20+i)] = ranksOf(set)
		want[uint64(30+i)] = ranksOf(set[:n/64])
	}
	full := NewSet(rows)
	full.Fill(rows)
	want[99] = ranksOf(full)
	keys := make([]uint64, 0, len(want))
	for k := range want {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	m := memory{}
	sharedtest.NoError(t, writeLists(m, "x", func(yield func(uint64, []uint32) bool) {
		for _, k := range keys {
			if !yield(k, want[k]) {
				return
			}
		}
	}))
	l, err := OpenLists(m.read(), "x", rows)
	sharedtest.NoError(t, err)
	if l.Len() != len(keys) {
		t.Fatalf("%d lists, want %d", l.Len(), len(keys))
	}
	forms := map[bool]int{}
	for i, k := range keys {
		list, found := l.Find(k)
		if !found || l.Key(i) != k {
			t.Errorf("key %d: %t", k, found)
		}
		forms[list.bitSet]++
		if n := list.Bytes(); n > 4*(len(want[k])+1) || n > rows/8 {
			t.Errorf("key %d: %d bytes for %d ranks of %d", k, n, len(want[k]), rows)
		}
		loaded := NewSet(rows)
		sharedtest.NoError(t, list.AddTo(loaded))
		if wanted := NewSet(rows); !slices.Equal(loaded, withRanks(wanted, want[k])) {
			t.Errorf("key %d: other ranks", k)
		}
		set := NewSet(rows)
		set.Add(7)
		sharedtest.NoError(t, list.AddTo(set))
		if !set.Has(7) || len(want[k]) > 0 && set.Count() < len(want[k]) {
			t.Errorf("key %d: AddTo", k)
		}
	}
	if forms[true] < 5 || forms[false] < 5 {
		t.Errorf("bit sets and others: %v", forms)
	}
	for _, k := range []uint64{0, 4, 1<<60 + 1, endKey} {
		if _, found := l.Find(k); found {
			t.Errorf("key %d is found", k)
		}
	}
}

// TestListsDamaged flips every byte: what comes back may be wrong, but an error or ranks
// below the bound, and nothing panics.
func TestListsDamaged(t *testing.T) {
	const rows = 1000
	m := memory{}
	sharedtest.NoError(t, writeLists(m, "x", func(yield func(uint64, []uint32) bool) {
		all := make([]uint32, 0, rows/2)
		for i := range rows / 2 {
			all = append(all, uint32(i*2))
		}
		_ = yield(1, []uint32{1, 2, 3}) && yield(2, all)
	}))
	d := NewDatedWriter(m, "d")
	sharedtest.NoError(t, d.Add(1, []Date{{1, 2}, {3, 4}}))
	sharedtest.NoError(t, d.Close())
	for _, section := range []string{"x.keys", "x.data", "d.keys", "d.data"} {
		good := m.read()
		for i := range good[section] {
			bad := m.read()
			bad[section][i] ^= 0xa5
			set := NewSet(rows)
			if l, err := OpenLists(bad, "x", rows); err == nil {
				for k := range l.Len() {
					loaded := NewSet(rows)
					if err := l.At(k).AddTo(loaded); err == nil && loaded.Next(rows) >= 0 {
						t.Fatalf("byte %d of %s: rank %d", i, section, loaded.Next(rows))
					}
					if err := l.At(k).AddTo(set); err != nil && !errors.Is(err, release.ErrCorrupt) {
						t.Fatalf("byte %d of %s: %v", i, section, err)
					}
				}
			}
			if d, err := OpenDated(bad, "d", rows); err == nil {
				for k := range d.Len() {
					if err := d.At(k).Between(-10, 10).AddTo(set); err != nil && !errors.Is(err, release.ErrCorrupt) {
						t.Fatalf("byte %d of %s: %v", i, section, err)
					}
				}
			}
		}
	}
}

func TestDated(t *testing.T) {
	m := memory{}
	w := NewDatedWriter(m, "d")
	list := []Date{{-5, 9}, {0, 1}, {0, 2}, {7, 1}}
	sharedtest.NoError(t, w.Add(0, nil))
	sharedtest.NoError(t, w.Add(7, list))
	if err := w.Add(1, nil); err == nil {
		t.Error("keys may descend")
	}
	sharedtest.NoError(t, w.Close())
	d, err := OpenDated(m.read(), "d", 10)
	sharedtest.NoError(t, err)
	got, found := d.Find(7)
	if !found || got.Len() != 4 || got.Day(0) != -5 || got.Rank(3) != 1 {
		t.Fatalf("%v", got)
	}
	for _, c := range []struct {
		from, to int32
		want     []uint32
	}{{-5, 7, []uint32{1, 2, 9}}, {-4, 6, []uint32{1, 2}}, {1, 6, nil}, {7, 7, []uint32{1}}, {9, 3, nil}, {NoDay, MaxValue, []uint32{1, 2, 9}}} {
		set := NewSet(10)
		sharedtest.NoError(t, got.Between(c.from, c.to).AddTo(set))
		if !slices.Equal(ranksOf(set), c.want) {
			t.Errorf("%d to %d: %v, want %v", c.from, c.to, ranksOf(set), c.want)
		}
	}
}

// writeRange writes a column with its order and its sums.
func writeRange(s Sink, name string, column []int32) error {
	order := make([]uint32, len(column))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(column[a], column[b]) })
	each := func(fn func(rank uint32) error) (err error) {
		for _, r := range order {
			err = errors.Join(err, fn(r))
		}
		return err
	}
	return errors.Join(Write(s, name, column), WriteOrder(s, name, len(order), 1+len(order)/3, each), WriteSums(s, name, len(order), each))
}

func TestRange(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{0, 1, 2, 63, 64, 65, 1000, 10_007} {
		column := make([]int32, n)
		for i := range column {
			column[i] = int32(rng.IntN(n/3+2)) - 5
			if rng.IntN(10) == 0 {
				column[i] = NoDay
			}
		}
		m := memory{}
		sharedtest.NoError(t, writeRange(m, "r", column))
		r, err := OpenRange(m.read(), "r", n, NewPool(n))
		sharedtest.NoError(t, err)
		for range 200 {
			lo, hi := int32(rng.IntN(n/3+9))-7, int32(rng.IntN(n/3+9))-7
			if rng.IntN(4) == 0 {
				lo = NoDay + 1
			}
			if rng.IntN(4) == 0 {
				hi = MaxValue
			}
			set := NewSet(n)
			set.Fill(n)
			sharedtest.NoError(t, r.And(set, lo, hi))
			var want []uint32
			for i, v := range column {
				if lo <= v && v <= hi {
					want = append(want, uint32(i))
				}
			}
			count, err := r.Count(lo, hi)
			sharedtest.NoError(t, err)
			if !slices.Equal(ranksOf(set), want) || lo <= hi && count != len(want) {
				t.Fatalf("%d rows, %d to %d: %d ranks, counted %d, want %d", n, lo, hi, set.Count(), count, len(want))
			}
		}
		for i := range n {
			if r.Place(r.At(i)) != i {
				t.Fatalf("place of the rank at %d is %d", i, r.Place(r.At(i)))
			}
			if i > 0 && r.Value(r.At(i)) < r.Value(r.At(i-1)) {
				t.Fatalf("place %d is out of order", i)
			}
		}
	}
}

// withRanks adds ranks to a set and returns it.
func withRanks(s Set, ranks []uint32) Set {
	for _, r := range ranks {
		s.Add(r)
	}
	return s
}
