package posting

import (
	"encoding/binary"
	"fmt"
	"math"
	"sort"
)

// An Order is a stored permutation of all ranks.
type Order struct {
	order, place Uint32s
}

// OpenOrder returns an order of a table with that many rows.
func OpenOrder(s Source, name string, rows int) (Order, error) {
	order, err := sectionOf(s, name+orderEnd, rows, 4)
	if err != nil {
		return Order{}, err
	}
	place, err := sectionOf(s, name+placeEnd, rows, 4)
	return Order{Uint32s(order), Uint32s(place)}, err
}

// Len returns the number of ranks.
func (o *Order) Len() int { return o.order.Len() }

// At returns the rank at a place. In a damaged table it may be out of range.
func (o *Order) At(place int) uint32 { return o.order.At(place) }

// Place returns the place of a rank. In a damaged table it may be out of range.
func (o *Order) Place(rank uint32) int { return int(o.place.At(int(rank))) }

// WriteOrder writes a permutation of rows ranks. each calls fn with every rank once, in the order to write.
// WriteOrder calls each once for the order, and again for each window: memory holds window ranks at a time.
func WriteOrder(s Sink, name string, rows, window int, each func(fn func(rank uint32) error) error) error {
	w := s.Section(name + orderEnd)
	var b [4]byte
	n := 0
	err := each(func(rank uint32) error {
		if n++; int(rank) >= rows {
			return fmt.Errorf("write section %s: rank %d of %d", name+orderEnd, rank, rows)
		}
		le.PutUint32(b[:], rank)
		_, err := w.Write(b[:])
		return err
	})
	if err == nil && n != rows {
		err = fmt.Errorf("write section %s: %d ranks, want %d", name+orderEnd, n, rows)
	}
	if err != nil {
		return err
	}
	w = s.Section(name + placeEnd)
	places := make([]byte, 4*min(rows, window))
	for from := 0; from < rows; from += window {
		places = places[:4*min(rows-from, window)]
		place := uint32(0)
		err := each(func(rank uint32) error {
			if i := 4 * (int(rank) - from); i >= 0 && i < len(places) {
				le.PutUint32(places[i:], place)
			}
			place++
			return nil
		})
		if err != nil {
			return err
		}
		if _, err := w.Write(places); err != nil {
			return err
		}
	}
	return nil
}

// sumsOf returns the number of cumulative sets in a Range of n rows, and the number of places between them.
func sumsOf(n int) (sums, step int) {
	step = max(1, (n+63)/64)
	return n / step, step
}

// A Range is a column of int32 that returns all ranks between two values in a time independent of their number.
type Range struct {
	Order
	name   string
	column Uint32s // values of int32
	sums   []byte
	pool   *Pool
}

// OpenRange returns a range of a table with that many rows. pool lends sets of the same size.
func OpenRange(s Source, name string, rows int, pool *Pool) (Range, error) {
	column, err := sectionOf(s, name, rows, 4)
	if err != nil {
		return Range{}, err
	}
	order, err := OpenOrder(s, name, rows)
	if err != nil {
		return Range{}, err
	}
	n, _ := sumsOf(rows)
	sums, err := sectionOf(s, name+sumsEnd, n*words(rows), 8)
	return Range{Order: order, name: name, column: column, sums: sums, pool: pool}, err
}

// Value returns the value of a rank.
func (r *Range) Value(rank uint32) int32 { return int32(r.column.At(int(rank))) }

// places returns the places from the first value >= lo to the first value > hi.
func (r *Range) places(lo, hi int32) (from, to int, err error) {
	n := r.Len()
	ok := true
	value := func(place int) int32 {
		rank := r.At(place)
		if int(rank) >= n {
			ok = false
			return 0
		}
		return r.Value(rank)
	}
	from = sort.Search(n, func(i int) bool { return value(i) >= lo })
	to = from + sort.Search(n-from, func(i int) bool { return value(from+i) > hi })
	if !ok {
		return 0, 0, Corrupt(r.name+orderEnd, "a rank of %d and more", n)
	}
	return from, to, nil
}

// Count returns how many ranks have lo <= value <= hi.
func (r *Range) Count(lo, hi int32) (int, error) {
	from, to, err := r.places(lo, hi)
	return to - from, err
}

// And removes from dst the ranks outside lo <= value <= hi.
func (r *Range) And(dst Set, lo, hi int32) error {
	from, to, err := r.places(lo, hi)
	if err != nil {
		return err
	}
	n := r.Len()
	if from == 0 && to == n {
		return nil
	}
	set := r.pool.Get()
	defer r.pool.Put(set)
	_, step := sumsOf(n)
	if to-from <= step { // few: each individually
		set.Clear()
		if err := r.change(*set, from, to, Set.Add); err != nil {
			return err
		}
		dst.And(*set)
		return nil
	}
	if to < n {
		if err := r.setBelow(*set, to); err != nil {
			return err
		}
		dst.And(*set)
	}
	if from > 0 {
		if err := r.setBelow(*set, from); err != nil {
			return err
		}
		dst.AndNot(*set)
	}
	return nil
}

// setBelow sets dst to the ranks at places below place: the nearest stored set, plus or minus the difference.
func (r *Range) setBelow(dst Set, place int) error {
	sums, step := sumsOf(r.Len())
	i := min((place+step/2)/step, sums)
	if i == 0 {
		dst.Clear()
	} else {
		b := Uint64s(r.sums[8*len(dst)*(i-1):][:8*len(dst)])
		for j := range dst {
			dst[j] = b.At(j)
		}
	}
	if start := i * step; start < place {
		return r.change(dst, start, place, Set.Add)
	}
	return r.change(dst, place, i*step, Set.Remove)
}

// change adds or removes the ranks at places from from up to to.
func (r *Range) change(dst Set, from, to int, apply func(Set, uint32)) error {
	n := r.Len()
	for i := from; i < to; i++ {
		rank := r.At(i)
		if int(rank) >= n {
			return Corrupt(r.name+orderEnd, "rank %d of %d", rank, n)
		}
		apply(dst, rank)
	}
	return nil
}

// WriteSums writes the cumulative sets of a Range; each is as in WriteOrder. The column and the order must have been
// written before.
func WriteSums(s Sink, name string, rows int, each func(fn func(rank uint32) error) error) error {
	set := NewSet(rows)
	_, step := sumsOf(rows)
	w := s.Section(name + sumsEnd)
	n := 0
	return each(func(rank uint32) error {
		set.Add(rank)
		if n++; n%step > 0 {
			return nil
		}
		return binary.Write(w, le, []uint64(set))
	})
}

// MaxValue is the highest value of a column.
const MaxValue = math.MaxInt32
