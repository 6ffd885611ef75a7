package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"reelsplice/ingest/join"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/wire"
)

// overlayFile names the file that holds the records of overlay sources by themselves,
// so that they win over what is ingested later too. newOverlay is the next one before
// it counts.
func overlayFile(t *catalog.Type) string { return t.Name() + ".overlay.parquet" }

func newOverlay(t *catalog.Type) string { return "." + t.Name() + ".overlay.new.parquet" }

// write merges the new records with those of the catalogue, kind by kind and in order
// of their keys. The files get their names when all are complete, one right after the
// other; a process that ends in between leaves a catalogue in which some kinds are
// newer than others, and the same ingest once more makes it whole, because what is
// merged twice changes nothing.
func (i *ingester) write(ctx context.Context, in *incoming) (err error) {
	var done []pending
	defer func() {
		for _, p := range done {
			err = errors.Join(err, p.abort()) // nothing is left of those that were published
		}
	}()
	for _, t := range catalog.Types() {
		ok, err := i.hasNews(t, in)
		if err != nil {
			return err
		}
		if !ok {
			if err := i.countStored(t); err != nil {
				return err
			}
			continue
		}
		p, err := i.writeKind(ctx, t, in)
		if err != nil {
			return err
		}
		done = append(done, p)
		i.report.Records[t.Name()] = p.writer.Rows()
	}
	// The quarantine is complete before the catalogue changes: nothing is lost if this
	// process ends between the two.
	if err := i.quarantine.Close(); err != nil {
		return err
	}
	for _, p := range done {
		if err := p.publish(); err != nil {
			return err
		}
	}
	return nil
}

// hasNews reports whether the file of a kind is to be written: there are new records,
// or there was a source of that kind without any and there is no file yet.
func (i *ingester) hasNews(t *catalog.Type, in *incoming) (bool, error) {
	if _, ok, err := in.peek(t); ok || err != nil {
		return ok, err
	}
	_, err := os.Stat(filepath.Join(i.Catalog, t.File()))
	return i.kinds[t.Name()] && errors.Is(err, fs.ErrNotExist), nil
}

// countStored puts the number of a kind's records in the report, if it has a file.
func (i *ingester) countStored(t *catalog.Type) error {
	f, err := t.Open(i.Catalog)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	i.report.Records[t.Name()] = f.NumRows()
	return f.Close()
}

// pending is a complete file that waits for its name.
type pending struct {
	writer  *catalog.Writer
	overlay [2]string // renamed first, from and to; empty for none
}

func (p pending) publish() error {
	if p.overlay[0] != "" {
		// A process that ends right behind this leaves an overlay that the next ingest
		// applies.
		if err := os.Rename(p.overlay[0], p.overlay[1]); err != nil {
			return err
		}
	}
	return p.writer.Commit()
}

func (p pending) abort() error {
	if p.overlay[0] != "" {
		_ = os.Remove(p.overlay[0]) // gone already when all went well
	}
	return p.writer.Abort()
}

// writeKind writes the file of a kind, without giving it its name.
func (i *ingester) writeKind(ctx context.Context, t *catalog.Type, in *incoming) (pending, error) {
	records, overlay := filepath.Join(i.Catalog, t.File()), filepath.Join(i.Catalog, overlayFile(t))
	if !i.Overlay {
		w, err := i.merge(ctx, t, merge{from: records, to: records, overlay: overlay, in: in})
		return pending{writer: w}, err
	}
	next := filepath.Join(i.Catalog, newOverlay(t))
	w, err := i.merge(ctx, t, merge{from: overlay, to: next, in: in})
	if err == nil {
		err = w.Commit()
	}
	if err == nil {
		w, err = i.merge(ctx, t, merge{from: records, to: records, overlay: next, in: &incoming{end: true}})
	}
	if err != nil {
		_ = os.Remove(next) // it may not be there yet
		return pending{}, err
	}
	return pending{w, [2]string{next, overlay}}, nil
}

// A merge makes one file of the catalogue out of another and new records.
type merge struct {
	from, to string
	overlay  string // applied on top; "" for none
	in       *incoming
}

// merge returns the new file, complete but without its name.
func (i *ingester) merge(ctx context.Context, t *catalog.Type, c merge) (w *catalog.Writer, err error) {
	old, err := openStored(c.from, t)
	if err != nil {
		return nil, err
	}
	defer old.close()
	overlay := &stored{typ: t}
	if c.overlay != "" {
		if overlay, err = openStored(c.overlay, t); err != nil {
			return nil, err
		}
		defer overlay.close()
	}
	w, err = catalog.Create(c.to, t)
	if err != nil {
		return nil, err
	}
	s := streams{ingester: i, typ: t, old: old, in: c.in, overlay: overlay}
	if err := s.writeTo(ctx, w); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// streams are the records of one kind that are merged, each stream in order of keys.
type streams struct {
	*ingester
	typ          *catalog.Type
	old, overlay *stored
	in           *incoming
}

func (s *streams) writeTo(ctx context.Context, w *catalog.Writer) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		key, ok, err := s.lowest()
		if err != nil || !ok {
			return err
		}
		r, err := s.one(key)
		if err != nil {
			return err
		}
		if err := w.Write(r); err != nil {
			return err
		}
	}
}

