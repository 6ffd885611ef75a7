package ingest

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"reelsplice/ingest/imdb"
	"reelsplice/ingest/layout"
	"reelsplice/ingest/report"
	"reelsplice/ingest/runs"
	"reelsplice/ingest/source"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/wire"
)

// IMDb's tables make records only together, and say nothing of TMDB's ids. So they are
// read last, joined by package imdb, and find the ids of what the catalogue and the other
// sources of the run know by IMDb's ids. All tables count as one step to the journal.

// imdbLayout is the name of their layout.
const imdbLayout = "imdb"

// Layouts lists the names of layouts.
func Layouts() []string { return append(layout.Names(), imdbLayout) }

// crosswalkFile holds, in the folder of temporary files, what was read of IMDb ids.
const crosswalkFile = "imdb.ids"

// A crosswalk knows the ids of resources by their IMDb ids.
type crosswalk map[imdbKey]int64

type imdbKey struct {
	kind fragment.Kind
	id   uint64 // the number in tt0137523
}

// key returns the key of an IMDb id, false for text that is none.
func (crosswalk) key(kind fragment.Kind, id string) (imdbKey, bool) {
	if len(id) < 3 || !strings.HasPrefix(id, "tt") && !strings.HasPrefix(id, "nm") {
		return imdbKey{}, false
	}
	n, err := strconv.ParseUint(id[2:], 10, 64)
	return imdbKey{kind, n}, err == nil
}

// id returns the id under which a resource is known.
func (c crosswalk) id(kind fragment.Kind, text string) (int64, bool) {
	k, ok := c.key(kind, text)
	if !ok {
		return 0, false
	}
	id, ok := c[k]
	return id, ok
}

// add notes an id. Of several records that claim an IMDb id the lowest counts, so that
// the answer does not depend on their order.
func (c crosswalk) add(k imdbKey, id int64) {
	if old, ok := c[k]; !ok || id < old {
		c[k] = id
	}
}

// The parts of records that say IMDb ids, by kind.
type (
	titleIDs struct {
		wire.Object
		ID     wire.Int    `wire:"id"`
		IMDbID wire.String `wire:"imdb_id,null"`

		ExternalIDs *imdbRef `wire:"external_ids"`
	}
	seriesIDs struct {
		wire.Object
		ID wire.Int `wire:"id"`

		ExternalIDs *imdbRef `wire:"external_ids"`
	}
	imdbRef struct {
		wire.Object `wire:"drop-id"`
		IMDbID      wire.String `wire:"imdb_id,null"`
	}
)

// imdbOf returns the id and the IMDb id that a record tells, if it does.
func imdbOf(t *catalog.Type, r wire.Record) (k imdbKey, id int64, ok bool) {
	switch t.Kind {
	case fragment.KindMovie, fragment.KindTV, fragment.KindPerson, fragment.KindEpisode:
	default:
		return k, 0, false
	}
	f, _ := r.Plan.Field("id")
	text := ""
	if own, ok := r.Plan.Field("imdb_id"); ok {
		text = r.String(own).V
	}
	if sub, ok := r.Plan.Field("external_ids"); ok && text == "" {
		if ids, ok := r.Sub(sub); ok {
			own, _ := ids.Plan.Field("imdb_id")
			text = ids.String(own).V
		}
	}
	k, ok = crosswalk{}.key(t.Kind, text)
	return k, r.Int(f).V, ok && r.Int(f).Set && r.Int(f).V > 0
}

// wantsIMDb reports whether some of the inputs are IMDb's tables.
func (i *ingester) wantsIMDb() bool {
	n := len(i.inputs)
	return n > 0 && i.inputs[n-1].layout == imdbLayout
}

// noteIMDb writes down the IMDb ids of a batch, for the tables that are read later.
func (i *ingester) noteIMDb(b *batch) error {
	if len(b.imdb) == 0 {
		return nil
	}
	if i.ids == nil {
		path := filepath.Join(i.work, crosswalkFile)
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
		if err == nil {
			err = f.Truncate(i.idBytes) // of what an earlier process wrote, what counts
		}
		if err == nil {
			_, err = f.Seek(0, io.SeekEnd)
		}
		if err != nil {
			return fmt.Errorf("write IMDb ids: %w", err)
		}
		i.ids, i.idBuf = f, bufio.NewWriter(f)
	}
	n, err := i.idBuf.Write(b.imdb)
	i.idBytes += int64(n)
	return err
}

