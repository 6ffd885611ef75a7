package pipeline

import (
	"context"
	"errors"
	"io"

	"github.com/reelsplice/reelsplice/ingest/input"
	"github.com/reelsplice/reelsplice/ingest/quarantine"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A file is the input that batches are of. Batches share it: it does not change.
type file struct {
	*input.Input
	found  source.File // the file as it was found to be
	header string      // of a CSV or TSV file
}

// A mark is the part of a batch that concerns its file and the reading.
type mark struct {
	file     *file
	first    bool  // batch of the file
	rows     int64 // that were read
	consumed int64 // bytes of the file so far
	end      *end  // of the file, with its last batch
	joined   bool  // the file is read together with others, which may still find fault with its rows
}

// An end is how the reading of a file ended.
type end struct {
	failure error  // damage: the rows before it are good
	skipped string // why the rest of the file is left out
	blank   int64  // rows without any value in the file
}

// A rows is a batch of rows of one file. Decode fills it and owns it until it is sent; then one
// mapper does, alone. text is one string for all rows, so that records may keep parts of it without a
// copy each. raw is apart because nearly all rows are as in the dump and need no second text.
type rows struct {
	mark
	list []row
	text string // of all rows
	raw  []byte // of rows whose text differs from the dump
}

// A row is one row of a batch.
type row struct {
	place  source.Place
	from   int // in text
	to     int
	raw    [2]int // in rows.raw; empty where text is as in the dump
	size   int64
	failed error // why the row cannot be used
	mended *record.Mended
	left   []record.FieldError // values that the file has, and JSON has not
}

// A decoder cuts files into batches.
type decoder struct {
	p    *Pipeline
	send func(*rows) error

	open *rows
	buf  []byte // text of the open batch, used again for the next one: flush copies it
}

// file reads one file. The records must not depend on where a batch ends.
func (d *decoder) file(ctx context.Context, n int) error {
	src, err := d.begin(ctx, n)
	if err != nil || src == nil {
		return err
	}
	defer func() { _ = src.Close() }() // read side
	for {
		row, err := next(ctx, src)
		if err != nil {
			return d.finish(src, err)
		}
		if d.open.file.Layout == "" && row.Err == nil {
			if reason := d.detect(src, row.JSON); reason != "" {
				d.open.end = &end{skipped: reason}
				return d.finish(src, nil)
			}
		}
		if d.add(row); len(d.buf) < batchBytes && len(d.open.list) < batchRows {
			continue
		}
		d.open.consumed = src.Consumed()
		if err := d.flush(); err != nil {
			return err
		}
	}
}

// begin opens a file and its first batch. Of a file that cannot be opened there is one batch with
// the failure, and no reader.
func (d *decoder) begin(ctx context.Context, n int) (*source.Reader, error) {
	in := &d.p.List.Inputs[n]
	src, err := source.Open(in.File, d.p.Options.Read(ctx, d.p.Dir))
	if ctx.Err() != nil { // no fault of the file
		if err == nil {
			_ = src.Close() // read side
		}
		return nil, ctx.Err()
	}
	f := &file{Input: in, found: in.File}
	if err == nil {
		f.found, f.header = src.File(), src.Header()
	}
	d.open = &rows{mark: mark{file: f, first: true}}
	d.buf = d.buf[:0]
	if err != nil {
		return nil, d.finish(nil, err)
	}
	return src, nil
}

// next reads the next row. The file's own errors are *source.FileError, or io.EOF.
func next(ctx context.Context, src *source.Reader) (source.Row, error) {
	if err := ctx.Err(); err != nil {
		return source.Row{}, err
	}
	row, err := src.Next()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return row, err
}

// detect finds the layout of a file by its first good row, and why the file is left out.
func (d *decoder) detect(src *source.Reader, text []byte) (reason string) {
	f, in := *d.open.file, *d.open.file.Input // batches before have the old ones
	in.Layout, in.Hint, reason = d.p.Options.Detect(src.File(), text)
	f.Input = &in
	d.open.file = &f
	if reason == "" && in.Layout == input.IMDb {
		return "tables of IMDb are read together, and more than once: want a file, not a pipe"
	}
	return reason
}

// add copies a row into the open batch.
func (d *decoder) add(r source.Row) {
	to := row{place: r.Place, from: len(d.buf), size: r.Size, failed: r.Err, left: r.Left}
	d.buf = append(d.buf, r.JSON...)
	to.to = len(d.buf)
	if r.Raw != nil {
		to.raw[0] = len(d.open.raw)
		d.open.raw = append(d.open.raw, r.Raw...)
		to.raw[1] = len(d.open.raw)
	}
	if r.Mended != (record.Mended{}) {
		to.mended = &r.Mended
	}
	d.open.list = append(d.open.list, to)
}

// flush sends the open batch and opens the next one of the same file.
func (d *decoder) flush() error {
	b := d.open
	b.text, b.rows = string(d.buf), int64(len(b.list))
	d.buf = d.buf[:0]
	d.open = &rows{mark: mark{file: b.file}}
	return d.send(b)
}

// finish sends the last batch of a file. err is how reading it ended; src is nil if it did not
// begin.
func (d *decoder) finish(src *source.Reader, err error) error {
	e, err := endOf(src, err)
	if err != nil {
		return err
	}
	if d.open.end == nil {
		d.open.end = e
	}
	d.open.end.blank = e.blank
	if src != nil {
		d.open.consumed = src.Consumed()
	}
	return d.flush()
}

// endOf separates the end of a file, and damage to it, from errors that end the ingest. A full disk,
// which a packed Parquet file may meet, is no damage.
func endOf(src *source.Reader, err error) (*end, error) {
	e := &end{}
	if src != nil {
		e.blank = src.Blank()
	}
	if err == nil || errors.Is(err, io.EOF) {
		return e, nil
	}
	var damaged *source.FileError
	if !errors.As(err, &damaged) || quarantine.IsFull(err) {
		return nil, err
	}
	e.failure = err
	return e, nil
}