// lowest returns the lowest key that any of the streams has next.
func (s *streams) lowest() (key catalog.Key, found bool, err error) {
	news := func() (catalog.Key, bool, error) { return s.in.peek(s.typ) }
	for _, peek := range []func() (catalog.Key, bool, error){s.old.peek, news, s.overlay.peek} {
		next, ok, err := peek()
		if err != nil {
			return key, false, err
		}
		if ok && (!found || next.Compare(key) < 0) {
			key, found = next, true
		}
	}
	return key, found, nil
}

// one joins everything that the streams say about a key: what the catalogue had, then
// the new rows in the order of the sources, then the overlay.
func (s *streams) one(key catalog.Key) (wire.Record, error) {
	r := s.old.takeIf(key)
	news, err := s.news(key)
	if err != nil {
		return wire.Record{}, err
	}
	for _, later := range []wire.Record{news, s.overlay.takeIf(key)} {
		switch {
		case r.IsNil():
			r = later
		case !later.IsNil(): // news about a record of the catalogue is no conflict
			join.Merge(r, later, nil)
		}
	}
	return r, nil
}

// news joins the new rows of a key; nil when there are none. They are joined among
// themselves first, so that only they can be in conflict.
func (s *streams) news(key catalog.Key) (r wire.Record, err error) {
	from := ""
	for {
		next, ok, err := s.in.peek(s.typ)
		if err != nil || !ok || next != key {
			return r, err
		}
		file := s.in.file
		row, err := s.source(key)
		if err != nil {
			return r, err
		}
		if r.IsNil() {
			r = row
		} else {
			join.Merge(r, row, func(c join.Conflict) {
				s.conflict(key, fmt.Sprintf("%s: %s in %s, %s in %s: the later one wins", c.Member, cut(c.Old), from, cut(c.New), file))
			})
		}
		from = file
	}
}

// source returns what one file says about a key that is next: its row, or all those
// of its rows that are parts of the record.
func (s *streams) source(key catalog.Key) (wire.Record, error) {
	var parts join.Parts
	file := s.in.file
	for {
		part := s.in.part
		row, err := s.in.take(s.typ)
		if err != nil || !part {
			return row, err
		}
		parts.Add(row, func(c join.Conflict) {
			s.conflict(key, fmt.Sprintf("%s: %s and %s in %s: the latter is kept", c.Member, cut(c.Old), cut(c.New), file))
		})
		next, ok, err := s.in.peek(s.typ)
		if err != nil {
			return row, err
		}
		if !ok || next != key || s.in.file != file || !s.in.part {
			return parts.Settle(), nil
		}
	}
}

func (s *streams) conflict(key catalog.Key, what string) {
	s.report.Conflicts++
	if len(s.report.Samples) < maxSamples {
		s.report.Samples = append(s.report.Samples, key.Describe(s.typ.Kind)+": "+what)
	}
}

// cut shortens a value for a message.
func cut(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

// stored is the stream of a catalogue file's records. One without rows has none.
type stored struct {
	typ  *catalog.Type
	file *catalog.File
	rows *catalog.Rows
	next wire.Record
	key  catalog.Key // of next
	err  error
}

func openStored(path string, t *catalog.Type) (*stored, error) {
	f, err := catalog.OpenFile(path, t)
	if errors.Is(err, fs.ErrNotExist) {
		return &stored{typ: t}, nil
	}
	if err != nil {
		return nil, err
	}
	return &stored{typ: t, file: f, rows: f.All()}, nil
}

func (s *stored) peek() (catalog.Key, bool, error) {
	if s.next.IsNil() && s.rows != nil && s.err == nil {
		s.err = s.read()
	}
	return s.key, !s.next.IsNil(), s.err
}

// read reads the next record, if there is one.
func (s *stored) read() error {
	r := s.typ.New()
	err := s.rows.Next(r)
	if errors.Is(err, io.EOF) {
		s.rows.Close()
		s.rows = nil
		return nil
	}
	if err != nil {
		return err
	}
	s.next = r
	if s.key, err = s.typ.Key(r); err != nil {
		return fmt.Errorf("read %s records of the catalogue: %w", s.typ.Name(), err)
	}
	return nil
}

// takeIf takes the record that peek found if it is that of key; nil otherwise.
func (s *stored) takeIf(key catalog.Key) wire.Record {
	r := s.next
	if r.IsNil() || s.key != key {
		return wire.Record{}
	}
	s.next = wire.Record{}
	return r
}

func (s *stored) close() {
	if s.rows != nil {
		s.rows.Close()
	}
	if s.file != nil {
		_ = s.file.Close() // read side: nothing to lose
	}
}
