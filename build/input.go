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
	"reelsplice/schemas/record"
)

// An input is the catalogue's file of one kind; nil for a kind that it has none of.
type input struct {
	*catalog.File
	typ    *catalog.Type
	first  []catalog.Key   // of each row group
	recent *catalog.Recent // the records that changed last; nil for a build that makes all anew
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

// openRecent opens the records that changed last, beside the files of a catalogue, of as many kinds
// as there is memory for.
func (b *builder) openRecent() {
	left := b.Memory / 64
	for _, t := range catalog.Types() {
		in := b.inputs[t.Kind]
		if in == nil {
			continue
		}
		var err error
		if in.recent, err = catalog.OpenRecent(b.Catalog, t, left); err != nil {
			b.Log.Warn("records that changed last are read like all others", "because", err)
		}
		left -= in.recent.Memory()
	}
}

func closeInputs(inputs map[fragment.Kind]*input) {
	for _, in := range inputs {
		_, _ = in.Close(), in.recent.Close() // read side: nothing to lose
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
	queue []catalog.Head         // seen, and not taken yet
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
	if len(c.queue) == 0 && !c.more() {
		return catalog.Key{}, false
	}
	return c.queue[0].Key, true
}

// more puts another head into the queue; false at the end and after an error.
func (c *cursor[T]) more() bool {
	for c.heads != nil && c.err == nil {
		h, err := c.heads.Next()
		if errors.Is(err, io.EOF) {
			c.heads.Close()
			c.heads = nil
			return false
		}
		if err != nil {
			c.err = fmt.Errorf("catalogue file of %s: %w", c.in.typ.Name(), err)
			return false
		}
		if c.span.has(h.Key) && (c.skip == nil || !c.skip(h.Key)) {
			c.queue = append(c.queue, h)
			return true
		}
	}
	return false
}

// sum returns the sum of the record that peek found. A nil cursor has a record that is
// nil.
func (c *cursor[T]) sum() uint64 {
	if c == nil {
		return 0
	}
	return c.queue[0].Sum
}

// take reads the record that peek found.
func (c *cursor[T]) take() (*T, error) {
	if c == nil {
		return nil, nil
	}
	h := c.queue[0]
	c.leave()
	if r, ok := c.in.recent.Read(h); ok {
		return record.As[T](r), nil
	}
	if err := c.rows.Skip(h.Row - c.read); err != nil {
		return nil, err
	}
	v := new(T)
	if err := c.rows.Next(record.Of(v)); err != nil {
		return nil, err
	}
	c.read = h.Row + 1
	return v, nil
}

// leave leaves the record that peek found unread.
func (c *cursor[T]) leave() {
	if c == nil {
		return
	}
	if c.queue = c.queue[1:]; len(c.queue) == 0 {
		c.queue = nil
	}
}

// ahead returns the heads of the next records as far as has accepts their keys. They are
// still to be taken.
func (c *cursor[T]) ahead(has func(catalog.Key) bool) iter.Seq[catalog.Head] {
	return func(yield func(catalog.Head) bool) {
		for i := 0; i < len(c.queue) || c.more(); i++ {
			if !has(c.queue[i].Key) || !yield(c.queue[i]) {
				return
			}
		}
	}
}

// drop leaves the records unread whose heads ahead returns, and returns how many.
func (c *cursor[T]) drop(has func(catalog.Key) bool) (n int64) {
	for k, ok := c.peek(); ok && has(k); k, ok = c.peek() {
		c.leave()
		n++
	}
	return n
}

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
