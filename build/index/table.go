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

	"golang.org/x/sync/errgroup"

	"reelsplice/build/shuffle"
	"reelsplice/schemas/encoding"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables/posting"
)

// A builder makes one table. Columns are held, a few dozen bytes a row; lists are sorted
// on disk, and names wait there.
type builder struct {
	ctx context.Context
	t   *table
	o   Options

	ids        []uint64
	popularity []float64
	columns    [][]int32
	revenue    []int64

	postings *shuffle.Shuffle // partitions: the lists, then those of titles
	names    *os.File
}

// nameBuffer is what names are read and written through, in bytes.
const nameBuffer = 64 << 10

// Partitions of titles behind those of the lists.
const (
	partReleases = iota
	partTitles   // and one for original titles
	partOriginals
	titleParts
)

func (b *builder) open() (err error) {
	b.columns = make([][]int32, len(b.t.columns))
	parts := len(b.t.lists)
	if b.t.title {
		parts += titleParts
	}
	if b.postings, err = shuffle.New(b.o.Work, parts, b.o.Memory/8); err != nil {
		return err
	}
	if b.names, err = os.CreateTemp(b.o.Work, "names-*"); err != nil {
		return errors.Join(err, b.postings.Close())
	}
	return nil
}

// close removes the files.
func (b *builder) close() error {
	b.names.Close()
	return errors.Join(b.postings.Close(), os.Remove(b.names.Name()))
}

