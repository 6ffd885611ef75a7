package parquet

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
)

// maxThriftDepth bounds the nesting of structs in the metadata of a Parquet file. The format
// needs 8.
const maxThriftDepth = 32

var errThriftType = errors.New("it has a field of an unknown type")

// A thriftReader is the library's reader with limits: the library's decoder allocates any claimed
// length of a list, and recurses as deep as structs are nested. Parquet metadata has
// no sets, maps or lists of lists. The zero value is ready to use; its buffers are reused.
type thriftReader struct {
	thrift.BytesReader
	size  int   // length of the input
	items int   // number of list items that are still allowed
	open  []int // number of unfinished structs at each depth
	err   error // the first exceeded limit
}

// decode decodes the struct at the start of b, in Thrift's compact protocol, into v, and returns its
// length. Strings of v point into b. The error is errShort if the struct does not end in b, and
// matches limit.Err if its lists have more than maxItems items in total.
func (r *thriftReader) decode(b []byte, v any, maxItems int) (n int, err error) {
	if r.BytesReader == nil {
		var compact thrift.CompactProtocol
		r.BytesReader = compact.NewReaderFromBytes(nil)
	}
	r.ResetBytes(b)
	r.size, r.items, r.open, r.err = len(b), maxItems, append(r.open[:0], 1), nil
	err = thrift.NewDecoder(r).Decode(v)
	switch {
	case r.err != nil:
		return 0, r.err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return 0, errShort
	case err != nil:
		return 0, fmt.Errorf("it cannot be decoded: %w", err)
	}
	return r.BytesRead(), nil
}

func (r *thriftReader) fail(err error) error {
	r.err = err
	return err
}

// enter opens n structs, one after the other, within the innermost open one.
func (r *thriftReader) enter(n int) error {
	if r.open = append(r.open, n); len(r.open) > maxThriftDepth {
		return r.fail(limit.Errorf("it is nested deeper than %d levels", maxThriftDepth))
	}
	return nil
}

// ReadField also enters the struct of a field, and leaves a struct at its STOP.
func (r *thriftReader) ReadField() (thrift.Field, error) {
	f, err := r.BytesReader.ReadField()
	switch {
	case err != nil:
	case f.Type == thrift.STRUCT:
		err = r.enter(1)
	case f.Type == thrift.STOP:
		last := len(r.open) - 1
		if r.open[last]--; r.open[last] == 0 {
			r.open = r.open[:last]
		}
	}
	return f, err
}

// ReadList also enters the structs of the list. Each item takes at least one byte.
func (r *thriftReader) ReadList() (thrift.List, error) {
	l, err := r.BytesReader.ReadList()
	switch n := int(l.Size); {
	case err != nil || n == 0:
	case l.Type == thrift.LIST || l.Type == thrift.SET || l.Type == thrift.MAP:
		err = r.fail(errThriftType)
	case n > r.size-r.BytesRead():
		err = r.fail(errShort)
	case n > r.items:
		err = r.fail(limit.Errorf("it lists more items than its size allows"))
	case l.Type == thrift.STRUCT:
		err = r.enter(n)
	}
	r.items -= int(l.Size)
	return l, err
}

// ReadSet refuses a set.
func (r *thriftReader) ReadSet() (thrift.Set, error) { return thrift.Set{}, r.fail(errThriftType) }

// ReadMap refuses a map.
func (r *thriftReader) ReadMap() (thrift.Map, error) { return thrift.Map{}, r.fail(errThriftType) }

// Discard skips bytes of unknown fields. The library checks for this optional method.
func (r *thriftReader) Discard(n int) (int, error) {
	return r.BytesReader.(interface{ Discard(int) (int, error) }).Discard(n)
}
