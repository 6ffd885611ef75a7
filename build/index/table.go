package index

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// A builder makes one kind's table. Numbers are in memory, a few dozen bytes a row. Lists, texts
// and terms are sorted on disk, where they wait until their sections begin. The names are the
// first section: they are written as the rows are read.
type builder struct {
	ctx     context.Context
	kind    fragment.Kind
	columns []*tables.Column
	o       Options

	ids        []uint64
	popularity []float64
	ranges     [tables.ColumnCount][]int32
	orders     [tables.ColumnCount][]int64 // the numbers that a NumberOrder is made of

	sorter *extsort.Sorter // a section for each column, then those of terms
	key    []byte
	rank   []byte
	terms  *termWriter
}

// writeKind writes the table of a kind from its rows.
func writeKind(ctx context.Context, kind fragment.Kind, rows *extsort.Iterator, t *release.TableWriter, o Options) (err error) {
	b := &builder{ctx: ctx, kind: kind, columns: tables.Columns(kind), o: o}
	b.sorter = extsort.New(extsort.Options{Dir: o.Work, Memory: o.Memory / 2, Sections: len(b.columns) + termParts})
	defer func() { err = errors.Join(err, b.sorter.Close()) }()
	b.terms = newTermWriter(ctx, t, b.sorter, len(b.columns))
	var r row
	if err := rows.Each(func(key, payload []byte) error { return b.add(&r, key, payload) }); err != nil {
		return err
	}
	t.SetRows(len(b.ids))
	if err := b.writeHeld(t); err != nil {
		return err
	}
	clear(b.ranges[:])
	clear(b.orders[:])
	return b.writeSorted(t)
}

// add takes in a row. Rows come in the order of their ranks.
func (b *builder) add(r *row, key, payload []byte) error {
	id, popularity, err := parseRowKey(key)
	if err == nil {
		err = r.parse(payload, b.columns)
	}
	if err != nil {
		return err
	}
	rank := uint32(len(b.ids))
	b.ids, b.popularity = append(b.ids, id), append(b.popularity, popularity)
	for i, c := range b.columns {
		if err := b.addValues(i, c, r, rank); err != nil {
			return err
		}
	}
	return nil
}

// addValues takes in the values of column i.
func (b *builder) addValues(i int, c *tables.Column, r *row, rank uint32) (err error) {
	switch c.Type {
	case tables.Range:
		b.ranges[c.ID] = append(b.ranges[c.ID], int32(r.numbers[c.ID]))
	case tables.NumberOrder:
		b.orders[c.ID] = append(b.orders[c.ID], r.numbers[c.ID])
	case tables.Lists:
		for _, k := range r.lists[c.ID] {
			b.key = encoding.AppendOrdered(b.key[:0], k)
			err = errors.Join(err, b.addRank(i, rank))
		}
	case tables.Dated:
		for _, d := range r.releases {
			b.key = binary.BigEndian.AppendUint32(encoding.AppendOrdered(b.key[:0], d.key), uint32(d.day)^1<<31)
			err = errors.Join(err, b.addRank(i, rank))
		}
	case tables.TextOrder:
		b.key = append(b.key[:0], r.texts[c.ID]...)
		err = b.addRank(i, rank)
	case tables.Names:
		err = b.terms.add(rank, r.names)
	}
	return err
}

// addRank adds the key at hand with a rank to the sorter.
func (b *builder) addRank(part int, rank uint32) error {
	b.rank = binary.BigEndian.AppendUint32(b.rank[:0], rank)
	return b.sorter.Add(part, b.key, b.rank)
}

