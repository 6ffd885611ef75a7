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

// tables reads IMDb's tables as if they were one file. They make records only together, and lack TMDB IDs. So they are read
// late, joined by package imdb, and matched by IMDb IDs with records of the catalogue and other sources. The joiner takes the
// decoder's rows and makes the records.
type tables struct {
	r    *run
	ids  resolve.IDCollector
	send func(*batch) error

	joiner *imdb.Joiner
	values *record.Values // values of the row that the joiner reads
	out    *batch         // open batch of records
	first  int            // index of its file in the inputs
}

// read reads the inputs from first to end and sends their records.
func (t *tables) read(ctx context.Context, first, end int) error {
	if !t.r.Strict {
		t.values = &record.Values{}
	}
	j := imdb.New(imdb.Config{
		Dir: t.r.work.path(), Memory: t.r.Memory, ID: t.r.resolver.IMDb,
		Place: func(file int, row, line int64) string {
			return source.Place{File: t.r.list.all[file].Name, Row: row, Line: line}.String()
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
	t.first, t.out = first, t.batch(first)
	if err := j.Records(ctx, t.record); err != nil {
		return err
	}
	if err := t.r.resolver.Err(); err != nil {
		return err
	}
	for path, n := range j.Dropped() {
		t.out.out.tally.Fields.Dropped.Add(path, n)
	}
	return t.flush()
}

// batch returns an empty batch of an input.
func (t *tables) batch(n int) *batch {
	return &batch{in: &t.r.list.inputs[n], out: &mapped{}}
}

// flush sends the open batch and starts the next one of the same file.
func (t *tables) flush() error {
	b := t.out
	t.out = t.batch(t.first)
	return t.send(b)
}

// add passes the rows of a batch to the joiner, and sends the batch with the bad rows.
func (t *tables) add(b *batch) error {
	b.out = &mapped{}
	for n := range b.rows {
		row := &b.rows[n]
		row.begin(t.values)
		err := row.failed
		if err == nil {
			err = t.joiner.Add(b.in.Base(), b.in.number, row.place.Row, row.place.Line, b.text[row.from:row.to])
			var fe *record.FieldError
			if err != nil && !errors.As(err, &fe) {
				return err
			}
		}
		left := t.values.Take()
		if err != nil {
			b.refuse(row, err)
			continue
		}
		b.out.tally.Rows.Kept++
		row.count(&b.out.tally, left)
	}
	return t.send(b)
}

// record adds a record that package imdb made.
func (t *tables) record(number int, row, line int64, rec layout.Record) error {
	t.out.out.add(number, &rec, false, source.Place{Row: row, Line: line}, t.ids)
	if len(t.out.out.payloads) < batchBytes {
		return nil
	}
	return t.flush()
}

// refuse sends a row that the join rejected. It was counted as kept. A batch has rows of one file, so the open batch is sent
// first.
func (t *tables) refuse(number int, row, line int64, json []byte, err error) error {
	n := slices.IndexFunc(t.r.list.inputs, func(in input) bool { return in.number == number })
	if err := t.flush(); err != nil {
		return err
	}
	out := t.batch(n)
	field, why := reasonOf(err)
	out.out.tally.Rows.Kept--
	out.quarantine(source.Place{File: out.in.Name, Row: row, Line: line, Off: -1}, field, why).SetRow(json)
	return t.send(out)
}
