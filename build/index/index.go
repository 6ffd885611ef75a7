// Package index writes the tables of a release, which queries over many resources read. Tasks that render resources
// add a row for each, sorted by popularity. A row's rank is its place among all. Other tasks sort the columns of a
// range of ranks, and the last one merges the ranges of a kind.
//
//	w := index.NewWriter(sorter, section) // one for each task
//	err = w.Movie(m)                      // each resource of the release once
//	n, err = index.WriteColumns(ctx, kind, first, rows, path, options)
//	err = index.WriteTable(kind, rows, merge, create, options)
//
// Package tables defines the columns. A row without a value is in no list; its column has 0, or posting.NoDay.
//
// # Trends
//
// Without a previous release, the hottest are the most popular. With a previous release, the score
// of a day is the gain in popularity since then. The score of a week is the popularity minus its heat, which follows
// popularity slowly:
//
//	heat = previous heat + (popularity - previous heat) / 7
//
// A new title has its popularity as heat and scores 0. Ties are broken by rank.
//
// The bytes of a table depend on its rows and the previous release, not on the order of adding, on
// ranges or on memory.
package index

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// Tables is the number of tables: one for each of tables.Kinds, and the credits.
var Tables = len(tables.Kinds) + 1

// A Writer adds rows to a Sorter, from which WriteTable reads them. It is for one goroutine.
type Writer struct {
	sorter  *extsort.Sorter
	section func(table int, key []byte) int
	row     row
	key     []byte
	buf     []byte
}

// NewWriter returns a Writer to s. section returns the section for a row of a table by its key: RowKey, or the id of
// a credit.
func NewWriter(s *extsort.Sorter, section func(table int, key []byte) int) *Writer {
	return &Writer{sorter: s, section: section}
}

// start empties the row and returns it.
func (w *Writer) start(id uint64, popularity float64) *row {
	r := &w.row
	lists := r.lists
	for i := range lists {
		lists[i] = lists[i][:0]
	}
	*r = row{id: id, popularity: popularity, lists: lists, releases: r.releases[:0], names: r.names[:0]}
	for c := range tables.ColumnCount {
		if c.Column().Dates {
			r.numbers[c] = posting.NoDay
		}
	}
	return r
}

// add adds the row to the table of a kind.
func (w *Writer) add(kind fragment.Kind) error {
	table := slices.Index(tables.Kinds, kind)
	w.key = AppendRowKey(w.key[:0], w.row.id, w.row.popularity)
	w.buf = w.row.append(w.buf[:0], tables.Columns(kind))
	return w.sorter.Add(w.section(table, w.key), w.key, w.buf)
}

// rowKeyLen is the length of a row key.
const rowKeyLen = 16

// AppendRowKey appends the sort key of a row: popularity, highest first, then id.
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

// Options are the sources of tables besides the rows, and limits.
type Options struct {
	Work   string // folder for temporary files
	Memory int64  // memory that sorting may use, in bytes
	// Previous is the previous release, the baseline of trends; nil without one.
	Previous *release.Reader
}

// A row has one resource's values for its table, by column.
type row struct {
	id         uint64
	popularity float64                      // not negative
	numbers    [tables.ColumnCount]int64    // Range, within int32, and NumberOrder
	lists      [tables.ColumnCount][]uint64 // Lists: the keys of its lists
	texts      [tables.ColumnCount]string   // TextOrder
	releases   []dated                      // Dated
	names      []searchName                 // Names
}

// A dated is a key of tables.Release and a day.
type dated struct {
	key uint64
	day day.Day
}

func (d dated) compare(o dated) int {
	return cmp.Or(cmp.Compare(d.key, o.key), cmp.Compare(d.day, o.day))
}

// addKey adds the row to the list of a key.
func (r *row) addKey(list tables.ColumnID, key uint64) { r.lists[list] = append(r.lists[list], key) }

// addID is addKey for a positive id.
func (r *row) addID(list tables.ColumnID, id int64) {
	if id > 0 {
		r.addKey(list, uint64(id))
	}
}

func (r *row) flag(key uint64, isSet bool) {
	if isSet {
		r.addKey(tables.Flag, key)
	}
}

// set sets a column of type Range, clamped to its limits.
func (r *row) set(c tables.ColumnID, v int64) {
	r.numbers[c] = min(max(v, math.MinInt32+1), math.MaxInt32)
}

// append appends the row's values for the columns of a table, names last: lists of keys and releases sorted, each
// element once, keys as differences.
func (r *row) append(dst []byte, columns []*tables.Column) []byte {
	for _, c := range columns {
		switch c.Type {
		case tables.Range, tables.NumberOrder:
			dst = binary.AppendVarint(dst, r.numbers[c.ID])
		case tables.TextOrder:
			dst = encoding.AppendText(dst, r.texts[c.ID])
		case tables.Lists:
			keys := r.lists[c.ID]
			slices.Sort(keys)
			keys = slices.Compact(keys)
			dst = binary.AppendUvarint(dst, uint64(len(keys)))
			last := uint64(0)
			for _, k := range keys {
				dst = binary.AppendUvarint(dst, k-last)
				last = k
			}
		case tables.Dated:
			slices.SortFunc(r.releases, dated.compare)
			releases := slices.Compact(r.releases)
			dst = binary.AppendUvarint(dst, uint64(len(releases)))
			last := uint64(0)
			for _, d := range releases {
				dst = binary.AppendVarint(binary.AppendUvarint(dst, d.key-last), int64(d.day))
				last = d.key
			}
		}
	}
	// Drop empty names and, of equal ones, all but the best kind.
	names := slices.DeleteFunc(r.names, func(n searchName) bool { return strings.TrimSpace(n.text) == "" })
	slices.SortFunc(names, func(a, b searchName) int { return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(a.kind, b.kind)) })
	names = slices.CompactFunc(names, func(a, b searchName) bool { return a.text == b.text })
	slices.SortFunc(names, func(a, b searchName) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.text, b.text)) })
	dst = binary.AppendUvarint(dst, uint64(len(names)))
	for _, n := range names {
		dst = encoding.AppendText(append(dst, byte(n.kind)), n.text)
	}
	return dst
}

// parse decodes the output of append.
func (r *row) parse(b []byte, columns []*tables.Column) error {
	in := encoding.NewReader(b)
	for _, c := range columns {
		switch c.Type {
		case tables.Range, tables.NumberOrder:
			r.numbers[c.ID] = in.Varint()
		case tables.TextOrder:
			r.texts[c.ID] = in.Text()
		case tables.Lists:
			r.lists[c.ID] = r.lists[c.ID][:0]
			last := uint64(0)
			for range in.Count(1) {
				last += in.Uvarint()
				r.lists[c.ID] = append(r.lists[c.ID], last)
			}
		case tables.Dated:
			r.releases = r.releases[:0]
			last := uint64(0)
			for range in.Count(2) {
				last += in.Uvarint()
				r.releases = append(r.releases, dated{last, day.Day(in.Varint())})
			}
		}
	}
	r.names = r.names[:0]
	for range in.Count(1) {
		r.names = append(r.names, searchName{kind: nameKind(in.Byte()), text: in.Text()})
	}
	return in.Err()
}

// A nameKind is a name's relation to its resource. Better names come first.
type nameKind uint8

const (
	mainName        nameKind = iota // the title or name in en-US
	originalName                    // the original title or name
	translatedName                  // the title or name in another language
	alternativeName                 // an alternative title, another name of a person or a company
)

// A searchName is a name by which search finds a resource.
type searchName struct {
	text string
	kind nameKind
}
