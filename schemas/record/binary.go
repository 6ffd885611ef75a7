package record

import (
	"encoding/binary"
	"errors"
	"math"
)

// This file holds a form of records for files of this program alone: it is read five times as
// fast as JSON. The catalogue has sums of it, and keeps records in it for some nights: whoever
// changes it gives catalog.FormatVersion another value. A record is
//
//	uvarint   set     bit i for a field i that has a value
//	uvarint   length, then that many bytes: Unusual
//	uvarint   length, then that many bytes: Extra
//	values    of the fields that are set, in their order
//
// and a value is, by the shape of the field: a length and as many bytes; a zigzag varint;
// eight bytes, little endian; one byte; a record; a count and as many elements.

// AppendBinary appends r in the form that DecodeBinary reads.
func AppendBinary(dst []byte, r Record) []byte {
	var set uint64
	for i := range r.Schema.Fields {
		if r.set(&r.Schema.Fields[i]) {
			set |= 1 << i
		}
	}
	o := r.Object()
	dst = binary.AppendUvarint(dst, set)
	dst = appendText(dst, o.Unusual)
	dst = appendText(dst, o.Extra)
	for i := range r.Schema.Fields {
		if set&(1<<i) != 0 {
			dst = appendBinaryValue(dst, r, &r.Schema.Fields[i])
		}
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendBinaryValue(dst []byte, r Record, f *Field) []byte {
	switch f.Shape {
	case ShapeString:
		return appendText(dst, r.String(f).V)
	case ShapeRaw:
		return appendText(dst, r.Raw(f).V)
	case ShapeInt:
		return binary.AppendVarint(dst, r.Int(f).V)
	case ShapeFloat:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(r.Float(f).V))
	case ShapeBool:
		if r.Bool(f).V {
			return append(dst, 1)
		}
		return append(dst, 0)
	case ShapeObject:
		sub, _ := r.Sub(f)
		return AppendBinary(dst, sub)
	case ShapeStrings:
		list := *r.Strings(f)
		dst = binary.AppendUvarint(dst, uint64(len(list)))
		for _, s := range list {
			dst = appendText(dst, s)
		}
		return dst
	case ShapeInts:
		list := *r.Ints(f)
		dst = binary.AppendUvarint(dst, uint64(len(list)))
		for _, n := range list {
			dst = binary.AppendVarint(dst, n)
		}
		return dst
	}
	n, _ := r.Len(f)
	dst = binary.AppendUvarint(dst, uint64(n))
	for i := range n {
		dst = AppendBinary(dst, r.At(f, i))
	}
	return dst
}

// ErrBinary is the error of DecodeBinary for bytes that AppendBinary did not write.
var ErrBinary = errors.New("record: damaged record")

// DecodeBinary fills r, which must be zero, from what AppendBinary wrote of a record of
// the same plan. The record keeps parts of text.
func DecodeBinary(text string, r Record) error {
	d := decoder{s: text}
	d.record(r)
	if d.bad || d.s != "" {
		return ErrBinary
	}
	return nil
}

// A decoder takes values off the front of s. Once bad is set, they are zeros.
type decoder struct {
	s   string
	bad bool
}

func (d *decoder) uvarint() uint64 {
	if d.s != "" && d.s[0] < 0x80 { // Fast path: most lengths and counts.
		n := uint64(d.s[0])
		d.s = d.s[1:]
		return n
	}
	n, size := binary.Uvarint([]byte(d.s[:min(len(d.s), binary.MaxVarintLen64)]))
	if size <= 0 {
		d.s, d.bad = "", true
		return 0
	}
	d.s = d.s[size:]
	return n
}

func (d *decoder) varint() int64 {
	u := d.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (d *decoder) text() string { return d.bytes(d.uvarint()) }

func (d *decoder) bytes(n uint64) string {
	if n > uint64(len(d.s)) {
		d.s, d.bad = "", true
		return ""
	}
	s := d.s[:n]
	d.s = d.s[n:]
	return s
}

// The fewest bytes of an element of a list: a length or a number, and a record.
const (
	leastValue  = 1
	leastRecord = 3
)

// count reads how many elements follow, each of least bytes or more.
func (d *decoder) count(least int) int {
	n := d.uvarint()
	if n > uint64(len(d.s)/least) {
		d.s, d.bad = "", true
		return 0
	}
	return int(n)
}

func (d *decoder) record(r Record) {
	set := d.uvarint()
	o := r.Object()
	o.Unusual, o.Extra = d.text(), d.text()
	if n := len(r.Schema.Fields); n < 64 && set>>n != 0 {
		d.s, d.bad = "", true
	}
	for i := range r.Schema.Fields {
		if d.bad {
			return
		}
		if set&(1<<i) != 0 {
			d.value(r, &r.Schema.Fields[i])
		}
	}
}

func (d *decoder) value(r Record, f *Field) {
	switch f.Shape {
	case ShapeString:
		*r.String(f) = String{d.text(), true}
	case ShapeRaw:
		*r.Raw(f) = Raw{d.text(), true}
	case ShapeInt:
		*r.Int(f) = Int{d.varint(), true}
	case ShapeFloat:
		b := d.bytes(8)
		if len(b) == 8 {
			*r.Float(f) = Float{math.Float64frombits(binary.LittleEndian.Uint64([]byte(b))), true}
		}
	case ShapeBool:
		*r.Bool(f) = Bool{d.bytes(1) == "\x01", true}
	case ShapeObject:
		d.record(r.MakeSub(f))
	case ShapeStrings:
		list := make([]string, d.count(leastValue))
		for i := range list {
			list[i] = d.text()
		}
		*r.Strings(f) = list
	case ShapeInts:
		list := make([]int64, d.count(leastValue))
		for i := range list {
			list[i] = d.varint()
		}
		*r.Ints(f) = list
	default:
		n := d.count(leastRecord)
		r.MakeList(f, n)
		for range n {
			if d.bad {
				return
			}
			d.record(r.Grow(f))
		}
	}
}
