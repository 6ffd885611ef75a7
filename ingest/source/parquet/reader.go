// Package parquet reads the rows of a Parquet file as JSON objects.
//
// The library that decodes trusts the claims of a file and allocates what they name. So each
// part of a file is checked against its size and the limits before the library sees it:
// the footer and the schema when the file is opened (footer.go, thrift.go, tree.go), and each page
// as the library reads it (pages.go, encoded.go). Pages are uncompressed here, never to
// more than they claim (unpack.go). tree.go and cell.go write the rows.
package parquet

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
	"github.com/reelsplice/reelsplice/schemas/record"
)

const valueBatch = 256 // values decoded at once of a column

// A Reader reads one row group after another, and in each one page a column at a time.
// It is for one goroutine.
type Reader struct {
	Strict bool // a row is bad for one value that JSON does not have

	r       io.ReaderAt
	max     int // bytes of a row
	groups  []format.RowGroup
	total   int64         // rows of all groups
	schema  *parquet.File // see openSchema
	root    *node
	budget  budget
	unpack  unpacker
	headers thriftReader
	columns []*column // by leaf of the schema, used again for each row group
	open    bool      // the columns read the row group at hand
	group   int       // 0-based row group to read from
	inGroup int64     // rows of it that were read
	row     int64     // rows of the file that were read
	json    []byte
}

// A budget is what the pages of a file may still expand to. Its columns share it.
type budget struct {
	limit.Limits
	limit.Budget
	size int64 // of the file as it lies on disk
}

func (b *budget) spend(n int64) error { return b.Spend(n, b.size) }

// Open opens the Parquet file of size bytes behind r, which takes onDisk bytes as it lies
// on disk. The limits are those of Limits.WithDefaults. The library may panic on damaged files; that becomes an error.
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
	schema, err := openSchema(meta)
	if err != nil {
		return nil, fmt.Errorf("corrupt Parquet footer: %w", err)
	}
	p = &Reader{
		r: r, max: int(l.MaxRowBytes), groups: meta.RowGroups, total: total, schema: schema, root: root,
		budget: budget{Limits: l, Budget: limit.Budget{Max: l.MaxBytes, Ratio: l.MaxRatio}, size: onDisk},
	}
	for _, leaf := range leaves {
		src := &pages{leaf: leaf, budget: &p.budget, unpack: &p.unpack, headers: &p.headers}
		p.columns = append(p.columns, &column{name: leaf.path, flat: leaf.rep == 0, src: src, buf: make([]parquet.Value, valueBatch)})
	}
	return p, nil
}

// recoverTo turns a panic into an error.
func recoverTo(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("corrupt Parquet data: %v", r)
	}
}

// A Row is one row as a JSON object, valid until the next call of Next.
type Row struct {
	JSON []byte // of a row that is longer than the limit, what was written until that was clear
	Bad  string // why the row cannot be used; "" for a good one
	// Left are the values that JSON does not have, and that are null in it. A strict Reader has them in Bad instead, and
	// shows them as well as it can.
	Left []record.FieldError
}

// Next returns the next row, io.EOF behind the last one. Any other error ends the file at
// that row.
func (p *Reader) Next() (row Row, err error) {
	defer func() {
		if err != nil && err != io.EOF {
			err = fmt.Errorf("row group %d: %w", p.group+1, err)
		}
	}()
	defer recoverTo(&err)
	for p.group < len(p.groups) && p.inGroup >= p.groups[p.group].NumRows {
		if err := p.endGroup(); err != nil {
			return Row{}, err
		}
		p.group, p.inGroup = p.group+1, 0
	}
	if p.group >= len(p.groups) {
		return Row{}, io.EOF
	}
	return p.readRow(&p.groups[p.group])
}

// Done returns which part of the rows have been read, from 0 to 1. The columns of a row
// lie all over its row group, so no offset shows that.
func (p *Reader) Done() float64 {
	if p.total == 0 {
		return 1
	}
	return float64(p.row) / float64(p.total)
}

// Uncompressed returns how many bytes of pages were read.
func (p *Reader) Uncompressed() int64 { return p.budget.Spent() }

