package ingest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"reelsplice/ingest/layout"
	"reelsplice/ingest/layout/tmdb"
	"reelsplice/ingest/quarantine"
	"reelsplice/ingest/report"
	"reelsplice/ingest/source"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// Rows go through three stages: one goroutine reads files and cuts them into batches,
// one a core gives the rows of a batch their meaning, and one collects the batches, in
// the order in which they were read. So what comes of a dump does not depend on how many
// cores there are, and where the collector stands is where a killed ingest can go on.

const (
	batchBytes = 256 << 10 // of rows in a batch, about
	batchRows  = 4096      // at most

	// checkpointEvery is how long rows are held in memory alone, at most.
	checkpointEvery = 30 * time.Second
)

// A batch is some rows of one file on their way.
type batch struct {
	file     int // place among the inputs
	number   int // of the source: later ones win
	name     string
	layout   string
	hint     string      // see input
	read     source.File // as it was found to be
	header   string
	rows     []rawRow
	text     string // of all rows
	raw      []byte // of those of which text is not what was found
	first    bool   // of its file
	blank    int64  // rows without any value in the file so far, when it is the last one
	consumed int64  // bytes of the file, so far
	elapsed  time.Duration
	end      bool   // of its file
	failure  error  // of the file, with end
	skipped  string // why the rest of the file is left out, with end

	// Batches of IMDb's tables, which are read together: see imdb.go.
	group    bool
	groupEnd int           // the input behind the group, with its last batch
	taken    int64         // rows that were taken, beside those in rows
	refused  bool          // the rows were taken before
	made     *report.Tally // of the records, which are there already

	// What a worker makes of it.
	records  []outRecord
	payloads []byte
	bad      []badRow
	entries  []byte // of what the records are called: see ids.go
	tally    *report.Tally
	done     chan struct{}
	barrier  chan struct{} // to be closed when everything before is collected; beside turn nothing counts
	turn     int           // that begins behind the barrier
}

// A rawRow is a row in a batch.
type rawRow struct {
	place  source.Place
	from   int // in text
	to     int
	raw    [2]int // in batch.raw; empty where text is what was found
	size   int64
	failed error // why the row cannot be used
}

// An outRecord is a record that a row gave.
type outRecord struct {
	kind     fragment.Kind
	key      catalog.Key
	number   int // of the source
	from, to int // in payloads
}

// A badRow is one for quarantine.
type badRow struct {
	row   int // in rows
	field string
	why   string
}

// Flags of a sorted record.
const (
	flagPart  = 1 << iota // one of several rows that make the record
	flagMore              // the row gave another record before: it is not counted again
	flagMint              // the id was minted: the hash of what it was made of follows
	flagMoved             // the catalogue knew it under a minted id
	flagBits  = iota
)

