package catalog

import (
	"fmt"
	"io"

	"reelsplice/schemas/record"
)

// A Head is the key and the place of a record, which is not read.
type Head struct {
	Key Key
	Row int64 // counted from the first record of the iteration
}

// Heads iterates over the heads of the records of some row groups.
type Heads struct {
	rows *Rows
	typ  *Type
	key  record.Record // with nothing but its key
	next int64
}

// Heads returns an iterator over the heads of the records in row groups from to to-1.
func (f *File) Heads(from, to int) *Heads {
	return &Heads{rows: f.Select(f.typ.keyFields, from, to), typ: f.typ, key: f.typ.New()}
}

// Next returns the next head; io.EOF at the end.
func (h *Heads) Next() (Head, error) {
	if err := h.rows.Next(h.key); err != nil {
		return Head{}, err
	}
	k, err := h.typ.keyOf(h.key)
	if err != nil {
		return Head{}, fmt.Errorf("%s: row group %d: %w", h.rows.path, h.rows.group-1, err)
	}
	head := Head{Key: k, Row: h.next}
	h.next++
	return head, nil
}

// Close releases the pages at hand.
func (h *Heads) Close() { h.rows.Close() }

// Skip leaves out the next n records. Row groups without a record that is read are not decoded.
func (r *Rows) Skip(n int64) (err error) {
	defer r.damaged(&err)
	for n > 0 {
		for r.left == 0 {
			if r.group >= r.end {
				return fmt.Errorf("%s: skip %d records behind the last one: %w", r.path, n, io.ErrUnexpectedEOF)
			}
			r.begin()
		}
		step := min(n, r.left)
		n -= step
		r.left -= step
		r.behind += step
	}
	return nil
}

// pass leaves out the next n rows in all columns.
func (a *assembler) pass(n int64) {
	for i := range a.columns {
		c := &a.columns[i]
		if c.pages == nil {
			continue
		}
		if err := c.pass(n); err != nil && a.err == nil {
			a.err = fmt.Errorf("column %s: %w", c.name, err)
		}
	}
}

// pass leaves out the values of the next n rows. A row's first value has the repetition
// level 0, and no other.
func (c *column) pass(n int64) error {
	for {
		for c.next < len(c.buf) {
			if c.buf[c.next].RepetitionLevel() == 0 {
				if n == 0 {
					return nil
				}
				n--
			}
			c.next++
		}
		if k := min(n, c.nulls); k > 0 { // of rows that have nothing, each has one value
			c.nulls -= k
			n -= k
			continue
		}
		ok, err := c.fill()
		if err != nil {
			return err
		}
		if !ok {
			c.buf, c.next = c.buf[:0], 0
			if n > 0 {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
	}
}
