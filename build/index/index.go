// Package index writes the tables of a release, which queries over many resources read.
// Tasks that render resources add a row for each; other tasks sort the rows by popularity and
// write a table of them.
//
//	w := index.NewWriter(sorter, first) // one for each task
//	err = w.Movie(m)                    // each resource of the release once
//	err = index.WriteTable(ctx, n, rows, create, options)
//
// The columns of each table are those of package tables. A row without a value is in no
// list; in columns it has 0, or posting.NoDay.
//
// # Trends
//
// Without a previous release and access counts, the hottest are the most popular. With a
// previous release, the score of a day is the gain in popularity since then. The score of a
// week is the popularity less its heat, which follows popularity slowly:
//
//	heat = heat then + (popularity - heat then) / 7
//
// A new title has its popularity for heat and scores 0. With access counts, requested titles
// come first, by the number of requests in the day or in the week; the rest follows by its
// score. The rank decides among equals.
//
// The bytes of a table depend on its rows, the previous release and access counts, not on the
// order in which rows were added, nor on memory.
package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/credits"
)

// Tables is the number of tables: those of tables.Kinds, then that of credits.
var Tables = len(tables.Kinds) + 1

// tableOf returns the number of a kind's table, its place in tables.Kinds.
func tableOf(kind fragment.Kind) int {
	if n := slices.Index(tables.Kinds, kind); n >= 0 {
		return n
	}
	panic("index: no table of kind " + kind.String()) // only methods of Writer call it
}

// A Writer adds rows to a Sorter, from which WriteTable takes them. It is for one goroutine.
type Writer struct {
	s     *extsort.Sorter
	first int
	row   row
	key   []byte
	buf   []byte
}

// NewWriter returns a Writer to s: the rows of table n go to section first+n.
func NewWriter(s *extsort.Sorter, first int) *Writer { return &Writer{s: s, first: first} }

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
	return w.s.Add(w.first+n, w.key, w.buf)
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

// A Create starts a table of the release with that many rows.
type Create func(name string, rows int) (*release.TableWriter, error)

// WriteTable writes table n from its rows in the order of their keys.
func WriteTable(ctx context.Context, n int, rows *extsort.Iterator, create Create, o Options) (err error) {
	name := credits.Table
	if n < len(tables.Kinds) {
		name = tables.Kinds[n].String()
	}
	t, err := create(name, 0) // until all rows are read
	if err != nil {
		return err
	}
	if n < len(tables.Kinds) {
		err = writeKind(ctx, tables.Kinds[n], rows, t, o)
	} else {
		err = writeCredits(rows, t)
	}
	if err = errors.Join(err, t.Close()); err != nil {
		return fmt.Errorf("table %s: %w", name, err)
	}
	return nil
}
