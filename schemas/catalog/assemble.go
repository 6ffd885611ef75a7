package catalog

import (
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/parquet-go/parquet-go"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// An assembler builds records from the columns of one row group. It reads the columns in step, without building rows
// of values.
type assembler struct {
	columns []column
	texts   arena
	err     error
}

// column is a cursor over the values of one leaf column.
type column struct {
	name   string
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	nulls  int64 // remaining rows without a value, if the current page has no values at all
	memory []parquet.Value
	buf    []parquet.Value // current values: in memory, or noValues
	next   int
}

var columnBuffer = 256 // values decoded at once; tests lower it

// noValues holds the entries of rows without a value in a column or above it. Most columns of most pages have no
// others, so they need no decoding. The slice is shared and never written.
var noValues = make([]parquet.Value, columnBuffer)

// isEmpty reports whether no row of a page has a value.
func isEmpty(p parquet.Page) bool {
	levels := p.DefinitionLevels()
	if int64(len(levels)) != p.NumRows() || p.NumRows() != p.NumValues() {
		return false // a column without levels, or lists
	}
	for _, l := range levels {
		if l != 0 {
			return false
		}
	}
	return true
}

// fill makes buf[next] the next value; false at the end of the column.
func (c *column) fill() (bool, error) {
	for {
		if c.nulls > 0 {
			n := min(c.nulls, int64(columnBuffer))
			c.nulls -= n
			c.buf, c.next = noValues[:n], 0
			return true, nil
		}
		if c.values != nil {
			if c.memory == nil {
				c.memory = make([]parquet.Value, columnBuffer)
			}
			n, err := c.values.ReadValues(c.memory)
			if n > 0 {
				c.buf, c.next = c.memory[:n], 0
				return true, nil
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return false, err
			}
			c.values = nil
		}
		if c.page != nil {
			parquet.Release(c.page)
			c.page = nil
		}
		page, err := c.pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		c.page = page
		if isEmpty(page) {
			c.nulls = page.NumRows()
		} else {
			c.values = page.Values()
		}
	}
}

// peek returns the next value of a column without consuming it.
func (a *assembler) peek(col int) *parquet.Value {
	c := &a.columns[col]
	if c.next < len(c.buf) {
		return &c.buf[c.next]
	}
	ok, err := c.fill()
	if err == nil && !ok {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		if a.err == nil {
			a.err = fmt.Errorf("column %s: %w", c.name, err)
		}
		return &endOfColumn
	}
	return &c.buf[c.next]
}

// endOfColumn replaces missing values of a damaged column.
var endOfColumn = parquet.NullValue()

// take returns the next value of a column, valid until the next call for that column.
func (a *assembler) take(col int) *parquet.Value {
	if c := &a.columns[col]; c.next < len(c.buf) { // Fast path: the value is in the buffer.
		c.next++
		return &c.buf[c.next-1]
	}
	v := a.peek(col)
	if a.err == nil {
		a.columns[col].next++
	}
	return v
}

func (a *assembler) skip(f *fieldColumns) {
	for _, c := range f.leaves {
		a.take(c)
	}
}

func (a *assembler) text(col, def int) (string, bool) {
	v := a.take(col)
	if v.DefinitionLevel() != def {
		return "", false
	}
	return a.texts.copy(v.ByteArray()), true
}

func (a *assembler) object(o *objectColumns, r record.Record) {
	obj := r.Object()
	if o.unusual != unread {
		obj.Unusual, _ = a.text(o.unusual, o.def+1)
		obj.Extra, _ = a.text(o.extra, o.def+1)
	}
	for i := range o.fields {
		f := &o.fields[i]
		switch f.field.Shape {
		case record.ShapeString, record.ShapeRaw:
			v := r.String(f.field)
			v.V, v.Set = a.text(f.first(), o.def+1)
		case record.ShapeInt:
			if v := a.take(f.first()); v.DefinitionLevel() > o.def {
				*r.Int(f.field) = record.Int{V: v.Int64(), Set: true}
			}
		case record.ShapeFloat:
			if v := a.take(f.first()); v.DefinitionLevel() > o.def {
				*r.Float(f.field) = record.Float{V: v.Double(), Set: true}
			}
		case record.ShapeBool:
			if v := a.take(f.first()); v.DefinitionLevel() > o.def {
				*r.Bool(f.field) = record.Bool{V: v.Boolean(), Set: true}
			}
		case record.ShapeObject:
			if a.peek(f.first()).DefinitionLevel() > o.def {
				a.object(f.elem, r.MakeSub(f.field))
			} else {
				a.skip(f)
			}
		default:
			a.list(o, f, r)
		}
	}
}

func (a *assembler) list(o *objectColumns, f *fieldColumns, r record.Record) {
	col := f.first()
	def := a.peek(col).DefinitionLevel()
	if def <= o.def+1 {
		if def > o.def {
			r.MakeList(f.field, 0)
		}
		a.skip(f)
		return
	}
	// The list gets memory for the elements whose values are buffered. Nested lists have a higher repetition level.
	c, n := &a.columns[col], 1
	for _, v := range c.buf[c.next+1:] {
		if v.RepetitionLevel() <= o.rep {
			break
		}
		if v.RepetitionLevel() == o.rep+1 {
			n++
		}
	}
	r.MakeList(f.field, n)
	for {
		switch f.field.Shape {
		case record.ShapeStrings:
			list := r.Strings(f.field)
			*list = append(*list, a.texts.copy(a.take(col).ByteArray()))
		case record.ShapeInts:
			list := r.Ints(f.field)
			*list = append(*list, a.take(col).Int64())
		default:
			a.object(f.elem, r.Grow(f.field))
		}
		// Any leaf column of the list shows whether another element follows: all of them are at the same element.
		if a.err != nil || (c.next >= len(c.buf) && !a.more(col)) {
			return
		}
		if a.peek(col).RepetitionLevel() <= o.rep {
			return
		}
	}
}

// more reports whether a column has another value.
func (a *assembler) more(col int) bool {
	ok, err := a.columns[col].fill()
	if err != nil && a.err == nil {
		a.err = fmt.Errorf("column %s: %w", a.columns[col].name, err)
	}
	if !ok {
		a.columns[col].buf, a.columns[col].next = a.columns[col].buf[:0], 0
	}
	return ok
}

// An arena stores the text of records in few large pieces. A piece lives as long as any text in it.
type arena struct {
	free []byte
	last string // the previous text
}

var arenaPiece = 64 << 10 // tests lower it

func (a *arena) copy(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) == len(a.last) && string(b) == a.last {
		return a.last
	}
	if len(b) > len(a.free) {
		a.free = make([]byte, max(arenaPiece, len(b)))
	}
	n := copy(a.free, b)
	// The bytes are never written again, so a string may share them.
	s := unsafe.String(&a.free[0], n)
	a.free = a.free[n:]
	a.last = s
	return s
}

// textValue returns the column value of a text without copying. The Parquet writer copies it and never modifies it.
func textValue(s string) parquet.Value {
	return parquet.ByteArrayValue(unsafe.Slice(unsafe.StringData(s), len(s)))
}
