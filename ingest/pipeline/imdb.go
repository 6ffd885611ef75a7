package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"reelsplice/ingest/crosswalk"
	"reelsplice/ingest/imdb"
	"reelsplice/ingest/input"
	"reelsplice/ingest/journal"
	"reelsplice/ingest/layout"
	"reelsplice/ingest/report"
	"reelsplice/ingest/source"
	"reelsplice/schemas/record"
)

// tables reads IMDb's tables as if they were one file. They make records only together, and have
// no ids of TMDB's. So they are read late, package imdb joins them, and they find the ids of
// records that the catalogue and the other sources have by IMDb's ids. All of them are one step to
// the journal. Their batches are records from the start.
type tables struct {
	list     *input.List
	options  *input.Options
	dir      string // for temporary files
	memory   int64
	resolver *crosswalk.Resolver
	note     crosswalk.Noter
	start    time.Time // of the ingest
	send     func(step) error

	inputs map[int]int // place among the inputs, by number of the source
	out    *records    // the open batch
	from   time.Time   // when it was opened
}

// read reads the inputs from first on before end, and sends their records.
func (t *tables) read(ctx context.Context, first, end int) error {
	j, err := imdb.New(imdb.Config{
		Dir: t.dir, Memory: t.memory, ID: t.resolver.IMDb,
		Place: func(file int, row, line int64) string {
			return source.Place{File: t.list.Name(file), Row: row, Line: line}.String()
		},
		Bad: t.refuse,
	})
	if err != nil {
		return err
	}
	defer func() { _ = j.Close() }() // temporary files
	for n := first; n < end; n++ {
		if err := t.table(ctx, j, n); err != nil {
			return err
		}
	}
	t.begin(&file{Input: &t.list.Inputs[first], index: first, found: t.list.Inputs[first].File})
	if err := j.Records(ctx, t.record); err != nil {
		return err
	}
	if err := t.resolver.Err(); err != nil {
		return err
	}
	for path, n := range j.Dropped() {
		t.out.tally.Fields.Dropped.Add(path, n)
	}
	t.out.at = &journal.Position{Input: end}
	return t.flush()
}

// begin opens an empty batch.
func (t *tables) begin(f *file) {
	t.out = &records{mark: mark{file: f, partial: true}, tally: report.NewTally(report.File{}, t.start)}
}

// flush sends the open batch and opens the next one of the same file.
func (t *tables) flush() error {
	b := t.out
	b.elapsed, t.from = time.Since(t.from), time.Now()
	t.begin(b.file)
	return t.send(b)
}

// table gives the rows of one table to the joiner.
func (t *tables) table(ctx context.Context, j *imdb.Joiner, n int) error {
	in := &t.list.Inputs[n]
	t.inputs[in.Number], t.from = n, time.Now()
	src, err := source.Open(in.File, t.options.Read(ctx, t.dir))
	f := &file{Input: in, index: n, found: in.File}
	if err == nil {
		defer func() { _ = src.Close() }() // read side
		f.found, f.header = src.File(), src.Header()
	}
	t.begin(f)
	t.out.first = true
	for err == nil {
		var row source.Row
		if row, err = next(ctx, src); err == nil {
			err = t.add(j, row)
		}
		if err == nil && (t.out.rows == batchRows || t.out.badBytes >= batchBytes) {
			t.out.consumed = src.Consumed()
			err = t.flush()
		}
	}
	if t.out.end, err = endOf(src, err); err != nil {
		return err
	}
	return t.flush()
}

// add gives a row to the joiner.
func (t *tables) add(j *imdb.Joiner, row source.Row) error {
	t.out.rows++
	if row.Err == nil {
		row.Err = j.Add(t.out.file.found.Base(), t.out.file.Number, row.Place.Row, row.Place.Line, row.JSON)
		var fe *record.FieldError
		if row.Err != nil && !errors.As(row.Err, &fe) {
			return row.Err
		}
	}
	if row.Err == nil {
		t.out.tally.Rows.Kept++
		return nil
	}
	raw := row.JSON
	if row.Raw != nil {
		raw = row.Raw
	}
	field, why := ReasonOf(row.Err)
	t.out.refuse(row.Place, field, why, raw, row.Size)
	return nil
}

// record adds a record that package imdb made.
func (t *tables) record(number int, row, line int64, rec layout.Record) error {
	t.out.add(number, &rec, false, source.Place{Row: row, Line: line}, t.note)
	if len(t.out.payloads) < batchBytes {
		return nil
	}
	return t.flush()
}

// refuse sends a row that turned out bad when the tables were joined. It was counted as kept. A batch
// is of one file, so the open one, of other rows, is set aside and goes on afterwards.
func (t *tables) refuse(number int, row, line int64, json []byte, err error) error {
	n, ok := t.inputs[number]
	if !ok {
		return fmt.Errorf("imdb: a bad row of file %d, which was not read", number)
	}
	if err := t.flush(); err != nil {
		return err
	}
	was, in := t.out, &t.list.Inputs[n]
	t.begin(&file{Input: in, index: n, found: in.File})
	field, why := ReasonOf(err)
	t.out.tally.Rows.Kept--
	t.out.refuse(source.Place{File: in.Name, Row: row, Line: line, Off: -1}, field, why, json, int64(len(json)))
	if err := t.send(t.out); err != nil {
		return err
	}
	t.out = was
	return nil
}
