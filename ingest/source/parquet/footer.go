package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
)

const (
	maxSchemaDepth = 64       // of groups in the schema
	maxFooterBytes = 64 << 20 // of the footer
	maxFooterItems = 1 << 20  // structs, numbers and strings in the lists of the footer
	itemBytes      = 1 << 10  // that an item of a list in the footer may take in memory
)

// valueBytes is what a value of a Parquet file counts for when what a file claims is
// compared with its size: about what a NULL with its name takes as JSON. It is the
// measure because a run of NULLs takes no bytes in the file at all.
const valueBytes = 8

// readFooter reads the metadata of the Parquet file of size bytes behind r. An item of a
// list that takes a byte there takes hundreds in memory, so there may be as many as a file
// that may take expanded bytes can have.
func readFooter(r io.ReaderAt, size, expanded int64) (*format.FileMetaData, error) {
	b, err := footerOf(r, size)
	if err != nil {
		return nil, err
	}
	meta := new(format.FileMetaData)
	n, err := new(thriftReader).decode(b, meta, int(min(maxFooterItems, expanded/itemBytes)))
	switch {
	case errors.Is(err, limit.Err):
		return nil, fmt.Errorf("footer of the Parquet file: %w", err)
	case err != nil:
		return nil, fmt.Errorf("corrupt Parquet footer: %w", err)
	case meta.EncryptionAlgorithm.Value != nil:
		return nil, errors.New("is an encrypted Parquet file")
	case n < len(b):
		return nil, fmt.Errorf("corrupt Parquet footer: found %d bytes behind it", len(b)-n)
	}
	return meta, nil
}