func (b *builder) writeHeld(t *release.TableWriter) (err error) {
	var trends trends
	for _, c := range b.columns {
		switch c.Type {
		case tables.Uint64s:
			err = posting.Write(t, c.Name, b.ids)
		case tables.Range:
			err = posting.WriteRange(t, c.Name, b.ranges[c.ID])
		case tables.NumberOrder:
			err = posting.WriteOrder(t, c.Name, orderOf(b.orders[c.ID]))
		case tables.Trend, tables.Float64s:
			if c.ID == tables.Popularity {
				err = posting.Write(t, c.Name, b.popularity)
				break
			}
			if trends.heat == nil {
				if trends, err = b.trends(); err != nil {
					return err
				}
			}
			err = trends.write(t, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// orderOf returns the order of numbers. Equal ones stand from the least popular on: clients
// sort by revenue from the highest on, which is the end, and most movies have none.
func orderOf(numbers []int64) []uint32 {
	order := ranks(len(numbers))
	slices.Reverse(order)
	slices.SortStableFunc(order, func(x, y uint32) int { return cmp.Compare(numbers[x], numbers[y]) })
	return order
}

// writeSorted writes the columns that are sorted on disk.
func (b *builder) writeSorted(t *release.TableWriter) error {
	for i, c := range b.columns {
		it, err := b.sorter.Sort(b.ctx, i)
		if err != nil {
			return err
		}
		switch c.Type {
		case tables.Lists:
			err = writeLists(t, c.Name, it)
		case tables.Dated:
			err = writeReleases(t, c.Name, it)
		case tables.TextOrder:
			err = writeOrder(t, c.Name, it, len(b.ids))
		case tables.Names:
			err = b.terms.close()
		}
		if err := errors.Join(err, it.Close()); err != nil {
			return err
		}
	}
	return nil
}

// writeLists writes the lists of a section, whose keys and ranks are the records of it.
func writeLists(t *release.TableWriter, name string, it *extsort.Iterator) error {
	w := posting.NewListWriter(t, name)
	err := grouped(it, 0, func(_ []byte, rank uint32) uint32 { return rank }, func(key []byte, ranks []uint32) error {
		in := encoding.NewReader(key)
		return w.Add(in.Ordered(), ranks)
	})
	return errors.Join(err, w.Close())
}

// writeReleases is writeLists for days and ranks.
func writeReleases(t *release.TableWriter, name string, it *extsort.Iterator) error {
	w := posting.NewDatedWriter(t, name)
	date := func(day []byte, rank uint32) posting.Date {
		return posting.Date{Day: int32(binary.BigEndian.Uint32(day) ^ 1<<31), Rank: rank}
	}
	err := grouped(it, 4, date, func(key []byte, dates []posting.Date) error {
		in := encoding.NewReader(key)
		return w.Add(in.Ordered(), dates)
	})
	return errors.Join(err, w.Close())
}

// grouped calls add with each key of the records of it, but for the last bytes of that, as many as
// tail, and with the values that those and the ranks make.
func grouped[T any](it *extsort.Iterator, tail int, value func(tail []byte, rank uint32) T, add func(key []byte, list []T) error) error {
	var last []byte
	var list []T
	flush := func() error {
		if len(list) == 0 {
			return nil
		}
		return add(last, list)
	}
	err := it.Each(func(key, payload []byte) error {
		n := len(key) - tail
		if n < 0 || len(payload) != 4 {
			return encoding.ErrCut
		}
		if !bytes.Equal(key[:n], last) {
			if err := flush(); err != nil {
				return err
			}
			last, list = append(last[:0], key[:n]...), list[:0]
		}
		list = append(list, value(key[n:], binary.BigEndian.Uint32(payload)))
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// writeOrder writes the order of n rows, whose ranks are the payloads of the records of it.
func writeOrder(t *release.TableWriter, name string, it *extsort.Iterator, n int) error {
	order := make([]uint32, 0, n)
	err := grouped(it, 0, func(_ []byte, rank uint32) uint32 { return rank }, func(_ []byte, ranks []uint32) error {
		order = append(order, ranks...)
		return nil
	})
	if err != nil {
		return err
	}
	return posting.WriteOrder(t, name, order)
}
