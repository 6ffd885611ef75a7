package build

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
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

// A cursor walks over the records of a span in order. It goes by their heads, and reads
// those that are taken. T is the struct of the input's kind.
type cursor[T any] struct {
	in    *input
	heads *catalog.Heads
	rows  *catalog.Rows
	read  int64 // records that rows has read or left out
	span  span
	skip  func(catalog.Key) bool // records to leave out; nil for none
	next  catalog.Head           // that peek has found
	have  bool                   // next is set
	err   error
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
	c.heads, c.rows = in.Heads(from, to), in.Groups(from, to)
	return c
}

// peek returns the key of the next record; false at the end and after an error.
func (c *cursor[T]) peek() (catalog.Key, bool) {
	for !c.have && c.heads != nil && c.err == nil {
		h, err := c.heads.Next()
		switch {
		case errors.Is(err, io.EOF):
			c.heads.Close()
			c.heads = nil
		case err != nil:
			c.err = fmt.Errorf("catalogue file of %s: %w", c.in.typ.Name(), err)
		case c.span.has(h.Key) && (c.skip == nil || !c.skip(h.Key)):
			c.next, c.have = h, true
		}
	}
	return c.next.Key, c.have
}

// take reads the record that peek found.
func (c *cursor[T]) take() (*T, error) {
	c.have = false
	if err := c.rows.Skip(c.next.Row - c.read); err != nil {
		return nil, err
	}
	v := new(T)
	if err := c.rows.Next(record.Of(v)); err != nil {
		return nil, err
	}
	c.read = c.next.Row + 1
	return v, nil
}

// leave passes over the record that peek found.
func (c *cursor[T]) leave() { c.have = false }

func (c *cursor[T]) close() {
	if c.heads != nil {
		c.heads.Close()
		c.heads = nil
	}
	if c.rows != nil {
		c.rows.Close()
		c.rows = nil
	}
}
