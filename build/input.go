package build

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/wire"
)

// An input is the catalogue's file of one kind; nil for a kind that it has none of.
type input struct {
	*catalog.File
	typ   *catalog.Type
	first []catalog.Key // of each row group
}

// openInputs opens the files of a catalogue. It has one at least.
func openInputs(dir string) (map[fragment.Kind]*input, error) {
	inputs := map[fragment.Kind]*input{}
	for _, t := range catalog.Types() {
		f, err := t.Open(dir)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return inputs, err
		}
		in := &input{File: f, typ: t}
		inputs[t.Kind] = in
		if in.first, err = f.FirstKeys(); err != nil {
			return inputs, err
		}
	}
	if len(inputs) == 0 {
		movie := catalog.TypeOf(fragment.KindMovie).File()
		return nil, fmt.Errorf("no catalogue in %s: neither %s nor a file of another kind is there: run ingest first", dir, movie)
	}
	return inputs, nil
}

func closeInputs(inputs map[fragment.Kind]*input) {
	for _, in := range inputs {
		_ = in.Close() // read side: nothing to lose
	}
}

// rows returns how many records there are.
func (in *input) rows() int64 {
	if in == nil {
		return 0
	}
	return in.NumRows()
}

// A span is the keys from one, included, to another, excluded unless the span is open.
type span struct {
	from, to catalog.Key
	open     bool
}

func (s span) has(k catalog.Key) bool {
	return k.Compare(s.from) >= 0 && (s.open || k.Compare(s.to) < 0)
}

// everything is the span of all keys.
var everything = span{open: true}

// spans divides all keys at the given ones, which ascend, into at most n spans.
func spans(at []catalog.Key, n int) []span {
	at = slices.CompactFunc(slices.Clone(at), func(a, b catalog.Key) bool { return a == b })
	per := max(1, (len(at)+n-1)/n)
	out := []span{everything}
	for i := per; i < len(at); i += per {
		last := &out[len(out)-1]
		last.to, last.open = at[i], false
		out = append(out, span{from: at[i], open: true})
	}
	return out
}

// A cursor walks over the records of a span in order. T is the struct of the input's
// kind.
type cursor[T any] struct {
	in    *input
	rows  *catalog.Rows
	span  span
	skip  func(catalog.Key) bool // records to leave out; nil for none
	queue []queued[T]            // read and not taken yet
	err   error
}

// A queued is a record and its key.
type queued[T any] struct {
	v   *T
	key catalog.Key
}

// newCursor returns a cursor; that of a nil input has no records.
func newCursor[T any](in *input, s span) *cursor[T] {
	c := &cursor[T]{in: in, span: s}
	if in == nil || len(in.first) == 0 {
		return c
	}
	from := 0
	for from+1 < len(in.first) && in.first[from+1].Compare(s.from) <= 0 {
		from++
	}
	to := from
	for to < len(in.first) && (s.open || in.first[to].Compare(s.to) < 0) {
		to++
	}
	c.rows = in.Groups(from, to)
	return c
}

// peek returns the key of the next record; false at the end and after an error.
func (c *cursor[T]) peek() (catalog.Key, bool) {
	if len(c.queue) == 0 && !c.read() {
		return catalog.Key{}, false
	}
	return c.queue[0].key, true
}

// read puts another record into the queue; false at the end and after an error.
func (c *cursor[T]) read() bool {
	for c.rows != nil && c.err == nil {
		v := new(T)
		r := wire.RecordOf(v)
		if err := c.rows.Next(r); errors.Is(err, io.EOF) {
			c.close()
			return false
		} else if err != nil {
			c.err = err
			return false
		}
		k, err := c.in.typ.Key(r)
		if err != nil {
			c.err = fmt.Errorf("catalogue file of %s: %w", c.in.typ.Name(), err)
			return false
		}
		if c.span.has(k) && (c.skip == nil || !c.skip(k)) {
			c.queue = append(c.queue, queued[T]{v, k})
			return true
		}
	}
	return false
}

// take returns the record that peek found.
func (c *cursor[T]) take() *T {
	v := c.queue[0].v
	c.queue[0].v = nil
	if c.queue = c.queue[1:]; len(c.queue) == 0 {
		c.queue = nil
	}
	return v
}

// ahead returns the next records as far as has accepts their keys. They are still to be
// taken.
func (c *cursor[T]) ahead(has func(catalog.Key) bool) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for i := 0; i < len(c.queue) || c.read(); i++ {
			if !has(c.queue[i].key) || !yield(c.queue[i].v) {
				return
			}
		}
	}
}

// drop takes the records that ahead returns.
func (c *cursor[T]) drop(has func(catalog.Key) bool) {
	for k, ok := c.peek(); ok && has(k); k, ok = c.peek() {
		c.take()
	}
}

func (c *cursor[T]) close() {
	if c.rows != nil {
		c.rows.Close()
		c.rows = nil
	}
}
