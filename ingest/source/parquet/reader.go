// Package parquet reads the rows of a Parquet file as JSON objects.
//
// The library trusts the sizes that a file claims, allocates as much, and decodes whole pages; some writers make one page per
// column. So this package checks the metadata against the size of the file and the limits when it opens the file (footer.go,
// thrift.go, tree.go), and each page before it reads it (column.go). It uncompresses pages itself, never to more than they claim,
// and decodes them value by value from windows that fit the memory (page.go, encoded.go). tree.go and cell.go write the rows.
package parquet

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Reader reads one row group after another, with one page per column at a time.
// It is not safe for concurrent use.
type Reader struct {
	Strict bool // a row with a value that JSON cannot represent is bad

	r       io.ReaderAt
	limits  limit.Limits
	budget  limit.Budget // that the pages of all columns share
	reread  int64        // bytes of pages that were uncompressed again
	pinned  int64        // memory of columns besides their shares
	size    int64        // bytes of the file on disk
	groups  []format.RowGroup
	total   int64 // rows of all groups
	root    *node
	columns []*column // by leaf of the schema, reused for each row group
	group   int       // 0-based row group to read from
	inGroup int64     // rows of it that were read
	row     int64     // rows of the file that were read
	json    []byte

	unpack  unpacker
	packed  []byte // the current page, as found
	body    []byte // likewise, uncompressed
	headers thriftReader
}

// Open opens the Parquet file of size bytes that r reads; onDisk is its size on disk. Limits get
// their defaults. A panic of the library on a damaged file becomes an error.
func Open(r io.ReaderAt, size, onDisk int64, l limit.Limits) (p *Reader, err error) {
	defer recoverTo(&err)
	meta, err := readFooter(r, size, limit.Expandable(onDisk, l.MaxRatio))
	if err != nil {
		return nil, err
	}
	root, leaves, err := newTree(meta.Schema)
	if err != nil {
		return nil, err
	}
	total, err := checkClaims(meta, leaves, size, onDisk, l.MaxRatio)
	if err != nil {
		return nil, err
	}
	p = &Reader{
		r: r, limits: l, budget: limit.Budget{Max: l.MaxBytes, Ratio: l.MaxRatio}, size: onDisk,
		groups: meta.RowGroups, total: total, root: root,
	}
	for _, leaf := range leaves {
		p.columns = append(p.columns, &column{node: leaf, file: p, buf: make([]parquet.Value, valueBatch)})
	}
	return p, nil
}

// recoverTo turns a panic into an error.
func recoverTo(err *error) {
	switch r := recover().(type) {
	case nil:
	case fault:
		*err = r
	default:
		*err = fmt.Errorf("corrupt Parquet data: %v", r)
	}
}

// A Row is one row as a JSON object, valid until the next call of Next.
type Row struct {
	JSON []byte // cut where a row is longer than the limit
	Bad  string // why the row cannot be used; "" for a good one
	// Nulled are the values that JSON cannot hold: they are null in it. A strict Reader has them in Bad instead, and
	// their closest form in JSON.
	Nulled []record.FieldError
	Mended record.Mended // repairs that made texts of its values
}

// Next returns the next row, or io.EOF after the last one. Any other error ends the file at
// that row.
func (p *Reader) Next() (row Row, err error) {
	defer func() {
		if err != nil && err != io.EOF {
			err = fmt.Errorf("row group %d: %w", p.group+1, err)
		}
	}()
	defer recoverTo(&err)
	for p.group < len(p.groups) && p.inGroup == p.groups[p.group].NumRows {
		for _, c := range p.columns {
			if c.pos < c.end || c.page.valuesLeft > 0 || c.valuesLeft > 0 {
				return Row{}, c.fault(errValuesLeft)
			}
		}
		p.group, p.inGroup = p.group+1, 0
	}
	if p.group == len(p.groups) {
		return Row{}, io.EOF
	}
	size := int64(0)
	if p.inGroup == 0 {
		p.pinned = 0
		for i := range p.columns {
			size += max(0, p.groups[p.group].Columns[i].MetaData.TotalUncompressedSize)
		}
	}
	for i, c := range p.columns {
		if p.inGroup == 0 {
			c.open(&p.groups[p.group].Columns[i].MetaData, size)
		}
		if err := c.nextRow(); err != nil {
			return Row{}, c.fault(err)
		}
	}
	if cap(p.json) > 1<<16 && cap(p.json) > 16*len(p.json) {
		p.json = nil // do not keep the buffer of one huge row
	}
	w := rowWriter{columns: p.columns, dst: p.json[:0], max: int(p.limits.MaxRowBytes), strict: p.Strict}
	if err := w.write(p.root); err != nil && err != errLong {
		return Row{}, err
	}
	p.json = w.dst
	p.row++
	p.inGroup++
	if len(w.dst) > w.max {
		w.bad = fmt.Sprintf("row is longer than %d bytes", w.max)
	}
	return Row{JSON: w.dst, Bad: w.bad, Nulled: w.nulled, Mended: w.mended}, nil
}

// Done returns the fraction of rows that have been read, from 0 to 1. File offsets cannot
// show progress, because the columns of a row are spread over its row group.
func (p *Reader) Done() float64 {
	if p.total == 0 {
		return 1
	}
	return float64(p.row) / float64(p.total)
}

// Close frees the reader's memory. It does not close the file.
func (p *Reader) Close() {
	if p.unpack.zstd != nil {
		p.unpack.zstd.Close()
	}
}
