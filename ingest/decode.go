package ingest

import (
	"context"
	"errors"
	"io"

	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A row is one row of a batch.
type row struct {
	place  source.Place
	from   int // in text
	to     int
	raw    [2]int // in the batch's raw; empty where text is as in the dump
	size   int64
	failed error // why the row cannot be used
	mended *record.Mended
	left   []record.FieldError // values that the file has, and JSON has not
}

// A decoder cuts files into batches.
type decoder struct {
	r    *run
	send func(*batch) error

	open *batch
	buf  []byte // text of the open batch, used again for the next one: flush copies it
}

// file reads one file. The records must not depend on where a batch ends. A file that cannot be opened gives one
// batch with the failure.
func (d *decoder) file(ctx context.Context, n int) error {
	src, in, err := d.r.open(ctx, d.r.list.inputs[n])
	if err == nil {
		defer func() { _ = src.Close() }() // read side
	}
	d.open, d.buf = &batch{in: in, first: true}, d.buf[:0]
	for err == nil {
		var next source.Row
		if err = ctx.Err(); err == nil {
			next, err = src.Next()
		}
		if err != nil {
			break
		}
		if d.open.in.layout == "" && next.Err == nil {
			detected := *d.open.in // batches before have the old one
			d.open.in = &detected
			reason := d.r.detect(&detected, next.JSON)
			if reason == "" && detected.layout == imdbLayout {
				reason = "tables of IMDb are read together, and more than once: want a file, not a pipe"
			}
			if reason != "" {
				d.open.end = &end{skipped: reason}
				break
			}
		}
		if d.add(next); len(d.buf) < batchBytes && len(d.open.rows) < batchRows {
			continue
		}
		d.open.consumed = src.Consumed()
		if err := d.flush(); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil { // no fault of the file
		return err
	}
	if d.open.end == nil {
		d.open.end = &end{}
	}
	// A full disk, which a packed Parquet file may meet, is no damage of the file.
	if damaged := (*source.FileError)(nil); err != nil && !errors.Is(err, io.EOF) {
		if !errors.As(err, &damaged) || isFull(err) {
			return err
		}
		d.open.end.failure = err
	}
	if src != nil {
		d.open.end.blank, d.open.consumed = src.Blank(), src.Consumed()
	}
	return d.flush()
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
	d.open.rows = append(d.open.rows, to)
}

// flush sends the open batch and opens the next one of the same file.
func (d *decoder) flush() error {
	b := d.open
	b.text = string(d.buf)
	d.open, d.buf = &batch{in: b.in}, d.buf[:0]
	return d.send(b)
}
