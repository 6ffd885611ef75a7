package posting

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"math/bits"
	"sort"
)

const (
	keyLen    = 16
	dataAlign = 8
	formBit   = 1 // flag in an offset: the list is a bit set
)

// endKey is above all keys, so no list can have it.
const endKey = math.MaxUint64

// keyed finds the bytes of a key.
type keyed struct {
	name string
	keys []byte
	data []byte
	rows int
}

// openKeyed checks only the end: the rest is checked when it is read.
func openKeyed(s Source, name string, rows int) (keyed, error) {
	k := keyed{name: name, keys: s.Section(name + keysEnd), data: s.Section(name + dataEnd), rows: rows}
	if len(k.keys) < keyLen || len(k.keys)%keyLen != 0 || k.data == nil {
		return k, Corrupt(name+keysEnd, "%d bytes, want a multiple of %d, and %s", len(k.keys), keyLen, name+dataEnd)
	}
	if n := k.Len(); k.Key(n) != endKey || k.offset(n) != uint64(len(k.data)) {
		return k, Corrupt(name+keysEnd, "it does not end with the length of %s", name+dataEnd)
	}
	return k, nil
}

// Len returns the number of keys.
func (k *keyed) Len() int { return len(k.keys)/keyLen - 1 }

// Key returns the i-th key, ascending.
func (k *keyed) Key(i int) uint64 { return le.Uint64(k.keys[keyLen*i:]) }

func (k *keyed) offset(i int) uint64 { return le.Uint64(k.keys[keyLen*i+8:]) }

// find returns the number of a key.
func (k *keyed) find(key uint64) (int, bool) {
	return sort.Find(k.Len(), func(i int) int { return cmp.Compare(key, k.Key(i)) })
}

// bytes returns the bytes of key i and whether they are a bit set; nil if the offsets are invalid.
func (k *keyed) bytes(i int) (b []byte, bitSet bool) {
	off := k.offset(i)
	from, to := off&^formBit, k.offset(i+1)&^formBit
	if from > to || to > uint64(len(k.data)) {
		return nil, false
	}
	return k.data[from:to], off&formBit != 0
}

// A keyedWriter writes the two sections: data immediately, keys at the end.
type keyedWriter struct {
	sink Sink
	name string
	data io.Writer
	keys []byte
	off  uint64
	last uint64
}

func newKeyedWriter(s Sink, name string) keyedWriter {
	return keyedWriter{sink: s, name: name, data: s.Section(name + dataEnd)}
}

// add writes the bytes of a key. Keys ascend.
func (k *keyedWriter) add(key uint64, form uint64, b []byte) error {
	if key == endKey || len(k.keys) > 0 && key <= k.last {
		return fmt.Errorf("write section %s: key %d after key %d", k.name+keysEnd, key, k.last)
	}
	k.last = key
	k.keys = le.AppendUint64(le.AppendUint64(k.keys, key), k.off|form)
	for len(b)%dataAlign != 0 {
		b = append(b, 0xff)
	}
	k.off += uint64(len(b))
	_, err := k.data.Write(b)
	return err
}

// Close writes the keys.
func (k *keyedWriter) Close() error {
	k.keys = le.AppendUint64(le.AppendUint64(k.keys, endKey), k.off)
	_, err := k.sink.Section(k.name + keysEnd).Write(k.keys)
	return err
}

// Lists are lists of ranks by a key.
type Lists struct{ keyed }

// OpenLists returns the lists of a table with that many rows.
func OpenLists(s Source, name string, rows int) (Lists, error) {
	k, err := openKeyed(s, name, rows)
	return Lists{k}, err
}

// At returns the list of the i-th key.
func (l *Lists) At(i int) List {
	b, bitSet := l.bytes(i)
	return List{name: l.name, data: b, bitSet: bitSet, rows: l.rows}
}

// Find returns the list of a key; false if it is absent.
func (l *Lists) Find(key uint64) (List, bool) {
	i, ok := l.find(key)
	if !ok {
		return List{}, false
	}
	return l.At(i), true
}

// A List is a list of ascending ranks. The zero List is empty.
type List struct {
	name   string
	data   []byte
	bitSet bool // else ranks
	rows   int
}

// Bytes returns the size of the list, which grows with the number of its ranks.
func (l List) Bytes() int { return len(l.data) }

// padding fills a list up to a multiple of 8 bytes. It is never a rank.
const padding = math.MaxUint32

