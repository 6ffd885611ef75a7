package catalog

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/schemas/bug"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// FirstKeys returns the key of the first record of each row group. For most kinds it reads no records: the file's
// statistics have the lowest value of each column, and keys of one field ascend.
func (f *File) FirstKeys() ([]Key, error) {
	keys := make([]Key, f.RowGroups())
	var readers errgroup.Group
	readers.SetLimit(firstKeyReaders)
	for i := range keys {
		var known bool
		if keys[i], known = f.lowestKey(i); known {
			continue
		}
		readers.Go(func() (err error) {
			defer bug.Catch(&err)
			rows := f.Keys(i, i+1)
			defer rows.Close()
			keys[i], err = rows.NextKey()
			return err
		})
	}
	if err := readers.Wait(); err != nil {
		return nil, err
	}
	return keys, nil
}

// firstKeyReaders is the number of row groups that FirstKeys reads concurrently: a bucket takes many milliseconds to
// respond.
var firstKeyReaders = 16 // tests lower it

// lowestKey returns the lowest key of a row group from its statistics; false if they lack it.
func (f *File) lowestKey(group int) (k Key, known bool) {
	if len(f.typ.keyFields) != 1 {
		return Key{}, false
	}
	name := f.typ.keyFields[0]
	lowest, _, _, ok := f.bounds(group, name)
	if !ok {
		return Key{}, false
	}
	rec := f.typ.New()
	switch lowest.Kind() {
	case parquet.Int64:
		*rec.IntNamed(name) = record.Number(lowest.Int64())
	case parquet.ByteArray:
		*rec.StringNamed(name) = record.Text(string(lowest.ByteArray()))
	default:
		return Key{}, false
	}
	k, err := f.typ.Key(rec)
	return k, err == nil
}

// Keys is Select with only the fields of keys, for NextKey.
func (f *File) Keys(from, to int) *Rows { return f.Select(f.typ.keyFields, from, to) }

// NextKey returns the key of the next record and skips the rest of it; io.EOF at the end.
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

// Skip skips the next n records. Row groups that are skipped as a whole are not decoded.
func (r *Rows) Skip(n int64) (err error) {
	defer r.damaged(&err)
	for n > 0 {
		for r.left == 0 {
			if r.group >= r.end {
				return fmt.Errorf("%s: skip %d records after the last one: %w", r.path, n, io.ErrUnexpectedEOF)
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

// pass skips the next n rows in all columns.
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

// pass skips the values of the next n rows. Only the first value of a row has repetition level 0.
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
		if k := min(n, c.nulls); k > 0 { // a row without values has one entry
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
