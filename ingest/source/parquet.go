package source

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/parquet-go/parquet-go"
)

const (
	parquetReadBytes  = 256 << 10 // read buffer of a column
	parquetValueBatch = 256       // values decoded at once of a column
)

// parquetRows reads a Parquet file as JSON objects, one row group after another and
// in each one page a column at a time.
type parquetRows struct {
	name     string
	max      int
	bytes    int64
	consumed *atomic.Int64

	file    *parquet.File
	root    *pqNode
	columns []*pqColumn // leaves of the current row group, nil before the first
	group   int         // 0-based row group to read from
	inGroup int64       // rows of it that were read
	row     int64       // rows of the file that were read
	json    []byte
}

// newParquetRows opens the Parquet file of size bytes behind r. The library may
// panic on damaged files; that becomes an error.
func newParquetRows(r io.ReaderAt, name string, size int64, max int, consumed *atomic.Int64) (p *parquetRows, err error) {
	defer recoverTo(&err)
	if err := checkFooter(r, size); err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true),
		parquet.ReadBufferSize(parquetReadBytes))
	if err != nil {
		return nil, fmt.Errorf("corrupt Parquet footer: %w", err)
	}
	root, err := newPqTree(f)
	if err != nil {
		return nil, err
	}
	return &parquetRows{name: name, max: max, bytes: size, consumed: consumed, file: f, root: root}, nil
}

// recoverTo turns a panic into an error.
func recoverTo(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("corrupt Parquet data: %v", r)
	}
}

// checkFooter refuses a file that was cut off, and a footer length that does not fit
// into the file, which would otherwise be allocated.
func checkFooter(r io.ReaderAt, size int64) error {
	var tail [8]byte
	if size < 12 {
		return fmt.Errorf("truncated Parquet file: want at least 12 bytes, found %d", size)
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return err
	}
	if string(tail[4:]) != "PAR1" {
		return fmt.Errorf("truncated Parquet file: want PAR1 as the last 4 bytes, found %q", tail[4:])
	}
	if n := int64(binary.LittleEndian.Uint32(tail[:])); n > size-12 {
		return fmt.Errorf("corrupt Parquet footer: its length is %d bytes in a file of %d", n, size)
	}
	return nil
}

func (p *parquetRows) next() (row Row, err error) {
	groups := p.file.RowGroups()
	for p.group < len(groups) && p.inGroup >= groups[p.group].NumRows() {
		p.closeGroup()
		p.group, p.inGroup = p.group+1, 0
	}
	if p.group >= len(groups) {
		p.consumed.Store(p.bytes)
		return Row{}, io.EOF
	}
	row, err = p.readRow(groups[p.group])
	if err != nil {
		return Row{}, &FileError{File: p.name, Row: p.row + 1, Err: fmt.Errorf("row group %d: %w", p.group+1, err)}
	}
	return row, nil
}

// readRow reads the next row of group g.
func (p *parquetRows) readRow(g parquet.RowGroup) (row Row, err error) {
	defer recoverTo(&err)
	if p.columns == nil {
		p.openGroup(g)
	}
	for _, c := range p.columns {
		if err := c.nextRow(p.max); err != nil {
			return Row{}, err
		}
	}
	w := pqWriter{columns: p.columns, dst: p.json[:0], max: p.max}
	if err := w.write(p.root); err != nil && err != errLong {
		return Row{}, err
	}
	p.json = w.dst
	p.row++
	p.inGroup++
	if n := p.file.NumRows(); n > 0 {
		// The columns of a row lie all over its row group, so progress goes by rows.
		p.consumed.Store(int64(float64(p.bytes) * (float64(p.row) / float64(n))))
	}
	return p.finish(&w), nil
}

