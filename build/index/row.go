package index

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"reelsplice/schemas/encoding"
	"reelsplice/schemas/tables/posting"
)

// A row is what a table needs of one resource.
type row struct {
	id         uint64
	popularity float64 // not negative
	columns    [columnCount]int32
	lists      [listCount][]uint64 // the keys of the lists that it is in
	releases   []dated
	texts      [2]string // what titles sort by: title, original title
	revenue    int64
	names      []Name
}

// A dated is a key of posting.Release and a day.
type dated struct {
	key uint64
	day int32
}

func compareDated(a, b dated) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.day, b.day))
}

func (r *row) reset(id uint64, popularity float64) {
	if !(popularity > 0) { // NaN too
		popularity = 0
	}
	lists := r.lists
	for i := range lists {
		lists[i] = lists[i][:0]
	}
	*r = row{id: id, popularity: popularity, lists: lists, releases: r.releases[:0], names: r.names[:0]}
	r.columns[day], r.columns[firstDay], r.columns[lastDay] = posting.NoDay, posting.NoDay, posting.NoDay
}

// in adds the row to the list of a key.
func (r *row) in(list int, key uint64) { r.lists[list] = append(r.lists[list], key) }

// inID is in for an id, of which those below 1 are none.
func (r *row) inID(list int, id int64) {
	if id > 0 {
		r.in(list, uint64(id))
	}
}

// inCode is in for a code, such as that of a country.
func (r *row) inCode(list int, code string) {
	if k := posting.CodeKey(code); k != 0 {
		r.in(list, k)
	}
}

func (r *row) is(flagKey uint64, yes bool) {
	if yes {
		r.in(flag, flagKey)
	}
}

// set sets a column, to the nearest number that it can have.
func (r *row) set(column int, v int64) {
	r.columns[column] = int32(min(max(v, math.MinInt32+1), math.MaxInt32))
}

// name adds a name.
func (r *row) name(kind NameKind, text string) { r.names = append(r.names, Name{text, kind}) }

// append appends what table t has of the row, but for its key. The names come last. It
// brings the lists in order.
func (r *row) append(dst []byte, t *table) []byte {
	for i := range t.columns {
		dst = binary.AppendVarint(dst, int64(r.columns[i]))
	}
	for i := range t.lists {
		slices.Sort(r.lists[i])
		keys := slices.Compact(r.lists[i])
		dst = binary.AppendUvarint(dst, uint64(len(keys)))
		last := uint64(0)
		for _, k := range keys {
			dst = binary.AppendUvarint(dst, k-last)
			last = k
		}
	}
	if t.title {
		dst = r.appendTitle(dst)
	}
	names := uniqueNames(r.names)
	dst = binary.AppendUvarint(dst, uint64(len(names)))
	for _, n := range names {
		dst = encoding.AppendText(append(dst, byte(n.Kind)), n.Text)
	}
	return dst
}

func (r *row) appendTitle(dst []byte) []byte {
	slices.SortFunc(r.releases, compareDated)
	releases := slices.Compact(r.releases)
	dst = binary.AppendUvarint(dst, uint64(len(releases)))
	last := uint64(0)
	for _, d := range releases {
		dst = binary.AppendUvarint(dst, d.key-last)
		dst = binary.AppendVarint(dst, int64(d.day))
		last = d.key
	}
	for _, s := range r.texts {
		dst = encoding.AppendText(dst, s)
	}
	return binary.AppendVarint(dst, r.revenue)
}

// parse reads what append wrote, and returns the bytes of the names.
func (r *row) parse(b []byte, t *table) (names []byte, err error) {
	in := encoding.NewReader(b)
	for i := range t.columns {
		r.columns[i] = int32(in.Varint())
	}
	for i := range t.lists {
		r.lists[i] = r.lists[i][:0]
		last := uint64(0)
		for range in.Count(1) {
			last += in.Uvarint()
			r.lists[i] = append(r.lists[i], last)
		}
	}
	if t.title {
		r.releases = r.releases[:0]
		last := uint64(0)
		for range in.Count(1) {
			last += in.Uvarint()
			r.releases = append(r.releases, dated{last, int32(in.Varint())})
		}
		for i := range r.texts {
			r.texts[i] = in.Text()
		}
		r.revenue = in.Varint()
	}
	return in.Rest(), in.Err()
}

// parseNames reads the names of a row, and appends them to dst.
func parseNames(dst []Name, b []byte) ([]Name, error) {
	in := encoding.NewReader(b)
	for range in.Count(1) {
		dst = append(dst, Name{Kind: NameKind(in.Byte()), Text: in.Text()})
	}
	return dst, in.Err()
}