// read puts every good row of the inputs into the sorter, and the bad ones into
// quarantine.
func (i *ingester) read(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	workers := runtime.GOMAXPROCS(0)
	work, order := make(chan *batch), make(chan *batch, 2*workers)
	g.Go(func() error {
		defer close(work)
		defer close(order)
		r := reader{ingester: i, send: func(b *batch) error {
			b.done = make(chan struct{})
			for _, to := range []chan<- *batch{order, work} {
				select {
				case to <- b:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		}}
		return r.all(ctx)
	})
	for range workers {
		w := worker{ingester: i, note: i.noter()}
		g.Go(func() error {
			for b := range work {
				if err := w.batch(b); err != nil {
					return err
				}
				close(b.done)
			}
			return nil
		})
	}
	g.Go(func() error {
		for b := range order {
			select {
			case <-b.done:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := i.collect(b); err != nil {
				return err
			}
		}
		return nil
	})
	return g.Wait()
}

// reader cuts files into batches.
type reader struct {
	*ingester
	send func(*batch) error
	open *batch
	buf  []byte // text of the open batch
	from time.Time
}

func (r *reader) all(ctx context.Context) error {
	at := r.at // the collector moves it as soon as something is sent
	for n := at.Input; n < len(r.inputs); n++ {
		turn := r.inputs[n].turn()
		if err := r.enterTurn(ctx, turn); err != nil {
			return err
		}
		if turn == turnIMDb {
			end := n + 1
			for end < len(r.inputs) && r.inputs[end].turn() == turnIMDb {
				end++
			}
			if err := r.imdb(ctx, n, end); err != nil {
				return err
			}
			n, at.Rows = end-1, 0
			continue
		}
		if err := r.file(ctx, n, at.Rows); err != nil {
			return err
		}
		at.Rows = 0
	}
	return nil
}

// barrier begins a turn: it waits until everything that was sent is collected.
func (r *reader) barrier(ctx context.Context, turn int) error {
	b := &batch{barrier: make(chan struct{}), turn: turn}
	if err := r.send(b); err != nil {
		return err
	}
	select {
	case <-b.barrier:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// file reads one file; of one that an earlier process read in part, what follows.
func (r *reader) file(ctx context.Context, n int, skip int64) error {
	in := r.inputs[n]
	r.from = time.Now()
	o := r.sourceOptions()
	o.Context = ctx
	src, err := source.Open(in.File, o)
	if err == nil {
		defer func() { _ = src.Close() }() // read side
	}
	if ctx.Err() != nil {
		return ctx.Err() // no fault of the file
	}
	if err != nil {
		r.begin(n, in, in.File)
		return r.finish(err, 0)
	}
	r.begin(n, in, src.File())
	r.open.header = src.Header()
	rows := int64(0)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		row, err := src.Next()
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if errors.Is(err, io.EOF) {
				err = nil
			}
			r.open.consumed = src.Consumed()
			return r.finish(err, src.Blank())
		}
		if r.open.layout == "" && row.Err == nil {
			var reason string
			r.open.layout, r.open.hint, reason = r.tell(src.File(), row.JSON)
			if reason == "" && r.open.layout == imdbLayout {
				reason = "tables of IMDb are read together, and more than once: want a file, not a pipe"
			}
			if reason != "" {
				r.open.skipped = reason
				return r.finish(nil, src.Blank())
			}
		}
		if rows++; rows <= skip {
			continue
		}
		if r.add(row); len(r.buf) < batchBytes && len(r.open.rows) < batchRows {
			continue
		}
		r.open.consumed = src.Consumed()
		if err := r.flush(); err != nil {
			return err
		}
	}
}

// begin opens the first batch of a file.
func (r *reader) begin(n int, in input, f source.File) {
	r.open = &batch{file: n, number: in.number, name: in.Name, layout: in.layout, hint: in.hint, read: f, first: true}
	r.buf = r.buf[:0]
}

// add copies a row into the open batch.
func (r *reader) add(row source.Row) {
	to := rawRow{place: row.Place, from: len(r.buf), size: row.Size, failed: row.Err}
	r.buf = append(r.buf, row.JSON...)
	to.to = len(r.buf)
	if row.Raw != nil {
		to.raw[0] = len(r.open.raw)
		r.open.raw = append(r.open.raw, row.Raw...)
		to.raw[1] = len(r.open.raw)
	}
	r.open.rows = append(r.open.rows, to)
}

// flush sends the open batch and opens the next one of the same file.
func (r *reader) flush() error {
	b := r.open
	b.text = string(r.buf)
	b.elapsed, r.from = time.Since(r.from), time.Now()
	r.buf = r.buf[:0]
	r.open = &batch{file: b.file, number: b.number, name: b.name, layout: b.layout, hint: b.hint, read: b.read, header: b.header}
	return r.send(b)
}

// finish sends the last batch of a file.
func (r *reader) finish(err error, blank int64) error {
	// The rows before the damage are good, and so are the other files. A full disk, which a
	// packed Parquet file may meet, is no damage.
	var damaged *source.FileError
	if err != nil && (!errors.As(err, &damaged) || isFull(err)) {
		return err
	}
	b := r.open
	b.end, b.failure, b.blank = true, err, blank
	return r.flush()
}

// worker gives the rows of batches their meaning.
type worker struct {
	*ingester
	layout layout.Layout
	note   noter
}

func (w *worker) batch(b *batch) error {
	if b.tally = b.made; b.tally == nil {
		b.tally = w.collector.Source(report.File{})
	}
	b.tally.KeptRows(b.taken)
	if len(b.rows) == 0 {
		return nil
	}
	if b.group { // its rows are the bad ones
		for n := range b.rows {
			w.bad(b, n, b.rows[n].failed)
			if b.refused {
				b.tally.Unkeep()
			}
		}
		return nil
	}
	l, err := layout.New(orTMDB(b.layout), w.options)
	if err != nil {
		return err
	}
	w.layout = l
	typ, _ := catalog.TypeNamed(b.read.Kind)
	f := &b.read
	for n := range b.rows {
		row := &b.rows[n]
		if row.failed != nil {
			w.bad(b, n, row.failed)
			continue
		}
		recs, err := l.Records(rowOf(f, b.text[row.from:row.to], typ, w.inputs[b.file].table))
		if err != nil {
			w.bad(b, n, err)
			continue
		}
		w.add(b, row, recs)
		if len(recs) == 0 { // the API has no place for any of it
			b.tally.Blank(1)
		} else {
			b.tally.Kept()
		}
	}
	w.count(b)
	return w.known.Err()
}

// rowOf returns a row of a file as layouts take it. table says that it is one of a table,
// whatever the file's format.
func rowOf(f *source.File, text string, typ *catalog.Type, table bool) layout.Row {
	return layout.Row{
		JSON: text, File: f.Base(), Type: typ, ID: f.ID, Text: f.Text, Series: f.Series, Season: f.Season,
		Episode: f.Episode, Sub: f.Sub, Table: f.Format.Table() || table, Texts: f.Format == source.FormatCSV || f.Format == source.FormatTSV,
	}
}

// add writes the records of a row into the batch.
func (w *worker) add(b *batch, row *rawRow, recs []layout.Record) {
	for i := range recs {
		rec := &recs[i]
		from := len(b.payloads)
		b.payloads = appendHead(b.payloads, b.number, rec, i > 0, row.place)
		b.payloads = record.AppendBinary(b.payloads, rec.Record)
		b.records = append(b.records, outRecord{
			kind: rec.Type.Kind, key: rec.Key, number: b.number, from: from, to: len(b.payloads),
		})
		b.entries = w.note.append(b.entries, rec)
		b.tally.Record(rec.Type.Name(), rec.Record)
		switch rec.Found {
		case tmdb.FoundMatch:
			b.tally.Matched()
		case tmdb.FoundMint:
			b.tally.Minted()
		}
	}
}

// appendHead appends what stands before a record in the sorter: the number of its source
// and flags, the row and the line where it was found.
func appendHead(dst []byte, number int, rec *layout.Record, more bool, at source.Place) []byte {
	head := uint64(number) << flagBits
	if rec.Part {
		head |= flagPart
	}
	if more {
		head |= flagMore
	}
	if rec.Mint != 0 {
		head |= flagMint
	}
	dst = binary.AppendUvarint(dst, head)
	dst = binary.AppendUvarint(dst, uint64(at.Row))
	dst = binary.AppendUvarint(dst, uint64(at.Line))
	if rec.Mint != 0 {
		dst = binary.AppendUvarint(dst, rec.Mint)
	}
	return dst
}

// bad notes a row for quarantine.
func (w *worker) bad(b *batch, n int, err error) {
	field, why := reasonOf(err)
	if b.hint != "" && b.rows[n].failed == nil {
		field, why = "", b.hint+"; as an answer of the API, "+err.Error()
	}
	b.bad = append(b.bad, badRow{n, field, why})
	row := &b.rows[n]
	var unknown *layout.NoIDError
	if errors.As(err, &unknown) {
		b.tally.NoID()
	}
	b.tally.Quarantined(row.place.Row, row.place.String(), field, why)
}

// reasonOf splits an error about a row into the field at fault and what is wrong.
func reasonOf(err error) (field, why string) {
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

// count takes over what the layout has counted of a batch.
func (w *worker) count(b *batch) {
	c := w.layout.Counts()
	for path, n := range c.Unknown {
		b.tally.Unknown(path, n)
	}
	for path, n := range c.Coerced {
		b.tally.Coerced(path, n)
	}
	for path, n := range w.layout.Dropped() {
		b.tally.Dropped(path, n)
	}
	if s, ok := w.layout.(layout.Splitter); ok {
		for path, n := range s.Whole() {
			b.tally.Whole(path, n)
		}
	}
}

// collect takes a batch over: its records go to the sorter, its bad rows to quarantine.
func (i *ingester) collect(b *batch) error {
	if b.barrier != nil {
		if err := i.flushIDs(); err != nil {
			return err
		}
		if i.turn != b.turn {
			i.turn, i.turnBytes = b.turn, i.idBytes
		}
		close(b.barrier)
		return nil
	}
	if b.first {
		i.begin(b)
	}
	if err := i.makeRoom(b); err != nil {
		return err
	}
	if err := i.noteIDs(b); err != nil {
		return err
	}
	for _, r := range b.records {
		// Of one key, the rows of a later source come later, and those of one source in
		// their order.
		i.seq++
		if err := i.sort(sortKey{r.kind, r.key, rowSeq(r.number, i.seq)}, b.payloads[r.from:r.to]); err != nil {
			return err
		}
	}
	for _, bad := range b.bad {
		if err := i.quarantine.Add(b.entry(bad)); err != nil {
			return err
		}
	}
	b.tally.Elapsed = b.elapsed
	i.tallies.merge(b.number, b.tally)
	i.count(b)
	if b.end {
		if err := i.endFile(b); err != nil {
			return err
		}
	}
	i.tellProgress(b)
	return i.checkBad(false)
}

// count counts the rows of a batch, and where the reading is.
func (i *ingester) count(b *batch) {
	switch rows := int64(len(b.rows)); {
	case !b.group:
		i.rows += rows
		i.at.Rows += rows
	case b.refused:
	default:
		i.rows += rows + b.taken
	}
	if b.groupEnd > 0 {
		i.at = position{Input: b.groupEnd}
	}
}

// begin opens the tally of a file.
func (i *ingester) begin(b *batch) {
	f := &b.read
	if i.at.Input != b.file && !b.group {
		i.at = position{Input: b.file}
	}
	i.say(f, b.layout)
	kind := f.Kind
	if layout.IsMapped(b.layout) || b.layout == imdbLayout { // the names of tables are not those of kinds
		kind = ""
	}
	i.tallies.begin(b.number, report.File{
		Name: f.Name, Kind: kind, Layout: b.layout, Format: f.Format.String(), Compression: f.Compression.String(),
		Bytes: f.Bytes, Modified: f.Modified,
	})
}

// say tells the layout of a file; of many files, that of the first one of each layout.
func (i *ingester) say(f *source.File, name string) {
	if i.said == nil {
		i.said = map[string]bool{}
	}
	if len(i.inputs) <= maxSamples || !i.said[name] {
		i.Log.Info("reading", "file", f.Name, "layout", name, "format", f.Format.String())
	}
	i.said[name] = true
}

// endFile notes that a file was read.
func (i *ingester) endFile(b *batch) error {
	t := i.collector.Source(report.File{})
	t.Blank(b.blank)
	if b.failure != nil {
		t.Failure = b.failure.Error()
		if i.failed++; len(i.failures) < maxSamples {
			i.failures = append(i.failures, t.Failure)
		}
	} else if b.skipped != "" {
		i.passed = append(i.passed, skippedFile{b.name, b.skipped})
	} else if !layout.IsMapped(b.layout) && !b.group { // the names of tables are not those of kinds
		i.kinds[b.read.Kind] = true
	}
	i.tallies.merge(b.number, t)
	i.done += b.read.Bytes
	if b.group { // what is wrong with its rows may turn out when all its files are read
		return nil
	}
	i.at = position{Input: b.file + 1}
	return i.tallies.close(b.number)
}

func (i *ingester) tellProgress(b *batch) {
	if i.Progress == nil {
		return
	}
	now := i.done
	if !b.end {
		now += b.consumed
	}
	i.Progress(now, i.total)
}

// entry is a bad row of the batch as quarantine keeps it.
func (b *batch) entry(bad badRow) quarantine.Entry {
	row := &b.rows[bad.row]
	raw := []byte(b.text[row.from:row.to])
	if row.raw[1] > row.raw[0] {
		raw = b.raw[row.raw[0]:row.raw[1]]
	}
	return quarantine.Entry{
		File: row.place.File, Path: b.read.Path, Row: row.place.Row, Line: row.place.Line, Field: bad.field, Reason: bad.why,
		Kind: b.read.Kind, Layout: b.layout, Table: b.read.Format.Table(), Header: b.header, Raw: raw, RawBytes: row.size,
	}
}

// checkBad stops the ingest when more rows did not validate than are borne.
func (i *ingester) checkBad(done bool) error {
	bad := i.quarantine.Count()
	if bad == 0 || i.MaxBad.Bears(bad, i.rows, done) {
		return nil
	}
	return &TooManyBadError{Bad: bad, Rows: i.rows, Limit: i.MaxBad}
}

// A TooManyBadError says that an ingest was stopped because of its bad rows. The
// catalogue is as it was.
type TooManyBadError struct {
	Bad, Rows int64
	Limit     Tolerance
	File      string // the quarantine file, which has the rows
}

func (e *TooManyBadError) Error() string {
	return fmt.Sprintf("%d of %d rows did not validate, more than %s: stopped, the catalogue is as it was; the rows are in %s", e.Bad, e.Rows, e.Limit, e.File)
}
