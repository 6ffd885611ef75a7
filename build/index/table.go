package index

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"reelsplice/schemas/encoding"
	"reelsplice/schemas/extsort"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables"
	"reelsplice/schemas/tables/posting"
)

// A builder makes one table. Numbers are in memory, a few dozen bytes a row. Lists and texts
// are sorted on disk, and names wait there until their sections begin.
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
	names    *os.File
}

// nameBuffer is what names are read and written through, in bytes.
const nameBuffer = 64 << 10

// isSorted reports whether a column of that type is sorted on disk.
func isSorted(t tables.Type) bool {
	return t == tables.Lists || t == tables.Dated || t == tables.TextOrder
}

func (b *builder) open() (err error) {
	b.postings = extsort.New(extsort.Options{Dir: b.o.Work, Memory: b.o.Memory / 4, Sections: len(b.columns)})
	b.names, err = os.CreateTemp(b.o.Work, "names-*")
	return err
}

// close removes the files.
func (b *builder) close() error {
	err := b.postings.Close()
	if b.names == nil {
		return err
	}
	b.names.Close()
	return errors.Join(err, os.Remove(b.names.Name()))
}

// take reads the rows, which come in the order of their ranks.
func (b *builder) take(rows *extsort.Iterator) error {
	names := bufio.NewWriterSize(b.names, nameBuffer)
	p := poster{s: b.postings}
	var r row
	for {
		key, payload, err := rows.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		rest, err := b.one(&r, key, payload)
		if err != nil {
			return err
		}
		p.post(b.columns, &r, uint32(len(b.ids)-1))
		if p.err != nil {
			return p.err
		}
		if err := writeBlock(names, rest); err != nil {
			return err
		}
	}
	if err := names.Flush(); err != nil {
		return fmt.Errorf("write names: %w", err)
	}
	return nil
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

func (p *poster) post(columns []*tables.Column, r *row, rank uint32) {
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
		}
	}
}

func (p *poster) add(part int, payload []byte) {
	if p.err == nil {
		p.err = p.s.Add(part, p.key, payload)
	}
}

// write writes the sections: columns in memory, sorted columns, names.
func (b *builder) write(t *release.TableWriter) error {
	if err := b.writeHeld(t); err != nil {
		return err
	}
	clear(b.ranges[:])
	clear(b.orders[:])
	if err := b.writeSorted(t); err != nil {
		return err
	}
	if err := b.postings.Close(); err != nil { // its memory is for the names now
		return err
	}
	return b.writeNames(t)
}

func (b *builder) writeHeld(t *release.TableWriter) (err error) {
	var trends trends
	for _, c := range b.columns {
		switch c.Type {
		case tables.Uint64s:
			err = posting.WriteUint64s(t, c.Name, b.ids)
		case tables.Range:
			err = posting.WriteRange(t, c.Name, b.ranges[c.ID])
		case tables.NumberOrder:
			err = posting.WriteOrder(t, c.Name, orderOf(b.orders[c.ID]))
		case tables.Trend, tables.Float64s:
			if c.ID == tables.Popularity {
				err = posting.WriteFloat64s(t, c.Name, b.popularity)
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

// writeNames hands the names to WriteTerms.
func (b *builder) writeNames(t *release.TableWriter) error {
	if _, err := b.names.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read names: %w", err)
	}
	in := bufio.NewReaderSize(b.names, nameBuffer)
	var failed error
	err := WriteTerms(b.ctx, t, len(b.ids), func(yield func(uint32, []Name) bool) {
		var buf []byte
		var list []Name
		for rank := range b.ids {
			if buf, failed = readBlock(in, buf); failed != nil {
				return
			}
			if list, failed = parseNames(list[:0], buf); failed != nil {
				return
			}
			if len(list) > 0 && !yield(uint32(rank), list) {
				return
			}
		}
	}, b.o)
	return errors.Join(failed, err)
}

// writeBlock writes bytes behind their length.
func writeBlock(w *bufio.Writer, block []byte) error {
	var n [binary.MaxVarintLen64]byte
	if _, err := w.Write(n[:binary.PutUvarint(n[:], uint64(len(block)))]); err != nil {
		return fmt.Errorf("write names: %w", err)
	}
	if _, err := w.Write(block); err != nil {
		return fmt.Errorf("write names: %w", err)
	}
	return nil
}

// readBlock reads what writeBlock wrote into buf, which it makes longer if need be.
func readBlock(r *bufio.Reader, buf []byte) ([]byte, error) {
	n, err := binary.ReadUvarint(r)
	if err == nil && n > extsort.MaxRecord {
		err = encoding.ErrCut
	}
	if err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	buf = slices.Grow(buf[:0], int(n))[:n]
	if _, err := io.ReadFull(r, buf); err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	return buf, nil
}
