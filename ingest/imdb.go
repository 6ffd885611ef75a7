package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/reelsplice/reelsplice/ingest/imdb"
	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/resolve"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// imdbTables reads IMDb's tables as if they were one file, because a record needs several of them. They lack TMDB IDs, so they
// are read late, joined by package imdb, and matched by IMDb IDs with records of the catalogue and of other sources.
type imdbTables struct {
	r    *run
	ids  resolve.IDCollector
	send func(*batch) error

	joiner *imdb.Joiner
	values *record.Values // values of the row that the joiner reads
	open   *batch         // open batch of records
	first  int            // index of its file in the inputs
}

// read reads the inputs from first to end and sends their records.
func (t *imdbTables) read(ctx context.Context, first, end int) error {
	if !t.r.Strict {
		t.values = &record.Values{}
	}
	j := imdb.New(imdb.Config{
		Dir: t.r.work.path(), Memory: t.r.Memory, ID: t.r.resolver.IMDb,
		Place: func(file int, row, line int64) string {
			return source.Place{File: t.r.list.files[file].Name, Row: row, Line: line}.String()
		},
		Bad: t.refuse, Values: t.values,
	})
	defer func() { _ = j.Close() }() // temporary files
	t.joiner = j
	d := decoder{r: t.r, send: t.add}
	for n := first; n < end; n++ {
		if err := d.file(ctx, n); err != nil {
			return err
		}
	}
	t.first, t.open = first, t.newBatch(first)
	if err := j.Records(ctx, t.record); err != nil {
		return err
	}
	if err := t.r.resolver.Err(); err != nil {
		return err
	}
	for path, n := range j.Dropped() {
		t.open.result.tally.Fields.Dropped.Add(path, n)
	}
	return t.flush()
}

// newBatch returns an empty batch of an input.
func (t *imdbTables) newBatch(n int) *batch {
	return &batch{in: &t.r.list.inputs[n], result: &mapped{}}
}

// flush sends the open batch and starts the next one of the same file.
func (t *imdbTables) flush() error {
	b := t.open
	t.open = t.newBatch(t.first)
	return t.send(b)
}

// add passes the rows of a batch to the joiner, and sends the batch with the bad rows.
func (t *imdbTables) add(b *batch) error {
	b.result = &mapped{}
	for n := range b.rows {
		row := &b.rows[n]
		row.rejectLeftOut(t.values)
		err := row.failed
		if err == nil {
			err = t.joiner.Add(b.in.Base(), b.in.number, row.place.Row, row.place.Line, b.text[row.from:row.to])
			var fe *record.FieldError
			if err != nil && !errors.As(err, &fe) {
				return err
			}
		}
		leftOut := t.values.Take()
		if err != nil {
			b.refuse(row, err)
			continue
		}
		b.result.tally.Rows.Kept++
		row.count(&b.result.tally, leftOut)
	}
	return t.send(b)
}

// record adds a record from package imdb.
func (t *imdbTables) record(number int, row, line int64, rec layout.Record) error {
	t.open.result.add(number, &rec, false, source.Place{Row: row, Line: line}, t.ids)
	if len(t.open.result.payloads) < batchBytes {
		return nil
	}
	return t.flush()
}

// refuse sends a row that the join rejected, which was counted as kept. A batch has rows of only one file, so the open batch is
// sent first.
func (t *imdbTables) refuse(number int, row, line int64, json []byte, err error) error {
	n := slices.IndexFunc(t.r.list.inputs, func(in input) bool { return in.number == number })
	if err := t.flush(); err != nil {
		return err
	}
	b := t.newBatch(n)
	field, reason := reasonOf(err)
	b.result.tally.Rows.Kept--
	b.quarantine(source.Place{File: b.in.Name, Row: row, Line: line, Off: -1}, field, reason).SetRow(json)
	return t.send(b)
}
