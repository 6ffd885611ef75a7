package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"

	"reelsplice/ingest/source/limit"
)

// maxThriftDepth is how deep structs and lists may lie in each other in the metadata of
// a Parquet file. Those of the format need 8.
const maxThriftDepth = 32

var (
	errThriftShort = errors.New("it ends too early")
	errThriftType  = errors.New("it has a field of an unknown type")
)

// thriftLen returns the length of the struct, in Thrift's compact protocol, that b starts
// with. It is errThriftShort when the struct goes on behind b, and beyond a limit when its
// lists have more than most items in all.
//
// The library's decoder allocates what the length of a list claims, and has no bound for
// recursion, so no metadata goes to it before this function has walked over it.
func thriftLen(b []byte, most int) (int, error) {
	w := thriftWalker{b: b, items: most}
	err := w.fields(0)
	return w.i, err
}

// A thriftWalker walks over values without decoding them.
type thriftWalker struct {
	b     []byte
	i     int
	items int // that lists, sets and maps may still have
}

// fields passes the fields of a struct.
func (w *thriftWalker) fields(depth int) error {
	if depth > maxThriftDepth {
		return limit.Over("it is nested deeper than %d levels", maxThriftDepth)
	}
	for {
		c, err := w.byte()
		if err != nil || c == 0 {
			return err
		}
		if c>>4 == 0 { // the field's id follows
			if _, err := w.uvarint(); err != nil {
				return err
			}
		}
		typ := thrift.Type(c & 15)
		if typ == thrift.TRUE || typ == thrift.FALSE {
			continue // the type is the value
		}
		if err := w.value(typ, depth); err != nil {
			return err
		}
	}
}

// value passes one value inside a struct or a list at depth.
func (w *thriftWalker) value(typ thrift.Type, depth int) error {
	switch typ {
	case thrift.TRUE, thrift.FALSE, thrift.I8:
		return w.skip(1)
	case thrift.I16, thrift.I32, thrift.I64:
		_, err := w.uvarint()
		return err
	case thrift.DOUBLE:
		return w.skip(8)
	case thrift.UUID:
		return w.skip(16)
	case thrift.BINARY:
		n, err := w.uvarint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case thrift.LIST, thrift.SET:
		return w.list(depth + 1)
	case thrift.MAP:
		return w.pairs(depth + 1)
	case thrift.STRUCT:
		return w.fields(depth + 1)
	}
	return errThriftType
}

// list passes the items of a list or set.
func (w *thriftWalker) list(depth int) error {
	c, err := w.byte()
	if err != nil {
		return err
	}
	n := uint64(c >> 4)
	if n == 15 {
		if n, err = w.uvarint(); err != nil {
			return err
		}
	}
	return w.itemsOf(n, depth, thrift.Type(c&15))
}

// pairs passes the keys and values of a map.
func (w *thriftWalker) pairs(depth int) error {
	n, err := w.uvarint()
	if err != nil || n == 0 {
		return err
	}
	c, err := w.byte()
	if err != nil {
		return err
	}
	return w.itemsOf(n, depth, thrift.Type(c>>4), thrift.Type(c&15))
}

// itemsOf passes n times one value of each type.
func (w *thriftWalker) itemsOf(n uint64, depth int, types ...thrift.Type) error {
	if depth > maxThriftDepth {
		return limit.Over("it is nested deeper than %d levels", maxThriftDepth)
	}
	if n > uint64(len(w.b)-w.i) { // each takes a byte or more
		return errThriftShort
	}
	if w.items -= int(n); w.items < 0 {
		return limit.Over("it lists more items than its size allows")
	}
	for range n {
		for _, typ := range types {
			if err := w.value(typ, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *thriftWalker) byte() (byte, error) {
	if w.i >= len(w.b) {
		return 0, errThriftShort
	}
	w.i++
	return w.b[w.i-1], nil
}

func (w *thriftWalker) uvarint() (uint64, error) {
	u, n := binary.Uvarint(w.b[w.i:])
	switch {
	case n == 0:
		return 0, errThriftShort
	case n < 0:
		return 0, errors.New("it has a number of more than 64 bits")
	}
	w.i += n
	return u, nil
}

func (w *thriftWalker) skip(n uint64) error {
	if n > uint64(len(w.b)-w.i) {
		return errThriftShort
	}
	w.i += int(n)
	return nil
}

// decodeThrift decodes the struct that b starts with into v, and returns its length. See
// thriftLen for its errors.
func decodeThrift(b []byte, v any, most int) (n int, err error) {
	if n, err = thriftLen(b, most); err != nil {
		return 0, err
	}
	var compact thrift.CompactProtocol
	if err := thrift.NewDecoder(compact.NewReaderFromBytes(b[:n])).Decode(v); err != nil {
		return 0, fmt.Errorf("it cannot be decoded: %w", err)
	}
	return n, nil
}
