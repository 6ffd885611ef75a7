package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"reelsplice/schemas/encoding"
	"reelsplice/schemas/extsort"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables"
	"reelsplice/schemas/tables/posting"
)

// A builder makes one table. Numbers are in memory, a few dozen bytes a row. Lists, texts and
// names are sorted on disk, where they wait until their sections begin.
type builder struct {
	ctx     context.Context
	kind    fragment.Kind
	columns []*tables.Column
	o       Options

	ids        []uint64
	popularity []float64
	ranges     [tables.ColumnCount][]int32
	orders     [tables.ColumnCount][]int64 // the numbers that a NumberOrder is made of

	postings *extsort.Sorter // a section for each column, empty but for those of isSorted
}

// isSorted reports whether a column of that type is sorted on disk.
func isSorted(t tables.Type) bool {
	return t == tables.Lists || t == tables.Dated || t == tables.TextOrder || t == tables.Names
}

// take reads the rows, which come in the order of their ranks.
func (b *builder) take(rows *extsort.Iterator) error {
	p := poster{s: b.postings}
	var r row
	for {
		key, payload, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		names, err := b.one(&r, key, payload)
		if err != nil {
			return err
		}
		p.post(b.columns, &r, names, uint32(len(b.ids)-1))
		if p.err != nil {
			return p.err
		}
	}
}

// one appends the numbers of a row to the columns, and returns the bytes of its names.
func (b *builder) one(r *row, key, payload []byte) (names []byte, err error) {
	id, popularity, err := parseRowKey(key)
	if err != nil {
		return nil, err
	}
	if names, err = r.parse(payload, b.columns); err != nil {
		return nil, err
	}
	b.ids, b.popularity = append(b.ids, id), append(b.popularity, popularity)
	for _, c := range b.columns {
		switch c.Type {
		case tables.Range:
			b.ranges[c.ID] = append(b.ranges[c.ID], int32(r.numbers[c.ID]))
		case tables.NumberOrder:
			b.orders[c.ID] = append(b.orders[c.ID], r.numbers[c.ID])
		}
	}
	return names, nil
}

// A poster adds the lists and texts of rows to the sorter.
type poster struct {
	s   *extsort.Sorter
	key []byte
	err error
}

func (p *poster) post(columns []*tables.Column, r *row, names []byte, rank uint32) {
	at := binary.BigEndian.AppendUint32(nil, rank)
	for i, c := range columns {
		switch c.Type {
		case tables.Lists:
			for _, k := range r.lists[c.ID] {
				p.key = append(encoding.AppendOrdered(p.key[:0], k), at...)
				p.add(i, nil)
			}
		case tables.Dated:
			for _, d := range r.releases {
				p.key = binary.BigEndian.AppendUint32(encoding.AppendOrdered(p.key[:0], d.key), uint32(d.day)^1<<31)
				p.key = append(p.key, at...)
				p.add(i, nil)
			}
		case tables.TextOrder:
			p.key = append(p.key[:0], r.texts[c.ID]...)
			p.add(i, at)
		case tables.Names:
			p.key = append(p.key[:0], at...)
			p.add(i, names)
		}
	}
}

func (p *poster) add(part int, payload []byte) {
	if p.err == nil {
		p.err = p.s.Add(part, p.key, payload)
	}
}

// write writes the sections: columns in memory, then those that are sorted on disk.
func (b *builder) write(t *release.TableWriter) error {
	if err := b.writeHeld(t); err != nil {
		return err
	}
	clear(b.ranges[:])
	clear(b.orders[:])
	return b.writeSorted(t)
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
		if !isSorted(c.Type) {
			continue
		}
		it, err := b.postings.Sort(b.ctx, i)
		if err != nil {
			return err
		}
		if err := errors.Join(b.writePart(t, c, it), it.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) writePart(t *release.TableWriter, c *tables.Column, it *extsort.Iterator) error {
	switch c.Type {
	case tables.Lists:
		return writeLists(t, c.Name, it)
	case tables.Dated:
		return writeReleases(t, c.Name, it)
	case tables.Names:
		return b.writeNames(t, it)
	}
	return writeOrder(t, c.Name, it, len(b.ids))
}

// writeLists writes the lists of a section, whose keys and ranks are the records of it.
func writeLists(t *release.TableWriter, name string, it *extsort.Iterator) error {
	w := posting.NewListWriter(t, name)
	err := grouped(it, func(b []byte) (uint32, bool) {
		return binary.BigEndian.Uint32(b[len(b)-4:]), len(b) == 4
	}, w.Add)
	return errors.Join(err, w.Close())
}

// writeReleases is writeLists for days and ranks.
func writeReleases(t *release.TableWriter, name string, it *extsort.Iterator) error {
	w := posting.NewDatedWriter(t, name)
	err := grouped(it, func(b []byte) (posting.Date, bool) {
		day := int32(binary.BigEndian.Uint32(b) ^ 1<<31)
		return posting.Date{Day: day, Rank: binary.BigEndian.Uint32(b[len(b)-4:])}, len(b) == 8
	}, w.Add)
	return errors.Join(err, w.Close())
}

// grouped calls add with what the records of it have behind each key, four bytes at least.
func grouped[T any](it *extsort.Iterator, parse func([]byte) (T, bool), add func(key uint64, list []T) error) error {
	var last uint64
	var list []T
	for {
		record, _, err := it.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		in := encoding.NewReader(record)
		key := in.Ordered()
		if in.Len() < 4 {
			return encoding.ErrCut
		}
		v, ok := parse(in.Rest())
		if !ok {
			return encoding.ErrCut
		}
		if key != last && len(list) > 0 {
			if err := add(last, list); err != nil {
				return err
			}
			list = list[:0]
		}
		last, list = key, append(list, v)
	}
	if len(list) == 0 {
		return nil
	}
	return add(last, list)
}

// writeOrder writes the order of n rows, whose ranks are the payloads of the records of it.
func writeOrder(t *release.TableWriter, name string, it *extsort.Iterator, n int) error {
	order := make([]uint32, 0, n)
	for {
		_, payload, err := it.Next()
		if errors.Is(err, io.EOF) {
			return posting.WriteOrder(t, name, order)
		}
		if err != nil {
			return err
		}
		if len(payload) != 4 {
			return encoding.ErrCut
		}
		order = append(order, binary.BigEndian.Uint32(payload))
	}
}

// writeNames writes the index of names, which are the records of it.
func (b *builder) writeNames(t *release.TableWriter, it *extsort.Iterator) error {
	var failed error
	err := WriteTerms(b.ctx, t, len(b.ids), func(yield func(uint32, []Name) bool) {
		var list []Name
		for {
			key, payload, err := it.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil {
				list, err = parseNames(list[:0], payload)
			}
			if err != nil {
				failed = err
				return
			}
			if len(list) > 0 && !yield(binary.BigEndian.Uint32(key), list) {
				return
			}
		}
	}, b.o)
	return errors.Join(failed, err)
}
