package records

import (
	"context"
	"errors"
	"io"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Cursor walks over the records of a span in the order of their keys. It goes by their keys,
// and reads only those that are taken. T is the struct of the input's kind.
type Cursor[T any] struct {
	in   *Input
	keys *catalog.Rows
	rows *catalog.Rows
	read int64 // records that rows has read or left out
	span Span
	skip func(catalog.Key) bool
	next catalog.Key // of the record that Peek found
	have bool        // next is set
	seen int64       // keys read, that of next the last
	err  error
}

// NewCursor returns a Cursor over the records of a span that skip, unless nil, does not leave
// out. That of a nil input has no records.
func NewCursor[T any](in *Input, s Span, skip func(catalog.Key) bool) *Cursor[T] {
	c := &Cursor[T]{in: in, span: s, skip: skip}
	if from, to := in.groups(s); from < to {
		c.keys, c.rows = in.Keys(from, to), in.Content(from, to)
	}
	return c
}

// Err returns the error that ended the walk, nil at the end of the span.
func (c *Cursor[T]) Err() error { return c.err }

// Peek returns the key of the next record; false at the end and after an error.
func (c *Cursor[T]) Peek() (catalog.Key, bool) {
	for !c.have && c.keys != nil && c.err == nil {
		k, err := c.keys.NextKey()
		c.seen++
		switch {
		case errors.Is(err, io.EOF):
			c.keys.Close()
			c.keys = nil
		case err != nil:
			c.err = c.in.failed(err)
		case c.span.Has(k) && (c.skip == nil || !c.skip(k)):
			c.next, c.have = k, true
		}
	}
	return c.next, c.have
}

// Take reads the record that Peek found.
func (c *Cursor[T]) Take() (*T, error) {
	c.have = false
	if err := c.rows.Skip(c.seen - 1 - c.read); err != nil {
		return nil, err
	}
	v := new(T)
	if err := c.rows.Next(record.Of(v)); err != nil {
		return nil, err
	}
	c.read = c.seen
	return v, nil
}

// Leave passes over the record that Peek found.
func (c *Cursor[T]) Leave() { c.have = false }

// All calls fn with the records of a span, whole, until fn returns an error: see NewCursor.
func All[T any](ctx context.Context, in *Input, s Span, skip func(catalog.Key) bool, fn func(catalog.Key, *T) error) error {
	c := NewCursor[T](in, s, skip)
	defer c.Close()
	for {
		key, ok := c.Peek()
		if !ok {
			return c.Err()
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		v, err := c.Take()
		if err != nil {
			return err
		}
		if err := fn(key, v); err != nil {
			return err
		}
	}
}

// Close gives up what the Cursor holds.
func (c *Cursor[T]) Close() {
	if c.keys != nil {
		c.keys.Close()
		c.keys = nil
	}
	if c.rows != nil {
		c.rows.Close()
		c.rows = nil
	}
}
