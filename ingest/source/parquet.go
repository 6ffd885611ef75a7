package source

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

const parquetValueBatch = 256 // values decoded at once of a column

// parquetRows reads a Parquet file as JSON objects, one row group after another and
// in each one page a column at a time.
type parquetRows struct {
	name     string
	max      int
	bytes    int64
	consumed *atomic.Int64

	r       io.ReaderAt
	groups  []format.RowGroup
	total   int64         // rows of all groups
	schema  *parquet.File // see openSchema
	root    *pqNode
	leaves  []*pqNode // in the order of the columns
	budget  pqBudget
	unpack  unpacker
	all     []*pqColumn // of the leaves, used again for each row group
	columns []*pqColumn // all of them while a row group is open, otherwise nil
	group   int         // 0-based row group to read from
	inGroup int64       // rows of it that were read
	row     int64       // rows of the file that were read
	json    []byte
}

// newParquetRows opens the Parquet file of size bytes behind r, which takes onDisk bytes
// as it lies on disk. The library may panic on damaged files; that becomes an error.
func newParquetRows(r io.ReaderAt, name string, size, onDisk int64, o Options, consumed *atomic.Int64) (p *parquetRows, err error) {
	defer recoverTo(&err)
	meta, err := readFooter(r, size, expandable(onDisk, o.maxRatio()))
	if err != nil {
		return nil, err
	}
	leaves, err := checkSchema(meta.Schema)
	if err != nil {
		return nil, err
	}
	if err := checkClaims(meta, leaves, size, onDisk, o.maxRatio()); err != nil {
		return nil, err
	}
	schema, err := openSchema(meta)
	if err != nil {
		return nil, fmt.Errorf("corrupt Parquet footer: %w", err)
	}
	root, err := newPqTree(schema)
	if err != nil {
		return nil, err
	}
	p = &parquetRows{
		name: name, max: o.maxRowBytes(), bytes: size, consumed: consumed,
		r: r, groups: meta.RowGroups, schema: schema, root: root, leaves: make([]*pqNode, leaves),
		budget: pqBudget{maxPage: o.maxPageBytes(), maxDict: o.maxDictionaryBytes(), max: o.maxBytes(), ratio: o.maxRatio(), size: onDisk},
	}
	for _, leaf := range root.leaves(nil) {
		p.leaves[leaf.column] = leaf
	}
	for _, leaf := range p.leaves {
		src := &pqPages{leaf: leaf, budget: &p.budget, unpack: &p.unpack}
		p.all = append(p.all, &pqColumn{name: leaf.path, flat: leaf.rep == 0, src: src, buf: make([]parquet.Value, parquetValueBatch)})
	}
	return p, p.checkRows()
}

// checkRows checks that columns that cannot repeat have as many values as their row group
// has rows, since values behind the last row would be lost.
func (p *parquetRows) checkRows() error {
	for i := range p.groups {
		g := &p.groups[i]
		p.total += g.NumRows
		for k, leaf := range p.leaves {
			if n := g.Columns[k].MetaData.NumValues; leaf.rep == 0 && n != g.NumRows {
				return fmt.Errorf("corrupt Parquet footer: row group %d: column %q has %d values in %d rows", i+1, leaf.path, n, g.NumRows)
			}
		}
	}
	return nil
}

// recoverTo turns a panic into an error.
func recoverTo(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("corrupt Parquet data: %v", r)
	}
}

func (p *parquetRows) next() (row Row, err error) {
	for p.group < len(p.groups) && p.inGroup >= p.groups[p.group].NumRows {
		if err := p.endGroup(); err != nil {
			return Row{}, p.fatal(err)
		}
		p.group, p.inGroup = p.group+1, 0
	}
	if p.group >= len(p.groups) {
		p.consumed.Store(p.bytes)
		return Row{}, io.EOF
	}
	row, err = p.readRow(&p.groups[p.group])
	if err != nil {
		return Row{}, p.fatal(err)
	}
	return row, nil
}

// fatal returns the error that ends the file at the next row.
func (p *parquetRows) fatal(err error) error {
	return &FileError{File: p.name, Row: p.row + 1, Err: fmt.Errorf("row group %d: %w", p.group+1, err)}
}

// readRow reads the next row of group g.
func (p *parquetRows) readRow(g *format.RowGroup) (row Row, err error) {
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
	// The columns of a row lie all over its row group, so progress goes by rows.
	p.consumed.Store(int64(float64(p.bytes) * (float64(p.row) / float64(p.total))))
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

// openGroup opens the columns of g. Whichever group it is, the one of the schema decodes.
func (p *parquetRows) openGroup(g *format.RowGroup) {
	chunks := p.schema.RowGroups()[0].ColumnChunks()
	p.columns = p.all
	for i, c := range p.columns {
		c.src.reset(p.r, &g.Columns[i].MetaData, max(parquetHeadBytes, parquetReadAll/len(p.columns)))
		*c = pqColumn{name: c.name, flat: c.flat, src: c.src, buf: c.buf, pages: chunks[i].(*parquet.FileColumnChunk).PagesFrom(c.src)}
	}
}

// endGroup closes the columns of a row group whose rows have all been read, and checks
// that nothing is left of them.
func (p *parquetRows) endGroup() (err error) {
	defer recoverTo(&err)
	for _, c := range p.columns {
		if c.pos < c.end || c.src.values > 0 {
			return fmt.Errorf("column %q: corrupt page: values behind the last row", c.name)
		}
	}
	p.closeGroup()
	return nil
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
	p.unpack.close()
	p.closeGroup()
}

// A pqColumn reads the values of one leaf column in one row group.
type pqColumn struct {
	name  string
	flat  bool // one value a row
	src   *pqPages
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
	if c.flat { // without a look at the next page, which may be damaged
		c.row = c.buf[c.pos : c.pos+1]
		c.pos++
		return nil
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
			if err == io.EOF && (c.src.err == nil || c.src.err == io.EOF) {
				return err
			}
			if err != nil {
				return c.fault(err)
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

// fault returns the error of a page that could not be read, given the library's.
func (c *pqColumn) fault(err error) error {
	if c.src.err != nil && c.src.err != io.EOF {
		err = c.src.err
	}
	if errors.Is(err, ErrLimit) {
		return fmt.Errorf("column %q: %w", c.name, err)
	}
	return fmt.Errorf("column %q: corrupt page: %w", c.name, unexpected(err))
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
