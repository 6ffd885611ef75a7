package work

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/provenance"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Inputs is an open catalogue: its files by kind, and the removed resources. It is safe for concurrent use.
type Inputs struct {
	files   map[fragment.Kind]*Input
	Removed catalog.RemovedSet
	Dumps   *provenance.Dumps // dumps of the catalogue, nil if unknown
	// Changes is the log of changes, nil for none.
	Changes *catalog.File
}

// An Input is the catalogue file of one kind. A nil Input has no records. Each, All and cursors skip removed records.
type Input struct {
	*catalog.File
	kind    *catalog.Type
	first   []catalog.Key // first key of each row group
	removed catalog.RemovedSet
}

// OpenCatalog opens the catalogue in the folder dir, which must have at least one file.
func OpenCatalog(dir string) (in *Inputs, err error) {
	in = &Inputs{files: map[fragment.Kind]*Input{}}
	defer func() {
		if err != nil {
			in.Close()
		}
	}()
	if in.Removed, err = catalog.ReadRemoved(dir); err != nil {
		return in, err
	}
	for _, t := range catalog.Types() {
		f, err := t.Open(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return in, err
		}
		input := &Input{File: f, kind: t, removed: in.Removed}
		in.files[t.Kind] = input
		if input.first, err = f.FirstKeys(); err != nil {
			return in, err
		}
	}
	if len(in.files) == 0 {
		movie := catalog.TypeOf(fragment.KindMovie).File()
		return in, fmt.Errorf("no catalogue in %s: neither %s nor a file of another kind is there: run ingest first", dir, movie)
	}
	if in.Dumps, err = provenance.Read(dir); err != nil {
		return in, err
	}
	if in.Changes, err = catalog.OpenChanges(dir); err != nil {
		return in, err
	}
	return in, catalog.CheckComplete(dir)
}

// Close closes the files.
func (in *Inputs) Close() {
	for _, f := range in.files {
		_ = f.Close() // read only: nothing is lost
	}
	_ = in.Changes.Close()
}

// Of returns the input of a kind, nil if the catalogue has none.
func (in *Inputs) Of(kind fragment.Kind) *Input { return in.files[kind] }

// Counts returns the number of records, by the name of their kind.
func (in *Inputs) Counts() map[string]int64 {
	n := map[string]int64{}
	for kind, f := range in.files {
		n[kind.String()] = f.Rows()
	}
	return n
}

// Latest returns the highest id of a kind's records that are not removed; 0 without records.
func (in *Inputs) Latest(kind fragment.Kind) (int64, error) {
	f := in.files[kind]
	if f == nil {
		return 0, nil
	}
	for group := f.RowGroups() - 1; group >= 0; group-- {
		latest := int64(0)
		err := f.each(context.Background(), f.Select(f.kind.KeyFields(), group, group+1), Everything, func(k catalog.Key, _ record.Record) error {
			latest = int64(k.ID())
			return nil
		})
		if err != nil || latest > 0 {
			return latest, err
		}
	}
	return 0, nil
}

// Fetched returns the days on which records were fetched, by the name of their kind, without removed records and
// kinds without days. It reads records only from row groups that contain seasons or episodes of a removed series or
// season.
func (in *Inputs) Fetched() (map[string]day.Days, error) {
	out := map[string]day.Days{}
	for kind, f := range in.files {
		var days day.Days
		for group := range f.RowGroups() {
			// A removed series or season hides its seasons and episodes.
			mayHide := (kind == fragment.KindSeason || kind == fragment.KindEpisode) && slices.ContainsFunc(in.Removed, func(r catalog.Removed) bool {
				return (r.Kind == fragment.KindTV || r.Kind == fragment.KindSeason) && r.Key.ID() >= f.first[group].ID() &&
					(group+1 == len(f.first) || r.Key.ID() <= f.first[group+1].ID())
			})
			var groupDays day.Days
			var err error
			if mayHide {
				rows := f.Select(append(f.kind.KeyFields(), catalog.FetchedColumn), group, group+1)
				err = f.each(context.Background(), rows, Everything, func(_ catalog.Key, r record.Record) error {
					if text := catalog.FetchedOf(r); text != "" {
						groupDays.Join(day.Days{Records: 1, Oldest: text, Newest: text})
					}
					return nil
				})
			} else {
				groupDays, err = f.Fetched(group)
			}
			if err != nil {
				return nil, f.wrap(err)
			}
			days.Join(groupDays)
		}
		if days.Records > 0 {
			out[kind.String()] = days
		}
	}
	return out, nil
}

// Rows returns the number of records.
func (in *Input) Rows() int64 {
	if in == nil {
		return 0
	}
	return in.NumRows()
}

// FirstKeys returns the first key of each row group.
func (in *Input) FirstKeys() []catalog.Key {
	if in == nil {
		return nil
	}
	return in.first
}

// wrap adds the name of the file to an error.
func (in *Input) wrap(err error) error {
	return fmt.Errorf("catalogue file of %s: %w", in.kind.Name(), err)
}

// groups returns the row groups that overlap a span, from included, to excluded.
func (in *Input) groups(s Span) (from, to int) {
	if in == nil || len(in.first) == 0 {
		return 0, 0
	}
	for from+1 < len(in.first) && in.first[from+1].Compare(s.From) <= 0 {
		from++
	}
	to = from
	for to < len(in.first) && (s.To == nil || in.first[to].Compare(*s.To) < 0) {
		to++
	}
	return from, to
}

