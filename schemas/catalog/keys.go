package catalog

import (
	"fmt"
	"io"
)

// Keys is Select of the fields of keys alone, for NextKey.
func (f *File) Keys(from, to int) *Rows { return f.Select(f.typ.keyFields, from, to) }

// NextKey returns the key of the next record, which is not read further; io.EOF at the end.
func (r *Rows) NextKey() (Key, error) {
	if r.key.IsNil() {
		r.key = r.typ.New()
	}
	if err := r.Next(r.key); err != nil {
		return Key{}, err
	}
	k, err := r.typ.Key(r.key)
	if err != nil {
		return Key{}, fmt.Errorf("%s: row group %d: %w", r.path, r.group-1, err)
	}
	return k, nil
}

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
