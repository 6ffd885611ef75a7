// Package encoding has the binary primitives that rows, contributions and recipes are made
// of: varints, bytes behind their length, and numbers whose bytes compare as they do.
//
// Appending functions extend the caller's slice. A Reader takes the values off again:
//
//	b := encoding.AppendText(binary.AppendUvarint(nil, 7), "seven")
//	r := encoding.NewReader(b)
//	n, name := r.Uvarint(), r.Text()
//	if err := r.Err(); err != nil { ... } // b was cut or damaged
package encoding

import (
	"encoding/binary"
	"errors"
)

// ErrCut matches the error of a Reader whose bytes ended within a value, or are no bytes
// that this package's functions append.
var ErrCut = errors.New("bytes are cut or damaged")

// AppendText appends text behind its length.
func AppendText[T string | []byte](dst []byte, text T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// A Reader takes values off the front of bytes. After the first bad value it is empty: all
// values are zero and Err reports ErrCut, so that callers check once, at the end.
type Reader struct {
	rest []byte
	bad  bool
}

// NewReader returns a Reader of b. Slices that it hands out are parts of b.
func NewReader(b []byte) Reader { return Reader{rest: b} }

// Rest returns the bytes that no value was taken off yet.
func (r *Reader) Rest() []byte { return r.rest }

// Len returns how many bytes are left.
func (r *Reader) Len() int { return len(r.rest) }

// Err returns ErrCut once a value was bad.
func (r *Reader) Err() error {
	if r.bad {
		return ErrCut
	}
	return nil
}

// Fail makes the Reader bad, for a value that its caller cannot accept.
func (r *Reader) Fail() { r.rest, r.bad = nil, true }

// Take takes n bytes, which stay part of what NewReader was given.
func (r *Reader) Take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.Fail()
		return nil
	}
	out := r.rest[:n:n]
	r.rest = r.rest[n:]
	return out
}

// Byte takes one byte.
func (r *Reader) Byte() byte {
	if len(r.rest) == 0 {
		r.Fail()
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// Uint64 takes eight bytes, big-endian.
func (r *Reader) Uint64() uint64 {
	if b := r.Take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// Uvarint takes a number that binary.AppendUvarint appended.
func (r *Reader) Uvarint() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 { // Fast path: most lengths and counts.
		v := uint64(r.rest[0])
		r.rest = r.rest[1:]
		return v
	}
	return r.longUvarint()
}

// longUvarint is apart so that Uvarint can be inlined.
func (r *Reader) longUvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// Varint takes a number that binary.AppendVarint appended.
func (r *Reader) Varint() int64 {
	u := r.Uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// Count takes how many elements follow, each of least bytes or more. So damage never makes
// a caller reserve memory for more elements than there are bytes.
func (r *Reader) Count(least int) int {
	n := r.Uvarint()
	if n > uint64(len(r.rest)/least) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Bytes takes what AppendText appended, without a copy.
func (r *Reader) Bytes() []byte { return r.Take(r.Uvarint()) }

// Text takes what AppendText appended, as a string of its own.
func (r *Reader) Text() string { return string(r.Bytes()) }

// AppendOrdered appends a number so that bytes compare as numbers do, small ones in few
// bytes: how many bytes follow, then the number, big-endian without leading zeros. Sorting
// looks at eight bytes first.
func AppendOrdered(dst []byte, v uint64) []byte {
	n := 0
	for n < 8 && v>>(8*n) != 0 {
		n++
	}
	dst = append(dst, byte(n))
	for i := n - 1; i >= 0; i-- {
		dst = append(dst, byte(v>>(8*i)))
	}
	return dst
}

// Ordered takes a number that AppendOrdered appended.
func (r *Reader) Ordered() (v uint64) {
	n := r.Byte()
	if n > 8 {
		r.Fail()
		return 0
	}
	for _, c := range r.Take(uint64(n)) {
		v = v<<8 | uint64(c)
	}
	return v
}