// footerOf reads the footer. It refuses a file that was cut off, and a footer length that does not
// fit into the file.
func footerOf(r io.ReaderAt, size int64) ([]byte, error) {
	var tail [8]byte
	if size < 12 {
		return nil, fmt.Errorf("truncated Parquet file: want at least 12 bytes, found %d", size)
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	switch {
	case string(tail[4:]) != "PAR1":
		return nil, fmt.Errorf("truncated Parquet file: want PAR1 as the last 4 bytes, found %q", tail[4:])
	case n > size-12:
		return nil, fmt.Errorf("corrupt Parquet footer: its length is %d bytes in a file of %d", n, size)
	case n > maxFooterBytes:
		return nil, limit.Over("Parquet footer has %d bytes, want at most %d", n, maxFooterBytes)
	}
	b := make([]byte, n)
	_, err := r.ReadAt(b, size-8-n)
	return b, err
}

// A schemaChecker walks over the schema of a Parquet file, a list in depth-first order.
type schemaChecker struct {
	schema []format.SchemaElement
	next   int
	leaves int
}

// checkSchema returns the number of leaf columns.
func checkSchema(schema []format.SchemaElement) (leaves int, err error) {
	if len(schema) == 0 {
		return 0, errors.New("no columns in the Parquet file")
	}
	c := schemaChecker{schema: schema}
	if err := c.node(0); err != nil {
		return 0, err
	}
	if c.next < len(schema) {
		return 0, fmt.Errorf("corrupt Parquet footer: %d nodes of the schema belong to no group", len(schema)-c.next)
	}
	if c.leaves == 0 {
		return 0, errors.New("no columns in the Parquet file")
	}
	return c.leaves, nil
}

// node checks the next node and all below it.
func (c *schemaChecker) node(depth int) error {
	if c.next >= len(c.schema) {
		return errors.New("corrupt Parquet footer: the schema ends inside a group")
	}
	e := &c.schema[c.next]
	c.next++
	if depth > maxSchemaDepth {
		return limit.Over("Parquet schema is nested deeper than %d levels at %.100q", maxSchemaDepth, e.Name)
	}
	if e.Type.Valid {
		c.leaves++
		return c.leaf(e)
	}
	for range e.NumChildren.V {
		if err := c.node(depth + 1); err != nil {
			return err
		}
	}
	return nil
}

// leaf checks a leaf column.
func (c *schemaChecker) leaf(e *format.SchemaElement) error {
	switch {
	case c.leaves > limit.MaxColumns:
		return limit.Over("Parquet schema has more than %d columns", limit.MaxColumns)
	case e.NumChildren.V > 0:
		return fmt.Errorf("corrupt Parquet footer: column %q has a type and %d children", e.Name, e.NumChildren.V)
	case e.Type.V == format.FixedLenByteArray && (e.TypeLength.V < 1 || e.TypeLength.V > math.MaxInt16):
		return fmt.Errorf("corrupt Parquet footer: column %q holds values of %d bytes", e.Name, e.TypeLength.V)
	case e.Type.V < format.Boolean || e.Type.V > format.FixedLenByteArray:
		return fmt.Errorf("corrupt Parquet footer: column %q is of the unknown type %d", e.Name, e.Type.V)
	}
	return nil
}

// checkClaims compares the rows that meta claims with the size of the Parquet file. A
// file may hold as many rows as it likes, but not out of nothing: see valueBytes.
func checkClaims(meta *format.FileMetaData, leaves int, size, onDisk, ratio int64) error {
	var values, stored float64
	for i := range meta.RowGroups {
		g := &meta.RowGroups[i]
		if len(g.Columns) != leaves {
			return fmt.Errorf("corrupt Parquet footer: row group %d has %d columns, want %d", i+1, len(g.Columns), leaves)
		}
		if g.NumRows < 0 {
			return fmt.Errorf("corrupt Parquet footer: row group %d has %d rows", i+1, g.NumRows)
		}
		for k := range g.Columns {
			if err := checkChunk(&g.Columns[k], g.NumRows, size); err != nil {
				return fmt.Errorf("corrupt Parquet footer: row group %d: column %d: %w", i+1, k+1, err)
			}
			values += float64(g.Columns[k].MetaData.NumValues)
			stored += float64(g.Columns[k].MetaData.TotalCompressedSize)
		}
	}
	if stored > float64(size) {
		return fmt.Errorf("corrupt Parquet footer: its columns have %.0f bytes in a file of %d", stored, size)
	}
	if most := limit.Expandable(onDisk, ratio) / valueBytes; values > float64(most) {
		return limit.Over("claims %.0f values in %d bytes, want at most %d: is it a compression bomb?", values, onDisk, most)
	}
	return nil
}

// checkChunk checks the claims of the footer about one column in a row group of so many rows.
func checkChunk(c *format.ColumnChunk, rows, size int64) error {
	m := &c.MetaData
	switch start := chunkStart(m); {
	case len(c.EncryptedColumnMetadata) > 0 || c.CryptoMetadata.Value != nil:
		return errors.New("it is encrypted")
	case m.NumValues < rows:
		return fmt.Errorf("it has %d values in %d rows", m.NumValues, rows)
	case start < 0 || m.TotalCompressedSize < 0 || start > size || m.TotalCompressedSize > size-start:
		return fmt.Errorf("it lies at %d to %d+%d in a file of %d bytes", start, start, m.TotalCompressedSize, size)
	}
	return nil
}

// chunkStart returns the offset of the first page of a column.
func chunkStart(m *format.ColumnMetaData) int64 {
	if m.DictionaryPageOffset != 0 {
		return m.DictionaryPageOffset
	}
	return m.DataPageOffset
}

// openSchema returns a file of the library that has the schema of meta and one row group
// of no bytes. Its columns decode the pages of all row groups, which pages hands to
// them uncompressed.
func openSchema(meta *format.FileMetaData) (*parquet.File, error) {
	bare := format.FileMetaData{Version: 1, Schema: meta.Schema, RowGroups: make([]format.RowGroup, 1)}
	for _, e := range meta.Schema {
		if e.Type.Valid {
			bare.RowGroups[0].Columns = append(bare.RowGroups[0].Columns, format.ColumnChunk{MetaData: format.ColumnMetaData{
				Type: e.Type.V, Codec: format.Uncompressed, TotalCompressedSize: math.MaxInt64,
			}})
		}
	}
	var compact thrift.CompactProtocol
	footer, err := thrift.Marshal(&compact, &bare)
	if err != nil {
		return nil, err
	}
	b := append([]byte("PAR1"), footer...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	b = append(b, "PAR1"...)
	return parquet.OpenFile(bytes.NewReader(b), int64(len(b)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true),
		parquet.ReadBufferSize(headBytes))
}
