package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
)

const (
	maxSchemaDepth = 64       // nesting of groups in the schema
	maxFooterBytes = 64 << 20 // longest footer
	maxFooterItems = 1 << 20  // structs, numbers and strings in the lists of the footer
	itemBytes      = 1 << 10  // maximum memory of a list item in the footer
)

// valueBytes is what a claimed value is charged against the file's budget: about a NULL
// with its name as JSON. Its bytes in the file may be zero, as in a run of NULLs.
const valueBytes = 8

// readFooter reads the metadata of a Parquet file of size bytes. A list item of one byte takes hundreds of bytes in memory,
// so expanded, the maximum uncompressed size of the file, bounds the number of items.
func readFooter(r io.ReaderAt, size, expanded int64) (*format.FileMetaData, error) {
	var tail [8]byte
	if size < 12 {
		return nil, fmt.Errorf("truncated Parquet file: want at least 12 bytes, found %d", size)
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	switch {
	case string(tail[4:]) != "PAR1":
		return nil, fmt.Errorf("truncated Parquet file: want PAR1 as the last 4 bytes, found %q", tail[4:])
	case length > size-12:
		return nil, fmt.Errorf("corrupt Parquet footer: its length is %d bytes in a file of %d", length, size)
	case length > maxFooterBytes:
		return nil, limit.Errorf("Parquet footer has %d bytes, want at most %d", length, maxFooterBytes)
	}
	b := make([]byte, length)
	if _, err := r.ReadAt(b, size-8-length); err != nil {
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
		return nil, fmt.Errorf("corrupt Parquet footer: found %d bytes after it", len(b)-n)
	}
	return meta, nil
}

// checkClaims checks the claims in meta against the leaf columns and the size of the Parquet file, and returns the number of
// rows. Each claimed value is charged valueBytes against the budget of the file.
func checkClaims(meta *format.FileMetaData, leaves []*node, size, onDisk, ratio int64) (rows int64, err error) {
	var values, stored float64
	for i := range meta.RowGroups {
		g := &meta.RowGroups[i]
		invalid := func(form string, args ...any) (int64, error) {
			return 0, fmt.Errorf("corrupt Parquet footer: row group %d"+form, append([]any{i + 1}, args...)...)
		}
		if len(g.Columns) != len(leaves) || g.NumRows < 0 {
			return invalid(" has %d columns and %d rows, want %d columns", len(g.Columns), g.NumRows, len(leaves))
		}
		rows += g.NumRows
		for k := range g.Columns {
			c := &g.Columns[k]
			m := &c.MetaData
			switch start := chunkStart(m); {
			case len(c.EncryptedColumnMetadata) > 0 || c.CryptoMetadata.Value != nil:
				return invalid(": column %d: it is encrypted", k+1)
			case m.NumValues < g.NumRows:
				return invalid(": column %d: it has %d values in %d rows", k+1, m.NumValues, g.NumRows)
			case leaves[k].rep == 0 && m.NumValues != g.NumRows: // values after the last row would be lost
				return invalid(": column %q has %d values in %d rows", leaves[k].path, m.NumValues, g.NumRows)
			case start < 0 || m.TotalCompressedSize < 0 || start > size || m.TotalCompressedSize > size-start:
				return invalid(": column %d: it lies at %d to %d+%d in a file of %d bytes", k+1, start, start, m.TotalCompressedSize, size)
			}
			values += float64(m.NumValues)
			stored += float64(m.TotalCompressedSize)
		}
	}
	if stored > float64(size) {
		return 0, fmt.Errorf("corrupt Parquet footer: its columns have %.0f bytes in a file of %d", stored, size)
	}
	if maxValues := limit.Expandable(onDisk, ratio) / valueBytes; values > float64(maxValues) {
		return 0, limit.Errorf("claims %.0f values in %d bytes, want at most %d: is it a compression bomb?", values, onDisk, maxValues)
	}
	return rows, nil
}

// chunkStart returns the offset of the first page of a column.
func chunkStart(m *format.ColumnMetaData) int64 {
	if m.DictionaryPageOffset != 0 {
		return m.DictionaryPageOffset
	}
	return m.DataPageOffset
}
