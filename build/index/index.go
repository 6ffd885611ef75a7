// Package index writes the tables of a release, which queries over many resources read.
// Tasks that render resources add a row for each, sorted by popularity. A row's place among all is its
// rank. Other tasks sort the columns of a range of ranks, and the last one merges the ranges of a kind.
//
//	w := index.NewWriter(sorter, section) // one for each task
//	err = w.Movie(m)                      // each resource of the release once
//	n, err = index.WriteColumns(ctx, kind, first, rows, path, options)
//	err = index.WriteTable(kind, rows, merge, create, options)
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
// order in which rows were added, nor on ranges or memory.
package index

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
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
	s       *extsort.Sorter
	section func(table int, key []byte) int
	row     row
	key     []byte
	buf     []byte
}

// NewWriter returns a Writer to s. section returns where the row of a table goes that has a key: RowKey, or the id
// of a credit.
func NewWriter(s *extsort.Sorter, section func(table int, key []byte) int) *Writer {
	return &Writer{s: s, section: section}
}

// start empties the row and returns it.
func (w *Writer) start(id uint64, popularity float64) *row {
	w.row.reset(id, popularity)
	return &w.row
}

// add adds the row to the table of a kind.
func (w *Writer) add(kind fragment.Kind) error {
	n := tableOf(kind)
	w.key = AppendRowKey(w.key[:0], w.row.id, w.row.popularity)
	w.buf = w.row.append(w.buf[:0], tables.Columns(kind))
	return w.s.Add(w.section(n, w.key), w.key, w.buf)
}

// rowKeyLen is the length of what AppendRowKey appends.
const rowKeyLen = 16

// AppendRowKey appends what rows are sorted by: popularity, so that the highest comes first, and id.
func AppendRowKey(dst []byte, id uint64, popularity float64) []byte {
	if !(popularity > 0) { // NaN too
		popularity = 0
	}
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, ^math.Float64bits(popularity)), id)
}

func parseRowKey(key []byte) (id uint64, popularity float64, err error) {
	if len(key) != rowKeyLen {
		return 0, 0, encoding.ErrCut
	}
	return binary.BigEndian.Uint64(key[8:]), math.Float64frombits(^binary.BigEndian.Uint64(key)), nil
}

// Options are the sources of tables beside the rows, and limits.
type Options struct {
	Work   string // folder for temporary files
	Memory int64  // bytes that sorting may use
	// Previous is the release before, by which trends are measured; nil without one.
	Previous *release.Reader
	// Access returns how often a resource was requested in the last day and the last week.
	// It may be nil, and is called from several goroutines.
	Access func(kind fragment.Kind, id uint64) (day, week uint64)
}
