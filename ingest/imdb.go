package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"reelsplice/ingest/imdb"
	"reelsplice/ingest/layout"
	"reelsplice/ingest/report"
	"reelsplice/ingest/source"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/record"
)

// IMDb's tables make records only together, and say nothing of TMDB's ids. So they are
// read late, joined by package imdb, and find the ids of what the catalogue and the other
// sources of the run know by IMDb's ids: see ids.go. All tables count as one step to the
// journal.

// imdbLayout is the name of their layout.
const imdbLayout = "imdb"

// Layouts lists the names of layouts.
func Layouts() []string { return append(layout.Names(), imdbLayout) }

// eachStored calls fn with the records of a catalogue file, read by a plan with some of
// their members; a file that is not there has none. fn must not keep the record.
func eachStored(ctx context.Context, path string, t *catalog.Type, p *record.Schema, row func() record.Record, fn func(record.Record)) error {
	f, err := catalog.OpenFile(path, t)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read side
	return eachRow(ctx, f.Project(p), row, func(r record.Record) error {
		fn(r)
		return nil
	})
}

// eachRow calls fn with the records of rows, which it closes. fn must not keep the record.
func eachRow(ctx context.Context, rows *catalog.Rows, row func() record.Record, fn func(record.Record) error) error {
	defer rows.Close()
	r := row()
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		err := rows.Next(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = fn(r)
		}
		if err != nil {
			return err
		}
	}
}

// imdb reads IMDb's tables, which are the inputs from n on before end, and sends their
// records.
func (r *reader) imdb(ctx context.Context, n, end int) error {
	t := &imdbTables{reader: r, files: map[int]int{}, note: r.noter()}
	if end == len(r.inputs) { // nobody asks
		t.note = noter{}
	}
	j, err := imdb.New(imdb.Config{
		Dir: r.work, Memory: r.Memory, ID: r.byIMDbID,
		Place: func(file int, row, line int64) string {
			return source.Place{File: r.numbers[file], Row: row, Line: line}.String()
		},
		Bad: t.bad,
	})
	if err != nil {
		return err
	}
	defer func() { _ = j.Close() }() // temporary files
	for k := n; k < end; k++ {
		if err := t.read(ctx, j, k); err != nil {
			return err
		}
	}
	t.start(n)
	if err := j.Records(ctx, t.record); err != nil {
		return err
	}
	if err := r.known.Err(); err != nil {
		return err
	}
	t.report(j.Report())
	r.open.group, r.open.groupEnd = true, end
	return r.flush()
}

// imdbTables sends what package imdb makes of the tables.
type imdbTables struct {
	*reader
	files map[int]int // place among the inputs, by number of the source
	note  noter
}

// read gives the rows of one table to the joiner.
func (t *imdbTables) read(ctx context.Context, j *imdb.Joiner, n int) error {
	in := t.inputs[n]
	t.files[in.number] = n
	t.from = time.Now()
	src, err := source.Open(in.File, t.sourceOptions())
	if err != nil {
		t.begin(n, in, in.File)
		t.open.group = true
		return t.finish(err, 0)
	}
	defer func() { _ = src.Close() }() // read side
	t.begin(n, in, src.File())
	t.open.group, t.open.header = true, src.Header()
	table := src.File().Base()
	for k := 0; ; k++ {
		if k%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		row, err := src.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			t.open.consumed = src.Consumed()
			return t.finish(err, src.Blank())
		}
		if row.Err == nil {
			row.Err = j.Add(table, in.number, row.Place.Row, row.Place.Line, row.JSON)
			var fe *record.FieldError
			if row.Err != nil && !errors.As(row.Err, &fe) {
				return row.Err
			}
		}
		if row.Err == nil {
			t.open.taken++
		} else {
			t.add(row)
		}
		if t.open.taken < batchRows && len(t.buf) < batchBytes {
			continue
		}
		t.open.consumed = src.Consumed()
		if err := t.flush(); err != nil {
			return err
		}
		t.open.group = true
	}
}

// start opens the first batch of records.
func (t *imdbTables) start(n int) {
	in := t.inputs[n]
	t.open = &batch{file: n, number: in.number, name: in.Name, layout: imdbLayout, read: in.File, group: true}
	t.buf = t.buf[:0]
}

// record sends a record that package imdb made.
func (t *imdbTables) record(file int, row, line int64, rec layout.Record) error {
	b := t.open
	from := len(b.payloads)
	b.payloads = appendHead(b.payloads, file, &rec, false, source.Place{Row: row, Line: line})
	b.payloads = record.AppendBinary(b.payloads, rec.Record)
	b.records = append(b.records, outRecord{
		kind: rec.Type.Kind, key: rec.Key, number: file, from: from, to: len(b.payloads),
	})
	if b.made == nil {
		b.made = t.collector.Source(report.File{})
	}
	b.made.Record(rec.Type.Name(), rec.Record)
	b.entries = t.note.append(b.entries, &rec)
	if len(b.payloads) < batchBytes {
		return nil
	}
	return t.next()
}

// next sends the open batch and opens another of the same file.
func (t *imdbTables) next() error {
	if err := t.flush(); err != nil {
		return err
	}
	t.open.group = true
	return nil
}

// bad sends a row that turned out bad when the tables were joined.
func (t *imdbTables) bad(file int, row, line int64, json []byte, err error) error {
	n, ok := t.files[file]
	if !ok {
		return fmt.Errorf("imdb: a bad row of file %d, which was not read", file)
	}
	if err := t.next(); err != nil {
		return err
	}
	was := t.open
	in := t.inputs[n]
	t.open = &batch{file: n, number: in.number, name: in.Name, layout: imdbLayout, read: in.File, group: true, refused: true}
	t.add(source.Row{Place: source.Place{File: in.Name, Row: row, Line: line, Off: -1}, JSON: json, Size: int64(len(json)), Err: err})
	if err := t.next(); err != nil {
		return err
	}
	was.payloads, was.records, was.made = nil, nil, nil
	t.open = was
	return nil
}

// report counts what package imdb left out of the tables.
func (t *imdbTables) report(r imdb.Report) {
	b := t.open
	if b.made == nil {
		b.made = t.collector.Source(report.File{})
	}
	for path, n := range r.Dropped {
		b.made.Dropped(path, n)
	}
	for of, counts := range map[string]map[string]int64{"titleType ": r.Skipped, "leads nowhere: ": r.Dangling} {
		for name, n := range counts {
			b.made.Dropped(of+name, n)
		}
	}
	for name, n := range map[string]int64{
		"title.akas: the title itself": r.SameTitles, "title.principals: said twice": r.SameCredits,
		"title.episode: without season or number": r.Episodes.Unnumbered, "title.episode: the number is taken": r.Episodes.Taken,
		"title.episode: no series": r.Episodes.NoSeries, "title.episode: of a movie": r.Episodes.NotSeries,
		"title.episode: no episode": r.Episodes.OtherType, "rows that repeat another": r.Duplicates,
	} {
		if n > 0 {
			b.made.Dropped(name, n)
		}
	}
}