// readRow reads the next row of group g.
func (p *Reader) readRow(g *format.RowGroup) (Row, error) {
	if !p.open {
		p.openGroup(g)
	}
	for _, c := range p.columns {
		if err := c.nextRow(p.max); err != nil {
			return Row{}, err
		}
	}
	if cap(p.json) > 1<<16 && cap(p.json) > 16*len(p.json) {
		p.json = nil // one huge row is no reason to keep its buffer
	}
	w := rowWriter{columns: p.columns, dst: p.json[:0], max: p.max, strict: p.Strict}
	if err := w.write(p.root); err != nil && err != errLong {
		return Row{}, err
	}
	p.json = w.dst
	p.row++
	p.inGroup++
	if len(w.dst) > p.max {
		w.bad = fmt.Sprintf("row is longer than %d bytes", p.max)
	}
	return Row{JSON: w.dst, Bad: w.bad, Left: w.left}, nil
}

// openGroup opens the columns of g. Whichever group it is, the one of the schema decodes.
func (p *Reader) openGroup(g *format.RowGroup) {
	chunks := p.schema.RowGroups()[0].ColumnChunks()
	p.open = true
	for i, c := range p.columns {
		c.src.reset(p.r, &g.Columns[i].MetaData, max(headBytes, readAllBytes/len(p.columns)))
		*c = column{name: c.name, flat: c.flat, src: c.src, buf: c.buf, row: c.row, pages: chunks[i].(*parquet.FileColumnChunk).PagesFrom(c.src)}
	}
}

// endGroup closes the columns of a row group whose rows have all been read, and checks
// that nothing is left of them.
func (p *Reader) endGroup() error {
	for _, c := range p.columns {
		if p.open && (c.pos < c.end || c.src.values > 0) {
			return fmt.Errorf("column %q: corrupt page: values behind the last row", c.name)
		}
	}
	p.closeGroup()
	return nil
}

func (p *Reader) closeGroup() {
	for _, c := range p.columns {
		if p.open {
			c.close()
		}
	}
	p.open = false
}

// Close frees what the reader holds, but not the file behind it.
func (p *Reader) Close() {
	var err error
	defer recoverTo(&err) // the rows that were wanted have been read
	p.unpack.close()
	p.closeGroup()
}

// A column reads the values of one leaf column in one row group.
type column struct {
	name  string
	flat  bool // one value a row
	src   *pages
	pages parquet.Pages
	page  parquet.Page
	vals  parquet.ValueReader
	done  []parquet.Page // pages that the current row may still point into

	buf      []parquet.Value
	pos, end int             // buf[pos:end] is decoded and belongs to later rows
	row      []parquet.Value // values of the current row; at least one
	at       int             // index in row of the next value to write
}

// nextRow makes row the values of the next row: one, and all that follow it with a
// repetition level above 0. More than maxValues values are an error, because a list of
// so many could not be a row within the limit.
func (c *column) nextRow(maxValues int) error {
	for _, page := range c.done {
		parquet.Release(page)
	}
	c.done, c.row, c.at = c.done[:0], c.row[:0], 0
	for {
		if c.pos == c.end {
			switch err := c.decode(); {
			case err == io.EOF && len(c.row) > 0:
				return nil
			case err == io.EOF:
				return fmt.Errorf("column %q: ends too early", c.name)
			case err != nil:
				return err
			}
		}
		if len(c.row) > 0 && c.buf[c.pos].RepetitionLevel() == 0 {
			return nil
		}
		c.row = append(c.row, c.buf[c.pos])
		c.pos++
		switch {
		case c.flat: // without a look at the next page, which may be damaged
			return nil
		case len(c.row) > maxValues:
			return fmt.Errorf("column %q: more than %d values in one row", c.name, maxValues)
		}
	}
}

// decode fills buf. It returns io.EOF behind the last value.
func (c *column) decode() error {
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
func (c *column) fault(err error) error {
	if c.src.err != nil && c.src.err != io.EOF {
		err = c.src.err
	}
	if errors.Is(err, limit.Err) {
		return fmt.Errorf("column %q: %w", c.name, err)
	}
	return fmt.Errorf("column %q: corrupt page: %w", c.name, unexpected(err))
}

// unexpected names an end of file inside a page.
func unexpected(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends too early")
	}
	return err
}

func (c *column) close() {
	for _, page := range c.done {
		parquet.Release(page)
	}
	if c.page != nil {
		parquet.Release(c.page)
	}
	c.done, c.page = nil, nil
	c.pages.Close()
}