// finish makes a Row out of what w has written.
func (p *parquetRows) finish(w *pqWriter) Row {
	row := Row{Place: Place{File: p.name, Row: p.row, Off: -1}, JSON: w.dst, Size: int64(len(w.dst))}
	switch {
	case len(w.dst) > p.max:
		row.JSON = w.dst[:min(len(w.dst), longRowHead)]
		row.Err = &RowError{Place: row.Place, Off: -1, Reason: fmt.Sprintf("row is longer than %d bytes", p.max)}
	case w.bad != "":
		row.Err = &RowError{Place: row.Place, Off: -1, Reason: w.bad}
	}
	if cap(w.dst) > 4*longRowHead && cap(w.dst) > 16*len(w.dst) {
		p.json = nil // one huge row is no reason to keep its buffer
	}
	return row
}

func (p *parquetRows) openGroup(g parquet.RowGroup) {
	chunks := g.ColumnChunks()
	p.columns = make([]*pqColumn, len(chunks))
	for i, chunk := range chunks {
		p.columns[i] = &pqColumn{pages: chunk.Pages(), buf: make([]parquet.Value, parquetValueBatch)}
	}
	for _, leaf := range p.root.leaves(nil) {
		p.columns[leaf.column].name = leaf.path
	}
}

func (p *parquetRows) closeGroup() {
	for _, c := range p.columns {
		c.close()
	}
	p.columns = nil
}

func (p *parquetRows) close() {
	var err error
	defer recoverTo(&err) // the rows that were wanted have been read
	p.closeGroup()
}

// A pqColumn reads the values of one leaf column in one row group.
type pqColumn struct {
	name  string
	pages parquet.Pages
	page  parquet.Page
	vals  parquet.ValueReader
	done  []parquet.Page // pages that the current row may still point into

	buf      []parquet.Value
	pos, end int             // buf[pos:end] is decoded and belongs to later rows
	own      []parquet.Value // values of a row that spans more than one batch
	row      []parquet.Value // values of the current row; at least one
	at       int             // index in row of the next value to write
}

// nextRow makes row the values of the next row: one, and all that follow it with a
// repetition level above 0. More than maxValues values are an error, because a list of
// so many could not be a row within the limit.
func (c *pqColumn) nextRow(maxValues int) error {
	for _, page := range c.done {
		parquet.Release(page)
	}
	c.done, c.own, c.at = c.done[:0], c.own[:0], 0
	if c.pos == c.end {
		if err := c.decode(); err == io.EOF {
			return fmt.Errorf("column %q: ends too early", c.name)
		} else if err != nil {
			return err
		}
	}
	for first := true; ; first = false {
		start := c.pos
		if first {
			c.pos++
		}
		for c.pos < c.end && c.buf[c.pos].RepetitionLevel() != 0 {
			c.pos++
		}
		if c.pos < c.end && first {
			c.row = c.buf[start:c.pos]
			return nil
		}
		c.own = append(c.own, c.buf[start:c.pos]...)
		if c.pos < c.end {
			break
		}
		if len(c.own) > maxValues {
			return fmt.Errorf("column %q: more than %d values in one row", c.name, maxValues)
		}
		if err := c.decode(); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
	}
	c.row = c.own
	return nil
}

// decode fills buf. It returns io.EOF behind the last value.
func (c *pqColumn) decode() error {
	c.pos, c.end = 0, 0
	for {
		if c.vals == nil {
			if c.page != nil {
				c.done, c.page = append(c.done, c.page), nil
			}
			page, err := c.pages.ReadPage()
			if err == io.EOF {
				return err
			}
			if err != nil {
				return fmt.Errorf("column %q: corrupt page: %w", c.name, unexpected(err))
			}
			c.page, c.vals = page, page.Values()
		}
		n, err := c.vals.ReadValues(c.buf)
		c.end = n
		if err != nil && err != io.EOF {
			return fmt.Errorf("column %q: corrupt page: %w", c.name, err)
		}
		if err == io.EOF || n == 0 {
			c.vals = nil // buf points into the page until it is decoded anew
		}
		if n > 0 {
			return nil
		}
	}
}

// unexpected makes an end of file inside a page say so.
func unexpected(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends too early")
	}
	return err
}

func (c *pqColumn) close() {
	for _, page := range c.done {
		parquet.Release(page)
	}
	if c.page != nil {
		parquet.Release(c.page)
	}
	c.done, c.page = nil, nil
	c.pages.Close()
}