// take takes in the rows, which come in the order of their ranks.
func (b *builder) take(rows *shuffle.Iterator) (err error) {
	w := b.postings.Writer()
	defer func() { err = errors.Join(err, w.Close()) }()
	names := bufio.NewWriterSize(b.names, nameBuffer)
	p := poster{w: w}
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
		p.post(b.t, &r, uint32(len(b.ids)-1))
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

// one takes in the columns of a row, and returns the bytes of its names.
func (b *builder) one(r *row, key, payload []byte) (names []byte, err error) {
	id, popularity, err := parseRowKey(key)
	if err != nil {
		return nil, err
	}
	if names, err = r.parse(payload, b.t); err != nil {
		return nil, err
	}
	b.ids, b.popularity = append(b.ids, id), append(b.popularity, popularity)
	for i := range b.columns {
		b.columns[i] = append(b.columns[i], r.columns[i])
	}
	if b.t.title {
		b.revenue = append(b.revenue, r.revenue)
	}
	return names, nil
}

// A poster sends what rows are in to where it is sorted.
type poster struct {
	w   *shuffle.Writer
	key []byte
	err error
}

func (p *poster) post(t *table, r *row, rank uint32) {
	for i := range t.lists {
		for _, k := range r.lists[i] {
			p.key = binary.BigEndian.AppendUint32(encoding.AppendOrdered(p.key[:0], k), rank)
			p.add(i, nil)
		}
	}
	if !t.title {
		return
	}
	first := len(t.lists)
	for _, d := range r.releases {
		p.key = binary.BigEndian.AppendUint32(encoding.AppendOrdered(p.key[:0], d.key), uint32(d.day)^1<<31)
		p.key = binary.BigEndian.AppendUint32(p.key, rank)
		p.add(first+partReleases, nil)
	}
	at := binary.BigEndian.AppendUint32(nil, rank)
	for i, s := range r.texts {
		p.key = append(p.key[:0], s...)
		p.add(first+partTitles+i, at)
	}
}

func (p *poster) add(part int, payload []byte) {
	if p.err == nil {
		p.err = p.w.Add(uint64(part), p.key, payload)
	}
}

// write writes the sections.
func (b *builder) write(t *release.TableWriter) error {
	if err := b.writeColumns(t); err != nil {
		return err
	}
	b.columns, b.revenue = nil, nil
	if b.t.trends {
		if err := b.writeTrends(t); err != nil {
			return err
		}
	}
	if err := b.writeSorted(t); err != nil {
		return err
	}
	if err := b.postings.Close(); err != nil { // its memory is for the names now
		return err
	}
	return b.writeNames(t)
}

func (b *builder) writeColumns(t *release.TableWriter) error {
	if err := posting.WriteUint64s(t, posting.ID, b.ids); err != nil {
		return err
	}
	if err := posting.WriteFloat64s(t, posting.Popularity, b.popularity); err != nil {
		return err
	}
	for i, name := range b.t.columns {
		if err := posting.WriteRange(t, name, b.columns[i]); err != nil {
			return err
		}
	}
	if !b.t.title {
		return nil
	}
	// Of most movies no revenue is known. They are asked for from the highest on, which is
	// the end: those with the same one stand the other way round.
	order := ranks(len(b.revenue))
	slices.Reverse(order)
	slices.SortStableFunc(order, func(x, y uint32) int { return cmp.Compare(b.revenue[x], b.revenue[y]) })
	return posting.WriteOrder(t, posting.Revenue, order)
}

func (b *builder) writeTrends(t *release.TableWriter) error {
	ofDay, ofWeek, heat, err := b.trends()
	if err != nil {
		return err
	}
	if err := ofDay.write(t, posting.TrendDay); err != nil {
		return err
	}
	if err := ofWeek.write(t, posting.TrendWeek); err != nil {
		return err
	}
	return posting.WriteFloat64s(t, posting.Heat, heat)
}

// writeSorted writes what is sorted on disk. While a partition is written, the next one is
// sorted.
func (b *builder) writeSorted(t *release.TableWriter) error {
	g, ctx := errgroup.WithContext(b.ctx)
	parts := make(chan *shuffle.Iterator)
	g.Go(func() error {
		defer close(parts)
		for i := range b.postings.Partitions() {
			it, err := b.postings.Partition(ctx, i, b.o.Memory/4)
			if err != nil {
				return err
			}
			select {
			case parts <- it:
			case <-ctx.Done():
				it.Close()
				return ctx.Err()
			}
		}
		return nil
	})
	g.Go(func() error {
		i := 0
		for it := range parts {
			err := b.writePart(t, i, it)
			it.Close()
			if err != nil {
				return err
			}
			i++
		}
		return nil
	})
	return g.Wait()
}

func (b *builder) writePart(t *release.TableWriter, i int, it *shuffle.Iterator) error {
	if i < len(b.t.lists) {
		return writeLists(t, b.t.lists[i], it)
	}
	switch i - len(b.t.lists) {
	case partReleases:
		return writeReleases(t, it)
	case partTitles:
		return writeOrder(t, posting.Title, it, len(b.ids))
	default:
		return writeOrder(t, posting.OriginalTitle, it, len(b.ids))
	}
}

// writeLists writes the lists of a section, whose keys and ranks are the records of it.
func writeLists(t *release.TableWriter, name string, it *shuffle.Iterator) error {
	w := posting.NewListWriter(t, name)
	err := grouped(it, func(b []byte) (uint32, bool) {
		return binary.BigEndian.Uint32(b[len(b)-4:]), len(b) == 4
	}, w.Add)
	return errors.Join(err, w.Close())
}

// writeReleases is writeLists for days and ranks.
func writeReleases(t *release.TableWriter, it *shuffle.Iterator) error {
	w := posting.NewDatedWriter(t, posting.Release)
	err := grouped(it, func(b []byte) (posting.Date, bool) {
		day := int32(binary.BigEndian.Uint32(b) ^ 1<<31)
		return posting.Date{Day: day, Rank: binary.BigEndian.Uint32(b[len(b)-4:])}, len(b) == 8
	}, w.Add)
	return errors.Join(err, w.Close())
}

// grouped calls add with what the records of it have behind each key, four bytes at least.
func grouped[T any](it *shuffle.Iterator, parse func([]byte) (T, bool), add func(key uint64, list []T) error) error {
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
func writeOrder(t *release.TableWriter, name string, it *shuffle.Iterator, n int) error {
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
	if err == nil && n > shuffle.MaxRecord {
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
