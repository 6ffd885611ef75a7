package index

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// A row is what a table needs of one resource. Values are by column.
type row struct {
	id         uint64
	popularity float64                      // not negative
	numbers    [tables.ColumnCount]int64    // of Range, within int32, and NumberOrder
	lists      [tables.ColumnCount][]uint64 // of Lists: the keys of the lists that it is in
	texts      [tables.ColumnCount]string   // of TextOrder
	releases   []dated                      // of Dated
	names      []Name                       // of Names
}

// A dated is a key of tables.Release and a day.
type dated struct {
	key uint64
	day int32
}

func compareDated(a, b dated) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.day, b.day))
}

func (r *row) reset(id uint64, popularity float64) {
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
}

// in adds the row to the list of a key.
func (r *row) in(list tables.ColumnID, key uint64) { r.lists[list] = append(r.lists[list], key) }

// inID is in for an id, of which those below 1 are none.
func (r *row) inID(list tables.ColumnID, id int64) {
	if id > 0 {
		r.in(list, uint64(id))
	}
}

func (r *row) is(flagKey uint64, yes bool) {
	if yes {
		r.in(tables.Flag, flagKey)
	}
}

// set sets a column of type Range, to the nearest number that it can have.
func (r *row) set(c tables.ColumnID, v int64) {
	r.numbers[c] = min(max(v, math.MinInt32+1), math.MaxInt32)
}

// append appends the row's values of a table's columns. The names come last. It brings the
// lists in order.
func (r *row) append(dst []byte, columns []*tables.Column) []byte {
	for _, c := range columns {
		switch c.Type {
		case tables.Range, tables.NumberOrder:
			dst = binary.AppendVarint(dst, r.numbers[c.ID])
		case tables.TextOrder:
			dst = encoding.AppendText(dst, r.texts[c.ID])
		case tables.Lists:
			dst = appendKeys(dst, r.lists[c.ID])
		case tables.Dated:
			dst = r.appendReleases(dst)
		}
	}
	names := uniqueNames(r.names)
	dst = binary.AppendUvarint(dst, uint64(len(names)))
	for _, n := range names {
		dst = encoding.AppendText(append(dst, byte(n.Kind)), n.Text)
	}
	return dst
}

// appendKeys appends each of the keys once, by their differences, and sorts them.
func appendKeys(dst []byte, keys []uint64) []byte {
	slices.Sort(keys)
	keys = slices.Compact(keys)
	dst = binary.AppendUvarint(dst, uint64(len(keys)))
	last := uint64(0)
	for _, k := range keys {
		dst = binary.AppendUvarint(dst, k-last)
		last = k
	}
	return dst
}

func (r *row) appendReleases(dst []byte) []byte {
	slices.SortFunc(r.releases, compareDated)
	releases := slices.Compact(r.releases)
	dst = binary.AppendUvarint(dst, uint64(len(releases)))
	last := uint64(0)
	for _, d := range releases {
		dst = binary.AppendUvarint(dst, d.key-last)
		dst = binary.AppendVarint(dst, int64(d.day))
		last = d.key
	}
	return dst
}

// parse reads what append wrote.
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
				r.releases = append(r.releases, dated{last, int32(in.Varint())})
			}
		}
	}
	r.names = r.names[:0]
	for range in.Count(1) {
		r.names = append(r.names, Name{Kind: NameKind(in.Byte()), Text: in.Text()})
	}
	return in.Err()
}

// A NameKind is a name's relation to its resource. Better names come first.
type NameKind uint8

// The kinds of names.
const (
	Main        NameKind = iota // the title or name in en-US
	Original                    // the original title or name
	Translated                  // the title or name in another language
	Alternative                 // an alternative title, another name of a person or a company
)

// A Name is one of the names by which search finds a resource.
type Name struct {
	Text string
	Kind NameKind
}

// uniqueNames drops names without text and repeated ones with a worse kind. The rest is in the order of kind and text.
func uniqueNames(list []Name) []Name {
	list = slices.DeleteFunc(list, func(n Name) bool { return strings.TrimSpace(n.Text) == "" })
	slices.SortFunc(list, func(a, b Name) int { return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Kind, b.Kind)) })
	list = slices.CompactFunc(list, func(a, b Name) bool { return a.Text == b.Text })
	slices.SortFunc(list, func(a, b Name) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text)) })
	return list
}
