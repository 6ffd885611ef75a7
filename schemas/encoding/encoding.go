// Package encoding implements the binary primitives of rows, contributions and recipes: varints, length-prefixed
// bytes, and order-preserving numbers.
//
// Append functions extend the caller's slice. A Reader consumes the values:
//
//	b := encoding.AppendText(binary.AppendUvarint(nil, 7), "seven")
//	r := encoding.NewReader(b)
//	n, name := r.Uvarint(), r.Text()
//	if err := r.Err(); err != nil { ... } // b was truncated or damaged
package encoding

import (
	"encoding/binary"
	"errors"
)

// ErrCut matches the error of a Reader whose bytes end within a value, or are not the output of this package.
var ErrCut = errors.New("bytes are cut or damaged")

// AppendText appends the length of text, then text.
func AppendText[T string | []byte](dst []byte, text T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// A Reader consumes values from the front of a slice. After the first invalid value it is empty: all values are zero
// and Err returns ErrCut, so callers check once, at the end.
type Reader struct {
	rest []byte
	bad  bool
}

// NewReader returns a Reader of b. The slices it returns are parts of b.
func NewReader(b []byte) Reader { return Reader{rest: b} }

// Rest returns the unread bytes.
func (r *Reader) Rest() []byte { return r.rest }

// Len returns the number of unread bytes.
func (r *Reader) Len() int { return len(r.rest) }

// Err returns ErrCut once a value was invalid.
func (r *Reader) Err() error {
	if r.bad {
		return ErrCut
	}
	return nil
}

// Fail makes the Reader fail, for a value that its caller rejects.
func (r *Reader) Fail() { r.rest, r.bad = nil, true }

// Take consumes n bytes, a slice of the Reader's input.
func (r *Reader) Take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.Fail()
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// Byte consumes one byte.
func (r *Reader) Byte() byte {
	if len(r.rest) == 0 {
		r.Fail()
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// Uint64 consumes eight bytes, big-endian.
func (r *Reader) Uint64() uint64 {
	if b := r.Take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// Uvarint consumes a number written by binary.AppendUvarint.
func (r *Reader) Uvarint() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 { // Fast path: most lengths and counts.
		v := uint64(r.rest[0])
		r.rest = r.rest[1:]
		return v
	}
	return r.longUvarint()
}

// longUvarint is separate so that Uvarint can be inlined.
func (r *Reader) longUvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// Varint consumes a number written by binary.AppendVarint.
func (r *Reader) Varint() int64 {
	u := r.Uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// Count consumes a number of elements of at least minBytes bytes each. It fails if they exceed the unread bytes, so
// damage cannot make a caller allocate too much.
func (r *Reader) Count(minBytes int) int {
	n := r.Uvarint()
	if n > uint64(len(r.rest)/minBytes) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Bytes consumes a value of AppendText, without a copy.
func (r *Reader) Bytes() []byte { return r.Take(r.Uvarint()) }

// Text consumes a value of AppendText and returns a copy.
func (r *Reader) Text() string { return string(r.Bytes()) }

// AppendOrdered appends a number so that its bytes sort in numerical order, small numbers in few bytes: the number of
// bytes, then the number, big-endian without leading zeros. Sorting compares eight bytes first.
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

// Ordered consumes a number written by AppendOrdered.
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
