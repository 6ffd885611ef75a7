// Package index makes the tables of a release: what queries over many resources are
// answered from. While resources are built, what the tables need of them is collected on
// disk; behind them, each table is written in the order of popularity.
//
//	c, err := index.New(dir)
//	defer c.Close()
//	w := c.Writer()                   // one for each task
//	err = w.Movie(m)                  // each resource of the release once
//	err = w.Close()
//	err = c.WriteTables(ctx, releaseWriter, options)
//
// The columns of each table are those of package tables. What a record does not have is in no
// list; columns have 0 for it, or posting.NoDay.
//
// # Trends
//
// Without a release before, and without access counts, the hottest are the most popular.
// With a release before, the score of a day is the popularity less what it was then, that
// of a week is the popularity less its heat. Heat follows popularity slowly:
//
//	heat = heat then + (popularity - heat then) / 7
//
// A title that was not there has its popularity for heat and scores 0. With access counts,
// what was asked for comes first, by how often it was in the day or in the week; the rest
// follows by its score. The rank decides among equals.
//
// What is written depends on the rows and the options' sources alone: neither on the order
// in which rows were added, nor on memory or jobs.
package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"reelsplice/build/shuffle"
	"reelsplice/schemas/encoding"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables"
)

// tableOf returns the number of a kind's table, its place in tables.Kinds.
func tableOf(kind fragment.Kind) int {
	if n := slices.Index(tables.Kinds, kind); n >= 0 {
		return n
	}
	panic("index: no table of kind " + kind.String()) // only this package asks
}

// A Collector takes in rows and makes tables of them.
type Collector struct {
	rows *shuffle.Shuffle // a partition a table
}

// collectMemory is what rows are buffered in before they are written to disk.
const collectMemory = 1 << 20

// New returns a Collector with its files below dir.
func New(dir string) (*Collector, error) {
	rows, err := shuffle.New(dir, len(tables.Kinds), collectMemory)
	if err != nil {
		return nil, err
	}
	return &Collector{rows}, nil
}

// Close removes the files. A second Close does nothing.
func (c *Collector) Close() error { return c.rows.Close() }

// A Writer adds the rows of one task. It is for one goroutine.
type Writer struct {
	w   *shuffle.Writer
	row row
	key []byte
	buf []byte
}

// Writer returns a Writer, which must be closed before WriteTables.
func (c *Collector) Writer() *Writer { return &Writer{w: c.rows.Writer()} }

// Close ends the adding. A second Close does nothing.
func (w *Writer) Close() error { return w.w.Close() }

// start empties the row and returns it.
func (w *Writer) start(id uint64, popularity float64) *row {
	w.row.reset(id, popularity)
	return &w.row
}

// add adds the row to the table of a kind.
func (w *Writer) add(kind fragment.Kind) error {
	n := tableOf(kind)
	w.key = w.row.appendKey(w.key[:0])
	w.buf = w.row.append(w.buf[:0], tables.Columns(kind))
	return w.w.Add(uint64(n), w.key, w.buf)
}

// rowKeyLen is the length of what rows are sorted by: popularity, so that the highest
// comes first, and id.
const rowKeyLen = 16

func (r *row) appendKey(dst []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, ^math.Float64bits(r.popularity)), r.id)
}

func parseRowKey(key []byte) (id uint64, popularity float64, err error) {
	if len(key) != rowKeyLen {
		return 0, 0, encoding.ErrCut
	}
	return binary.BigEndian.Uint64(key[8:]), math.Float64frombits(^binary.BigEndian.Uint64(key)), nil
}

// WriteTables writes all tables. Every Writer must be closed.
func (c *Collector) WriteTables(ctx context.Context, w *release.Writer, o Options) error {
	jobs := max(1, min(o.Jobs, len(tables.Kinds)))
	o.Memory /= int64(jobs)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(jobs)
	for i := range tables.Kinds {
		g.Go(func() error {
			if err := release.Guard(func() error { return c.writeTable(ctx, w, i, o) }); err != nil {
				return fmt.Errorf("table of kind %s: %w", tables.Kinds[i], err)
			}
			return nil
		})
	}
	return g.Wait()
}

func (c *Collector) writeTable(ctx context.Context, w *release.Writer, n int, o Options) (err error) {
	kind := tables.Kinds[n]
	b := &builder{ctx: ctx, kind: kind, columns: tables.Columns(kind), o: o}
	if err := b.open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	rows, err := c.rows.Partition(ctx, n, o.Memory/2)
	if err != nil {
		return err
	}
	defer rows.Close()
	if err := b.take(rows); err != nil {
		return err
	}
	tw, err := w.Table(kind.String(), len(b.ids))
	if err != nil {
		return err
	}
	return errors.Join(b.write(tw), tw.Close())
}