// flushIMDb hands what was written down to the system.
func (i *ingester) flushIMDb() error {
	if i.idBuf == nil {
		return nil
	}
	return i.idBuf.Flush()
}

// idEntry is the length of what is written of an id: kind, IMDb's number, id.
const idEntry = 1 + 8 + 8

func appendID(dst []byte, k imdbKey, id int64) []byte {
	dst = append(dst, byte(k.kind))
	dst = binary.LittleEndian.AppendUint64(dst, k.id)
	return binary.LittleEndian.AppendUint64(dst, uint64(id))
}

// crosswalk returns the ids that the catalogue and the other sources know.
func (i *ingester) crosswalk(ctx context.Context) (crosswalk, error) {
	c := crosswalk{}
	b, err := os.ReadFile(filepath.Join(i.work, crosswalkFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read IMDb ids: %w", err)
	}
	for b = b[:min(int64(len(b)), i.idBytes)]; len(b) >= idEntry; b = b[idEntry:] {
		c.add(imdbKey{fragment.Kind(b[0]), binary.LittleEndian.Uint64(b[1:])}, int64(binary.LittleEndian.Uint64(b[9:])))
	}
	for _, of := range []struct {
		kind fragment.Kind
		plan *wire.Plan
		row  func() wire.Record
	}{
		{fragment.KindMovie, wire.PlanOf[titleIDs](), func() wire.Record { return wire.RecordOf(new(titleIDs)) }},
		{fragment.KindPerson, wire.PlanOf[titleIDs](), func() wire.Record { return wire.RecordOf(new(titleIDs)) }},
		{fragment.KindTV, wire.PlanOf[seriesIDs](), func() wire.Record { return wire.RecordOf(new(seriesIDs)) }},
		{fragment.KindEpisode, wire.PlanOf[seriesIDs](), func() wire.Record { return wire.RecordOf(new(seriesIDs)) }},
	} {
		t := catalog.TypeOf(of.kind)
		err := eachStored(ctx, filepath.Join(i.Catalog, t.File()), t, of.plan, of.row, func(r wire.Record) {
			if k, id, ok := imdbOf(t, r); ok {
				c.add(k, id)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// eachStored calls fn with the records of a catalogue file, read by a plan with some of
// their members; a file that is not there has none. fn must not keep the record.
func eachStored(ctx context.Context, path string, t *catalog.Type, p *wire.Plan, row func() wire.Record, fn func(wire.Record)) error {
	f, err := catalog.OpenFile(path, t)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read side
	rows := f.Project(p)
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
		if err != nil {
			return err
		}
		fn(r)
	}
}

// imdb reads IMDb's tables, which are the inputs from n on, and sends their records.
func (r *reader) imdb(ctx context.Context, n int) error {
	if err := r.barrier(ctx); err != nil {
		return err
	}
	known, err := r.crosswalk(ctx)
	if err != nil {
		return err
	}
	t := &imdbTables{reader: r, files: map[int]int{}}
	j, err := imdb.New(imdb.Config{
		Dir: r.work, Memory: r.Memory, ID: known.id,
		Place: func(file int, row, line int64) string {
			return source.Place{File: r.numbers[file], Row: row, Line: line}.String()
		},
		Bad: t.bad,
	})
	if err != nil {
		return err
	}
	defer func() { _ = j.Close() }() // temporary files
	for k := n; k < len(r.inputs); k++ {
		if err := t.read(ctx, j, k); err != nil {
			return err
		}
	}
	t.start(n)
	if err := j.Records(ctx, t.record); err != nil {
		return err
	}
	t.report(j.Report())
	r.open.group, r.open.groupEnd = true, true
	return r.flush()
}

// imdbTables sends what package imdb makes of the tables.
type imdbTables struct {
	*reader
	files map[int]int // place among the inputs, by number of the source
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
			var fe *wire.FieldError
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
	b.payloads = wire.AppendBinary(b.payloads, rec.Record)
	b.records = append(b.records, outRecord{
		key: runs.Key{Group: uint8(rec.Type.Kind), Hi: rec.Key.Hi, Lo: rec.Key.Lo}, number: file, from: from, to: len(b.payloads),
	})
	if b.made == nil {
		b.made = t.collector.Source(report.File{})
	}
	b.made.Record(rec.Type.Name(), rec.Record)
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