// A Span is a range of keys: From is included, To is not. A nil To is no bound.
type Span struct {
	From catalog.Key  `json:"from"`
	To   *catalog.Key `json:"to,omitempty"`
}

// Everything is the span of all keys.
var Everything = Span{}

// Spans divides all keys into at most n spans at some of the given ascending keys.
func Spans(bounds []catalog.Key, n int) []Span {
	bounds = slices.CompactFunc(slices.Clone(bounds), func(a, b catalog.Key) bool { return a == b })
	step := max(1, (len(bounds)+n-1)/n)
	out := []Span{Everything}
	for i := step; i < len(bounds); i += step {
		out[len(out)-1].To = &bounds[i]
		out = append(out, Span{From: bounds[i]})
	}
	return out
}

// Each calls fn with the key and the fields at paths of each record of a span, until fn returns an error: see
// catalog.File.Select. fn must not keep the records.
func (in *Input) Each(ctx context.Context, s Span, paths []string, fn func(catalog.Key, record.Record) error) error {
	from, to := in.groups(s)
	if from == to {
		return nil
	}
	return in.each(ctx, in.Select(append(in.kind.KeyFields(), paths...), from, to), s, fn)
}

// Each is Input.Each for records T, the struct of the input's kind.
func Each[T any](ctx context.Context, in *Input, s Span, paths []string, fn func(catalog.Key, *T) error) error {
	return in.Each(ctx, s, paths, func(k catalog.Key, r record.Record) error { return fn(k, record.As[T](r)) })
}

// All is Each for whole records.
func All[T any](ctx context.Context, in *Input, s Span, fn func(catalog.Key, *T) error) error {
	from, to := in.groups(s)
	if from == to {
		return nil
	}
	return in.each(ctx, in.Content(from, to), s, func(k catalog.Key, r record.Record) error { return fn(k, record.As[T](r)) })
}

// each calls fn with the records among rows that lie in a span, until fn returns an error; io.EOF ends without an
// error. It closes rows.
func (in *Input) each(ctx context.Context, rows *catalog.Rows, s Span, fn func(catalog.Key, record.Record) error) error {
	err := rows.Each(ctx, func(r record.Record) error {
		key, ok, err := in.key(r, s)
		if err != nil || !ok {
			return err
		}
		return fn(key, r)
	})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// key returns the key of a record, and whether it lies in a span and is not removed. After the span it returns io.EOF:
// keys ascend.
func (in *Input) key(r record.Record, s Span) (k catalog.Key, ok bool, err error) {
	if k, err = in.kind.Key(r); err != nil {
		return k, false, in.wrap(err)
	}
	if s.To != nil && k.Compare(*s.To) >= 0 {
		return k, false, io.EOF
	}
	return k, k.Compare(s.From) >= 0 && !in.removed.Has(in.kind.Kind, k), nil
}

// Head calls fn with the key and the fields at paths of the first n records of a row group.
func (in *Input) Head(group int, n int64, paths []string, fn func(catalog.Key, record.Record)) error {
	rows := in.Select(append(in.kind.KeyFields(), paths...), group, group+1)
	return in.each(context.Background(), rows, Everything, func(k catalog.Key, r record.Record) error {
		if n--; n < 0 {
			return io.EOF
		}
		fn(k, r)
		return nil
	})
}

// AppendKey appends a key so that encoded keys compare as keys do.
func AppendKey(dst []byte, k catalog.Key) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, k.Hi), k.Lo)
}

// KeyLen is the length of an encoded key.
const KeyLen = 16

// ParseKey decodes the KeyLen bytes of AppendKey.
func ParseKey(b []byte) catalog.Key {
	return catalog.Key{Hi: binary.BigEndian.Uint64(b), Lo: binary.BigEndian.Uint64(b[8:])}
}

// A Cursor walks the records of a span in key order. It is for one goroutine. T is the struct of the input's kind.
type Cursor[T any] struct {
	in   *Input
	rows *catalog.Rows // nil without records
	span Span
	key  catalog.Key
	next *T // the next record; nil before Peek
	err  error
}

// NewCursor returns a Cursor over the records of a span. A nil input has no records.
func NewCursor[T any](in *Input, s Span) *Cursor[T] {
	c := &Cursor[T]{in: in, span: s}
	if from, to := in.groups(s); from < to {
		c.rows = in.Content(from, to)
	}
	return c
}

// Err returns the error that ended the walk, nil at the end of the span.
func (c *Cursor[T]) Err() error {
	if errors.Is(c.err, io.EOF) {
		return nil
	}
	return c.err
}

// Peek returns the key of the next record; false at the end and after an error.
func (c *Cursor[T]) Peek() (catalog.Key, bool) {
	for c.next == nil && c.rows != nil && c.err == nil {
		v, ok := new(T), false
		if c.err = c.rows.Next(record.Of(v)); c.err == nil {
			c.key, ok, c.err = c.in.key(record.Of(v), c.span)
		}
		if ok {
			c.next = v
		}
	}
	return c.key, c.next != nil
}

// Take returns the record that Peek found, and moves past it.
func (c *Cursor[T]) Take() *T {
	v := c.next
	c.next = nil
	return v
}

// Close releases the Cursor's files.
func (c *Cursor[T]) Close() {
	if c.rows != nil {
		c.rows.Close()
	}
}