// AddTo adds the ranks to dst.
func (l List) AddTo(dst Set) error {
	if l.bitSet {
		b := Uint64s(l.data)
		n := b.Len()
		if n > len(dst) || n > 0 && (n-1)*wordBits+bits.Len64(b.At(n-1)) > l.rows {
			return Corrupt(l.name+dataEnd, "a rank of %d and more", l.rows)
		}
		for i := range n {
			dst[i] |= b.At(i)
		}
		return nil
	}
	a := Uint32s(l.data)
	if n := a.Len(); n > 0 && a.At(n-1) == padding {
		a = a[:4*(n-1)]
	}
	for i := range a.Len() {
		r := a.At(i)
		if int(r) >= l.rows {
			return Corrupt(l.name+dataEnd, "rank %d of %d", r, l.rows)
		}
		dst.Add(r)
	}
	return nil
}

// A ListWriter writes lists one by one.
type ListWriter struct {
	keyedWriter
	buf []byte
}

// NewListWriter starts lists. The table's next section can be started after Close.
func NewListWriter(s Sink, name string) *ListWriter {
	return &ListWriter{keyedWriter: newKeyedWriter(s, name)}
}

// Add writes the list of a key. Keys ascend. The ranks ascend without duplicates and are below 2^32-1.
func (w *ListWriter) Add(key uint64, ranks []uint32) error {
	w.buf = w.buf[:0]
	if n := len(ranks); n == 0 || 8*words(int(ranks[n-1])+1) >= 4*n { // ranks are no longer than a bit set
		for _, r := range ranks {
			w.buf = le.AppendUint32(w.buf, r)
		}
		return w.add(key, 0, w.buf)
	}
	word, index := uint64(0), uint32(0)
	for _, r := range ranks {
		for ; index < r/wordBits; index++ {
			w.buf, word = le.AppendUint64(w.buf, word), 0
		}
		word |= 1 << (r % wordBits)
	}
	return w.add(key, formBit, le.AppendUint64(w.buf, word))
}

// Dated are lists of days and ranks by a key.
type Dated struct{ keyed }

// OpenDated returns the dated lists of a table with that many rows.
func OpenDated(s Source, name string, rows int) (Dated, error) {
	k, err := openKeyed(s, name, rows)
	return Dated{k}, err
}

// At returns the list of the i-th key.
func (d *Dated) At(i int) DatedList {
	b, _ := d.bytes(i)
	return DatedList{name: d.name, data: b, rows: d.rows}
}

// Find returns the list of a key; false if it is absent.
func (d *Dated) Find(key uint64) (DatedList, bool) {
	i, ok := d.find(key)
	if !ok {
		return DatedList{}, false
	}
	return d.At(i), true
}

// datedLen is the length of a day and a rank.
const datedLen = 8

// A DatedList is a list of days and ranks, ascending by both. A rank may occur on several days. The zero DatedList is
// empty.
type DatedList struct {
	name string
	data []byte
	rows int
}

// Len returns the number of pairs.
func (d DatedList) Len() int { return len(d.data) / datedLen }

// Day returns the day of pair i.
func (d DatedList) Day(i int) int32 { return int32(le.Uint32(d.data[datedLen*i:])) }

// Rank returns the rank of pair i.
func (d DatedList) Rank(i int) uint32 { return le.Uint32(d.data[datedLen*i+4:]) }

// Between returns the pairs with from <= day <= to.
func (d DatedList) Between(from, to int32) DatedList {
	n := d.Len()
	a := sort.Search(n, func(i int) bool { return d.Day(i) >= from })
	b := a + sort.Search(n-a, func(i int) bool { return d.Day(a+i) > to })
	d.data = d.data[datedLen*a : datedLen*b]
	return d
}

// AddTo adds the ranks of all pairs to dst.
func (d DatedList) AddTo(dst Set) error {
	for i := range d.Len() {
		r := d.Rank(i)
		if int(r) >= d.rows {
			return Corrupt(d.name+dataEnd, "rank %d of %d", r, d.rows)
		}
		dst.Add(r)
	}
	return nil
}

// A Date is a day and a rank.
type Date struct {
	Day  int32
	Rank uint32
}

// A DatedWriter writes dated lists one by one.
type DatedWriter struct {
	keyedWriter
	buf []byte
}

// NewDatedWriter starts dated lists. The table's next section can be started after Close.
func NewDatedWriter(s Sink, name string) *DatedWriter {
	return &DatedWriter{keyedWriter: newKeyedWriter(s, name)}
}

// Add writes the list of a key. Keys ascend. The pairs ascend by day and rank without duplicates.
func (w *DatedWriter) Add(key uint64, list []Date) error {
	w.buf = w.buf[:0]
	for _, p := range list {
		w.buf = le.AppendUint32(le.AppendUint32(w.buf, uint32(p.Day)), p.Rank)
	}
	return w.add(key, 0, w.buf)
}
