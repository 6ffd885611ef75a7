package ingest

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/ingest/merge"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/resolve"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/bug"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Files are read in turns. Within a turn, three steps run concurrently:
//
//         decode  one goroutine reads files and cuts them into batches of rows
//         map     one goroutine per core turns the rows of a batch into records
//         sort    one goroutine receives the batches in reading order and sorts their records
//
// So the result does not depend on the number of cores. A turn starts when all rows of earlier turns are sorted.

// Tests lower these.
var (
	batchBytes = 256 << 10 // approximate size of a batch
	batchRows  = 4096      // at most
)

// A batch is a group of rows of one file. The decoder owns it until it is sent, then a mapper until it closes done, then the
// sorter.
type batch struct {
	in       *input   // shared by the file's batches; immutable
	first    bool     // first batch of the file
	consumed int64    // bytes of the file read so far
	end      *fileEnd // set in the last batch of the file

	rows []row
	text string // text of all rows: one string, so that records can refer to parts of it

	result *mapped // from a mapper, or from imdbTables
	done   chan struct{}
}

// A fileEnd is the result of reading a file.
type fileEnd struct {
	failure error  // damage; rows before it are good
	skipped string // why the rest of the file is left out
	blank   int64  // rows of the file without any value
}

// inParallel runs decode, which sends batches, concurrently with the other steps.
//
// Each batch is sent to both channels. The sorter receives batches from order, which keeps the reading order whichever mapper
// finishes first. The capacity of order bounds the batches in memory. If a goroutine fails, ctx wakes the others, which would
// wait forever for the batch's done.
func (r *run) inParallel(ctx context.Context, decode func(ctx context.Context, send func(*batch) error) error) error {
	g, ctx := errgroup.WithContext(ctx)
	workers := runtime.GOMAXPROCS(0)
	work, order := make(chan *batch), make(chan *batch, 2*workers)
	g.Go(func() (err error) {
		defer close(work)
		defer close(order)
		defer bug.Catch(&err)
		return decode(ctx, func(b *batch) error {
			b.done = make(chan struct{})
			for _, ch := range []chan<- *batch{order, work} {
				select {
				case ch <- b:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
	})
	for range workers {
		g.Go(func() (err error) {
			defer bug.Catch(&err)
			for b := range work {
				if b.result == nil {
					if err := b.makeRecords(r); err != nil {
						return err
					}
				}
				close(b.done)
			}
			return r.resolver.Err()
		})
	}
	g.Go(func() (err error) {
		defer bug.Catch(&err)
		for b := range order {
			select {
			case <-b.done:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := r.sortBatch(b); err != nil {
				return err
			}
		}
		return nil
	})
	return g.Wait()
}

// maxNamed limits the files in the log and in lists of messages.
const maxNamed = 20

// sortBatch sorts the records of a mapped batch, quarantines its bad rows, and counts both.
func (r *run) sortBatch(b *batch) error {
	in, s := b.in, &r.progress
	if b.first {
		if in.number < maxNamed {
			r.Log.Info("reading", "file", in.Name, "layout", in.layout(), "format", in.Format.String())
		}
		kind := in.Kind
		if in.isTable() {
			kind = ""
		}
		r.report.BeginFile(in.number, report.File{
			Name: in.Name, Kind: kind, Layout: in.layout(), Format: in.Format.String(), Compression: in.Compression, Bytes: in.Bytes,
		})
	}
	if err := r.resolver.Add(b.result.ids); err != nil {
		return err
	}
	for _, rec := range b.result.list {
		if err := r.add(rec.key, rec.number, b.result.payloads[rec.from:rec.to]); err != nil {
			return err
		}
	}
	for _, bad := range b.result.bad {
		if err := r.quarantine.Add(bad); err != nil {
			return err
		}
	}
	s.rows += int64(len(b.rows))
	s.leftOut += b.result.tally.ValuesLeftOut()
	s.rowKinds |= b.result.rowKinds
	read := s.bytes + b.consumed
	if b.end != nil {
		b.result.tally.Rows.Blank += b.end.blank
		switch {
		case b.end.failure != nil:
			reason := b.end.failure.Error()
			r.report.Fail(in.number, reason)
			s.unread++
			if s.failed++; len(s.failures) < maxNamed {
				s.failures = append(s.failures, reason)
			}
		case b.end.skipped != "":
			s.unread++
			r.list.skip(in.Name, b.end.skipped)
		case !in.isTable():
			s.fileKinds[in.Kind] = true
		}
		s.bytes += in.Bytes
		read = s.bytes
	}
	r.report.Add(in.number, &b.result.tally)
	r.fits.add(b)
	if r.Progress != nil {
		r.Progress(read, r.list.bytes)
	}
	return r.checkBad(false)
}

// add adds a row of a source to the sorter. Seq makes keys unique in reading order, so the catalogue does not depend on how rows
// are split into sorted runs.
func (r *run) add(k merge.Key, number int, payload []byte) error {
	r.progress.seq++
	k.Seq = merge.Seq(number, r.progress.seq)
	r.progress.key = k.Append(r.progress.key[:0])
	return r.sorter.Add(0, r.progress.key, payload)
}

// A row is one row of a batch.
type row struct {
	place   source.Place
	from    int // offset in the batch's text
	to      int
	size    int64
	failed  error // why the row cannot be used
	mended  record.Mended
	leftOut []record.FieldError // values of the file that JSON cannot represent
}

// A decoder cuts files into batches.
type decoder struct {
	r    *run
	send func(*batch) error

	open *batch
	buf  []byte // text of the open batch; flush copies it before reuse
}

// file reads one file. Records must not depend on the batch boundaries. For a file that cannot be opened, it sends one batch
// with the failure.
func (d *decoder) file(ctx context.Context, n int) error {
	src, in, err := d.r.detector.open(ctx, d.r.list.inputs[n])
	if err == nil {
		defer func() { _ = src.Close() }() // opened for reading
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
		text := next.JSON
		if next.Err != nil && next.Raw != nil {
			text = next.Raw
		}
		from := len(d.buf)
		d.buf = append(d.buf, text...)
		d.open.rows = append(d.open.rows, row{
			place: next.Place, from: from, to: len(d.buf), size: next.Size, failed: next.Err, mended: next.Mended, leftOut: next.Nulled,
		})
		if len(d.buf) < batchBytes && len(d.open.rows) < batchRows {
			continue
		}
		d.open.consumed = src.Consumed()
		if d.choose(); d.open.end != nil {
			break
		}
		if err := d.flush(); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil { // not an error of the file
		return err
	}
	if d.choose(); d.open.end == nil {
		d.open.end = &fileEnd{}
	}
	// If unpacking a Parquet file fills the disk, the file is not damaged.
	if damaged := (*source.FileError)(nil); err != nil && !errors.Is(err, io.EOF) && d.open.end.skipped == "" {
		if !errors.As(err, &damaged) || isFull(err) {
			return err
		}
		d.open.end.failure = err
	}
	if src != nil {
		blank, headers := src.SkippedRows()
		if headers > 0 {
			d.r.Log.Info("skipped repeated header rows", "file", in.Name, "rows", headers)
		}
		d.open.end.blank, d.open.consumed = blank, src.Consumed()
	}
	return d.flush()
}

// choose chooses the meaning of a pipe, or of a file named after one resource, by the first rows. Without a meaning, it empties
// the open batch and marks it as the last one.
func (d *decoder) choose() {
	if in := d.open.in; in.meaning != nil || in.imdb {
		return
	}
	var rows []string
	for _, row := range d.open.rows {
		if row.failed == nil && len(rows) < headRows {
			rows = append(rows, string(d.buf[row.from:row.to]))
		}
	}
	if len(rows) == 0 {
		return
	}
	chosen := *d.open.in // earlier batches keep the old one
	d.open.in = &chosen
	reason, _ := d.r.detector.choose(&chosen, rows)
	if reason == "" && chosen.imdb {
		reason = "IMDb's tables are read more than once: want a file, not a pipe"
	}
	if reason != "" {
		d.open.rows, d.buf, d.open.end = nil, d.buf[:0], &fileEnd{skipped: reason}
	}
}

// flush sends the open batch and starts the next one of the same file.
func (d *decoder) flush() error {
	b := d.open
	b.text = string(d.buf)
	d.open, d.buf = &batch{in: b.in}, d.buf[:0]
	return d.send(b)
}

// A mapped holds the records of a batch and its bad rows. Only the sorter writes to quarantine, to keep the reading order.
type mapped struct {
	list     []outRecord
	payloads []byte
	bad      []report.BadRow
	ids      []byte         // entries of the records, for a resolve.Resolver
	rowKinds layout.KindSet // kinds of the records, except of resources that rows only refer to
	tally    report.Tally
	cells    map[string]record.Cells // counts of the rows' values, by column
}

// An outRecord is a record of a row. Its key still lacks the sequence number.
type outRecord struct {
	key      merge.Key
	number   int // source number
	from, to int // range in payloads
}

// add adds a record of a row.
func (r *mapped) add(number int, rec *layout.Record, notFirst bool, place source.Place, ids resolve.IDCollector) {
	from := len(r.payloads)
	r.payloads = merge.Head{Number: number, Row: place.Row, Line: place.Line, Part: rec.Part, NotFirst: notFirst, Mint: rec.Mint}.Append(r.payloads)
	r.payloads = record.AppendBinary(r.payloads, rec.Record)
	r.list = append(r.list, outRecord{merge.Key{Kind: rec.Type.Kind, Key: rec.Key}, number, from, len(r.payloads)})
	r.ids = ids.Append(r.ids, rec)
	if rec.Mint == 0 || rec.Found == tmdb.FoundMint {
		r.rowKinds |= layout.Kinds(rec.Type.Kind)
	}
	r.tally.Records.Add(rec.Type.Name(), 1)
}

// makeRecords maps the rows to records. Each batch has its own layout, because a layout counts fields and is not safe for
// concurrent use.
func (b *batch) makeRecords(r *run) error {
	result := &mapped{}
	b.result = result
	if len(b.rows) == 0 {
		return nil
	}
	o := r.rows
	if !r.Strict {
		o.Values = &record.Values{}
	}
	l := b.in.reader(o)
	layoutRow := b.in.row("")
	var nonJSON []record.FieldError // values of kept rows that JSON cannot represent
	for n := range b.rows {
		row := &b.rows[n]
		if row.failed != nil {
			b.refuse(row, row.failed)
			continue
		}
		row.rejectLeftOut(o.Values)
		layoutRow.JSON = b.text[row.from:row.to]
		recs, err := l.Records(layoutRow)
		leftOut := o.Values.Take()
		if err != nil {
			b.refuse(row, err)
			continue
		}
		row.count(&result.tally, leftOut)
		nonJSON = append(nonJSON, row.leftOut...)
		for i := range recs {
			result.add(b.in.number, &recs[i], i > 0, row.place, r.resolver.Collector)
			switch recs[i].Found {
			case tmdb.FoundMatch:
				result.tally.Rows.Matched++
			case tmdb.FoundMint:
				result.tally.Rows.Minted++
			}
		}
		if len(recs) == 0 { // the API has no field for any of its values
			result.tally.Rows.Blank++
		} else {
			result.tally.Rows.Kept++
		}
	}
	c := l.Counts()
	if m := b.in.meaning; m != nil {
		result.cells = m.Columns(c.Cells)
		for i := range nonJSON { // their cells were empty to the layout
			name := nonJSON[i].Field
			if b.in.Format == source.FormatParquet && strings.ContainsAny(name, ".[") {
				continue // a nested value: its column is counted with its other values
			}
			fate := record.IsLeftOut
			if !m.Reads(name) {
				fate = record.IsUnused
			}
			n := result.cells[name]
			n.Count(fate)
			result.cells[name] = n
		}
	}
	result.tally.Fields.Merge(report.Fields{Unknown: c.Unknown, Coerced: c.Coerced, Dropped: c.Dropped, Whole: c.Whole})
	return nil
}

// rejectLeftOut reports the values that the file's reader left out.
func (r *row) rejectLeftOut(values *record.Values) {
	for i := range r.leftOut {
		_ = values.Reject(&r.leftOut[i]) // nil in a strict reader
	}
}

// count counts values that were left out of a kept row, and repairs of the row.
func (r *row) count(tally *report.Tally, leftOut []record.LeftOut) {
	for _, l := range leftOut {
		tally.LeaveOut(r.place, l)
	}
	r.mended.Count(tally.Fields.Coerced.Add)
}

// refuse quarantines a row.
func (b *batch) refuse(row *row, err error) {
	field, reason := reasonOf(err)
	var noID *layout.NoIDError
	if errors.As(err, &noID) {
		b.result.tally.Rows.NoID++
	}
	bad := b.quarantine(row.place, field, reason)
	if text := []byte(b.text[row.from:row.to]); row.failed != nil {
		bad.SetText(text, row.size)
	} else {
		bad.SetRow(text)
	}
}

// quarantine adds a bad row of the batch's file. The caller sets the row's content.
func (b *batch) quarantine(place source.Place, field, reason string) *report.BadRow {
	in, mapping := b.in, ""
	if in.meaning != nil {
		mapping, _ = in.meaning.Mapping()
	}
	b.result.tally.Quarantined(place.String(), field, reason)
	b.result.bad = append(b.result.bad, report.BadRow{
		File: place.File, Path: in.Path, Number: place.Row, Line: place.Line, Field: field, Reason: reason, Kind: in.Kind, Layout: in.layout(), Mapping: mapping,
	})
	return &b.result.bad[len(b.result.bad)-1]
}

// reasonOf splits an error about a row into the bad field and the reason.
func reasonOf(err error) (field, reason string) {
	var fe *record.FieldError
	var re *source.RowError
	switch {
	case errors.As(err, &fe):
		return fe.Field, fe.What
	case errors.As(err, &re):
		return "", re.Reason
	}
	return "", err.Error()
}
